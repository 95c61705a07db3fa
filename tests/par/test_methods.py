"""The two methods against each other and against a plain third one, on sheets that nobody chose."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from host_tools.par.counts import by_counts
from host_tools.par.exact import exact, win_by_count
from host_tools.par.hits import hits, shortest_runs
from host_tools.par.model import Feature, Mode, Option, Sheet, StripSet, Symbol
from host_tools.par.sheet import parse

from .helpers import SMALL, brute


@st.composite
def sheets(draw: st.DrawFn, plain: bool = False) -> Sheet:
    """Any small game: wilds of every kind, some of which count as scatters, odd paytables, several scatters.

    plain: longer runs pay more, one scatter, which pays, and runs of wilds count.
    """
    symbols = draw(st.integers(2, 6))
    scatters = draw(st.sets(st.integers(0, symbols - 1), min_size=plain, max_size=1 if plain else 2))
    wilds = draw(st.sets(st.integers(0, symbols - 1), max_size=2))
    entries = []
    for number in range(symbols):
        others = [other for other in range(symbols) if other != number]
        stands = frozenset(draw(st.sets(st.sampled_from(others), min_size=1))) if number in wilds else frozenset()
        multiplier = draw(st.integers(1, 3)) if stands else 1
        entries.append(Symbol(f"S{number}", f"S{number}", number in scatters, bool(stands), multiplier, stands))
    pay = st.one_of(st.just(0), st.integers(0, 12))
    pays = tuple(
        (0, 0, 0) if number in scatters else tuple(draw(st.lists(pay, min_size=3, max_size=3)))
        for number in range(symbols)
    )
    if plain:
        pays = tuple(tuple(sorted(row)) for row in pays)
        assume(any(any(row) for row in pays))
    lines = draw(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=4, unique=True))
    strip = st.lists(st.integers(0, symbols - 1), min_size=3, max_size=6).map(tuple)
    return Sheet(
        file="generated", name="generated", title="Generated", reels=3, rows=3, win_cap_pence=0, max_unit_pence=1,
        wild_rule=draw(st.sampled_from(("highest", "product", "sum"))), needs_natural=not plain and draw(st.booleans()),
        coin_values=(1,), levels=1, symbols=tuple(entries), pays=pays, lines=tuple(lines),
        scatter_pays={s: tuple(draw(st.lists(st.integers(0, 5), min_size=9, max_size=9))) for s in scatters},
        sets=(StripSet("base", tuple(draw(strip) for _ in range(3))),),
        modes=(Mode("base", "Base", 0, draw(st.integers(1, 9)), plain or draw(st.booleans()), True, None, 0, 0),),
        features=(), targets={}, search={}, sources={},
    )  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sheets())
def test_both_methods_and_brute_force_agree(sheet: Sheet) -> None:
    result, third = exact(sheet, 0), brute(sheet, 0)
    sums = result.base.cycle
    wrong = [check for check in result.base.checks if check.enumeration != check.counts]
    assert not wrong
    assert (sums.boards, sums.line_credits, sums.winning_lines) == (third.boards, third.line_pays, third.winning_lines)
    assert (sums.boards_any, sums.boards_line, sums.boards_scatter) == (
        third.any_boards,
        third.line_boards,
        third.scatter_boards,
    )
    assert (sums.sum_credits, sums.sum_squares, sums.max_credits) == (third.win, third.squares, third.largest)
    assert sums.runs == third.runs


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sheets())
def test_wins_by_scatter_count(sheet: Sheet) -> None:
    """The split that the variance of whole rounds rests on, for every scatter."""
    scatters = [number for number, symbol in enumerate(sheet.symbols) if symbol.scatter]
    third = brute(sheet, 0)
    for place, scatter in enumerate(scatters):
        counts = by_counts(sheet, 0, scatter)
        won, boards = Counter[int](), Counter[int]()
        for (win, *shown), ways in third.outcomes.items():
            won[shown[place]] += win * ways
            boards[shown[place]] += ways
        assert list(win_by_count(counts, sheet.modes[0].cost)) == [won[count] for count in range(10)]
        assert counts.boards_by_count == [boards[count] for count in range(10)]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sheets(plain=True))
def test_deciding_reels(sheet: Sheet) -> None:
    """The search's short cut."""
    (scatter,) = sheet.scatter_pays
    found, third = hits(sheet, sheet.sets[0].reels, scatter), brute(sheet, 0)
    assert (found.boards, found.by_lines, found.any_win, found.by_scatters) == (
        third.boards,
        third.line_boards,
        third.any_boards,
        third.scatter_boards,
    )


def test_deciding_reels_know_their_limits() -> None:
    sheet = parse(SMALL)
    with pytest.raises(ValueError, match="needs_natural"):
        shortest_runs(parse(SMALL.replace("needs_natural = false", "needs_natural = true")))
    with pytest.raises(ValueError, match="longer"):
        shortest_runs(parse(SMALL.replace("A = [0, 2, 10]", "A = [0, 2, 0]")))
    assert shortest_runs(sheet) == {2: 2, 3: 3}
    assert hits(sheet, sheet.sets[0].reels, None).by_scatters == 0


def with_feature(sheet: Sheet, feature: Feature) -> Sheet:
    """The sheet with free spins on the same strips, without scatter pays."""
    base = sheet.modes[0]
    modes = (
        Mode(base.id, base.title, 0, base.cost, base.scatter_pays, True, 0, 0, 0),
        Mode("free", "Free", 0, base.cost, False, False, None, 0, 0),
    )
    return Sheet(**{**vars(sheet), "modes": modes, "features": (feature,)})


def feature_distribution(sheet: Sheet, feature: Feature, option: Option) -> dict[int, Fraction]:
    """Chances of every total of a feature, spin by spin, by following all its histories."""
    scatters = [number for number, symbol in enumerate(sheet.symbols) if symbol.scatter]
    third = brute(sheet, feature.mode)
    spin: Counter[tuple[int, int]] = Counter()
    for (win, *shown), ways in third.outcomes.items():
        added = 0 if feature.adds is None else shown[scatters.index(feature.adds)] * feature.adds_spins
        spin[win, added] += ways
    states = {(option.spins, 0): 1}  # (granted, won) -> histories, in units of boards ** -played
    scale = 1
    done: dict[int, Fraction] = {}
    for played in range(feature.max_spins + 1):
        onward: Counter[tuple[int, int]] = Counter()
        for (granted, won), ways in states.items():
            if granted == played:
                done[won] = done.get(won, Fraction(0)) + Fraction(ways, scale)
                continue
            for (win, added), boards in spin.items():
                then = min(granted + added, feature.max_spins)
                onward[then, won + win * option.multiplier] += ways * boards
        states = onward
        scale *= third.boards
    assert sum(done.values()) == 1
    return done


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sheets(), st.data())
def test_whole_round_moments(sheet: Sheet, data: st.DataObject) -> None:
    """Mean and variance of a round with free spins, bound and added spins included, against its full distribution."""
    scatters = [number for number, symbol in enumerate(sheet.symbols) if symbol.scatter]
    assume(scatters)
    most = data.draw(st.integers(1, 4))
    option = st.builds(Option, st.integers(1, most), st.integers(1, 3))
    least = data.draw(st.integers(1, 3))
    rows = st.lists(option, min_size=1, max_size=3).map(tuple)
    options = {count: data.draw(rows) for count in range(least, least + data.draw(st.integers(1, 2)))}
    adds = data.draw(st.sampled_from([None, *scatters]))
    trigger = data.draw(st.sampled_from(scatters))
    added = data.draw(st.integers(1, 2)) if adds is not None else 0
    feature = Feature("free", trigger, 1, adds, added, most, options)
    game = with_feature(sheet, feature)
    result = exact(game, 0)
    assert result.agree
    for policy, pick in (("best", max), ("worst", min)):
        played = result.policies[policy]
        shapes = {count: feature_distribution(game, feature, award.option) for count, award in played.picks.items()}
        for count, shape in shapes.items():
            offered = [mean_of(feature_distribution(game, feature, one)) for one in options[count]]
            assert mean_of(shape) == pick(offered)
        mean, variance = round_moments(game, shapes)
        assert (played.rtp, played.variance) == (mean, variance)


def mean_of(shape: dict[int, Fraction]) -> Fraction:
    return sum((total * chance for total, chance in shape.items()), Fraction(0))


def round_moments(sheet: Sheet, shapes: dict[int, dict[int, Fraction]]) -> tuple[Fraction, Fraction]:
    """Mean and variance of a round in total bets, from the distributions of its free spins by trigger count."""
    third = brute(sheet, 0)
    place = [number for number, symbol in enumerate(sheet.symbols) if symbol.scatter].index(sheet.features[0].trigger)
    mean, square = Fraction(0), Fraction(0)
    for (win, *shown), ways in third.outcomes.items():
        count = min(shown[place], max(shapes))
        for total, chance in (shapes[count] if count >= min(shapes) else {0: Fraction(1)}).items():
            mean += ways * chance * (win + total) / third.boards
            square += ways * chance * (win + total) ** 2 / third.boards
    cost = sheet.modes[0].cost
    return mean / cost, (square - mean * mean) / cost**2


def test_mean_square_term_is_there() -> None:
    """A feature of a sure win has no variance of its own; its random number of spins still has."""
    sheet = parse(SMALL)
    result = exact(sheet, 0)
    award = result.policies["best"].picks[2]
    assert award.square > award.mean**2
    assert math.sqrt(result.policies["best"].variance) > math.sqrt(result.base_variance)


def test_bound_of_spins_bites() -> None:
    sheet = parse(SMALL)
    means = []
    for bound in (3, 4, 30):
        feature = Feature(**{**vars(sheet.features[0]), "max_spins": bound})
        result = exact(Sheet(**{**vars(sheet), "features": (feature,)}), 0)
        means.append(result.policies["best"].rtp)
    assert means[0] < means[1] < means[2]


def test_exact_refuses_a_bound_that_it_cannot_follow() -> None:
    with pytest.raises(ValueError, match="5000"):
        exact(parse(SMALL.replace("max_spins = 4", "max_spins = 5000")), 0)

"""The two methods against each other and against a plain third one, on sheets that nobody chose."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from host_tools.par.counts import by_counts
from host_tools.par.exact import exact
from host_tools.par.hits import hits, shortest_runs
from host_tools.par.model import Mode, Sheet, StripSet, Symbol
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
        file="generated", name="generated", title="Generated", reels=3, rows=3,
        win_cap_pence=1, max_unit_pence=1, stake=1, spin_chance=False,
        wild_rule=draw(st.sampled_from(("highest", "product", "sum"))), needs_natural=not plain and draw(st.booleans()),
        coin_values=(1,), levels=1, symbols=tuple(entries), pays=pays, lines=tuple(lines),
        scatter_pays={s: tuple(draw(st.lists(st.integers(0, 5), min_size=9, max_size=9))) for s in scatters},
        sets=(StripSet("base", tuple(draw(strip) for _ in range(3))),),
        modes=(Mode("base", "Base", "lines", 0, draw(st.integers(1, 9)), plain or draw(st.booleans()), True, (), 0, 0),),
        pots=(), tables=(), groups=(), features=(), gamble=None, targets={}, search={}, sources={},
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
        both = zip(counts.line_pays_by_count, counts.scatter_pays_by_count, strict=True)
        wins = [line + sheet.modes[0].cost * bets for line, bets in both]
        assert wins == [won[count] for count in range(10)]
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

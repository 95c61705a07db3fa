"""Whole rounds of every mechanic: exact moments against the full distribution of tiny games that nobody chose."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from host_tools.par.exact_boards import distribution
from host_tools.par.exact_rounds import Game
from host_tools.par.exact_spins import Watch, split
from host_tools.par.exact_ways import ways_squares
from host_tools.par.model import (
    BoardGroup,
    Feature,
    Mode,
    Option,
    Pot,
    Prize,
    PrizeTable,
    Sheet,
    Step,
    StripSet,
    Symbol,
    TableRow,
)  # fmt: skip

from . import brute_round

WILD, BONUS, ACE, KING, CASH = range(5)
REELS = 3
# Tables by number.
VALUES, PILE, WHEEL, LOW, MIDDLE, HIGH, SHAPES, TOKENS, SPINS, MODIFIER, AWARD, AWARD_WHEEL, AWARD_SPINS = range(13)


def only(*symbols: int) -> frozenset[int]:
    return frozenset(symbols)


def table(name: str, *rows: tuple[int, Prize]) -> PrizeTable:
    return PrizeTable(name, tuple(TableRow(weight, prize) for weight, prize in rows))


def credit(number: int) -> Prize:
    return Prize("credits", 0, number)


@st.composite
def games(draw: st.DrawFn, features: str, openings: tuple[str, ...] = ("none", "cells", "roll", "shape")) -> Sheet:
    """Three reels; base mode 0, mode 1 of the free spins. `features`: which mechanics the free spins have, `openings`: how frames
    may come at their beginning."""
    rows = 2
    number = st.integers(0, 4)
    weight = st.integers(1, 3)
    opening = draw(st.sampled_from(openings)) if features in ("raise", "fill") else "none"
    level = draw(st.integers(1, 3)) if opening in ("cells", "shape") else 0
    longest = {"base": 3, "free": 2}  # stops; the brute force has to end
    sets = tuple(
        StripSet(
            name,
            tuple(draw(st.lists(st.integers(0, 4), min_size=2, max_size=most).map(tuple)) for _ in range(REELS)),
        )
        for name, most in longest.items()
    )
    spins = draw(st.integers(1, 2))
    most = spins + draw(st.integers(0, 1))
    feature_prize = Prize("feature", 0)
    pile = [(weight_, Prize("nothing")) for weight_ in (draw(st.integers(0, 3)),) if weight_]
    pile += [(draw(weight), draw(st.sampled_from((credit(2), Prize("pot", 1), Prize("wheel", WHEEL), feature_prize))))]
    tables = (
        table("values", (draw(weight), credit(1)), (draw(weight), credit(5))),
        table("pile", *pile),
        table("wheel", (draw(weight), feature_prize), (draw(weight), Prize("pot", 0))),
        table("low", (1, credit(1)), (draw(weight), credit(3))),
        table("middle", (1, credit(4)), (draw(weight), Prize("pot", 0))),
        table("high", (draw(weight), credit(9)), (1, Prize("pot", 1))),
        table("shapes", (draw(weight), Prize("shape", 0, 1 + 256 * 2)), (draw(weight), Prize("shape", 0, 2 + 256))),
        table("tokens", (draw(weight), Prize("pot", 0)), (draw(weight), Prize("pot", 1))),
        table("spins", (draw(weight), Prize("nothing")), (draw(weight), Prize("spins", 0, 2)), (1, credit(3))),
        table("modifier", (draw(weight), Prize("nothing")), (draw(weight), Prize("boards", 0))),
        table("award", (1, feature_prize)),
        table("award_wheel", (1, Prize("wheel", WHEEL))),
        table("award_spins", (1, Prize("wheel", SPINS))),
    )
    cells = REELS * rows
    base: list[Step] = []
    if draw(st.booleans()):
        base.append(Step("modifier", table=MODIFIER))
    respin = draw(st.booleans())
    if not respin and draw(st.booleans()):
        base.append(Step("values", only(CASH), VALUES))
        base.append(Step("collect", only(draw(st.sampled_from((WILD, ACE))))))
    if draw(st.booleans()):
        base.append(Step("pile", only(draw(st.sampled_from((BONUS, CASH)))), PILE))
    least = draw(st.integers(1, 3))
    needed = only(draw(st.sampled_from((WILD, KING)))) if draw(st.booleans()) else frozenset[int]()
    base.append(Step("award", only(BONUS), AWARD_WHEEL, least, draw(st.integers(least, cells)), needed))
    if draw(st.booleans()):
        base.append(Step("award", only(CASH), AWARD, draw(st.integers(2, 4)), cells))
    if respin:
        base.append(Step("respin", only(BONUS), None, draw(st.integers(1, 2))))
    free: list[Step] = []
    if features == "spins":
        free = [Step("values", only(CASH), VALUES), Step("collect", only(ACE, BONUS))]
        free += [Step("pile", only(BONUS), SPINS)] if draw(st.booleans()) else []
        free += [Step("add_spins", only(KING), least=1)] if draw(st.booleans()) else []
        free += [Step("tokens", only(CASH), TOKENS)] if draw(st.booleans()) else []
        free += [Step("award", only(WILD), AWARD_SPINS, 1, 2)] if draw(st.booleans()) else []
    elif features in ("raise", "fill"):
        free = [Step("frames", only(BONUS), rule=features, credits=7 if features == "fill" else 0)]
        if draw(st.booleans()):
            free = [Step("values", only(CASH), VALUES), Step("collect", only(ACE)), *free]
    count = draw(st.integers(1, 3))
    option = st.builds(Option, st.integers(1, spins), st.integers(1, 3))
    options = {count: (draw(option),)}
    if draw(st.booleans()):
        options[count + 1] = (draw(option), draw(option)) if features == "spins" else (draw(option),)
    feature = Feature(
        "free", "Free", 1, opening, only(BONUS) if opening in ("cells", "roll") else frozenset(),
        SHAPES if opening == "shape" else None, level, bool(base and draw(st.booleans())),
        (LOW, MIDDLE, HIGH) if features in ("raise", "fill") else (None, None, None), most, options,
    )  # fmt: skip
    evaluation = draw(st.sampled_from(("lines", "ways")))
    multiplier = draw(st.integers(1, 3))
    symbols = tuple(
        Symbol(name, name, name == "cash", name == "wild", multiplier if name == "wild" else 1,
               only(ACE, KING) if name == "wild" else frozenset())
        for name in ("wild", "bonus", "ace", "king", "cash")
    )  # fmt: skip
    pays = tuple(
        tuple(draw(st.lists(number, min_size=REELS, max_size=REELS))) if symbol in (ACE, KING) else (0,) * REELS
        for symbol in range(5)
    )
    boards = tuple(
        tuple(draw(st.integers(0, len(reel) - 1)) for reel in sets[0].reels) for _ in range(draw(st.integers(1, 3)))
    )
    return Sheet(
        file="generated", name="generated", title="", reels=REELS, rows=rows, win_cap_pence=1, max_unit_pence=1, stake=3,
        wild_rule=draw(st.sampled_from(("highest", "product"))), needs_natural=draw(st.booleans()), spin_chance=False,
        coin_values=(1,), levels=1, symbols=symbols, pays=pays,
        lines=((0, 0, 0), (0, 1, 0), (1, 1, 1)) if evaluation == "lines" else (),
        scatter_pays={CASH: (0, 1, 2, 3, 4, 5)}, sets=sets,
        pots=(Pot("mini", "Mini", 10, 2), Pot("grand", "Grand", 50, 1 + draw(st.integers(0, 1)))), tables=tables,
        groups=(BoardGroup("boards", 0, boards),),
        modes=(
            Mode("base", "Base", evaluation, 0, 3, draw(st.booleans()), True, tuple(base), 0, 0),
            Mode("free", "Free", evaluation, 1, 3, False, False, tuple(free), 0, 0),
        ),
        features=(feature,), gamble=None, targets={}, search={}, sources={},
    )  # fmt: skip


def best(offered) -> int:
    means = [sum(win * p for win, p in dist.items()) for dist in offered]
    return means.index(max(means))


def agrees(sheet: Sheet) -> None:
    dist = brute_round.Brute(sheet, best).round(0)
    assert sum(dist.values()) == 1
    mean = sum(win * p for win, p in dist.items())
    square = sum(win * win * p for win, p in dist.items())
    whole = Game(sheet).whole(0, "best")
    has_tokens = any(step.op == "tokens" for step in sheet.modes[1].steps)
    if has_tokens:  # the one chain in binary64
        assert float(whole.mean) == pytest.approx(float(mean), rel=1e-11)
        offered = sheet.features[0].options_for(9)
        if len(offered) == 1:
            assert float(whole.square) == pytest.approx(float(square), rel=1e-11)
    else:
        assert whole.mean == mean
        if not ties(sheet):
            assert whole.square == square
    assert sum(whole.parts.values(), Fraction(0)) == pytest.approx(whole.mean)
    # A feature may win nothing, which the figure counts as a win: the prize was won.
    assert 1 - whole.losing >= 1 - dist.get(0, Fraction(0))


def ties(sheet: Sheet) -> bool:
    """Two options with one mean: which is taken decides the spread."""
    game = Game(sheet)
    awards = [game.awards(0, count) for count, o in sheet.features[0].options.items() if len(o) > 1]
    return any(len({award.mean for award in offered}) < len(offered) for offered in awards)


SLOW = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SLOW
@given(games("spins"))
def test_free_spins(sheet: Sheet) -> None:
    agrees(sheet)


@SLOW
@given(games("raise"))
def test_frames_that_rise(sheet: Sheet) -> None:
    agrees(sheet)


@SLOW
@given(games("fill"))
def test_frames_that_fill(sheet: Sheet) -> None:
    agrees(sheet)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(games("spins"))
def test_spin(sheet: Sheet) -> None:
    """Both methods of a spin against every window."""
    for mode in sheet.modes:
        every = [window for _, window in brute_round.windows(sheet, mode)]
        won = [brute_round.wins(sheet, mode, window) for window in every]
        boards = distribution(sheet, mode, (only(CASH),))
        sums = split(sheet, mode, Watch((only(CASH),), (only(BONUS),)))
        assert (boards.boards, boards.credits, boards.squares) == (
            len(every), sum(won), sum(win * win for win in won),
        )  # fmt: skip
        assert (sums.total, sums.credits) == (boards.boards, boards.credits)
        for cash in range(7):
            have = sum(win * n for (win, shown), n in boards.outcomes.items() if shown == (cash,))
            want = sum(
                win for win, window in zip(won, every, strict=True) if brute_round.count(window, only(CASH)) == cash
            )
            assert have == want == int(sums.wins[sums.counts[0] == cash].sum())
        losing = distribution(sheet, mode, (), losing_only=True).boards
        assert losing == sum(not win for win in won)
        if mode.evaluation == "ways" and not mode.scatter_pays:
            assert ways_squares(sheet, mode) == boards.squares


def test_losing_rounds_are_those_without_any_prize() -> None:
    """With a feature that always pays, the chance to win nothing is exactly that of a round that wins 0."""

    @SLOW
    @given(games("raise", ("shape",)))  # frames at once, and bowls are never empty
    def check(sheet: Sheet) -> None:
        dist = brute_round.Brute(sheet, best).round(0)
        assert Game(sheet).whole(0, "best").losing == dist.get(0, Fraction(0))

    check()

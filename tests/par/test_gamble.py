"""With a payback of 100 % no policy changes the return (G5, G6): every policy of small games is followed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host_tools.cabinet import games
from host_tools.par.compiler import compile_sheet
from host_tools.par.exact_gamble import policies
from host_tools.par.model import Gamble, GambleRow
from host_tools.par.sheet import load
from host_tools.par.simulate import master_seed
from native import SPIN_CHANCE, Pack, Round

CASH = tuple(
    GambleRow(name, name, "cash", numerator, denominator, None, 0, False, 0)
    for name, numerator, denominator in (("third", 4, 3), ("double", 2, 1), ("triple", 3, 1))
)
FAIR = Gamble(1_000_000, 2, 40, 20, CASH)


def feature(wins: dict[int, Fraction], only_cash_after: bool = False, ppm: int = 1_000_000) -> GambleRow:
    """A row whose value is the exact mean of what its feature wins, at a unit of one penny."""
    mean = sum(win * chance for win, chance in wins.items())
    return GambleRow("feature", "feature", "feature", 1, 1, 0, 0, only_cash_after, int(mean * ppm))


@pytest.mark.parametrize("winnings", range(1, 25))
def test_cash(winnings: int) -> None:
    found = policies(FAIR, {}, winnings, 1, 3)
    assert found.lowest == found.highest == winnings


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 24), st.integers(1, 4)), min_size=1, max_size=4),
    st.integers(1, 12),
    st.booleans(),
    st.integers(0, 12),
)
def test_cash_and_features(rows: list[tuple[int, int]], winnings: int, last: bool, limit: int) -> None:
    total = sum(weight for _, weight in rows)  # wins are multiples of it: the mean is whole
    wins: dict[int, Fraction] = {}
    for win, weight in rows:
        wins[win * total] = wins.get(win * total, Fraction(0)) + Fraction(weight, total)
    if not any(wins):
        return
    gamble = replace(FAIR, limit=limit, rows=(*CASH, feature(wins, last)))
    found = policies(gamble, {3: wins}, winnings, 1, 2)
    assert found.lowest == found.highest == winnings


def test_unfair_payback_shows() -> None:
    """The computation can fail: at 90 % a player who gambles loses by it, one who collects does not."""
    found = policies(replace(FAIR, payback_ppm=900_000), {}, 12, 1, 2)
    assert found.highest == 12
    assert found.lowest == 12 * Fraction(81, 100)


def test_wrong_value_shows() -> None:
    wins = {0: Fraction(1, 2), 20: Fraction(1, 2)}
    row = replace(feature(wins), value_micro=8_000_000)
    found = policies(replace(FAIR, rows=(row,)), {0: wins}, 8, 1, 1)
    assert found.lowest == 8
    assert found.highest == 10


def test_spin_chance_is_won_as_often_as_the_credit_buys() -> None:
    """P = credit / cost, so the return of the wager is that of the play; played on the core."""
    sheet = load(games.sheet_path("dog_diner"))
    pack, mode = Pack(compile_sheet(sheet)), sheet.mode("base")
    cost, rounds = pack.cost(mode), 4000
    for wager in (1, cost - 1):
        won = 0
        for number in range(rounds):
            kind, _, _, count, _, pence = Round(pack, mode, 1, master_seed(f"{wager} {number}"), wager).next()
            assert (kind, pence) == (SPIN_CHANCE, wager)
            won += count
        chance = wager / cost
        assert abs(won - rounds * chance) < 4 * (rounds * chance * (1 - chance)) ** 0.5

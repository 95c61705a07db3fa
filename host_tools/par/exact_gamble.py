"""What gambling can change: the lowest and the highest expected award over all ways to play the gamble.

With a payback of 100 % both are the winnings themselves: whatever a player gambles, and when, the return stays. The rules are
those of native/MECHANICS.md, Gamble; a feature's win is given as a small distribution here, so that every policy (each row,
each amount, each time to collect) can be followed to the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from host_tools.par.model import Gamble, GambleRow

MILLION = 1_000_000
Wins = Mapping[int, Fraction]  # pence -> chance


@dataclass(frozen=True)
class Range:
    lowest: Fraction
    highest: Fraction


def green(gamble: Gamble, row: GambleRow, pence: int, unit_pence: int) -> tuple[int, Fraction]:
    """Of an amount: how much of it is gambled (0: refused), and the chance of green."""
    if row.kind == "cash":
        gambled = pence - pence % row.denominator
        return gambled, Fraction(row.denominator * gamble.payback_ppm, row.numerator * MILLION)
    value = row.value_micro * unit_pence  # millionths of a penny
    gambled = min(pence, value // gamble.payback_ppm)
    return gambled, Fraction(gambled * gamble.payback_ppm, value)


def policies(gamble: Gamble, features: Mapping[int, Wins], winnings: int, unit_pence: int, depth: int) -> Range:
    """Expected award of a round that won `winnings` pence, over all policies of at most `depth` gambles.

    features: by row number of the gamble, what its feature wins.
    """

    @cache
    def state(won: int, taken: int, cash_only: bool, free: bool) -> Range:
        """`free`: the offer needs no minimum, because the gamble before was for cash."""
        lowest = highest = Fraction(won)  # collect
        most = min(depth, gamble.most)
        if taken >= most or won > gamble.limit * unit_pence or won < (1 if free else gamble.offered_from * unit_pence):
            return Range(lowest, highest)
        for number, row in enumerate(gamble.rows):
            if row.kind == "cash" or not cash_only:
                for pence in range(1, won + 1):
                    gambled, chance = green(gamble, row, pence, unit_pence)
                    if gambled:
                        low, high = ended(number, row, gambled, chance, taken, cash_only or row.only_cash_after)
                        lowest, highest = min(lowest, won - gambled + low), max(highest, won - gambled + high)
        return Range(lowest, highest)

    def ended(
        number: int, row: GambleRow, gambled: int, chance: Fraction, taken: int, cash_only: bool
    ) -> tuple[Fraction, Fraction]:
        """Expected winnings behind one gamble, what is banked left out."""
        if row.kind == "cash":
            then = state(gambled * row.numerator // row.denominator, taken + 1, cash_only, True)
            return chance * then.lowest, chance * then.highest
        low, high = Fraction(0), Fraction(0)
        for won, p in features[number].items():
            then = state(won, taken + 1, cash_only, False)
            low, high = low + p * then.lowest, high + p * then.highest
        return chance * low, chance * high

    return state(winnings, 0, False, False)

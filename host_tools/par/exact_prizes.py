"""What the steps behind the wins give, for a window whose counts are known: values, prizes of piles and awards, added spins.

A law is what some independent draws give together: by a key, its chance and the shares of the first and second moment of
the credits on it. Keys of a free spin are the spins that are added; keys of a base spin tell whether a prize was won and
whether a feature among them collects the values in view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from host_tools.par.exact_spins import Split, Watch
from host_tools.par.model import Mode, Prize, Sheet, Step

Moments = tuple[Fraction, Fraction, Fraction]  # chance, mean share, mean square share
Law = dict[int, Moments]
ZERO, ONE = Fraction(0), Fraction(1)
SURE: Law = {0: (ONE, ZERO, ZERO)}
WON, COLLECTS = 1, 2  # keys of a base spin, or-ed


class NotExact(ValueError):
    """A combination of mechanics for which no exact form is written down; play it instead."""


def joined(left: Law, right: Law, key: Callable[[int, int], int]) -> Law:
    """Two independent laws, credits added."""
    result: Law = {}
    for a, (p, x, y) in left.items():
        for b, (q, u, v) in right.items():
            chance, mean, square = result.get(key(a, b), (ZERO, ZERO, ZERO))
            result[key(a, b)] = (chance + p * q, mean + x * q + p * u, square + y * q + 2 * x * u + p * v)
    return result


def add(a: int, b: int) -> int:
    return a + b


def either(a: int, b: int) -> int:
    return a | b


def mean_of(law: Law) -> Fraction:
    return sum((mean for _, mean, _ in law.values()), ZERO)


def square_of(law: Law) -> Fraction:
    return sum((square for _, _, square in law.values()), ZERO)


def chances(sheet: Sheet, table: int) -> Iterator[tuple[Fraction, Prize]]:
    """Every outcome of a table, wheels spun."""
    entry = sheet.tables[table]
    for row in entry.rows:
        chance = Fraction(row.weight, entry.weight)
        if row.prize.kind == "wheel":
            for inner, prize in chances(sheet, row.prize.index):
                yield chance * inner, prize
        else:
            yield chance, row.prize


def outcomes(sheet: Sheet, prize: Prize) -> list[tuple[Fraction, Prize]]:
    """A prize with its wheel spun."""
    return list(chances(sheet, prize.index)) if prize.kind == "wheel" else [(ONE, prize)]


def credits_of(sheet: Sheet, prize: Prize) -> int:
    if prize.kind == "pot":
        return sheet.pots[prize.index].credits
    return prize.number if prize.kind == "credits" else 0


def value_moments(sheet: Sheet, table: int) -> tuple[Fraction, Fraction]:
    """Mean and variance of a draw of credits."""
    rows = [(chance, credits_of(sheet, prize)) for chance, prize in chances(sheet, table)]
    mean = sum((chance * credits for chance, credits in rows), ZERO)
    return mean, sum((chance * credits**2 for chance, credits in rows), ZERO) - mean**2


@dataclass
class Steps:
    """The steps of a mode, and where in a window's count vector each of their masks is."""

    sheet: Sheet
    mode: Mode
    masks: list[frozenset[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for step in self.mode.steps:
            for mask in (step.symbols, step.needed):
                if mask and mask not in self.masks:
                    self.masks.append(mask)

        @cache
        def values(table: int) -> tuple[Fraction, Fraction]:
            return value_moments(self.sheet, table)

        self._values = values

    def of(self, op: str) -> tuple[Step, ...]:
        return self.mode.steps_of(op)

    def seen(self, shown: tuple[int, ...], mask: frozenset[int]) -> int:
        return shown[self.masks.index(mask)] if mask else 0

    def watch(self, places: tuple[frozenset[int], ...] = ()) -> Watch:
        return Watch(tuple(self.masks), places)

    def values(self, shown: tuple[int, ...]) -> tuple[Fraction, Fraction]:
        """Mean and variance of the sum of the values in view."""
        mean, variance = ZERO, ZERO
        for step in self.of("values"):
            assert step.table is not None
            cells = self.seen(shown, step.symbols)
            one, spread = self._values(step.table)
            mean, variance = mean + cells * one, variance + cells * spread
        return mean, variance

    def collected(self, shown: tuple[int, ...]) -> bool:
        """Whether a collect step pays the values."""
        has_values = any(self.seen(shown, step.symbols) for step in self.of("values"))
        return has_values and any(self.seen(shown, step.symbols) for step in self.of("collect"))

    def awarded(self, shown: tuple[int, ...]) -> list[tuple[Prize, int]]:
        """Prizes by symbols in view, each with its trigger count."""
        won: list[tuple[Prize, int]] = []
        for step in self.of("award"):
            assert step.table is not None
            count = self.seen(shown, step.symbols)
            if step.least <= count <= step.most and (not step.needed or self.seen(shown, step.needed)):
                won.append((self.sheet.tables[step.table].rows[0].prize, count))
        return won


def grouped(split: Split, columns: list[Any]) -> list[tuple[tuple[int, ...], int, int]]:
    """Boards and wins by the values of the columns, as Python integers."""
    if not columns:
        return [((), split.total, split.credits)]
    codes = np.zeros(len(split.boards), dtype=np.int64)
    for column in columns:
        values, inverse = np.unique(column, return_inverse=True)
        _, codes = np.unique(codes * len(values) + inverse, return_inverse=True)
    first = np.unique(codes, return_index=True)[1]
    boards = np.zeros(len(first), dtype=split.boards.dtype)
    wins = np.zeros(len(first), dtype=split.wins.dtype)
    np.add.at(boards, codes, split.boards)
    np.add.at(wins, codes, split.wins)
    keys = zip(*(column[first].tolist() for column in columns), strict=True)
    return [
        (key, int(ways), int(won)) for key, ways, won in zip(keys, boards.tolist(), wins.tolist(), strict=True) if ways
    ]


def free_spin_law(steps: Steps, shown: tuple[int, ...]) -> Law:
    """Of a free spin's steps: credits besides the wins, by spins added. Multipliers do not touch them."""
    sheet, law = steps.sheet, SURE
    for step in steps.of("pile"):
        assert step.table is not None
        cells = steps.seen(shown, step.symbols)
        law = joined(law, _power(sheet, step.table, cells), add)
    for prize, _ in steps.awarded(shown):
        law = joined(law, _spins_law(sheet, outcomes(sheet, prize)), add)
    added = sum(step.least * steps.seen(shown, step.symbols) for step in steps.of("add_spins"))
    if steps.collected(shown):
        mean, variance = steps.values(shown)
        law = joined(law, {0: (ONE, mean, variance + mean * mean)}, add)
    return {key + added: moments for key, moments in law.items()}


def _spins_law(sheet: Sheet, rows: list[tuple[Fraction, Prize]]) -> Law:
    law: Law = {}
    for chance, prize in rows:
        if prize.kind == "feature":
            raise NotExact("a feature within a feature")
        key = prize.number if prize.kind == "spins" else 0
        p, x, y = law.get(key, (ZERO, ZERO, ZERO))
        credits = credits_of(sheet, prize)
        law[key] = (p + chance, x + chance * credits, y + chance * credits**2)
    return law


def _power(sheet: Sheet, table: int, cells: int) -> Law:
    """The law of so many draws of a table."""
    one = _spins_law(sheet, list(chances(sheet, table)))
    law = SURE
    for _ in range(cells):
        law = joined(law, one, add)
    return law

"""Means of a spin, split by what its window shows: exact integers from strips, without building a board.

A reel's stops fall into classes: stops that show the same numbers of the watched symbols, at the same places where places
matter. A window's class is one class for each reel, so all sums are tensors over the reels' classes, and each is an outer
product: of a line's wins, because a line reads one cell of each reel; of ways wins, because ways are products of counts.
What the steps of a mode do after the wins depends on the class alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from host_tools.par.counts import better, factor_of, step
from host_tools.par.model import Mode, Sheet

Array = Any  # a numpy array: int64 where the sums fit, else of Python integers
Stops = Sequence[Sequence[int]]  # by reel: the stops that may be drawn
FITS = 2**62


@dataclass(frozen=True)
class Watch:
    """What a split keeps apart: counts in view, and places in view (a bit for each row of each reel)."""

    counts: tuple[frozenset[int], ...] = ()
    places: tuple[frozenset[int], ...] = ()


@dataclass
class Split:
    """Boards and wins (credits, multiplier 1) by class of the window. All arrays have one entry for each class."""

    boards: Array
    wins: Array
    counts: list[Array]  # by watched count: cells in view
    places: list[list[Array]]  # by watched place and reel: bits of the rows
    by_symbol: dict[int, int] = field(default_factory=dict)  # credits won by lines or ways, by symbol
    scatter_credits: int = 0

    @property
    def total(self) -> int:
        return int(self.boards.sum())

    @property
    def credits(self) -> int:
        return int(self.wins.sum())


def window(strip: Sequence[int], stop: int, rows: int) -> tuple[int, ...]:
    return tuple(strip[(stop + row) % len(strip)] for row in range(rows))


def all_stops(strips: Sequence[Sequence[int]]) -> Stops:
    return [range(len(strip)) for strip in strips]


def outer(arrays: Sequence[Array]) -> Array:
    """The outer product, flat, the first array slowest."""
    return reduce(lambda left, right: np.multiply.outer(left, right).ravel(), arrays)


def spread(arrays: Sequence[Array], reel: int) -> Array:
    """An array over one reel's classes, repeated over the classes of the others."""
    ones = [np.ones(len(array), dtype=np.int64) for array in arrays]
    return outer([*ones[:reel], arrays[reel], *ones[reel + 1 :]])


def split(sheet: Sheet, mode: Mode, watch: Watch, stops: Stops | None = None) -> Split:
    """`stops`: only windows of these stops, for conditional means."""
    strips = sheet.sets[mode.set].reels
    allowed = all_stops(strips) if stops is None else stops
    paying = [sheet.counting(scatter) for scatter in sheet.scatter_pays] if mode.scatter_pays else []
    counted = [*watch.counts, *paying]
    classes: list[dict[tuple[int, ...], list[int]]] = []
    for strip, drawn in zip(strips, allowed, strict=True):
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for stop in drawn:
            column = window(strip, stop, sheet.rows)
            shown = [sum(cell in symbols for cell in column) for symbols in counted]
            bits = [sum((cell in symbols) << row for row, cell in enumerate(column)) for symbols in watch.places]
            found[(*shown, *bits)].append(stop)
        classes.append(found)
    largest = max((max(row, default=0) for row in sheet.pays), default=0) * max(1, len(sheet.lines)) * sheet.rows**6
    boards = prod(len(drawn) for drawn in allowed)
    dtype = np.int64 if boards * (largest + 1) * 64 < FITS else object
    sizes = [np.array([len(group) for group in found.values()], dtype=dtype) for found in classes]
    keys = [np.array(list(found), dtype=np.int64).reshape(len(found), -1) for found in classes]

    def column_of(place: int) -> list[Array]:
        parts = [key[:, place] for key in keys]
        return [spread(parts, reel) for reel in range(len(parts))]

    result = Split(
        outer(sizes),
        np.zeros(prod(map(len, sizes)), dtype=dtype),
        [reduce(np.add, column_of(place)) for place in range(len(watch.counts))],
        [column_of(len(counted) + place) for place in range(len(watch.places))],
    )
    adder = _Ways if mode.evaluation == "ways" else _Lines
    adder(sheet, strips, [list(found.values()) for found in classes], sizes, result).run()
    for place, scatter in enumerate(sheet.scatter_pays if mode.scatter_pays else ()):
        shown = reduce(np.add, column_of(len(watch.counts) + place))
        pays = np.array([sheet.scatter_pay(scatter, count) for count in range(sheet.reels * sheet.rows + 1)])
        won = result.boards * pays[shown] * mode.cost
        result.wins += won
        result.scatter_credits += int(won.sum())
    return result


class _Adder:
    def __init__(
        self,
        sheet: Sheet,
        strips: Sequence[Sequence[int]],
        groups: list[list[list[int]]],
        sizes: list[Array],
        result: Split,
    ) -> None:
        self.sheet, self.strips, self.groups, self.sizes, self.result = sheet, strips, groups, sizes, result

    def add(self, symbol: int, credits: int, weights: Sequence[Array]) -> None:
        won = outer(weights) * credits
        self.result.wins += won
        self.result.by_symbol[symbol] = self.result.by_symbol.get(symbol, 0) + int(won.sum())


class _Ways(_Adder):
    def run(self) -> None:
        for symbol, row in enumerate(self.sheet.pays):
            if any(row):
                reels = [self.sums(symbol, reel) for reel in range(self.sheet.reels)]
                for run, pay in enumerate(row, 1):
                    if pay:
                        self.count(symbol, pay, reels, run)

    def sums(self, symbol: int, reel: int) -> dict[str, Array]:
        """By class: sums over stops of the symbol's ways on a reel (see `ways_on`), and stops that show none."""
        table: dict[str, list[int]] = defaultdict(list)
        for group in self.groups[reel]:
            shown = [ways_on(self.sheet, window(self.strips[reel], stop, self.sheet.rows), symbol) for stop in group]
            table["all"].append(sum(all_ for all_, _, _ in shown))
            table["plain"].append(sum(plain for _, plain, _ in shown))
            table["all unnatural"].append(sum(all_ for all_, _, natural in shown if not natural))
            table["plain unnatural"].append(sum(plain for _, plain, natural in shown if not natural))
            table["none"].append(sum(not all_ for all_, _, _ in shown))
        return {name: np.array(values, dtype=self.sizes[reel].dtype) for name, values in table.items()}

    def count(self, symbol: int, pay: int, reels: list[dict[str, Array]], run: int) -> None:
        behind = [reels[run]["none"], *self.sizes[run + 1 :]] if run < self.sheet.reels else []
        multiplier = ways_multiplier(self.sheet)
        for name, sign in (("", 1), (" unnatural", -1)) if self.sheet.needs_natural else (("", 1),):
            self.add(symbol, sign * pay * multiplier, [*(reel[f"all{name}"] for reel in reels[:run]), *behind])
            if multiplier > 1:
                plain = [reel[f"plain{name}"] for reel in reels[:run]]
                self.add(symbol, -sign * pay * (multiplier - 1), [*plain, *behind])


def ways_multiplier(sheet: Sheet) -> int:
    """What a way with a multiplying wild counts for under rule "highest"; under "product" the counts hold it."""
    if sheet.wild_rule == "product":
        return 1
    return max((symbol.multiplier for symbol in sheet.symbols if symbol.wild), default=1)


def ways_on(sheet: Sheet, column: Sequence[int], symbol: int) -> tuple[int, int, int]:
    """Of a symbol on a reel: its cells with wilds, those without multiplying wilds, its own cells.

    Under rule "product" a multiplying wild counts as its multiplier.
    """
    natural = sum(cell == symbol for cell in column)
    ways, plain = natural, natural
    for cell in column:
        wild = sheet.symbols[cell]
        if cell != symbol and symbol in wild.substitutes:
            ways += wild.multiplier if sheet.wild_rule == "product" else 1
            plain += wild.multiplier == 1 or sheet.wild_rule == "product"
    return ways, plain, natural


class _Lines(_Adder):
    def run(self) -> None:
        payable = {symbol: None for symbol, row in enumerate(self.sheet.pays) if any(row)}
        for line in self.sheet.lines:
            self.weights: list[dict[int, Array]] = []
            for reel, row in enumerate(line):
                strip, rows = self.strips[reel], self.sheet.rows
                found: dict[int, list[int]] = defaultdict(lambda reel=reel: [0] * len(self.groups[reel]))
                for place, group in enumerate(self.groups[reel]):
                    for stop in group:
                        found[window(strip, stop, rows)[row]][place] += 1
                dtype = self.sizes[reel].dtype
                self.weights.append({symbol: np.array(stops, dtype=dtype) for symbol, stops in found.items()})
            self.walk(0, payable, (0, 0, 0, False), [])

    def walk(self, reel: int, runs: dict[int, Any], best: tuple[int, int, int, bool], before: list[Array]) -> None:
        """As in `counts`, over vectors of classes instead of polynomials."""
        if reel == self.sheet.reels or not runs:
            self.leaf(best, before, reel)
            return
        broken = self.sizes[reel].copy()
        for shown, stops in self.weights[reel].items():
            onward = {}
            for symbol, run in runs.items():
                longer = step(self.sheet, run, symbol, shown)
                if longer:
                    onward[symbol] = longer
            if onward:
                broken = broken - stops
                ended = better(self.sheet, best, {key: run for key, run in runs.items() if key not in onward}, reel)
                last = better(self.sheet, ended, onward, reel + 1) if reel + 1 == self.sheet.reels else ended
                self.walk(reel + 1, onward, last, [*before, stops])
        if broken.any():
            self.leaf(better(self.sheet, best, runs, reel), [*before, broken], reel + 1)

    def leaf(self, best: tuple[int, int, int, bool], before: list[Array], reel: int) -> None:
        credits, _, symbol, _ = best
        if credits:
            self.add(-symbol, credits, [*before, *self.sizes[reel:]])


def window_wins(sheet: Sheet, mode: Mode, columns: Sequence[Sequence[int]]) -> int:
    """Credits that one window wins by lines or ways and by scatters (multiplier 1)."""
    won = 0
    if mode.evaluation == "ways":
        multiplier = ways_multiplier(sheet)
        for symbol, row in enumerate(sheet.pays):
            ways, plain, natural, run = 1, 1, 0, 0
            for column in columns:
                here = ways_on(sheet, column, symbol)
                if not here[0]:
                    break
                ways, plain, natural, run = ways * here[0], plain * here[1], natural + here[2], run + 1
            if run and (natural or not sheet.needs_natural):
                won += row[run - 1] * (multiplier * ways - (multiplier - 1) * plain)
    else:
        for line in sheet.lines:
            won += max(
                _reading(sheet, [columns[reel][row] for reel, row in enumerate(line)], s)
                for s in range(len(sheet.symbols))
            )
    for scatter in sheet.scatter_pays if mode.scatter_pays else ():
        counting = sheet.counting(scatter)
        won += mode.cost * sheet.scatter_pay(scatter, sum(cell in counting for column in columns for cell in column))
    return won


def _reading(sheet: Sheet, cells: Sequence[int], symbol: int) -> int:
    run = 0
    while run < len(cells) and (cells[run] == symbol or symbol in sheet.symbols[cells[run]].substitutes):
        run += 1
    inside = cells[:run]
    if not run or (sheet.needs_natural and symbol not in inside):
        return 0
    factors = tuple(sheet.symbols[cell].multiplier for cell in inside if cell != symbol)
    return sheet.pays[symbol][run - 1] * factor_of(sheet.wild_rule, factors)

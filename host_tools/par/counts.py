"""Exact line and scatter mathematics from symbol counts alone, in Python integers: the second method.

It shares nothing with the C core: no board is ever built. A line's outcome depends only on which symbol each reel
shows on it, so it is enough to walk over symbols, reel by reel, weighted by the number of stops that show them, and
to drop a branch when no symbol's run can go on. Weights are polynomials in the number of scatters that the reel shows
at that stop, so the same walk also tells how the line wins spread over scatter counts (needed for exact variances of
whole rounds).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from host_tools.par.model import Sheet

Polynomial = tuple[int, ...]  # coefficient n: stops (or boards) that show n scatters


@dataclass
class Combo:
    """Line hits of one symbol and run length, summed over the lines."""

    without_wild: int = 0
    with_wild: int = 0


@dataclass
class CountsResult:
    boards: int
    line_pays: int = 0  # credits, all lines
    winning_lines: int = 0
    combos: dict[tuple[int, int], Combo] = field(default_factory=dict)
    line_pays_by_count: list[int] = field(default_factory=list)  # credits by number of watched scatters in view
    scatter_boards: dict[int, list[int]] = field(default_factory=dict)  # by scatter: boards with 0, 1, ... in view
    scatter_pays: int = 0  # total bets
    scatter_pays_by_count: list[int] = field(default_factory=list)  # total bets by number of watched scatters in view
    boards_by_count: list[int] = field(default_factory=list)  # by number of watched scatters in view


def multiply(left: Sequence[int], right: Sequence[int]) -> Polynomial:
    product = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        if a:
            for j, b in enumerate(right):
                product[i + j] += a * b
    return tuple(product)


def in_view(strip: Sequence[int], counted: Collection[int], rows: int) -> Polynomial:
    """Stops of a reel by how many of the `counted` symbols they show."""
    shown = [0] * (rows + 1)
    for stop in range(len(strip)):
        shown[sum(strip[(stop + row) % len(strip)] in counted for row in range(rows))] += 1
    while len(shown) > 1 and not shown[-1]:
        shown.pop()
    return tuple(shown)


def by_row(strip: Sequence[int], row: int, watched: Collection[int], rows: int) -> dict[int, Polynomial]:
    """Stops of a reel by the symbol in a row and, inside, by how many of the watched symbols they show."""
    found: dict[int, list[int]] = {}
    size, width = len(strip), rows + 1 if watched else 1
    for stop in range(size):
        window = [strip[(stop + place) % size] for place in range(rows)]
        shown = sum(symbol in watched for symbol in window)
        found.setdefault(window[row], [0] * width)[shown] += 1
    return {symbol: tuple(stops) for symbol, stops in found.items()}


@dataclass(frozen=True)
class Run:
    """A symbol whose run from reel 1 is still unbroken."""

    natural: bool  # the symbol itself is in the run
    factors: tuple[int, ...]  # multipliers of the wilds that stand in for it


def factor_of(rule: str, factors: tuple[int, ...]) -> int:
    """What the stand-ins multiply by; one with multiplier 1 is a plain wild, which no rule counts."""
    factors = tuple(factor for factor in factors if factor > 1)
    if not factors:
        return 1
    if rule == "highest":
        return max(factors)
    return sum(factors) if rule == "sum" else prod(factors)


def step(sheet: Sheet, run: Run | None, symbol: int, shown: int) -> Run | None:
    """The run of `symbol` after one more cell, which shows `shown`; None when it breaks. `run` None: the first cell."""
    if shown == symbol:
        return Run(True, run.factors if run else ())
    cell = sheet.symbols[shown]
    if cell.wild and symbol in cell.substitutes:
        return Run(run.natural if run else False, (*(run.factors if run else ()), cell.multiplier))
    return None


Best = tuple[int, int, int, bool]  # credits, run length, minus symbol number, whether a wild stood in


def better(sheet: Sheet, best: Best, ended: Mapping[int, Run | None], length: int) -> Best:
    """Readings of runs that ended after `length` reels, compared with the best reading so far."""
    if not length:
        return best
    for symbol, run in ended.items():
        if run is None or (sheet.needs_natural and not run.natural):
            continue
        credits = sheet.pays[symbol][length - 1] * factor_of(sheet.wild_rule, run.factors)
        reading = (credits, length, -symbol, bool(run.factors))
        if credits and reading[:3] > best[:3]:
            best = reading
    return best


class _Line:
    """The walk over one pay line."""

    def __init__(self, sheet: Sheet, weights: list[dict[int, Polynomial]], result: CountsResult) -> None:
        self.sheet = sheet
        self.weights = weights
        self.result = result
        # All stops of each reel, and of all reels from it on: what follows a broken run does not matter.
        self.every = [tuple(map(sum, zip(*reel.values(), strict=True))) for reel in weights]
        self.rest: list[Polynomial] = [(1,)]
        for every in reversed(self.every):
            self.rest.append(multiply(every, self.rest[-1]))
        self.rest.reverse()

    def walk(self, reel: int, runs: dict[int, Run], best: Best, weight: Polynomial) -> None:
        """`best` is the best reading so far: credits, run length, minus symbol number, whether a wild stood in."""
        if reel == self.sheet.reels or not runs:
            self.count(best, multiply(weight, self.rest[reel]))
            return
        broken = list(self.every[reel])
        for shown, stops in self.weights[reel].items():
            onward: dict[int, Run] = {}
            for symbol, run in runs.items():
                longer = step(self.sheet, run if reel else None, symbol, shown)
                if longer:
                    onward[symbol] = longer
            if onward:
                for place, count in enumerate(stops):
                    broken[place] -= count
                ended = better(self.sheet, best, {key: run for key, run in runs.items() if key not in onward}, reel)
                last = better(self.sheet, ended, onward, reel + 1) if reel + 1 == self.sheet.reels else ended
                self.walk(reel + 1, onward, last, multiply(weight, stops))
        if any(broken):
            self.count(better(self.sheet, best, runs, reel), multiply(multiply(weight, broken), self.rest[reel + 1]))

    def count(self, best: Best, weight: Polynomial) -> None:
        credits, length, symbol, wild = best
        if not credits:
            return
        boards = sum(weight)
        result = self.result
        result.line_pays += credits * boards
        result.winning_lines += boards
        combo = result.combos.setdefault((-symbol, length), Combo())
        if wild:
            combo.with_wild += boards
        else:
            combo.without_wild += boards
        for shown, share in enumerate(weight):
            if share:
                result.line_pays_by_count[shown] += credits * share


def joint_in_view(sheet: Sheet, strips: Sequence[Sequence[int]], scatters: Sequence[int]) -> Counter[tuple[int, ...]]:
    """Boards by how many of each scatter they show, all scatters together."""
    counting = [sheet.counting(scatter) for scatter in scatters]
    boards: Counter[tuple[int, ...]] = Counter({(0,) * len(scatters): 1})
    for strip in strips:
        shown: Counter[tuple[int, ...]] = Counter()
        for stop in range(len(strip)):
            window = [strip[(stop + row) % len(strip)] for row in range(sheet.rows)]
            shown[tuple(sum(symbol in counted for symbol in window) for counted in counting)] += 1
        longer: Counter[tuple[int, ...]] = Counter()
        for before, ways in boards.items():
            for here, stops in shown.items():
                longer[tuple(a + b for a, b in zip(before, here, strict=True))] += ways * stops
        boards = longer
    return boards


def by_counts(sheet: Sheet, mode: int, watched: int | None = None, lines: int | None = None) -> CountsResult:
    """Everything that symbol counts tell about a mode. `watched` is the scatter by which wins are split."""
    strips = sheet.sets[sheet.modes[mode].set].reels
    cells = sheet.reels * sheet.rows
    result = CountsResult(sheet.sets[sheet.modes[mode].set].boards)
    result.line_pays_by_count = [0] * (cells + 1)
    payable = {symbol: Run(False, ()) for symbol, row in enumerate(sheet.pays) if any(row)}
    counted = sheet.counting(watched) if watched is not None else frozenset[int]()
    for line in sheet.lines[:lines]:
        weights = [by_row(strip, row, counted, sheet.rows) for strip, row in zip(strips, line, strict=True)]
        _Line(sheet, weights, result).walk(0, payable, (0, 0, 0, False), (1,))
    scatters = [number for number, symbol in enumerate(sheet.symbols) if symbol.scatter]
    result.scatter_boards = {scatter: [0] * (cells + 1) for scatter in scatters}
    result.scatter_pays_by_count = [0] * (cells + 1)
    result.boards_by_count = [0] * (cells + 1)
    for shown, boards in joint_in_view(sheet, strips, scatters).items():
        pays = 0
        for scatter, count in zip(scatters, shown, strict=True):
            result.scatter_boards[scatter][count] += boards
            pays += sheet.scatter_pay(scatter, count) if sheet.modes[mode].scatter_pays else 0
        place = shown[scatters.index(watched)] if watched is not None else 0
        result.boards_by_count[place] += boards
        result.scatter_pays_by_count[place] += pays * boards
    result.scatter_pays = sum(result.scatter_pays_by_count)
    return result

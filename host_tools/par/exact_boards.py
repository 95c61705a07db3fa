"""How the wins of a spin are distributed: every board counted, none built, in Python integers.

The boards behind a reel depend on the reels before it only through what is still open: lines whose run goes on, or symbols
whose ways go on. So the distribution of what the remaining reels add is worked out once for each such state, from the last
reel to the first. This is the second method beside the C core's walk over all boards, and shares nothing with it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from host_tools.par.counts import Run, better, step
from host_tools.par.exact_spins import Stops, all_stops, ways_multiplier, ways_on, window
from host_tools.par.model import Mode, Sheet

Shown = tuple[int, ...]  # cells in view of each watched set of symbols
Outcomes = Counter[tuple[int, Shown]]  # (credits won by lines, ways and scatters; shown) -> boards
State = tuple[Any, ...]


@dataclass(frozen=True)
class Boards:
    """The full cycle of a mode's strip set."""

    outcomes: Outcomes

    @property
    def boards(self) -> int:
        return self.outcomes.total()

    @property
    def wins(self) -> Counter[int]:
        """Credits -> boards."""
        found: Counter[int] = Counter()
        for (win, _), boards in self.outcomes.items():
            found[win] += boards
        return found

    @property
    def credits(self) -> int:
        return sum(win * boards for (win, _), boards in self.outcomes.items())

    @property
    def squares(self) -> int:
        return sum(win * win * boards for (win, _), boards in self.outcomes.items())

    def deviation(self) -> float:
        """Of one spin's win, credits."""
        mean = self.credits / self.boards
        return math.sqrt(self.squares / self.boards - mean * mean)


def distribution(
    sheet: Sheet,
    mode: Mode,
    watched: Sequence[frozenset[int]] = (),
    stops: Stops | None = None,
    losing_only: bool = False,
) -> Boards:
    """Boards by win and by what they show. `losing_only`: just those that win nothing (far quicker)."""
    strips = sheet.sets[mode.set].reels
    walk = _Walk(sheet, mode, watched, all_stops(strips) if stops is None else stops, losing_only)
    return Boards(walk.run())


@dataclass
class _Walk:
    sheet: Sheet
    mode: Mode
    watched: Sequence[frozenset[int]]
    stops: Stops
    losing_only: bool
    memo: dict[tuple[int, State], Outcomes] = field(default_factory=dict)

    def run(self) -> Outcomes:
        sheet = self.sheet
        strips = sheet.sets[self.mode.set].reels
        scatters = list(sheet.scatter_pays) if self.mode.scatter_pays else []
        counted = [*self.watched, *(sheet.counting(scatter) for scatter in scatters)]
        self.rule = _Ways(sheet) if self.mode.evaluation == "ways" else _Lines(sheet)
        # By reel: column -> shown -> stops. Columns that differ in nothing that can win or is watched are one.
        self.columns: list[dict[tuple[int, ...], Counter[Shown]]] = []
        for strip, drawn in zip(strips, self.stops, strict=True):
            found: dict[tuple[int, ...], Counter[Shown]] = {}
            for stop in drawn:
                column = window(strip, stop, sheet.rows)
                shown = tuple(sum(cell in symbols for cell in column) for symbols in counted)
                found.setdefault(self.rule.plain(column), Counter())[shown] += 1
            self.columns.append(found)
        self.tails: list[Counter[Shown]] = [Counter({(0,) * len(counted): 1})]
        for found in reversed(self.columns):
            every: Counter[Shown] = Counter()
            for part in found.values():
                every.update(part)
            self.tails.append(_joined(every, self.tails[-1]))
        self.tails.reverse()
        outcomes = self.behind(0, self.rule.start())
        if not scatters:
            return outcomes
        paid: Outcomes = Counter()
        watched = len(self.watched)
        for (win, shown), boards in outcomes.items():
            bets = sum(sheet.scatter_pay(scatter, shown[watched + n]) for n, scatter in enumerate(scatters))
            if not (bets and self.losing_only):
                paid[win + bets * self.mode.cost, shown[:watched]] += boards
        return paid

    def behind(self, reel: int, state: State) -> Outcomes:
        """What the reels from `reel` on add, by shown; nothing is in the state when nothing can be won any more."""
        if not state:
            return Counter({(0, shown): boards for shown, boards in self.tails[reel].items()})
        known = self.memo.get((reel, state))
        if known is not None:
            return known
        # Columns that lead to the same state with the same win share what follows.
        ways: dict[tuple[int, State], Counter[Shown]] = {}
        for column, shown in self.columns[reel].items():
            won, onward = self.rule.advance(reel, state, column)
            if not (won and self.losing_only):
                ways.setdefault((won, onward), Counter()).update(shown)
        result: Outcomes = Counter()
        for (won, onward), here in ways.items():
            for (more, later), boards in self.behind(reel + 1, onward).items():
                for shown, stops in here.items():
                    result[won + more, tuple(map(int.__add__, shown, later))] += stops * boards
        self.memo[reel, state] = result
        return result


def _joined(left: Counter[Shown], right: Counter[Shown]) -> Counter[Shown]:
    joined: Counter[Shown] = Counter()
    for a, many in left.items():
        for b, more in right.items():
            joined[tuple(map(int.__add__, a, b))] += many * more
    return joined


class _Ways:
    """State: for each symbol whose ways go on, its ways, those without multiplying wilds, whether it showed itself."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.multiplier = ways_multiplier(sheet)
        self.known: dict[tuple[tuple[int, ...], int], tuple[int, int, int]] = {}

    def plain(self, column: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(column))  # ways do not see the order of the rows

    def start(self) -> State:
        return tuple((symbol, 1, 1, False) for symbol, row in enumerate(self.sheet.pays) if any(row))

    def advance(self, reel: int, state: State, column: tuple[int, ...]) -> tuple[int, State]:
        won, onward = 0, []
        last = reel + 1 == self.sheet.reels
        for symbol, ways, plain, natural in state:
            here = self.known.get((column, symbol))
            if here is None:
                here = self.known[column, symbol] = ways_on(self.sheet, column, symbol)
            if here[0]:
                longer = (symbol, ways * here[0], plain * here[1], natural or here[2] > 0)
                if last:
                    won += self.pay(*longer, reel + 1)
                elif any(self.sheet.pays[symbol][reel:]):
                    onward.append(longer)
            elif reel:
                won += self.pay(symbol, ways, plain, natural, reel)
        return won, tuple(onward)

    def pay(self, symbol: int, ways: int, plain: int, natural: bool, run: int) -> int:
        if self.sheet.needs_natural and not natural:
            return 0
        return self.sheet.pays[symbol][run - 1] * (self.multiplier * ways - (self.multiplier - 1) * plain)


class _Lines:
    """State: (line, number of what its runs are) for each line with a run that goes on."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.runs: list[tuple[Any, tuple[tuple[int, Run | None], ...]]] = []  # (best so far, runs) by number
        self.numbers: dict[Any, int] = {}
        self.known: dict[tuple[int, int, int], tuple[int, int]] = {}

    def plain(self, column: tuple[int, ...]) -> tuple[int, ...]:
        return column

    def number(self, best: Any, runs: tuple[tuple[int, Run | None], ...]) -> int:
        key = (best, runs)
        if key not in self.numbers:
            self.numbers[key] = len(self.runs)
            self.runs.append(key)
        return self.numbers[key]

    def start(self) -> State:
        payable = tuple((symbol, None) for symbol, row in enumerate(self.sheet.pays) if any(row))
        return tuple((line, self.number((0, 0, 0, False), payable)) for line in range(len(self.sheet.lines)))

    def advance(self, reel: int, state: State, column: tuple[int, ...]) -> tuple[int, State]:
        won, onward = 0, []
        for line, number in state:
            shown = column[self.sheet.lines[line][reel]]
            after = self.known.get((reel, number, shown))
            if after is None:
                after = self.known[reel, number, shown] = self.step(reel, number, shown)
            if after[1] < 0:
                won += after[0]
            else:
                onward.append((line, after[1]))
        return won, tuple(onward)

    def step(self, reel: int, number: int, shown: int) -> tuple[int, int]:
        """(credits, -1) when the line is decided, else (0, number of what goes on)."""
        sheet = self.sheet
        best, runs = self.runs[number]
        onward = {symbol: longer for symbol, run in runs if (longer := step(sheet, run, symbol, shown))}
        best = better(sheet, best, {symbol: run for symbol, run in runs if symbol not in onward}, reel)
        if onward and reel + 1 < sheet.reels:
            best = best if best[0] else (0, 0, 0, False)
            hopeful = tuple((symbol, run) for symbol, run in onward.items() if any(sheet.pays[symbol][reel:]))
            if hopeful:
                return 0, self.number(best, hopeful)
        else:
            best = better(sheet, best, onward, reel + 1)
        return best[0], -1

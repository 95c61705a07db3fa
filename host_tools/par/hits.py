"""Exact hit frequencies of a strip set from the reels that decide a hit, fast enough for a search.

Whether a board wins on any line is settled as soon as the shortest paying run is complete. With three of a kind as the
longest of these, three reels decide it, whatever follows: tens of thousands of boards stand for hundreds of millions.
Sets of boards are bit sets (one integer each), so that a line costs a few operations on a long integer. The scatters of
the other reels come in by convolution. Used by the search, and by the tests as a third opinion on the C core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from host_tools.par.counts import in_view, multiply
from host_tools.par.model import Sheet


@dataclass(frozen=True)
class Hits:
    boards: int
    any_win: int
    by_lines: int
    by_scatters: int

    def percent(self, boards: int) -> float:
        return 100 * boards / self.boards


def shortest_runs(sheet: Sheet) -> dict[int, int]:
    """The shortest run that pays, by symbol. ValueError where it does not settle whether the line wins."""
    for row in sheet.pays:
        paid = [bool(pay) for pay in row]
        if paid != sorted(paid):
            raise ValueError("a symbol pays a run but not a longer one: no short cut decides a hit")
    if sheet.needs_natural:
        raise ValueError("needs_natural: a later reel can turn a run of wilds into a win: no short cut decides a hit")
    return {
        symbol: next(run for run, pay in enumerate(row, 1) if pay) for symbol, row in enumerate(sheet.pays) if any(row)
    }


def hits(sheet: Sheet, strips: Sequence[Sequence[int]], scatter: int | None) -> Hits:
    """Boards that win at all, by lines and by scatters, exactly. `scatter` None: lines only."""
    runs = shortest_runs(sheet)
    depth = max(runs.values())
    planes = _planes(sheet, strips[:depth], runs)
    counted = sheet.counting(scatter) if scatter is not None else frozenset[int]()
    # Of the deciding reels but the first: boards by scatters in view. Of the reels behind: how many show how many.
    by_count = _by_count(strips[1:depth], counted, sheet.rows)
    rest: tuple[int, ...] = (1,)
    for strip in strips[depth:]:
        rest = multiply(rest, in_view(strip, counted, sheet.rows))
    size, others = prod(len(strip) for strip in strips[1:depth]), sum(rest)
    by_lines, either, by_scatters = 0, 0, 0
    for stop, won in enumerate(planes):
        by_lines += won.bit_count() * others
        here = sum(strips[0][(stop + row) % len(strips[0])] in counted for row in range(sheet.rows))
        for shown, boards in by_count.items() if scatter is not None else ():
            paid = sum(ways for later, ways in enumerate(rest) if sheet.scatter_pay(scatter or 0, here + shown + later))
            by_scatters += boards.bit_count() * paid
            either += (boards & ~won).bit_count() * paid
    return Hits(len(planes) * size * others, by_lines + either, by_lines, by_scatters)


def _planes(sheet: Sheet, strips: Sequence[Sequence[int]], runs: dict[int, int]) -> list[int]:
    """For each stop of the first reel, the set of stops of the other deciding reels with which some line wins.

    Bit (a * length of the next reel + b) * ... stands for the stops a, b, ... of those reels.
    """
    # By reel, row and symbol; lines share them.
    shows = [
        [{symbol: _stops(sheet, strip, row, symbol) for symbol in runs} for row in range(sheet.rows)]
        for strip in strips
    ]
    planes = [0] * len(strips[0])
    for line in sheet.lines:
        for symbol, run in runs.items():
            plane = 1
            width = 1
            for reel in range(len(strips) - 1, 0, -1):
                stops = shows[reel][line[reel]][symbol] if reel < run else range(len(strips[reel]))
                plane = sum(plane << stop * width for stop in stops)
                width *= len(strips[reel])
            if plane:
                for stop in shows[0][line[0]][symbol]:
                    planes[stop] |= plane
    return planes


def _stops(sheet: Sheet, strip: Sequence[int], row: int, symbol: int) -> list[int]:
    """Stops of a reel that show a symbol, or a wild that stands in for it, in a row."""
    size = len(strip)
    shows = [cell == symbol or symbol in sheet.symbols[cell].substitutes for cell in strip]
    return [(place - row) % size for place in range(size) if shows[place]]


def _by_count(strips: Sequence[Sequence[int]], counted: frozenset[int], rows: int) -> dict[int, int]:
    """Bit sets of boards, as in `_planes`, by the scatters that they show."""
    sets, width = {0: 1}, 1
    for strip in reversed(strips):
        wider: dict[int, int] = {}
        for stop in range(len(strip)):
            here = sum(strip[(stop + row) % len(strip)] in counted for row in range(rows))
            for shown, boards in sets.items():
                wider[here + shown] = wider.get(here + shown, 0) | boards << stop * width
        sets, width = wider, width * len(strip)
    return sets

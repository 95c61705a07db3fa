"""Exact hit frequencies of a strip set from the reels that decide a hit, fast enough for a search.

Whether a board wins on any line is settled as soon as the shortest paying run is complete. With three of a kind as
the longest of these, three reels decide it, whatever follows: tens of thousands of boards stand for hundreds of
millions. The scatters of the other reels come in by convolution. Used by the search, and by the tests as a third
opinion on the C core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

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


def deciding_reels(sheet: Sheet) -> int:
    """Reels after which it is certain whether a line wins: the longest of the symbols' shortest paying runs."""
    shortest = [next(run for run, pay in enumerate(row, 1) if pay) for row in sheet.pays if any(row)]
    for row in sheet.pays:
        paid = [bool(pay) for pay in row]
        if paid != sorted(paid):
            raise ValueError("a symbol pays a run but not a longer one: no short cut decides a hit")
    if sheet.needs_natural:
        raise ValueError("needs_natural: a later reel can turn a run of wilds into a win: no short cut decides a hit")
    return max(shortest)


def hits(sheet: Sheet, strips: Sequence[Sequence[int]], scatter: int | None) -> Hits:
    """Boards that win at all, by lines and by scatters, exactly. `scatter` None: lines only."""
    depth = deciding_reels(sheet)
    stands_for = np.array([_stands_for(sheet, shown) for shown in range(len(sheet.symbols))], dtype=np.uint32)
    cells = [
        np.stack([stands_for[np.roll(np.array(strip, dtype=np.intp), -row)] for row in range(sheet.rows)])
        for strip in strips[:depth]
    ]
    pays_at = [np.uint32(sum(1 << symbol for symbol, row in enumerate(sheet.pays) if row[run])) for run in range(depth)]
    # Rows: the boards of all deciding reels but the last. Most are dead for a line by then, and are left out.
    hit = np.zeros((prod(len(strip) for strip in strips[: depth - 1]), len(strips[depth - 1])), dtype=bool)
    for line in sheet.lines:
        run = np.full(1, 0xFFFFFFFF, dtype=np.uint32)
        for reel in range(depth - 1):
            run = (run[:, None] & cells[reel][line[reel]]).ravel()
            if pays_at[reel]:
                won = np.repeat((run & pays_at[reel]) != 0, len(hit) // len(run))
                hit[won] = True
        alive = np.flatnonzero(run)
        hit[alive] |= (run[alive, None] & cells[-1][line[depth - 1]] & pays_at[-1]) != 0
    hit = hit.reshape([len(strip) for strip in strips[:depth]])
    others = prod(len(strip) for strip in strips[depth:])
    boards = int(hit.size) * others
    by_lines = int(hit.sum()) * others
    if scatter is None:
        return Hits(boards, by_lines, by_lines, 0)
    counted = sorted(sheet.counting(scatter))
    shown = np.zeros((1,) * depth, dtype=np.int64)
    for reel in range(depth):
        shape = [1] * depth
        shape[reel] = len(strips[reel])
        column = np.array(strips[reel])
        view = sum((np.isin(np.roll(column, -place), counted)).astype(np.int64) for place in range(sheet.rows))
        shown = shown + np.asarray(view).reshape(shape)
    split = np.bincount((shown * 2 + hit).ravel(), minlength=2 * int(shown.max()) + 2).reshape(-1, 2)
    rest: tuple[int, ...] = (1,)
    for strip in strips[depth:]:
        rest = multiply(rest, in_view(strip, counted, sheet.rows))
    either, by_scatters = by_lines, 0
    for first, (lost, won) in enumerate(split.tolist()):
        paid = sum(ways for later, ways in enumerate(rest) if sheet.scatter_pay(scatter, first + later))
        either += lost * paid
        by_scatters += (lost + won) * paid
    return Hits(boards, either, by_lines, by_scatters)


def _stands_for(sheet: Sheet, shown: int) -> int:
    """Bit mask of the symbols as which a cell counts."""
    cell = sheet.symbols[shown]
    return 1 << shown | sum(1 << symbol for symbol in cell.substitutes)

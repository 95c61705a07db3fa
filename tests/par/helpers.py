"""Small sheets for tests, and a third, slow and obvious evaluation of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path

from host_tools.par.model import Sheet

SHEETS = Path(__file__).parent / "sheets"

# A whole small game: every table of the format once.
SMALL = """\
format = 2

[game]
source = "made for tests"
name = "small"
title = "Small"
reels = 3
rows = 3
win_cap_pence = 100_000_000_000
max_unit_pence = 10
stake_credits = 3
wild_rule = "highest"
needs_natural = false
spin_chance = false

[bets]
source = "made for tests"
coin_values_pence = [1, 2]
levels = 5

[symbols]
source = "made for tests"
list = [
  { id = "W", name = "Wild", wild = { multiplier = 2, substitutes = "all", except = ["S"] } },
  { id = "S", name = "Scatter", scatter = true },
  { id = "A", name = "Ace" },
  { id = "K", name = "King" },
]

[pays]
source = "made for tests"
A = [0, 2, 10]
K = [0, 0, 5]

[lines]
source = "made for tests"
map = [[1, 1, 1], [0, 0, 0], [0, 1, 2]]

[scatter_pays]
source = "made for tests"
S = [0, 1, 3]

[sets.base]
source = "made for tests"
reels = ["A K S K W", "A S K A K", "K A K S"]

[modes.base]
source = "made for tests"
title = "Base"
evaluation = "lines"
set = "base"
cost_credits = 3
scatter_pays = true
player_selects = true
steps = [{ op = "award", symbols = ["S"], least = 2, prize = { feature = "free" } }]
[modes.base.rtp]
source = "made for tests"
lowest_ppm = 0
highest_ppm = 0

[modes.free]
source = "made for tests"
title = "Free spins"
evaluation = "lines"
set = "base"
cost_credits = 3
scatter_pays = false
player_selects = false
steps = [{ op = "add_spins", symbols = ["S"], spins = 1 }]
[modes.free.rtp]
source = "made for tests"
lowest_ppm = 0
highest_ppm = 0

[features.free]
source = "made for tests"
title = "Free spins"
mode = "free"
max_spins = 4
[features.free.options]
source = "made for tests"
2 = [{ spins = 2, multiplier = 1 }, { spins = 1, multiplier = 3 }]
3 = [{ spins = 3, multiplier = 2 }]
"""


def factor(sheet: Sheet, cells: list[int], symbol: int) -> int:
    """Multiplier of the wilds that stand in for a symbol in a run."""
    found = [sheet.symbols[cell].multiplier for cell in cells if cell != symbol]
    found = [value for value in found if value > 1]
    if not found:
        return 1
    return {"highest": max, "sum": sum, "product": prod}[sheet.wild_rule](found)


def read_line(sheet: Sheet, cells: list[int]) -> tuple[int, int, int, bool]:
    """Best reading of a line: credits, symbol, run, with wild. Straight from the words of native/README.md."""
    best = (0, 0, 0, False)
    for symbol in range(len(sheet.symbols)):
        run = 0
        while run < len(cells) and (cells[run] == symbol or symbol in sheet.symbols[cells[run]].substitutes):
            run += 1
        inside = cells[:run]
        if run == 0 or (sheet.needs_natural and symbol not in inside):
            continue
        credits = sheet.pays[symbol][run - 1] * factor(sheet, inside, symbol)
        if credits > best[0] or (credits == best[0] and credits and run > best[2]):
            best = (credits, symbol, run, any(cell != symbol for cell in inside))
    return best


@dataclass
class Brute:
    boards: int = 0
    line_pays: int = 0
    winning_lines: int = 0
    line_boards: int = 0
    any_boards: int = 0
    scatter_boards: int = 0
    win: int = 0
    squares: int = 0
    largest: int = 0
    runs: Counter[tuple[int, int, bool]] = field(default_factory=Counter)
    outcomes: Counter[tuple[int, ...]] = field(default_factory=Counter)
    """(win in credits, count of each scatter in view ...) -> boards."""


def brute(sheet: Sheet, mode: int) -> Brute:
    """Every board of a mode, one by one."""
    entry, result = sheet.modes[mode], Brute()
    scatters = [number for number, symbol in enumerate(sheet.symbols) if symbol.scatter]
    reels = sheet.sets[entry.set].reels
    for stops in product(*(range(len(strip)) for strip in reels)):
        window = [
            [strip[(stop + row) % len(strip)] for row in range(sheet.rows)]
            for strip, stop in zip(reels, stops, strict=True)
        ]
        readings = [read_line(sheet, [window[reel][row] for reel, row in enumerate(line)]) for line in sheet.lines]
        shown = tuple(
            sum(cell == scatter or scatter in sheet.symbols[cell].substitutes for column in window for cell in column)
            for scatter in scatters
        )
        lines = sum(reading[0] for reading in readings)
        bets = 0
        if entry.scatter_pays:
            bets = sum(sheet.scatter_pay(scatter, count) for scatter, count in zip(scatters, shown, strict=True))
        win = lines + bets * entry.cost
        result.boards += 1
        result.line_pays += lines
        result.winning_lines += sum(reading[0] > 0 for reading in readings)
        result.line_boards += lines > 0
        result.scatter_boards += bets > 0
        result.any_boards += win > 0
        result.win += win
        result.squares += win * win
        result.largest = max(result.largest, win)
        result.runs.update((symbol, run, wild) for credits, symbol, run, wild in readings if credits)
        result.outcomes[(win, *shown)] += 1
    return result

"""The typed facts of a sheet. Made by `sheet.load` only, which has checked them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from host_tools.par.reading import SheetError, closest

# Bounds of pack layout version 1 (native/README.md).
MOST_SYMBOLS, MOST_SCATTERS, MOST_LINES, MOST_MODES, MOST_SETS, MOST_FEATURES, MOST_OPTIONS = 32, 8, 100, 16, 16, 8, 16
MOST_COIN_VALUES = 16
LONGEST_STRIP = 4096
U16, U32 = 2**16 - 1, 2**32 - 1
WILD_RULES = ("highest", "product", "sum")
TARGETS = ("best_rtp", "worst_rtp", "main_game_rtp", "hit_frequency", "line_hit_frequency", "scatter_hit_frequency")


@dataclass(frozen=True)
class Symbol:
    id: str
    title: str
    scatter: bool
    wild: bool
    multiplier: int  # of a wild that stands in; 1 otherwise
    substitutes: frozenset[int]  # numbers of the symbols that it stands in for


@dataclass(frozen=True)
class StripSet:
    id: str
    reels: tuple[tuple[int, ...], ...]

    @property
    def boards(self) -> int:
        product = 1
        for strip in self.reels:
            product *= len(strip)
        return product


@dataclass(frozen=True)
class Mode:
    id: str
    title: str
    set: int
    cost: int  # credits
    scatter_pays: bool
    selectable: bool
    feature: int | None
    lowest_ppm: int
    highest_ppm: int


@dataclass(frozen=True)
class Option:
    spins: int
    multiplier: int


@dataclass(frozen=True)
class Feature:
    id: str
    trigger: int
    mode: int
    adds: int | None
    adds_spins: int
    max_spins: int
    options: dict[int, tuple[Option, ...]]  # by number of trigger symbols in view, no gaps

    def options_for(self, in_view: int) -> tuple[Option, ...]:
        """Options that so many trigger symbols offer; () when they do not trigger."""
        if in_view < min(self.options):
            return ()
        return self.options[min(in_view, max(self.options))]


@dataclass(frozen=True)
class Target:
    value: float
    within: float


@dataclass(frozen=True)
class Sheet:
    file: str
    name: str
    title: str
    reels: int
    rows: int
    win_cap_pence: int
    max_unit_pence: int
    wild_rule: str
    needs_natural: bool
    coin_values: tuple[int, ...]
    levels: int  # bet levels 1 ... levels
    symbols: tuple[Symbol, ...]
    pays: tuple[tuple[int, ...], ...]  # symbols x reels, credits for a run of 1, 2, ...
    lines: tuple[tuple[int, ...], ...]
    scatter_pays: dict[int, tuple[int, ...]]  # by scatter, total bets for 1, 2, ... in view (shorter than reels*rows)
    sets: tuple[StripSet, ...]
    modes: tuple[Mode, ...]
    features: tuple[Feature, ...]
    targets: dict[str, Target]
    search: dict[str, Any]
    sources: dict[str, str]

    def mode(self, name: str) -> int:
        for number, mode in enumerate(self.modes):
            if mode.id == name:
                return number
        raise SheetError(self.file, "modes", f"has no mode '{name}'", closest(name, [mode.id for mode in self.modes]))

    def number(self, symbol: str) -> int:
        return [entry.id for entry in self.symbols].index(symbol)

    def counting(self, scatter: int) -> frozenset[int]:
        """Symbols whose cells count as a scatter: itself and the wilds that substitute for it."""
        return frozenset(
            {scatter} | {number for number, cell in enumerate(self.symbols) if scatter in cell.substitutes}
        )

    def scatter_pay(self, scatter: int, in_view: int) -> int:
        """Total bets for so many in view."""
        row = self.scatter_pays.get(scatter, ())
        return row[in_view - 1] if 0 < in_view <= len(row) else 0

"""The typed facts of a sheet. Made by `sheet.load` only, which has checked them.

Everything that names something else (a table, a pot, a feature, a symbol) holds its number: the place in the tuple of the
sheet, which is also its number in the pack. `None` stands for "none".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from host_tools.par.reading import SheetError, closest

# Bounds of pack layout version 2 (native/README.md, native/MECHANICS.md).
MOST_SYMBOLS, MOST_SCATTERS, MOST_LINES, MOST_MODES, MOST_SETS, MOST_FEATURES, MOST_OPTIONS = 32, 8, 100, 16, 16, 8, 16
MOST_COIN_VALUES = 16
MOST_STEPS = 12  # of a mode
MOST_TABLES, MOST_POTS, MOST_GROUPS, MOST_GAMBLE_ROWS = 254, 8, 64, 64
MOST_GAMBLES = 20
MOST_WEIGHT = 2**31  # of a table
LONGEST_STRIP = 4096
U8, U16, U32, U64 = 2**8 - 1, 2**16 - 1, 2**32 - 1, 2**64 - 1
WILD_RULES = ("highest", "product", "sum")
EVALUATIONS = ("lines", "ways")

# Numbers in the pack are places in these tuples. Step 0 and the gap in it are no op.
OPS = ("", "modifier", "values", "collect", "pile", "award", "respin", "frames", "add_spins", "tokens")
PRIZES = ("nothing", "credits", "pot", "wheel", "feature", "spins", "boards", "shape")
OPENINGS = ("none", "cells", "shape", "roll")
FRAME_RULES = ("raise", "fill")  # rule 0: one level more; rule 1: level 3 on the cell or on the first bare one
GAMBLE_KINDS = ("cash", "feature")
TARGETS = (
    "rtp",
    "best_rtp",
    "worst_rtp",
    "main_game_rtp",
    "hit_frequency",
    "line_hit_frequency",
    "scatter_hit_frequency",
    "wheel_one_in",
    "free_spins_one_in",
    "deviation",
)


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
class Prize:
    """What a row of a table, or an award, gives."""

    kind: str  # one of PRIZES
    index: int = 0  # pot, wheel's table, feature or board group
    number: int = 0  # credits, spins, or width + 256 x height of a shape

    @property
    def shape(self) -> tuple[int, int]:
        """Width and height in cells."""
        return self.number & 255, self.number >> 8


@dataclass(frozen=True)
class TableRow:
    weight: int
    prize: Prize


@dataclass(frozen=True)
class PrizeTable:
    id: str
    rows: tuple[TableRow, ...]

    @property
    def weight(self) -> int:
        return sum(row.weight for row in self.rows)


@dataclass(frozen=True)
class Pot:
    id: str
    title: str
    credits: int
    tokens: int  # that fill its row; 0: it has no row in the matrix


@dataclass(frozen=True)
class BoardGroup:
    """Boards of which a modifier lands one, each as likely as the others."""

    id: str
    mode: int
    boards: tuple[tuple[int, ...], ...]  # stops


@dataclass(frozen=True)
class Step:
    """One mechanic of a mode. Fields that its op does not use are empty, 0 or None."""

    op: str  # one of OPS
    symbols: frozenset[int] = frozenset()
    table: int | None = None
    least: int = 0  # award: fewest cells; respin: exactly so many cells; add_spins: spins for each cell
    most: int = 0  # award: most cells
    needed: frozenset[int] = frozenset()  # award: one of these must be in view as well
    rule: str = ""  # frames: one of FRAME_RULES
    credits: int = 0  # frames, rule "fill": paid for a cell when none is bare


@dataclass(frozen=True)
class Mode:
    id: str
    title: str
    evaluation: str  # one of EVALUATIONS
    set: int
    cost: int  # credits
    scatter_pays: bool
    selectable: bool
    steps: tuple[Step, ...]
    lowest_ppm: int
    highest_ppm: int

    def steps_of(self, op: str) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.op == op)


@dataclass(frozen=True)
class Option:
    spins: int
    multiplier: int


@dataclass(frozen=True)
class Feature:
    id: str
    title: str
    mode: int
    opening: str  # one of OPENINGS
    symbols: frozenset[int]  # of the openings "cells" and "roll"
    shapes: int | None  # table of the opening "shape"
    level: int  # of the opening's frames; 0 where there are none
    collects: bool  # pays the values in view when it begins, unless a collect has paid them
    bowls: tuple[int | None, int | None, int | None]  # tables of level 1, 2, 3
    max_spins: int
    options: dict[int, tuple[Option, ...]]  # by trigger count, no gaps

    def options_for(self, count: int) -> tuple[Option, ...]:
        """Options of a trigger count; less than the smallest counts as the smallest, more than the largest as it."""
        return self.options[max(min(self.options), min(count, max(self.options)))]


@dataclass(frozen=True)
class GambleRow:
    id: str
    title: str
    kind: str  # one of GAMBLE_KINDS
    numerator: int  # cash: what the gambled amount becomes, as a fraction of it; feature: 0 and 0
    denominator: int
    feature: int | None
    spins: int  # 0: as the feature's option says
    only_cash_after: bool
    value_micro: int  # feature: exact value in millionths of a credit; cash 0


@dataclass(frozen=True)
class Gamble:
    payback_ppm: int
    offered_from: int  # credits
    limit: int  # credits
    most: int  # gambles a round
    rows: tuple[GambleRow, ...]


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
    stake: int  # credits of the base stake, to which "x stake" refers in every mode
    wild_rule: str
    needs_natural: bool
    spin_chance: bool
    coin_values: tuple[int, ...]
    levels: int  # bet levels 1 ... levels
    symbols: tuple[Symbol, ...]
    pays: tuple[tuple[int, ...], ...]  # symbols x reels, credits for a run of 1, 2, ...
    lines: tuple[tuple[int, ...], ...]  # none in a game of ways
    scatter_pays: dict[int, tuple[int, ...]]  # by scatter, total bets for 1, 2, ... in view (shorter than reels*rows)
    sets: tuple[StripSet, ...]
    pots: tuple[Pot, ...]
    tables: tuple[PrizeTable, ...]  # those of [tables], then one of one row for each award
    groups: tuple[BoardGroup, ...]
    modes: tuple[Mode, ...]
    features: tuple[Feature, ...]
    gamble: Gamble | None
    targets: dict[str, dict[str, Target]]  # by mode
    search: dict[str, Any]
    sources: dict[str, str]

    def mode(self, name: str) -> int:
        for number, mode in enumerate(self.modes):
            if mode.id == name:
                return number
        raise SheetError(self.file, "modes", f"has no mode '{name}'", closest(name, [mode.id for mode in self.modes]))

    def number(self, symbol: str) -> int:
        return [entry.id for entry in self.symbols].index(symbol)

    def table(self, name: str) -> int:
        return [entry.id for entry in self.tables].index(name)

    def feature(self, name: str) -> int:
        return [entry.id for entry in self.features].index(name)

    def pot(self, name: str) -> int:
        return [entry.id for entry in self.pots].index(name)

    def group(self, name: str) -> int:
        return [entry.id for entry in self.groups].index(name)

    def awards(self, mode: int) -> Iterator[tuple[Step, Prize]]:
        """The awards of a mode by symbols in view, each with its prize."""
        for step in self.modes[mode].steps_of("award"):
            assert step.table is not None
            yield step, self.tables[step.table].rows[0].prize

    def plays_features(self, mode: int) -> bool:
        """Whether the free spins of some feature are played in this mode."""
        return any(feature.mode == mode for feature in self.features)

    def added_spins(self, feature: Feature) -> Step | None:
        """The step by which free spins add spins, if they do."""
        steps = self.modes[feature.mode].steps_of("add_spins")
        return steps[0] if steps else None

    def counting(self, scatter: int) -> frozenset[int]:
        """Symbols whose cells count for a scatter's pay: itself and the wilds that substitute for it."""
        return frozenset(
            {scatter} | {number for number, cell in enumerate(self.symbols) if scatter in cell.substitutes}
        )

    def scatter_pay(self, scatter: int, in_view: int) -> int:
        """Total bets for so many in view."""
        row = self.scatter_pays.get(scatter, ())
        return row[in_view - 1] if 0 < in_view <= len(row) else 0

"""What the [search] of a game of steps asks for: read and checked, for `strips.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from host_tools.par.model import Sheet
from host_tools.par.reading import Table, closest


@dataclass(frozen=True)
class SetPlan:
    """What one set is looked for: fixed copies, and aims of the paying symbols around them."""

    set: int
    mode: int
    lengths: tuple[int, ...]
    fixed: dict[int, tuple[int, ...]]  # by symbol: copies by reel
    blocks: dict[int, int]  # by fixed symbol: stops of one block
    apart: frozenset[int]  # fixed symbols that never share a window with each other
    paying: tuple[int, ...]
    longest: int  # block of a paying symbol
    slack: int  # stops by which a dearer symbol may be more frequent than a cheaper one, all reels together
    win: tuple[float, float] | None  # credits that a spin shall win by lines or ways, and how near; None: one filler
    hits: tuple[float, float] | None  # percent of spins that shall win by them, and how near


@dataclass(frozen=True)
class GroupPlan:
    group: int
    count: int
    symbols: frozenset[int]
    least: int
    win_from: int  # credits by lines or ways


@dataclass(frozen=True)
class Plan:
    seed: int
    sets: tuple[SetPlan, ...]
    groups: tuple[GroupPlan, ...]
    digest: str


def plan(sheet: Sheet, seed: int | None = None) -> Plan:
    """Reads [search]. SheetError names what is wrong in it."""
    table = Table(sheet.file, "search", sheet.search)
    table.source()
    given = table.integer("seed", 0, 2**63 - 1)
    sets = tuple(_set_plan(sheet, name, entry) for name, entry in table.tables("sets", 1).items())
    groups = tuple(_group_plan(sheet, name, entry) for name, entry in table.tables("boards", 0).items())
    digest = table.text("digest", "-")
    table.has("knobs")
    table.done()
    return Plan(given if seed is None else seed, sets, groups, digest)


def _place(table: Table, name: str, names: Sequence[str], what: str) -> int:
    if name not in names:
        table.fail("", f"names no {what}", closest(name, names))
    return names.index(name)


def _symbol_of(sheet: Sheet, table: Table, key: str, name: str) -> int:
    names = [symbol.id for symbol in sheet.symbols]
    if name not in names:
        table.fail(key, f"'{name}' is not a symbol", closest(name, names))
    return names.index(name)


def _aim(table: Table, key: str) -> tuple[float, float]:
    aim = table.table(key)
    value, within = aim.number("value"), aim.number("within")
    aim.done()
    if within <= 0:
        aim.fail("within", f"is {within}", "give a tolerance above 0")
    return value, within


def _set_plan(sheet: Sheet, name: str, table: Table) -> SetPlan:
    number = _place(table, name, [entry.id for entry in sheet.sets], "set")
    lengths = table.integers("lengths", sheet.reels, sheet.rows, 4096)
    rows = table.table("fixed")
    fixed = {_symbol_of(sheet, rows, key, key): rows.integers(key, sheet.reels, 0, 4096) for key in rows.entries()}
    blocks: dict[int, int] = {}
    if table.has("blocks"):
        sizes = table.table("blocks")
        blocks = {_symbol_of(sheet, sizes, key, key): sizes.integer(key, 1, sheet.rows) for key in sizes.entries()}
    paying = tuple(_symbol_of(sheet, table, "paying", name) for name in table.texts("paying"))
    if not paying:
        table.fail("paying", "is empty", "name the symbols, or the one filler, that stand where nothing is fixed")
    apart = frozenset[int]()
    if table.has("apart"):
        apart = frozenset(_symbol_of(sheet, table, "apart", name) for name in table.texts("apart"))
    made = SetPlan(
        set=number,
        mode=sheet.mode(table.text("mode")),
        lengths=lengths,
        fixed=fixed,
        blocks=blocks,
        apart=apart,
        paying=paying,
        longest=table.integer("longest_block", 1, sheet.rows),
        slack=table.integer("slack", 0, 4096, 0),
        win=_aim(table, "win_credits") if len(paying) > 1 else None,
        hits=_aim(table, "hit_frequency") if len(paying) > 1 else None,
    )
    table.done()
    for reel, length in enumerate(lengths):
        left = length - sum(row[reel] for row in fixed.values())
        if left < len(made.paying):
            table.fail(f"lengths[{reel}]", f"leaves {left} stops for {len(made.paying)} symbols", "lengthen the reel")
    return made


def _group_plan(sheet: Sheet, name: str, table: Table) -> GroupPlan:
    number = _place(table, name, [entry.id for entry in sheet.groups], "board group")
    symbols = frozenset[int]()
    if table.has("symbols"):
        symbols = frozenset(_symbol_of(sheet, table, "symbols", name) for name in table.texts("symbols"))
    made = GroupPlan(
        group=number,
        count=table.integer("count", 1, 4096),
        symbols=symbols,
        least=table.integer("least", 0, sheet.reels * sheet.rows, 0),
        win_from=table.integer("win_from_credits", 0, 2**32 - 1, 0),
    )
    table.done()
    if not made.least and not made.win_from:
        table.fail("", "asks nothing of its boards", "give symbols and least, or win_from_credits")
    return made

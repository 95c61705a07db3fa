"""Reads what is behind the window in a sheet: pots, tables of prizes, boards, steps of modes, features, gamble.

The names of everything are known before anything is read (`Names`), because tables, modes and features name each other.
What can only be judged with the whole sheet in hand is in `checks.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from host_tools.par.model import (
    FRAME_RULES,
    MOST_FEATURES,
    MOST_GAMBLE_ROWS,
    MOST_GAMBLES,
    MOST_GROUPS,
    MOST_OPTIONS,
    MOST_POTS,
    MOST_STEPS,
    MOST_TABLES,
    MOST_WEIGHT,
    OPS,
    PRIZES,
    U16,
    U32,
    U64,
    BoardGroup,
    Feature,
    Gamble,
    GambleRow,
    Option,
    Pot,
    Prize,
    PrizeTable,
    Step,
    TableRow,
)
from host_tools.par.reading import Table, closest

LEVELS = 3  # of frames


@dataclass(frozen=True)
class Names:
    """What a sheet names, each list in the order of the file."""

    reels: int
    rows: int
    symbols: list[str]
    pots: list[str]
    tables: list[str]
    groups: list[str]
    modes: list[str]
    features: list[str]

    @property
    def cells(self) -> int:
        return self.reels * self.rows

    def symbol(self, table: Table, key: str, name: Any) -> int:
        if name not in self.symbols:
            table.fail(key, f"'{name}' is not a symbol", closest(str(name), self.symbols))
        return self.symbols.index(name)

    def mask(self, table: Table, key: str) -> frozenset[int]:
        """A list of symbols, each once, at least one."""
        names = table.texts(key)
        numbers = [self.symbol(table, key, name) for name in names]
        if not numbers:
            table.fail(key, "is empty", "name at least one symbol")
        if len(set(numbers)) != len(numbers):
            table.fail(key, "names a symbol twice", "name each symbol once")
        return frozenset(numbers)

    def one_of(self, table: Table, key: str, words: list[str]) -> int:
        return words.index(table.choice(key, words))


def read_pots(table: Table | None) -> tuple[Pot, ...]:
    if table is None:
        return ()
    pots: list[Pot] = []
    for entry in table.list_of_tables("list"):
        name = entry.text("id")
        if not re.fullmatch(r"[A-Z0-9_]{1,8}", name):
            entry.fail("id", f"is '{name}'", "use 1 to 8 capital letters, digits and _")
        if name in [pot.id for pot in pots]:
            entry.fail("id", f"'{name}' is given twice", "give every pot its own id")
        pots.append(Pot(name, entry.text("name"), entry.integer("credits", 1, U32), entry.integer("tokens", 0, 255, 0)))
        entry.done()
    table.done()
    if not 1 <= len(pots) <= MOST_POTS:
        table.fail("list", f"has {len(pots)} pots", f"give 1 to {MOST_POTS}, or remove [pots]")
    return tuple(pots)


def read_prize(table: Table, names: Names) -> Prize:
    """The one key of an entry that says what it gives."""
    given = [kind for kind in PRIZES if table.has(kind)]
    if len(given) != 1:
        problem = "names no prize" if not given else "names several prizes: " + ", ".join(given)
        table.fail("", problem, "give one of " + ", ".join(PRIZES))
    kind = given[0]
    if kind == "nothing":
        if not table.boolean("nothing"):
            table.fail("nothing", "is false", "write nothing = true, or name the prize")
        return Prize(kind)
    if kind == "credits":
        return Prize(kind, number=table.integer("credits", 1, U32))
    if kind == "spins":
        return Prize(kind, number=table.integer("spins", 1, U16))
    if kind == "shape":
        width, height = table.integers("shape", 2, 1, 255)
        if width > names.reels or height > names.rows:
            table.fail("shape", f"{width} x {height} does not fit", f"give at most {names.reels} x {names.rows} cells")
        return Prize(kind, number=width + 256 * height)
    words = {"pot": names.pots, "wheel": names.tables, "feature": names.features, "boards": names.groups}[kind]
    return Prize(kind, index=names.one_of(table, kind, words))


def read_tables(group: dict[str, Table], names: Names) -> tuple[PrizeTable, ...]:
    tables: list[PrizeTable] = []
    for name, table in group.items():
        rows: list[TableRow] = []
        for entry in table.list_of_tables("rows"):
            rows.append(TableRow(entry.integer("weight", 1, MOST_WEIGHT), read_prize(entry, names)))
            entry.done()
        table.done()
        if not rows or len(rows) > U16:
            table.fail("rows", f"has {len(rows)} rows", "give at least one { weight = ..., ... }")
        made = PrizeTable(name, tuple(rows))
        if made.weight > MOST_WEIGHT:
            table.fail("rows", f"has weights of {made.weight} in all", f"let them sum to {MOST_WEIGHT} at most")
        tables.append(made)
    return tuple(tables)


def read_groups(group: dict[str, Table], names: Names) -> tuple[BoardGroup, ...]:
    groups: list[BoardGroup] = []
    for name, table in group.items():
        mode = names.one_of(table, "mode", names.modes)
        value = table.raw("stops", "give a list of boards, each a list of one stop a reel")
        if not isinstance(value, list) or not 1 <= len(value) <= U16:
            table.fail("stops", "is not a list of boards", "give at least one board: a list of one stop a reel")
        rows = Table(table.file, table.place, {f"stops[{place}]": row for place, row in enumerate(value)})
        boards = tuple(rows.integers(f"stops[{place}]", names.reels, 0, U16) for place in range(len(value)))
        table.done()
        groups.append(BoardGroup(name, mode, boards))
    if len(groups) > MOST_GROUPS:
        first = next(iter(group.values()))
        first.fail("", f"is one of {len(groups)} board groups", f"give at most {MOST_GROUPS}")
    return tuple(groups)


def read_steps(table: Table, names: Names, tables: list[PrizeTable]) -> tuple[Step, ...]:
    """The steps of a mode. The prize of an award becomes a table of one row behind those of the sheet."""
    if not table.has("steps"):
        return ()
    steps: list[Step] = []
    for entry in table.list_of_tables("steps"):
        op = entry.choice("op", OPS[1:])
        index = names.one_of(entry, "table", names.tables) if op in ("modifier", "values", "pile", "tokens") else None
        symbols = frozenset[int]() if op == "modifier" else names.mask(entry, "symbols")
        least = most = credits = 0
        needed, rule = frozenset[int](), ""
        if op == "award":
            least = entry.integer("least", 1, names.cells)
            most = entry.integer("most", least, names.cells, names.cells)
            if entry.has("needed"):
                needed = names.mask(entry, "needed")
            index = len(tables)
            prize = entry.table("prize")
            tables.append(PrizeTable(entry.place, (TableRow(1, read_prize(prize, names)),)))
            prize.done()
        elif op == "respin":
            least = entry.integer("exactly", 1, names.cells)
        elif op == "add_spins":
            least = entry.integer("spins", 1, U16)
        elif op == "frames":
            rule = entry.choice("rule", FRAME_RULES)
            if rule == "fill":
                credits = entry.integer("credits", 1, U32)
        entry.done()
        steps.append(Step(op, symbols, index, least, most, needed, rule, credits))
    if len(steps) > MOST_STEPS:
        table.fail("steps", f"has {len(steps)} steps", f"give at most {MOST_STEPS}")
    if len(tables) > MOST_TABLES:
        table.fail("steps", f"makes {len(tables)} tables with its awards", f"keep to {MOST_TABLES} in the sheet")
    return tuple(steps)


def read_opening(table: Table, names: Names) -> tuple[str, frozenset[int], int | None, int]:
    """Opening, symbols, table of shapes, level of frames. No opening: no frames at the start."""
    if not table.has("opening"):
        return "none", frozenset(), None, 0
    opening = table.table("opening")
    given = [kind for kind in ("cells", "shape", "roll") if opening.has(kind)]
    if len(given) != 1:
        opening.fail("", f"names {len(given)} openings", 'give one of cells = [...], shape = "table", roll = [...]')
    kind, symbols, shapes, level = given[0], frozenset[int](), None, 1
    if kind == "shape":
        shapes = names.one_of(opening, "shape", names.tables)
    else:
        symbols = names.mask(opening, kind)
    if kind != "roll":
        level = opening.integer("level", 1, LEVELS)
    opening.done()
    return kind, symbols, shapes, level


def read_bowls(table: Table, names: Names) -> tuple[int | None, int | None, int | None]:
    if not table.has("bowls"):
        return None, None, None
    bowls = table.texts("bowls")
    if len(bowls) != LEVELS:
        table.fail("bowls", f"has {len(bowls)} tables", f"give {LEVELS}, for frames of level 1, 2, 3")
    for name in bowls:
        if name not in names.tables:
            table.fail("bowls", f"'{name}' is not a table", closest(name, names.tables))
    one, two, three = (names.tables.index(name) for name in bowls)
    return one, two, three


def read_features(group: dict[str, Table], names: Names, sources: dict[str, str]) -> tuple[Feature, ...]:
    features: list[Feature] = []
    for name, table in group.items():
        opening, symbols, shapes, level = read_opening(table, names)
        most = table.integer("max_spins", 1, U16)
        options = table.table("options")
        sources[options.place] = options.source()
        features.append(
            Feature(
                id=name,
                title=table.text("title"),
                mode=names.one_of(table, "mode", names.modes),
                opening=opening,
                symbols=symbols,
                shapes=shapes,
                level=level,
                collects=table.boolean("collects") if table.has("collects") else False,
                bowls=read_bowls(table, names),
                max_spins=most,
                options=read_options(options, most, names),
            )
        )
        table.done()
        if len(features) > MOST_FEATURES:
            table.fail("", f"is feature number {len(features)}", f"give at most {MOST_FEATURES}")
    return tuple(features)


def read_options(table: Table, most: int, names: Names) -> dict[int, tuple[Option, ...]]:
    options: dict[int, tuple[Option, ...]] = {}
    for key in table.entries():
        if not re.fullmatch(r"[1-9][0-9]?", key) or int(key) > names.cells:
            table.fail(key, "is not a trigger count", f"use 1 to {names.cells}")
        rows: list[Option] = []
        for row in table.list_of_tables(key):
            rows.append(Option(row.integer("spins", 1, most), row.integer("multiplier", 1, U16)))
            row.done()
        if not 1 <= len(rows) <= MOST_OPTIONS:
            table.fail(key, f"has {len(rows)} options", f"give 1 to {MOST_OPTIONS}")
        options[int(key)] = tuple(rows)
    if not options:
        table.fail("", "has no option", "give one row for each trigger count, e.g. 3 = [{ ... }]")
    for count in range(min(options), max(options) + 1):
        if count not in options:
            table.fail(str(count), "is missing between others", "give a row for every trigger count in between")
    return dict(sorted(options.items()))


def read_gamble(table: Table | None, names: Names) -> Gamble | None:
    if table is None:
        return None
    rows: list[GambleRow] = []
    for entry in table.list_of_tables("rows"):
        name = entry.text("id")
        if name in [row.id for row in rows]:
            entry.fail("id", f"'{name}' is given twice", "give every row its own id")
        title = entry.text("name")
        if entry.has("cash"):
            numerator, denominator = entry.integers("cash", 2, 1, 1000)
            if numerator <= denominator:
                entry.fail("cash", f"pays {numerator}/{denominator} of the amount", "let a win be more than the amount")
            row = GambleRow(name, title, "cash", numerator, denominator, None, 0, False, 0)
        else:
            feature = names.one_of(entry, "feature", names.features)
            spins = entry.integer("spins", 0, U16, 0)
            last = entry.boolean("only_cash_after") if entry.has("only_cash_after") else False
            value = entry.integer("value_micro", 1, U64)
            row = GambleRow(name, title, "feature", 0, 0, feature, spins, last, value)
        entry.done()
        rows.append(row)
    if not 1 <= len(rows) <= MOST_GAMBLE_ROWS:
        table.fail("rows", f"has {len(rows)} rows", f"give 1 to {MOST_GAMBLE_ROWS}, or remove [gamble]")
    offered = table.integer("offered_from_credits", 1, U32)
    gamble = Gamble(
        payback_ppm=table.integer("payback_ppm", 1, 1_000_000),
        offered_from=offered,
        limit=table.integer("limit_credits", offered, U32),
        most=table.integer("most_gambles", 1, MOST_GAMBLES),
        rows=tuple(rows),
    )
    table.done()
    return gamble

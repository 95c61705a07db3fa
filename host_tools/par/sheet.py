"""The PAR sheet: one TOML file in, one checked and typed `Sheet` out.

The format is described in README.md of this folder. Everything that the pack layout, the core or the mathematics
takes for granted is checked here, once, with the place of the mistake; the code behind it works on facts.
"""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

from host_tools.par.arrange import lay
from host_tools.par.checks import check
from host_tools.par.mechanics import (
    Names,
    read_features,
    read_gamble,
    read_groups,
    read_pots,
    read_steps,
    read_tables,
)
from host_tools.par.model import (
    EVALUATIONS,
    LONGEST_STRIP,
    MOST_COIN_VALUES,
    MOST_LINES,
    MOST_MODES,
    MOST_SCATTERS,
    MOST_SETS,
    MOST_SYMBOLS,
    TARGETS,
    U16,
    U32,
    WILD_RULES,
    Mode,
    PrizeTable,
    Sheet,
    StripSet,
    Symbol,
    Target,
)
from host_tools.par.reading import SheetError, Table, closest

FORMAT = 2


class _Reader:
    """Reads the tables in the order in which they depend on each other."""

    def __init__(self, file: str, data: dict[str, Any]) -> None:
        self.top = Table(file, "", data)
        self.reels = self.rows = 0
        self.ids: list[str] = []
        self.symbols: tuple[Symbol, ...] = ()
        self.sources: dict[str, str] = {}

    def open(self, key: str) -> Table:
        table = self.top.table(key)
        self.sources[table.place] = table.source()
        return table

    def group(self, key: str, least: int) -> dict[str, Table]:
        tables = self.top.tables(key, least)
        for name, table in tables.items():
            if not re.fullmatch(r"[a-z0-9_]{1,24}", name):
                table.fail("", f"'{name}' is not a usable name", "use small letters, digits and _ (24 at most)")
            self.sources[table.place] = table.source()
        return tables

    def optional(self, key: str) -> Table | None:
        return self.open(key) if self.top.has(key) else None

    def read(self) -> Sheet:
        if self.top.integer("format", 1, U16) != FORMAT:
            self.top.fail("format", "is not the sheet format of this compiler", f"use format = {FORMAT} (README.md)")
        game = self.open("game")
        name = game.text("name")
        if not re.fullmatch(r"[a-z0-9_]{1,15}", name):
            game.fail("name", f"is '{name}'", "use 1 to 15 small letters, digits and _")
        title = game.text("title")
        self.reels = game.integer("reels", 3, 6)
        self.rows = game.integer("rows", 3, 5)
        cap = game.integer("win_cap_pence", 1, 2**63 - 1)
        unit = game.integer("max_unit_pence", 1, U32)
        stake = game.integer("stake_credits", 1, U16)
        rule = game.choice("wild_rule", WILD_RULES)
        natural = game.boolean("needs_natural")
        chance = game.boolean("spin_chance")
        game.done()
        coins, levels = self.bets(unit)
        self.symbols = self.read_symbols()
        self.ids = [symbol.id for symbol in self.symbols]
        pays = self.read_pays()
        lines = self.read_lines()
        scatter_pays = self.read_scatter_pays()
        sets = self.read_sets()
        pots = read_pots(self.optional("pots"))
        groups = {key: self.group(key, 0) for key in ("tables", "boards", "features")}
        modes = self.group("modes", 1)
        names = Names(
            self.reels,
            self.rows,
            self.ids,
            [pot.id for pot in pots],
            *(list(group) for group in (groups["tables"], groups["boards"], modes, groups["features"])),
        )
        tables = list(read_tables(groups["tables"], names))
        read_in = self.read_modes(modes, [entry.id for entry in sets], names, tables)
        sheet = Sheet(
            file=self.top.file,
            name=name,
            title=title,
            reels=self.reels,
            rows=self.rows,
            win_cap_pence=cap,
            max_unit_pence=unit,
            stake=stake,
            wild_rule=rule,
            needs_natural=natural,
            spin_chance=chance,
            coin_values=coins,
            levels=levels,
            symbols=self.symbols,
            pays=pays,
            lines=lines,
            scatter_pays=scatter_pays,
            sets=sets,
            pots=pots,
            tables=tuple(tables),
            groups=read_groups(groups["boards"], names),
            modes=read_in,
            features=read_features(groups["features"], names, self.sources),
            gamble=read_gamble(self.optional("gamble"), names),
            targets=self.read_targets(names),
            search=self.read_search(),
            sources=self.sources,
        )
        self.top.done()
        check(sheet)
        return sheet

    def read_search(self) -> dict[str, Any]:
        if not self.top.has("search"):
            return {}
        self.open("search")
        return dict(self.top.data["search"])

    def bets(self, unit: int) -> tuple[tuple[int, ...], int]:
        """Bet selection of the player: coin values, and levels from 1 up. Without it: one coin value, one level."""
        if not self.top.has("bets"):
            return (unit,), 1
        bets = self.open("bets")
        coins = bets.integers("coin_values_pence", None, 1, U16)
        levels = bets.integer("levels", 1, U16)
        bets.done()
        if not 1 <= len(coins) <= MOST_COIN_VALUES:
            bets.fail("coin_values_pence", f"has {len(coins)} values", f"list 1 to {MOST_COIN_VALUES}")
        if any(low >= high for low, high in pairwise(coins)):
            bets.fail("coin_values_pence", "does not rise", "list the smallest coin first, each once")
        if coins[-1] * levels != unit:
            bets.fail(
                "levels",
                f"largest coin x largest level is {coins[-1] * levels}p, game.max_unit_pence {unit}p",
                "make them equal",
            )
        return coins, levels

    def symbol(self, table: Table, key: str, name: Any) -> int:
        if name not in self.ids:
            table.fail(key, f"'{name}' is not a symbol", closest(str(name), self.ids))
        return self.ids.index(name)

    def read_symbols(self) -> tuple[Symbol, ...]:
        table = self.open("symbols")
        entries = table.list_of_tables("list")
        table.done()
        if not 1 <= len(entries) <= MOST_SYMBOLS:
            table.fail("list", f"has {len(entries)} symbols", f"give 1 to {MOST_SYMBOLS}")
        self.ids = [entry.text("id") for entry in entries]
        for number, (entry, symbol) in enumerate(zip(entries, self.ids, strict=True)):
            if not re.fullmatch(r"[A-Za-z0-9_]{1,8}", symbol) or symbol == "source":
                entry.fail("id", f"is '{symbol}'", "use 1 to 8 letters, digits and _ (not 'source')")
            if self.ids.index(symbol) != number:
                entry.fail("id", f"'{symbol}' is given twice", "give every symbol its own id")
        scatters = {number for number, entry in enumerate(entries) if entry.has("scatter") and entry.boolean("scatter")}
        if len(scatters) > MOST_SCATTERS:
            table.fail("list", f"has {len(scatters)} scatters", f"give at most {MOST_SCATTERS}")
        symbols: list[Symbol] = []
        for number, entry in enumerate(entries):
            wild, multiplier, substitutes = entry.has("wild"), 1, frozenset[int]()
            if wild:
                multiplier, substitutes = self.read_wild(entry.table("wild"), number)
            symbols.append(
                Symbol(self.ids[number], entry.text("name"), number in scatters, wild, multiplier, substitutes)
            )
            entry.done()
        return tuple(symbols)

    def read_wild(self, table: Table, number: int) -> tuple[int, frozenset[int]]:
        multiplier = table.integer("multiplier", 1, 255)
        value = table.raw("substitutes", 'give "all" or a list of symbol ids')
        if value == "all":
            excepted = table.texts("except") if table.has("except") else []
            chosen = set(range(len(self.ids))) - {self.symbol(table, "except", name) for name in excepted} - {number}
        else:
            if table.has("except"):
                table.fail("except", "has no meaning beside a list", 'use it only with substitutes = "all"')
            chosen = {self.symbol(table, "substitutes", name) for name in table.texts("substitutes")}
            if number in chosen:
                table.fail("substitutes", "names the wild itself", "leave it out: a wild is itself already")
        if not chosen:
            table.fail("substitutes", "leaves nothing to substitute for", "name a symbol, or make it no wild")
        table.done()
        return multiplier, frozenset(chosen)

    def read_pays(self) -> tuple[tuple[int, ...], ...]:
        table = self.open("pays")
        pays = [(0,) * self.reels] * len(self.ids)
        for key in table.entries():
            number = self.symbol(table, key, key)
            if self.symbols[number].scatter:
                table.fail(key, "is a scatter", "give its pays in [scatter_pays]: a scatter has no line pays")
            pays[number] = table.integers(key, self.reels, 0, U32)
        if not any(any(row) for row in pays):
            table.fail("", "pays nothing", "give at least one pay")
        return tuple(pays)

    def read_lines(self) -> tuple[tuple[int, ...], ...]:
        if not self.top.has("lines"):
            return ()
        table = self.open("lines")
        value = table.raw("map", "give one list of rows a line, 0 = top")
        table.done()
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_LINES:
            table.fail("map", "is not a list of 1 to 100 lines", "give one list of rows a line, 0 = top")
        lines = [Table(table.file, "lines", {f"map[{place}]": line}) for place, line in enumerate(value)]
        maps = [line.integers(f"map[{place}]", self.reels, 0, self.rows - 1) for place, line in enumerate(lines)]
        for place, line in enumerate(maps):
            if maps.index(line) != place:
                table.fail(f"map[{place}]", f"is the same as map[{maps.index(line)}]", "no line pays twice: remove one")
        return tuple(maps)

    def read_scatter_pays(self) -> dict[int, tuple[int, ...]]:
        if not self.top.has("scatter_pays"):
            return {}
        table = self.open("scatter_pays")
        pays: dict[int, tuple[int, ...]] = {}
        for key in table.entries():
            number = self.symbol(table, key, key)
            if not self.symbols[number].scatter:
                table.fail(key, "is not a scatter", "mark the symbol scatter = true, or pay it in [pays]")
            pays[number] = table.integers(key, None, 0, U32)
            if not 1 <= len(pays[number]) <= self.reels * self.rows:
                table.fail(
                    key, f"has {len(pays[number])} pays", f"give 1 to {self.reels * self.rows}, for 1, 2, ... in view"
                )
        return pays

    def read_sets(self) -> tuple[StripSet, ...]:
        tables = self.group("sets", 1)
        if len(tables) > MOST_SETS:
            self.top.fail("sets", f"has {len(tables)} sets", f"give at most {MOST_SETS}")
        return tuple(StripSet(name, self.read_strips(table)) for name, table in tables.items())

    def read_strips(self, table: Table) -> tuple[tuple[int, ...], ...]:
        if table.has("counts"):
            strips = self.read_counts(table)
        else:
            texts = table.texts("reels")
            if len(texts) != self.reels:
                table.fail("reels", f"has {len(texts)} strips", f"give {self.reels}, one a reel, left to right")
            strips = [
                tuple(self.symbol(table, f"reels[{reel}]", name) for name in text.split())
                for reel, text in enumerate(texts)
            ]
        table.done()
        for reel, strip in enumerate(strips):
            if not self.rows <= len(strip) <= LONGEST_STRIP:
                table.fail(
                    f"reels[{reel}]", f"has {len(strip)} stops", f"give {self.rows} (one window) to {LONGEST_STRIP}"
                )
        return tuple(strips)

    def read_counts(self, table: Table) -> list[tuple[int, ...]]:
        """Strips of a sheet that prints symbol counts only: spread evenly."""
        counts = table.table("counts")
        rows = {
            self.symbol(counts, key, key): counts.integers(key, self.reels, 0, LONGEST_STRIP)
            for key in counts.entries()
        }
        return [lay({number: row[reel] for number, row in rows.items()}) for reel in range(self.reels)]

    def read_modes(
        self, group: dict[str, Table], sets: list[str], names: Names, tables: list[PrizeTable]
    ) -> tuple[Mode, ...]:
        """Modes, and behind the tables those of their awards."""
        if len(group) > MOST_MODES:
            self.top.fail("modes", f"has {len(group)} modes", f"give at most {MOST_MODES}")
        modes: list[Mode] = []
        for name, table in group.items():
            rtp = table.table("rtp")
            self.sources[rtp.place] = rtp.source()
            low, high = rtp.integer("lowest_ppm", 0, U32), rtp.integer("highest_ppm", 0, U32)
            if low > high:
                rtp.fail("lowest_ppm", f"is above highest_ppm ({low} > {high})", "swap them, or run `par exact`")
            rtp.done()
            modes.append(
                Mode(
                    id=name,
                    title=table.text("title"),
                    evaluation=table.choice("evaluation", EVALUATIONS),
                    set=sets.index(table.choice("set", sets)),
                    cost=table.integer("cost_credits", 1, U16),
                    scatter_pays=table.boolean("scatter_pays"),
                    selectable=table.boolean("player_selects"),
                    steps=read_steps(table, names, tables),
                    lowest_ppm=low,
                    highest_ppm=high,
                )
            )
            table.done()
        if not any(mode.selectable for mode in modes):
            self.top.fail("modes", "has no mode that a player can select", "set player_selects = true in one")
        return tuple(modes)

    def read_targets(self, names: Names) -> dict[str, dict[str, Target]]:
        """Figures wanted, by mode."""
        targets: dict[str, dict[str, Target]] = {}
        for mode, table in self.group("targets", 0).items():
            if mode not in names.modes:
                table.fail("", "names no mode", closest(mode, names.modes))
            targets[mode] = {}
            for key in table.entries():
                if key not in TARGETS:
                    table.fail(key, "is not a figure", closest(key, TARGETS))
                entry = table.table(key)
                targets[mode][key] = Target(entry.number("value"), entry.number("within"))
                entry.done()
            table.has("source")
        return targets


def load(path: Path | str) -> Sheet:
    """Reads and checks a sheet. SheetError names the place of the first mistake."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise SheetError(
            str(path), "file", f"cannot be read ({fault})", "give the path of a UTF-8 TOML sheet"
        ) from fault
    return parse(text, str(path))


def parse(text: str, file: str = "sheet") -> Sheet:
    """Checks a sheet that is already in memory; `file` is only for messages."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise SheetError(file, "file", f"is not TOML ({fault})", "mend the line that is named") from fault
    return _Reader(file, data).read()

"""The PAR sheet: one TOML file in, one checked and typed `Sheet` out.

The format is described in README.md of this folder. Everything that the pack layout, the core or the mathematics
takes for granted is checked here, once, with the place of the mistake; the code behind it works on facts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from host_tools.par.arrange import lay
from host_tools.par.model import (
    LONGEST_STRIP,
    MOST_COIN_VALUES,
    MOST_FEATURES,
    MOST_LINES,
    MOST_MODES,
    MOST_OPTIONS,
    MOST_SCATTERS,
    MOST_SETS,
    MOST_SYMBOLS,
    TARGETS,
    U16,
    U32,
    WILD_RULES,
    Feature,
    Mode,
    Option,
    Sheet,
    StripSet,
    Symbol,
    Target,
)
from host_tools.par.reading import SheetError, Table, closest


def most_in_view(strip: Sequence[int], counted: Collection[int], rows: int) -> int:
    """Largest number of cells with one of the counted symbols that a reel can show at once."""
    size = len(strip)
    return max(sum(strip[(stop + row) % size] in counted for row in range(rows)) for stop in range(size))


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

    def read(self) -> Sheet:
        if self.top.integer("format", 1, U16) != 1:
            self.top.fail("format", "is a later sheet format", "use format = 1, or a newer compiler")
        game = self.open("game")
        name = game.text("name")
        if not re.fullmatch(r"[a-z0-9_]{1,15}", name):
            game.fail("name", f"is '{name}'", "use 1 to 15 small letters, digits and _")
        title = game.text("title")
        self.reels = game.integer("reels", 3, 6)
        self.rows = game.integer("rows", 3, 5)
        cap = game.integer("win_cap_pence", 0, 2**63 - 1)
        unit = game.integer("max_unit_pence", 1, U32)
        rule = game.choice("wild_rule", WILD_RULES)
        natural = game.boolean("needs_natural")
        game.done()
        coins, levels = self.bets(unit)
        self.symbols = self.read_symbols()
        self.ids = [symbol.id for symbol in self.symbols]
        pays = self.read_pays()
        lines = self.read_lines()
        scatter_pays = self.read_scatter_pays()
        sets = self.read_sets()
        modes, feature_names = self.read_modes([entry.id for entry in sets])
        features = self.read_features(modes, feature_names)
        self.check_in_view(sets, modes, scatter_pays)
        targets = self.read_targets()
        search: dict[str, Any] = {}
        if self.top.has("search"):
            self.open("search")
            search = dict(self.top.data["search"])
        self.top.done()
        return Sheet(
            file=self.top.file,
            name=name,
            title=title,
            reels=self.reels,
            rows=self.rows,
            win_cap_pence=cap,
            max_unit_pence=unit,
            wild_rule=rule,
            needs_natural=natural,
            coin_values=coins,
            levels=levels,
            symbols=self.symbols,
            pays=pays,
            lines=lines,
            scatter_pays=scatter_pays,
            sets=sets,
            modes=modes,
            features=features,
            targets=targets,
            search=search,
            sources=self.sources,
        )

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

    def read_modes(self, sets: list[str]) -> tuple[tuple[Mode, ...], list[str]]:
        tables = self.group("modes", 1)
        if len(tables) > MOST_MODES:
            self.top.fail("modes", f"has {len(tables)} modes", f"give at most {MOST_MODES}")
        names = list(self.top.data.get("features", {}))
        modes: list[Mode] = []
        for name, table in tables.items():
            table.choice("evaluation", ("lines",))
            feature = names.index(table.choice("feature", names)) if table.has("feature") else None
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
                    set=sets.index(table.choice("set", sets)),
                    cost=table.integer("cost_credits", 1, U16),
                    scatter_pays=table.boolean("scatter_pays"),
                    selectable=table.boolean("player_selects"),
                    feature=feature,
                    lowest_ppm=low,
                    highest_ppm=high,
                )
            )
            table.done()
        if not any(mode.selectable for mode in modes):
            self.top.fail("modes", "has no mode that a player can select", "set player_selects = true in one")
        return tuple(modes), names

    def read_features(self, modes: tuple[Mode, ...], names: list[str]) -> tuple[Feature, ...]:
        tables = self.group("features", 0)
        if len(tables) > MOST_FEATURES:
            self.top.fail("features", f"has {len(tables)} features", f"give at most {MOST_FEATURES}")
        mode_names = [mode.id for mode in modes]
        features: list[Feature] = []
        for name, table in tables.items():
            trigger = self.symbol(table, "trigger", table.text("trigger"))
            if not self.symbols[trigger].scatter:
                table.fail("trigger", f"'{self.ids[trigger]}' is not a scatter", "trigger a feature by a scatter")
            mode = mode_names.index(table.choice("mode", mode_names))
            if modes[mode].feature is not None:
                table.fail(
                    "mode", f"mode '{mode_names[mode]}' has a feature of its own", "use a mode without a feature"
                )
            starters = [entry for entry in modes if entry.feature == names.index(name)]
            if not starters:
                table.fail("", "no mode starts this feature", f'add feature = "{name}" to a mode, or remove it')
            for entry in starters:
                if entry.cost != modes[mode].cost:
                    table.fail(
                        "mode", f"costs {modes[mode].cost} credits, '{entry.id}' {entry.cost}", "make them equal"
                    )
            adds, adds_spins = None, 0
            if table.has("adds"):
                added = table.table("adds")
                adds = self.symbol(added, "symbol", added.text("symbol"))
                adds_spins = added.integer("spins", 1, 255)
                added.done()
                if not self.symbols[adds].scatter:
                    added.fail("symbol", f"'{self.ids[adds]}' is not a scatter", "only a scatter adds spins")
            most = table.integer("max_spins", 1, U16)
            options = self.read_options(table.table("options"), most)
            table.done()
            features.append(Feature(name, trigger, mode, adds, adds_spins, most, options))
        return tuple(features)

    def read_options(self, table: Table, most: int) -> dict[int, tuple[Option, ...]]:
        self.sources[table.place] = table.source()
        options: dict[int, tuple[Option, ...]] = {}
        for key in table.entries():
            if not re.fullmatch(r"[1-9][0-9]?", key) or int(key) > self.reels * self.rows:
                table.fail(key, "is not a number of scatters", f"use 1 to {self.reels * self.rows}")
            rows: list[Option] = []
            for row in table.list_of_tables(key):
                rows.append(Option(row.integer("spins", 1, most), row.integer("multiplier", 1, U16)))
                row.done()
            if not 1 <= len(rows) <= MOST_OPTIONS:
                table.fail(key, f"has {len(rows)} options", f"give 1 to {MOST_OPTIONS}")
            options[int(key)] = tuple(rows)
        if not options:
            table.fail("", "has no option", "give one row for each number of scatters, e.g. 3 = [{ ... }]")
        for count in range(min(options), max(options) + 1):
            if count not in options:
                table.fail(
                    str(count), "is missing between others", "give a row for every number of scatters in between"
                )
        return dict(sorted(options.items()))

    def check_in_view(
        self, sets: tuple[StripSet, ...], modes: tuple[Mode, ...], pays: dict[int, tuple[int, ...]]
    ) -> None:
        """A scatter count that can be shown but has no printed pay would be a silent zero."""
        for mode in modes:
            for number, row in pays.items() if mode.scatter_pays else ():
                counted = {number} | {place for place, cell in enumerate(self.symbols) if number in cell.substitutes}
                shown = sum(most_in_view(strip, counted, self.rows) for strip in sets[mode.set].reels)
                if shown > len(row):
                    raise SheetError(
                        self.top.file,
                        f"scatter_pays.{self.ids[number]}",
                        f"pays up to {len(row)} in view, but set '{sets[mode.set].id}' can show {shown}",
                        "give every count that can be shown (0 where nothing is paid), or respace the strips",
                    )

    def read_targets(self) -> dict[str, Target]:
        if not self.top.has("targets"):
            return {}
        table = self.open("targets")
        targets: dict[str, Target] = {}
        for key in table.entries():
            if key not in TARGETS:
                table.fail(key, "is not a figure", closest(key, TARGETS))
            entry = table.table(key)
            targets[key] = Target(entry.number("value"), entry.number("within"))
            entry.done()
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

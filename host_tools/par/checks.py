"""Rules about a whole sheet: what may stand where, what can be reached, what an amount can come to.

The core refuses a pack that breaks them as well (native/MECHANICS.md); here a mistake gets its place in the sheet and a
remedy. The functions speak of a sheet whose names and ranges are already sound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NoReturn

from host_tools.par.model import Feature, Mode, Prize, Sheet, Step
from host_tools.par.reading import SheetError

MOST_QUEUE = 32  # prizes that the steps of one spin can win
CREDITS_LIMIT = 2**32  # no single win reaches it

BASE_ONLY = ("modifier", "respin")
FEATURE_ONLY = ("frames", "add_spins", "tokens")
# Kinds of prizes by what a table is used for; of those of the queue, features and spins depend on the mode as well.
QUEUE = ("nothing", "credits", "pot", "wheel", "feature", "spins")
WHEEL = ("nothing", "credits", "pot", "feature", "spins")
OF_STEP = {
    "modifier": ("nothing", "boards"),
    "values": ("credits",),
    "pile": QUEUE,
    "award": QUEUE[1:],
    "tokens": ("pot",),
}


def most_in_view(strip: Sequence[int], counted: Collection[int], rows: int) -> int:
    """Largest number of cells with one of the counted symbols that a reel can show at once."""
    size = len(strip)
    return max(sum(strip[(stop + row) % size] in counted for row in range(rows)) for stop in range(size))


def shown_at_most(sheet: Sheet, mode: Mode, counted: Collection[int]) -> int:
    """Most cells of a window that can show one of the symbols. Reels are independent, so it is the sum over them."""
    return sum(most_in_view(strip, counted, sheet.rows) for strip in sheet.sets[mode.set].reels)


class _Checks:
    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.used_tables: set[int] = set()
        self.used_pots: set[int] = set()
        self.used_groups: set[int] = set()
        self.won: set[int] = set()  # features

    def fail(self, place: str, problem: str, remedy: str) -> NoReturn:
        raise SheetError(self.sheet.file, place, problem, remedy)

    def run(self) -> None:
        for number, mode in enumerate(self.sheet.modes):
            self.mode(number, mode)
        for feature in self.sheet.features:
            self.feature(feature)
        self.groups()
        self.gamble()
        self.unused()
        self.scatters_in_view()
        self.amounts()

    # Modes and their steps

    def mode(self, number: int, mode: Mode) -> None:
        place, played = f"modes.{mode.id}", self.sheet.plays_features(number)
        if played and mode.selectable:
            self.fail(
                f"{place}.player_selects", "is true, but features play this mode", "give features a mode of their own"
            )
        if not played and not mode.selectable:
            self.fail(place, "is never played", "set player_selects = true, name it in a feature, or remove it")
        if mode.evaluation == "lines" and not self.sheet.lines:
            self.fail(f"{place}.evaluation", "is lines, but the sheet has none", "add [lines], or use ways")
        if mode.evaluation == "ways" and self.sheet.wild_rule == "sum":
            self.fail(
                f"{place}.evaluation", "is ways, for which wild_rule sum has no meaning", "use highest or product"
            )
        valued: set[int] = set()
        for index, step in enumerate(mode.steps):
            self.step(number, mode, index, step, valued)
        prizes = len(mode.steps_of("award")) + len(mode.steps_of("pile")) * self.sheet.reels * self.sheet.rows
        if prizes > MOST_QUEUE:
            self.fail(
                f"{place}.steps", f"can win {prizes} prizes in one spin", f"{MOST_QUEUE} at most: join pile steps"
            )

    def step(self, number: int, mode: Mode, index: int, step: Step, valued: set[int]) -> None:
        place, played = f"modes.{mode.id}.steps[{index}]", self.sheet.plays_features(number)
        if played and step.op in BASE_ONLY:
            self.fail(place, f"{step.op} in a mode that features play", "use it in modes that a player selects")
        if not played and step.op in FEATURE_ONLY:
            self.fail(place, f"{step.op} in a mode that no feature plays", "use it in the mode of a feature")
        if step.op == "modifier" and index:
            self.fail(place, "modifier is not the first step", "write it first: it decides the stops")
        if step.op == "respin" and index + 1 < len(mode.steps):
            self.fail(place, "respin is not the last step", "write it last: what is behind it would play twice")
        if step.op == "values":
            if step.symbols & valued:
                self.fail(f"{place}.symbols", "gets values from another step already", "let each symbol have one table")
            if any(entry.op not in ("modifier", "values") for entry in mode.steps[:index]):
                self.fail(place, "values stands behind other steps", "write it before them: it is carried out first")
            valued |= step.symbols
        if step.op == "collect" and not valued:
            self.fail(place, "collect where no symbol has a value", "add a values step before it")
        if step.op in ("add_spins", "collect") and any(entry.op == step.op for entry in mode.steps[:index]):
            self.fail(place, f"a second {step.op} step", "keep one a mode")
        if step.symbols and step.op != "award":
            self.reachable(mode, f"{place}.symbols", step.symbols, 1)
        if step.op in ("award", "respin"):
            key = "least" if step.op == "award" else "exactly"
            self.reachable(mode, f"{place}.{key}", step.symbols, step.least)
        if step.needed:
            self.reachable(mode, f"{place}.needed", step.needed, 1)
        if step.table is not None:
            self.table(step.table, OF_STEP[step.op], f"{place}.{'prize' if step.op == 'award' else 'table'}", number)
        if step.op == "tokens" and step.table is not None:
            for row in self.sheet.tables[step.table].rows:
                pot = self.sheet.pots[row.prize.index]
                if not pot.tokens:
                    self.fail(
                        f"{place}.table", f"names pot {pot.id}, which no token fills", "give the pot tokens = ..."
                    )

    def reachable(self, mode: Mode, place: str, symbols: frozenset[int], least: int) -> None:
        most = shown_at_most(self.sheet, mode, symbols)
        if most < least:
            shown = "/".join(self.sheet.symbols[number].id for number in sorted(symbols))
            self.fail(
                place,
                f"can never happen: set '{self.sheet.sets[mode.set].id}' shows at most {most} {shown}, {least} asked",
                "ask for less, or put the symbol on more reels",
            )

    # Tables by their role

    def table(self, index: int, kinds: tuple[str, ...], place: str, mode: int | None) -> None:
        """The prizes of a table, used at a place in a mode (None: behind the spins of a feature)."""
        self.used_tables.add(index)
        for row in self.sheet.tables[index].rows:
            self.prize(row.prize, kinds, place, mode)

    def prize(self, prize: Prize, kinds: tuple[str, ...], place: str, mode: int | None) -> None:
        if prize.kind not in kinds:
            self.fail(place, f"gives {prize.kind}, which has no meaning here", "use only " + ", ".join(kinds))
        if prize.kind == "pot":
            self.used_pots.add(prize.index)
        elif prize.kind == "boards":
            self.used_groups.add(prize.index)
            group = self.sheet.groups[prize.index]
            have = self.sheet.modes[group.mode]
            if mode is not None and have.set != self.sheet.modes[mode].set:
                self.fail(
                    place, f"lands boards of mode '{have.id}', which has other strips", "use groups of these strips"
                )
        elif prize.kind == "wheel":
            self.table(prize.index, WHEEL, f"{place} (wheel '{self.sheet.tables[prize.index].id}')", mode)
        elif prize.kind == "feature":
            self.won.add(prize.index)
            if mode is not None and self.sheet.plays_features(mode):
                self.fail(place, "gives a feature within a feature", "give spins = ... instead")
        elif prize.kind == "spins" and mode is not None and not self.sheet.plays_features(mode):
            self.fail(place, "gives spins, but no feature runs in this mode", "give feature = ... instead")

    def feature(self, feature: Feature) -> None:
        place = f"features.{feature.id}"
        mode = self.sheet.modes[feature.mode]
        raises = bool(mode.steps_of("frames"))
        framed = raises or feature.opening != "none"
        if feature.shapes is not None:
            self.table(feature.shapes, ("shape",), f"{place}.opening.shape", None)
        for level, bowl in enumerate(feature.bowls, 1):
            if bowl is not None:
                self.table(bowl, ("credits", "pot"), f"{place}.bowls (level {level})", None)
        if framed and None in feature.bowls:
            self.fail(f"{place}.bowls", "is missing, but the feature has frames", "give 3 tables, for levels 1, 2, 3")
        if not framed and feature.bowls != (None, None, None):
            self.fail(f"{place}.bowls", "has no meaning: the feature has no frames", "remove it, or add an opening")

    def groups(self) -> None:
        for group in self.sheet.groups:
            reels = self.sheet.sets[self.sheet.modes[group.mode].set].reels
            for number, board in enumerate(group.boards):
                for reel, (stop, strip) in enumerate(zip(board, reels, strict=True)):
                    if stop >= len(strip):
                        self.fail(
                            f"boards.{group.id}.stops[{number}][{reel}]",
                            f"is {stop}, beyond the strip",
                            f"give a stop from 0 to {len(strip) - 1}",
                        )

    def gamble(self) -> None:
        for row in self.sheet.gamble.rows if self.sheet.gamble else ():
            if row.feature is None:
                continue
            self.won.add(row.feature)
            feature, place = self.sheet.features[row.feature], f"gamble.rows.{row.id}"
            if feature.opening in ("cells", "roll") or feature.collects:
                self.fail(
                    f"{place}.feature", f"'{feature.id}' reads a window", "a gamble has none: use another opening"
                )
            if row.spins > feature.max_spins:
                self.fail(
                    f"{place}.spins",
                    f"is {row.spins}, feature '{feature.id}' plays at most {feature.max_spins}",
                    "lower it, or raise max_spins",
                )
            if not row.spins and max(map(len, feature.options.values())) > 1:
                self.fail(f"{place}.feature", f"'{feature.id}' lets the player choose", "give it one option")

    def unused(self) -> None:
        """What nothing uses is a mistake: a reviewer would sign rules that the game does not have."""
        sheet = self.sheet
        names = [
            ("tables", [table.id for table in sheet.tables], self.used_tables, "use it in a step, wheel or feature"),
            ("pots", [pot.id for pot in sheet.pots], self.used_pots, "name it in a table"),
            ("boards", [group.id for group in sheet.groups], self.used_groups, "name it in a modifier's table"),
            ("features", [feature.id for feature in sheet.features], self.won, "award it by a step, table or gamble"),
            ("sets", [entry.id for entry in sheet.sets], {mode.set for mode in sheet.modes}, "name it in a mode"),
        ]
        for kind, ids, used, remedy in names:
            for number, name in enumerate(ids):
                if number not in used:
                    self.fail(f"{kind}.{name}", "is never used", f"{remedy}, or remove it")

    # Counts and amounts

    def scatters_in_view(self) -> None:
        """A scatter count that can be shown but has no printed pay would be a silent zero."""
        for mode in self.sheet.modes:
            for number, row in self.sheet.scatter_pays.items() if mode.scatter_pays else ():
                shown = shown_at_most(self.sheet, mode, self.sheet.counting(number))
                if shown > len(row):
                    self.fail(
                        f"scatter_pays.{self.sheet.symbols[number].id}",
                        f"pays up to {len(row)} in view, but set '{self.sheet.sets[mode.set].id}' can show {shown}",
                        "give every count that can be shown (0 where nothing is paid), or respace the strips",
                    )

    def amounts(self) -> None:
        for place, amount in self.largest():
            if amount >= CREDITS_LIMIT:
                self.fail(place, f"can win {amount} credits at once", "keep every win below 2^32 credits")

    def largest(self) -> Iterator[tuple[str, int]]:
        """Upper bounds of single wins, credits."""
        sheet = self.sheet
        multiplier = max((o.multiplier for f in sheet.features for row in f.options.values() for o in row), default=1)
        wild = max(symbol.multiplier for symbol in sheet.symbols)
        wild_most = {"highest": wild, "sum": wild * sheet.reels, "product": wild**sheet.reels}[sheet.wild_rule]
        ways = any(mode.evaluation == "ways" for mode in sheet.modes)
        for number, row in enumerate(sheet.pays):
            for length, pay in enumerate(row, 1):
                place = f"pays.{sheet.symbols[number].id}[{length - 1}]"
                yield place, pay * wild_most * multiplier * (sheet.rows**length if ways else len(sheet.lines))
        cost = max(mode.cost for mode in sheet.modes)
        for number, row in sheet.scatter_pays.items():
            yield f"scatter_pays.{sheet.symbols[number].id}", max(row) * cost * multiplier
        cells = sheet.reels * sheet.rows
        for table in sheet.tables:
            for place, row in enumerate(table.rows):
                if row.prize.kind == "credits":
                    yield f"tables.{table.id}.rows[{place}].credits", row.prize.number * cells
        for number, pot in enumerate(sheet.pots):
            yield f"pots.list[{number}].credits", pot.credits


def check(sheet: Sheet) -> None:
    """Refuses a sheet that breaks a rule. SheetError names the first."""
    _Checks(sheet).run()

"""Finds strips and landing boards for games whose remaining RTP is set by table weights. Repeats from the sheet's seed.

Three stages, each settled before the next:

1. *strips* of each set: the sheet fixes how many copies of its special symbols each reel has, because triggers follow
   from that by closed form; a seeded walk lays the paying symbols around them until the mean win of a spin and the share
   of spins that win are home;
2. *boards* that a modifier lands: drawn at random among the boards of the strips that show what the group asks;
3. *knobs* (`knobs.py`): one weight a mode, solved against the exact RTP.

A reel is a list of blocks: a block is one symbol, one or more stops long. Blocks carry the character of a game (a stack of
three pays in 27 ways or not at all) and leave the mean win as it is, so hits and wins can be steered apart.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from host_tools.par.counts import by_counts
from host_tools.par.hits import hits
from host_tools.par.model import Sheet, StripSet
from host_tools.par.reading import SheetError
from host_tools.par.strip_plan import GroupPlan, Plan, SetPlan

Report = Callable[[str], None]
Strips = tuple[tuple[int, ...], ...]
Reel = list[tuple[int, int]]  # blocks: symbol, stops
TURNS = 6000  # of the walk, at most
DRAWS = 2_000_000  # for the boards of a group, at most


@dataclass(frozen=True)
class Found:
    sets: tuple[tuple[int, Strips], ...]
    groups: tuple[tuple[int, Strips], ...]

    def digest(self) -> str:
        """SHA-256 over strips and boards, one line each, by which the sheet's provenance is checked."""
        lines = [" ".join(map(str, row)) for _, rows in (*self.sets, *self.groups) for row in rows]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def put_into(self, sheet: Sheet) -> Sheet:
        """The sheet with what was found."""
        sets, groups = list(sheet.sets), list(sheet.groups)
        for number, reels in self.sets:
            sets[number] = StripSet(sets[number].id, reels)
        for number, boards in self.groups:
            groups[number] = replace(groups[number], boards=boards)
        return replace(sheet, sets=tuple(sets), groups=tuple(groups))


# Figures of a set, from its strips


class Figures:
    """Mean credits and percent of wins by lines or ways. What is known of a reel is kept: a walk changes one at a time."""

    def __init__(self, sheet: Sheet, mode: int) -> None:
        self.sheet = sheet
        self.mode = mode
        self.paying = [symbol for symbol, row in enumerate(sheet.pays) if any(row)]
        self.known: dict[tuple[int, ...], ReelFacts] = {}
        if any(symbol.multiplier > 1 for symbol in sheet.symbols):
            raise SheetError(sheet.file, "search", "wilds multiply", "this search knows plain wilds only")

    def __call__(self, strips: Strips) -> tuple[float, float]:
        if self.sheet.modes[self.mode].evaluation == "ways":
            reels = [self.reel(strip) for strip in strips]
            return self.ways_credits(reels), self.ways_hits(reels)
        sets = list(self.sheet.sets)
        sets[self.sheet.modes[self.mode].set] = StripSet("", strips)
        trial = replace(self.sheet, sets=tuple(sets))
        result = by_counts(trial, self.mode, None, 1)  # one line stands for all: the mean depends on counts only
        found = hits(self.sheet, strips, None)
        return len(self.sheet.lines) * result.line_pays / result.boards, found.percent(found.by_lines)

    def reel(self, strip: tuple[int, ...]) -> ReelFacts:
        if strip not in self.known:
            size, rows = len(strip), self.sheet.rows
            facts = ReelFacts(size, {}, {})
            for symbol in self.paying:
                counted = self.sheet.counting(symbol)
                shown = [sum(strip[(stop + row) % size] in counted for row in range(rows)) for stop in range(size)]
                facts.cells[symbol] = sum(shown), shown.count(0)
            cells = [
                sum(1 << symbol for symbol in self.paying if cell in self.sheet.counting(symbol)) for cell in strip
            ]
            for stop in range(size):
                mask = 0
                for row in range(rows):
                    mask |= cells[(stop + row) % size]
                facts.masks[mask] = facts.masks.get(mask, 0) + 1
            self.known[strip] = facts
        return self.known[strip]

    def ways_credits(self, reels: Sequence[ReelFacts]) -> float:
        """Reels are independent, so the mean of a product of counts is the product of their means."""
        total = 0
        for symbol in self.paying:
            for length, pay in enumerate(self.sheet.pays[symbol], 1):
                if pay:
                    ends = reels[length].cells[symbol][1] if length < len(reels) else 1
                    behind = prod(reel.stops for reel in reels[length + 1 :])
                    total += pay * prod(reel.cells[symbol][0] for reel in reels[:length]) * ends * behind
        return total / prod(reel.stops for reel in reels)

    def ways_hits(self, reels: Sequence[ReelFacts]) -> float:
        """Sets of symbols that each reel shows, met reel by reel, as far as the shortest run that pays."""
        lengths = {
            next(length for length, pay in enumerate(self.sheet.pays[symbol], 1) if pay) for symbol in self.paying
        }
        if len(lengths) != 1:
            raise SheetError(
                self.sheet.file, "pays", "pay from different runs on", "this search wants one shortest run"
            )
        reached = {sum(1 << symbol for symbol in self.paying): 1}
        for reel in reels[: lengths.pop()]:
            met: dict[int, int] = {}
            for before, boards in reached.items():
                for mask, stops in reel.masks.items():
                    met[before & mask] = met.get(before & mask, 0) + boards * stops
            reached = met
        return 100 * (1 - reached.get(0, 0) / sum(reached.values()))


@dataclass(frozen=True)
class ReelFacts:
    """What decides ways on one reel."""

    stops: int
    cells: dict[int, tuple[int, int]]  # by paying symbol: cells that count as it over all stops, stops that show none
    masks: dict[int, int]  # stops by the set of paying symbols that they show


def board_win(sheet: Sheet, window: Sequence[Sequence[int]]) -> int:
    """Credits by ways of one board, by reels of cells."""
    total = 0
    for symbol, row in enumerate(sheet.pays):
        if any(row):
            counted, ways, length = sheet.counting(symbol), 1, 0
            for column in window:
                shown = sum(cell in counted for cell in column)
                if not shown:
                    break
                ways, length = ways * shown, length + 1
            total += ways * row[length - 1] if length else 0
    return total


# Stage 1


class Walk:
    """The walk of one set."""

    def __init__(self, sheet: Sheet, given: SetPlan, draw: random.Random, report: Report) -> None:
        self.sheet = sheet
        self.plan = given
        self.draw = draw
        self.figures = Figures(sheet, given.mode)
        pays = {symbol: sheet.pays[symbol][-1] for symbol in given.paying}
        self.dearer = [(dear, cheap) for dear in pays for cheap in pays if pays[dear] > pays[cheap]]
        self.report = report

    def run(self) -> Strips:
        reels = [self.start(reel) for reel in range(self.sheet.reels)]
        if self.plan.win is None or self.plan.hits is None:
            return self.flat(reels)
        at = least = self.score(reels)
        best = self.flat(reels)
        for turn in range(TURNS):
            if least <= 1:
                break
            threshold = at * 0.1 * (1 - turn / TURNS) ** 2
            number = self.draw.randrange(len(reels))
            changed = self.change(reels[number])
            if changed is None:
                continue
            trial = [*reels[:number], changed, *reels[number + 1 :]]
            new = self.score(trial)
            if new <= at + threshold:
                reels, at = trial, new
            if new < least:
                least, best = new, self.flat(trial)
        win, hit = self.figures(best)
        name = self.sheet.sets[self.plan.set].id
        self.report(f"set {name}: {win:.4f} credits a spin, {hit:.3f} % win, {least:.3f} tolerances squared off")
        return best

    def flat(self, reels: Sequence[Reel]) -> Strips:
        return tuple(tuple(symbol for symbol, size in reel for _ in range(size)) for reel in reels)

    def score(self, reels: Sequence[Reel]) -> float:
        """Squared distances from the aims, in tolerances."""
        assert self.plan.win is not None
        assert self.plan.hits is not None
        win, hit = self.figures(self.flat(reels))
        off = ((win - self.plan.win[0]) / self.plan.win[1]) ** 2 + ((hit - self.plan.hits[0]) / self.plan.hits[1]) ** 2
        return off + self.upside_down(reels)

    def upside_down(self, reels: Sequence[Reel]) -> float:
        """Squared stops by which a dearer symbol is more frequent than a cheaper one beyond the slack."""
        stops = dict.fromkeys(self.plan.paying, 0)
        for reel in reels:
            for symbol, size in reel:
                if symbol in stops:
                    stops[symbol] += size
        return sum(max(0, stops[dear] - stops[cheap] - self.plan.slack) ** 2 for dear, cheap in self.dearer)

    def start(self, reel: int) -> Reel:
        """Fixed blocks evenly among paying blocks in a random order."""
        fixed: Reel = []
        for symbol, row in self.plan.fixed.items():
            size, left = self.plan.blocks.get(symbol, 1), row[reel]
            while left:
                fixed.append((symbol, min(size, left)))
                left -= fixed[-1][1]
        left = self.plan.lengths[reel] - sum(size for _, size in fixed)
        paying: Reel = [(symbol, 1) for symbol in self.plan.paying]
        left -= len(paying)
        while left > 0:
            size = min(left, self.draw.randint(1, self.plan.longest))
            paying.append((self.draw.choice(self.plan.paying), size))
            left -= size
        for _ in range(20_000):
            self.draw.shuffle(fixed)
            self.draw.shuffle(paying)
            blocks = list(paying)
            for place, block in enumerate(fixed):
                blocks.insert(place + (place + 1) * len(paying) // max(1, len(fixed)), block)
            if self.sound(blocks):
                return blocks
        raise SheetError(
            self.sheet.file,
            f"search.sets.{self.sheet.sets[self.plan.set].id}",
            f"no order keeps equal symbols of reel {reel + 1} apart",
            "fix fewer copies, or lengthen the reel",
        )

    def change(self, reel: Reel) -> Reel | None:
        """One random change: two blocks swapped, a block's symbol changed, or a stop moved between blocks."""
        changed = list(reel)
        one, two = self.draw.sample(range(len(reel)), 2)
        kind = self.draw.randrange(3)
        paying = [place for place in (one, two) if changed[place][0] in self.plan.paying]
        if kind == 0:
            changed[one], changed[two] = changed[two], changed[one]
        elif kind == 1 and one in paying:
            changed[one] = (self.draw.choice(self.plan.paying), changed[one][1])
        elif kind == 2 and len(paying) == 2 and changed[one][1] > 1 and changed[two][1] < self.plan.longest:
            changed[one] = (changed[one][0], changed[one][1] - 1)
            changed[two] = (changed[two][0], changed[two][1] + 1)
        return changed if changed != reel and self.sound(changed) else None

    def sound(self, reel: Reel) -> bool:
        """Every paying symbol is there, equal ones do not touch, a window shows one block of a fixed symbol."""
        if any(all(symbol != block for block, _ in reel) for symbol in self.plan.paying):
            return False
        length = sum(size for _, size in reel)
        at, seen = 0, dict[int, tuple[int, int]]()  # by symbol: first stop, stop behind the last
        for symbol, size in reel:
            kind = min(self.plan.apart) if symbol in self.plan.apart else symbol
            if kind in seen and at - seen[kind][1] < self.gap(symbol):
                return False
            seen[kind] = (seen.get(kind, (at, 0))[0], at + size)
            at += size
        return all(length - last + first >= self.gap(kind) for kind, (first, last) in seen.items())

    def gap(self, symbol: int) -> int:
        """Stops between two blocks of a symbol."""
        if symbol in self.plan.fixed:
            return self.sheet.rows - 1
        return min(1, len(self.plan.paying) - 1)  # a filler stands wherever nothing else does


class Search:
    def __init__(self, sheet: Sheet, given: Plan, report: Report = lambda text: None) -> None:
        self.sheet = sheet
        self.plan = given
        self.report = report

    def random(self, stage: str) -> random.Random:
        return random.Random(f"{self.sheet.name}/{self.plan.seed}/{stage}")

    def run(self) -> Found:
        sets = tuple(
            (given.set, Walk(self.sheet, given, self.random(self.sheet.sets[given.set].id), self.report).run())
            for given in self.plan.sets
        )
        sheet = Found(sets, ()).put_into(self.sheet)
        return Found(sets, tuple((given.group, self.boards(sheet, given)) for given in self.plan.groups))

    def boards(self, sheet: Sheet, given: GroupPlan) -> Strips:
        """Boards of a group, sorted: the first different ones drawn that show what is asked."""
        group = sheet.groups[given.group]
        strips = sheet.sets[sheet.modes[group.mode].set].reels
        draw, found = self.random(f"boards {group.id}"), set[tuple[int, ...]]()
        for _ in range(DRAWS):
            if len(found) == given.count:
                return tuple(sorted(found))
            stops = tuple(draw.randrange(len(strip)) for strip in strips)
            window = [
                [s[(stop + row) % len(s)] for row in range(sheet.rows)] for s, stop in zip(strips, stops, strict=True)
            ]
            shown = sum(cell in given.symbols for column in window for cell in column)
            if shown >= given.least and (not given.win_from or board_win(sheet, window) >= given.win_from):
                found.add(stops)
        raise SheetError(
            sheet.file, f"search.boards.{group.id}", f"only {len(found)} of {given.count} boards found", "ask for fewer"
        )


def found_in(sheet: Sheet, given: Plan) -> Found:
    """What a sheet holds of that which its search finds."""
    return Found(
        tuple((entry.set, sheet.sets[entry.set].reels) for entry in given.sets),
        tuple((entry.group, sheet.groups[entry.group].boards) for entry in given.groups),
    )

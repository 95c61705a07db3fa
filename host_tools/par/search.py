"""Finds reel strips for the targets of a sheet. Deterministic: the same sheet and seed give the same strips everywhere.

Four stages, each settled before the next, because each depends only on those before it (README.md tells why):

1. scatters: copies and length of every reel, by closed form: how often they pay, and how far the best and the worst
picks of
   the free spins lie apart, depend on nothing else;
2. counts of the main game, by closed form for the RTP and by three deciding reels for the line hits;
3. order of the main game's strips: swaps that bring the hit frequencies home, the counts stay;
4. counts of the free-spin strips: the exact RTP of the best picks has to land within its tolerance.

All randomness is `random.Random` with a text seed, all comparisons are on integers or their quotients.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, pairwise, permutations
from math import inf

from host_tools.par.arrange import lay
from host_tools.par.counts import by_counts, in_view, multiply
from host_tools.par.hits import hits
from host_tools.par.model import Feature, Sheet, Step, StripSet
from host_tools.par.reading import SheetError, Table

Counts = list[dict[int, int]]  # by reel: copies of each symbol
HANDY_BOARDS = 2**28  # a full cycle of this size counts as much against a choice as a figure that is one tolerance off

Report = Callable[[str], None]
# How bad counts are, 0 best. What is certain to be above the limit (second argument) need not be worked out to the end.
Score = Callable[[Counts, float], float]


@dataclass(frozen=True)
class Plan:
    """What the sheet's [search] table asks for."""

    seed: int
    mode: int
    lengths: tuple[int, ...]  # that a reel may have
    copies: tuple[int, ...]  # of the scatter that a reel may have
    most_wilds: int
    main_rtp: float  # percent, aimed at
    free_lengths: tuple[int, ...]
    free_scatters: tuple[int, ...]
    free_hits: float  # percent, aimed at
    digest: str  # of the strips that the sheet holds, "-" when it holds none yet


@dataclass(frozen=True)
class Found:
    base: tuple[tuple[int, ...], ...]
    free: tuple[tuple[int, ...], ...]

    def digest(self) -> str:
        """SHA-256 over the strips, one line a reel, by which the sheet's provenance is checked."""
        lines = [" ".join(map(str, strip)) for strip in (*self.base, *self.free)]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def sets(self, sheet: Sheet, given: Plan) -> list[tuple[str, tuple[tuple[int, ...], ...]]]:
        """The strips under the names of their sets."""
        base, free = set_numbers(sheet, given)
        return [(sheet.sets[base].id, self.base), (sheet.sets[free].id, self.free)]


def plan(sheet: Sheet, seed: int | None = None) -> Plan:
    if not sheet.search:
        raise SheetError(
            sheet.file, "search", "is missing", "add [search]: seed, mode, lengths, copies, ... (README.md)"
        )
    table = Table(sheet.file, "search", sheet.search)
    table.source()
    mode = sheet.mode(table.text("mode"))
    given = Plan(
        seed=table.integer("seed", 0, 2**63 - 1),
        mode=mode,
        lengths=table.integers("lengths", None, sheet.rows, 4096),
        copies=table.integers("copies", None, 1, 16),
        most_wilds=table.integer("most_wilds", 1, 64),
        main_rtp=table.number("main_rtp"),
        free_lengths=table.integers("free_lengths", sheet.reels, sheet.rows, 4096),
        free_scatters=table.integers("free_scatters", sheet.reels, 0, 16),
        free_hits=table.number("free_hits"),
        digest=table.text("digest", "-"),
    )
    table.done()
    if len(list(sheet.awards(mode))) != 1:
        table.fail("mode", "starts no feature", "the search tunes a main game and its free spins together")
    for name in ("best_rtp", "worst_rtp", "hit_frequency", "line_hit_frequency", "scatter_hit_frequency"):
        if name not in sheet.targets.get(sheet.modes[mode].id, {}):
            raise SheetError(sheet.file, f"targets.{sheet.modes[mode].id}.{name}", "is missing", "the search needs it")
    return given if seed is None else replace(given, seed=seed)


def triggered(sheet: Sheet, mode: int) -> tuple[Step, Feature]:
    """The one award of a main game, and the feature that it gives."""
    ((step, prize),) = sheet.awards(mode)
    return step, sheet.features[prize.index]


def set_numbers(sheet: Sheet, given: Plan) -> tuple[int, int]:
    """Numbers of the main game's and the free spins' strip sets."""
    _, feature = triggered(sheet, given.mode)
    return sheet.modes[given.mode].set, sheet.modes[feature.mode].set


def found_in(sheet: Sheet, given: Plan) -> Found:
    """The strips that a sheet holds."""
    base, free = set_numbers(sheet, given)
    return Found(sheet.sets[base].reels, sheet.sets[free].reels)


class Search:
    def __init__(self, sheet: Sheet, given: Plan, report: Report = lambda text: None) -> None:
        self.sheet = sheet
        self.plan = given
        self.report = report
        self.mode = sheet.modes[given.mode]
        self.targets = sheet.targets[self.mode.id]
        step, self.feature = triggered(sheet, given.mode)
        self.least = step.least
        (self.scatter,) = step.symbols
        added = sheet.added_spins(self.feature)
        self.adds_spins = added.least if added else 0
        self.wilds = [number for number, symbol in enumerate(sheet.symbols) if symbol.wild]
        paying = [number for number, row in enumerate(sheet.pays) if any(row) and number not in self.wilds]
        # Dearest first: a dearer symbol is never markedly more frequent than a cheaper one.
        self.paying = sorted(paying, key=lambda number: (-sheet.pays[number][-1], number))

    def random(self, stage: str) -> random.Random:
        return random.Random(f"{self.sheet.name}/{self.plan.seed}/{stage}")

    def target(self, name: str) -> float:
        return self.targets[name].value

    def off(self, name: str, value: float) -> float:
        """Distance from a target in tolerances, squared."""
        return ((value - self.targets[name].value) / self.targets[name].within) ** 2

    # Stage 1

    def picks(self, boards: Sequence[int]) -> tuple[float, float]:
        """Sums over trigger counts of probability x spins x multiplier, best and worst picks."""
        total, best, worst = sum(boards), 0, 0
        for count, ways in enumerate(boards):
            if count >= self.least:
                products = [option.spins * option.multiplier for option in self.feature.options_for(count)]
                best += ways * max(products)
                worst += ways * min(products)
        return best / total, worst / total

    def scatters(self) -> list[tuple[int, int]]:
        """Copies and length a reel. Any order has the same scatter figures; stage 2 chooses it."""
        rows, row = self.sheet.rows, self.sheet.scatter_pays[self.scatter]
        choices = [(copies, length) for copies in self.plan.copies for length in self.plan.lengths]
        free_part = self.target("best_rtp") - self.plan.main_rtp
        gap = self.target("best_rtp") - self.target("worst_rtp")
        best: tuple[float, tuple[tuple[int, int], ...]] | None = None
        for reels in combinations_with_replacement(choices, self.sheet.reels):
            boards: Sequence[int] = (1,)
            for copies, length in reels:
                boards = multiply(boards, (length - rows * copies, rows * copies))
            paid = 100 * sum(ways for count, ways in enumerate(boards) if count and row[count - 1]) / sum(boards)
            highest, lowest = self.picks(boards)
            lengths = [length for _, length in reels]
            score = (
                self.off("scatter_hit_frequency", paid)
                + ((free_part * (1 - lowest / highest) - gap) / self.targets["worst_rtp"].within) ** 2
                + ((max(lengths) - min(lengths)) / 20) ** 2
                + sum(boards) / HANDY_BOARDS
            )
            if best is None or score < best[0]:
                best = (score, reels)
        assert best is not None
        self.report(f"scatters: {best[1]} (copies, stops), score {best[0]:.4f}")
        return list(best[1])

    # Stage 2

    def strips(self, counts: Counts) -> tuple[tuple[int, ...], ...]:
        return tuple(lay(reel) for reel in counts)

    def with_strips(self, mode: int, strips: tuple[tuple[int, ...], ...]) -> Sheet:
        """The sheet with other strips in the set of a mode."""
        sets = list(self.sheet.sets)
        number = self.sheet.modes[mode].set
        sets[number] = StripSet(sets[number].id, strips)
        return replace(self.sheet, sets=tuple(sets))

    def line_rtp(self, mode: int, counts: Counts) -> float:
        """Percent, exact up to the last division. One line stands for all: RTP depends on counts only."""
        result = by_counts(self.with_strips(mode, self.strips(counts)), mode, None, 1)
        return 100 * result.line_pays * len(self.sheet.lines) / (result.boards * self.sheet.modes[mode].cost)

    def start(self, scatters: Sequence[tuple[int, int]], wilds: int) -> Counts:
        """First guess: copies rise evenly from the dearest symbol to the cheapest."""
        counts: Counts = []
        for copies, length in scatters:
            reel = {self.scatter: copies} if copies else {}
            for wild in self.wilds:
                reel[wild] = wilds
            left = length - sum(reel.values())
            weights = [2 + place for place in range(len(self.paying))]
            shares = [max(1, left * weight // sum(weights)) for weight in weights]
            for place in range(left - sum(shares)):
                shares[-1 - place % len(shares)] += 1
            reel.update(zip(self.paying, shares, strict=True))
            counts.append(reel)
        return counts

    def sensible(self, reel: dict[int, int]) -> bool:
        """Every symbol is there, none fills over a fifth, a dearer one at most once more than the next cheaper."""
        copies = [reel[symbol] for symbol in self.paying]
        return (
            min(copies) >= 1
            and max(copies) * 5 <= sum(reel.values())
            and all(dear <= cheap + 1 for dear, cheap in pairwise(copies))
            and all(1 <= reel[wild] <= self.plan.most_wilds for wild in self.wilds)
        )

    def climb(self, stage: str, counts: Counts, score: Score, enough: float, tries: int) -> Counts:
        """Moves copies from symbol to symbol on a reel, towards the least score (threshold accepting).

        A move may make the score worse by a threshold that shrinks to nothing: without that the rules of `sensible`
        trap the walk in the first valley. The best counts seen are returned.
        """
        draw = self.random(stage)
        movable = [*self.wilds, *self.paying]
        at = least = score(counts, inf)
        best = counts
        for turn in range(tries):
            if least <= enough:
                break
            threshold = at * 0.1 * (1 - turn / tries) ** 2
            changed = [dict(reel) for reel in counts]
            for _ in range(draw.choice((1, 1, 2))):
                reel = changed[draw.randrange(len(changed))]
                out, into = draw.sample(movable, 2)
                reel[out] -= 1
                reel[into] += 1
            if all(self.sensible(reel) for reel in changed):
                new = score(changed, at + threshold)
                if new <= at + threshold:
                    counts, at = changed, new
                if new < least:
                    self.report(f"{stage}: {new:.6f} after {turn + 1} moves")
                    best, least = changed, new
        return best

    def base_counts(self, scatters: Sequence[tuple[int, int]], stage: str) -> Counts:
        boards: Sequence[int] = (1,)
        for copies, length in scatters:
            boards = multiply(boards, (length - self.sheet.rows * copies, self.sheet.rows * copies))
        row = self.sheet.scatter_pays[self.scatter]
        scatter_rtp = 100 * sum(pay * ways for pay, ways in zip(row, boards[1:], strict=False)) / sum(boards)

        def score(counts: Counts, limit: float) -> float:
            off = ((self.line_rtp(self.plan.mode, counts) + scatter_rtp - self.plan.main_rtp) / 0.05) ** 2
            if off > limit:
                return off
            found = hits(self.sheet, self.strips(counts), self.scatter)
            return (
                off
                + self.off("line_hit_frequency", found.percent(found.by_lines))
                + self.off("hit_frequency", found.percent(found.any_win))
            )

        return self.climb(stage, self.start(scatters, 1), score, 0.2, 1500)

    def order(self, scatters: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Which reel gets which pair: scatters and line wins shall coincide as often as the targets imply."""
        wanted = self.overlap(*(self.target(name) for name in ("hit_frequency", "line_hit_frequency")))
        best: tuple[float, tuple[tuple[int, int], ...]] | None = None
        for reels in sorted(set(permutations(scatters))):
            found = hits(self.sheet, self.strips(self.start(reels, 1)), self.scatter)
            share = self.overlap(found.percent(found.any_win), found.percent(found.by_lines))
            if best is None or abs(share - wanted) < best[0]:
                best = (abs(share - wanted), reels)
        assert best is not None
        self.report(f"order: {best[1]}")
        return list(best[1])

    def overlap(self, any_win: float, by_lines: float) -> float:
        """Boards that win both ways against what independence would give."""
        by_scatters = self.target("scatter_hit_frequency")
        return (by_lines + by_scatters - any_win) / (by_lines * by_scatters / 100)

    # Stage 3

    def placed_well(self, strip: Sequence[int], stop: int) -> bool:
        """No equal neighbours; scatters and wilds never twice in a window."""
        symbol, size = strip[stop], len(strip)
        apart = self.sheet.rows if symbol == self.scatter or symbol in self.wilds else 1
        return all(
            strip[(stop + step) % size] != symbol and strip[(stop - step) % size] != symbol
            for step in range(1, apart + 1)
        )

    def shuffled(self, draw: random.Random, reel: dict[int, int]) -> list[int]:
        """A random order that keeps the rules of `placed_well`: swaps from an even spread, most of which stay."""
        strip = list(lay(reel))
        for _ in range(40 * len(strip)):
            self.swap(strip, draw)
        for stop in range(len(strip)):
            if not self.placed_well(strip, stop):
                raise SheetError(
                    self.sheet.file,
                    "search",
                    "no order keeps equal symbols apart",
                    "lower most_wilds or lengthen the reels",
                )
        return strip

    def swap(self, strip: list[int], draw: random.Random) -> bool:
        """Swaps two stops unless that breaks a rule that held (a start that breaks one may only get better)."""
        one, two = draw.sample(range(len(strip)), 2)
        held = self.placed_well(strip, one), self.placed_well(strip, two)
        strip[one], strip[two] = strip[two], strip[one]
        holds = self.placed_well(strip, one), self.placed_well(strip, two)
        if strip[one] == strip[two] or sum(holds) < sum(held) or (all(held) and not all(holds)):
            strip[one], strip[two] = strip[two], strip[one]
            return False
        return True

    def arrange(
        self, stage: str, counts: Counts, scatter: int | None, score: Callable[[float, float], float], enough: float
    ) -> tuple[tuple[int, ...], ...]:
        """Orders the stops of a set so that hit frequencies (any win, by lines; percent) score well."""
        draw = self.random(stage)
        strips = [self.shuffled(draw, reel) for reel in counts]

        def scored() -> float:
            found = hits(self.sheet, strips, scatter)
            return score(found.percent(found.any_win), found.percent(found.by_lines))

        at = scored()
        for turn in range(1500):
            if at <= enough:
                break
            reel = draw.randrange(len(strips))
            kept = list(strips[reel])
            if not self.swap(strips[reel], draw):
                continue
            new = scored()
            if new > at:
                strips[reel] = kept
            else:
                if new < at:
                    self.report(f"{stage}: {new:.6f} after {turn + 1} swaps")
                at = new
        return tuple(tuple(strip) for strip in strips)

    # Stage 4

    def free_counts(self, base: tuple[tuple[int, ...], ...]) -> Counts:
        """Counts of the free-spin strips: RTP with the best picks exact, hits near what the plan asks."""
        boards: Sequence[int] = (1,)
        for strip in base:
            boards = multiply(boards, in_view(strip, (self.scatter,), self.sheet.rows))
        highest, _ = self.picks(boards)
        result = by_counts(self.with_strips(self.plan.mode, base), self.plan.mode)
        main = 100 * (result.line_pays + self.mode.cost * result.scatter_pays) / (result.boards * self.mode.cost)
        wanted = (self.target("best_rtp") - main) / highest  # of one free spin at multiplier 1, with what it adds
        self.report(f"main game {main:.4f} %, a free spin shall be worth {wanted:.4f} %")
        added = sum(
            self.sheet.rows * copies * self.adds_spins / length
            for copies, length in zip(self.plan.free_scatters, self.plan.free_lengths, strict=True)
        )
        within = self.targets["best_rtp"].within / highest

        def score(counts: Counts, limit: float) -> float:
            off = abs(self.line_rtp(self.feature.mode, counts) / (1 - added) - wanted) / within
            if off > limit:
                return off
            found = hits(self.sheet, self.strips(counts), None)
            return off + ((found.percent(found.by_lines) - self.plan.free_hits) / 4) ** 2

        reels = list(zip(self.plan.free_scatters, self.plan.free_lengths, strict=True))
        return self.climb("free counts", self.start(reels, 1), score, 0.1, 8000)

    def run(self) -> Found:
        reels = self.order(self.scatters())
        counts = self.base_counts(reels, "base counts")
        base = self.arrange(
            "base order",
            counts,
            self.scatter,
            lambda any_win, lines: self.off("hit_frequency", any_win) + self.off("line_hit_frequency", lines),
            0.02,
        )
        free = self.free_counts(base)
        return Found(
            base, self.arrange("free order", free, None, lambda _, lines: abs(lines - self.plan.free_hits), 0.5)
        )

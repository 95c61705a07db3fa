"""Exact figures of a mode: the C core's walk over all boards, checked by two independent methods, and whole rounds on top.

*Enumeration* is the C core (every board of the cycle), *counts* are symbol counts and products over reels (no board is
built), *states* is the distribution by what is still open behind each reel. They share no code with each other where they
count the same thing; every integer that two of them know must be equal, and `agree` is False otherwise. Figures are before
the win cap: its effect is told by the simulation, and the cap depends on the stake.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction

from host_tools.par.compiler import compile_sheet
from host_tools.par.counts import CountsResult, by_counts
from host_tools.par.exact_boards import Boards, distribution
from host_tools.par.exact_prizes import Steps, chances, credits_of
from host_tools.par.exact_rounds import Game, Whole
from host_tools.par.exact_spins import Watch, split
from host_tools.par.exact_ways import ways_squares
from host_tools.par.features import Award
from host_tools.par.model import Mode, Sheet, Target
from native.cpython import Cycle, cycle
from native.cpython.wrapper import Pack

Z = (
    1.65,
    1.96,
)  # 90 % and 95 % of a normal distribution: both are in use for the volatility index, so it is always named
POLICIES = ("best", "worst")

Progress = Callable[[int, int], None]  # boards done, boards in all


@dataclass(frozen=True)
class Check:
    """One integer by two methods."""

    quantity: str
    enumeration: int
    counts: int


@dataclass(frozen=True)
class Enumeration:
    """A mode's strip set by all methods."""

    cycle: Cycle
    counts: CountsResult | None  # lines only
    states: Boards
    checks: tuple[Check, ...]
    seconds: float

    @property
    def agree(self) -> bool:
        return all(check.enumeration == check.counts for check in self.checks)


@dataclass(frozen=True)
class Played:
    """A mode under one policy. Fractions are total bets a round."""

    policy: str
    rtp: Fraction
    free_spins_rtp: Fraction
    variance: Fraction
    picks: dict[int, Award]
    """By trigger count: the option that the policy takes, where there is a choice (of the first feature with one)."""
    whole: Whole


@dataclass(frozen=True)
class Exact:
    sheet: Sheet
    mode: int
    lines: int
    cost: int
    base: Enumeration
    free: dict[int, Enumeration]
    """By mode: those of the free spins that can begin in this mode."""
    policies: dict[str, Played]

    @property
    def boards(self) -> int:
        return self.base.cycle.boards

    @property
    def agree(self) -> bool:
        return self.base.agree and all(part.agree for part in self.free.values())

    @property
    def main_rtp(self) -> Fraction:
        return Fraction(self.base.cycle.sum_credits, self.boards * self.cost)

    @property
    def base_variance(self) -> Fraction:
        """Of one spin's line, ways and scatter wins."""
        return variance(self.base.cycle, self.cost)

    @property
    def hit_frequency(self) -> Fraction:
        """Rounds that win anything: a window win, collected values or a prize."""
        return 1 - self.policies["best"].whole.losing

    def one_in(self, kind: str) -> float | None:
        """Rounds for one `feature …`, `wheel …` or `pot …` of the figures by how often; all that begin so, together."""
        often = sum((n for name, n in self.policies["best"].whole.often.items() if kind in name), Fraction(0))
        return float(1 / often) if often else None

    def share(self, boards: int) -> float:
        """Boards as a percentage of the cycle."""
        return 100 * boards / self.boards

    def ppm(self) -> tuple[int, int]:
        """Lowest and highest RTP over the policies, rounded to parts per million."""
        values = [round(played.rtp * 1_000_000) for played in self.policies.values()]
        return min(values), max(values)


def variance(sums: Cycle, cost: int) -> Fraction:
    """Of one spin, in squared total bets."""
    mean = Fraction(sums.sum_credits, sums.boards)
    return (Fraction(sums.sum_squares, sums.boards) - mean * mean) / cost**2


def enumerate_boards(
    pack: Pack, mode: int, stops: int, threads: int, lines: int | None, cost: int | None, progress: Progress
) -> Cycle:
    """The full cycle, cut by stops of the first reel; integer sums, so the cut cannot change the result."""
    total: Cycle | None = None
    with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
        parts = pool.map(lambda stop: cycle(pack, mode, stop, stop + 1, lines, cost), range(stops))
        for done, part in enumerate(parts, 1):
            total = part if total is None else total + part
            progress(part.boards * done, part.boards * stops)
    assert total is not None
    return total


def compare(sheet: Sheet, sums: Cycle, counts: CountsResult) -> list[Check]:
    """Lines: the enumeration against symbol counts."""
    checks = [
        Check("boards", sums.boards, counts.boards),
        Check("line pays, credits", sums.line_credits, counts.line_pays),
        Check("winning lines", sums.winning_lines, counts.winning_lines),
        Check("scatter pays, total bets", sums.scatter_bets, counts.scatter_pays),
    ]
    for symbol, boards in counts.scatter_boards.items():
        seen = sums.in_view[symbol]
        checks += [
            Check(f"boards with {shown} {sheet.symbols[symbol].id}", have, want)
            for shown, (have, want) in enumerate(zip(seen, boards, strict=True))
            if have or want
        ]
    runs = {(symbol, run) for symbol, run, _ in sums.runs} | set(counts.combos)
    for symbol, run in sorted(runs):
        for wild, text in ((False, "without wild"), (True, "with wild")):
            combo = counts.combos.get((symbol, run))
            want = 0 if combo is None else combo.with_wild if wild else combo.without_wild
            have = sums.runs.get((symbol, run, wild), 0)
            checks.append(Check(f"{run} {sheet.symbols[symbol].id} {text}", have, want))
    return checks


def compare_ways(sheet: Sheet, mode: Mode, sums: Cycle) -> list[Check]:
    """Ways: the enumeration against products over reels."""
    spins = split(sheet, mode, Watch())
    checks = [Check("boards", sums.boards, spins.total), Check("all wins, credits", sums.sum_credits, spins.credits)]
    for symbol, row in enumerate(sheet.pays):
        if any(row):
            have = sum(pay * sums.ways.get((symbol, run), 0) for run, pay in enumerate(row, 1))
            checks.append(Check(f"ways of {sheet.symbols[symbol].id}, credits", have, spins.by_symbol.get(symbol, 0)))
    if not spins.scatter_credits:
        checks.append(Check("sum of squares, closed form", sums.sum_squares, ways_squares(sheet, mode)))
    return checks


def compare_states(sums: Cycle, boards: Boards, cost: int) -> list[Check]:
    """The enumeration against the distribution."""
    wins = boards.wins
    return [
        Check("boards, by states", sums.boards, boards.boards),
        Check("boards that win", sums.boards_any, sum(n for win, n in wins.items() if win)),
        Check(
            "boards that win less than the bet", sums.boards_below_bet, sum(n for w, n in wins.items() if 0 < w < cost)
        ),
        Check("sum of wins, credits", sums.sum_credits, boards.credits),
        Check("sum of squares", sums.sum_squares, boards.squares),
        Check("largest win, credits", sums.max_credits, max(wins)),
    ]


def enumeration(
    sheet: Sheet, pack: Pack, mode: int, threads: int, lines: int | None, cost: int | None, progress: Progress
) -> Enumeration:
    """`sheet` has these lines and this cost already; `pack` may have more lines."""
    entry = sheet.modes[mode]
    stops = len(sheet.sets[entry.set].reels[0])
    start = time.perf_counter()
    sums = enumerate_boards(pack, mode, stops, threads, lines, cost, progress)
    seconds = time.perf_counter() - start
    counts = by_counts(sheet, mode) if entry.evaluation == "lines" else None
    states = distribution(sheet, entry)
    checks = compare(sheet, sums, counts) if counts else compare_ways(sheet, entry, sums)
    return Enumeration(sums, counts, states, (*checks, *compare_states(sums, states, entry.cost)), seconds)


def features_of(sheet: Sheet, mode: int) -> list[int]:
    """Features that can begin in a mode."""
    prizes = [prize for _, prize in sheet.awards(mode)]
    for step in sheet.modes[mode].steps_of("pile"):
        prizes += [prize for _, prize in chances(sheet, step.table or 0)]
    for prize in [prize for prize in prizes if prize.kind == "wheel"]:
        prizes += [won for _, won in chances(sheet, prize.index)]
    return sorted({prize.index for prize in prizes if prize.kind == "feature"})


def exact(
    sheet: Sheet,
    mode: int,
    threads: int = 1,
    lines: int | None = None,
    cost: int | None = None,
    progress: Progress = lambda done, total: None,
) -> Exact:
    """All exact figures of a mode. `lines` and `cost` play fewer lines than the sheet has, for studies."""
    pack = Pack(compile_sheet(sheet))
    if lines is not None:
        sheet = replace(sheet, lines=sheet.lines[:lines])
    if cost is not None:
        sheet = replace(sheet, modes=tuple(replace(entry, cost=cost) for entry in sheet.modes))
    paid = sheet.modes[mode].cost
    base = enumeration(sheet, pack, mode, threads, lines, cost, progress)
    free_modes = sorted({sheet.features[feature].mode for feature in features_of(sheet, mode)})
    free = {number: enumeration(sheet, pack, number, threads, lines, cost, progress) for number in free_modes}
    squares = {mode: base.cycle.sum_squares, **{number: part.cycle.sum_squares for number, part in free.items()}}
    game = Game(sheet, squares.__getitem__)
    choice = any(len(options) > 1 for f in features_of(sheet, mode) for options in sheet.features[f].options.values())
    wholes = {"best": game.whole(mode, "best")}
    wholes["worst"] = game.whole(mode, "worst") if choice else wholes["best"]
    policies: dict[str, Played] = {}
    for name, whole in wholes.items():
        free_spins = sum((part for cause, part in whole.parts.items() if cause.startswith("feature ")), Fraction(0))
        first = min((feature for feature, _ in whole.picks), default=None)
        picks = {count: award for (feature, count), award in sorted(whole.picks.items()) if feature == first}
        policies[name] = Played(name, whole.mean / paid, free_spins / paid, whole.variance / paid**2, picks, whole)
    return Exact(sheet, mode, len(sheet.lines), paid, base, free, policies)


def base_distribution(result: Exact) -> dict[Fraction, Fraction]:
    """Chance of each win of the base spin, in total bets: window wins and collected values, without prizes."""
    sheet, entry = result.sheet, result.sheet.modes[result.mode]
    steps = Steps(sheet, entry)
    if not steps.of("collect"):
        boards = result.base.states
        return {Fraction(win, result.cost): Fraction(n, boards.boards) for win, n in sorted(boards.wins.items())}
    boards = distribution(sheet, entry, steps.masks)
    found: dict[int, float] = defaultdict(float)
    sums: dict[tuple[int, ...], dict[int, float]] = {}
    for (win, shown), ways in boards.outcomes.items():
        for value, chance in collected(steps, shown, sums).items():
            found[win + value] += ways * chance
    return {Fraction(win, result.cost): Fraction(share) / boards.boards for win, share in sorted(found.items())}


def collected(steps: Steps, shown: tuple[int, ...], sums: dict[tuple[int, ...], dict[int, float]]) -> dict[int, float]:
    """Chances of the sum that is collected, in binary64."""
    if not steps.collected(shown):
        return {0: 1.0}
    cells = tuple(steps.seen(shown, step.symbols) for step in steps.of("values"))
    if cells not in sums:
        total: dict[int, float] = {0: 1.0}
        for step, many in zip(steps.of("values"), cells, strict=True):
            rows = [(float(p), credits_of(steps.sheet, prize)) for p, prize in chances(steps.sheet, step.table or 0)]
            for _ in range(many):
                after: dict[int, float] = defaultdict(float)
                for value, chance in total.items():
                    for p, credits in rows:
                        after[value + credits] += chance * p
                total = dict(after)
        sums[cells] = total
    return sums[cells]


def figures(result: Exact) -> dict[str, float | None]:
    """The figures that a sheet's [targets] can name; percent, and total bets for the deviation."""
    sums, best = result.base.cycle, result.policies["best"]
    return {
        "rtp": float(100 * best.rtp),
        "best_rtp": float(100 * best.rtp),
        "worst_rtp": float(100 * result.policies["worst"].rtp),
        "main_game_rtp": float(100 * result.main_rtp),
        "hit_frequency": float(100 * result.hit_frequency),
        "line_hit_frequency": result.share(sums.boards_line),
        "scatter_hit_frequency": result.share(sums.boards_scatter),
        "wheel_one_in": result.one_in("wheel "),
        "free_spins_one_in": result.one_in("feature free_spins"),
        "deviation": math.sqrt(best.variance),
    }


@dataclass(frozen=True)
class Miss:
    """A target that the exact figure does not meet."""

    name: str
    value: float | None
    target: Target


def misses(result: Exact) -> list[Miss]:
    """Targets of the sheet for this mode that are missed."""
    have = figures(result)
    targets = result.sheet.targets.get(result.sheet.modes[result.mode].id, {})
    found: list[Miss] = []
    for name, target in targets.items():
        value = have[name]
        if value is None or abs(value - target.value) > target.within:
            found.append(Miss(name, value, target))
    return found


@dataclass
class Quoted:
    """What the sheet quotes against what is exact."""

    lowest: int
    highest: int
    problems: list[str] = field(default_factory=list)


def check_quoted(result: Exact) -> Quoted:
    """The pack's quoted RTP must be the computed one, to the part per million; gamble rows must have their exact value."""
    mode = result.sheet.modes[result.mode]
    low, high = result.ppm()
    quoted = Quoted(low, high)
    for name, have, want in (("lowest_ppm", mode.lowest_ppm, low), ("highest_ppm", mode.highest_ppm, high)):
        if have != want:
            quoted.problems.append(f"modes.{mode.id}.rtp.{name} quotes {have}, exact is {want}: write {want}")
    return quoted


def check_gamble(sheet: Sheet) -> list[str]:
    """Rows of the gamble whose value is not the feature's exact mean: the gamble would not be fair."""
    game, problems = Game(sheet), []
    for row in sheet.gamble.rows if sheet.gamble else ():
        if row.feature is not None:
            want = game.value_micro(row.feature, row.spins)
            if row.value_micro != want:
                problems.append(f"gamble.rows.{row.id}.value_micro is {row.value_micro}, exact is {want}: write {want}")
    return problems

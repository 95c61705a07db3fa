"""Exact figures of a mode: full enumeration in the C core, checked against symbol counts, then free spins on top.

The two methods are independent code in different languages; every integer that both know must be equal, and `agree`
is False otherwise. Figures before the win cap: its effect is far below any printed digit, and the cap depends on the
stake.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from host_tools.par.compiler import compile_sheet
from host_tools.par.counts import CountsResult, by_counts
from host_tools.par.features import Award, SpinSums, awards
from host_tools.par.model import Sheet, Target
from native.cpython import Cycle, cycle
from native.cpython.wrapper import Pack

Z = 1.65  # 90 % of a normal distribution, as PAR sheets use it for the volatility index
POLICIES = ("best", "worst")
LONGEST_EXACT_BITS = 12_000  # a longer fraction is not printed: it no longer helps a reader

Progress = Callable[[int, int], None]  # boards done, boards in all


@dataclass(frozen=True)
class Check:
    """One integer by both methods."""

    quantity: str
    enumeration: int
    counts: int


@dataclass(frozen=True)
class Enumeration:
    """A mode's set by both methods."""

    cycle: Cycle
    counts: CountsResult
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
    """By trigger count: the option that the policy takes."""


@dataclass(frozen=True)
class Exact:
    sheet: Sheet
    mode: int
    lines: int
    cost: int
    base: Enumeration
    free: Enumeration | None
    policies: dict[str, Played]
    triggers: int
    """Boards that start the feature."""

    @property
    def boards(self) -> int:
        return self.base.cycle.boards

    @property
    def agree(self) -> bool:
        return self.base.agree and (self.free is None or self.free.agree)

    @property
    def main_rtp(self) -> Fraction:
        return Fraction(self.base.cycle.sum_credits, self.boards * self.cost)

    @property
    def base_variance(self) -> Fraction:
        return variance(self.base.cycle, self.cost)

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


def compare(sheet: Sheet, sums: Cycle, counts: CountsResult) -> tuple[Check, ...]:
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
    return tuple(checks)


def enumeration(
    sheet: Sheet,
    pack: Pack,
    mode: int,
    watched: int | None,
    threads: int,
    lines: int | None,
    cost: int | None,
    progress: Progress,
) -> Enumeration:
    stops = len(sheet.sets[sheet.modes[mode].set].reels[0])
    start = time.perf_counter()
    sums = enumerate_boards(pack, mode, stops, threads, lines, cost, progress)
    seconds = time.perf_counter() - start
    counts = by_counts(sheet, mode, watched, lines)
    return Enumeration(sums, counts, compare(sheet, sums, counts), seconds)


def win_by_count(result: CountsResult, cost: int) -> tuple[int, ...]:
    """Credits won on boards with 0, 1, ... watched scatters in view."""
    return tuple(
        line + cost * bets for line, bets in zip(result.line_pays_by_count, result.scatter_pays_by_count, strict=True)
    )


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
    entry = sheet.modes[mode]
    paid = entry.cost if cost is None else cost
    feature = None if entry.feature is None else sheet.features[entry.feature]
    base = enumeration(sheet, pack, mode, feature.trigger if feature else None, threads, lines, cost, progress)
    main = Fraction(base.cycle.sum_credits, base.cycle.boards * paid)
    if feature is None:
        played = {name: Played(name, main, Fraction(0), variance(base.cycle, paid), {}) for name in POLICIES}
        return Exact(sheet, mode, lines or len(sheet.lines), paid, base, None, played, 0)
    free = enumeration(sheet, pack, feature.mode, feature.adds, threads, lines, cost, progress)
    spins = SpinSums(
        free.counts.boards, tuple(free.counts.boards_by_count), win_by_count(free.counts, paid), free.cycle.sum_squares
    )
    by_count = awards(feature, spins)
    wins = win_by_count(base.counts, paid)
    policies = {name: _play(name, base, wins, by_count, paid) for name in POLICIES}
    triggers = sum(base.counts.boards_by_count[min(by_count) :])
    return Exact(sheet, mode, lines or len(sheet.lines), paid, base, free, policies, triggers)


def _play(
    policy: str, base: Enumeration, wins: tuple[int, ...], by_count: dict[int, tuple[Award, ...]], cost: int
) -> Played:
    """Adds the free spins: a board with k scatters wins W and then, independently of W, what the option wins."""
    boards = base.counts.boards
    picks = {
        count: (max if policy == "best" else min)(offered, key=lambda award: (award.mean, award.option.multiplier))
        for count, offered in by_count.items()
    }
    free, square = Fraction(0), Fraction(base.cycle.sum_squares)
    for count, ways in enumerate(base.counts.boards_by_count):
        if ways and count >= min(picks):
            pick = picks[min(count, max(picks))]
            free += ways * pick.mean
            square += 2 * wins[count] * pick.mean + ways * pick.square
    mean = (base.cycle.sum_credits + free) / boards
    return Played(
        policy,
        mean / cost,
        free / boards / cost,
        (square / boards - mean * mean) / cost**2,
        dict(sorted(picks.items())),
    )


def digits(value: Fraction) -> dict[str, str] | None:
    """A fraction as text, unless it has become unprintably long."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > LONGEST_EXACT_BITS:
        return None
    return {"numerator": str(value.numerator), "denominator": str(value.denominator)}


def figures(result: Exact, policy: str) -> dict[str, float]:
    """The figures that a sheet's [targets] can name, in percent."""
    sums = result.base.cycle
    return {
        "best_rtp": float(100 * result.policies["best"].rtp),
        "worst_rtp": float(100 * result.policies["worst"].rtp),
        "main_game_rtp": float(100 * result.main_rtp),
        "hit_frequency": result.share(sums.boards_any),
        "line_hit_frequency": result.share(sums.boards_line),
        "scatter_hit_frequency": result.share(sums.boards_scatter),
    }


@dataclass(frozen=True)
class Miss:
    """A target that the exact figure does not meet."""

    name: str
    value: float
    target: Target


def misses(result: Exact) -> list[Miss]:
    """Targets of the sheet that are missed; they speak of modes that a player can select."""
    if not result.sheet.modes[result.mode].selectable:
        return []
    have = figures(result, "best")
    return [
        Miss(name, have[name], target)
        for name, target in result.sheet.targets.items()
        if abs(have[name] - target.value) > target.within
    ]


def to_json(result: Exact, policy: str) -> dict[str, Any]:
    """The result as `par exact --json` prints it. Percentages unless a name says otherwise."""
    sheet, sums, played = result.sheet, result.base.cycle, result.policies[policy]
    deviation = math.sqrt(played.variance)
    low, high = result.ppm()
    boards = sums.boards + (result.free.cycle.boards if result.free else 0)
    seconds = result.base.seconds + (result.free.seconds if result.free else 0)
    return {
        "game": sheet.name,
        "mode": sheet.modes[result.mode].id,
        "policy": policy,
        "rtp": float(100 * played.rtp),
        "rtp_exact": digits(played.rtp),
        "main_game_rtp": float(100 * result.main_rtp),
        "main_game_rtp_exact": {"numerator": str(sums.sum_credits), "denominator": str(sums.boards * result.cost)},
        "free_spins_rtp": float(100 * played.free_spins_rtp),
        "rtp_ppm": {"lowest": low, "highest": high},
        "hit_frequency": result.share(sums.boards_any),
        "line_hit_frequency": result.share(sums.boards_line),
        "scatter_hit_frequency": result.share(sums.boards_scatter),
        "below_bet_frequency": result.share(sums.boards_below_bet),
        "from_bet_frequency": result.share(sums.boards_from_bet),
        "boards": sums.boards,
        "winning_boards": sums.boards_any,
        "line_winning_boards": sums.boards_line,
        "scatter_winning_boards": sums.boards_scatter,
        "line_pays": sums.line_credits,
        "scatter_pays_bets": sums.scatter_bets,
        "winning_lines": sums.winning_lines,
        "max_base_win_credits": sums.max_credits,
        "scatter_boards": {sheet.symbols[symbol].id: list(seen) for symbol, seen in sums.in_view.items()},
        "combos": [
            {
                "symbol": sheet.symbols[symbol].id,
                "run": run,
                "without_wild": sums.runs.get((symbol, run, False), 0),
                "with_wild": sums.runs.get((symbol, run, True), 0),
            }
            for symbol, run in sorted({(symbol, run) for symbol, run, _ in sums.runs})
        ],
        "trigger_boards": result.triggers,
        "trigger_one_in": sums.boards / result.triggers if result.triggers else None,
        "picks": {
            str(count): {
                "spins": pick.option.spins,
                "multiplier": pick.option.multiplier,
                "mean_award_bets": float(pick.mean / result.cost),
                "mean_spins": float(pick.spins),
            }
            for count, pick in played.picks.items()
        },
        "sd_base_spin": math.sqrt(result.base_variance),
        "sd_round": deviation,
        "volatility_index": {"z": Z, "value": Z * deviation},
        "methods_agree": result.agree,
        "methods": [
            {"mode": name, "quantity": check.quantity, "enumeration": check.enumeration, "counts": check.counts}
            for name, part in (("main", result.base), ("free_spins", result.free))
            if part
            for check in part.checks
        ],
        "targets_missed": [miss.name for miss in misses(result)],
        "boards_per_second": boards / seconds if seconds else None,
    }


@dataclass
class Quoted:
    """What the sheet quotes against what is exact."""

    lowest: int
    highest: int
    problems: list[str] = field(default_factory=list)


def check_quoted(result: Exact) -> Quoted:
    """The pack's quoted RTP must be the computed one, to the part per million."""
    mode = result.sheet.modes[result.mode]
    low, high = result.ppm()
    quoted = Quoted(low, high)
    for name, have, want in (("lowest_ppm", mode.lowest_ppm, low), ("highest_ppm", mode.highest_ppm, high)):
        if have != want:
            quoted.problems.append(f"modes.{mode.id}.rtp.{name} quotes {have}, exact is {want}: write {want}")
    return quoted

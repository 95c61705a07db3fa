"""Exact against simulated against quoted and targeted, one row for each mode and policy."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from host_tools.par.compiler import compile_sheet
from host_tools.par.exact import Exact, check_gamble, check_quoted, exact, misses
from host_tools.par.model import Sheet
from host_tools.par.simulate import BATCH, Job, Progress, Run, choices, play
from native.cpython import Simulation

ERRORS = 3  # standard errors: one honest row in 370 is further off
FEWEST_BATCHES = 30  # of which the error of a variance is known well enough


@dataclass(frozen=True)
class Row:
    """A mode under a policy."""

    game: str
    mode: str
    policy: str
    rtp: float  # exact, percent
    played: float
    half_width: float  # 95 %, percentage points
    deviation: float  # of a round, exact, total bets
    played_deviation: float
    off: float  # standard errors of the mean
    deviation_off: float | None  # standard errors of the variance; None: too few rounds to know them
    hit_frequency: float
    hits_off: float  # standard errors of the hit frequency
    methods_agree: bool
    problems: tuple[str, ...]

    @property
    def simulation_agrees(self) -> bool:
        return all(abs(off) <= ERRORS for off in (self.off, self.hits_off, self.deviation_off or 0.0))

    @property
    def good(self) -> bool:
        return self.simulation_agrees and self.methods_agree and not self.problems

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "simulation_agrees": self.simulation_agrees, "good": self.good}


class Squares:
    """Squared distances of awards from the exact mean, batch by batch: how far batches differ tells the variance's error.

    A formula for that error would need the fourth moment, which a few rounds in a million decide.
    """

    def __init__(self, mean_pence: Fraction) -> None:
        self._mean = mean_pence
        self._batches: list[float] = []  # mean square of each whole one, pence²

    def add(self, part: Simulation) -> None:
        if part.rounds == BATCH:
            square = part.sum_squares - 2 * self._mean * part.award_pence + part.rounds * self._mean**2
            self._batches.append(float(square / part.rounds))

    def off(self, variance: float) -> float | None:
        """Standard errors between the played variance and the exact one, pence²."""
        if len(self._batches) < FEWEST_BATCHES:
            return None
        error = statistics.stdev(self._batches) / math.sqrt(len(self._batches))
        return (statistics.fmean(self._batches) - variance) / error if error else 0.0


def row_of(result: Exact, run: Run, squares: Squares) -> Row:
    sheet, mode, played = result.sheet, result.sheet.modes[result.mode], result.policies[run.policy]
    problems = check_quoted(result).problems + check_gamble(sheet)
    problems += [
        f"target {miss.name}: {miss.value}, wanted {miss.target.value} ± {miss.target.within}"
        for miss in misses(result)
    ]
    hit, rounds = float(result.hit_frequency), run.totals.rounds
    spread = math.sqrt(hit * (1 - hit) / rounds)
    return Row(
        sheet.name,
        mode.id,
        run.policy,
        float(100 * played.rtp),
        run.rtp,
        run.half_width,
        math.sqrt(played.variance),
        run.deviation,
        run.off,
        squares.off(float(played.variance) * run.bet_pence**2),
        100 * hit,
        (run.totals.hits / rounds - hit) / spread if spread else 0.0,
        result.agree,
        tuple(problems),
    )


def policies(result: Exact) -> list[str]:
    """Those that differ."""
    return ["best", "worst"] if result.policies["best"].picks else ["best"]


def verify(
    sheet: Sheet,
    rounds: int,
    threads: int,
    seed: str,
    progress: Progress = lambda rounds: None,
    dask: str | None = None,
) -> list[Row]:
    """All modes that a player can select."""
    pack, rows = compile_sheet(sheet), []
    for number, mode in enumerate(sheet.modes):
        if mode.selectable:
            result = exact(sheet, number, threads)
            for policy in policies(result):
                job = Job(pack, number, 1, seed, tuple(sorted(choices(sheet, result, policy).items())))
                squares = Squares(result.policies[policy].rtp * mode.cost)
                totals = play(job, rounds, threads, progress, dask=dask, each=squares.add)
                rows.append(row_of(result, Run(sheet, number, policy, seed, 1, totals, 0.0, result), squares))
    return rows

"""Exact against simulated against quoted and targeted, one row for each mode and policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from host_tools.par.compiler import compile_sheet
from host_tools.par.exact import Exact, check_gamble, check_quoted, exact, misses
from host_tools.par.model import Sheet
from host_tools.par.simulate import Job, Progress, Run, choices, play

ERRORS = 3  # standard errors: one honest row in 370 is further off


@dataclass(frozen=True)
class Row:
    """A mode under a policy."""

    game: str
    mode: str
    policy: str
    rtp: float  # exact, percent
    played: float
    half_width: float  # 95 %, percentage points
    deviation: float  # exact, total bets
    off: float  # standard errors
    hit_frequency: float
    hits_off: float  # standard errors of the hit frequency
    methods_agree: bool
    problems: tuple[str, ...]

    @property
    def simulation_agrees(self) -> bool:
        return abs(self.off) <= ERRORS and abs(self.hits_off) <= ERRORS

    @property
    def good(self) -> bool:
        return self.simulation_agrees and self.methods_agree and not self.problems

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "simulation_agrees": self.simulation_agrees, "good": self.good}


def row_of(result: Exact, run: Run) -> Row:
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
        run.off,
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
                totals = play(job, rounds, threads, progress, dask=dask)
                rows.append(row_of(result, Run(sheet, number, policy, seed, 1, totals, 0.0, result)))
    return rows

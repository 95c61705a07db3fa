"""Plays whole rounds through the firmware's own round function, many at a time.

A round's seed comes from the master seed and the round's number alone, and the totals are integers, so the result
depends on the seed and the number of rounds only: not on threads, not on how the work is cut.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from host_tools.par.exact import Exact
from host_tools.par.model import Sheet
from native.cpython import Simulation, simulate
from native.cpython.wrapper import Pack

BATCH = 50_000  # rounds: short enough for a smooth progress bar
Z95 = 1.959964  # two-sided 95 % of a normal distribution


@dataclass(frozen=True)
class Run:
    sheet: Sheet
    mode: int
    policy: str
    seed: str
    unit_pence: int
    totals: Simulation
    seconds: float
    expected: Exact

    @property
    def bet_pence(self) -> int:
        return self.sheet.modes[self.mode].cost * self.unit_pence

    @property
    def rtp(self) -> float:
        return 100 * self.totals.award_pence / (self.totals.rounds * self.bet_pence)

    @property
    def deviation(self) -> float:
        """Of one round, in total bets."""
        rounds = self.totals.rounds
        mean = self.totals.award_pence / rounds
        return math.sqrt(max(0.0, self.totals.sum_squares / rounds - mean * mean)) / self.bet_pence

    @property
    def half_width(self) -> float:
        """Of the 95 % interval of the RTP, percentage points."""
        return 100 * Z95 * self.deviation / math.sqrt(self.totals.rounds)


def master_seed(text: str) -> bytes:
    """The 32 bytes that a seed given as text stands for."""
    return hashlib.sha256(f"cabinet par simulate {text}".encode()).digest()


def choices(sheet: Sheet, expected: Exact, policy: str) -> dict[int, int]:
    """The policy as the core takes it: number of options offered -> option taken."""
    feature = sheet.modes[expected.mode].feature
    if feature is None:
        return {}
    taken: dict[int, int] = {}
    for count, options in sheet.features[feature].options.items():
        option = options.index(expected.policies[policy].picks[count].option)
        if taken.setdefault(len(options), option) != option:
            raise ValueError(
                f"the {policy} picks differ between trigger counts that offer {len(options)} options: "
                "the core's simulation cannot tell these counts apart"
            )
    return taken


def play(
    pack: Pack,
    mode: int,
    unit_pence: int,
    seed: bytes,
    rounds: int,
    policy: dict[int, int],
    threads: int,
    progress: Callable[[int], None] = lambda rounds: None,
) -> Simulation:
    """Rounds 0 ... rounds-1 of a seed; `progress` hears of every batch that is done."""
    total: Simulation | None = None
    starts = range(0, rounds, BATCH)
    with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
        parts = pool.map(
            lambda first: simulate(pack, mode, unit_pence, seed, first, min(BATCH, rounds - first), policy), starts
        )
        for part in parts:
            total = part if total is None else total + part
            progress(part.rounds)
    assert total is not None
    return total


def to_json(run: Run) -> dict[str, Any]:
    """The run as `par simulate --json` prints it. Percentages unless a name says otherwise."""
    totals, bet = run.totals, run.totals.rounds * run.bet_pence
    expected = float(100 * run.expected.policies[run.policy].rtp)
    return {
        "game": run.sheet.name,
        "mode": run.sheet.modes[run.mode].id,
        "policy": run.policy,
        "seed": run.seed,
        "unit_pence": run.unit_pence,
        "rounds": totals.rounds,
        "rtp": run.rtp,
        "interval_95": [run.rtp - run.half_width, run.rtp + run.half_width],
        "exact_rtp": expected,
        "exact_inside": abs(expected - run.rtp) <= run.half_width,
        "line_rtp": 100 * totals.base_pence / bet,
        "scatter_rtp": 100 * totals.scatter_pence / bet,
        "free_spins_rtp": 100 * totals.free_spins_pence / bet,
        "hit_frequency": 100 * totals.hits / totals.rounds,
        "trigger_one_in": totals.rounds / totals.features if totals.features else None,
        "free_spins_per_feature": totals.free_spins / totals.features if totals.features else None,
        "sd_round": run.deviation,
        "exact_sd_round": math.sqrt(run.expected.policies[run.policy].variance),
        "largest_award_pence": totals.max_award_pence,
        "cut_by_win_cap_pence": totals.cut_pence,
        "award_pence": totals.award_pence,
        "sum_squares": str(totals.sum_squares),
        "rounds_per_second": totals.rounds / run.seconds if run.seconds else None,
    }

"""Plays whole rounds through the firmware's own round function, many at a time.

A round's seed comes from the master seed and the round's number alone, and the totals are integers, so the result depends on
the seed and the number of rounds only: not on threads, machines, or how often the run was stopped and resumed.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host_tools.par.exact import Exact
from host_tools.par.model import Sheet
from native.cpython import Simulation, simulate
from native.cpython.wrapper import Pack

BATCH = 200_000  # rounds: short enough for a smooth progress bar, and what a state file is written behind
Z95 = 1.959964  # two-sided 95 % of a normal distribution
Progress = Callable[[int], None]  # rounds played since the last call


class StateError(ValueError):
    """A state file that belongs to another run, or is none."""


@dataclass(frozen=True)
class Job:
    """All that the totals depend on."""

    pack: bytes
    mode: int
    unit_pence: int
    seed: str
    policy: tuple[tuple[int, int], ...]  # (options offered, option taken)

    @property
    def digest(self) -> str:
        """Of the pack and everything else."""
        rest = (self.mode, self.unit_pence, self.seed, self.policy)
        return hashlib.sha256(hashlib.sha256(self.pack).digest() + repr(rest).encode()).hexdigest()

    def play(self, first: int, count: int) -> Simulation:
        """Rounds first ... first + count - 1."""
        return played(self, first, count)


_packs: dict[bytes, Pack] = {}


def played(job: Job, first: int, count: int) -> Simulation:
    """A function of a module, so that another machine can be asked to run it. Keeps the one pack that it plays."""
    if job.pack not in _packs:
        _packs.clear()
        _packs[job.pack] = Pack(job.pack)
    return simulate(_packs[job.pack], job.mode, job.unit_pence, master_seed(job.seed), first, count, dict(job.policy))


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
    fresh: int = 0  # rounds played by this command; the others came from its state file

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

    @property
    def off(self) -> float:
        """How many exact standard errors the played RTP is from the exact one."""
        exact = self.expected.policies[self.policy]
        error = 100 * math.sqrt(exact.variance) / math.sqrt(self.totals.rounds)
        return (self.rtp - float(100 * exact.rtp)) / error if error else 0.0

    def coverage(self) -> list[tuple[str, int, float | None]]:
        """How often each rare thing was seen, and how often it is expected where that is known."""
        rounds, often = self.totals.rounds, self.expected.policies[self.policy].whole.often

        def expected(name: str) -> float | None:
            return rounds * float(often[name]) if name in often else None

        rows: list[tuple[str, int, float | None]] = []
        for number, seen in enumerate(self.totals.feature_counts):
            name = f"feature {self.sheet.features[number].id}"
            if seen or name in often:
                rows.append((name, seen, expected(name)))
        if self.totals.wheels:
            rows.append(("wheels, free spins' included", self.totals.wheels, None))
        # The exact figure of a pot is of those outside features only.
        rows += [(f"pot {pot.id}", n, None) for pot, n in zip(self.sheet.pots, self.totals.pot_counts, strict=True)]
        return rows


def master_seed(text: str) -> bytes:
    """The 32 bytes that a seed given as text stands for."""
    return hashlib.sha256(f"cabinet par simulate {text}".encode()).digest()


def choices(sheet: Sheet, expected: Exact, policy: str) -> dict[int, int]:
    """The policy as the core takes it: number of options offered -> option taken."""
    taken: dict[int, int] = {}
    for (feature, count), award in expected.policies[policy].whole.picks.items():
        options = sheet.features[feature].options[count]
        option = options.index(award.option)
        if taken.setdefault(len(options), option) != option:
            raise ValueError(
                f"the {policy} picks differ between trigger counts that offer {len(options)} options: "
                "the core's simulation cannot tell these counts apart"
            )
    return taken


def cut(first: int, rounds: int) -> Iterator[tuple[int, int]]:
    """Batches of rounds first ... rounds - 1, as (first, count)."""
    for start in range(first, rounds, BATCH):
        yield start, min(BATCH, rounds - start)


def play(
    job: Job,
    rounds: int,
    threads: int,
    progress: Progress = lambda rounds: None,
    start: Simulation | None = None,
    state: Path | None = None,
    dask: str | None = None,
    each: Callable[[Simulation], None] = lambda part: None,
) -> Simulation:
    """Rounds 0 ... rounds-1 of a job, those of `start` taken as played. `state`: kept up to date while it goes on.

    dask: address of a scheduler whose workers share the work; the totals are the same. each: called with every batch.
    """
    total, first = start, start.rounds if start else 0
    batches = list(cut(first, rounds))
    if dask is not None:
        from host_tools.par.dask_play import play_batches

        parts = play_batches(job, batches, dask)
        for part in parts:
            total = part if total is None else total + part
            progress(part.rounds)
            each(part)
        _keep(state, job, total)
    else:
        with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
            for done, part in enumerate(pool.map(lambda batch: job.play(*batch), batches), 1):
                total = part if total is None else total + part
                progress(part.rounds)
                each(part)
                if done % 10 == 0:
                    _keep(state, job, total)
        _keep(state, job, total)
    assert total is not None
    return total


def _keep(state: Path | None, job: Job, total: Simulation | None) -> None:
    """Written beside and moved, so that a stopped run leaves a whole file."""
    if state is None or total is None:
        return
    beside = state.with_name(state.name + ".new")
    beside.write_text(json.dumps({"job": job.digest, "totals": vars(total)}, indent=1) + "\n", encoding="utf-8")
    os.replace(beside, state)


def resumed(state: Path, job: Job, rounds: int) -> Simulation | None:
    """Totals of a state file, None when there is none yet."""
    if not state.exists():
        return None
    try:
        data = json.loads(state.read_text(encoding="utf-8"))
        names = set(Simulation.__dataclass_fields__)
        if data["job"] != job.digest:
            raise StateError(f"{state} is of another game, mode, seed, unit or policy; give another --state file")
        if set(data["totals"]) != names:
            raise StateError(f"{state} is of another version of the core; remove it and play again")
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data["totals"].items()
        }
        total = Simulation(**values)
    except (OSError, KeyError, TypeError, json.JSONDecodeError) as fault:
        raise StateError(f"{state} is no state file of `par simulate` ({fault}); remove it or give another") from fault
    if total.rounds > rounds:
        raise StateError(f"{state} already holds {total.rounds} rounds; ask for as many or more with --rounds")
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
        "standard_errors_off": run.off,
        "line_rtp": 100 * totals.base_pence / bet,
        "scatter_rtp": 100 * totals.scatter_pence / bet,
        "collected_rtp": 100 * totals.cash_pence / bet,
        "prize_rtp": 100 * totals.prize_pence / bet,
        "free_spins_rtp": 100 * totals.features_pence / bet,
        "hit_frequency": 100 * totals.hits / totals.rounds,
        "exact_hit_frequency": float(100 * run.expected.hit_frequency),
        "trigger_one_in": totals.rounds / totals.features if totals.features else None,
        "free_spins_per_feature": totals.free_spins / totals.features if totals.features else None,
        "coverage": [{"what": what, "seen": seen, "expected": expect} for what, seen, expect in run.coverage()],
        "sd_round": run.deviation,
        "exact_sd_round": math.sqrt(run.expected.policies[run.policy].variance),
        "largest_award_pence": totals.max_award_pence,
        "cut_by_win_cap_pence": totals.cut_pence,
        "award_pence": totals.award_pence,
        "sum_squares": str(totals.sum_squares),
        "rounds_per_second": run.fresh / run.seconds if run.seconds and run.fresh else None,
    }

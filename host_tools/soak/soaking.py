"""Many lives of cabinets, each from a seed of its own, in some processes; what they add up to does not depend on how many.

A life's seed is drawn from the run's seed and the life's number, so each can be lived again alone.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from host_tools.hil.script_commands import Command
from host_tools.hil.vocabulary import NOTE_ACCEPTORS
from host_tools.soak import breakage
from host_tools.soak.life import Life, live
from host_tools.soak.recovery import MAX_SHOWN
from host_tools.soak.shrink import SECONDS as SECONDS
from host_tools.soak.shrink import shrink

LIFE_PLAYS: Final = 100
SHRUNK: Final = 3  # failures for which a short script is looked for


@dataclass
class Failure:
    """One life that failed: which, what went wrong in which command, and a short script that fails in the same way."""

    seed: int
    step: int
    text: str
    script: tuple[Command, ...] = ()
    shrunk: bool = False


@dataclass
class Report:
    """Sums of all lives; `by_fault` and `by_cut` tell how often each kind was injected, `by_tilt` which lock-ups came of it."""

    plays: int = 0
    faults: int = 0
    power_cuts: int = 0
    virtual_hours: float = 0.0
    discrepancy_pence: int = 0
    unexplained_lockups: int = 0
    lives: int = 0
    failed: int = 0
    never_injected: list[str] = field(default_factory=list)
    by_fault: Counter[str] = field(default_factory=Counter)
    by_cut: Counter[str] = field(default_factory=Counter)
    by_tilt: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, life: Life) -> None:
        """One life more."""
        self.lives += 1
        self.plays += life.plays
        self.faults += life.faults.total()
        self.power_cuts += life.cuts.total()
        self.virtual_hours += life.virtual_ms / 3_600_000
        self.discrepancy_pence += life.discrepancy_pence
        self.unexplained_lockups += life.unexplained
        self.by_fault += life.faults
        self.by_cut += life.cuts
        self.by_tilt += life.lockups
        if life.failure:
            self.failed += 1
            if len(self.failures) < MAX_SHOWN:
                self.failures.append(Failure(life.seed, len(life.script), life.failure, tuple(life.script)))

    def as_dict(self) -> dict[str, Any]:
        """For a program; failures without their scripts."""
        found = {name: value for name, value in vars(self).items() if name != "failures"}
        found["virtual_hours"] = round(self.virtual_hours, 2)
        for name in ("by_fault", "by_cut", "by_tilt"):
            found[name] = dict(sorted(found[name].items()))
        found["failures"] = [{"seed": bad.seed, "step": bad.step, "text": bad.text} for bad in self.failures]
        return found


def life_seed(seed: int, number: int) -> int:
    """Seed of the `number`-th life of a run."""
    return int.from_bytes(hashlib.sha256(f"soak {seed} {number}".encode()).digest()[:5], "big")


def run(
    packs: Mapping[str, bytes],
    plays: int,
    seed: int,
    *,
    jobs: int = 1,
    stop_at_failure: bool = False,
    shrink_seconds: float = 0.0,
    life_plays: int = LIFE_PLAYS,
    progress: Callable[["Report"], None] = lambda report: None,
) -> Report:
    """Soaks cabinets until they have done `plays` plays. With `jobs` 1 everything happens in this process, on the firmware
    as it stands there (also one that a test has broken).

    progress: called after each life with what there is so far.
    shrink_seconds: how long to look for a short script of each of the first failures; 0 leaves the recorded ones.
    """
    report = Report()
    for life in _lives(packs, plays, seed, jobs, life_plays):
        report.add(life)
        progress(report)
        if life.failure and stop_at_failure:
            break
    injected = set(report.by_fault)
    report.never_injected = [
        name
        for name in dict.fromkeys(
            f"{device} {kind}" for note in NOTE_ACCEPTORS for device, kind in breakage.kinds(note)
        )
        if name not in injected
    ]
    if shrink_seconds:
        for bad in report.failures[:SHRUNK]:
            bad.script, bad.shrunk = shrink(packs, bad.script, bad.text, shrink_seconds), True
    return report


def _lives(packs: Mapping[str, bytes], plays: int, seed: int, jobs: int, life_plays: int) -> Iterator[Life]:
    number = -(-plays // life_plays)
    each = -(-plays // number)
    work = [(dict(packs), life_seed(seed, place), each) for place in range(number)]
    if jobs == 1:
        for arguments in work:
            yield live(*arguments)
        return
    with ProcessPoolExecutor(jobs) as pool:
        try:
            yield from pool.map(_live, work)
        finally:
            pool.shutdown(cancel_futures=True)


def _live(arguments: tuple[dict[str, bytes], int, int]) -> Life:
    return live(*arguments)

"""Power cut after every single byte that a script writes to NVRAM.

The script runs once. At each byte the process forks: the child loses its power there, boots again on what the NVRAM holds, and
is judged; the parent goes on as if nothing had happened. So n cuts cost n recoveries, not n runs of the whole script.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from firmware.store.journal import AREAS, BANKS, CONTROL_BYTES, SNAPSHOT
from hal.boards.host import NVRAM_BYTES
from host_tools.hil.host_session import RigNvram
from host_tools.hil.rig import Rig
from host_tools.hil.script_commands import Command
from host_tools.soak.recovery import MAX_SHOWN, recover


@dataclass
class CutReport:
    """`cuts` recoveries were judged; `violations` tell which byte and what was wrong (the first MAX_SHOWN)."""

    cuts: int = 0
    violated: int = 0
    violations: list[str] = field(default_factory=list)
    disputed: int = 0  # cuts of the mains after which a coin was kept as disputed
    compactions: int = 0  # 1 when the journal moved to its other area in the uncut run
    states: dict[str, int] = field(default_factory=dict)  # where recovery ended

    def add(self, verdict: dict) -> None:
        self.cuts += 1
        self.states[verdict["state"]] = self.states.get(verdict["state"], 0) + 1
        self.disputed += verdict["disputed"]
        if verdict["wrong"]:
            self.violated += 1
            if len(self.violations) < MAX_SHOWN:
                self.violations.append(f"byte {verdict['byte']} at {verdict['t']} ms: {'; '.join(verdict['wrong'])}")


def judge(rig: Rig, byte: int, mains: bool) -> dict:
    """Boots the cabinet after the cut and compares its books with the world."""
    cut_ms = rig.now_ms
    if mains:
        rig.power_off()
        rig.run_for(300)
    books, wrong = recover(rig, mains)
    disputed = int(bool(books.get("coins_disputed")))
    return {"byte": byte, "t": cut_ms, "state": rig.state, "disputed": disputed, "wrong": wrong}


class _Children:
    """Forked judges, at most `jobs` at a time, each answering one JSON line through a pipe."""

    def __init__(self, jobs: int, report: CutReport) -> None:
        self._jobs = jobs
        self._report = report
        self._running: list[tuple[int, int]] = []

    def fork(self) -> bool:
        """True in the child, which ends with `answer`."""
        while len(self._running) >= self._jobs:
            self.collect()
        read_fd, write_fd = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os.close(read_fd)
            self._write_fd = write_fd
            return True
        os.close(write_fd)
        self._running.append((pid, read_fd))
        return False

    def answer(self, verdict: dict) -> None:
        os.write(self._write_fd, json.dumps(verdict).encode())
        os._exit(0)

    def collect(self) -> None:
        pid, read_fd = self._running.pop(0)
        with os.fdopen(read_fd, "rb") as pipe:
            data = pipe.read()
        os.waitpid(pid, 0)
        self._report.add(
            json.loads(data) if data else {"byte": -1, "t": -1, "state": "?", "disputed": 0, "wrong": ["judge died"]}
        )

    def finish(self) -> None:
        while self._running:
            self.collect()


def run(
    commands: Sequence[Command],
    packs: Mapping[str, bytes],
    *,
    mains: bool = False,
    every: int = 1,
    jobs: int = 2,
    nvram_bytes: int = NVRAM_BYTES,
    progress: Callable[[int], None] = lambda cuts: None,
) -> CutReport:
    """Cuts the power after each `every`-th byte written by the script. `mains`: the devices lose theirs too."""
    report = CutReport()
    children = _Children(jobs, report)
    rig = Rig(packs, nvram_bytes=nvram_bytes)
    memory = rig.session.nvram
    assert isinstance(memory, RigNvram)
    whole_write = memory.write

    def write(offset: int, data: bytes) -> None:
        for index in range(len(data)):
            byte = memory.written + index
            if byte % every == 0 and children.fork():
                # The child: this byte and those before it land, then the supply fails.
                memory.write = whole_write
                memory.cut_after = index + 1
                rig.on_power_cut = lambda byte=byte: children.answer(_safely_judge(rig, byte, mains))
                whole_write(offset, data)
        whole_write(offset, data)
        progress(report.cuts)

    memory.write = write
    rig.run(commands)
    children.finish()
    area_bytes = (nvram_bytes - CONTROL_BYTES) // (BANKS * AREAS)
    report.compactions = sum(memory.memory[area * area_bytes] == SNAPSHOT for area in range(AREAS)) - 1
    return report


def _safely_judge(rig: Rig, byte: int, mains: bool) -> dict:
    rig.on_power_cut = None
    try:
        return judge(rig, byte, mains)
    except BaseException:
        wrong = [traceback.format_exc()]
        return {"byte": byte, "t": rig.now_ms, "state": "?", "disputed": 0, "wrong": wrong}

"""The firmware in a process of MicroPython's unix port, turned by a rig as hal/boards/unix.py describes."""

import os
import select
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from hal.boards.host import NVRAM_BYTES
from host_tools.boards.build import ensure
from host_tools.hil.host_session import BoardFailed, PowerCut, RigNvram
from host_tools.hil.line import Line
from host_tools.hil.models.battery_clock import BatteryClock

ANSWER_S = 20.0  # of the host's time: a turn takes less than a millisecond
START = "from firmware.main import Cabinet; from hal.boards.unix import lockstep; lockstep(Cabinet)"
HEAP = "1M"  # so that a leak shows within a test; objects are twice as large as on a 32-bit board

_POWER, _SOFT = 0, 2
NO_CLOCK = 0xFFFFFFFF  # as hal/boards/unix.py has it


class _Reset(Exception):
    """The firmware has reset the board."""


class UnixSession:
    """One firmware, switched on and off: a new process each time. `poll` returns False when the power failed inside it.

    lines: the rig's, in the order in which the board counts its ports. packs: name -> bytes.
    """

    def __init__(self, lines: Mapping[str, Line], packs: Mapping[str, bytes], nvram_bytes: int = NVRAM_BYTES) -> None:
        self.nvram = RigNvram(nvram_bytes)
        self._lines = dict(lines)
        self._micropython = ensure("unix")
        self.packs = packs
        self.clock: BatteryClock | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="cabinet-")
        self._process: _Process | None = None
        self._started_ms = 0

    @property
    def on(self) -> bool:
        return self._process is not None

    def start(self, now_ms: int) -> bool:
        """Power comes on; uptime begins at 0. False when the power failed again while starting."""
        self._started_ms = now_ms
        return self._begin(_POWER)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
        self._process = None

    def close(self) -> None:
        """Ends the process and removes its files. A session that is forgotten does so too."""
        self.stop()
        self._folder.cleanup()

    def poll(self, now_ms: int) -> bool:
        if self._process is None:
            return True
        return self._turn(b"", now_ms - self._started_ms, now_ms)

    def _begin(self, reason: int) -> bool:
        self.stop()
        for old in Path(self._folder.name).glob("*.pack"):
            old.unlink()
        for name, data in self.packs.items():
            Path(self._folder.name, f"{name}.pack").write_bytes(data)
        self._process = _Process(self._micropython, self._folder.name, list(self._lines))
        memory, now_us = self.nvram.memory, self._started_ms * 1000
        moment_s = None
        if self.clock is not None:  # a board that resets itself keeps its power
            moment_s = self.clock.switched_on(now_us) if reason == _POWER else self.clock.shown(now_us)
        shown = struct.pack("<BI", reason, NO_CLOCK if moment_s is None else moment_s)
        return self._turn(struct.pack("<I", len(memory)) + memory + shown, 0, self._started_ms)

    def _turn(self, head: bytes, uptime_ms: int, now_ms: int) -> bool:
        assert self._process is not None
        message = bytearray(head)
        message += struct.pack("<I", uptime_ms)
        for line in self._lines.values():
            arrived = line.port.read()
            message += struct.pack("<HH", line.room, len(arrived))
            message += arrived
        try:
            self._process.say(message)
            self._answer(self._process, now_ms)
        except PowerCut:
            self.stop()
            return False
        except _Reset:
            self._started_ms = now_ms
            for line in self._lines.values():
                line.board_reset()
            return self._begin(_SOFT)
        except BoardFailed:
            self.stop()
            raise
        return True

    def _answer(self, process: "_Process", now_ms: int) -> None:
        while (kind := process.hear(1)) in (b"N", b"C"):
            if kind == b"C":
                moment_s = int.from_bytes(process.hear(4), "little")
                if self.clock is not None:
                    self.clock.set(moment_s, now_ms * 1000)
                continue
            offset, length = struct.unpack("<IH", process.hear(6))
            self.nvram.write(offset, process.hear(length))
        if kind == b"R":
            raise _Reset
        if kind != b"E":
            raise BoardFailed(f"the board said {kind!r}, which is no message{process.last_words()}")
        for line in self._lines.values():
            length = int.from_bytes(process.hear(2), "little")
            if length:
                line.port.write(process.hear(length))


class _Process:
    """The running firmware. It ends by itself when its standard input is closed, so none outlives the rig."""

    def __init__(self, micropython: Path, folder: str, ports: list[str]) -> None:
        self._errors = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [micropython, "-X", f"heapsize={HEAP}", "-c", START, folder, *ports],
            cwd=folder,
            env={"MICROPYPATH": ".frozen"},  # the image's own modules, whatever lies around
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # an interrupt at the terminal is for the rig, which then ends this process
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._process.stdin
        self._out = self._process.stdout
        self._heard = b""

    def say(self, message: bytes | bytearray) -> None:
        """Errors: BoardFailed when the process has ended."""
        view = memoryview(message)
        try:
            while view:
                view = view[self._in.write(view) :]
        except BrokenPipeError:
            raise BoardFailed(f"the board's process ended{self.last_words()}") from None

    def hear(self, length: int) -> bytes:
        """The next bytes. Errors: BoardFailed when the process has ended, or is silent for ANSWER_S."""
        while len(self._heard) < length:
            if not select.select([self._out], [], [], ANSWER_S)[0]:
                raise BoardFailed(f"the board did not end its turn in {ANSWER_S:.0f} s{self.last_words()}")
            more = os.read(self._out.fileno(), 1 << 16)
            if not more:
                raise BoardFailed(f"the board's process ended{self.last_words()}")
            self._heard += more
        data = self._heard[:length]
        self._heard = self._heard[length:]
        return data

    def kill(self) -> None:
        """As a power cut: nothing is finished."""
        self._process.kill()
        self._process.wait()
        self._in.close()
        self._out.close()
        self._errors.close()

    def last_words(self) -> str:
        time.sleep(0.05)  # a traceback may still be on its way
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace").strip()
        return f":\n{text}" if text else ""

"""The firmware in this process: a host board whose NVRAM and power the rig controls."""

from collections.abc import Callable, Mapping

from firmware.main import Cabinet
from hal.board import Nvram
from hal.boards.host import NVRAM_BYTES, HostBoard
from host_tools.hil.line import Line
from host_tools.hil.models.battery_clock import BatteryClock


class BoardFailed(Exception):
    """What the firmware runs in ended, hung or said what cannot be. The text ends with its last words."""


class PowerCut(BaseException):
    """The board's supply fails now. No Exception, so that no handler of the firmware can catch it."""


class RigNvram(Nvram):
    """NVRAM in memory that counts written bytes and lets the power fail after any one of them."""

    def __init__(self, size: int = NVRAM_BYTES) -> None:
        self.size = size
        self.memory = bytearray(b"\xff" * size)
        self.written = 0  # bytes since the rig began
        self.cut_after: int | None = None  # bytes that still land before the power fails

    def read(self, offset: int, length: int) -> bytes:
        self.check(offset, length)
        return bytes(self.memory[offset : offset + length])

    def write(self, offset: int, data: bytes) -> None:
        self.check(offset, len(data))
        landed = len(data)
        if self.cut_after is not None:
            landed = min(landed, self.cut_after)
            self.cut_after -= landed
        self.memory[offset : offset + landed] = data[:landed]
        self.written += landed
        if self.cut_after == 0:
            self.cut_after = None
            raise PowerCut


class _RigClock:
    """The world's clock as the board sees it."""

    def __init__(self, clock: BatteryClock, now_us: Callable[[], int]) -> None:
        self._clock = clock
        self._now_us = now_us

    def read(self) -> int | None:
        return self._clock.shown(self._now_us())

    def set(self, moment_s: int) -> bool:
        self._clock.set(moment_s, self._now_us())
        return True


class HostSession:
    """One firmware, switched on and off. `poll` returns False when the power failed inside it."""

    def __init__(self, lines: Mapping[str, Line], packs: Mapping[str, bytes], nvram_bytes: int = NVRAM_BYTES) -> None:
        self.nvram = RigNvram(nvram_bytes)
        self._lines = lines
        self.packs = packs
        self.clock: BatteryClock | None = None
        self.cabinet: Cabinet | None = None
        self._started_ms = 0
        self._now_ms = 0

    @property
    def on(self) -> bool:
        return self.cabinet is not None

    def start(self, now_ms: int) -> bool:
        """Power comes on; uptime begins at 0. False when the power failed again while starting."""
        self._started_ms = self._now_ms = now_ms
        if self.clock is not None:
            self.clock.switched_on(now_ms * 1000)
        ports = {name: line.port for name, line in self._lines.items()}
        clock = None if self.clock is None else _RigClock(self.clock, lambda: self._now_ms * 1000)
        # The rig hands in the time itself.
        board = HostBoard(ports, self.nvram, dict(self.packs), lambda: 0, clock=clock)
        try:
            self.cabinet = Cabinet(board)
        except PowerCut:
            return False
        except Exception as error:
            raise BoardFailed(f"the firmware cannot start: {type(error).__name__}: {error}") from error
        return True

    def stop(self) -> None:
        self.cabinet = None

    def close(self) -> None:
        self.stop()

    def poll(self, now_ms: int) -> bool:
        if self.cabinet is None:
            return True
        self._now_ms = now_ms
        try:
            self.cabinet.poll(now_ms - self._started_ms)
        except PowerCut:
            self.cabinet = None
            return False
        except Exception as error:
            self.cabinet = None
            raise BoardFailed(f"the firmware stopped: {type(error).__name__}: {error}") from error
        return True

"""The firmware in this process: a host board whose NVRAM and power the rig controls."""

from collections.abc import Mapping

from firmware.main import Cabinet
from hal.board import Nvram
from hal.boards.host import NVRAM_BYTES, HostBoard
from host_tools.hil.line import Line


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


class HostSession:
    """One firmware, switched on and off. `poll` returns False when the power failed inside it."""

    def __init__(self, lines: Mapping[str, Line], packs: Mapping[str, bytes], nvram_bytes: int = NVRAM_BYTES) -> None:
        self.nvram = RigNvram(nvram_bytes)
        self._lines = lines
        self.packs = packs
        self.cabinet: Cabinet | None = None
        self._started_ms = 0

    @property
    def on(self) -> bool:
        return self.cabinet is not None

    def start(self, now_ms: int) -> bool:
        """Power comes on; uptime begins at 0. False when the power failed again while starting."""
        self._started_ms = now_ms
        ports = {name: line.port for name, line in self._lines.items()}
        board = HostBoard(ports, self.nvram, dict(self.packs), lambda: 0)  # the rig hands in the time itself
        try:
            self.cabinet = Cabinet(board)
        except PowerCut:
            return False
        return True

    def stop(self) -> None:
        self.cabinet = None

    def close(self) -> None:
        self.stop()

    def poll(self, now_ms: int) -> bool:
        if self.cabinet is None:
            return True
        try:
            self.cabinet.poll(now_ms - self._started_ms)
        except PowerCut:
            self.cabinet = None
            return False
        return True

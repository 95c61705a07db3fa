"""The firmware in this process: a host board whose NVRAM and power the rig controls."""

from collections.abc import Callable, Mapping
from typing import Any

from firmware.main import Cabinet
from firmware.update.image import HEADER_BYTES
from firmware.update.loader import FACTORY, WAIT, Choice, choose
from firmware.update.slots import STATE_BYTES, TRIED, Slots
from hal.board import Nvram, SlotMemory
from hal.boards.host import NVRAM_BYTES, BoardReset, HostBoard
from hal.boards.host_application import Application
from host_tools.hil.line import Line
from host_tools.hil.models.battery_clock import BatteryClock

SLOT_BYTES = 2 << 20
WATCHDOG_MS = 4000  # of the board's time without a turn of the loop


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


class RigSlots(RigNvram, SlotMemory):
    """Application slots in memory, with the same power cuts."""

    def view(self, offset: int, length: int) -> memoryview:
        self.check(offset, length)
        return memoryview(self.memory)[offset : offset + length].toreadonly()


class HostSession:
    """One firmware, switched on and off. `poll` returns False when the power failed inside it.

    cabinet: what runs; choice: what the loader has decided, once there are slots
    """

    def __init__(self, lines: Mapping[str, Line], packs: Mapping[str, bytes], nvram_bytes: int = NVRAM_BYTES) -> None:
        self.nvram = RigNvram(nvram_bytes)
        self._lines = lines
        self.packs = packs
        self.clock: BatteryClock | None = None
        self.cabinet: Cabinet | None = None
        self.choice: Choice | None = None
        self._slots: RigSlots | None = None
        self._applications: dict[bytes, Application] = {}
        self._board = HostBoard({}, self.nvram, {})
        self._started_ms = 0
        self._now_ms = 0
        self._fed_ms = 0

    @property
    def slots(self) -> RigSlots:
        """The application slots. Whoever asks for them first fits them; without, the firmware of this process runs."""
        if self._slots is None:
            self._slots = RigSlots(2 * SLOT_BYTES + STATE_BYTES)
        return self._slots

    @property
    def on(self) -> bool:
        return self.cabinet is not None

    def start(self, now_ms: int) -> bool:
        """Power comes on; uptime begins at 0. False when the power failed again while starting."""
        self._now_ms = now_ms
        if self.clock is not None:
            self.clock.switched_on(now_ms * 1000)
        return self._boot("power")

    def stop(self) -> None:
        self.cabinet = None

    def close(self) -> None:
        self.stop()

    def poll(self, now_ms: int) -> bool:
        if self.cabinet is None:
            return True
        self._now_ms = now_ms
        feeds = self._board.watchdog_feeds
        try:
            self.cabinet.poll(now_ms - self._started_ms)
        except PowerCut:
            self.cabinet = None
            return False
        except BoardReset:
            return self._restart("soft")
        except Exception as error:
            if self._on_trial:
                return self._restart("watchdog")  # nothing turns any more
            self.cabinet = None
            raise BoardFailed(f"the firmware stopped: {type(error).__name__}: {error}") from error
        if self._board.watchdog_feeds != feeds:
            self._fed_ms = now_ms
        elif now_ms - self._fed_ms >= WATCHDOG_MS:
            return self._restart("watchdog")
        return True

    @property
    def _on_trial(self) -> bool:
        """A fault of the firmware is one that the loader has to deal with."""
        return self._slots is not None and Slots(self._slots, HostBoard.name).state.phase == TRIED

    def _restart(self, reason: str) -> bool:
        for line in self._lines.values():
            line.board_reset()
        return self._boot(reason)

    def _boot(self, reason: str) -> bool:
        self.cabinet = None
        self._started_ms = self._fed_ms = self._now_ms
        try:
            make_cabinet, packs = self._chosen(reason)
            self._board = self._make_board(packs, reason)
            self.cabinet = make_cabinet(self._board)
        except PowerCut:
            return False
        except Exception as error:
            if self._on_trial:
                return self._restart("watchdog")
            raise BoardFailed(f"the firmware cannot start: {type(error).__name__}: {error}") from error
        return True

    def _make_board(self, packs: Mapping[str, bytes], reason: str) -> HostBoard:
        ports = {name: line.port for name, line in self._lines.items()}
        clock = None if self.clock is None else _RigClock(self.clock, lambda: self._now_ms * 1000)
        # The rig hands in the time itself.
        return HostBoard(ports, self.nvram, dict(packs), lambda: 0, reason, clock=clock, slots=self._slots)

    def _chosen(self, reason: str) -> tuple[Callable[[HostBoard], Any], Mapping[str, bytes]]:
        """What the loader starts, and the games that it has."""
        if self._slots is None:
            return Cabinet, self.packs
        slots = Slots(self._slots, HostBoard.name)
        self.choice = choose(slots, reason)
        if self.choice.slot == WAIT:
            why = self.choice.why
            return lambda board: Cabinet(board, refused=why), {}
        if self.choice.slot == FACTORY:
            return Cabinet, self.packs
        image = self.choice.image
        if image.hash not in self._applications:
            view = slots.view(self.choice.slot)
            self._applications = {image.hash: Application(view[HEADER_BYTES : HEADER_BYTES + image.payload])}
        application = self._applications[image.hash]
        return application.load("firmware.main").Cabinet, application.packs

"""The board "mps2": a Cortex-M3 cabinet board, emulated by QEMU (native/boards/mps2).

The battery-backed memory holds the NVRAM, and the games' packs where the flash of a bought board would have them. Packs
are read in place.

    PACKS + 0    magic "CABP", u32 number of rows (little endian)
          + 8    rows: 16 bytes name (zero padded), u32 offset from PACKS, u32 bytes
"""

import os

import cabinet_board  # pyright: ignore[reportMissingImports] - the board's C module

from hal.board import Board, PortError, SerialPort
from hal.calendar.ds1338 import Ds1338

PACKS = 1 << 20  # from the beginning of the battery-backed memory
PACKS_BYTES = 1 << 20
PACKS_MAGIC = b"CABP"
MAX_PACKS = 32
_ROW_BYTES = 24
_NAME_BYTES = 16

# Two application slots of 2 MiB and their record (firmware/update/slots.py).
SLOTS = 2 << 20
SLOTS_BYTES = (4 << 20) + 4096
GAMES = "/rom/games"  # of the application of a slot, which main.c mounts

# The C module sets the baud: 115200, and 9600 for ccTalk and the note acceptor. There is no sixth UART for "host".
UARTS = {"console": 0, "cctalk": 1, "panel": 2, "entropy": 3, "note": 4}

WATCHDOG_MS = 4000  # as long as this the loop may be busy; the first time it has to build the cabinet, too


class I2c:
    """The bus of the battery-backed clock."""

    read = staticmethod(cabinet_board.i2c_read)
    write = staticmethod(cabinet_board.i2c_write)


class Mps2Board(Board):
    """The emulated board. There is one; making it starts the watchdog."""

    name = "mps2"
    ticks_ms = staticmethod(cabinet_board.ticks_ms)
    feed_watchdog = staticmethod(cabinet_board.feed)
    reset = staticmethod(cabinet_board.reset)
    stack = staticmethod(cabinet_board.stack)
    resident = staticmethod(cabinet_board.resident)

    def __init__(self):
        cabinet_board.watchdog(WATCHDOG_MS)
        self.reset_reason = cabinet_board.reset_reason()
        self.nvram = cabinet_board.Nvram()
        self.slots = cabinet_board.Nvram(SLOTS, SLOTS_BYTES)
        self._ports = {name: cabinet_board.Uart(number, PortError) for name, number in UARTS.items()}
        self._packs = _application_packs() or _find_packs()
        self._clock = Ds1338(I2c)

    # The emulator's chip is read over the bus and not set: it applies each register that is written by another clock than
    # the one it shows, and forgets all of them at a reset. What a chip's battery would keep is kept by the bench, which
    # hands it to the chip when the board is switched on next. The chip also goes on while the bench holds the board.

    def clock_s(self) -> "int | None":
        shown_s = self._clock.read()
        if shown_s is None:
            return None
        return shown_s - cabinet_board.held_ms() // 1000 + cabinet_board.clock_ahead()

    def set_clock(self, moment_s: int) -> bool:
        shown_s = self._clock.read()
        if shown_s is None:
            return False
        cabinet_board.clock_ahead(moment_s - shown_s + cabinet_board.held_ms() // 1000)
        return True

    def port(self, name: str) -> SerialPort:
        return self._ports[name]

    def start(self, offset: int, length: int) -> None:
        """The application whose ROMFS lies there in the slots' memory is started when the program ends."""
        cabinet_board.application(SLOTS + offset, length)

    def game(self, name: str) -> bytes:
        return self._packs[name]

    def games(self) -> tuple:
        return tuple(sorted(self._packs))


def _application_packs() -> dict:
    """Name -> memoryview of the packs in the slot of the running application, {} without one."""
    if cabinet_board.application() is None:
        return {}
    packs = {}
    for name in os.listdir(GAMES):
        if name.endswith(".pack"):
            packs[name[:-5]] = memoryview(open(GAMES + "/" + name, "rb"))  # noqa: SIM115 - the view is of the slot itself
    return packs


def _find_packs() -> dict:
    """Name -> memoryview. Rows that make no sense are left out; what a pack holds is for the core to judge."""
    region = cabinet_board.memory(PACKS, PACKS_BYTES)
    packs = {}
    if bytes(region[:4]) == PACKS_MAGIC:
        for number in range(min(_u32(region, 4), MAX_PACKS)):
            row = region[8 + number * _ROW_BYTES : 8 + (number + 1) * _ROW_BYTES]
            first, length = _u32(row, _NAME_BYTES), _u32(row, _NAME_BYTES + 4)
            if first + length <= PACKS_BYTES:
                packs[bytes(row[:_NAME_BYTES]).rstrip(b"\0").decode()] = region[first : first + length]
    return packs


def _u32(data, offset: int) -> int:
    return int.from_bytes(bytes(data[offset : offset + 4]), "little")

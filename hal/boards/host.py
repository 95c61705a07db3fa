"""The board "host": this computer, under CPython. The one file of hal that may import what MicroPython lacks."""

import errno
import fcntl
import mmap
import os
import termios
import time
import tty
from collections.abc import Callable
from typing import Protocol

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from hal.board import TICKS_PERIOD, TX_BYTES, Board, Nvram, PortError, SerialPort, SlotMemory
from hal.board import Cipher as BlockCipher

NVRAM_BYTES = 65536
READ_BYTES = 4096  # taken from a tty in one call
EPOCH_2000_S = 946_684_800  # 2000-01-01 00:00:00 UTC in seconds since 1970
REOPEN_S = 0.5  # between two attempts to open a tty that is gone

_MARK_OR_SPACE = 0o10000000000  # CMSPAR of Linux, which termios does not name
_NO_DATA = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EINTR)


class BoardReset(SystemExit):
    """The firmware asked for a reset. Whoever runs the board starts it again with reset reason "soft"."""


class MemoryNvram(Nvram):
    """NVRAM in memory, which the caller keeps if it is to survive."""

    def __init__(self, memory: bytearray | memoryview):
        self.memory = memory
        self.size = len(memory)

    def read(self, offset: int, length: int) -> bytes:
        self.check(offset, length)
        return bytes(self.memory[offset : offset + length])

    def write(self, offset: int, data: bytes) -> None:
        self.check(offset, len(data))
        self.memory[offset : offset + len(data)] = data


class FileNvram(Nvram):
    """NVRAM in a mapped file, created 0xFF-filled.

    What was written survives the end of the process in any way; flush() or close() make it survive the computer too.
    ValueError: the file exists and has another size.
    """

    def __init__(self, path: str | os.PathLike, size: int = NVRAM_BYTES):
        if not os.path.exists(path):
            fresh = f"{os.fspath(path)}.new"
            with open(fresh, "wb") as file:
                file.write(b"\xff" * size)
            os.replace(fresh, path)  # a cut never leaves a short file
        if os.path.getsize(path) != size:
            raise ValueError(f"{path} has {os.path.getsize(path)} bytes, the NVRAM {size}")
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), size)
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        self.check(offset, length)
        return self._map[offset : offset + length]

    def write(self, offset: int, data: bytes) -> None:
        self.check(offset, len(data))
        self._map[offset : offset + len(data)] = data

    def flush(self) -> None:
        """Wait until the file is on the disk."""
        self._map.flush()

    def close(self) -> None:
        """Flush and give the file back."""
        self._map.flush()
        self._map.close()


class MemorySlots(MemoryNvram, SlotMemory):
    """Application slots in memory, which the caller keeps if it is to survive."""

    def view(self, offset: int, length: int) -> memoryview:
        self.check(offset, length)
        return memoryview(self.memory)[offset : offset + length].toreadonly()


class TtySerialPort(SerialPort):
    """A tty or pty by its path, 8 data bits, no flow control.

    parity: "N", "E", "O", "M" or "S". A pty has none and may refuse it (pyserial #196): that is not an error.
    gone: the tty could not be opened, or was unplugged. It then reads as silent, refuses to write, and is tried again
    at most once in REOPEN_S, however often it is read.
    """

    def __init__(
        self,
        path: str,
        baud: int = 9600,
        parity: str = "N",
        stop_bits: int = 1,
        monotonic_s: Callable[[], float] = time.monotonic,
    ):
        self.path = path
        self._speed = getattr(termios, f"B{baud}")
        self._parity = parity
        self._stop_bits = stop_bits
        self._monotonic_s = monotonic_s
        self._fd = -1
        self._waiting = bytearray()
        self._reopen_s = 0.0
        self._open()

    @property
    def gone(self) -> bool:
        return self._fd < 0

    def read(self) -> bytes:
        if self.gone and self._monotonic_s() >= self._reopen_s:
            self._open()
        if self.gone:
            return b""
        self._flush()
        try:
            data = b"" if self.gone else os.read(self._fd, READ_BYTES)
        except OSError as error:
            if error.errno not in _NO_DATA:
                self._lose()
            return b""
        if not data:
            self._lose()  # with VMIN 1 an empty read is the other end hanging up, never "nothing yet"
        return data

    def write(self, data: bytes) -> None:
        if self.gone:
            raise PortError(f"{self.path} is gone")
        if len(self._waiting) + len(data) > TX_BYTES:
            raise PortError(f"{self.path} does not take more now")
        self._waiting += data
        self._flush()

    def close(self) -> None:
        """Give the tty back. Reading opens it again."""
        self._lose()

    def _flush(self) -> None:
        if not self._waiting:
            return
        try:
            del self._waiting[: os.write(self._fd, self._waiting)]
        except OSError as error:
            if error.errno not in _NO_DATA:
                self._lose()

    def _lose(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1
        self._waiting.clear()
        self._reopen_s = self._monotonic_s() + REOPEN_S

    def _open(self) -> None:
        try:
            self._fd = os.open(self.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            self._configure()
        except (OSError, termios.error):
            self._lose()

    def _configure(self) -> None:
        tty.setraw(self._fd)
        attributes = termios.tcgetattr(self._fd)
        attributes[2] |= termios.CLOCAL | termios.CREAD
        attributes[2] &= ~(termios.CSTOPB | termios.CRTSCTS)
        if self._stop_bits == 2:
            attributes[2] |= termios.CSTOPB
        attributes[4] = attributes[5] = self._speed
        attributes[6][termios.VMIN], attributes[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._fd, termios.TCSANOW, attributes)
        if self._parity != "N":
            attributes[2] |= termios.PARENB
            attributes[2] |= termios.PARODD if self._parity in "OM" else 0
            attributes[2] |= _MARK_OR_SPACE if self._parity in "MS" else 0
            try:
                termios.tcsetattr(self._fd, termios.TCSANOW, attributes)
            except termios.error as error:
                if error.args[0] != errno.EINVAL:
                    raise
        fcntl.ioctl(self._fd, termios.TIOCEXCL)


class Aes(BlockCipher):
    """AES in single blocks of 16 bytes, as MicroPython's cryptolib gives it in mode 1."""

    def __init__(self, key: bytes):
        self._cipher = Cipher(algorithms.AES(key), modes.ECB())

    def encrypt(self, block: bytes) -> bytes:
        return self._cipher.encryptor().update(block)

    def decrypt(self, block: bytes) -> bytes:
        return self._cipher.decryptor().update(block)


class BatteryClock(Protocol):
    """A clock that runs on without the board."""

    def read(self) -> int | None: ...
    def set(self, moment_s: int) -> bool: ...


class ComputerClock:
    """The computer's own clock. It is the computer's to set."""

    def read(self) -> int | None:
        """Seconds since 2000, UTC."""
        return max(0, int(time.time()) - EPOCH_2000_S)

    def set(self, moment_s: int) -> bool:
        return False


class HostBoard(Board):
    """A board made of what it is given.

    ports: name to SerialPort; games: name to pack; ticks: milliseconds, wrapped here; on_reset: called by reset(),
    which raises BoardReset if there is none; clock: read() and set(moment_s) as Board.clock_s() and set_clock(), None
    for a board without one; slots: where applications are, None for a board without any
    watchdog_feeds: how often the loop has said that it is alive
    """

    name = "host"

    def __init__(
        self,
        ports: dict,
        nvram: Nvram,
        games: dict,
        ticks: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000,
        reset_reason: str = "power",
        on_reset: Callable[[], None] | None = None,
        clock: BatteryClock | None = None,
        slots: SlotMemory | None = None,
    ):
        self.nvram = nvram
        self.slots = slots or SlotMemory()
        self.reset_reason = reset_reason
        self.watchdog_feeds = 0
        self._ports = ports
        self._games = games
        self._ticks = ticks
        self._on_reset = on_reset
        self._clock = clock

    def port(self, name: str) -> SerialPort:
        return self._ports[name]

    def ticks_ms(self) -> int:
        return self._ticks() % TICKS_PERIOD

    def feed_watchdog(self) -> None:
        self.watchdog_feeds += 1

    def aes(self, key: bytes) -> Aes:
        return Aes(key)

    def reset(self) -> None:
        if self._on_reset is None:
            raise BoardReset(0)
        self._on_reset()

    def clock_s(self) -> int | None:
        return None if self._clock is None else self._clock.read()

    def set_clock(self, moment_s: int) -> bool:
        return self._clock is not None and self._clock.set(moment_s)

    def game(self, name: str) -> bytes:
        return self._games[name]

    def games(self) -> tuple:
        return tuple(sorted(self._games))

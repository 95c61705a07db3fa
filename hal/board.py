"""The Board contract: what the firmware may ask of the computer that it runs on.

A board is what differs between this computer, QEMU and a Pico, and nothing else. The classes here are the contract
and also
its safe defaults: a port that nobody connected, a memory of no bytes, a board without ports. Every call returns at
once.
"""

TX_BYTES = 256  # what a port takes before the line has carried any of it

# ticks_ms() wraps here on every board: the highest power of two below which MicroPython needs no allocation on 32 bits.
TICKS_PERIOD = 1 << 30
_TICKS_MASK = TICKS_PERIOD - 1
_HALF_PERIOD = TICKS_PERIOD >> 1
_PIECE_BYTES = 256  # of a memory that are compared at once: a used heap may have no room for more in one piece


class PortError(Exception):
    """A port that is gone, or that cannot take the bytes now. Nothing of the refused bytes was or will be sent."""


class SerialPort:
    """A named serial line. This base class is the port that nobody connected."""

    overruns = 0  # bytes lost on receive since reset

    def read(self) -> bytes:
        """All bytes that have arrived, b"" if none. A port that is gone reads as silent."""
        return b""

    def write(self, data: bytes) -> None:
        """Queue all of `data` or nothing of it.

        PortError: it does not fit into TX_BYTES, or the port is gone.
        """
        raise PortError("not connected")


class Nvram:
    """Memory that keeps its bytes without power. This base class is a memory of no bytes.

    A fresh memory reads 0xFF. Bytes of one write land in ascending order, and power can fail between any two of them.
    """

    size = 0

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset`. ValueError: not inside the memory."""
        self.check(offset, length)
        return b""

    def write(self, offset: int, data: bytes) -> None:
        """Bytes land in ascending order. ValueError: not inside the memory, and then nothing was written."""
        self.check(offset, len(data))

    def holds(self, offset: int, data: bytes) -> bool:
        """Whether `data` is what the memory reads from `offset` on. ValueError: not inside the memory.

        A board may answer this and `same` without making copies.
        """
        for place in range(0, len(data), _PIECE_BYTES):
            piece = data[place : place + _PIECE_BYTES]
            if bytes(self.read(offset + place, len(piece))) != piece:
                return False
        return True

    def same(self, first: int, second: int, length: int) -> bool:
        """Whether `length` bytes read the same at both places. ValueError: not inside the memory."""
        return self.read(first, length) == self.read(second, length)

    def check(self, offset: int, length: int) -> None:
        """ValueError unless `length` bytes from `offset` lie inside the memory."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise ValueError("outside the NVRAM")


class SlotMemory(Nvram):
    """Memory of the application slots, apart from the NVRAM. This base class is that of a board without slots."""

    def view(self, offset: int, length: int) -> "bytes | memoryview":
        """The bytes in place: whoever writes them changes what the view shows. ValueError: not inside the memory."""
        self.check(offset, length)
        return b""


class Cipher:
    """A block cipher with its key: blocks of 16 bytes, each by itself."""

    def encrypt(self, block: bytes) -> bytes:
        raise ValueError("no cipher")

    def decrypt(self, block: bytes) -> bytes:
        raise ValueError("no cipher")


class Board:
    """A computer that can run a cabinet. Boards override what their hardware has.

    name: for the console
    nvram: the board's Nvram
    slots: its SlotMemory (firmware/update/slots.py)
    reset_reason: "power", "watchdog" or "soft"
    """

    name = "none"
    reset_reason = "power"
    nvram = Nvram()
    slots = SlotMemory()

    def port(self, name: str) -> "SerialPort":
        """The port "console", "cctalk", "note", "panel", "entropy" or "host"; KeyError if the board lacks it."""
        raise KeyError(name)

    def ticks_ms(self) -> int:
        """Milliseconds, never running backwards, 0 to TICKS_PERIOD - 1 and then 0 again."""
        return 0

    def feed_watchdog(self) -> None:
        """The loop is alive. Without this for the board's watchdog time the board resets itself."""

    def stack(self) -> tuple:
        """(bytes of stack, most of them that were ever in use since reset), () where the board cannot tell."""
        return ()

    def resident(self) -> bytes:
        """The resident program's code and constants in place, b"" where they cannot be read."""
        return b""

    def aes(self, key: bytes) -> Cipher:
        """AES with a key of 16 bytes: MicroPython's cryptolib. ValueError where the board was built without it."""
        try:
            cryptolib = __import__("cryptolib")
        except ImportError:
            cryptolib = None
        if cryptolib is None:  # not raised in the handler: the boards' native code knows no `raise from`
            raise ValueError("this board was built without cryptolib: it has no AES")
        return cryptolib.aes(key, 1)

    def reset(self) -> None:
        """Restart the firmware, reset reason "soft". Does not return on a real board."""

    def clock_s(self) -> "int | None":
        """What the battery-backed clock shows: seconds since 2000-01-01 00:00:00 UTC. None: the board has no such clock,
        or it stood still, or it was never set. May take a millisecond: ask rarely, and count with the ticks in between."""
        return

    def set_clock(self, moment_s: int) -> bool:
        """Sets it. False: there is no clock that keeps the time without power."""
        return False

    def game(self, name: str) -> bytes:
        """The pack of a game, read in place where the board can. KeyError if there is none of that name."""
        raise KeyError(name)

    def games(self) -> tuple:
        """Names of the games on this board, sorted."""
        return ()


def ticks_diff(newer: int, older: int) -> int:
    """Milliseconds from `older` to `newer`, both from ticks_ms(); negative if `newer` is the earlier one.

    Right as long as the two lie less than half a period (six days) apart. No intermediate value leaves 31 bits.
    """
    diff = (newer - older) & _TICKS_MASK
    return diff if diff < _HALF_PERIOD else diff - _TICKS_MASK - 1


class Clock:
    """Turns ticks that wrap into milliseconds since the first reading, which do not: the `now_ms` of every poll."""

    def __init__(self):
        self._ticks = 0
        self._now_ms = -1  # no reading yet

    def now(self, ticks: int) -> int:
        """`now_ms` for a reading of ticks_ms(). Never decreases: a reading from the past repeats the last answer."""
        if self._now_ms < 0:
            self._now_ms = 0
            self._ticks = ticks
            return 0
        passed_ms = ticks_diff(ticks, self._ticks)
        if passed_ms > 0:
            self._now_ms += passed_ms
            self._ticks = ticks
        return self._now_ms

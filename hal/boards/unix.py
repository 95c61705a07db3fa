"""The board "unix": MicroPython's unix port, in lockstep with a rig that owns time, lines and NVRAM.

The rig starts the process, with this folder's packs and the names of the ports as arguments, and talks to it over
standard input and output. Nothing here reads a clock: the board turns once for each message of the rig, so that hours
of a cabinet pass in seconds and every run can be repeated. All numbers are little endian.

    rig -> board   turn     u32 now_ms | per port: u16 room, u16 n, n bytes that have arrived
    board -> rig   "N"      u32 offset, u16 n, n bytes: written to NVRAM
                   "C"      u32 seconds since 2000: the battery-backed clock was set
                   "R"      the firmware has reset the board; the process ends
                   "E"      end of the turn | per port: u16 n, n bytes that were written to it

`room` is what the port's transmitter takes in this turn. The ports come in the order of the arguments. The first message of
the rig is longer: u32 size of the NVRAM and its bytes, u8 reset reason (0 power, 1 watchdog, 2 soft), u32 what
the battery-backed clock shows (seconds since 2000, NO_CLOCK when it has lost the time), then a turn that builds the
cabinet and does not poll it yet. The process ends when standard input does.

A power cut behind any byte of NVRAM: the rig takes the messages in their order, lets as many bytes of an "N" land as it
wants, kills the process, and looks at nothing more of what it said. What the firmware did behind that write was still
on its way to the rig and so never happened: its later writes and all that the turn gave to the ports (in the rig's time
no bit of it has left the transmitter). So a write need not wait for an answer, and a turn is one exchange.
"""

import os
import struct
import sys

from hal.board import TICKS_PERIOD, Board, Nvram, PortError, SerialPort

RX_BYTES = 1024  # a port holds so much that the firmware has not read; more is lost and counted
OUT_BYTES = 4096  # said so far in a turn, before it is handed to the rig
NO_CLOCK = 0xFFFFFFFF
WRITTEN, CLOCK_SET, RESET, END = b"NCRE"  # kinds of messages
REASONS = ("power", "watchdog", "soft")


class LockstepPort(SerialPort):
    """A port whose bytes come with one message of the rig and leave with the next of the board."""

    def __init__(self):
        self.overruns = 0
        self.room = 0
        self.written = bytearray()
        self._arrived = b""

    def read(self) -> bytes:
        data = self._arrived
        self._arrived = b""
        return data

    def write(self, data: bytes) -> None:
        if len(self.written) + len(data) > self.room:
            raise PortError("port does not take more now")
        self.written.extend(data)

    def arrive(self, data: bytes) -> None:
        """Bytes from the line; the firmware reads them when it likes."""
        kept = data[: RX_BYTES - len(self._arrived)]
        self.overruns += len(data) - len(kept)
        self._arrived += kept


class LockstepNvram(Nvram):
    """A copy of the memory that the rig holds. Every write is told to the rig as it is done."""

    def __init__(self, memory: bytearray, wire):
        self.size = len(memory)
        self._memory = memory
        self._wire = wire

    def read(self, offset: int, length: int) -> bytes:
        self.check(offset, length)
        return bytes(memoryview(self._memory)[offset : offset + length])

    def write(self, offset: int, data: bytes) -> None:
        self.check(offset, len(data))
        view = memoryview(data)
        for first in range(0, len(data), OUT_BYTES):
            part = view[first : first + OUT_BYTES]
            self._memory[offset + first : offset + first + len(part)] = part
            self._wire.say(struct.pack("<BIH", WRITTEN, offset + first, len(part)), bytes(part))


class Wire:
    """Messages from and to the rig."""

    def __init__(self):
        self._in = sys.stdin.buffer
        self._out = sys.stdout.buffer
        self._said = bytearray()

    def hear(self, length: int) -> bytes:
        """The next `length` bytes. EOFError: the rig is gone."""
        data = self._in.read(length) if length else b""
        if len(data) < length:
            raise EOFError
        return data

    def number(self, layout: str) -> int:
        """The next number, as struct lays it out."""
        return struct.unpack(layout, self.hear(struct.calcsize(layout)))[0]

    def say(self, head: bytes, data=b"") -> None:
        """Part of a message."""
        self._said.extend(head)
        self._said.extend(data)
        if len(self._said) >= OUT_BYTES:
            self.flush()

    def flush(self) -> None:
        """All that was said is on its way to the rig."""
        view = memoryview(self._said)
        while view:
            view = view[self._out.write(view) :]
        self._said = bytearray()


class LockstepBoard(Board):
    """The board that a rig turns. `folder` holds a file <game>.pack for each game."""

    name = "unix"

    def __init__(self, folder: str, ports):
        self._folder = folder
        self._wire = Wire()
        self._ports = {name: LockstepPort() for name in ports}
        self._in_order = [self._ports[name] for name in ports]
        self._now_ms = 0
        self.nvram = LockstepNvram(bytearray(self._wire.hear(self._wire.number("<I"))), self._wire)
        self.reset_reason = REASONS[self._wire.number("<B")]
        self._clock_s = self._wire.number("<I")  # what it showed at `_clock_ms`
        self._clock_ms = 0

    def port(self, name: str) -> SerialPort:
        return self._ports[name]

    def ticks_ms(self) -> int:
        return self._now_ms % TICKS_PERIOD

    def clock_s(self) -> "int | None":
        if self._clock_s == NO_CLOCK:
            return None
        return self._clock_s + (self._now_ms - self._clock_ms) // 1000

    def set_clock(self, moment_s: int) -> bool:
        self._clock_s, self._clock_ms = moment_s, self._now_ms
        self._wire.say(struct.pack("<BI", CLOCK_SET, moment_s))
        return True

    def reset(self) -> None:
        self._wire.say(bytes([RESET]))
        self._wire.flush()
        sys.exit(0)

    def game(self, name: str) -> bytes:
        if name not in self.games():
            raise KeyError(name)
        with open(self._folder + "/" + name + ".pack", "rb") as file:
            return file.read()

    def games(self) -> tuple:
        return tuple(sorted([name[:-5] for name in os.listdir(self._folder) if name.endswith(".pack")]))

    def begin_turn(self) -> int:
        """Waits for the rig's next turn, takes what arrived with it, and returns its `now_ms`."""
        self._now_ms = self._wire.number("<I")
        for port in self._in_order:
            port.room = self._wire.number("<H")
            length = self._wire.number("<H")
            if length:
                port.arrive(self._wire.hear(length))
        return self._now_ms

    def end_turn(self) -> None:
        """Hands over what was written."""
        self._wire.say(bytes([END]))
        for port in self._in_order:
            self._wire.say(struct.pack("<H", len(port.written)), bytes(port.written))
            port.written = bytearray()
        self._wire.flush()


def lockstep(make_cabinet) -> None:
    """Runs `make_cabinet(board)` and then a `poll(now_ms)` of it for each turn, until the rig closes the line.

    Arguments of the process: the folder of the packs, then the names of the ports.
    """
    try:
        board = LockstepBoard(sys.argv[1], sys.argv[2:])
        board.begin_turn()
        cabinet = make_cabinet(board)
        while True:
            board.end_turn()
            cabinet.poll(board.begin_turn())
    except EOFError:
        pass

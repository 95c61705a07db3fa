"""Serial lines between a board and its devices: in memory with a virtual clock, or over a pty in real time.

Ten bit times a byte (8N1), eleven with two stop bits, first in first out each way. A byte is handed over at its end. On a line
with `echo` (ccTalk, section 1.1: one open-collector wire) the board hears every byte it sends, and every device hears
the board and the other devices. Two senders at once are not mixed into one level; their bytes interleave, which
either end reads as garbage.
"""

import heapq
import os
import pty
import select
import time
import tty
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final

from hal.board import PortError
from host_tools.hil.device import NEVER, Device
from host_tools.hil.faults import Value
from host_tools.hil.line_faults import LineFaults

TX_BYTES: Final = 256  # what a board's port queues (Board contract)
RX_BYTES: Final = 1024  # what it holds until it is read; more are lost and counted
_BOARD: Final = -1
_LATE: Final = -2


class PortFull(PortError):
    """The board wrote more than its port can queue; nothing of that write was taken."""


class Port:
    """The board's end of a line: the SerialPort of the Board contract."""

    def __init__(self, line: "Line") -> None:
        self._line = line
        self._arrived = bytearray()
        self.overruns = 0  # bytes lost on receive since reset

    def read(self) -> bytes:
        """All bytes that have arrived, b"" if none."""
        if not self._arrived:
            return b""
        data = bytes(self._arrived)
        self._arrived.clear()
        return data

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Queues bytes; they leave one after another at the line's baud. Errors: PortFull, and nothing is queued."""
        self._line.board_sends(bytes(data))

    def take(self, byte: int) -> None:
        """Called by the line: one byte has arrived."""
        if len(self._arrived) < RX_BYTES:
            self._arrived.append(byte)
        else:
            self.overruns += 1

    def reset(self) -> None:
        """The board was reset: its receive buffer and counter start anew."""
        self._arrived.clear()
        self.overruns = 0


class Tap:
    """One device's connection (see `device.Wire`)."""

    def __init__(self, line: "Line", index: int) -> None:
        self.line = line
        self._index = index
        self.free_ns = 0

    @property
    def now_us(self) -> int:
        return self.line.now_us

    @property
    def byte_us(self) -> float:
        return self.line.byte_ns / 1000

    def send(self, data: bytes, delay_us: int = 0) -> None:
        line = self.line
        self.free_ns = line.launch(self._index, data, max(line.now_ns + delay_us * 1000, self.free_ns))

    def cut(self) -> None:
        self.line.forget(self._index)
        self.free_ns = 0


class Line:
    """A line in memory. Same calls, same seed, same bytes at the same microseconds."""

    def __init__(self, name: str, baud: int, echo: bool = False, *, seed: int = 0, stop_bits: int = 1) -> None:
        self.name = name
        self.baud = baud
        self.echo = echo
        self.byte_ns: Final = (9 + stop_bits) * 1_000_000_000 // baud
        self.now_us = 0
        self.now_ns = 0
        self.port = Port(self)
        self.devices: list[Device] = []
        self._faults = LineFaults(name, seed)
        self._flight: list[tuple[int, int, int, int]] = []  # (at ns, order, source, byte)
        self._order = 0
        self._board_free_ns = 0
        self._board_pending = 0
        self._late = 0  # bytes that a fault holds back
        self._late_ns = 0  # when the last of them arrives
        self._chunk_left = 0
        self._rig_tap = Tap(self, 1 << 16)  # Line.send: a sender that is no device

    def attach(self, device: Device) -> None:
        """Connects a device; the first attached hears each byte first."""
        self.devices.append(device)
        device.attached(Tap(self, len(self.devices) - 1))

    def detach(self, device: Device) -> None:
        """Takes away the device that was attached last. Errors: ValueError for another one: a tap's place is its number."""
        if not self.devices or self.devices[-1] is not device:
            raise ValueError(f"line {self.name}: {device.name} is not the device that was attached last")
        self.devices.pop()

    def send(self, data: bytes, delay_us: int = 0) -> None:
        """Bytes towards the board from outside any device; every device on a bus hears them."""
        self._rig_tap.send(data, delay_us)

    def advance(self, now_us: int) -> None:
        """Moves bytes and polls devices up to `now_us`. Errors: ValueError when time would run backwards."""
        if now_us < self.now_us:
            raise ValueError(f"line {self.name}: time runs backwards, from {self.now_us} to {now_us} us")
        flight = self._flight
        if not flight or flight[0][0] > now_us * 1000:
            for device in self.devices:
                if device.wake_us <= now_us:
                    break
            else:
                self.now_us = now_us
                self.now_ns = now_us * 1000
                return
        self._run(now_us)

    def next_us(self) -> int:
        """When something happens next by itself, NEVER if nothing will; lets a simulation skip idle time."""
        soonest = min((device.wake_us for device in self.devices), default=NEVER)
        return min(soonest, -(-self._flight[0][0] // 1000)) if self._flight else soonest

    def fault(self, kind: str, *args: Value) -> None:
        """A fault of the line (`line_faults.LINE_FAULTS`). Errors: ValueError lists the known kinds."""
        values = self._faults.set(kind, args)
        if kind == "garbage" and values[1] == "rx":
            self.send(self._faults.garbage(int(values[0])))
        elif kind == "garbage":
            data = self._faults.garbage(int(values[0]))
            self._board_free_ns = self.launch(_BOARD, data, max(self.now_ns, self._board_free_ns))
            self._board_pending += len(data)

    @property
    def faulty(self) -> bool:
        """A fault is waiting for bytes, or lasts until it is cleared."""
        return self._faults.lasting

    @property
    def was_faulty(self) -> bool:
        """There was a fault, now or earlier."""
        return self._faults.ever

    def clear(self) -> None:
        """The line is good again: bytes that it held back come one after another, as fast as it can."""
        self._faults.clear()
        at_ns = self.now_ns
        flight = self._flight
        for place, (due_ns, order, source, byte) in enumerate(sorted(flight)):
            if source == _LATE:
                due_ns = at_ns = min(due_ns, at_ns + self.byte_ns)
            flight[place] = (due_ns, order, source, byte)
        heapq.heapify(flight)
        self._late_ns = min(self._late_ns, at_ns)

    def board_reset(self) -> None:
        """The board lost power or was reset: what it had queued or not yet read is gone."""
        self.forget(_BOARD)
        self._board_free_ns = 0
        self._board_pending = 0
        self.port.reset()

    @property
    def room(self) -> int:
        """Bytes that the board's port takes now."""
        return TX_BYTES - self._board_pending

    def board_sends(self, data: bytes) -> None:
        """Called by the port. Errors: PortFull."""
        if self._board_pending + len(data) > TX_BYTES:
            raise PortFull(f"line {self.name}: {self._board_pending} + {len(data)} bytes, room for {TX_BYTES}")
        self._board_pending += len(data)
        self._board_free_ns = self.launch(_BOARD, data, max(self.now_ns, self._board_free_ns))

    def launch(self, source: int, data: bytes, start_ns: int) -> int:
        """Puts bytes in flight from `start_ns` on; returns when the last has left."""
        for byte in data:
            start_ns += self.byte_ns
            self._order += 1
            heapq.heappush(self._flight, (start_ns, self._order, source, byte))
        return start_ns

    def forget(self, source: int) -> None:
        """Takes one sender's bytes out of flight."""
        self._flight[:] = [entry for entry in self._flight if entry[2] != source]
        heapq.heapify(self._flight)

    def _run(self, now_us: int) -> None:
        now_ns = now_us * 1000
        flight, devices, faults, pop = self._flight, self.devices, self._faults, heapq.heappop
        take = self.port.take
        while True:
            at_ns = flight[0][0] if flight else NEVER
            due: Device | None = None
            for device in devices:
                wake_us = device.wake_us
                if 0 < wake_us <= now_us and wake_us * 1000 <= at_ns:
                    at_ns, due = wake_us * 1000, device
            if at_ns > now_ns:
                break
            if at_ns > self.now_ns:
                self.now_ns = at_ns
                self.now_us = at_ns // 1000
            if due is None:
                _, _, source, byte = pop(flight)
                if faults.active or self._late:
                    self._deliver(source, byte)
                elif source == _BOARD or self.echo:
                    self._pass(source, byte)
                else:
                    self._late_ns = self.now_ns
                    take(byte)
            else:
                wake_us = due.wake_us
                due.poll(self.now_us)
                if due.wake_us == wake_us:
                    raise RuntimeError(f"{due.name} was polled at its wake time {wake_us} us and did not move it")
        self._set_time(now_ns)
        for device in self.devices:
            if not device.wake_us:
                device.poll(now_us)

    def _set_time(self, at_ns: int) -> None:
        if at_ns > self.now_ns:
            self.now_ns = at_ns
            self.now_us = at_ns // 1000

    def _pass(self, source: int, byte: int) -> None:
        """As _deliver, of what a device hears, on a line without a fault, which nearly all bytes find."""
        now_us = self.now_us
        if source == _BOARD:
            self._board_pending -= 1
            for device in self.devices:
                device.receive(byte, now_us)
        else:
            for index, device in enumerate(self.devices):
                if index != source:
                    device.receive(byte, now_us)
        if self.echo:
            self._late_ns = self.now_ns
            self.port.take(byte)

    def _deliver(self, source: int, byte: int) -> None:
        faults = self._faults
        if source == _LATE:
            self._late -= 1
            self.port.take(byte)
        elif source == _BOARD:
            self._board_pending -= 1
            for heard in faults.pass_byte(byte, "tx") if faults.active else (byte,):
                for device in self.devices:
                    device.receive(heard, self.now_us)
            if self.echo:
                for heard in faults.pass_echo(byte) if faults.active else (byte,):
                    self._to_board(heard)
        else:
            if self.echo:
                for index, device in enumerate(self.devices):
                    if index != source:
                        device.receive(byte, self.now_us)
            for heard in faults.pass_byte(byte, "rx") if faults.active else (byte,):
                self._to_board(heard)

    def _to_board(self, byte: int) -> None:
        """Arrival at the board; a delay or a chunk gap holds the byte back, and later ones never overtake it."""
        faults = self._faults
        at_ns = self.now_ns + faults.delay_ns
        if faults.chunk:
            if not self._chunk_left or at_ns > self._late_ns + faults.gap_ns:
                self._chunk_left = faults.chunk
                at_ns = max(at_ns, self._late_ns + faults.gap_ns)
            self._chunk_left -= 1
        at_ns = self._late_ns = max(at_ns, self._late_ns)
        if at_ns <= self.now_ns and not self._late:
            self.port.take(byte)
        else:
            self._late += 1
            self._order += 1
            heapq.heappush(self._flight, (at_ns, self._order, _LATE, byte))


class PtyLine(Line):
    """The same line with a pty as the board's end, in real time: `path` is what the other process opens.

    A pty has no baud and no parity; this end paces the bytes as a UART would. The slave descriptor stays open here,
    else the master would read EIO whenever the other side closes.
    """

    def __init__(self, name: str, baud: int, echo: bool = False, *, seed: int = 0, stop_bits: int = 1) -> None:
        super().__init__(name, baud, echo, seed=seed, stop_bits=stop_bits)
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.path = os.ttyname(self._slave)
        self._unsent = b""
        self._started_ns = time.monotonic_ns()

    def real_us(self) -> int:
        """Microseconds since the line was made: the clock of `advance`."""
        return (time.monotonic_ns() - self._started_ns) // 1000

    def advance(self, now_us: int | None = None) -> None:
        """Moves bytes and devices up to now, takes what the other process wrote, hands over what has arrived."""
        now_us = self.real_us() if now_us is None else now_us
        super().advance(max(now_us, self.now_us))
        room = self.room
        if room > 0:  # after the clock has moved on: these bytes leave from now on, not from the last turn
            try:
                data = os.read(self._master, room)
            except BlockingIOError:
                data = b""
            if data:
                self.board_sends(data)
        if len(self._unsent) < RX_BYTES:
            self._unsent += self.port.read()
        if self._unsent:
            with suppress(BlockingIOError):  # nobody reads at the other end; the port counts what it must drop
                self._unsent = self._unsent[os.write(self._master, self._unsent) :]

    def serve(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Runs the line for `seconds` or until `until()`, whose last answer it returns. Sleeps while nothing is due."""
        end = time.monotonic() + seconds
        while True:
            self.advance()
            if until():
                return True
            left = end - time.monotonic()
            if left <= 0:
                return False
            due = (self.next_us() - self.real_us()) / 1e6
            listen = [self._master] if self._board_pending < TX_BYTES else []
            select.select(listen, [], [], max(0.0005, min(left, due, 0.02)))

    def close(self) -> None:
        """Closes the pty."""
        for fd in (self._master, self._slave):
            os.close(fd)

    def __enter__(self) -> "PtyLine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

"""The far end of a line: what every device model has in common, and an agenda that lets idle models cost nothing."""

import heapq
from collections.abc import Callable
from typing import ClassVar, Protocol

from host_tools.hil.faults import FaultSpec, Value, resolve

NEVER = 1 << 62  # a time in microseconds that no run reaches (146,000 years)


class Wire(Protocol):
    """A device's own connection to its line. `free_ns`: when the last byte that it sent has left."""

    free_ns: int

    @property
    def now_us(self) -> int:
        """Virtual time of the line, microseconds."""
        ...

    @property
    def byte_us(self) -> float:
        """Time of one byte (start, eight data, stop bit), microseconds."""
        ...

    def send(self, data: bytes, delay_us: int = 0) -> None:
        """Bytes towards the board; the first starts `delay_us` from now, after whatever this device still sends."""
        ...

    def cut(self) -> None:
        """Forget what has not left yet: the sender lost its power."""
        ...


class Device:
    """Base of a model. `wake_us` tells the line when `poll` is due: 0 = at every advance, NEVER = not at all."""

    FAULTS: ClassVar[dict[str, FaultSpec]] = {}
    name: str = "device"
    wake_us: int = 0
    line: Wire | None = None

    def attached(self, line: Wire) -> None:
        """Remembers the line; a device answers with `line.send(data, delay_us)`."""
        self.line = line

    def receive(self, byte: int, now_us: int) -> None:
        """One byte from the line, at the end of its stop bit. On a bus also bytes that are meant for others."""

    def poll(self, now_us: int) -> None:
        """Lets time pass."""

    def power(self, on: bool, now_us: int) -> None:
        """Mains of the cabinet."""

    def fault(self, kind: str, *args: Value) -> None:
        """Something breaks. Errors: ValueError lists the known kinds."""
        resolve(self.name, self.FAULTS, kind, args)

    def clear(self) -> None:
        """Whatever was broken works again (a technician has been)."""


class Model(Device):
    """A device with an agenda: actions at given times. It starts without mains; `power(True, now)` brings it up."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.wake_us = NEVER
        self.on = False
        self._agenda: list[tuple[int, int, Callable[[int], None]]] = []
        self._entries = 0

    @property
    def now_us(self) -> int:
        """Time of the line, 0 when the model is not attached."""
        return self.line.now_us if self.line is not None else 0

    def at(self, when_us: int, action: Callable[[int], None]) -> None:
        """Calls `action(when_us)` when the time has come; entries of equal time run in the order they were made."""
        self._entries += 1
        heapq.heappush(self._agenda, (when_us, self._entries, action))
        self.wake_us = self._agenda[0][0]

    def cancel(self, action: Callable[[int], None] | None = None) -> None:
        """Strikes an action off the agenda, or everything."""
        self._agenda = [] if action is None else [entry for entry in self._agenda if entry[2] != action]
        heapq.heapify(self._agenda)
        self.wake_us = self._agenda[0][0] if self._agenda else NEVER

    def poll(self, now_us: int) -> None:
        """Runs what is due, each entry with its own time."""
        while self._agenda and self._agenda[0][0] <= now_us:
            when_us, _, action = heapq.heappop(self._agenda)
            self.wake_us = self._agenda[0][0] if self._agenda else NEVER
            action(when_us)

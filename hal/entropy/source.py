"""What every driver of a hardware random generator has in common: a bounded store, requests, events.

The contract (hal/README.md): whoever wants bytes asks for a number of them, waits until available() has them, and takes
them. A driver hands out only bytes that have arrived after they were asked for, and none from before its device fell
silent or was plugged in anew. It does not judge them: health tests are the firmware's business.
"""

from ..board import PortError
from ..events import EventSource

CAPACITY_BYTES = 256  # stored and requested together
TIMEOUT_MS = 500  # from a request to its last byte
EVENTS = 8


class EntropySource(EventSource):
    """The part that does not depend on the protocol. It starts offline, silently.

    online: the device gives what it is asked for
    timeouts, stray_bytes, port_faults: counters since the start; stray are bytes that arrived and were not stored
    """

    def __init__(self, port):
        EventSource.__init__(self, EVENTS)
        self.online = False
        self.timeouts = 0
        self.stray_bytes = 0
        self.port_faults = 0
        self._port = port
        self._store = bytearray(CAPACITY_BYTES)
        self._stored = 0
        self._wanted = 0  # requested by the firmware, not yet stored

    def request(self, number: int) -> bool:
        """Ask for `number` more bytes (1 to 256). False: with what is stored and requested that is more than 256."""
        if not 1 <= number <= CAPACITY_BYTES:
            raise ValueError("1 to 256 bytes")
        if self._stored + self._wanted + number > CAPACITY_BYTES:
            return False
        self._wanted += number
        return True

    def cancel(self) -> None:
        """Nothing is wanted any more; what is stored is wiped, what is on its way will be thrown away."""
        self._wanted = 0
        self._wipe()

    def available(self) -> int:
        """How many bytes take() can hand out."""
        return self._stored

    def take(self, number: int) -> bytes:
        """Hand out `number` bytes and wipe them here. ValueError: fewer are available (never a short answer)."""
        if not 0 <= number <= self._stored:
            raise ValueError("fewer bytes available")
        taken = bytes(self._store[:number])
        rest = self._stored - number
        self._store[:rest] = self._store[number : self._stored]
        self._store[rest : self._stored] = bytes(number)
        self._stored = rest
        return taken

    def poll(self, now_ms: int) -> None:
        """Take what has arrived, give up what is late, ask for what is wanted."""
        raise NotImplementedError

    def _keep(self, data: bytes | bytearray) -> None:
        """Stores as many of these bytes as are wanted; the rest are stray."""
        number = min(len(data), self._wanted)
        self._store[self._stored : self._stored + number] = data[:number]
        self._stored += number
        self._wanted -= number
        self.stray_bytes += len(data) - number

    def _wipe(self) -> None:
        self._store[: self._stored] = bytes(self._stored)
        self._stored = 0

    def _write(self, data: bytes) -> None:
        try:
            self._port.write(data)
        except PortError:
            self.port_faults += 1  # the time-out that follows reports it

    def _set_online(self, online: bool) -> None:
        if online != self.online:
            self.online = online
            self._tell(("online",) if online else ("offline",))

    def _tell(self, event: tuple) -> None:
        """Queue an event. When nobody takes them the state is still right in `online`, so the queue may stay full."""
        if self._events.room():
            self._events.push(event)

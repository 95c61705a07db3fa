"""A hardware random number generator that is asked for bytes (the request and status shape of TectroLabs devices).

    host    'x' [count low] [count high]            count 1 to 64 here
    device  count bytes, then one status byte       0: its own health tests pass

Bytes that come with another status, or in a wrong number, or late, are never handed out. The driver does not judge
the bytes: health tests are the firmware's business.
"""

from ..board import PortError
from ..events import EventQueue

CAPACITY_BYTES = 256  # stored and requested together
REQUEST_BYTES = 64
TIMEOUT_MS = 1000  # for a whole answer
SILENCE_MS = 200  # after which nothing of an older request is on its way any more
UNHEALTHY_PAUSE_MS = 1000
EVENTS = 8

_REQUEST = 0x78


class EntropySource:
    """The generator behind `port`. It starts offline, silently, and is asked nothing before the first request().

    online: the last request was answered in time
    timeouts, stray_bytes, port_faults: counters since the start
    """

    def __init__(self, port):
        self.online = False
        self.timeouts = 0
        self.stray_bytes = 0
        self.port_faults = 0
        self._port = port
        self._events = EventQueue(EVENTS)
        self._store = bytearray(CAPACITY_BYTES)
        self._stored = 0
        self._wanted = 0  # requested by the firmware, not yet stored
        self._asked = 0  # bytes of the request on the line, 0: none
        self._answer = bytearray(REQUEST_BYTES + 1)
        self._arrived = 0
        self._deadline_ms = 0
        self._draining = True
        self._quiet_ms = None  # since when the line is silent
        self._resume_ms = 0

    def event(self):
        """The oldest event or None; it stays until booked()."""
        return self._events.peek()

    def booked(self) -> None:
        """The firmware has taken notice of the oldest event."""
        self._events.pop()

    def request(self, number: int) -> bool:
        """Ask for `number` more bytes (1 to 256). False: with what is stored and requested that is more than 256."""
        if not 1 <= number <= CAPACITY_BYTES:
            raise ValueError("1 to 256 bytes")
        if self._stored + self._wanted + number > CAPACITY_BYTES:
            return False
        self._wanted += number
        return True

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
        arrived = self._port.read()
        if self._draining:
            self._drain(arrived, now_ms)
        else:
            self._collect(arrived, now_ms)
        if self._asked and now_ms >= self._deadline_ms:
            self._time_out(now_ms)
        if self._wanted and not self._asked and not self._draining and now_ms >= self._resume_ms:
            self._ask(now_ms)

    def _drain(self, arrived: bytes, now_ms: int) -> None:
        """Throw away what belongs to an older request, until the line has been silent."""
        self.stray_bytes += len(arrived)
        if arrived or self._quiet_ms is None:
            self._quiet_ms = now_ms
        elif now_ms - self._quiet_ms >= SILENCE_MS:
            self._draining = False

    def _collect(self, arrived: bytes, now_ms: int) -> None:
        """More bytes than were asked for make the whole answer worthless: it cannot be told which of them are ours."""
        if not arrived:
            return
        expected = self._asked + 1 if self._asked else 0
        if self._arrived + len(arrived) > expected:
            self.stray_bytes += self._arrived + len(arrived)
            self._start_draining(now_ms)
            return
        self._answer[self._arrived : self._arrived + len(arrived)] = arrived
        self._arrived += len(arrived)
        if self._arrived == expected:
            self._finish(now_ms)

    def _finish(self, now_ms: int) -> None:
        number, status = self._asked, self._answer[self._asked]
        if not self.online:
            self.online = True
            self._tell(("online",))
        if status == 0:
            self._store[self._stored : self._stored + number] = self._answer[:number]
            self._stored += number
            self._wanted -= number
        else:
            self._tell(("unhealthy", status))
            self._resume_ms = now_ms + UNHEALTHY_PAUSE_MS
        self._forget_answer()

    def _ask(self, now_ms: int) -> None:
        number = min(self._wanted, REQUEST_BYTES)
        self._asked = number
        self._deadline_ms = now_ms + TIMEOUT_MS
        try:
            self._port.write(bytes((_REQUEST, number & 0xFF, number >> 8)))
        except PortError:
            self.port_faults += 1  # the timeout that follows reports it

    def _time_out(self, now_ms: int) -> None:
        self.timeouts += 1
        self.stray_bytes += self._arrived
        self._start_draining(now_ms)
        if self.online:
            self.online = False
            self._tell(("offline",))

    def _start_draining(self, now_ms: int) -> None:
        self._draining = True
        self._quiet_ms = now_ms
        self._forget_answer()

    def _forget_answer(self) -> None:
        for place in range(self._arrived):
            self._answer[place] = 0
        self._asked = 0
        self._arrived = 0

    def _tell(self, event: tuple) -> None:
        """Queue an event. When nobody takes them the state is still right in `online`, so the queue may stay full."""
        if self._events.room():
            self._events.push(event)

"""What every ccTalk device driver does: find its device, ask one thing after another, notice when it is gone.

A driver is a chain of small methods. Each ends by asking the device something (`_ask`) or by waiting (`_pause`), and
names the method that goes on from there. So the order on the line can be read from top to bottom, and nothing ever
waits inside a call.
"""

from ..driver import Driver
from .bus import IDEMPOTENT, OK, ONCE, UNKNOWN

EVENTS = 16
ROOM = 8  # no driver makes more events than this between two pauses
OFFLINE_MS = 1000  # unanswered for longer than this: offline
PROBE_MS = 500  # between two attempts to find a device

SIMPLE_POLL = 254
SERIAL_NUMBER = 242


def _nothing(answer) -> None:
    """Before the first request."""


class Device(Driver):
    """A device at `address`, first spoken to `settle_ms` after power on: the loop's time begins not before, so what a board's
    start took counts.

    crc: checksum mode in which it answers; both are tried until one does
    """

    def __init__(self, bus, address: int, settle_ms: int):
        Driver.__init__(self, EVENTS, self._settle)
        self.crc = False
        self._bus = bus
        self._address = address
        self._transaction = bus.transaction(address)
        self._then = _nothing
        self._otherwise = _nothing
        self._settle_ms = settle_ms
        self._heard_ms = 0
        self._lost = False  # it went offline: whatever step comes next, it is identified first

    def retire(self) -> None:
        """The cabinet has another device in its place now: this driver is not to be polled any more."""
        self._bus.release(self._transaction)

    def poll(self, now_ms: int) -> None:
        """Go on from where the device or the time has come. A driver whose events nobody takes asks nothing more."""
        self._now_ms = now_ms
        if self._transaction.done:
            status, answer = self._transaction.take()
            then, otherwise = self._then, self._otherwise
            if status != UNKNOWN:
                self._heard_ms = now_ms
            elif now_ms - self._heard_ms > OFFLINE_MS:
                self._go_offline()
            if status == OK:
                then(answer)
            else:
                otherwise(status)
        elif self._timer is not None and now_ms >= self._wake_ms and self._events.room() >= ROOM:
            timer, self._timer = self._timer, None
            if self._lost:
                timer = self._identify
            timer()

    def _ask(
        self,
        header: int,
        then,
        data: bytes = b"",
        repeats: int = IDEMPOTENT,
        shortest: int = 0,
        longest: int = 255,
        otherwise=None,
        after_gap: bool = False,
    ) -> None:
        """Send a request; go on with `then(answer)` when it was answered, else with `otherwise(status)`.

        Without `otherwise` the device is searched for anew.
        """
        self._then = then
        self._otherwise = otherwise or self._search
        self._transaction.start(header, data, repeats, shortest, longest, self.crc, after_gap=after_gap)

    def _settle(self) -> None:
        self._pause(max(0, self._settle_ms - self._now_ms), self._identify)

    def _search(self, status: int) -> None:
        self._pause(PROBE_MS, self._identify)

    def _identify(self) -> None:
        """Simple poll (header 254). A device that is silent in one checksum mode is tried in the other next."""
        self._lost = False
        self._ask(SIMPLE_POLL, self._found, repeats=ONCE, otherwise=self._not_found, after_gap=True)

    def _not_found(self, status: int) -> None:
        if status == UNKNOWN:
            self.crc = not self.crc
        self._search(status)

    def _found(self, answer: bytes) -> None:
        """Serial number (header 242): three bytes, least significant first, from some vendors more, from some none."""
        self._ask(SERIAL_NUMBER, self._got_serial, otherwise=self._no_serial)

    def _no_serial(self, status: int) -> None:
        if status == UNKNOWN:
            self._search(status)
        else:
            self._got_serial(b"")

    def _got_serial(self, answer: bytes) -> None:
        self.serial = int.from_bytes(answer, "little")
        self._begin()

    def _begin(self) -> None:
        """The device answers and its serial number is known: a driver goes on from here."""
        self._come_online()

    def _go_offline(self) -> None:
        self._lost = self._lost or self.online
        Driver._go_offline(self)

"""ccTalk coin acceptor: credits exactly once, by the device's own event counter (header 229).

The acceptor numbers its events 1 to 255 and then 1 again; 0 means that it was reset and has had none since. It shows
the last five, and reading does not consume them. The driver remembers the number of the last event that the firmware
has committed, which the firmware keeps in NVRAM in the same record as the credit, and hands over what came after it,
one by one.

| counter now, last | meaning |
|---|---|
| equal | nothing new |
| 1 to 5 further | that many new events, the newest first in the answer |
| more than 5 further, inhibit mask still set | more than it can show: ("coins_lost", ...) and the five shown |
| more than 5 further, inhibit mask zero | reset with new events since: as 0, then as many events as the counter says |
| 0, last not 0 or just identified | reset: ("device_reset", accepted); masks are volatile and are set again |
| 0, last 0 | nothing yet |

A reset wipes the five events, and a coin may have gone with them. `accepted` is the acceptor's lifetime count of coins
(header 225), which survives it: the firmware compares it with what it has booked. -1 where the acceptor keeps none.
("coins_lost", counter, events, accepted) carries the count as it stood before the five that are shown, for the same
comparison: the lost events may have been coins or refusals.

A coin is booked by its id (`GB100A`), never by its position. A coin that was accepted although its position is not
programmed, or its id is not in `values`, is ("coin_error", counter, UNKNOWN_COIN + position): swallowed, and worth
nothing known.
"""

from .bus import IDEMPOTENT, OK, STATE, UNKNOWN
from .device import Device

SETTLE_MS = 250  # an acceptor may not be spoken to earlier after power on
POLL_MS = 200
CHECK_MS = 5000  # how often the inhibit mask is read back
COINS = 16
SHOWN_EVENTS = 5
MASK_TRIES = 3
JUMP_TRIES = 3
COUNT_MODULUS = 1 << 24  # of header 225
ROUTE_TRIES = 3

UNKNOWN_COIN = 256  # error codes of the device are bytes; from here on they are the driver's

_MODIFY_INHIBIT = 231
_REQUEST_INHIBIT = 230
_READ_EVENTS = 229
_SORTER_PATH = 210
_MASTER_INHIBIT = 228
_ACCEPT_COUNTER = 225
_COIN_ID = 184

_INHIBITED = b"\x00"
_ENABLED = b"\x01"


def counter_delta(last: int, now: int) -> int:
    """Events from counter `last` (0 to 255, 0: none yet) to `now` (1 to 255). The counter skips 0 when it wraps."""
    return now - last if now >= last else 255 - last + now


def counter_back(counter: int, events: int) -> int:
    """The counter `events` before `counter`, for events less than 255: 1 is preceded by 255."""
    return (counter - events - 1) % 255 + 1


class CoinAcceptor(Device):
    """A coin acceptor on `bus`.

    values: coin id to pence; only coins found here are credited, and enabled until enable() says which of them
    last_counter: counter of the last committed event, from NVRAM; None adopts what the device shows without crediting
    it, and tells so
    coin_ids: what the device says is programmed at positions 1 to 16, "" where nothing is
    accepting: what the device last acknowledged, None while that is not known
    mask_repairs: how often a mask that had been set was found changed

    Nothing is accepted until accept(True). Counters in events are to be committed with the event, and `booked()`
    called then.
    """

    def __init__(self, bus, values: dict, address: int = 2, last_counter=0, poll_ms: int = POLL_MS):
        Device.__init__(self, bus, address, SETTLE_MS)
        self.last_counter = last_counter
        self.accepting = None
        self.coin_ids = [""] * COINS
        self.mask_repairs = 0
        self._values = values
        self._enabled = values
        self._poll_ms = poll_ms
        self._seen = last_counter  # counter of the newest event that was queued
        self._shown = b""  # the answer to 229 that is being judged
        self._new = True  # nothing was read from it since it was identified
        self._position = 0
        self._mask_tries = 0
        self._accepted = 0
        self._jump_tries = 0
        self._masked = False
        self._routes = {}  # pence to sorter path, as the firmware wants it
        self._routed = bytearray(COINS)  # by position, what the device has acknowledged; 0: not known
        self._route_tries = 0
        self._route_due = False
        self._wanted = _INHIBITED
        self._master = bus.transaction(address)
        self._polled_ms = 0
        self._checked_ms = 0

    def accept(self, on: bool) -> None:
        """Take coins or refuse them. Goes out before anything else that waits for the line, and again after a reset."""
        self._wanted = _ENABLED if on else _INHIBITED
        if self.online:
            self._send_wanted()

    def route(self, pence: int, path: int) -> None:
        """Let coins of that value fall along sorter path 1 to 8. It goes out between two polls, again after a reset.

        A device that has no sorter is left alone; the path that a coin took is told with it.
        """
        if self._routes.get(pence) != path:
            self._routes[pence] = path
            self._route_tries = 0
            self._route_due = True

    def enable(self, coin_ids) -> None:
        """The coins to be accepted, of those in `values`. Another one that comes nevertheless is credited all the same."""
        self._enabled = coin_ids
        self._masked = False

    def _mask(self) -> bytes:
        """A set bit enables the coin at its position."""
        mask = 0
        for position in range(COINS):
            coin_id = self.coin_ids[position]
            if coin_id in self._values and coin_id in self._enabled:
                mask |= 1 << position
        return mask.to_bytes(2, "little")

    def booked(self) -> None:
        event = self._events.pop()
        if event is None:
            return
        if event[0] in ("coin", "coin_error", "coins_lost", "adopted"):
            self.last_counter = event[1]
        elif event[0] == "device_reset":
            self.last_counter = 0

    def poll(self, now_ms: int) -> None:
        Device.poll(self, now_ms)
        if self._master.done:
            status, _ = self._master.take()
            self.accepting = self._master.sent == _ENABLED if status == OK else None
            if status == OK and self._master.sent != self._wanted:
                self._send_wanted()

    def _send_wanted(self) -> None:
        """Master inhibit (header 228). A request that waits or is being repeated changes its mind instead."""
        if self._master.pending:
            self._master.data = self._wanted
        else:
            self._master.start(_MASTER_INHIBIT, self._wanted, STATE, crc=self.crc, urgent=True)

    # Identification.

    def _begin(self) -> None:
        """Stop it first: it may still accept from before the cabinet was restarted."""
        self._masked = False
        self._new = True
        self.accepting = None
        self._forget_routes()
        self._ask(_MASTER_INHIBIT, self._stopped, _INHIBITED, STATE)

    def _stopped(self, answer: bytes) -> None:
        self._position = 1
        self._ask_id()

    def _ask_id(self) -> None:
        self._ask(_COIN_ID, self._got_id, bytes((self._position,)), otherwise=self._no_id)

    def _no_id(self, status: int) -> None:
        if status == UNKNOWN:
            self._search(status)
        else:
            self._got_id(b"")

    def _got_id(self, answer: bytes) -> None:
        """Six ASCII characters, country, value, issue; six full stops where nothing is programmed."""
        coin_id = "" if answer == b"......" else "".join([chr(byte) for byte in answer])
        self.coin_ids[self._position - 1] = coin_id
        self._position += 1
        if self._position <= COINS:
            self._ask_id()
        else:
            self._read_events()

    # Sorter.

    def _forget_routes(self) -> None:
        self._routed = bytearray(COINS)
        self._route_tries = 0
        self._route_due = True

    def _unrouted(self) -> int:
        """A position whose sorter path is not as wanted, 0 if there is none or the device has no sorter."""
        if self._route_due and self._route_tries < ROUTE_TRIES:
            for place in range(COINS):
                path = self._routes.get(self._values.get(self.coin_ids[place]))
                if path and path != self._routed[place]:
                    return place + 1
        self._route_due = False
        return 0

    def _send_route(self, position: int) -> None:
        """Sorter path (header 210) of the coin at `position`."""
        self._position = position
        path = self._routes[self._values[self.coin_ids[position - 1]]]
        self._ask(_SORTER_PATH, self._route_sent, bytes((position, path)), STATE, otherwise=self._no_route)

    def _route_sent(self, answer: bytes) -> None:
        self._routed[self._position - 1] = self._transaction.sent[1]
        self._wait()

    def _no_route(self, status: int) -> None:
        self._route_tries += 1
        self._wait()

    # Masks.

    def _set_mask(self) -> None:
        """Enable what is in `values` (header 231: a set bit enables) and read it back (header 230)."""
        self._masked = False
        self._ask(_MODIFY_INHIBIT, self._mask_sent, self._mask(), STATE)

    def _mask_sent(self, answer: bytes) -> None:
        self._ask(_REQUEST_INHIBIT, self._mask_read, b"", IDEMPOTENT, 2, 2)

    def _mask_read(self, answer: bytes) -> None:
        if answer == self._mask():
            self._mask_tries = 0
            self._masked = True
            self._checked_ms = self._now_ms
            self._come_online()
            self._send_wanted()
            self._wait()
        elif self._mask_tries < MASK_TRIES:
            self._mask_tries += 1
            self._set_mask()
        else:
            self._mask_tries = 0
            self._go_offline()
            self._search(OK)

    def _mask_checked(self, answer: bytes) -> None:
        self._checked_ms = self._now_ms
        if answer == self._mask():
            self._wait()
            return
        self.mask_repairs += 1
        if answer == b"\x00\x00" and self._shown[0] == 0:
            self._read_accepted()  # reset without an event before or after it
        else:
            self._set_mask()

    # Events.

    def _wait(self) -> None:
        """Until the next poll, counted from the last one."""
        self._pause(max(0, self._polled_ms + self._poll_ms - self._now_ms), self._read_events)

    def _read_events(self) -> None:
        """Buffered credits and errors (header 229): counter, then five pairs, newest first."""
        self._polled_ms = self._now_ms
        self._ask(_READ_EVENTS, self._got_events, b"", IDEMPOTENT, 11, 11, self._no_events)

    def _no_events(self, status: int) -> None:
        """The buffer was not consumed: ask again, or look for the device if it is gone."""
        if self.online:
            self._wait()
        else:
            self._search(status)

    def _got_events(self, answer: bytes) -> None:
        counter = answer[0]
        self._shown = answer
        if self._seen is None and counter:
            self._count()  # never met: whatever comes after this is ours
        elif counter == 0 and (self._seen or self._new):
            self._read_accepted()
        elif counter and counter_delta(self._seen, counter) > SHOWN_EVENTS:
            self._ask(_REQUEST_INHIBIT, self._judge_jump, b"", IDEMPOTENT, 2, 2, self._no_events)
        else:
            self._take_shown()

    def _judge_jump(self, mask: bytes) -> None:
        """The counter jumped. A device that was reset has forgotten its mask; then the counter has started anew."""
        if mask == b"\x00\x00" and self._mask() != mask and self._seen:
            self._read_accepted()
        else:
            self._count()

    # How many coins belong to what is shown: the count of coins taken around a look at the events, until no coin fell between.

    def _count(self) -> None:
        self._jump_tries = 0
        self._ask(_ACCEPT_COUNTER, self._count_before, b"", IDEMPOTENT, 3, 3, self._no_count)

    def _count_before(self, answer: bytes) -> None:
        self._accepted = int.from_bytes(answer, "little")
        self._ask(_READ_EVENTS, self._shown_again, b"", IDEMPOTENT, 11, 11, self._no_events)

    def _shown_again(self, answer: bytes) -> None:
        self._shown = answer
        self._ask(_ACCEPT_COUNTER, self._count_after, b"", IDEMPOTENT, 3, 3, self._no_count)

    def _count_after(self, answer: bytes) -> None:
        accepted = int.from_bytes(answer, "little")
        if accepted == self._accepted:
            self._take_shown(accepted)
        elif self._jump_tries < JUMP_TRIES:
            self._jump_tries += 1
            self._count_before(answer)
        else:
            self._take_shown()

    def _no_count(self, status: int) -> None:
        self._take_shown()

    def _read_accepted(self) -> None:
        """It was reset: coins accepted in its life (header 225), three bytes, least significant first."""
        self._ask(_ACCEPT_COUNTER, self._got_accepted, b"", IDEMPOTENT, 3, 3, self._no_accepted)

    def _no_accepted(self, status: int) -> None:
        self._was_reset(-1)

    def _got_accepted(self, answer: bytes) -> None:
        self._was_reset(int.from_bytes(answer, "little"))

    def _was_reset(self, accepted: int) -> None:
        self._forget_routes()
        self._events.push(("device_reset", accepted))
        self._seen = 0
        self._masked = False
        self.accepting = None
        self._take_shown()

    def _take_shown(self, accepted: int = -1) -> None:
        self._new = False
        if self._seen is None:
            self._seen = self._shown[0]
            self._events.push(("adopted", self._seen, accepted))
        elif self._shown[0]:
            self._take(self._shown, accepted)
        self._go_on()

    def _take(self, shown: bytes, accepted: int) -> None:
        """Queue the events after `_seen`, oldest first, each with its own counter. `accepted`: coins in its life, -1 unknown."""
        counter = shown[0]
        new = counter_delta(self._seen, counter)
        if new > SHOWN_EVENTS:
            if accepted >= 0:
                for place in range(1, 1 + 2 * SHOWN_EVENTS, 2):
                    accepted -= shown[place] != 0
                accepted %= COUNT_MODULUS
            self._events.push(("coins_lost", counter_back(counter, SHOWN_EVENTS), new - SHOWN_EVENTS, accepted))
            new = SHOWN_EVENTS
        for age in range(new - 1, -1, -1):
            self._push(counter_back(counter, age), shown[1 + 2 * age], shown[2 + 2 * age])
        self._seen = counter

    def _push(self, counter: int, coin: int, code: int) -> None:
        """Queue one event: coin position and sorter path, or 0 and an error code."""
        if coin == 0:
            self._events.push(("coin_error", counter, code))
            return
        coin_id = self.coin_ids[coin - 1] if coin <= COINS else ""
        if coin_id in self._values:
            self._events.push(("coin", counter, self._values[coin_id], coin_id, code))
        else:
            self._events.push(("coin_error", counter, UNKNOWN_COIN + coin))

    def _go_on(self) -> None:
        """After the events: repair what a reset or a lost request has left, then wait for the next poll."""
        if not self._masked:
            self._set_mask()
        elif self._now_ms - self._checked_ms >= CHECK_MS:
            self._ask(_REQUEST_INHIBIT, self._mask_checked, b"", IDEMPOTENT, 2, 2, self._no_events)
        else:
            if self.accepting != (self._wanted == _ENABLED):
                self._send_wanted()
            position = self._unrouted()
            if position:
                self._send_route(position)
            else:
                self._wait()

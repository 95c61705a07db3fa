"""The note in hand: where it is, and its one end as stacked, returned or disputed.

| place | the note | goes on with |
|---|---|---|
| NONE | there is none | |
| SEEN | was just shown in escrow | HOLD, then the device's counters; then it is HELD, and the firmware is told |
| HELD | waits for the firmware | HOLD every two seconds, until stack(): POLL, or return_note(): REJECT |
| ORDERED | is on its way in | EE (stacked), EC (returned), or nothing more, or EC behind another note: the counters |
| LEAVING | is on its way out | EC, or the counters |
| UNSURE | was in hand when the link broke or the cabinet lost power | EE, what the device took in at its start, or the counters |

EE is the credit. It is taken at once for the note in hand, and from nobody else: one that comes unasked may be an older one
told twice, and only the device's counters (58) can say so. So can they say what became of a note whose event was lost. A
device without counters leaves such a note disputed.
"""

from ..evidence import DISPUTED, NO_COUNT, REASONS, RETURNED, STACKED, last_of, taken_of
from ..held_note import (
    CLEARED_FROM_FRONT,
    HELD,
    JUDGE_MS,
    MOST_GROWN,
    NONE,
    ORDERED,
    SEEN,
    STACKED_MS,
    UNKNOWN_CHANNEL,
    UNSURE,
    HeldNote,
)
from .counters import counters, evidence, serial_of, token, verdict
from .device import NOT_KNOWN, OK, Device

_COUNTERS = b"\x58"


class NoteInHand(Device, HeldNote):
    """The part of the driver that answers for a note."""

    def __init__(self, port, last_token: bytes, address: int, secret):
        Device.__init__(self, port, address, secret)
        self._no_note(last_token)
        self._taken = NO_COUNT  # notes taken by the device that are accounted for
        self._counts = True  # it keeps counters, until it says that it has none
        self._seen = 0  # channel shown in escrow and not yet held
        self._unstacked = 0  # channel of a credited note that has not arrived in the stacker as far as was told
        # Channel of a credit that a device without counters may tell again, not acknowledged yet or disputed meanwhile; and
        # whether the disputed note may still be counted, or was and no record says so.
        self._open, self._absorb = last_of(last_token)
        self._another = False  # one more was read after the note in hand was ordered in, or that one is in the stacker
        self._ack_due = False  # the device tells what moved money again until it is acknowledged

    def _lost_touch(self) -> None:
        self._seen = 0
        self._order = NONE
        if self._place == SEEN:
            self._place = NONE
        elif self._place != NONE:
            self._place = UNSURE

    # Counters.

    def _ask_counters(self, then) -> None:
        """Go on with then(taken, rejected)."""
        if not self._counts:
            then(NO_COUNT, NO_COUNT)
            return

        def got_counters(answer: bytes) -> None:
            if answer[0] == NOT_KNOWN:
                self._counts = False
            taken, rejected = counters(answer[1:] if answer[0] == OK else None)
            then(taken, rejected)

        self._ask(_COUNTERS, got_counters)

    def _open_books(self, taken: int) -> None:
        """Up to where notes are accounted for: the last credit, if this device made it; else the pending note, or now."""
        if not self._token or serial_of(self._token) != self.serial:
            own = self._place == UNSURE and serial_of(self._evidence) == self.serial
            self._taken = taken_of(self._evidence) if own else taken
            self._token = token(self.serial, self._taken, 0)
            self._open = 0
        elif self._taken == NO_COUNT:
            self._taken = taken_of(self._token)
            if self._place == UNSURE and serial_of(self._evidence) == self.serial:
                self._taken = taken_of(self._evidence)  # all before it was accounted for when it was held
                self._absorb = False
        if self._taken == NO_COUNT:
            self._taken = taken
        self._judge_ms = self._now_ms + JUDGE_MS

    def _hold(self, taken: int, rejected: int) -> None:
        """The counters before this note moves on. They tell of an older one too: only one note fits into the device."""
        if self._place != SEEN:
            self._conclude(taken, rejected)
        self._account(taken)
        self._absorb = False
        self._unstacked = 0
        if not self._ack_due:
            self._open = 0
        channel, self._seen = self._seen, 0
        self._another = False
        self._place = HELD
        self._order = NONE
        self._channel = channel
        self._pence = self._value(channel)
        self._evidence = evidence(self.serial, taken, rejected)
        self._since_ms = self._hold_ms = self._now_ms
        self._events.push(("escrow", self._pence, channel, self._evidence))
        self._look_soon()

    def _conclude(self, taken: int, rejected: int) -> None:
        """The end of the note in hand, by the counters."""
        found = verdict(self._evidence, self.serial, taken, rejected)
        if found == STACKED:
            odd, self._odd = self._odd, 0
            self._stacked(odd if self._value(odd) else self._channel)  # what the device said last of what it was
            self._unstacked = 0  # all is at rest, so it is not in the path any more
        elif found == RETURNED:
            self._returned()
        else:
            self._dispute(REASONS[found], taken)

    def _account(self, taken: int) -> None:
        """A note that nobody ordered, or that was taken without a word, against the counters."""
        odd, self._odd = self._odd, 0
        if taken == NO_COUNT:
            if odd:
                self._events.push(("disputed", self._token, self._value(odd), "unasked"))
            return
        grown = (taken - self._taken) & NO_COUNT if self._taken != NO_COUNT else 0
        if not grown or grown > MOST_GROWN:
            self.repeated_credits += odd != 0
            return
        self._taken = taken
        if grown == 1 and self._absorb:
            self._absorb = False
            return
        self._token = token(self.serial, taken, odd & 0xFF)
        if grown == 1 and self._value(odd):
            self._events.push(("stacked", self._token, self._value(odd), odd))
            self._unstacked = odd
        else:
            self._events.push(("disputed", self._token, 0, "unbooked"))

    # Ends of a note.

    def _stacked(self, channel: int) -> None:
        """Irrevocable. What the device says now of the value comes before what it said in escrow."""
        taken = taken_of(self._evidence) if serial_of(self._evidence) == self.serial else NO_COUNT
        if taken != NO_COUNT:
            taken = self._taken = (taken + 1) & NO_COUNT
        self._token = token(self.serial, taken, channel)
        self._open = channel if self._ack_due else 0
        self._unstacked = channel
        self._end(("stacked", self._token, self._value(channel) or self._pence, channel))

    def _dispute(self, reason: str, taken: int) -> None:
        """It is not known what was; a credit or a count that comes late is this note's and nobody else's."""
        if taken != NO_COUNT:
            self._taken = taken
        self._token = token(self.serial, self._taken, self._channel | DISPUTED)
        self._open = self._channel
        self._absorb = True
        self._end(("disputed", self._token, self._pence, reason))

    # What the device tells.

    def _credit(self, channel: int) -> None:
        """EE: of the note in hand if the channel is the same; else the counters have to prove it."""
        if self.pending() and channel == self._channel:
            self._stacked(channel)
        else:
            self._unasked(channel)

    def _cleared_in(self, channel: int) -> None:
        """At its start the device found a note and took it in; channel 0: it could not tell which."""
        if self.pending():
            self._stacked(channel or self._channel)
            self._unstacked = 0
        elif self._unstacked and channel in (0, self._unstacked):
            self._unstacked = 0  # the one that was credited
        else:
            self._unasked(channel)

    def _unasked(self, channel: int) -> None:
        if not self._counts and channel and channel == self._open:
            self.repeated_credits += 1
            self._unstacked = channel  # what the device tells next of its start may be this note
            return
        self._odd = channel or UNKNOWN_CHANNEL
        if self._judge_ms is None:
            self._judge_ms = self._now_ms + STACKED_MS

    def _given_back(self) -> None:
        """A note went back while one was in hand. It is that one, unless another was read after it, or may have been while
        nobody listened: then the one that was ordered in may have gone in without a word, and the counters know which."""
        if self._counts and (self._place == UNSURE or (self._place == ORDERED and self._another)):
            self._judge_ms = self._now_ms + STACKED_MS
        else:
            self._returned()

    def _cleared_out(self, channel: int) -> None:
        """At its start the device found a note and gave it back."""
        if self.pending():
            self._given_back()
        elif self._unstacked and channel in (0, self._unstacked):
            pence, self._unstacked = self._value(self._unstacked), 0
            self._events.push(("disputed", self._token, pence, "given_back"))
        else:
            self._events.push(("refused", self._token, CLEARED_FROM_FRONT))

    def _arrived(self) -> None:
        """EB: in the stacker. A note in hand has its EE on the way, or lost, and what goes back from now on is another one."""
        self._unstacked = 0
        if self._counts and self._place in (ORDERED, UNSURE):
            self._another = True
            self._judge_ms = self._now_ms + STACKED_MS

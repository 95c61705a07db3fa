"""The note in hand of a bill validator: where it is, and its one end as stacked, returned or disputed.

| place | the note | goes on with |
|---|---|---|
| NONE | there is none | |
| SEEN | is in escrow by the newest event | the device's counters; then it is HELD, and the firmware is told |
| HELD | waits for the firmware | an extension every few seconds, until stack() or return_note(): a route |
| ORDERED | is on its way in | (bill, 0) stacked, (0, 1) returned, or nothing more that is to be expected: the counters |
| LEAVING | is on its way out | (0, 1), or the counters |
| UNSURE | was in hand when the link broke, the device was reset or the cabinet lost power | the events since, or the counters |

A stacked event of the note in hand is the credit. One that nobody ordered is believed only if the counter of accepted notes has
grown with it: a device may tell twice. So can the counters say what became of a note whose event was lost. A device without
counters leaves such a note disputed.
"""

from ..evidence import DISPUTED, LOST, NO_COUNT, REASONS, RETURNED, STACKED, TOKEN_BYTES, last_of, taken_of
from ..held_note import (
    BLIND_MS,
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
from .note_counters import NoteCounters
from .note_evidence import counter_of, evidence, grown, serial_of, token, verdict

FRESH_MS = 3000  # from a credit until the stacker has done its work: a reset finds the note in the path no more

NO_ROUTE = -1
TO_FRONT = 0
TO_STACKER = 1


class NoteInHand(NoteCounters, HeldNote):
    """The part of the driver that answers for a note. A channel is a bill type."""

    def __init__(self, bus, last_token: bytes, address: int):
        NoteCounters.__init__(self, bus, address)
        self._no_note(last_token)
        self._seen = -1  # counter of the newest event that was judged; -1: not known
        self._into = False  # a route to the stacker may have been carried out for the note in hand
        self._into_before = False
        self._shown = 0  # channel in escrow by the newest event and not yet held
        self._second = False  # another note was in escrow while one was in hand
        channel, disputed = last_of(last_token)
        self._open = channel if disputed else 0  # channel of the disputed note that may still be told of
        self._credited = 0  # channel of the last credit of this life,
        self._credited_ms = 0
        self._in_path = 0  # and of one so fresh at a reset that the device may give it back
        self._history = True  # what is read first was told before, or happened while nobody listened
        self._start_ms = 0  # of the device, or of our own; what comes out soon after was found in the path
        self._known = None  # serial number of the device that all this is about
        self._escrow_at = 0  # counter of the escrow event of the note in hand
        self._route = NO_ROUTE
        self._route_at = 0  # counter of the escrow event that is to be routed
        self._route_tries = 0
        self._route_ms = 0

    def resume(self, pence: int, channel: int, proof: bytes) -> None:
        HeldNote.resume(self, pence, channel, proof)
        self._into = True

    def _id(self) -> int:
        """Serial number as it stands in tokens: three bytes."""
        return self.serial & 0xFFFFFF

    def _lost_touch(self) -> None:
        self._shown = 0
        self._second = False
        self._order = NONE
        self._route = NO_ROUTE
        if self._place == SEEN:
            self._place = NONE
        elif self._place != NONE:
            self._place = UNSURE

    def _start_route(self, way: int, at: int) -> None:
        """The note of escrow event `at` goes this way. The loop sends it as long as that event is the newest."""
        self._route = way
        self._route_at = at
        self._route_tries = 3
        self._route_ms = self._now_ms

    def _move(self, place: int) -> None:
        self._place = place
        self._order = NONE
        self._since_ms = self._now_ms
        self._patience(JUDGE_MS)

    def _patience(self, pause_ms: int) -> None:
        """The counters are believed when so much time has passed; without counters an event has a minute to come."""
        self._judge_ms = self._now_ms + (pause_ms if self._counts else BLIND_MS)

    # Counters.

    def _had_counters(self) -> bool:
        """Records say that this device keeps them: its silence is a fault."""
        for record in (self._token, self._evidence if self._place == UNSURE else b""):
            if record and serial_of(record) == self._id() and taken_of(record) != NO_COUNT:
                return True
        return False

    def _open_books(self, taken: int) -> None:
        """Up to where notes are accounted for: the last credit, if this device made it; else the pending note, or now."""
        own = self._place == UNSURE and self._is_ours()
        known = len(self._token) == TOKEN_BYTES and serial_of(self._token) == self._id()
        if self._seen < 0 and own:
            self._seen = counter_of(self._evidence)
        elif self._seen < 0 and known:
            self._seen = counter_of(self._token)
        if not known:
            self._taken = taken_of(self._evidence) if own else taken
            self._open = 0
            self._make_token()
        elif self._taken == NO_COUNT:
            self._taken = taken_of(self._token)
        if self._taken == NO_COUNT:
            self._taken = taken
        self._patience(JUDGE_MS)

    def _is_ours(self) -> bool:
        """Whether the note in hand was held by the device that answers now."""
        return serial_of(self._evidence) == self._id()

    def _make_token(self) -> None:
        channel = self._open | DISPUTED if self._open else self._channel & 0x7F
        self._token = token(self._id(), max(self._seen, 0), self._taken, channel)

    def _hold(self, taken: int, rejected: int) -> None:
        """The counters before this note moves on. They tell of an older one too: only one note fits into the device."""
        channel, self._shown = self._shown, 0
        if not channel:
            self._look_soon()
            return
        if self._place == HELD or self._place == ORDERED:
            found = verdict(self._evidence, self._id(), taken, rejected)
            if found == LOST and taken != NO_COUNT and channel == self._channel:
                # The same one again, or another of the same value in its place: nothing was taken in meanwhile.
                self._order = ORDERED if self._place == ORDERED else self._order
                self._place = HELD
                self._escrow_at = self._seen
                self._look_soon()
                return
            self._conclude(taken, rejected)
        if not self._odd and not self._open and taken != NO_COUNT and grown(self._taken, taken) == 1:
            # It counts a note in escrow as accepted already, so its counter cannot say what becomes of it.
            self._counts = self._rejects = False
            self._taken = taken = rejected = NO_COUNT
        self._account(taken)
        self._taken = taken
        self._open = self._in_path = 0
        self._place = HELD
        self._order = NONE
        self._into = False
        self._second = False
        self._escrow_at = self._seen
        self._channel = channel
        self._pence = self._value(channel)
        self._evidence = evidence(self._id(), self._seen, taken, rejected)
        self._since_ms = self._hold_ms = self._now_ms
        self._judge_ms = None
        self._events.push(("escrow", self._pence, channel, self._evidence))
        self._look_soon()

    def _conclude(self, taken: int, rejected: int) -> None:
        """The end of the note in hand, by the counters."""
        found = verdict(self._evidence, self._id(), taken, rejected)
        if found == STACKED:
            odd, self._odd = self._odd, 0
            self._stacked(odd if self._value(odd) else self._channel)  # what the device said last of what it was
        elif found == RETURNED or (found == LOST and not self._into):
            self._returned()
        else:
            self._dispute(REASONS[found], taken)

    def _account(self, taken: int) -> None:
        """A note that nobody ordered, or that was taken without a word, against the counters."""
        odd, self._odd = self._odd, 0
        if taken == NO_COUNT:
            if odd:
                self._channel = odd & 0x7F
                self._make_token()
                self._events.push(("disputed", self._token, self._value(odd), "unasked"))
            return
        more = grown(self._taken, taken) if self._taken != NO_COUNT else 0
        if not more or more > MOST_GROWN:
            self.repeated_credits += odd != 0
            return
        if more == 1 and self._open:
            self.repeated_credits += odd != 0
            return  # the disputed note; its token says so until the next one
        self._taken = taken
        self._open = 0
        self._channel = odd & 0x7F
        self._make_token()
        if more == 1 and self._value(odd):
            self._credit_now(odd)
            self._events.push(("stacked", self._token, self._value(odd), odd))
        else:
            self._events.push(("disputed", self._token, 0, "unbooked"))

    # Ends of a note.

    def _end(self, event: tuple) -> None:
        self._route = NO_ROUTE
        HeldNote._end(self, event)

    def _credit_now(self, channel: int) -> None:
        self._credited = channel
        self._credited_ms = self._now_ms

    def _stacked(self, channel: int) -> None:
        """Irrevocable. What the device says now of the value comes before what it said in escrow."""
        taken = taken_of(self._evidence) if self._is_ours() else NO_COUNT
        if taken != NO_COUNT and self._counts:
            self._taken = (taken + 1) & 0xFFFFFF
        self._open = 0
        pence = self._value(channel) or self._pence
        self._channel = channel
        self._make_token()
        self._credit_now(channel)
        self._end(("stacked", self._token, pence, channel))

    def _dispute(self, reason: str, taken: int) -> None:
        """It is not known what was; a credit or a count that comes late is this note's and nobody else's."""
        if taken != NO_COUNT:
            self._taken = taken
        self._open = self._channel & 0x7F if reason in ("lost", "given_up") else 0
        self._make_token()
        self._end(("disputed", self._token, self._pence, reason))

    # What the device tells.

    def _credit(self, channel: int) -> None:
        """(bill, 0): of the note in hand if it is the same; else the counters have to prove it."""
        if self._place == SEEN:
            self._place = NONE  # it did not wait for a decision
            self._shown = 0
        if self.pending() and channel == self._channel and self._is_ours():
            self._stacked(channel)
            return
        if not self._counts and channel and channel == self._open:
            self._open = 0
            self.repeated_credits += 1
            return
        self._odd = channel or UNKNOWN_CHANNEL
        if self._judge_ms is None or self._place == NONE:
            self._judge_ms = self._now_ms + STACKED_MS

    def _went_back(self, code: int) -> None:
        """(0, 1), or pulled out backwards: the customer has it."""
        if self.pending() and not self._second and self._is_ours():
            self._returned()
            return
        self._second = False
        self._shown = 0
        self._route = NO_ROUTE
        if self.pending():
            self._patience(STACKED_MS)  # which of two it was, the counters will tell
            return
        self._place = NONE
        if self._history:
            return
        if self._in_path:
            channel, self._in_path = self._in_path, 0
            self._make_token()
            self._events.push(("disputed", self._token, self._value(channel), "given_back"))
        else:
            self._refused(CLEARED_FROM_FRONT if self._now_ms - self._start_ms < JUDGE_MS else code)

    def _refused(self, code: int) -> None:
        self._make_token()
        self._events.push(("refused", self._token, code))

    def _device_reset(self) -> None:
        """What was in hand is somewhere; the device will clear its path."""
        # With another one seen behind it, the credited note has left the path.
        fresh = self._place == NONE and self._now_ms - self._credited_ms < FRESH_MS
        self._in_path = self._credited if fresh else 0
        self._start_ms = self._now_ms
        self._lost_touch()
        self._seen = 0
        self._patience(JUDGE_MS)

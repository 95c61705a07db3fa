"""Events of a bill validator (header 159): whose life of the device they belong to, and what each does to the note in hand.

| mask read after the events | counter | meaning |
|---|---|---|
| set | as before | nothing new |
| set | 1 to 5 further | that many new events |
| set | more than 5 further | more than it can show: counted in lost_events, the five shown are taken |
| zero, the last answer goes on | any | the mask alone was forgotten |
| zero, none was read since our start, a note is in hand | as before, or up to 5 further | either: the counters tell of the note |
| zero else | any | reset: as many events as the counter says, and those shown before the zero, if they go on |

An answer that is followed by a mask that is set is of the life that set the mask, so events and mask need not be read at once.
"""

from ..held_note import HELD, JUDGE_MS, LEAVING, NONE, SEEN, STACKED_MS, UNSURE
from . import bill_events as on
from .coin_acceptor import SHOWN_EVENTS, counter_back, counter_delta
from .note import TO_FRONT, NoteInHand
from .note_counters import POLL_MS
from .note_evidence import continues

MOST_EVENTS = 6  # that one event of the device can become, and a reset with it
MASK_TRIES = 3
CHECK_MS = 5000  # between two looks at the inhibit mask

_REQUEST_INHIBIT = 230
_READ_EVENTS = 159
_NO_EVENTS = bytes(11)


class NoteEvents(NoteInHand):
    """The part of the driver that reads.

    accepting: mask of the channels that the device last acknowledged, bit 0 for bill type 1; None while not known
    unread_events, lost_events, resets: counters since the start
    """

    def __init__(self, bus, last_token: bytes, address: int):
        NoteInHand.__init__(self, bus, last_token, address)
        self.accepting = None
        self.unread_events = 0
        self.lost_events = 0
        self.resets = 0
        self._usable = 0  # mask of bill types that the cabinet takes
        self._wanted = 0
        self._masked = None  # mask that the device holds, 0 after a reset; None: not read yet
        self._mask_tries = 0  # masks that were acknowledged and not kept, since one was
        self._mode_set = False
        self._master = None  # as the device acknowledged it
        self._checks = True  # it knows the self-check
        self._check_due = True
        self._states = 0
        self._told = 0  # of the states, those that the firmware knows of
        self._unproven = False  # they are out of old events: a self-check says whether they last
        self._answer = _NO_EVENTS  # to 159, being judged
        self._unjudged: bytes | None = None  # one before it, whose mask was never read
        self._last: bytes | None = None  # the last one that was judged
        self._fresh = True  # none was judged since the identification
        self._just_read = False
        self._read_ms = 0
        self._mask_ms = 0

    # Reading.

    def _read_events(self) -> None:
        self._read_ms = self._now_ms
        self._ask(_READ_EVENTS, self._got_events, shortest=11, longest=11, otherwise=self._no_answer)

    def _got_events(self, answer: bytes) -> None:
        self._answer = answer
        if self._unjudged is None or continues(self._unjudged, answer):
            self._unjudged = answer
        if self._fresh or answer != self._last or answer[0] != self._seen or self._now_ms - self._mask_ms >= CHECK_MS:
            self._ask(_REQUEST_INHIBIT, self._got_mask, shortest=2, longest=2, otherwise=self._no_answer)
        else:
            self._done()

    def _got_mask(self, mask: bytes) -> None:
        self._mask_ms = self._now_ms
        read = int.from_bytes(mask, "little")
        if read or not self._usable:
            self._masked = read
            self._mask_tries = 0
            self._live(self._answer)
        elif self._masked == 0:
            self._unmarked()
        elif self._mask_tries:
            self._not_kept()
        else:
            self._ask(_READ_EVENTS, self._got_again, shortest=11, longest=11, otherwise=self._no_answer)

    def _not_kept(self) -> None:
        """It has acknowledged a mask that it does not hold: no sign of a reset, and no device to trust with notes."""
        self._masked = 0
        if self._mask_tries == MASK_TRIES:
            self._events.push(("fault", "out_of_service"))
        self._unmarked()

    def _unmarked(self) -> None:
        """No mask since the last reset: only the counter tells of another one."""
        counter = self._answer[0]
        if (counter == 0 and self._seen > 0) or (counter and counter_delta(max(self._seen, 0), counter) > SHOWN_EVENTS):
            self._was_reset(self._answer)
        else:
            self._live(self._answer)

    def _got_again(self, answer: bytes) -> None:
        """The mask is zero, so this answer is of after whatever made it so. The one before may be older."""
        last = self._last
        if last is not None and last[0] and continues(last, answer):
            self._settings_gone()
            self._live(answer)
            return
        if last is None and self._place == UNSURE and self._may_go_on(answer):
            self._doubtful(answer)
            return
        before = self._unjudged
        if last is not None and before is not None and not continues(before, answer) and self._is_further(before):
            if len(self._events):
                self._pause(POLL_MS, self._look)  # the device will not show these again: the queue has to hold all
                return
            self._take(before)
        self._was_reset(answer)

    def _settings_gone(self) -> None:
        """Inhibit mask, operating mode and master inhibit are to be set again."""
        self._masked = 0
        self._mode_set = False
        self._master = self.accepting = None

    def _may_go_on(self, answer: bytes) -> bool:
        """Whether it can be of the life that the note in hand was seen in."""
        return self._seen > 0 and answer[0] != 0 and counter_delta(self._seen, answer[0]) <= SHOWN_EVENTS

    def _doubtful(self, answer: bytes) -> None:
        """Nothing was read since our own start. So it may be a reset with events of its own, or the mask alone was forgotten and
        the same numbers are events of before the note in hand: the counters have to tell what became of it."""
        self._come_online()
        self._settings_gone()
        self._seen = answer[0]
        for age in range(min(answer[0], SHOWN_EVENTS) - 1, -1, -1):
            if not answer[1 + 2 * age]:
                self._condition(answer[2 + 2 * age])
        self._judged(answer)

    def _is_further(self, answer: bytes) -> bool:
        """Whether it shows events that are new, and all of them."""
        return answer[0] != 0 and 0 < counter_delta(max(self._seen, 0), answer[0]) <= SHOWN_EVENTS

    def _live(self, answer: bytes) -> None:
        """Events of the life of the device that is known."""
        self._come_online()
        counter = answer[0]
        if self._seen < 0:
            self._seen = counter
        elif counter == 0:
            self._seen = 0  # of another device, or of before its reset was known
        elif counter_delta(self._seen, counter) > SHOWN_EVENTS and not self._history:
            self.lost_events += counter_delta(self._seen, counter) - SHOWN_EVENTS
            self._lost_some()
        self._take(answer)
        self._judged(answer)

    def _lost_some(self) -> None:
        """What was lost may have been the end of a note, or a note of its own: the counters will tell."""
        if self.pending():
            self._patience(STACKED_MS)
        elif self._counts:
            self._judge_ms = self._now_ms + STACKED_MS

    def _was_reset(self, answer: bytes) -> None:
        self._come_online()
        self.resets += 1
        self._events.push(("device_reset",))
        self._device_reset()
        self._settings_gone()
        self._take(answer)
        self._judged(answer)

    def _judged(self, answer: bytes) -> None:
        waits = answer[1] and answer[2] == on.ESCROW
        if self._fresh and (waits or (not answer[1] and answer[2] == on.BARCODE and answer[0])):
            self._start_route(TO_FRONT, self._seen)  # from before the break: what was not seen to come goes back
            self._start_ms = self._now_ms
        if self._history:  # of conditions only what lasts is news, and the end of a jam is no event
            self._history = False
            self._told = 0
            self._unproven = self._checks and self._states != 0
            self._check_due = self._check_due or self._unproven
            self._tell_states(self._states)
        self._fresh = False
        self._last = answer
        self._done()

    def _done(self) -> None:
        self._unjudged = None
        self._just_read = True
        self._look_soon()

    # Events.

    def _take(self, answer: bytes) -> None:
        """The events after `_seen` that are shown, oldest first. Those that the queue has no room for are read again."""
        counter = answer[0]
        new = min(counter_delta(self._seen, counter), SHOWN_EVENTS) if counter else 0
        for age in range(new - 1, -1, -1):
            if self._events.room() < MOST_EVENTS:
                return
            self._seen = counter_back(counter, age)
            self._happened(answer[1 + 2 * age], answer[2 + 2 * age], age == 0)
        self._seen = counter

    def _happened(self, bill: int, code: int, newest: bool) -> None:
        if self._judge_ms is not None and self.pending():
            self._judge_ms = max(self._judge_ms, self._now_ms + STACKED_MS)
        if bill:
            if code == on.STACKED:
                self._credit(bill)
            elif code == on.ESCROW:
                self._in_escrow(bill, newest)
            else:
                self.unread_events += 1
        elif code == on.RETURNED:
            self._went_back(code)
        elif code == on.PULLED:
            self._fraud(code)
            if self.pending() or self._shown:
                self._went_back(code)
        elif code in on.FRAUD:
            self._fraud(code)
        elif code in on.REFUSED:
            if not self._history:
                self._refused(code)
        elif code == on.BARCODE:
            if newest:
                self._start_route(TO_FRONT, self._seen)  # a ticket
        elif code == on.UNKNOWN_STACKED:
            self._credit(0)
        elif not self._condition(code):
            self.unread_events += 1

    def _condition(self, code: int) -> bool:
        """What began or ended with an event. False: nothing that is known."""
        if code in on.BEGINS:
            self._tell_states(self._states | on.BEGINS[code])
        elif code in on.ENDS:
            self._tell_states(self._states & ~on.ENDS[code])
        else:
            return False
        return True

    def _fraud(self, code: int) -> None:
        if not self._history:
            self._events.push(("fraud", code))

    def _in_escrow(self, channel: int, newest: bool) -> None:
        """A note waits, if nothing has happened since."""
        if not newest:
            self._second = self.pending()
            return
        allowed = channel <= len(self.values) and self._usable & self._wanted & 1 << (channel - 1)
        if self._fresh:
            return
        if self._place == HELD and channel == self._channel:
            self._shown = channel  # again, or another one
        elif not allowed or self._place in (UNSURE, LEAVING):
            self._start_route(TO_FRONT, self._seen)
            self._second = self.pending() and self._place != UNSURE
        else:
            self._shown = channel
            self._second = self.pending()
            if self._place == NONE:
                self._place = SEEN

    # Conditions.

    def _tell_states(self, states: int) -> None:
        self._states = states
        if self._history or self._unproven:
            return
        begun = states & ~self._told
        ended = self._told & ~states
        self._told = states
        push = self._events.push
        if begun & on.REMOVED:
            push(("stacker", "removed"))
        elif ended & on.REMOVED:
            push(("stacker", "inserted"))
        if begun & on.FULL:
            push(("stacker", "full"))
        elif ended & on.FULL:
            push(("stacker", "ok"))
        if begun & on.JAMS:
            push(("jam", "unsafe" if states & on.UNSAFE else "safe"))
        elif ended & on.JAMS and not states & on.JAMS:
            push(("jam", ""))
        if begun & (on.OUT | on.BROKEN_STACKER):
            push(("fault", "out_of_service"))
        if ended & on.JAMS and self._judge_ms is not None:
            self._patience(JUDGE_MS)

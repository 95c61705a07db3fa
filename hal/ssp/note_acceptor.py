"""SSP note acceptor: every note ends once, as stacked, returned or disputed (hal/README.md: the contract of note acceptors).

The next POLL accepts the note that the last one has shown in escrow. So a held note is kept with HOLD, no POLL leaves before
the firmware has decided, and after every break REJECT comes before the first POLL: what the driver has not seen goes back.

With POLL_WITH_ACK (56) the device tells what moves money again until EVENT_ACK (57), which leaves when the firmware has
booked it; until then nothing else is asked. A device that does not know 56 is asked with POLL (07).

Inhibits and enable are volatile. They go out after any sign of a reset and every five seconds while notes are accepted; a
device that is not polled stops accepting by itself.
"""

from ..held_note import BLIND_MS, HELD, JUDGE_MS, LEAVING, NONE, ORDERED, SEEN, UNSURE
from . import events as on
from .device import GAP_MS, NOT_KNOWN, NOT_NOW, OK, Device
from .note import NoteInHand
from .setup import channel_values

POLL_MS = 200
HOLD_MS = 2000  # a device gives a note back ten seconds after the last HOLD
DECIDE_MS = 30_000  # the firmware's time for a held note; then it goes back
ASSERT_MS = 5000  # between two repetitions of the inhibits while notes are accepted
REPAIR_MS = 1000  # between two repairs of a device that says it is disabled or inhibited
SAME_MS = 1500  # a note shown in escrow so soon after it was ordered in is still the same

_POLL = b"\x07"
_POLL_WITH_ACK = b"\x56"
_EVENT_ACK = b"\x57"
_REJECT = b"\x08"
_HOLD = b"\x18"
_ENABLE = b"\x0a"
_DISABLE = b"\x09"
_LAST_REJECT = b"\x17"
_NO_REASON = 255

# What lasts: told when it begins and when it ends.
_FULL = 1
_REMOVED = 2
_REPLACED = 4
_UNSAFE = 8
_SAFE = 16
_PATH = 32
_OUT = 64
_FRAUD = 128
_JAMS = _UNSAFE | _SAFE
_STATES = {
    on.STACKER_FULL: _FULL, on.CASHBOX_REMOVED: _REMOVED, on.CASHBOX_REPLACED: _REPLACED, on.UNSAFE_JAM: _UNSAFE,
    on.SAFE_JAM: _SAFE, on.PATH_OPEN: _PATH, on.OUT_OF_SERVICE: _OUT, on.FRAUD: _FRAUD,
}  # fmt: skip
_MOTION = (on.STACKING, on.REJECTING, on.INITIALISING, on.JAM_RECOVERY, on.UNSAFE_JAM, on.SAFE_JAM, on.RESET)


class NoteAcceptor(NoteInHand):
    """A validator at `address` behind `port`.

    notes: pence of the notes that may be accepted, in `currency`
    last_token: what was committed with the last credit or dispute, b"" if there was none
    secret: keys for a device that demands encryption; None: it is spoken to in plain text
    accepting: mask of the channels that the device last acknowledged, bit 0 for channel 1; None while not known
    unread_events, resets: counters since the start

    Nothing is accepted until accept(True).
    """

    def __init__(
        self,
        port,
        notes=(500, 1000, 2000, 5000),
        currency: str = "GBP",
        last_token: bytes = b"",
        secret=None,
        address: int = 0,
    ):
        NoteInHand.__init__(self, port, last_token, address, secret)
        self.accepting = None
        self.unread_events = 0
        self.resets = 0
        self._notes = notes
        self._currency = currency
        self._usable = 0  # mask of channels whose value is in `notes`
        self._wanted = 0
        self._enabled = None
        self._asserted_ms = 0
        self._repaired_ms = 0
        self._polled_ms = 0
        self._acks = True  # it knows POLL_WITH_ACK, until it says that it does not
        self._fresh = True  # not polled since it was identified
        self._reason_due = False
        self._reject_due = False
        self._states = 0

    def accept(self, channels) -> None:
        """True, False or a mask of channels (bit 0: channel 1). Goes out at the next turn, and again after any reset."""
        wanted = 0xFFFF if channels is True else int(channels)
        if wanted != self._wanted:
            self._wanted = wanted
            self._wake_ms = 0

    def booked(self) -> None:
        """The firmware has committed the oldest event."""
        self._events.pop()
        self._wake_ms = 0

    # Identification.

    def _lost_touch(self) -> None:
        NoteInHand._lost_touch(self)
        self.accepting = None
        self._enabled = None
        self._reject_due = False

    def _identify(self) -> None:
        self._lost_touch()
        self._acks = True
        self._counts = True
        Device._identify(self)

    def _got_setup(self, answer: bytes) -> None:
        found = channel_values(answer[1:], self._currency) if answer[0] == OK else None
        if found is None:
            self._pause(GAP_MS, self._identify)
            return
        if not self.version:
            self.version = found[0]
        self.unit_type = answer[1]
        self.values = found[1]
        self._usable = 0
        for index, pence in enumerate(found[1]):
            if pence in self._notes:
                self._usable |= 1 << index
        self._ask(b"\x02\x00\x00", self._inhibited)

    def _inhibited(self, answer: bytes) -> None:
        self._ask(_DISABLE, self._disabled)

    def _disabled(self, answer: bytes) -> None:
        self._ask(_REJECT, self._rejected)

    def _rejected(self, answer: bytes) -> None:
        self._fresh = True
        self._ask_counters(self._started)

    def _started(self, taken: int, rejected: int) -> None:
        self._open_books(taken)
        self._ask_poll()

    # The turn: what is most urgent is asked.

    def _go_on(self, answer: bytes) -> None:
        self._look()

    def _look(self) -> None:
        now = self._now_ms
        if self._gap or now - self.link.answered_ms > GAP_MS:
            self._identify()
        elif self._seen:
            self._ask(_HOLD, self._first_hold)
        elif self._reject_due:
            self._reject_due = False
            self._ask(_REJECT, self._go_on)
        elif self._ack_due and not len(self._events):
            self._ask(_EVENT_ACK, self._acknowledged)
        elif self._place == HELD:
            self._keep(now)
        elif self._ack_due:
            self._pause(POLL_MS, self._look)
        elif self._reason_due:
            self._ask(_LAST_REJECT, self._got_reason)
        elif self._judge_ms is not None and now >= self._judge_ms:
            self._judge_ms = None
            self._ask_counters(self._judge)
        elif now - self._polled_ms >= POLL_MS:
            self._ask_poll()
        else:
            self._assert_inhibits(now)

    def _keep(self, now: int) -> None:
        """A held note: what the firmware wants with it, or more time."""
        if self._order == NONE and now - self._since_ms >= DECIDE_MS:
            self._order = LEAVING
        if self._order != NONE:
            self._move(self._order)
            if self._place == LEAVING:
                self._ask(_REJECT, self._go_on)
            else:
                self._ask_poll()
        elif now - self._hold_ms >= HOLD_MS:
            self._ask(_HOLD, self._held_on)
        else:
            self._pause(HOLD_MS + self._hold_ms - now, self._look)

    def _move(self, place: int) -> None:
        self._place = place
        self._order = NONE
        self._since_ms = self._now_ms
        self._judge_ms = self._now_ms + (JUDGE_MS if self._counts else BLIND_MS)

    def _first_hold(self, answer: bytes) -> None:
        """Held, or gone already. A device that has no HOLD keeps the note for ten seconds all the same."""
        if answer[0] == NOT_NOW:
            self._seen = 0
            if self._place == SEEN:
                self._place = NONE
            self._look()
        else:
            self._ask_counters(self._hold)

    def _held_on(self, answer: bytes) -> None:
        self._hold_ms = self._now_ms
        if answer[0] == NOT_NOW:
            self._move(LEAVING)  # it is not in escrow any more: the events will tell
        self._look()

    def _assert_inhibits(self, now: int) -> None:
        """Inhibits (a set bit lets the channel in) and enable, when they differ and every few seconds."""
        mask = 0 if self._place == UNSURE or self._odd else self._wanted & self._usable
        if self.accepting != mask or (mask and now - self._asserted_ms >= ASSERT_MS):
            self._asserted_ms = now
            self.accepting = None
            self._ask(bytes((0x02, mask & 0xFF, mask >> 8)), self._mask_set)
        elif self._enabled != (mask != 0):
            self._enabled = mask != 0
            self._ask(_ENABLE if mask else _DISABLE, self._switched)
        else:
            self._pause(POLL_MS + self._polled_ms - now, self._look)

    def _mask_set(self, answer: bytes) -> None:
        if answer[0] == OK:
            self.accepting = self._question[1] | self._question[2] << 8
            self._look()
        else:
            self._pause(POLL_MS, self._look)

    def _switched(self, answer: bytes) -> None:
        if answer[0] == OK:
            self._look()
        else:
            self._enabled = None
            self._pause(POLL_MS, self._look)

    def _got_reason(self, answer: bytes) -> None:
        self._reason_due = False
        self._events.push(("refused", self._token, answer[1] if answer[0] == OK and len(answer) > 1 else _NO_REASON))
        self._look_soon()

    def _acknowledged(self, answer: bytes) -> None:
        self._ack_due = False
        self._open = 0
        self._look()

    # Events.

    def _ask_poll(self) -> None:
        self._polled_ms = self._now_ms
        self._ask(_POLL_WITH_ACK if self._acks else _POLL, self._polled)

    def _polled(self, answer: bytes) -> None:
        if answer[0] != OK:
            if self._acks and answer[0] == NOT_KNOWN:
                self._acks = False
                self._ask_poll()
            else:
                self._pause(POLL_MS, self._look)
            return
        self._key_attempts = 0
        self._keyless = False
        was_fresh, self._fresh = self._fresh, False
        self._come_online()
        if (len(answer) > 1 or self._states) and self._take(answer):
            self.resets += 1
            self._events.push(("device_reset",))
            if not was_fresh:
                self._pause(0, self._identify)
                return
        self._look_soon()

    def _take(self, answer: bytes) -> bool:
        """All events of an answer, in the order in which they are told. Returns whether the device was reset."""
        place = 1
        states = 0
        reset = False
        while place < len(answer):
            code = answer[place]
            size = on.data_bytes(answer, place, self.version, self.unit_type)
            if size < 0:
                self.unread_events += 1  # where the next event begins cannot be known; the counters will tell
                if self._judge_ms is None:
                    self._judge_ms = self._now_ms + JUDGE_MS
                break
            reset = reset or code == on.RESET
            if code in _MOTION and self._judge_ms is not None:
                self._judge_ms = max(self._judge_ms, self._now_ms + JUDGE_MS)  # not before all has come to rest
            if code in _STATES:
                states |= _STATES[code]
            else:
                self._happened(code, answer, place + 1, size)
            place += 1 + size
        if states != self._states:
            self._tell_states(states)
        return reset

    def _happened(self, code: int, answer: bytes, place: int, size: int) -> None:
        channel = answer[place] if size == 1 else 0
        if code == on.READ:
            if channel:
                self._read_note(channel)
            elif self._place == ORDERED:
                self._another = True
        elif code == on.CREDIT:
            self._ack_due = self._acks
            self._credit(channel)
        elif code in (on.CLEARED_TO_CASHBOX, on.TO_STACKER_AT_START, on.TO_STORE_AT_START):
            self._ack_due = self._acks
            if code != on.CLEARED_TO_CASHBOX:
                channel = self._channel_of(on.first_amount(answer, place, size, self._currency.encode()))
            self._cleared_in(channel)
        elif code == on.CLEARED_FROM_FRONT:
            self._ack_due = self._acks
            self._cleared_out(channel)
        elif code == on.REJECTED:
            self._went_back()
        elif code == on.STACKED or code == on.STORED:
            self._arrived()
        elif code == on.DISABLED:
            if self._enabled and self._may_repair():
                self._enabled = False
        elif code == on.ALL_INHIBITED:
            if self.accepting and self._may_repair():
                self.accepting = None
        elif code == on.TICKET:
            self._reject_due = True  # the next POLL would take it in

    def _may_repair(self) -> bool:
        """It says that it is off although it was switched on: say it again, in measured steps."""
        if self._now_ms - self._repaired_ms < REPAIR_MS:
            return False
        self._repaired_ms = self._now_ms
        return True

    def _read_note(self, channel: int) -> None:
        """A note is shown in escrow. From here on no POLL leaves until it is decided."""
        if self._place == ORDERED and channel == self._channel and self._now_ms - self._since_ms < SAME_MS:
            return
        allowed = channel <= len(self.values) and self._usable & self._wanted & 1 << (channel - 1)
        if not allowed or self._place == UNSURE or self._place == LEAVING:
            self._reject_due = True
            return
        self._seen = channel
        if self._place == NONE:
            self._place = SEEN

    def _went_back(self) -> None:
        """EC: the note can be taken from the front."""
        if self._seen:
            self._reject_due = True  # told out of order, or the one just shown is gone: it must not be taken in unseen
            self._seen = 0
        if self.pending():
            self._given_back()
        else:
            self._place = NONE
            self._reason_due = True

    def _channel_of(self, pence: int) -> int:
        return self.values.index(pence) + 1 if pence and pence in self.values else 0

    def _tell_states(self, states: int) -> None:
        begun = states & ~self._states
        ended = self._states & ~states
        self._states = states
        push = self._events.push
        if begun & _REMOVED:
            push(("stacker", "removed"))
        elif begun & _REPLACED or (ended & _REMOVED and not states & _REPLACED):
            push(("stacker", "inserted"))
        if begun & _FULL:
            push(("stacker", "full"))
        elif ended & _FULL:
            push(("stacker", "ok"))
        if begun & _JAMS:
            push(("jam", "unsafe" if states & _UNSAFE else "safe"))
        elif ended & _JAMS and not states & _JAMS:
            push(("jam", ""))
        if begun & _FRAUD:
            push(("fraud", on.FRAUD))
        if begun & _PATH:
            push(("fault", "path_open"))
        if begun & _OUT:
            push(("fault", "out_of_service"))

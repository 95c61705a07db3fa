"""ccTalk bill validator: every note ends once, as stacked, returned or disputed (hal/README.md: the contract of note acceptors).

Events have numbers as those of a coin acceptor (header 159: 1 to 255, then 1 again, 0 only after a reset), and reading does not
consume them. A note in escrow is routed (header 154) only while its escrow event is the newest, read just before, and never
twice without reading again. Without a route the device gives the note back when its own time is over.

Inhibit mask, operating mode and master inhibit are forgotten in a reset. So the mask is the mark of a life of the device: it is
set only when all that its reset has told is booked and no note is in hand, it is never zero then, also while nothing is accepted
(the master inhibit does that), and it is read back after each answer that shows something new. Zero: the numbers have begun anew.
"""

from ..held_note import HELD, JUDGE_MS, LEAVING, NONE, ORDERED, UNSURE
from . import bill_events as on
from .bus import OK, STATE, UNKNOWN, VALUE
from .device import SIMPLE_POLL
from .note import NO_ROUTE, TO_FRONT, TO_STACKER
from .note_counters import POLL_MS
from .note_events import CHECK_MS, MASK_TRIES, NoteEvents

ADDRESS = 40
EXTEND_MS = 2000  # a validator gives a note back some ten seconds after the last extension
DECIDE_MS = 30_000  # the firmware's time for a held note; then it goes back
ROUTE_MS = 2500  # from a route that nothing answered until it is sent again, if the note still waits
SELF_CHECK_MS = 2000  # while something is wrong
MOST_UNCHECKED = 3  # self-checks in a row without an answer: the device has none
MODE_TRIES = 3
TYPES = 16
CATEGORY = b"bill validator"

_EQUIPMENT_CATEGORY = 245
_SELF_CHECK = 232
_MODIFY_INHIBIT = 231
_MASTER_INHIBIT = 228
_BILL_ID = 157
_SCALING = 156
_ROUTE_BILL = 154
_MODIFY_MODE = 153
_REQUEST_MODE = 152

_INHIBITED = b"\x00"
_ENABLED = b"\x01"
_EXTEND = b"\xff"
_MODE = b"\x03"  # use the stacker and escrow
_USES_ESCROW = 2
_NOT_IN_ESCROW = 254


class NoteAcceptor(NoteEvents):
    """A validator at `address` on `bus`. Arguments and calls are those of hal.ssp.note_acceptor.NoteAcceptor.

    notes: pence of the notes that may be accepted, in `currency`
    last_token: what was committed with the last credit, dispute or refusal, b"" if there was none
    secret: of no use here; ccTalk's ciphers are licensed
    accepting: mask of the channels that the device last acknowledged, bit 0 for bill type 1; None while not known
    category: what the device says that it is
    unread_events, lost_events, resets: counters since the start

    Nothing is accepted until accept(True).
    """

    def __init__(
        self,
        bus,
        notes=(500, 1000, 2000, 5000),
        currency: str = "GBP",
        last_token: bytes = b"",
        secret=None,
        address: int = ADDRESS,
    ):
        NoteEvents.__init__(self, bus, last_token, address)
        self.category = ""
        self._notes = notes
        self._country = currency[:2].encode()
        self._scale = (0, 0)  # pence of one unit in a bill id, as a fraction
        self._worths: list = []
        self._id_tries = 0
        self._escrows = True
        self._mode_tries = 0  # modes that were acknowledged and not kept, since one was
        self._tried_ms = 0
        self._check_ms = 0

    def accept(self, channels) -> None:
        """True, False or a mask of channels (bit 0: bill type 1). Goes out at the next turn, and again after any reset."""
        wanted = 0xFFFF if channels is True else int(channels)
        if wanted != self._wanted:
            self._wanted = wanted
            if self.online:
                self._wake_ms = 0

    def booked(self) -> None:
        """The firmware has committed the oldest event."""
        self._events.pop()

    # Identification.

    def _begin(self) -> None:
        """Stop it first: it may still accept from before the cabinet was restarted."""
        self._lost_touch()
        if self._known != self._id():
            self._known = self._id()
            self._seen = -1
            self._last = self._unjudged = self._masked = None
            self._history = True
            self._checks, self._unchecked = True, 0
        self._fresh = True
        self._just_read = False
        self._master = self.accepting = None
        self._check_due = True
        self._ask(_MASTER_INHIBIT, self._stopped, _INHIBITED, STATE)

    def _stopped(self, answer: bytes) -> None:
        self._ask(_EQUIPMENT_CATEGORY, self._got_category)

    def _got_category(self, answer: bytes) -> None:
        self.category = "".join([chr(byte) for byte in answer])
        if answer.lower() != CATEGORY:
            self._search(OK)  # something else has this address
            return
        self._ask(_SCALING, self._got_scaling, self._country, shortest=3, longest=3)

    def _got_scaling(self, answer: bytes) -> None:
        """Factor, least significant byte first, and decimals of the currency: 100 and 2 make a 5 five pounds."""
        self._scale = ((answer[0] | answer[1] << 8) * 100, 10 ** min(answer[2], 9))
        self._worths = []
        self._id_tries = 0
        self._ask_id()

    def _ask_id(self) -> None:
        if len(self._worths) == TYPES:
            self._got_all()
        else:
            self._ask(_BILL_ID, self._got_id, bytes((len(self._worths) + 1,)), otherwise=self._no_id)

    def _no_id(self, status: int) -> None:
        """Refused: nothing there. Silence may be the end of the list, if the device answers to something else."""
        if status != UNKNOWN:
            self._got_id(b"")
            return
        self._id_tries += 1
        self._ask(SIMPLE_POLL, self._alive)

    def _alive(self, answer: bytes) -> None:
        if self._id_tries < 2:
            self._ask_id()
        else:
            self._got_all()

    def _got_id(self, answer: bytes) -> None:
        """Seven ASCII characters: country, value, issue; seven full stops where nothing is programmed."""
        self._id_tries = 0
        self._worths.append(self._worth(answer))
        self._ask_id()

    def _worth(self, bill_id: bytes) -> int:
        """Pence of a bill id, 0 for one that is not programmed, not in our currency, or no whole number of pence."""
        digits = bill_id[2:6]
        if len(bill_id) != 7 or bill_id[:2] != self._country:
            return 0
        value = 0
        for digit in digits:
            if not 48 <= digit <= 57:
                return 0
            value = value * 10 + digit - 48
        pence, rest = divmod(value * self._scale[0], self._scale[1])
        return 0 if rest else pence

    def _got_all(self) -> None:
        while self._worths and not self._worths[-1]:
            self._worths.pop()
        self.values = tuple(self._worths)
        self._usable = 0
        for place, pence in enumerate(self.values):
            if pence in self._notes:
                self._usable |= 1 << place
        self._find_counters(self._started)

    def _started(self, taken: int, rejected: int) -> None:
        self._open_books(taken)
        self._read_events()

    # The turn: what is most urgent is asked.

    def _look(self) -> None:
        now = self._now_ms
        just_read, self._just_read = self._just_read, False
        if self._place == HELD and self._route == NO_ROUTE:
            if self._order == NONE and now - self._since_ms >= DECIDE_MS:
                self._order = LEAVING
            if self._order != NONE:
                self._start_route(TO_STACKER if self._order == ORDERED else TO_FRONT, self._escrow_at)
        if self._shown:
            self._ask_counters(self._hold)
        elif self._route != NO_ROUTE and now >= self._route_ms:
            if just_read:
                self._send_route()
            else:
                self._read_events()
        elif now - self._read_ms >= POLL_MS:
            self._read_events()
        elif self._place == HELD and now - self._hold_ms >= EXTEND_MS:
            self._hold_ms = now
            self._ask(_ROUTE_BILL, self._extended, _EXTEND, VALUE, 0, 1, self._not_extended)
        elif self._judge_ms is not None and now >= self._judge_ms and not self._states & on.JAMS:
            self._judge_ms = None
            self._ask_counters(self._judge)
        elif self._must_check(now):
            self._check_due = False
            self._check_ms = now
            self._ask(_SELF_CHECK, self._checked, shortest=1, longest=2, otherwise=self._no_check)
        else:
            self._assert()

    def _idle(self) -> None:
        """Nothing more before the next poll."""
        self._pause(max(0, self._read_ms + POLL_MS - self._now_ms), self._look)

    def _go_on(self, answer: bytes) -> None:
        self._look()

    # Routes (header 154).

    def _send_route(self) -> None:
        """The events were read just now. The escrow event is the newest, or it is too late."""
        way = self._route
        if self._route_at != self._seen:
            self._route = NO_ROUTE
            if self._place == HELD:
                self._move(LEAVING)  # told or by its own time-out, it goes back
            self._look_soon()
            return
        if not self._route_tries:
            self._route = NO_ROUTE  # the device will give it back when its own time is over
            self._look_soon()
            return
        self._route_tries -= 1
        self._route_ms = self._now_ms + ROUTE_MS
        self._into_before = self._into
        self._into = self._into or way == TO_STACKER
        if self._place == HELD:
            self._move(ORDERED if way == TO_STACKER else LEAVING)
        elif self._place != NONE:
            self._patience(JUDGE_MS)
        self._ask(_ROUTE_BILL, self._routed, bytes((way,)), VALUE, 0, 1, self._not_routed)

    def _routed(self, answer: bytes) -> None:
        """Done (no data), nothing in escrow (254), or failed (255): then the note still waits, and is asked for again."""
        if answer:
            self._into = self._into_before
        if not answer or answer[0] == _NOT_IN_ESCROW:
            self._route = NO_ROUTE
        elif not self._route_tries and self._route == TO_STACKER:
            self._start_route(TO_FRONT, self._route_at)
            self._route_ms = self._now_ms + ROUTE_MS
        self._look_soon()

    def _not_routed(self, status: int) -> None:
        """Done or not: only the events can say. They are read, and in ROUTE_MS the note either waits or has gone."""
        if status != UNKNOWN:
            self._into = self._into_before
        self._no_answer(status)

    def _extended(self, answer: bytes) -> None:
        if answer and answer[0] == _NOT_IN_ESCROW and self._place == HELD:
            self._move(LEAVING)  # the events will tell
        self._look_soon()

    def _not_extended(self, status: int) -> None:
        self._no_answer(status)

    # What is set: operating mode, inhibit mask, master inhibit.

    def _mask(self) -> int:
        """A set bit lets the bill type in."""
        return self._wanted & self._usable or self._usable

    def _assert(self) -> None:
        wrong = self._states & (on.JAMS | on.FULL | on.REMOVED | on.BROKEN_STACKER | on.OUT) or not self._escrows
        blocked = self._place == UNSURE or self._odd or wrong or self._masked != self._mask()
        master = _ENABLED if self._wanted & self._usable and not blocked else _INHIBITED
        if self._masked != self._mask():
            if self._master == _ENABLED or self._master is None:
                self._ask(_MASTER_INHIBIT, self._master_set, _INHIBITED, STATE, otherwise=self._no_answer)
            elif self._masked == 0 and (self.pending() or self._odd or len(self._events)):
                self._idle()  # the reset is not settled yet, and a mask would hide it
            elif self._mask_tries >= MASK_TRIES and self._now_ms - self._tried_ms < CHECK_MS:
                self._idle()
            elif not self._mode_set:
                self._ask(_MODIFY_MODE, self._mode_sent, _MODE, STATE, otherwise=self._no_answer)
            else:
                self._ask(
                    _MODIFY_INHIBIT,
                    self._mask_sent,
                    self._mask().to_bytes(2, "little"),
                    STATE,
                    otherwise=self._no_answer,
                )
        elif self._master != master:
            self._ask(_MASTER_INHIBIT, self._master_set, master, STATE, otherwise=self._no_answer)
        else:
            self._idle()

    def _mode_sent(self, answer: bytes) -> None:
        self._ask(_REQUEST_MODE, self._mode_read, shortest=1, longest=1, otherwise=self._no_answer)

    def _mode_read(self, answer: bytes) -> None:
        """A device without escrow would take notes in unasked: it gets none. It may have forgotten the mode in between."""
        escrows = answer[0] & _USES_ESCROW != 0
        self._mode_tries = 0 if escrows else self._mode_tries + 1
        if 0 < self._mode_tries < MODE_TRIES:
            self._look_soon()
            return
        self._mode_set = True
        if self._escrows and not escrows:
            self._events.push(("fault", "out_of_service"))
        self._escrows = escrows
        self._look_soon()

    def _mask_sent(self, answer: bytes) -> None:
        self._masked = int.from_bytes(self._transaction.sent, "little")
        self._mask_tries += 1  # until it is read back
        self._tried_ms = self._now_ms
        self._mask_ms = self._now_ms - CHECK_MS
        self._read_ms = self._now_ms - POLL_MS  # read it back before anything is let in
        self._look_soon()

    def _master_set(self, answer: bytes) -> None:
        self._master = self._transaction.sent
        self.accepting = self._masked if self._master == _ENABLED else 0
        self._look_soon()

    # Conditions.

    def _must_check(self, now: int) -> bool:
        if self._place != NONE and not self._states:
            return False  # not while a note is under way
        return self._checks and (self._check_due or (self._states != 0 and now - self._check_ms >= SELF_CHECK_MS))

    def _no_check(self, status: int) -> None:
        """Three in a row without an answer and it has none; one that was lost on the line says nothing of the device."""
        self._unchecked += 1
        self._checks = status == UNKNOWN and self._unchecked < MOST_UNCHECKED
        self._unproven = self._unproven and self._checks
        self._tell_states(self._states)
        self._no_answer(status)

    def _checked(self, answer: bytes) -> None:
        """Self-check: 0, and all that was wrong is over; else at least one thing is."""
        found = on.found_by_check(answer[0])
        self._unproven, self._unchecked = False, 0
        self._tell_states(self._states | found if found else 0)
        self._look_soon()

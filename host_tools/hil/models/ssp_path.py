"""The path of a note through an acceptor, and the events that are made on the way. Sources: SOURCES.md 2.2.

A note is drawn in and read for `read_ms`. If its channel is enabled it waits in escrow, at most ten seconds after it came
there or after the last HOLD. Once accepted it is past recovery after `credit_ms`, when the credit event is made, and in the
stacker after another `stack_ms`. What was in the path when the power failed is cleared `clear_ms` after the next start: to
the front, or behind escrow to the cashbox.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from host_tools.hil.models.ssp_device import SspModel

GBP_NOTES: Final = {1: 500, 2: 1000, 3: 2000, 4: 5000}
ESCROW_US: Final = 10_000_000
POLL_WATCHDOG_US: Final = 10_000_000
READING, ESCROW, MOVING, PAST, LEAVING, JAMMED = "reading", "escrow", "moving", "past", "leaving", "jammed"
IN_STACKER, WITH_CUSTOMER = "stacker", "customer"
NOT_READ, INHIBITED, BY_HOST, BY_DISABLE, PULLED, TIMED_OUT, CANNOT_STACK = 1, 6, 8, 12, 14, 19, 29  # reject codes


@dataclass(slots=True)
class Note:
    """A note and where it is. `told` are the events that were made for it."""

    pence: int
    channel: int
    place: str
    shown: bool = False  # an answer has shown it in escrow
    told: list[int] = field(default_factory=list)


class NotePath(SspModel):
    """Truths: `stacked` and `returned` (pence, in order), `note` (the one in the path, or None), `notes` (the last 4096).

    A note counts as stacked once it is past recovery.
    """

    def __init__(
        self,
        name: str,
        *,
        address: int,
        channels: dict[int, int],
        currency: str,
        counts_at: str,
        evidence: str,
        read_ms: int,
        credit_ms: int,
        stack_ms: int,
        reject_ms: int,
        fixed_key: bytes,
    ) -> None:
        super().__init__(name, address=address, fixed_key=fixed_key)
        self.channels = channels
        self.currency = currency
        self.counts_at = counts_at
        self.evidence = evidence
        self.read_us, self.credit_us = read_ms * 1000, credit_ms * 1000
        self.stack_us, self.reject_us = stack_ms * 1000, reject_ms * 1000
        self.stacked: list[int] = []
        self.returned: list[int] = []
        self.notes: deque[Note] = deque(maxlen=4096)
        self.note: Note | None = None
        self.stacker = "ok"
        self._counters = [0, 0, 0, 0, 0]  # stacked, stored, dispensed, moved, rejected; they survive
        self._unacked: list[bytes] = []  # told with POLL_WITH_ACK and not acknowledged; they survive
        self._last_reject = 0
        self._clear_path_faults()
        self._start()

    def _start(self) -> None:
        """What begins anew with power."""
        self._link_start()
        self._enabled = False
        self._mask = 0
        self._version = 4
        self._clearing = True  # until the path was looked through
        self._events: list[tuple[int, bytes]] = []  # (told from this time on, event)
        self._swapped: bytes | None = None
        self._polled_us = self.now_us

    def _clear_path_faults(self) -> None:
        self._late_us = self._lose = self._repeat = 0
        self._swap = self._give_back = False
        self._jam = ""

    def _reached(self, place: str) -> None:
        """A note has come so far."""

    @property
    def accepting(self) -> bool:
        """Would a note be drawn in now?"""
        polled = self.now_us - self._polled_us <= POLL_WATCHDOG_US
        idle = self.note is None and not self._unacked and not self._clearing
        return self.on and self._enabled and bool(self._mask) and polled and idle and self.stacker == "ok"

    def insert(self, pence: int, now_us: int) -> Note:
        """A note is put to the slot."""
        self.poll(now_us)
        channel = next((number for number, value in self.channels.items() if value == pence), 0)
        note = Note(pence, channel, READING if self.accepting else WITH_CUSTOMER)
        self.notes.append(note)
        if note.place == WITH_CUSTOMER:
            self.returned.append(pence)
        else:
            self.note = note
            self.at(now_us + self.read_us, self._was_read)
            self._reached(READING)
        return note

    # A note's way

    def _was_read(self, now_us: int) -> None:
        note = self.note
        if note is None or note.place != READING:
            return
        if not note.channel:
            self._reject(NOT_READ)
        elif not self._mask >> (note.channel - 1) & 1:
            self._reject(INHIBITED)
        else:
            note.place = ESCROW
            self._keep(now_us)
            self._reached(ESCROW)

    def _in_escrow(self) -> bool:
        """Does a note wait for the host? Not one that lies there since before a start."""
        return self.note is not None and self.note.place == ESCROW and not self._clearing

    def _keep(self, now_us: int) -> None:
        self.cancel(self._timed_out)
        self.at(now_us + ESCROW_US, self._timed_out)

    def _timed_out(self, now_us: int) -> None:
        if self.note is not None and self.note.place == ESCROW:
            self._reject(TIMED_OUT)

    def _accept(self, now_us: int) -> None:
        assert self.note is not None
        self.cancel(self._timed_out)
        self.note.place = MOVING
        self.at(now_us + self.credit_us, self._passes)
        self._reached(MOVING)

    def _passes(self, now_us: int) -> None:
        note = self.note
        if note is None or note.place != MOVING:
            return
        if self._jam:
            note.place = JAMMED
        elif self._give_back:
            self._give_back = False
            self._reject(CANNOT_STACK)
        else:
            self._goes_in(note)
            self._tell(0xEE, note.channel)
            self.at(now_us + self.stack_us, self._arrives)
            self._reached(PAST)

    def _goes_in(self, note: Note) -> None:
        note.place = PAST
        self.stacked.append(note.pence)
        if self.counts_at == "credit":
            self._counters[0] += 1

    def _arrives(self, now_us: int) -> None:
        note = self.note
        if note is None or note.place != PAST:
            return
        self._in_stacker(note)
        self._tell(0xEB)

    def _in_stacker(self, note: Note) -> None:
        note.place = IN_STACKER
        if self.counts_at == "stacker":
            self._counters[0] += 1
        self.note = None

    def _reject(self, code: int) -> None:
        assert self.note is not None
        self.cancel(self._timed_out)
        self.note.place = LEAVING
        self._last_reject = code
        self.at(self.now_us + self.reject_us, self._left)

    def _left(self, now_us: int) -> None:
        note = self.note
        if note is None or note.place != LEAVING:
            return
        self._counters[4] += 1
        self._gives_back(note)
        self._tell(0xEC, note=note)

    def _gives_back(self, note: Note) -> None:
        note.place = WITH_CUSTOMER
        self.returned.append(note.pence)
        self.note = None

    def _clear_path(self, now_us: int) -> None:
        """After a start: what lay in the path goes on, or back."""
        note, self._clearing = self.note, False
        if note is None:
            return
        if note.place in (MOVING, PAST) or (note.place == JAMMED and self._jam != "unsafe"):
            if note.place != PAST:
                self._goes_in(note)
            self._in_stacker(note)
            self._tell_cleared(0xE2, note)
        else:
            self._counters[4] += 1
            known = note.place not in (READING,)
            self._gives_back(note)
            self._tell_cleared(0xE1, note, known)
        self._jam = ""

    def _tell_cleared(self, code: int, note: Note, known: bool = True) -> None:
        if self.evidence == "none":
            return
        if self.evidence == "amount" and code == 0xE2:
            amount = note.pence.to_bytes(4, "little") + self.currency.encode()
            self._tell_event(bytes([0xCA, 1]) + amount if self._version >= 8 else b"\xca", note)
        else:
            self._tell(code, note.channel if known and self.evidence == "channel" else 0, note)

    # Events

    def _tell(self, code: int, channel: int | None = None, note: Note | None = None) -> None:
        self._tell_event(bytes([code]) if channel is None else bytes([code, channel]), note or self.note)

    def _tell_event(self, event: bytes, note: Note | None) -> None:
        if note is not None:
            note.told.append(event[0])
        if self._lose:
            self._lose -= 1
            return
        copies = 1
        if self._repeat:
            self._repeat -= 1
            copies = 2
        if self._swap:
            self._swap = False
            self._swapped = event
            return
        due_us = self.now_us + self._late_us
        self._events += [(due_us, event)] * copies
        if self._swapped is not None:
            self._events.append((due_us, self._swapped))
            self._swapped = None

"""The way of a note through an acceptor, whatever the protocol. Sources: SOURCES.md 2.2 and 1.7.

A note is drawn in and read for `read_ms`. If it is let in it waits in escrow, at most ten seconds after it came there or the
host last asked for more time. Once accepted it is past recovery after `credit_ms`, and in the stacker after another `stack_ms`.
What was in the path when the power failed is cleared at the next start: to the front, or behind escrow to the stacker.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from host_tools.hil.device import Model

GBP_NOTES: Final = {1: 500, 2: 1000, 3: 2000, 4: 5000}
ESCROW_US: Final = 10_000_000
READING, ESCROW, MOVING, PAST, LEAVING, JAMMED = "reading", "escrow", "moving", "past", "leaving", "jammed"
IN_STACKER, WITH_CUSTOMER = "stacker", "customer"
# Why a note goes back.
NOT_READ, INHIBITED, BY_HOST, BY_DISABLE = "not read", "inhibited", "by the host", "switched off"
PULLED, TIMED_OUT, CANNOT_STACK = "pulled", "timed out", "cannot be stacked"


@dataclass(slots=True)
class Note:
    """A note and where it is. `told` are the events that were made for it."""

    pence: int
    channel: int
    place: str
    shown: bool = False  # an answer has shown it in escrow
    told: list[int] = field(default_factory=list)


class NotePath(Model):
    """Truths: `stacked` and `returned` (pence, in order), `note` (the one in the path, or None), `notes` (the last 4096).

    A note counts as stacked once it is past recovery. `counters` survive: notes taken, and notes given back.
    """

    def fit_path(
        self, *, channels: dict[int, int], counts_at: str, read_ms: int, credit_ms: int, stack_ms: int, reject_ms: int
    ) -> None:
        """Called once, by the model's constructor. `counts_at`: where a note is counted as taken, "credit" or "stacker"."""
        self.channels = channels
        self.counts_at = counts_at
        self.read_us, self.credit_us = read_ms * 1000, credit_ms * 1000
        self.stack_us, self.reject_us = stack_ms * 1000, reject_ms * 1000
        self.stacked: list[int] = []
        self.returned: list[int] = []
        self.notes: deque[Note] = deque(maxlen=4096)
        self.note: Note | None = None
        self.stacker = "ok"
        self.on_told: Callable[[str], None] = lambda what: None  # an answer with these events, or none, is made
        self.counted_in = self.counted_back = 0
        self._clearing = True  # until the path was looked through
        self._reason = NOT_READ  # of the last note that went back
        self._clear_path_faults()

    def _clear_path_faults(self) -> None:
        self._give_back = False
        self._jam = ""

    # What the protocol makes of it.

    @property
    def accepting(self) -> bool:
        """Would a note be drawn in now?"""
        raise NotImplementedError

    def lets_in(self, channel: int) -> bool:
        """Is this channel enabled?"""
        raise NotImplementedError

    def escrowed(self, note: Note) -> None:
        """It waits for the host."""

    def credited(self, note: Note) -> None:
        """It is past recovery."""

    def arrived(self, note: Note) -> None:
        """It is in the stacker."""

    def left(self, note: Note, reason: str) -> None:
        """The customer has it back."""

    def cleared(self, note: Note, inside: bool, known: bool) -> None:
        """After a start it was found in the path, and went in or out. `known`: it had been read."""

    def jammed(self, note: Note) -> None:
        """It sticks."""

    def _reached(self, place: str) -> None:
        """A note has come so far."""

    # A note's way

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

    def _was_read(self, now_us: int) -> None:
        note = self.note
        if note is None or note.place != READING:
            return
        if not note.channel:
            self._reject(NOT_READ)
        elif not self.lets_in(note.channel):
            self._reject(INHIBITED)
        else:
            note.place = ESCROW
            self._keep(now_us)
            self.escrowed(note)
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
            self.jammed(note)
        elif self._give_back:
            self._give_back = False
            self._reject(CANNOT_STACK)
        else:
            self._goes_in(note)
            self.credited(note)
            self.at(now_us + self.stack_us, self._arrives)
            self._reached(PAST)

    def _goes_in(self, note: Note) -> None:
        note.place = PAST
        self.stacked.append(note.pence)
        if self.counts_at == "credit":
            self.counted_in += 1

    def _arrives(self, now_us: int) -> None:
        note = self.note
        if note is None or note.place != PAST:
            return
        self._in_stacker(note)
        self.arrived(note)

    def _in_stacker(self, note: Note) -> None:
        note.place = IN_STACKER
        if self.counts_at == "stacker":
            self.counted_in += 1
        self.note = None

    def _reject(self, reason: str) -> None:
        assert self.note is not None
        self.cancel(self._timed_out)
        self.note.place = LEAVING
        self._reason = reason
        self.at(self.now_us + self.reject_us, self._left)

    def _left(self, now_us: int) -> None:
        note = self.note
        if note is None or note.place != LEAVING:
            return
        self.counted_back += 1
        self._gives_back(note)
        self.left(note, self._reason)

    def _gives_back(self, note: Note) -> None:
        note.place = WITH_CUSTOMER
        self.returned.append(note.pence)
        self.note = None

    def _falls_out(self) -> None:
        """A note in escrow or on its way slips out at the front without a word."""
        if self.note is not None and self.note.place in (ESCROW, MOVING):
            self.cancel(self._timed_out)
            self._gives_back(self.note)

    def _clear_path(self, now_us: int) -> None:
        """After a start: what lay in the path goes on, or back."""
        note, self._clearing = self.note, False
        if note is None:
            return
        if note.place in (MOVING, PAST) or (note.place == JAMMED and self._jam != "unsafe"):
            if note.place != PAST:
                self._goes_in(note)
            self._in_stacker(note)
            self.cleared(note, True, True)
        else:
            self.counted_back += 1
            known = note.place != READING
            self._gives_back(note)
            self.cleared(note, False, known)
        self._jam = ""

    def _mend_jam(self, jam: str) -> None:
        """A technician has been: a jammed note goes on, or back if the customer could have reached it."""
        note = self.note
        if note is not None and note.place == JAMMED:
            if jam == "unsafe":
                self._reject(CANNOT_STACK)
            else:
                note.place = MOVING
                self.at(self.now_us, self._passes)

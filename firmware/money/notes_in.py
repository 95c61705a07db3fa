"""Notes: when one is taken, and what becomes of each (hal/README.md: the contract of note acceptors).

| the driver tells | one record of the journal holds | then |
|---|---|---|
| escrow, and the note is wanted | the pending note: pence, channel, evidence | `stack()` |
| escrow, and it is not | - | `return_note()` |
| stacked | credit, account of its value, token, end of the pending note, pulses to be counted, ring, meters | `booked()` |
| returned | end of the pending note, meter, event | `booked()` |
| disputed | end of the pending note, token, meter, event with value and reason, tilt | `booked()` |

So a note is credited once, on the event behind which it cannot come back (CAB-NOT-02), and a power cut at any step finds
either no pending note or all that the driver needs to find out what became of it (CAB-PWR-02).
"""

import struct

from firmware import events, notes
from firmware.money import increments
from firmware.money.ledger import NOTES_PENCE
from firmware.store import keys

DEVICE = 5  # of the events device online and offline
NOTHING = -1  # room for no note at all

_PENDING = "<IB"  # pence, channel; the driver's evidence follows
_PENDING_BYTES = 5

# What a dispute's event holds above the pence: its reason's place in this list. Only ever append.
REASONS = (
    "lost",
    "other_device",
    "too_many",
    "given_up",
    "given_back",
    "unasked",
    "unbooked",
    "value",  # taken, but no note that this cabinet has an account for
)
_NOT_PENDING = ("given_back", "unasked", "unbooked")  # reasons that say nothing of the pending note
REASON_SHIFT = 24
FAULTS = ("path_open", "out_of_service", "key")  # as the argument of an event


class NotesIn:
    """The note acceptor's part of the machine. `show`: as the machine's. `room`: a function that tells how many pence a note may
    have now, NOTHING when some condition to take one does not hold.

    acceptor: the driver, None while there is none
    fitted: the configuration says that there is an acceptor
    pending_pence: what the pending note is worth, 0 when there is none
    """

    def __init__(self, books, tilts, show, room):
        self.acceptor = None
        self.fitted = False
        self.online = False
        self._books = books
        self._tilts = tilts
        self._show = show
        self._room = room
        self._smallest = 0  # of the notes that are accepted
        self._notes = ()
        self._jam = ""
        self._stacker = "ok"
        self._leaving = 0  # pence of a note that was told to go back
        self._channels = 0  # mask of the channels whose notes are accepted
        self._accepting = 0
        pending = self._pending()
        self.pending_pence = pending[0] if pending else 0

    def _pending(self):
        """(pence, channel, evidence) of the pending note, None when there is none."""
        data = self._books.journal.get(keys.NOTE_PENDING)
        if not data:
            return None
        pence, channel = struct.unpack(_PENDING, data[:_PENDING_BYTES])
        return (pence, channel, bytes(data[_PENDING_BYTES:]))

    def fit(self, acceptor) -> None:
        """`acceptor`, or None, is on the note line from now on. Before its first poll it hears of the pending note."""
        self.acceptor = acceptor
        self.online = False
        self._jam, self._stacker = "", "ok"
        self._channels = self._accepting = self._leaving = 0
        pending = self._pending()
        if acceptor is not None and pending is not None:
            acceptor.resume(pending[0], pending[1], pending[2])

    def configure(self, values) -> None:
        """`values`: pence of the notes that are accepted."""
        self._notes = values
        self._smallest = min(values) if values else 0
        self._find_channels()

    def _find_channels(self) -> None:
        self._channels = 0
        if self.acceptor is not None:
            for index, pence in enumerate(self.acceptor.values):
                if pence in self._notes:
                    self._channels |= 1 << index

    def quiet(self) -> bool:
        """No note is on its way."""
        return not self.pending_pence and (self.acceptor is None or not self.acceptor.pending())

    def accept(self, room: int) -> None:
        """Lets notes in while the smallest one fits into `room`, pence up to the nearest limit."""
        mask = self._channels if room >= self._smallest else 0
        if mask != self._accepting and self.acceptor is not None:
            self._accepting = mask
            self.acceptor.accept(mask)

    def follow(self, now_ms: int) -> None:
        """Tilts that come and go with what the device says. It says so again after a restart."""
        follow, fitted = self._tilts.follow, self.fitted
        follow("note_jam", fitted and self._jam != "", now_ms)
        follow("note_full", fitted and self._stacker == "full", now_ms)
        follow("note_stacker", fitted and self._stacker == "removed", now_ms)
        follow("note_offline", fitted and not self.online, now_ms)

    def give_up(self) -> bool:
        """An attendant has looked: a note in an acceptor that is gone becomes a dispute. False: there is none."""
        if self.acceptor is None or self.online or not self._tilts.present("note_offline"):
            return False
        return self.acceptor.give_up()

    def poll(self, now_ms: int) -> None:
        """Takes one event of the driver, so that the turn stays short."""
        acceptor = self.acceptor
        if acceptor is None:
            return
        event = acceptor.event()
        if event is None:
            return
        kind = event[0]
        if kind == "escrow":
            self._held(acceptor, event, now_ms)
        elif kind == "stacked":
            self._stacked(event, now_ms)
        elif kind == "returned":
            self._returned(now_ms)
        elif kind == "disputed":
            self._disputed(event, now_ms)
        elif kind in ("online", "offline"):
            self.online = kind == "online"
            code = events.DEVICE_ONLINE if self.online else events.DEVICE_OFFLINE
            self._books.transaction(now_ms).event(code, DEVICE).commit()
            self._find_channels()
        else:
            self._device(kind, event, now_ms)
        acceptor.booked()

    # --- a note's way ---------------------------------------------------------------------------------------------

    def _held(self, acceptor, event, now_ms: int) -> None:
        """All conditions are judged now, with the note's value (CAB-NOT-01, CAB-NOT-03)."""
        _, pence, channel, evidence = event
        taken = not self.pending_pence and pence in self._notes and pence <= self._room()
        if taken:
            record = struct.pack(_PENDING, pence, channel) + evidence
            self._books.transaction(now_ms).set(keys.NOTE_PENDING, record).commit()
            self.pending_pence = pence
            acceptor.stack()
        else:
            self._leaving = pence
            acceptor.return_note()
        self._show({"e": "note_held", "pence": pence, "taken": taken})

    def _stacked(self, event, now_ms: int) -> None:
        """Irrevocable: all that belongs to it is one record (CAB-MTR-04)."""
        _, token, pence, _ = event
        transaction = self._ended(now_ms).set(keys.NOTE_TOKEN, token).count("notes_in_stacker")
        if pence not in NOTES_PENCE:
            self._dispute(pence, "value", transaction)
            return
        journal = self._books.journal
        transaction.post("notes_%d" % pence, pence).post("credit", pence)
        transaction.set(keys.EM_IN_PENCE, journal.get_int(keys.EM_IN_PENCE) + pence)
        increments.note(journal, self._tilts, pence, transaction)
        for key, value in notes.changes(self._books, pence, now_ms):
            transaction.set(key, value)
        if not self.pending_pence:
            transaction.event(events.NOTE_UNASKED, pence)
        transaction.commit()
        self.pending_pence = 0
        self._show({"e": "note", "pence": pence, "credit": self._books.ledger.value("credit")})

    def _returned(self, now_ms: int) -> None:
        pence, self._leaving = self.pending_pence or self._leaving, 0
        self._ended(now_ms).count("notes_returned").event(events.NOTE_RETURNED, pence).commit()
        self.pending_pence = 0

    def _disputed(self, event, now_ms: int) -> None:
        _, token, pence, reason = event
        open_still = reason in _NOT_PENDING
        transaction = self._books.transaction(now_ms) if open_still else self._ended(now_ms)
        self._dispute(pence, reason, transaction.set(keys.NOTE_TOKEN, token), open_still)

    def _dispute(self, pence: int, reason: str, transaction, open_still: bool = False) -> None:
        """Commits a dispute record: an attendant settles it with whoever stands there."""
        transaction.count("notes_disputed").event(events.NOTE_DISPUTED, REASONS.index(reason) << REASON_SHIFT | pence)
        self._tilts.latch("notes_disputed", transaction)
        transaction.commit()
        if not open_still:
            self.pending_pence = 0
        self._show({"e": "note_disputed", "pence": pence, "reason": reason})

    def _ended(self, now_ms: int):
        """A transaction that ends the pending note, if there is one."""
        transaction = self._books.transaction(now_ms)
        if self.pending_pence:
            transaction.set(keys.NOTE_PENDING, b"")
        return transaction

    # --- the device -----------------------------------------------------------------------------------------------

    def _device(self, kind: str, event, now_ms: int) -> None:
        if kind == "jam":
            self._jam = event[1]
            return
        if kind == "stacker" and event[1] != "removed":
            self._stacker = "full" if event[1] == "full" else "ok"
            return
        transaction = self._books.transaction(now_ms)
        if kind == "stacker":
            self._stacker = "removed"
            held = self._books.meters.value("notes_in_stacker")
            transaction.count("stacker_removals").event(events.STACKER_REMOVED, held).zero("notes_in_stacker")
        elif kind == "refused":
            transaction.set(keys.NOTE_TOKEN, event[1]).count("notes_refused").event(events.NOTE_REFUSED, event[2])
        elif kind == "fraud":
            self._tilts.latch("note_fraud", transaction)
        elif kind == "fault":
            transaction.event(events.NOTE_FAULT, FAULTS.index(event[1]))
            self._tilts.latch("note_fault", transaction)
        elif kind == "device_reset":
            transaction.count("note_acceptor_resets").event(events.NOTE_ACCEPTOR_RESET)
        transaction.commit()

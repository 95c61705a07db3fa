"""Tilts: conditions under which nothing can be played, each with a code, a message and who clears it (CAB-EVT-03)."""

from firmware import events
from firmware.store import keys

AUTO = "auto"  # goes when its cause goes
ATTENDANT = "attendant"  # stays until the attendant key is turned with the cause gone, over power loss too
TECHNICIAN = "technician"  # as above, technician key

# name: (code, clears, message). The order numbers the bits of the journal's mask: only ever append.
_TABLE = (
    ("door_main", 11, AUTO, "main door open"),
    ("door_cashbox", 12, AUTO, "cashbox door open"),
    ("door_note_box", 13, AUTO, "note box door open"),
    ("door_logic", 14, AUTO, "logic door open"),
    ("panel_offline", 15, AUTO, "I/O board does not answer"),
    ("coin_in", 21, ATTENDANT, "coin acceptor: manipulation"),
    ("coin_jam", 23, ATTENDANT, "coin acceptor: device fault"),
    ("acceptor_offline", 24, AUTO, "coin acceptor does not answer"),
    ("coins_lost", 25, ATTENDANT, "coins swallowed without credit: settle the dispute"),
    ("hopper_empty", 41, ATTENDANT, "hopper empty: refill"),
    ("hopper_jam", 42, ATTENDANT, "hopper jammed"),
    ("hopper_extra", 43, TECHNICIAN, "hopper gave coins beyond its order"),
    ("hopper_sensor", 44, ATTENDANT, "hopper sensor fault"),
    ("hopper_offline", 45, AUTO, "hopper does not answer"),
    ("memory", 52, TECHNICIAN, "critical memory unrecoverable: RAM clear needed"),
    ("audit", 55, TECHNICIAN, "meters and credit disagree"),
    ("rng_repetition", 61, AUTO, "random source repeats itself"),
    ("rng_no_data", 63, AUTO, "random source gives no data"),
    ("hopper_evidence", 46, ATTENDANT, "pay-out interrupted: the hopper cannot prove what it paid, count the coins"),
    ("program", 71, TECHNICIAN, "game program does not match its hash"),
    ("rng_proportion", 62, AUTO, "random source prefers some values"),
    ("rng_known_answer", 64, AUTO, "random generator failed a known-answer test"),
    ("rng_device", 65, AUTO, "random source reports a fault of its own"),
    ("em_meter", 81, TECHNICIAN, "electromechanical meter is not plugged in"),
    ("excessive", 82, TECHNICIAN, "excessive meter increment: coins, notes or an award beyond what one play can bring"),
    ("program_new", 72, AUTO, "games are not those that a technician has accepted: type program"),
    ("note_jam", 31, AUTO, "note acceptor jammed"),
    ("note_full", 32, AUTO, "stacker full: empty it"),
    ("note_stacker", 33, AUTO, "stacker removed"),
    ("note_fraud", 34, ATTENDANT, "note acceptor: manipulation"),
    ("note_offline", 35, AUTO, "note acceptor does not answer"),
    ("note_fault", 36, ATTENDANT, "note acceptor: device fault, see events"),
    ("notes_disputed", 37, ATTENDANT, "what became of a note is not known: settle the dispute"),
)
NAMES = tuple([row[0] for row in _TABLE])
CODES = {row[0]: row[1] for row in _TABLE}
CLEARS = {row[0]: row[2] for row in _TABLE}
MESSAGES = {row[0]: row[3] for row in _TABLE}
_BITS = {NAMES[i]: 1 << i for i in range(len(NAMES))}


class Tilts:
    """The active tilts. Latched ones live in the journal, automatic ones follow their causes."""

    def __init__(self, books):
        self._books = books
        self._automatic = {}

    def latched(self, name: str) -> bool:
        return bool(self._books.journal.get_int(keys.TILTS) & _BITS[name])

    def present(self, name: str) -> bool:
        """The automatic tilt `name` holds."""
        return name in self._automatic

    def active(self):
        """Names of all active tilts, in the order of the table."""
        mask = self._books.journal.get_int(keys.TILTS)
        return [name for name in NAMES if mask & _BITS[name] or name in self._automatic]

    def any(self) -> bool:
        return bool(self._automatic) or bool(self._books.journal.get(keys.TILTS))  # 0 has no bytes

    def follow(self, name: str, present: bool, now_ms: int) -> bool:
        """Sets or lifts an automatic tilt; logs each change. True when it changed."""
        if present == (name in self._automatic):
            return False
        transaction = self._books.transaction(now_ms)
        if present:
            self._automatic[name] = True
            transaction.event(events.TILT, CODES[name]).count("tilts")
        else:
            del self._automatic[name]
            transaction.event(events.TILT_CLEARED, CODES[name])
        transaction.commit()
        return True

    def latch(self, name: str, transaction) -> None:
        """Adds the latching of `name` to `transaction`; nothing when it is latched already."""
        self.latch_all((name,), transaction)

    def latch_all(self, names, transaction) -> None:
        latch(self._books.journal, names, transaction)

    def clear(self, key: str, now_ms: int) -> bool:
        """Clears what the turned `key` ("attendant" or "technician") may clear. True when something was."""
        mask = self._books.journal.get_int(keys.TILTS)
        cleared = [name for name in NAMES if mask & _BITS[name] and (CLEARS[name] == key or key == TECHNICIAN)]
        if not cleared:
            return False
        transaction = self._books.transaction(now_ms)
        for name in cleared:
            mask &= ~_BITS[name]
            transaction.event(events.TILT_CLEARED, CODES[name])
        transaction.set(keys.TILTS, mask).commit()
        return True


def latch(journal, names, transaction) -> None:
    """Adds the latching of tilts to `transaction`, for those who do not hold the Tilts."""
    mask = journal.get_int(keys.TILTS)
    for name in names:
        if not mask & _BITS[name]:
            mask |= _BITS[name]
            transaction.event(events.TILT, CODES[name]).count("tilts")
    transaction.set(keys.TILTS, mask)

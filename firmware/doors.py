"""Doors: each has its event, its meter and its tilt, and opening one is heard (CAB-DOR-01, CAB-DOR-03)."""

from firmware import events
from firmware.store import keys

NAMES = ("main", "cashbox", "note_box", "logic")
ALARM_MS = 2000  # of a door that was opened, also if it is closed at once (CAB-DOR-01: at least 1.5 s)


class Doors:
    """The tilts follow the panel's inputs (machine.py)."""

    def __init__(self, books, panel, show):
        self._books = books
        self._panel = panel
        self._show = show
        self._alarm_ms = -ALARM_MS  # when a door was opened last

    def changed(self, is_open: bool, name: str, found: bool, now_ms: int) -> None:
        """A door was opened or closed. `found`: at power-up, or when the panel came back."""
        mask = self._books.journal.get_int(keys.DOORS_OPEN)
        bit = 1 << NAMES.index(name)
        if bool(mask & bit) == is_open:
            return  # the state before the power went; already counted
        transaction = self._books.transaction(now_ms)
        transaction.set(keys.DOORS_OPEN, mask | bit if is_open else mask & ~bit)
        opened = events.DOOR_FOUND_OPEN if found else events.DOOR_OPEN
        transaction.event(opened if is_open else events.DOOR_CLOSED, NAMES.index(name))
        if is_open:
            transaction.count("door_" + name)
            self._alarm_ms = now_ms
            self._show({"e": "sound", "sound": "door_alarm", "ms": ALARM_MS})
        else:
            transaction.zero("games_since_door")
        transaction.commit()
        self._show({"e": "door", "door": name, "open": is_open})

    def found_closed(self, now_ms: int) -> None:
        """A door that was closed while nobody looked is told by no event."""
        for name in NAMES:
            if self._panel.closed(name):
                self.changed(False, name, True, now_ms)

    def alarm_ms(self, now_ms: int) -> int:
        """How long ago a door was opened, -1 when it was closed again and its alarm is over."""
        since_ms = now_ms - self._alarm_ms
        return since_ms if since_ms < ALARM_MS or self._books.journal.get_int(keys.DOORS_OPEN) else -1

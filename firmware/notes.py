"""The last ten notes: when and how much (CAB-MTR-11). Whoever credits a note adds `changes` to that transaction."""

import struct

from firmware.store import keys

_RECORD = "<II"  # date, pence


def changes(books, pence: int, now_ms: int):
    """Journal changes that append a note, for the caller's transaction."""
    total = books.journal.get_int(keys.NOTES_TOTAL)
    record = struct.pack(_RECORD, books.date(now_ms), pence)
    return ((keys.NOTE_BASE + total % keys.NOTE_SLOTS, record), (keys.NOTES_TOTAL, total + 1))


def newest(journal, number: int):
    """Up to `number` notes, newest first, as (sequence, date, pence)."""
    total = journal.get_int(keys.NOTES_TOTAL)
    found = []
    for sequence in range(total - 1, max(-1, total - 1 - min(number, keys.NOTE_SLOTS)), -1):
        date, pence = struct.unpack(_RECORD, journal.get(keys.NOTE_BASE + sequence % keys.NOTE_SLOTS))
        found.append((sequence, date, pence))
    return found

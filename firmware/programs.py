"""Log of the last ten program changes: when, from which hash to which, and the firmware's version (CAB-PRG-03)."""

import struct

from firmware.store import keys

VERSION = "0.1.0"
_RECORD = "<I32s32s"  # date, hash before (zeros: none), hash after; then the version


def changes(books, old: bytes, new: bytes, now_ms: int, version: str = VERSION):
    """Journal changes that append a program change, for the caller's transaction. `old` is b"" at the first start."""
    journal = books.journal
    total = journal.get_int(keys.PROGRAMS_TOTAL)
    record = struct.pack(_RECORD, books.date(now_ms), old, new) + version.encode()
    return ((keys.PROGRAM_BASE + total % keys.PROGRAM_SLOTS, record), (keys.PROGRAMS_TOTAL, total + 1))


def newest(journal, number: int):
    """Up to `number` changes, newest first, as (sequence, date, old hash, new hash, version)."""
    total = journal.get_int(keys.PROGRAMS_TOTAL)
    found = []
    for sequence in range(total - 1, max(-1, total - 1 - min(number, keys.PROGRAM_SLOTS)), -1):
        record = journal.get(keys.PROGRAM_BASE + sequence % keys.PROGRAM_SLOTS)
        date, old, new = struct.unpack(_RECORD, record[: struct.calcsize(_RECORD)])
        found.append((sequence, date, old, new, record[struct.calcsize(_RECORD) :].decode()))
    return found

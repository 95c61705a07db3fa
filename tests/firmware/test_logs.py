"""Rings of notes and program changes, and the table of tilts."""

from itertools import pairwise

import pytest

from firmware import notes, programs, tilt
from firmware.books import Books
from firmware.store.journal import Journal
from tests.firmware.nvram import RigNvram


class Noon:
    """A clock that counts from a date."""

    def date(self, now_ms: int) -> int:
        return 825_681_600 + now_ms // 1000


@pytest.fixture
def books() -> Books:
    journal = Journal(RigNvram())
    journal.open()
    return Books(journal, Noon())


def append(books: Books, changes) -> None:
    transaction = books.transaction(0)
    for key, value in changes:
        transaction.set(key, value)
    transaction.commit()


def test_the_last_ten_notes_are_kept(books):
    assert notes.newest(books.journal, 10) == []
    for number in range(13):
        append(books, notes.changes(books, 500 * (number + 1), number * 1000))
    assert notes.newest(books.journal, 10) == [
        (number, 825_681_600 + number, 500 * (number + 1)) for number in range(12, 2, -1)
    ]
    assert notes.newest(books.journal, 2)[1][0] == 11


def test_the_last_ten_program_changes_are_kept(books):
    hashes = [b"", *(bytes([number]) * 32 for number in range(1, 14))]
    for number, (old, new) in enumerate(pairwise(hashes)):
        append(books, programs.changes(books, old, new, number * 1000))
    kept = programs.newest(books.journal, 10)
    assert [row[0] for row in kept] == list(range(12, 2, -1))
    assert kept[0] == (12, 825_681_600 + 12, hashes[12], hashes[13], programs.VERSION)


def test_the_first_program_has_none_before_it(books):
    append(books, programs.changes(books, b"", b"\x01" * 32, 0))
    assert programs.newest(books.journal, 10)[0][2] == bytes(32)


def test_every_tilt_has_a_code_a_message_and_somebody_who_clears_it():
    """CAB-EVT-03. The effect is the same for all: while one is active nothing can be played (machine.py's table of states)."""
    assert len(set(tilt.CODES.values())) == len(tilt.NAMES)
    for name in tilt.NAMES:
        assert 11 <= tilt.CODES[name] <= 99
        assert len(tilt.MESSAGES[name]) > 8
        assert tilt.CLEARS[name] in (tilt.AUTO, tilt.ATTENDANT, tilt.TECHNICIAN)

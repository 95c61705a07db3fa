"""Excessive increments (CAB-MTR-06): more money within one play than a sound cabinet can take or award is a fault.

What coins and notes bring is summed from the beginning of one play to the beginning of the next, over power loss too. At the
limit the sum begins anew and the technician has to look. The money itself is booked like any other: it is in the cabinet.
"""

from firmware import events
from firmware.store import keys

COINS_PER_PLAY_PENCE = 100000  # default configuration, as is the next
NOTES_PER_PLAY_PENCE = 1000000


def coin(journal, tilts, pence: int, transaction) -> None:
    """Adds an accepted coin to what came in since the last play began, in the transaction that credits it."""
    _add(journal, tilts, keys.COINS_SINCE_PLAY, pence, COINS_PER_PLAY_PENCE, transaction)


def note(journal, tilts, pence: int, transaction) -> None:
    _add(journal, tilts, keys.NOTES_SINCE_PLAY, pence, NOTES_PER_PLAY_PENCE, transaction)


def play_begins(transaction) -> None:
    transaction.set(keys.COINS_SINCE_PLAY, 0).set(keys.NOTES_SINCE_PLAY, 0)


def _add(journal, tilts, key: int, pence: int, limit_pence: int, transaction) -> None:
    total = journal.get_int(key) + pence
    if total >= limit_pence:
        transaction.event(events.EXCESSIVE_INCREMENT, total)
        tilts.latch("excessive", transaction)
        total = 0
    transaction.set(key, total)

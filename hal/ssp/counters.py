"""What an SSP acceptor counts without power, as evidence of what became of a note (hal/evidence.py).

    counters        58: [number of counters][stacked][stored][dispensed][moved from store to stacker][rejected], 4 bytes each

The device in a token and in evidence is its serial number.
"""

from .. import evidence as of
from ..evidence import FOREIGN, NO_COUNT


def counters(answer):
    """(taken, rejected) of an answer to 58 without its first byte F0, (NO_COUNT, NO_COUNT) if it is none.

    A note is taken when it went to the stacker or to the store of a payout device.
    """
    if answer is None or len(answer) < 21 or answer[0] < 5:
        return (NO_COUNT, NO_COUNT)
    taken = int.from_bytes(answer[1:5], "little") + int.from_bytes(answer[5:9], "little")
    return (taken & NO_COUNT, int.from_bytes(answer[17:21], "little"))


def token(serial: int, taken: int, channel: int) -> bytes:
    """What is committed with a credit or a dispute."""
    return of.token(serial.to_bytes(4, "big"), taken, channel)


def evidence(serial: int, taken: int, rejected: int) -> bytes:
    """What is committed with a held note."""
    return of.evidence(serial.to_bytes(4, "big"), taken, rejected)


def serial_of(record: bytes) -> int:
    """Serial number of the device in a token or in evidence."""
    return int.from_bytes(record[:4], "big")


def verdict(record: bytes, serial: int, taken: int, rejected: int) -> int:
    """What became of the one note that `record` is the evidence of, by the counters as they stand now."""
    return of.judged(record, taken, rejected, NO_COUNT) if serial_of(record) == serial else FOREIGN

"""What a bill validator counts, as evidence of what became of a note (hal/evidence.py).

The event counter (header 159) lives as long as the device has power; the counters of accepted (225) and rejected notes (194)
survive, where the device has them. The device in a token and in evidence: three bytes of its serial number, and the event
counter, in evidence that of the escrow event.
"""

from .. import evidence as of
from ..evidence import FOREIGN

_HIGHEST = 0xFFFFFF  # of a counter of notes


def token(serial: int, counter: int, taken: int, channel: int) -> bytes:
    """What is committed with a credit or a dispute."""
    return of.token(serial.to_bytes(3, "big") + bytes((counter,)), taken, channel)


def evidence(serial: int, counter: int, taken: int, rejected: int) -> bytes:
    """What is committed with a held note."""
    return of.evidence(serial.to_bytes(3, "big") + bytes((counter,)), taken, rejected)


def serial_of(record: bytes) -> int:
    """Serial number of the device in a token or in evidence."""
    return int.from_bytes(record[:3], "big")


def counter_of(record: bytes) -> int:
    """Event counter in a token or in evidence."""
    return record[3]


def grown(before: int, now: int) -> int:
    """How far a counter of notes has moved on."""
    return (now - before) & _HIGHEST


def verdict(record: bytes, serial: int, taken: int, rejected: int) -> int:
    """What became of the one note that `record` is the evidence of, by the counters as they stand now."""
    return of.judged(record, taken, rejected, _HIGHEST) if serial_of(record) == serial else FOREIGN


def continues(older: bytes, newer: bytes) -> bool:
    """Whether an answer to 159 goes on where an older one stood: what both show is the same. False when they share nothing."""
    if not newer[0] or not older[0]:
        return newer[0] == older[0]
    more = newer[0] - older[0] if newer[0] >= older[0] else 255 - older[0] + newer[0]
    return more < 5 and newer[1 + 2 * more :] == older[1 : 11 - 2 * more]

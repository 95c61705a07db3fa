"""What became of a note, judged by figures that a bill validator keeps: event counter, accepted and rejected notes.

The event counter (header 159) lives as long as the device has power; the counters of accepted (225) and rejected notes (194)
survive, where the device has them. `evidence` is what the firmware commits with a held note: serial number, event
counter of the escrow event, both counters before the note moved on. A `token` is what it commits with a credit or a dispute:
serial number, event counter, number of notes taken, that one included, and channel. Both are opaque to everyone else.
"""

NO_COUNT = 0xFFFFFFFF  # the device keeps no counters
TOKEN_BYTES = 9
EVIDENCE_BYTES = 12
DISPUTED = 0x80  # added to the channel of a token: what the device tells later may still be that note

STACKED = 0
RETURNED = 1
LOST = 2  # nothing moved as far as the counters tell, or there are none
FOREIGN = 3  # another device than the one that held the note
TOO_MANY = 4  # more than one note was taken since


def token(serial: int, counter: int, taken: int, channel: int) -> bytes:
    """What is committed with a credit or a dispute."""
    return serial.to_bytes(3, "big") + bytes((counter,)) + taken.to_bytes(4, "big") + bytes((channel,))


def evidence(serial: int, counter: int, taken: int, rejected: int) -> bytes:
    """What is committed with a held note."""
    return serial.to_bytes(3, "big") + bytes((counter,)) + taken.to_bytes(4, "big") + rejected.to_bytes(4, "big")


def serial_of(record: bytes) -> int:
    """Serial number of the device in a token or in evidence."""
    return int.from_bytes(record[:3], "big")


def counter_of(record: bytes) -> int:
    """Event counter in a token or in evidence."""
    return record[3]


def taken_of(record: bytes) -> int:
    """Number of notes taken in a token or in evidence; NO_COUNT if the device keeps none."""
    return int.from_bytes(record[4:8], "big")


def grown(before: int, now: int) -> int:
    """How far a counter of three bytes has moved on."""
    return (now - before) & 0xFFFFFF


def verdict(record: bytes, serial: int, taken: int, rejected: int) -> int:
    """What became of the one note that `record` is the evidence of, by the counters as they stand now."""
    if serial_of(record) != serial:
        return FOREIGN
    if NO_COUNT in (taken, taken_of(record)):
        return LOST
    more = grown(taken_of(record), taken)
    if more == 1:
        return STACKED
    if more:
        return TOO_MANY
    before = int.from_bytes(record[8:12], "big")
    return RETURNED if NO_COUNT not in (before, rejected) and rejected != before else LOST


def continues(older: bytes, newer: bytes) -> bool:
    """Whether an answer to 159 goes on where an older one stood: what both show is the same. False when they share nothing."""
    if not newer[0] or not older[0]:
        return newer[0] == older[0]
    more = newer[0] - older[0] if newer[0] >= older[0] else 255 - older[0] + newer[0]
    return more < 5 and newer[1 + 2 * more :] == older[1 : 11 - 2 * more]

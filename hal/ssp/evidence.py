"""What became of a note, judged by figures that the device keeps without power.

    counters        58: [number of counters][stacked][stored][dispensed][moved from store to stacker][rejected], 4 bytes each

`evidence` is what the firmware commits with a held note: serial number of the device and the counters before the note
moved on. A `token` is what it commits with a credit: serial number, number of notes taken, that one included, and channel.
Both are bytes of fixed size, opaque to everyone else.
"""

NO_COUNT = 0xFFFFFFFF  # the device keeps no counters
TOKEN_BYTES = 9
DISPUTED = 0x80  # added to the channel of a token: a count that grows later may still be that note
EVIDENCE_BYTES = 12

STACKED = 0
RETURNED = 1
LOST = 2  # nothing moved as far as the counters tell, or there are none
FOREIGN = 3  # another device than the one that held the note
TOO_MANY = 4  # more than one note was taken since


def counters(answer):
    """(taken, rejected) of an answer to 58 without its first byte F0, (NO_COUNT, NO_COUNT) if it is none.

    A note is taken when it went to the stacker or to the store of a payout device.
    """
    if answer is None or len(answer) < 21 or answer[0] < 5:
        return (NO_COUNT, NO_COUNT)
    taken = int.from_bytes(answer[1:5], "little") + int.from_bytes(answer[5:9], "little")
    return (taken & NO_COUNT, int.from_bytes(answer[17:21], "little"))


def token(serial: int, taken: int, channel: int) -> bytes:
    """What is committed with a credit."""
    return serial.to_bytes(4, "big") + taken.to_bytes(4, "big") + bytes((channel,))


def evidence(serial: int, taken: int, rejected: int) -> bytes:
    """What is committed with a held note."""
    return serial.to_bytes(4, "big") + taken.to_bytes(4, "big") + rejected.to_bytes(4, "big")


def serial_of(record: bytes) -> int:
    """Serial number of the device in a token or in evidence."""
    return int.from_bytes(record[:4], "big")


def taken_of(record: bytes) -> int:
    """Number of notes taken in a token or in evidence; NO_COUNT if the device keeps none."""
    return int.from_bytes(record[4:8], "big")


def verdict(record: bytes, serial: int, taken: int, rejected: int) -> int:
    """What became of the one note that `record` is the evidence of, by the counters as they stand now."""
    if serial_of(record) != serial:
        return FOREIGN
    if NO_COUNT in (taken, taken_of(record)):
        return LOST
    grown = (taken - taken_of(record)) & NO_COUNT
    if grown == 1:
        return STACKED
    if grown:
        return TOO_MANY
    return RETURNED if rejected != int.from_bytes(record[8:12], "big") else LOST

"""What became of a note, judged by figures that an acceptor keeps without power: how many notes it took in and gave back.

Two records stand in the journal, both bytes of fixed size and opaque to everyone but the driver. `evidence` is committed with
a held note: who holds it, and the counters before the note moved on. A `token` is committed with a credit or a dispute: who
took the note, the number of notes taken, that one included, and the channel.

    token       device[4] taken[4, most significant first] channel[1]
    evidence    device[4] taken[4, likewise] rejected[4, likewise]
"""

NO_COUNT = 0xFFFFFFFF  # the device keeps no counters
TOKEN_BYTES = 9
EVIDENCE_BYTES = 12
DISPUTED = 0x80  # added to the channel of a token: what the device tells or counts later may still be that note

STACKED = 0
RETURNED = 1
LOST = 2  # nothing moved as far as the counters tell, or there are none
FOREIGN = 3  # another device than the one that held the note
TOO_MANY = 4  # more than one note was taken since

REASONS = {LOST: "lost", FOREIGN: "other_device", TOO_MANY: "too_many"}  # of a dispute


def token(device: bytes, taken: int, channel: int) -> bytes:
    """What is committed with a credit or a dispute."""
    return device + taken.to_bytes(4, "big") + bytes((channel,))


def evidence(device: bytes, taken: int, rejected: int) -> bytes:
    """What is committed with a held note."""
    return device + taken.to_bytes(4, "big") + rejected.to_bytes(4, "big")


def taken_of(record: bytes) -> int:
    """Number of notes taken in a token or in evidence; NO_COUNT if the device keeps none."""
    return int.from_bytes(record[4:8], "big")


def last_of(record: bytes) -> tuple:
    """(channel, whether it was disputed) of a token; channel 0: there was none yet."""
    last = record[8] if len(record) == TOKEN_BYTES else 0
    return (last & ~DISPUTED, last & DISPUTED != 0)


def judged(record: bytes, taken: int, rejected: int, highest: int) -> int:
    """What became of the one note that `record` is the evidence of, by the counters of the same device as they stand now.

    They wrap after `highest`.
    """
    if NO_COUNT in (taken, taken_of(record)):
        return LOST
    grown = (taken - taken_of(record)) & highest
    if grown == 1:
        return STACKED
    if grown:
        return TOO_MANY
    before = int.from_bytes(record[8:12], "big")
    return RETURNED if NO_COUNT not in (before, rejected) and rejected != before else LOST

"""Events of a bill validator (header 159) and fault codes of its self-check (header 232), ccTalk generic specification 2 and 3.

An event is a pair. The first byte is the bill type, and the second what became of that bill; or the first is 0, and the second
one of the codes below.
"""

# With a bill type.
STACKED = 0
ESCROW = 1

# Without.
MASTER_INHIBITED = 0
RETURNED = 1
INVALID = 2
BAD_TRANSPORT = 3
INHIBITED = 4
INHIBITED_BY_SWITCH = 5
UNSAFE_JAM = 6
STACKER_JAM = 7
PULLED = 8
TAMPER = 9
STACKER_OK = 10
STACKER_REMOVED = 11
STACKER_INSERTED = 12
STACKER_FAULTY = 13
STACKER_FULL = 14
STACKER_JAMMED = 15
SAFE_JAM = 16
OPTO_FRAUD = 17
STRING_FRAUD = 18
ANTI_STRING_FAULTY = 19
BARCODE = 20
UNKNOWN_STACKED = 21

REFUSED = (MASTER_INHIBITED, INVALID, BAD_TRANSPORT, INHIBITED, INHIBITED_BY_SWITCH)
FRAUD = (TAMPER, OPTO_FRAUD, STRING_FRAUD, ANTI_STRING_FAULTY)

# Conditions that last.
FULL = 1
REMOVED = 2
UNSAFE = 4
SAFE = 8
BROKEN_STACKER = 16
OUT = 32
JAMS = UNSAFE | SAFE

BEGINS = {
    UNSAFE_JAM: UNSAFE, STACKER_JAM: SAFE, STACKER_REMOVED: REMOVED, STACKER_FAULTY: BROKEN_STACKER, STACKER_FULL: FULL,
    STACKER_JAMMED: SAFE, SAFE_JAM: SAFE,
}  # fmt: skip
ENDS = {STACKER_OK: FULL | REMOVED | SAFE | BROKEN_STACKER, STACKER_INSERTED: REMOVED}

_CHECKED = {38: BROKEN_STACKER, 39: SAFE, 44: REMOVED, 45: FULL}


def found_by_check(code: int) -> int:
    """The condition behind a fault code, 0 for none. Any fault that is no business of the stacker's puts it out of service."""
    return 0 if code == 0 else _CHECKED.get(code, OUT)

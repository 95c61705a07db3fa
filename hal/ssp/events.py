"""Events in an answer to POLL: their codes, and how many bytes of data follow each."""

RESET = 0xF1
READ = 0xEF
CREDIT = 0xEE
REJECTING = 0xED
REJECTED = 0xEC
STACKED = 0xEB
SAFE_JAM = 0xEA
UNSAFE_JAM = 0xE9
DISABLED = 0xE8
STACKER_FULL = 0xE7
FRAUD = 0xE6
TICKET = 0xE5
CASHBOX_REPLACED = 0xE4
CASHBOX_REMOVED = 0xE3
CLEARED_TO_CASHBOX = 0xE2
CLEARED_FROM_FRONT = 0xE1
PATH_OPEN = 0xE0
STORED = 0xDB
STACKING = 0xCC
TO_STORE_AT_START = 0xCB
TO_STACKER_AT_START = 0xCA
OUT_OF_SERVICE = 0xC6
INITIALISING = 0xB6
ALL_INHIBITED = 0xB5
JAM_RECOVERY = 0xB0

_MONEY = 7  # bytes of one amount: value, 4, little endian, and currency, 3
_VALIDATOR = 0  # unit type of one that pays nothing out

_ALONE = bytes((
    0xF1, 0xED, 0xEC, 0xEB, 0xEA, 0xE9, 0xE8, 0xE7, 0xE5, 0xE4, 0xE3, 0xE0, 0xDB, 0xD1, 0xD3, 0xD4,
    0xCF, 0xCC, 0xC8, 0xC7, 0xC6, 0xC5, 0xC4, 0xC3, 0xC2, 0xB6, 0xB5, 0xB0,
))  # fmt: skip
_CHANNEL = bytes((0xEF, 0xEE, 0xE2, 0xE1, 0xB7))
# Amounts: before version 6 four bytes of value.
_AMOUNTS = bytes((0xDF, 0xDE, 0xDA, 0xD9, 0xD8, 0xD7, 0xD6, 0xD5, 0xD2, 0xCD, 0xC9, 0xB4, 0xB3))
# Amounts from version 8 on, nothing before.
_AT_START = bytes((0xCB, 0xCA))


def data_bytes(answer: bytes, place: int, version: int, unit_type: int) -> int:
    """Bytes of data of the event at `place`; -1 if the event is unknown or the answer ends too early."""
    code = answer[place]
    left = len(answer) - place - 1
    if code in _ALONE:
        return 0
    if code in _CHANNEL or (code == FRAUD and unit_type == _VALIDATOR):
        size = 1
    elif code in _AT_START:
        size = 0 if version < 8 else _listed(answer, place, _MONEY)
    elif code in _AMOUNTS or code == FRAUD:
        size = 4 if version < 6 else _listed(answer, place, _MONEY)
    elif code in (0xDC, 0xDD):  # what was paid, what was asked for
        size = 8 if version < 6 else _listed(answer, place, _MONEY + 4)
    elif code == 0xCE:
        size = 0 if version < 8 else _MONEY
    elif code == 0xB1:
        size = 1 if version < 7 else _listed(answer, place, _MONEY) + 1
    else:
        return -1
    return size if size <= left else -1


def _listed(answer: bytes, place: int, size: int) -> int:
    """Bytes of a list: its number of entries, then so many of `size` bytes."""
    return 1 + answer[place + 1] * size if place + 1 < len(answer) else 1 << 16


def first_amount(answer: bytes, place: int, size: int, currency: bytes) -> int:
    """Pence of a list at `place` with one amount in `currency`; 0 if it is another list."""
    if size != 1 + _MONEY or answer[place + 5 : place + 8] != currency:
        return 0
    return int.from_bytes(answer[place + 1 : place + 5], "little")

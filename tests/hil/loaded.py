"""The games with loaded tables, so that what is rare in play is common in a test: only the weights differ."""

import hashlib
import struct
from functools import cache

from host_tools.cabinet import games

HEADER, ROW, PRIZE = 64, 12, 12
NOTHING = 0
NOTHING_PARTS = 8  # of nine draws


def loaded(pack: bytes) -> bytes:
    """The pack with equal weights in each table, rows of NOTHING together eight times as heavy as the others.

    Written from native/MECHANICS.md; a table is found by its index row, as `TABL` gives it.
    """
    data = bytearray(pack)
    places = {}
    for number in range(struct.unpack_from("<H", data, 12)[0]):
        tag, offset, length = struct.unpack_from("<4sII", data, HEADER + ROW * number)
        places[tag] = (offset, length)
    index, index_bytes = places[b"TABL"]
    prizes, _ = places[b"PRIZ"]
    for at in range(index, index + index_bytes, 4):
        first, count = struct.unpack_from("<HH", data, at)
        rows = [prizes + PRIZE * row for row in range(first, first + count)]
        empty = [row for row in rows if data[row + 4] == NOTHING]
        full = [row for row in rows if row not in empty]
        for row in rows:
            weight = max(1, NOTHING_PARTS * len(full)) if row in empty else max(1, len(empty))
            struct.pack_into("<I", data, row, weight)
    data[32:64] = bytes(32)
    data[32:64] = hashlib.sha256(bytes(data[:32]) + bytes(data[64:])).digest()
    return bytes(data)


@cache
def packs() -> dict[str, bytes]:
    """All games of the tree, loaded."""
    return {name: loaded(data) for name, data in games.packs().items()}

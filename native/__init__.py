"""The C core, the same on every board: packs, rounds, CRC-32, SHA-256 and HMAC. README.md beside this file is its contract.

Kept in MicroPython's subset. On a board the core is the user C module ``cabinet_core``; on CPython a cffi extension.
"""

try:
    from cabinet_core import CoreError, Pack, Round, crc32, hmac_sha256, record, resume, sha256  # pyright: ignore[reportMissingImports]
except ImportError:
    from native.cpython.wrapper import CoreError, Pack, Round, crc32, hmac_sha256, record, resume, sha256

# Kinds of events, the first item of Round.next().
SPIN = 1
LINE_WIN = 2
WAYS_WIN = 3
SCATTER_WIN = 4
CHOICE = 5
FREE_SPINS_BEGIN = 6
FREE_SPINS_ADDED = 7
FREE_SPINS_END = 8
WIN_CAP = 9
ROUND_END = 10

# Bits of Pack.flags().
MODE_SCATTER_PAYS = 1
MODE_SELECTABLE = 2

__all__ = [
    "CHOICE",
    "FREE_SPINS_ADDED",
    "FREE_SPINS_BEGIN",
    "FREE_SPINS_END",
    "LINE_WIN",
    "MODE_SCATTER_PAYS",
    "MODE_SELECTABLE",
    "ROUND_END",
    "SCATTER_WIN",
    "SPIN",
    "WAYS_WIN",
    "WIN_CAP",
    "CoreError",
    "Pack",
    "Round",
    "crc32",
    "hmac_sha256",
    "record",
    "resume",
    "sha256",
]

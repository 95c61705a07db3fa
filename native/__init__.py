"""The C core, the same on every board: packs, rounds, health tests, hashes. README.md beside this file is its contract.

Kept in MicroPython's subset. On a board the core is the user C module ``cabinet_core``; on CPython a cffi extension.
"""

try:
    from cabinet_core import (  # pyright: ignore[reportMissingImports]
        CoreError,
        Health,
        Pack,
        Round,
        crc16,
        crc32,
        hmac_sha256,
        p256_verify,
        record,
        sha256,
    )
except ImportError:
    from native.cpython.p256 import p256_verify
    from native.cpython.wrapper import CoreError, Health, Pack, Round, crc16, crc32, hmac_sha256, record, sha256

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
SPIN_CHANCE = 11
MODIFIER = 12
RESPIN = 13
VALUE = 14
COLLECT = 15
PILE = 16
WHEEL = 17
POT = 18
PRIZE = 19
FRAME = 20
SHAPE = 21
BOWL = 22
TOKEN = 23
GAMBLE_OFFER = 24
GAMBLE = 25

# What Health.feed() answers: 0 while all tests pass, else which one alarmed.
ALARM_REPETITION = 1
ALARM_LANE = 2
ALARM_PROPORTION = 3
ALARM_SEQUENCE = 4
ALARM_BALANCE = 5

# Bits of Pack.flags().
MODE_SCATTER_PAYS = 1
MODE_SELECTABLE = 2

# Pack.evaluation().
LINES = 0
WAYS = 1

# What a step does, the first item of a row of Pack.steps().
STEP_MODIFIER = 1
STEP_VALUES = 2
STEP_COLLECT = 3
STEP_PILE = 4
STEP_AWARD = 5
STEP_RESPIN = 6
STEP_FRAMES = 7
STEP_ADD_SPINS = 8
STEP_TOKENS = 9

# Kinds of prizes, the second item of a row of Pack.table().
PRIZE_NOTHING = 0
PRIZE_CREDITS = 1
PRIZE_POT = 2
PRIZE_WHEEL = 3
PRIZE_FEATURE = 4
PRIZE_SPINS = 5
PRIZE_BOARDS = 6
PRIZE_SHAPE = 7

# Kinds of gambles, the second item of a row of Pack.gambles.
GAMBLE_CASH = 0
GAMBLE_FEATURE = 1

# Bits of the last item of a row of Pack.gambles: afterwards only cash can be gambled.
GAMBLE_THEN_CASH_ONLY = 1

__all__ = [
    "ALARM_BALANCE",
    "ALARM_LANE",
    "ALARM_PROPORTION",
    "ALARM_REPETITION",
    "ALARM_SEQUENCE",
    "BOWL",
    "CHOICE",
    "COLLECT",
    "FRAME",
    "FREE_SPINS_ADDED",
    "FREE_SPINS_BEGIN",
    "FREE_SPINS_END",
    "GAMBLE",
    "GAMBLE_CASH",
    "GAMBLE_FEATURE",
    "GAMBLE_OFFER",
    "GAMBLE_THEN_CASH_ONLY",
    "LINES",
    "LINE_WIN",
    "MODE_SCATTER_PAYS",
    "MODE_SELECTABLE",
    "MODIFIER",
    "PILE",
    "POT",
    "PRIZE",
    "PRIZE_BOARDS",
    "PRIZE_CREDITS",
    "PRIZE_FEATURE",
    "PRIZE_NOTHING",
    "PRIZE_POT",
    "PRIZE_SHAPE",
    "PRIZE_SPINS",
    "PRIZE_WHEEL",
    "RESPIN",
    "ROUND_END",
    "SCATTER_WIN",
    "SHAPE",
    "SPIN",
    "SPIN_CHANCE",
    "STEP_ADD_SPINS",
    "STEP_AWARD",
    "STEP_COLLECT",
    "STEP_FRAMES",
    "STEP_MODIFIER",
    "STEP_PILE",
    "STEP_RESPIN",
    "STEP_TOKENS",
    "STEP_VALUES",
    "TOKEN",
    "VALUE",
    "WAYS",
    "WAYS_WIN",
    "WHEEL",
    "WIN_CAP",
    "CoreError",
    "Health",
    "Pack",
    "Round",
    "crc16",
    "crc32",
    "hmac_sha256",
    "p256_verify",
    "record",
    "sha256",
]

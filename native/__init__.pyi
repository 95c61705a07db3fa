# Types of the common API: those of the CPython wrapper, whichever of the two modules is behind it.
from native.cpython.p256 import p256_verify as p256_verify
from native.cpython.wrapper import CoreError as CoreError
from native.cpython.wrapper import Health as Health
from native.cpython.wrapper import Pack as Pack
from native.cpython.wrapper import Round as Round
from native.cpython.wrapper import crc16 as crc16
from native.cpython.wrapper import crc32 as crc32
from native.cpython.wrapper import hmac_sha256 as hmac_sha256
from native.cpython.wrapper import record as record
from native.cpython.wrapper import sha256 as sha256

SPIN: int
LINE_WIN: int
WAYS_WIN: int
SCATTER_WIN: int
CHOICE: int
FREE_SPINS_BEGIN: int
FREE_SPINS_ADDED: int
FREE_SPINS_END: int
WIN_CAP: int
ROUND_END: int
SPIN_CHANCE: int
MODIFIER: int
RESPIN: int
VALUE: int
COLLECT: int
PILE: int
WHEEL: int
POT: int
PRIZE: int
FRAME: int
SHAPE: int
BOWL: int
TOKEN: int
GAMBLE_OFFER: int
GAMBLE: int

ALARM_REPETITION: int
ALARM_LANE: int
ALARM_PROPORTION: int
ALARM_SEQUENCE: int
ALARM_BALANCE: int

MODE_SCATTER_PAYS: int
MODE_SELECTABLE: int

LINES: int
WAYS: int

STEP_MODIFIER: int
STEP_VALUES: int
STEP_COLLECT: int
STEP_PILE: int
STEP_AWARD: int
STEP_RESPIN: int
STEP_FRAMES: int
STEP_ADD_SPINS: int
STEP_TOKENS: int

PRIZE_NOTHING: int
PRIZE_CREDITS: int
PRIZE_POT: int
PRIZE_WHEEL: int
PRIZE_FEATURE: int
PRIZE_SPINS: int
PRIZE_BOARDS: int
PRIZE_SHAPE: int

GAMBLE_CASH: int
GAMBLE_FEATURE: int

GAMBLE_THEN_CASH_ONLY: int

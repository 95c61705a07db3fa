# Types of the common API: those of the CPython wrapper, whichever of the two modules is behind it.
from native.cpython.wrapper import CoreError as CoreError
from native.cpython.wrapper import Pack as Pack
from native.cpython.wrapper import Round as Round
from native.cpython.wrapper import crc32 as crc32
from native.cpython.wrapper import hmac_sha256 as hmac_sha256
from native.cpython.wrapper import record as record
from native.cpython.wrapper import resume as resume
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

MODE_SCATTER_PAYS: int
MODE_SELECTABLE: int

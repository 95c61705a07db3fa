"""What a ccTalk hopper tells when it is not paying: who it is, its faults, its level, coins that leave unasked.

The payout itself is hopper.py's business.
"""

from .bus import IDEMPOTENT
from .device import Device
from .payout import COUNT_MASK, NO_COUNT

SETTLE_MS = 700  # the slowest make needs 630 ms after power on
IDLE_MS = 500  # between two looks at an idle hopper
MOST_EXTRA = 255

# Flags of ("fault", ...) and ("done", ...): the bytes of header 163, register 1 in bits 0-7, 2 in 8-15, 3 in 16-23.
FLAG_MAX_CURRENT = 1 << 0
FLAG_PAYOUT_TIMEOUT = 1 << 1
FLAG_MOTOR_REVERSED = 1 << 2
FLAG_OPTO_BLOCKED_IDLE = 1 << 3
FLAG_OPTO_SHORT_IDLE = 1 << 4
FLAG_OPTO_BLOCKED = 1 << 5
FLAG_POWER_UP = 1 << 6
FLAG_DISABLED = 1 << 7
FLAG_OPTO_SHORT = 1 << 8
FLAG_OPTO_FRAUD = 1 << 11
FLAG_REVERSE_LIMIT = 1 << 12
FLAG_COIL_FAULT = 1 << 13
FLAG_NV_WRITE = 1 << 14
FLAG_POWER_DOWN = 1 << 16

# What is a fault in a hopper that is not paying; the other flags tell of its last payout.
FAULTS = FLAG_OPTO_BLOCKED_IDLE | FLAG_OPTO_SHORT_IDLE | FLAG_OPTO_FRAUD | FLAG_COIL_FAULT | FLAG_NV_WRITE

LEVELS_217 = 217  # bit 0: below the low level, bit 1: above the high level
LEVELS_236 = 236  # bit 0: low level plate covered, bit 1: high level plate covered

DISPENSE_COUNT = 168
STATUS = 166
TEST = 163

_COIN_ID = 171


class HopperWatch(Device):
    """The part of a hopper's driver that sends nothing which moves a coin.

    coin_id: what header 171 says, "" if nothing
    low, full: level of coins, None while not known; read while idle
    flags: last flags read
    """

    def __init__(self, bus, address: int, levels: int, inverse: bool):
        Device.__init__(self, bus, address, SETTLE_MS)
        self.coin_id = ""
        self.low = None
        self.full = None
        self.flags = 0
        self._levels = levels
        self._inverse = inverse
        self._has_levels = False
        self._shown_faults = 0
        self._keeps_count = False
        self._count = NO_COUNT  # dispense count as far as the firmware was told; NO_COUNT until it is next read
        self._counted = -1  # serial number of the hopper that it is the count of

    def known(self, serial: int, count: int) -> None:
        """From NVRAM, before the first poll: the dispense count of that hopper up to which its coins are booked."""
        self._counted, self._count = serial, count

    def busy(self) -> bool:
        """A payout is prepared or under way."""
        return False

    def _turn(self) -> None:
        """What comes next after a pause."""
        self._look()

    # Identification.

    def _begin(self) -> None:
        self._ask(_COIN_ID, self._got_coin_id, otherwise=self._no_coin_id)

    def _no_coin_id(self, status: int) -> None:
        self._got_coin_id(b"")

    def _got_coin_id(self, answer: bytes) -> None:
        self.coin_id = "".join([chr(byte) for byte in answer])
        self._has_levels = self._levels != 0
        self._ask(TEST, self._found_flags, b"", IDEMPOTENT, 1, 3, self._no_flags_found)

    def _no_flags_found(self, status: int) -> None:
        self._found_flags(b"")

    def _found_flags(self, answer: bytes) -> None:
        self._show_faults(answer)
        self._ask(DISPENSE_COUNT, self._found_count, b"", IDEMPOTENT, 3, 3, self._no_count_found)

    def _no_count_found(self, status: int) -> None:
        self._keeps_count = False
        self._ask(STATUS, self._found_status, b"", IDEMPOTENT, 4, 4)

    def _found_count(self, answer: bytes) -> None:
        self._keeps_count = True
        if self._counted != self.serial:
            self._counted = self.serial
            self._count = NO_COUNT
        self._ask(STATUS, self._found_status, b"", IDEMPOTENT, 4, 4)

    def _found_status(self, answer: bytes) -> None:
        """The last step: a driver decides whether to switch the hopper off."""
        self._come_online()
        self._pause(0, self._turn)

    # Idle: faults, extra coins, levels.

    def _look(self) -> None:
        self._ask(TEST, self._idle_flags, b"", IDEMPOTENT, 1, 3, self._no_idle_answer)

    def _no_idle_answer(self, status: int) -> None:
        if self.online:
            self._pause(IDLE_MS, self._turn)
        else:
            self._search(status)

    def _idle_flags(self, answer: bytes) -> None:
        self._show_faults(answer)
        if self._keeps_count:
            self._ask(DISPENSE_COUNT, self._idle_count, b"", IDEMPOTENT, 3, 3, self._no_idle_answer)
        else:
            self._look_at_levels()

    def _idle_count(self, answer: bytes) -> None:
        if not self.busy():
            self._tell_extra(int.from_bytes(answer, "little"))
        self._look_at_levels()

    def _tell_extra(self, count: int) -> None:
        """Coins that left and were not told yet. A count that is not known, or out of all proportion, begins anew."""
        extra = (count - self._count) & COUNT_MASK
        if self._count == NO_COUNT or extra > MOST_EXTRA:
            self._events.push(("counted", self.serial, count))
        elif extra:
            self._events.push(("extra", extra))
        self._count = count

    def _look_at_levels(self) -> None:
        if self._has_levels and not self.busy():
            self._ask(self._levels, self._got_levels, b"", IDEMPOTENT, 1, 1, self._no_levels)
        else:
            self._pause(0 if self.busy() else IDLE_MS, self._turn)

    def _show_faults(self, answer: bytes) -> None:
        self.flags = int.from_bytes(answer, "little")
        faults = self.flags & FAULTS
        if faults != self._shown_faults:
            self._shown_faults = faults
            self._events.push(("fault", faults))

    def _no_levels(self, status: int) -> None:
        """It has no such sensors, if it never answered; asked again after the next identification."""
        self._has_levels = self.low is not None
        self._pause(0 if self.busy() else IDLE_MS, self._turn)

    def _got_levels(self, answer: bytes) -> None:
        if self._levels == LEVELS_217:
            self.low, self.full = bool(answer[0] & 1), bool(answer[0] & 2)
        else:
            covered = answer[0] ^ 0b11 if self._inverse else answer[0]
            self.low, self.full = not covered & 1, bool(covered & 2)
        self._pause(0 if self.busy() else IDLE_MS, self._turn)

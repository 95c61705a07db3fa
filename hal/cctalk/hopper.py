"""ccTalk hopper: pays exactly once, by the device's own event counter (headers 166 and 167).

A payout is prepared, committed by the firmware, and sent once:

    prepare(n)   ("prepared", e0)   the firmware commits {n, e0}   dispense()   ("paid", total) ...   ("done", ...)

The command to dispense (167) is never repeated by the driver. What became of it is read from the hopper's status
(166) and judged in payout.py: followed to its end, or found not taken, and then it is the firmware that may call
dispense() again. After a restart of the cabinet resume(n, e0) reads and judges the same, and sends nothing that moves
a coin.

Where the hopper's figures do not prove what was paid, ("done", paid, unpaid, flags) carries the best known `paid` and
the flag
EVIDENCE_MISSING: a person has to look. `paid` above n is possible: the hopper paid extra coins.
"""

from .bus import IDEMPOTENT, OK, STATE, UNKNOWN, VALUE
from .device import Device
from .payout import LOOK_AGAIN, NOT_TAKEN, PROVEN, Payout

SETTLE_MS = 630  # the slowest make may not be spoken to earlier after power on
FOLLOW_MS = 100  # between two looks at a payout
IDLE_MS = 500  # between two looks at an idle hopper

# Flags of ("done", ...) and ("fault", ...): the bytes of header 163, register 1 in bits 0-7, 2 in 8-15, 3 in 16-23;
# above them the driver's own.
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
EVIDENCE_MISSING = 1 << 24  # the hopper's figures do not prove what was paid
FLAGS_UNREAD = 1 << 25  # header 163 was not answered

# What is a fault in a hopper that is not paying.
FAULTS = (
    FLAG_MAX_CURRENT
    | FLAG_OPTO_BLOCKED_IDLE
    | FLAG_OPTO_SHORT_IDLE
    | FLAG_OPTO_SHORT
    | FLAG_OPTO_FRAUD
    | FLAG_COIL_FAULT
    | FLAG_NV_WRITE
)

LEVELS_217 = 217  # bit 0: below the low level, bit 1: above the high level
LEVELS_236 = 236  # bit 0: low level plate covered, bit 1: high level plate covered

_EMERGENCY_STOP = 172
_COIN_ID = 171
_DISPENSE = 167
_STATUS = 166
_ENABLE = 164
_TEST = 163

_ON = b"\xa5"
_OFF = b"\x00"

# Phases of a payout.
IDLE = 0
PREPARING = 1
PREPARED = 2
SENDING = 3  # dispense() was called, 167 is not yet handed to the bus
FOLLOWING = 4
CLOSING = 5  # the result is known; flags are read and the hopper is switched off


class Hopper(Device):
    """A hopper on `bus`.

    security: "serial" sends the serial number with 167, "none" eight zero bytes
    levels: LEVELS_217, LEVELS_236 or 0 if it has no level sensors; inverse: a covered plate reads 0 (header 236)
    coin_id: what header 171 says, "" if nothing
    low, full: level of coins, None while not known; read while idle
    flags: last flags read
    phase: IDLE to CLOSING
    """

    def __init__(
        self, bus, address: int = 3, security: str = "serial", levels: int = LEVELS_217, inverse: bool = False
    ):
        Device.__init__(self, bus, address, SETTLE_MS)
        if security not in ("serial", "none"):
            raise ValueError("security is serial or none")
        self.coin_id = ""
        self.low = None
        self.full = None
        self.flags = 0
        self.phase = IDLE
        self._by_serial = security == "serial"
        self._levels = levels
        self._inverse = inverse
        self._has_levels = False
        self._shown_faults = 0
        self._enabled = False
        self._stop = bus.transaction(address)
        self._stop_due = False
        self._payout = Payout(0)
        self._proven = False

    # What the firmware calls.

    @property
    def busy(self) -> bool:
        """A payout is prepared or under way."""
        return self.phase != IDLE

    def prepare(self, coins: int) -> bool:
        """Get ready to pay `coins` (1 to 255). Ends in ("prepared", event_counter) or ("not_taken",).

        False: offline or under way with another payout. A payout that was prepared and not dispensed is replaced.
        """
        if not 1 <= coins <= 255:
            raise ValueError("1 to 255 coins")
        if not self.online or self.phase not in (IDLE, PREPARED):
            return False
        self.phase = PREPARING
        self._payout = Payout(coins)
        self._hurry()
        return True

    def dispense(self) -> bool:
        """Pay what was prepared, or what was found not taken. Call it once, after the commit.

        False: nothing is prepared. If it was, the hopper was reset meanwhile, and ("prepared", ...) comes again.
        """
        if self.phase != PREPARED:
            return False
        self.phase = SENDING
        self._hurry()
        return True

    def resume(self, coins: int, event_counter: int, paid: int = 0) -> None:
        """After a restart of the cabinet: find out what became of a payout whose intent was committed.

        event_counter: from ("prepared", ...); paid: the highest total that was booked. Ends in ("not_taken",) or
        ("done", ...). May be called before the hopper is online. ValueError: under way with a payout.
        """
        if self.phase != IDLE:
            raise ValueError("under way with another payout")
        self._payout = Payout(coins, event_counter, paid=paid)
        self.phase = FOLLOWING
        self._hurry()

    def cancel(self) -> None:
        """Forget the payout and switch the hopper off, now or when it answers again.

        What it still pays is not reported. ("not_taken",) may come if the payout was about to be sent.
        """
        self.emergency_stop()
        self.phase = IDLE

    def emergency_stop(self) -> None:
        """Stop the motor (header 172), ahead of all else on the line. A payout under way ends in ("done", ...).

        One that was to be sent and has not been ends in ("not_taken",).
        """
        if self.phase == SENDING or (self.phase == FOLLOWING and self._transaction.header == _DISPENSE):
            unsent = self.phase == SENDING
            if self._transaction.withdraw():
                unsent = True
                self._pause(0, self._turn)
            if unsent:
                self._not_taken()
        self._stop_due = True
        self._send_stop()

    # The stop has a transaction of its own: it overtakes what the driver is waiting for.

    def poll(self, now_ms: int) -> None:
        heard_ms = self._heard_ms
        Device.poll(self, now_ms)
        if self._stop.done:
            status, _ = self._stop.take()
            if status != UNKNOWN:
                self._stop_due = self._stop.header == _EMERGENCY_STOP and self.phase != FOLLOWING
                self._enabled = self._enabled and not self._stop_due
                if self._stop_due:
                    self._stop.start(_ENABLE, _OFF, STATE, crc=self.crc, urgent=True)
        elif self._stop_due and self._heard_ms != heard_ms:
            self._send_stop()

    def _send_stop(self) -> None:
        if not self._stop.pending:
            self._stop.start(_EMERGENCY_STOP, b"", STATE, crc=self.crc, urgent=True)

    # Identification.

    def _begin(self) -> None:
        self._ask(_COIN_ID, self._got_coin_id, otherwise=self._no_coin_id)

    def _no_coin_id(self, status: int) -> None:
        self._got_coin_id(b"")

    def _got_coin_id(self, answer: bytes) -> None:
        self.coin_id = "".join([chr(byte) for byte in answer])
        self._has_levels = self._levels != 0
        self._ask(_TEST, self._found_flags, b"", IDEMPOTENT, 1, 3, self._no_flags_found)

    def _no_flags_found(self, status: int) -> None:
        self._found_flags(b"")

    def _found_flags(self, answer: bytes) -> None:
        self._show_faults(answer)
        self._ask(_STATUS, self._found_status, b"", IDEMPOTENT, 4, 4)

    def _found_status(self, answer: bytes) -> None:
        """Switch it off, unless it is paying or has to be followed: that would destroy the evidence."""
        if self.phase in (PREPARED, SENDING) and answer[0] != self._payout.before:
            self.phase = PREPARING  # it was reset before anything was sent
        if self.phase == FOLLOWING or answer[1]:
            self._switched_off(b"")
        else:
            self._ask(_ENABLE, self._switched_off, _OFF, STATE)

    def _switched_off(self, answer: bytes) -> None:
        self._enabled = False
        self._come_online()
        self._pause(0, self._turn)

    # One turn: what the phase asks for.

    def _hurry(self) -> None:
        """Do not sleep through what the firmware has just asked for. While the hopper is searched for that goes on."""
        if self.online:
            self._wake_ms = self._now_ms

    def _turn(self) -> None:
        if self.phase == PREPARING:
            self._ask(_STATUS, self._got_baseline, b"", IDEMPOTENT, 4, 4, self._not_prepared)
        elif self.phase == SENDING:
            if self._enabled:
                self._dispense(b"")
            else:
                self._ask(_ENABLE, self._dispense, _ON, STATE, otherwise=self._not_sent)
        elif self.phase == FOLLOWING:
            self._ask(_STATUS, self._judge, b"", IDEMPOTENT, 4, 4, self._no_status)
        elif self.phase == IDLE:
            self._ask(_TEST, self._idle_flags, b"", IDEMPOTENT, 1, 3, self._no_idle_flags)
        else:
            self._pause(IDLE_MS, self._turn)

    # Idle: faults and levels.

    def _no_idle_flags(self, status: int) -> None:
        if self.online:
            self._pause(IDLE_MS, self._turn)
        else:
            self._search(status)

    def _idle_flags(self, answer: bytes) -> None:
        self._show_faults(answer)
        if self._has_levels and self.phase == IDLE:
            self._ask(self._levels, self._got_levels, b"", IDEMPOTENT, 1, 1, self._no_levels)
        else:
            self._pause(0 if self.busy else IDLE_MS, self._turn)

    def _show_faults(self, answer: bytes) -> None:
        self.flags = int.from_bytes(answer, "little")
        faults = self.flags & FAULTS
        if faults != self._shown_faults:
            self._shown_faults = faults
            self._events.push(("fault", faults))

    def _no_levels(self, status: int) -> None:
        """It has no such sensors; asked again after the next identification."""
        self._has_levels = False
        self.low = self.full = None
        self._pause(0 if self.busy else IDLE_MS, self._turn)

    def _got_levels(self, answer: bytes) -> None:
        if self._levels == LEVELS_217:
            self.low, self.full = bool(answer[0] & 1), bool(answer[0] & 2)
        else:
            covered = answer[0] ^ 0b11 if self._inverse else answer[0]
            self.low, self.full = not covered & 1, bool(covered & 2)
        self._pause(0 if self.busy else IDLE_MS, self._turn)

    # Preparing.

    def _got_baseline(self, answer: bytes) -> None:
        if answer[1]:  # a payout of somebody else is under way
            self._not_prepared(OK)
            return
        self._payout.before = answer[0]
        self._payout.baseline = answer[2:]
        self._ask(_ENABLE, self._enabled_for_payout, _ON, STATE, otherwise=self._not_prepared)

    def _enabled_for_payout(self, answer: bytes) -> None:
        self._enabled = True
        if self.phase == PREPARING:
            self.phase = PREPARED
            self._events.push(("prepared", self._payout.before))
        self._pause(IDLE_MS, self._turn)

    def _not_prepared(self, status: int) -> None:
        if self.phase == PREPARING:
            self.phase = IDLE
            self._events.push(("not_taken",))
        if status == UNKNOWN:
            self._search(status)
        else:
            self._ask(_ENABLE, self._switched_off, _OFF, STATE)

    # Dispensing.

    def _not_sent(self, status: int) -> None:
        """It could not be enabled, so 167 was not sent."""
        if self.phase == SENDING:
            self._not_taken()
        if status == UNKNOWN:
            self._search(status)
        else:
            self._pause(IDLE_MS, self._turn)

    def _dispense(self, answer: bytes) -> None:
        """Header 167, once. From here on only the hopper knows."""
        self._enabled = True
        if self.phase != SENDING:
            self._pause(0, self._turn)
            return
        self.phase = FOLLOWING
        self._payout.sent(self.serial)
        key = (self.serial & 0xFFFFFF).to_bytes(3, "little") if self._by_serial else bytes(8)
        self._ask(_DISPENSE, self._accepted, key + bytes((self._payout.coins,)), VALUE, 0, 1, self._not_accepted)

    def _accepted(self, answer: bytes) -> None:
        self._payout.reply = OK
        self._pause(FOLLOW_MS, self._turn)

    def _not_accepted(self, status: int) -> None:
        self._payout.reply = status
        self._pause(0, self._turn)

    def _not_taken(self) -> None:
        self.phase = PREPARED
        self._events.push(("not_taken",))

    # Following.

    def _no_status(self, status: int) -> None:
        if self.online or status != UNKNOWN:
            self._pause(FOLLOW_MS, self._turn)
        else:
            self._search(status)

    def _judge(self, answer: bytes) -> None:
        if self.phase != FOLLOWING:
            self._pause(0, self._turn)
            return
        before = self._payout.paid
        verdict = self._payout.judge(answer, self.serial)
        if self._payout.paid > before:
            self._events.push(("paid", self._payout.paid))
        if verdict == LOOK_AGAIN:
            self._pause(FOLLOW_MS, self._turn)
        elif verdict == NOT_TAKEN:
            self._not_taken()
            self._pause(FOLLOW_MS, self._turn)
        else:
            self.phase = CLOSING
            self._proven = verdict == PROVEN
            self._ask(_TEST, self._closing_flags, b"", IDEMPOTENT, 1, 3, self._no_closing_flags)

    # Closing: why coins are unpaid, switch off, report.

    def _no_closing_flags(self, status: int) -> None:
        self.flags = FLAGS_UNREAD
        self._switch_off()

    def _closing_flags(self, answer: bytes) -> None:
        self.flags = int.from_bytes(answer, "little")
        self._switch_off()

    def _switch_off(self) -> None:
        self._ask(_ENABLE, self._closed, _OFF, STATE, otherwise=self._closed_without)

    def _closed_without(self, status: int) -> None:
        self._stop_due = True  # switched off as soon as it answers again
        self._closed(b"")

    def _closed(self, answer: bytes) -> None:
        self._enabled = False
        if self.phase == CLOSING:
            self.phase = IDLE
            flags = self.flags if self._proven else self.flags | EVIDENCE_MISSING
            self._events.push(("done", self._payout.paid, self._payout.unpaid, flags))
        self._pause(IDLE_MS, self._turn)

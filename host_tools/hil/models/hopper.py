"""A coin hopper on ccTalk. Sources: SOURCES.md 1.2 (headers), 1.6 (payout, vendors, flags), 6.2 (B06, B07, B09, B10).

The motor brings a coin to the exit every `coin_ms`. At that moment, and at no other, the coin is paid: it is counted in
`paid_coins`, in the status of header 166, in the lifetime count of header 168 and in EEPROM together, so a power cut
falls before or after a coin and never between truth and record.

Decisions where the source is silent: emergency stop (172) and disabling (164) stop the motor at once; the power-up
flag stays until a reset command (header 1) or the next accepted payout; a coin that leaves unasked (extra coin,
runaway) passes the same sensor, so the device reports it in `last paid` and in 168.
"""

from collections import deque
from typing import Final

from host_tools.hil.faults import Arg, FaultSpec, Value
from host_tools.hil.models.cctalk_device import ACK, ANSWER_FAULTS, NAK, CctalkModel, Identity, Reply

FLOW: Final = Identity("Suzo-Happ", "Payout", "Flow", "STC2010-V1.1F-Payout", "0", 0x05464E, b"132-IT")
ALBERICI: Final = Identity("Alberici", "Payout", "HopperCD", "H1.0", "0", 0x0AD7DF)
_AFTER: Final = Arg("N", 0, 65_535, default=0)

# Header 163, (register, bit) of section 1.6.
OVERCURRENT, TIMEOUT, REVERSED, BLOCKED_IDLE = (0, 0), (0, 1), (0, 2), (0, 3)
BLOCKED_IN_PAYOUT, POWER_UP, DISABLED = (0, 5), (0, 6), (0, 7)
REVERSE_LIMIT, POWER_DOWN_IN_PAYOUT = (1, 4), (2, 0)


class Hopper(CctalkModel):
    """Truths: `paid_coins` (coins that left through the exit; `paid_at_us`: when the last 1024 did), `level` (coins
    inside).

    `vendor` "flow" counts an event for each dispense command it understands, also when it answers NAK, and answers
    with the event counter; "alberici" counts accepted ones only and answers ACK. `security` "serial" wants the serial
    number in header 167, "none" eight zero bytes.
    """

    FAULTS = ANSWER_FAULTS | {
        "empty": FaultSpec("after N more coins none comes: payout timeout", (_AFTER,)),
        "jam": FaultSpec("after N more coins the motor is stuck: overcurrent", (_AFTER,)),
        "extra_coin": FaultSpec("one coin more leaves after the next payout"),
        "stuck_sensor": FaultSpec("the exit sensor is blocked"),
        "miscount": FaultSpec("the next N coins are told by header 166 and missed by 168", (Arg("N", 1, default=1),)),
        "reset": FaultSpec("after N more coins the device power-cycles itself; 0 = now", (_AFTER,)),
        "runaway": FaultSpec("N coins leave unasked, after the running payout or now", (Arg("N", 1, 65_535),)),
    }

    def __init__(
        self,
        name: str,
        *,
        address: int,
        coin_id: str,
        pence: int,
        vendor: str = "flow",
        security: str = "serial",
        serial: int | None = None,
        crc: bool = False,
        level: int = 500,
        low_level: int = 20,
        high_level: int = 800,
        coin_ms: int = 150,
        start_ms: int = 100,
        timeout_ms: int = 2000,
        boot_ms: int | None = None,
        reset_ms: int | None = None,
        answer_ms: int = 2,
    ) -> None:
        if vendor not in ("flow", "alberici") or security not in ("serial", "none"):
            raise ValueError(f"vendor is flow or alberici, security is serial or none; given {vendor!r}, {security!r}")
        flow = vendor == "flow"
        base = FLOW if flow else ALBERICI
        identity = Identity(
            base.manufacturer, base.category, base.product, base.software, base.build,
            base.serial + address if serial is None else serial, base.comms,
        )  # fmt: skip
        super().__init__(
            name,
            address,
            identity,
            crc=crc,
            boot_ms=(630 if flow else 250) if boot_ms is None else boot_ms,  # section 1.1
            reset_ms=(130 if flow else 100) if reset_ms is None else reset_ms,
            answer_ms=answer_ms,
        )
        self.counts_refused = flow
        self.security = security
        self.coin_id = coin_id
        self.pence = pence
        self.level = level
        self.low_level = low_level
        self.high_level = high_level
        self.coin_us = coin_ms * 1000
        self.start_us = start_ms * 1000
        self.timeout_us = timeout_ms * 1000
        self.paid_coins = 0
        self.missed_coins = 0  # of them, by its lifetime count
        self.unasked_missed_coins = 0  # of these, those that nobody had ordered: nothing ever tells of them
        self.paid_at_us: deque[int] = deque(maxlen=1024)
        self._lifetime = 0  # EEPROM, with the two of header 166
        self._paid = 0
        self._unpaid = 0
        self._flags = {POWER_UP}
        self._volatile_start()
        self._clear_own_faults()
        self._commands |= {
            236: (0, self._read_optos),
            217: (0, self._level_status),
            172: (0, self._emergency_stop),
            171: (0, lambda data, now_us: (0, self.coin_id.encode("ascii"))),
            168: (0, lambda data, now_us: (0, (self._lifetime & 0xFFFFFF).to_bytes(3, "little"))),
            167: (None, self._dispense),
            166: (0, self._status),
            164: (1, self._enable),
            163: (0, self._test),
        }

    def refill(self, coins: int) -> None:
        """Coins are poured in."""
        self.level += coins

    @property
    def running(self) -> bool:
        """The motor turns."""
        return bool(self._remaining) or self._unasked > 0

    # The motor

    def _next_coin(self, when_us: int) -> None:
        if self._blocked_sensor:
            self._stop({BLOCKED_IN_PAYOUT})
        elif self._jam_after == 0:
            self.at(when_us + self.timeout_us, lambda at_us: self._stop({OVERCURRENT, REVERSED, REVERSE_LIMIT}))
        elif self._empty_after == 0 or self.level == 0:
            self.at(when_us + self.timeout_us, lambda at_us: self._stop({TIMEOUT}))
        else:
            self._pay(when_us)

    def _pay(self, when_us: int) -> None:
        self.level -= 1
        self.paid_coins += 1
        self.paid_at_us.append(when_us)
        if self._miscount:
            self._miscount -= 1
            self.missed_coins += 1
            self.unasked_missed_coins += not self._remaining
        else:
            self._lifetime += 1
        self._paid = min(255, self._paid + 1)
        self._jam_after = max(-1, self._jam_after - 1)
        self._empty_after = max(-1, self._empty_after - 1)
        if self._remaining:
            self._remaining -= 1
        else:
            self._unasked -= 1
        if self._reset_after > 0:
            self._reset_after -= 1
            if self._reset_after == 0:
                self._reset_after = -1
                self.restart(when_us, power=True, deaf_us=self.boot_us)
                return
        if not self._remaining and self._unasked_next:
            self._unasked, self._unasked_next = self._unasked_next, 0
        if self.running:
            self.at(when_us + self.coin_us, self._next_coin)

    def _stop(self, flags: set[tuple[int, int]]) -> None:
        self.cancel()
        self._flags |= flags
        if self._remaining:
            self._unpaid = self._remaining
        self._remaining = self._unasked = 0

    # Power and faults

    def _volatile_start(self) -> None:
        self._event_counter = 0
        self._remaining = 0
        self._unasked = 0  # coins that leave without being asked for
        self._enabled = False

    def started(self, now_us: int, power: bool) -> None:
        super().started(now_us, power)
        self._volatile_start()
        if power:
            self._flags.add(POWER_UP)
        else:
            self._flags.discard(POWER_UP)

    def stopping(self, now_us: int, power: bool) -> None:
        self._stop({POWER_DOWN_IN_PAYOUT} if power and self._remaining else set())

    def own_fault(self, kind: str, values: tuple[Value, ...]) -> None:
        figure = int(values[0]) if values else 0
        if kind == "empty":
            self._empty_after = figure
        elif kind == "jam":
            self._jam_after = figure
        elif kind == "stuck_sensor":
            self._blocked_sensor = True
        elif kind == "miscount":
            self._miscount = figure
        elif kind == "reset" and figure:
            self._reset_after = figure
        elif kind == "reset":
            if self.on:
                self.restart(self.now_us, power=True, deaf_us=self.boot_us)
        elif self._remaining or kind == "extra_coin" or not self.on:
            self._unasked_next += figure or 1
        else:
            idle = not self._unasked
            self._unasked += figure
            if idle:
                self.at(self.now_us + self.coin_us, self._next_coin)

    def clear(self) -> None:
        super().clear()
        self._clear_own_faults()

    def _clear_own_faults(self) -> None:
        self._jam_after = self._empty_after = self._reset_after = -1
        self._blocked_sensor = False
        self._unasked_next = self._miscount = 0

    # Commands

    def refused(self, header: int) -> None:
        if header == 167 and self.counts_refused:
            self._count_event()

    def _count_event(self) -> None:
        self._event_counter = self._event_counter % 255 + 1

    def _dispense(self, data: bytes, now_us: int) -> Reply | None:
        if len(data) != (4 if self.security == "serial" else 9):
            self.unknown += 1
            return None
        key = self.identity.serial.to_bytes(3, "little") if self.security == "serial" else bytes(8)
        coins = data[-1]
        refused = data[:-1] != key or not self._enabled or self.running or self._blocked_sensor or not coins
        if refused:
            self.refused(167)
            return NAK
        self._count_event()
        self._flags.clear()
        self._remaining, self._paid, self._unpaid = coins, 0, 0
        self.at(now_us + self.start_us + self.coin_us, self._next_coin)
        return (0, bytes([self._event_counter])) if self.counts_refused else ACK

    def _status(self, data: bytes, now_us: int) -> Reply:
        return 0, bytes([self._event_counter, self._remaining, self._paid, self._unpaid])

    def _enable(self, data: bytes, now_us: int) -> Reply:
        self._enabled = data[0] == 0xA5
        if not self._enabled and self._remaining:
            self._stop(set())
        return ACK

    def _emergency_stop(self, data: bytes, now_us: int) -> Reply:
        unpaid = self._remaining
        if unpaid:
            self._stop(set())
        return 0, bytes([unpaid])

    def _test(self, data: bytes, now_us: int) -> Reply:
        registers = [0, 0, 0]
        flags = set(self._flags)
        if not self._enabled:
            flags.add(DISABLED)
        if self._blocked_sensor and not self.running:
            flags.add(BLOCKED_IDLE)
        for register, bit in flags:
            registers[register] |= 1 << bit
        return 0, bytes(registers)

    def _read_optos(self, data: bytes, now_us: int) -> Reply:
        """Level plates, inverse logic: 3 empty, 1 half, 0 full (section 1.6)."""
        low, high = self.level < self.low_level, self.level >= self.high_level
        return 0, bytes([3 if low else 0 if high else 1])

    def _level_status(self, data: bytes, now_us: int) -> Reply:
        """Bit 0 low, bit 1 high; bits 4 and 5: both sensors are fitted."""
        low, high = self.level < self.low_level, self.level >= self.high_level
        return 0, bytes([0x30 | low | high << 1])

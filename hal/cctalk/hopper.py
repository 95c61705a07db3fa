"""ccTalk hopper: pays exactly once, by the device's own event counter (headers 166 and 167).

A payout is prepared, committed by the firmware, and sent once:

    prepare(n)    ("prepared", evidence)    the firmware commits both
    dispense()    ("paid", total) ...    ("done", paid, unpaid, flags)

The command to dispense (167) is never repeated by the driver. What became of it is read from the hopper's status (166)
and dispense count (168) and judged in payout.py: followed to its end, or found not taken, and then it is the firmware
that may call dispense() again. After a restart of the cabinet resume() reads and judges the same, and sends nothing
that moves a coin.

Where the hopper's figures do not prove what was paid, ("done", paid, unpaid, flags) carries the best known `paid` and
the flag EVIDENCE_MISSING: a person has to look. `paid` above n is possible: the hopper gave extra coins. Coins that
leave while no payout is under way are told as ("extra", coins).
"""

from .bus import IDEMPOTENT, OK, STATE, UNKNOWN, VALUE
from .hopper_watch import DISPENSE_COUNT, FAULTS, IDLE_MS, LEVELS_217, STATUS, TEST, HopperWatch
from .payout import ASK_COUNT, COUNT_MASK, LOOK_AGAIN, NO_COUNT, NOT_TAKEN, PROVEN, Payout, resumed

FOLLOW_MS = 100  # between two looks at a payout
LINGER_MS = 400  # after the last coin: one more may be on its way

_EMERGENCY_STOP = 172
_DISPENSE = 167
_ENABLE = 164

_ON = b"\xa5"
_OFF = b"\x00"
EVIDENCE_MISSING = 1 << 24  # in the flags of ("done", ...): the hopper's figures do not prove what was paid
FLAGS_UNREAD = 1 << 25  # in the flags of ("done", ...): header 163 was not answered

# Phases of a payout.
IDLE = 0
PREPARING = 1
PREPARED = 2
SENDING = 3  # dispense() was called, 167 is not yet handed to the bus
FOLLOWING = 4
CLOSING = 5  # the result is known; flags are read and the hopper is switched off


class Hopper(HopperWatch):
    """A hopper on `bus`.

    security: "serial" sends the serial number with 167, "none" eight zero bytes
    levels: LEVELS_217, LEVELS_236 or 0 if it has no level sensors; inverse: a covered plate reads 0 (header 236)
    phase: IDLE to CLOSING
    """

    def __init__(
        self, bus, address: int = 3, security: str = "serial", levels: int = LEVELS_217, inverse: bool = False
    ):
        HopperWatch.__init__(self, bus, address, levels, inverse)
        if security not in ("serial", "none"):
            raise ValueError("security is serial or none")
        self.phase = IDLE
        self._by_serial = security == "serial"
        self._enabled = False
        self._stop = bus.transaction(address)
        self._stop_due = False
        self._payout = Payout(0)
        self._told = 0  # of `paid`, to the firmware
        self._lingered = False
        self._proven = False

    # What the firmware calls.

    def busy(self) -> bool:
        """A payout is prepared or under way."""
        return self.phase != IDLE

    def prepare(self, coins: int) -> bool:
        """Get ready to pay `coins` (1 to 255). Ends in ("prepared", evidence of EVIDENCE_BYTES) or ("not_taken",).

        False: offline or under way with another payout. A payout that was prepared and not dispensed is replaced.
        """
        if not 1 <= coins <= 255:
            raise ValueError("1 to 255 coins")
        if not self.online or self.phase not in (IDLE, PREPARED):
            return False
        self.phase = PREPARING
        self._open(Payout(coins))
        return True

    def dispense(self) -> bool:
        """Pay what was prepared, or what was found not taken. Call it once, after the commit.

        False: nothing is prepared. If it was, the hopper was reset meanwhile, and ("prepared", ...) comes again.
        """
        if self.phase != PREPARED:
            return False
        self.phase = SENDING
        self._stop_due = False  # whatever made the firmware stop it is over
        self._hurry()
        return True

    def resume(self, coins: int, evidence: bytes, paid: int = 0) -> None:
        """After a restart of the cabinet: find out what became of a payout whose intent was committed.

        evidence: from ("prepared", ...); paid: the highest total that was booked. Ends in ("not_taken",) or ("done", ...).
        May be called before the hopper is online. ValueError: under way with a payout.
        """
        if self.phase != IDLE:
            raise ValueError("under way with another payout")
        self.phase = FOLLOWING
        self._open(resumed(coins, evidence, paid))

    def _open(self, payout: "Payout") -> None:
        self._payout = payout
        self._told = payout.paid
        self._lingered = False
        self._hurry()

    def cancel(self) -> None:
        """Forget the payout and switch the hopper off, now or when it answers again.

        What it still pays is told as ("extra", coins). ("not_taken",) may come if the payout was about to be sent.
        """
        self.emergency_stop()
        self.phase = IDLE
        self._account()

    def _account(self) -> None:
        """What the payout does not explain of the dispense count will be told as extra coins."""
        if self._payout.owner not in (-1, self.serial):
            self._count = NO_COUNT
        elif (
            self._payout.count != NO_COUNT
        ):  # else it was given up before the count was read: what was told before still holds
            self._count = (self._payout.count + self._payout.paid) & COUNT_MASK

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
        self._enabled = False
        self._stop_due = True
        self._send_stop()

    # The stop has a transaction of its own: it overtakes what the driver is waiting for.

    def poll(self, now_ms: int) -> None:
        heard_ms = self._heard_ms
        HopperWatch.poll(self, now_ms)
        if self._stop.done:
            status, _ = self._stop.take()
            if status != UNKNOWN:
                self._stopped()
        elif self._stop_due and self._heard_ms != heard_ms:
            self._send_stop()

    def _stopped(self) -> None:
        """The motor stands. Switch the hopper off too, unless a payout goes on to be followed or sent."""
        off_next = self._stop.header == _EMERGENCY_STOP and self.phase not in (SENDING, FOLLOWING)
        self._stop_due = self._stop_due and off_next
        if self._stop_due:
            self._enabled = False
            self._stop.start(_ENABLE, _OFF, STATE, crc=self.crc, urgent=True)

    def _send_stop(self) -> None:
        if not self._stop.pending:
            self._stop.start(_EMERGENCY_STOP, b"", STATE, crc=self.crc, urgent=True)

    # Identification.

    def _found_status(self, answer: bytes) -> None:
        """Switch it off, unless it is paying or has to be followed: that would destroy the evidence."""
        self._check_prepared(answer)
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
            self._ask(STATUS, self._got_baseline, b"", IDEMPOTENT, 4, 4, self._not_prepared)
        elif self.phase == SENDING:
            if self._enabled:
                self._dispense(b"")
            else:
                self._ask(_ENABLE, self._dispense, _ON, STATE, otherwise=self._not_sent)
        elif self.phase == FOLLOWING:
            self._ask(STATUS, self._judge, b"", IDEMPOTENT, 4, 4, self._no_status)
        elif self.phase == IDLE:
            self._look()
        else:
            self._ask(STATUS, self._still_prepared, b"", IDEMPOTENT, 4, 4, self._no_idle_answer)

    # Preparing.

    def _got_baseline(self, answer: bytes) -> None:
        if answer[1]:  # a payout of somebody else is under way
            self._not_prepared(OK)
            return
        self._payout.owner = self.serial
        self._payout.before = answer[0]
        self._payout.baseline = answer[2:]
        self._ask(DISPENSE_COUNT, self._got_count, b"", IDEMPOTENT, 3, 3, self._no_count)

    def _no_count(self, status: int) -> None:
        """A hopper that keeps a count does not pay while it cannot be read: it may be the only evidence later."""
        if self._keeps_count:
            self._not_prepared(status)
        else:
            self._enable_for_payout()

    def _got_count(self, answer: bytes) -> None:
        count = int.from_bytes(answer, "little")
        self._tell_extra(count)
        self._payout.count = count
        self._enable_for_payout()

    def _enable_for_payout(self) -> None:
        self._ask(_ENABLE, self._enabled_for_payout, _ON, STATE, otherwise=self._not_prepared)

    def _enabled_for_payout(self, answer: bytes) -> None:
        self._enabled = True
        if self.phase == PREPARING:
            self.phase = PREPARED
            self._events.push(("prepared", self._payout.evidence()))
        self._pause(IDLE_MS, self._turn)

    def _not_prepared(self, status: int) -> None:
        if self.phase == PREPARING:
            self.phase = IDLE
            self._events.push(("not_taken",))
        if status == UNKNOWN:
            self._search(status)
        else:
            self._ask(_ENABLE, self._switched_off, _OFF, STATE)

    def _check_prepared(self, status: bytes) -> None:
        """A hopper that was reset before anything was sent has another event counter: prepare anew."""
        if self.phase in (PREPARED, SENDING) and status[0] != self._payout.before:
            self.phase = PREPARING

    def _still_prepared(self, answer: bytes) -> None:
        self._check_prepared(answer)
        self._pause(IDLE_MS if self.phase == PREPARED else 0, self._turn)

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
        self._execute(self._payout.judge(answer, self.serial))

    def _got_new_count(self, answer: bytes) -> None:
        if self.phase != FOLLOWING:
            self._pause(0, self._turn)
        else:
            self._execute(self._payout.settle(int.from_bytes(answer, "little")))

    def _execute(self, verdict: int) -> None:
        if self._payout.paid > self._told:
            self._told = self._payout.paid
            self._events.push(("paid", self._told))
        if verdict == LOOK_AGAIN:
            self._pause(FOLLOW_MS, self._turn)
        elif verdict == ASK_COUNT:
            self._ask(DISPENSE_COUNT, self._got_new_count, b"", IDEMPOTENT, 3, 3, self._no_status)
        elif verdict == NOT_TAKEN:
            self._not_taken()
            self._pause(FOLLOW_MS, self._turn)
        elif self._told and not self._lingered:
            self._lingered = True
            self._pause(LINGER_MS, self._turn)
        else:
            self.phase = CLOSING
            self._proven = verdict == PROVEN
            self._ask(TEST, self._closing_flags, b"", IDEMPOTENT, 1, 3, self._no_closing_flags)

    # Closing: why coins are unpaid, switch off, report.

    def _no_closing_flags(self, status: int) -> None:
        self.flags = FLAGS_UNREAD
        self._switch_off()

    def _closing_flags(self, answer: bytes) -> None:
        self.flags = int.from_bytes(answer, "little")
        self._shown_faults = self.flags & FAULTS  # ("done", ...) tells them
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
            self._account()
            flags = self.flags if self._proven else self.flags | EVIDENCE_MISSING
            self._events.push(("done", self._payout.paid, self._payout.unpaid, flags))
        self._pause(IDLE_MS, self._turn)

"""Cash-out: the credit leaves through the hoppers coin by coin, what they cannot pay is owed as a handpay.

Journal before act: the promise is committed before a hopper is asked, the order with the hopper's own counters before it is
sent, each coin when the hopper reports it. An order whose fate is unknown is read back from the hopper, never sent again.

The same orders serve the test mode: one coin, booked to the test meters, with the same record in the journal, so that a cut
in a test leaves no doubt either.
"""

import struct

from firmware import events
from firmware.store import keys

MAX_COINS_PER_ORDER = 250
MAX_TRIES = 3  # of one order, each only after the hopper has proved that it did not take the one before
_RECORD = "<BHH"  # hopper (+ _TEST) or NO_ORDER, coins ordered, coins booked; the hopper's evidence follows
_RECORD_BYTES = 5
_NO_ORDER = 255
_TEST = 0x40

IDLE = "idle"
WAITING = "waiting"  # for a hopper to take up an interrupted order after power-up
PREPARING = "preparing"
PAYING = "paying"

# Bits of ccTalk header 163, register 1 to 3 as the driver gives them, and the tilt each means.
_JAM_FLAGS = 0x001005  # over-current, reversed, reverse limit; a time-out alone is an empty hopper
_EVIDENCE_MISSING = 1 << 24  # the driver's: the hopper cannot prove what it paid
_SENSOR_FLAGS = 0x000038 | 0x000900


class Payout:
    """Pays from `hoppers` (hoppers.py)."""

    def __init__(self, books, hoppers, tilts, show):
        self._books = books
        self._hoppers = hoppers
        self._tilts = tilts
        self._show = show
        self.state = IDLE
        self.testing = False  # the order is a test
        self.tested = ""  # what became of the last test
        self._plan = ()  # indexes of the hoppers still to be used, in order
        self._index = 0
        self._count = 0
        self._booked = 0
        self._tries = 0
        self._asked = False  # the driver has taken the order to prepare
        self._failed = False
        self._troubles = []  # tilts to latch when the pay-out is settled
        self._stopped = False
        self._recovering = False

    def active(self) -> bool:
        return self.state != IDLE

    def missing(self) -> bool:
        """True when a hopper does not answer, unless a pay-out just goes on with another one."""
        online = self._hoppers.online
        return False in online and not (self.active() and online[self._index])

    def payable(self, pence: int) -> int:
        """Pence of `pence` that coins can make up."""
        return pence - pence % self._hoppers.smallest_pence()

    def limit_pence(self) -> int:
        return self._books.config.value("hopper_limit")

    def reclaimable(self) -> int:
        """Pence of what is due by hand that hoppers owe: refilled or repaired, they may pay it after all (CAB-HOP-06)."""
        return min(self._books.journal.get_int(keys.RECLAIMABLE), self._books.ledger.value("handpay_due"))

    # --- beginning -----------------------------------------------------------------------------------------------

    def start(self, now_ms: int) -> None:
        """Promises the credit to the hoppers and, beyond their limit, to an attendant."""
        amount = self.payable(self._books.ledger.value("credit"))
        by_hopper = min(amount, self.limit_pence())  # CAB-HOP-04
        transaction = self._books.transaction(now_ms).post("credit", -amount).post("payout", by_hopper)
        if amount > by_hopper:
            transaction.post("handpay_due", amount - by_hopper).event(events.HANDPAY_DUE, amount - by_hopper)
        self._begin(transaction, by_hopper, now_ms)

    def retry(self, now_ms: int) -> None:
        """Promises to the hoppers once more what they could not pay, up to their limit."""
        due = self.payable(self.reclaimable())
        amount = min(due, self.limit_pence())
        transaction = self._books.transaction(now_ms).post("handpay_due", -amount).post("payout", amount)
        transaction.set(keys.RECLAIMABLE, self._books.journal.get_int(keys.RECLAIMABLE) - amount)
        self._begin(transaction, amount, now_ms)

    def _begin(self, transaction, pence: int, now_ms: int) -> None:
        transaction.set(keys.PAYOUT, struct.pack(_RECORD, _NO_ORDER, 0, 0))
        transaction.event(events.PAYOUT_STARTED, pence).count("payouts").commit()
        self._show({"e": "payout", "pence": pence, "credit": self._books.ledger.value("credit")})
        self._enter(self._hoppers.order())
        self._next_hopper(now_ms)

    def test(self, index: int, now_ms: int) -> bool:
        """Pays one coin of that hopper as a test. False while it does not answer or a pay-out is under way."""
        if self.active() or not self._hoppers.online[index]:
            return False
        self._enter(())
        self.testing = True
        self.tested = ""
        self._index = index
        self._prepare()
        return True

    def _enter(self, plan) -> None:
        self._plan = plan
        self._failed = self._stopped = self._recovering = self.testing = False

    def recover(self, now_ms: int) -> None:
        """Takes up what power loss interrupted; called once at power-up, before anything moves."""
        data = self._books.journal.get(keys.PAYOUT)
        if not data:
            return
        index, count, booked = struct.unpack(_RECORD, data[:_RECORD_BYTES])
        self._recovering = True
        if index == _NO_ORDER:
            self._finish(now_ms)  # promised, but no hopper was asked: nothing has moved
            return
        self.testing = bool(index & _TEST)
        self._index, self._count, self._booked = index & ~_TEST, count, booked
        self.state = WAITING
        self._driver().resume(count, data[_RECORD_BYTES:], booked)

    def stop(self) -> None:
        """Stops the running hopper at once (door open); the remainder goes back to the credit."""
        if self.state in (PREPARING, PAYING) and not self._stopped:
            self._stopped = True
            self._driver().emergency_stop()

    def _driver(self):
        return self._hoppers.rows[self._index][2]

    # --- the turn of the loop ------------------------------------------------------------------------------------

    def poll(self, now_ms: int) -> None:
        """Takes the hoppers' events. The drivers themselves are polled by the main loop."""
        rows = self._hoppers.rows
        for index in range(len(rows)):
            driver = rows[index][2]
            while True:
                event = driver.event()
                if event is None:
                    break
                if not self._hoppers.take(index, event, now_ms):
                    self._take(index, event, now_ms)
                driver.booked()
        if self.state == PREPARING and not self._hoppers.online[self._index]:
            self._driver().cancel()  # else it is ready when it comes back, and waits for an order instead of counting
            self._failed = True
            self._next_hopper(now_ms)
        elif self.state == PREPARING and not self._asked:
            self._asked = self._driver().prepare(self._count)  # it was still busy with what came before

    def _take(self, index: int, event, now_ms: int) -> None:
        kind = event[0]
        if kind == "fault":
            if event[1]:
                self._trouble(event[1], now_ms)
        elif index != self._index or self.state == IDLE:
            return  # the tail of an order that is settled already
        elif kind == "prepared":
            if self._stopped:
                self._driver().cancel()
                self._finish(now_ms)
            elif not self._booked:
                self._order(event, now_ms)
        elif kind == "paid":
            self._book(event[1], now_ms)
        elif kind == "done":
            self._book(event[1], now_ms)
            self._done(event[3], now_ms)
        elif kind == "not_taken":
            self._not_taken(now_ms)

    def _order(self, event, now_ms: int) -> None:
        index = self._index | _TEST if self.testing else self._index
        record = struct.pack(_RECORD, index, self._count, 0) + event[1]
        self._books.transaction(now_ms).set(keys.PAYOUT, record).commit()
        self.state = PAYING
        self._tries = 1
        self._driver().dispense()

    def _not_taken(self, now_ms: int) -> None:
        """The hopper has proved that it did not take the order, so asking once more cannot pay twice."""
        driver = self._driver()
        if self._recovering or self._stopped:
            driver.cancel()
            self._finish(now_ms)
        elif self.state == PAYING and self._tries < MAX_TRIES and driver.dispense():
            self._tries += 1
        else:
            driver.cancel()
            self._failed = True
            self._next_hopper(now_ms)

    def _book(self, paid: int, now_ms: int) -> None:
        """Books coins up to `paid` of this order, each coin on its own (CAB-HOP-01)."""
        account, value, _ = self._hoppers.rows[self._index]
        journal = self._books.journal
        data = bytearray(journal.get(keys.PAYOUT))
        while self._booked < paid:
            self._booked += 1
            data[_RECORD_BYTES - 2 : _RECORD_BYTES] = self._booked.to_bytes(2, "little")
            transaction = self._books.transaction(now_ms).set(keys.PAYOUT, bytes(data))
            self._hoppers.counted(self._index, 1, transaction)
            if self._booked > self._count:
                self._hoppers.book_extra(self._index, 1, transaction)
            elif self.testing:
                transaction.count("test_" + account, value)
            else:
                transaction.post(account, value).post("payout", -value)
                transaction.set(keys.EM_OUT_PENCE, journal.get_int(keys.EM_OUT_PENCE) + value)
            transaction.commit()
            self._show({"e": "test_coin_out" if self.testing else "coin_out", "pence": value})

    def _done(self, flags: int, now_ms: int) -> None:
        if flags & _EVIDENCE_MISSING:
            self._troubles.append("hopper_evidence")
        if self._recovering or self._stopped:
            self._finish(now_ms)
        elif self._booked < self._count:
            self._trouble(flags, now_ms)
            self._next_hopper(now_ms)
        elif self._remaining_coins():
            self._prepare()  # an order holds at most MAX_COINS_PER_ORDER
        else:
            self._next_hopper(now_ms)

    def _trouble(self, flags: int, now_ms: int) -> None:
        """A hopper failed. Under way, the tilt waits for the end, so that smaller coins can still be tried."""
        self._failed = True
        if flags & _SENSOR_FLAGS:
            name = "hopper_sensor"
        elif flags & _JAM_FLAGS:
            name = "hopper_jam"
        else:
            name = "hopper_empty"
        transaction = self._books.transaction(now_ms).event(events.PAYOUT_SHORT, flags)
        if self.active():
            self._troubles.append(name)
        else:
            self._tilts.latch(name, transaction)
        transaction.commit()

    def _remaining_coins(self) -> int:
        if self.testing:
            return 0
        return self._books.ledger.value("payout") // self._hoppers.rows[self._index][1]

    def _next_hopper(self, now_ms: int) -> None:
        while self._plan:
            self._index, self._plan = self._plan[0], self._plan[1:]
            if self._remaining_coins():
                if self._hoppers.online[self._index]:
                    self._prepare()
                    return
                self._failed = True
        self._finish(now_ms)

    def _prepare(self) -> None:
        self._count = 1 if self.testing else min(MAX_COINS_PER_ORDER, self._remaining_coins())
        self._booked = 0
        self.state = PREPARING
        self._asked = self._driver().prepare(self._count)

    def _finish(self, now_ms: int) -> None:
        """Settles what was promised and not paid: to the attendant when a hopper failed, else back to the credit."""
        transaction = self._books.transaction(now_ms).set(keys.PAYOUT, b"")
        if self._troubles:
            self._tilts.latch_all(self._troubles, transaction)
            self._troubles = []
        rest = 0
        if self.testing:
            self.tested = "one coin left" if self._booked else "no coin left"
            transaction.event(events.TEST_ENDED, self._booked)
        else:
            rest = self._books.ledger.value("payout")
            self._owe(rest, transaction)
            transaction.event(events.PAYOUT_RESUMED if self._recovering else events.PAYOUT_DONE, rest)
        transaction.commit()
        self.state = IDLE
        was_test, self.testing, self._recovering = self.testing, False, False
        if not was_test:
            self._show({"e": "payout_done", "unpaid": rest, "credit": self._books.ledger.value("credit")})

    def _owe(self, rest: int, transaction) -> None:
        if rest and self._failed and not self._recovering:
            transaction.post("payout", -rest).post("handpay_due", rest).event(events.HANDPAY_DUE, rest)
            transaction.set(keys.RECLAIMABLE, self.reclaimable() + rest)
        elif rest:
            transaction.post("payout", -rest).post("credit", rest)

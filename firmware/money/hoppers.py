"""The hoppers beside a pay-out: which answer, how full they are, and coins that left although nobody asked for them.

Each hopper's own lifetime count of coins (ccTalk header 168) is kept in the journal as far as its coins are booked, and moves
in the same record as the booking. So coins that leave while the cabinet has no power are found at the next power-up, and
another hopper in its place, or one whose count was set anew, is noticed.
"""

import struct

from firmware import events
from firmware.store import keys

_RECORD = "<II"  # serial number, lifetime count of coins up to which they are booked
_COUNT_MASK = 0xFFFFFF
LEVELS = ("ok", "low", "full")
_LOW = 1
_FULL = 2


class Hoppers:
    """`rows`: (account, coin value in pence, driver) from the largest coin to the smallest."""

    def __init__(self, books, rows, tilts, show):
        self.rows = rows
        self.online = [False] * len(rows)
        self._books = books
        self._tilts = tilts
        self._show = show
        for index in range(len(rows)):
            record = books.journal.get(keys.HOPPER_COUNT_BASE + index)
            if record:
                serial, count = struct.unpack(_RECORD, record)
                rows[index][2].known(serial, count)

    def smallest_pence(self) -> int:
        return self.rows[-1][1]

    def order(self):
        """Indexes in the order in which a pay-out uses them: large coins first; of equal ones those that are not low."""
        ranked = [(-self.rows[i][1], bool(self.rows[i][2].low), i) for i in range(len(self.rows))]
        return [entry[2] for entry in sorted(ranked)]

    def counted(self, index: int, coins: int, transaction) -> None:
        """Moves the count of booked coins on, in the transaction that books them."""
        record = self._books.journal.get(keys.HOPPER_COUNT_BASE + index)
        if record:  # a hopper that keeps no count has none
            serial, count = struct.unpack(_RECORD, record)
            transaction.set(keys.HOPPER_COUNT_BASE + index, struct.pack(_RECORD, serial, count + coins & _COUNT_MASK))

    def take(self, index: int, event, now_ms: int) -> bool:
        """Deals with an event that belongs to no pay-out. False when it is not one of these."""
        kind = event[0]
        if kind in ("online", "offline"):
            self.online[index] = kind == "online"
            code = events.DEVICE_ONLINE if self.online[index] else events.DEVICE_OFFLINE
            self._books.transaction(now_ms).event(code, 3 + index).commit()
        elif kind == "counted":
            transaction = self._books.transaction(now_ms).event(events.HOPPER_FITTED, index)
            transaction.set(keys.HOPPER_COUNT_BASE + index, struct.pack(_RECORD, event[1] & 0xFFFFFFFF, event[2]))
            transaction.commit()
        elif kind == "extra":
            self._extra(index, event[1], now_ms)
        else:
            return False
        return True

    def _extra(self, index: int, coins: int, now_ms: int) -> None:
        """Coins that left without an order (CAB-HOP-05): counted, and a technician has to look."""
        transaction = self._books.transaction(now_ms)
        pence = self.book_extra(index, coins, transaction)
        self.counted(index, coins, transaction)
        transaction.commit()
        self.rows[index][2].emergency_stop()
        self._show({"e": "extra_coins", "pence": pence})

    def book_extra(self, index: int, coins: int, transaction) -> int:
        """Adds coins beyond any order to `transaction`: the house's loss, a lock-up. Returns their value."""
        account, value, _ = self.rows[index]
        pence = coins * value
        transaction.post(account, pence).post("overpaid", pence).count("extra_coins", coins)
        transaction.event(events.EXTRA_COINS, pence)
        transaction.set(keys.EM_OUT_PENCE, self._books.journal.get_int(keys.EM_OUT_PENCE) + pence)
        self._tilts.latch("hopper_extra", transaction)
        return pence

    def level(self, index: int) -> str:
        """What the sensors said last; "ok" for a hopper without them."""
        return LEVELS[self._levels() >> 2 * index & 3]

    def _levels(self) -> int:
        return self._books.journal.get_int(keys.HOPPER_LEVELS)

    def follow_levels(self, now_ms: int) -> None:
        """Tells of a level that has changed since it was told last, over power loss too."""
        for index in range(len(self.rows)):
            account, _, driver = self.rows[index]
            if driver.low is None or not self.online[index]:
                continue
            level = _LOW if driver.low else _FULL if driver.full else 0
            levels = self._levels()
            if levels >> 2 * index & 3 != level:
                levels = levels & ~(3 << 2 * index) | level << 2 * index
                transaction = self._books.transaction(now_ms).set(keys.HOPPER_LEVELS, levels)
                transaction.event(events.HOPPER_LEVEL, index * 4 + level).commit()
                self._show({"e": "hopper_level", "hopper": account, "level": LEVELS[level]})

"""Coins: credited once, on the acceptor's event counter, and what becomes of those that it lost (CAB-COI-01, CAB-MTR-04).

Credit, device counter and the pulse to be counted are one record. Events that an acceptor lost with its power are found by its
lifetime accept counter and kept as disputed: their value is not guessed.
"""

from firmware import events
from firmware.money import increments, sorter
from firmware.store import keys

DEVICE = 2  # of the events device online and offline

# Coin acceptor error codes (ccTalk header 229, A = 0) by what they mean for us.
_FRAUD_CODES = (17, 20, 23, 26, 34, 40)
_REFUSED_CODES = (1, 2, 3, 8, 24, 25)
_LOST_COIN_CODES = (6, 7, 16, 36, 39)
_FAULT_CODES = (9, 10, 11, 12, 13, 14, 15, 21, 22, 29, 30, 31, 32, 33, 35, 255)
_ACCEPT_COUNTER_MODULUS = 1 << 24


class CoinsIn:
    """The coin acceptor's part of the machine. `test`: takes coins while they are test coins (test_mode.py).

    online: as the acceptor's events told last
    """

    def __init__(self, books, acceptor, tilts, test, show):
        self.online = False
        self._books = books
        self._acceptor = acceptor
        self._tilts = tilts
        self._test = test
        self._show = show
        self._accepting = None

    def accept(self, accept: bool) -> None:
        """Lets coins in or not; the driver hears of changes only."""
        if accept != self._accepting:
            self._accepting = accept
            self._acceptor.accept(accept)

    def poll(self, now_ms: int) -> bool:
        """Takes the driver's events. True when the acceptor has come or gone."""
        before = self.online
        while True:
            event = self._acceptor.event()
            if event is None:
                return self.online != before
            kind = event[0]
            if kind == "coin":
                self._coin(event, now_ms)
            elif kind in ("coin_error", "coins_lost"):
                self._trouble(kind, event, now_ms)
            elif kind == "device_reset":
                self._reset(event[1], now_ms)
            elif kind == "adopted":
                self._adopt(event, now_ms)
            elif kind in ("online", "offline"):
                self._presence(kind == "online", now_ms)
            self._acceptor.booked()

    def _presence(self, online: bool, now_ms: int) -> None:
        self.online = online
        code = events.DEVICE_ONLINE if online else events.DEVICE_OFFLINE
        self._books.transaction(now_ms).event(code, DEVICE).commit()

    def _adopt(self, event, now_ms: int) -> None:
        """Met for the first time: what it shows is not ours, and a coin that goes lost from here on is one more than it has
        counted."""
        _, counter, accepted = event
        transaction = self._books.transaction(now_ms).set(keys.ACCEPTOR_COUNTER, bytes([counter]))
        if accepted >= 0:
            transaction.set(keys.ACCEPTOR_ACCEPTED, accepted + 1)
        transaction.commit()

    def _coin(self, event, now_ms: int) -> None:
        _, counter, pence, _, path = event
        journal = self._books.journal
        transaction = self._books.transaction(now_ms).set(keys.ACCEPTOR_COUNTER, counter)
        testing = self._test.coins_pending()
        if testing:
            self._test.coin(pence, transaction)
        else:
            transaction.post("coins_%d" % pence, pence).post("credit", pence)
            transaction.set(keys.EM_IN_PENCE, journal.get_int(keys.EM_IN_PENCE) + pence)
            sorter.fell(path, pence, transaction)
            increments.coin(journal, self._tilts, pence, transaction)
        accepted = journal.get_int(keys.ACCEPTOR_ACCEPTED)
        if accepted:
            transaction.set(keys.ACCEPTOR_ACCEPTED, accepted % _ACCEPT_COUNTER_MODULUS + 1)
        transaction.commit()
        kind = "test_coin" if testing else "coin"
        self._show({"e": kind, "pence": pence, "credit": self._books.ledger.value("credit")})

    def _trouble(self, kind: str, event, now_ms: int) -> None:
        counter, detail = event[1], event[2]
        transaction = self._books.transaction(now_ms).set(keys.ACCEPTOR_COUNTER, counter)
        if kind == "coins_lost":
            self._count_accepted(event[3], detail, transaction)
        else:
            transaction.event(events.COIN_ERROR, detail)
            self._test.coin_error(detail)
            if detail in _REFUSED_CODES:
                transaction.count("coins_refused")
            elif detail in _LOST_COIN_CODES:
                self._dispute(1, transaction)
            elif detail in _FRAUD_CODES:
                self._tilts.latch("coin_in", transaction)
            elif detail in _FAULT_CODES:
                self._tilts.latch("coin_jam", transaction)
        transaction.commit()
        self._show({"e": kind, "detail": detail})

    def _dispute(self, coins: int, transaction) -> None:
        transaction.count("coins_disputed", coins).event(events.COINS_DISPUTED, coins)
        self._tilts.latch("coins_lost", transaction)

    def _reset(self, accepted: int, now_ms: int) -> None:
        """The acceptor has lost its event buffer. Its lifetime accept counter tells whether a coin went with it; the
        journal keeps that counter + 1, 0 while it is not known."""
        transaction = self._books.transaction(now_ms).set(keys.ACCEPTOR_COUNTER, b"\x00").event(events.ACCEPTOR_RESET)
        transaction.count("acceptor_resets")
        self._count_accepted(accepted, 0, transaction)
        transaction.commit()

    def _count_accepted(self, accepted: int, unknown: int, transaction) -> None:
        """Disputes the coins that the acceptor counted and nobody booked, and goes on from its count. `unknown`: how many events
        to dispute where there is no count, which then are taken for coins. So no coin is disputed twice."""
        known = self._books.journal.get_int(keys.ACCEPTOR_ACCEPTED)
        missing = (accepted - (known - 1)) % _ACCEPT_COUNTER_MODULUS
        if accepted < 0 or not known:
            missing = unknown
        elif missing > _ACCEPT_COUNTER_MODULUS // 2:
            missing = 0  # another acceptor, or one whose count was set anew
        if missing:
            self._dispute(missing, transaction)
        if accepted < 0 and known:
            accepted = (known - 1 + missing) % _ACCEPT_COUNTER_MODULUS
        if accepted >= 0:
            transaction.set(keys.ACCEPTOR_ACCEPTED, accepted + 1)

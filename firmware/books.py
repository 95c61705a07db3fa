"""One place to change what must last: a transaction gathers postings, counts, events and facts, and commits them as one."""

from firmware.config import Config
from firmware.events import EventLog
from firmware.money.ledger import Ledger
from firmware.money.meters import Meters


class Books:
    """Ledger, meters, event log and configuration over one journal.

    clock: dates what is logged (clock.py); without one nothing has a date
    """

    def __init__(self, journal, clock=None):
        self.journal = journal
        self.clock = clock
        self.ledger = Ledger(journal)
        self.meters = Meters(journal)
        self.events = EventLog(journal)
        self.config = Config(journal)

    def date(self, now_ms: int) -> int:
        """Seconds since 2000, 0 while the time is not known."""
        return self.clock.date(now_ms) if self.clock is not None else 0

    def transaction(self, now_ms: int) -> "Transaction":
        return Transaction(self, now_ms)


class Transaction:
    """Changes that land together or not at all. Each method returns the transaction, so that calls can be chained."""

    def __init__(self, books, now_ms: int):
        self._books = books
        self._now_ms = now_ms
        self._postings = {}
        self._counts = {}
        self._zeroed = []
        self._events = []
        self._facts = {}

    def post(self, account: str, pence: int) -> "Transaction":
        """Adds `pence` to `account`; the transaction as a whole must balance (money/ledger.py)."""
        self._postings[account] = self._postings.get(account, 0) + pence
        return self

    def count(self, meter: str, number: int = 1) -> "Transaction":
        self._counts[meter] = self._counts.get(meter, 0) + number
        return self

    def zero(self, meter: str) -> "Transaction":
        self._zeroed.append(meter)
        return self

    def event(self, code: int, argument: int = 0, when=None) -> "Transaction":
        """`when`: (date, power-ups, uptime in seconds) of what did not happen now."""
        if when is None:
            books, now_ms = self._books, self._now_ms
            when = (books.date(now_ms), books.meters.value("power_ups"), now_ms // 1000)
        self._events.append((when, code, argument))
        return self

    def set(self, key: int, value) -> "Transaction":
        """Sets the journal's `key` (store/keys.py) to bytes or an unsigned integer."""
        self._facts[key] = value
        return self

    def commit(self) -> None:
        """Makes it all durable. Raises LedgerError, and changes nothing, when the postings do not balance."""
        books = self._books
        changes = books.ledger.entries(*self._postings.items())
        for meter in self._counts:
            changes.append(books.meters.count(meter, self._counts[meter]))
        for meter in self._zeroed:
            changes.append(books.meters.zero(meter))
        if self._events:
            changes.extend(books.events.changes(self._events))
        changes.extend(self._facts.items())
        books.journal.commit(changes)

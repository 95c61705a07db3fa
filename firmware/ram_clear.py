"""RAM clear: the only way out of unrecoverable memory, and the only way to change what is locked (CAB-NVM-05, CAB-NVM-06).

A technician at the console, with the technician key turned and the logic door open, sees all readings, names the money that
will be gone, and types a token back in time. Then every byte is initialised, the first event of the new memory tells of it,
and the cabinet starts anew in its state `setup`. The count of RAM clears is carried over where the old memory can be read.
"""

from firmware import events
from firmware.money.amounts import pounds
from firmware.money.ledger import ACCOUNTS
from firmware.setup import CANCEL, token
from firmware.store.journal import JournalWriteError

TYPE_MS = 120000  # from the prompt to the answer


class RamClear:
    """The dialogue, as setup.SetUp. `readings`: the function that yields the lines of all meters."""

    def __init__(self, cabinet, readings, now_ms: int):
        self._cabinet = cabinet
        self._readings = readings
        self._deadline_ms = now_ms + TYPE_MS
        self._stake = cabinet.at_stake()
        self._accounts = self._sums()
        self._named = self._stake == 0
        self._token = token(self._accounts)
        self.over = False

    def begin(self):
        cabinet = self._cabinet
        yield "RAM clear: these are the readings before it; write them down"
        if cabinet.lock_reason:
            yield "critical memory is damaged (%s): readings are as far as they can be read" % cabinet.lock_reason
        if cabinet.readable() is None:
            yield "no reading can be recovered"
        else:
            yield from self._readings()
        yield from self._ask()

    def ends(self, now_ms: int) -> str:
        """Why the dialogue cannot go on, "" while it can."""
        missing = self._cabinet.no_clear_access()
        if missing:
            return "RAM clear given up: %s" % missing
        if now_ms >= self._deadline_ms:
            return "RAM clear given up: nothing was typed for %d s" % (TYPE_MS // 1000)
        return ""

    def answer(self, words, now_ms: int):
        """Takes what was typed. ValueError tells what would be right."""
        if words == [CANCEL]:
            self.over = True
            yield "RAM clear given up: nothing was changed"
        elif not self._named:
            if words != ["%d" % self._stake]:
                raise ValueError("type %d, the amount in pence, or %s" % (self._stake, CANCEL))
            self._named = True
            self._deadline_ms = now_ms + TYPE_MS
            yield from self._ask()
        elif words != [self._token]:
            raise ValueError("that is not %s; type it, or %s" % (self._token, CANCEL))
        elif self._sums() != self._accounts:
            self.over = True
            raise ValueError("money has moved since the readings: type ramclear again")
        elif self._cabinet.no_clear_access():
            raise ValueError(self._cabinet.no_clear_access())
        else:
            self.over = True
            yield from self._clear()

    def _ask(self):
        if not self._named:
            yield "%s is on the machine or owed, and will be gone from the books" % pounds(self._stake)
            yield "pay it by hand if it is a player's. Type %d to go on without it, or %s" % (self._stake, CANCEL)
        else:
            yield "within %d s type %s to clear all memory, or %s" % (TYPE_MS // 1000, self._token, CANCEL)

    def _sums(self) -> bytes:
        books = self._cabinet.readable()
        if books is None:
            return self._cabinet.lock_reason.encode()
        return b"".join([books.ledger.value(account).to_bytes(8, "little") for account in ACCOUNTS])

    def _clear(self):
        """Every byte, in steps of one turn of the loop each; then the cabinet starts as it does at power-up."""
        cabinet = self._cabinet
        clears = 1
        if cabinet.readable() is not None:
            clears += cabinet.readable().meters.value("ram_clears")
        journal = cabinet.give_up_memory("a RAM clear is under way")
        fresh = _Fresh()
        first = cabinet.books_over(fresh).transaction(cabinet.now_ms).event(events.RAM_CLEARED, clears)
        first.count("ram_clears", clears).commit()
        yield "clearing"
        try:
            for _ in journal.clear_steps(fresh.facts):
                yield None
        except JournalWriteError as error:
            cabinet.give_up_memory(str(error))
            yield "error: %s; the memory has to be replaced" % error
            return
        cabinet.start_anew()
        yield "memory is clear; these are the readings after it"
        yield from self._readings()
        yield "state    %s" % cabinet.state()


class _Fresh:
    """An empty journal that keeps what its first transaction would write."""

    def __init__(self):
        self.facts = []

    def get(self, key: int) -> bytes:
        return b""

    def get_int(self, key: int) -> int:
        return 0

    def commit(self, changes) -> None:
        self.facts = list(changes)

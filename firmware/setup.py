"""First set-up: a technician enters every item of the configuration at the console, looks at all of it, and says yes.

Nothing is kept until the end; then everything lands in one transaction. So a power cut leaves the state `setup` or the whole
configuration, and no item ever has a value that nobody typed.
"""

import native
from firmware import config, events
from firmware.store import keys

BACK = "back"
CANCEL = "cancel"


class SetUp:
    """The dialogue. `begin` and `answer` are generators of lines for the console; `over` when it is done or given up."""

    def __init__(self, cabinet):
        self._cabinet = cabinet
        self._values = {}
        self._place = 0
        self.over = False

    def begin(self):
        yield "first set-up: %d items, nothing is assumed, every value has to be typed" % len(config.ITEMS)
        yield "%s goes one item back, %s gives up; nothing is kept before the end" % (BACK, CANCEL)
        yield from self._ask()

    def ends(self, now_ms: int) -> str:
        """Why the dialogue cannot go on, "" while it can."""
        return "" if self._cabinet.technician() else "the technician key is no longer turned: nothing was kept"

    def answer(self, words, now_ms: int):
        """Takes what was typed. ValueError tells what would be right; the dialogue then stands where it was."""
        if words == [CANCEL]:
            self.over = True
            yield "set-up given up: nothing was kept"
        elif words == [BACK]:
            self._place = max(0, self._place - 1)
            yield from self._ask()
        elif self._place < len(config.ITEMS):
            row = config.ITEMS[self._place]
            self._values[row.name] = row.parsed(words, self._cabinet.packs)
            config.check_board(row, self._values[row.name], self._cabinet.board)
            config.check({each.name: self._values[each.name] for each in config.ITEMS[: self._place + 1]})
            yield "%s %s" % (row.name, row.shown(self._values[row.name]))
            self._place += 1
            yield from self._ask()
        elif words == [self._token()]:
            self._finish(now_ms)
            yield "set-up done: the cabinet starts"
        else:
            raise ValueError("that is not %s; type it, or %s, or %s" % (self._token(), BACK, CANCEL))

    def _ask(self):
        if self._place < len(config.ITEMS):
            row = config.ITEMS[self._place]
            usual = "" if row.usual is None else "; usual is %s" % row.shown(row.usual)
            yield "%d of %d  %s: %s" % (self._place + 1, len(config.ITEMS), row.name, row.meaning)
            yield "    %s%s" % (row.span(self._cabinet.packs), usual)
            return
        yield "this will be the cabinet:"
        yield from listed(self._values)
        yield "locked items change only by a RAM clear. Read every line, then type %s to keep them" % self._token()

    def _token(self) -> str:
        return token(b"".join([value for _, value in config.facts(self._values)]))

    def _finish(self, now_ms: int) -> None:
        books = self._cabinet.books
        transaction = books.transaction(now_ms).event(events.CONFIGURED, self._values["cabinet"])
        for key, value in config.facts(self._values):
            transaction.set(key, value)
        transaction.set(keys.PROGRAM_ACCEPTED, books.journal.get(keys.PACK_HASH)).commit()
        self.over = True
        self._cabinet.machine.configured(now_ms)


def listed(values):
    """Lines that show a configuration, `values` as config.Config.value gives them."""
    for row in config.ITEMS:
        yield "  %-13s %s%s" % (row.name, row.shown(values[row.name]), "  (locked)" if row.locked else "")


def token(data: bytes) -> str:
    """Four digits that depend on `data`: who types them has seen the text that they stand in."""
    return "%04d" % (native.crc32(data) % 10000)

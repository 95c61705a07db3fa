"""Test mode: lamps, inputs, coins and hoppers tried by a technician, without touching one accounting meter (CAB-MTR-10).

The technician key must be turned, and nothing can be played meanwhile (CAB-CFG-02). A test ends by itself; it ends at once
when the key is turned back, a further door is opened or the I/O board is gone, with the acceptor inhibited, the hopper stopped
and the lamps as the state wants them. A coin that is still falling then is a test coin. What a test takes or pays is kept in
tallies of its own (money/meters.py), so that swallowed = booked + tested and paid = booked + tested, over power cuts too.

Not here, on purpose: a pulse of an electromechanical meter (it cannot move without counting money that never was) and bytes
of the random source (they are drawn for rounds only, and their health is tested all the time).
"""

from firmware import events
from firmware.store import keys

LAMP_MS = 500  # for each lamp
MAX_SECONDS = 120
# From the moment when the acceptor has acknowledged that it is inhibited: a coin has fallen and was asked for by then.
COINS_SETTLE_MS = 1500
LINES = 16  # told to the console; what it does not take in time is lost

KINDS = ("lamps", "inputs", "coins", "hopper")


class TestMode:
    """`lamps`: names in the order of the test. The machine asks `kind`, "" while no test is under way."""

    def __init__(self, books, panel, acceptor, payout, lamps):
        self.kind = ""
        self._books = books
        self._panel = panel
        self._acceptor = acceptor
        self._payout = payout
        self._lamp_names = lamps
        self._hopper = ""
        self._begun_ms = 0
        self._until_ms = 0
        self._lamp = -1
        self._coins = 0
        self._lines = []
        self._pending = bool(books.journal.get_int(keys.TEST_COINS))  # coins on their way are test coins
        self._inhibited_ms = -1  # since when the acceptor is known to be inhibited

    # --- what the console asks for -------------------------------------------------------------------------------

    def begin(self, kind: str, seconds: int, now_ms: int) -> None:
        """Begins the test of lamps, inputs or coins. The caller has made sure of the key."""
        self._enter(kind, now_ms)
        self._until_ms = now_ms + (len(self._lamp_names) * LAMP_MS if kind == "lamps" else seconds * 1000)
        transaction = self._books.transaction(now_ms).event(events.TEST_BEGUN, KINDS.index(kind))
        if kind == "coins":
            transaction.set(keys.TEST_COINS, 1)
            self._pending = True
        transaction.commit()

    def begin_hopper(self, index: int, name: str, now_ms: int) -> bool:
        """Pays one coin. False, and no test, while the hopper does not answer."""
        self._books.transaction(now_ms).event(events.TEST_BEGUN, KINDS.index("hopper")).commit()
        if not self._payout.test(index, now_ms):
            return False
        self._enter("hopper", now_ms)
        self._hopper = name
        return True

    def _enter(self, kind: str, now_ms: int) -> None:
        self.kind = kind
        self._begun_ms = now_ms
        self._lamp, self._coins, self._inhibited_ms = -1, 0, -1
        self._lines = []

    def line(self):
        """The oldest line for the console, None when there is none."""
        return self._lines.pop(0) if self._lines else None

    def _say(self, line: str) -> None:
        if len(self._lines) < LINES:
            self._lines.append(line)

    # --- what the machine tells and asks -------------------------------------------------------------------------

    def poll(self, now_ms: int) -> None:
        if self.kind == "lamps":
            self._next_lamp(now_ms)
        elif self.kind == "hopper":
            if not self._payout.active():
                self._say("%s: %s" % (self._hopper, self._payout.tested))
                self.kind = ""
        elif self.kind and now_ms >= self._until_ms:
            self.end("time is over", now_ms)
        if self._pending and self.kind != "coins":
            self._settle_coins(now_ms)

    def end(self, reason: str, now_ms: int) -> None:
        """Ends whatever test is under way, with the outputs safe."""
        if not self.kind:
            return
        self._say("test ended: %s" % reason)
        if self.kind == "hopper":
            self._payout.stop()  # its end is logged when the hopper has told what left
        else:
            if self.kind == "lamps":
                self._panel.lamps_off()
            self._books.transaction(now_ms).event(events.TEST_ENDED, self._coins).commit()
        self.kind = ""

    def input(self, kind: str, name: str, now_ms: int) -> None:
        """An input has changed. More doors or the key turned back end the test."""
        if self.kind == "inputs":
            self._say("%s %s" % (kind, name))
        if kind == "open":
            self.end("door %s was opened" % name, now_ms)
        elif kind == "unturn" and name == "technician":
            self.end("the technician key was turned back", now_ms)
        elif kind == "offline":
            self.end("the I/O board does not answer", now_ms)

    def takes_coins(self) -> bool:
        """The acceptor is to be enabled for the test."""
        return self.kind == "coins"

    def coins_pending(self) -> bool:
        """A coin that is told now is a test coin, whether the test is under way or has just ended."""
        return self._pending

    def coin(self, pence: int, transaction) -> None:
        """Books a test coin: a tally, no credit, no accounting meter."""
        transaction.count("test_coins_in", pence)
        self._coins += 1
        self._say("coin of %dp, not credited" % pence)

    def coin_error(self, code: int) -> None:
        if self.kind == "coins":
            self._say("acceptor reports code %d" % code)

    # --- the tests -----------------------------------------------------------------------------------------------

    def _next_lamp(self, now_ms: int) -> None:
        if now_ms >= self._until_ms:
            self.end("all lamps were lit", now_ms)
            return
        lamp = (now_ms - self._begun_ms) // LAMP_MS
        if lamp != self._lamp:
            self._lamp = lamp
            self._panel.lamps_off()
            self._panel.lamp(self._lamp_names[lamp], True)
            self._say("lamp %s" % self._lamp_names[lamp])

    def _settle_coins(self, now_ms: int) -> None:
        """Coins are credited again once no test coin can be on its way any more."""
        if not self._acceptor.online or self._acceptor.accepting is not False:
            self._inhibited_ms = -1
        elif self._inhibited_ms < 0:
            self._inhibited_ms = now_ms
        elif now_ms - self._inhibited_ms >= COINS_SETTLE_MS:
            self._pending = False
            self._books.journal.commit(((keys.TEST_COINS, 0),))

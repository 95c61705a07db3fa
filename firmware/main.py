"""The super-loop: builds the cabinet on a board and turns it. Nothing below this file reads a clock or blocks."""

import gc

import native
from firmware import events
from firmware.books import Books
from firmware.console import Console
from firmware.machine import Machine
from firmware.money.ledger import COINS_PENCE
from firmware.store import keys
from firmware.store.journal import Journal, JournalCorrupt, JournalWriteError
from hal.board import Clock
from hal.cctalk.bus import Bus
from hal.cctalk.coin_acceptor import CoinAcceptor
from hal.cctalk.hopper import Hopper
from hal.entropy.source import EntropySource
from hal.panel.opp import Panel
from hal.panel.wiring import DEFAULT as WIRING

COLLECT_MS = 1000  # a busy turn of the loop leaves some hundred bytes: sixty thousand in this time
SHORT_TURN_MS = 6

COIN_IDS = {"GB%03dA" % pence: pence for pence in COINS_PENCE}


class Devices:
    """The drivers of the default cabinet on a board's ports."""

    def __init__(self, board, acceptor_counter: int):
        self.bus = Bus(board.port("cctalk"))
        self.acceptor = CoinAcceptor(self.bus, COIN_IDS, last_counter=acceptor_counter)
        self.hoppers = (
            ("hopper_100", 100, Hopper(self.bus, address=3)),
            ("hopper_10", 10, Hopper(self.bus, address=4)),
        )
        self.panel = Panel(board.port("panel"), WIRING)
        self.entropy = EntropySource(board.port("entropy"))

    def poll(self, now_ms: int) -> None:
        self.acceptor.poll(now_ms)
        for _, _, hopper in self.hoppers:
            hopper.poll(now_ms)
        self.bus.poll(now_ms)
        self.panel.poll(now_ms)
        self.entropy.poll(now_ms)


class Cabinet:
    """Everything, on one board. `machine` and `books` are None when critical memory is unrecoverable: then only the
    console answers, and the outputs stay in their safe state."""

    def __init__(self, board, now_ms: int = 0):
        self.board = board
        self.lock_reason = ""
        self.books = None
        self.machine = None
        self.packs = {name: native.Pack(board.game(name)) for name in board.games()}
        self.console = Console(board.port("console"), self)
        journal = Journal(board.nvram)
        try:
            formatted = journal.open()
        except (JournalCorrupt, JournalWriteError) as error:
            self.devices = Devices(board, 0)
            self._lock(str(error))
            return
        self.books = Books(journal)
        self.devices = Devices(board, journal.get_int(keys.ACCEPTOR_COUNTER))
        try:
            if formatted:
                self.books.transaction(now_ms).event(events.MEMORY_FORMATTED).commit()
            if journal.repaired:
                self.books.transaction(now_ms).event(events.MEMORY_REPAIRED, journal.repaired).commit()
            self.machine = Machine(self.books, self.devices, self.packs, self.console.show, now_ms)
        except JournalWriteError as error:
            self._lock(str(error))

    def poll(self, now_ms: int) -> None:
        """One turn of the loop."""
        self.board.feed_watchdog()
        self.devices.poll(now_ms)
        try:
            if self.machine is not None:
                self.machine.poll(now_ms)
            self.console.poll(now_ms)  # a command may commit too
        except JournalWriteError as error:
            self._lock(str(error))

    def _lock(self, reason: str) -> None:
        """Critical memory cannot be trusted: nothing is accepted, played or paid any more."""
        self.lock_reason = reason
        self.machine = None
        self.books = None
        self.devices.acceptor.accept(False)
        for _, _, hopper in self.devices.hoppers:
            hopper.emergency_stop()
        self.devices.panel.lamps_off()
        self.devices.panel.lamp("tower", True)


def run(board) -> None:
    """Runs the cabinet on `board` for ever.

    Garbage is collected behind a short turn, so that the collector never makes a long turn longer. It only starts by itself
    when memory runs out before a short turn comes.
    """
    clock = Clock()
    cabinet = Cabinet(board, clock.now(board.ticks_ms()))
    collected_ms = 0
    while True:
        now_ms = clock.now(board.ticks_ms())
        cabinet.poll(now_ms)
        if now_ms - collected_ms >= COLLECT_MS and clock.now(board.ticks_ms()) - now_ms <= SHORT_TURN_MS:
            collected_ms = now_ms
            gc.collect()

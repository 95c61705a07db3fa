"""The super-loop: builds the cabinet on a board and turns it. Nothing below this file reads a clock or blocks."""

import gc
import sys

import native
from firmware import events, programs
from firmware.books import Books
from firmware.clock import WallClock
from firmware.config import NOTE_ACCEPTORS
from firmware.console import Console
from firmware.machine import Machine
from firmware.money.ledger import COINS_PENCE, NOTES_PENCE, OWED
from firmware.rng import health
from firmware.store import keys
from firmware.store.journal import Journal, JournalCorrupt, JournalWriteError
from firmware.update.selfcheck import SelfCheck
from firmware.update.serving import make_server
from firmware.update.slots import TOLD, Slots
from hal.board import Clock
from hal.cctalk.bus import Bus
from hal.cctalk.coin_acceptor import CoinAcceptor
from hal.cctalk.hopper import Hopper
from hal.entropy.kinds import make_source
from hal.panel.opp import Panel
from hal.panel.wiring import DEFAULT as WIRING

COLLECT_MS = 400  # a turn of the loop leaves some hundred bytes: fifty thousand in this time, half of what is free
SHORT_TURN_MS = 3  # and a collection of some 20 ms make less than the 25 that a turn may take
RESET_REASONS = ("power", "watchdog", "soft")  # as the argument of the power-up event

COIN_IDS = {"GB%03dA" % pence: pence for pence in COINS_PENCE}


def _make_room() -> None:
    """Frees what a step of the start leaves behind, so that what comes next and stays lies at the heap's bottom: a collection
    sweeps all below the highest object, a fifth of its time otherwise. CPython's heap is no such one, and bigger."""
    if sys.implementation.name == "micropython":
        gc.collect()


class Devices:
    """The drivers of the default cabinet on a board's ports. `notes` is None until a note acceptor is fitted."""

    def __init__(self, board, acceptor_counter, entropy_kind: int = 0):
        self._board = board
        self.notes = None
        self.bus = Bus(board.port("cctalk"))
        self.acceptor = CoinAcceptor(self.bus, COIN_IDS, last_counter=acceptor_counter)
        self.hoppers = (
            ("hopper_100", 100, Hopper(self.bus, address=3)),
            ("hopper_10", 10, Hopper(self.bus, address=4)),
        )
        self.panel = Panel(board.port("panel"), WIRING)
        self.entropy = make_source(entropy_kind, board.port("entropy"))

    def poll(self, now_ms: int) -> None:
        self.acceptor.poll(now_ms)
        for _, _, hopper in self.hoppers:
            hopper.poll(now_ms)
        self.bus.poll(now_ms)
        self.panel.poll(now_ms)
        self.entropy.poll(now_ms)
        if self.notes is not None:
            self.notes.poll(now_ms)

    def fit_notes(self, kind: int, token: bytes, key: bytes, random):
        """Puts the driver of a note acceptor (config.NOTE_ACCEPTORS) on its line and returns it, None for kind 0.

        key: what encryption shares with an SSP device, b"" for none; random: a HmacDrbg for it
        """
        if self.notes is not None:
            self.notes.retire()
        name = NOTE_ACCEPTORS[kind]
        if name == "none":
            self.notes = None
        elif name == "ssp":
            from hal.ssp.essp import Secret  # a board has room for one of the two, and little time at its start
            from hal.ssp.note_acceptor import NoteAcceptor

            secret = Secret(key, random.generate, self._board.aes) if key else None
            self.notes = NoteAcceptor(self._board.port("note"), NOTES_PENCE, last_token=token, secret=secret)
        else:
            from hal.cctalk.note_acceptor import NoteAcceptor as BillValidator

            self.notes = BillValidator(self.bus, NOTES_PENCE, last_token=token)
        return self.notes


class Cabinet:
    """Everything, on one board. `machine` and `books` are None when critical memory is unrecoverable: then only the
    console answers, and the outputs stay in their safe state.

    dialogue: a procedure at the console that waits for an answer (setup.py, ram_clear.py), or None
    refused: why no application is started (update/loader.py): then memory is not even opened
    """

    def __init__(self, board, now_ms: int = 0, refused: str = ""):
        self.board = board
        self.now_ms = now_ms
        self.refused = refused
        self.slots = Slots(board.slots, board.name)
        self.check = SelfCheck(self.slots, board.resident(), now_ms)
        self.packs = {name: native.Pack(board.game(name)) for name in board.games()}
        self.updates = make_server(self)
        self.console = Console(board.port("console"), self, self.updates)
        self.dialogue = None
        self.lock_reason = ""
        self.books = None
        self.machine = None
        self.clock = WallClock(self.board)
        self._readable = None  # books only to be read, while there are no others
        self._journal = Journal(board.nvram)
        if refused:
            self.devices = Devices(self.board, None)
            self._lock("no application is started: %s" % refused)
            self.console.say("LOCKED, %s" % self.lock_reason)
            self.console.say(self.way_out())
            return
        health.cutoffs()  # long integers, which leave more than all the rest
        _make_room()
        try:
            formatted = self._journal.open()
        except (JournalCorrupt, JournalWriteError) as error:
            self.devices = Devices(self.board, None)
            self._fail(error)
            self._readable = self.books_over(self._journal) if self._journal.salvage() else None
            return
        _make_room()
        self._start(formatted)

    def start_anew(self) -> None:
        """As at power-up, on the memory that has just been cleared: the journal knows what it holds."""
        self.lock_reason = ""
        self._readable = None
        gc.collect()
        self._start(False)

    def _start(self, formatted: bool) -> None:
        self.books = self.books_over(self._journal)
        counter = self._journal.get(keys.ACCEPTOR_COUNTER)
        kind = self._journal.get_int(keys.ENTROPY_KIND)
        self.devices = Devices(self.board, counter[0] if counter else None, kind)
        try:
            self.clock.power_up(self.books, RESET_REASONS.index(self.board.reset_reason), self.now_ms)
            if formatted:
                self.books.transaction(self.now_ms).event(events.MEMORY_FORMATTED).commit()
            if self._journal.repaired:
                repaired = self._journal.repaired
                self.books.transaction(self.now_ms).event(events.MEMORY_REPAIRED, repaired).commit()
            self._note_application(self.books)
            self.machine = Machine(self.books, self.devices, self.packs, self.console.show, self.now_ms)
        except JournalWriteError as error:
            self._fail(error)
            return
        if not self.books.config.complete:
            self.console.say("this memory holds no configuration: turn the technician key and type setup")

    def _note_application(self, books) -> None:
        """Logs another application than at the last power-up (CAB-PRG-03), and why one that was tried is left."""
        before, here = self._journal.get(keys.APPLICATION), self.check.hash
        if before != here:
            transaction = books.transaction(self.now_ms).set(keys.APPLICATION, here)
            version = self.check.version or programs.VERSION
            for key, value in programs.changes(books, before, here, self.now_ms, version):
                transaction.set(key, value)
            transaction.event(events.PROGRAM_CHANGED, int.from_bytes(here[:4], "big")).commit()
        for slot in (0, 1):
            failure = self.slots.state.failure[slot]
            if failure and not failure & TOLD:
                books.transaction(self.now_ms).event(events.UPDATE_FAILED, slot << 8 | failure).commit()
                self.slots.told(slot)

    def _check(self, now_ms: int) -> None:
        """A piece of the self-check."""
        if not self.check.poll(now_ms):
            return
        self.console.say("what runs is DAMAGED: type verify")
        if self.books is not None and self.machine is not None:
            self.books.transaction(now_ms).event(events.PROGRAM_DAMAGED).commit()
            self.machine.program_damaged(now_ms)

    def books_over(self, journal) -> Books:
        return Books(journal, self.clock)

    def readable(self):
        """The books, or what of damaged ones can still be read, or None."""
        return self.books or self._readable

    def state(self) -> str:
        return self.machine.state if self.machine is not None else "locked"

    def poll(self, now_ms: int) -> None:
        """One turn of the loop."""
        self.now_ms = now_ms
        self.board.feed_watchdog()
        sequence = self._journal.sequence
        self.devices.poll(now_ms)
        try:
            if self.books is not None:
                self.clock.poll(self.books, now_ms)
            if self.machine is not None:
                self.machine.poll(now_ms)
            else:
                self.devices.panel.booked()  # nobody takes its events, but it has to go on reading door and key
            if self.dialogue is not None:
                self._watch(self.dialogue, now_ms)
            self.console.poll(now_ms)  # a command may commit too
            if now_ms >= self.check.due_ms:
                self._check(now_ms)
            if self.books is not None:
                repaired = self.books.journal.scrub()
                if repaired:
                    self.books.transaction(now_ms).event(events.MEMORY_REPAIRED, repaired).commit()
                if self.books.journal.sequence == sequence and not self.hurried():
                    self.books.journal.tidy()
        except (JournalCorrupt, JournalWriteError) as error:
            self._fail(error)

    def hurried(self) -> bool:
        """Somebody waits for what is being done: what can wait, waits."""
        return self.machine is not None and self.machine.drawing()

    def _watch(self, dialogue, now_ms: int) -> None:
        """A dialogue ends by itself when the key is returned or time is up."""
        why = "" if dialogue.over else dialogue.ends(now_ms)
        if why:
            self.console.say(why)
        if why or dialogue.over:
            self.dialogue = None

    def change_entropy(self, kind: int, now_ms: int) -> None:
        """Another kind of random device is on the entropy port from now on (hal/entropy/kinds.py)."""
        if self.books is None or self.machine is None:
            return  # locked
        transaction = self.books.transaction(now_ms).set(keys.ENTROPY_KIND, kind)
        transaction.event(events.RNG_DEVICE_CHANGED, kind).commit()
        self.devices.entropy = make_source(kind, self.board.port("entropy"))
        self.machine.change_entropy(self.devices.entropy)

    def _lock(self, reason: str) -> None:
        """Critical memory cannot be trusted: nothing is accepted, played or paid any more."""
        self._readable = self.books or self._readable
        self.lock_reason = reason
        self.machine = None
        self.books = None
        self.dialogue = None
        self.devices.acceptor.accept(False)
        if self.devices.notes is not None:
            self.devices.notes.accept(False)
        for _, _, hopper in self.devices.hoppers:
            hopper.emergency_stop()
        self.devices.panel.lamps_off()
        self.devices.panel.lamp("tower", True)
        self.console.show({"e": "state", "state": "locked", "tilts": ["memory"]})

    def _fail(self, error) -> None:
        self._lock(str(error))
        self.console.say("LOCKED, critical memory unrecoverable: %s" % error)
        self.console.say(self.way_out())

    def way_out(self) -> str:
        """What a technician does about a locked cabinet."""
        if self.refused:
            return "memory is untouched: flash a good application, or type slots and say which image counts"
        return "only a RAM clear leads out: technician key turned, logic door open, then type ramclear"

    # --- for a technician ----------------------------------------------------------------------------------------------

    def technician(self) -> bool:
        """The technician key is turned. Read from the panel itself, so that it holds in a locked machine too."""
        return self.devices.panel.closed("technician")

    def no_clear_access(self) -> str:
        """Why memory may not be cleared now, "" when a technician stands at the open cabinet (CAB-NVM-06)."""
        if self.refused:
            return "not without an application: the memory is untouched and may hold a player's money"
        return self.no_access()

    def no_access(self) -> str:
        """ "" when a technician stands at the open cabinet: key turned, logic door open. Else what is missing."""
        panel = self.devices.panel
        if not panel.online:
            return "the I/O board does not answer, so key and door cannot be read"
        missing = []
        if not panel.closed("technician"):
            missing.append("turn the technician key")
        if panel.closed("logic"):
            missing.append("open the logic door")
        return " and ".join(missing)

    def at_stake(self) -> int:
        """Pence on the machine or owed, as far as the memory can be read."""
        if self.machine is not None:
            return self.machine.at_stake()
        return self._readable.ledger.total(OWED) if self._readable is not None else 0

    def give_up_memory(self, reason: str):
        """Locks the machine for a RAM clear, and returns the journal that is to be cleared."""
        self._lock(reason)
        return self._journal


def run(board, refused: str = "") -> None:
    """Runs the cabinet on `board` for ever. refused: as of Cabinet.

    Garbage is collected behind a short turn, so that the collector never makes a long turn longer, and not while a player
    waits for an outcome. It only starts by itself when memory runs out before such a turn comes.
    """
    clock = Clock()
    cabinet = Cabinet(board, clock.now(board.ticks_ms()), refused)
    _make_room()
    if sys.implementation.name == "micropython":
        gc.threshold(-1)
    collected_ms = 0
    while True:
        now_ms = clock.now(board.ticks_ms())
        cabinet.poll(now_ms)
        due = now_ms - collected_ms >= COLLECT_MS and not cabinet.hurried()
        if due and clock.now(board.ticks_ms()) - now_ms <= SHORT_TURN_MS:
            collected_ms = now_ms
            gc.collect()

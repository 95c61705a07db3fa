"""The auditor: compares the books with the physical truth of the models, after every command of a script.

On the host board it reads the books in the process, which takes no time and changes nothing, and sees what no other board
tells: every finished round with its seed, which it plays again. What a fault justifies is allowed exactly, and no more:

- a coin may be missing from the books only if its event was wiped out of the acceptor while it was not booked yet, and then
  it must be counted as disputed;
- a coin that left a hopper may be missing only if the hopper's own lifetime count missed it, and unless it left without an
  order a person must have been called;
- a note that is past recovery may be missing only if as many are disputed, and nothing is disputed without a fault;
- a pulse of an electromechanical meter may be missing only if the event log holds it in doubt, or if it was sent while the
  panel or its line was at fault;
- a tilt may come only from what excuses.py names, or from a hopper that has truly run empty.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import native
from firmware import commands, events
from firmware.main import Cabinet
from firmware.money.ledger import COINS_PENCE, NOTES_PENCE
from firmware.play import rounds
from firmware.store import keys
from firmware.store.journal import Journal
from host_tools.hil import script_commands as cmd
from host_tools.hil.excuses import demanded
from host_tools.hil.host_session import RigNvram
from host_tools.hil.models.coin_acceptor import Coin
from host_tools.hil.script_commands import Command
from host_tools.hil.world import World

GRACE_MS = 1000  # for which a line is out of step after a fault has ended
_METERS = ("em_in", "em_out")

Books = dict[str, Any]


class Auditor:
    """Told of every command and event, it collects `violations` in the order in which they came up.

    `discrepancy_pence`: money that no fault explains; `unexplained`: tilts that nothing demanded.
    """

    def __init__(self, world: World, now_ms: Callable[[], int]) -> None:
        self.violations: list[str] = []
        self.discrepancy_pence = 0
        self.unexplained: list[str] = []
        self.lockups: Counter[str] = Counter()  # tilts that came, by name
        self._world = world
        self._now_ms = now_ms
        self._excuses: set[str] = set()
        self._active: dict[str, list[Command]] = {}  # faults by device that have not been cleared
        self._tilted: set[str] = set()
        self._told: Counter[str] = Counter()  # pence that the console told of
        self._console_fault_ms = -GRACE_MS - 1
        self._by_hand = False  # an attendant was there since the last settlement
        self._handpay = 0
        # Coins since the last settlement
        self._seen_coins = 0
        self._coins: list[Coin] = []
        self._sure = 0  # that were booked at the last look
        self._doubted: set[int] = set()
        self._base: Counter[str] = Counter()  # the books then
        self._slack = 0  # disputes that error codes may have made
        self._rejected = 0
        self._missing_at_rest: dict[int, int] = dict.fromkeys(NOTES_PENCE, 0)  # notes at the last settlement, by value
        self._disputed_at_rest = 0
        self._note_faults = False  # that may leave a note disputed were there at some time
        # Hoppers
        self._lacking = 0  # pence that left and are not booked, for a reason
        self._missed_pence = self._unasked_pence = 0
        self._called = False  # to count a hopper's coins, since the last settlement
        # Electromechanical meters
        self._doubts: Counter[str] = Counter()
        self._missed: Counter[str] = Counter()  # given again, as no current was seen
        self._events = 0
        # Rounds
        self._rounds = 0
        self._bets = self._awards = 0
        self._lost_count = False

    # --- what happens ----------------------------------------------------------------------------------------------

    def _console_is_faulty(self) -> bool:
        """What it tells is damaged, or was a moment ago."""
        now_ms = self._now_ms()
        if self._world.lines["console"].faulty:
            self._console_fault_ms = now_ms
        return now_ms - self._console_fault_ms <= GRACE_MS

    def began(self, command: Command) -> None:
        """A command is about to be carried out."""
        if isinstance(command, cmd.Fault | cmd.Clear) and command.device == "console":
            self._console_fault_ms = self._now_ms()
        self._excuses |= demanded(command, self._world.note_line)
        if isinstance(command, cmd.Key) and command.key == "attendant" and command.turned:
            self._by_hand = True
        elif isinstance(command, cmd.Clear):
            self._active.pop(command.device, None)
        elif isinstance(command, cmd.Fault):
            self._active.setdefault(command.device, []).append(command)
            self._note_faults = self._note_faults or "notes_disputed" in demanded(command, self._world.note_line)
            if command.kind == "stuck" and command.args == ("attendant",):
                self._by_hand = True
            if command.kind in ("error", "swallow"):
                self._slack += int(command.args[0]) if command.kind == "swallow" and command.args else 1

    def heard(self, event: Books) -> None:
        """The console told of something. What it tells must be booked already (journal before act)."""
        kind = event["e"]
        if self._console_is_faulty():
            return
        if kind == "state":
            self._tilts(event["tilts"])
        elif kind == "round":
            self._told["wagered"] += event["bet"]
        elif kind == "round_end":
            self._told["won"] += event["award"]
        elif kind == "coin":
            self._told["coins_in"] += event["pence"]
        elif kind == "note":
            self._told["notes_in"] += event["pence"]
        elif kind in ("coin_out", "extra_coins"):
            self._told["hopper_out"] += event["pence"]
        elif kind == "handpay_paid":
            self._told["handpay"] += event["pence"]

    def _tilts(self, names: list[str]) -> None:
        for name in names:
            if name not in self._tilted:
                self.lockups[name] += 1
                self._called = self._called or name == "hopper_evidence"
                if name not in self._excuses and not self._is_so(name):
                    self.unexplained.append(name)
                    self._wrong(f"lock-up: {name}, which nothing that happened demands")
        self._tilted = set(names)

    def _is_so(self, name: str) -> bool:
        """The world demands it without a fault: a pay-out has taken the last coin of a hopper."""
        return name == "hopper_empty" and any(not hopper.level for hopper in self._world.hoppers.values())

    def _wrong(self, text: str) -> None:
        if text not in self.violations:
            self.violations.append(text)

    # --- at any moment ---------------------------------------------------------------------------------------------

    def look(self, cabinet: Cabinet | None) -> None:
        """After a command; `cabinet` is the firmware in this process, None when it is off or elsewhere."""
        self._take_coins()
        if cabinet is None or (cabinet.machine is None and not cabinet.lock_reason):
            return
        books = commands.query(cabinet)
        self.check(books)
        if cabinet.books is not None:
            journal = cabinet.books.journal
            self._look_at_rounds(journal, cabinet.packs, books)
            self._look_at_events(cabinet.books.events, journal.get_int(keys.EVENTS_TOTAL))

    def read(self, memory: bytes) -> None:
        """The event log of a cabinet elsewhere, out of a copy of its NVRAM."""
        copy = RigNvram(len(memory))
        copy.memory[:] = memory
        journal = Journal(copy)
        journal.open()
        self._look_at_events(events.EventLog(journal), journal.get_int(keys.EVENTS_TOTAL))

    def check(self, books: Books) -> None:
        """What holds at any moment."""
        if books["state"] == "locked":
            self._wrong(f"locked: {books['reason']}")
            return
        if books["audit"]:
            self._wrong(f"audit identity is out by {books['audit']} pence")
        self._tilts(books["tilt"])
        for pence, missing in self._missing(books).items():
            if missing < 0:
                self._wrong(f"double credit: {-missing} coins of {pence} pence booked that never fell in")
        for pence, missing in self._missing_notes(books).items():
            if missing < 0:
                self._wrong(f"double credit: {-missing} notes of {pence} pence booked that are not in the cabinet")
        if _paid(books) > self._world.paid_pence:
            self._wrong(f"hoppers booked {_paid(books)}, paid only {self._world.paid_pence}")
        by_hand = books["handpay"] + books["large_win"]
        for account, pence in self._told.items():
            booked = by_hand if account == "handpay" else books[account]
            if pence > booked:
                self._wrong(f"told before it was booked: {account} {pence} told, {booked} booked")
        if by_hand > self._handpay and not self._by_hand:
            self._wrong(f"handpay of {by_hand - self._handpay} without an attendant")
        self._handpay = by_hand
        self._sure = sum(self._booked(books).values())

    def _booked(self, books: Books) -> dict[int, int]:
        """Coins booked since the last settlement, by value."""
        return {pence: (books[f"coins_{pence}"] - self._base[f"coins_{pence}"]) // pence for pence in COINS_PENCE}

    def _missing(self, books: Books) -> dict[int, int]:
        fell = Counter(coin.pence for coin in self._coins)
        return {pence: fell[pence] - booked for pence, booked in self._booked(books).items()}

    def _missing_notes(self, books: Books) -> dict[int, int]:
        stacked = Counter(self._world.note_acceptor.stacked)
        return {pence: stacked[pence] - books[f"notes_{pence}"] // pence for pence in NOTES_PENCE}

    def _take_coins(self) -> None:
        """New coins; and those whose event was wiped although they were perhaps not booked before."""
        acceptor = self._world.acceptor
        new = len(acceptor.swallowed) - self._seen_coins
        self._seen_coins += new
        if new:
            self._coins += [coin for coin in list(acceptor.coins)[-new:] if coin.credited]
        for place in range(self._sure, len(self._coins)):
            if self._coins[place].wiped_us is not None:
                self._doubted.add(place)

    def _look_at_rounds(self, journal: Journal, packs: Mapping[str, native.Pack], books: Books) -> None:
        """Every finished round is played again from its record; the meters must be the sums of bets and awards."""
        new = journal.get_int(keys.RECALLS_TOTAL) - self._rounds
        self._rounds += new
        if new > keys.RECALL_SLOTS:
            self._lost_count = True
        if self._lost_count:
            return
        for record in rounds.recall(journal, new) if new else ():
            award = replayed_award(record, packs[record.game])
            if award != record.award:
                self._wrong(f"award {record.award} booked of a round that wins {award}")
            self._bets += record.bet
            self._awards += award
        data = journal.get(keys.ROUND)
        wagered = self._bets + books["refunded"] + (rounds.unpack(data).bet if data else 0)
        if books["wagered"] != wagered:
            self._wrong(f"wagered {books['wagered']}, the rounds took {wagered}")
        if books["won"] != self._awards:
            self._wrong(f"won {books['won']}, the rounds award {self._awards}")
        if books["games"] != self._rounds + books["voided_games"] + bool(data):
            self._wrong(f"games {books['games']}, rounds {self._rounds}")

    def _look_at_events(self, log: Any, total: int) -> None:
        for *_, code, argument in log.newest(total - self._events):
            if code == events.EM_PULSE_IN_DOUBT:
                self._doubts[_METERS[argument]] += 1
            elif code == events.EM_PULSE_MISSED:
                self._missed[_METERS[argument]] += 1
        self._events = total

    # --- when nothing is under way -----------------------------------------------------------------------------------

    def settled(self, books: Books) -> list[str]:
        """What is wrong with the books of a cabinet that has been left alone for a second, and a new beginning."""
        before = len(self.violations)
        self.check(books)
        if books["state"] == "locked":
            return self.violations[before:]
        if books["state"] != "idle" or books["tilt"]:
            self._wrong(f"not settled: the state is {books['state']}")
        if not books["quiet"]:
            self._wrong("not settled: a note or pulses of a meter are under way")
        self._settle_coins(books)
        self._settle_notes(books)
        self._settle_hoppers(books)
        for name, counted in (("em_in", books["coins_in"] + books["notes_in"]), ("em_out", books["hopper_out"])):
            self._settle_meter(name, counted, books[name])
        self._settle(books)
        return self.violations[before:]

    def _settle_coins(self, books: Books) -> None:
        missing = self._missing(books)
        tested = books["test_coins_in"] - self._base["test_coins_in"]
        if tested and tested == sum(pence * number for pence, number in missing.items()):
            return  # a technician has put them in, and they are no player's money
        doubted = Counter(self._coins[place].pence for place in self._doubted)
        for pence, number in missing.items():
            if number > doubted[pence]:
                self._amiss(
                    (number - doubted[pence]) * pence,
                    f"lost coins: {number} of {pence} pence are not booked, {doubted[pence]} are in doubt",
                )
        disputed = books["coins_disputed"] - self._base["coins_disputed"]
        lost = sum(missing.values())
        slack = self._slack + self._world.acceptor.rejected - self._rejected
        if not lost <= disputed <= lost + slack:
            self._wrong(f"disputed {disputed} coins, {lost} are missing and {slack} may have been codes")

    def _settle_notes(self, books: Books) -> None:
        missing, disputed = self._missing_notes(books), books["notes_disputed"]
        new = {pence: number - self._missing_at_rest[pence] for pence, number in missing.items()}
        disputes = disputed - self._disputed_at_rest
        if sum(new.values()) > disputes:
            pence = sum(value * number for value, number in new.items())
            self._amiss(pence, f"lost notes: {pence} pence are not booked, {disputes} notes are disputed")
        if disputed and not self._note_faults:
            self._wrong(f"{disputed} notes are disputed, and nothing was at fault")
        if min(new.values()) < 0:
            self._wrong(f"double credit: of notes that were missing and settled, {new} are booked after all")
        self._missing_at_rest, self._disputed_at_rest = missing, disputed

    def _settle_hoppers(self, books: Books) -> None:
        """Every coin that left is booked, but for those that a hopper's own count missed: nothing else tells of them later.
        Of an order its figures tell as well, so that whoever believes the count alone has not looked."""
        hoppers = self._world.hoppers.values()
        paid, booked = self._world.paid_pence, _paid(books)
        missed = sum(hopper.missed_coins * hopper.pence for hopper in hoppers)
        unasked = sum(hopper.unasked_missed_coins * hopper.pence for hopper in hoppers)
        lacking = paid - booked
        most = missed - self._missed_pence if self._called else unasked - self._unasked_pence
        if not 0 <= lacking - self._lacking <= most:
            self._amiss(
                lacking - self._lacking,
                f"hoppers booked {booked}, paid {paid}; missed by their counts {missed}, {unasked} of it without an order"
                + (", and nobody was called" if not self._called else ""),
            )
        self._lacking, self._missed_pence, self._unasked_pence, self._called = lacking, missed, unasked, False

    def _settle_meter(self, name: str, pence: int, counted: int) -> None:
        """The books count whole pounds; the meter on the wall lacks no pulse but those that the log calls doubtful."""
        pulses = self._world.panel.pulses[name]
        if counted != pence // 100:
            self._wrong(f"{name} stands at {counted} with {pence} pence")
        lost, again = self._doubts[name], self._missed[name]
        if not counted - lost <= pulses <= counted + again:
            self._amiss(
                (counted - pulses) * 100,
                f"{name}: {counted} counted, {pulses} moved, {lost} in doubt, {again} repeated",
            )

    def _amiss(self, pence: int, text: str) -> None:
        self.discrepancy_pence += abs(pence)
        self._wrong(text)

    def _settle(self, books: Books) -> None:
        names = ("coins_disputed", "test_coins_in", *(f"coins_{pence}" for pence in COINS_PENCE))
        self._base = Counter({name: books[name] for name in names})
        self._coins.clear()
        self._doubted.clear()
        self._sure = self._slack = 0
        self._rejected = self._world.acceptor.rejected
        self._by_hand = False
        line = self._world.note_line
        self._excuses = {tilt for faults in self._active.values() for fault in faults for tilt in demanded(fault, line)}


def _paid(books: Books) -> int:
    """Pence that the books say have left the hoppers, for players or as a technician's test."""
    return books["hopper_out"] + books["test_hopper_100"] + books["test_hopper_10"]


def replayed_award(record: rounds.RoundRecord, pack: native.Pack) -> int:
    """What a finished round wins, by the core from its committed facts."""
    core, due, place = record.core(pack), 0, 0
    while not core.finished:
        if due:
            place = rounds.decide(core, due, record.decisions, place)
            due = 0
            continue
        kind = core.next()[0]
        due = kind if rounds.asks(kind) else 0
    return core.award_pence

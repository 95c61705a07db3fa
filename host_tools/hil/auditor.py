"""The auditor: compares the books with the physical truth of the models, after every command of a script.

On the host board it reads the books in the process, which takes no time and changes nothing, and sees what no other board
tells: every finished round with its seed, which it plays again. What a fault justifies is allowed exactly, and no more:

- a coin may be missing from the books only if its event was wiped out of the acceptor while it was not booked yet, and then
  it must be counted as disputed;
- a pulse of an electromechanical meter may be missing only if the event log holds it in doubt, or if it was sent while the
  panel or its line was at fault;
- a tilt may come only from what excuses.py names.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import native
from firmware import commands, events
from firmware.main import Cabinet
from firmware.money.ledger import COINS_PENCE
from firmware.play import rounds
from firmware.store import keys
from host_tools.hil import script_commands as cmd
from host_tools.hil.excuses import demanded
from host_tools.hil.models.coin_acceptor import Coin
from host_tools.hil.script_commands import Command
from host_tools.hil.world import World

GRACE_MS = 1000  # for which a line is out of step after a fault has ended
_KICK = 0x07
_KICK_BYTES = 8
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
        self._faulty_ms: dict[str, int] = {}
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
        # Electromechanical meters
        self._spoiled: Counter[str] = Counter()
        self._doubts: Counter[str] = Counter()
        self._missed: Counter[str] = Counter()  # given again, as no current was seen
        self._events = 0
        # Rounds
        self._rounds = 0
        self._bets = self._awards = 0
        self._lost_count = False
        self._watch_kicks()

    # --- what happens ----------------------------------------------------------------------------------------------

    def _watch_kicks(self) -> None:
        port = self._world.lines["panel"].port
        write, names = port.write, {1 << place: name for place, name in enumerate(_METERS)}

        def watched(data: bytes | bytearray | memoryview) -> None:
            write(data)
            if len(data) == _KICK_BYTES and data[1] == _KICK:
                name = names.get(int.from_bytes(data[4:6], "big"), "")
                self._spoiled[name] += self._is_faulty("panel")

        port.write = watched

    def _is_faulty(self, name: str) -> bool:
        """A line (and the panel behind it) is at fault, or was a moment ago."""
        now_ms = self._now_ms()
        if self._world.lines[name].faulty or (name == "panel" and self._world.panel.faulty):
            self._faulty_ms[name] = now_ms
        return now_ms - self._faulty_ms.get(name, -GRACE_MS - 1) <= GRACE_MS

    def began(self, command: Command) -> None:
        """A command is about to be carried out."""
        self._excuses |= demanded(command)
        if isinstance(command, cmd.Key) and command.key == "attendant" and command.turned:
            self._by_hand = True
        elif isinstance(command, cmd.Clear):
            self._active.pop(command.device, None)
            self._faulty_ms[command.device] = self._now_ms()
        elif isinstance(command, cmd.Fault):
            self._active.setdefault(command.device, []).append(command)
            self._faulty_ms[command.device] = self._now_ms()
            if command.kind == "stuck" and command.args == ("attendant",):
                self._by_hand = True
            if command.kind in ("error", "swallow"):
                self._slack += int(command.args[0]) if command.kind == "swallow" and command.args else 1

    def heard(self, event: Books) -> None:
        """The console told of something. What it tells must be booked already (journal before act)."""
        kind = event["e"]
        if self._is_faulty("console"):
            return
        if kind == "state":
            self._tilts(event["tilts"])
        elif kind == "round":
            self._told["wagered"] += event["bet"]
        elif kind == "round_end":
            self._told["won"] += event["award"]
        elif kind == "coin":
            self._told["coins_in"] += event["pence"]
        elif kind in ("coin_out", "extra_coins"):
            self._told["hopper_out"] += event["pence"]
        elif kind == "handpay_paid":
            self._told["handpay"] += event["pence"]

    def _tilts(self, names: list[str]) -> None:
        for name in names:
            if name not in self._tilted:
                self.lockups[name] += 1
                if name not in self._excuses:
                    self.unexplained.append(name)
                    self._wrong(f"lock-up: {name}, which nothing that happened demands")
        self._tilted = set(names)

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
            self._look_at_rounds(cabinet, books)
            self._look_at_events(cabinet.books.events, cabinet.books.journal.get_int(keys.EVENTS_TOTAL))

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
        if books["hopper_out"] > self._world.paid_pence:
            self._wrong(f"hoppers booked {books['hopper_out']}, paid only {self._world.paid_pence}")
        for account, pence in self._told.items():
            if pence > books[account]:
                self._wrong(f"told before it was booked: {account} {pence} told, {books[account]} booked")
        if books["handpay"] > self._handpay and not self._by_hand:
            self._wrong(f"handpay of {books['handpay'] - self._handpay} without an attendant")
        self._handpay = books["handpay"]
        self._sure = sum(self._booked(books).values())

    def _booked(self, books: Books) -> dict[int, int]:
        """Coins booked since the last settlement, by value."""
        return {pence: (books[f"coins_{pence}"] - self._base[f"coins_{pence}"]) // pence for pence in COINS_PENCE}

    def _missing(self, books: Books) -> dict[int, int]:
        fell = Counter(coin.pence for coin in self._coins)
        return {pence: fell[pence] - booked for pence, booked in self._booked(books).items()}

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

    def _look_at_rounds(self, cabinet: Cabinet, books: Books) -> None:
        """Every finished round is played again from its record; the meters must be the sums of bets and awards."""
        assert cabinet.books is not None
        journal = cabinet.books.journal
        new = journal.get_int(keys.RECALLS_TOTAL) - self._rounds
        self._rounds += new
        if new > keys.RECALL_SLOTS:
            self._lost_count = True
        if self._lost_count:
            return
        for record in rounds.recall(journal, new) if new else ():
            award = replayed_award(record, cabinet.packs[record.game])
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
        self._settle_coins(books)
        paid = self._world.paid_pence
        if books["hopper_out"] != paid:
            self._amiss(books["hopper_out"] - paid, f"hoppers booked {books['hopper_out']}, paid {paid}")
        for name, counted in (("em_in", books["coins_in"]), ("em_out", books["hopper_out"])):
            self._settle_meter(name, counted, books[name])
        self._settle(books)
        return self.violations[before:]

    def _settle_coins(self, books: Books) -> None:
        missing = self._missing(books)
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

    def _settle_meter(self, name: str, pence: int, counted: int) -> None:
        """The books count whole pounds; the meter on the wall lacks no pulse but those in doubt or spoiled."""
        pulses = self._world.panel.pulses[name]
        if counted != pence // 100:
            self._wrong(f"{name} stands at {counted} with {pence} pence")
        lost, again = self._doubts[name] + self._spoiled[name], self._missed[name]
        if not counted - lost <= pulses <= counted + again:
            self._amiss(
                (counted - pulses) * 100,
                f"{name}: {counted} counted, {pulses} moved, {lost} in doubt, {again} repeated",
            )

    def _amiss(self, pence: int, text: str) -> None:
        self.discrepancy_pence += abs(pence)
        self._wrong(text)

    def _settle(self, books: Books) -> None:
        names = ("coins_disputed", *(f"coins_{pence}" for pence in COINS_PENCE))
        self._base = Counter({name: books[name] for name in names})
        self._coins.clear()
        self._doubted.clear()
        self._sure = self._slack = 0
        self._rejected = self._world.acceptor.rejected
        self._by_hand = False
        self._excuses = {tilt for faults in self._active.values() for fault in faults for tilt in demanded(fault)}


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

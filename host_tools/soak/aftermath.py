"""What follows a power cut: recovery, the rest of the script, an end that settles everything, and the judgement.

A script was written for a cabinet that keeps its power. After a cut its rest is gone through as a person would who finds the
cabinet starting again:

- the interrupted command is done again, except a coin or a note: it is in the cabinet or in the tray, and not in the hand;
- a coin, a press, a door, a key, a line at the console, a fault, the mains: as written, whatever the state is;
- `wait until` waits as long as the cabinet is busy (BUSY); a state that needs a person ends it, wanted or not;
- `want` and `expect` are left out: they speak of the run without a cut.

Then `settle`: faults end, doors are closed, keys turned back, what is open is answered, tilts are cleared with the technician's
key, handpays paid, the credit cashed out. At last nothing is owed but less than the smallest coin, and books and world are
compared to the penny. Each step is a command of the rig script, so that any path can be printed and repeated.

Only in a script that clears the memory may a cabinet be locked or want its set-up: then the end clears it, sets it up, and the
new books are compared with what the world has done since.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import native
from firmware import events, tilt
from firmware.money.ledger import NOTES_PENCE
from firmware.play import rounds
from firmware.store import keys
from hal.panel.wiring import DEFAULT as WIRING
from host_tools.hil import commission
from host_tools.hil import script_commands as cmd
from host_tools.hil.rig import ASKED, STEP_MS, Rig, RigError
from host_tools.hil.script_commands import Command
from host_tools.soak.recovery import RECOVERY_MS, SETTLE_MS, UNSETTLED

BUSY = ("boot", "playing", "paying")
LONGEST_MS = 120_000  # that the cabinet may be busy with one thing
OFF_MS = 300  # mains off, when the devices lose their power too
QUIET_MS = 2000
MAX_ACTS = 60  # of the end, until all is settled
PULSES_MS = 30_000
SMALLEST_COIN_PENCE = 10
CLEARING_MS = 4000  # all the memory
NO_BOOKS = ("locked", "setup")  # states in which no money is taken
ANSWERS: dict[str, tuple[Command, ...]] = {
    "choosing": (cmd.Press("start"),),
    "gambling": (cmd.Press("collect"),),
    "offering": (cmd.Press("no_thanks"),),
    "handpay": (cmd.Key("attendant", True), cmd.Key("attendant", False)),
    "tilted": (cmd.Wait(2500), cmd.Key("technician", True), cmd.Key("technician", False), cmd.Wait(300)),
    "service": (cmd.Key("technician", False), cmd.Wait(300)),
}
"""What a state waits for. A tilt that follows its cause has 2.5 s to go by itself before the key is turned."""


class Stuck(Exception):
    """The cabinet does not get where it must; the text says why."""


class Hand:
    """Does commands to a rig and keeps them, waits included, as the lines of a script that repeats them."""

    def __init__(self, rig: Rig, before: "BeforeClear | None" = None) -> None:
        self.rig = rig
        self.before = before
        self.done: list[Command] = []
        self._waited_ms = 0

    def do(self, command: Command) -> None:
        if self.before:
            self.before.look(self.rig)
        self._note_wait()
        self.done.append(command)
        self.rig.do(command)

    def wait_while(self, states: Sequence[str], within_ms: int) -> bool:
        """Lets time pass while the cabinet is in one of `states`. False when it still is after `within_ms`."""
        rig, began_ms = self.rig, self.rig.now_ms
        while rig.state in states and rig.now_ms - began_ms < within_ms:
            self._waited_ms += STEP_MS
            rig.step()
        return rig.state not in states

    def commands(self) -> list[Command]:
        self._note_wait()
        return self.done

    def _note_wait(self) -> None:
        if self._waited_ms:
            self.done.append(cmd.Wait(self._waited_ms))
            self._waited_ms = 0


def recover(hand: Hand, mains: bool) -> None:
    """Power on again, to a state that stands. Errors: Stuck."""
    if mains:
        hand.do(cmd.Power(False))
        hand.do(cmd.Wait(OFF_MS))
    hand.do(cmd.Power(True))
    if not hand.wait_while(UNSETTLED, RECOVERY_MS):
        raise Stuck(f"still {hand.rig.state} {RECOVERY_MS} ms after power on")
    hand.do(cmd.Wait(SETTLE_MS))


def go_on(hand: Hand, rest: Sequence[Command]) -> None:
    """The rest of the script, from the interrupted command on."""
    for number, command in enumerate(rest):
        if isinstance(command, (cmd.Want, cmd.Expect)) or (
            number == 0 and isinstance(command, (cmd.Coin, cmd.Coins, cmd.Note))
        ):
            continue
        if isinstance(command, cmd.WaitUntil):
            busy = (*BUSY, "locked") if command.state == "setup" else BUSY
            hand.wait_while([state for state in busy if state != command.state], command.within_ms)
        elif isinstance(command, cmd.Console) and ASKED in command.text:
            _type_what_is_asked(hand)
        else:
            hand.do(command)


def _type_what_is_asked(hand: Hand) -> bool:
    """False when the console asks for nothing."""
    try:
        hand.do(cmd.Console(ASKED))
    except RigError:
        del hand.done[-1]
        return False
    return True


def _clear_memory(hand: Hand) -> None:
    if hand.wait_while(("locked",), CLEARING_MS):  # it is under way
        return
    for command in (cmd.Key("technician", True), cmd.Door("logic", True), cmd.Console("ramclear"), cmd.Wait(2000)):
        hand.do(command)
    while _type_what_is_asked(hand):
        pass  # the money that will be gone, then the token
    hand.wait_while(("locked",), CLEARING_MS)
    hand.do(cmd.Door("logic", False))


def _set_up(hand: Hand) -> None:
    typed = ("cancel", "setup", *commission.answers_for(hand.rig.packs))
    for command in (cmd.Key("technician", True), *map(cmd.Console, typed), cmd.Wait(500)):
        hand.do(command)
    _type_what_is_asked(hand)
    hand.wait_while(("setup",), CLEARING_MS)
    hand.do(cmd.Key("technician", False))


def settle(hand: Hand) -> None:
    """Everything that is open is brought to its end, the credit paid out. Errors: Stuck tells what does not end."""
    rig = hand.rig
    for device in ("cctalk", *rig.world.devices):
        hand.do(cmd.Clear(device))
    for name, _, _ in WIRING.doors:
        hand.do(cmd.Door(name, False))
    for name, _, _ in WIRING.keys:
        hand.do(cmd.Key(name, False))
    if not rig.session.on:
        hand.do(cmd.Power(True))
    for _ in range(MAX_ACTS):
        if not hand.wait_while(BUSY, LONGEST_MS):
            raise Stuck(f"still {rig.state} after {LONGEST_MS // 1000} s")
        if rig.state == "idle":
            books = rig.query()
            if not books["quiet"] or rig.world.note_acceptor.note is not None:
                hand.do(cmd.Wait(QUIET_MS))  # a pulse, a note on its way or of which is not known yet what became of it
            elif books["credit"] < SMALLEST_COIN_PENCE:
                return
            else:
                hand.do(cmd.Press("cash_out"))
        elif rig.state in ANSWERS:
            for command in ANSWERS[rig.state]:
                hand.do(command)
        elif hand.before and rig.state in NO_BOOKS:
            (_clear_memory if rig.state == "locked" else _set_up)(hand)
        else:
            raise Stuck(f"{rig.state}: {rig.query().get('reason', 'nobody can settle this')}")
    raise Stuck(f"not settled after {MAX_ACTS} acts: {rig.state}, credit {rig.query()['credit']}")


class Shown:
    """What the cabinet has told its player since the beginning. It speaks only of what is committed, so the books must have
    at least that much; they may have more, as the power can fail between commit and display."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()

    def hear(self, event: dict[str, Any]) -> None:
        kind = event["e"]
        if kind in ("coin", "note", "coin_out", "handpay_paid"):
            self.totals[kind] += event["pence"]
        elif kind in ("round", "chosen", "gamble_collect"):
            self.totals[kind] += 1
        elif kind == "round_end":
            self.totals[kind] += event["award"]


class World(NamedTuple):
    """What the devices have truly done."""

    coins: int = 0
    uncounted: int = 0  # coins that not even the acceptor has counted
    swallowed_pence: int = 0
    paid_pence: int = 0
    notes: tuple[int, ...] = ()  # in the stacker, in pence
    pulses_in: int = 0
    pulses_out: int = 0


def _done_by(rig: Rig, since: World) -> World:
    world = rig.world
    return World(
        len(world.acceptor.swallowed) - since.coins,
        sum(not coin.credited for coin in world.acceptor.coins) - since.uncounted,
        world.swallowed_pence - since.swallowed_pence,
        world.paid_pence - since.paid_pence,
        tuple(world.note_acceptor.stacked[len(since.notes) :]),
        world.panel.pulses["em_in"] - since.pulses_in,
        world.panel.pulses["em_out"] - since.pulses_out,
    )


class BeforeClear:
    """What was done before the memory was cleared: the new books know nothing of it."""

    def __init__(self, shown: Shown) -> None:
        self.done = World()
        self._shown = shown

    def look(self, rig: Rig) -> None:
        """Has to be called before each command."""
        if rig.state in NO_BOOKS:
            self.done = _done_by(rig, World())
            self._shown.totals.clear()


def doubtful_notes(commands: Sequence[Command]) -> int:
    """Notes that fall out without a word, which no counter tells of: they may be disputed."""
    return sum(isinstance(command, cmd.Fault) and command.kind == "fall_back" for command in commands)


def judge(
    rig: Rig, shown: Shown, fair: bool, doubtful: int = 0, before: BeforeClear | None = None
) -> tuple[dict[str, Any], list[str]]:
    """The books of a settled cabinet, and what is wrong with them.

    fair: no hopper was made to give coins beyond its order, so not one may have. doubtful: notes that may be disputed.
    """
    wrong: list[str] = []

    def must(holds: bool, text: str) -> None:
        if not holds:
            wrong.append(text)

    rig.run_until(lambda: bool(rig.query()["quiet"]), PULSES_MS)
    books = rig.query()
    done = _done_by(rig, before.done if before else World())
    must(books["audit"] == 0, f"audit identity is out by {books['audit']}")
    must(books["credit"] < SMALLEST_COIN_PENCE, f"credit {books['credit']} was not paid out")
    for owed in ("payout", "handpay_due", "large_win_due"):
        must(books[owed] == 0, f"{books[owed]} pence are still in {owed}")
    # A coin that the acceptor has counted is booked or, where its event died with the acceptor, disputed: one by one. One that
    # was behind the gate when the acceptor lost its power is counted by nobody; nothing in the cabinet can tell of it.
    booked = sum(books[f"coins_{pence}"] // pence for pence in (10, 20, 50, 100, 200))
    missing = done.coins - booked
    must(
        missing - done.uncounted <= books["coins_disputed"] <= missing,
        f"{missing} coins are not booked, {done.uncounted} of them counted by nobody, {books['coins_disputed']} disputed",
    )
    lost = done.swallowed_pence - books["coins_in"]
    must(lost == 0 if missing == 0 else lost > 0, f"coins in {books['coins_in']}, swallowed {done.swallowed_pence}")
    # A note is booked when it is past recovery, and then once: the acceptor's counters leave nothing to dispute.
    booked_notes = sorted(pence for pence in NOTES_PENCE for _ in range(books[f"notes_{pence}"] // pence))
    must(booked_notes == sorted(done.notes), f"notes {booked_notes}, {done.notes} are stacked")
    must(books["notes_disputed"] <= doubtful, f"{books['notes_disputed']} notes are disputed")
    must(books["hopper_out"] == done.paid_pence, f"hoppers booked {books['hopper_out']}, paid {done.paid_pence}")
    must(not (fair and books["overpaid"]), f"{books['overpaid']} pence were paid twice")
    doubt = _logged(rig, events.EM_PULSE_IN_DOUBT)
    for name, money, given in (
        ("em_in", books["coins_in"] + books["notes_in"], done.pulses_in),
        ("em_out", books["hopper_out"], done.pulses_out),
    ):
        must(books[name] == money // 100, f"{name} stands at {books[name]}, money says {money // 100}")
        must(given <= books[name] <= given + doubt, f"{name} counted {given} pulses of {books[name]}")
    told = shown.totals
    for kind, booked in (
        ("coin", books["coins_in"]),
        ("note", books["notes_in"]),
        ("coin_out", books["hopper_out"]),
        ("handpay_paid", books["handpay"] + books["large_win"]),
        ("round", books["games"]),
        ("round_end", books["won"]),
    ):
        must(told[kind] <= booked, f"the display told of {kind} {told[kind]}, booked is {booked}")
    must(not _logged(rig, events.MEMORY_REPAIRED), "memory was repaired, though nothing had decayed")
    must(_banks_agree(rig), "the banks of the memory differ")
    wrong += _rounds_wrong(rig, books, told["chosen"] + told["gamble_collect"])
    return books, wrong


def _books_of(rig: Rig):
    return rig.session.cabinet.books  # pyright: ignore[reportAttributeAccessIssue]  (the host's session, in this process)


def _logged(rig: Rig, code: int) -> int:
    """How often the event is in the log."""
    return sum(event[-2] == code for event in _books_of(rig).events.newest(keys.EVENT_SLOTS))


def _banks_agree(rig: Rig) -> bool:
    used, size = _books_of(rig).journal.usage()
    memory = rig.session.nvram.memory
    banks = [[memory[(2 * bank + area) * size :][:used] for area in range(2)] for bank in range(2)]
    return any(banks[0][area] == banks[1][area] for area in range(2))


def _rounds_wrong(rig: Rig, books: dict[str, Any], decided: int) -> list[str]:
    """Each finished round, played again by the core from its record, has its award; all of them make up the meters."""
    wrong: list[str] = []
    journal = _books_of(rig).journal
    if books["voided_games"]:
        wrong.append(f"{books['voided_games']} rounds were voided")
    for key, name in ((keys.ROUND, "round"), (keys.PAYOUT, "pay-out"), (keys.NOTE_PENDING, "note")):
        if journal.get(key):
            wrong.append(f"a {name} is still open")
    found = rounds.recall(journal, keys.RECALL_SLOTS)
    decisions = 0
    for record in found:
        award, made = played_again(record, rig.session.cabinet.packs)  # pyright: ignore[reportAttributeAccessIssue]
        decisions += made
        if award != record.award:
            wrong.append(f"a round's award is {record.award}, its seed gives {award}")
    if len(found) == books["games"]:  # no older ones
        won, wagered = sum(record.award for record in found), sum(record.bet for record in found)
        if decisions < decided:
            wrong.append(f"the player was told of {decided} decisions, the rounds hold {decisions}")
        if won != books["won"] or wagered != books["wagered"]:
            wrong.append(f"won {books['won']}, wagered {books['wagered']}; rounds say {won} and {wagered}")
    elif len(found) < keys.RECALL_SLOTS:
        wrong.append(f"{books['games']} games were taken money for, {len(found)} ended")
    return wrong


def played_again(record: Any, packs: Any) -> tuple[int, int]:
    """The award that a round's committed facts give, and how many picks and collects are among them."""
    core = record.core(packs[record.game])
    place = made = 0
    while not core.finished:
        event = core.next()
        if rounds.asks(event[0]):
            made += event[0] == native.CHOICE or record.decisions[place] == rounds.COLLECT
            place = rounds.decide(core, event[0], record.decisions, place)
    return core.award_pence, made


def kept(rig: Rig, values: Sequence[bytes]) -> list[str]:
    """What recovery has dropped of `values`, the journal's facts as they were found: a latched tilt, a round's seed."""

    def fact(key: int) -> bytes:
        return bytes(values[key]) if key < len(values) else b""

    wrong: list[str] = []
    books = _books_of(rig)
    if books is None:
        return wrong
    lost = int.from_bytes(fact(keys.TILTS), "little") & ~books.journal.get_int(keys.TILTS)
    if lost or (fact(keys.TILTS) and rig.state != "tilted"):
        wrong.append(f"latched tilts {fact(keys.TILTS).hex()} of {len(tilt.NAMES)} are gone at power-up")
    if fact(keys.ROUND):
        now = books.journal.get(keys.ROUND)
        ended = [record.pack() for record in rounds.recall(books.journal, keys.RECALL_SLOTS)]
        if now != fact(keys.ROUND) and fact(keys.ROUND) not in ended:
            wrong.append("the round under way is not the one that was committed")
    return wrong

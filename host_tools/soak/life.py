"""One cabinet's life: players, attendants, technicians, broken lines and devices, power cuts, all drawn from one seed.

Everything that is done is a command of the rig script, so what was recorded repeats it. What to do next is decided on what the
books say (read in the process, which takes no time); that decision needs no repeating, as the script holds the command.
The auditor compares books and world after each command.
"""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from firmware import tilt
from firmware.commands import query
from firmware.money.ledger import COINS_PENCE, NOTES_PENCE
from host_tools.hil import script_commands as cmd
from host_tools.hil.host_session import BoardFailed
from host_tools.hil.rig import Rig, RigError
from host_tools.hil.script_commands import Command
from host_tools.hil.vocabulary import BUTTONS, DOORS, NOTE_ACCEPTORS
from host_tools.soak import breakage

FAULTS_A_PLAY: Final = 1.06
CUTS_A_PLAY: Final = 0.108
RICH_PENCE: Final = 3000  # with more nobody puts a note in
FULL_PENCE: Final = 600  # with more the player rather plays than inserts
SETTLE_PLAYS: Final = 12  # at most between two settlements
WITHIN_MS: Final = 600_000  # to settle, with all the free spins that there may be
NOISE_MS: Final = 10  # of the most garbage on the console line
REPAIR_MS: Final = 30_000  # until a cabinet that is repaired does something again
NVRAM_BYTES: Final = 700  # of a play: a cut falls within so many
SETTLED_MS: Final = (
    2000  # what was held up by a fault (a late answer, a device that is looked for again) is through by then
)
BROKEN_AT_ONCE: Final = 3
A_NOTE: Final = 0.15  # of the times at which money is put in
NOTE_WEIGHTS: Final = (12, 4, 2, 1)  # small ones mostly: a rich player only makes the run long
IDLE_MS: Final = 300_000  # without a play: the cabinet is stuck, whatever its state says
_READING: Final = (
    "status",
    "meters",
    "events 20",
    "tilts",
    "recall",
    "replay 1",
    "notes",
    "lines",
    "version",
    "credit",
    "memory",
    "help",
)
_IMPATIENT: Final = (*BUTTONS, "start", "start", "collect", "cash_out")
_BETS: Final = (
    "stake_up",
    "stake_down",
    "stake_down",
    "level_up",
    "level_down",
    "level_down",
    "fortune_bet",
    "fortune_spins",
)


class Failed(Exception):
    """The cabinet has failed the soak; the text says how."""


@dataclass
class Life:
    """What came of it. `script` are all commands; `failure` is "" or what went wrong in the last of them."""

    seed: int
    plays: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    cuts: Counter[str] = field(default_factory=Counter)
    lockups: Counter[str] = field(default_factory=Counter)
    virtual_ms: int = 0
    discrepancy_pence: int = 0
    unexplained: int = 0
    failure: str = ""
    script: list[Command] = field(default_factory=list)


def live(packs: Mapping[str, bytes], seed: int, plays: int) -> Life:
    """A cabinet from its first power-on until it has done `plays` plays and suffered in proportion."""
    return _Soak(packs, seed, plays).live()


class _Soak:
    def __init__(self, packs: Mapping[str, bytes], seed: int, plays: int) -> None:
        self.rig = Rig(packs)
        self.auditor = self.rig.audit()
        self.life = Life(seed)
        self.plays = plays
        self.games = sorted(packs)
        self.dice = random.Random(seed)
        self.note = self.dice.choice(tuple(NOTE_ACCEPTORS))
        self.deck = breakage.Deck(self.dice, self.note)
        self.broken: dict[str, int] = {}  # what is at fault, and until when
        self.held: set[str] = set()
        self.opened: set[str] = set()
        self.cut_due = ""  # a cut that falls at a byte still to be written
        self.since_settled = 0
        self.played = 0, 0  # plays, and when the last one began
        self.wish = ""  # what the next quiet moment is for, so that a fault meets what it spoils
        self.books: dict[str, Any] = {}

    # --- the record ------------------------------------------------------------------------------------------------

    def do(self, command: Command) -> None:
        """Carries a command out and writes it down."""
        self.life.script.append(command)
        self.rig.do(command)
        if self.cut_due and self.rig.session.nvram.cut_after is None:  # it has struck
            self.life.cuts[self.cut_due] += 1
            self.cut_due = ""
        cabinet = self.rig.cabinet
        self.books = query(cabinet) if cabinet is not None else {"state": "off"}
        if self.auditor.violations:
            raise Failed(self.auditor.violations[0])

    def live(self) -> Life:
        life = self.life
        try:
            self._begin()
            while not self._done():
                self._beat()
            self._end()
        except (Failed, RigError, BoardFailed) as failed:
            life.failure = self.auditor.violations[0] if self.auditor.violations else str(failed)
        life.plays = self.books.get("games", life.plays)
        life.virtual_ms = self.rig.now_ms
        life.discrepancy_pence = self.auditor.discrepancy_pence
        life.unexplained = len(self.auditor.unexplained)
        life.lockups = self.auditor.lockups
        self.rig.close()
        return life

    def _done(self) -> bool:
        life = self.life
        life.plays = self.books.get("games", life.plays)
        return (
            life.plays >= self.plays
            and life.faults.total() >= self.plays * FAULTS_A_PLAY
            and life.cuts.total() >= self.plays * CUTS_A_PLAY
        )

    def _begin(self) -> None:
        self.do(cmd.Fit(self.note))
        self.do(cmd.Entropy(seed=self.dice.randrange(10**12)))
        self.do(cmd.Power(True))
        self.do(cmd.Console(f"set quick_spin {'off' if self.dice.random() < 0.02 else 'on'}"))
        self.do(cmd.Game(self.dice.choice(self.games)))

    def _end(self) -> None:
        """Everything that is owed is paid, and then the books equal the world to the penny."""
        for _ in range(20):
            self._settle()
            if self.books["credit"] < 10:
                break
            self.do(cmd.Press("cash_out"))
        self.do(cmd.Expect("credit", "<", 10))
        self._settle()

    # --- one beat --------------------------------------------------------------------------------------------------

    def _beat(self) -> None:
        dice = self.dice
        self._mend_what_is_over()
        games = self.books.get("games", 0)
        if games > self.played[0]:
            self.played = games, self.rig.now_ms
        elif self.rig.now_ms > self.played[1] + IDLE_MS:
            self._settle()
            self._play("start")
            self.do(cmd.Expect("games", ">", self.played[0]))
        if self.books["state"] != "off":
            self._break_something()
        if self.since_settled >= SETTLE_PLAYS or dice.random() < 0.01:
            self._settle()
            return
        if dice.random() < 0.04:
            self._mash()
        act = getattr(self, "_in_" + self.books["state"])
        act()

    def _break_something(self) -> None:
        life, dice = self.life, self.dice
        done = max(1, life.plays)
        if len(self.broken) < BROKEN_AT_ONCE and dice.random() < 0.5 and life.faults.total() < done * FAULTS_A_PLAY + 3:
            self._break(self.deck.deal())
        if not self.cut_due and life.cuts.total() < done * CUTS_A_PLAY + 1 and dice.random() < 0.2:
            self._cut()

    def _break(self, fault: cmd.Fault) -> None:
        self.life.faults[f"{fault.device} {fault.kind}"] += 1
        if fault.kind in breakage.ON_THE_WAY and self.books["state"] == "idle":
            self._insert_a_note(self.dice.randrange(700, 1300, 5))
        self.do(fault)
        self.broken[fault.device] = self.rig.now_ms + self.dice.randrange(20, breakage.LONGEST_MS)
        if fault.device.startswith("hopper"):
            self.wish = "cash_out"
        elif fault.device == "coin_acceptor":
            self.wish = "coins"
        elif fault.device in ("note", "note_acceptor"):
            self.wish = "note"

    def _mend_what_is_over(self) -> None:
        for device, until_ms in list(self.broken.items()):
            if self.rig.now_ms >= until_ms:
                self._mend(device)

    def _mend(self, device: str) -> None:
        del self.broken[device]
        self.do(cmd.Clear(device))
        if device == "console":  # when noise is over, ends the line that it may have begun, and asks how things stand
            self.do(cmd.Wait(NOISE_MS))
            self.do(cmd.Console(""))
            self.do(cmd.Console("watch on"))

    def _cut(self) -> None:
        dice = self.dice
        mains = dice.random() < 0.4
        whose = "mains" if mains else "board"
        if dice.random() < 0.25:
            self.life.cuts[f"{whose} at rest"] += 1
            self.do(cmd.PowerCut(mains=mains))
        else:
            self.cut_due = f"{whose} at a byte"
            self.do(cmd.PowerCut(dice.randrange(NVRAM_BYTES), mains))

    def _wait(self, least_ms: int, most_ms: int) -> None:
        self.do(cmd.Wait(self.dice.randrange(least_ms, most_ms, 5)))

    def _mash(self) -> None:
        """Impatience: several buttons at once, held or hit."""
        dice = self.dice
        for _ in range(dice.randint(1, 6)):
            button = dice.choice(_IMPATIENT)
            if dice.random() < 0.3 and button not in self.held:
                self.held.add(button)
                self.do(cmd.Hold(button, True))
            else:
                self.do(cmd.Press(button, dice.randrange(10, 150, 5)))
        self._let_go()

    def _let_go(self) -> None:
        for button in sorted(self.held):
            self.do(cmd.Hold(button, False))
        self.held.clear()

    # --- what people do in each state --------------------------------------------------------------------------------

    def _in_off(self) -> None:
        dice = self.dice
        self.do(cmd.Wait(dice.choice((0, 5, 100, 400, 1500))))
        self._hear_the_console()
        if dice.random() < 0.3:
            mains = dice.random() < 0.3
            self.cut_due = f"{'mains' if mains else 'board'} in recovery"
            self.do(cmd.PowerCut(dice.randrange(NVRAM_BYTES // 2), mains))
        self.do(cmd.Power(True))

    def _hear_the_console(self) -> None:
        """The rig learns over the console that the firmware is there: what may still be wrong with its line ends here."""
        if "console" in self.broken:
            self._mend("console")
            self.do(cmd.Wait(500))

    def _in_boot(self) -> None:
        self._wait(100, 500)

    def _in_idle(self) -> None:
        dice, wish, self.wish = self.dice, self.wish, ""
        draw = dice.random()
        if wish == "cash_out" and self.books["credit"] >= 10:
            self.do(cmd.Press("cash_out"))
        elif self.books["bet"] > FULL_PENCE // 2:  # a rich player would only make the run long
            for button in ("stake_down", "level_down"):
                self.do(cmd.Press(button, 60))
        elif wish == "note" and self.books["credit"] < RICH_PENCE:
            self._insert_a_note()
        elif (
            wish == "coins"
            or self.books["credit"] < self.books["bet"]
            or (draw < 0.1 and self.books["credit"] < FULL_PENCE)
        ):
            self._insert_money()
        elif draw < 0.13:
            self.do(cmd.Press("cash_out"))
        elif draw < 0.16:
            self.do(cmd.Game(dice.choice(self.games)))
        elif draw < 0.22:
            self._choose_bet()
        elif draw < 0.24:
            self.do(cmd.Console(dice.choice(_READING)))
        elif draw < 0.26:
            self._open_a_door()
        elif draw < 0.27:
            self.do(cmd.Key("technician", True))
        elif draw < 0.29:
            self.do(cmd.Console(f"autoplay {dice.randint(2, 6)}"))
            self._play("autoplay")
        elif draw < 0.30:
            self.do(cmd.Console(f"set gamble {dice.choice(('on', 'off'))}"))
        else:
            self._play("max_bet" if draw > 0.99 else "start")

    def _insert_money(self) -> None:
        if self.dice.random() < A_NOTE:
            self._insert_a_note()
        else:
            self._insert_coins()

    def _insert_a_note(self, for_ms: int | None = None) -> None:
        """Some watch it go in, others go on at once with whatever comes to their mind."""
        dice = self.dice
        if for_ms is None and dice.random() < 0.5:
            for_ms = dice.randrange(50, 2500, 5)
        self.do(cmd.Note(dice.choices(NOTES_PENCE, NOTE_WEIGHTS)[0], for_ms))

    def _insert_coins(self) -> None:
        dice = self.dice
        hurry = dice.random() < 0.4  # as fast as the slot takes them; one in a hurry comes too close and is returned
        for _ in range(dice.randint(1, 6)):
            pence = dice.choice(COINS_PENCE)
            self.do(cmd.Coin(pence, dice.randrange(55, 180, 5)) if hurry else cmd.Coin(pence))
        if hurry:
            self._wait(200, 500)

    def _choose_bet(self) -> None:
        for _ in range(self.dice.randint(1, 3)):
            self.do(cmd.Press(self.dice.choice(_BETS), 60))

    def _play(self, button: str) -> None:
        self.since_settled += 1
        self.do(cmd.Press(button, 60))
        self._wait(50, 600)

    def _in_playing(self) -> None:
        if self.dice.random() < 0.02:
            self._open_a_door()
        self._wait(50, 800)

    def _in_choosing(self) -> None:
        if self.dice.random() < 0.5:
            self.do(cmd.Press(self.dice.choice(("left", "right")), 60))
        else:
            self.do(cmd.Press("start", 60))

    def _in_gambling(self) -> None:
        button = self.dice.choice(("left", "right", "stake_up", "stake_down", "start", "gamble", "collect", "collect"))
        self.do(cmd.Press(button, 60))

    def _in_offering(self) -> None:
        self.do(cmd.Press(self.dice.choice(("start", "no_thanks", "collect", "gamble")), 60))

    def _in_paying(self) -> None:
        draw = self.dice.random()
        if draw < 0.05:
            self._open_a_door()
        elif draw < 0.1:
            self._mash()
        self._wait(50, 600)

    def _in_handpay(self) -> None:
        self._turn("attendant")

    def _in_service(self) -> None:
        self._wait(50, 500)
        self.do(cmd.Key("technician", False))
        if "panel" in self.broken:  # a stuck key
            self._mend("panel")

    def _in_tilted(self) -> None:
        if self.dice.random() < 0.3:
            self._wait(50, 800)
            return
        if "note_offline" in self.books["tilt"] and self.dice.random() < 0.2:
            self._turn("attendant")  # who gives up a note in an acceptor that is gone
        self._repair()

    def _open_a_door(self) -> None:
        door = self.dice.choice(DOORS)
        self.opened.add(door)
        self.do(cmd.Door(door, True))
        self._wait(20, 400)

    def _turn(self, key: str) -> None:
        self.do(cmd.Key(key, True))
        self.do(cmd.Key(key, False))

    # --- repair and settlement ---------------------------------------------------------------------------------------

    def _repair(self) -> None:
        """Somebody comes, takes away what is broken, shuts what is open and turns the key that the tilts ask for."""
        for device in list(self.broken):
            self._mend(device)
        for door in sorted(self.opened):
            self.do(cmd.Door(door, False))
        self.opened.clear()
        for name, hopper in self.rig.world.hoppers.items():
            if hopper.level < 100:
                self.do(cmd.Refill(name))
        if self.books["state"] == "tilted":
            keys = {tilt.CLEARS[name] for name in self.books["tilt"]}
            if tilt.AUTO in keys:
                self._wait(200, 700)
            if tilt.ATTENDANT in keys:
                self._turn("attendant")
            if tilt.TECHNICIAN in keys:
                self._turn("technician")

    def _settle(self) -> None:
        """Everything comes to rest, with the help of an attendant, within a bound; then the books are compared exactly."""
        self.since_settled = 0
        self._repair()
        self._let_go()
        end_ms = self.rig.now_ms + WITHIN_MS
        alive_ms = self.rig.now_ms
        while not self._at_rest():
            state = self.books["state"]
            if state not in ("tilted", "boot", "off", "service"):
                alive_ms = self.rig.now_ms
            if self.rig.now_ms >= min(end_ms, alive_ms + REPAIR_MS):
                self.do(cmd.WaitUntil("idle", 1000))  # fails, in the script too
            self._come_to_rest(state)
        self.do(cmd.Wait(SETTLED_MS))
        if not self._at_rest():  # the cut that was due, or money that was told late
            self._settle()
            return
        self.do(cmd.Expect("settled", "==", "ok"))

    def _at_rest(self) -> bool:
        return self.books["state"] == "idle" and self.books["quiet"]

    def _come_to_rest(self, state: str) -> None:
        if state == "off":
            self._hear_the_console()
            self.do(cmd.Power(True))
        elif state == "choosing":
            self.do(cmd.Press("start", 60))
        elif state == "gambling":
            self.do(cmd.Press("collect", 60))
        elif state == "offering":
            self.do(cmd.Press("no_thanks", 60))
        elif state == "handpay":
            self._turn("attendant")
        elif state == "service":
            self.do(cmd.Key("technician", False))
        elif state == "tilted":
            self._repair()
            self._wait(200, 500)
        else:
            self._wait(100, 400)

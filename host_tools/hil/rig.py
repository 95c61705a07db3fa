"""The rig: runs a script against a firmware and its world, one event at a time, and sums up what the books say.

What it knows of the firmware comes over the console line (`watch on`, `query`), so that it needs nothing of the firmware's
process and works the same on every board. Physical truths come from the models.
"""

import random
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import native
from firmware.commands import query as query_directly
from firmware.main import Cabinet
from firmware.rng import generator as rng
from hal.boards.host import NVRAM_BYTES
from host_tools.boards.board_files import BoardFiles
from host_tools.hil import commission, want
from host_tools.hil import script_commands as cmd
from host_tools.hil.auditor import Auditor
from host_tools.hil.models.entropy_asked import EntropySource
from host_tools.hil.script_commands import Command, Times
from host_tools.hil.sessions import session_on
from host_tools.hil.vocabulary import CHECKS, DEFAULT, Vocabulary, is_line_fault
from host_tools.hil.world import World

STEP_MS = 5
# What a hand takes, so that the next command finds it done.
NOTE_MS = 500
NOTE_WITHIN_MS = 4000  # from the slot to the stacker, unless something holds it up
QUICK_COIN_MS = 65  # from one coin to the next at the most that an acceptor takes
SWITCH_MS = 100  # for a hand, and for a slow board to see it
CONSOLE_MS = 200
SILENCE_MS = 50  # after the last line of an answer
ANSWER_MS = 3000
BOOT_MS = 6000

Event = dict[str, Any]

ASKED = "{asked}"
_ASKS = re.compile(r"\b[Tt]ype (.+?) to\b")

# The first of these turns the mains on, unless the script did; what comes before it prepares a cabinet that is off.
_NEED_POWER = (
    cmd.Coin,
    cmd.Coins,
    cmd.Note,
    cmd.Press,
    cmd.Console,
    cmd.Game,
    cmd.Want,
    cmd.Expect,
    cmd.WaitUntil,
)


class RigError(Exception):
    """The script cannot go on: an expectation failed, or something did not come in time."""


class Rig:
    """One cabinet under test, in virtual time.

    `packs`: game name -> pack bytes. `on_event`: called with each event as it happens; `t` is in milliseconds.
    `board`: what the firmware runs on (sessions.BOARDS). `entropy`: which random device the cabinet has (world.ENTROPY); `note`:
    which note acceptor (world.NOTE_ACCEPTORS). `at`: a board that keeps its memory from run to run; a blank one is filled at the
    first power-on. The memory holds the usual configuration (commission.py) unless the script says
    `memory blank`.
    """

    def __init__(
        self,
        packs: Mapping[str, bytes],
        on_event: Callable[[Event], None] = lambda event: None,
        nvram_bytes: int = NVRAM_BYTES,
        board: str = "host",
        entropy: str = "asked",
        note: str = "ssp",
        at: BoardFiles | None = None,
    ) -> None:
        self.now_ms = 0
        self._note = note
        self.world = World(self._heard, entropy=entropy, note=note)
        self.session = session_on(board, at)(self.world.lines, packs, nvram_bytes)
        self.session.clock = self.world.clock
        self.state = "off"
        self.events: deque[Event] = deque(maxlen=10_000)
        self._pack_bytes = packs
        self.packs = {name: native.Pack(data) for name, data in packs.items()}
        self._on_event = on_event
        self.on_power_cut: Callable[[], None] | None = None  # called when a `power cut after` has struck
        self.wanted_seed = b""  # seed of the round that `want` found last
        self._twin = want.Twin()
        self._wanted: tuple[want.Play, want.Outcome] | None = None  # what the next draw is to lead to
        if isinstance(self.world.entropy, EntropySource):
            self.world.entropy.on_answer = self._entropy_answered
        self._answer: Event | None = None
        self.auditor: Auditor | None = None
        self._mains = False
        # A memory has been put in, now or in an earlier run.
        self._fitted = at is not None and bytes(self.session.nvram.memory).strip(b"\xff") != b""
        self._cut_mains = False  # the `power cut after` to come takes the devices along
        self._ever_on = False
        self._chooser = random.Random(0)
        self._returned = {"coin": 0, "note": 0}

    @property
    def vocabulary(self) -> Vocabulary:
        """The names that a script for this cabinet may use."""
        return DEFAULT.fitted(self._note)

    def audit(self) -> Auditor:
        """From now on, best from the beginning, books and world are compared after each command."""
        if self.auditor is None:
            self.auditor = Auditor(self.world, lambda: self.now_ms)
        return self.auditor

    # --- time and power ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the firmware and whatever it runs in."""
        self.session.close()

    def step(self, ms: int = STEP_MS) -> None:
        """Some milliseconds pass."""
        self.now_ms += ms
        self.world.advance(self.now_ms * 1000)
        if not self.session.poll(self.now_ms):
            self._died("power cut")
        self._tell_returned("coin", self.world.acceptor.returned)
        self._tell_returned("note", self.world.note_acceptor.returned)

    def _tell_returned(self, what: str, returned: list[int]) -> None:
        while self._returned[what] < len(returned):
            self._happened({"e": f"{what}_returned", "pence": returned[self._returned[what]]})
            self._returned[what] += 1

    def run_for(self, ms: int) -> None:
        end = self.now_ms + ms
        while self.now_ms < end:
            self.step()

    def run_until(self, condition: Callable[[], bool], within_ms: int) -> bool:
        end = self.now_ms + within_ms
        while not condition():
            if self.now_ms >= end:
                return False
            self.step()
        return True

    def power_on(self) -> None:
        """Mains on, or only the board's supply after a power cut; then watches and waits for the firmware to boot."""
        if self.session.on:
            return
        self._ever_on = True
        if not self._fitted:
            self.fit_memory(blank=False)
        if not self._mains:
            self._mains = True
            self.world.power(True, self.now_ms * 1000)
        self._happened({"e": "power", "on": True})
        self.state = "boot"
        if not self.session.start(self.now_ms):
            self._died("power cut")
            return
        self.world.console.type("watch on")
        self.run_for(CONSOLE_MS)
        if self.session.on and self._answered(BOOT_MS) is None and self.session.on:
            raise RigError(f"the console did not answer within {BOOT_MS} ms")
        self.run_until(lambda: self.state != "boot", BOOT_MS)

    def fit_memory(self, *, blank: bool) -> None:
        """Puts a blank NVRAM into the cabinet, or one with the usual configuration. Errors: RigError while it is on."""
        if self.session.on:
            raise RigError("the memory can be exchanged only while the power is off")
        memory = self.session.nvram.memory
        memory[:] = b"\xff" * len(memory) if blank else commission.image(self._pack_bytes, len(memory), self._note)
        self._fitted = True

    def power_off(self) -> None:
        """Mains off: board and devices."""
        self._mains = False
        self.world.power(False, self.now_ms * 1000)
        if self.session.on:
            self.session.stop()
            self._died("off")

    def cut_power(self) -> None:
        """The board alone loses its supply, now; the devices keep theirs."""
        if self.session.on:
            self.session.stop()
            self._died("power cut")

    def _died(self, reason: str) -> None:
        self.session.stop()
        self.world.board_reset()
        self.world.console.power(False, self.now_ms * 1000)
        self.state = "off"
        self._happened({"e": "power", "on": False, "reason": reason})
        if reason == "power cut" and self._cut_mains:
            self._cut_mains = self._mains = False
            self.world.power(False, self.now_ms * 1000)
        if reason == "power cut" and self.on_power_cut is not None:
            self.on_power_cut()

    # --- what the firmware says ----------------------------------------------------------------------------------

    def _heard(self, event: Event) -> None:
        try:
            if event["e"] in ("query", "state"):
                self.state = event["state"]
            if event["e"] == "query":
                self._answer = event
            else:
                self._happened(event)
        except (KeyError, TypeError):
            if not self.world.lines["console"].was_faulty:
                raise
            # Noise has left something that can be read, and says nothing.
            self.world.console.text.append(f"damaged: {event}")

    def _happened(self, event: Event) -> None:
        # Keys in one order: MicroPython keeps no insertion order, and the same run gives the same text on every board.
        event = {"t": self.now_ms, "e": event["e"], **{key: event[key] for key in sorted(event) if key != "e"}}
        self.events.append(event)
        if self.auditor is not None:
            self.auditor.heard(event)
        self._on_event(event)

    def query(self) -> Event:
        """The firmware's own account of its state. Errors: RigError when it is off or does not answer."""
        if not self.session.on:
            raise RigError("the cabinet is off; power it on first")
        answer = self._answered()
        if answer is None and self.session.on:
            raise RigError(f"the console did not answer a query within {ANSWER_MS} ms")
        if answer is None:
            raise RigError("the power failed while the console was asked")
        return answer

    def _answered(self, within_ms: int = ANSWER_MS) -> Event | None:
        """The answer to a query, None when none came in time or the power failed."""
        self._answer = None
        self.world.console.type("query")
        self.run_until(lambda: self._answer is not None or not self.session.on, within_ms)
        return self._answer

    def summary(self) -> Event:
        """The totals that the cabinet's books hold; `handpay` is all that was paid by hand, large wins included."""
        found = self.query()
        found["handpay"] = found.get("handpay", 0) + found.get("large_win", 0)
        names = ("credit", "coins_in", "notes_in", "wagered", "won", "hopper_out", "handpay", "games", "tilts")
        audit = found.get("audit")
        return {
            "e": "summary",
            **{name: found.get(name, 0) for name in names},
            "audit": "ok" if audit == 0 else f"out by {audit} pence",
        }

    # --- commands ------------------------------------------------------------------------------------------------

    def run(self, commands: Iterable[Command]) -> None:
        """Runs a script from power-on. Errors: RigError names line and cause."""
        commands = tuple(commands)
        if any(isinstance(command, cmd.Expect) and command.what in CHECKS for command in commands):
            self.audit()
        for command in commands:
            try:
                self.do(command)
            except (RigError, ValueError, want.NotFound) as error:
                raise RigError(f"line {command.line}: {command}: {error}") from None

    def do(self, command: Command) -> None:
        """Carries out one command; the first one that needs a cabinet with power turns it on."""
        if not self._ever_on and isinstance(command, _NEED_POWER):
            self.power_on()
        handler = getattr(self, "_do_" + type(command).__name__.lower())
        if self.auditor is None:
            handler(command)
            return
        self.auditor.began(command)
        handler(command)
        self.auditor.look(self.cabinet)

    @property
    def cabinet(self) -> Cabinet | None:
        """The firmware, when it runs in this process and is on."""
        return getattr(self.session, "cabinet", None)

    def _do_coin(self, command: cmd.Coin) -> None:
        self.world.acceptor.insert(command.pence, self.now_ms * 1000)
        self.run_for(command.for_ms)

    def _do_refill(self, command: cmd.Refill) -> None:
        self.world.hoppers[command.hopper].refill(command.coins)

    def _do_coins(self, command: cmd.Coins) -> None:
        for pence in command.pence:
            self.world.acceptor.insert(pence, self.now_ms * 1000)
            self.run_for(QUICK_COIN_MS)
        self.run_for(cmd.COIN_MS)

    def _do_note(self, command: cmd.Note) -> None:
        acceptor = self.world.note_acceptor
        acceptor.insert(command.pence, self.now_ms * 1000)
        if command.for_ms is not None:
            self.run_for(command.for_ms)
            return
        self.run_until(lambda: acceptor.note is None, NOTE_WITHIN_MS)
        self.run_for(NOTE_MS)

    def _do_press(self, command: cmd.Press) -> None:
        self.world.panel.press(command.button, self.now_ms * 1000, command.for_ms)
        self.run_for(command.for_ms + SWITCH_MS)

    def _do_hold(self, command: cmd.Hold) -> None:
        self.world.panel.set_input(command.button, command.down, self.now_ms * 1000)

    def _do_door(self, command: cmd.Door) -> None:
        self.world.panel.set_input(command.door, command.opened, self.now_ms * 1000)
        self.run_for(SWITCH_MS)

    def _do_key(self, command: cmd.Key) -> None:
        self.world.panel.set_input(command.key, command.turned, self.now_ms * 1000)
        self.run_for(SWITCH_MS)

    def _do_wait(self, command: cmd.Wait) -> None:
        self.run_for(command.ms)

    def _do_waituntil(self, command: cmd.WaitUntil) -> None:
        wanted = command.state

        def there() -> bool:
            return self.state == wanted or (self.state == "off" and wanted != "off")

        if not self.run_until(there, command.within_ms) or self.state != wanted:
            raise RigError(f"the state is {self._state()}, not {wanted}, after {command.within_ms} ms")

    def _do_power(self, command: cmd.Power) -> None:
        if command.on:
            self.power_on()
        else:
            self.power_off()

    def _do_powercut(self, command: cmd.PowerCut) -> None:
        if command.writes is not None:
            self.session.nvram.cut_after = command.writes
            self._cut_mains = command.mains
        elif command.mains:
            self.power_off()
        else:
            self.cut_power()

    def _do_memory(self, command: cmd.Memory) -> None:
        self.fit_memory(blank=command.blank)

    def _do_fit(self, command: cmd.Fit) -> None:
        if self._ever_on or self._fitted:
            raise RigError("the note acceptor can be chosen only before the memory is put in and the power comes on")
        self._note = command.protocol
        self.world.fit_note_acceptor(command.protocol)

    def _do_fault(self, command: cmd.Fault) -> None:
        if is_line_fault(command.kind):
            self._line(command.device).fault(command.kind, *command.args)
        else:
            self.world.devices[command.device].fault(command.kind, *command.args)

    def _do_clear(self, command: cmd.Clear) -> None:
        if command.device in self.world.devices:
            self.world.devices[command.device].clear()
        if command.device in self.world.lines:
            self._line(command.device).clear()

    def _line(self, name: str):
        if name not in self.world.lines:
            raise RigError(f"this cabinet has no line {name}; it has {', '.join(self.world.lines)}")
        return self.world.lines[name]

    def _do_console(self, command: cmd.Console) -> None:
        text = command.text
        if ASKED in text:
            text = text.replace(ASKED, self._asked())
        self.world.console.text.clear()
        self.world.console.type(text)
        self.run_for(CONSOLE_MS - SILENCE_MS)
        printed = -1
        while printed != len(self.world.console.text):  # a long answer takes its time on the line
            printed = len(self.world.console.text)
            self.run_for(SILENCE_MS)
        for line in self.world.console.text:
            self._happened({"e": "console", "text": line})

    def _asked(self) -> str:
        """What the console wants to be typed, as a person reads it."""
        for line in reversed(self.world.console.text):
            found = _ASKS.search(line)
            if found:
                return found[1]
        raise RigError("the console has asked for nothing to be typed")

    def _do_game(self, command: cmd.Game) -> None:
        if command.name not in self.packs:
            raise RigError(f"there is no game {command.name}; there is {', '.join(self.packs)}")
        self._do_console(cmd.Console(f"game {command.name}"))

    def _do_entropy(self, command: cmd.Entropy) -> None:
        if command.data:
            self.world.entropy.queue(command.data)
        elif command.seed is None:
            self.world.entropy.random()
        else:
            self.world.entropy.seed(command.seed)
            self._chooser = random.Random(command.seed)

    def _do_want(self, command: cmd.Want) -> None:
        found = self.query()
        pack = self.packs[found["game"]]
        value = command.value
        if isinstance(value, Times):
            outcome = want.Outcome(command.outcome, command.op or ">=", value.hundredths)
        elif isinstance(value, str):
            outcome = want.Outcome(command.outcome, name=value)
        else:
            outcome = want.Outcome(command.outcome, number=value or 0)
        wager = found["credit"] if pack.spin_chance and 0 < found["credit"] < found["bet"] else 0
        play = want.Play(pack, pack.modes.index(found["mode"]), found["unit"], wager, found["pile"])
        self._look_for(play, outcome)

    def _look_for(self, play: want.Play, outcome: want.Outcome) -> None:
        device = self.world.entropy
        if not isinstance(device, EntropySource):
            raise want.NotFound(
                "this random device cannot tell a draw from other bytes; want needs the one that is asked"
            )
        sent, self.wanted_seed = want.search(self._twin.drbg(), play, outcome, self._chooser)
        device.queue_answer(sent)
        self._wanted = (play, outcome)

    def _entropy_answered(self, data: bytes) -> None:
        """The random device has answered. A reseed in the background moves the generator on: what was found leads elsewhere."""
        self._twin.hear(data)
        if len(data) == rng.BYTES[rng.DRAW]:
            self._wanted = None
        elif self._wanted is not None and len(data) == rng.BYTES[rng.RESEED]:
            self._look_for(*self._wanted)

    def _check(self, what: str) -> None:
        """`books`: nothing was wrong so far; `settled`: and nothing is open now."""
        auditor = self.audit()
        cabinet = self.cabinet
        auditor.look(cabinet)
        if what == "settled" or cabinet is None:
            books = self.query() if cabinet is None else query_directly(cabinet)
            if cabinet is None and self.session.on:
                auditor.read(bytes(self.session.nvram.memory))
            (auditor.settled if what == "settled" else auditor.check)(books)
        if auditor.violations:
            raise RigError(f"expected {what} == ok, found: {'; '.join(auditor.violations)}")

    def _do_expect(self, command: cmd.Expect) -> None:
        if command.what in CHECKS:
            self._check(command.what)
            return
        found = self._find(command.what)
        wanted: Any = command.value
        if isinstance(wanted, Times):
            wanted = wanted.pence(self.query()["last_bet"])
        if command.what == "tilt":
            names = found or ["none"]
            holds = (str(wanted) in names) == (command.op != "!=")
        elif command.op == "contains":
            holds = str(wanted) in str(found)
        else:
            holds = want.OPERATORS[command.op](found, wanted)
        if not holds:
            found = self._state() if command.what == "state" else found
            raise RigError(f"expected {command.what} {command.op} {wanted}, found {found}")

    def _state(self) -> str:
        """For whoever waited for another one: with the tilts that were told last."""
        told = next((event["tilts"] for event in reversed(self.events) if event["e"] == "state"), [])
        return f"{self.state} ({', '.join(told)})" if self.state == "tilted" and told else self.state

    def _find(self, what: str) -> Any:
        world = self.world
        if what == "state":
            return self.state
        if what == "console":
            return "\n".join(world.console.text)
        if what == "swallowed":
            return world.swallowed_pence
        if what == "stacked":
            return world.stacked_pence
        if what == "paid":
            return world.paid_pence
        if what.startswith("pulses."):
            return world.panel.pulses[what.split(".", 1)[1]]
        if what.startswith("lamp."):
            name = what.split(".", 1)[1]
            if name not in world.panel.lamps:
                raise RigError(f"there is no lamp {name}; there is {', '.join(world.panel.lamps)}")
            return "on" if world.panel.lamp(name) else "off"
        found = self.query()
        if what == "audit":
            return "ok" if found["audit"] == 0 else f"out by {found['audit']} pence"
        name = what.removeprefix("meter.")
        if name not in found:
            raise RigError(f"the cabinet has no {what}; it has {', '.join(sorted(found))}")
        return found[name]

"""The rig: runs a script against a firmware and its world, one event at a time, and sums up what the books say.

What it knows of the firmware comes over the console line (`watch on`, `query`), so that it needs nothing of the firmware's
process and works the same on every board. Physical truths come from the models.
"""

import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import native
from hal.boards.host import NVRAM_BYTES
from host_tools.hil import script_commands as cmd
from host_tools.hil import want
from host_tools.hil.script_commands import Command, Times
from host_tools.hil.sessions import session_on
from host_tools.hil.vocabulary import is_line_fault
from host_tools.hil.world import World

STEP_MS = 5
# What a hand or a coin takes, so that the next command finds it done: a coin falls for 150 ms and is asked for every 200.
COIN_MS = 500
SWITCH_MS = 60
CONSOLE_MS = 200
ANSWER_MS = 3000
BOOT_MS = 6000

Event = dict[str, Any]

# The first of these turns the mains on, unless the script did; what comes before it prepares a cabinet that is off.
_NEED_POWER = (cmd.Coin, cmd.Press, cmd.Console, cmd.Game, cmd.Want, cmd.Expect, cmd.WaitUntil, cmd.PowerCut)


class RigError(Exception):
    """The script cannot go on: an expectation failed, or something did not come in time."""


class Rig:
    """One cabinet under test, in virtual time.

    `packs`: game name -> pack bytes. `on_event`: called with each event as it happens; `t` is in milliseconds.
    `board`: what the firmware runs on (sessions.BOARDS).
    """

    def __init__(
        self,
        packs: Mapping[str, bytes],
        on_event: Callable[[Event], None] = lambda event: None,
        nvram_bytes: int = NVRAM_BYTES,
        board: str = "host",
    ) -> None:
        self.now_ms = 0
        self.world = World(self._heard)
        self.session = session_on(board)(self.world.lines, packs, nvram_bytes)
        self.state = "off"
        self.events: deque[Event] = deque(maxlen=10_000)
        self._packs = {name: native.Pack(data) for name, data in packs.items()}
        self._on_event = on_event
        self.on_power_cut: Callable[[], None] | None = None  # called when a `power cut after` has struck
        self.wanted_seed = b""  # seed of the round that `want` found last
        self._answer: Event | None = None
        self._mains = False
        self._ever_on = False
        self._chooser = random.Random(0)
        self._returned = 0

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
        returned = self.world.acceptor.returned
        while self._returned < len(returned):
            self._happened({"e": "coin_returned", "pence": returned[self._returned]})
            self._returned += 1

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
        if self.session.on:
            self.query()
        self.run_until(lambda: self.state != "boot", BOOT_MS)

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
        if reason == "power cut" and self.on_power_cut is not None:
            self.on_power_cut()

    # --- what the firmware says ----------------------------------------------------------------------------------

    def _heard(self, event: Event) -> None:
        if event["e"] == "query":
            self._answer = event
            self.state = event["state"]
            return
        if event["e"] == "state":
            self.state = event["state"]
        self._happened(event)

    def _happened(self, event: Event) -> None:
        # Keys in one order: MicroPython keeps no insertion order, and the same run gives the same text on every board.
        event = {"t": self.now_ms, "e": event["e"], **{key: event[key] for key in sorted(event) if key != "e"}}
        self.events.append(event)
        self._on_event(event)

    def query(self) -> Event:
        """The firmware's own account of its state. Errors: RigError when it is off or does not answer."""
        if not self.session.on:
            raise RigError("the cabinet is off; power it on first")
        self._answer = None
        self.world.console.type("query")
        if not self.run_until(lambda: self._answer is not None or not self.session.on, ANSWER_MS):
            raise RigError(f"the console did not answer a query within {ANSWER_MS} ms")
        if self._answer is None:
            raise RigError("the power failed while the console was asked")
        return self._answer

    def summary(self) -> Event:
        """The totals that the cabinet's books hold."""
        found = self.query()
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
        for command in commands:
            if not self._ever_on and isinstance(command, _NEED_POWER):
                self.power_on()
            try:
                self.do(command)
            except (RigError, ValueError, want.NotFound) as error:
                raise RigError(f"line {command.line}: {command}: {error}") from None

    def do(self, command: Command) -> None:
        """Carries out one command."""
        handler = getattr(self, "_do_" + type(command).__name__.lower())
        handler(command)

    def _do_coin(self, command: cmd.Coin) -> None:
        self.world.acceptor.insert(command.pence, self.now_ms * 1000)
        self.run_for(COIN_MS)

    def _do_note(self, command: cmd.Note) -> None:
        raise RigError("this cabinet has no note acceptor; put in coins")

    def _do_press(self, command: cmd.Press) -> None:
        self.world.panel.press(command.button, self.now_ms * 1000, command.for_ms)
        self.run_for(command.for_ms + SWITCH_MS)

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
            raise RigError(f"the state is {self.state}, not {wanted}, after {command.within_ms} ms")

    def _do_power(self, command: cmd.Power) -> None:
        if command.on:
            self.power_on()
        else:
            self.power_off()

    def _do_powercut(self, command: cmd.PowerCut) -> None:
        self.session.nvram.cut_after = command.writes

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
        self.world.console.text.clear()
        self.world.console.type(command.text)
        self.run_for(CONSOLE_MS)
        for line in self.world.console.text:
            self._happened({"e": "console", "text": line})

    def _do_game(self, command: cmd.Game) -> None:
        if command.name not in self._packs:
            raise RigError(f"there is no game {command.name}; there is {', '.join(self._packs)}")
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
        pack = self._packs[found["game"]]
        value = command.value
        if isinstance(value, Times):
            outcome = want.Outcome(command.outcome, command.op or ">=", value.hundredths)
        elif isinstance(value, str):
            outcome = want.Outcome(command.outcome, name=value)
        else:
            outcome = want.Outcome(command.outcome, number=value or 0)
        wager = found["credit"] if pack.spin_chance and 0 < found["credit"] < found["bet"] else 0
        play = want.Play(pack, pack.modes.index(found["mode"]), found["unit"], wager, found["pile"])
        drbg = want.generator_after(bytes(self.world.entropy.sent))
        sent, self.wanted_seed = want.search(drbg, play, outcome, self._chooser)
        self.world.entropy.queue(sent)

    def _do_expect(self, command: cmd.Expect) -> None:
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
            raise RigError(f"expected {command.what} {command.op} {wanted}, found {found}")

    def _find(self, what: str) -> Any:
        world = self.world
        if what == "state":
            return self.state
        if what == "console":
            return "\n".join(world.console.text)
        if what == "swallowed":
            return world.swallowed_pence
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

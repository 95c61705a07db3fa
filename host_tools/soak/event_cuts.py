"""The power fails at every event that a note acceptor tells: of the board alone, of the acceptor alone, of board and devices.

cuts.py goes through every byte that the cabinet writes. This one goes through what the device does meanwhile: each of its
answers with events that the answer before it did not have, from a script's first note to its end, and of each the MOMENTS. Every
cut is followed to the end of the script in a forked child, and judged as there (aftermath.py): a note is credited once or
returned, never both, never neither, and disputed only where the script has a fault behind which nothing proves what became of it.

The script runs once to find those answers; the same steps of the same rig then are where the cuts fall.
"""

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, Final

from host_tools.hil import script_commands as cmd
from host_tools.hil.rig import Rig
from host_tools.hil.script_commands import Command
from host_tools.soak.aftermath import Hand, Shown, Stuck, doubtful_notes, go_on, judge, recover, settle
from host_tools.soak.child import split, tell
from host_tools.soak.cuts_all import Script
from host_tools.soak.recovery import MAX_SHOWN

KINDS: Final = ("board", "device", "mains")
FRESH_MS: Final = 3000
UNASKED, ON_ITS_WAY, ARRIVED, READ = "not asked for yet", "on its way", "arrived", "read"
MOMENTS: Final = (UNASKED, ON_ITS_WAY, ARRIVED, READ)
"""Of an answer: the acceptor has not been asked; it has told, and the board has not heard all; the board has, and did not look;
one turn of its loop has looked. What follows in the loop writes to NVRAM, where cuts.py cuts."""


@dataclass
class EventCutReport:
    """`violations` tell the first MAX_SHOWN of `violated`."""

    answers: int = 0  # that carried an event
    cuts: int = 0
    violated: int = 0
    disputed: int = 0  # cuts behind which a note was disputed, where the script allows it
    violations: list[str] = field(default_factory=list)

    def merge(self, other: "EventCutReport") -> None:
        for name in ("answers", "cuts", "violated", "disputed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.violations = (self.violations + other.violations)[:MAX_SHOWN]


class _CutError(BaseException):
    """Now. No Exception, so that no handler of the firmware can catch it."""


class _Run:
    """One life of the script. `at_step`: called before and after each turn of the firmware."""

    def __init__(self, commands: Sequence[Command], packs: Mapping[str, bytes]) -> None:
        self.commands = commands
        self.shown = Shown()
        self.rig = Rig(packs, self.shown.hear)
        self.steps = 0
        self.place = 0  # of the command under way
        self.told: list[tuple[int, str]] = []  # (step, what) of each answer with an event
        self.last = ""
        self.before_turn: Callable[[], None] = lambda: None
        self.after_turn: Callable[[], None] = lambda: None
        poll = self.rig.session.poll

        def turn(now_ms: int) -> bool:
            self.before_turn()
            alive = poll(now_ms)
            self.after_turn()
            self.steps += 1
            return alive

        self.rig.session.poll = turn  # pyright: ignore[reportAttributeAccessIssue]

    def live(self) -> None:
        for place, command in enumerate(self.commands):
            self.place = place
            if isinstance(command, cmd.Note):
                self.rig.world.note_acceptor.on_told = self._tells
            self.rig.do(command)

    def _tells(self, what: str) -> None:
        if what and what != self.last:
            self.told.append((self.steps, what))
        self.last = what

    def unwatched(self) -> None:
        """What follows is cut no more."""
        self.before_turn = self.after_turn = lambda: None

    @property
    def arrived(self) -> bool:
        """All bytes of the acceptor's last answer are at the board."""
        world = self.rig.world
        tap = world.note_acceptor.line
        return tap is None or tap.free_ns <= world.lines[world.note_line].now_ns


class _Explorer:
    def __init__(self, commands: Sequence[Command], packs: Mapping[str, bytes], kinds: Iterable[str]) -> None:
        found = _Run(commands, packs)
        found.live()
        self.told = found.told
        self.before = {step - 1 for step, _ in found.told}
        self.kinds = tuple(kinds)
        self.report = EventCutReport(answers=len(found.told))
        self.waits = False  # an answer with an event was made and has not arrived
        self.run = _Run(commands, packs)
        self.run.before_turn, self.run.after_turn = self._before_turn, self._after_turn
        self.kind = ""  # in a child: the cut that it is about
        self.parent = -1  # to be told, in a child
        self.moment = ""

    def explore(self) -> EventCutReport:
        try:
            self.run.live()
        except _CutError:
            self._end()
        if self.run.told != self.told:
            raise RuntimeError("two runs of one script differ")
        self.run.unwatched()
        verdict = _to_the_end(self.run, Hand(self.run.rig), [], doubtful_notes(self.run.commands))
        if verdict["wrong"]:
            self.report.violated += 1
            self.report.violations.append(f"without a cut: {verdict['wrong']}")
        return self.report

    def _before_turn(self) -> None:
        run = self.run
        self.waits = self.waits or bool(run.told and run.told[-1][0] == run.steps)
        if self.waits:
            self._cut(ARRIVED if run.arrived else ON_ITS_WAY)

    def _after_turn(self) -> None:
        if self.waits and self.run.arrived:
            self.waits = False
            self._cut(READ)
        if self.run.steps in self.before:
            self._cut(UNASKED)

    def _cut(self, moment: str) -> None:
        if self.kind or moment == self.moment == ON_ITS_WAY:
            return  # one cut is enough while the bytes travel
        self.moment = moment
        for kind in self.kinds:
            answer = self._fork(kind)
            if answer is None:
                raise _CutError
            self.report.cuts += 1
            self.report.disputed += answer["disputed"]
            if answer["wrong"]:
                self.report.violated += 1
                if len(self.report.violations) < MAX_SHOWN:
                    self.report.violations.append(answer["wrong"])

    def _fork(self, kind: str) -> dict[str, Any] | None:
        """What became of this cut; None in the child that has to find out."""
        self.parent, answer = split(f"step {self.run.steps}")
        if answer is None:
            self.kind = kind
        return answer

    def _end(self) -> None:
        """In the child: cut, go on, answer. Does not return."""
        run, rig = self.run, self.run.rig
        run.unwatched()
        last = run.told[-1][1] if run.told else "the first event"
        where = f"{run.commands[run.place]} (line {run.commands[run.place].line}), at {rig.now_ms} ms, {self.kind}"
        where += f": the event after {last} is {UNASKED}" if self.moment == UNASKED else f": {last} is {self.moment}"
        hand = Hand(rig)
        doubtful = doubtful_notes(run.commands) + self._may_be_the_credited_one()
        try:
            if self.kind == "device":
                hand.do(cmd.Fault("note_acceptor", "reset", ("now",)))
            else:
                hand.do(cmd.PowerCut())
                recover(hand, self.kind == "mains")
            verdict = _to_the_end(run, hand, run.commands[run.place :], doubtful)
        except BaseException as error:
            verdict = {"wrong": str(error) if isinstance(error, Stuck) else traceback.format_exc(), "disputed": 0}
        if verdict["wrong"]:
            verdict["wrong"] = f"{where}: {verdict['wrong']}"
        tell(self.parent, verdict)

    def _may_be_the_credited_one(self) -> bool:
        """Whether a bill validator on ccTalk is about to restart right after a credit, with a further note that the cabinet has
        not seen: of the note that it then gives back nothing tells which of the two it is (hal/README.md)."""
        rig = self.run.rig
        credited = [event["t"] for event in rig.events if event["e"] == "note"]
        fresh = bool(credited) and rig.now_ms - credited[-1] < FRESH_MS
        return self.kind == "device" and self.moment == UNASKED and rig.world.note_line == "cctalk" and fresh


def _to_the_end(run: _Run, hand: Hand, rest: Sequence[Command], doubtful: int) -> dict[str, Any]:
    try:
        go_on(hand, rest)
        settle(hand)
    except Stuck as stuck:
        return {"wrong": str(stuck), "disputed": 0}
    books, wrong = judge(run.rig, run.shown, True, doubtful=doubtful)
    acceptor = run.rig.world.note_acceptor
    if len(acceptor.stacked) + len(acceptor.returned) != len(acceptor.notes):
        wrong.append(f"{len(acceptor.notes)} notes, {acceptor.stacked} are stacked, {acceptor.returned} returned")
    return {"wrong": "; ".join(wrong), "disputed": int(bool(books["notes_disputed"]))}


def run(commands: Sequence[Command], packs: Mapping[str, bytes], kinds: Iterable[str] = KINDS) -> EventCutReport:
    """Errors: RigError when the script does not run without a cut."""
    return _Explorer(commands, packs, kinds).explore()


def has_notes(script: Script) -> bool:
    return any(isinstance(command, cmd.Note) for command in script.commands)


_packs: Mapping[str, bytes] = {}


def _begin(packs: Mapping[str, bytes]) -> None:
    global _packs
    _packs = packs


def _task(script: Script, kinds: Sequence[str]) -> EventCutReport:
    try:
        return run(script.commands, _packs, kinds)
    except Exception as error:
        return EventCutReport(violated=1, violations=[f"the script does not run without a cut: {error}"])


def run_all(
    scripts: Iterable[Script],
    packs: Mapping[str, bytes],
    *,
    kinds: Sequence[str] = KINDS,
    jobs: int = 2,
    progress: Callable[[int, int], None] = lambda done, tasks: None,
) -> tuple[EventCutReport, dict[str, EventCutReport]]:
    """The total of all scripts with a note in them, and the reports by script."""
    chosen = sorted(filter(has_notes, scripts), key=lambda script: script.name)
    total, by_script = EventCutReport(), {}
    with ProcessPoolExecutor(jobs, get_context("fork"), _begin, (packs,)) as pool:
        running = [(script.name, pool.submit(_task, script, kinds)) for script in chosen]
        for done, (name, future) in enumerate(running, 1):
            report = by_script[name] = future.result()
            report.violations = [f"{name}: {text}" for text in report.violations]
            total.merge(report)
            progress(done, len(running))
    return total, by_script


def as_dict(report: EventCutReport) -> dict[str, int]:
    """The figures of a report."""
    found = {name: value for name, value in vars(report).items() if name not in ("violated", "violations")}
    return {**found, "violations": report.violated}

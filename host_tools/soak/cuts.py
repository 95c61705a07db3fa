"""Power cut after every single byte that a script writes to NVRAM, and on the short scripts a second one after every byte that
the recovery from the first writes.

What makes it affordable. As long as neither time passes nor the board sends a byte (a *moment*), the world outside is the same
whichever byte is the last to land, and the board forgets all but its NVRAM. So a cut is decided by what the journal makes of
the memory. At every byte the firmware's own `Journal.open`, and `salvage` where that fails, run on the very memory that this
cut leaves; cuts of one moment from which they come back with the same facts, the same place in the log and the same log in both
banks are one *group*, and what follows - boot, recovery, the rest of the script, its end, the judgement (aftermath.py) - is run
for one of them in a forked child. Their memories may differ in torn bytes behind the end of the log (WATCHED_BYTES). These are
watched in the child: should anything else read one before it is written again, the group is no group, and each of its cuts is
followed to the end by itself (`tainted`).

A second cut falls into every write of recovery, those of `Journal.open` included, for each member of the group: the memory of
each is kept, as its torn bytes differ.
"""

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from firmware.store.journal import AREAS, BANKS, CONTROL_BYTES, SNAPSHOT, Journal, JournalCorrupt, JournalWriteError
from hal.boards.host import NVRAM_BYTES
from host_tools.hil import script_commands as cmd
from host_tools.hil.host_session import PowerCut, RigNvram
from host_tools.hil.rig import Rig
from host_tools.hil.script_commands import Command
from host_tools.soak.aftermath import (
    BeforeClear,
    Hand,
    Shown,
    Stuck,
    doubtful_notes,
    go_on,
    judge,
    kept,
    recover,
    settle,
)
from host_tools.soak.child import split, tell
from host_tools.soak.cuts_memory import Recording, WatchedNvram, Window, masked
from host_tools.soak.recovery import MAX_SHOWN

WATCHED_BYTES = 256  # behind the end of the log: the longest record that is common in play


@dataclass
class CutReport:
    """`violations` tell the first MAX_SHOWN of `violated`: what was wrong, and a script that repeats it."""

    cuts: int = 0
    double_cuts: int = 0
    endings: int = 0  # recoveries that were followed to the script's end
    tainted: int = 0  # groups that had to be followed cut by cut
    violated: int = 0  # cuts and double cuts in whose group something was wrong
    violations: list[str] = field(default_factory=list)
    disputed: int = 0  # endings in which a coin was kept as disputed
    compactions: int = 0  # 1 when the journal moved to its other area in the uncut run
    states: dict[str, int] = field(default_factory=dict)  # where recovery ended, in cuts and double cuts

    def merge(self, other: "CutReport | Mapping[str, Any]") -> None:
        found = vars(other) if isinstance(other, CutReport) else other
        for name in ("cuts", "double_cuts", "endings", "tainted", "violated", "disputed", "compactions"):
            setattr(self, name, getattr(self, name) + found[name])
        for state, number in found["states"].items():
            self.states[state] = self.states.get(state, 0) + number
        self.violations = (self.violations + list(found["violations"]))[:MAX_SHOWN]


class _Stroke(NamedTuple):
    """One write that a cut can fall into: the memory before it, and how many bytes had been written until then."""

    image: bytearray
    offset: int
    data: bytes
    written: int

    def after(self, landed: int) -> bytearray:
        """The memory when `landed` bytes of it are there."""
        image = bytearray(self.image)
        image[self.offset : self.offset + landed] = self.data[:landed]
        return image


class _Group:
    """Cuts that the journal makes the same of. `members`: (place in the list of strokes, bytes of it that landed)."""

    def __init__(self, facts: Any, after: bytes, first: tuple[int, int], torn: list[Window]) -> None:
        self.facts = facts
        self.torn = torn  # where the members' memories may differ
        self.rest = masked(after, torn)
        self.members = [first]
        self.answer: dict[str, Any] | None = None


class _EnoughError(BaseException):
    """A violation was found and more were not asked for. No Exception, so that no handler of the firmware can catch it."""


class _Explorer:
    """One script with one kind of cut. In a forked child `depth` is the number of cuts that have struck."""

    def __init__(
        self, commands: Sequence[Command], packs: Mapping[str, bytes], mains: bool, double: bool, every: int, size: int
    ) -> None:
        self.commands = commands
        self.skipped = 0  # commands at the beginning whose writes are not cut
        self.until_violation = False
        self.mains = mains
        self.every = every
        self.deepest = 2 if double else 1
        self.report = CutReport()
        self.shown = Shown()
        self.rig = Rig(packs, self.shown.hear, nvram_bytes=size)
        self.memory = WatchedNvram(size)
        self.rig.session.nvram = self.memory  # pyright: ignore[reportAttributeAccessIssue]
        self.memory.on_write = self._before_write
        self.depth = 0
        self.place = 0  # of the command under way
        self.began = 0  # bytes written before it
        # What the memory may hold now. The first is the memory itself, the others are brought up to date by hand.
        self.images: list[bytearray] = [self.memory.memory]
        self.windows: list[Window] = []  # where they differ
        self.landed: list[int] = []  # bytes from `began`, then from power on, to each cut so far
        self.found: _Group | None = None
        self.hand = Hand(self.rig)  # of an uncut run
        self.opening = False
        self.listening = True  # writes are cut
        self.parent = -1  # to be told, in a child
        self.sent = 0  # writes to serial ports
        self.moment: tuple[int, int, int] = (-1, 0, 0)
        self.followed: list[_Group] = []  # groups of this moment whose answer is known
        for line in self.rig.world.lines.values():
            self._count_writes(line)
        text = " ".join(str(command) for command in commands)
        self.before = BeforeClear(self.shown) if "ramclear" in text else None
        self.doubtful = doubtful_notes(commands)
        self.fair = "extra_coin" not in text and "runaway" not in text

    def _count_writes(self, line: Any) -> None:
        whole_send = line.board_sends

        def board_sends(data: bytes) -> None:
            self.sent += 1
            whole_send(data)

        line.board_sends = board_sends

    # --- the script --------------------------------------------------------------------------------------------------

    def run(self, progress: Callable[[CutReport], None]) -> CutReport:
        self.progress = progress
        whole_open = Journal.open

        def watched_open(self_: Journal) -> bool:
            return self._open(self_, whole_open)

        def watched_salvage(self_: Journal) -> bool:
            """What it reads of torn bytes is in the facts."""
            torn, self.memory.torn = self.memory.torn, []
            try:
                return self.whole_salvage(self_)
            finally:
                self.memory.torn = torn

        self.whole_open, self.whole_salvage = whole_open, Journal.salvage
        Journal.open = watched_open  # pyright: ignore[reportAttributeAccessIssue]
        Journal.salvage = watched_salvage  # pyright: ignore[reportAttributeAccessIssue]
        try:
            for place, command in enumerate(self.commands):
                self.place = place
                self.began = self.memory.written
                if self.before:
                    self.before.look(self.rig)
                self.rig.run([command])
            self.memory.on_write = None
            self._judge_uncut()
        except _EnoughError:
            pass
        finally:
            Journal.open, Journal.salvage = whole_open, self.whole_salvage
        size = (self.memory.size - CONTROL_BYTES) // (BANKS * AREAS)
        marks = sum(self.memory.memory[area * size] == SNAPSHOT for area in range(AREAS))
        self.report.compactions = max(0, marks - 1)
        return self.report

    def _take(self, answer: Any, cuts: int) -> None:
        report = self.report
        report.merge(answer["report"])
        report.disputed += answer["disputed"]
        report.states[answer["state"]] = report.states.get(answer["state"], 0) + cuts
        if answer["wrong"]:
            report.violated += cuts
            if len(report.violations) < MAX_SHOWN:
                report.violations.append(answer["wrong"] + "\n" + answer["script"])
        if report.violated and self.until_violation and not self.depth:
            raise _EnoughError

    def _judge_uncut(self) -> None:
        """The script must end well without a cut, or it proves nothing."""
        verdict = self._to_the_end([])
        if verdict["wrong"]:
            self.report.violated += 1
            self.report.violations.append("without a cut: " + "; ".join(verdict["wrong"]))

    # --- every byte --------------------------------------------------------------------------------------------------

    def _before_write(self, offset: int, data: bytes) -> None:
        if self.place < self.skipped or not self.listening or self.opening or not self._cuts_again():
            return
        written = self.memory.written
        self._cut_everywhere([_Stroke(image, offset, bytes(data), written) for image in self.images])
        for image in self.images[1:]:
            image[offset : offset + len(data)] = data
        self.progress(self.report)

    def _cuts_again(self) -> bool:
        """Whether writes are cut now. While a cabinet is brought up for the first time only boot.rig is cut twice."""
        bringing_up = self.place == 0 and isinstance(self.commands[0], cmd.Power)
        return self.depth < (1 if bringing_up else self.deepest)

    def _cut_everywhere(self, strokes: Sequence[_Stroke]) -> None:
        """Every cut of one write, for each memory that there may be before it."""
        windows = sorted({*self.windows, *((each.offset, each.offset + len(each.data)) for each in strokes)})
        groups: list[_Group] = []
        known: dict[tuple[bytes, ...], _Group] = {}  # a second cut often leaves the same memory as another
        differ = [*windows, *(self.found.torn if self.found else ())]  # where the memories are not all alike
        for number, (image, offset, data, written) in enumerate(strokes):
            before = bytes(image[offset : offset + len(data)])
            for landed in range(1, len(data) + 1):
                image[offset + landed - 1] = data[landed - 1]
                if (written + landed - 1) % self.every:
                    continue
                content = tuple(bytes(image[start:end]) for start, end in differ)
                group = known.get(content)
                if group is None:
                    known[content] = self._sort_in(groups, bytes(image), (number, landed), windows)
                else:
                    group.members.append((number, landed))
            image[offset : offset + len(data)] = before
        for group in groups:
            self._follow(group, strokes)

    def _sort_in(
        self, groups: list[_Group], content: bytes, member: tuple[int, int], windows: Sequence[Window]
    ) -> _Group:
        facts, after = self._opened(content)
        torn = self._behind_the_log(facts) if isinstance(facts[1], dict) else list(windows)
        for group in groups:
            if group.facts == facts and group.torn == torn and group.rest == masked(after, torn):
                group.members.append(member)
                return group
        groups.append(_Group(facts, after, member, torn))
        return groups[-1]

    def _behind_the_log(self, facts: Any) -> list[Window]:
        size = (self.memory.size - CONTROL_BYTES) // (BANKS * AREAS)
        found = []
        for bank in range(BANKS):
            start = (bank * AREAS + facts[1]["_area"]) * size
            end = start + facts[1]["_end"]
            found.append((end, min(end + WATCHED_BYTES, start + size)))
        return found

    def _opened(self, content: bytes) -> tuple[Any, bytes]:
        """What the firmware's journal makes of a memory: everything it knows afterwards, and the memory."""
        probe = RigNvram(len(content))
        probe.memory[:] = content
        journal = Journal(probe)

        def known() -> dict[str, Any]:
            values = [journal.get(key) for key in range(len(journal._values))]
            return {name: value for name, value in vars(journal).items() if name != "_nvram"} | {"_values": values}

        try:
            formatted = self.whole_open(journal)
        except (JournalCorrupt, JournalWriteError) as error:
            saved = self.whole_salvage(journal)
            return (type(error).__name__, str(error), saved, known()), bytes(probe.memory)
        return (formatted, known()), bytes(probe.memory)

    def _follow(self, group: _Group, strokes: Sequence[_Stroke]) -> None:
        """One of the group to its end; all of them, each alone, when a torn byte was looked at."""
        if self.depth:
            self.report.double_cuts += len(group.members)
        else:
            self.report.cuts += len(group.members)
        moment = (self.rig.now_ms, self.sent, self.depth)
        if moment != self.moment:
            self.moment, self.followed = moment, []
        for earlier in self.followed:
            if earlier.facts == group.facts and earlier.torn == group.torn and earlier.rest == group.rest:
                self._take(earlier.answer, len(group.members))
                return
        answer = self._fork(group, group.members, group.torn, strokes)
        self.report.endings += 1
        if answer["tainted"] and (len(group.members) > 1):
            self.report.tainted += 1
            for member in group.members:
                self._take(self._fork(group, [member], [], strokes), 1)
                self.report.endings += 1
            return
        self._take(answer, len(group.members))
        if not answer["tainted"] and self.depth + 1 >= self.deepest:  # the members' second cuts differ
            group.answer = {**answer, "report": vars(CutReport()), "disputed": 0}
            self.followed.append(group)

    # --- one cut -----------------------------------------------------------------------------------------------------

    def _fork(
        self, group: _Group, members: Sequence[tuple[int, int]], torn: list[Window], strokes: Sequence[_Stroke]
    ) -> dict[str, Any]:
        stroke, landed = strokes[members[0][0]], members[0][1]
        parent, answer = split(f"byte {stroke.written + landed} of the script")
        if answer is not None:
            return answer
        if self.parent >= 0:
            os.close(self.parent)
        self.parent = parent
        self.depth += 1
        self.report = CutReport()
        self.progress = lambda report: None
        self.found = group
        left = [strokes[number].after(landed) for number, landed in members]
        self.memory.memory[:] = left[0]
        self.images = [self.memory.memory, *(left[1:] if self._cuts_again() else [])]
        self.windows = sorted({*self.windows, *((each.offset, each.offset + len(each.data)) for each in strokes)})
        self.moment = (-1, 0, 0)
        self.memory.torn = []
        self.memory.tainted = False
        self._torn = list(torn)
        self.landed.append(stroke.written + landed - self.began)
        self.began = stroke.written + landed
        self.memory.written = self.began
        self.rig.on_power_cut = self._struck
        raise PowerCut

    def _struck(self) -> None:
        """The board is dead: start again, go on, end, answer. Does not return."""
        self.rig.on_power_cut = None
        self.listening = True
        if self.depth == 1:
            self.hand = Hand(self.rig, self.before)
        else:
            self.hand.commands()
        try:
            verdict = self._to_the_end(self.commands[self.place :])
        except BaseException:
            verdict = {"wrong": [traceback.format_exc()], "state": "?", "disputed": 0}
        answer = {
            "wrong": "; ".join(verdict["wrong"]),
            "state": verdict["state"],
            "disputed": verdict["disputed"],
            "tainted": self.memory.tainted,
            "script": self._script() if verdict["wrong"] else "",
            "report": vars(self.report),
        }
        tell(self.parent, answer)

    def _to_the_end(self, rest: Sequence[Command]) -> dict[str, Any]:
        rig, wrong, books, state = self.rig, [], {}, self.rig.state
        try:
            if self.depth:
                self.opening = True  # until Journal.open has been through
                recover(self.hand, self.mains)
                self.listening = False  # what comes now is no recovery any more
                state = rig.state
                if self.found and isinstance(self.found.facts[1], dict):
                    wrong += kept(rig, self.found.facts[1]["_values"])
            go_on(self.hand, rest)
            settle(self.hand)
            books, more = judge(rig, self.shown, self.fair, self.doubtful, self.before)
            wrong += more
        except (Stuck, Exception) as error:
            wrong.append(str(error) if isinstance(error, Stuck) else traceback.format_exc())
        return {"wrong": wrong, "state": state, "disputed": int(bool(books.get("coins_disputed")))}

    # --- recovery's own writes ---------------------------------------------------------------------------------------

    def _open(self, journal: Journal, whole_open: Callable[[Journal], bool]) -> bool:
        """`Journal.open` of the running firmware. After a cut its writes are cut for each memory by itself."""
        if not (self.depth and self.opening):
            return whole_open(journal)
        if self._cuts_again():
            self._cut_in_open()
        try:
            return whole_open(journal)
        finally:
            self.opening = False
            self.memory.torn = self._torn

    def _cut_in_open(self) -> None:
        strokes = []
        for number, image in enumerate(self.images):
            probe = Recording(image)
            try:
                self.whole_open(Journal(probe))
            except (JournalCorrupt, JournalWriteError):
                continue
            before, written = bytearray(image), self.memory.written
            for offset, data in probe.writes:
                strokes.append(_Stroke(bytearray(before), offset, data, written))
                before[offset : offset + len(data)] = data
                written += len(data)
            if number:
                image[:] = before
        self.opening = False
        self._cut_everywhere(strokes)
        self.opening = True

    def _script(self) -> str:
        """A rig script that does what this child has done."""
        before = [str(command) for command in self.commands[: self.place]]
        again = [*map(str, self.hand.commands())]
        ons = [number for number, line in enumerate(again) if line == "power on"]
        if len(self.landed) > 1 and ons:
            again.insert(ons[0], f"power cut after {self.landed[1]} writes")
        return "\n".join([*before, f"power cut after {self.landed[0]} writes", str(self.commands[self.place]), *again])


def run(
    commands: Sequence[Command],
    packs: Mapping[str, bytes],
    *,
    mains: bool = False,
    double: bool = False,
    every: int = 1,
    skipped: int = 0,
    until_violation: bool = False,
    nvram_bytes: int = NVRAM_BYTES,
    progress: Callable[[CutReport], None] = lambda report: None,
) -> CutReport:
    """Cuts the power after each `every`-th byte written by the script. `mains`: the devices lose theirs too. `double`: a
    second cut after each byte that recovery writes. `skipped`: commands at the beginning that are not cut.

    Errors: RigError when the script does not run without a cut.
    """
    explorer = _Explorer(commands, packs, mains, double, every, nvram_bytes)
    explorer.skipped, explorer.until_violation = skipped, until_violation
    return explorer.run(progress)

"""From a long script that fails to a short one that fails in the same way.

First the past is left out: a cabinet that has just been switched on, with some credit, lives only what came after one of the
last settlements. Then delta debugging: a piece of the script is left out, and stays out when what is left still fails in the
same way; the pieces become smaller until no single command can be left out (ddmin of Zeller and Hildebrandt, complements only).

Much of what fails hangs on milliseconds: where in its round of questions the firmware is when something breaks. Leaving
commands out shifts that, so each candidate is tried with some pauses in front.
"""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Final

from host_tools.hil import script_commands as cmd
from host_tools.hil.host_session import BoardFailed
from host_tools.hil.rig import Rig, RigError
from host_tools.hil.script_commands import Command

SECONDS: Final = 120.0
CHECK: Final = cmd.Expect("books", "==", "ok")
BEGINNING: Final = 4  # what a life begins with: acceptor, seed, power, the speed of the reels
STUCK: Final = "the state is"  # how `wait until` fails
PAUSES_MS: Final = (0, 35, 85, 140, 210, 290, 395, 515)
_SETTLED: Final = cmd.Expect("settled", "==", "ok")
_CREDIT: Final = (cmd.Coin(200),) * 3

Script = tuple[Command, ...]


def likeness(failure: str) -> str:
    """What two failures of one kind have in common: the text up to the first comma, without figures."""
    return re.sub(r"\d+", "#", failure.split(",")[0])


def first_failure(packs: Mapping[str, bytes], commands: Sequence[Command]) -> tuple[str, int]:
    """What goes wrong when the script runs ("" nothing), and how many commands it took."""
    rig = Rig(packs)
    auditor = rig.audit()
    number = 0
    try:
        for number, command in enumerate(commands, 1):
            rig.do(command)
            if auditor.violations:
                return auditor.violations[0], number
    except (RigError, BoardFailed, ValueError) as error:
        return auditor.violations[0] if auditor.violations else str(error), number
    finally:
        rig.close()
    return "", number


def _repairs(command: Command) -> bool:
    mends = (cmd.Clear, cmd.Key, cmd.Power, cmd.WaitUntil)
    return isinstance(command, mends) or (isinstance(command, cmd.Door) and not command.opened)


class _Search:
    def __init__(self, packs: Mapping[str, bytes], failure: str, seconds: float) -> None:
        self._packs = packs
        self._wanted = likeness(failure)
        self._end = time.process_time() + seconds
        self._stuck = failure.startswith(STUCK)
        self.head: Script = ()

    @property
    def over(self) -> bool:
        return time.process_time() >= self._end

    def without(self, script: Script, place: int, length: int) -> Script:
        """Leaves commands out, but not acceptor and seed, without which nothing repeats. Where a cabinet does not come to rest
        all repairs stay, too: without them no sound one would."""
        kept = tuple(
            command
            for command in script[place : place + length]
            if isinstance(command, (cmd.Entropy, cmd.Fit)) or (self._stuck and _repairs(command))
        )
        return script[:place] + kept + script[place + length :]

    def failing(self, tail: Script) -> Script:
        """`tail` as far as it takes to fail as wanted behind the head, with a pause in front that it needs; () if it does not."""
        for pause_ms in PAUSES_MS if self.head else (0,):
            pause = (cmd.Wait(pause_ms),) if pause_ms else ()
            found, number = first_failure(self._packs, (*self.head, *pause, *tail))
            if found and likeness(found) == self._wanted and number > len(self.head):
                return (*pause, *tail)[: number - len(self.head)]
            if self.over:
                break
        return ()


def shrink(packs: Mapping[str, bytes], commands: Sequence[Command], failure: str, seconds: float = SECONDS) -> Script:
    """The shortest script found within `seconds` of computing that fails as `failure` does; it ends with `expect books == ok`."""
    search = _Search(packs, failure, seconds)
    left = _forget_the_past(search, tuple(commands))
    piece = (len(left) + 1) // 2
    while piece and not search.over:
        place, shortened = 0, False
        while place < len(left) and not search.over:
            found = search.failing(search.without(left, place, piece))
            if found and len(found) < len(left):
                left, shortened = found, True
            else:
                place += piece
        if piece == 1 and not shortened:
            break
        piece = max(1, piece // 2)
    return (*search.head, *left, CHECK)


def _forget_the_past(search: _Search, commands: Script) -> Script:
    """The end of the script that fails behind a short beginning, or all of it when none does."""
    begun = next((place for place, command in enumerate(commands) if isinstance(command, cmd.Coin)), 0)
    marks = [place + 1 for place, command in enumerate(commands) if command == _SETTLED and place + 1 < len(commands)]
    games = [command for command in commands if isinstance(command, cmd.Game)]
    for mark in reversed(marks[-4:]):
        search.head = (*commands[:begun][:BEGINNING], *games[:1], *_CREDIT)
        found = search.failing(commands[mark:])
        if found:
            return found
    search.head = ()
    return search.failing(commands) or commands

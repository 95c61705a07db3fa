"""The board killed at random moments of updates: two applications that take turns, uploaded, tried, confirmed, left again.

`tests/firmware/test_update_slots.py` cuts behind every byte that slots and record get; this kills the whole cabinet, the emulator
with SIGKILL, while the flasher works over its console line: in an upload, while the whole is judged, in the loader, in the
first turns of a trial. What starts then must be the application that was confirmed last or, once, the one that was to be tried,
and must find the money as it was.
"""

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from firmware.update.slots import Slots
from host_tools.flash import programmer
from host_tools.flash.failure import FlashError
from host_tools.flash.flashing import Cabinet, NewImage
from host_tools.flash.images import DEVELOPMENT_KEY, build_image
from host_tools.flash.rig_wire import RigWire
from host_tools.flash.uploading import Transfer
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse
from host_tools.soak.recovery import MAX_SHOWN, recover

BOARDS: Final = ("host", "mps2")  # that have slots
VERSIONS: Final = ("1.0.0", "2.0.0")
SOON_MS: Final = 4000  # from the beginning of a step until the kill
NEAR_BYTES: Final = 8_000  # before the end of an upload: what comes then is worth more kills than its middle
JUDGED_MS: Final = 15_000  # from there until a slow board has judged the whole, and somewhat more
AGAIN: Final = 0.2  # of the starts after a kill are killed, too
MONEY: Final = parse("coin 100\nwait 1s\npress cash_out\nwait until idle within 1m")


@dataclass
class UpdateKillReport:
    """`steps`: what was under way when the board was killed. `started`: versions that ran after it."""

    kills: int = 0
    steps: dict[str, int] = field(default_factory=dict)
    started: dict[str, int] = field(default_factory=dict)
    confirmed: int = 0
    left: int = 0  # trials after which the application before ran again
    uploads: int = 0  # that were finished
    resumed: int = 0  # uploads that went on behind what was there
    violated: int = 0
    violations: list[str] = field(default_factory=list)


class _KilledError(BaseException):
    """The moment has come. No Exception: nothing on the way may catch it."""


class _Updates:
    def __init__(self, rig: Rig, board: str, packs: Mapping[str, bytes], dice: random.Random) -> None:
        self.rig, self.board, self.dice = rig, board, dice
        self.report = UpdateKillReport()
        self.applications = {}
        for version in VERSIONS:
            new = NewImage.of(build_image(DEVELOPMENT_KEY, board, packs, version, 1))
            self.applications[new.hash] = new
        self.kept = b""  # hash of the application that was confirmed last
        self.maybe = b""  # of one that may start all the same: to be tried, or ordered to stay and nothing has answered
        self.step = ""
        self.trial = False
        self.kill_ms: int | None = None
        self._near_bytes = 0
        self._whole_step = rig.step
        rig.step = self._step  # pyright: ignore[reportAttributeAccessIssue]

    def _step(self, *ms: int) -> None:
        if self.kill_ms is not None and self.rig.now_ms >= self.kill_ms:
            raise _KilledError
        self._whole_step(*ms)

    def _slots(self) -> Slots:
        return Slots(self.rig.session.slots, self.board)  # pyright: ignore[reportAttributeAccessIssue]

    def _running(self) -> bytes:
        slots = self._slots()
        found = slots.image(slots.running) if slots.running >= 0 else None
        return found.hash if found else b""

    # --- the first applications, by a programmer ---------------------------------------------------------------------

    def begin(self) -> None:
        """The first version runs and is confirmed, the second is in its slot, and some money has gone through the cabinet."""
        rig = self.rig
        rig.run(parse("power on"))
        rig.run(MONEY)
        slots = self._slots()
        why = ""
        for slot, new in enumerate(self.applications.values()):
            why = why or programmer.write(slots, slot, new.data)
        why = why or slots.test(next(iter(self.applications)))
        if why:
            raise FlashError(1, f"the first application is not taken: {why}", "")
        rig.cut_power()
        rig.power_on()
        flasher = self._flasher()
        flasher.identify()
        flasher.confirm()
        flasher.close()
        self.kept = self._running()

    def _flasher(self) -> Cabinet:
        return Cabinet(lambda: RigWire(self.rig), on_progress=self._sent)

    # --- one life ----------------------------------------------------------------------------------------------------

    def live(self) -> None:
        """Updates until the kill. Errors: FlashError when the cabinet refuses what it has to do."""
        dice = self.dice
        self.step = "question"
        self._soon()
        cabinet = self._flasher()
        try:
            cabinet.identify()
            while True:
                self._go_on(cabinet, {bytes(state.hash or b""): state for state in cabinet.images()})
                if self.kill_ms is None:
                    self._soon()
        except _KilledError:
            pass
        finally:
            self.kill_ms = None
            cabinet.close()
        self.report.steps[self.step] = self.report.steps.get(self.step, 0) + 1
        self.rig.cut_power()
        self.rig.run_for(dice.randrange(0, 400, 5))

    def _soon(self, within_ms: int = SOON_MS) -> None:
        self.kill_ms = self.rig.now_ms + self.dice.randrange(within_ms)

    def _go_on(self, cabinet: Cabinet, listed: dict[bytes, Any]) -> None:
        """The next step of what an update is made of."""
        dice, running = self.dice, self._running()
        other = next(hash_ for hash_ in self.applications if hash_ != running)
        if running != self.kept:
            if dice.random() < 0.3:
                self.step, self.trial = "trial", True  # nobody looks at it
                self.rig.run_for(SOON_MS)
                return
            self.step, self.maybe = "confirm", running
            cabinet.confirm()
            self.kept, self.maybe = running, b""
            self.report.confirmed += 1
        elif other not in listed:
            self.step = "upload"
            self._upload(cabinet, self.applications[other])
        elif listed[other].confirmed and dice.random() < 0.4:
            self.step, self.maybe = "back", other
            cabinet.go_back_to(other)
            self.kept, self.maybe = other, b""
            self._restart(cabinet)
        elif dice.random() < 0.3:
            self.step = "erase"
            cabinet.erase(listed[other].slot)
        else:
            self.step, self.maybe = "test", other
            cabinet.test(other)
            self._restart(cabinet)

    def _restart(self, cabinet: Cabinet) -> None:
        """By the flasher: loader and first turns of what is started."""
        self.step = f"restart after {self.step}"
        cabinet.reset()
        wrong = self._started()
        if wrong:
            raise FlashError(1, wrong, "")

    def _upload(self, cabinet: Cabinet, new: NewImage) -> None:
        if self.dice.random() < 0.6:
            self.kill_ms, self._near_bytes = None, len(new.data) - self.dice.randrange(NEAR_BYTES)
        done = cabinet.upload(new)
        self.report.uploads += 1
        self.report.resumed += done.began_at > 0

    def _sent(self, transfer: Transfer) -> None:
        if self.kill_ms is None and transfer.offset >= self._near_bytes:
            self._soon(JUDGED_MS)

    # --- after a kill ------------------------------------------------------------------------------------------------

    def start_again(self) -> list[str]:
        """What is wrong after the next start that is not killed itself."""
        while self.dice.random() < AGAIN:
            self.kill_ms = self.rig.now_ms + self.dice.randrange(SOON_MS)
            with suppress(_KilledError):
                recover(self.rig)
                self.rig.run_for(SOON_MS)
            self.kill_ms = None
            self.rig.cut_power()
        books, wrong = recover(self.rig)
        running = self._running()
        if running not in (self.kept, self.maybe):
            name = (
                self.applications[running].version if running in self.applications else running.hex() or "the factory's"
            )
            wrong.append(f"version {name} runs, which was neither confirmed nor to be tried")
        else:
            self.report.left += self.trial and running == self.kept
            self.trial = False
            name = self.applications[running].version
            self.report.started[name] = self.report.started.get(name, 0) + 1
            wrong += filter(None, [self._started()])
        if books and books["credit"]:
            wrong.append(f"credit {books['credit']}, and nobody has any")
        return wrong

    def _started(self) -> str:
        """What may start next, now that one has; what is wrong with it."""
        slots = self._slots()
        preferred = slots.image(slots.state.preferred)
        maybe, self.maybe = self.maybe, b""
        if preferred is None or preferred.hash not in (self.kept, maybe):
            return f"slot {slots.state.preferred} is preferred, which was not confirmed"
        self.kept = preferred.hash  # an order that nothing answered may have arrived
        return ""


def run(
    packs: Mapping[str, bytes],
    kills: int,
    seed: int,
    board: str,
    progress: Callable[[UpdateKillReport], None] = lambda so_far: None,
) -> UpdateKillReport:
    """Kills the board `kills` times. Errors: RigError, BoardsError, BoardFailed, FlashError: it cannot even begin."""
    rig = Rig(packs, board=board)
    try:
        rig.world.entropy.seed(seed)
        updates = _Updates(rig, board, packs, random.Random(seed))
        report = updates.report
        updates.begin()
        before = _money(rig)
        for number in range(kills):
            wrong = []
            try:
                updates.live()
                wrong = updates.start_again()
            except FlashError as refused:
                wrong = [f"{updates.step}: {refused}"]
                rig.cut_power()
                updates.start_again()
            if _money(rig) != before:
                wrong.append(f"money was {before}, is {_money(rig)}")
            if number % 10 == 9:
                rig.run(MONEY)
            before = _money(rig)
            report.kills += 1
            if wrong:
                report.violated += 1
                if len(report.violations) < MAX_SHOWN:
                    report.violations.append(f"kill {number + 1} in {updates.step}: {'; '.join(wrong)}")
            progress(report)
        return report
    finally:
        rig.close()


def _money(rig: Rig) -> dict[str, Any]:
    books = rig.query()
    return {name: books[name] for name in ("coins_in", "hopper_out", "credit", "audit")}

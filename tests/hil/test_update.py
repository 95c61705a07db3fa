"""An application out of a slot runs the cabinet: updated, tested, confirmed, reverted, refused, with its money untouched."""

import functools

import pytest

from firmware.update.slots import STATE_BYTES, Slots
from host_tools.cabinet import games
from host_tools.flash import images, programmer, romfs
from host_tools.hil.host_session import PowerCut
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse

BOARDS = ("host", "mps2")
MONEY = "coin 200\ncoin 100\nwait 1s\npress cash_out\nwait until idle within 1m\ncoin 50\nwait 1s\n"


@functools.cache
def application(board: str, version: str, counter: int = 1, change: str = "") -> bytes:
    """This tree as an application; `change` names what is wrong with it."""
    main = (images.ROOT / "firmware" / "main.py").read_text()
    changed = {
        "": main,
        "is empty": None,
        "crashes": main + "\nraise ValueError('broken')\n",
        "hangs": main.replace("        self.board.feed_watchdog()\n", "        return\n"),
        "dies": main.replace("        self.board.feed_watchdog()\n", "        self.board.no_such_thing()\n"),
    }[change]
    if changed is None:  # signed as it must be, and no application
        empty = romfs.write({"readme": b"no program"})
        return images.sign(empty, images.DEVELOPMENT_KEY, board, {"version": version}, version, counter)
    assert not change or changed != main
    replaced = {"firmware/main.py": changed.encode()}
    return images.build_image(images.DEVELOPMENT_KEY, board, games.packs(), version, counter, replaced)


class Update:
    """A cabinet, its slots, and the hands of a technician with a programmer."""

    def __init__(self, it) -> None:
        self.it, self.rig = it, it.rig
        if it.rig.session.nvram is None:
            pytest.skip("no slots")
        self.board = it.board

    def slots(self) -> Slots:
        return Slots(self.rig.session.slots, self.board)

    def write(self, data: bytes, slot: int) -> str:
        return programmer.write(self.slots(), slot, data)

    def test(self, data: bytes, slot: int) -> str:
        return self.write(data, slot) or self.slots().test(self.slots().image(slot).hash)

    def confirm(self) -> str:
        now = self.slots()
        return now.confirm(now.image(now.running).hash)

    def books(self) -> dict:
        return self.it.books()

    def restart(self) -> None:
        self.it.cut()

    def answer(self, command: str) -> list[str]:
        """What the console says to it."""
        first = len(self.rig.events)
        self.it.tell(f"console {command}\nwait 500ms")
        return [event["text"] for event in list(self.rig.events)[first:] if event["e"] == "console"]

    @property
    def running(self) -> int:
        return self.slots().running


@pytest.fixture
def update(request, story):
    board = request.config.getoption("--board")
    if board not in BOARDS:
        pytest.skip(f"{board} has no slots")

    def begin(script: str = "") -> Update:
        it = story(script)
        it.board = board
        return Update(it)

    return begin


def money(update: Update) -> dict:
    books = update.it.balanced()
    return {name: books[name] for name in ("coins_in", "hopper_out", "credit", "audit")}


def test_update_confirmed(update):
    """The factory's application, then version 1, then version 2: each takes over the money of the one before."""
    it = update(MONEY)
    before = money(it)
    assert it.running == -1
    one, two = application(it.board, "1.0.0"), application(it.board, "2.0.0", 2)
    assert it.test(one, 0) == ""
    it.restart()
    assert it.running == 0
    assert money(it) == before
    assert it.confirm() == ""
    it.restart()
    assert it.running == 0
    assert it.test(two, 1) == ""
    it.restart()
    assert it.running == 1
    assert money(it) == before
    it.it.tell("coin 200\nwait 1s")
    assert it.confirm() == ""
    it.restart()
    assert it.running == 1
    assert money(it) == {**before, "coins_in": before["coins_in"] + 200, "credit": before["credit"] + 200}


@pytest.mark.parametrize("change", ["crashes", "is empty", "hangs", "dies", ""])
def test_trial_that_fails_goes_back(update, change):
    """Crash at import, a loop that does not turn, an exception in it, and one that is just never confirmed."""
    it = update(MONEY)
    before = money(it)
    assert it.test(application(it.board, "1.0.0"), 0) == ""
    it.restart()
    assert it.confirm() == ""
    assert it.test(application(it.board, "2.0.0", 1, change), 1) == ""
    it.it.tell("wait 300ms")
    it.rig.cut_power()
    it.it.tell("wait 300ms")
    it.rig.session.start(it.rig.now_ms)
    if change:  # a board that stands still is waited for by the computer's clock, and a busy computer takes its time
        assert it.rig.run_until(lambda: it.slots().failure(1) != "" and it.running == 0, 120_000)
    else:
        it.rig.run_for(6000)
        assert it.running == 1
        it.restart()
    assert it.running == 0
    assert it.slots().failure(1) == ("it did not confirm itself" if not change else "it hung or crashed")
    it.restart()
    assert it.running == 0
    assert money(it) == before
    told = it.answer("events 40")
    assert sum("new application was left: slot 1, " in line for line in told) == 1, told


def test_no_application_that_may_start_leaves_a_console_and_the_money(update):
    it = update(MONEY)
    before = money(it)
    assert it.test(application(it.board, "1.0.0"), 0) == ""
    it.restart()
    assert it.confirm() == ""
    it.rig.power_off()
    it.rig.session.slots.memory[5000] ^= 4
    journal = bytes(it.rig.session.nvram.memory)
    it.rig.session.start(it.rig.now_ms)
    it.rig.run_for(3000)
    assert it.rig.query()["state"] == "locked"
    assert "no application is started" in it.rig.query()["reason"]
    it.it.tell("turn technician\nopen logic\nwait 1s\nconsole ramclear")
    assert bytes(it.rig.session.nvram.memory) == journal
    it.it.tell("close logic\nunturn technician")
    it.rig.power_off()
    it.rig.session.slots.memory[5000] ^= 4
    it.it.tell("power on")
    assert it.running == 0
    assert money(it) == before


def test_a_technician_says_which_application_counts_when_the_record_is_lost(update):
    it = update(MONEY)
    before = money(it)
    for version, slot in (("1.0.0", 0), ("2.0.0", 1)):
        assert it.test(application(it.board, version), slot) == ""
        it.restart()
        said = it.answer("slots")
        assert f"slot {slot}  version {version}, " in said[slot]
        assert said[slot].endswith(", complete, running")
        assert it.confirm() == ""
        it.restart()
        assert it.answer("slots")[slot].endswith(", confirmed, running")
    assert "record of the slots is sound" in it.answer("slots keep 0")[0]
    it.rig.power_off()
    memory, end = it.rig.session.slots.memory, it.rig.session.slots.size
    memory[end - STATE_BYTES : end] = bytes(STATE_BYTES)
    memory[5000] ^= 4  # slot 0 is damaged as well
    it.it.tell("power on\nwait 3s")
    assert "record is lost" in it.rig.query()["reason"]
    said = it.answer("slots")
    assert [line.split(",")[0] for line in said[:2]] == ["slot 0  version 1.0.0", "slot 1  version 2.0.0"]
    assert "turn the technician key and open the logic door" in it.answer("slots keep 1")[0]
    it.it.tell("turn technician\nopen logic")
    assert "say slots" in it.answer("slots keep 2")[0]
    it.it.tell("console slots keep 0\nwait 20s")
    assert any("slot 0 cannot be kept: its bytes are not" in line for line in it.it.world.console.text)
    assert not it.slots().known
    it.it.tell("console slots keep 1\nwait 20s")
    assert any("slot 1 counts" in line for line in it.it.world.console.text)
    it.it.tell("close logic\nunturn technician")
    it.restart()
    assert it.running == 1
    assert money(it) == before


def test_an_application_starts_on_a_memory_that_is_full(update):
    """What a cabinet has after weeks: all events, all meters. Its heap has to have room for the snapshot in one piece."""
    old = Rig(games.packs())
    old.run(parse("power on\n" + "open cashbox\nclose cashbox\nopen main\nclose main\n" * 40 + MONEY))
    it = update()
    assert it.test(application(it.board, "1.0.0"), 0) == ""
    it.rig.cut_power()
    it.rig.session.nvram.memory[:] = old.session.nvram.memory
    it.it.tell("wait 300ms")
    it.rig.session.start(it.rig.now_ms)
    it.rig.run_for(9000)
    assert it.running == 0
    assert it.slots().failure(0) == ""
    assert it.confirm() == ""
    assert it.rig.query()["coins_in"] == old.query()["coins_in"]
    it.restart()
    assert it.running == 0


def test_what_runs_is_checked_and_told(update):
    """Hashes at the console are those of the file; a bit that flips is found, and stops play (CAB-PRG-01)."""
    it = update()
    data = application(it.board, "1.2.3")
    assert it.test(data, 0) == ""
    it.restart()
    assert it.confirm() == ""
    about = images.inspect(data)
    said = "\n".join(it.answer("verify"))
    for digest in (about["hash"], about["manifest"]["firmware"], *about["manifest"]["packs"].values()):
        assert digest in said
    assert "slot 0, version 1.2.3" in said
    assert "not yet" in said
    it.it.tell("wait 5m")  # a board at 25 MHz takes three minutes for application and resident image
    assert "good" in "\n".join(it.answer("verify"))
    log = it.answer("programs")
    assert f"     to   {about['hash']}" in log
    assert any("version 1.2.3" in line for line in log)
    place = data.index(games.pack("dog_diner")) + 1000  # where this story does not look
    it.rig.session.slots.memory[place] ^= 1
    it.answer("verify again")
    it.it.tell("wait 5m")  # a board at 25 MHz takes three minutes for application and resident image
    assert "DAMAGED" in "\n".join(it.answer("verify"))
    assert "program" in it.books()["tilt"]
    assert any("what runs is damaged" in line for line in it.answer("events"))


def test_power_cuts_in_slots_leave_money_records_alone(update, request):
    """Cut inside records and slot bytes of an update and a confirm: one of the two applications starts, and the journal of
    before is what it finds. Every byte of it: tests/firmware/test_update_slots.py."""
    if request.config.getoption("--board") != "host":
        pytest.skip("only the host's rig cuts the power in the slots' memory behind any byte")
    it = update(MONEY)
    one, two = application("host", "1.0.0"), application("host", "2.0.0")
    assert it.test(one, 0) == ""
    it.restart()
    assert it.confirm() == ""
    before = money(it)

    def cut(place: int, step) -> None:
        it.rig.power_off()
        journal = bytes(it.rig.session.nvram.memory)
        it.rig.session.slots.cut_after = place
        with pytest.raises(PowerCut):
            step()
        assert bytes(it.rig.session.nvram.memory) == journal
        it.it.tell("power on")
        assert it.running == 0
        assert money(it) == before

    for place in (1, 30, 57, 5000, 300_000):
        cut(place, lambda: it.test(two, 1))
    for place in (1, 28, 55):
        assert it.test(two, 1) == ""
        it.restart()
        assert it.running == 1
        assert money(it) == before
        cut(place, it.confirm)

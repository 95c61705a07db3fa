"""Updates over the console line of a rig, in virtual time: the flasher against the real firmware and slots."""

import hashlib
import random
from collections.abc import Callable, Iterator

import pytest

from firmware.update import smp
from firmware.update.slots import Slots
from host_tools.cabinet import exits, games
from host_tools.flash.failure import FlashError
from host_tools.flash.flashing import Cabinet, NewImage, same_board
from host_tools.flash.link import Unplugged
from host_tools.flash.rig_wire import RigWire
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse
from tests.firmware.update_images import hash_of, image, other_key


def new_image(size: int = 20_000, version: str = "2.0.0", counter: int = 1, board: str = "host", **more) -> NewImage:
    data = image(version, counter, board, size, **more)
    return NewImage(data, hash_of(data), version, board)


class Plug(RigWire):
    """A plug that comes out when so many bytes have gone through it, and goes in again some time later."""

    def __init__(self, rig: Rig, out_after: list[int], out_s: float = 3.0) -> None:
        self._out_after = out_after
        self._out_s = out_s
        self._sent = 0
        super().__init__(rig)

    def send(self, data: bytes) -> None:
        self._sent += len(data)
        if self._out_after and self._sent >= self._out_after[0]:
            self._out_after.pop(0)
            super().send(data[: len(data) // 2])  # it comes out in the middle of a frame
            self.rig.run_for(20)
            raise Unplugged("it was pulled")
        super().send(data)


class Bench:
    """A cabinet that is switched on, and somebody with the flasher."""

    def __init__(self, board: str = "host") -> None:
        self.rig = Rig(games.packs(), board=board)
        self.board = board
        self.texts: list[str] = []
        assert self.rig.session.slots  # pyright: ignore[reportAttributeAccessIssue] - fitted when asked for
        self.tell("entropy seed 7\npower on")

    def tell(self, script: str) -> None:
        self.rig.run(parse(script))

    def cabinet(self, wire: Callable[[], RigWire] | None = None, patience_s: float = 60.0) -> Cabinet:
        return Cabinet(wire or (lambda: RigWire(self.rig)), patience_s, self.texts.append)

    def slots(self) -> Slots:
        return Slots(self.rig.session.slots, self.board)  # pyright: ignore[reportAttributeAccessIssue]

    def in_slot(self, slot: int) -> bytes | None:
        found = self.slots().image(slot)
        return found and found.hash


@pytest.fixture
def bench() -> Iterator[Bench]:
    it = Bench()
    yield it
    it.rig.close()


def test_who_is_there(bench: Bench):
    who = bench.cabinet().identify()
    assert (who.program, who.board) == ("cabinet", "host")
    assert bench.cabinet().images() == []


def test_an_image_over_a_good_line(bench: Bench):
    cabinet, new = bench.cabinet(), new_image()
    cabinet.identify()
    done = cabinet.upload(new)
    assert (done.offset, done.retries, done.restarts) == (len(new.data), 0, 0)
    assert bench.in_slot(0) == new.hash
    (listed,) = cabinet.images()
    assert (listed.slot, listed.version, listed.active) == (0, "2.0.0", None)
    assert bench.rig.world.lines["console"].port.overruns == 0


def test_a_player_goes_on_meanwhile_and_the_console_too(bench: Bench):
    """Watch lines and answers stand between the frames; not one of either is torn."""
    bench.tell("console set quick_spin on")
    plays = []

    def play(transfer) -> None:
        if transfer.pieces % 2 == 0:
            bench.rig.world.console.type("meters")
            bench.rig.run_for(5)  # until it is typed: what comes from here is one sender
            plays.append(transfer.offset)

    cabinet = Cabinet(lambda: RigWire(bench.rig), on_text=bench.texts.append, on_progress=play)
    cabinet.identify()
    new = new_image(60_000)
    done = cabinet.upload(new)
    assert done.retries == 0
    assert bench.in_slot(0) == new.hash
    answers = [line for line in bench.texts if line.startswith("coins_in")]
    assert len(plays) > 5
    assert len(answers) >= len(plays)
    assert len(set(answers)) == 1
    assert not [line for line in bench.texts if "error" in line or "\x06" in line or "\x04" in line]


def test_a_bad_line_unplugged_twice(bench: Bench):
    """Of 1000 bytes 10 are lost and 10 wrong, each way, and the plug is pulled twice: it goes on where it was."""
    new = new_image(2_500)
    plugs = [3_000, 5_000]
    cabinet = bench.cabinet(lambda: Plug(bench.rig, plugs))
    bench.rig.world.lines["console"].fault("noise", 10, 10)
    cabinet.identify()
    done = cabinet.upload(new)
    assert plugs == []
    assert done.replugs == 2
    assert done.retries > 100
    assert bench.in_slot(0) == new.hash
    bench.rig.world.lines["console"].clear()
    bench.rig.run_for(3000)
    assert bench.rig.query()["audit"] == 0  # the console is as it was


def test_a_line_with_some_noise_is_not_much_slower(bench: Bench):
    """One byte of 3000: larger pieces arrive again after each small one."""
    cabinet, new = bench.cabinet(), new_image(40_000)
    cabinet.identify()
    bench.rig.world.lines["console"].fault("noise", 0, 1)
    done = cabinet.upload(new)
    assert bench.in_slot(0) == new.hash
    assert done.rate > 1500


def test_what_is_there_is_not_sent_again_behind_a_power_cut(bench: Bench):
    new = new_image(40_000)
    cabinet = bench.cabinet()
    cabinet.identify()

    class Stop(Exception):
        pass

    def stop(transfer) -> None:
        if transfer.offset > 20_000:
            raise Stop

    breaking = Cabinet(lambda: RigWire(bench.rig), on_progress=stop)
    breaking.identify()
    with pytest.raises(Stop):
        breaking.upload(new)
    bench.rig.cut_power()
    bench.tell("wait 300ms\npower on")
    again = bench.cabinet()
    again.identify()
    done = again.upload(new)
    assert 16_384 <= done.began_at <= 21_000
    assert bench.in_slot(0) == new.hash


def test_damage_that_a_frame_does_not_show_is_found_by_the_hash(bench: Bench):
    new = new_image()
    cabinet = bench.cabinet()
    cabinet.identify()
    damaged_once(bench, 9000)
    done = cabinet.upload(new)
    assert done.restarts == 1
    assert bench.in_slot(0) == new.hash


def damaged_once(bench: Bench, at: int) -> None:
    """The piece with that byte gets through with one bit changed, as if its CRC had not shown it."""
    slots = bench.rig.cabinet.slots  # pyright: ignore[reportOptionalMemberAccess]
    write = slots.write

    def wrong(slot: int, offset: int, data) -> str:
        if not offset <= at < offset + len(data):
            return write(slot, offset, data)
        slots.write = write
        damaged = bytearray(data)
        damaged[at - offset] ^= 1
        return write(slot, offset, damaged)

    slots.write = wrong


@pytest.mark.parametrize("at", [0, 9_000, -1])
def test_on_a_bad_line_damage_costs_no_more_than_the_part_that_it_is_in(bench: Bench, at: int):
    new = new_image()
    cabinet = bench.cabinet()
    bench.rig.world.lines["console"].fault("noise", 0, 1)
    cabinet.identify()
    damaged_once(bench, len(new.data) - 1500 if at < 0 else at)
    done = cabinet.upload(new)
    assert (done.damaged, done.restarts) == (1, 0)
    assert bench.in_slot(0) == new.hash


def test_memory_that_does_not_keep_what_is_written_is_said_to_be_so(bench: Bench):
    cabinet = bench.cabinet()
    bench.rig.world.lines["console"].fault("noise", 0, 1)
    cabinet.identify()
    slots = bench.rig.cabinet.slots  # pyright: ignore[reportOptionalMemberAccess]
    write, bad = slots.write, 9_000

    def stuck(slot: int, offset: int, data) -> str:
        image = bytearray(data)
        if offset <= bad < offset + len(data):
            image[bad - offset] = 0
        return write(slot, offset, image)

    slots.write = stuck
    new = new_image()
    assert new.data[bad]
    with pytest.raises(FlashError, match="from byte 8192 on the cabinet does not keep") as caught:
        cabinet.upload(new)
    assert caught.value.code == exits.NOT_VALID
    assert bench.in_slot(0) is None


def test_damage_before_a_broken_off_upload_is_found_when_it_goes_on(bench: Bench):
    new = new_image(40_000)

    class Stop(Exception):
        pass

    def stop(transfer) -> None:
        if transfer.offset > 20_000:
            raise Stop

    breaking = Cabinet(lambda: RigWire(bench.rig), on_progress=stop)
    breaking.identify()
    damaged_once(bench, 5000)
    with pytest.raises(Stop):
        breaking.upload(new)
    again = bench.cabinet()
    again.identify()
    done = again.upload(new)
    assert (done.damaged, done.restarts) == (1, 0)
    assert bench.in_slot(0) == new.hash


def test_a_cabinet_that_cannot_compare_is_believed(bench: Bench, monkeypatch):
    """One with firmware of before: its own hash of the whole has the last word anyway."""
    monkeypatch.delitem(smp._HANDLERS, (0xCAB, 1, 2))
    new = new_image()
    cabinet = bench.cabinet()
    bench.rig.world.lines["console"].fault("noise", 0, 1)
    cabinet.identify()
    damaged_once(bench, 9000)
    done = cabinet.upload(new)
    assert (done.damaged, done.restarts) == (0, 1)
    assert bench.in_slot(0) == new.hash


@pytest.mark.parametrize("wrong", ["key", "board"])
def test_an_image_that_is_not_valid_is_not_taken(bench: Bench, tmp_path, wrong: str):
    cabinet = bench.cabinet()
    cabinet.identify()
    new = new_image(key=other_key(tmp_path)) if wrong == "key" else new_image(board="mps2")
    with pytest.raises(FlashError) as caught:
        cabinet.upload(new)
    assert caught.value.code == exits.NOT_VALID
    assert bench.in_slot(0) is None
    assert wrong in str(caught.value)


def test_the_wrong_board_is_seen_before_anything_is_written(bench: Bench):
    who = bench.cabinet().identify()
    with pytest.raises(FlashError) as caught:
        same_board(new_image(board="mps2"), who)
    assert caught.value.code == exits.WRONG_BOARD


def test_credit_refuses_and_a_technician_at_the_open_door_overrides(bench: Bench):
    bench.tell("coin 200\nwait 1s")
    cabinet, new = bench.cabinet(), new_image()
    cabinet.identify()
    with pytest.raises(FlashError) as caught:
        cabinet.upload(new)
    assert caught.value.code == exits.REFUSED
    assert "£2.00 is on the machine" in str(caught.value)
    assert bench.slots().writing(0) == (0, b"")
    bench.tell("turn technician\nopen logic\nwait 1s")
    cabinet.upload(new)
    assert bench.in_slot(0) == new.hash


def test_nobody_answers(bench: Bench):
    bench.rig.power_off()
    cabinet = bench.cabinet()
    with pytest.raises(FlashError) as caught:
        cabinet.identify()
    assert caught.value.code == exits.NO_ANSWER


def test_a_dead_line_ends_with_what_is_there(bench: Bench):
    new = new_image(40_000)

    def cut(transfer) -> None:
        if transfer.offset > 10_000:
            bench.rig.world.lines["console"].fault("mute")

    cabinet = Cabinet(lambda: RigWire(bench.rig), 5.0, on_progress=cut)
    cabinet.identify()
    with pytest.raises(FlashError) as caught:
        cabinet.upload(new)
    assert caught.value.code == exits.BROKEN_OFF
    assert "of 4" in str(caught.value)


def test_any_bytes_between_and_the_console_still_answers(bench: Bench):
    """Random bytes, torn frames, frames of nonsense: nothing raises, nothing is lost."""
    dice = random.Random(3)
    line = bench.rig.world.lines["console"]
    for _ in range(60):
        kind = dice.randrange(3)
        data = dice.randbytes(dice.randrange(1, 400))
        if kind:
            data = b"\x06\x09" + bytes(dice.choices(b"ABCDwxyz0189+/=", k=dice.randrange(1, 300))) + b"\n"
        if kind == 2:
            data = data[: dice.randrange(len(data))] + b"\x04\x14" + data
        line.send(data)
        bench.rig.run_for(100)
    bench.rig.run_for(3000)
    line.send(b"\n")
    assert bench.rig.query()["audit"] == 0
    assert bench.cabinet().identify().board == "host"
    assert hashlib.sha256(bytes(bench.rig.session.slots.memory[:4096])).digest() == (  # pyright: ignore[reportAttributeAccessIssue]
        hashlib.sha256(b"\xff" * 4096).digest()
    )


def test_no_text_holds_the_marks_of_a_frame(bench: Bench):
    """Not even when somebody types them for the console to repeat."""
    wire = RigWire(bench.rig)
    for typed in (b"\x01no\x06 \x09such", b"x\x04", b"\x14y \x06", b"\x09 z", b"watch\x00on"):
        wire.send(typed + b"\r")
        bench.rig.run_for(100)
    heard = wire.receive(0.1)
    assert heard.count(b"error: ") >= 4
    assert b"\x06" not in heard
    assert b"\x04" not in heard

"""`cabinet image inspect`: what a running cabinet tells of itself is what the image file tells."""

import json
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smp.header import Version
from smpclient.generics import error_v1, success
from typer.testing import CliRunner

from firmware.update import smp
from firmware.update.slots import Slots
from host_tools.cabinet import exits, games
from host_tools.cabinet.cli import app
from host_tools.flash import images
from host_tools.flash.failure import FlashError
from host_tools.flash.flashing import Cabinet
from host_tools.flash.inspecting import AboutRead, about_slot, running
from host_tools.flash.rig_wire import RigWire
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse
from host_tools.hil.serving import open_end, serve
from tests.firmware import update_images
from tests.firmware.test_update_smp import Peer
from tests.firmware.update_images import image, put


class SlotsPeer(Peer):
    """Asks a server over real slots, with an image in slot 1."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.slots = update_images.slots(update_images.memory())  # pyright: ignore[reportAttributeAccessIssue]
        assert put(self.slots, 1, data) == ""  # pyright: ignore[reportArgumentType]
        self.start()

    def about(self, slot: int, offset: int, most: int, version: Version = Version.V1):
        return self.ask(AboutRead(version=version, slot=slot, off=offset, most=most))


@cache
def small() -> tuple[bytes, SlotsPeer]:
    """An image, and a server that holds it: what is asked changes nothing in it."""
    data = image("3.2.1", 4, size=2000)
    return data, SlotsPeer(data)


# --- the question, at the server ------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=5))
@settings(deadline=None)  # pieces of one byte are many questions
def test_pieces_of_any_size_are_header_and_tlvs_and_nothing_of_the_payload(sizes: list[int]):
    data, peer = small()
    payload = images.firmware_image.parse(data).payload
    found, turn = b"", 0
    while True:
        most = sizes[turn % len(sizes)]
        answer = peer.about(1, len(found), most)
        assert success(answer)
        assert 0 < len(answer.data) <= most
        found, turn = found + answer.data, turn + 1
        if len(found) >= answer.len:
            break
    assert found == data[:32] + data[32 + payload :]


def test_an_answer_fits_the_buffer_however_much_is_asked_for():
    about = {"version": "1.0.0", "x": "y" * 3000}
    content = images.romfs.write({"a": b"b"})
    data = images.sign(content, images.DEVELOPMENT_KEY, "host", about, "1.0.0", 1)
    peer = SlotsPeer(data)
    answer = peer.about(1, 32, 1 << 30)
    assert success(answer)
    assert len(bytes(answer)) + 4 <= smp.BUFFER_BYTES


@pytest.mark.parametrize("version", [Version.V1, Version.V2])
@pytest.mark.parametrize(
    ("slot", "offset", "most", "code", "why"),
    [
        (0, 0, 10, smp.NOT_THERE, "slot 0 holds no complete image"),
        (2, 0, 10, smp.INVALID, "slot: 0 or 1"),
        (1, 1 << 20, 10, smp.INVALID, "within the"),
        (1, -1, 10, smp.INVALID, "within the"),
        (1, 0, 0, smp.INVALID, "most: above 0"),
    ],
)
def test_a_wrong_question_is_refused_with_a_reason(
    version: Version, slot: int, offset: int, most: int, code: int, why: str
):
    answer = SlotsPeer(image()).about(slot, offset, most, version)
    assert error_v1(answer)
    assert answer.rc == code
    assert why in str(answer.rsn)


def test_a_board_without_slots_refuses():
    peer = SlotsPeer(image())
    peer.slots = smp.NoSlots()  # pyright: ignore[reportAttributeAccessIssue]
    peer.start()
    assert peer.about(0, 0, 10).rc == smp.NOT_THERE


# --- a cabinet ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole() -> bytes:
    """This tree, for the host board."""
    return images.build_image(images.DEVELOPMENT_KEY, "host", games.packs(), "4.5.6", 7)


class Fitted:
    """A cabinet that runs an application out of slot 0 on trial, unless there is none; it is switched on."""

    def __init__(self, data: bytes | None) -> None:
        self.rig = Rig(games.packs())
        memory = self.rig.session.slots  # pyright: ignore[reportAttributeAccessIssue]
        if data is not None:
            slots = Slots(memory, "host")
            assert put(slots, 0, data, 4096) == ""
            assert slots.test(update_images.hash_of(data)) == ""
        self.rig.run(parse("power on"))

    def serve(self, link: Path) -> Callable[[], None]:
        """In real time at a pty; returns what ends it."""
        end, over = open_end(str(link)), threading.Event()
        thread = threading.Thread(target=lambda: serve(self.rig, end, lambda: "", over.is_set))
        thread.start()

        def close() -> None:
            over.set()
            thread.join()
            end.close()

        return close


@pytest.fixture
def fitted() -> Iterator[Callable[[bytes | None], Fitted]]:
    began: list[Fitted] = []

    def begin(data: bytes | None) -> Fitted:
        began.append(Fitted(data))
        return began[-1]

    yield begin
    for it in began:
        it.rig.close()


def inspect(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["image", "inspect", *map(str, arguments)])
    return done.exit_code, done.output


def test_of_a_cabinet_is_told_what_is_told_of_the_file(fitted, whole: bytes, tmp_path: Path):
    file, port = tmp_path / "image.bin", tmp_path / "console"
    file.write_bytes(whole)
    close = fitted(whole).serve(port)
    try:
        code, told = inspect("--port", port, "--json")
        assert code == 0, told
        code_text, text = inspect("--port", port)
    finally:
        close()
    cabinet, of_file = json.loads(told), json.loads(inspect(file, "--json")[1])
    assert set(cabinet) - set(of_file) == {"factory", "slots"}
    assert of_file["files"]
    assert {**of_file, "files": None} == {name: cabinet[name] for name in of_file}
    assert cabinet["counter"] == 7
    assert set(cabinet["manifest"]["packs"]) == set(games.packs())
    assert cabinet["factory"] is False
    (slot,) = cabinet["slots"]
    assert (slot["slot"], slot["version"], slot["active"], slot["confirmed"]) == (0, "4.5.6", True, False)
    assert slot["hash"] == cabinet["hash"]
    assert code_text == 0
    lines = inspect(file)[1].splitlines()
    assert [line for line in lines if not line.startswith("files ")] == text.splitlines()[:-1]
    assert text.splitlines()[-1].startswith("slot 0  4.5.6")


def test_the_factory_application_says_so(fitted, tmp_path: Path):
    port = tmp_path / "console"
    close = fitted(None).serve(port)
    try:
        code, told = inspect("--port", port, "--json")
        code_text, text = inspect("--port", port)
    finally:
        close()
    found = json.loads(told)
    assert (code, code_text) == (0, 0)
    assert found["factory"] is True
    assert (found["board"], found["manifest"], found["slots"]) == ("host", None, [])
    assert "the factory's does" in text


def test_exit_codes(tmp_path: Path):
    assert inspect()[0] == 2
    assert inspect(tmp_path / "file", "--port", tmp_path / "port")[0] == 2
    assert inspect("--port", tmp_path / "nothing")[0] == exits.NO_PORT


def test_a_bad_line_only_makes_it_slower(fitted, whole: bytes):
    """Of 1000 bytes 5 are lost and 5 wrong, each way: a whole piece never arrives, a small one does."""
    rig = fitted(whole).rig
    cabinet = Cabinet(lambda: RigWire(rig))
    cabinet.identify()
    rig.world.lines["console"].fault("noise", 5, 5)
    assert about_slot(cabinet, 0) == {**images.inspect(whole), "files": None}


def test_an_older_firmware_is_told_apart_from_a_fault(fitted, whole: bytes, monkeypatch: pytest.MonkeyPatch):
    rig = fitted(None).rig  # the tree's own modules run
    monkeypatch.delitem(smp._HANDLERS, (0xCAB, 0, 0))
    cabinet = Cabinet(lambda: RigWire(rig))
    cabinet.identify()
    with pytest.raises(FlashError, match="too old") as caught:
        about_slot(cabinet, 0)
    assert caught.value.code == exits.REFUSED


def test_a_slot_that_is_not_what_the_list_says_is_an_error(fitted, whole: bytes, monkeypatch: pytest.MonkeyPatch):
    rig = fitted(whole).rig
    cabinet = Cabinet(lambda: RigWire(rig))
    cabinet.identify()
    listed = cabinet.images()
    other = [state.model_copy(update={"hash": bytes(32)}) for state in listed]
    monkeypatch.setattr(cabinet, "images", lambda: other)
    with pytest.raises(FlashError, match="another hash") as caught:
        running(cabinet)
    assert caught.value.code == exits.NOT_VALID

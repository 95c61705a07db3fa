"""A whole update over the console line, by the flasher: version 1 idles, version 2 arrives, is tried, confirmed, left again."""

import time
from pathlib import Path

import pytest

from host_tools.flash.flashing import Cabinet, NewImage
from host_tools.flash.rig_wire import RigWire
from tests.flash.served import Served
from tests.hil.test_update import BOARDS, MONEY, application


def new_image(board: str, version: str, counter: int = 1) -> NewImage:
    return NewImage.of(application(board, version, counter))


def test_flash_test_confirm_and_back(story, request):
    board = request.config.getoption("--board")
    if board not in BOARDS:
        pytest.skip(f"{board} has no slots")
    it = story()
    assert it.rig.session.slots
    it.cut()
    it.tell(MONEY + "press cash_out\nwait until idle within 1m\nconsole credit")
    it.tell("turn technician\nopen logic\nwait 1s")  # what is too small for the hoppers stays as credit
    before = it.balanced()
    said: list[str] = []
    cabinet = Cabinet(lambda: RigWire(it.rig), on_text=said.append)
    cabinet.identify()
    for version in ("1.0.0", "2.0.0"):
        new = new_image(board, version)
        done = cabinet.upload(new)
        assert (done.offset, done.retries) == (len(new.data), 0)
        cabinet.test(new.hash)
        states = cabinet.reset()
        running = [state for state in states if state.active]
        assert [bytes(state.hash or b"") for state in running] == [new.hash], said
        assert not running[0].confirmed
        it.tell("wait 2s\nconsole watch on\nwait 1s")
        cabinet.confirm()
    one, two = new_image(board, "1.0.0"), new_image(board, "2.0.0")
    cabinet.go_back_to(one.hash)
    states = cabinet.reset()
    assert [bytes(state.hash or b"") for state in states if state.active] == [one.hash]
    assert any(bytes(state.hash or b"") == two.hash for state in states)
    it.tell("wait 2s\nconsole watch on\nwait 1s")
    after = it.balanced()
    assert {name: after[name] for name in ("coins_in", "hopper_out", "credit", "audit")} == {
        name: before[name] for name in ("coins_in", "hopper_out", "credit", "audit")
    }


def test_somebody_elses_tool_updates_the_board(request: pytest.FixtureRequest, tmp_path: Path):
    """PyPI smpmgr, in real time: upload, test, reset, confirm of a whole application."""
    board = request.config.getoption("--board")
    if board != "mps2":
        pytest.skip("a minute and a half at line rate; tests/flash has the same tool send the host board less")
    new = new_image(board, "2.0.0")
    file = tmp_path / "image.bin"
    file.write_bytes(new.data)
    it = Served(str(tmp_path / "console"), board)
    try:
        it.smpmgr("image", "upload", str(file))
        end = time.monotonic() + 120
        while it.slots().find(new.hash) != 0:  # a slow board has answered before it has judged
            assert time.monotonic() < end
            time.sleep(0.2)
        it.smpmgr("image", "state-write", new.hash.hex())
        it.smpmgr("os", "reset")
        assert "active=True" in it.smpmgr("image", "state-read")
        it.smpmgr("image", "state-write", "--confirm")
        found = it.slots().image(0)
        assert found is not None
        assert found.confirmed
    finally:
        it.close()

"""The firmware on MicroPython's unix port, turned by the rig: the same story as in this process, and its power cuts."""

import json

import pytest

from host_tools.boards.unix_session import BoardFailed, UnixSession
from host_tools.cabinet import games
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse

STORY = """
entropy seed 7
power on
console set quick_spin on
game piggy_riches
coin 200
coin 50
want free_spins
press start
wait until choosing
press start
wait until idle within 5m
press cash_out
wait until idle within 2m
"""


def live(script: str, cut_after: int | None = None, board: str = "unix") -> Rig:
    rig = Rig(games.packs(), board=board)
    rig.session.nvram.cut_after = cut_after
    rig.run(parse(script))
    return rig


def truth(rig: Rig) -> tuple:
    return rig.world.swallowed_pence, rig.world.paid_pence, dict(rig.world.panel.pulses)


def test_the_same_story_as_in_this_process():
    """Events to the letter, truths, and every byte of the NVRAM."""
    host, unix = live(STORY, board="host"), live(STORY)
    assert isinstance(unix.session, UnixSession)
    assert json.dumps([unix.summary(), list(unix.events)]) == json.dumps([host.summary(), list(host.events)])
    assert unix.session.nvram.memory == host.session.nvram.memory
    assert truth(unix) == truth(host)
    assert unix.session.nvram.written == host.session.nvram.written


MONEY = "entropy seed 7\npower on\nconsole set quick_spin on\ncoin 200\ncoin 50"
PLAY = "press start\nwait 20s\npress cash_out\nwait 20s"


@pytest.fixture(scope="module")
def play_bytes() -> int:
    """NVRAM bytes that PLAY writes; the first test shows that they are as many on every board."""
    rig = live(MONEY, board="host")
    before = rig.session.nvram.written
    rig.run(parse(PLAY))
    return rig.session.nvram.written - before


@pytest.mark.parametrize("eighth", range(8))
def test_a_power_cut_behind_any_byte_loses_and_makes_no_money(play_bytes, eighth):
    rig = live(MONEY)
    rig.session.nvram.cut_after = 1 + (play_bytes - 1) * eighth // 7
    rig.run(parse(PLAY))
    assert not rig.session.on
    rig.run(parse("power on\nwait 10s"))
    books = rig.query()
    assert books["audit"] == 0
    assert books["coins_in"] == rig.world.swallowed_pence
    assert books["hopper_out"] == rig.world.paid_pence


def test_nvram_holds_exactly_the_bytes_before_the_cut():
    whole = live("memory blank\npower on\ncoin 100").session.nvram
    cut = live("memory blank\npower on", cut_after=77).session.nvram
    assert (cut.written, cut.cut_after) == (77, None)
    assert whole.written > 77
    assert sum(a != b for a, b in zip(cut.memory, b"\xff" * cut.size, strict=True)) <= 77


def test_the_board_is_gone_after_stop_and_comes_back():
    rig = live("power on\ncoin 100\npower off")
    assert not rig.session.on
    rig.run(parse("power on\nwait until idle\nexpect credit == 100"))
    assert rig.session.on


def test_a_board_that_ends_is_an_error_with_its_last_words():
    session = UnixSession({}, {"broken": b"not a pack"})
    with pytest.raises(BoardFailed, match="CoreError: pack_length"):
        session.start(0)
    assert not session.on
    session.close()


def test_a_port_refuses_what_its_line_cannot_take(micropython):
    told = micropython(
        "-c",
        "from hal.board import PortError\nfrom hal.boards.unix import LockstepPort\n"
        "port = LockstepPort()\nport.room = 4\nport.write(b'abc')\n"
        "try:\n    port.write(b'de')\nexcept PortError:\n    print('refused', bytes(port.written))\n"
        "port.arrive(bytes(1000)); port.arrive(bytes(30)); print(port.overruns, len(port.read()), port.read())",
    )
    assert told.splitlines() == ["refused b'abc'", "6 1024 b''"]


RESET = """
from hal.board import Board
from hal.boards.unix import lockstep
class Cabinet:
    def __init__(self, board):
        self.board = board
    def poll(self, now_ms):
        board = self.board
        board.port("console").write(b"%d %s;" % (now_ms, board.reset_reason.encode()))
        if now_ms == 10:
            board.nvram.write(3, b"kept")
            board.reset()
lockstep(Cabinet)
"""


def test_a_reset_by_the_firmware_starts_it_anew_and_keeps_the_nvram(monkeypatch):
    from host_tools.boards import unix_session
    from host_tools.hil.line import Line

    monkeypatch.setattr(unix_session, "START", RESET)
    line = Line("console", 115_200)
    session = UnixSession({"console": line}, {}, 64)
    heard = []
    monkeypatch.setattr(line.port, "write", heard.append)
    assert session.start(100)
    for now_ms in (105, 110, 115):
        assert session.poll(now_ms)
    assert heard == [b"5 power;", b"5 soft;"]
    assert session.nvram.memory[3:7] == b"kept"
    session.close()

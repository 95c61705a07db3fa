"""The battery-backed clock on the emulated board: QEMU's own DS1338, over the board's two pins."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hal.calendar import dates
from host_tools.boards.mps2_session import FAST, BoardMemory, Machine
from tests.boards.test_mps2_board import Board

NOON_S = dates.seconds(2026, 3, 1, 12)
LEAP_DAY_S = dates.seconds(2028, 2, 29, 12, 30)


@pytest.fixture
def board(mps2_image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Board]:
    """At its REPL; its clock shows noon."""
    monkeypatch.setattr("tests.boards.test_mps2_board.Machine", lambda *given: Machine(*given, clock_s=NOON_S))
    it = Board(mps2_image, BoardMemory(tmp_path / "memory.bin"), FAST)
    yield it
    it.machine.kill()


def test_the_chip_is_read_and_written_and_its_absence_noticed(board):
    """A reading takes less than two milliseconds. What is written can only be compared to the hour: the emulator applies
    each register by the computer's clock and shows it by the board's."""
    said = board.run(
        "from cabinet_board import i2c_read, i2c_write, ticks_us\n"
        "from hal.calendar import ds1338\n"
        "began = ticks_us()\n"
        "registers = i2c_read(ds1338.ADDRESS, 0, 8)\n"
        "print(ticks_us() - began < 2000)\n"
        f"print(ds1338.decode(registers) - {NOON_S})\n"
        "class Bus:\n"
        "    read = staticmethod(i2c_read)\n"
        "    write = staticmethod(i2c_write)\n"
        f"ds1338.Ds1338(Bus).set({LEAP_DAY_S})\n"
        f"print(ds1338.decode(i2c_read(ds1338.ADDRESS, 0, 8)) - {LEAP_DAY_S})\n"
        "print(i2c_read(0x50, 0, 1), i2c_write(0x50, 0, b'x'))\n"
    ).split("\n")
    assert said[0] == "True"
    assert 0 <= int(said[1]) <= 5
    assert abs(int(said[2])) < 3600
    assert said[3] == "None False"


def test_what_was_set_survives_a_reset_of_the_board(board):
    wanted_s = dates.seconds(2030, 6, 1, 8)
    board.run(f"from hal.boards.mps2 import Mps2Board\nprint(Mps2Board().set_clock({wanted_s}))\n")
    assert abs(board.memory.clock_ahead_s - (wanted_s - NOON_S)) <= 5
    board.begin("import cabinet_board; cabinet_board.reset()")
    board.meet()
    said = board.run("from hal.boards.mps2 import Mps2Board\nprint(Mps2Board().clock_s())\n")
    assert abs(int(said) - wanted_s) <= 10

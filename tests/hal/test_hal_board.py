"""The host board: clock, NVRAM, ttys, and the queue between drivers and firmware."""

import contextlib
import os
import pty
import termios
import tty

import pytest

from hal.board import TICKS_PERIOD, TX_BYTES, Board, Clock, Nvram, PortError, SerialPort, ticks_diff
from hal.boards.host import REOPEN_S, BoardReset, FileNvram, HostBoard, MemoryNvram, TtySerialPort
from hal.events import EventQueue


class Seconds:
    """A clock for the ports."""

    def __init__(self):
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def terminal():
    """The device's end of a pty and the path of the board's end."""
    device, board = pty.openpty()
    tty.setraw(board)
    os.set_blocking(device, False)
    path = os.ttyname(board)
    yield device, board, path
    for end in (device, board):
        with contextlib.suppress(OSError):  # a test may have pulled the plug
            os.close(end)


def test_clock_counts_on_over_the_wrap_of_the_ticks():
    clock = Clock()
    assert clock.now(TICKS_PERIOD - 5) == 0
    assert clock.now(TICKS_PERIOD - 1) == 4
    assert clock.now(3) == 8
    assert clock.now(3 + TICKS_PERIOD // 2 - 1) == 7 + TICKS_PERIOD // 2


def test_clock_never_runs_backwards():
    clock = Clock()
    clock.now(100)
    assert clock.now(150) == 50
    assert clock.now(140) == 50
    assert clock.now(160) == 60


@pytest.mark.parametrize(
    ("newer", "older", "diff"), [(5, 3, 2), (3, 5, -2), (1, TICKS_PERIOD - 1, 2), (TICKS_PERIOD - 1, 1, -2)]
)
def test_ticks_diff(newer, older, diff):
    assert ticks_diff(newer, older) == diff


def test_defaults_of_the_contract_are_safe():
    board = Board()
    assert board.games() == ()
    for lacking in (board.port, board.game):
        with pytest.raises(KeyError):
            lacking("host")
    assert SerialPort().read() == b""
    with pytest.raises(PortError):
        SerialPort().write(b"x")
    with pytest.raises(ValueError, match="outside"):
        Nvram().write(0, b"x")


def test_host_board_gives_what_it_was_given():
    port = SerialPort()
    board = HostBoard({"panel": port}, MemoryNvram(bytearray(8)), {"b": b"2", "a": b"1"}, lambda: TICKS_PERIOD + 7)
    assert board.port("panel") is port
    assert board.games() == ("a", "b")
    assert board.game("b") == b"2"
    assert board.ticks_ms() == 7
    board.feed_watchdog()
    assert board.watchdog_feeds == 1
    with pytest.raises(BoardReset):
        board.reset()


def test_host_board_reset_can_be_taken_over():
    resets = []
    board = HostBoard({}, MemoryNvram(bytearray(8)), {}, on_reset=lambda: resets.append("reset"))
    board.reset()
    assert resets == ["reset"]


def test_file_nvram_is_created_blank_and_keeps_its_bytes(tmp_path):
    path = tmp_path / "nvram.bin"
    nvram = FileNvram(path, 1024)
    assert nvram.read(0, 1024) == b"\xff" * 1024
    nvram.write(1020, b"last")
    nvram.close()
    again = FileNvram(path, 1024)
    assert again.read(1020, 4) == b"last"
    again.close()
    with pytest.raises(ValueError, match="1024"):
        FileNvram(path, 2048)


@pytest.mark.parametrize(("offset", "data"), [(-1, b"x"), (8, b"x"), (7, b"xy")])
def test_nvram_refuses_what_is_outside_and_writes_nothing_of_it(offset, data):
    memory = bytearray(8)
    with pytest.raises(ValueError, match="outside"):
        MemoryNvram(memory).write(offset, data)
    assert memory == bytearray(8)


def test_tty_port_carries_bytes_both_ways(terminal):
    device, _, path = terminal
    port = TtySerialPort(path)
    assert port.read() == b""
    os.write(device, b"\x00\x0d\x11\xff")
    assert port.read() == b"\x00\x0d\x11\xff"
    port.write(b"\x0a\x03\x13")
    assert os.read(device, 10) == b"\x0a\x03\x13"


def test_b23_a_pty_that_refuses_parity_is_used_without(terminal, mocker):
    device, _, path = terminal
    real = termios.tcsetattr

    def refuse_parity(fd, when, attributes):
        if attributes[2] & termios.PARENB:
            raise termios.error(22, "Invalid argument")
        real(fd, when, attributes)

    mocker.patch("termios.tcsetattr", side_effect=refuse_parity)
    for parity in "EOMS":
        port = TtySerialPort(path, parity=parity)
        assert not port.gone
        os.write(device, b"ok")
        assert port.read() == b"ok"
        port.close()


def test_b21_an_unplugged_tty_is_gone_tried_rarely_and_comes_back(terminal, tmp_path, mocker):
    device, board, path = terminal
    link = tmp_path / "tty"
    link.symlink_to(path)
    clock = Seconds()
    port = TtySerialPort(str(link), monotonic_s=clock)
    os.close(board)
    os.close(device)
    link.unlink()
    assert port.read() == b""
    assert port.gone
    with pytest.raises(PortError):
        port.write(b"x")
    opened = mocker.spy(os, "open")
    for _ in range(1000):  # a loop that turns a thousand times in half a second
        assert port.read() == b""
        clock.now += REOPEN_S / 1000
    clock.now += REOPEN_S
    port.read()
    assert opened.call_count <= 2
    new_device, new_board = pty.openpty()
    link.symlink_to(os.ttyname(new_board))
    clock.now += REOPEN_S
    port.read()
    assert not port.gone
    os.write(new_device, b"back")
    assert port.read() == b"back"
    port.close()
    os.close(new_device)
    os.close(new_board)


def test_a_port_that_never_existed_is_gone_and_raises_nothing(tmp_path):
    port = TtySerialPort(str(tmp_path / "none"))
    assert port.gone
    assert port.read() == b""


def test_tty_port_takes_a_write_whole_or_not_at_all(terminal, mocker):
    device, _, path = terminal
    port = TtySerialPort(path)
    mocker.patch("os.write", side_effect=BlockingIOError(11, "full"))
    port.write(bytes(200))
    with pytest.raises(PortError):
        port.write(bytes(TX_BYTES - 199))
    mocker.stopall()
    port.read()
    assert os.read(device, 1000) == bytes(200)


def test_event_queue_is_bounded_and_keeps_order():
    queue = EventQueue(2)
    assert queue.oldest is None
    assert queue.pop() is None
    for round_trip in range(3):
        queue.push((round_trip, "a"))
        queue.push((round_trip, "b"))
        assert queue.room() == 0
        with pytest.raises(IndexError):
            queue.push((round_trip, "c"))
        assert queue.oldest == (round_trip, "a")
        assert queue.pop() == (round_trip, "a")
        assert queue.pop() == (round_trip, "b")
    assert len(queue) == 0

"""The C side of the emulated board, driven through the REPL that a board without provision offers on UART 0."""

import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host_tools.boards.mps2_session import FAST, SLOW, UARTS, BoardMemory, Machine

BYTES_PER_MS = 11.52  # 115200 baud
RX_RING = 1024
LONGEST_TURN_MS = 20  # of the program above, which looks at its ports once a turn

BUSY = """
import gc, hashlib
from cabinet_board import Uart, ticks_us
from native import crc32
block = bytes(4096)
def listen(total):
    ports = [Uart(number, OSError) for number in range(5)]
    heard = [bytearray() for _ in ports]
    turns = 0
    print("listening")
    while min([len(data) for data in heard]) < total:
        for port, data in zip(ports, heard):
            data.extend(port.read())
        hashlib.sha256(block).digest()
        gc.collect()
        turns += 1
    ended = ticks_us() // 1000
    for port, data in zip(ports, heard):
        print(len(data), crc32(data), port.overruns, port.fullest)
    print(turns)
    print(ended)
"""


class Board:
    """A board at its raw REPL. `run` executes source and returns what it prints."""

    def __init__(self, image: Path, memory: BoardMemory, speed: str) -> None:
        self.memory = memory
        memory.power_on(provisioned=False)
        self.machine = Machine(image, memory, speed)
        self._uart = self.machine.uarts[0]
        self._uart.settimeout(60)
        self._heard = b""
        self.meet()

    def meet(self) -> None:
        """The prompt of a board that has just started."""
        self.until(b">>> ")
        self._uart.sendall(b"\x01")
        self.until(b"B to exit\r\n>")

    def begin(self, source: str) -> None:
        self._uart.sendall(source.encode() + b"\x04")
        self.until(b"OK")

    def end(self) -> str:
        printed, errors = self.until(b"\x04>").split(b"\x04")
        assert not errors, errors.decode()
        return printed.decode().replace("\r\n", "\n")

    def run(self, source: str) -> str:
        self.begin(source)
        return self.end()

    def until(self, mark: bytes) -> bytes:
        while mark not in self._heard:
            self._heard += self._uart.recv(4096)
        before, self._heard = self._heard.split(mark, 1)
        return before


@pytest.fixture
def board(mps2_image: Path, tmp_path: Path) -> Iterator[Callable[..., Board]]:
    """board(speed): switched on, with the battery-backed memory of the last one."""
    boards: list[Board] = []

    def switch_on(speed: str = FAST) -> Board:
        boards.append(Board(mps2_image, BoardMemory(tmp_path / "memory.bin"), speed))
        return boards[-1]

    yield switch_on
    for made in boards:
        if not made.machine.ended():
            made.machine.kill()


def test_no_byte_is_lost_on_any_port_at_line_rate_while_the_board_is_busy(board):
    """Five ports at once, between hashes of 4 KiB and garbage collections; no ring may ever have been full.

    The emulator must really have delivered at that rate, or the test would prove nothing: the board's time says so.
    """
    it = board(SLOW)
    it.run(BUSY)
    total = 4000
    streams = [bytes((i * 7 + number * 31 + (i >> 8)) & 0xFF for i in range(total)) for number in range(5)]
    it.begin(f"listen({total})")
    it.until(b"listening\r\n")
    began, sent = it.memory.uptime_ms, 0
    while sent < total:
        due = min(total, int((it.memory.uptime_ms - began) * BYTES_PER_MS))
        for uart, stream in zip(it.machine.uarts, streams, strict=True):
            uart.setblocking(True)
            uart.sendall(stream[sent:due])
        sent = due
    it.machine.uarts[0].settimeout(60)
    *ports, turns, ended = it.end().splitlines()
    line_ms = total / BYTES_PER_MS
    assert int(ended) - began < line_ms * 1.1 + LONGEST_TURN_MS
    assert int(turns) >= 5
    assert len(ports) == len(UARTS)
    for line, stream in zip(ports, streams, strict=True):
        length, crc, overruns, fullest = map(int, line.split())
        assert (length, crc, overruns) == (total, zlib.crc32(stream), 0)
        assert fullest < RX_RING


def test_what_no_ring_can_hold_is_counted(board):
    it = board()
    it.run("from cabinet_board import Uart, ticks_ms\nport = Uart(2, OSError)\nport.read()")
    it.machine.uarts[2].sendall(bytes(RX_RING + 300))
    it.run("began = ticks_ms()\nwhile port.overruns < 300 and ticks_ms() - began < 5000: pass")
    assert it.run("print(len(port.read()), port.overruns, port.fullest)") == f"{RX_RING} 300 {RX_RING}\n"


def test_a_write_is_queued_whole_or_refused(board):
    it = board()
    source = """
from cabinet_board import Uart
port = Uart(3, OSError)
sent = 0
try:
    while sent < 2000:
        port.write(bytes([(sent + i) & 0xFF for i in range(100)]))
        sent += 100
except OSError as error:
    print(sent, error)
"""
    sent, error = it.run(source).split()
    assert (error, 200 <= int(sent) < 2000) == ("full", True)
    heard = b""
    uart = it.machine.uarts[3]
    uart.settimeout(10)
    while len(heard) < int(sent):
        heard += uart.recv(64)
    assert heard == bytes(i & 0xFF for i in range(int(sent)))
    assert it.run("try:\n    Uart(5, OSError)\nexcept ValueError:\n    print('no')") == "no\n"


def test_ticks_wrap_half_a_minute_after_power_up(board):
    source = """
from cabinet_board import ticks_ms
from hal.board import TICKS_PERIOD, Clock, ticks_diff
clock = Clock()
first = last = ticks_ms()
worst = wraps = 0
while not wraps or clock.now(last) < 30500:
    now = ticks_ms()
    assert 0 <= now < TICKS_PERIOD
    worst = max(worst, ticks_diff(now, last))
    assert ticks_diff(now, last) >= 0
    wraps += now < last
    last = now
    clock.now(last)
print(first > TICKS_PERIOD - 30001, wraps, worst < 50)
"""
    assert board().run(source) == "True 1 True\n"


def test_ticks_stay_right_without_their_interrupt(board):
    source = """
import uctypes
from cabinet_board import ticks_ms, ticks_us
systick = uctypes.struct(0xE000E010, {"ctrl": uctypes.UINT32 | 0})
ms, us, kept = ticks_ms(), ticks_us(), systick.ctrl
systick.ctrl = 0
while ticks_us() - us < 700_000: pass
passed = ticks_ms() - ms
systick.ctrl = 7
print(abs(passed - 700) <= 2)
"""
    assert board().run(source) == "True\n"


def test_nvram_survives_sigkill_and_refuses_what_lies_outside(board):
    it = board()
    before = it.memory.written
    it.run("from cabinet_board import Nvram\nnvram = Nvram()\nnvram.write(65530, b'kept')")
    source = """
for offset, length in ((-1, 1), (65536, 1), (65530, 7), (0, 65537), (1 << 29, 1)):
    for call in (lambda: nvram.read(offset, length), lambda: nvram.write(offset, bytes(length))):
        try:
            call()
            print("went through", offset, length)
        except ValueError:
            pass
print(nvram.size, nvram.read(65536, 0))
"""
    assert it.run(source) == "65536 b''\n"
    it.machine.kill()
    assert bytes(it.memory.memory[65528:]) == b"\xff\xffkept\xff\xff"
    assert it.memory.written == before + 4
    again = board()
    assert again.run("from cabinet_board import Nvram\nprint(Nvram().read(65530, 5))") == "b'kept\\xff'\n"


def test_the_power_fails_behind_the_very_byte(board):
    it = board()
    it.memory.cut_after = 37
    it.begin("from cabinet_board import Nvram\nNvram().write(100, bytes(range(100, 200)))")
    while not it.memory.cut:
        assert not it.machine.ended()
    it.machine.kill()
    assert bytes(it.memory.memory[100:138]) == bytes(range(100, 137)) + b"\xff"
    assert it.memory.cut_after is None
    assert board().run("print(6 * 7)") == "42\n"


def test_reset_reasons_and_the_watchdog(board):
    it = board()
    ask = "from cabinet_board import feed, reset, reset_reason, ticks_ms, watchdog\nprint(reset_reason())"
    assert it.run(ask) == "power\n"
    it.begin("reset()")
    it.meet()
    assert it.run(ask) == "soft\n"
    fed = "watchdog(400)\nbegan = ticks_ms()\nwhile ticks_ms() - began < 2000: feed()\nprint('alive')"
    assert it.run(fed) == "alive\n"
    it.begin("while True: pass")
    it.meet()
    assert it.run(ask) == "watchdog\n"
    assert it.memory.resets == 3
    it.machine.kill()
    assert board().run(ask) == "power\n"


def test_whoever_sees_a_reset_does_not_see_the_uptime_of_before(board):
    it = board()
    it.run("from time import sleep_ms\nsleep_ms(500)\nfrom cabinet_board import reset")
    assert it.memory.uptime_ms >= 500
    resets = it.memory.resets
    it.begin("reset()")
    while it.memory.resets == resets:
        pass
    assert it.memory.uptime_ms < 400
    it.meet()


def test_a_board_lives_no_longer_than_its_bench_lets_it(board):
    """In the middle of a turn, too; and its watchdog counts what it has lived, not how long it was held."""
    it = board()

    def lives(most_ms: int) -> int:
        """In steps of 5 ms, each followed by a pause of the bench. Returns what it lived until it was reset."""
        it.memory.may_live(1)
        time.sleep(0.02)
        first, resets = it.memory.uptime_ms + 5, it.memory.resets
        for may_ms in range(first, first + most_ms, 5):
            it.memory.may_live(may_ms)
            while it.memory.uptime_ms < may_ms:
                if it.memory.resets != resets:
                    return may_ms - first
            time.sleep(0.02)
            # Its clock reads in each interrupt; one that is served late, with the next millisecond begun, misses one.
            assert it.memory.uptime_ms - may_ms in (0, 1)
        return most_ms

    it.run("from cabinet_board import feed, ticks_ms, watchdog")
    it.begin("began = ticks_ms()\nwatchdog(400)\nwhile ticks_ms() - began < 150: pass\nfeed()\nprint('alive')")
    assert lives(120) == 120
    it.memory.may_live(0)
    assert it.end() == "alive\n"
    assert it.memory.resets == 1
    it.begin("feed()\nwhile True: pass")
    assert 150 <= lives(1000) < 600
    it.memory.may_live(0)
    it.meet()
    assert it.memory.resets == 2


def test_a_runaway_recursion_stops_inside_the_stack(board):
    it = board()
    assert it.run("def down(): down()\ntry:\n    down()\nexcept RuntimeError:\n    print('stopped')") == "stopped\n"
    there, deepest = it.run("import cabinet_board\nprint(*cabinet_board.stack())").split()
    assert int(deepest) < int(there)

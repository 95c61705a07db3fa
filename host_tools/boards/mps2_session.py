"""The firmware on the emulated Cortex-M3 board: QEMU with our image, its UARTs bridged to a rig's lines.

The board's own clock paces the rig. The board stores its uptime in shared memory every millisecond, and `poll(now_ms)`
returns when it has lived as long as the rig; and the board waits, its clock standing still, when it has lived longer or
when bytes of the rig have not come out of the emulator yet. So neither runs ahead of the other, however busy the
computer is, and a session runs as fast as the computer can.

A UART of QEMU sends in no time at all. Here the pipe behind it holds a few bytes only and is emptied at the speed of the
line, so that the firmware meets a full transmitter when it would on hardware.
"""

import contextlib
import mmap
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Final

from hal.board import PortError
from hal.boards.host import NVRAM_BYTES, MemorySlots
from host_tools.boards.build import ensure
from host_tools.hil.host_session import BoardFailed
from host_tools.hil.line import Line
from host_tools.hil.models.battery_clock import BatteryClock

UARTS: Final = ("console", "cctalk", "panel", "entropy", "note")  # as hal/boards/mps2.py numbers them
# How QEMU runs. With icount an instruction takes 2**5 ns of the board's time, about its 25 MHz.
REAL_TIME: Final = "real"  # no faster than that; one busy line of 115200 baud runs at full rate, five at 80 % of it
SLOW: Final = "slow"  # some fifteen times slower: the computer has time to keep all five lines at full rate
STEPPED: Final = "stepped"  # as fast as the computer can, and held still while the rig thinks: for tests
FAST: Final = "fast"  # as fast as the computer can: time still counts instructions, but bytes seem slow to the board
HOST: Final = "host"  # no icount: a processor some twenty times as fast
START_S: Final = 20.0  # of the computer's time, until the board's first millisecond
# Without a millisecond of the board for so long it is stuck, and the rig goes on by the wall clock. (Half a second and more
# can pass on a busy computer before the emulator gets a turn.)
FROZEN_S: Final = 1.0
AHEAD_MS: Final = 20  # of the board before the rig: more than a turn's jitter
DEAD_S: Final = 30.0  # stuck for longer than any watchdog

MEMORY_BYTES: Final = 16 << 20  # the battery-backed memory; its first NVRAM_BYTES are the firmware's NVRAM
_CHUNK_BYTES: Final = 64  # taken from a UART at once
_LOOK_S: Final = 0.0003  # between two looks at the board's clock

# The games' packs, as hal/boards/mps2.py reads them.
_PACKS: Final = 1 << 20
_PACKS_BYTES: Final = 1 << 20
_MAX_PACKS: Final = 32
_ROW: Final = struct.Struct("<16sII")
_ALIGNMENT: Final = 64

# The application slots and their record, as hal/boards/mps2.py has them.
_SLOTS: Final = 2 << 20
_SLOTS_BYTES: Final = (4 << 20) + 4096

# Words of the bench page behind the NVRAM (board_bench_t in native/boards/mps2/cabinet_board.h).
_PROVISIONED, _UPTIME_MS, _RESETS, _WRITTEN, _CUT_AFTER, _CUT, _FIRST_TURN_US, _WORST_TURN_US, _TURNS = range(9)
_TURN_BUCKETS: Final = 256
_SENT: Final = _TURNS + _TURN_BUCKETS
_TAKEN: Final = _SENT + len(UARTS)
_MAY_LIVE_MS: Final = _TAKEN + len(UARTS)
_HELD_MS: Final = _MAY_LIVE_MS + 1
_CLOCK_AHEAD_S: Final = _HELD_MS + 1
_TURN_BUCKET_US: Final = 250
_PROVISIONED_KEY: Final = 0x42414331


@dataclass(frozen=True)
class Turns:
    """How long the firmware's loop took from one turn to the next. first_us: when it first turned, since reset."""

    first_us: int
    count: int
    median_us: int  # upper edge of its bucket of _TURN_BUCKET_US
    worst_us: int


class BoardMemory:
    """The battery-backed memory in a file, shared with the running board.

    memory: the NVRAM's bytes; written: bytes that ever landed there; cut_after: bytes that still land before the power fails
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            fresh = path.with_suffix(".new")
            with open(fresh, "wb") as file:
                file.write(b"\xff" * NVRAM_BYTES)
                file.truncate(MEMORY_BYTES)
            os.replace(fresh, path)
        with open(path, "r+b") as file:
            self.whole = memoryview(mmap.mmap(file.fileno(), MEMORY_BYTES))
        self.memory = self.whole[:NVRAM_BYTES]
        self.slots = MemorySlots(self.whole[_SLOTS : _SLOTS + _SLOTS_BYTES])
        self._bench = self.whole[NVRAM_BYTES : NVRAM_BYTES + 4096].cast("I")  # words: the board never sees half of one

    @property
    def written(self) -> int:
        return self._bench[_WRITTEN]

    @property
    def cut_after(self) -> int | None:
        return self._bench[_CUT_AFTER] or None

    @cut_after.setter
    def cut_after(self, landed: int | None) -> None:
        self._bench[_CUT_AFTER] = landed or 0

    @property
    def uptime_ms(self) -> int:
        return self._bench[_UPTIME_MS]

    @property
    def resets(self) -> int:
        return self._bench[_RESETS]

    @property
    def cut(self) -> bool:
        """The power has failed where `cut_after` wanted it to."""
        return self._bench[_CUT] != 0

    def turns(self) -> Turns:
        """Since clear_turns()."""
        buckets = self._bench[_TURNS : _TURNS + _TURN_BUCKETS].tolist()
        count, seen, median = sum(buckets), 0, 0
        while median < _TURN_BUCKETS - 1 and (seen := seen + buckets[median]) * 2 < count:
            median += 1
        return Turns(self._bench[_FIRST_TURN_US], count, (median + 1) * _TURN_BUCKET_US, self._bench[_WORST_TURN_US])

    def clear_turns(self) -> None:
        """Measures anew. A turn that ends at the same moment may be in what follows."""
        for word in range(_WORST_TURN_US, _TURNS + _TURN_BUCKETS):
            self._bench[word] = 0

    def power_on(self, provisioned: bool) -> None:
        """Before the board starts. Not provisioned: it offers a REPL on UART 0 instead of running the cabinet."""
        self._bench[_PROVISIONED] = _PROVISIONED_KEY if provisioned else 0
        self._bench[_UPTIME_MS] = 0
        self._bench[_CUT] = 0
        for word in range(_SENT, _CLOCK_AHEAD_S + 1):
            self._bench[word] = 0

    def sent(self, uart: int, number: int) -> None:
        """So many more bytes are on their way to a UART; the board waits for them between two turns of its loop."""
        self._bench[_SENT + uart] = (self._bench[_SENT + uart] + number) & 0xFFFFFFFF

    def may_live(self, uptime_ms: int) -> None:
        """The board waits, between two turns of its loop or in one, when it has lived so long (or a millisecond more)."""
        self._bench[_MAY_LIVE_MS] = uptime_ms

    @property
    def clock_ahead_s(self) -> int:
        """How far the firmware has set the battery-backed clock ahead since power_on()."""
        ahead_s = self._bench[_CLOCK_AHEAD_S]
        return ahead_s - (1 << 32) if ahead_s >> 31 else ahead_s

    def put_packs(self, packs: Mapping[str, bytes]) -> None:
        """Errors: ValueError when they do not fit."""
        if len(packs) > _MAX_PACKS:
            raise ValueError(f"{len(packs)} packs, room for {_MAX_PACKS}")
        rows = b""
        place = 8 + _MAX_PACKS * _ROW.size
        for name, data in packs.items():
            place += -place % _ALIGNMENT
            if place + len(data) > _PACKS_BYTES:
                raise ValueError(f"the packs do not fit into {_PACKS_BYTES} bytes")
            rows += _ROW.pack(name.encode(), place, len(data))
            self.whole[_PACKS + place : _PACKS + place + len(data)] = data
            place += len(data)
        head = b"CABP" + struct.pack("<I", len(packs)) + rows
        self.whole[_PACKS : _PACKS + len(head)] = head


class Machine:
    """A running emulator. `uarts[n]` is the far end of UART n, non-blocking.

    It ends with the process that started it, however that ends.
    """

    def __init__(self, image: Path, memory: BoardMemory, speed: str = REAL_TIME, clock_s: int | None = None) -> None:
        """clock_s: what the battery-backed clock shows; None: its battery was empty, and it begins in 2000."""
        ends = [socket.socketpair() for _ in UARTS]
        self.uarts = [ours for ours, _ in ends]
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed by kill()
        command = ["qemu-system-arm", "-machine", "mps2-an385,memory-backend=nv"]
        command += ["-object", f"memory-backend-file,id=nv,size={MEMORY_BYTES},mem-path={memory.path},share=on"]
        command += ["-kernel", str(image), "-display", "none", "-monitor", "none", "-semihosting"]
        command += _speed_arguments(speed)
        date = datetime(2000, 1, 1) + timedelta(seconds=clock_s or 0)
        command += ["-device", "ds1338,address=0x68", "-rtc", f"base={date.isoformat()},clock=vm"]
        for number, (ours, theirs) in enumerate(ends):
            ours.setblocking(False)
            theirs.setsockopt(
                socket.SOL_SOCKET, socket.SO_SNDBUF, 1
            )  # the least that the kernel gives: some ten writes
            command += ["-chardev", f"socket,id=uart{number},fd={theirs.fileno()}", "-serial", f"chardev:uart{number}"]
        if shutil.which("setpriv"):
            command = ["setpriv", "--pdeathsig", "KILL", *command]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self._words,
            stderr=self._words,
            pass_fds=[theirs.fileno() for _, theirs in ends],
            start_new_session=True,  # an interrupt at the terminal is for the rig, which then ends this process
        )
        for _, theirs in ends:
            theirs.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def ended(self) -> bool:
        return self._process.poll() is not None

    def hold(self) -> None:
        """The board stands still, its clock too."""
        self._process.send_signal(signal.SIGSTOP)

    def release(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """As a power cut: nothing is finished."""
        self._process.kill()
        self._process.wait()
        for uart in self.uarts:
            uart.close()
        self._words.close()

    def last_words(self) -> str:
        """What the emulator and the board's print() said."""
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").splitlines()
        return "\n".join(line for line in lines if "guest is now late" not in line)


@cache
def _one_by_one() -> list[str]:
    """Makes QEMU look at its devices behind each instruction instead of translating long stretches.

    A UART of QEMU takes its next byte when the emulator's main loop gets a turn. In long stretches, with the sleeps of
    icount's align in between, that is once in some milliseconds of the board: a line of 115200 baud shrinks to some
    hundred bytes a second. So the emulator has to be slow, not the line: it then just keeps up with 31 million instructions
    a second, and hardly ever has to sleep.
    """
    said = subprocess.run(["qemu-system-arm", "--version"], capture_output=True, text=True, check=True).stdout
    major, minor = map(int, said.split("version ")[1].split(".")[:2])
    return ["-accel", "tcg,one-insn-per-tb=on"] if (major, minor) >= (8, 1) else ["-singlestep"]


def _speed_arguments(speed: str) -> list[str]:
    if speed == REAL_TIME:
        return ["-icount", "shift=5,align=on,sleep=on", *_one_by_one()]
    if speed == SLOW:
        return ["-icount", "shift=5", *_one_by_one(), "-d", "exec,nochain", "-D", os.devnull]
    return [] if speed == HOST else ["-icount", "shift=5"]


class _Bridge:
    """One line and one UART."""

    def __init__(self, line: Line, uart: socket.socket, sent: Callable[[int], None]) -> None:
        """sent: told how many bytes have gone to the UART."""
        self.uart = uart
        self._line = line
        self._sent = sent
        self._to_board = b""
        self._to_line = b""

    @property
    def listening(self) -> bool:
        """There is room for what the board sends."""
        return not self._to_line

    def move(self) -> None:
        """Hands over what there is, each way as much as the other side takes."""
        self._to_board += self._line.port.read()
        if self._to_board:
            # A board that was switched off says so elsewhere.
            with contextlib.suppress(BlockingIOError, BrokenPipeError):
                number = self.uart.send(self._to_board)
                self._sent(number)
                self._to_board = self._to_board[number:]
        while True:
            if not self._to_line:
                try:
                    self._to_line = self.uart.recv(_CHUNK_BYTES)
                except (BlockingIOError, ConnectionResetError):
                    return
                if not self._to_line:
                    return
            try:
                self._line.port.write(self._to_line)
            except PortError:
                return  # the line is still busy with earlier bytes
            self._to_line = b""


class Mps2Session:
    """One firmware on one board, switched on and off. `poll` returns False when the power failed inside it.

    lines: the rig's; those of UARTS are connected. nvram_path: keeps the board's memory; default: a file of this session.
    speed: STEPPED, REAL_TIME, SLOW, FAST or HOST
    image: what the board was programmed with, its packs in its memory; default: this tree's, built when it is not there
    """

    def __init__(
        self,
        lines: Mapping[str, Line],
        packs: Mapping[str, bytes],
        nvram_path: str | os.PathLike | None = None,
        speed: str = STEPPED,
        image: Path | None = None,
    ) -> None:
        self._lines = dict(lines)
        self.packs = packs
        self.clock: BatteryClock | None = None
        self._clock_s = 0  # what it showed when the board was switched on
        self._ahead_s = 0
        self._programmed = image is not None
        self._image = image or ensure("mps2")
        self._speed = speed
        folder = tempfile.TemporaryDirectory(prefix="cabinet-")
        self._machines: list[Machine] = []
        self._end = weakref.finalize(self, _end, self._machines, folder)
        self.nvram = BoardMemory(Path(nvram_path or Path(folder.name, "memory.bin")))
        self._bridges: list[_Bridge] = []
        self._started_ms = 0
        self._on_ms = 0
        self._resets = 0
        self._polled_ms = 0
        self._uptime_ms = 0
        self._stuck = False  # no millisecond of the board in the last poll
        self._moved_s = 0.0  # when the board's clock was last seen to move, by the computer's

    @property
    def slots(self) -> MemorySlots:
        """The application slots in the board's memory: a programmer's way to them, while the board is off."""
        return self.nvram.slots

    @property
    def on(self) -> bool:
        return bool(self._machines)

    @property
    def machine(self) -> Machine | None:
        return self._machines[0] if self._machines else None

    def start(self, now_ms: int) -> bool:
        """Power comes on; uptime begins at 0. Errors: BoardFailed."""
        self.stop()
        if not self._programmed:
            self.nvram.put_packs(self.packs)
        self.nvram.power_on(provisioned=True)
        shown_s = None if self.clock is None else self.clock.switched_on(now_ms * 1000)
        self._clock_s, self._ahead_s = shown_s or 0, 0
        machine = Machine(self._image, self.nvram, self._speed, shown_s)
        self._machines.append(machine)
        self._bridges = [
            _Bridge(self._lines[name], machine.uarts[number], partial(self.nvram.sent, number))
            for number, name in enumerate(UARTS)
            if name in self._lines
        ]
        end = time.monotonic() + START_S
        while not self.nvram.uptime_ms:
            if machine.ended() or time.monotonic() > end:
                raise self._failed("the board did not start")
            time.sleep(_LOOK_S)
        self._resets = self.nvram.resets
        self._started_ms = self._polled_ms = self._on_ms = now_ms
        self._uptime_ms, self._moved_s, self._stuck = 0, time.monotonic(), False
        if self._speed == STEPPED:
            machine.hold()
        return True

    def stop(self) -> None:
        """The power fails: SIGKILL."""
        while self._machines:
            self._machines.pop().kill()

    def close(self) -> None:
        """Ends the emulator and removes the session's files. A session that is forgotten does so too."""
        self._end()

    def poll(self, now_ms: int) -> bool:
        """Lets the board live until `now_ms`. Errors: BoardFailed."""
        machine = self.machine
        if machine is None:
            return True
        if self._speed != STEPPED:
            return self._live_until(now_ms, machine)
        self.nvram.may_live(max(1, now_ms - self._started_ms))
        machine.release()
        if not self._stuck:
            self._moved_s = time.monotonic()
        alive = self._live_until(now_ms, machine)
        if self.machine is machine:
            machine.hold()
        return alive

    def _follow_clock(self, now_ms: int) -> None:
        """The firmware may have set the battery-backed clock."""
        ahead_s = self.nvram.clock_ahead_s
        if self.clock is not None and ahead_s != self._ahead_s:
            self._ahead_s = ahead_s
            self.clock.set(self._clock_s + (now_ms - self._on_ms) // 1000 + ahead_s, now_ms * 1000)

    def _live_until(self, now_ms: int, machine: Machine) -> bool:
        self._follow_clock(now_ms)
        step_s, self._polled_ms = (now_ms - self._polled_ms) / 1000, now_ms
        began = time.monotonic()
        ahead_ms = self.nvram.uptime_ms - (now_ms - self._started_ms)
        if ahead_ms > AHEAD_MS and self.nvram.resets == self._resets:
            # The rig was busy (a search for entropy, say) while the board lived on: it goes on from the board's time,
            # else what it waits for next would be over in no time of the board's.
            self._started_ms -= ahead_ms
        while True:
            for bridge in self._bridges:
                bridge.move()
            if self.nvram.cut:
                self.stop()
                return False
            if machine.ended():
                raise self._failed("the emulator ended")
            if self.nvram.resets != self._resets:
                self._restarted(now_ms)
                return True
            uptime_ms, now = self.nvram.uptime_ms, time.monotonic()
            if uptime_ms != self._uptime_ms:
                self._uptime_ms, self._moved_s, self._stuck = uptime_ms, now, False
            if uptime_ms >= now_ms - self._started_ms:
                return True
            stuck_s = now - self._moved_s
            if stuck_s > DEAD_S:
                raise self._failed("the board stands still")
            if stuck_s > FROZEN_S and now - began >= step_s:
                self._stuck = True
                self._started_ms = now_ms - uptime_ms  # the time it stands still does not count as its uptime
                return True
            select.select([bridge.uart for bridge in self._bridges if bridge.listening], [], [], _LOOK_S)

    def _restarted(self, now_ms: int) -> None:
        """The board has reset itself."""
        self._resets = self.nvram.resets
        self._started_ms = now_ms
        for line in self._lines.values():
            line.board_reset()

    def _failed(self, what: str) -> BoardFailed:
        machine = self.machine
        time.sleep(0.05)  # a traceback may still be on its way
        words = machine.last_words() if machine is not None else ""
        self.stop()
        return BoardFailed(f"{what}:\n{words}" if words else what)


def _end(machines: list[Machine], folder: tempfile.TemporaryDirectory) -> None:
    while machines:
        machines.pop().kill()
    folder.cleanup()

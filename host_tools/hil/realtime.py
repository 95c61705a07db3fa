"""The same devices and the same firmware in real time, each in its own process, joined by ptys or real serial lines."""

import os
import select
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import cast

from firmware.main import Cabinet
from hal.board import Clock, SerialPort
from hal.boards.host import ComputerClock, FileNvram, HostBoard, TtySerialPort
from host_tools.hil import script_commands as cmd
from host_tools.hil.line import PtyLine
from host_tools.hil.script import ScriptError, parse
from host_tools.hil.world import BAUDS, STOP_BITS, World

FIRMWARE_LINES = ("console", "cctalk", "panel", "entropy", "note")
NEEDED_LINES = ("cctalk", "panel", "entropy")
TURN_S = 0.001


class BadPort(Exception):
    """A --port that names no line, or no path."""


class TerminalPort(SerialPort):
    """Standard input and output as the console line."""

    def read(self) -> bytes:
        ready, _, _ = select.select([sys.stdin], [], [], 0)
        if not ready:
            return b""
        return os.read(sys.stdin.fileno(), 4096)  # what a buffer took besides, select would not tell of

    def write(self, data: bytes) -> None:
        sys.stdout.write(data.decode(errors="replace").replace("\r\n", "\n"))
        sys.stdout.flush()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _typed() -> str | None:
    """Lines from standard input if there are some; None when there will be no more."""
    if sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) != os.getpgrp():
        return ""  # in the background: reading would stop this process
    ready, _, _ = select.select([sys.stdin], [], [], 0)
    return (os.read(sys.stdin.fileno(), 4096).decode(errors="replace") or None) if ready else ""


def do_by_hand(world: World, text: str) -> None:
    """What a person at the cabinet does, as in a rig script. Errors: ScriptError."""
    for command in parse(text, "devices"):
        panel, now_us = world.panel, world.lines["panel"].now_us
        if isinstance(command, cmd.Coin):
            world.acceptor.insert(command.pence, world.lines["cctalk"].now_us)
        elif isinstance(command, cmd.Press):
            panel.press(command.button, now_us, command.for_ms)
        elif isinstance(command, cmd.Door):
            panel.set_input(command.door, command.opened, now_us)
        elif isinstance(command, cmd.Key):
            panel.set_input(command.key, command.turned, now_us)
        else:
            print(f"{command}: here there are coin, press, open, close, turn and unturn", file=sys.stderr)


def serve_devices() -> None:
    """Powers up the default cabinet's devices on ptys, prints the paths, and serves until interrupted.

    Lines on standard input are what a person does: `turn technician`, `open logic`, `coin 100`, `press start`.
    """
    world = World(lambda event: None, make_line=PtyLine)
    lines = {name: cast(PtyLine, line) for name, line in world.lines.items() if name != "console"}
    for line in lines.values():
        line.advance()
    world.power(True, 0)
    for name, line in lines.items():
        print(f"{name}={line.path}", flush=True)
    signal.signal(signal.SIGTERM, _interrupt)
    typed: str | None = ""
    try:
        while True:
            for line in lines.values():
                line.advance()
            if typed is not None:
                typed = _typed()
            if typed:
                try:
                    do_by_hand(world, typed)
                except ScriptError as error:
                    print(error, file=sys.stderr)
            time.sleep(TURN_S)
    except KeyboardInterrupt:
        pass
    finally:
        for line in lines.values():
            line.close()


def run_firmware(ports: Sequence[str], nvram: Path, packs: Mapping[str, bytes], seconds: float) -> None:
    """Runs the firmware on the named ttys. Errors: BadPort; OSError or ValueError for the NVRAM file."""
    named: dict[str, SerialPort] = {}
    for entry in ports:
        name, separator, path = entry.partition("=")
        if not separator or not path or name not in FIRMWARE_LINES:
            raise BadPort(f"--port {entry}: say NAME=PATH with NAME one of {', '.join(FIRMWARE_LINES)}")
        named[name] = TtySerialPort(path, BAUDS[name], stop_bits=STOP_BITS.get(name, 1))
    missing = [name for name in NEEDED_LINES if name not in named]
    if missing:
        raise BadPort(f"no path for {', '.join(missing)}: add --port {missing[0]}=PATH")
    named.setdefault("console", TerminalPort())
    for name in FIRMWARE_LINES:
        named.setdefault(name, SerialPort())  # nobody connected it
    memory = FileNvram(nvram)
    board = HostBoard(named, memory, dict(packs), clock=ComputerClock())
    clock = Clock()
    signal.signal(signal.SIGTERM, _interrupt)
    end = time.monotonic() + seconds if seconds else None
    try:
        cabinet = Cabinet(board, clock.now(board.ticks_ms()))
        while end is None or time.monotonic() < end:
            cabinet.poll(clock.now(board.ticks_ms()))
            time.sleep(TURN_S)
    except KeyboardInterrupt:
        pass
    finally:
        memory.close()

"""A rig in real time, its console open to other programs: a terminal, `cabinet flash`, anybody's SMP tool.

The cabinet lives in the rig's virtual time as always; here that time goes no faster than the computer's. A board that it
cannot emulate so fast runs slower than real, and what arrives meanwhile waits.
"""

import contextlib
import os
import pty
import select
import signal
import socket
import sys
import time
import tty
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Protocol

from host_tools.hil.device import NEVER, Device
from host_tools.hil.rig import Rig, RigError
from host_tools.hil.script import ScriptError, parse

STEP_MS = 2
AHEAD_BYTES = 256  # on their way to the board: then the other program's writes wait, as on a real port
UNREAD_BYTES = 1 << 16  # that nobody takes; older ones are lost
LATE_S = 0.2  # behind real time: what is more is not caught up with


class BadConsole(Exception):
    """The place for the console cannot be made. The text says why."""


class _End(Protocol):
    """Where the other program is."""

    name: str

    def read(self, most: int) -> bytes: ...
    def write(self, data: bytes) -> int: ...
    def close(self) -> None: ...


class PtyEnd:
    """A pty, with a link of a chosen name to it."""

    def __init__(self, link: Path) -> None:
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.name = str(link)
        self._link = link
        try:
            if link.is_symlink():
                link.unlink()  # of an earlier run
            link.symlink_to(os.ttyname(self._slave))
        except OSError as error:
            raise BadConsole(f"cannot make {link}: {error.strerror}") from None

    def read(self, most: int) -> bytes:
        with contextlib.suppress(BlockingIOError):
            return os.read(self._master, most)
        return b""

    def write(self, data: bytes) -> int:
        with contextlib.suppress(BlockingIOError):
            return os.write(self._master, data)
        return 0

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._link.unlink()
        os.close(self._master)
        os.close(self._slave)


class TcpEnd:
    """A TCP port for one program at a time: socket://HOST:PORT of pyserial."""

    def __init__(self, host: str, port: int) -> None:
        try:
            self._server = socket.create_server((host, port))
        except OSError as error:
            raise BadConsole(f"cannot listen on {host}:{port}: {error.strerror}") from None
        self._server.setblocking(False)
        self._peer: socket.socket | None = None
        self.name = f"socket://{host}:{self._server.getsockname()[1]}"

    def read(self, most: int) -> bytes:
        with contextlib.suppress(BlockingIOError):
            peer, _ = self._server.accept()
            peer.setblocking(False)
            self._hang_up()
            self._peer = peer
        if self._peer is None:
            return b""
        try:
            data = self._peer.recv(most)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._hang_up()
        return data

    def write(self, data: bytes) -> int:
        if self._peer is None:
            return len(data)  # nobody listens
        with contextlib.suppress(BlockingIOError):
            try:
                return self._peer.send(data)
            except OSError:
                self._hang_up()
        return 0

    def _hang_up(self) -> None:
        if self._peer is not None:
            self._peer.close()
        self._peer = None

    def close(self) -> None:
        self._hang_up()
        self._server.close()


def open_end(place: str) -> PtyEnd | TcpEnd:
    """HOST:PORT or a path. Errors: BadConsole."""
    host, colon, port = place.rpartition(":")
    if colon and port.isdigit() and "/" not in host:
        return TcpEnd(host or "127.0.0.1", int(port))
    return PtyEnd(Path(place))


class ConsoleOutlet(Device):
    """The console line's far end, for another program. It shares the line with the rig's own client."""

    name = "outlet"
    wake_us = NEVER

    def __init__(self, rig: Rig, end: _End) -> None:
        self._end = end
        self._unread = bytearray()
        self._line = rig.world.lines["console"]
        self._free_us = 0.0  # when what was handed over has left
        self._line.attach(self)

    def receive(self, byte: int, now_us: int) -> None:
        self._unread.append(byte)

    def move(self) -> None:
        """Hands over what there is, each way as much as the other side takes."""
        if self._unread:
            del self._unread[: self._end.write(bytes(self._unread))]
            del self._unread[:-UNREAD_BYTES]
        byte_us = self._line.byte_ns / 1000
        now_us = float(self._line.now_us)
        room = AHEAD_BYTES - int(max(0.0, self._free_us - now_us) / byte_us)
        data = self._end.read(room) if room > 0 else b""
        if data and self.line is not None:
            self.line.send(data)
            self._free_us = max(self._free_us, now_us) + len(data) * byte_us


def serve(rig: Rig, end: _End, hands: Callable[[], str | None], until: Callable[[], bool] = lambda: False) -> None:
    """Lets the cabinet live in real time until `until()`.

    hands: lines of a rig script that somebody types, "" for none now, None when there will be no more
    """
    outlet = ConsoleOutlet(rig, end)
    began_s, began_ms = time.monotonic(), rig.now_ms
    typed: str | None = ""
    while not until():
        outlet.move()
        late_s = time.monotonic() - began_s - (rig.now_ms - began_ms) / 1000
        if late_s > LATE_S:
            began_s += late_s - LATE_S
        if late_s * 1000 < STEP_MS:
            time.sleep(STEP_MS / 1000)
            continue
        rig.step(STEP_MS)
        if typed is not None:
            typed = hands()
        if typed:
            try:
                rig.run(parse(typed, "typed"))
            except (ScriptError, RigError) as error:
                print(error, file=sys.stderr)
            began_s, began_ms = time.monotonic(), rig.now_ms


def _typed() -> str | None:
    """Lines from standard input if there are some; None when there will be no more."""
    if sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) != os.getpgrp():
        return ""  # in the background: reading would stop this process
    ready, _, _ = select.select([sys.stdin], [], [], 0)
    return (os.read(sys.stdin.fileno(), 4096).decode(errors="replace") or None) if ready else ""


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def serve_console(rig: Rig, place: str) -> None:
    """Opens the console at `place` and serves until interrupted. Errors: BadConsole; RigError, BoardFailed of the cabinet."""
    end = open_end(place)
    signal.signal(signal.SIGTERM, _interrupt)
    print(
        f"console: {end.name}  (here a person at the cabinet types: coin 200, turn technician, open logic; Ctrl-C ends)",
        flush=True,
    )
    try:
        serve(rig, end, _typed)
    except KeyboardInterrupt:
        pass
    finally:
        end.close()

"""Runs Python source on the emulated Cortex-M3 through the raw REPL of its first UART."""

import os
import select
import subprocess
import time
from pathlib import Path

_QEMU = [
    "qemu-system-arm",
    "-machine",
    "mps2-an385",
    "-display",
    "none",
    "-monitor",
    "none",
    "-semihosting",
    "-serial",
    "stdio",
]
_PIECE_BYTES = 64  # the UART has no buffer of its own; the emulator takes what the guest has read
_ANSWER_S = 900.0


class ReplError(Exception):
    """What was run raised, or the board fell silent."""


class Emulator:
    """A running board without a rig. `run` executes source and returns what it prints."""

    def __init__(self, image: Path) -> None:
        self._process = subprocess.Popen(
            [*_QEMU, "-kernel", str(image)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._process.stdin
        self._out = self._process.stdout
        self._until(b">>> ")
        self._in.write(b"\x01")  # raw: no echo, an end mark behind the output and one behind the errors
        self._until(b"raw REPL; CTRL-B to exit\r\n>")

    def run(self, source: str) -> str:
        """Errors: ReplError with the board's traceback."""
        data = source.encode()
        for first in range(0, len(data), _PIECE_BYTES):
            self._in.write(data[first : first + _PIECE_BYTES])
        self._in.write(b"\x04")
        answer = self._until(b"\x04>")
        printed, errors = answer.removeprefix(b"OK")[:-2].split(b"\x04")
        if errors:
            raise ReplError(errors.decode(errors="replace"))
        return printed.decode().replace("\r\n", "\n")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._in.close()
        self._out.close()

    def _until(self, mark: bytes) -> bytes:
        heard = b""
        end = time.monotonic() + _ANSWER_S
        while not heard.endswith(mark):
            ready = select.select([self._out], [], [], max(0.0, end - time.monotonic()))[0]
            if not ready:
                raise ReplError(f"the board was silent; it had said {heard[-500:]!r}")
            more = os.read(self._out.fileno(), 4096)
            if not more:
                raise ReplError(f"the emulator ended; it had said {heard[-500:]!r}")
            heard += more
        return heard

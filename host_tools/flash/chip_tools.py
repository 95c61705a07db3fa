"""Boards that somebody else's tool programs: esptool (Espressif's chips), pyocd (a debug probe at SWD).

Both are called as the programs that their documents describe, in a process of their own: their command lines are what they keep
stable, an interrupt ends them cleanly, and esptool's licence (GPL) stays with it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from host_tools.cabinet import exits
from host_tools.cabinet.exits import fail
from host_tools.flash.failure import FlashError
from host_tools.flash.resident import Resident

ASK_S: Final = 60.0  # for a question; esptool tries seven times to connect
WRITE_S: Final = 900.0  # for all of an image, on the slowest line

_IMAGE_TYPE: Final = re.compile(r"Detected image type:\s*(\S+)")
_CONNECTED: Final = re.compile(r"Connected to (\S+) on ")
_PERCENT: Final = re.compile(r"(\d{1,3})(?:\.\d+)?\s?%")


class Tool:
    """A program of a Python package. name: of both; least: its first major and minor version that is known to work."""

    def __init__(self, name: str, least: tuple[int, int], version_argument: str) -> None:
        self.name = name
        self._least = least
        self._version_argument = version_argument
        self._path = ""

    def path(self) -> str:
        """Where it is. Errors: typer.Exit 1 with the line that installs it."""
        if not self._path:
            beside = str(Path(sys.executable).parent)
            found = shutil.which(self.name) or shutil.which(self.name, path=beside)
            wanted = f"pip install '{self.name}>={'.'.join(map(str, self._least))}'"
            if found is None:
                raise fail(f"this board is programmed by {self.name}, which is not installed: {wanted}")
            said = self._output([found, self._version_argument], ASK_S, lambda line: None)[1]
            numbers = re.findall(r"(\d+)\.(\d+)", said)
            if not numbers or tuple(map(int, numbers[-1])) < self._least:
                raise fail(
                    f"{found} is not a {self.name} that is new enough ({said.strip() or 'it does not say'}): {wanted}"
                )
            self._path = found
        return self._path

    def run(
        self, *arguments: str, limit_s: float = ASK_S, on_line: Callable[[str], None] = lambda line: None
    ) -> tuple[int, str]:
        """(exit code, all that it said). Killed after `limit_s`."""
        return self._output([self.path(), *arguments], limit_s, on_line)

    def _output(self, command: list[str], limit_s: float, on_line: Callable[[str], None]) -> tuple[int, str]:
        plain = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200", "PYTHONUNBUFFERED": "1"}
        said: list[str] = []
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,  # a carriage return ends a line, too
            errors="replace",
            env=plain,
        ) as process:
            timer = threading.Timer(limit_s, process.kill)
            timer.start()
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    said.append(line)
                    on_line(line)
            finally:
                timer.cancel()
        return process.returncode, "".join(said)


def last_words(said: str) -> str:
    """The error that a tool ended with, in one line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it said nothing"])[-1 if not errors else 0]


def percent_of(line: str) -> int | None:
    """How far a tool says that it is."""
    found = _PERCENT.search(line)
    return min(100, int(found[1])) if found else None


# --- esptool -----------------------------------------------------------------------------------------------------------


class Esp:
    """A chip of Espressif in its bootloader, at a serial port."""

    def __init__(self) -> None:
        self._tool = Tool("esptool", (5, 0), "version")

    def check_image(self, image: Resident) -> None:
        """esptool's own judgement of the file. Errors: typer.Exit 2."""
        code, said = self._tool.run("image-info", str(image.path))
        chip = _IMAGE_TYPE.search(said)
        if code or chip is None:
            raise fail(f"{image.path} is no image that esptool can read: {last_words(said)}", 2)
        if "(invalid" in said:
            raise fail(f"{image.path} is damaged: its checksum or hash is wrong; build or copy it again", 2)
        if chip[1].upper() != image.way.target:
            raise fail(f"{image.path} is for {chip[1].upper()}, and a {image.way.board} has {image.way.target}", 2)

    def identify(self, image: Resident, port: str) -> str:
        """The chip that answers. Errors: FlashError."""
        code, said = self._tool.run("--port", port, "chip-id")
        chip = _CONNECTED.search(said)
        if "could not open" in said.lower():
            raise FlashError(exits.NO_PORT, last_words(said), "check name, cable and that no other program has it")
        if code or chip is None:
            raise FlashError(
                exits.NO_ANSWER,
                f"no chip answers at {port}: {last_words(said)}",
                "hold BOOT down while the board resets, and repeat",
            )
        if chip[1].upper() != image.way.target:
            raise FlashError(
                exits.WRONG_BOARD,
                f"the chip at {port} is {chip[1]}, the image is for {image.way.target}",
                "nothing was written; take the image for that chip, or name the other port",
            )
        return chip[1]

    def write(self, image: Resident, port: str, on_percent: Callable[[int], None]) -> None:
        """Writes; esptool reads a hash of the flash back. Errors: FlashError."""
        chip = image.way.target.lower().replace("-", "")
        where = ("write-flash", f"0x{image.way.address:x}", str(image.path))
        _write(self._tool, ("--chip", chip, "--port", port, *where), on_percent)


# --- pyocd -------------------------------------------------------------------------------------------------------------


class Probe:
    """A chip behind a debug probe; the port is the probe's unique id."""

    def __init__(self) -> None:
        self._tool = Tool("pyocd", (0, 36), "--version")

    def check_image(self, image: Resident) -> None:
        """Nothing but that the tool is there: the file was judged before."""
        self._tool.path()

    def probes(self) -> list[dict[str, str]]:
        """unique_id, info and target of each. Errors: typer.Exit 1."""
        code, said = self._tool.run("json", "--probes")
        try:
            return json.loads(said[said.index("{") :])["boards"]
        except (ValueError, LookupError, TypeError):
            raise fail(f"pyocd does not list its probes (exit {code}): {last_words(said)}") from None

    def identify(self, image: Resident, port: str | None) -> str:
        """The chip that is connected, as far as the probe can tell. Errors: FlashError."""
        probes = self.probes()
        probe = next((probe for probe in probes if probe["unique_id"] == port), None)
        if probe is None:
            lines = [f"  {it['unique_id']}  {it.get('info', '')}".rstrip() for it in probes]
            listed = "\n".join(lines) or "  (this computer has none that shows itself)"
            what = "name the debug probe with --port" if port is None else f"there is no debug probe {port}"
            raise FlashError(
                exits.NO_PORT, f"{what}. There is:\n{listed}", "check cable, and the rights to USB devices"
            )
        told = probe.get("target") or "cortex_m"
        wanted = image.way.target
        if told != "cortex_m" and not told.startswith(wanted):  # rp2040_core0 is an rp2040
            raise FlashError(
                exits.WRONG_BOARD,
                f"the probe {port} is part of a board with {told}, the image is for {wanted}",
                "nothing was written; name the probe of the other board",
            )
        arguments = ("--no-wait", "--uid", str(port), "--target", wanted, "--connect", "attach", "--command", "status")
        code, said = self._tool.run("commander", *arguments)
        if code:
            raise FlashError(
                exits.NO_ANSWER,
                f"no {wanted} answers the probe {port}: {last_words(said)}",
                "check the wires SWDIO, SWCLK and GND, and the board's power",
            )
        return told if told != "cortex_m" else wanted

    def write(self, image: Resident, port: str, on_percent: Callable[[int], None]) -> None:
        """Errors: FlashError."""
        arguments = ["load", "--no-wait", "--uid", port, "--target", image.way.target, "--format", image.kind.lower()]
        if image.kind == "BIN":
            arguments += ["--base-address", f"0x{image.way.address:x}"]
        _write(self._tool, (*arguments, str(image.path)), on_percent)


def _write(tool: Tool, arguments: tuple[str, ...], on_percent: Callable[[int], None]) -> None:
    def heard(line: str) -> None:
        percent = percent_of(line)
        if percent is not None:
            on_percent(percent)

    code, said = tool.run(*arguments, limit_s=WRITE_S, on_line=heard)
    if code:
        raise FlashError(
            exits.BROKEN_OFF,
            f"{tool.name} ended with {code}: {last_words(said)}",
            "repair the connection and repeat; until then the board may have no whole program",
        )

"""`cabinet flash`, `slots`, `confirm`, `rollback`: updates over the console line, and the first program of a bare board.

Exit: 0 done, 2 wrong arguments or a file that is no image, 10 to 16 as in host_tools/cabinet/exits.py.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from serial.tools import list_ports
from smp.image_management import ImageState

from firmware.update import image as images
from host_tools.cabinet import exits, games
from host_tools.cabinet.exits import fail
from host_tools.flash.failure import FlashError
from host_tools.flash.flashing import Cabinet, Identity, NewImage, same_board
from host_tools.flash.inspecting import slot_fields, slot_line
from host_tools.flash.link import SerialWire
from host_tools.flash.programming import program
from host_tools.flash.resident import BOARDS, recognise
from host_tools.flash.uploading import Transfer

Port = Annotated[
    str | None,
    typer.Option(help="The cabinet's console: /dev/ttyUSB0, a pty, socket://HOST:PORT, rfc2217://HOST:PORT."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One object a line: what is found, progress, a summary last.")]
Patience = Annotated[
    float, typer.Option(help="Seconds without any progress, or without the port, until it is given up.", min=1)
]


class Teller:
    """What happens, for a person or for a program."""

    def __init__(self, as_json: bool, silent: bool = False) -> None:
        """silent: only errors are told; the command has one answer and prints it itself."""
        self.as_json = as_json
        self.silent = silent

    def event(self, kind: str, words: str, **fields: Any) -> None:
        """words: for a person, "" for nothing; fields: for a program."""
        if self.silent and kind != "error":
            return
        if self.as_json:
            print(json.dumps({"e": kind, **fields}), flush=True)
        elif words:
            print(words, flush=True)

    def heard(self, line: str) -> None:
        """The cabinet's own words about an update; what else its console prints is for others."""
        if line.startswith("update: "):
            self.event("said", f"cabinet says: {line.removeprefix('update: ')}", text=line)


@contextmanager
def errors_told(tell: Teller) -> Iterator[None]:
    """Ends the command with code, cause and advice when something is wrong."""
    try:
        yield
    except FlashError as error:
        tell.event("error", "", code=error.code, what=str(error), advice=error.advice)
        raise fail(f"{error}\n         {error.advice}", error.code) from None
    except KeyboardInterrupt:
        raise fail(
            "interrupted\n         run the same command again; an application goes on where it broke off", 130
        ) from None


@contextmanager
def open_cabinet(port: str | None, tell: Teller, patience_s: float, **more: Any) -> Iterator[tuple[Cabinet, Identity]]:
    """A cabinet that has said who it is."""
    if port is None:
        name_one()
    cabinet = None
    with errors_told(tell):
        try:
            cabinet = Cabinet(lambda: SerialWire(port), patience_s, tell.heard, **more)
            who = cabinet.identify()
            words = f"{who.program} {who.name}, board {who.board}, firmware {who.version}"
            tell.event("identity", words, port=port, **vars(who))
            yield cabinet, who
        finally:
            if cabinet is not None:
                cabinet.close()


def name_one() -> NoReturn:
    """Nothing is sent to a port that nobody named: it may be a printer or another cabinet."""
    found = sorted(list_ports.comports())
    lines = [f"  {port.device}  {port.description}  {port.serial_number or ''}".rstrip() for port in found]
    listed = "\n".join(lines) if lines else "  (this computer has none that shows itself)"
    raise fail(f"name the cabinet's port with --port. There is:\n{listed}", exits.NO_PORT)


def read_file(path: Path) -> bytes:
    """Errors: typer.Exit 2."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise fail(f"cannot read {path}: {error.strerror}", 2) from None


def application(path: Path, data: bytes) -> NewImage:
    """Errors: typer.Exit 2 when it is no whole application image."""
    try:
        found = images.parse(data)
    except images.ImageError as error:
        raise fail(f"{path} is no image for a cabinet: {error}; make one with cabinet image build", 2) from None
    if found.size != len(data) or images.native.sha256(data[: found.signed]) != found.hash:
        raise fail(f"{path} is damaged: its hash is not that of its bytes; build or copy it again", 2)
    return NewImage(data, found.hash, found.version, found.board)


def show_slots(tell: Teller, states: list[ImageState]) -> None:
    for state in states:
        fields = slot_fields(state)
        tell.event("slot", slot_line(fields), **fields)
    if not any(state.active for state in states):
        tell.event("factory", "no application out of a slot runs: the factory's does")


@contextmanager
def _progress(tell: Teller, name: str) -> Iterator[Callable[[Transfer], None]]:
    """A bar with rate and time left on a terminal; with --json events, one a percent."""
    if tell.as_json:
        told = [-1]

        def each(transfer: Transfer) -> None:
            percent = 100 * transfer.offset // transfer.total
            if percent != told[0]:
                told[0] = percent
                rate = round(transfer.rate)
                left_s = round((transfer.total - transfer.offset) / rate) if rate else None
                fields = {"offset": transfer.offset, "total": transfer.total, "rate": rate, "left_s": left_s}
                tell.event("progress", "", **fields, retries=transfer.retries)

        yield each
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), DownloadColumn())
    console = Console(stderr=True)
    with Progress(*columns, TransferSpeedColumn(), TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(name, total=None)
        yield lambda transfer: bar.update(task, completed=transfer.offset, total=transfer.total)


def flash(
    image: Annotated[
        Path,
        typer.Argument(
            help="What cabinet image build made, or the resident image of a bare board (ELF, UF2, HEX, BIN)."
        ),
    ],
    port: Annotated[
        str | None,
        typer.Option(
            help="The cabinet's console: /dev/ttyUSB0, a pty, socket://HOST:PORT, rfc2217://HOST:PORT. "
            "Of a bare board: its bootloader's volume, serial port or debug probe, or the folder of an emulated one."
        ),
    ] = None,
    board: Annotated[
        str | None, typer.Option(help=f"Of a resident image that does not tell it: {', '.join(BOARDS)}.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Look at the file, ask who is there, write nothing.")
    ] = False,
    start: Annotated[
        bool, typer.Option(help="Start the new image when it has arrived; --no-start leaves it in its slot.")
    ] = True,
    patience: Patience = 60,
    as_json: AsJson = False,
) -> None:
    """Bring an application image into a cabinet's free slot and start it on trial; or program a bare board with a resident image.

    An application stays only after `cabinet confirm`; until then each reset, hang or power cut brings the image before back. An
    interrupted transfer goes on where it broke off when the command is repeated.

    Exit: 0 done, 1 a tool is missing, 2 wrong file, 10 no port, 11 no answer, 12 other board, 13 refused, 14 broken off,
    15 image not valid, 16 the new image did not start.
    """
    tell, data = Teller(as_json), read_file(image)
    with errors_told(tell):
        if not data.startswith(images.MAGIC.to_bytes(4, "little")):
            resident = recognise(image, data, board)
            with _progress(tell, image.name) as progress:
                program(resident, port, dry_run, games.packs, tell.event, progress, name_one)
            return
        new = application(image, data)
        if board not in (None, new.board):
            raise FlashError(
                exits.WRONG_BOARD,
                f"the image is for board {new.board!r}, not {board!r}",
                f"nothing was written; take the image for {board!r}",
            )
    _update(tell, image, new, port, dry_run, start, patience)


def _update(
    tell: Teller, image: Path, new: NewImage, port: str | None, dry_run: bool, start: bool, patience: float
) -> None:
    """An application into a running cabinet."""
    with (
        _progress(tell, new.version) as progress,
        open_cabinet(port, tell, patience, on_progress=progress) as (cabinet, who),
    ):
        same_board(new, who)
        before = cabinet.images()
        there = any(bytes(state.hash or b"") == new.hash for state in before)
        running = any(state.active and bytes(state.hash or b"") == new.hash for state in before)
        if dry_run:
            what = (
                "runs already"
                if running
                else "is in a slot already"
                if there
                else f"would be sent: {len(new.data)} bytes"
            )
            tell.event(
                "dry_run", f"version {new.version} {what}; nothing was written", there=there, bytes=len(new.data)
            )
            show_slots(tell, before)
            return
        transfer = Transfer(len(new.data), len(new.data), len(new.data))
        if not there:
            transfer = cabinet.upload(new)
        done = {"bytes": transfer.total, "resumed_at": transfer.began_at, "seconds": round(transfer.seconds, 1)}
        done |= {"rate": round(transfer.rate), "retries": transfer.retries, "replugs": transfer.replugs}
        done |= {"damaged": transfer.damaged, "restarts": transfer.restarts}
        tell.event(
            "sent", f"version {new.version} is there whole: the cabinet's own hash is {new.hash.hex()[:16]}", **done
        )
        if running or not start:
            _summary(tell, new, "runs" if running else "sent", f"try it with: cabinet flash --port {port} {image}")
            return
        cabinet.test(new.hash)
        tell.event("reset", "the cabinet restarts with it")
        after = cabinet.reset()
        show_slots(tell, after)
        if not any(state.active and bytes(state.hash or b"") == new.hash for state in after):
            raise FlashError(
                exits.NOT_STARTED,
                f"version {new.version} does not run: the image before does",
                "type slots at the console: it says why; the money is untouched",
            )
        _summary(tell, new, "trial", f"look at the cabinet, then: cabinet confirm --port {port}")


def _summary(tell: Teller, new: NewImage, state: str, then: str) -> None:
    words = {"runs": "runs already", "sent": "is in its slot", "trial": "runs on trial"}[state]
    advice = "" if state == "runs" else f"; {then}"
    tell.event(
        "summary", f"version {new.version} {words}{advice}", state=state, version=new.version, hash=new.hash.hex()
    )


def slots(port: Port = None, as_json: AsJson = False) -> None:
    """List the images in a cabinet's slots, as the cabinet tells them."""
    tell = Teller(as_json)
    with open_cabinet(port, tell, 10) as (cabinet, _):
        show_slots(tell, cabinet.images())


def confirm(port: Port = None, as_json: AsJson = False) -> None:
    """Keep the image that runs. From now on no image with a lower security counter is started."""
    tell = Teller(as_json)
    with open_cabinet(port, tell, 10) as (cabinet, _):
        cabinet.confirm()
        show_slots(tell, cabinet.images())


def rollback(
    port: Port = None,
    start: Annotated[bool, typer.Option(help="Restart with it now; --no-start leaves that to the next reset.")] = True,
    as_json: AsJson = False,
) -> None:
    """Go back to the image in the other slot."""
    tell = Teller(as_json)
    with open_cabinet(port, tell, 10) as (cabinet, _):
        states = cabinet.images()
        other = next((state for state in states if not state.active and state.confirmed), None)
        if other is None:
            raise FlashError(
                exits.REFUSED,
                "there is no other confirmed image to go back to",
                "flash the one that is wanted; an image on trial is left by switching off and on",
            )
        cabinet.go_back_to(bytes(other.hash or b""))
        show_slots(tell, cabinet.reset() if start else cabinet.images())


def join(app: typer.Typer) -> None:
    """The verbs of this file as commands of `app`."""
    for command in (flash, slots, confirm, rollback):
        app.command()(command)

"""The first program of a bare board: whatever way its chip has, the same steps. Look at the file, ask who is there, write."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from host_tools.boards import board_files
from host_tools.cabinet import exits
from host_tools.flash import volume
from host_tools.flash.chip_tools import Esp, Probe
from host_tools.flash.failure import FlashError
from host_tools.flash.resident import EMULATOR, ESPTOOL, VOLUME, Resident
from host_tools.flash.uploading import Transfer

Event = Callable[..., None]  # (kind, words for a person, fields for a program)
Progress = Callable[[Transfer], None]


def program(
    image: Resident,
    port: str | None,
    dry_run: bool,
    packs: Callable[[], Mapping[str, bytes]],
    event: Event,
    on_progress: Progress,
    name_port: Callable[[], None],
) -> None:
    """Programs a board with a resident image, or with `dry_run` does all but write.

    packs: the games, for a board whose memory is made here; name_port: ends the command, with the serial ports that there are
    Errors: FlashError; typer.Exit 1 when a tool is missing, 2 when the file is not what its tool takes.
    """
    name, size = image.way.board, len(image.data)
    event("file", f"{image.path}: {image.kind}, {size} bytes, for {name}", format=image.kind, board=name, bytes=size)
    steps = _STEPS.get(image.way.way, _by_tool)
    steps(image, port, dry_run, packs, event, on_progress, name_port)
    if dry_run:
        event("dry_run", f"{name} would be programmed by way of its {image.way.way}; nothing was written", bytes=size)
    else:
        event("summary", f"{name} is programmed", state="programmed", board=name, bytes=size)


def _found(event: Event, image: Resident, port: object, what: str) -> None:
    event("identity", f"{what} at {port}", port=str(port), board=image.way.board, found=what)


def _by_volume(image: Resident, port: str | None, dry_run: bool, packs, event: Event, on_progress: Progress, _) -> None:
    there = volume.find(port, image.way.target)
    _found(event, image, there.folder, there.board_id)
    if not dry_run:
        _sent(event, volume.copy(image.data, there, on_progress))


def _by_tool(
    image: Resident, port: str | None, dry_run: bool, packs, event: Event, on_progress: Progress, name_port
) -> None:
    tool = Esp() if image.way.way == ESPTOOL else Probe()
    tool.check_image(image)
    if port is None and isinstance(tool, Esp):
        name_port()
    # The probe lists its own candidates.
    _found(event, image, port, tool.identify(image, port))  # pyright: ignore[reportArgumentType]
    if dry_run:
        return
    assert port is not None
    transfer, began_s = Transfer(len(image.data)), time.monotonic()

    def heard(percent: int) -> None:
        transfer.offset = percent * transfer.total // 100
        transfer.seconds = time.monotonic() - began_s
        on_progress(transfer)

    tool.write(image, port, heard)
    heard(100)
    _sent(event, transfer)


def _by_emulator(image: Resident, port: str | None, dry_run: bool, packs, event: Event, on_progress, _) -> None:
    if port is None:
        raise FlashError(
            exits.NO_PORT, "name the folder of the emulated board with --port", "a new name makes a new board"
        )
    folder = Path(port)
    if not folder.parent.is_dir():
        raise FlashError(exits.NO_PORT, f"there is no folder {folder.parent}", "make it, or name another one")
    if folder.exists() and (not folder.is_dir() or os.listdir(folder)):
        raise FlashError(
            exits.REFUSED,
            f"{folder} is there already, and its memory may hold money",
            "a bare board is a new folder: name another one; an application goes into a running cabinet",
        )
    _found(event, image, folder, f"a bare {image.way.target}")
    if dry_run:
        return
    began_s = time.monotonic()
    try:
        board_files.make(folder, image.data, packs())
    except (OSError, ValueError) as error:
        raise FlashError(exits.BROKEN_OFF, f"cannot make {folder}: {error}", "nothing of it was left; repeat") from None
    size = len(image.data)
    _sent(event, Transfer(size, offset=size, seconds=time.monotonic() - began_s))
    event("next", f"switch it on with: cabinet run --board {image.way.board} --at {folder}")


def _sent(event: Event, transfer: Transfer) -> None:
    seconds, rate = round(transfer.seconds, 1), round(transfer.rate)
    event("sent", f"{transfer.offset} bytes in {seconds} s", bytes=transfer.offset, seconds=seconds, rate=rate)


_STEPS: dict[str, Callable[..., Any]] = {VOLUME: _by_volume, EMULATOR: _by_emulator}

"""A UF2 file onto the volume that a chip's bootloader shows.

Whoever copies hears nothing of the bootloader but this: when the last block has come, it restarts the chip, and the volume
goes away.
Source: Microsoft's UF2 specification, "Files exposed by bootloaders"; RP2040 datasheet, "USB Mass Storage Interface".
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from host_tools.cabinet import exits
from host_tools.flash.failure import FlashError
from host_tools.flash.uploading import Transfer

INFO: Final = "INFO_UF2.TXT"
INFO_BYTES: Final = 4096  # more is no such file
FILE: Final = "CABINET.UF2"
PIECE_BYTES: Final = 32 << 10  # between two looks at whether it has really arrived
GONE_S: Final = 15.0  # from the last block until the volume is gone
LOOK_S: Final = 0.05
HOW: Final = "hold BOOTSEL down while the board is plugged in, then name the folder of its volume with --port"


@dataclass(frozen=True)
class Volume:
    """folder: where it is mounted; device: what is mounted there, "" when nobody knows; board_id, model: of INFO_UF2.TXT."""

    folder: Path
    device: str
    board_id: str
    model: str


def mounted() -> list[tuple[str, str]]:
    """(folder, device) of each disk that is mounted."""
    return [(part.mountpoint, part.device) for part in psutil.disk_partitions()]


def candidates() -> list[Volume]:
    """The volumes of bootloaders that this computer has mounted."""
    found = [_look(Path(folder), device) for folder, device in mounted()]
    return [volume for volume in found if volume is not None]


def find(port: str | None, board_id: str) -> Volume:
    """The volume that the user named. Errors: FlashError, NO_PORT with the candidates when none was, WRONG_BOARD."""
    if port is None:
        lines = [f"  {it.folder}  {it.board_id}  {it.model}".rstrip() for it in candidates()]
        listed = "\n".join(lines) or "  (no volume of a bootloader is mounted)"
        raise FlashError(exits.NO_PORT, f"name the volume of the board with --port. There is:\n{listed}", HOW)
    folder = Path(port)
    if not folder.is_dir():
        raise FlashError(exits.NO_PORT, f"{port} is no folder", HOW)
    device = next((device for where, device in mounted() if Path(where) == folder.resolve()), "")
    volume = _look(folder, device)
    if volume is None:
        raise FlashError(exits.NO_ANSWER, f"{port} is no volume of a bootloader: it has no {INFO}", HOW)
    if volume.board_id != board_id:
        raise FlashError(
            exits.WRONG_BOARD,
            f"the board at {port} is {volume.board_id or 'nothing that it tells'!r}, the image is for {board_id!r}",
            "nothing was written; name the volume of the other board",
        )
    return volume


def _look(folder: Path, device: str) -> Volume | None:
    try:
        name = next((name for name in os.listdir(folder) if name.upper() == INFO), None)
        if name is None:
            return None
        with open(folder / name, "rb") as file:
            lines = file.read(INFO_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return None
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    return Volume(folder, device, told.get("Board-ID", "").strip(), told.get("Model", "").strip())


def _there(volume: Volume) -> bool:
    """The folder may still show what was read from a device that is gone."""
    if volume.device.startswith("/dev/") and not os.path.exists(volume.device):
        return False
    return _look(volume.folder, volume.device) is not None


def copy(data: bytes, volume: Volume, on_progress: Callable[[Transfer], None]) -> Transfer:
    """Copies and waits until the board has restarted. Errors: FlashError, BROKEN_OFF."""
    transfer = Transfer(len(data))
    trouble = _write(data, volume, transfer, on_progress)
    end_s = time.monotonic() + GONE_S
    while _there(volume):
        if time.monotonic() > end_s:
            cause = f" ({trouble})" if trouble else ""
            raise FlashError(
                exits.BROKEN_OFF,
                f"all bytes were copied, but the volume is still there after {GONE_S:.0f} s{cause}: the board did not take them",
                "plug the board in anew with BOOTSEL held down and repeat; its old program may be gone",
            )
        time.sleep(LOOK_S)
    return transfer


def _write(data: bytes, volume: Volume, transfer: Transfer, on_progress: Callable[[Transfer], None]) -> str:
    """What went wrong behind the last byte, which may be only that the board has restarted already."""
    began_s = time.monotonic()
    try:
        with open(volume.folder / FILE, "wb", buffering=0) as file:
            while transfer.offset < len(data):
                if not _there(volume):
                    raise OSError("the volume is gone")
                transfer.offset += file.write(data[transfer.offset : transfer.offset + PIECE_BYTES])
                os.fsync(file.fileno())  # else the computer's memory has it, and the bar lies
                transfer.seconds = time.monotonic() - began_s
                on_progress(transfer)
    except OSError as error:
        why = error.strerror or str(error)
        if transfer.offset < len(data):
            raise FlashError(
                exits.BROKEN_OFF,
                f"{volume.folder} took {transfer.offset} of {len(data)} bytes: {why}",
                "plug the board in anew with BOOTSEL held down and repeat; its old program may be gone",
            ) from None
        return why
    return ""

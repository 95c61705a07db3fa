"""An emulated board that stays: a folder with what its flash holds and its battery-backed memory.

QEMU has no flash that keeps what is written: it is given the ELF. So to program a bare board is to make its folder, and
`cabinet run --board mps2 --at FOLDER` switches that board on.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from typing import Final

FLASH: Final = "flash.elf"
MEMORY: Final = "memory.bin"


class NoBoard(Exception):
    """The folder is no board, or somebody else's; the text says what to do."""


@dataclass(frozen=True)
class BoardFiles:
    """The two files of a board."""

    flash: Path
    memory: Path


def make(folder: Path, elf: bytes, packs: Mapping[str, bytes]) -> None:
    """A new board with a program, the games' packs, and a blank memory. It is there whole or not at all.

    Errors: OSError; ValueError when the packs do not fit.
    """
    from host_tools.boards.mps2_session import BoardMemory

    fresh = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        with open(fresh / FLASH, "xb") as file:
            file.write(elf)
            file.flush()
            os.fsync(file.fileno())
        memory = BoardMemory(fresh / MEMORY)
        memory.put_packs(packs)
        assert isinstance(memory.whole.obj, mmap)
        memory.whole.obj.flush()
        os.chmod(fresh, 0o755)
        os.rename(fresh, folder)  # an empty folder of that name gives way, any other does not
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


@contextmanager
def in_use(folder: Path) -> Iterator[BoardFiles]:
    """The board in a folder, for one program at a time. Errors: NoBoard."""
    found = BoardFiles(folder / FLASH, folder / MEMORY)
    try:
        found.flash.stat()
        lock = open(found.memory, "rb")  # noqa: SIM115 - it is closed below
    except OSError as error:
        how = "make one with: cabinet flash --port FOLDER IMAGE.elf"
        raise NoBoard(f"{folder} is no board's folder ({error.strerror}: {error.filename}); {how}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise NoBoard(f"the board in {folder} is running in another program; end that first") from None
        yield found

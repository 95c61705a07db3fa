"""The games of this tree: every folder of firmware/games with a sheet of its own name, compiled to packs."""

from functools import cache
from pathlib import Path

import firmware.games
from host_tools.par.compiler import compile_sheet
from host_tools.par.sheet import load

GAMES_DIR = Path(firmware.games.__path__[0])


def names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in GAMES_DIR.glob("*/*.toml") if path.stem == path.parent.name))


def sheet_path(name: str) -> Path:
    return GAMES_DIR / name / f"{name}.toml"


@cache
def pack(name: str) -> bytes:
    """The game's pack. Errors: SheetError."""
    return compile_sheet(load(sheet_path(name)))


def packs() -> dict[str, bytes]:
    """All games by name."""
    return {name: pack(name) for name in names()}

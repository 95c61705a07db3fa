"""Resident images: what kind of file one is, for which board, and whether it is whole.

A resident image is programmed once, with the way that its chip has for it; applications come later over the console line.
"""

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from intelhex import HexReaderError, IntelHex

from host_tools.cabinet import exits
from host_tools.cabinet.exits import fail
from host_tools.flash import uf2
from host_tools.flash.failure import FlashError

UF2, ELF, HEX, BIN, ESP = "UF2", "ELF", "HEX", "BIN", "ESP image"
EMULATOR, VOLUME, ESPTOOL, PROBE = "emulator's flash", "bootloader's volume", "esptool", "debug probe"


@dataclass(frozen=True)
class Way:
    """How a kind of file gets into a board.

    board: identity, as applications and the board's own file name it; target: what the way's tool, or the bootloader, calls it
    address: where the file goes; areas: (first address, bytes) that an ELF or HEX may fill
    """

    board: str
    kinds: tuple[str, ...]
    way: str
    target: str
    address: int = 0
    areas: tuple[tuple[int, int], ...] = ()


_PROBE_KINDS: Final = (ELF, HEX, BIN)
WAYS: Final = (
    Way("mps2", (ELF,), EMULATOR, "mps2-an385", areas=((0, 4 << 20),)),
    Way("pico", (UF2,), VOLUME, "RPI-RP2", uf2.FLASH),
    Way("pico", _PROBE_KINDS, PROBE, "rp2040", uf2.FLASH, ((uf2.FLASH, uf2.FLASH_BYTES),)),
    Way("nrf52840", _PROBE_KINDS, PROBE, "nrf52840", 0, ((0, 1 << 20), (0x10001000, 0x1000))),  # flash, and UICR
    # Where the ROM of each looks for its bootloader, with which a whole image begins.
    Way("esp32", (ESP,), ESPTOOL, "ESP32", 0x1000),
    Way("esp32s2", (ESP,), ESPTOOL, "ESP32-S2", 0x1000),
    Way("esp32s3", (ESP,), ESPTOOL, "ESP32-S3", 0),
    Way("esp32c3", (ESP,), ESPTOOL, "ESP32-C3", 0),
    Way("esp32c6", (ESP,), ESPTOOL, "ESP32-C6", 0),
)
BOARDS: Final = tuple(dict.fromkeys(way.board for way in WAYS))

_SUFFIXES: Final = {".uf2": UF2, ".elf": ELF, ".hex": HEX, ".bin": BIN}
_STARTS: Final = ((uf2.START, UF2), (b"\x7fELF", ELF), (b":", HEX))
_ESP_START: Final = 0xE9
_CHIP_AT: Final = 12  # of an ESP image's header: the chip, 16 bits, little endian
_CHIPS: Final = {0: "ESP32", 2: "ESP32-S2", 5: "ESP32-C3", 9: "ESP32-S3", 13: "ESP32-C6"}
_OWN_FILE: Final = re.compile(rb"hal/boards/(\w+)\.py")  # a resident image holds its board's file under this name
_ARM: Final = "EM_ARM"


@dataclass(frozen=True)
class Resident:
    """A resident image that was looked at."""

    path: Path
    data: bytes
    kind: str
    way: Way


def recognise(path: Path, data: bytes, board: str | None) -> Resident:
    """The resident image in a file. board: what the user says.

    Errors: typer.Exit 2 when it is none, is damaged, or nothing tells its board; FlashError WRONG_BOARD when file and user
    name different ones.
    """
    if board is not None and board not in BOARDS:
        raise fail(f"no board {board} is programmed from here; there is {', '.join(BOARDS)}", 2)
    kind = _kind(path, data)
    if kind == ESP and board is not None and _way(board, ESP) is None:
        kind = BIN  # its first byte is chance
    told = _told_board(path, data, kind)
    if told and board and told != board:
        raise FlashError(
            exits.WRONG_BOARD,
            f"{path} is for board {told!r}, not {board!r}",
            f"nothing was written; take the resident image for {board!r}",
        )
    board = board or told
    if board is None:
        raise fail(f"{path} does not tell its board: name it with --board, one of {', '.join(BOARDS)}", 2)
    way = _way(board, kind)
    if way is None:
        takes = ", ".join(kind for way in WAYS if way.board == board for kind in way.kinds)
        raise fail(f"{path} is {kind}; a {board} is programmed from {takes}", 2)
    _check(path, data, kind, way)
    return Resident(path, data, kind, way)


def _way(board: str, kind: str) -> Way | None:
    return next((way for way in WAYS if way.board == board and kind in way.kinds), None)


def _kind(path: Path, data: bytes) -> str:
    kind = next((kind for start, kind in _STARTS if data.startswith(start)), None) or _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise fail(
            f"{path} is no image for a cabinet; make an application with cabinet image build, or take a resident image:"
            " ELF, UF2, HEX or BIN",
            2,
        )
    return ESP if kind == BIN and data[:1] == bytes((_ESP_START,)) else kind


def _told_board(path: Path, data: bytes, kind: str) -> str | None:
    """The board that the file itself names."""
    if kind == UF2:
        data = _parsed_uf2(path, data).payload
    own = {name.decode() for name in _OWN_FILE.findall(data)} & set(BOARDS)
    if len(own) == 1:
        return own.pop()
    if kind == UF2:
        return "pico"
    if kind == ESP:
        chip = _CHIPS.get(int.from_bytes(data[_CHIP_AT : _CHIP_AT + 2], "little"))
        return next((way.board for way in WAYS if way.target == chip), None)
    return None


def _parsed_uf2(path: Path, data: bytes) -> uf2.Uf2:
    try:
        return uf2.parse(data)
    except uf2.Uf2Error as error:
        raise fail(f"{path} is no good UF2 file: {error}; build or copy it again", 2) from None


def _check(path: Path, data: bytes, kind: str, way: Way) -> None:
    """Exit 2 unless all of the file is there and belongs into the board's flash. (A UF2 file was judged when it was read.)"""
    if kind == ELF:
        _fits(path, way, _elf_segments(path, data))
    elif kind == HEX:
        _fits(path, way, _hex_segments(path, data))
    elif kind == BIN:
        _fits(path, way, [(way.address, len(data))])
    if way.way == EMULATOR and not _OWN_FILE.search(data):
        raise fail(
            f"{path} is no resident image of a cabinet: it holds no hal/boards/{way.board}.py; run make boards", 2
        )


def _elf_segments(path: Path, data: bytes) -> list[tuple[int, int]]:
    """(physical address, bytes) of all that is loaded."""
    try:
        elf = ELFFile(io.BytesIO(data))
        machine = (elf["e_machine"], elf.elfclass, elf.little_endian, elf["e_type"])
        loaded: list[Any] = [segment for segment in elf.iter_segments() if segment["p_type"] == "PT_LOAD"]
        found = [(segment["p_paddr"], segment["p_filesz"], segment["p_offset"]) for segment in loaded]
    except (ELFError, ValueError, LookupError, UnicodeError, ArithmeticError) as error:
        raise fail(f"{path} is no ELF that can be read: {error}; build or copy it again", 2) from None
    if machine != (_ARM, 32, True, "ET_EXEC"):
        raise fail(f"{path} is no program for an Arm processor of 32 bits", 2)
    if any(offset + size > len(data) for _, size, offset in found):
        raise fail(f"{path} is cut short: a segment ends behind the file; build or copy it again", 2)
    return [(address, size) for address, size, _ in found if size]


def _hex_segments(path: Path, data: bytes) -> list[tuple[int, int]]:
    try:
        read = IntelHex(io.StringIO(data.decode("ascii")))
    except (HexReaderError, UnicodeError) as error:
        raise fail(f"{path} is no Intel HEX file that can be read: {error}; build or copy it again", 2) from None
    return [(first, end - first) for first, end in read.segments()]


def _fits(path: Path, way: Way, segments: Iterable[tuple[int, int]]) -> None:
    segments = list(segments)
    if not any(size for _, size in segments):
        raise fail(f"{path} holds nothing to program", 2)
    for address, size in segments:
        if not any(first <= address and address + size <= first + room for first, room in way.areas):
            raise fail(f"{path} is for other memory than a {way.board}'s: {size} bytes at 0x{address:08x}", 2)

"""Compiles a checked sheet into a game pack, layout version 1 (native/README.md).

The compiler knows the layout and nothing about any game. It writes every section in the order of the layout's table,
so the same sheet always gives the same bytes, whatever computer compiles it: the pack's hash is what a lab signs.
"""

from __future__ import annotations

import hashlib
import struct
from itertools import pairwise

from host_tools.par.model import WILD_RULES, Sheet

MAGIC = b"CABG"
VERSION = 1
HEADER_BYTES = 64
ROW_BYTES = 12  # of the section table
HASH_AT = 32
NONE = 255


class _Text:
    """Zero-terminated names, each stored once."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.places: dict[str, int] = {}

    def add(self, name: str) -> int:
        if name not in self.places:
            self.places[name] = len(self.data)
            self.data += name.encode() + b"\0"
        return self.places[name]


def compile_sheet(sheet: Sheet) -> bytes:
    """The pack of a sheet: header, section table, sections, with its own SHA-256 inside."""
    text = _Text()
    symbols = b"".join(
        struct.pack(
            "<HBBII",
            text.add(symbol.title),
            symbol.wild | symbol.scatter << 1,
            symbol.multiplier,
            sum(1 << number for number in symbol.substitutes),
            0,
        )
        for symbol in sheet.symbols
    )
    sets, strips = _strips(sheet)
    sections = [
        (b"GAME", _game(sheet)),
        (b"BETS", _bets(sheet)),
        (b"SYMB", symbols),
        (b"PAYS", b"".join(struct.pack("<I", credits) for row in sheet.pays for credits in row)),
        (b"LINE", bytes(row for line in sheet.lines for row in line)),
        (b"SCAT", _scatter_pays(sheet)),
        (b"SETS", sets),
        (b"STRP", strips),
        (b"MODE", _modes(sheet, text)),
        (b"FEAT", _features(sheet)),
        (b"OPTN", _options(sheet)),
        (b"TEXT", bytes(text.data)),
    ]
    return _assemble(sheet.name, sections)


def _game(sheet: Sheet) -> bytes:
    return struct.pack(
        "<9B7xQI4x",
        sheet.reels,
        sheet.rows,
        len(sheet.symbols),
        len(sheet.lines),
        len(sheet.modes),
        len(sheet.sets),
        len(sheet.features),
        WILD_RULES.index(sheet.wild_rule),
        sheet.needs_natural,
        sheet.win_cap_pence,
        sheet.max_unit_pence,
    )


def _bets(sheet: Sheet) -> bytes:
    return struct.pack(f"<HH{len(sheet.coin_values)}I", sheet.levels, len(sheet.coin_values), *sheet.coin_values)


def _scatter_pays(sheet: Sheet) -> bytes:
    """One row for every scatter, paying or not; the sheet has checked that no count beyond the last can show."""
    cells = sheet.reels * sheet.rows
    rows = []
    for number, symbol in enumerate(sheet.symbols):
        if symbol.scatter:
            pays = sheet.scatter_pays.get(number, ())
            rows.append(struct.pack(f"<{cells}I", *pays, *(0,) * (cells - len(pays))))
    return b"".join(rows)


def _strips(sheet: Sheet) -> tuple[bytes, bytes]:
    rows, strips = bytearray(), bytearray()
    for entry in sheet.sets:
        for strip in entry.reels:
            rows += struct.pack("<IHH", len(strips), len(strip), 0)
            strips += bytes(strip)
    return bytes(rows), bytes(strips)


def _modes(sheet: Sheet, text: _Text) -> bytes:
    return b"".join(
        struct.pack(
            "<HBBHHB3xII4x",
            text.add(mode.id),
            0,
            mode.set,
            mode.cost,
            mode.scatter_pays | mode.selectable << 1,
            NONE if mode.feature is None else mode.feature,
            mode.lowest_ppm,
            mode.highest_ppm,
        )
        for mode in sheet.modes
    )


def _features(sheet: Sheet) -> bytes:
    return b"".join(
        struct.pack(
            "<BBBBHBB8x",
            feature.trigger,
            feature.mode,
            NONE if feature.adds is None else feature.adds,
            feature.adds_spins,
            feature.max_spins,
            min(feature.options),
            max(feature.options),
        )
        for feature in sheet.features
    )


def _options(sheet: Sheet) -> bytes:
    return b"".join(
        struct.pack("<BBHHH", number, count, option.spins, option.multiplier, 0)
        for number, feature in enumerate(sheet.features)
        for count, options in feature.options.items()
        for option in options
    )


def _assemble(name: str, sections: list[tuple[bytes, bytes]]) -> bytes:
    table, body = bytearray(), bytearray()
    start = HEADER_BYTES + ROW_BYTES * len(sections)
    for tag, content in sections:
        table += struct.pack("<4sII", tag, start + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    total = start + len(body)
    head = struct.pack("<4sHHIHH16s", MAGIC, VERSION, HEADER_BYTES, total, len(sections), 0, name.encode())
    digest = hashlib.sha256(head + table + body).digest()
    return head + digest + bytes(table) + bytes(body)


def section_offsets(pack: bytes) -> dict[str, tuple[int, int]]:
    """Offset and length of each section of a pack, for reports."""
    (count,) = struct.unpack_from("<H", pack, 12)
    rows = [struct.unpack_from("<4sII", pack, HEADER_BYTES + ROW_BYTES * row) for row in range(count)]
    assert all(first[1] <= second[1] for first, second in pairwise(rows))
    return {tag.decode(): (offset, length) for tag, offset, length in rows}

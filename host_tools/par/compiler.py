"""Compiles a checked sheet into a game pack, layout version 2 (native/README.md, native/MECHANICS.md).

The compiler knows the layout and nothing about any game. It writes every section in the order of the layout's table,
so the same sheet always gives the same bytes, whatever computer compiles it: the pack's hash is what a lab signs.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from itertools import pairwise

from host_tools.par.model import (
    EVALUATIONS,
    FRAME_RULES,
    GAMBLE_KINDS,
    OPENINGS,
    OPS,
    PRIZES,
    WILD_RULES,
    Sheet,
    Step,
)

MAGIC = b"CABG"
VERSION = 2
HEADER_BYTES = 64
ROW_BYTES = 12  # of the section table
HASH_AT = 32
NONE = 255


def _mask(symbols: Iterable[int]) -> int:
    return sum(1 << number for number in symbols)


def _or_none(number: int | None) -> int:
    return NONE if number is None else number


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
            _mask(symbol.substitutes),
            0,
        )
        for symbol in sheet.symbols
    )
    sets, strips = _strips(sheet)
    tables, prizes = _tables(sheet)
    groups, boards = _boards(sheet)
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
        (b"STEP", b"".join(_step(mode, step) for mode, entry in enumerate(sheet.modes) for step in entry.steps)),
        (b"TABL", tables),
        (b"PRIZ", prizes),
        (b"POTS", b"".join(struct.pack("<HBxI", text.add(pot.title), pot.tokens, pot.credits) for pot in sheet.pots)),
        (b"BGRP", groups),
        (b"BORD", boards),
        (b"FEAT", _features(sheet, text)),
        (b"OPTN", _options(sheet)),
        (b"GAMB", _gamble(sheet, text)),
        (b"TEXT", bytes(text.data)),
    ]
    return _assemble(sheet.name, sections)


def _game(sheet: Sheet) -> bytes:
    return struct.pack(
        "<13B3xQIH10x",
        sheet.reels,
        sheet.rows,
        len(sheet.symbols),
        len(sheet.lines),
        len(sheet.modes),
        len(sheet.sets),
        len(sheet.features),
        WILD_RULES.index(sheet.wild_rule),
        sheet.needs_natural | sheet.spin_chance << 1,
        len(sheet.tables),
        len(sheet.pots),
        len(sheet.groups),
        len(sheet.gamble.rows) if sheet.gamble else 0,
        sheet.win_cap_pence,
        sheet.max_unit_pence,
        sheet.stake,
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
            "<HBBHHII8x",
            text.add(mode.id),
            EVALUATIONS.index(mode.evaluation),
            mode.set,
            mode.cost,
            mode.scatter_pays | mode.selectable << 1,
            mode.lowest_ppm,
            mode.highest_ppm,
        )
        for mode in sheet.modes
    )


def _step(mode: int, step: Step) -> bytes:
    index = FRAME_RULES.index(step.rule) if step.op == "frames" else step.table or 0
    return struct.pack(
        "<4BHxxIII",
        mode,
        OPS.index(step.op),
        index,
        step.most,
        step.least,
        _mask(step.symbols),
        _mask(step.needed),
        step.credits,
    )


def _tables(sheet: Sheet) -> tuple[bytes, bytes]:
    tables, prizes, rows = bytearray(), bytearray(), 0
    for table in sheet.tables:
        tables += struct.pack("<HH", rows, len(table.rows))
        rows += len(table.rows)
        for row in table.rows:
            prize = row.prize
            prizes += struct.pack("<IBBxxI", row.weight, PRIZES.index(prize.kind), prize.index, prize.number)
    return bytes(tables), bytes(prizes)


def _boards(sheet: Sheet) -> tuple[bytes, bytes]:
    groups, boards, rows = bytearray(), bytearray(), 0
    for group in sheet.groups:
        groups += struct.pack("<HHHxx", group.mode, rows, len(group.boards))
        rows += len(group.boards)
        for board in group.boards:
            boards += struct.pack(f"<{sheet.reels}H", *board)
    return bytes(groups), bytes(boards)


def _features(sheet: Sheet, text: _Text) -> bytes:
    return b"".join(
        struct.pack(
            "<H10BHxxI4x",
            text.add(feature.title),
            feature.mode,
            OPENINGS.index(feature.opening),
            feature.shapes or 0,
            feature.level,
            feature.collects,
            min(feature.options),
            max(feature.options),
            *(_or_none(bowl) for bowl in feature.bowls),
            feature.max_spins,
            _mask(feature.symbols),
        )
        for feature in sheet.features
    )


def _gamble(sheet: Sheet, text: _Text) -> bytes:
    """Empty without a gamble; else a head and its rows."""
    gamble = sheet.gamble
    if gamble is None:
        return b""
    head = struct.pack("<IIIHxx", gamble.payback_ppm, gamble.offered_from, gamble.limit, gamble.most)
    return head + b"".join(
        struct.pack(
            "<HBBHHHB5xQ",
            text.add(row.title),
            GAMBLE_KINDS.index(row.kind),
            _or_none(row.feature),
            row.numerator,
            row.denominator,
            row.spins,
            row.only_cash_after,
            row.value_micro,
        )
        for row in gamble.rows
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

"""Packs that the compiler writes, read back by the core and byte by byte."""

from __future__ import annotations

import hashlib
import struct

import pytest

from host_tools.cabinet import games
from host_tools.par.arrange import lay
from host_tools.par.compiler import compile_sheet, section_offsets
from host_tools.par.counts import in_view
from host_tools.par.model import EVALUATIONS, OPS, PRIZES, Sheet
from host_tools.par.sheet import load, parse
from native import MODE_SCATTER_PAYS, MODE_SELECTABLE, Pack

from .full_sheet import FULL
from .helpers import SHEETS, SMALL

ALL = [parse(SMALL), parse(FULL), *(load(path) for path in sorted(SHEETS.glob("*.toml")))]
ALL += [load(games.sheet_path(name)) for name in games.names()]


@pytest.mark.parametrize("sheet", ALL, ids=lambda sheet: sheet.name)
def test_core_reads_what_the_sheet_says(sheet: Sheet) -> None:
    pack = Pack(compile_sheet(sheet))
    assert (pack.name, pack.reels, pack.rows) == (sheet.name, sheet.reels, sheet.rows)
    assert (pack.win_cap_pence, pack.max_unit_pence) == (sheet.win_cap_pence, sheet.max_unit_pence)
    assert pack.symbols == tuple(symbol.title for symbol in sheet.symbols)
    assert pack.lines == sheet.lines
    assert pack.modes == tuple(mode.id for mode in sheet.modes)
    assert (pack.coin_values, pack.levels) == (sheet.coin_values, sheet.levels)
    for number, mode in enumerate(sheet.modes):
        flags = MODE_SCATTER_PAYS * mode.scatter_pays | MODE_SELECTABLE * mode.selectable
        assert (pack.cost(number), pack.flags(number)) == (mode.cost, flags)
        assert pack.rtp_ppm(number) == (mode.lowest_ppm, mode.highest_ppm)
    for number in range(len(sheet.symbols)):
        assert tuple(pack.pay(number, run + 1) for run in range(sheet.reels)) == sheet.pays[number]
        for count in range(1, sheet.reels * sheet.rows + 1):
            assert pack.scatter_pay(number, count) == sheet.scatter_pay(number, count)
    for number, entry in enumerate(sheet.sets):
        assert tuple(tuple(pack.strip(number, reel)) for reel in range(sheet.reels)) == entry.reels


@pytest.mark.parametrize("sheet", ALL, ids=lambda sheet: sheet.name)
def test_pack_is_the_same_every_time_and_hashed(sheet: Sheet) -> None:
    data = compile_sheet(sheet)
    assert data == compile_sheet(sheet)
    assert hashlib.sha256(data[:32] + data[64:]).digest() == data[32:64] == Pack(data).sha256


@pytest.mark.parametrize("sheet", ALL, ids=lambda sheet: sheet.name)
def test_core_reads_the_mechanics_of_the_sheet(sheet: Sheet) -> None:
    pack = Pack(compile_sheet(sheet))
    assert (pack.stake, pack.spin_chance) == (sheet.stake, sheet.spin_chance)
    assert pack.pots == tuple((pot.title, pot.credits, pot.tokens) for pot in sheet.pots)
    for number, mode in enumerate(sheet.modes):
        assert pack.evaluation(number) == EVALUATIONS.index(mode.evaluation)
        ops = [(OPS[op], set(sheet_symbols(symbols)), least) for op, _, _, least, symbols, _, _ in pack.steps(number)]
        assert ops == [(step.op, set(step.symbols), step.least) for step in mode.steps]
    for number, table in enumerate(sheet.tables):
        rows = [(row.weight, PRIZES.index(row.prize.kind), row.prize.index, row.prize.number) for row in table.rows]
        assert pack.table(number) == tuple(rows)
    for number, group in enumerate(sheet.groups):
        assert pack.boards(number) == (group.mode, group.boards)
    for feature, (name, mode, options) in zip(sheet.features, pack.features, strict=True):
        rows = [(count, o.spins, o.multiplier) for count, entries in feature.options.items() for o in entries]
        assert (name, mode, options) == (feature.title, feature.mode, tuple(rows))
    gamble = sheet.gamble
    figures = (gamble.payback_ppm, gamble.offered_from, gamble.limit, gamble.most) if gamble else (0, 0, 0, 0)
    assert (pack.gamble_payback_ppm, pack.gamble_from, pack.gamble_limit, pack.most_gambles) == figures
    assert [row[0] for row in pack.gambles] == [row.title for row in (gamble.rows if gamble else ())]
    assert [row[6] for row in pack.gambles] == [row.value_micro for row in (gamble.rows if gamble else ())]


def sheet_symbols(mask: int) -> list[int]:
    return [number for number in range(32) if mask >> number & 1]


def test_layout_of_mechanics() -> None:
    data = compile_sheet(parse(FULL))
    sections = section_offsets(data)
    assert " ".join(sections) == (
        "GAME BETS SYMB PAYS LINE SCAT SETS STRP MODE STEP TABL PRIZ POTS BGRP BORD FEAT OPTN GAMB TEXT"
    )

    def rows(tag: str, shape: str) -> list[tuple[int, ...]]:
        offset, length = sections[tag]
        return list(struct.iter_unpack(shape, data[offset : offset + length]))

    award = parse(FULL).table("modes.base.steps[4]")
    assert rows("STEP", "<4BHHIII")[4:6] == [
        (0, 5, award, 9, 3, 0, 1 << 1, 1 << 4, 0),
        (0, 6, 0, 0, 2, 0, 1 << 1, 0, 0),
    ]
    assert (1, 7, 1, 0, 0, 0, 1 << 1, 0, 4) in rows("STEP", "<4BHHIII")
    assert rows("TABL", "<HH")[:3] == [(0, 2), (2, 2), (4, 3)]
    assert rows("PRIZ", "<IBBHI")[:5] == [
        (3, 1, 0, 0, 5),
        (1, 1, 0, 0, 25),
        (9, 0, 0, 0, 0),
        (1, 3, 2, 0, 0),
        (2, 2, 1, 0, 0),
    ]
    assert rows("PRIZ", "<IBBHI")[parse_rows("shapes")] == (1, 7, 0, 0, 2 + 256 * 3)
    assert [row[1:] for row in rows("POTS", "<HBBI")] == [(2, 0, 20), (0, 0, 500)]
    assert rows("BGRP", "<HHHH") == [(0, 0, 2, 0)]
    assert rows("BORD", "<3H") == [(0, 1, 2), (4, 0, 0)]
    bowl, shapes = parse(FULL).table("bowl"), parse(FULL).table("shapes")
    assert [row[1:] for row in rows("FEAT", "<H10BHHII")] == [
        (1, 1, 0, 1, 1, 3, 3, bowl, bowl, bowl, 9, 0, 1 << 1, 0),
        (1, 3, 0, 1, 0, 1, 1, bowl, bowl, bowl, 9, 0, 1 << 1, 0),
        (1, 2, shapes, 2, 0, 1, 1, bowl, bowl, bowl, 9, 0, 0, 0),
    ]
    assert rows("OPTN", "<BBHHH") == [(0, 3, 2, 1, 0), (1, 1, 2, 2, 0), (2, 1, 3, 1, 0)]
    offset, length = sections["GAMB"]
    assert struct.unpack_from("<IIIHH", data, offset) == (900_000, 25, 1000, 3, 0)
    gambles = [struct.unpack_from("<BBHHHB5xQ", data, offset + 16 + 24 * row + 2) for row in range((length - 16) // 24)]
    assert gambles == [(0, 255, 2, 1, 0, 0, 0), (1, 2, 0, 0, 4, 1, 5_000_000)]


def parse_rows(table: str) -> int:
    """Place in PRIZ of the first row of a table of the full sheet."""
    sheet = parse(FULL)
    return sum(len(entry.rows) for entry in sheet.tables[: sheet.table(table)])


def test_flags_of_game() -> None:
    text = SMALL.replace("needs_natural = false", "needs_natural = true").replace('"highest"', '"sum"')
    data = compile_sheet(parse(text))
    offset, _ = section_offsets(data)["GAME"]
    assert data[offset + 7 : offset + 9] == b"\x02\x01"


def test_counts_only_sheets_are_spread() -> None:
    strip = lay({0: 2, 1: 40, 2: 6})
    assert [strip.count(symbol) for symbol in range(3)] == [2, 40, 6]
    assert in_view(strip, {0}, 3) == (42, 6)
    assert strip == lay({2: 6, 0: 2, 1: 40}), "the order in which counts are written is no matter"

"""Packs that the compiler writes, read back by the core and byte by byte."""

from __future__ import annotations

import hashlib
import struct

import pytest

from host_tools.cabinet import games
from host_tools.par.arrange import lay
from host_tools.par.compiler import compile_sheet, section_offsets
from host_tools.par.counts import in_view
from host_tools.par.model import Sheet
from host_tools.par.sheet import load, parse
from native import MODE_SCATTER_PAYS, MODE_SELECTABLE, CoreError, Pack

from .helpers import SHEETS, SMALL

ALL = [parse(SMALL), *(load(path) for path in sorted(SHEETS.glob("*.toml")))]
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


def test_layout_of_features() -> None:
    data = compile_sheet(parse(SMALL))
    sections = section_offsets(data)
    assert " ".join(sections) == "GAME BETS SYMB PAYS LINE SCAT SETS STRP MODE FEAT OPTN TEXT"
    offset, length = sections["FEAT"]
    assert struct.unpack_from("<BBBBHBB8x", data, offset) == (1, 1, 1, 1, 4, 2, 3)
    assert length == 16
    offset, length = sections["OPTN"]
    rows = list(struct.iter_unpack("<BBHHH", data[offset : offset + length]))
    assert rows == [(0, 2, 2, 1, 0), (0, 2, 1, 3, 0), (0, 3, 3, 2, 0)]
    offset, _ = sections["SYMB"]
    assert struct.unpack_from("<HBBII", data, offset) == (0, 1, 2, 0b1100, 0)


def test_flags_of_game() -> None:
    text = SMALL.replace("needs_natural = false", "needs_natural = true").replace('"highest"', '"sum"')
    data = compile_sheet(parse(text))
    offset, _ = section_offsets(data)["GAME"]
    assert data[offset + 7 : offset + 9] == b"\x02\x01"


def test_core_refuses_awards_that_no_sum_holds() -> None:
    text = SMALL.replace("A = [0, 2, 10]", "A = [0, 2, 4000000000]")
    with pytest.raises(CoreError, match="pack_award"):
        Pack(compile_sheet(parse(text)))


def test_counts_only_sheets_are_spread() -> None:
    strip = lay({0: 2, 1: 40, 2: 6})
    assert [strip.count(symbol) for symbol in range(3)] == [2, 40, 6]
    assert in_view(strip, {0}, 3) == (42, 6)
    assert strip == lay({2: 6, 0: 2, 1: 40}), "the order in which counts are written is no matter"

"""The whole search of a game: which method its [search] asks for, and the text of the sheet with what it finds."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

from host_tools.par import search, strip_plan, strips
from host_tools.par.editing import with_boards, with_digest, with_number, with_strips, with_value, with_weight
from host_tools.par.exact_rounds import Game
from host_tools.par.knobs import knobs, solve
from host_tools.par.model import Sheet

Report = Callable[[str], None]


def searched(sheet: Sheet, seed: int | None, report: Report, with_knobs: bool) -> tuple[bool, str]:
    """Whether the search finds what the sheet holds, and the sheet's text with what it finds. SheetError."""
    before = Path(sheet.file).read_text(encoding="utf-8")
    if "sets" in sheet.search:
        text = _around_fixed_symbols(sheet, seed, report, with_knobs, before)
    else:
        given = search.plan(sheet, seed)
        found = search.Search(sheet, given, report).run()
        text = before
        for name, reels in found.sets(sheet, given):
            text = with_strips(text, sheet, name, reels)
        text = with_digest(text, found.digest())
    return text == before, text


def _around_fixed_symbols(sheet: Sheet, seed: int | None, report: Report, with_knobs: bool, text: str) -> str:
    given = strip_plan.plan(sheet, seed)
    found = strips.Search(sheet, given, report).run()
    for number, reels in found.sets:
        text = with_strips(text, sheet, sheet.sets[number].id, reels)
    for number, boards in found.groups:
        text = with_boards(text, sheet.groups[number].id, boards)
    text = with_digest(text, found.digest())
    return with_figures(text, found.put_into(sheet), report) if with_knobs else text


def with_figures(text: str, sheet: Sheet, report: Report) -> str:
    """The text with solved knobs, and with what follows from all numbers: quoted RTP and values of gamble rows."""
    quotes: dict[int, float] = {}
    for knob in knobs(sheet):
        sheet, quotes[knob.mode] = solve(sheet, knob, report)
        table = sheet.tables[knob.table]
        for row in (knob.row, knob.against):
            text = with_weight(text, table.id, row, table.rows[row].weight)
    for number, rtp in quotes.items():
        for key in ("lowest_ppm", "highest_ppm"):
            text = with_number(text, f"modes.{sheet.modes[number].id}.rtp", key, round(10_000 * rtp))
    game = Game(sheet, lambda _: 0)
    for row in sheet.gamble.rows if sheet.gamble else ():
        if row.feature is not None:
            text = with_value(text, row.id, game.value_micro(row.feature, row.spins))
    return text


def changes(sheet: Sheet, text: str) -> list[str]:
    """What differs from the sheet's file, as a diff."""
    before = Path(sheet.file).read_text(encoding="utf-8").splitlines(keepends=True)
    return list(difflib.unified_diff(before, text.splitlines(keepends=True), sheet.file, "found", n=0))

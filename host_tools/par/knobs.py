"""Solves the weights that bring each mode's exact RTP home: the last stage of the search of `strips.py`.

A knob is the weight of one row of a table; another row takes up what it gives, so the table's sum, and with it the chance
of every other row, stays. RTP is nearly linear in it, so the secant method ends after a few exact evaluations. It is told
when the knob cannot reach the target: then the strips have to be aimed elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from host_tools.par.exact_rounds import Game
from host_tools.par.model import PrizeTable, Sheet
from host_tools.par.reading import SheetError, Table, closest

Report = Callable[[str], None]
NEAR = 0.1  # of the target's tolerance: good enough
MOST_STEPS = 8


@dataclass(frozen=True)
class Knob:
    mode: int
    table: int
    row: int
    against: int  # row that takes up the weight
    rtp: float  # percent
    within: float


def knobs(sheet: Sheet) -> tuple[Knob, ...]:
    """Reads [search.knobs]. SheetError names what is wrong in it."""
    search = Table(sheet.file, "search", sheet.search)
    found: list[Knob] = []
    for mode, table in search.tables("knobs", 0).items():
        number = sheet.mode(mode)
        name = table.text("table")
        names = [entry.id for entry in sheet.tables]
        if name not in names:
            table.fail("table", f"'{name}' is not a table", closest(name, names))
        rows = len(sheet.tables[names.index(name)].rows)
        row, against = table.integer("row", 0, rows - 1), table.integer("against", 0, rows - 1)
        table.done()
        if row == against:
            table.fail("against", "is the knob's own row", "name the row that gives the weight, usually nothing")
        target = sheet.targets.get(mode, {}).get("rtp")
        if target is None:
            table.fail("", f"has no target: targets.{mode}.rtp is missing", "say what RTP the knob shall reach")
        found.append(Knob(number, names.index(name), row, against, target.value, target.within))
    return tuple(found)


def turned(sheet: Sheet, knob: Knob, weight: int) -> Sheet:
    """The sheet with another weight in the knob's row."""
    table = sheet.tables[knob.table]
    rows = list(table.rows)
    both = rows[knob.row].weight + rows[knob.against].weight
    rows[knob.row] = replace(rows[knob.row], weight=weight)
    rows[knob.against] = replace(rows[knob.against], weight=both - weight)
    tables = list(sheet.tables)
    tables[knob.table] = PrizeTable(table.id, tuple(rows))
    return replace(sheet, tables=tuple(tables))


def exact_rtp(sheet: Sheet, mode: int) -> float:
    """Percent; the squares, which cost most, are left out."""
    return float(100 * Game(sheet, lambda _: 0).whole(mode, "best").mean / sheet.modes[mode].cost)


def solve(sheet: Sheet, knob: Knob, report: Report = lambda text: None) -> tuple[Sheet, float]:
    """The sheet with the knob where the mode's exact RTP is nearest its target, and that RTP in percent."""
    table, name = sheet.tables[knob.table], sheet.modes[knob.mode].id
    both = table.rows[knob.row].weight + table.rows[knob.against].weight

    def off(weight: int) -> float:
        rtp = exact_rtp(turned(sheet, knob, weight), knob.mode)
        report(f"{name}: {rtp:.5f} % with weight {weight} of {table.id}")
        return rtp - knob.rtp

    at = table.rows[knob.row].weight
    have = off(at)
    before, was = at, have
    following = max(1, min(both - 1, at + max(1, at // 10)))
    for _ in range(MOST_STEPS):
        if abs(have) <= NEAR * knob.within:
            break
        before, was, at = at, have, following
        have = off(at)
        if have == was or at == before:
            break
        following = round(at - have * (at - before) / (have - was))
        if not 1 <= following <= both - 1:
            raise SheetError(
                sheet.file,
                f"search.knobs.{name}",
                f"would need weight {following} for {knob.rtp} % (now {at} gives {knob.rtp + have:.4f} %)",
                "aim the strips of its mode elsewhere: more win_credits where the weight is too large",
            )
    _, best, rest = min((abs(have), at, have), (abs(was), before, was))
    if abs(rest) > knob.within:
        raise SheetError(
            sheet.file, f"search.knobs.{name}", "does not come within the target's tolerance", "use a finer table"
        )
    return turned(sheet, knob, best), knob.rtp + rest

"""PAR sheets and results as tables that a person can read."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from host_tools.par.exact import Exact, Z, check_quoted, figures, misses
from host_tools.par.model import Sheet, StripSet
from host_tools.par.simulate import Run


def _table(title: str, *columns: str) -> Table:
    """First column left, figures right."""
    table = Table(title=title or None, title_justify="left", title_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left")
    return table


def _rows(table: Table, rows: Iterable[tuple[object, ...]]) -> Table:
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    return table


def pays(sheet: Sheet) -> Table:
    runs = (str(run) for run in range(1, sheet.reels + 1))
    table = _table("Pays (credits a line; scatters: total bets)", "symbol", *runs, "")
    for number, symbol in enumerate(sheet.symbols):
        row = sheet.scatter_pays.get(number, ()) if symbol.scatter else sheet.pays[number]
        note = "scatter" if symbol.scatter else ""
        if symbol.wild:
            missing = [other.id for place, other in enumerate(sheet.symbols) if place not in symbol.substitutes]
            note = f"wild x{symbol.multiplier}, all but {' '.join(other for other in missing if other != symbol.id)}"
        cells = [str(pay) if pay else "-" for pay in row[: sheet.reels]]
        cells += ["-"] * (sheet.reels - len(cells))
        table.add_row(f"{symbol.id} {symbol.title}", *cells, note)
    return table


def counts(sheet: Sheet, entry: StripSet) -> Table:
    table = _table(f"Set {entry.id}: copies by reel", "symbol", *(f"reel {reel + 1}" for reel in range(sheet.reels)))
    for number, symbol in enumerate(sheet.symbols):
        table.add_row(symbol.id, *(str(strip.count(number)) for strip in entry.reels))
    table.add_section()
    table.add_row("stops", *(str(len(strip)) for strip in entry.reels))
    return table


def strips(sheet: Sheet, entry: StripSet) -> Table:
    reels = (f"reel {reel}" for reel in range(1, sheet.reels + 1))
    table = _table(f"Set {entry.id}: strips, {entry.boards:,} boards", "stop", *reels)
    for stop in range(max(map(len, entry.reels))):
        table.add_row(str(stop), *(sheet.symbols[s[stop]].id if stop < len(s) else "" for s in entry.reels))
    return table


def lines(sheet: Sheet) -> Table:
    rows = ((number + 1, " ".join(map(str, line))) for number, line in enumerate(sheet.lines))
    return _rows(_table("Lines (0 = top row)", "line", "rows"), rows)


def features(sheet: Sheet) -> list[RenderableType]:
    """Headings and tables; the headings stand alone because they are wider than the tables."""
    parts: list[RenderableType] = []
    for feature in sheet.features:
        trigger = sheet.symbols[feature.trigger].id
        adds = "no added spins"
        if feature.adds is not None:
            adds = f"each {sheet.symbols[feature.adds].id} adds {feature.adds_spins}"
        title = f"Feature {feature.id}: mode {sheet.modes[feature.mode].id}, {adds}, at most {feature.max_spins} spins"
        table = _table("", f"{trigger} in view", "options: spins x multiplier")
        for count, options in feature.options.items():
            table.add_row(str(count), "  ".join(f"{option.spins} x{option.multiplier}" for option in options))
        parts += [Text(title, style="bold"), table]
    return parts


def sources(sheet: Sheet) -> Table:
    table = Table(title="Where the numbers come from", title_justify="left", title_style="bold")
    table.add_column("table")
    table.add_column("source")
    for place, source in sheet.sources.items():
        table.add_row(Text(place), Text(source))
    return table


def sheet_report(sheet: Sheet, results: list[Exact]) -> RenderableType:
    cap = f"£{sheet.win_cap_pence / 100:,.2f}" if sheet.win_cap_pence else "none"
    largest = f"£{max(mode.cost for mode in sheet.modes) * sheet.max_unit_pence / 100:.2f}"
    head = Text(f"{sheet.title} ({sheet.name})", style="bold")
    size = f"{sheet.reels} reels x {sheet.rows} rows, {len(sheet.lines)} lines, win cap {cap}, largest stake {largest}"
    size += f"\ncoins {' '.join(f'{coin}p' for coin in sheet.coin_values)}, levels 1-{sheet.levels}"
    parts: list[RenderableType] = [head, Text(size), pays(sheet), lines(sheet)]
    for entry in sheet.sets:
        parts += [counts(sheet, entry), strips(sheet, entry)]
    parts += features(sheet)
    parts += [exact_report(result, "best") for result in results]
    return Group(*parts, sources(sheet))


def combos(result: Exact) -> Table:
    symbols, runs = result.sheet.symbols, result.base.cycle.runs
    table = _table("Line wins over the full cycle", "combination", "without wild", "with wild", "one in (a line)")
    for symbol, run in sorted({(symbol, run) for symbol, run, _ in runs}):
        plain, wild = runs.get((symbol, run, False), 0), runs.get((symbol, run, True), 0)
        one_in = result.boards * result.lines / (plain + wild)
        table.add_row(f"{run} {symbols[symbol].id}", f"{plain:,}", f"{wild:,}", f"{one_in:,.1f}")
    return table


def exact_report(result: Exact, policy: str) -> RenderableType:
    sheet, sums, played = result.sheet, result.base.cycle, result.policies[policy]
    mode = sheet.modes[result.mode]
    have = figures(result, policy)
    table = _table(f"{mode.title}: exact figures, {policy} picks", "figure", "value")
    rows: list[tuple[object, ...]] = [
        ("RTP", f"{float(100 * played.rtp):.6f} %"),
        ("main game", f"{have['main_game_rtp']:.6f} %"),
        ("free spins", f"{float(100 * played.free_spins_rtp):.6f} %"),
        ("boards", f"{sums.boards:,}"),
        ("any win", f"{have['hit_frequency']:.4f} %"),
        ("win by lines", f"{have['line_hit_frequency']:.4f} %"),
        ("win by scatters", f"{have['scatter_hit_frequency']:.4f} %"),
        ("win below the bet", f"{result.share(sums.boards_below_bet):.4f} %"),
        ("win from the bet up", f"{result.share(sums.boards_from_bet):.4f} %"),
        ("line pays, credits", f"{sums.line_credits:,}"),
        ("scatter pays, total bets", f"{sums.scatter_bets:,}"),
        ("winning lines", f"{sums.winning_lines:,}"),
        ("largest win of a spin, credits", f"{sums.max_credits:,}"),
    ]
    if result.triggers:
        rows.append(("free spins, one in", f"{sums.boards / result.triggers:.3f}"))
    deviation = math.sqrt(played.variance)
    rows += [
        ("SD of a base spin, total bets", f"{math.sqrt(result.base_variance):.6f}"),
        ("SD of a round, total bets", f"{deviation:.6f}"),
        (f"volatility index (z = {Z})", f"{Z * deviation:.3f}"),
    ]
    parts: list[RenderableType] = [_rows(table, rows)]
    for symbol, seen in sums.in_view.items():
        title = f"Boards by {sheet.symbols[symbol].id} in view"
        shown = ((count, f"{ways:,}", f"{result.share(ways):.5f} %") for count, ways in enumerate(seen) if ways)
        parts.append(_rows(_table(title, "in view", "boards", "share"), shown))
    parts.append(combos(result))
    if played.picks:
        picked = (
            (
                n,
                f"{p.option.spins} x{p.option.multiplier}",
                f"{float(p.mean / result.cost):.5f}",
                f"{float(p.spins):.4f}",
            )
            for n, p in played.picks.items()
        )
        parts.append(_rows(_table("Picks", "in view", "option", "award, total bets", "spins played"), picked))
    return Group(*parts, verdict(result))


def verdict(result: Exact) -> Text:
    """Agreement of the methods, the quoted RTP and the targets, one line each."""
    checks = [check for part in (result.base, result.free) if part for check in part.checks]
    wrong = [check for check in checks if check.enumeration != check.counts]
    text = Text()
    if wrong:
        text.append("methods DISAGREE\n", style="bold red")
        for check in wrong:
            text.append(
                f"  {check.quantity}: enumeration {check.enumeration:,}, counts {check.counts:,}\n", style="red"
            )
    else:
        text.append(f"both methods agree on all {len(checks)} integers\n", style="green")
    problems = check_quoted(result).problems
    for problem in problems:
        text.append(f"{problem}\n", style="red")
    if not problems:
        text.append("the quoted RTP is the exact one\n", style="green")
    missed = misses(result)
    for miss in missed:
        text.append(
            f"target {miss.name}: {miss.value:.4f}, wanted {miss.target.value} ± {miss.target.within}\n", style="red"
        )
    if result.sheet.targets and result.sheet.modes[result.mode].selectable and not missed:
        text.append(f"all {len(result.sheet.targets)} targets are met", style="green")
    return text


def simulation_report(run: Run) -> Table:
    totals, bet = run.totals, run.totals.rounds * run.bet_pence
    expected = run.expected.policies[run.policy]
    title = f"{run.sheet.title}, {run.policy} picks: {totals.rounds:,} rounds, seed {run.seed}"
    table = _table(title, "figure", "played", "exact")
    rows: list[tuple[object, ...]] = [
        ("RTP", f"{run.rtp:.4f} ± {run.half_width:.4f} % (95 %)", f"{float(100 * expected.rtp):.4f} %"),
        ("lines", f"{100 * totals.base_pence / bet:.4f} %", ""),
        ("scatters", f"{100 * totals.scatter_pence / bet:.4f} %", ""),
        ("free spins", f"{100 * totals.free_spins_pence / bet:.4f} %", f"{float(100 * expected.free_spins_rtp):.4f} %"),
        ("SD of a round, total bets", f"{run.deviation:.4f}", f"{math.sqrt(expected.variance):.4f}"),
        ("rounds with an award", f"{100 * totals.hits / totals.rounds:.4f} %", ""),
    ]
    if totals.features:
        one_in = run.expected.boards / run.expected.triggers
        rows.append(("free spins, one in", f"{totals.rounds / totals.features:.3f}", f"{one_in:.3f}"))
        rows.append(("spins of a feature", f"{totals.free_spins / totals.features:.4f}", ""))
    rows += [
        ("largest award", f"£{totals.max_award_pence / 100:,.2f}", ""),
        ("cut by the win cap", f"£{totals.cut_pence / 100:,.2f}", ""),
        ("rounds a second", f"{totals.rounds / run.seconds:,.0f}", ""),
    ]
    return _rows(table, rows)

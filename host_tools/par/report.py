"""PAR sheets and results as tables that a person can read."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from host_tools.par.exact import Exact, Z, check_gamble, check_quoted, figures, misses
from host_tools.par.model import Prize, Sheet, StripSet
from host_tools.par.published import Figure
from host_tools.par.replay import Told
from host_tools.par.simulate import Run
from host_tools.par.verify import ERRORS, Row


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


def prize_text(sheet: Sheet, prize: Prize) -> str:
    """A prize in words."""
    return {
        "nothing": "nothing",
        "credits": f"{prize.number} credits",
        "pot": f"pot {sheet.pots[prize.index].id}" if prize.kind == "pot" else "",
        "wheel": f"wheel {sheet.tables[prize.index].id}" if prize.kind == "wheel" else "",
        "feature": f"feature {sheet.features[prize.index].id}" if prize.kind == "feature" else "",
        "spins": f"{prize.number} spins",
        "boards": f"boards {sheet.groups[prize.index].id}" if prize.kind == "boards" else "",
        "shape": f"{prize.shape[0]} x {prize.shape[1]} cells",
    }[prize.kind]


def steps(sheet: Sheet) -> Table:
    rows: list[tuple[object, ...]] = []
    for mode in sheet.modes:
        for step in mode.steps:
            symbols = " ".join(sheet.symbols[number].id for number in sorted(step.symbols))
            needed = " ".join(sheet.symbols[number].id for number in sorted(step.needed))
            what = "" if step.table is None else f"table {sheet.tables[step.table].id}"
            if step.op == "award" and step.table is not None:
                what = prize_text(sheet, sheet.tables[step.table].rows[0].prize)
            count = f"{step.least} to {step.most}" if step.op == "award" else step.least or ""
            what = (
                f"{step.rule}, {step.credits} credits when full"
                if step.op == "frames" and step.credits
                else what or step.rule
            )
            rows.append((mode.id, step.op, symbols, count, needed, what))
    return _rows(_table("Steps", "mode", "step", "symbols", "count", "with", "gives"), rows)


def tables(sheet: Sheet) -> Table:
    table = _table("Tables", "table", "row", "weight", "chance, %")
    for entry in sheet.tables:
        if len(entry.rows) > 1:
            for row in entry.rows:
                share = f"{100 * row.weight / entry.weight:.4f}"
                table.add_row(entry.id, prize_text(sheet, row.prize), f"{row.weight:,}", share)
    return table


def features(sheet: Sheet) -> list[RenderableType]:
    """Headings and tables; the headings stand alone because they are wider than the tables."""
    parts: list[RenderableType] = []
    for feature in sheet.features:
        mode = sheet.modes[feature.mode].id
        title = f"Feature {feature.id}: mode {mode}, opening {feature.opening}, at most {feature.max_spins} spins"
        table = _table("", "trigger count", "options: spins x multiplier")
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
    cap = f"£{sheet.win_cap_pence / 100:,.2f}"
    largest = f"£{max(mode.cost for mode in sheet.modes) * sheet.max_unit_pence / 100:.2f}"
    head = Text(f"{sheet.title} ({sheet.name})", style="bold")
    size = f"{sheet.reels} reels x {sheet.rows} rows, {len(sheet.lines)} lines, win cap {cap}, largest stake {largest}"
    size += f"\ncoins {' '.join(f'{coin}p' for coin in sheet.coin_values)}, levels 1-{sheet.levels}"
    parts: list[RenderableType] = [head, Text(size), pays(sheet), lines(sheet)]
    for entry in sheet.sets:
        parts += [counts(sheet, entry), strips(sheet, entry)]
    if any(mode.steps for mode in sheet.modes):
        parts += [steps(sheet), tables(sheet)]
    parts += features(sheet)
    parts += [exact_report(result, "best") for result in results]
    return Group(*parts, sources(sheet))


def combos(result: Exact) -> Table:
    symbols, sums = result.sheet.symbols, result.base.cycle
    ways = bool(sums.ways)
    title = "Ways wins over the full cycle" if ways else "Line wins over the full cycle"
    table = _table(title, "combination", "without wild", "with wild", "paid ways" if ways else "one in (a line)")
    for symbol, run in sorted({(symbol, run) for symbol, run, _ in sums.runs}):
        plain, wild = sums.runs.get((symbol, run, False), 0), sums.runs.get((symbol, run, True), 0)
        last = f"{sums.ways.get((symbol, run), 0):,}"
        if not ways:
            last = f"{result.boards * result.lines / (plain + wild):,.1f}"
        table.add_row(f"{run} {symbols[symbol].id}", f"{plain:,}", f"{wild:,}", last)
    return table


def exact_report(result: Exact, policy: str) -> RenderableType:
    sheet, sums, played = result.sheet, result.base.cycle, result.policies[policy]
    mode = sheet.modes[result.mode]
    have = figures(result)
    table = _table(f"{mode.title}: exact figures, {policy} picks", "figure", "value")
    rows: list[tuple[object, ...]] = [
        ("RTP", f"{float(100 * played.rtp):.6f} %"),
        ("lines, ways and scatters of the main game", f"{have['main_game_rtp']:.6f} %"),
        ("features", f"{float(100 * played.free_spins_rtp):.6f} %"),
        ("boards", f"{sums.boards:,}"),
        ("any win", f"{have['hit_frequency']:.4f} %"),
        (f"win by {mode.evaluation}", f"{have['line_hit_frequency']:.4f} %"),
        ("win by scatters", f"{have['scatter_hit_frequency']:.4f} %"),
        ("window wins below the bet", f"{result.share(sums.boards_below_bet):.4f} %"),
        ("window wins from the bet up", f"{result.share(sums.boards_from_bet):.4f} %"),
        (f"{mode.evaluation} pays, credits", f"{sums.line_credits:,}"),
        ("scatter pays, total bets", f"{sums.scatter_bets:,}"),
        ("largest window win, credits", f"{sums.max_credits:,}"),
    ]
    deviation = math.sqrt(played.variance)
    rows += [
        ("SD of a spin's window wins, total bets", f"{math.sqrt(result.base_variance):.6f}"),
        ("SD of a round, total bets (exact)", f"{deviation:.6f}"),
        *((f"volatility index (z = {z})", f"{z * deviation:.3f}") for z in Z),
    ]
    parts: list[RenderableType] = [_rows(table, rows)]
    shares = sorted(played.whole.parts.items(), key=lambda part: -part[1])
    split = ((cause, f"{float(100 * mean / result.cost):.6f} %") for cause, mean in shares)
    parts.append(_rows(_table("Where the RTP comes from", "cause", "RTP"), split))
    if played.whole.often:
        often = ((name, f"{float(1 / n):,.3f}") for name, n in sorted(played.whole.often.items()) if n)
        parts.append(_rows(_table("How often", "what", "one in"), often))
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
    checks = [check for part in (result.base, *result.free.values()) for check in part.checks]
    wrong = [check for check in checks if check.enumeration != check.counts]
    text = Text()
    if wrong:
        text.append("methods DISAGREE\n", style="bold red")
        for check in wrong:
            text.append(
                f"  {check.quantity}: enumeration {check.enumeration:,}, second method {check.counts:,}\n", style="red"
            )
    else:
        text.append(f"the methods agree on all {len(checks)} integers\n", style="green")
    problems = check_quoted(result).problems + check_gamble(result.sheet)
    for problem in problems:
        text.append(f"{problem}\n", style="red")
    if not problems:
        text.append("the quoted RTP is the exact one\n", style="green")
    missed = misses(result)
    for miss in missed:
        text.append(
            f"target {miss.name}: {miss.value or math.nan:.4f}, wanted {miss.target.value} ± {miss.target.within}\n",
            style="red",
        )
    targets = result.sheet.targets.get(result.sheet.modes[result.mode].id, {})
    if targets and not missed:
        text.append(f"all {len(targets)} targets are met", style="green")
    return text


def simulation_report(run: Run) -> RenderableType:
    totals, bet = run.totals, run.totals.rounds * run.bet_pence
    expected = run.expected.policies[run.policy]
    title = f"{run.sheet.title}, {run.policy} picks: {totals.rounds:,} rounds, seed {run.seed}"
    table = _table(title, "figure", "played", "exact")
    parts = (
        ("lines or ways", totals.base_pence),
        ("scatters", totals.scatter_pence),
        ("collected values", totals.cash_pence),
        ("prizes", totals.prize_pence),
    )
    hits = f"{float(100 * run.expected.hit_frequency):.4f} %"
    rows: list[tuple[object, ...]] = [
        ("RTP", f"{run.rtp:.4f} ± {run.half_width:.4f} % (95 %)", f"{float(100 * expected.rtp):.4f} %"),
        ("standard errors off", f"{run.off:+.2f}", ""),
        *((name, f"{100 * pence / bet:.4f} %", "") for name, pence in parts if pence),
        ("features", f"{100 * totals.features_pence / bet:.4f} %", f"{float(100 * expected.free_spins_rtp):.4f} %"),
        ("SD of a round, total bets", f"{run.deviation:.4f}", f"{math.sqrt(expected.variance):.4f}"),
        ("rounds with an award", f"{100 * totals.hits / totals.rounds:.4f} %", hits),
    ]
    if totals.features:
        rows.append(("spins of a feature", f"{totals.free_spins / totals.features:.4f}", ""))
    rows += [
        ("largest award", f"£{totals.max_award_pence / 100:,.2f}", ""),
        ("cut by the win cap", f"£{totals.cut_pence / 100:,.2f}", ""),
    ]
    if run.fresh and run.seconds:
        rows.append(("rounds a second", f"{run.fresh / run.seconds:,.0f}", ""))
    seen = ((what, f"{n:,}", "" if want is None else f"{want:,.1f}") for what, n, want in run.coverage())
    return Group(_rows(table, rows), _rows(_table("How often it was seen", "what", "seen", "expected"), seen))


def verify_report(rows: list[Row]) -> RenderableType:
    if not rows:
        return Text()
    names = ("mode", "picks", "RTP exact", "played", "± 95 %", "errors off", "SD exact", "played", "errors off")
    names += ("any win", "methods", "verdict")
    table = _table("Exact against played", *names)
    problems: list[Text] = []
    for row in rows:
        verdict = "good" if row.good else "WRONG"
        table.add_row(
            f"{row.game} {row.mode}",
            row.policy,
            f"{row.rtp:.4f} %",
            f"{row.played:.4f} %",
            f"{row.half_width:.4f}",
            f"{row.off:+.2f}",
            f"{row.deviation:.4f}",
            f"{row.played_deviation:.4f}",
            "few rounds" if row.deviation_off is None else f"{row.deviation_off:+.2f}",
            f"{row.hit_frequency:.3f} %",
            "agree" if row.methods_agree else "DISAGREE",
            Text(verdict, style="green" if row.good else "bold red"),
        )
        problems += [Text(f"{row.game} {row.mode}: {problem}", style="red") for problem in row.problems]
        if not row.simulation_agrees:
            text = f"played RTP is {row.off:+.2f}, its variance {row.deviation_off or 0:+.2f} and any win {row.hits_off:+.2f}"
            text += f" standard errors off, {ERRORS} are allowed"
            problems.append(Text(f"{row.game} {row.mode}: {text}", style="red"))
    return Group(table, *problems)


def replay_report(sheet: Sheet, events: list[Told]) -> RenderableType:
    table = _table(sheet.title, "event", "index", "symbol", "count", "multiplier", "pence", "award so far", "window")
    for event in events:
        table.add_row(
            event.kind,
            str(event.index),
            event.symbol,
            str(event.count),
            str(event.multiplier),
            str(event.pence),
            str(event.award_pence),
            " / ".join(event.window),
        )
    return table


def published_report(figures: list[Figure]) -> RenderableType:
    if not figures:
        return Text()
    table = _table("Published figures", "sheet", "figure", "printed", "ours", "verdict")
    for figure in figures:
        verdict = Text("equal", style="green") if figure.good else Text("WRONG", style="bold red")
        numbers = (f"{n:,}" if isinstance(n, int) else n for n in (figure.printed, figure.ours))
        table.add_row(figure.sheet, figure.name, *numbers, verdict)
    return table

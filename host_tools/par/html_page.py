"""The PAR sheet as one HTML page that needs nothing else: tables by jinja2, plots by matplotlib as SVG in the page."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Callable
from typing import Any

import matplotlib
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from host_tools.par.exact import Exact, Z, base_distribution, check_gamble, check_quoted, figures, misses
from host_tools.par.model import Sheet
from host_tools.par.report import prize_text
from host_tools.par.simulate import Z95, Job, Run, choices, play
from native.cpython import Simulation

# Ranges of the win plot, total bets: up to 0, then up to each of these.
EDGES = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
POINTS = 40  # of the convergence plot


def svg(draw: Callable[[Any], None], width: float = 7.2, height: float = 3.2) -> str:
    """One plot. No date and a fixed salt: the same figures give the same page."""
    with matplotlib.rc_context({"svg.hashsalt": "cabinet", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def wins_plot(result: Exact) -> str:
    chances = base_distribution(result)
    names, heights, low = [], [], 0.0
    for edge in (*EDGES, math.inf):
        share = sum(float(p) for win, p in chances.items() if low < win <= edge)
        if share:
            names.append(f"≤ {edge:g}" if edge < math.inf else f"> {low:g}")
            heights.append(100 * share)
        low = edge

    def draw(axes: Any) -> None:
        axes.bar(names, heights, color="#33689b")
        axes.set_yscale("log")
        axes.set_xlabel("win of the base spin, total bets (each bar: more than the bar before)")
        axes.set_ylabel("chance, %")

    return svg(draw)


def split_plot(result: Exact) -> str:
    parts: dict[str, float] = {}
    for cause, mean in result.policies["best"].whole.parts.items():
        name = cause.split(",")[0]
        name = "lines" if name.startswith("lines ") else "ways" if name.startswith("ways ") else name
        parts[name] = parts.get(name, 0.0) + float(100 * mean / result.cost)
    rows = sorted(parts.items(), key=lambda row: row[1])

    def draw(axes: Any) -> None:
        bars = axes.barh([name for name, _ in rows], [value for _, value in rows], color="#5b8c5a")
        axes.bar_label(bars, fmt="%.2f", padding=2)
        axes.set_xlabel("RTP, percentage points")

    return svg(draw, height=0.8 + 0.28 * len(rows))


def convergence(sheet: Sheet, pack: bytes, result: Exact, rounds: int, seed: str, threads: int) -> tuple[Run, str]:
    """Plays the rounds in steps and plots the RTP on the way."""
    job = Job(pack, result.mode, 1, seed, tuple(sorted(choices(sheet, result, "best").items())))
    marks = sorted({max(1, round(rounds ** (0.4 + 0.6 * n / POINTS))) for n in range(POINTS + 1)})
    total: Simulation | None = None
    played: list[float] = []
    for mark in marks:
        total = play(job, mark, threads, start=total)
        played.append(100 * total.award_pence / (mark * result.cost))
    assert total is not None
    expected = result.policies["best"]
    centre, deviation = float(100 * expected.rtp), math.sqrt(expected.variance)
    margin = [100 * Z95 * deviation / math.sqrt(mark) for mark in marks]

    def draw(axes: Any) -> None:
        axes.fill_between(
            marks, [centre - m for m in margin], [centre + m for m in margin], color="#cfd8dc", label="95 %"
        )
        axes.axhline(centre, color="#33689b", linewidth=1, label="exact")
        axes.plot(marks, played, color="#b5482a", label="played")
        axes.set_xscale("log")
        axes.set_xlabel("rounds")
        axes.set_ylabel("RTP, %")
        axes.legend()

    return Run(sheet, result.mode, "best", seed, 1, total, 0.0, result), svg(draw)


def volatility_plot(result: Exact) -> str:
    """Where nine in ten sessions end, by length: the normal law with the exact mean and deviation."""
    played = result.policies["best"]
    centre, deviation = float(100 * played.rtp), math.sqrt(played.variance)
    rounds = [10**n for n in range(2, 8)]

    def draw(axes: Any) -> None:
        for z, colour in zip(Z, ("#33689b", "#b5482a"), strict=True):
            for sign in (-1, 1):
                ends = [max(0.0, centre + sign * 100 * z * deviation / math.sqrt(n)) for n in rounds]
                axes.plot(rounds, ends, color=colour, label=f"z = {z}" if sign > 0 else None)
        axes.set_xscale("log")
        axes.set_xlabel("rounds of a session")
        axes.set_ylabel("return, %")
        axes.legend()

    return svg(draw)


def mode_of(sheet: Sheet, pack: bytes, result: Exact, rounds: int, seed: str, threads: int) -> dict[str, Any]:
    best, entry = result.policies["best"], sheet.modes[result.mode]
    run, converging = convergence(sheet, pack, result, rounds, seed, threads)
    deviation, have = math.sqrt(best.variance), figures(result)
    rows = [("RTP, best picks", f"{float(100 * best.rtp):.6f} %")]
    if best.picks:
        rows.append(("RTP, worst picks", f"{float(100 * result.policies['worst'].rtp):.6f} %"))
    rows += [
        ("any win", f"{have['hit_frequency']:.4f} %"),
        ("SD of a round, total bets (exact)", f"{deviation:.4f}"),
        *((f"volatility index, z = {z}", f"{z * deviation:.3f}") for z in Z),
        ("boards", f"{result.boards:,}"),
        ("integers by two methods", f"{sum(len(part.checks) for part in (result.base, *result.free.values()))}"),
        ("methods", "agree" if result.agree else "DISAGREE"),
        (f"played, {rounds:,} rounds, seed {seed}", f"{run.rtp:.4f} ± {run.half_width:.4f} % (95 %)"),
        ("standard errors off", f"{run.off:+.2f}"),
    ]
    problems = check_quoted(result).problems
    problems += [f"target {m.name}: {m.value}, wanted {m.target.value} ± {m.target.within}" for m in misses(result)]
    return {
        "title": entry.title,
        "rows": rows,
        "problems": problems,
        "parts": [
            (c, f"{float(100 * m / result.cost):.6f}") for c, m in sorted(best.whole.parts.items(), key=lambda p: -p[1])
        ],
        "often": [(name, f"{float(1 / n):,.2f}") for name, n in sorted(best.whole.often.items()) if n],
        "plots": [
            ("Wins of the base spin", wins_plot(result)),
            ("Where the RTP comes from", split_plot(result)),
            ("Convergence", converging),
            ("Volatility", volatility_plot(result)),
        ],
    }


def render(sheet: Sheet, pack: bytes, results: list[Exact], rounds: int, seed: str, threads: int) -> str:
    loader = PackageLoader("host_tools.par", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    tables = [
        (
            entry.id,
            [
                (prize_text(sheet, row.prize), row.weight, f"{100 * row.weight / entry.weight:.4f}")
                for row in entry.rows
            ],
        )
        for entry in sheet.tables
        if len(entry.rows) > 1
    ]
    pays = [
        (f"{s.id} {s.title}", s.scatter, sheet.scatter_pays.get(n, ()) if s.scatter else sheet.pays[n])
        for n, s in enumerate(sheet.symbols)
    ]
    return environment.get_template("par.html").render(
        sheet=sheet,
        digest=hashlib.sha256(pack).hexdigest(),
        modes=[mode_of(sheet, pack, result, rounds, seed, threads) for result in results],
        pays=[(name, scatter, list(row)[: sheet.reels]) for name, scatter, row in pays if any(row)],
        tables=tables,
        problems=check_gamble(sheet),
    )

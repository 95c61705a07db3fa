"""`cabinet par`: builds, shows, proves, plays and searches the games' sheets.

Exit codes: 0 done, 1 the mathematics does not hold (methods disagree, quoted RTP or a target is wrong), 2 bad input.
"""

from __future__ import annotations

import json
import os
import time
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console, Group
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from host_tools.cabinet import games
from host_tools.par import exact as maths
from host_tools.par import published, report
from host_tools.par import replay as recorded
from host_tools.par import simulate as rounds_of
from host_tools.par import verify as proof
from host_tools.par.compiler import compile_sheet
from host_tools.par.exact_json import to_json
from host_tools.par.model import Sheet
from host_tools.par.reading import SheetError, closest
from host_tools.par.searching import changes, searched
from host_tools.par.sheet import load, parse
from native import CoreError, Pack

app = typer.Typer(
    help="PAR sheets: build packs, exact mathematics, simulation, strip search.",
    no_args_is_help=True,
    add_completion=False,
)

MATHS_FAILED, BAD_INPUT = 1, 2
CORES = os.cpu_count() or 1


class Policy(StrEnum):
    best = "best"
    worst = "worst"


GameArgument = Annotated[str, typer.Argument(metavar="GAME", help="Name of a game, or the path of a sheet (.toml).")]
ModeOption = Annotated[str | None, typer.Option("--mode", help="Default: the first that a player can select.")]
PolicyOption = Annotated[Policy, typer.Option("--policy", help="Picks with the best or the worst expected award.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
ThreadsOption = Annotated[int, typer.Option("--threads", min=1, max=256, help="Results do not depend on it.")]

RoundsOption = Annotated[int, typer.Option("--rounds", min=1, max=2**40)]
SeedOption = Annotated[str, typer.Option("--seed", help="Any text; the same seed plays the same rounds.")]
DaskOption = Annotated[str | None, typer.Option("--dask", metavar="ADDRESS", help="A dask scheduler's; same result.")]


out, errors = Console(), Console(stderr=True)


def fail(message: str) -> NoReturn:
    errors.print(f"error: {message}", style="red", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(BAD_INPUT)


def open_sheet(game: str) -> Sheet:
    """The sheet of a game's name or of a path; ends the command with a clear message when there is none."""
    path = Path(game)
    if path.suffix != ".toml":
        path = games.sheet_path(game)
        if game not in games.names():
            fail(f"there is no game '{game}'; {closest(game, games.names())} (or give the path of a .toml sheet)")
    try:
        return load(path)
    except SheetError as fault:
        fail(str(fault))


def mode_of(sheet: Sheet, name: str | None) -> int:
    if name is None:
        return next(number for number, mode in enumerate(sheet.modes) if mode.selectable)
    try:
        return sheet.mode(name)
    except SheetError as fault:
        fail(str(fault))


def pack_of(sheet: Sheet) -> tuple[bytes, Pack]:
    """The pack, which the core has accepted."""
    data = compile_sheet(sheet)
    try:
        return data, Pack(data)
    except CoreError as fault:
        reason = str(fault.args[0])
        # The reader has checked all but the size of the largest award.
        remedy = "lower pays, multipliers, max_spins or max_unit_pence"
        fail(f"{sheet.file}: the core refuses the pack ({reason}); {remedy}")


def exact_of(sheet: Sheet, mode: int, threads: int) -> maths.Exact:
    pack_of(sheet)
    try:
        with bar("boards", "enumerating") as progress:
            task = progress.add_task("enumerating", total=None)
            return maths.exact(
                sheet, mode, threads, progress=lambda done, total: progress.update(task, completed=done, total=total)
            )
    except (CoreError, ValueError) as fault:
        fail(f"{sheet.file}: no exact figures ({fault})")


class Rate(ProgressColumn):
    """Units a second so far."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} {self.unit}/s" if task.speed else f"- {self.unit}/s")


def bar(unit: str, what: str) -> Progress:
    """A bar with rate and time left, on stderr so that stdout is the result alone."""
    columns = (TextColumn(what), BarColumn(), TaskProgressColumn(), Rate(unit), TimeRemainingColumn())
    return Progress(*columns, console=errors, transient=True)


@app.command()
def build(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Name of a game, or a sheet (.toml).")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every game of the firmware.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File, or folder with --all. Default: GAME.pack here.")
    ] = None,
) -> None:
    """Compile sheets into packs that the C core has accepted."""
    if every == (game is not None):
        fail("give one GAME, or --all")
    names = games.names() if every else [game or ""]
    folder = output or Path()
    if every and folder.exists() and not folder.is_dir():
        fail(f"{folder} is a file; with --all, -o names a folder")
    for name in names:
        sheet = open_sheet(name)
        data, pack = pack_of(sheet)
        target = folder / f"{sheet.name}.pack" if every or output is None or folder.is_dir() else folder
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        except OSError as fault:
            fail(f"{target} cannot be written ({fault.strerror})")
        typer.echo(f"{target}  {len(data)} bytes  sha256 {pack.sha256.hex()}")


@app.command()
def show(game: GameArgument, threads: ThreadsOption = CORES) -> None:
    """Print a PAR sheet that a person can read, exact figures included."""
    sheet = open_sheet(game)
    results = [exact_of(sheet, mode, threads) for mode in range(len(sheet.modes))]
    out.print(report.sheet_report(sheet, results))


@app.command()
def exact(
    game: GameArgument,
    mode: ModeOption = None,
    policy: PolicyOption = Policy.best,
    as_json: JsonOption = False,
    threads: ThreadsOption = CORES,
) -> None:
    """Compute every figure exactly, by two methods; exit 1 unless they agree with each other and with the sheet."""
    sheet = open_sheet(game)
    result = exact_of(sheet, mode_of(sheet, mode), threads)
    if as_json:
        typer.echo(json.dumps(to_json(result, policy.value), indent=2))
    else:
        out.print(report.exact_report(result, policy.value))
    problems = maths.check_quoted(result).problems + maths.check_gamble(sheet)
    for problem in problems if as_json else ():
        errors.print(f"{sheet.file}: {problem}", style="red", markup=False, highlight=False, soft_wrap=True)
    if problems or not result.agree or maths.misses(result):
        raise typer.Exit(MATHS_FAILED)


@app.command()
def simulate(
    game: GameArgument,
    mode: ModeOption = None,
    policy: PolicyOption = Policy.best,
    rounds: RoundsOption = 10_000_000,
    seed: SeedOption = "1",
    unit: Annotated[int, typer.Option("--unit", min=1, help="Pence that one credit is worth.")] = 1,
    state: Annotated[
        Path | None, typer.Option("--state", help="Keeps the totals there; a run that was stopped goes on from it.")
    ] = None,
    dask: DaskOption = None,
    as_json: JsonOption = False,
    threads: ThreadsOption = CORES,
) -> None:
    """Play whole rounds through the firmware's round function and compare with the exact figures."""
    sheet = open_sheet(game)
    number = mode_of(sheet, mode)
    if unit > sheet.max_unit_pence:
        fail(f"--unit {unit} is above the game's largest unit of {sheet.max_unit_pence}p")
    if not sheet.modes[number].selectable:
        fail(f"mode '{sheet.modes[number].id}' starts no round: a player cannot select it")
    expected = exact_of(sheet, number, threads)
    data, _ = pack_of(sheet)
    try:
        picks = rounds_of.choices(sheet, expected, policy.value)
        job = rounds_of.Job(data, number, unit, seed, tuple(sorted(picks.items())))
        before = rounds_of.resumed(state, job, rounds) if state else None
        done = before.rounds if before else 0
        with bar("rounds", "playing") as progress:
            task = progress.add_task("playing", total=rounds - done)
            start = time.perf_counter()
            totals = rounds_of.play(job, rounds, threads, lambda n: progress.advance(task, n), before, state, dask)
            seconds = time.perf_counter() - start
    except (CoreError, ValueError, OSError) as fault:
        fail(f"{sheet.file}: no simulation ({fault})")
    run = rounds_of.Run(sheet, number, policy.value, seed, unit, totals, seconds, expected, rounds - done)
    if as_json:
        typer.echo(json.dumps(rounds_of.to_json(run), indent=2))
    else:
        out.print(report.simulation_report(run))


@app.command()
def verify(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Name of a game, or a sheet (.toml).")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every game of the firmware.")] = False,
    folder: Annotated[
        Path | None, typer.Option("--published", help="Folder of sheets with *.published.json beside them.")
    ] = None,
    rounds: RoundsOption = 10_000_000,
    seed: SeedOption = "1",
    dask: DaskOption = None,
    as_json: JsonOption = False,
    threads: ThreadsOption = CORES,
) -> None:
    """Exact against played against quoted and targeted figures, all modes; exit 1 on any disagreement."""
    if (every and game is not None) or not (every or game or folder):
        fail("give one GAME, or --all, or --published FOLDER")
    rows: list[proof.Row] = []
    for name in games.names() if every else [game] if game else []:
        sheet = open_sheet(name)
        pack_of(sheet)
        try:
            with bar("rounds", f"playing {sheet.name}") as progress:
                tell = partial(progress.advance, progress.add_task("playing", total=None))
                rows += proof.verify(sheet, rounds, threads, seed, tell, dask)
        except (CoreError, ValueError, OSError) as fault:
            fail(f"{sheet.file}: cannot be verified ({fault})")
    printed = published_of(folder, threads) if folder else []
    if as_json:
        typer.echo(json.dumps([row.as_json() for row in rows] + [vars(figure) for figure in printed], indent=2))
    else:
        out.print(Group(report.verify_report(rows), report.published_report(printed)))
    if not all(row.good for row in rows) or not all(figure.good for figure in printed):
        raise typer.Exit(MATHS_FAILED)


def published_of(folder: Path, threads: int) -> list[published.Figure]:
    paths = published.files(folder)
    if not paths:
        fail(f"{folder} has no *{published.ENDING} beside its sheets")
    try:
        return [figure for path in paths for figure in published.check(path, threads)]
    except (SheetError, CoreError, ValueError, KeyError, OSError) as fault:
        fail(f"{folder}: {fault}")


@app.command()
def replay(
    game: GameArgument,
    mode: Annotated[str, typer.Argument(metavar="MODE")],
    unit: Annotated[int, typer.Argument(metavar="UNIT", help="Pence that one credit was worth.")],
    seed: Annotated[str, typer.Argument(metavar="SEED", help="The round's 32 bytes, in hexadecimal.")],
    choice: Annotated[
        list[str] | None, typer.Option("--choice", help="In order: an option's number, collect, or gamble:ROW:PENCE.")
    ] = None,
    wager: Annotated[int, typer.Option("--wager", min=0, help="Pence of a spin chance; 0: the whole cost.")] = 0,
    gamble: Annotated[bool, typer.Option("--gamble", help="The play allowed gambling.")] = False,
    pile: Annotated[int, typer.Option("--pile", min=0, help="The pile before the round.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Play one recorded round again, event by event."""
    sheet = open_sheet(game)
    number = mode_of(sheet, mode)
    _, pack = pack_of(sheet)
    try:
        raw = bytes.fromhex(seed)
    except ValueError:
        raw = b""
    if len(raw) != 32:
        fail("SEED is 64 hexadecimal digits, as recall and audit print them")
    events: list[recorded.Told] = []
    wrong = ""
    try:
        for event in recorded.replay(sheet, pack, number, unit, raw, choice or [], wager, gamble, pile):
            events.append(event)
    except (CoreError, recorded.ReplayError) as fault:
        wrong = str(fault)
    if as_json:
        typer.echo(json.dumps([event.as_json() for event in events], indent=2))
    else:
        out.print(report.replay_report(sheet, events))
    if wrong:
        fail(wrong)


@app.command(name="report")
def page(
    game: GameArgument,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Default: GAME.html here.")] = None,
    rounds: RoundsOption = 1_000_000,
    seed: SeedOption = "1",
    threads: ThreadsOption = CORES,
) -> None:
    """Write the PAR sheet as one self-contained HTML page with plots."""
    sheet = open_sheet(game)
    data, _ = pack_of(sheet)
    try:
        from host_tools.par import html_page
    except ImportError as fault:
        fail(f"the page needs the extra 'report' ({fault.name}): pip install 'cabinet-firmware[report]'")
    results = [exact_of(sheet, number, threads) for number, mode in enumerate(sheet.modes) if mode.selectable]
    try:
        text = html_page.render(sheet, data, results, rounds, seed, threads)
        target = output or Path(f"{sheet.name}.html")
        target.write_text(text, encoding="utf-8")
    except (CoreError, ValueError, OSError) as fault:
        fail(f"{sheet.file}: no page ({fault})")
    typer.echo(f"{target}  {len(text)} bytes")


@app.command()
def search(
    game: GameArgument,
    seed: Annotated[int | None, typer.Option("--seed", help="Instead of the sheet's own.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
    knobs: Annotated[bool, typer.Option("--knobs/--no-knobs", help="Solve the weights of [search.knobs] too.")] = True,
    write: Annotated[bool, typer.Option("--write", help="Write what is found into the sheet.")] = False,
) -> None:
    """Find strips for the sheet's targets; print them as TOML. Exit 1 when the sheet's own seed gives other strips."""
    sheet = open_sheet(game)
    tell = (lambda text: None) if quiet else (lambda text: errors.print(text, markup=False, highlight=False))
    try:
        same, text = searched(sheet, seed, tell, knobs)
        if write:
            parse(text, sheet.file)
            Path(sheet.file).write_text(text, encoding="utf-8")
    except (SheetError, ValueError, OSError) as fault:
        fail(str(fault))
    if not write:
        typer.echo("".join(changes(sheet, text)), nl=False)
    typer.echo(f"# {'the same as in the sheet' if same else 'NOT the same as in the sheet'}")
    if seed is None and not same and not write:
        raise typer.Exit(MATHS_FAILED)

"""`cabinet par`: builds, shows, proves, plays and searches the games' sheets.

Exit codes: 0 done, 1 the mathematics does not hold (methods disagree, quoted RTP or a target is wrong), 2 bad input.
"""

from __future__ import annotations

import json
import os
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
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
from host_tools.par import report
from host_tools.par import simulate as rounds_of
from host_tools.par.compiler import compile_sheet
from host_tools.par.model import Sheet
from host_tools.par.reading import SheetError, closest
from host_tools.par.search import Search, found_in, plan
from host_tools.par.sheet import load
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
        typer.echo(json.dumps(maths.to_json(result, policy.value), indent=2))
    else:
        out.print(report.exact_report(result, policy.value))
    problems = maths.check_quoted(result).problems
    for problem in problems if as_json else ():
        errors.print(f"{sheet.file}: {problem}", style="red", markup=False, highlight=False, soft_wrap=True)
    if problems or not result.agree or maths.misses(result):
        raise typer.Exit(MATHS_FAILED)


@app.command()
def simulate(
    game: GameArgument,
    mode: ModeOption = None,
    policy: PolicyOption = Policy.best,
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=2**40)] = 10_000_000,
    seed: Annotated[str, typer.Option("--seed", help="Any text; the same seed plays the same rounds.")] = "1",
    unit: Annotated[int, typer.Option("--unit", min=1, help="Pence that one credit is worth.")] = 1,
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
    _, pack = pack_of(sheet)
    try:
        picks = rounds_of.choices(sheet, expected, policy.value)
        with bar("rounds", "playing") as progress:
            task = progress.add_task("playing", total=rounds)
            start = time.perf_counter()
            totals = rounds_of.play(
                pack,
                number,
                unit,
                rounds_of.master_seed(seed),
                rounds,
                picks,
                threads,
                lambda done: progress.advance(task, done),
            )
            seconds = time.perf_counter() - start
    except (CoreError, ValueError) as fault:
        fail(f"{sheet.file}: no simulation ({fault})")
    run = rounds_of.Run(sheet, number, policy.value, seed, unit, totals, seconds, expected)
    if as_json:
        typer.echo(json.dumps(rounds_of.to_json(run), indent=2))
    else:
        out.print(report.simulation_report(run))


@app.command()
def search(
    game: GameArgument,
    seed: Annotated[int | None, typer.Option("--seed", help="Instead of the sheet's own.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
) -> None:
    """Find strips for the sheet's targets; print them as TOML. Exit 1 when the sheet's own seed gives other strips."""
    sheet = open_sheet(game)
    try:
        given = plan(sheet, seed)
        tell = (lambda text: None) if quiet else (lambda text: errors.print(text, markup=False, highlight=False))
        found = Search(sheet, given, tell).run()
    except (SheetError, ValueError) as fault:
        fail(str(fault))
    for name, strips in found.sets(sheet, given):
        typer.echo(f"[sets.{name}]\nreels = [")
        for strip in strips:
            typer.echo(f'  "{" ".join(sheet.symbols[symbol].id for symbol in strip)}",')
        typer.echo("]")
    typer.echo(f"# digest {found.digest()}")
    if seed is None:
        same = found.digest() == found_in(sheet, given).digest() == given.digest
        typer.echo(f"# {'the same strips as in the sheet' if same else 'NOT the strips or the digest of the sheet'}")
        if not same:
            raise typer.Exit(MATHS_FAILED)

"""The command line `cabinet`."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

import native
from host_tools.boards.debian import BoardsError
from host_tools.cabinet import games
from host_tools.hil.host_session import BoardFailed
from host_tools.hil.rig import Event, Rig, RigError
from host_tools.hil.script import ScriptError, parse
from host_tools.hil.script_commands import Command
from host_tools.hil.sessions import BOARDS
from host_tools.hil.transcript import Transcript
from host_tools.par.cli import app as par
from host_tools.par.reading import SheetError
from host_tools.rng.cli import app as rng

SCRIPTS = Path(__file__).parent.parent / "hil" / "scripts"
DEMO = SCRIPTS / "demo.rig"

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Firmware of a slot cabinet, and the tools around it."
)
app.add_typer(par, name="par", help="The games' mathematics: build, show, exact, simulate, search.")
app.add_typer(rng, name="rng", help="Randomness: batteries over a device, a file, or the firmware's whole chain.")


def fail(message: str, code: int = 1) -> typer.Exit:
    """An error for a person on standard error, and the exit that goes with it."""
    print(f"cabinet: {message}", file=sys.stderr)
    return typer.Exit(code)


def check_board(board: str) -> None:
    """Exit 2 unless the rig has such a board."""
    if board not in BOARDS:
        raise fail(f"there is no board {board}; there is {', '.join(BOARDS)}", 2)


@app.command()
def run(
    script: Annotated[
        Path | None, typer.Option(help="A rig script; without one, a front panel or the demonstration.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One event a line, a summary last.")] = False,
    board: Annotated[
        str, typer.Option(help="host, unix or mps2 (emulated Cortex-M3); built when it is not there.")
    ] = "host",
) -> None:
    """Run the cabinet: a front panel in a terminal, else a script in virtual time.

    Exit: 0 done, 1 an expectation failed or the script could not go on, 2 the script or a sheet is wrong.
    """
    check_board(board)
    if script is None and board == "host" and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        from host_tools.face.app import FrontPanel

        FrontPanel(games.packs()).run()
        return
    commands, packs = read_script(script or DEMO)
    raise typer.Exit(play(commands, packs, as_json, board))


def read_script(path: Path) -> tuple[tuple[Command, ...], dict[str, bytes]]:
    """A script's commands and the games. Exit 2 with what is wrong and the remedy."""
    try:
        return parse(path.read_text(), path.name), games.packs()
    except OSError as error:
        raise fail(f"cannot read {path}: {error.strerror}", 2) from None
    except UnicodeDecodeError:
        raise fail(f"{path} is not a text file", 2) from None
    except (ScriptError, SheetError) as error:
        raise fail(str(error), 2) from None


def play(commands: Sequence[Command], packs: Mapping[str, bytes], as_json: bool, board: str) -> int:
    """Runs a parsed script and prints what happens; returns the exit code."""
    opened = {name: native.Pack(data) for name, data in packs.items()}
    transcript = Transcript(next(iter(opened.values())), opened)

    def show(event: Event) -> None:
        if as_json:
            print(json.dumps(event), flush=True)
            return
        line = transcript.line(event)
        if line is not None:
            print(line, flush=True)

    try:
        rig = Rig(packs, show, board=board)
    except BoardsError as error:
        raise fail(str(error)) from None
    failure = ""
    try:
        rig.run(commands)
    except (RigError, BoardFailed) as error:
        failure = str(error)
    try:
        if not rig.session.on:
            rig.power_on()
        show({"t": rig.now_ms, **rig.summary()})
    except (RigError, BoardFailed) as error:
        failure = failure or str(error)
    finally:
        rig.close()
    if failure:
        print(f"cabinet: {failure}", file=sys.stderr)
        return 1
    return 0


@app.command()
def soak(
    cuts: Annotated[
        str, typer.Option(help="exhaustive: after every byte written; or a number N: after every N-th.")
    ] = "exhaustive",
    script: Annotated[
        Path | None, typer.Option(help="A rig script for --cuts; without one, all money scripts.")
    ] = None,
    mains: Annotated[bool, typer.Option(help="With --cuts: only cuts that take the devices' power too.")] = False,
    plays: Annotated[
        int,
        typer.Option(
            help="Instead: random lives of cabinets until N plays are done, with faults and power cuts.", min=0
        ),
    ] = 0,
    jobs: Annotated[
        int, typer.Option(help="Processes for --plays and --cuts; the result does not depend on them.", min=1)
    ] = 2,
    kills: Annotated[int, typer.Option(help="Instead: kill the board N times at random moments.", min=0)] = 0,
    wear: Annotated[
        bool, typer.Option("--wear", help="Instead: what the journal writes, and what memory stands it.")
    ] = False,
    seed: Annotated[int, typer.Option(help="What --plays and --kills do, repeats from its seed.", min=0)] = 1,
    board: Annotated[str, typer.Option(help="Board for --kills: host, unix or mps2.")] = "host",
    as_json: Annotated[bool, typer.Option("--json", help="The report as one object.")] = False,
) -> None:
    """Cut the power and check the books after each recovery and the script's own end.

    Exit: 0 no violation, 1 violations, 2 wrong arguments.
    """
    check_board(board)
    if wear:
        from host_tools.soak import wear as journal_wear

        found = journal_wear.measure(games.packs())
        a_year = journal_wear.year(found)
        print(json.dumps({"each": found, "year": a_year}) if as_json else journal_wear.as_text(found, a_year))
        return
    if plays:
        from host_tools.soak.cli import random_lives

        raise typer.Exit(random_lives(games.packs(), plays, seed, jobs, as_json))
    if not kills:
        raise typer.Exit(_soak_cuts(cuts, script, mains, jobs, as_json))
    from host_tools.soak import kills as power_kills

    with _progress(as_json) as progress:
        task = progress.add_task("power cuts", total=kills)
        try:
            report = power_kills.run(
                games.packs(), kills, seed, board, lambda done: progress.update(task, completed=done)
            )
        except (RigError, BoardsError, BoardFailed) as error:
            raise fail(str(error)) from None
    found = {key: value for key, value in vars(report).items() if key not in ("violated", "violations")}
    found["violations"] = report.violated
    print(json.dumps(found) if as_json else ", ".join(f"{key} {value}" for key, value in found.items()))
    for violation in report.violations:
        print(f"cabinet: {violation}", file=sys.stderr)
    if report.violated:
        raise typer.Exit(1)


def _progress(quiet: bool):
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    return Progress(*columns, TimeElapsedColumn(), disable=quiet or not sys.stderr.isatty())


def _soak_cuts(cuts: str, script: Path | None, mains: bool, jobs: int, as_json: bool) -> int:
    from host_tools.soak import cuts_all

    try:
        every = 1 if cuts == "exhaustive" else int(cuts)
        if every < 1:
            raise ValueError
    except ValueError:
        raise fail(f"--cuts is exhaustive or a number from 1, not {cuts}", 2) from None
    try:
        scripts = cuts_all.read([script] if script else cuts_all.FOLDER.glob("*.rig"))
        packs = games.packs()
    except OSError as error:
        raise fail(f"cannot read {script}: {error.strerror}", 2) from None
    except ValueError as error:
        raise fail(str(error), 2) from None
    kinds = ("mains",) if mains else cuts_all.KINDS
    with _progress(as_json) as progress:
        task = progress.add_task("scripts", total=len(scripts) * len(kinds))

        def show(cuts: int, done: int, tasks: int) -> None:
            progress.update(task, completed=done, total=tasks, description=f"{cuts} power cuts, scripts")

        total, by_script = cuts_all.run(scripts, packs, kinds=kinds, every=every, jobs=jobs, progress=show)
    if as_json:
        print(cuts_all.as_json(total, by_script))
    else:
        print(cuts_all.as_text(total, by_script))
    for violation in total.violations:
        print(f"cabinet: {violation}", file=sys.stderr)
    return 1 if total.violated else 0


@app.command()
def devices() -> None:
    """Open the models of the default cabinet's devices on ptys and serve them until interrupted.

    Prints the path of each line; `cabinet firmware` or any other host can be connected to them. On standard input a person
    turns keys and opens doors, as in a rig script: turn technician, open logic, coin 100, press start.
    """
    from host_tools.hil.realtime import serve_devices

    serve_devices()


@app.command()
def firmware(
    port: Annotated[list[str], typer.Option(help="NAME=PATH of a serial line, e.g. cctalk=/dev/ttyUSB0; repeat.")],
    nvram: Annotated[Path, typer.Option(help="File that keeps the critical memory; made when new.")],
    seconds: Annotated[float, typer.Option(help="Stop after so many seconds; 0 = run until interrupted.")] = 0,
) -> None:
    """Run the firmware on this computer's own serial lines, in real time.

    Lines: console, cctalk, panel, entropy. The console is this terminal unless a port is named for it. A new NVRAM file is a
    cabinet without configuration: turn the technician key, type setup.
    """
    from host_tools.hil.realtime import BadPort, run_firmware

    try:
        run_firmware(port, nvram, games.packs(), seconds)
    except (BadPort, OSError, ValueError) as error:
        raise fail(str(error), 2) from None


@app.command()
def bench(
    board: Annotated[str, typer.Option(help="host, or mps2 (some five minutes: its plays are in real time).")] = "host",
    as_json: Annotated[bool, typer.Option("--json", help="The figures as one object.")] = False,
) -> None:
    """Measure speeds and sizes: on this machine, or what the firmware spends on the emulated board."""
    if board == "mps2":
        from host_tools.boards import bench as on_board

        figures = on_board.run(games.packs())
    elif board == "host":
        from host_tools.cabinet import bench as on_host

        figures = on_host.run()
    else:
        raise fail(f"there are no benchmarks for board {board}; there are for host and mps2", 2)
    if as_json:
        print(json.dumps({figure.name: {"value": round(figure.value, 3), "unit": figure.unit} for figure in figures}))
        return
    width = max(len(figure.name) for figure in figures)
    for figure in figures:
        print(f"{figure.name:{width}}  {figure.value:12,.1f} {figure.unit}")


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def hil(
    context: typer.Context,
    board: Annotated[str, typer.Option(help="host, unix or mps2.")] = "host",
    junit: Annotated[Path | None, typer.Option(help="Write the results as JUnit XML.")] = None,
) -> None:
    """Run the hardware-in-the-loop tests of tests/hil on a board; further arguments go to pytest.

    Exit: pytest's own.
    """
    check_board(board)
    tests = Path(__file__).parents[2] / "tests" / "hil"
    if not tests.is_dir():
        raise fail("the tests are not here; run this from a checkout", 2)
    report = [f"--junitxml={junit}"] if junit else []
    done = subprocess.run([sys.executable, "-m", "pytest", str(tests), f"--board={board}", *report, *context.args])
    raise typer.Exit(done.returncode)

"""The command line `cabinet`."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

import native
from host_tools.boards.board_files import BoardFiles, NoBoard, in_use
from host_tools.boards.debian import BoardsError
from host_tools.cabinet import games
from host_tools.cabinet.exits import check_board, fail
from host_tools.flash import flash_cli
from host_tools.flash.image_cli import app as image
from host_tools.hil.host_session import BoardFailed
from host_tools.hil.rig import Event, Rig, RigError
from host_tools.hil.script import ScriptError, parse
from host_tools.hil.script_commands import Command
from host_tools.hil.serving import BadConsole, serve_console
from host_tools.hil.transcript import Transcript
from host_tools.par.cli import app as par
from host_tools.par.reading import SheetError
from host_tools.rng.cli import app as rng
from host_tools.soak.cli import soak

SCRIPTS = Path(__file__).parent.parent / "hil" / "scripts"
DEMO = SCRIPTS / "demo.rig"

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Firmware of a slot cabinet, and the tools around it."
)
app.command()(soak)
flash_cli.join(app)
app.add_typer(image, name="image", help="Application images: keys, build, verify, inspect.")
app.add_typer(par, name="par", help="The games' mathematics: build, show, exact, simulate, search.")
app.add_typer(rng, name="rng", help="Randomness: batteries over a device, a file, or the firmware's whole chain.")


@app.command()
def run(
    script: Annotated[
        Path | None, typer.Option(help="A rig script; without one, a front panel or the demonstration.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One event a line, a summary last.")] = False,
    board: Annotated[
        str, typer.Option(help="host, unix or mps2 (emulated Cortex-M3); built when it is not there.")
    ] = "host",
    console: Annotated[
        str, typer.Option(help="Then live on in real time with the console there: a path (link to a pty) or HOST:PORT.")
    ] = "",
    at: Annotated[
        Path | None,
        typer.Option(help="An mps2 board that cabinet flash programmed: its folder keeps program and memory."),
    ] = None,
) -> None:
    """Run the cabinet: a front panel in a terminal, else a script in virtual time.

    With --console it lives on after the script, if one is named, until it is interrupted: for terminals, `cabinet flash` and
    other programs that speak to a console. Lines typed here are then what a person at the cabinet does.

    Exit: 0 done, 1 an expectation failed or the script could not go on, 2 the script or a sheet is wrong.
    """
    check_board(board)
    if at is not None and board != "mps2":
        raise fail(f"--at names an emulated board of --board mps2; {board} keeps nothing", 2)
    if console or at is not None:
        commands, packs = read_script(script) if script else (parse("power on"), games.packs())
        try:
            with in_use(at) if at is not None else nullcontext() as files:
                code = play(commands, packs, as_json, board, console, files)
        except NoBoard as error:
            raise fail(str(error), 2) from None
        raise typer.Exit(code)
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


def play(
    commands: Sequence[Command],
    packs: Mapping[str, bytes],
    as_json: bool,
    board: str,
    console: str = "",
    at: BoardFiles | None = None,
) -> int:
    """Runs a parsed script and prints what happens, then serves the console if it is wanted somewhere; returns the exit code."""
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
        rig = Rig(packs, show, board=board, at=at)
    except BoardsError as error:
        raise fail(str(error)) from None
    failure = ""
    try:
        if console:
            getattr(rig.session, "slots", None)  # whoever asks fits them, where a board has none by itself
        rig.run(commands)
        if console:
            serve_console(rig, console)
    except (RigError, BoardFailed, BadConsole) as error:
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

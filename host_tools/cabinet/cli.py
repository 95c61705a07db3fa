"""The command line: `cabinet run`, `cabinet par …`."""

import json
import sys
from pathlib import Path
from typing import Annotated

import native
import typer

from host_tools.cabinet import games
from host_tools.hil.rig import Event, Rig, RigError
from host_tools.hil.script import ScriptError, parse
from host_tools.hil.transcript import Transcript
from host_tools.par.cli import app as par
from host_tools.par.reading import SheetError

DEMO = Path(__file__).parent.parent / "hil" / "scripts" / "demo.rig"

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Firmware of a slot cabinet, and the tools around it.")
app.add_typer(par, name="par", help="The games' mathematics: build, show, exact, simulate, search.")


def fail(message: str, code: int = 1) -> typer.Exit:
    """An error for a person on standard error, and the exit that goes with it."""
    print(f"cabinet: {message}", file=sys.stderr)
    return typer.Exit(code)


@app.command()
def run(
    script: Annotated[Path | None, typer.Option(help="A rig script; without one, a front panel or the demonstration.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One event a line, a summary last.")] = False,
) -> None:
    """Run the cabinet: a front panel in a terminal, else a script in virtual time.

    Exit: 0 done, 1 an expectation failed or the script could not go on, 2 the script or a sheet is wrong.
    """
    if script is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        from host_tools.face.app import FrontPanel

        FrontPanel(games.packs()).run()
        return
    try:
        path = script or DEMO
        commands = parse(path.read_text(), path.name)
        packs = games.packs()
    except OSError as error:
        raise fail(f"cannot read {script}: {error.strerror}", 2) from None
    except UnicodeDecodeError:
        raise fail(f"{script} is not a text file", 2) from None
    except (ScriptError, SheetError) as error:
        raise fail(str(error), 2) from None
    raise typer.Exit(play(commands, packs, as_json))


def play(commands, packs, as_json: bool) -> int:  # noqa: ANN001
    """Runs a parsed script and prints what happens; returns the exit code."""
    transcript = Transcript(native.Pack(next(iter(packs.values()))))

    def show(event: Event) -> None:
        if as_json:
            print(json.dumps(event), flush=True)
            return
        line = transcript.line(event)
        if line is not None:
            print(line, flush=True)

    rig = Rig(packs, show)
    failure = ""
    try:
        rig.run(commands)
    except RigError as error:
        failure = str(error)
    try:
        if not rig.session.on:
            rig.power_on()
        show({"t": rig.now_ms, **rig.summary()})
    except RigError as error:
        failure = failure or str(error)
    if failure:
        print(f"cabinet: {failure}", file=sys.stderr)
        return 1
    return 0

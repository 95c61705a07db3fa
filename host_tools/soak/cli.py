"""`cabinet soak`: progress, the report, and for each failure a script that repeats it."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from host_tools.boards.debian import BoardsError
from host_tools.cabinet import games
from host_tools.cabinet.exits import check_board, fail
from host_tools.flash.failure import FlashError
from host_tools.hil.host_session import BoardFailed
from host_tools.hil.rig import RigError
from host_tools.soak import cuts_all, event_cuts, soaking, update_kills
from host_tools.soak import kills as power_kills
from host_tools.soak import wear as journal_wear

KILLS_A_LINE = 10  # where there is no terminal for a bar


def soak(
    cuts: Annotated[
        str,
        typer.Option(
            help="exhaustive: after every byte written; a number N: after every N-th; events: at every event of a note acceptor."
        ),
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
    update: Annotated[
        bool, typer.Option("--update", help="With --kills: in uploads, trials and confirmations of applications.")
    ] = False,
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
        found = journal_wear.measure(games.packs())
        a_year = journal_wear.year(found)
        print(json.dumps({"each": found, "year": a_year}) if as_json else journal_wear.as_text(found, a_year))
        return
    if plays:
        raise typer.Exit(_random_lives(games.packs(), plays, seed, jobs, as_json))
    if update and (not kills or board not in update_kills.BOARDS):
        raise fail(f"--update goes with --kills N and --board {' or '.join(update_kills.BOARDS)}: they have slots", 2)
    if not kills:
        raise typer.Exit(_soak_cuts(cuts, script, mains, jobs, as_json))
    raise typer.Exit(_soak_kills(update, kills, seed, board, as_json))


def _progress(quiet: bool):
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    return Progress(*columns, TimeElapsedColumn(), disable=quiet or not sys.stderr.isatty())


def _soak_kills(update: bool, kills: int, seed: int, board: str, as_json: bool) -> int:
    """Ctrl-C ends it early, and what was found so far is told. Returns the exit code."""
    work: Any = update_kills.run if update else power_kills.run
    report, interrupted = None, False
    with _progress(as_json) as progress:
        task = progress.add_task("power cuts", total=kills)
        told = 0

        def show(so_far: Any) -> None:
            nonlocal report, told
            report = so_far
            progress.update(task, completed=so_far.kills)
            for violation in so_far.violations[told:]:  # at once: the whole may take an hour
                print(f"cabinet: {violation}", file=sys.stderr, flush=True)
            told = len(so_far.violations)
            if progress.disable and so_far.kills % KILLS_A_LINE == 0:
                line = f"{so_far.kills} of {kills} kills, {so_far.violated} violations"
                print(line, file=sys.stderr, flush=True)

        try:
            report = work(games.packs(), kills, seed, board, show)
        except KeyboardInterrupt:
            if report is None:
                raise
            interrupted = True
        except (RigError, BoardsError, BoardFailed, FlashError) as error:
            raise fail(str(error)) from None
    found = {key: value for key, value in vars(report).items() if key not in ("violated", "violations")}
    found |= {"violations": report.violated, "interrupted": interrupted}
    print(json.dumps(found) if as_json else ", ".join(f"{key} {value}" for key, value in found.items()))
    if interrupted:
        print(f"cabinet: interrupted after {report.kills} of {kills} kills", file=sys.stderr)
        return 130
    return 1 if report.violated else 0


def _soak_cuts(cuts: str, script: Path | None, mains: bool, jobs: int, as_json: bool) -> int:
    try:
        every = 1 if cuts in ("exhaustive", "events") else int(cuts)
        if every < 1:
            raise ValueError
    except ValueError:
        raise fail(f"--cuts is exhaustive, events, or a number from 1, not {cuts}", 2) from None
    try:
        scripts = cuts_all.read([script] if script else cuts_all.FOLDER.glob("*.rig"))
        packs = games.packs()
    except OSError as error:
        raise fail(f"cannot read {script}: {error.strerror}", 2) from None
    except ValueError as error:
        raise fail(str(error), 2) from None
    if cuts == "events":
        return _soak_events(scripts, packs, mains, jobs, as_json)
    kinds = ("mains",) if mains else cuts_all.KINDS
    with _progress(as_json) as progress:
        task = progress.add_task("scripts", total=len(scripts) * len(kinds))

        def show(cuts: int, done: int, tasks: int) -> None:
            progress.update(task, completed=done, total=tasks, description=f"{cuts} power cuts, scripts")

        def told(script: cuts_all.Script, kind: str, found: Mapping[str, Any]) -> None:
            """At once: the whole may take a quarter of an hour."""
            if progress.disable:
                cuts = f"{found['cuts'] + found['double_cuts']} cuts, {found['violated']} violations"
                print(f"{script.name}, {kind}: {cuts}, {found['cpu_seconds']} s of CPU", file=sys.stderr, flush=True)
            for violation in found["violations"]:
                print(f"cabinet: {script.name}, {kind}: {violation}", file=sys.stderr, flush=True)

        total, by_script = cuts_all.run(scripts, packs, kinds=kinds, every=every, jobs=jobs, progress=show, ended=told)
    print(cuts_all.as_json(total, by_script) if as_json else cuts_all.as_text(total, by_script))
    return 1 if total.violated else 0


def _soak_events(
    scripts: list[cuts_all.Script], packs: Mapping[str, bytes], mains: bool, jobs: int, as_json: bool
) -> int:
    if not any(map(event_cuts.has_notes, scripts)):
        raise fail("no note is inserted in this script; --cuts events looks at what the note acceptor tells", 2)
    kinds = ("mains",) if mains else event_cuts.KINDS
    with _progress(as_json) as progress:
        task = progress.add_task("scripts", total=None)
        total, by_script = event_cuts.run_all(
            scripts,
            packs,
            kinds=kinds,
            jobs=jobs,
            progress=lambda done, tasks: progress.update(task, completed=done, total=tasks),
        )
    if as_json:
        print(
            json.dumps(
                event_cuts.as_dict(total) | {"scripts": {k: event_cuts.as_dict(v) for k, v in by_script.items()}}
            )
        )
    else:
        for name, found in (*by_script.items(), ("all", total)):
            print(f"{name:34} {', '.join(f'{key} {value}' for key, value in event_cuts.as_dict(found).items())}")
    for violation in total.violations:
        print(f"cabinet: {violation}", file=sys.stderr)
    return 1 if total.violated else 0


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed or 0:.0f} a second")


def _random_lives(packs: Mapping[str, bytes], plays: int, seed: int, jobs: int, as_json: bool) -> int:
    """Soaks, prints the report, writes a script of each of the first failures to this folder. Returns the exit code."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("plays"),
        _Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, disable=as_json or not sys.stderr.isatty()) as progress:
        task = progress.add_task("plays", total=plays)
        told = 0

        def show(so_far: soaking.Report) -> None:
            nonlocal told
            progress.update(task, completed=so_far.plays)
            for bad in so_far.failures[told:]:  # at once: a long run may have hours to go
                print(f"cabinet: seed {bad.seed}, step {bad.step}: {bad.text}", file=sys.stderr, flush=True)
            told = len(so_far.failures)

        report = soaking.run(
            packs,
            plays,
            seed,
            jobs=jobs,
            shrink_seconds=soaking.SECONDS,
            progress=show,
        )
    found = report.as_dict()
    if as_json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:20} {value}")
    for bad in report.failures:
        if bad.shrunk:
            path = Path(f"soak-{bad.seed}.rig")
            path.write_text("".join(f"{command}\n" for command in bad.script))
            repeats = f"cabinet run --script {path} repeats it ({len(bad.script)} commands)"
            print(f"cabinet: seed {bad.seed}: {repeats}", file=sys.stderr)
    return 1 if report.failed or report.discrepancy_pence or report.unexplained_lockups else 0

"""`cabinet rng`: batteries over a random device or a file, and over the firmware's whole chain."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

import native
from firmware.rng.health import ENTROPY_BITS
from hal.entropy.kinds import NAMES
from host_tools.cabinet import games
from host_tools.rng import batteries, sources
from host_tools.rng.batteries import FAIL, FULL, NOT_RUN, SHORT, CannotRun, Feed, Row
from host_tools.rng.chain import Chain, ChainFailed, draws_of, ranges_of, words
from host_tools.rng.estimates import draws_p

app = typer.Typer(no_args_is_help=True)

ESTIMATE_BYTES = 1_000_000
FIPS_BLOCKS = 1000


def _fail(message: str) -> typer.Exit:
    print(f"cabinet: {message}", file=sys.stderr)
    return typer.Exit(2)


@contextmanager
def _progress(quiet: bool) -> Iterator[tuple]:
    """(note what is done, note the bytes given); a line on standard error where somebody watches it."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), TextColumn("{task.completed:,.0f} bytes"), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=quiet or not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=None)
        yield (
            (lambda text: progress.update(task, description=text)),
            (lambda given: progress.update(task, completed=given)),
        )


def _report(rows: list[Row], given: int, as_json: bool) -> int:
    """Prints the table of verdicts, or one object; returns the exit code."""
    verdict = batteries.verdict_of(rows)
    if as_json:
        print(json.dumps({"verdict": verdict, "bytes": given, "tests": [row.as_dict() for row in rows]}))
    else:
        width = max(len(row.test) for row in rows)
        for row in rows:
            figure = "" if row.verdict == NOT_RUN else f"{row.figure:.6g}"
            print(f"{row.battery:11} {row.test:{width}}  {figure:>12} {row.what:32} {row.verdict}")
        weak = sum(row.verdict == batteries.WEAK for row in rows)
        print(f"{verdict}: {len(rows)} tests, {weak} weak (one in a hundred is expected), {given:,} bytes")
    return {FAIL: 1, NOT_RUN: 2}.get(verdict, 0)


def _tests(text: str) -> tuple[int, ...]:
    if text in ("short", "full", "none"):
        return {"short": SHORT, "full": FULL, "none": ()}[text]
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise _fail(f"--dieharder is short, full, none or numbers with commas, not {text}") from None


def _judge(feed: Feed, tests: tuple[int, ...], say) -> list[Row]:
    """All batteries, one after another, each on bytes of its own."""
    if tests:
        batteries.require("dieharder")
    batteries.require("rngtest")
    say("entropy estimate")
    rows = batteries.estimates(feed, ESTIMATE_BYTES, ENTROPY_BITS[0] / ENTROPY_BITS[1])
    say("FIPS 140-2 blocks")
    rows += batteries.rngtest(feed, FIPS_BLOCKS)
    for number in tests:
        say(f"dieharder test {number}")
        rows += batteries.dieharder(feed, number)
    return rows


@app.command()
def assess(
    source: Annotated[str, typer.Argument(help="A serial line with a random device, a file of its bytes, or - .")],
    kind: Annotated[str, typer.Option(help=f"What the device on a line is: {', '.join(NAMES)}.")] = NAMES[0],
    dieharder: Annotated[
        str, typer.Option(help="short, full (hundreds of gigabytes), none, or numbers with commas.")
    ] = "short",
    as_json: Annotated[bool, typer.Option("--json", help="One object.")] = False,
) -> None:
    """Judge a random device: entropy estimate, rngtest, dieharder, one table.

    Nothing is read twice: a test for which the bytes do not last says so. Exit: 0 no test fails, 1 one does, 2 nothing could be
    judged.
    """
    tests = _tests(dieharder)
    try:
        with _progress(as_json) as (say, given):
            feed = Feed(sources.chunks(source, kind), given)
            rows = _judge(feed, tests, say)
    except CannotRun as error:
        raise _fail(str(error)) from None
    raise typer.Exit(_report(rows, feed.given, as_json))


@app.command()
def chain(
    raw: Annotated[
        bool, typer.Option("--raw", help="Only write 32-bit words to standard output, without end.")
    ] = False,
    dieharder: Annotated[str, typer.Option(help="As for assess.")] = "short",
    draws: Annotated[int, typer.Option(help="Draws from each range of the games; 0: none.", min=0)] = 100_000,
    flawed: Annotated[bool, typer.Option("--flawed", help="Spoil the stream (a bit is a one with 50.8 %).")] = False,
    fault: Annotated[str, typer.Option(help='Spoil the device instead, e.g. "bias 60".')] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One object.")] = False,
) -> None:
    """Judge the firmware's whole chain: device model with true randomness, health tests, DRBG, streams of rounds, draws.

    Exit: 0 no test fails, 1 one does (or the firmware refused the device), 2 a battery is missing.
    """
    try:
        found = Chain(fault)
        if raw:
            _write(words(found, flawed))
            return
        tests = _tests(dieharder)
        with _progress(as_json) as (say, given):
            feed = Feed(words(found, flawed), given)
            rows = _judge(feed, tests, say)
            if draws:
                rows += _judge_draws(found, draws, flawed, say)
    except ValueError as error:
        raise _fail(str(error)) from None
    except CannotRun as error:
        raise _fail(str(error)) from None
    except ChainFailed as error:
        print(f"cabinet: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    raise typer.Exit(_report(rows, feed.given, as_json))


def _judge_draws(chain: Chain, count: int, flawed: bool, say) -> list[Row]:
    """Chi-square of every range that a game draws from."""
    limits = {}
    for data in games.packs().values():
        for entry in ranges_of(native.Pack(data)):
            limits.setdefault(entry.limit, entry.where)
    rows: list[Row] = []
    for limit, where in sorted(limits.items()):
        say(f"draws of {limit}")
        p = draws_p(draws_of(chain, limit, count, flawed), limit)
        rows.append(Row("chi-square", f"0 to {limit - 1}: {where}", "p", p, batteries.of_p(p)))
    return rows


def _write(stream: Iterator[bytes]) -> None:
    """To standard output until its reader has had enough."""
    output = sys.stdout.buffer
    try:
        for data in stream:
            output.write(data)
        output.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())  # nothing to flush to at exit

"""All money scripts, each with both kinds of cut, on several processes at once.

A script is a file of `host_tools/hil/scripts/money/`; adding one is adding a file. A comment `# cuts: double` in it asks for
second cuts too: it is meant for the short ones, as their number grows with the square of the bytes. What such a script does in
its first command (bringing up the cabinet, when that is `power on`) is cut once only, `boot.rig` does it twice.
"""

import gc
import json
import multiprocessing
import os
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hal.boards.host import NVRAM_BYTES
from host_tools.hil.script import parse
from host_tools.hil.script_commands import Command
from host_tools.soak import cuts

FOLDER: Final = Path(__file__).parent.parent / "hil" / "scripts" / "money"
KINDS: Final = ("board", "mains")
_DIRECTIVE = re.compile(r"^# cuts: (.*)$", re.MULTILINE)
# What may be asked for, and the bytes of the NVRAM. A RAM clear writes all of it: half of it says the same sooner.
_DIRECTIVES: Final = {"": NVRAM_BYTES, "double": NVRAM_BYTES, "small memory": NVRAM_BYTES // 2}


@dataclass(frozen=True)
class Script:
    """A money script. `double`: a second cut in every recovery, board only. `nvram_bytes`: of its cabinet."""

    name: str
    commands: tuple[Command, ...]
    double: bool
    nvram_bytes: int = NVRAM_BYTES


def read(paths: Iterable[Path]) -> list[Script]:
    """Scripts of files. Errors: OSError, ScriptError, ValueError for a directive that there is not."""
    found = []
    for path in sorted(paths):
        text = path.read_text()
        directive = _DIRECTIVE.search(text)
        wish = directive[1] if directive else ""
        if wish not in _DIRECTIVES:
            known = " or ".join(f"'# cuts: {name}'" for name in _DIRECTIVES if name)
            raise ValueError(f"{path.name}: '# cuts: {wish}' is unknown; write {known}, or leave it out")
        found.append(Script(path.stem, parse(text, path.name), wish == "double", _DIRECTIVES[wish]))
    return found


_done: Any = None  # cuts so far, of all processes
_packs: Mapping[str, bytes] = {}


def _begin(done: Any, packs: Mapping[str, bytes]) -> None:
    global _done, _packs
    _done, _packs = done, packs
    gc.collect()
    gc.freeze()  # a collection in a forked child would copy every page that it marks


def _task(script: Script, kind: str, every: int) -> dict[str, Any]:
    told, began = 0, os.times()

    def tell(report: cuts.CutReport) -> None:
        nonlocal told
        now = report.cuts + report.double_cuts
        with _done.get_lock():
            _done.value += now - told
        told = now

    try:
        report = cuts.run(
            script.commands,
            _packs,
            mains=kind == "mains",
            double=script.double and kind == "board",
            every=every,
            nvram_bytes=script.nvram_bytes,
            progress=tell,
        )
    except Exception as error:
        report = cuts.CutReport(violated=1, violations=[f"the script does not run without a cut: {error}"])
    spent = sum(os.times()[:4]) - sum(began[:4])  # the forked children's, too
    return {**vars(report), "cpu_seconds": round(spent, 1)}


def run(
    scripts: Iterable[Script],
    packs: Mapping[str, bytes],
    *,
    kinds: Iterable[str] = KINDS,
    every: int = 1,
    jobs: int = 2,
    progress: Callable[[int, int, int], None] = lambda cuts, done, tasks: None,
    ended: Callable[[Script, str, Mapping[str, Any]], None] = lambda script, kind, found: None,
) -> tuple[cuts.CutReport, dict[str, dict[str, Any]]]:
    """The total of all scripts, and the reports by script and kind. `progress`: cuts so far, tasks done, tasks. `ended`: called
    with each report at once; it is a CutReport's fields, and the `cpu_seconds` that it took."""
    tasks = sorted(((script, kind) for script in scripts for kind in kinds), key=_first)
    total, by_script = cuts.CutReport(), {}
    context = multiprocessing.get_context("fork")
    done = context.Value("Q", 0)
    with ProcessPoolExecutor(jobs, context, _begin, (done, packs)) as pool:
        running = {pool.submit(_task, script, kind, every): (script, kind) for script, kind in tasks}
        under_way = set(running)
        while under_way:
            over, under_way = wait(under_way, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in over:
                ended(*running[future], future.result())
            progress(done.value, len(running) - len(under_way), len(running))
        for future, (script, kind) in running.items():  # in their own order, whichever ended first
            report = future.result()
            report["violations"] = [f"{script.name}, {kind}: {text}" for text in report["violations"]]
            total.merge(report)
            by_script.setdefault(script.name, {})[kind] = {
                name: value for name, value in report.items() if name not in ("violations", "states")
            }
    total.states = dict(sorted(total.states.items()))
    return total, {name: by_script[name] for name in sorted(by_script)}


def _first(task: tuple[Script, str]) -> tuple[bool, int, str, str]:
    """The long ones first, so that no process waits for the last."""
    script, kind = task
    return (not (script.double and kind == "board"), -len(script.commands), script.name, kind)


def as_json(total: cuts.CutReport, by_script: Mapping[str, Any]) -> str:
    """The report as one object: totals, and tallies by script."""
    names = ("cuts", "double_cuts", "endings", "tainted", "disputed", "compactions", "states")
    found = {name: getattr(total, name) for name in names}
    return json.dumps({**found, "violations": total.violated, "scripts": by_script})


def as_text(total: cuts.CutReport, by_script: Mapping[str, Any]) -> str:
    """The report for a person: a line for each script, the totals last."""
    lines = []
    for name, kinds in by_script.items():
        for kind, found in kinds.items():
            lines.append(
                f"{name:30} {kind:6} {found['cuts']:7} cuts {found['double_cuts']:8} double {found['endings']:6} endings"
                f" {found['cpu_seconds']:7.1f} s"
            )
    lines.append(
        f"{total.cuts} cuts, {total.double_cuts} double cuts, {total.endings} endings, {total.violated} violations;"
        f" recovered to {', '.join(f'{state} {number}' for state, number in total.states.items())}"
    )
    return "\n".join(lines)

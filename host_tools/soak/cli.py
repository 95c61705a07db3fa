"""What `cabinet soak --plays` shows: a progress bar, the report, and for each failure a script that repeats it."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

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

from host_tools.soak import soaking


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed or 0:.0f} a second")


def random_lives(packs: Mapping[str, bytes], plays: int, seed: int, jobs: int, as_json: bool) -> int:
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
        report = soaking.run(
            packs,
            plays,
            seed,
            jobs=jobs,
            shrink_seconds=soaking.SECONDS,
            progress=lambda done: progress.update(task, completed=done),
        )
    found = report.as_dict()
    if as_json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:20} {value}")
    for bad in report.failures:
        text = f"cabinet: seed {bad.seed}, step {bad.step}: {bad.text}"
        if bad.shrunk:
            path = Path(f"soak-{bad.seed}.rig")
            path.write_text("".join(f"{command}\n" for command in bad.script))
            text += f"; cabinet run --script {path} repeats it ({len(bad.script)} commands)"
        print(text, file=sys.stderr)
    return 1 if report.failed or report.discrepancy_pence or report.unexplained_lockups else 0

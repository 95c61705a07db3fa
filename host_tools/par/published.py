"""Figures that others have printed, recomputed from a sheet: integers must be equal, printed decimals to the last digit.

Beside a sheet NAME.toml stands NAME.published.json: a list of {source, mode, lines, cost, figures}, where `lines` and `cost`
(optional) play fewer lines or another bet, and `figures` maps names of `par exact --json` to an integer or to printed decimals
(text). A name may go down by dots, and `wins_from:N` is the number of boards that win N credits or more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host_tools.par.exact import exact
from host_tools.par.exact_json import to_json
from host_tools.par.sheet import load

ENDING = ".published.json"


@dataclass(frozen=True)
class Figure:
    sheet: str
    source: str
    name: str
    printed: int | str
    ours: int | str

    @property
    def good(self) -> bool:
        return self.printed == self.ours


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{ENDING}"))


def check(path: Path, threads: int) -> Iterator[Figure]:
    """All figures of one file. ValueError where it names what `exact` does not know."""
    sheet = load(path.with_name(path.name.removesuffix(ENDING) + ".toml"))
    for entry in json.loads(path.read_text(encoding="utf-8")):
        result = exact(sheet, sheet.mode(entry["mode"]), threads, entry.get("lines"), entry.get("cost"))
        if not result.agree:
            raise ValueError(f"{path}: the methods disagree on {sheet.name}")
        data = to_json(result, "best")
        for name, printed in entry["figures"].items():
            if name.startswith("wins_from:"):
                least = int(name.partition(":")[2])
                have: Any = sum(boards for win, boards in result.base.states.wins.items() if win >= least)
            else:
                have = _find(data, name, path)
            if isinstance(printed, str):
                have = f"{have:.{len(printed.partition('.')[2])}f}"
            yield Figure(sheet.name, entry["source"], name, printed, have)


def _find(data: Any, name: str, path: Path) -> Any:
    for part in name.split("."):
        try:
            data = data[int(part)] if isinstance(data, list) else data[part]
        except (KeyError, ValueError, IndexError, TypeError) as fault:
            raise ValueError(f"{path}: '{name}' is no figure of par exact --json") from fault
    return data

"""Reads tables of a sheet with exact places for errors.

A PAR sheet is reviewed and signed by people, so an error has to lead them to the very cell: file, table and key, what
is wrong, and what to do about it. Every reader here raises `SheetError` with these four parts and nothing else.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn


class SheetError(Exception):
    """A sheet is refused: where, what is wrong, and the remedy."""

    def __init__(self, file: str, place: str, problem: str, remedy: str) -> None:
        super().__init__(file, place, problem, remedy)
        self.file = file
        self.place = place
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.problem}; {self.remedy}"


def closest(word: str, words: Sequence[str]) -> str:
    """A remedy that names the likeliest word meant, or all that exist."""
    near = difflib.get_close_matches(word, words, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    return "known here: " + (", ".join(words) if words else "none")


class Table:
    """One TOML table: typed access by key, remembers what was asked for, refuses the rest."""

    def __init__(self, file: Path | str, place: str, data: Mapping[str, Any]) -> None:
        self.file = str(file)
        self.place = place
        self.data = data
        self._known: set[str] = set()

    def fail(self, key: str, problem: str, remedy: str) -> NoReturn:
        raise SheetError(self.file, f"{self.place}.{key}".strip("."), problem, remedy)

    def has(self, key: str) -> bool:
        """Whether an optional key is there; from now on it is a known one."""
        self._known.add(key)
        return key in self.data

    def raw(self, key: str, remedy: str) -> Any:
        self._known.add(key)
        if key not in self.data:
            self.fail(key, "is missing", remedy)
        return self.data[key]

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        if default is not None and key not in self.data:
            return default
        value = self.raw(key, f"give a whole number from {low} to {high}")
        return self.check_integer(key, value, low, high)

    def check_integer(self, key: str, value: Any, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(key, f"is {value!r}, not a whole number", f"give a whole number from {low} to {high}")
        if not low <= value <= high:
            self.fail(key, f"is {value}, out of range", f"give a whole number from {low} to {high}")
        return value

    def integers(self, key: str, count: int | None, low: int, high: int) -> tuple[int, ...]:
        shape = f"{count} whole numbers" if count else "whole numbers"
        value = self.raw(key, f"give a list of {shape} from {low} to {high}")
        if not isinstance(value, list):
            self.fail(key, f"is {value!r}, not a list", f"give a list of {shape} from {low} to {high}")
        if count is not None and len(value) != count:
            self.fail(key, f"has {len(value)} numbers", f"give exactly {count}, one a reel")
        return tuple(self.check_integer(f"{key}[{place}]", item, low, high) for place, item in enumerate(value))

    def number(self, key: str) -> float:
        value = self.raw(key, "give a number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(key, f"is {value!r}, not a number", "give a number")
        return float(value)

    def boolean(self, key: str) -> bool:
        value = self.raw(key, "give true or false")
        if not isinstance(value, bool):
            self.fail(key, f"is {value!r}", "give true or false")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        if default is not None and key not in self.data:
            return default
        value = self.raw(key, "give a text in quotes")
        if not isinstance(value, str) or not value.strip():
            self.fail(key, f"is {value!r}, not a text", "give a text in quotes")
        return value

    def choice(self, key: str, words: Sequence[str]) -> str:
        value = self.text(key)
        if value not in words:
            self.fail(key, f"is '{value}'", closest(value, words))
        return value

    def texts(self, key: str) -> list[str]:
        value = self.raw(key, "give a list of texts")
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(key, "is not a list of texts", "give a list of texts in quotes")
        return value

    def table(self, key: str) -> Table:
        value = self.raw(key, f"add the table [{f'{self.place}.{key}'.strip('.')}]")
        if not isinstance(value, dict):
            self.fail(key, f"is {value!r}, not a table", f"write it as [{f'{self.place}.{key}'.strip('.')}]")
        return Table(self.file, f"{self.place}.{key}".strip("."), value)

    def tables(self, key: str, least: int) -> dict[str, Table]:
        """Named tables under a key, e.g. [modes.base] and [modes.free], in the order of the file."""
        if least == 0 and key not in self.data:
            return {}
        group = self.table(key)
        if len(group.data) < least:
            self.fail(key, "has no entry", f"add at least one table, e.g. [{key}.base]")
        return {name: group.table(name) for name in group.data}

    def list_of_tables(self, key: str) -> list[Table]:
        value = self.raw(key, "give a list of { ... } entries")
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail(key, "is not a list of { ... } entries", "write one { key = value, ... } an entry")
        return [Table(self.file, f"{self.place}.{key}[{place}]", item) for place, item in enumerate(value)]

    def entries(self) -> list[str]:
        """Keys that hold data (all but the provenance), in the order of the file."""
        return [key for key in self.data if key != "source"]

    def source(self) -> str:
        """Provenance, without which no number is accepted."""
        remedy = "say where these numbers come from (rule id, fact, command, or decision D and why)"
        self._known.add("source")
        if "source" not in self.data:
            self.fail("source", "is missing: no provenance", remedy)
        value = self.data["source"]
        if not isinstance(value, str) or len(value.strip()) < 3:
            self.fail("source", f"is {value!r}: no provenance", remedy)
        return value

    def done(self) -> None:
        """Refuses keys that nobody asked for: a misspelt key must not be a number that is silently ignored."""
        for key in self.data:
            if key not in self._known:
                self.fail(key, "is not known here", closest(key, sorted(self._known)))

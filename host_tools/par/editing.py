"""Writes what a search found into the text of a sheet, and touches nothing else: comments and sources stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from host_tools.par.model import Sheet
from host_tools.par.reading import SheetError


def _section(text: str, name: str) -> tuple[int, int]:
    """Where the body of a table begins and ends."""
    head = re.search(rf"^\[{re.escape(name)}\]\n", text, re.MULTILINE)
    if head is None:
        raise SheetError("sheet", name, "has no table of its own", f"write it as [{name}]")
    following = re.compile(r"^\[", re.MULTILINE).search(text, head.end())
    return head.end(), following.start() if following else len(text)


def _replace(text: str, name: str, pattern: str, value: str) -> str:
    start, end = _section(text, name)
    body, found = re.subn(
        pattern, lambda match: match.group(1) + value, text[start:end], count=1, flags=re.DOTALL | re.MULTILINE
    )
    if not found:
        raise SheetError("sheet", name, "does not have the key that is to be written", "write it in the usual layout")
    return text[:start] + body + text[end:]


def _rows(rows: Iterable[str]) -> str:
    return "".join(f"  {row},\n" for row in rows)


def with_strips(text: str, sheet: Sheet, name: str, reels: tuple[tuple[int, ...], ...]) -> str:
    """The sheet's text with other strips in a set."""
    rows = _rows('"' + " ".join(sheet.symbols[symbol].id for symbol in strip) + '"' for strip in reels)
    return _replace(text, f"sets.{name}", r"(^reels = \[\n).*?(?=^\])", rows)


def with_boards(text: str, name: str, boards: tuple[tuple[int, ...], ...]) -> str:
    """The sheet's text with other boards in a group."""
    return _replace(text, f"boards.{name}", r"(^stops = \[\n).*?(?=^\])", _rows(str(list(board)) for board in boards))


def with_digest(text: str, digest: str) -> str:
    return _replace(text, "search", r'(^digest = )"[^"]*"', f'"{digest}"')


def with_weight(text: str, table: str, row: int, weight: int) -> str:
    """The sheet's text with another weight in a row of a table."""
    rows = r"(" + r".*?weight = ".join([r"rows = \["] + [r"[\d_]+"] * row) + r".*?weight = )[\d_]+"
    return _replace(text, f"tables.{table}", rows, f"{weight:_}")


def with_number(text: str, section: str, key: str, value: int) -> str:
    """The sheet's text with another whole number under a key."""
    return _replace(text, section, rf"(^{re.escape(key)} = )[\d_]+", str(value))


def with_value(text: str, row: str, value: int) -> str:
    """The sheet's text with another value of a gamble row."""
    return _replace(text, "gamble", rf'(id = "{re.escape(row)}".*?value_micro = )[\d_]+', f"{value:_}")

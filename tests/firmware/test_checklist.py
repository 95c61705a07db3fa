"""firmware/CHECKLIST.md is whole, and what it points at is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TABLE = (ROOT / "firmware/CHECKLIST.md").read_text()
GROUPS = {"MTR": 12, "NVM": 9, "PWR": 7, "DOR": 4, "COI": 5, "NOT": 6, "HOP": 6, "EVT": 5, "PRG": 4, "CFG": 2, "RNG": 6}
IDS = [f"CAB-{group}-{number:02d}" for group, count in GROUPS.items() for number in range(1, count + 1)]
MONEY_ROWS = [f"B{row:02d}" for row in (1, 2, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 17, 20, 21, 24, 25, 27, 28, 29)]
ROWS = {row.split("|")[1].strip(): row for row in TABLE.splitlines() if re.match(r"\| (CAB-|B\d\d)", row)}


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:native|firmware|host_tools|hal|tests)/[\w./]*)", TABLE))))
def test_every_path_exists(path: str):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("place", sorted(set(re.findall(r"`(tests/[\w./]+::test_\w+)`", TABLE))))
def test_every_test_exists(place: str):
    path, name = place.split("::")
    assert re.search(rf"^def {name}\(", (ROOT / path).read_text(), re.MULTILINE)


def test_no_id_and_no_row_is_missing():
    assert sorted(ROWS) == sorted([*IDS, *MONEY_ROWS, "B23"])


@pytest.mark.parametrize("name", IDS)
def test_every_id_has_a_verdict_and_what_holds_has_code_and_test(name: str):
    _, demand, verdict, code, test = (cell.strip() for cell in ROWS[name].strip("|").split("|"))
    assert demand
    assert re.match(r"holds\b|open(:|$)|out of scope: ", verdict), verdict
    if verdict.startswith("holds"):
        assert "`" in code
        assert "`tests/" in test


@pytest.mark.parametrize("row", MONEY_ROWS)
def test_every_bug_row_has_a_test_that_carries_its_name_or_a_reason(row: str):
    assert f"test_{row.lower()}_" in ROWS[row] or "none: " in ROWS[row]


def test_no_test_that_carries_the_name_of_a_row_is_forgotten():
    for file in ("test_bug_rows", "test_notes_bug_rows"):
        names = set(re.findall(r"def (test_b\d\d_\w+)", (ROOT / f"tests/hil/{file}.py").read_text()))
        assert names == set(re.findall(rf"{file}\.py::(test_b\d\d_\w+)", TABLE))

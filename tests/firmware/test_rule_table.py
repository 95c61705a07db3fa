"""firmware/games/README.md points at code and tests: what it names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TABLE = (ROOT / "firmware/games/README.md").read_text()
TESTS = "\n".join(path.read_text() for path in ROOT.glob("tests/**/test_*.py"))


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:native|firmware|host_tools|tests)/[\w./]*)", TABLE))))
def test_every_path_exists(path: str):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"::(test_\w+)", TABLE))))
def test_every_test_exists(name: str):
    assert re.search(rf"def {name}", TESTS)


@pytest.mark.parametrize("game", ["dog_diner", "piggy_bank", "piggy_riches"])
def test_every_row_has_a_rule_or_says_that_there_is_nothing_to_do(game: str):
    section = TABLE.split(f"\n## {game}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 40
    for row in rows:
        place, rules, where, note = (cell.strip() for cell in row.strip("|").split("|"))
        assert place
        assert re.fullmatch(r"–|([A-CG]\d+ ?)+", rules), row
        assert re.fullmatch(r"–|([A-Z] ?)+", where), row
        assert where != "–" or note, row

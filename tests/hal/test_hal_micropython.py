"""The drivers under MicroPython's unix port do what they do under CPython."""

import pathlib
import subprocess
import sys

from host_tools.boards.build import ensure

ROOT = pathlib.Path(__file__).parents[2]
STORY = ROOT / "tests" / "hal" / "micropython_story.py"


def told_by(interpreter: str) -> str:
    return subprocess.run([interpreter, STORY, ROOT], capture_output=True, text=True, check=True).stdout


def test_the_story_under_cpython():
    told = told_by(sys.executable)
    assert "('coin', 2, 100, 'GB100A', 0)" in told
    assert "('done', 3, 0, 128)" in told
    assert "('press', 'start')" in told
    assert "('escrow', 5000, 2, b'\\x00\\x12\\xd6\\x87\\x7f\\xff\\xff\\xff\\x00\\x00\\x00\\x03') True False" in told
    assert "('stacked', b'\\x00\\x12\\xd6\\x87\\x80\\x00\\x00\\x00\\x02', 5000, 2)" in told
    assert told.count("('stacker', 'full')") == 2
    assert "('escrow', 5000, 2, b'\\x03\\x02\\x01\\x01\\x00\\xff\\xff\\xff\\x00\\x00\\x00\\x05') True False" in told
    assert "('stacked', b'\\x03\\x02\\x01\\x02\\x00\\x00\\x00\\x00\\x02', 5000, 2)" in told
    assert "('fraud', 18)" in told


def test_the_story_under_micropython_is_the_same():
    """On our own unix port, built when it is not there yet."""
    assert told_by(str(ensure("unix"))) == told_by(sys.executable)

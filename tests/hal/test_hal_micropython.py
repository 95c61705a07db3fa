"""The drivers under MicroPython's unix port do what they do under CPython.

The interpreter is `micropython` on the path or what MICROPYTHON names; without one only CPython's half is tested.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
STORY = ROOT / "tests" / "hal" / "micropython_story.py"
MICROPYTHON = os.environ.get("MICROPYTHON") or shutil.which("micropython")


def told_by(interpreter: str) -> str:
    return subprocess.run([interpreter, STORY, ROOT], capture_output=True, text=True, check=True).stdout


def test_the_story_under_cpython():
    told = told_by(sys.executable)
    assert "('coin', 2, 100, 'GB100A')" in told
    assert "('done', 3, 0, 128)" in told
    assert "('press', 'start')" in told


@pytest.mark.skipif(not MICROPYTHON, reason="needs MicroPython's unix port on the path or in MICROPYTHON")
def test_the_story_under_micropython_is_the_same():
    assert told_by(str(MICROPYTHON)) == told_by(sys.executable)

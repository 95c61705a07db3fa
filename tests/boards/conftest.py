"""The boards' images, built on demand: minutes at most the first time, a look at some hashes afterwards."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from host_tools import boards


@pytest.fixture(scope="session")
def mpy_cross() -> Path:
    return boards.ensure("mpy-cross")


@pytest.fixture(scope="session")
def unix_image() -> Path:
    return boards.ensure("unix")


@pytest.fixture(scope="session")
def mps2_image() -> Path:
    return boards.ensure("mps2")


@pytest.fixture
def micropython(unix_image: Path, tmp_path: Path) -> Callable[..., str]:
    """micropython(*arguments): what the unix port prints, with its frozen modules and nothing of this tree in reach."""

    def run(*arguments: str | Path) -> str:
        done = subprocess.run(
            [unix_image, *arguments],
            cwd=tmp_path,
            env={"MICROPYPATH": ".frozen"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run

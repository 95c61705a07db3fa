"""The boards' builder: where the source comes from, and what it says when it cannot go on."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from host_tools.boards import build, debian
from host_tools.boards.debian import BoardsError, debian_mirror

ROOT = Path(__file__).parents[2]


def etc(tmp_path: Path, **files: str) -> Path:
    """An /etc/apt with these files; a name's last underscore stands for the dot."""
    (tmp_path / "sources.list.d").mkdir()
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        folder = tmp_path if stem == "sources" and suffix == "list" else tmp_path / "sources.list.d"
        (folder / f"{stem}.{suffix}").write_text(text)
    return tmp_path


def test_the_mirror_of_deb822_sources(tmp_path):
    text = (
        "# main\nTypes: deb\nURIs: http://security.example.org/debian-security\nSuites: x-security\n\n"
        "Types: deb\nEnabled: no\nURIs: http://off.example.org/debian\n\n"
        "Types: deb\n# http://comment.example.org/debian\nURIs: http://a.example.org/debian http://b.example.org/debian\n"
    )
    assert debian_mirror(etc(tmp_path, debian_sources=text)) == "http://a.example.org/debian"


def test_the_mirror_of_one_line_sources(tmp_path):
    text = "# deb http://no.example.org/debian x main\ndeb [arch=amd64 signed-by=/k] https://c.example.org/debian/ x main\n"
    assert debian_mirror(etc(tmp_path, sources_list=text)) == "https://c.example.org/debian/"


def test_another_vendors_archive_is_passed_over(tmp_path):
    text = "deb http://packages.example.org/tool stable main\ndeb http://d.example.org/debian x main\n"
    assert debian_mirror(etc(tmp_path, other_list=text)) == "http://d.example.org/debian"


def test_without_a_mirror_the_error_names_the_way_out(tmp_path):
    with pytest.raises(BoardsError, match="MICROPYTHON_DIR"):
        debian_mirror(etc(tmp_path))


def test_missing_tools_without_a_way_to_install_them_are_named(monkeypatch):
    monkeypatch.setattr(debian.shutil, "which", lambda tool: None)
    with pytest.raises(BoardsError, match="gcc-arm-none-eabi libnewlib-arm-none-eabi make"):
        debian.install(debian.ARM_TOOLS, lambda text: None)


def test_a_person_without_root_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(debian.shutil, "which", lambda tool: "/usr/bin/apt-get" if tool == "apt-get" else None)
    monkeypatch.setattr(debian.os, "geteuid", lambda: 1000)
    with pytest.raises(BoardsError, match="as root, install: qemu-system-arm"):
        debian.install(debian.EMULATOR_TOOLS, lambda text: None)


def test_a_person_is_asked_before_anything_is_installed(monkeypatch):
    monkeypatch.setattr(debian.shutil, "which", lambda tool: "/usr/bin/apt-get" if tool == "apt-get" else None)
    monkeypatch.setattr(debian.os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    with pytest.raises(BoardsError, match="stopped"):
        debian.install(debian.EMULATOR_TOOLS, lambda text: None)
    assert "qemu-system-arm" in asked[0]


def boards(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "host_tools.boards", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
    )


def test_a_second_run_does_nothing_and_says_where_the_images_are(unix_image, mpy_cross):
    began = time.monotonic()
    done = boards("mpy-cross", "unix")
    assert time.monotonic() - began < 5  # it takes a tenth of a second; the rest is for a busy machine
    assert done.returncode == 0
    assert "compiling" not in done.stderr
    assert "build/boards/mpy-cross" in done.stdout
    assert "build/boards/unix/micropython" in done.stdout


def test_a_folder_that_is_no_micropython_is_refused(tmp_path):
    done = boards("unix", MICROPYTHON_DIR=str(tmp_path))
    assert done.returncode == 1
    assert "is not a MicroPython source tree" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_target_names_the_known_ones():
    done = boards("pdp11")
    assert done.returncode == 2
    assert "mpy-cross, unix, mps2" in done.stderr


def test_every_file_that_goes_into_an_image_is_in_its_key():
    inputs = {str(path.relative_to(ROOT)) for path in build._recipe("unix", Path("mpy-cross")).inputs}
    assert {
        "firmware/main.py",
        "hal/boards/unix.py",
        "native/__init__.py",
        "native/core/round.c",
        "native/core/cab_core.h",
        "native/micropython/cabinet_core.c",
        "native/micropython/micropython.mk",
        "native/boards/resident.py",
        "native/boards/unix_manifest.py",
    } <= inputs

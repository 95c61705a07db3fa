"""Firmware and drivers keep to MicroPython's language: each file compiles and each module imports."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOST_ONLY = {"hal/boards/host.py", "hal/boards/host_application.py"}
# Their hardware is not here; these files compile, and their own images import them.
OTHER_BOARDS = {"hal.boards.mps2", "hal.boards.pico"}


def board_files() -> list[Path]:
    files = [*(ROOT / "firmware").rglob("*.py"), *(ROOT / "hal").rglob("*.py"), ROOT / "native" / "__init__.py"]
    return sorted(file for file in files if str(file.relative_to(ROOT)) not in HOST_ONLY)


def modules() -> list[str]:
    names = (".".join(file.relative_to(ROOT).with_suffix("").parts) for file in board_files())
    return sorted({name.removesuffix(".__init__") for name in names} - OTHER_BOARDS)


@pytest.mark.parametrize("flags", [[], ["-march=armv7m", "-X", "emit=native"]], ids=["bytecode", "native"])
def test_every_file_compiles(mpy_cross, tmp_path, flags):
    """As bytecode, and as the mps2 image freezes it: native code knows less of the language."""
    refused = []
    for file in board_files():
        command = [mpy_cross, *flags, "-o", tmp_path / "out.mpy", file]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode:
            refused.append(f"{file}: {done.stderr}")
    assert not refused


def test_every_module_imports_from_the_image(micropython):
    names = modules()
    assert {"firmware.main", "hal.boards.unix", "native"} <= set(names)
    told = micropython("-c", f"for name in {names}: __import__(name)\nprint('imported')")
    assert told == "imported\n"


def test_the_image_holds_no_host_code(micropython):
    told = micropython(
        "-c",
        "for name in ('hal.boards.host', 'native.cpython.wrapper', 'host_tools'):\n"
        "    try:\n        __import__(name)\n        print('found', name)\n    except ImportError:\n        pass",
    )
    assert told == ""

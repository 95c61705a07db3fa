"""A bare emulated board is programmed, and lives on: program, packs and money are those of its folder."""

import os
from pathlib import Path

from typer.testing import CliRunner

from host_tools.boards import board_files
from host_tools.cabinet.cli import app


def cabinet(*arguments: object) -> str:
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    return done.output


def test_money_stays_in_a_programmed_board_from_run_to_run(mps2_image: Path, tmp_path: Path):
    board, script = tmp_path / "board", tmp_path / "script.rig"
    cabinet("flash", "--port", board, mps2_image)
    blank = os.path.getsize(board / board_files.MEMORY)
    script.write_text("coin 200\nwait 2s\nexpect credit == 200\npower off\n")
    cabinet("run", "--board", "mps2", "--at", board, "--script", script)
    script.write_text("power on\nexpect credit == 200\nexpect audit == ok\n")
    said = cabinet("run", "--board", "mps2", "--at", board, "--script", script, "--json")
    assert '"credit": 200' in said
    assert os.path.getsize(board / board_files.MEMORY) == blank
    assert (board / board_files.FLASH).read_bytes() == mps2_image.read_bytes()

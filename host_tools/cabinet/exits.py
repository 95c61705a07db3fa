"""How the commands end when something is wrong."""

import sys

import typer

from host_tools.hil.sessions import BOARDS


def fail(message: str, code: int = 1) -> typer.Exit:
    """An error for a person on standard error, and the exit that goes with it."""
    print(f"cabinet: {message}", file=sys.stderr)
    return typer.Exit(code)


def check_board(board: str) -> None:
    """Exit 2 unless the rig has such a board."""
    if board not in BOARDS:
        raise fail(f"there is no board {board}; there is {', '.join(BOARDS)}", 2)

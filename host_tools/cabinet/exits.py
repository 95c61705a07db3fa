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


# How the commands end that speak to a cabinet over a line (`cabinet flash` and its kin); 0 done, 1 anything else, 2 wrong
# arguments or a file that is no image.
NO_PORT = 10  # it cannot be opened, or none was named
NO_ANSWER = 11  # nothing answers there, or it is no cabinet
WRONG_BOARD = 12  # the image is for another board
REFUSED = 13  # the cabinet does not do it now; it says why
BROKEN_OFF = 14  # the line failed longer than patience lasts; what has arrived stays there
NOT_VALID = 15  # the cabinet judged the image and does not take it
NOT_STARTED = 16  # the new image did not run after the reset; the one before does

"""Builds the images of the boards that run MicroPython, once, and hands out their paths.

    python -m host_tools.boards            all of them
    python -m host_tools.boards unix       one, and what it needs

`debian.py` fetches MicroPython's source, `build.py` runs make and remembers what it was run on. Everything lands in the
ignored folder build/boards.
"""

from host_tools.boards.build import TARGETS, BoardsError, ensure

__all__ = ["TARGETS", "BoardsError", "ensure"]

"""An application into a slot's memory as a programmer does it: past the console, whatever the cabinet is doing."""

from collections.abc import Generator
from typing import Final

from firmware.update.slots import Slots

PIECE_BYTES: Final = 4096  # at a time: as much as a slot's mark moves on


def write(slots: Slots, slot: int, data: bytes) -> str:
    """Writes an image from its beginning and judges it; "" or why the slot does not take it."""
    why = slots.begin(slot, len(data))
    for first in range(0, len(data), PIECE_BYTES):
        why = why or slots.write(slot, first, data[first : first + PIECE_BYTES])
    return why or at_once(slots.finish(slot))


def at_once(steps: Generator[None, None, str]) -> str:
    """What a judgement in pieces comes to."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value

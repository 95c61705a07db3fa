"""The C core on CPython: the common API (``native``) and the functions that only host tools use."""

from native.cpython.wrapper import (
    Cycle,
    Reading,
    Simulation,
    chacha20_block,
    cycle,
    draws,
    draws64,
    in_view,
    line_wins,
    scale,
    simulate,
    stream_words,
    ways_wins,
)

__all__ = [
    "Cycle",
    "Reading",
    "Simulation",
    "chacha20_block",
    "cycle",
    "draws",
    "draws64",
    "in_view",
    "line_wins",
    "scale",
    "simulate",
    "stream_words",
    "ways_wins",
]

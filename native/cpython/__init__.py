"""The C core on CPython: the common API (``native``) and the functions that only host tools use."""

from native.cpython.wrapper import (
    Cycle,
    Reading,
    Simulation,
    chacha20_block,
    cycle,
    draws,
    in_view,
    line_wins,
    scale,
    simulate,
)

__all__ = [
    "Cycle",
    "Reading",
    "Simulation",
    "chacha20_block",
    "cycle",
    "draws",
    "in_view",
    "line_wins",
    "scale",
    "simulate",
]

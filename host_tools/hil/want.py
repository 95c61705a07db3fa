"""Entropy for which the next round has a wanted outcome.

The firmware has no way in by which an outcome could be set; the rig plays the part of the random device, so it can look for
bytes that lead there: it repeats the firmware's generator over what the device has sent since power-on, tries candidate
bytes for the next request, and plays each resulting seed through the core.
"""

import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import native
from firmware import rng

MAX_CANDIDATES = 2_000_000
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class NotFound(Exception):
    """No candidate had the outcome, or the generator cannot be repeated."""


@dataclass(frozen=True)
class Outcome:
    """What the first spin of a round must be. `kind`: loss, win, free_spins or scatters."""

    kind: str
    op: str = ">"
    number: int = 0  # hundredths of the bet for `win`, scatters in view for `scatters`

    def holds(self, pack: native.Pack, mode: int, unit_pence: int, seed: bytes) -> bool:
        """True when the round has it. A win is that of the first spin, in a round without a feature."""
        core = native.Round(pack, mode, unit_pence, seed)
        feature = False
        while not core.finished and not core.options():
            kind = core.next()[0]
            if kind == native.SPIN and self.kind == "scatters":
                window = core.window()
                trigger = [symbol for symbol, _ in pack.features] or [-1]
                return window.count(trigger[0]) == self.number
            if kind in (native.CHOICE, native.FREE_SPINS_BEGIN):
                feature = True
                break
        if self.kind == "free_spins":
            return feature
        if feature:
            return False
        if self.kind == "loss":
            return core.award_pence == 0
        return core.award_pence > 0 and OPERATORS[self.op](core.award_pence, self.number * unit_pence * pack.cost(mode))


def generator_after(sent: bytes) -> rng.HmacDrbg:
    """The firmware's generator as it stands after the entropy device has sent `sent` since power-on."""
    start = rng.START_UP_BYTES
    if len(sent) < start + rng.INSTANTIATE_BYTES:
        raise NotFound("the firmware's generator is not running yet; wait until idle first")
    drbg = rng.HmacDrbg(sent[start : start + rng.INSTANTIATE_BYTES])
    for offset in range(start + rng.INSTANTIATE_BYTES, len(sent), rng.RESEED_BYTES):
        drbg.reseed(sent[offset : offset + rng.RESEED_BYTES])
        drbg.generate(rng.SEED_BYTES)
    return drbg


def search(
    drbg: rng.HmacDrbg, pack: native.Pack, mode: int, unit_pence: int, outcome: Outcome, chooser: random.Random
) -> bytes:
    """Bytes for the next request of `drbg` whose round has `outcome`. Raises NotFound after MAX_CANDIDATES."""
    for _ in range(MAX_CANDIDATES):
        candidate = chooser.randbytes(rng.RESEED_BYTES)
        twin = drbg.copy()
        twin.reseed(candidate)
        if outcome.holds(pack, mode, unit_pence, twin.generate(rng.SEED_BYTES)):
            return candidate
    raise NotFound(f"none of {MAX_CANDIDATES} random rounds was: {outcome.kind} {outcome.op} {outcome.number}")

"""The mean square of a ways spin in closed form.

A symbol's win is a sum over runs of products, one factor a reel; so is the product of two symbols' wins. Its sum over all
boards is therefore a product of sums over stops, reel by reel: exact integers, and no board is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from host_tools.par.exact_spins import Stops, all_stops, ways_multiplier, ways_on, window
from host_tools.par.model import Mode, Sheet

Matrix = Any


@dataclass
class _Reel:
    """Sums over stops. f: a term's factor, z: the symbol is not on the reel; rows and columns are terms."""

    ff: Matrix
    fz: Matrix
    zz: Matrix
    f: Matrix
    z: Matrix
    stops: int


def ways_squares(sheet: Sheet, mode: Mode, stops: Stops | None = None) -> int:
    """Sum over boards of the squared ways win, credits squared. Scatter pays are not in it."""
    strips = sheet.sets[mode.set].reels
    terms = _terms(sheet)
    reels: list[_Reel] = []
    for strip, drawn in zip(strips, all_stops(strips) if stops is None else stops, strict=True):
        shown = [
            [ways_on(sheet, window(strip, stop, sheet.rows), symbol) for symbol, _, _, _ in terms] for stop in drawn
        ]
        factors = np.array(
            [
                [
                    (here[1] if plain else here[0]) * (not (unnatural and here[2]))
                    for here, (_, _, plain, unnatural) in zip(row, terms, strict=True)
                ]
                for row in shown
            ],
            dtype=object,
        )
        absent = np.array([[int(not here[0]) for here in row] for row in shown], dtype=object)
        reels.append(
            _Reel(factors.T @ factors, factors.T @ absent, absent.T @ absent, factors.sum(0), absent.sum(0), len(drawn))
        )
    total = 0
    coefficients = np.array([coefficient for _, coefficient, _, _ in terms], dtype=object)
    pays = np.array([sheet.pays[symbol] for symbol, _, _, _ in terms], dtype=object)
    for left in range(1, sheet.reels + 1):
        for right in range(left, sheet.reels + 1):
            worth = np.outer(coefficients * pays[:, left - 1], coefficients * pays[:, right - 1])
            if worth.any():
                part = int((worth * _product(reels, left, right)).sum())
                total += part if left == right else 2 * part
    return total


def _terms(sheet: Sheet) -> list[tuple[int, int, bool, bool]]:
    """(symbol, coefficient, plain ways only, unnatural only): what a symbol's win is the sum of."""
    multiplier = ways_multiplier(sheet)
    terms: list[tuple[int, int, bool, bool]] = []
    for symbol, row in enumerate(sheet.pays):
        for unnatural, sign in ((False, 1), (True, -1)) if sheet.needs_natural else ((False, 1),):
            if any(row):
                terms.append((symbol, sign * multiplier, False, unnatural))
                if multiplier > 1:
                    terms.append((symbol, -sign * (multiplier - 1), True, unnatural))
    return terms


def _product(reels: list[_Reel], left: int, right: int) -> Matrix:
    """Boards, weighted by both factors, on which the first symbol's run is `left` and the second's is `right` long."""
    result: Matrix = 1
    for place, reel in enumerate(reels):
        if place < left:
            factor = reel.ff
        elif place == left:
            factor = reel.zz if place == right else reel.fz.T if place < right else reel.z[:, None]
        elif place < right:
            factor = reel.f[None, :]
        elif place == right:
            factor = reel.z[None, :]
        else:
            factor = reel.stops
        result = result * factor
    return result

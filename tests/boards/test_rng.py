"""The random source on MicroPython: cutoffs without floats, known answers, every driver's module."""

import json
from fractions import Fraction

from tests.firmware.test_rng_cutoffs import ROWS


def test_cutoffs_are_the_same_integers(micropython):
    claims = [(window, Fraction(entropy).as_integer_ratio(), alpha) for alpha, window, entropy, _ in ROWS]
    told = micropython(
        "-c",
        "from firmware.rng import health\n"
        f"rows = [[health.repetition_cutoff(h, a), health.proportion_cutoff(w, h, a)] for w, h, a in {claims}]\n"
        "rows.append([health.lane_cutoff(), health.sequence_cutoff(), health.balance_cutoff()])\nprint(rows)",
    )
    assert json.loads(told) == [*(list(row[3]) for row in ROWS), [61, 10, 2290]]


def test_known_answers(micropython):
    told = micropython(
        "-c", "from firmware.rng.known_answers import PARTS\nprint([part[0] for part in PARTS if not all(part[1]())])"
    )
    assert told == "[]\n"

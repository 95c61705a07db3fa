"""Cutoffs of the health tests: the published table, the formulas by another way."""

import math
from fractions import Fraction

import pytest

from firmware.rng import health

# alpha bits: (entropy of a binary sample: (repetition, proportion in 1024)), (of a byte: (repetition, proportion in 512))
BINARY = {
    20: {"0.1": (201, 991), "0.3": (68, 890), "0.5": (41, 793), "0.8": (26, 664), "0.9": (24, 625), "1": (21, 589)},
    30: {"0.5": (61, 810), "0.8": (39, 683), "0.9": (35, 645), "1": (31, 609)},
    40: {"0.5": (81, 824), "0.8": (51, 699), "0.9": (46, 661), "1": (41, 625)},
}
BYTES = {
    20: {
        "0.5": (41, 410), "1": (21, 311), "2": (11, 177), "3": (8, 103), "4": (6, 62), "5": (5, 39), "6": (5, 25),
        "7": (4, 18), "7.5": (4, 15), "8": (4, 13),
    },
    30: {
        "0.5": (61, 422), "1": (31, 325), "2": (16, 190), "3": (11, 114), "4": (9, 71), "5": (7, 46), "6": (6, 31),
        "7": (6, 22), "7.5": (5, 19), "8": (5, 16),
    },
    40: {
        "0.5": (81, 432), "1": (41, 336), "2": (21, 201), "3": (15, 123), "4": (11, 78), "5": (9, 51), "6": (8, 35),
        "7": (7, 26), "7.5": (7, 22), "8": (6, 19),
    },
}  # fmt: skip
ROWS = [
    (alpha, window, entropy, expected)
    for window, table in ((1024, BINARY), (512, BYTES))
    for alpha, row in table.items()
    for entropy, expected in row.items()
]


@pytest.mark.parametrize(("alpha", "window", "entropy", "expected"), ROWS)
def test_the_table(alpha, window, entropy, expected):
    claim = Fraction(entropy).as_integer_ratio()
    assert (health.repetition_cutoff(claim, alpha), health.proportion_cutoff(window, claim, alpha)) == expected


def test_the_default_claim():
    assert (health.ENTROPY_BITS, health.ALPHA_BITS) == ((4, 1), 30)
    assert (health.repetition_cutoff(), health.proportion_cutoff()) == (9, 71)


def test_a_bit_has_an_eighth_of_the_entropy():
    assert health.lane_cutoff() == 1 + math.ceil(30 / 0.5) == 61


def test_a_sequence_is_so_long_that_chance_does_not_bring_it_again():
    """2^-H for each byte, at 512 places: ten bytes at 4 bits are the fewest that stay below 2^-30."""
    length = health.sequence_cutoff()
    assert 512 * 2.0 ** (-4 * length) <= 2.0**-30 < 512 * 2.0 ** (-4 * (length - 1))


def test_the_balance_is_above_the_exact_quantile_and_near_it():
    """4,096 fair bits leave the band less often than 2^-40, and the band is no wider than a bound must make it."""
    cutoff, bits = health.balance_cutoff(), 4096
    tail, term = 0, math.comb(bits, cutoff)
    exact = 0
    for ones in range(cutoff, bits + 1):
        tail += term
        term = term * (bits - ones) // (ones + 1)
    assert 2 * tail * 2**40 <= 1 << bits
    term = 1  # the exact cutoff, from the top down
    total, ones = 1, bits
    while 2 * total * 2**40 <= 1 << bits:
        term = term * ones // (bits - ones + 1)
        ones -= 1
        total += term
    exact = ones + 1
    assert exact <= cutoff <= exact + 20


@pytest.mark.parametrize(("entropy", "alpha"), [((0, 1), 30), ((9, 1), 30), ((4, 1), 19), ((4, 1), 41)])
def test_a_claim_that_makes_no_sense_is_refused(entropy, alpha):
    with pytest.raises(ValueError, match="claim more than 0"):
        health.make_tests(entropy, alpha)

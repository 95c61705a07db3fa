"""p-values and the entropy estimate against published figures."""

import math
import os
from random import Random

import pytest

from host_tools.rng.estimates import binomial_tail, bytes_p, chi_square_p, draws_p, most_common_value_bits, upper_gamma

# Degrees of freedom, quantile, upper tail: the usual printed table.
TABLE = [
    (1, 3.841459, 0.05),
    (1, 6.634897, 0.01),
    (2, 5.991465, 0.05),
    (6, 22.457744, 0.001),
    (10, 18.307038, 0.05),
    (100, 124.342113, 0.05),
    (100, 77.929465, 0.95),
    (255, 293.247835, 0.05),
]


@pytest.mark.parametrize(("freedom", "quantile", "tail"), TABLE)
def test_upper_gamma_is_the_printed_table(freedom, quantile, tail):
    assert upper_gamma(freedom / 2, quantile / 2) == pytest.approx(tail, rel=1e-5)


@pytest.mark.parametrize("x", [0.001, 0.5, 1, 3, 30])
def test_two_degrees_of_freedom_are_an_exponential(x):
    assert upper_gamma(1, x) == pytest.approx(math.exp(-x))


def test_chi_square_of_equal_counts_is_certain():
    assert chi_square_p([50] * 4, [50.0] * 4) == 1.0


def test_most_common_value():
    """The worked figure of the formula: a share of 1/4 in 10,000 samples."""
    data = bytes([7]) * 2500 + bytes(8 + index % 200 for index in range(7500))
    bound = 0.25 + 2.576 * math.sqrt(0.25 * 0.75 / 9999)
    assert most_common_value_bits(data) == pytest.approx(-math.log2(bound))
    assert most_common_value_bits(b"a" * 1000) == 0
    assert most_common_value_bits(os.urandom(1_000_000)) > 7.8
    with pytest.raises(ValueError, match="1000 bytes"):
        most_common_value_bits(b"a" * 999)


def test_binomial_tail():
    assert binomial_tail(10, 0.5, 0) == 1
    assert binomial_tail(10, 0.5, 9) == pytest.approx(11 / 1024)
    assert binomial_tail(1000, 8e-4, 1) == pytest.approx(1 - (1 - 8e-4) ** 1000)


@pytest.mark.parametrize("limit", [2, 7, 40, 1000, 1013, 4_000_000, 3 << 30, 1 << 40])
def test_fair_draws_pass_and_biased_ones_do_not(limit):
    random = Random(limit)
    fair = [random.randrange(limit) for _ in range(50_000)]
    assert draws_p(fair, limit) > 1e-4
    shifted = [value if random.random() < 0.8 else value // 2 for value in fair]
    assert draws_p(shifted, limit) < 1e-6
    with pytest.raises(ValueError, match="outside"):
        draws_p([limit], limit)


def test_bytes():
    assert bytes_p(Random(1).randbytes(100_000)) > 1e-4
    assert bytes_p(bytes(byte | 1 for byte in Random(1).randbytes(10_000))) < 1e-12

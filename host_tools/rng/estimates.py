"""Figures of our own: the simplest entropy estimate of SP 800-90B, and chi-square with its p-value."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 2.576  # 99 % both ways, SP 800-90B 6.3.1
LEAST_EXPECTED = 20  # in each bin of a chi-square


def most_common_value_bits(data: bytes) -> float:
    """Min-entropy of a byte by the most common value (SP 800-90B 6.3.1), bits. ValueError: fewer than 1,000 bytes."""
    if len(data) < 1000:
        raise ValueError(f"an estimate needs at least 1000 bytes, not {len(data)}")
    share = int(np.bincount(np.frombuffer(data, np.uint8), minlength=256).max()) / len(data)
    bound = share + CONFIDENCE * math.sqrt(share * (1 - share) / (len(data) - 1))
    return -math.log2(min(1.0, bound))


def upper_gamma(a: float, x: float) -> float:
    """Regularised upper incomplete gamma function Q(a, x): the series of P below a + 1, else the continued fraction."""
    if x <= 0:
        return 1.0
    scale = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while abs(term) > 1e-16 * abs(total):
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - total * scale)
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    fraction = d
    for i in range(1, 10_000):
        numerator = -i * (i - a)
        b += 2
        d = 1 / (numerator * d + b or tiny)
        c = b + numerator / c or tiny
        step = d * c
        fraction *= step
        if abs(step - 1) < 1e-15:
            break
    return fraction * scale


def chi_square_p(counts: Sequence[int] | NDArray[np.int64], expected: Sequence[float] | NDArray[np.float64]) -> float:
    """The chance of counts at least so far from what is expected, one degree of freedom less than there are bins."""
    seen, wanted = np.asarray(counts, float), np.asarray(expected, float)
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    return upper_gamma((len(seen) - 1) / 2, statistic / 2)


def bins_for(limit: int, draws: int) -> int:
    """How many bins `draws` draws of 0 ... limit-1 are counted in: one for each of up to 1,000 values, else 256."""
    return max(2, min(limit if limit <= 1000 else 256, draws // LEAST_EXPECTED))


def draws_p(values: Sequence[int], limit: int) -> float:
    """p-value of draws from 0 ... limit-1 in bins as equal as whole numbers allow. ValueError: one is outside."""
    bins = bins_for(limit, len(values))
    edges = [-(-index * limit // bins) for index in range(bins + 1)]
    if min(values) < 0 or max(values) >= limit:
        raise ValueError(f"a draw lies outside 0 to {limit - 1}")
    counts = np.bincount([value * bins // limit for value in values], minlength=bins)
    sizes = np.diff(np.array(edges, dtype=object)).astype(float)
    return chi_square_p(counts, sizes * (len(values) / limit))


def bytes_p(data: bytes) -> float:
    """p-value of 256 equally likely bytes."""
    return chi_square_p(np.bincount(np.frombuffer(data, np.uint8), minlength=256), np.full(256, len(data) / 256))


def binomial_tail(trials: int, chance: float, at_least: int) -> float:
    """P(X >= at_least)."""
    if at_least <= 0:
        return 1.0
    logs = (
        math.lgamma(trials + 1)
        - math.lgamma(k + 1)
        - math.lgamma(trials - k + 1)
        + k * math.log(chance)
        + (trials - k) * math.log1p(-chance)
        for k in range(at_least, min(trials, at_least + 1000) + 1)
    )
    return min(1.0, sum(math.exp(log) for log in logs))

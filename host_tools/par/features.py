"""Exact first and second moments of a free-spin feature, with its bound on spins.

The number of spins is random (scatters add to it) and correlated with what the spins win, and the bound makes it a
finite chain: the state is (spins played, spins granted). With x the win of one spin (multiplier 1), p_a the chance of
`a` scatters, x_a the share of E[x] on boards that show `a`, and M the expected spins still to come:

    M(t, g) = 1 + sum_a p_a M(t + 1, g'_a)                           with g'_a = min(g + a, bound)
    U(t, g) = sum_a x_a M(t + 1, g'_a) + sum_a p_a U(t + 1, g'_a)
    E[F] = m E[x] M        E[F^2] = m^2 (E[x^2] M + 2 E[x] U)

U carries the covariance of what a spin wins with how many spins follow; leaving it, or the square of the mean, out is
the published mistake that par/SOURCES.md tells of. Both run over integers with the common denominator D^(bound - t).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from host_tools.par.model import Feature, Option

LARGEST_BOUND = 2000  # the chain has bound^2 / 2 states of big integers


@dataclass(frozen=True)
class SpinSums:
    """Sums over the boards of a feature's mode, credits at multiplier 1."""

    boards: int
    boards_by_count: tuple[int, ...]  # by adding scatters in view
    credits_by_count: tuple[int, ...]
    squares: int

    @property
    def credits(self) -> int:
        return sum(self.credits_by_count)


@dataclass(frozen=True)
class Award:
    """What one option awards, credits: exact mean and mean square, and the mean number of spins."""

    option: Option
    mean: Fraction
    square: Fraction
    spins: Fraction


def awards(feature: Feature, spins: SpinSums) -> dict[int, tuple[Award, ...]]:
    """Awards of all options by trigger count."""
    if feature.max_spins > LARGEST_BOUND:
        raise ValueError(f"max_spins {feature.max_spins} is beyond the exact method's {LARGEST_BOUND}")
    moments = _chain(feature, spins)
    mean, square = Fraction(spins.credits, spins.boards), Fraction(spins.squares, spins.boards)

    def award(option: Option) -> Award:
        played, follow = moments[option.spins]
        return Award(
            option,
            option.multiplier * mean * played,
            option.multiplier**2 * (square * played + 2 * mean * follow),
            played,
        )

    return {count: tuple(award(option) for option in options) for count, options in feature.options.items()}


def _chain(feature: Feature, spins: SpinSums) -> dict[int, tuple[Fraction, Fraction]]:
    """(M, U) at the start of a feature, by spins granted."""
    bound = feature.max_spins
    common = spins.boards
    for count in spins.boards_by_count:
        common = gcd(common, count)
    # Probabilities ways / scale; only counts that occur.
    scale = spins.boards // common
    steps = [
        (shown * feature.adds_spins, ways // common, spins.credits_by_count[shown])
        for shown, ways in enumerate(spins.boards_by_count)
        if ways
    ]
    # Row t holds M and U times scale^(bound - t) (U also times boards), by spins granted; entries up to t are 0: over.
    more = [0] * (bound + 1)
    follow = [0] * (bound + 1)
    power = 1
    for played in range(bound - 1, -1, -1):
        power *= scale
        # Upwards in place: an entry needs only entries of the later row at its own place or above.
        for granted in range(played + 1, bound + 1):
            m, u = power, 0
            for added, ways, credits in steps:
                then = min(granted + added, bound)
                m += ways * more[then]
                u += scale * credits * more[then] + ways * follow[then]
            more[granted], follow[granted] = m, u
        more[played] = follow[played] = 0
    starts = {option.spins for options in feature.options.values() for option in options}
    return {start: (Fraction(more[start], power), Fraction(follow[start], power * spins.boards)) for start in starts}

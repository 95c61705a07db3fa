"""Exact first and second moments of free spins whose number is random, with the bound on spins.

The number of spins is correlated with what the spins win, and the bound makes it a finite chain: the state is (spins
played, spins granted). With x the win of one spin, p_a the chance that it adds `a` spins, x_a the share of E[x] on boards
that add `a`, and M the expected spins still to come:

    M(t, g) = 1 + sum_a p_a M(t + 1, g'_a)                           with g'_a = min(g + a, bound)
    U(t, g) = sum_a x_a M(t + 1, g'_a) + sum_a p_a U(t + 1, g'_a)
    E[F] = E[x] M        E[F^2] = E[x^2] M + 2 E[x] U

U carries the covariance of what a spin wins with how many spins follow; leaving it, or the square of the mean, out is
the published mistake that par/SOURCES.md tells of. Both run over integers with the common denominator D^(bound - t).

Tokens: which pots a matrix pays depends only on how many tokens have been drawn, not on when. So the chain carries the
number of tokens T (in binary64), and the matrix is a second chain over tokens: R(T) and Q(T), mean and mean square of the
pots that T tokens pay. Then E[F] = E[X] + E[R(T)], E[F^2] = E[X^2] + 2 E[X R(T)] + E[Q(T)].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from host_tools.par.exact_prizes import ZERO, NotExact, Steps, chances, free_spin_law, grouped
from host_tools.par.exact_spins import split
from host_tools.par.model import Feature, Option, Sheet

LARGEST_BOUND = 2000  # the chain has bound^2 / 2 states of big integers


@dataclass
class SpinLaw:
    """One free spin. `wins` are what a multiplier multiplies, `rest` is everything else; credits."""

    chance: dict[tuple[int, int], Fraction] = field(default_factory=dict)  # by (spins added, tokens)
    wins: dict[tuple[int, int], Fraction] = field(default_factory=dict)  # shares of the mean
    rest: dict[tuple[int, int], Fraction] = field(default_factory=dict)
    wins_square: Fraction = ZERO
    rest_square: Fraction = ZERO
    product: Fraction = ZERO  # E[wins x rest]

    def add(self, key: tuple[int, int], chance: Fraction, wins: Fraction, rest: Fraction) -> None:
        for table, value in ((self.chance, chance), (self.wins, wins), (self.rest, rest)):
            table[key] = table.get(key, ZERO) + value

    def shares(self, multiplier: int) -> dict[tuple[int, int], Fraction]:
        return {key: multiplier * wins + self.rest[key] for key, wins in self.wins.items()}

    def mean(self, multiplier: int) -> Fraction:
        return sum(self.shares(multiplier).values(), ZERO)

    def square(self, multiplier: int) -> Fraction:
        return multiplier**2 * self.wins_square + 2 * multiplier * self.product + self.rest_square


@dataclass(frozen=True)
class Award:
    """What one option awards, credits: mean and mean square, the mean number of spins, and the mean by cause."""

    option: Option
    mean: Fraction
    square: Fraction
    spins: Fraction
    parts: dict[str, Fraction]


def spin_law(sheet: Sheet, feature: Feature, squares: int) -> SpinLaw:
    """`squares`: the sum of squared wins over the boards of the feature's mode."""
    mode = sheet.modes[feature.mode]
    steps = Steps(sheet, mode)
    table = split(sheet, mode, steps.watch())
    law = SpinLaw(wins_square=Fraction(squares, table.total))
    for shown, boards, wins in grouped(table, table.counts):
        tokens = sum(steps.seen(shown, step.symbols) for step in steps.of("tokens"))
        for added, (chance, mean, square) in free_spin_law(steps, shown).items():
            law.add(
                (added, tokens),
                chance * boards / table.total,
                chance * wins / table.total,
                mean * boards / table.total,
            )
            law.product += mean * wins / table.total
            law.rest_square += square * boards / table.total
    return law


def awards(sheet: Sheet, feature: Feature, law: SpinLaw, options: tuple[Option, ...]) -> tuple[Award, ...]:
    """Awards of free spins without frames."""
    if feature.max_spins > LARGEST_BOUND:
        raise NotExact(f"max_spins {feature.max_spins} is beyond the exact method's {LARGEST_BOUND}")
    tables = [step.table for step in sheet.modes[feature.mode].steps_of("tokens")]
    if tables:
        table = tables[0]
        if len(tables) > 1 or table is None:
            raise NotExact("several token steps in one mode")
        return tuple(_with_tokens(sheet, feature, law, option, table) for option in options)
    spins = {option.spins for option in options}
    played = _chain(feature.max_spins, law, spins)

    def award(option: Option) -> Award:
        m = option.multiplier
        count, wins, rest = played[option.spins]
        mean = law.mean(m)
        return Award(
            option,
            mean * count,
            law.square(m) * count + 2 * mean * (m * wins + rest),
            count,
            {"wins": m * sum(law.wins.values(), ZERO) * count, "prizes": sum(law.rest.values(), ZERO) * count},
        )

    return tuple(award(option) for option in options)


def _chain(bound: int, law: SpinLaw, starts: set[int]) -> dict[int, tuple[Fraction, Fraction, Fraction]]:
    """(M, U of the wins, U of the rest) at the start of a feature, by spins granted."""
    by_added: dict[int, list[Fraction]] = {}
    for (added, _), chance in law.chance.items():
        row = by_added.setdefault(added, [ZERO, ZERO, ZERO])
        for place, value in enumerate((chance, law.wins[added, 0], law.rest[added, 0])):
            row[place] += value
    scale = lcm(*(row[0].denominator for row in by_added.values()))
    unit = lcm(scale, *(value.denominator for row in by_added.values() for value in row[1:])) // scale
    steps = [
        (added, int(chance * scale), int(wins * scale * unit), int(rest * scale * unit))
        for added, (chance, wins, rest) in sorted(by_added.items())
    ]
    has_rest = any(rest for _, _, _, rest in steps)
    # Row t holds M and U times scale^(bound - t) (U also times unit), by spins granted; entries up to t are 0: over.
    more, wins_follow, rest_follow = [0] * (bound + 1), [0] * (bound + 1), [0] * (bound + 1)
    power = 1
    for played in range(bound - 1, -1, -1):
        power *= scale
        # Upwards in place: an entry needs only entries of the later row at its own place or above.
        for granted in range(played + 1, bound + 1):
            m, u, v = power, 0, 0
            for added, ways, wins, rest in steps:
                then = min(granted + added, bound)
                m += ways * more[then]
                u += wins * more[then] + ways * wins_follow[then]
                if has_rest:
                    v += rest * more[then] + ways * rest_follow[then]
            more[granted], wins_follow[granted], rest_follow[granted] = m, u, v
        more[played] = wins_follow[played] = rest_follow[played] = 0
    return {
        start: (
            Fraction(more[start], power),
            Fraction(wins_follow[start], power * unit),
            Fraction(rest_follow[start], power * unit),
        )
        for start in starts
    }


def _with_tokens(sheet: Sheet, feature: Feature, law: SpinLaw, option: Option, table: int) -> Award:
    """In binary64: about 1e-12 relative. Arrays are over (spins granted, tokens drawn)."""
    bound, m = feature.max_spins, option.multiplier
    shares = law.shares(m)
    rows = [(added, tokens, float(p), float(shares[added, tokens])) for (added, tokens), p in law.chance.items()]
    most = bound * max(tokens for _, tokens in law.chance)
    mass, won = np.zeros((bound + 1, most + 1)), np.zeros((bound + 1, most + 1))
    mass[option.spins, 0] = 1.0
    ended, ended_won = np.zeros(most + 1), np.zeros(most + 1)
    mean, square = float(law.mean(m)), float(law.square(m))
    spins = total_square = 0.0
    for played in range(bound + 1):
        ended += mass[played]
        ended_won += won[played]
        mass[played] = won[played] = 0.0
        active = mass.sum()
        if not active:
            break
        spins += active
        total_square += active * square + 2 * won.sum() * mean
        next_mass, next_won = np.zeros_like(mass), np.zeros_like(won)
        for added, tokens, p, x in rows:
            for target, source in ((next_mass, p * mass), (next_won, p * won + x * mass)):
                here = source[:, : most + 1 - tokens]
                fit = max(0, bound + 1 - added)  # numbers of granted spins that the added ones do not take to the bound
                if fit:
                    target[added:, tokens:] += here[:fit]
                target[bound, tokens:] += here[fit:].sum(axis=0)
        mass, won = next_mass, next_won
    pots, pots_square = _matrix(sheet, table, most)
    paid = float(ended @ pots)
    wins = float(sum(law.wins.values(), ZERO)) * m * spins
    return Award(
        option,
        Fraction(float(ended_won.sum()) + paid),
        Fraction(total_square + 2 * float(ended_won @ pots) + float(ended @ pots_square)),
        Fraction(spins),
        {
            "wins": Fraction(wins),
            "prizes": Fraction(float(sum(law.rest.values(), ZERO)) * spins),
            "pots by tokens": Fraction(paid),
        },
    )


def _matrix(sheet: Sheet, table: int, most: int) -> tuple[Any, Any]:
    """Mean and mean square of the pots that 0, 1, ... most tokens pay."""
    rows = list(chances(sheet, table))
    numbers: dict[tuple[int, ...], int] = {}
    moves: list[list[tuple[int, float, int]]] = []  # by state: (next state, chance, credits)
    waiting = [(0,) * len(sheet.pots)]
    numbers[waiting[0]] = 0
    while waiting:
        filled = waiting.pop(0)
        here = []
        for chance, prize in rows:
            after = list(filled)
            after[prize.index] += 1
            paid = 0
            if after[prize.index] >= sheet.pots[prize.index].tokens:
                after, paid = [0] * len(filled), sheet.pots[prize.index].credits
            key = tuple(after)
            if key not in numbers:
                numbers[key] = len(numbers)
                waiting.append(key)
            here.append((numbers[key], float(chance), paid))
        moves.append(here)
    size = len(moves)
    mass, mean, square = np.zeros(size), np.zeros(size), np.zeros(size)
    mass[0] = 1.0
    arrows = [
        (
            np.array([move[n][0] for move in moves]),
            moves[0][n][1],
            np.array([move[n][2] for move in moves], dtype=float),
        )
        for n in range(len(rows))
    ]
    means, squares = np.zeros(most + 1), np.zeros(most + 1)
    for drawn in range(1, most + 1):
        after = [np.zeros(size) for _ in range(3)]
        for to, chance, paid in arrows:
            np.add.at(after[0], to, chance * mass)
            np.add.at(after[1], to, chance * (mean + paid * mass))
            np.add.at(after[2], to, chance * (square + 2 * paid * mean + paid**2 * mass))
        mass, mean, square = after
        means[drawn], squares[drawn] = mean.sum(), square.sum()
    return means, squares

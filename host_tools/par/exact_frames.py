"""Exact first and second moments of free spins with frames.

Frames that rise where a symbol lands (rule "raise"): reels are independent, and a reel's frames are a Markov chain over the
levels of its rows. With S spins, x the win of a spin and B_r what the bowls of reel r pay, given the opening's frames:

    E[F] = S E[x] + sum_r E[B_r]
    E[F^2] = S E[x^2] + S (S - 1) E[x]^2 + 2 sum_r E[X B_r] + sum_r E[B_r^2] + 2 sum_{r<s} E[B_r] E[B_s]

E[X B_r] needs the mean win of a spin by what the reel shows, which the split of the windows gives. Frames that fill the
window (rule "fill"): every cell of the symbol makes one more frame of level 3, or is paid when none is bare, so only the
number of such cells over all spins matters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from host_tools.par.exact_prizes import ONE, ZERO, NotExact, Steps, free_spin_law, grouped, value_moments
from host_tools.par.exact_spins import split
from host_tools.par.features import Award, SpinLaw, spin_law
from host_tools.par.model import Feature, Option, Sheet, Step

MOST_LEVEL = 3
Column = tuple[int, ...]  # levels of a reel's rows, top row first
Masks = tuple[int, ...]  # by reel: bits of the rows that show a symbol


def rolled(sheet: Sheet, masks: Masks) -> tuple[Column, ...]:
    """Opening "roll": a cell's level is the number of symbols in its row at it or left of it, 3 at most."""
    levels, columns = [0] * sheet.rows, []
    for mask in masks:
        levels = [min(MOST_LEVEL, level + (mask >> row & 1)) for row, level in enumerate(levels)]
        columns.append(tuple(levels))
    return tuple(columns)


def openings(sheet: Sheet, feature: Feature, masks: Masks | None) -> list[tuple[Fraction, tuple[Column, ...]]]:
    """Frames at the beginning. `masks`: where the triggering window shows the feature's symbols (None: no window)."""
    bare = ((0,) * sheet.rows,) * sheet.reels
    if feature.opening == "none":
        return [(ONE, bare)]
    if feature.opening == "shape":
        assert feature.shapes is not None
        found: list[tuple[Fraction, tuple[Column, ...]]] = []
        table = sheet.tables[feature.shapes]
        for row in table.rows:
            width, height = row.prize.shape
            places = [(x, y) for x in range(sheet.reels - width + 1) for y in range(sheet.rows - height + 1)]
            for left, top in places:
                inside = tuple(feature.level if top <= y < top + height else 0 for y in range(sheet.rows))
                columns = tuple(inside if left <= x < left + width else bare[0] for x in range(sheet.reels))
                found.append((Fraction(row.weight, table.weight * len(places)), columns))
        return found
    if masks is None:
        raise NotExact(f"feature {feature.id} reads a window: it cannot begin without one")
    if feature.opening == "roll":
        return [(ONE, rolled(sheet, masks))]
    cells = (tuple(feature.level * (mask >> row & 1) for row in range(sheet.rows)) for mask in masks)
    return [(ONE, tuple(cells))]


class Frames:
    """One feature with frames under one option."""

    def __init__(self, sheet: Sheet, feature: Feature, option: Option, squares: int) -> None:
        self.sheet, self.feature, self.option = sheet, feature, option
        steps = sheet.modes[feature.mode].steps_of("frames")
        if len(steps) > 1 or sheet.modes[feature.mode].steps_of("tokens"):
            raise NotExact(f"feature {feature.id}: several frames steps, or frames with tokens")
        self.step: Step | None = steps[0] if steps else None
        self.law: SpinLaw = spin_law(sheet, feature, squares)
        if any(added for added, _ in self.law.chance):
            raise NotExact(f"feature {feature.id}: frames with added spins")
        self.bowls = [
            (ZERO, ZERO) if table is None else value_moments(sheet, table) for table in (None, *feature.bowls)
        ]  # mean and variance by level
        self.mean, self.square = self.law.mean(option.multiplier), self.law.square(option.multiplier)
        self.award = cache(self._award)
        if self.step is not None and self.step.rule == "fill":
            self._landings()
        else:
            self._columns()

    def _marginals(self) -> list[dict[int, list[Fraction]]]:
        """By reel: mask of the frames' symbol -> chance, share of the mean win."""
        mode = self.sheet.modes[self.feature.mode]
        steps = Steps(self.sheet, mode)
        symbols = self.step.symbols if self.step else frozenset[int]()
        table = split(self.sheet, mode, steps.watch((symbols,)))
        reels: list[dict[int, list[Fraction]]] = []
        for column in table.places[0]:
            found: dict[int, list[Fraction]] = defaultdict(lambda: [ZERO, ZERO])
            for (*shown, mask), boards, wins in grouped(table, [*table.counts, column]):
                rest = sum((mean for _, mean, _ in free_spin_law(steps, tuple(shown)).values()), ZERO)
                found[mask][0] += Fraction(boards, table.total)
                found[mask][1] += (self.option.multiplier * wins + rest * boards) / table.total
            reels.append(found)
        return reels

    def _columns(self) -> None:
        reels = self._marginals()

        @cache
        def moments(reel: int, column: Column, left: int) -> tuple[Fraction, Fraction, Fraction]:
            """E[B], E[B^2], E[X B] of a reel with `left` spins to come; X is what those spins win."""
            if not left:
                mean = sum((self.bowls[level][0] for level in column), ZERO)
                return mean, mean * mean + sum((self.bowls[level][1] for level in column), ZERO), ZERO
            first, second, cross = ZERO, ZERO, ZERO
            for mask, (chance, won) in reels[reel].items():
                b, bb, xb = moments(reel, self._raised(column, mask), left - 1)
                first, second, cross = first + chance * b, second + chance * bb, cross + won * b + chance * xb
            return first, second, cross

        self.moments = moments

    def _raised(self, column: Column, mask: int) -> Column:
        if self.step is None:
            return column
        return tuple(min(MOST_LEVEL, level + (mask >> row & 1)) for row, level in enumerate(column))

    def _landings(self) -> None:
        """Chance, share of E[X] and so on by number of cells that land over all spins."""
        assert self.step is not None
        mode = self.sheet.modes[self.feature.mode]
        steps = Steps(self.sheet, mode)
        table = split(self.sheet, mode, steps.watch())
        one: dict[int, list[Fraction]] = defaultdict(lambda: [ZERO, ZERO])
        for shown, boards, wins in grouped(table, table.counts):
            rest = sum((mean for _, mean, _ in free_spin_law(steps, shown).values()), ZERO)
            row = one[steps.seen(shown, self.step.symbols)]
            row[0] += Fraction(boards, table.total)
            row[1] += (self.option.multiplier * wins + rest * boards) / table.total
        total: dict[int, list[Fraction]] = {0: [ONE, ZERO]}
        for _ in range(self.option.spins):
            after: dict[int, list[Fraction]] = defaultdict(lambda: [ZERO, ZERO])
            for landed, (chance, won) in total.items():
                for here, (p, x) in one.items():
                    after[landed + here][0] += chance * p
                    after[landed + here][1] += chance * x + won * p
            total = after
        self.landed = total

    def moments_of(self, columns: Sequence[Column]) -> tuple[Fraction, Fraction, dict[str, Fraction]]:
        """Mean, mean square and mean by cause, for given frames at the beginning."""
        spins = self.option.spins
        won = spins * self.mean
        square = spins * self.square + spins * (spins - 1) * self.mean**2
        parts = {
            "wins": spins * self.option.multiplier * sum(self.law.wins.values(), ZERO),
            "prizes": spins * sum(self.law.rest.values(), ZERO),
        }
        if self.step is not None and self.step.rule == "fill":
            bowls, prizes, more = self._filled(columns)
            parts["prizes"] += prizes
            parts["bowls"] = bowls
            return won + bowls + prizes, square + more, parts
        total = ZERO
        for reel, column in enumerate(columns):
            b, bb, xb = self.moments(reel, column, spins)
            square += bb + 2 * xb + 2 * total * b
            total += b
        parts["bowls"] = total
        return won + total, square, parts

    def _filled(self, columns: Sequence[Column]) -> tuple[Fraction, Fraction, Fraction]:
        """Mean of bowls, mean of prizes, and what they add to the mean square."""
        assert self.step is not None
        levels = [level for column in columns for level in column if level]
        bare = self.sheet.reels * self.sheet.rows - len(levels)
        base = sum((self.bowls[level][0] for level in levels), ZERO)
        spread = sum((self.bowls[level][1] for level in levels), ZERO)
        top, top_spread = self.bowls[MOST_LEVEL]
        bowls, prizes, more = ZERO, ZERO, ZERO
        for landed, (chance, won) in self.landed.items():
            new = min(bare, landed)
            paid = self.step.credits * (landed - new)
            mean = base + new * top
            bowls += chance * mean
            prizes += chance * paid
            more += chance * ((mean + paid) ** 2 + spread + new * top_spread) + 2 * won * (mean + paid)
        return bowls, prizes, more

    def _award(self, masks: Masks | None) -> Award:
        mean, square = ZERO, ZERO
        parts: dict[str, Fraction] = defaultdict(lambda: ZERO)
        for chance, columns in openings(self.sheet, self.feature, masks):
            m, s, causes = self.moments_of(columns)
            mean, square = mean + chance * m, square + chance * s
            for cause, value in causes.items():
                parts[cause] += chance * value
        return Award(self.option, mean, square, Fraction(self.option.spins), dict(parts))

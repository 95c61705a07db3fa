"""What the steps of a base spin give, for every window by what it shows: queues of prizes and their laws."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any, Protocol

import numpy as np

from host_tools.par.exact_frames import Masks
from host_tools.par.exact_prizes import (
    COLLECTS,
    ONE,
    SURE,
    WON,
    ZERO,
    Law,
    Steps,
    chances,
    credits_of,
    either,
    grouped,
    joined,
    outcomes,
)
from host_tools.par.exact_spins import Split, Stops, split
from host_tools.par.features import Award
from host_tools.par.model import Prize, Sheet

Group = tuple[tuple[int, ...], Masks, int, int]  # cells in view by mask, places, boards, wins
READING = ("cells", "roll")  # openings that read the triggering window


@dataclass
class Whole:
    """A round of a mode. Credits, not bets."""

    mean: Fraction = ZERO
    square: Fraction = ZERO
    losing: Fraction = ZERO  # chance that nothing is won: no window win, nothing collected, no prize
    parts: dict[str, Fraction] = field(default_factory=lambda: defaultdict(lambda: ZERO))
    """Mean by cause."""
    often: dict[str, Fraction] = field(default_factory=lambda: defaultdict(lambda: ZERO))
    """Mean number a round of features, wheels, pots, modifiers and respins."""
    picks: dict[tuple[int, int], Award] = field(default_factory=dict)
    """By feature and trigger count, where the player has a choice."""

    @property
    def variance(self) -> Fraction:
        return self.square - self.mean**2


class Picks(Protocol):
    """What features award."""

    @property
    def sheet(self) -> Sheet: ...

    def pick(self, feature: int, count: int, policy: str, masks: Masks | None = None, spins: int = 0) -> Award: ...


class Windows:
    def __init__(self, game: Picks, mode: int, policy: str) -> None:
        self.picks, self.sheet, self.policy = game, game.sheet, policy
        self.number, self.mode = mode, game.sheet.modes[mode]
        self.steps = Steps(self.sheet, self.mode)
        self.result = Whole()
        self.readers = self._readers()
        places: list[frozenset[int]] = []
        for feature in self.readers:
            if self.sheet.features[feature].symbols not in places:
                places.append(self.sheet.features[feature].symbols)
        self.places = tuple(places)
        self.law = cache(self._law)
        self.piles = cache(self._piles)
        self.chances = cache(lambda table: list(chances(self.sheet, table)))

    def _readers(self) -> list[int]:
        """Features of this mode that read the triggering window."""
        prizes = [prize for step in self.steps.of("pile") for _, prize in chances(self.sheet, step.table or 0)]
        prizes += [prize for _, won in self.sheet.awards(self.number) for _, prize in outcomes(self.sheet, won)]
        found = sorted({prize.index for prize in prizes if prize.kind == "feature"})
        return [feature for feature in found if self.sheet.features[feature].opening in READING]

    # ------------------------------------------------------------------------------------------------- one window's Y

    def _prize(self, prize: Prize, count: int, masks: Masks) -> Law:
        """A prize won, by whether it collects. `masks`: of all places, one after another."""
        law: Law = {}
        for chance, won in outcomes(self.sheet, prize):
            key, mean, square = WON, Fraction(credits_of(self.sheet, won)), ZERO
            square = mean * mean
            # One spin of a feature's mode on its own: the spins that it adds are not in its figures.
            if won.kind in ("nothing", "spins"):
                key = 0
            if won.kind == "feature":
                award = self._award(won.index, count, masks)
                key = WON | (COLLECTS if self.sheet.features[won.index].collects else 0)
                mean, square = award.mean, award.square
            p, x, y = law.get(key, (ZERO, ZERO, ZERO))
            law[key] = (p + chance, x + chance * mean, y + chance * square)
        return law

    def _award(self, feature: int, count: int, masks: Masks) -> Award:
        entry = self.sheet.features[feature]
        own: Masks | None = None
        if entry.opening in READING:
            first = self.places.index(entry.symbols) * self.sheet.reels
            own = masks[first : first + self.sheet.reels]
        award = self.picks.pick(feature, count, self.policy, own)
        if len(entry.options_for(count)) > 1:
            self.result.picks[feature, max(min(entry.options), min(count, max(entry.options)))] = award
        return award

    def _pile(self, table: int, masks: Masks) -> Law:
        law: Law = {}
        for chance, prize in self.chances(table):
            for key, moments in self._prize(prize, 0, masks).items():
                have = law.get(key, (ZERO, ZERO, ZERO))
                law[key] = tuple(a + chance * b for a, b in zip(have, moments, strict=True))  # type: ignore[assignment]
        return law

    def _piles(self, table: int, cells: int, masks: Masks) -> Law:
        """So many draws of a pile's table."""
        if not cells:
            return SURE
        return joined(self.piles(table, cells - 1, masks), self._pile(table, masks), either)

    def _law(self, piles: tuple[tuple[int, int], ...], won: tuple[tuple[Prize, int], ...], masks: Masks) -> Law:
        law = SURE
        for table, cells in piles:
            rows = [prize for _, prize in self.chances(table)]
            law = joined(law, self.piles(table, cells, self._seen_by(rows, masks)), either)
        for prize, count in won:
            law = joined(law, self._prize(prize, count, masks), either)
        return law

    def _reads(self, prizes: Sequence[Prize]) -> list[bool]:
        """By place set: whether a feature among these prizes (wheels spun) reads it."""
        final = [won for prize in prizes for _, won in outcomes(self.sheet, prize) if won.kind == "feature"]
        read = [self.sheet.features[won.index] for won in final]
        return [any(f.opening in READING and f.symbols == symbols for f in read) for symbols in self.places]

    def _seen_by(self, prizes: Sequence[Prize], masks: Masks) -> Masks:
        """The masks with those that no feature among these prizes reads left out."""
        reels = self.sheet.reels
        read = self._reads(prizes)
        return tuple(mask if read[place // reels] else 0 for place, mask in enumerate(masks))

    def causes(self, shown: tuple[int, ...], masks: Masks, held: tuple[int, ...] = ()) -> tuple[Any, ...]:
        """What a window gives: piles as (table, cells), awards, and the masks where they matter."""
        piles = tuple(
            (
                step.table or 0,
                self.steps.seen(shown, step.symbols) - (self.steps.seen(held, step.symbols) if held else 0),
            )
            for step in self.steps.of("pile")
        )
        won = tuple(self.steps.awarded(shown))
        if not any(masks):
            return piles, won, masks
        prizes = [prize for prize, _ in won]
        for table, cells in piles:
            prizes += [prize for _, prize in self.chances(table)] if cells else []
        return piles, won, self._seen_by(prizes, masks)

    def given(self, shown: tuple[int, ...], causes: tuple[Any, ...]) -> tuple[Fraction, Fraction, Fraction]:
        """E[Y], E[Y^2] and the chance that no prize was won."""
        law = self.law(*causes)
        value, spread = self.steps.values(shown)
        collected = self.steps.collected(shown)
        mean, square = ZERO, ZERO
        for key, (p, x, y) in law.items():
            if collected or key & COLLECTS:
                mean += x + p * value
                square += y + 2 * x * value + p * (value * value + spread)
            else:
                mean, square = mean + x, square + y
        return mean, square, law.get(0, (ZERO, ZERO, ZERO))[0]

    def tell(self, chance: Fraction, shown: tuple[int, ...], causes: tuple[Any, ...]) -> None:
        """Adds what this window gives to the means by cause."""
        parts = self.result.parts
        piles, won, masks = causes
        value = self.steps.values(shown)[0]
        if self.steps.collected(shown):
            parts["collected values"] += chance * value
        else:
            law = self.law(*causes)
            parts["values at a feature's start"] += (
                chance * value * sum((p for k, (p, _, _) in law.items() if k & COLLECTS), ZERO)
            )
        for table, cells in piles:
            entry = self.sheet.tables[table]
            for row in entry.rows if cells else ():
                self._tell_prize(chance * cells * Fraction(row.weight, entry.weight), row.prize, 0, masks, "pile: ")
        for prize, count in won:
            self._tell_prize(chance, prize, count, masks, "")

    def _tell_prize(self, chance: Fraction, prize: Prize, count: int, masks: Masks, by: str) -> None:
        parts, often = self.result.parts, self.result.often
        if prize.kind == "wheel":
            often[f"{by}wheel {self.sheet.tables[prize.index].id}"] += chance
        for share, final in outcomes(self.sheet, prize):
            if final.kind == "pot":
                often[f"pot {self.sheet.pots[final.index].id}"] += chance * share
                parts[f"pot {self.sheet.pots[final.index].id}"] += chance * share * credits_of(self.sheet, final)
            elif final.kind == "credits":
                parts["prizes"] += chance * share * final.number
            elif final.kind == "feature":
                name = f"feature {self.sheet.features[final.index].id}"
                often[name] += chance * share
                for cause, mean in self._award(final.index, count, masks).parts.items():
                    parts[f"{name}, {cause}"] += chance * share * mean

    def groups(self, stops: Stops | None = None) -> tuple[Split, Iterator[Group]]:
        """The split, and its groups: counts, masks (0 where no prize can be won), boards, wins."""
        table = split(self.sheet, self.mode, self.steps.watch(self.places), stops)
        can = [np.zeros(len(table.boards), dtype=bool) for _ in self.places]
        for step in (*self.steps.of("pile"), *self.steps.of("award")):
            count = table.counts[self.steps.masks.index(step.symbols)]
            won = count > 0 if step.op == "pile" else (count >= step.least) & (count <= step.most)
            for place, read in enumerate(self._reads([prize for _, prize in self.chances(step.table or 0)])):
                can[place] |= won & read
        flat = [np.where(can[place], array, 0) for place, reels in enumerate(table.places) for array in reels]
        width = len(self.steps.masks)
        rows = grouped(table, [*table.counts, *flat])
        return table, ((key[:width], key[width:], boards, wins) for key, boards, wins in rows)

    def no_prize(self, shown: tuple[int, ...], held: tuple[int, ...] = ()) -> Fraction:
        piles, won, _ = self.causes(shown, (0,) * self.sheet.reels * len(self.places), held)
        if won:
            # An award is a prize, unless its wheel gives nothing.
            return prod((self._nothing(prize) for prize, _ in won), start=self.no_pile(piles))
        return self.no_pile(piles)

    def no_pile(self, piles: tuple[tuple[int, int], ...]) -> Fraction:
        result = ONE
        for table, cells in piles:
            nothing = sum((chance for chance, prize in chances(self.sheet, table) if prize.kind == "nothing"), ZERO)
            result *= nothing**cells
        return result

    def _nothing(self, prize: Prize) -> Fraction:
        return sum((chance for chance, won in outcomes(self.sheet, prize) if won.kind == "nothing"), ZERO)

"""Exact mean, mean square and hit frequency of a whole round, and where the return comes from.

A round's award is W + Y: W the line, ways and scatter wins of the window, Y what the steps give. Given what the window shows
(cells in view of each mask and, where a feature reads them, their places) W and Y are independent, so

    E[A] = E[W] + E[Y]        E[A^2] = E[W^2] + 2 E[W E[Y | shown]] + E[E[Y^2 | shown]]

E[W; shown] comes from `exact_spins`, E[W^2] from the enumeration, E[Y | shown] from the laws of piles, awards and features.
A modifier mixes in its boards. A respin adds a second window; given the reels that are held, both windows are independent.
The gamble is not in it (it is fair: `exact_gamble`), nor is the win cap (its effect is shown by the simulation).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from host_tools.par.exact_boards import distribution
from host_tools.par.exact_frames import Frames, Masks
from host_tools.par.exact_prizes import (
    ONE,
    ZERO,
    NotExact,
    chances,
)
from host_tools.par.exact_spins import Split, Stops, all_stops, window, window_wins
from host_tools.par.exact_ways import ways_squares
from host_tools.par.exact_window import Group, Whole, Windows
from host_tools.par.features import Award, awards, spin_law
from host_tools.par.model import Feature, Option, Sheet

Squares = Callable[[int], int]  # mode -> sum of squared window wins over its boards, credits squared


class Game:
    """All exact figures of a sheet's features, worked out when they are asked for and kept."""

    def __init__(self, sheet: Sheet, squares: Squares | None = None) -> None:
        self.sheet = sheet
        self.squares = squares or cache(self._squares)
        self._laws = cache(self._law)
        self.awards = cache(self._awards)

    def _squares(self, mode: int) -> int:
        entry = self.sheet.modes[mode]
        if entry.evaluation == "ways" and not (entry.scatter_pays and self.sheet.scatter_pays):
            return ways_squares(self.sheet, entry)
        return distribution(self.sheet, entry).squares

    def _law(self, feature: int) -> Any:
        entry = self.sheet.features[feature]
        return spin_law(self.sheet, entry, self.squares(entry.mode))

    def _has_frames(self, entry: Feature) -> bool:
        return entry.opening != "none" or bool(self.sheet.modes[entry.mode].steps_of("frames"))

    @cache  # noqa: B019 - a Game lives as long as its figures are wanted
    def _frames(self, feature: int, option: Option) -> Frames:
        entry = self.sheet.features[feature]
        return Frames(self.sheet, entry, option, self.squares(entry.mode))

    def _awards(self, feature: int, count: int, masks: Masks | None = None, spins: int = 0) -> tuple[Award, ...]:
        """What each option of a feature awards. `spins` other than 0: instead of the options' own."""
        entry = self.sheet.features[feature]
        options = entry.options_for(count)
        if spins:
            options = tuple(Option(spins, option.multiplier) for option in options)
        if self._has_frames(entry):
            return tuple(self._frames(feature, option).award(masks) for option in options)
        return awards(self.sheet, entry, self._laws(feature), options)

    def pick(self, feature: int, count: int, policy: str, masks: Masks | None = None, spins: int = 0) -> Award:
        """The option with the best or worst mean; ties by the multiplier."""
        choose = max if policy == "best" else min
        return choose(self.awards(feature, count, masks, spins), key=lambda a: (a.mean, a.option.multiplier))

    def value_micro(self, feature: int, spins: int = 0) -> int:
        """What a feature that begins without a window wins on average, millionths of a credit: for gamble rows."""
        return round(1_000_000 * self.pick(feature, 0, "best", None, spins).mean)

    def whole(self, mode: int, policy: str) -> Whole:
        return _Round(self, mode, policy).run()


class _Round(Windows):
    def __init__(self, game: Game, mode: int, policy: str) -> None:
        super().__init__(game, mode, policy)
        self.game = game

    def run(self) -> Whole:
        if self.steps.of("respin") and self.steps.of("values"):
            raise NotExact("a respin together with values")
        plain = ONE
        for step in self.steps.of("modifier"):
            for chance, prize in chances(self.sheet, step.table or 0):
                if prize.kind == "boards":
                    plain -= chance
                    self._boards(chance, self.sheet.groups[prize.index].boards, self.sheet.groups[prize.index].id)
        self._drawn(plain)
        for name in [name for name, value in self.result.parts.items() if not value]:
            del self.result.parts[name]
        return self.result

    def _drawn(self, share: Fraction) -> None:
        """Windows of drawn stops, of a chance of `share`."""
        table, groups = self.groups()
        result, unit = self.result, share / table.total
        for symbol, credits in table.by_symbol.items():
            result.parts[f"{self.mode.evaluation} {self.sheet.symbols[symbol].id}"] += unit * credits
        result.parts["scatter pays"] += unit * table.scatter_credits
        result.mean += unit * table.credits
        result.square += unit * self.game.squares(self.number)
        mean, square = self._steps_of(groups, (), unit)
        result.mean += unit * mean
        result.square += unit * square
        respins = self.steps.of("respin")
        losing = distribution(self.sheet, self.mode, self.steps.masks, losing_only=True).outcomes
        for (_, shown), boards in losing.items():
            if not self.steps.collected(shown) and not (respins and self._respins(shown)):
                result.losing += unit * boards * self.no_prize(shown)
        if respins:
            for held in self._held():
                self._respin(
                    unit, held, [self._without(reel) if stops is None else stops for reel, stops in enumerate(held)]
                )

    def _steps_of(self, groups: Iterator[Group], held: tuple[int, ...], unit: Fraction) -> tuple[Fraction, Fraction]:
        """Sums over windows of Y and of 2 W Y + Y^2; told as so many times `unit`."""
        merged: dict[Any, list[Any]] = {}
        for shown, masks, boards, wins in groups:
            causes = self.causes(shown, masks, held)
            values = tuple(self.steps.seen(shown, step.symbols) for step in self.steps.of("values"))
            row = merged.setdefault((causes, values, self.steps.collected(shown)), [shown, 0, 0])
            row[1] += boards
            row[2] += wins
        mean, square = ZERO, ZERO
        for (causes, _, _), (shown, boards, wins) in merged.items():
            y, yy, _ = self.given(shown, causes)
            mean += boards * y
            square += 2 * wins * y + boards * yy
            self.tell(unit * boards, shown, causes)
        return mean, square

    def _boards(self, share: Fraction, boards: Sequence[Sequence[int]], name: str) -> None:
        """A modifier's boards, each as likely."""
        self.result.often[f"modifier {name}"] += share
        unit = share / len(boards)
        strips = self.sheet.sets[self.mode.set].reels
        for stops in boards:
            columns = [window(strip, stop, self.sheet.rows) for strip, stop in zip(strips, stops, strict=True)]
            shown = tuple(sum(cell in mask for column in columns for cell in column) for mask in self.steps.masks)
            masks = tuple(
                sum((cell in symbols) << row for row, cell in enumerate(column))
                for symbols in self.places
                for column in columns
            )
            won = window_wins(self.sheet, self.mode, columns)
            causes = self.causes(shown, masks)
            mean, square, quiet = self.given(shown, causes)
            result = self.result
            result.parts[f"modifier {name}"] += unit * won
            result.mean += unit * (won + mean)
            result.square += unit * (won * won + 2 * won * mean + square)
            self.tell(unit, shown, causes)
            fixed: list[Sequence[int]] = [[stop] for stop in stops]
            if self._respins(shown):
                symbols = self.steps.of("respin")[0].symbols
                held = [
                    [stop] if any(cell in symbols for cell in column) else None
                    for stop, column in zip(stops, columns, strict=True)
                ]
                self._respin(unit, held, fixed)
            elif not won and not self.steps.collected(shown):
                result.losing += unit * quiet

    # --------------------------------------------------------------------------------------------------------- respin

    def _respins(self, shown: tuple[int, ...]) -> bool:
        """Whether the window respins unless a pile gives a prize."""
        steps = self.steps.of("respin")
        return (
            bool(steps) and self.steps.seen(shown, steps[0].symbols) == steps[0].least and not self.steps.awarded(shown)
        )

    def _cells(self, reel: int, stop: int) -> int:
        symbols = self.steps.of("respin")[0].symbols
        return sum(
            cell in symbols for cell in window(self.sheet.sets[self.mode.set].reels[reel], stop, self.sheet.rows)
        )

    def _without(self, reel: int) -> list[int]:
        """Stops of a reel that show none of the symbols that hold it."""
        return [stop for stop in range(len(self.sheet.sets[self.mode.set].reels[reel])) if not self._cells(reel, stop)]

    def _held(self) -> Iterator[list[list[int] | None]]:
        """All ways to hold reels: one stop for a held reel, None for a free one."""
        least = self.steps.of("respin")[0].least
        reels = range(self.sheet.reels)
        by_cells = [defaultdict[int, list[int]](list) for _ in reels]
        for reel in reels:
            for stop in range(len(self.sheet.sets[self.mode.set].reels[reel])):
                by_cells[reel][self._cells(reel, stop)].append(stop)
        for counts in product(range(least + 1), repeat=self.sheet.reels):
            if sum(counts) == least:
                places = [by_cells[reel][count] if count else [-1] for reel, count in enumerate(counts)]
                for stops in product(*places):
                    yield [None if stop < 0 else [stop] for stop in stops]

    def _respin(self, unit: Fraction, held: Sequence[Sequence[int] | None], first: Stops) -> None:
        """`unit`: chance of one first window; `first`: the stops that the first window has, with these reels held."""
        if not all(map(len, first)):
            return
        result = self.result
        every = all_stops(self.sheet.sets[self.mode.set].reels)
        second = [free if stops is None else stops for stops, free in zip(held, every, strict=True)]
        shown_held = self._shown_held(held)
        boards_first, wins_first = ZERO, ZERO
        _, groups = self.groups(first)
        for shown, _, boards, wins in groups:
            if self._respins(shown):
                quiet = self.no_prize(shown)
                boards_first, wins_first = boards_first + boards * quiet, wins_first + wins * quiet
        if not boards_first:
            return
        table, groups = self.groups(second)
        chance = unit * boards_first
        part = chance / table.total
        mean, square = Fraction(table.credits), Fraction(self._squares_of(second, table))
        y, more = self._steps_of(groups, shown_held, part)
        mean, square = mean + y, square + more
        result.often["respin"] += chance
        result.parts["respin, wins"] += part * table.credits
        result.mean += part * mean
        result.square += (2 * unit * wins_first * mean + chance * square) / table.total
        self._respin_loses(unit / table.total, first, second, shown_held)

    def _shown_held(self, held: Sequence[Sequence[int] | None]) -> tuple[int, ...]:
        strips = self.sheet.sets[self.mode.set].reels
        columns = [
            window(strip, stops[0], self.sheet.rows)
            for strip, stops in zip(strips, held, strict=True)
            if stops is not None
        ]
        return tuple(sum(cell in mask for column in columns for cell in column) for mask in self.steps.masks)

    def _squares_of(self, stops: Stops, table: Split) -> int:
        if self.mode.evaluation == "ways" and not table.scatter_credits:
            return ways_squares(self.sheet, self.mode, stops)
        return distribution(self.sheet, self.mode, (), stops).squares

    def _respin_loses(self, unit: Fraction, first: Stops, second: Stops, held: tuple[int, ...]) -> None:
        lost, after = ZERO, ZERO
        for (_, shown), boards in distribution(self.sheet, self.mode, self.steps.masks, first, True).outcomes.items():
            if self._respins(shown):
                lost += boards * self.no_prize(shown)
        if lost:
            for (_, shown), boards in distribution(
                self.sheet, self.mode, self.steps.masks, second, True
            ).outcomes.items():
                after += boards * self.no_prize(shown, held)
        self.result.losing += unit * lost * after

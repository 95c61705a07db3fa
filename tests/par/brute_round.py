"""A round's full distribution of awards, by following every draw: slow, obvious, straight from native/MECHANICS.md.

For tiny games only. Nothing is shared with host_tools/par but the sheet's dataclasses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

from host_tools.par.model import Feature, Mode, Option, Prize, Sheet

Dist = dict[int, Fraction]
Window = tuple[tuple[int, ...], ...]
ONE = Fraction(1)


def mix(parts: Iterator[tuple[Fraction, Dist]]) -> Dist:
    total: Counter[int] = Counter()
    for chance, dist in parts:
        for win, p in dist.items():
            total[win] += chance * p  # type: ignore[assignment]
    return dict(total)


def plus(left: Dist, right: Dist) -> Dist:
    return mix((p, {win + more: q for more, q in right.items()}) for win, p in left.items())


def draws(sheet: Sheet, table: int) -> list[tuple[Fraction, Prize]]:
    entry = sheet.tables[table]
    return [(Fraction(row.weight, entry.weight), row.prize) for row in entry.rows]


def count(window: Window, symbols: frozenset[int]) -> int:
    return sum(cell in symbols for column in window for cell in column)


def windows(sheet: Sheet, mode: Mode) -> list[tuple[tuple[int, ...], Window]]:
    strips = sheet.sets[mode.set].reels
    return [(stops, show(sheet, mode, stops)) for stops in product(*(range(len(strip)) for strip in strips))]


def show(sheet: Sheet, mode: Mode, stops: Sequence[int]) -> Window:
    strips = sheet.sets[mode.set].reels
    return tuple(
        tuple(strip[(stop + row) % len(strip)] for row in range(sheet.rows))
        for strip, stop in zip(strips, stops, strict=True)
    )


def wins(sheet: Sheet, mode: Mode, window: Window) -> int:
    won = 0
    if mode.evaluation == "ways":
        for symbol, pays in enumerate(sheet.pays):
            stands = [
                [cell for cell in column if cell == symbol or symbol in sheet.symbols[cell].substitutes]
                for column in window
            ]
            run = next((reel for reel, cells in enumerate(stands) if not cells), sheet.reels)
            for way in product(*stands[:run]) if run else ():
                if sheet.needs_natural and not any(symbol in column for column in stands[:run]):
                    continue
                factors = [sheet.symbols[cell].multiplier for cell in way if cell != symbol]
                factor = max(factors, default=1)
                if sheet.wild_rule == "product":
                    factor = 1
                    for each in factors:
                        factor *= each
                won += pays[run - 1] * factor
    else:
        from .helpers import read_line

        for line in sheet.lines:
            won += read_line(sheet, [window[reel][row] for reel, row in enumerate(line)])[0]
    if mode.scatter_pays:
        for scatter in sheet.scatter_pays:
            cells = sum(
                cell == scatter or scatter in sheet.symbols[cell].substitutes for column in window for cell in column
            )
            won += mode.cost * sheet.scatter_pay(scatter, cells)
    return won


Pick = Callable[[Sequence[Dist]], int]


class Brute:
    def __init__(self, sheet: Sheet, pick: Pick) -> None:
        self.sheet, self.pick = sheet, pick
        self.features: dict[tuple, Dist] = {}

    def round(self, mode_number: int) -> Dist:
        mode = self.sheet.modes[mode_number]
        every = windows(self.sheet, mode)
        modifier = next((step for step in mode.steps if step.op == "modifier"), None)
        starts: list[tuple[Fraction, tuple[int, ...], Window]] = []
        plain = ONE
        for chance, prize in draws(self.sheet, modifier.table) if modifier and modifier.table is not None else ():
            if prize.kind == "boards":
                plain -= chance
                boards = self.sheet.groups[prize.index].boards
                starts += [(chance / len(boards), stops, show(self.sheet, mode, stops)) for stops in boards]
        starts += [(plain / len(every), stops, window) for stops, window in every]
        return mix((chance, self.spin(mode, stops, window, frozenset(), False)) for chance, stops, window in starts)

    def values(self, mode: Mode, window: Window) -> list[tuple[Fraction, int, int]]:
        """(chance, sum, number) of the values in view."""
        found = [(ONE, 0, 0)]
        for step in mode.steps:
            if step.op == "values":
                for _ in range(count(window, step.symbols)):
                    assert step.table is not None
                    found = [
                        (p * q, total + prize.number, number + 1)
                        for p, total, number in found
                        for q, prize in draws(self.sheet, step.table)
                    ]
        return found

    def spin(self, mode: Mode, stops: tuple[int, ...], window: Window, held: frozenset[int], again: bool) -> Dist:
        """A base spin from its window on."""
        total: list[tuple[Fraction, Dist]] = []
        for chance, value, number in self.values(mode, window):
            won = wins(self.sheet, mode, window)
            collected = bool(number) and any(s.op == "collect" and count(window, s.symbols) for s in mode.steps)
            won += value if collected else 0
            queues: list[tuple[Fraction, tuple[tuple[Prize, int], ...]]] = [(ONE, ())]
            for step in mode.steps:
                if step.op == "pile":
                    assert step.table is not None
                    fresh = tuple(column for reel, column in enumerate(window) if reel not in held)
                    for _ in range(count(fresh, step.symbols)):
                        queues = [
                            (p * q, queue if prize.kind == "nothing" else (*queue, (prize, 0)))
                            for p, queue in queues
                            for q, prize in draws(self.sheet, step.table)
                        ]
                if step.op == "award":
                    assert step.table is not None
                    seen = count(window, step.symbols)
                    if step.least <= seen <= step.most and (not step.needed or count(window, step.needed)):
                        prize = self.sheet.tables[step.table].rows[0].prize
                        queues = [(p, (*queue, (prize, seen))) for p, queue in queues]
            respin = next((step for step in mode.steps if step.op == "respin"), None)
            for p, queue in queues:
                if respin and not queue and not again and count(window, respin.symbols) == respin.least:
                    keep = frozenset(r for r, column in enumerate(window) if count((column,), respin.symbols))
                    same = [
                        (other, shown)
                        for other, shown in windows(self.sheet, mode)
                        if all(other[reel] == stops[reel] for reel in keep)
                    ]
                    follow = mix((Fraction(1, len(same)), self.spin(mode, o, w, keep, True)) for o, w in same)
                else:
                    follow = self.queue(window, queue, 0 if collected else value)
                total.append((chance * p, plus({won: ONE}, follow)))
        return mix(iter(total))

    def queue(self, window: Window, queue: tuple[tuple[Prize, int], ...], value: int) -> Dist:
        if not queue:
            return {0: ONE}
        (prize, seen), rest = queue[0], queue[1:]
        if prize.kind == "wheel":
            return mix(
                (chance, self.queue(window, ((won, seen), *rest), value))
                for chance, won in draws(self.sheet, prize.index)
            )
        won = {0: ONE}
        if prize.kind == "credits":
            won = {prize.number: ONE}
        if prize.kind == "pot":
            won = {self.sheet.pots[prize.index].credits: ONE}
        if prize.kind == "feature":
            feature = self.sheet.features[prize.index]
            won = self.feature(feature, seen, window)
            if feature.collects:
                won, value = plus(won, {value: ONE}), 0
        return plus(won, self.queue(window, rest, value))

    def feature(self, feature: Feature, seen: int, window: Window | None) -> Dist:
        offered = [self.played(feature, option, window) for option in feature.options_for(seen)]
        return offered[self.pick(offered)]

    def openings(self, feature: Feature, window: Window | None) -> list[tuple[Fraction, tuple[int, ...]]]:
        rows, reels = self.sheet.rows, self.sheet.reels
        bare = [0] * (reels * rows)
        if feature.opening == "none":
            return [(ONE, tuple(bare))]
        found = []
        if feature.opening == "shape":
            assert feature.shapes is not None
            for chance, prize in draws(self.sheet, feature.shapes):
                width, height = prize.number % 256, prize.number // 256
                places = (reels - width + 1) * (rows - height + 1)
                for place in range(places):
                    left, top = divmod(place, rows - height + 1)
                    frames = list(bare)
                    for reel in range(left, left + width):
                        for row in range(top, top + height):
                            frames[reel * rows + row] = feature.level
                    found.append((chance / places, tuple(frames)))
            return found
        assert window is not None
        for reel in range(reels):
            for row in range(rows):
                if window[reel][row] in feature.symbols:
                    if feature.opening == "cells":
                        bare[reel * rows + row] = feature.level
                    else:
                        for right in range(reel, reels):
                            bare[right * rows + row] = min(3, bare[right * rows + row] + 1)
        return [(ONE, tuple(bare))]

    def played(self, feature: Feature, option: Option, window: Window | None) -> Dist:
        """All spins of a feature: states are (spins left, played, frames, matrix, won)."""
        mode = self.sheet.modes[feature.mode]
        every = windows(self.sheet, mode)
        states: dict[tuple, Fraction] = {
            (option.spins, 0, frames, (0,) * len(self.sheet.pots), 0): chance
            for chance, frames in self.openings(feature, window)
        }
        done: Counter[int] = Counter()
        steps: dict[tuple, list] = {}
        while states:
            onward: Counter[tuple] = Counter()
            for (left, spins, frames, matrix, won), chance in states.items():
                if not left:
                    for win, p in self.bowls(feature, frames).items():
                        done[won + win] += chance * p  # type: ignore[assignment]
                    continue
                key = (frames, matrix)
                if key not in steps:
                    outcomes: Counter[tuple] = Counter()
                    for _, shown in every:
                        for p, *after in self.free_spin(feature, option, mode, shown, frames, matrix):
                            outcomes[tuple(after)] += p / len(every)
                    steps[key] = list(outcomes.items())
                for (added, frames_after, matrix_after, more), p in steps[key]:
                    granted = min(left - 1 + added, feature.max_spins - spins - 1)
                    onward[granted, spins + 1, frames_after, matrix_after, won + more] += chance * p
            states = dict(onward)
        return dict(done)

    def bowls(self, feature: Feature, frames: tuple[int, ...]) -> Dist:
        total: Dist = {0: ONE}
        for level in frames:
            table = feature.bowls[level - 1] if level else None
            if table is not None:
                one: Counter[int] = Counter()
                for chance, prize in draws(self.sheet, table):
                    pot = prize.kind == "pot"
                    one[self.sheet.pots[prize.index].credits if pot else prize.number] += chance  # type: ignore
                total = plus(total, dict(one))
        return total

    def free_spin(
        self,
        feature: Feature,
        option: Option,
        mode: Mode,
        window: Window,
        frames: tuple[int, ...],
        matrix: tuple[int, ...],
    ) -> list[tuple]:
        """(chance, added, frames, matrix, won) behind one free spin."""
        cells = [cell for column in window for cell in column]
        found: list[tuple] = []
        for p, value, number in self.values(mode, window):
            won = option.multiplier * wins(self.sheet, mode, window)
            if number and any(step.op == "collect" and count(window, step.symbols) for step in mode.steps):
                won += value
            found.append((p, 0, frames, matrix, won))
        later: list[tuple] = []
        for step in mode.steps:
            seen = count(window, step.symbols)
            if step.op == "add_spins":
                found = [(p, a + seen * step.least, f, m, w) for p, a, f, m, w in found]
            if step.op == "frames":
                found = [(p, a, *self.framed(step, cells, f, w), m) for p, a, f, m, w in found]
                found = [(p, a, f, m, w) for p, a, f, w, m in found]
            if step.op == "tokens":
                for _ in range(seen):
                    found = [
                        (p * q, a, f, *self.token(m, prize.index, w))
                        for p, a, f, m, w in found
                        for q, prize in draws(self.sheet, step.table or 0)
                    ]
            if step.op == "pile":
                later += [draws(self.sheet, step.table or 0)] * seen
            enough = step.op == "award" and step.least <= seen <= step.most
            if enough and (not step.needed or count(window, step.needed)):
                later.append(draws(self.sheet, step.table or 0))
        for rows in later:
            found = [
                (p * q, *self.gained(prize, a, f, m, w)) for p, a, f, m, w in found for q, prize in self.spun(rows)
            ]
        return found

    def spun(self, rows: list[tuple[Fraction, Prize]]) -> list[tuple[Fraction, Prize]]:
        return [
            (p * q, won)
            for p, prize in rows
            for q, won in (draws(self.sheet, prize.index) if prize.kind == "wheel" else [(ONE, prize)])
        ]

    def gained(self, prize: Prize, added: int, frames: tuple, matrix: tuple, won: int) -> tuple:
        if prize.kind == "credits":
            won += prize.number
        if prize.kind == "pot":
            won += self.sheet.pots[prize.index].credits
        if prize.kind == "spins":
            added += prize.number
        return added, frames, matrix, won

    def framed(self, step, cells: list[int], frames: tuple[int, ...], won: int) -> tuple[tuple[int, ...], int]:
        after = list(frames)
        for cell, shown in enumerate(cells):
            if shown in step.symbols:
                if step.rule == "raise":
                    after[cell] = min(3, after[cell] + 1)
                elif not after[cell]:
                    after[cell] = 3
                elif 0 in after:
                    after[after.index(0)] = 3
                else:
                    won += step.credits
        return tuple(after), won

    def token(self, matrix: tuple[int, ...], pot: int, won: int) -> tuple[tuple[int, ...], int]:
        after = list(matrix)
        after[pot] += 1
        if after[pot] == self.sheet.pots[pot].tokens:
            return (0,) * len(matrix), won + self.sheet.pots[pot].credits
        return tuple(after), won

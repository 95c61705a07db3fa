"""A round of version 2, told in the order of native/MECHANICS.md, with the same API as the core's Round.

The story is one generator: it hands out events and stops where the player has to answer. Amounts are Python integers, so
nothing saturates but where the page says it.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from tests.native import oracle
from tests.native import oracle_pack as pack
from tests.native.oracle_pack import Feature, Game, Prize, Step

Event = tuple[int, int, int, int, int, int]
SPIN, LINE_WIN, WAYS_WIN, SCATTER_WIN, CHOICE, BEGIN, ADDED, END, WIN_CAP, ROUND_END = range(1, 11)
CHANCE, MODIFIED, RESPUN, VALUE, COLLECTED, PILED, WHEELED, PAID_POT, PRIZE, FRAME = range(11, 21)
SHAPED, BOWL, TOKEN, OFFER, GAMBLED = range(21, 26)
MOST_PILE = 65535


class Refused(Exception):
    """args[0] is the name that the core's error has."""


class Capped(Exception):
    pass


@dataclass
class Spin:
    """What one spin shows and what it has set going."""

    stops: list[int]
    window: oracle.Window
    rows: int
    held: int = 0
    values: dict[int, int] = field(default_factory=dict)  # cell → credits
    collected: bool = False
    queue: deque[tuple[Prize, int]] = field(default_factory=deque)  # with its trigger count

    def cells(self, symbols: int) -> list[tuple[int, int]]:
        """(cell, symbol) of the cells that show one of the symbols, ascending."""
        flat = enumerate(symbol for column in self.window for symbol in column)
        return [(cell, symbol) for cell, symbol in flat if symbols >> symbol & 1]

    def landed(self, cell: int) -> bool:
        return not self.held >> cell // self.rows & 1


@dataclass
class Running:
    """The feature that runs."""

    number: int
    feature: Feature
    multiplier: int
    left: int
    played: int = 0


class Round:
    def __init__(
        self,
        game: Game,
        mode: int,
        unit_pence: int,
        seed: bytes,
        wager_pence: int = 0,
        gamble: bool = False,
        pile: int = 0,
    ) -> None:
        if mode >= len(game.modes) or not game.modes[mode].flags & pack.SELECTABLE:
            raise Refused("mode")
        if not 1 <= unit_pence <= game.max_unit:
            raise Refused("unit")
        self.bet = game.modes[mode].cost * unit_pence
        if wager_pence and not (game.spin_chance and wager_pence < self.bet):
            raise Refused("wager")
        if not 0 <= pile <= MOST_PILE:
            raise Refused("argument")
        self.game, self.mode, self.unit, self.wager, self.pile = game, mode, unit_pence, wager_pence, pile
        self.may_gamble = gamble and game.gamble is not None
        self.words = oracle.stream(seed)
        self.winnings = self.banked = 0
        self.offer = 0
        self.finished = False
        self.spin: Spin | None = None
        self.running: Running | None = None
        self.levels = [0] * (game.reels * game.rows)
        self.places = [0] * len(game.pots)
        self.due: list[tuple[int, int]] = []  # the options of a choice
        self.chosen = 0
        self.only_cash = False
        self.gambled: tuple[int, int] | None = None  # row and pence of the answer to an offer
        self.story = self._round()

    # ----------------------------------------------------------------------------------------------------- what a player sees

    def next(self) -> Event:
        if self.finished:
            raise Refused("round_over")
        if self.due or self.offer:
            raise Refused("choice_due")
        event = next(self.story)
        self.finished = event[0] == ROUND_END
        return event

    def options(self) -> tuple[tuple[int, int], ...]:
        return tuple(self.due)

    def choose(self, option: int) -> None:
        if not self.due:
            raise Refused("no_choice")
        if option >= len(self.due):
            raise Refused("option")
        self.chosen, self.due = option, []

    def collect(self) -> None:
        if not self.offer:
            raise Refused("no_offer")
        self.offer = 0

    def gamble(self, row: int, pence: int) -> None:
        if not self.offer:
            raise Refused("no_offer")
        if row >= len(self.game.gamble.rows) or (self.only_cash and self.game.gamble.rows[row].kind != pack.CASH):
            raise Refused("gamble_row")
        amount = self._staked(row, pence) if 1 <= pence <= self.winnings else 0
        if not amount:
            raise Refused("gamble_amount")
        self.gambled, self.offer = (row, amount), 0

    def stops(self) -> tuple[int, ...]:
        return tuple(self.spin.stops) if self.spin else ()

    def window(self) -> bytes:
        return bytes(symbol for column in self.spin.window for symbol in column) if self.spin else b""

    def frames(self) -> bytes:
        return bytes(self.levels)

    def matrix(self) -> bytes:
        return bytes(self.places)

    def values(self) -> tuple[int, ...]:
        values = self.spin.values if self.spin else {}
        return tuple(values.get(cell, 0) for cell in range(len(self.levels)))

    @property
    def award_pence(self) -> int:
        return min(self.winnings + self.banked, self.game.cap)

    # ----------------------------------------------------------------------------------------------------------------- draws

    def _draw(self, range_: int) -> int:
        return oracle.draw(self.words, range_)

    def _row(self, table: int) -> tuple[int, Prize]:
        """(row number, row) of one draw."""
        rows = self.game.tables[table]
        value = self._draw(sum(row.weight for row in rows))
        for number, row in enumerate(rows):
            if value < row.weight:
                return number, row
            value -= row.weight
        raise AssertionError("a draw beyond the sum")

    # ----------------------------------------------------------------------------------------------------------------- round

    def _round(self) -> Iterator[Event]:
        try:
            yield from self._play()
        except Capped:
            over = self.winnings + self.banked - self.game.cap
            self.winnings -= over
            yield WIN_CAP, 0, 0, 0, 0, over
        yield ROUND_END, 0, 0, 0, 0, self.award_pence

    def _play(self) -> Iterator[Event]:
        if self.wager:
            won = self._draw(self.bet) < self.wager
            yield CHANCE, 0, 0, int(won), 0, self.wager
            if not won:
                return
        spin = yield from self._spin(self.mode)
        yield from self._queue(spin)
        yield from self._gambles()

    def _win(self, kind: int, index: int, symbol: int, count: int, multiplier: int, pence: int) -> Iterator[Event]:
        """Tells a win and adds it; the one that goes beyond the cap is the last."""
        self.winnings += pence
        yield kind, index, symbol, count, multiplier, pence
        if self.winnings + self.banked > self.game.cap:
            raise Capped

    def _spin(self, mode: int, before: Spin | None = None, held: int = 0) -> Iterator[Event]:
        """One spin and its steps; `before`: the spin whose held reels stay. Returns the spin that stands at last."""
        row, run = self.game.modes[mode], self.running
        stops = None
        if row.steps and row.steps[0].op == pack.MODIFIER and not before:
            _, prize = self._row(row.steps[0].index)
            if prize.kind == pack.BOARDS:
                boards = self.game.boards[prize.index].stops
                stops = list(boards[self._draw(len(boards))])
                yield MODIFIED, prize.index, 0, 0, 0, 0
        if stops is None:
            strips = self.game.sets[row.set]
            stops = [
                before.stops[reel] if before and held >> reel & 1 else self._draw(len(strip))
                for reel, strip in enumerate(strips)
            ]
        spin = self.spin = Spin(stops, oracle.window_at(self.game, row.set, stops), self.game.rows, held)
        yield SPIN, row.set, 0, run.left if run else 0, run.multiplier if run else 1, 0

        for step in row.steps:
            if step.op == pack.VALUES:
                for cell, symbol in spin.cells(step.symbols):
                    spin.values[cell] = self._row(step.index)[1].number
                    yield VALUE, cell, symbol, 0, 0, spin.values[cell] * self.unit
        yield from self._wins(spin, mode)
        for step in row.steps:
            if step.op == pack.RESPIN:
                if len(spin.cells(step.symbols)) == step.least and not spin.queue and not before:
                    held = sum(1 << reel for reel in {cell // self.game.rows for cell, _ in spin.cells(step.symbols)})
                    yield RESPUN, held, 0, 0, 0, 0
                    return (yield from self._spin(mode, spin, held))
            elif step.op not in (pack.MODIFIER, pack.VALUES):
                yield from self.STEPS[step.op](self, spin, step)
        return spin

    def _wins(self, spin: Spin, mode: int) -> Iterator[Event]:
        game, multiplier = self.game, self.running.multiplier if self.running else 1
        if game.modes[mode].evaluation == pack.WAYS:
            for symbol, run, ways, credits in oracle.way_wins(game, spin.window):
                yield from self._win(WAYS_WIN, 0, symbol, run, ways * multiplier, credits * self.unit * multiplier)
        else:
            for line, (credits, run, symbol, wild, _) in oracle.line_readings(game, spin.window):
                yield from self._win(LINE_WIN, line, symbol, run, wild * multiplier, credits * self.unit * multiplier)
        for scatter in game.scatters if game.modes[mode].flags & pack.SCATTER_PAYS else ():
            bets = oracle.scatter_bets(game, spin.window, scatter)
            if bets:
                in_view = oracle.in_view(game, spin.window, scatter)
                yield from self._win(SCATTER_WIN, 0, scatter, in_view, multiplier, bets * self.bet * multiplier)

    # ----------------------------------------------------------------------------------------------------------------- steps

    def _collect(self, spin: Spin, step: Step) -> Iterator[Event]:
        cells = spin.cells(step.symbols)
        if cells and spin.values and not spin.collected:
            yield from self._pay_values(spin, *cells[0])

    def _pay_values(self, spin: Spin, cell: int, symbol: int) -> Iterator[Event]:
        spin.collected = True
        pence = sum(spin.values.values()) * self.unit
        yield from self._win(COLLECTED, cell, symbol, len(spin.values), 0, pence)

    def _pile(self, spin: Spin, step: Step) -> Iterator[Event]:
        for cell, symbol in spin.cells(step.symbols):
            if spin.landed(cell):
                self.pile = min(self.pile + 1, MOST_PILE)
                _, prize = self._row(step.index)
                won, pile = prize.kind != pack.NOTHING, self.pile
                if won:
                    spin.queue.append((prize, 0))
                    self.pile = 0
                yield PILED, cell, symbol, pile, int(won), 0

    def _award(self, spin: Spin, step: Step) -> Iterator[Event]:
        count = len(spin.cells(step.symbols))
        if step.least <= count <= step.most and (not step.needed or spin.cells(step.needed)):
            spin.queue.append((self.game.tables[step.index][0], count))
        yield from ()

    def _frames(self, spin: Spin, step: Step) -> Iterator[Event]:
        for cell, _ in spin.cells(step.symbols):
            if step.index == 0:
                yield from self._raise(cell)
                continue
            bare = cell if not self.levels[cell] else self.levels.index(0) if 0 in self.levels else None
            if bare is None:
                yield from self._win(PRIZE, 0, 0, 0, 0, step.credits * self.unit)
            else:
                self.levels[bare] = 3
                yield FRAME, bare, 0, 3, 0, 0

    def _raise(self, cell: int) -> Iterator[Event]:
        if self.levels[cell] < 3:
            self.levels[cell] += 1
            yield FRAME, cell, 0, self.levels[cell], 0, 0

    def _add_spins(self, spin: Spin, step: Step) -> Iterator[Event]:
        cells = spin.cells(step.symbols)
        if cells:
            yield from self._more_spins(len(cells) * step.least, cells[0][1])

    def _more_spins(self, spins: int, symbol: int) -> Iterator[Event]:
        run = self.running
        spins = min(spins, run.feature.most - run.left - run.played)
        if spins > 0:
            run.left += spins
            yield ADDED, run.number, symbol, spins, 0, 0

    def _tokens(self, spin: Spin, step: Step) -> Iterator[Event]:
        for cell, symbol in spin.cells(step.symbols):
            pot = self._row(step.index)[1].index
            self.places[pot] += 1
            yield TOKEN, cell, symbol, self.places[pot], pot, 0
            if self.places[pot] == self.game.pots[pot].tokens:
                self.places = [0] * len(self.places)
                yield from self._win(PAID_POT, pot, 0, 0, 0, self.game.pots[pot].credits * self.unit)

    STEPS: ClassVar = {  # the op of a step → its story
        pack.COLLECT: _collect,
        pack.PILE: _pile,
        pack.AWARD: _award,
        pack.FRAMES: _frames,
        pack.ADD_SPINS: _add_spins,
        pack.TOKENS: _tokens,
    }

    # --------------------------------------------------------------------------------------------------- prizes and features

    def _queue(self, spin: Spin) -> Iterator[Event]:
        while spin.queue:
            prize, count = spin.queue.popleft()
            yield from self._prize(spin, prize, count)

    def _prize(self, spin: Spin, prize: Prize, count: int) -> Iterator[Event]:
        if prize.kind == pack.CREDITS:
            yield from self._win(PRIZE, 0, 0, 0, 0, prize.number * self.unit)
        elif prize.kind == pack.POT:
            yield from self._win(PAID_POT, prize.index, 0, 0, 0, self.game.pots[prize.index].credits * self.unit)
        elif prize.kind == pack.WHEEL:
            row, won = self._row(prize.index)
            yield WHEELED, prize.index, 0, row, 0, 0
            yield from self._prize(spin, won, 0)
        elif prize.kind == pack.FEATURE:
            yield from self._feature(prize.index, count, spin)
        elif prize.kind == pack.SPINS:
            yield from self._more_spins(prize.number, 0)

    def _feature(self, number: int, count: int, trigger: Spin | None, spins: int = 0) -> Iterator[Event]:
        """trigger: the spin whose window it begins from; spins: instead of the option's, if not 0."""
        feature = self.game.features[number]
        if feature.collects and trigger and trigger.values and not trigger.collected:
            yield from self._pay_values(trigger, pack.NONE, 0)
        options = feature.options[min(max(count, min(feature.options)), max(feature.options))]
        options = [(spins or own, multiplier) for own, multiplier in options]
        self.chosen = 0
        if len(options) > 1:
            self.due = options
            yield CHOICE, number, 0, len(options), 0, 0
        left, multiplier = options[self.chosen]
        before = self.winnings
        run = self.running = Running(number, feature, multiplier, left)
        self.places, self.levels = [0] * len(self.places), [0] * len(self.levels)
        yield BEGIN, number, 0, left, multiplier, 0
        yield from self._opening(feature, trigger)
        while run.left:
            run.left -= 1
            run.played += 1
            spin = yield from self._spin(feature.mode)
            yield from self._queue(spin)
        for cell, level in enumerate(self.levels):
            if level and feature.bowls[level - 1] != pack.NONE:
                _, prize = self._row(feature.bowls[level - 1])
                pot = prize.index if prize.kind == pack.POT else pack.NONE
                credits = prize.number if pot == pack.NONE else self.game.pots[pot].credits
                yield from self._win(BOWL, cell, pot, level, 0, credits * self.unit)
        self.running = None
        yield END, number, 0, run.played, multiplier, self.winnings - before

    def _opening(self, feature: Feature, trigger: Spin | None) -> Iterator[Event]:
        rows, cells = self.game.rows, trigger.cells(feature.symbols) if trigger else []
        if feature.opening == pack.OPEN_CELLS:
            for cell, _ in cells:
                self.levels[cell] = feature.level
        elif feature.opening == pack.OPEN_ROLL:
            for start, _ in cells:
                for cell in range(start, len(self.levels), rows):  # the same row on the reels to the right
                    self.levels[cell] = min(self.levels[cell] + 1, 3)
        elif feature.opening == pack.OPEN_SHAPE:
            _, prize = self._row(feature.index)
            assert prize.kind == pack.SHAPE
            width, height = prize.number % 256, prize.number // 256
            lefts, tops = self.game.reels - width + 1, rows - height + 1
            left, top = divmod(self._draw(lefts * tops), tops)
            for reel in range(left, left + width):
                for row in range(top, top + height):
                    self.levels[reel * rows + row] = feature.level
            yield SHAPED, left * rows + top, 0, prize.number, 0, 0
        for cell, level in enumerate(self.levels):
            if level:
                yield FRAME, cell, 0, level, 0, 0

    # ---------------------------------------------------------------------------------------------------------------- gamble

    def _staked(self, row: int, pence: int) -> int:
        """What is gambled of an amount on a row; the rest is banked."""
        gamble = self.game.gamble
        if gamble.rows[row].kind == pack.CASH:
            return pence - pence % gamble.rows[row].denominator
        return min(pence, gamble.rows[row].value_micro * self.unit // gamble.payback_ppm)

    def _gambles(self) -> Iterator[Event]:
        if not self.may_gamble:
            return
        gamble, taken, least = self.game.gamble, 0, self.game.gamble.offered_from * self.unit
        while max(least, 1) <= self.winnings <= gamble.limit * self.unit and taken < gamble.most:
            self.offer, self.gambled = self.winnings, None
            yield OFFER, taken, 0, 0, 0, self.winnings
            if self.gambled is None:
                return
            number, amount = self.gambled
            row, taken = gamble.rows[number], taken + 1
            self.banked += self.winnings - amount
            self.only_cash |= row.only_cash_after
            if row.kind == pack.CASH:
                green = self._draw(row.numerator * 1_000_000) < row.denominator * gamble.payback_ppm
                self.winnings = amount * row.numerator // row.denominator if green else 0
                least = 1
            else:
                green = oracle.draw_64(self.words, row.value_micro * self.unit) < amount * gamble.payback_ppm
                self.winnings = 0
                least = gamble.offered_from * self.unit
            yield GAMBLED, number, 0, int(green), 0, amount
            if self.winnings + self.banked > self.game.cap:
                raise Capped
            if row.kind != pack.CASH and green:
                yield from self._feature(row.feature, 0, None, row.spins)

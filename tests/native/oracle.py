"""What the C core should do, worked out the slow way from native/README.md: symbol by symbol, window by window."""

import contextlib
import itertools
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from tests.native.packs import NONE, PRODUCT, SCATTER_PAYS, SUM, Game

Event = tuple[int, int, int, int, int, int]
Window = list[list[int]]  # [reel][row]


def window_at(game: Game, set: int, stops: Sequence[int]) -> Window:
    return [
        [strip[(stop + row) % len(strip)] for row in range(game.rows)]
        for strip, stop in zip(game.sets[set], stops, strict=True)
    ]


def substitutes(game: Game, cell: int, symbol: int) -> bool:
    return game.symbols[cell].wild and bool(game.symbols[cell].mask >> symbol & 1)


def read_line(game: Game, cells: list[int]) -> tuple[int, int, int, int, bool] | None:
    """(credits, run, symbol, multiplier, with a wild) of the best reading, or None."""
    best = None
    for symbol, row in enumerate(game.symbols):
        run = list(itertools.takewhile(lambda cell, s=symbol: cell == s or substitutes(game, cell, s), cells))
        pay = row.pays[len(run) - 1] if 0 < len(run) <= len(row.pays) else 0
        if not pay or (game.needs_natural and symbol not in run):
            continue
        factors = [
            game.symbols[cell].multiplier for cell in run if cell != symbol and game.symbols[cell].multiplier > 1
        ]
        multiplier = 1
        if factors and game.rule == SUM:
            multiplier = sum(factors)
        elif factors and game.rule == PRODUCT:
            for factor in factors:
                multiplier *= factor
        elif factors:
            multiplier = max(factors)
        reading = (pay * multiplier, len(run), -symbol, multiplier, any(cell != symbol for cell in run))
        best = max(best, reading) if best else reading
    return best and (best[0], best[1], -best[2], best[3], best[4])


def in_view(game: Game, window: Window, scatter: int) -> int:
    return sum(cell == scatter or substitutes(game, cell, scatter) for column in window for cell in column)


def scatter_bets(game: Game, window: Window, scatter: int) -> int:
    view, count = game.symbols[scatter].view, in_view(game, window, scatter)
    return view[count - 1] if 0 < count <= len(view) else 0


def line_readings(game: Game, window: Window, lines: int | None = None):
    for number, line in enumerate(game.lines[:lines]):
        reading = read_line(game, [window[reel][row] for reel, row in enumerate(line)])
        if reading:
            yield number, reading


def enumerate_mode(game: Game, mode: int, first: int, last: int, lines: int, cost: int) -> dict:
    """The figures of native.cpython.Cycle, one window after the other."""
    figures: Counter[str] = Counter()
    runs: Counter[tuple[int, int, bool]] = Counter()
    views = {scatter: [0] * (game.reels * game.rows + 1) for scatter in game.scatters}
    most = 0
    strips = game.sets[game.modes[mode].set]
    for stops in itertools.product(range(first, last), *(range(len(strip)) for strip in strips[1:])):
        window = window_at(game, game.modes[mode].set, stops)
        credits = bets = 0
        for _, (won, run, symbol, _, wild) in line_readings(game, window, lines):
            credits += won
            runs[symbol, run, wild] += 1
            figures["winning_lines"] += 1
        for scatter in game.scatters:
            views[scatter][in_view(game, window, scatter)] += 1
            if game.modes[mode].flags & SCATTER_PAYS:
                bets += scatter_bets(game, window, scatter)
        win = credits + bets * cost
        any_win = bool(credits or bets)
        most = max(most, win)
        figures["boards"] += 1
        figures["line_credits"] += credits
        figures["scatter_bets"] += bets
        figures["boards_any"] += any_win
        figures["boards_line"] += credits > 0
        figures["boards_scatter"] += bets > 0
        figures["boards_below_bet"] += any_win and win < cost
        figures["boards_from_bet"] += any_win and win >= cost
        figures["sum_credits"] += win
        figures["sum_squares"] += win * win
    names = (
        "boards line_credits scatter_bets winning_lines boards_any boards_line boards_scatter boards_below_bet "
        "boards_from_bet sum_credits sum_squares"
    )
    return {
        **{name: figures[name] for name in names.split()},
        "max_credits": most,
        "in_view": {scatter: tuple(view) for scatter, view in views.items()},
        "runs": dict(runs),
    }


# ------------------------------------------------------------------------------------------------------------ ChaCha20


def chacha20_words(key: bytes, counter: int, nonce: bytes) -> list[int]:
    """RFC 8439, 2.3, on Python's integers."""
    start = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce))
    x = start.copy()

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for target, other, xored, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[target] = (x[target] + x[other]) % 2**32
            mixed = x[xored] ^ x[target]
            x[xored] = (mixed << turn | mixed >> (32 - turn)) % 2**32

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(a + b) % 2**32 for a, b in zip(x, start, strict=True)]


def draw(words: Iterator[int], range_: int) -> int:
    limit = 2**32 - 2**32 % range_
    return next(word for word in words if word < limit) % range_


def stream(seed: bytes) -> Iterator[int]:
    for block in itertools.count():
        yield from chacha20_words(seed, block, bytes(12))


def seed_of_round(master: bytes, number: int) -> bytes:
    words = chacha20_words(master, number % 2**32, struct.pack("<I8x", number >> 32))
    return struct.pack("<8I", *words[:8])


# --------------------------------------------------------------------------------------------------------------- rounds


class _Capped(Exception):
    pass


def play(game: Game, mode: int, unit: int, seed: bytes, choose: Callable[[int], int]) -> tuple[list[Event], int]:
    """All events of a round and its award. choose: number of options → option."""
    words, events = stream(seed), []
    bet = game.modes[mode].cost
    award = 0

    def book(kind: int, index: int, symbol: int, count: int, multiplier: int, pence: int) -> int:
        nonlocal award
        events.append((kind, index, symbol, count, multiplier, pence))
        award += pence
        if game.cap and award > game.cap:
            events.append((9, 0, 0, 0, 0, award - game.cap))
            award = game.cap
            raise _Capped
        return pence

    def spin(spin_mode: int, left: int, multiplier: int) -> tuple[Window, int]:
        row = game.modes[spin_mode]
        window = window_at(game, row.set, [draw(words, len(strip)) for strip in game.sets[row.set]])
        events.append((1, row.set, 0, left, multiplier, 0))
        won = 0
        for line, (credits, run, symbol, wild_multiplier, _) in line_readings(game, window):
            pence = credits * unit * multiplier
            won += book(2, line, symbol, run, wild_multiplier * multiplier, pence)
        for scatter in game.scatters if row.flags & SCATTER_PAYS else ():
            bets = scatter_bets(game, window, scatter)
            if bets:
                won += book(4, 0, scatter, in_view(game, window, scatter), multiplier, bets * bet * unit * multiplier)
        return window, won

    def round_() -> None:
        window, _ = spin(mode, 0, 1)
        number = game.modes[mode].feature
        if number == NONE:
            return
        feature = game.features[number]
        count = in_view(game, window, feature.trigger)
        if count < min(feature.options):
            return
        options = feature.options[min(count, max(feature.options))]
        option = 0
        if len(options) > 1:
            events.append((5, number, feature.trigger, len(options), 0, 0))
            option = choose(len(options))
        left, multiplier = options[option]
        played = won = 0
        events.append((6, number, 0, left, multiplier, 0))
        while left:
            left, played = left - 1, played + 1
            window, more = spin(feature.mode, left, multiplier)
            won += more
            if feature.adds != NONE:
                added = min(in_view(game, window, feature.adds) * feature.added, feature.most - left - played)
                left += added
                if added:
                    events.append((7, number, feature.adds, added, 0, 0))
        events.append((8, number, 0, played, multiplier, won))

    with contextlib.suppress(_Capped):
        round_()
    events.append((10, 0, 0, 0, 0, award))
    return events, award

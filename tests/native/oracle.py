"""What the C core should do, worked out the slow way from native/README.md and native/MECHANICS.md: windows and draws.

A game is anything with the fields of oracle_pack.Game that a function reads; oracle_round plays whole rounds.
"""

import itertools
import math
import struct
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.native.oracle_pack import PRODUCT, SCATTER_PAYS, SUM, WAYS, Game

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
            multiplier = math.prod(factors)
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


def way_wins(game: Game, window: Window) -> Iterator[tuple[int, int, int, int]]:
    """(symbol, run, ways counted with the wilds' multipliers, credits) of every symbol that pays, ascending."""
    for symbol, row in enumerate(game.symbols):
        reels = [[cell for cell in column if cell == symbol or substitutes(game, cell, symbol)] for column in window]
        reels = list(itertools.takewhile(len, reels))
        pay = row.pays[len(reels) - 1] if 0 < len(reels) <= len(row.pays) else 0
        if not pay or (game.needs_natural and not any(symbol in cells for cells in reels)):
            continue
        ways = 0
        for way in itertools.product(*reels):  # one cell of each reel; slow, and plainly what a way is
            factors = [game.symbols[cell].multiplier for cell in way if cell != symbol]
            ways += math.prod(factors) if game.rule == PRODUCT else max(factors, default=1)
        yield symbol, len(reels), ways, pay * ways


def enumerate_mode(game: Game, mode: int, first: int, last: int, lines: int, cost: int) -> dict:
    """The figures of native.cpython.Cycle, one window after the other."""
    figures: Counter[str] = Counter()
    runs: Counter[tuple[int, int, bool]] = Counter()
    ways: Counter[tuple[int, int]] = Counter()
    views = {scatter: [0] * (game.reels * game.rows + 1) for scatter in game.scatters}
    most = 0
    strips = game.sets[game.modes[mode].set]
    for stops in itertools.product(range(first, last), *(range(len(strip)) for strip in strips[1:])):
        window = window_at(game, game.modes[mode].set, stops)
        credits = bets = 0
        if game.modes[mode].evaluation == WAYS:
            for symbol, run, count, won in way_wins(game, window):
                wild = any(substitutes(game, cell, symbol) for reel in window[:run] for cell in reel if cell != symbol)
                credits += won
                runs[symbol, run, wild] += 1
                ways[symbol, run] += count
                figures["winning_lines"] += 1
        else:
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
        "ways": dict(ways),
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


def draw_64(words: Iterator[int], range_: int) -> int:
    """Two words, the high one first; a value at or above the largest multiple of the range is thrown away whole."""
    limit = 2**64 - 2**64 % range_
    pairs = (high << 32 | low for high, low in zip(words, words, strict=False))
    return next(value for value in pairs if value < limit) % range_


def stream(seed: bytes) -> Iterator[int]:
    for block in itertools.count():
        yield from chacha20_words(seed, block, bytes(12))


def seed_of_round(master: bytes, number: int) -> bytes:
    block, odd = divmod(number, 2)
    words = chacha20_words(master, block % 2**32, struct.pack("<I8x", block >> 32))
    return struct.pack("<16I", *words)[32 * odd :][:32]

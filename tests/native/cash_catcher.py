"""A 243-ways game that others have counted: slotopol's model of Aristocrat's Indian Cash Catcher, strip set "115.065714".

Strips, pays and rules are those of the open-source server slotopol (game/slot/aristocrat/indiandreaming); the integers are
full-cycle sums over its 50^5 windows, published there as percentages and recomputed to the coin. A wild stands for all
symbols, the scatter too, and pays nothing itself, so a run needs the symbol at least once. In free spins a way with a wild in
it pays fivefold. Scatters pay credits there, not total bets: enumerate with a cost of 1 to add both up.
"""

import itertools
import math
from collections import Counter

from tests.native.packs import WAYS, Game, Mode, Symbol

STRIPS = [
    (
        "11 6 7 8 10 5 12 3 11 4 10 11 9 12 10 2 12 7 8 11 3 12 9 4 12 8 6 11 9 7 10 6 12 7 6 11 8 12 4 9 5 10 1 9 8 "
        "11 7 10 9 5"
    ),
    (
        "9 11 4 10 6 8 12 4 10 12 8 6 9 8 11 12 5 9 7 6 9 7 11 3 9 10 7 12 2 11 7 6 11 10 5 12 3 10 12 8 9 7 8 11 4 "
        "10 12 5 11 1"
    ),
    (
        "6 8 7 11 10 5 12 8 6 9 4 11 8 7 9 3 10 8 6 7 11 9 5 11 2 10 11 12 6 9 8 12 3 9 10 4 9 7 12 11 1 12 10 5 12 7 "
        "10 12 4 11"
    ),
    (
        "11 8 7 12 2 9 5 10 8 7 10 12 11 6 12 10 9 8 6 9 11 4 10 5 9 11 7 8 9 7 10 6 12 3 11 5 10 4 12 11 3 12 7 6 8 "
        "11 12 4 9 1"
    ),
    (
        "11 5 9 4 10 2 9 7 6 11 7 10 8 12 11 10 8 6 7 10 4 11 5 12 3 9 6 12 5 9 8 11 1 12 9 3 10 11 12 7 11 12 8 9 7 8 "
        "6 12 4 10"
    ),
]
PAYS = {  # number of the symbol: credits for 3, 4, 5 reels
    3: (100, 200, 5000),
    4: (50, 100, 2500),
    5: (50, 100, 1000),
    6: (10, 40, 250),
    7: (6, 25, 150),
    8: (6, 25, 150),
    9: (6, 15, 80),
    10: (4, 10, 80),
    11: (3, 10, 70),
    12: (3, 10, 60),
}
COST = 25
WILD, SCATTER = 0, 1  # symbols 1 and 2 of the strips

BOARDS = 312_500_000
BASE_WAYS = 5_283_722_805  # credits
BASE_SCATTER = 13_417_920  # credits
TRIGGERS = 4_474_656  # windows with three or more scatters or wilds
FREE_SPIN_WAYS = 17_734_787_085  # credits, wild × 5


def cash_catcher(wild: int = 1) -> Game:
    """wild: what a wild multiplies a way by, 1 in the base game, 5 in free spins."""
    return Game(
        symbols=[
            Symbol("wild", wild=True, multiplier=wild, mask=0xFFE),
            Symbol("scatter", scatter=True, view=[0, 0, 2, 15, 100]),
            *(Symbol(f"s{number}", [0, 0, *pays]) for number, pays in PAYS.items()),
        ],
        lines=[],
        sets=[[[int(symbol) - 1 for symbol in strip.split()] for strip in STRIPS]],
        modes=[Mode(evaluation=WAYS, cost=COST)],
        needs_natural=True,
        name="cash_catcher",
    )


def not_paid_there(game: Game, wild: int) -> int:
    """Credits that a symbol needing itself once in a run is paid for here, and not by that model, over all windows.

    They are in windows with a wild in view on each of the first three reels: 27 combinations of stops with 50 x 50.
    """
    strips = game.sets[0]
    stops = [
        [stop for stop in range(50) if WILD in column(strip, stop)] if reel < 3 else range(50)
        for reel, strip in enumerate(strips)
    ]
    columns = [Counter(column_reading(strip, stop) for stop in each) for strip, each in zip(strips, stops, strict=True)]
    total = 0
    for window in itertools.product(*(each.items() for each in columns)):
        alike = math.prod(count for _, count in window)
        reels = [dict(reading) for reading, _ in window]
        five_wilds = all(WILD in reel for reel in reels)
        for symbol in range(2, len(game.symbols)):
            run = list(itertools.takewhile(lambda reel, s=symbol: s in reel or WILD in reel, reels))
            if not any(symbol in reel for reel in run):
                continue
            pay = game.symbols[symbol].pays[len(run) - 1]
            wilds_only = math.prod(reel.get(WILD, 0) for reel in run)
            if five_wilds:
                plain = math.prod(reel.get(symbol, 0) for reel in run)
                all_ways = math.prod(reel.get(symbol, 0) + reel.get(WILD, 0) for reel in run)
                total += pay * alike * (plain + wild * (all_ways - plain))
            else:
                total += pay * alike * wild * wilds_only
    return total


def column(strip: list[int], stop: int) -> list[int]:
    return (strip * 2)[stop : stop + 3]


def column_reading(strip: list[int], stop: int) -> tuple[tuple[int, int], ...]:
    """What a column shows, whatever the order of its rows."""
    return tuple(sorted(Counter(column(strip, stop)).items()))

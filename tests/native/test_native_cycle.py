"""Full enumeration: against windows counted one by one, and against figures that others have published."""

import threading
import time
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from native import CoreError, Pack
from native.cpython import Cycle, cycle
from tests.native import cash_catcher, oracle
from tests.native.packs import (
    HIGHEST,
    LOBSTERMANIA_LINES,
    PRODUCT,
    SCATTER_PAYS,
    SUM,
    WAYS,
    Game,
    Mode,
    Symbol,
    build,
    lobstermania,
    sample,
    slotopol_set_10,
)
from tests.native.strategies import games

small = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@small
@given(st.data())
def test_equals_windows_counted_one_by_one(data):
    game = data.draw(games(max_reels=4, max_rows=4, max_strip=5) | games(max_rows=3, max_strip=3))
    length = len(game.sets[0][0])
    last = data.draw(st.integers(1, length))
    first = data.draw(st.integers(0, last - 1))
    lines = data.draw(st.sampled_from([len(game.lines), len(game.lines) // 2, 0]))
    cost = data.draw(st.integers(0, 40))
    found = cycle(Pack(build(game)), 0, first, last, lines, cost)
    assert vars(found) == oracle.enumerate_mode(game, 0, first, last, lines, cost)


@small
@given(games(max_reels=4, max_rows=4, max_strip=6) | games(max_rows=3, max_strip=3), st.integers(0, 40))
def test_ways_equal_windows_counted_one_by_one(game, cost):
    """Rule "sum" is refused for ways; under "highest" all multipliers of wilds are one number."""
    game.modes[0].evaluation = WAYS
    game.rule = PRODUCT if game.rule == SUM else game.rule
    for symbol in game.symbols:
        symbol.multiplier = min(symbol.multiplier, 2) if game.rule == HIGHEST else symbol.multiplier
    length = len(game.sets[0][0])
    found = cycle(Pack(build(game)), 0, length // 2, length, None, cost)
    assert vars(found) == oracle.enumerate_mode(game, 0, length // 2, length, 0, cost)


def test_published_ways_game():
    """The integers of cash_catcher.py: 50^5 windows, base game and free spins.

    Two rules of that model differ from ours in windows with wilds on the first three reels, which are counted one by one:
    a way of wilds alone pays nothing even where the symbol is elsewhere in its run, and five wilds in view pay no ways.
    """
    for wild, published in ((1, cash_catcher.BASE_WAYS), (5, cash_catcher.FREE_SPIN_WAYS)):
        game = cash_catcher.cash_catcher(wild)
        c = cycle(Pack(build(game)), 0, cost=1)
        assert c.boards == cash_catcher.BOARDS
        assert c.scatter_bets == cash_catcher.BASE_SCATTER
        assert sum(c.in_view[cash_catcher.SCATTER][3:]) == cash_catcher.TRIGGERS
        assert c.line_credits - cash_catcher.not_paid_there(game, wild) == published
        assert c.line_credits == sum(
            count * game.symbols[symbol].pays[run - 1] for (symbol, run), count in c.ways.items()
        )


def test_ranges_of_ways_add_up():
    pack = Pack(build(cash_catcher.cash_catcher(5)))
    parts = [cycle(pack, 0, first, last) for first, last in ((0, 7), (7, 8), (8, 8), (8, 50))]
    assert sum(parts[1:], parts[0]) == cycle(pack, 0)


def test_ranges_of_reel_1_add_up():
    pack = Pack(build(sample()))
    whole = cycle(pack, 0)
    parts = [cycle(pack, 0, first, last) for first, last in ((0, 2), (2, 3), (3, 3), (3, 9))]
    assert sum(parts[1:], parts[0]) == whole
    assert whole.boards == 9 * 7 * 8 * 6 * 10


def test_too_many_scatter_profiles_to_tabulate_change_nothing():
    """Eight scatters on a long last reel: neither it nor the reels before fit a table, so every stop is visited."""
    random = Random(8439)
    scatters = [Symbol(f"S{n}", scatter=True, view=[0, 0, n % 3, 1]) for n in range(8)]
    strips = [[random.randrange(9) for _ in range(length)] for length in (5, 6, 1500)]
    assert len({tuple(sorted((strips[2] * 2)[stop : stop + 5])) for stop in range(1500)}) > 512
    game = Game(symbols=[*scatters, Symbol("A", [0, 1, 5])], lines=[[1, 1, 1]], rows=5, sets=[strips])
    found = cycle(Pack(build(game)), 0, 0, 2)
    assert vars(found) == oracle.enumerate_mode(game, 0, 0, 2, 1, 1)


def spread(c: Cycle) -> float:
    """Standard deviation of a board win in credits."""
    return (c.sum_squares / c.boards - (c.sum_credits / c.boards) ** 2) ** 0.5


def test_slotopol_set_10():
    """par/SOURCES.md, T4: Piggy Riches on slotopol's strips, full cycle of 39^5 windows."""
    pack = Pack(build(slotopol_set_10()))
    started = time.monotonic()
    c = cycle(pack, 0)
    assert time.monotonic() - started < 5
    assert c.boards == 39**5 == 90_224_199
    assert c.in_view[1][:7] == (60_466_176, 25_194_240, 4_199_040, 349_920, 14_580, 243, 0)
    assert c.line_credits == 887_347_050 == 15 * 59_156_470
    assert c.winning_lines == 35_020_410 == 15 * 2_334_694
    assert c.sum_credits == 1_037_958_450
    assert (c.boards_any, c.boards_line, c.boards_scatter) == (30_374_271, 26_663_130, 4_563_783)
    assert c.max_credits == 9525
    assert round(100 * c.sum_credits / 15 / c.boards, 6) == 76.694757
    assert round(100 * c.boards_below_bet / c.boards, 4) == 12.2382
    assert round(100 * c.boards_from_bet / c.boards, 4) == 21.4272
    assert round(spread(c) / 15, 5) == 3.10541


COMBINATIONS = {
    "bag": [(2, 56277, 112554), (3, 1443, 8658), (4, 37, 518), (5, 1, 30)],
    "notes keys": [(3, 11232, 25272), (4, 576, 2304), (5, 32, 210)],
    "wallet pig": [(3, 36855, 49140), (4, 2835, 6090), (5, 243, 780)],
    "A": [(3, 84864, 79560), (4, 8704, 12512), (5, 1024, 2100)],
    "K Q": [(3, 160875, 115830), (4, 20625, 22110), (5, 3125, 4650)],
    "J 10": [(3, 269568, 157248), (4, 41472, 35328), (5, 7776, 9030)],
}


def test_slotopol_set_10_combinations():
    """Every line of the full cycle sees the same combinations, so one line and fifteen must agree with the table."""
    pack = Pack(build(slotopol_set_10()))
    table = {
        (pack.symbols.index(name), run, wild): count
        for names, rows in COMBINATIONS.items()
        for name in names.split()
        for run, *counts in rows
        for wild, count in zip((False, True), counts, strict=True)
    }
    one = cycle(pack, 0, lines=1)
    assert one.runs == table
    assert (one.line_credits, one.winning_lines) == (59_156_470, 2_334_694)
    assert cycle(pack, 0).runs == {key: 15 * count for key, count in table.items()}


def test_published_free_spin_return_of_set_10():
    """T4: total = line + scatter + q·3·line/(1 − qb) with 15 spins × 3 gives 96.077223 %."""
    c = cycle(Pack(build(slotopol_set_10())), 0)
    line, scatter = c.line_credits / 15 / c.boards, c.scatter_bets / c.boards
    q = 15 * sum(c.in_view[1][3:]) / c.boards
    qb = sum(count * boards for count, boards in enumerate(c.in_view[1])) / c.boards
    assert round(100 * line, 6) == 65.566079
    assert round(100 * scatter, 6) == 11.128677
    assert round(100 * (line + scatter + q * 3 * line / (1 - qb)), 6) == 96.077223


def test_lobstermania_one_line():
    """par/SOURCES.md, T1: integers of Harrigan and Dixon's 96.2 % sheet (150,000 of the lines are the bonus)."""
    c = cycle(Pack(build(lobstermania([[0] * 5]))), 0)
    assert c.boards == 259_440_000
    assert c.winning_lines == c.boards_line == 9_142_500 + 150_000
    assert c.line_credits == 172_449_740 + 331 * 150_000
    assert c.in_view[10][:6] == (133_351_680, 94_936_512, 27_025_344, 3_845_232, 273_456, 7_776)
    assert c.scatter_bets == 27_617_760
    assert c.winning_lines + c.boards_scatter == 13_418_964
    assert c.sum_credits == 249_717_500
    assert c.boards_any == 13_373_928
    assert c.runs[0, 5, False] == 32  # plays per jackpot: 8,107,500
    assert c.runs[9, 3, False] == 150_000
    assert round(spread(c), 4) == 13.8948


def test_lobstermania_fifteen_lines():
    c = cycle(Pack(build(lobstermania(LOBSTERMANIA_LINES))), 0)
    assert c.sum_credits == 3_745_762_500
    assert (c.boards_any, c.boards_line) == (81_021_668, 77_770_000)
    assert round(100 * c.boards_below_bet / c.boards_any, 2) == 52.92
    assert round(spread(c) / 15, 5) == 4.08730


def test_arguments():
    pack = Pack(build(sample()))
    assert cycle(pack, 1).scatter_bets == 0  # free spins cannot be selected, but can be enumerated
    assert cycle(pack, 0, 4, 4).boards == 0
    for arguments in ((3,), (0, 5, 4), (0, 0, 10), (0, 0, 9, 16), (-1,), (0, -1, 3)):
        with pytest.raises(CoreError, match="argument"):
            cycle(pack, *arguments)
    with pytest.raises(CoreError, match="overflow"):
        cycle(pack, 0, cost=2**32 - 1)


def test_sums_that_could_overflow_are_refused():
    strips = [[0] * 4096 for _ in range(6)]
    pack = Pack(build(Game(symbols=[Symbol("A", [0, 0, 0, 0, 0, 1])], lines=[[0] * 6], sets=[strips])))
    with pytest.raises(CoreError, match="overflow"):
        cycle(pack, 0)
    rich = [Symbol("A", [0, 0, 4_000_000_000])]
    pack = Pack(build(Game(symbols=rich, lines=[[0] * 3], sets=[strips[:3]], max_unit=1)))
    with pytest.raises(CoreError, match="overflow"):
        cycle(pack, 0)
    assert cycle(pack, 0, 0, 1, cost=1).line_credits == 4_000_000_000 * 4096**2


def test_scatter_pays_only_where_the_mode_says():
    game = sample()
    game.modes.append(Mode("no_scatters", cost=15, flags=0))
    pack = Pack(build(game))
    with_pays, without = cycle(pack, 0), cycle(pack, 3)
    assert game.modes[0].flags & SCATTER_PAYS
    assert (with_pays.in_view, with_pays.runs) == (without.in_view, without.runs)
    assert with_pays.sum_credits == without.sum_credits + 15 * with_pays.scatter_bets
    assert with_pays.scatter_bets > 0 == without.scatter_bets


def test_the_interpreter_runs_meanwhile():
    """cffi releases the GIL around the call, so this thread makes progress while the other enumerates."""
    pack = Pack(build(slotopol_set_10()))
    started, done, steps = threading.Event(), threading.Event(), 0

    def enumerate_often() -> None:
        started.set()
        for _ in range(4):
            cycle(pack, 0)
        done.set()

    worker = threading.Thread(target=enumerate_often)
    worker.start()
    started.wait()
    while not done.is_set():
        steps += 1
    worker.join()
    # Had the calls held the GIL, this thread would have had one switch interval between two of them at most.
    assert steps > 100_000

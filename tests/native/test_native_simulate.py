"""Bulk simulation: the same rounds as the round function plays, however the range is cut."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import native
from host_tools.cabinet import games as our_games
from native import CoreError, Pack, Round
from native.cpython import Simulation, cycle, simulate
from native.cpython.wrapper import window_credits
from tests.native import oracle
from tests.native.encoder import encode
from tests.native.everything import every_mechanic
from tests.native.oracle_games import games
from tests.native.packs import Mode, build, sample, slotopol_set_10

MASTER = bytes(range(32))


ACCOUNTS = {
    native.LINE_WIN: "base_pence",
    native.WAYS_WIN: "base_pence",
    native.SCATTER_WIN: "scatter_pence",
    native.COLLECT: "cash_pence",
    native.PRIZE: "prize_pence",
    native.POT: "prize_pence",
    native.BOWL: "features_pence",
}


def one_by_one(pack: Pack, mode: int, unit: int, first: int, count: int, policy: dict[int, int]) -> Simulation:
    """The totals of rounds that Python plays, event by event."""
    figures = dict.fromkeys(Simulation.__dataclass_fields__, 0)
    features, pots = [0] * len(pack.features), [0] * len(pack.pots)
    for number in range(first, first + count):
        round_ = Round(pack, mode, unit, oracle.seed_of_round(MASTER, number))
        inside = False
        while not round_.finished:
            kind, index, symbol, options, _, pence = round_.next()
            if kind in ACCOUNTS:
                figures["features_pence" if inside else ACCOUNTS[kind]] += pence
            if kind == native.CHOICE:
                round_.choose(policy.get(options, 0))
            elif kind == native.FREE_SPINS_BEGIN:
                figures["features"] += 1
                features[index] += 1
                inside = True
            elif kind == native.FREE_SPINS_END:
                inside = False
            elif kind == native.SPIN:
                figures["free_spins"] += inside
            elif kind == native.WHEEL:
                figures["wheels"] += 1
            elif kind == native.WIN_CAP:
                figures["cut_pence"] += pence
            elif kind == native.POT or (kind == native.BOWL and symbol != 255):
                pots[index if kind == native.POT else symbol] += 1
        award = round_.award_pence
        figures["rounds"] += 1
        figures["award_pence"] += award
        figures["hits"] += award > 0
        figures["max_award_pence"] = max(figures["max_award_pence"], award)
        figures["sum_squares"] += award**2
    return Simulation(**{**figures, "feature_counts": tuple(features), "pot_counts": tuple(pots)})


def parts_of(s: Simulation) -> int:
    return s.base_pence + s.scatter_pence + s.cash_pence + s.prize_pence + s.features_pence - s.cut_pence


@pytest.mark.parametrize("first", [0, 2**32 - 150, 2**63])
@pytest.mark.parametrize(("game", "mode"), [(sample(), 0), (every_mechanic(), 0), (every_mechanic(), 1)])
def test_equals_rounds_played_one_by_one(game, mode, first):
    pack = Pack(build(game))
    policy = {2: 1, 3: 2}
    result = simulate(pack, mode, 3, MASTER, first, 300, policy)
    assert result == one_by_one(pack, mode, 3, first, 300, policy)
    assert result == simulate(pack, mode, 3, MASTER, first, 300, policy, plain=True)
    assert result.features > 10
    assert parts_of(result) == result.award_pence


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3000), max_size=5), st.integers(0, 2**64 - 1 - 3000))
def test_a_split_range_gives_the_same(cuts, first):
    pack = Pack(build(sample()))
    edges = [0, *sorted(cuts), 3000]
    parts = [simulate(pack, 0, 1, MASTER, first + a, b - a) for a, b in pairwise(edges)]
    assert sum(parts[1:], parts[0]) == simulate(pack, 0, 1, MASTER, first, 3000)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(games, st.data())
def test_tables_and_round_function_agree_on_random_games(game, data):
    """However the range is cut: same seeds, same draws, same awards to the penny. Games have all steps of the contract."""
    pack = Pack(encode(game))
    mode = data.draw(st.sampled_from([m for m in range(len(pack.modes)) if pack.flags(m) & native.MODE_SELECTABLE]))
    first, unit = data.draw(st.sampled_from([0, 1, 2**33 - 5, 2**64 - 601])), data.draw(st.sampled_from([1, 7, 50]))
    policy = {options: data.draw(st.integers(0, options - 1)) for options in (2, 3, 4)}
    edges = [0, *sorted(data.draw(st.lists(st.integers(0, 600), max_size=4))), 600]
    plain = simulate(pack, mode, unit, MASTER, first, 600, policy, plain=True)
    parts = [simulate(pack, mode, unit, MASTER, first + a, b - a, policy) for a, b in pairwise(edges)]
    assert sum(parts[1:], parts[0]) == plain
    assert simulate(pack, mode, unit, MASTER, first, 600, policy) == plain
    assert parts_of(plain) == plain.award_pence


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(games, st.integers(0, 2**64 - 100))
def test_random_games_equal_rounds_played_one_by_one(game, first):
    pack = Pack(encode(game))
    assert simulate(pack, 0, 5, MASTER, first, 60, {2: 1, 3: 2}) == one_by_one(pack, 0, 5, first, 60, {2: 1, 3: 2})


@pytest.mark.parametrize("name", our_games.names())
def test_tables_and_round_function_agree_on_our_games(name):
    pack = Pack(our_games.pack(name))
    for mode in range(len(pack.modes)):
        if pack.flags(mode) & native.MODE_SELECTABLE:
            for unit in (1, pack.max_unit_pence):
                assert simulate(pack, mode, unit, MASTER, 5, 30_000) == simulate(
                    pack, mode, unit, MASTER, 5, 30_000, plain=True
                )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(games, st.randoms(use_true_random=False))
def test_tables_say_what_the_rounds_say(game, random):
    """The window of every first spin: its line and ways wins, and what the table of the mode looks up."""
    pack = Pack(encode(game))
    assume(window_credits(pack, 0, [0] * pack.reels) is not None)
    for number in range(30):
        round_ = Round(pack, 0, 1, oracle.seed_of_round(MASTER, number + random.randrange(2**32)))
        won, kind = 0, native.MODIFIER
        while kind in (native.MODIFIER, native.SPIN, native.VALUE, native.LINE_WIN, native.WAYS_WIN):
            stops = round_.stops()
            kind, _, _, _, _, pence = round_.next()
            won += pence if kind in (native.LINE_WIN, native.WAYS_WIN) else 0
        if kind not in (native.WIN_CAP, native.RESPIN):
            assert window_credits(pack, 0, list(stops or round_.stops())) == won


def test_a_mode_that_fits_no_table_is_played_all_the_same():
    """Six strips of 4096 stops under a hundred lines need more transitions than there is room for."""
    game = sample()
    random = Random(4096)
    game.sets = [[random.choices(range(6), k=4096) for _ in range(6)]] * 2
    game.lines = [[random.randrange(3) for _ in range(6)] for _ in range(100)]
    pack = Pack(build(game))
    assert window_credits(pack, 0, [0] * 6) is None
    assert simulate(pack, 0, 3, MASTER, 0, 300) == simulate(pack, 0, 3, MASTER, 0, 300, plain=True)


def test_threads_share_the_work():
    pack = Pack(build(slotopol_set_10()))
    with ThreadPoolExecutor(2) as pool:
        halves = list(pool.map(lambda first: simulate(pack, 0, 1, MASTER, first, 50_000), (0, 50_000)))
    assert halves[0] + halves[1] == simulate(pack, 0, 1, MASTER, 0, 100_000)


def test_agrees_with_the_full_cycle():
    """A million rounds of slotopol's set 10: base game and feature within four standard errors of the exact figures."""
    pack = Pack(build(slotopol_set_10()))
    count, c = 1_000_000, cycle(pack, 0)
    s = simulate(pack, 0, 1, MASTER, 0, count, {3: 2, 4: 3, 5: 4})
    mean = c.sum_credits / c.boards
    deviation = (c.sum_squares / c.boards - mean**2) ** 0.5
    assert abs((s.base_pence + s.scatter_pence) / count - mean) < 4 * deviation / count**0.5
    trigger = sum(c.in_view[1][3:]) / c.boards
    assert abs(s.features / count - trigger) < 4 * (trigger / count) ** 0.5


def test_a_policy_decides():
    pack = Pack(build(slotopol_set_10()))
    few, many = (simulate(pack, 0, 1, MASTER, 0, 20_000, {3: option, 4: option}) for option in (2, 0))
    assert few.features == many.features > 0
    assert few.base_pence == many.base_pence
    assert few.free_spins < many.free_spins


def test_arguments():
    pack = Pack(build(sample()))
    for error, call in (
        ("mode", lambda: simulate(pack, 1, 1, MASTER, 0, 1)),
        ("mode", lambda: simulate(pack, 256, 1, MASTER, 0, 1)),
        ("unit", lambda: simulate(pack, 0, 0, MASTER, 0, 1)),
        ("argument", lambda: simulate(pack, 0, 1, MASTER[1:], 0, 1)),
        ("argument", lambda: simulate(pack, 0, 1, MASTER, 0, 1, {3: 3})),
        ("argument", lambda: simulate(pack, 0, 1, MASTER, 0, 1, {17: 0})),
        ("argument", lambda: simulate(pack, 0, 1, MASTER, 2**64 - 1, 2)),
        ("argument", lambda: simulate(pack, 0, 1, MASTER, 0, -1)),
    ):
        with pytest.raises(CoreError, match=rf"^{error}$"):
            call()
    assert simulate(pack, 0, 1, MASTER, 2**64 - 1, 0).rounds == 0


def test_a_sum_beyond_64_bits_is_refused():
    game = sample()
    game.symbols[0].pays = [2**20] * 5
    game.lines = game.lines[:1]
    game.features, game.tables, game.modes = [], [], [Mode(cost=15)]
    game.max_unit, game.cap = 2**32 - 1, 2**63 - 1
    pack = Pack(build(game))
    with pytest.raises(CoreError, match=r"^overflow$"):
        simulate(pack, 0, 2**32 - 1, MASTER, 0, 100_000)

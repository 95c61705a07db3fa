"""Bulk simulation: the same rounds as the round function plays, however the range is cut."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import native
from native import CoreError, Pack, Round
from native.cpython import Simulation, cycle, simulate
from tests.native import oracle
from tests.native.packs import build, sample, slotopol_set_10

MASTER = bytes(range(32))


def one_by_one(pack: Pack, first: int, count: int, policy: dict[int, int]) -> Simulation:
    figures = dict.fromkeys(Simulation.__dataclass_fields__, 0)
    for number in range(first, first + count):
        round_ = Round(pack, 0, 3, oracle.seed_of_round(MASTER, number))
        where = "base_pence"
        while not round_.finished:
            kind, _, _, options, _, pence = round_.next()
            if kind == native.LINE_WIN:
                figures[where] += pence
            elif kind == native.SCATTER_WIN:
                figures["scatter_pence" if where == "base_pence" else where] += pence
            elif kind == native.CHOICE:
                round_.choose(policy.get(options, 0))
            elif kind == native.FREE_SPINS_BEGIN:
                figures["features"] += 1
                where = "free_spins_pence"
            elif kind == native.SPIN:
                figures["free_spins"] += where == "free_spins_pence"
            elif kind == native.WIN_CAP:
                figures["cut_pence"] += pence
        award = round_.award_pence
        figures["rounds"] += 1
        figures["award_pence"] += award
        figures["hits"] += award > 0
        figures["max_award_pence"] = max(figures["max_award_pence"], award)
        figures["sum_squares"] += award**2
    return Simulation(**figures)


@pytest.mark.parametrize("first", [0, 2**32 - 150, 2**63])
def test_equals_rounds_played_one_by_one(first):
    pack = Pack(build(sample()))
    policy = {2: 1, 3: 2}
    result = simulate(pack, 0, 3, MASTER, first, 300, policy)
    assert result == one_by_one(pack, first, 300, policy)
    assert result.features > 10
    assert result.base_pence + result.scatter_pence + result.free_spins_pence - result.cut_pence == result.award_pence


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3000), max_size=5), st.integers(0, 2**64 - 1 - 3000))
def test_a_split_range_gives_the_same(cuts, first):
    pack = Pack(build(sample()))
    edges = [0, *sorted(cuts), 3000]
    parts = [simulate(pack, 0, 1, MASTER, first + a, b - a) for a, b in pairwise(edges)]
    assert sum(parts[1:], parts[0]) == simulate(pack, 0, 1, MASTER, first, 3000)


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
    game.cap, game.max_unit, game.features, game.modes[0].feature = 0, 2**32 - 1, [], 255
    pack = Pack(build(game))
    with pytest.raises(CoreError, match=r"^overflow$"):
        simulate(pack, 0, 2**32 - 1, MASTER, 0, 100_000)

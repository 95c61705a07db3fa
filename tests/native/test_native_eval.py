"""The evaluator against an independent reading of the rules, and the cases that a rule sheet argues about."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from native import CoreError, Pack
from native.cpython import in_view, line_wins
from tests.native import oracle
from tests.native.packs import HIGHEST, PRODUCT, SUM, Game, Symbol, build
from tests.native.strategies import games


@settings(max_examples=400, deadline=None)
@given(games(), st.integers(0, 2**32 - 1))
def test_random_games_pay_what_the_oracle_reads(game, seed):
    pack, random = Pack(build(game)), Random(seed)
    for _ in range(25):
        window = [random.choices(range(len(game.symbols)), k=game.rows) for _ in range(game.reels)]
        flat = bytes(cell for column in window for cell in column)
        assert [(w.line, (w.credits, w.run, w.symbol, w.multiplier, w.wild)) for w in line_wins(pack, flat)] == list(
            oracle.line_readings(game, window)
        )
        assert in_view(pack, flat) == {s: oracle.in_view(game, window, s) for s in game.scatters}


A, B, WILD, PLUS, SCATTER = range(5)


def one_line(cells: list[int], *, rule: int = HIGHEST, needs_natural: bool = False, wild_pays=(0, 0, 0, 0, 90)):
    """The win on the middle row as (symbol, run, multiplier, credits), or None."""
    game = Game(
        symbols=[
            Symbol("A", [0, 0, 10, 20, 30]),
            Symbol("B", [0, 2, 10, 20, 30]),
            Symbol("Wild", list(wild_pays), wild=True, mask=1 << A | 1 << B, multiplier=2),
            Symbol("Plus", wild=True, mask=1 << A | 1 << B | 1 << SCATTER, multiplier=3),
            Symbol("Scatter", scatter=True),
        ],
        lines=[[1] * 5],
        sets=[[[A, B, WILD]] * 5],
        rule=rule,
        needs_natural=needs_natural,
    )
    flat = bytes(value for cell in cells for value in (SCATTER, cell, SCATTER))
    wins = line_wins(Pack(build(game)), flat)
    return (wins[0].symbol, wins[0].run, wins[0].multiplier, wins[0].credits) if wins else None


def test_a_run_starts_on_reel_1():
    assert one_line([A, A, A, B, B]) == (A, 3, 1, 10)
    assert one_line([B, A, A, A, A]) is None
    assert one_line([SCATTER, A, A, A, A]) is None


@pytest.mark.parametrize(("rule", "multiplier"), [(HIGHEST, 3), (PRODUCT, 12), (SUM, 7)])
def test_wild_multipliers_by_rule(rule, multiplier):
    assert one_line([A, WILD, PLUS, WILD, B], rule=rule) == (A, 4, multiplier, 20 * multiplier)


def test_a_wild_behind_the_run_does_not_multiply():
    assert one_line([A, A, A, B, WILD]) == (A, 3, 1, 10)


def test_wilds_alone_pay_by_their_own_pays_without_multiplier():
    assert one_line([WILD] * 5) == (WILD, 5, 1, 90)


def test_wilds_alone_read_as_the_better_symbol():
    assert one_line([WILD] * 5, wild_pays=(0, 0, 0, 0, 59)) == (A, 5, 2, 60)


def test_equal_credits_go_to_the_longer_run_then_to_the_lower_symbol():
    # WILD WILD: B pays 2 x 2 for two; read as A and B the five pay the same.
    assert one_line([WILD] * 5, wild_pays=(0, 60, 0, 0, 0)) == (A, 5, 2, 60)
    # Two wilds for 20 by themselves, or A for three with a wild: 10 x 2.
    assert one_line([WILD, WILD, A, SCATTER, A], wild_pays=(0, 20, 0, 0, 0)) == (A, 3, 2, 20)
    assert one_line([WILD, WILD, A, SCATTER, A], wild_pays=(0, 21, 0, 0, 0)) == (WILD, 2, 1, 21)


def test_needs_natural_keeps_wilds_from_being_another_symbol():
    assert one_line([WILD, WILD, SCATTER, A, A]) == (B, 2, 2, 4)
    assert one_line([WILD, WILD, SCATTER, A, A], needs_natural=True) is None
    assert one_line([WILD, WILD, A, SCATTER, A], needs_natural=True) == (A, 3, 2, 20)
    assert one_line([WILD] * 5, needs_natural=True) == (WILD, 5, 1, 90)


def test_only_the_full_run_counts():
    game = Game(symbols=[Symbol("A", [0, 5, 0, 1]), Symbol("B")], lines=[[0, 0, 0, 0]], sets=[[[0, 1, 1]] * 4], rows=3)
    pack = Pack(build(game))
    assert not line_wins(pack, bytes([0, 1, 1] * 3 + [1, 1, 1]))
    assert line_wins(pack, bytes([0, 1, 1] * 2 + [1, 1, 1] * 2))[0].credits == 5


def test_a_wild_that_stands_for_a_scatter_counts_as_one():
    game = Game(
        symbols=[Symbol("A"), Symbol("S", scatter=True), Symbol("W", wild=True, mask=0b10)],
        lines=[],
        sets=[[[0, 1, 2]] * 3],
    )
    assert in_view(Pack(build(game)), bytes([0, 1, 2] * 3)) == {1: 6}


def test_a_window_must_be_the_packs():
    pack = Pack(build(Game(symbols=[Symbol("A")], lines=[], sets=[[[0] * 3] * 3])))
    for window in (bytes(8), bytes(10), bytes([0] * 8 + [1])):
        with pytest.raises(CoreError, match="argument"):
            line_wins(pack, window)

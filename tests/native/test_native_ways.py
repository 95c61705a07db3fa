"""Ways: published windows, the rules of wilds, and the events of a mode that pays them."""

import pytest

import native
from native import Pack, Round
from native.cpython import ways_wins
from tests.native.cash_catcher import PAYS
from tests.native.packs import HIGHEST, PRODUCT, SELECTABLE, WAYS, Game, Mode, Symbol, build
from tests.native.rounds import of, run

# par/SOURCES.md, T5: a published 243-ways game. Symbol 1 is wild, 2 the scatter (the wild counts as one), 3 … 12 pay.
PUBLISHED = [  # rows from top to bottom; wins, pay in the base game, pay in free spins (a wild pays five times)
    ("3 7 1 3 5 | 4 4 3 8 6 | 7 6 4 4 2", 2, 206, 630),
    ("5 7 1 3 5 | 8 5 8 5 8 | 7 8 5 4 2", 3, 2018, 6066),
    ("2 7 6 3 5 | 9 5 1 5 8 | 7 1 5 1 2", 3, 165, 825),
    ("6 7 7 3 5 | 3 5 4 5 8 | 5 1 2 1 2", 1, 15, 75),
    ("3 3 1 3 3 | 3 3 3 3 3 | 3 3 3 3 3", 1, 1_215_000, 2_835_000),
    ("1 5 3 6 3 | 5 7 5 9 3 | 7 4 1 8 3", 3, 262, 1110),
]


def published(rows: str, multiplier: int) -> Game:
    grid = [[int(cell) for cell in row.split()] for row in rows.split("|")]
    symbols = [
        Symbol("none"),
        Symbol("wild", wild=True, mask=0b1_1111_1111_1100, multiplier=multiplier),
        Symbol("scatter", scatter=True, view=[0, 0, 2, 15, 100]),
        *(Symbol(f"s{symbol}", [0, 0, *pays]) for symbol, pays in PAYS.items()),
    ]
    return Game(
        symbols=symbols,
        lines=[],
        sets=[[[row[reel] for row in grid] for reel in range(5)]],
        modes=[Mode(evaluation=WAYS)],
    )


@pytest.mark.parametrize(("rows", "wins", "base", "free"), PUBLISHED)
def test_published_windows(rows, wins, base, free):
    """Wins and pays hold at every turn of the wheel: the strips are the window's own columns, so only rows turn."""
    for multiplier, total in ((1, base), (5, free)):
        game = published(rows, multiplier)
        events = run(Round(Pack(build(game)), 0, 1, bytes(32)))
        paid = of(events, native.WAYS_WIN, native.SCATTER_WIN)
        assert len(paid) == wins
        # In free spins the source pays scatters five times too, as a feature's multiplier does here.
        assert sum(event[5] * (multiplier if event[0] == native.SCATTER_WIN else 1) for event in paid) == total


A, B, WILD, PLAIN, OTHER = range(5)


def ways(*columns: str, rule: int = HIGHEST, needs_natural: bool = False, wild: int = 3) -> list[tuple]:
    """(symbol, run, ways, credits) of a window of A, B, W (a wild with a multiplier), P (one without) and - (nothing)."""
    game = Game(
        symbols=[
            Symbol("A", [0, 0, 10, 20]),
            Symbol("B", [0, 2, 0, 5]),
            Symbol("W", [0, 0, 0, 7], wild=True, mask=0b11, multiplier=wild),
            Symbol("P", wild=True, mask=0b111),
            Symbol("-"),
        ],
        lines=[],
        sets=[[[0] * 3] * 4],
        modes=[Mode(evaluation=WAYS)],
        rule=rule,
        needs_natural=needs_natural,
    )
    return ways_wins(Pack(build(game)), bytes("ABWP-".index(cell) for column in columns for cell in column))


def test_a_way_takes_any_cell_of_each_reel_from_the_first_on():
    assert ways("AA-", "A-A", "-AA", "---") == [(A, 3, 8, 80)]
    assert ways("AAA", "AAA", "AAA", "AAA") == [(A, 4, 81, 1620)]
    assert ways("---", "AAA", "AAA", "AAA") == []
    assert ways("A--", "---", "AAA", "AAA") == []
    assert ways("AB-", "AB-", "A--", "---") == [(A, 3, 1, 10), (B, 2, 1, 2)]


def test_only_the_longest_run_counts():
    assert ways("B--", "B--", "B--", "---") == []  # three pay nothing, and two are not the run
    assert ways("B--", "B--", "B--", "B--") == [(B, 4, 1, 5)]


def test_with_the_highest_rule_a_way_counts_threefold_if_a_wild_is_in_it():
    assert ways("A--", "AW-", "A--", "---") == [(A, 3, 1 + 3, 40)]
    assert ways("A--", "AW-", "AW-", "---") == [(A, 3, 1 + 3 * 3, 100)]
    assert ways("A--", "W--", "W--", "---") == [(A, 3, 3, 30)]
    assert ways("A--", "AP-", "A--", "---") == [(A, 3, 2, 20)]
    assert ways("A--", "PW-", "A--", "---") == [(A, 3, 1 + 3, 40)]


def test_with_the_product_rule_every_wild_counts_as_its_multiplier():
    assert ways("A--", "AW-", "AW-", "---", rule=PRODUCT) == [(A, 3, 4 * 4, 160)]
    assert ways("A--", "WWP", "W--", "---", rule=PRODUCT) == [(A, 3, 7 * 3, 210)]


@pytest.mark.parametrize("rule", [HIGHEST, PRODUCT])
def test_a_wild_that_is_the_symbol_itself_does_not_multiply(rule):
    assert (WILD, 4, 1, 7) in ways("W--", "W--", "W--", "W--", rule=rule)
    assert (WILD, 4, 2, 14) in ways("W--", "WP-", "W--", "W--", rule=rule)


def test_needs_natural_asks_for_the_symbol_on_one_reel_of_the_run():
    assert ways("W--", "P--", "W--", "---") == [(A, 3, 3, 30)]
    assert ways("W--", "P--", "W--", "---", needs_natural=True) == []
    assert ways("W--", "P--", "WA-", "---", needs_natural=True) == [(A, 3, 2 * 3, 60)]
    assert ways("W--", "P--", "W--", "A--", needs_natural=True) == [(A, 4, 3, 60)]


def test_events_of_ways():
    game = Game(
        symbols=[Symbol("A", [0, 0, 4]), Symbol("W", wild=True, mask=1, multiplier=2)],
        lines=[[0, 0, 0]],
        sets=[[[0] * 3, [0, 0, 1], [0] * 3]],
        modes=[Mode(evaluation=WAYS, flags=SELECTABLE), Mode("lines")],
    )
    pack = Pack(build(game))
    counted = 3 * (2 + 2) * 3
    assert of(run(Round(pack, 0, 5, bytes(32))), native.WAYS_WIN) == [(3, 0, 0, 3, counted, counted * 4 * 5)]
    assert native.WAYS_WIN not in [event[0] for event in run(Round(pack, 1, 5, bytes(32)))]

"""Features from trigger to end: options, values, openings, frames, bowls, the order of a queue."""

import pytest

import native
from native import Pack, Round
from tests.native.packs import (
    CELLS,
    NONE,
    ROLL,
    SHAPES,
    Feature,
    Game,
    Pot,
    award,
    build,
    collect,
    credits,
    feature,
    frames,
    pot,
    shape,
    values,
    wheel,
)
from tests.native.rounds import Draws, Event, fixed, kinds, of, played, run, seed

A, B, S, W, C, D, E, F = range(8)


def triggered(*columns: str, by: int = C, least: int = 1, **fields: object) -> Game:
    """A base spin that triggers feature 0 by its count of a symbol; one spin, no steps."""
    game = fixed(*columns)
    game.tables.append([feature(0)])
    game.modes[0].steps.append(award([by], 1, least))
    game.features = [Feature(1, {0: [(1, 1)]})]
    for name, value in fields.items():
        setattr(game.features[0], name, value)
    return game


def begun(events: list[Event]) -> list[Event]:
    """What the opening told: between FREE_SPINS_BEGIN and the first free spin."""
    first = kinds(events).index(native.FREE_SPINS_BEGIN) + 1
    return events[first : first + kinds(events[first:]).index(native.SPIN)]


# -------------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("columns", "count"), [(("CAA", "AAA", "AAA"), 2), (("CCC", "AAA", "AAA"), 3), (("CCC",) * 3, 4)]
)
def test_the_trigger_count_is_clamped_into_the_counts_of_the_options(columns, count):
    options = {2: [(1, 1), (2, 2)], 3: [(3, 3), (4, 4), (5, 5)], 4: [(6, 6), (7, 7)]}
    pack = Pack(build(triggered(*columns, options=options)))
    for option, (spins, multiplier) in enumerate(options[count]):
        round_ = Round(pack, 0, 1, bytes(32))
        while (event := round_.next())[0] != native.CHOICE:
            pass
        assert event == (native.CHOICE, 0, 0, len(options[count]), 0, 0)
        assert round_.options() == tuple(options[count])
        round_.choose(option)
        assert round_.options() == ()
        assert round_.next() == (native.FREE_SPINS_BEGIN, 0, 0, spins, multiplier, 0)
        events = run(round_)
        assert [event[3:5] for event in of(events, native.SPIN)] == [(spins - n - 1, multiplier) for n in range(spins)]
        assert events[-2:] == [(native.FREE_SPINS_END, 0, 0, spins, multiplier, 0), (native.ROUND_END, 0, 0, 0, 0, 0)]


def test_a_feature_of_a_wheel_has_the_count_0():
    game = triggered("CCC", "CCC", "AAA", options={0: [(1, 1)], 6: [(2, 1)]} | {n: [(3, 1)] for n in range(1, 6)})
    assert of(played(game), native.FREE_SPINS_BEGIN)[0][3] == 2
    game.tables[1:] = [[wheel(2)], [feature(0)]]
    assert of(played(game), native.FREE_SPINS_BEGIN)[0][3] == 1


def test_the_multiplier_is_for_lines_ways_and_scatters_alone():
    game = triggered("CBB", "BBB", "BBB", options={0: [(1, 6)]}, bowls=(NONE, NONE, 2))
    game.lines = [[0, 0, 0], [1, 1, 1]]
    game.features[0].opening, game.features[0].symbols, game.features[0].level = CELLS, 1 << C, 3
    game.tables += [[credits(10)], [credits(3)]]
    game.modes[1].steps = [award([B], 3, 1)]
    events = played(game, unit=2)
    inside = events[kinds(events).index(native.FREE_SPINS_BEGIN) :]
    lines = of(inside, native.LINE_WIN)
    assert lines
    assert {event[4:] for event in lines} == {(6, 12)}
    assert of(inside, native.PRIZE) == [(native.PRIZE, 0, 0, 0, 0, 6)]
    assert of(inside, native.BOWL) == [(native.BOWL, 0, NONE, 3, 0, 20)]
    assert inside[-1] == (native.FREE_SPINS_END, 0, 0, 1, 6, 12 * len(lines) + 6 + 20)


# ------------------------------------------------------------------------------- values that a feature collects


def collecting(**fields: object) -> Game:
    game = triggered("CCA", "AAD", "AAA", **{"collects": True, **fields})
    game.tables.append([credits(7), credits(9)])
    game.modes[0].steps.insert(1, values([C], 2))
    return game


def test_a_feature_that_collects_pays_the_values_before_anything_else():
    game = collecting(options={0: [(1, 1), (2, 1)]})
    events = played(game, unit=3)
    total = sum(event[5] for event in events[:2])
    assert kinds(events[:2]) == [native.VALUE] * 2
    assert events[2:5] == [
        (native.COLLECT, NONE, 0, 2, 0, total),
        (native.CHOICE, 0, 0, 2, 0, 0),
        (native.FREE_SPINS_BEGIN, 0, 0, 1, 1, 0),
    ]
    assert events[-1] == (native.FREE_SPINS_END, 0, 0, 1, 1, 0)  # they were not won in it


def test_values_are_collected_once_a_spin_by_a_step_or_by_the_first_feature_that_collects():
    game = collecting()
    game.modes[0].steps.append(award([D], 1, 1))
    assert [event[1] for event in of(played(game), native.COLLECT)] == [NONE]
    game.modes[0].steps.append(collect([D]))
    assert [event[1] for event in of(played(game), native.COLLECT)] == [5]


def test_values_that_stand_behind_a_feature_are_those_of_the_triggering_window():
    """The first feature draws values of its own; the second collects what the base spin showed."""
    game = collecting(collects=False)
    game.features.append(Feature(1, {0: [(1, 1)]}, collects=True))
    game.tables += [[feature(1)], [credits(1)]]
    game.modes[0].steps.append(award([D], 3, 1))
    game.modes[1].steps = [values([A], 4)]
    events = played(game)
    assert of(events, native.COLLECT) == [(native.COLLECT, NONE, 0, 2, 0, events[0][5] + events[1][5])]


# ------------------------------------------------------------------------------------------------------- openings


def test_cells_of_the_triggering_window_become_frames():
    game = triggered("CAC", "AAD", "AAA", opening=CELLS, symbols=1 << C | 1 << D, level=2)
    assert begun(played(game)) == [(native.FRAME, cell, 0, 2, 0, 0) for cell in (0, 2, 5)]


def test_cells_that_roll_raise_their_row_to_the_right_up_to_level_3():
    game = triggered("CAC", "CAD", "CAA", "CAA", opening=ROLL, symbols=1 << C)
    levels = [1, 0, 1, 2, 0, 1, 3, 0, 1, 3, 0, 1]  # four roll in row 0, one in row 2
    round_ = Round(Pack(build(game)), 0, 1, bytes(32))
    expected = [(native.FRAME, cell, 0, level, 0, 0) for cell, level in enumerate(levels) if level]
    assert begun(run(round_)) == expected
    assert round_.frames() == bytes(levels)


def test_a_shape_lands_somewhere_in_the_window():
    game = triggered("CAA", "AAA", "AAA", "AAA", opening=SHAPES, shapes=2, level=1)
    game.tables.append([shape(2, 2, 3), shape(4, 3), shape(1, 3, 2)])
    places = set()
    for number in range(60):
        draws = Draws(seed(number))
        draws(1), draws(1)
        width, height = [(2, 2), (2, 2), (2, 2), (4, 3), (1, 3), (1, 3)][draws(6)]
        tops = 3 - height + 1
        left, top = divmod(draws((4 - width + 1) * tops), tops)
        cells = [3 * (left + x) + top + y for x in range(width) for y in range(height)]
        assert begun(played(game, seed(number))) == [
            (native.SHAPE, 3 * left + top, 0, width + 256 * height, 0, 0),
            *((native.FRAME, cell, 0, 1, 0, 0) for cell in cells),
        ]
        places.add((width, left, top))
    assert {place for place in places if place[0] == 2} == {(2, left, top) for left in range(3) for top in range(2)}
    assert (4, 0, 0) in places


def test_frames_persist_over_the_spins_and_each_feature_begins_bare():
    game = triggered("CAA", "AAA", "AAA", opening=CELLS, symbols=1 << C, level=1, options={0: [(2, 1)]})
    game.features.append(Feature(1, {0: [(1, 1)]}))
    game.tables.append([feature(1)])
    game.modes[0].steps.append(award([C], 2, 1))
    game.modes[1].steps = [frames([C])]
    round_ = Round(Pack(build(game)), 0, 1, bytes(32))
    levels = {}
    for event in run(round_):
        if event[0] == native.FREE_SPINS_BEGIN:
            levels = {}
        elif event[0] == native.FRAME:
            assert event[3] == levels.get(event[1], 0) + 1
            levels[event[1]] = event[3]
    assert round_.frames() == bytes(levels.get(cell, 0) for cell in range(9))


# ---------------------------------------------------------------------------------------------------------- bowls


def test_each_frame_becomes_a_bowl_of_its_level():
    game = triggered("CCC", "AAA", "AAA", opening=CELLS, symbols=1 << C, level=1, options={0: [(1, 1)]})
    game.features[0].bowls = (2, NONE, 3)
    game.tables += [[credits(1), credits(2, 3)], [pot(1, 2), credits(40)]]
    game.pots = [Pot("Mini", 10), Pot("Grand", 1000)]
    pots = set()
    for number in range(12):
        draws = Draws(seed(number))
        draws(1), draws(1)
        [draws(3) for _ in range(3)]
        expected = []
        for cell in range(3):
            paid = 2 if draws(4) else 1
            expected.append((native.BOWL, cell, NONE, 1, 0, paid * 5))
        assert of(played(game, seed(number), unit=5), native.BOWL) == expected
    game.modes[1].steps = [frames([C])]  # all three rise: level 2, which has no bowls, and level 3
    for spins, level in ((1, 2), (2, 3)):
        game.features[0].options = {0: [(spins, 1)]}
        for number in range(6):
            draws = Draws(seed(number))
            draws(1), draws(1)
            [draws(3) for _ in range(3 * spins)]
            events = played(game, seed(number))
            expected = []
            for cell in range(3):
                grand = level == 3 and draws(3) < 2
                pots.add(grand)
                expected.append((native.BOWL, cell, 1 if grand else NONE, 3, 0, 1000 if grand else 40))
            assert of(events, native.BOWL) == (expected if level == 3 else [])
    assert pots == {False, True}


# -------------------------------------------------------------------------------------------------------- the whole


def test_two_features_in_a_queue_count_their_own_wins_and_the_first_spin_stays_the_reference():
    game = triggered("CAB", "CDB", "AAB", opening=CELLS, symbols=1 << C, level=3)
    game.lines = [[2, 2, 2]]
    game.features[0].bowls = (NONE, NONE, 2)
    game.features.append(
        Feature(1, {1: [(1, 2)]}, opening=CELLS, symbols=1 << D | 1 << C, level=1, bowls=(3, NONE, NONE))
    )
    game.tables += [[credits(10)], [credits(1)], [feature(1)]]
    game.modes[0].steps.append(award([D], 4, 1))
    events = played(game)
    begins = [n for n, event in enumerate(events) if event[0] == native.FREE_SPINS_BEGIN]
    first, second = events[begins[0] : begins[1]], events[begins[1] :]
    assert events[0] == (native.LINE_WIN, 0, B, 3, 1, 1)
    assert [event[1] for event in of(first, native.BOWL)] == [0, 3]
    assert [event[1] for event in of(second, native.BOWL)] == [0, 3, 4]
    for half, multiplier, bowls in ((first, 1, 20), (second, 2, 3)):
        lines = sum(event[5] for event in of(half, native.LINE_WIN))
        assert half[-1] == (native.FREE_SPINS_END, half[0][1], 0, 1, multiplier, lines + bowls)


def test_the_cap_ends_a_feature_amid_its_bowls():
    game = triggered("CCC", "AAA", "AAA", opening=CELLS, symbols=1 << C, level=1, bowls=(2, NONE, NONE))
    game.tables.append([credits(30)])
    game.cap = 50
    assert played(game)[-3:] == [
        (native.BOWL, 0, NONE, 1, 0, 30),
        (native.BOWL, 1, NONE, 1, 0, 30),
        (native.WIN_CAP, 0, 0, 0, 0, 10),
    ]
    game.cap = 60
    assert played(game)[-2:] == [(native.BOWL, 2, NONE, 1, 0, 30), (native.WIN_CAP, 0, 0, 0, 0, 30)]

"""Each step in small games whose windows are known, worked out by hand from native/MECHANICS.md."""

import pytest

import native
from native import Pack, Round
from tests.native.packs import (
    Feature,
    Game,
    Group,
    Mode,
    Pot,
    add_spins,
    award,
    boards,
    build,
    collect,
    credits,
    feature,
    frames,
    frames_of_level_3,
    modifier,
    nothing,
    pile,
    pot,
    respin,
    spins,
    tokens,
    values,
    wheel,
)
from tests.native.rounds import Draws, Event, fixed, kinds, of, played, run, seed

A, B, S, W, C, D, E, F = range(8)


# ----------------------------------------------------------------------------------------------------------- MODIFIER


def test_a_modifier_shows_one_of_its_boards_or_nothing_and_draws_accordingly():
    game = fixed("ABC", "ABC", "ABC")
    game.tables = [[nothing(3), boards(1, 2), boards(0)]]
    game.groups = [Group(0, [[0, 0, 0]]), Group(0, [[1, 2, 0], [2, 2, 2], [0, 1, 2]])]
    pack, seen = Pack(build(game)), set()
    for number in range(60):
        draws, round_ = Draws(seed(number)), Round(pack, 0, 1, seed(number))
        drawn = draws(6)
        if drawn < 3:
            stops = tuple(draws(3) for _ in range(3))
        else:
            group = 1 if drawn < 5 else 0
            stops = tuple(game.groups[group].boards[draws(3 if group else 1)])
            assert round_.next() == (native.MODIFIER, group, 0, 0, 0, 0)
            assert (round_.stops(), round_.window()) == ((), b"")  # nothing has been spun yet
        assert round_.next() == (native.SPIN, 0, 0, 0, 1, 0)
        assert round_.stops() == stops
        seen.add(drawn)
    assert seen == set(range(6))


# ---------------------------------------------------------------------------------------------------- VALUES, COLLECT


def cash(*columns: str, **fields: object) -> Game:
    game = fixed(*columns, **fields)
    game.tables += [[credits(5, 3), credits(20)], [credits(7)]]
    return game


def test_values_are_drawn_cell_by_cell_before_the_wins_and_collected_behind_them():
    game = cash("CBA", "ABC", "FBD")
    game.lines = [[1, 1, 1]]
    game.modes[0].steps += [collect([D, F]), values([C], 1), values([E, F], 2)]
    for number in range(20):
        draws = Draws(seed(number))
        draws(1), draws(1)
        drawn = [[5, 5, 5, 20][draws(4)] for _ in range(2)]
        draws(1)
        assert played(game, seed(number), unit=3) == [
            (native.VALUE, 0, C, 0, 0, 3 * drawn[0]),
            (native.VALUE, 5, C, 0, 0, 3 * drawn[1]),
            (native.VALUE, 6, F, 0, 0, 3 * 7),
            (native.LINE_WIN, 0, B, 3, 1, 3),
            (native.COLLECT, 6, F, 3, 0, 3 * (sum(drawn) + 7)),
        ]


def test_values_are_shown_by_cell_and_pay_nothing_by_themselves():
    game = cash("CAA", "AAC", "AAA")
    game.modes[0].steps.append(values([C], 2))
    round_ = Round(Pack(build(game)), 0, 1, bytes(32))
    assert round_.values() == (0,) * 9
    run(round_)
    assert round_.values() == (7, 0, 0, 0, 0, 7, 0, 0, 0)
    assert round_.award_pence == 0


def test_a_cell_that_two_steps_value_has_the_later_value():
    game = cash("CAA", "AAA", "AAD")
    game.modes[0].steps += [values([C], 2), values([C], 1), collect([D])]
    events = played(game)
    assert kinds(events) == [native.VALUE, native.VALUE, native.COLLECT]
    assert events[2][3:] == (1, 0, events[1][5])


def test_a_collect_pays_once_a_spin_and_needs_a_symbol_and_a_value():
    game = cash("CAA", "AAA", "AAD")
    game.modes[0].steps += [values([C], 2), collect([E]), collect([D]), collect([C, D])]
    assert of(played(game), native.COLLECT) == [(native.COLLECT, 8, D, 1, 0, 7)]
    game.modes[0].steps = [modifier(0), collect([D])]
    assert played(game) == []


# ---------------------------------------------------------------------------------------------------------------- PILE


def test_the_pile_grows_by_each_symbol_and_empties_with_a_prize():
    game = fixed("CAC", "AAA", "CAA")
    game.tables.append([nothing(2), credits(9)])
    game.modes[0].steps.append(pile([C], 1))
    won_ever = set()
    for number in range(30):
        draws, expected, prizes, size = Draws(seed(number)), [], 0, 40
        draws(1), draws(1)
        for cell in (0, 2, 6):
            won = draws(3) == 2
            size += 1
            expected.append((native.PILE, cell, C, size, int(won), 0))
            prizes += won
            size = 0 if won else size
        expected += [(native.PRIZE, 0, 0, 0, 0, 9 * 2)] * prizes  # behind all steps, in the order of winning
        round_ = Round(Pack(build(game)), 0, 2, seed(number), pile=40)
        assert round_.pile == 40
        assert run(round_)[2:-1] == expected
        assert round_.pile == size
        won_ever.add(prizes)
    assert won_ever >= {0, 1, 2}


def test_the_pile_stops_growing_where_its_count_ends():
    game = fixed("CAC", "AAA", "AAA")
    game.tables.append([nothing()])
    game.modes[0].steps.append(pile([C], 1))
    assert [event[3] for event in played(game, pile=65534)] == [65535, 65535]


# --------------------------------------------------------------------------------------------------------------- AWARD


@pytest.mark.parametrize(
    ("least", "most", "needed", "wins"),
    [(2, 2, (), 1), (1, 255, (), 1), (3, 9, (), 0), (1, 1, (), 0), (2, 2, (D,), 1), (2, 2, (E, D), 1), (2, 2, (E,), 0)],
)
def test_an_award_counts_symbols_and_asks_for_another(least, most, needed, wins):
    game = fixed("CAA", "ACW", "AAD")  # the wild counts as itself only
    game.tables.append([credits(11)])
    game.modes[0].steps.append(award([C, E], 1, least, most, needed))
    assert played(game) == [(native.PRIZE, 0, 0, 0, 0, 11)] * wins


def test_prizes_are_carried_out_in_the_order_in_which_they_were_won():
    game = fixed("CAA", "ACA", "AAD")
    game.pots = [Pot("Mini", 50), Pot("Grand", 4_000_000_000)]
    game.tables += [[credits(1)], [pot(1)], [wheel(4)], [nothing(), credits(3), pot(0)], [nothing()]]
    game.modes[0].steps += [award([C], 5, 1), award([D], 3, 1), award([C], 2, 2), award([D], 1, 1)]
    for number in range(12):
        draws = Draws(seed(number))
        draws(1), draws(1)
        row = draws(3)
        wheeled = [[], [(native.PRIZE, 0, 0, 0, 0, 15)], [(native.POT, 0, 0, 0, 0, 250)]][row]
        assert played(game, seed(number), unit=5) == [
            (native.WHEEL, 4, 0, row, 0, 0),
            *wheeled,
            (native.POT, 1, 0, 0, 0, 20_000_000_000),
            (native.PRIZE, 0, 0, 0, 0, 5),
        ]


# -------------------------------------------------------------------------------------------------------------- RESPIN


def respinning(**fields: object) -> Game:
    """The first board shows C on reels 1 and 3; D is behind each of them on reel 2."""
    game = fixed("CAAB", "ADBB", "ACAD")
    game.modes[0].steps.append(respin([C], 2))
    for name, value in fields.items():
        setattr(game, name, value)
    game.rows = 3
    return game


def test_a_respin_holds_its_reels_and_draws_the_others_once():
    pack = Pack(build(respinning()))
    for number in range(40):
        draws, round_ = Draws(seed(number)), Round(pack, 0, 1, seed(number))
        draws(1), draws(1)
        events = run(round_)
        assert events[1:4] == [
            (native.SPIN, 0, 0, 0, 1, 0),
            (native.RESPIN, 0b101, 0, 0, 0, 0),
            (native.SPIN, 0, 0, 0, 1, 0),
        ]
        assert round_.stops() == (0, draws(4), 0)
        assert kinds(events[4:]) == [native.ROUND_END]  # C stays twice in view, and yet there is no second respin


def test_wins_values_and_steps_come_again_with_a_respin_but_held_reels_pile_nothing():
    game = respinning(lines=[[2, 2, 2]])
    game.symbols[A].pays = [4, 4, 4]
    game.tables += [[nothing()], [credits(1)]]
    game.modes[0].steps = [modifier(0), values([C], 2), pile([C, D], 1), respin([C], 2)]
    pack = Pack(build(game))
    for number in range(10):
        round_ = Round(pack, 0, 1, seed(number))
        events = run(round_)
        first, second = (n for n, event in enumerate(events) if event[0] == native.SPIN)
        before, after = events[first:second], events[second:]
        assert of(before, native.VALUE) == of(after, native.VALUE)  # the two C, held or not, draw again
        assert [event[5] for half in (before, after) for event in of(half, native.LINE_WIN)] == [4, 4]
        assert [event[1] for event in of(before, native.PILE)] == [0, 4, 7]
        landed = [cell for cell in (3, 4, 5) if round_.window()[cell] == D]
        assert [event[1] for event in of(after, native.PILE)] == landed


@pytest.mark.parametrize(("exactly", "queued", "expected"), [(1, 0, 0), (3, 0, 0), (2, 1, 0), (2, 0, 1)])
def test_a_respin_needs_exactly_so_many_and_an_empty_queue(exactly, queued, expected):
    game = respinning()
    game.tables.append([nothing()])
    game.modes[0].steps = [modifier(0), *[award([C], 1, 1)] * queued, respin([C], exactly)]
    assert len(of(played(game), native.RESPIN)) == expected


# -------------------------------------------------------------------------------------------- steps of free spins only


def free(*columns: str, steps: list, spins_: int = 1, most: int = 9, **fields: object) -> Game:
    """A base spin that always triggers a feature of such columns: constant ones show one window at any stop."""
    game = fixed(*columns, **fields)
    game.tables.append([feature(0)])
    game.modes[0].steps.append(award(range(8), 1, 1))
    game.modes[1].steps = steps
    game.features = [Feature(1, {0: [(spins_, 1)]}, most=most)]
    return game


def inside(events: list[Event]) -> list[Event]:
    """What happened between FREE_SPINS_BEGIN and its end, without SPIN."""
    first, last = kinds(events).index(native.FREE_SPINS_BEGIN), kinds(events).index(native.FREE_SPINS_END)
    return [event for event in events[first + 1 : last] if event[0] != native.SPIN]


def test_frames_rise_by_a_level_and_stay_at_three():
    game = free("CCC", "AAA", "AAA", steps=[frames([C])], spins_=4)
    round_ = Round(Pack(build(game)), 0, 1, bytes(32))
    expected = [(native.FRAME, cell, 0, level, 0, 0) for level in (1, 2, 3) for cell in (0, 1, 2)]
    assert inside(run(round_)) == expected
    assert round_.frames() == bytes([3, 3, 3, 0, 0, 0, 0, 0, 0])


def test_frames_of_level_3_take_a_bare_cell_or_pay():
    game = free("AAA", "CCC", "AAA", steps=[frames_of_level_3([C], 13)], spins_=4)
    cells = [(native.FRAME, cell, 0, 3, 0, 0) for cell in (3, 4, 5, 0, 1, 2, 6, 7, 8)]
    assert inside(played(game, unit=2)) == [*cells, *[(native.PRIZE, 0, 0, 0, 0, 26)] * 3]


def test_added_spins_are_bounded_by_the_most_that_the_feature_plays():
    game = free("AAA", "DDD", "CCC", steps=[add_spins([C, D], 2)], spins_=2, most=20)
    events = played(game)
    # 2 spins and 6 x 2 with each: 12, then the 6 to which there is room, then nothing.
    assert inside(events) == [(native.FREE_SPINS_ADDED, 0, D, n, 0, 0) for n in (12, 6)]
    assert of(events, native.FREE_SPINS_END) == [(native.FREE_SPINS_END, 0, 0, 20, 1, 0)]
    assert [event[3] for event in of(events, native.SPIN)] == [1, 12, *range(17, -1, -1)]


def test_spins_of_a_prize_are_added_to_the_feature_that_runs():
    game = free("AAA", "AAA", "CCC", steps=[award([C], 2, 3)], spins_=1, most=4)
    game.tables.append([spins(2)])
    assert inside(played(game)) == [(native.FREE_SPINS_ADDED, 0, 0, 2, 0, 0), (native.FREE_SPINS_ADDED, 0, 0, 1, 0, 0)]


def test_tokens_fill_rows_and_a_full_row_pays_and_empties_the_matrix():
    game = free("AAA", "AAA", "CCC", steps=[tokens([C], 2)], spins_=8)
    game.tables.append([pot(0, 3), pot(1)])
    game.pots = [Pot("Mini", 10, 4), Pot("Grand", 1000, 2)]
    seen = set()
    for number in range(10):
        draws, places, expected = Draws(seed(number)), [0, 0], []
        draws(1), draws(1)
        for _ in range(8):
            [draws(3) for _ in range(3)]
            for cell in (6, 7, 8):
                won = int(draws(4) == 3)
                places[won] += 1
                expected.append((native.TOKEN, cell, C, places[won], won, 0))
                if places[won] == (4, 2)[won]:
                    expected.append((native.POT, won, 0, 0, 0, (10, 1000)[won]))
                    seen.add(won)
                    places = [0, 0]
        round_ = Round(Pack(build(game)), 0, 1, seed(number))
        events = run(round_)
        assert inside(events) == expected
        assert round_.matrix() == bytes(places)
        assert round_.award_pence == sum(event[5] for event in of(expected, native.POT))
    assert seen == {0, 1}


def test_prizes_of_free_spins_follow_each_spin():
    game = free("CAA", "CAA", "CAA", steps=[pile([C], 2)], spins_=2)
    game.tables.append([credits(2)])
    pays = [*[native.PILE] * 3, *[native.PRIZE] * 3]
    events = played(game)
    assert kinds(inside(events)) == pays * 2
    assert of(events, native.FREE_SPINS_END)[0][5] == 12


def test_values_collect_and_scatters_in_a_feature():
    game = free("CCC", "SSS", "DDD", steps=[values([C], 2), collect([D])], spins_=2)
    game.tables.append([credits(4)])
    game.symbols[S].view = [0, 0, 3]
    game.modes[0].cost, game.modes[0].flags, game.modes[1].flags = 10, native.MODE_SELECTABLE, native.MODE_SCATTER_PAYS
    game.features[0].options = {0: [(2, 5)]}
    spin = [
        *((native.VALUE, cell, C, 0, 0, 4 * 2) for cell in range(3)),
        (native.SCATTER_WIN, 0, S, 3, 5, 3 * 10 * 2 * 5),  # the bet of the round, times the feature's multiplier
        (native.COLLECT, 6, D, 3, 0, 12 * 2),  # which values do not have
    ]
    assert inside(played(game, unit=2)) == spin * 2


def test_modes_keep_their_own_steps():
    game = free("CCC", "AAA", "AAA", steps=[frames([C])], spins_=1)
    game.modes.append(Mode("quiet", set=1, flags=native.MODE_SELECTABLE))
    assert kinds(run(Round(Pack(build(game)), 2, 1, bytes(32)))) == [native.SPIN, native.ROUND_END]

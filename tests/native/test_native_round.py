"""The round function: whole rounds against the oracle, the story of a feature, the win cap, replay, wrong calls."""

from collections.abc import Callable

import pytest

import native
from native import CoreError, Pack, Round
from native.cpython import line_wins
from tests.native import oracle_pack
from tests.native.everything import every_mechanic
from tests.native.oracle_round import Round as OracleRound
from tests.native.packs import (
    SCATTER_PAYS,
    SELECTABLE,
    Feature,
    Game,
    Mode,
    Symbol,
    award,
    build,
    feature,
    sample,
    slotopol_set_10,
)
from tests.native.rounds import find, kinds, of, run, seed

# ------------------------------------------------------------------------------------------------------------- events


def both(core: Round, oracle: OracleRound, number: int) -> None:
    """Plays both to the end with the same answers; every event and what is shown behind it is the same."""
    while not core.finished:
        event = core.next()
        assert event == oracle.next()
        for name in ("stops", "window", "frames", "values", "matrix", "options"):
            assert getattr(core, name)() == getattr(oracle, name)(), name
        assert (core.offer, core.pile, core.award_pence) == (oracle.offer, oracle.pile, oracle.award_pence)
        if event[0] == native.CHOICE:
            for round_ in (core, oracle):
                round_.choose(number % event[3])
        elif event[0] == native.GAMBLE_OFFER:
            for round_ in (core, oracle):
                round_.gamble(1, 1 + number % event[5])
    assert oracle.finished


@pytest.mark.parametrize("game", [sample(), slotopol_set_10(), every_mechanic()], ids=lambda game: game.name)
def test_a_thousand_rounds_play_as_the_oracle(game):
    data = build(game)
    pack, read = Pack(data), oracle_pack.read(data)
    for number in range(1000):
        arguments = (0, 7, seed(number), 0, True, number)
        both(Round(pack, *arguments), OracleRound(read, *arguments), number)


def test_the_window_is_the_strips_at_the_stops():
    pack = Pack(build(sample()))
    round_ = Round(pack, 0, 1, find(pack, lambda events: native.FREE_SPINS_END in kinds(events)))
    assert (round_.stops(), round_.window()) == ((), b"")
    set_ = 0
    while not round_.finished:
        event = round_.next()
        if event[0] == native.CHOICE:
            round_.choose(0)
        elif event[0] == native.SPIN:
            set_ = event[1]
        for reel, stop in enumerate(round_.stops()):
            strip = pack.strip(set_, reel)
            assert round_.window()[3 * reel : 3 * reel + 3] == (strip + strip)[stop : stop + 3]
    assert set_ == 1


def test_line_wins_are_those_of_the_window():
    pack = Pack(build(sample()))
    for number in range(200):
        round_ = Round(pack, 2, 3, seed(number))
        wins = of(run(round_), native.LINE_WIN)
        assert wins == [
            (native.LINE_WIN, w.line, w.symbol, w.run, w.multiplier, 3 * w.credits)
            for w in line_wins(pack, round_.window())
        ]


def test_a_feature_tells_its_story():
    pack = Pack(build(sample()))
    seed_ = find(pack, lambda events: {native.CHOICE, native.FREE_SPINS_ADDED} <= set(kinds(events)))
    round_ = Round(pack, 0, 10, seed_)
    while (event := round_.next())[0] != native.CHOICE:
        assert event[4] in (1, 2, 4, 8, 16, 32)  # wilds only
    assert event == (native.CHOICE, 0, 0, len(round_.options()), 0, 0)
    spins, multiplier = round_.options()[-1]
    before = round_.award_pence
    round_.choose(len(round_.options()) - 1)
    assert round_.options() == ()
    assert round_.next() == (native.FREE_SPINS_BEGIN, 0, 0, spins, multiplier, 0)
    left, played, won = spins, 0, 0
    while (event := round_.next())[0] not in (native.FREE_SPINS_END, native.WIN_CAP):
        if event[0] == native.SPIN:
            left, played = left - 1, played + 1
            assert event == (native.SPIN, 1, 0, left, multiplier, 0)
        elif event[0] == native.FREE_SPINS_ADDED:
            left += event[3]
        else:
            assert event[4] % multiplier == 0
            won += event[5]
    assert event == (native.FREE_SPINS_END, 0, 0, played, multiplier, won)
    assert round_.award_pence == before + won
    assert round_.next() == (native.ROUND_END, 0, 0, 0, 0, before + won)


def always(view: list[int] | None = None) -> Game:
    """Every window shows three scatters and a line of three A; two free spins with their wins times three."""
    return Game(
        symbols=[Symbol("A", [0, 0, 4]), Symbol("S", scatter=True, view=view or [])],
        lines=[[0, 0, 0]],
        sets=[[[0, 0, 0, 0, 1, 0, 0]] * 3, [[0, 1, 0]] * 3],
        modes=[
            Mode(cost=10),
            Mode("free", set=1, cost=3, flags=SCATTER_PAYS),
            Mode("bonus", set=1, cost=10, flags=SCATTER_PAYS | SELECTABLE, steps=[award([1], 0, 3)]),
        ],
        tables=[[feature(0)]],
        features=[Feature(mode=1, options={3: [(2, 3)]}, most=9)],
    )


def test_one_option_begins_without_a_choice():
    events = run(Round(Pack(build(always())), 2, 1, seed(1)))
    assert native.CHOICE not in kinds(events)
    assert (native.FREE_SPINS_BEGIN, 0, 0, 2, 3, 0) in events


def test_scatters_pay_the_rounds_total_bet_in_its_free_spins_too():
    events = run(Round(Pack(build(always(view=[0, 0, 5]))), 2, 7, seed(1)))
    pays = of(events, native.SCATTER_WIN)
    assert pays == [(4, 0, 1, 3, multiplier, 5 * 10 * 7 * multiplier) for multiplier in (1, 3, 3)]


def test_the_win_cap_cuts_once_and_ends_the_round():
    game = always(view=[0, 0, 5])
    game.cap = 400
    events = run(Round(Pack(build(game)), 2, 7, seed(1)))
    assert kinds(events)[-3:] == [native.SCATTER_WIN, native.WIN_CAP, native.ROUND_END]
    wins = sum(event[5] for event in of(events, native.LINE_WIN, native.SCATTER_WIN))
    assert wins > 400
    assert events[-2:] == [(native.WIN_CAP, 0, 0, 0, 0, wins - 400), (native.ROUND_END, 0, 0, 0, 0, 400)]
    assert native.FREE_SPINS_END not in kinds(events)


def test_a_total_of_exactly_the_cap_is_not_cut():
    game = always(view=[0, 0, 5])
    whole = Round(Pack(build(game)), 2, 7, seed(1))
    run(whole)
    game.cap = whole.award_pence
    events = run(Round(Pack(build(game)), 2, 7, seed(1)))
    assert native.WIN_CAP not in kinds(events)
    assert events[-1][5] == game.cap


def test_the_richest_win_fits():
    """2^32 - 1 credits at the largest unit that the pack may have, below 2^63 pence, cut at a cap of 2^63 - 1 or not."""
    game = always()
    game.symbols[0].pays, game.max_unit, game.cap = [0, 0, (2**32 - 1) // 3], 2**31, 2**63 - 1
    pack = Pack(build(game))
    round_ = Round(pack, 2, 2**31, find(pack, lambda events: kinds(events)[1:5:3] == [native.LINE_WIN] * 2, 2))
    events = run(round_)
    win = (2**32 - 1) // 3 * 2**31
    assert [event[5] for event in of(events, native.LINE_WIN)] == [win, 3 * win]
    assert of(events, native.WIN_CAP) == [(native.WIN_CAP, 0, 0, 0, 0, 4 * win - (2**63 - 1))]
    assert round_.award_pence == 2**63 - 1


# ------------------------------------------------------------------------------------------------ replay, wrong calls


@pytest.mark.parametrize("game", [sample(), every_mechanic()], ids=lambda game: game.name)
def test_a_replay_gives_the_same_events(game):
    pack = Pack(build(game))
    for number in range(200):
        assert run(Round(pack, 0, 5, seed(number))) == run(Round(Pack(build(game)), 0, 5, seed(number)))


def test_wrong_calls_leave_the_round_as_it_was():
    pack = Pack(build(sample()))
    round_ = Round(pack, 0, 1, find(pack, lambda events: native.CHOICE in kinds(events)))
    refuse(round_, "no_choice", lambda: round_.choose(0))
    refuse(round_, "no_offer", round_.collect)
    while round_.next()[0] != native.CHOICE:
        refuse(round_, "no_choice", lambda: round_.choose(0))
        refuse(round_, "no_offer", lambda: round_.gamble(0, 1))
    refuse(round_, "choice_due", round_.next)
    refuse(round_, "option", lambda: round_.choose(len(round_.options())))
    refuse(round_, "argument", lambda: round_.choose(-1))
    round_.choose(1)
    refuse(round_, "no_choice", lambda: round_.choose(1))
    run(round_)
    refuse(round_, "round_over", round_.next)


def refuse(round_: Round, error: str, call: Callable[[], object]) -> None:
    def shown() -> tuple:
        return round_.stops(), round_.window(), round_.options(), round_.offer, round_.award_pence, round_.finished

    before = shown()
    with pytest.raises(CoreError, match=rf"^{error}$"):
        call()
    assert shown() == before


def test_a_round_needs_a_selectable_mode_a_unit_a_seed_and_a_pile():
    pack = Pack(build(sample()))
    for error, arguments in (
        ("mode", (3, 1, bytes(32))),
        ("mode", (1, 1, bytes(32))),  # free spins are not for players to select
        ("mode", (255, 1, bytes(32))),
        ("mode", (256, 1, bytes(32))),
        ("mode", (2**32 - 1, 1, bytes(32))),
        ("unit", (0, 0, bytes(32))),
        ("unit", (0, 501, bytes(32))),
        ("wager", (0, 1, bytes(32), 1)),
        ("argument", (0, 1, bytes(31))),
        ("argument", (0, 2**32, bytes(32))),
        ("argument", (-1, 1, bytes(32))),
        ("argument", (0, 1, bytes(32), 2**32)),
        ("argument", (0, 1, bytes(32), 0, False, 65536)),
        ("argument", (0, 1, bytes(32), 0, False, -1)),
    ):
        with pytest.raises(CoreError, match=rf"^{error}$"):
            Round(pack, *arguments)

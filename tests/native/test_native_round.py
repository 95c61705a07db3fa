"""The round function: its events against an independent round; nothing is lost or gained by save and resume."""

import os
import struct
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import native
from native import CoreError, Pack, Round, resume
from native.cpython import line_wins
from native.cpython.wrapper import ROUND_STATE_BYTES
from tests.native import oracle
from tests.native.packs import NONE, Feature, Game, Mode, Symbol, build, sample, slotopol_set_10
from tests.native.strategies import games

STATE_BYTES = 112


def seed(number: int) -> bytes:
    return number.to_bytes(32, "little")


def run(round_: Round, choose: Callable[[int], int] = lambda options: 0) -> list[tuple]:
    events = []
    while not round_.finished:
        event = round_.next()
        events.append(event)
        if event[0] == native.CHOICE:
            assert len(round_.options()) == event[3]
            round_.choose(choose(event[3]))
        else:
            assert round_.options() == ()
    return events


def find(pack: Pack, wanted: Callable[[list[tuple]], bool], mode: int = 0, unit: int = 1) -> bytes:
    """A seed whose round, with the first options, is the wanted one."""
    return next(seed(n) for n in range(20_000) if wanted(run(Round(pack, mode, unit, seed(n)))))


def kinds(events: list[tuple]) -> list[int]:
    return [event[0] for event in events]


# ------------------------------------------------------------------------------------------------------------ events


@settings(max_examples=250, deadline=None)
@given(games(sets=2), st.integers(1, 500), st.binary(min_size=32, max_size=32), st.randoms(use_true_random=False))
def test_random_games_play_as_the_oracle(game, unit, seed_, random):
    choices = [random.randrange(2**32) for _ in range(2)]
    expected, award = oracle.play(game, 0, unit, seed_, lambda options: choices[0] % options)
    round_ = Round(Pack(build(game)), 0, unit, seed_)
    assert run(round_, lambda options: choices[0] % options) == expected
    assert round_.award_pence == award


@pytest.mark.parametrize("game", [sample(), slotopol_set_10()], ids=lambda game: game.name)
def test_a_thousand_rounds_play_as_the_oracle(game):
    pack = Pack(build(game))
    for number in range(1000):
        expected, _ = oracle.play(game, 0, 7, seed(number), lambda options, n=number: n % options)
        assert run(Round(pack, 0, 7, seed(number)), lambda options, n=number: n % options) == expected


def test_the_window_is_the_strips_at_the_stops():
    pack = Pack(build(sample()))
    round_ = Round(pack, 0, 1, find(pack, lambda events: native.FREE_SPINS_END in kinds(events)))
    assert (round_.stops(), round_.window()) == ((), b"")
    set_ = 0
    while not round_.finished:
        event = round_.next()
        if event[0] == native.CHOICE:
            round_.choose(0)
        if event[0] == native.SPIN:
            set_ = event[1]
        cells = [
            pack.strip(set_, reel)[(stop + row) % len(pack.strip(set_, reel))]
            for reel, stop in enumerate(round_.stops())
            for row in range(3)
        ]
        assert round_.window() == bytes(cells)


def test_line_wins_of_a_spin_are_those_of_its_window():
    pack = Pack(build(sample()))
    for number in range(200):
        round_ = Round(pack, 2, 3, seed(number))
        wins = [event for event in run(round_) if event[0] == native.LINE_WIN]
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
    assert event == (native.CHOICE, 0, 5, len(round_.options()), 0, 0)
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


def always(view: list[int] | None = None, **feature: object) -> Game:
    """Every window shows three scatters and a line of three A."""
    game = Game(
        symbols=[Symbol("A", [0, 0, 4]), Symbol("S", scatter=True, view=view or [])],
        lines=[[0, 0, 0]],
        sets=[[[0, 0, 0, 0, 1, 0, 0]] * 3, [[0, 1, 0]] * 3],
        modes=[Mode(cost=10), Mode("free", set=1, cost=3), Mode("bonus", set=1, cost=10, feature=0)],
    )
    game.features = [Feature(trigger=1, mode=1, **{"options": {3: [(2, 3)]}, "most": 9, **feature})]
    return game


def test_free_spins_that_add_spins_are_bounded_and_the_rest_is_not_added():
    game = always(options={3: [(2, 3)]}, most=9, adds=1, added=1)
    events = run(Round(Pack(build(game)), 2, 1, seed(1)))
    # Every free spin shows three scatters: 2 + 3 + 3 + 1 = 9, then nothing.
    assert [event[3] for event in events if event[0] == native.FREE_SPINS_ADDED] == [3, 3, 1]
    assert [event[3] for event in events if event[0] == native.SPIN] == [0, 1, 3, 5, 5, 4, 3, 2, 1, 0]
    assert next(event for event in events if event[0] == native.FREE_SPINS_END)[3] == 9


def test_one_option_begins_without_a_choice():
    events = run(Round(Pack(build(always())), 2, 1, seed(1)))
    assert native.CHOICE not in kinds(events)
    assert (native.FREE_SPINS_BEGIN, 0, 0, 2, 3, 0) in events


def test_more_scatters_than_the_largest_count_use_its_options():
    game = always(options={1: [(1, 9)], 2: [(2, 2), (1, 4)]})
    round_ = Round(Pack(build(game)), 2, 1, seed(1))
    assert run(round_)[0][0] == native.SPIN
    round_ = Round(Pack(build(game)), 2, 1, seed(1))
    while round_.next()[0] != native.CHOICE:
        pass
    assert round_.options() == ((2, 2), (1, 4))


def test_scatters_pay_the_rounds_total_bet_in_its_free_spins_too():
    events = run(Round(Pack(build(always(view=[0, 0, 5]))), 2, 7, seed(1)))
    pays = [event for event in events if event[0] == native.SCATTER_WIN]
    assert pays == [(4, 0, 1, 3, multiplier, 5 * 10 * 7 * multiplier) for multiplier in (1, 3, 3)]


def test_the_win_cap_cuts_once_and_ends_the_round():
    game = always(view=[0, 0, 5])
    game.cap = 400
    events = run(Round(Pack(build(game)), 2, 7, seed(1)))
    assert kinds(events)[-3:] == [native.SCATTER_WIN, native.WIN_CAP, native.ROUND_END]
    wins = sum(event[5] for event in events if event[0] in (native.LINE_WIN, native.SCATTER_WIN))
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


# --------------------------------------------------------------------------------------------- replay, save and resume


def test_a_replay_gives_the_same_events():
    pack = Pack(build(sample()))
    for number in range(300):
        assert run(Round(pack, 0, 5, seed(number))) == run(Round(Pack(build(sample())), 0, 5, seed(number)))


@pytest.mark.parametrize("number", range(40))
def test_a_round_resumed_after_every_event_goes_on_the_same(number):
    pack = Pack(build(sample()))
    seed_ = find(pack, lambda events: len(events) > 20) if number == 0 else seed(number)
    whole = run(Round(pack, 0, 500, seed_), lambda options: number % options)
    round_, events = Round(pack, 0, 500, seed_), []
    while True:
        saved = round_.save()
        again = resume(pack, saved)
        assert again.save() == saved
        assert (again.stops(), again.window(), again.options()) == (round_.stops(), round_.window(), round_.options())
        assert (again.award_pence, again.finished) == (round_.award_pence, round_.finished)
        round_ = again
        if round_.finished:
            break
        if round_.options():
            round_.choose(number % len(round_.options()))
        else:
            events.append(round_.next())
    assert events == whole


def test_saved_bytes_are_the_same_on_every_platform():
    """Pinned: a change here breaks rounds that cabinets in the field have saved, and needs a new state version."""
    pack = Pack(build(always(view=[0, 0, 5])))
    round_ = Round(pack, 2, 7, bytes(range(32)))
    for _ in range(5):
        round_.next()
    saved = round_.save()
    assert len(saved) == STATE_BYTES == ROUND_STATE_BYTES
    assert saved[8:24] == pack.sha256[:16]
    assert saved[24:56] == bytes(range(32))
    assert tuple(saved[:4]) == (1, 1, 2, 1)  # version, phase, mode, mode of the spin shown
    assert struct.unpack_from("<I", saved, 4) == (7,)
    assert struct.unpack_from("<QQQI", saved, 56) == (5 * 10 * 7 + 4 * 7 * 3, 4 * 7 * 3, 0, 6)
    assert struct.unpack_from("<6HHHHB5x", saved, 84) == (*round_.stops(), 0, 0, 0, 0, 1, 1, 1)
    assert struct.unpack_from("<I", saved, 108) == (zlib.crc32(saved[:108]),)


def test_wrong_calls_leave_the_round_as_it_was():
    pack = Pack(build(sample()))
    round_ = Round(pack, 0, 1, find(pack, lambda events: native.CHOICE in kinds(events)))
    refuse(round_, "no_choice", lambda: round_.choose(0))
    while round_.next()[0] != native.CHOICE:
        refuse(round_, "no_choice", lambda: round_.choose(0))
    refuse(round_, "choice_due", round_.next)
    refuse(round_, "option", lambda: round_.choose(len(round_.options())))
    refuse(round_, "argument", lambda: round_.choose(-1))
    round_.choose(1)
    refuse(round_, "no_choice", lambda: round_.choose(1))
    run(round_)
    refuse(round_, "round_over", round_.next)


def refuse(round_: Round, error: str, call: Callable[[], object]) -> None:
    before = round_.save()
    with pytest.raises(CoreError, match=rf"^{error}$"):
        call()
    assert round_.save() == before


def test_a_round_needs_a_selectable_mode_a_unit_and_a_seed():
    pack = Pack(build(sample()))
    for error, arguments in (
        ("mode", (3, 1, bytes(32))),
        ("mode", (1, 1, bytes(32))),  # free spins are not for players to select
        ("mode", (2**32 - 1, 1, bytes(32))),
        ("unit", (0, 0, bytes(32))),
        ("unit", (0, 501, bytes(32))),
        ("argument", (0, 1, bytes(31))),
        ("argument", (0, 2**32, bytes(32))),
        ("argument", (-1, 1, bytes(32))),
    ):
        with pytest.raises(CoreError, match=rf"^{error}$"):
            Round(pack, *arguments)


# ------------------------------------------------------------------------------------------------------ hostile states


def reseal(state: bytes | bytearray) -> bytes:
    return bytes(state[:108]) + struct.pack("<I", zlib.crc32(bytes(state[:108])))


def states(pack: Pack) -> list[bytes]:
    """The states of a few rounds, one of them with a feature and added spins, one capped."""
    found = []
    for seed_ in (
        seed(1),
        find(pack, lambda events: {native.CHOICE, native.FREE_SPINS_ADDED} <= set(kinds(events))),
        find(pack, lambda events: native.WIN_CAP in kinds(events), unit=500),
    ):
        round_ = Round(pack, 0, 500, seed_)
        found.append(round_.save())
        while not round_.finished:
            if round_.next()[0] == native.CHOICE:
                found.append(round_.save())
                round_.choose(1)
            found.append(round_.save())
    return found


def test_every_damaged_byte_of_a_state_is_noticed():
    pack = Pack(build(sample()))
    for state in states(pack)[::7]:
        for at in range(STATE_BYTES):
            for bit in range(8):
                damaged = bytearray(state)
                damaged[at] ^= 1 << bit
                with pytest.raises(CoreError, match=r"^state_crc$"):
                    resume(pack, bytes(damaged))
    for length in (0, 1, STATE_BYTES - 1, STATE_BYTES + 1):
        with pytest.raises(CoreError, match=r"^state_length$"):
            resume(pack, bytes(length))


def resumed(pack: Pack, state: bytes | bytearray) -> Round | str:
    """The round, or the name of the error."""
    try:
        return resume(pack, reseal(state))
    except CoreError as error:
        return error.args[0]


def play_on(round_: Round) -> None:
    if round_.options():
        round_.choose(0)
    run(round_)


def test_a_changed_state_under_a_right_crc_is_refused_or_plays_to_its_end():
    pack = Pack(build(sample()))
    fixed = {0, *range(8, 24), *range(103, 108)}  # version, pack and zero bytes have one value only
    accepted = 0
    for state in states(pack)[::5]:
        for at in range(108):
            for flip in (1, 2, 0x40, 0x80, 0xFF):
                changed = bytearray(state)
                changed[at] ^= flip
                round_ = resumed(pack, changed)
                if isinstance(round_, str):
                    expected = {0: "state_version", **dict.fromkeys(range(8, 24), "state_pack")}
                    assert round_ == expected.get(at, "state_value")
                    continue
                assert at not in fixed
                accepted += 1
                play_on(round_)
    assert accepted  # another seed, say


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_arbitrary_states_are_refused_or_play_to_their_end(data):
    pack = Pack(build(sample()))
    state = bytearray(data.draw(st.binary(min_size=STATE_BYTES, max_size=STATE_BYTES)))
    state[0] = 1
    state[8:24] = pack.sha256[:16]
    for at, most in ((1, 9), (2, 2), (3, 2), (102, 15), (96, 6)):  # near enough to be taken sometimes
        state[at] = data.draw(st.integers(0, most))
    state[103:108] = bytes(5)
    round_ = resumed(pack, state)
    if isinstance(round_, str):
        assert round_ == "state_value"
    else:
        play_on(round_)


def at(offset: int, layout: str, *values: int) -> Callable[[bytearray], object]:
    return lambda state: struct.pack_into("<" + layout, state, offset, *values)


@pytest.mark.parametrize(
    ("error", "change"),
    [
        ("state_version", at(0, "B", 2)),
        ("state_pack", at(8, "B", 0)),
        ("state_value", at(1, "B", 3)),  # a phase that never lasts
        ("state_value", at(1, "B", 10)),
        ("state_value", at(1, "B", 4)),  # a choice, without scatters
        ("state_value", at(1, "B", 7)),  # capped, with nothing cut
        ("state_value", at(2, "B", 1)),  # a mode that nobody can select
        ("state_value", at(2, "B", 3)),
        ("state_value", at(3, "B", 1)),  # a free spin without a feature
        ("state_value", at(3, "B", NONE)),  # stops without a spin
        ("state_value", at(4, "I", 0)),
        ("state_value", at(4, "I", 501)),
        ("state_value", at(56, "Q", 50_001)),  # above the cap
        ("state_value", at(56, "Q", 2**64 - 1)),
        ("state_value", at(64, "Q", 1)),  # free spins won without any
        ("state_value", at(72, "Q", 1)),  # cut below the cap
        ("state_value", at(80, "I", 4)),  # five reels, four words
        ("state_value", at(80, "I", 5 * 129 + 1)),
        ("state_value", at(84, "H", 9)),  # a stop beyond the strip
        ("state_value", at(94, "H", 1)),  # a sixth reel
        ("state_value", at(96, "H", 0)),  # an option without a feature
        ("state_value", at(98, "H", 1)),
        ("state_value", at(100, "H", 1)),
        ("state_value", at(102, "B", 16)),  # line
        ("state_value", at(103, "B", 1)),
    ],
)
def test_impossible_states_are_refused(error, change):
    pack = Pack(build(sample()))
    round_ = Round(pack, 0, 1, find(pack, lambda events: len(events) == 3 and native.LINE_WIN in kinds(events)))
    while round_.next()[0] != native.LINE_WIN:
        pass
    state = bytearray(round_.save())
    assert resume(pack, reseal(state)).save() == state
    change(state)
    with pytest.raises(CoreError, match=rf"^{error}$"):
        resume(pack, reseal(state))


@pytest.mark.parametrize(
    "change",
    [
        at(96, "H", 6),  # an option that the window did not offer
        at(96, "H", 0xFFFE),
        at(98, "H", 0),  # nothing left, and yet a spin next
        at(98, "H", 13),  # more than the feature plays
        at(3, "B", 0),  # the base spin's window with spins played
        at(1, "B", 5),  # the feature begins twice
        at(1, "B", 6),  # ends with spins left
        at(1, "B", 8),
        at(64, "Q", 10**9),  # won more in them than at all
    ],
)
def test_impossible_states_of_a_feature_are_refused(change):
    pack = Pack(build(sample()))
    round_ = Round(pack, 0, 1, find(pack, lambda events: native.CHOICE in kinds(events)))
    spins = 0
    while spins < 3:
        event = round_.next()
        spins += event[0] == native.SPIN
        if event[0] == native.CHOICE:
            round_.choose(0)
    state = bytearray(round_.save())
    state[1], state[102] = 0, 0  # as if its lines were done
    assert resume(pack, reseal(state)).stops() == round_.stops()
    change(state)
    with pytest.raises(CoreError, match=r"^state_value$"):
        resume(pack, reseal(state))


def test_a_state_belongs_to_one_pack():
    game = sample()
    game.name = "other"
    round_ = Round(Pack(build(sample())), 0, 1, os.urandom(32))
    with pytest.raises(CoreError, match=r"^state_pack$"):
        resume(Pack(build(game)), round_.save())

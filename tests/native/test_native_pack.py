"""Packs: what a good one shows, and that every bad one is refused by name."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import native
from native import MODE_SCATTER_PAYS, MODE_SELECTABLE, CoreError, Pack, Round
from native.cpython._core import ffi, lib
from tests.native.everything import every_mechanic
from tests.native.packs import (
    NONE,
    TAGS,
    assemble,
    build,
    sample,
    seal,
    sections,
)


def error_of(data: bytes | bytearray) -> str:
    with pytest.raises(CoreError) as caught:
        Pack(data)
    return caught.value.args[0]


def test_a_good_pack_shows_what_was_put_in():
    game = sample()
    data = build(game)
    pack = Pack(data)
    assert (pack.name, pack.sha256) == ("sample", data[32:64])
    assert (pack.reels, pack.rows, pack.win_cap_pence, pack.max_unit_pence) == (5, 3, 50_000, 500)
    assert pack.symbols == ("Ace", "Bell", "Cherry £", "Wild", "Double", "Scatter")
    assert pack.lines == tuple(tuple(line) for line in game.lines)
    assert pack.modes == ("base", "free_spins", "plain")
    assert [pack.cost(mode) for mode in range(3)] == [15, 15, 15]
    assert [pack.flags(mode) for mode in range(3)] == [MODE_SCATTER_PAYS | MODE_SELECTABLE, 0, 3]
    assert pack.rtp_ppm(0) == (940_000, 950_000)
    assert [pack.pay(1, run) for run in range(1, 6)] == game.symbols[1].pays
    assert [pack.scatter_pay(5, count) for count in range(1, 7)] == [0, 1, 3, 10, 50, 0]
    assert pack.scatter_pay(0, 3) == 0
    assert pack.strip(1, 4) == bytes(game.sets[1][4])
    assert pack.features == (("free", 1, ((3, 4, 3), (3, 6, 2), (4, 5, 4), (5, 10, 2), (5, 8, 3), (5, 6, 5))),)
    assert pack.steps(0) == ((native.STEP_AWARD, 0, 255, 3, 0b100000, 0, 0),)
    assert pack.steps(1) == ((native.STEP_ADD_SPINS, 0, 0, 1, 0b100000, 0, 0),)
    assert (pack.steps(2), pack.table(0)) == ((), ((1, native.PRIZE_FEATURE, 0, 0),))
    assert pack.wilds == ((3, 1, 0b111), (4, 2, 0b111))
    assert (pack.stake, pack.spin_chance, pack.pots, pack.gambles) == (15, False, (), ())
    assert (pack.gamble_payback_ppm, pack.gamble_from, pack.gamble_limit, pack.most_gambles) == (0, 0, 0, 0)


def test_a_pack_with_every_mechanic_shows_what_was_put_in():
    game = every_mechanic()
    pack = Pack(build(game))
    assert [pack.evaluation(mode) for mode in range(len(game.modes))] == [mode.evaluation for mode in game.modes]
    for number, mode in enumerate(game.modes):
        assert pack.steps(number) == tuple(
            (s.op, s.index, s.most, s.least, s.symbols, s.needed, s.credits) for s in mode.steps
        )
    for number, table in enumerate(game.tables):
        assert pack.table(number) == tuple((p.weight, p.kind, p.index, p.number) for p in table)
    for number, group in enumerate(game.groups):
        assert pack.boards(number) == (group.mode, tuple(tuple(board) for board in group.boards))
    for number, feature in enumerate(game.features):
        assert pack.bowls(number) == tuple(
            (level, table) for level, table in enumerate(feature.bowls, 1) if table != NONE
        )
    assert [row[:2] for row in pack.features] == [(feature.name, feature.mode) for feature in game.features]
    assert pack.pots == tuple((pot.name, pot.credits, pot.tokens) for pot in game.pots)
    assert pack.gambles == tuple(
        (g.name, g.feature != NONE, g.feature, g.numerator, g.denominator, g.spins, g.value, g.then_cash_only)
        for g in game.gambles
    )
    assert (pack.gamble_payback_ppm, pack.gamble_from, pack.gamble_limit, pack.most_gambles) == (
        *(game.payback, game.gamble_from),
        *(game.gamble_limit, game.most_gambles),
    )
    assert pack.spin_chance


def test_accessors_check_their_indices():
    pack = Pack(build(sample()))
    for call in (
        lambda: pack.cost(3),
        lambda: pack.flags(-1),
        lambda: pack.rtp_ppm(16),
        lambda: pack.pay(6, 1),
        lambda: pack.pay(0, 0),
        lambda: pack.pay(0, 6),
        lambda: pack.scatter_pay(5, 16),
        lambda: pack.scatter_pay(5, 0),
        lambda: pack.strip(2, 0),
        lambda: pack.strip(0, 5),
        lambda: pack.evaluation(3),
        lambda: pack.steps(3),
        lambda: pack.steps(-1),
        lambda: pack.table(1),
        lambda: pack.boards(0),
        lambda: pack.bowls(1),
    ):
        with pytest.raises(CoreError, match="argument"):
            call()


def test_a_pack_outlives_the_callers_buffer():
    buffer = bytearray(build(sample()))
    pack = Pack(buffer)
    buffer[:] = bytes(len(buffer))
    assert pack.symbols[0] == "Ace"
    assert pack.strip(0, 0) == bytes(sample().sets[0][0])


def test_every_error_has_its_own_name():
    names = [lib.cab_error_name(code) for code in range(lib.CAB_ERRORS + 1)]
    texts = [ffi.string(name).decode() for name in names]
    assert len(set(texts)) == len(texts)
    assert (texts[0], texts[-1]) == ("ok", "unknown")


def test_every_damaged_byte_is_noticed():
    data = build(sample())
    for at in range(len(data)):
        for flip in (*(1 << bit for bit in range(8)), 0xFF):
            damaged = bytearray(data)
            damaged[at] ^= flip
            assert error_of(damaged).startswith("pack_")


def test_every_cut_and_every_extension_is_noticed():
    data = build(sample())
    for length in range(len(data)):
        assert error_of(data[:length]) == "pack_length"
    assert error_of(data + b"\0") == "pack_length"


def play_a_round_of_each_mode(pack: Pack) -> None:
    for mode in range(len(pack.modes)):
        if not pack.flags(mode) & MODE_SELECTABLE:
            continue
        round_ = Round(pack, mode, 1, bytes(32), gamble=True)
        for _ in range(300):
            if round_.finished:
                break
            kind = round_.next()[0]
            if kind == native.CHOICE:
                round_.choose(0)
            elif kind == native.GAMBLE_OFFER:
                round_.collect()


@pytest.mark.parametrize("game", [sample(), every_mechanic()], ids=lambda game: game.name)
def test_a_changed_byte_under_a_right_hash_is_refused_or_harmless(game):
    data = build(game)
    accepted = 0
    for at in [*range(32), *range(64, len(data))]:
        for flip in (1, 0x80, 0xFF):
            changed = bytearray(data)
            changed[at] ^= flip
            try:
                pack = Pack(seal(changed))
            except CoreError:
                continue
            accepted += 1
            play_a_round_of_each_mode(pack)
    assert accepted > 100  # pays and names may change; the structure may not


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_sections_of_random_bytes_are_refused_or_harmless(data):
    content = sections(every_mechanic())
    for tag in data.draw(st.sets(st.sampled_from(TAGS), min_size=1, max_size=3)):
        size = len(content[tag])
        content[tag] = bytearray(data.draw(st.binary(min_size=size, max_size=size)))
    try:
        pack = Pack(assemble(content))
    except CoreError:
        return
    play_a_round_of_each_mode(pack)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_refused(data):
    assert error_of(data).startswith("pack_")
    assert error_of(b"CABG\2\0\x40\0" + struct.pack("<I", 64 + len(data)) + bytes(52) + data).startswith("pack_")

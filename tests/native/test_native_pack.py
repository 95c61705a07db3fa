"""Packs: what a good one shows, and that every bad one is refused by name."""

import struct
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from native import MODE_SCATTER_PAYS, MODE_SELECTABLE, CoreError, Pack, Round
from native.cpython._core import ffi, lib
from tests.native.packs import (
    NONE,
    PRODUCT,
    SUM,
    TAGS,
    Feature,
    Game,
    Mode,
    Symbol,
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
        round_ = Round(pack, mode, 1, bytes(32))
        for _ in range(200):
            if round_.finished:
                break
            if round_.next()[0] == 5:
                round_.choose(0)


def test_a_changed_byte_under_a_right_hash_is_refused_or_harmless():
    data = build(sample())
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
    content = sections(sample())
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
    assert error_of(b"CABG\1\0\x40\0" + struct.pack("<I", 64 + len(data)) + bytes(52) + data).startswith("pack_")


# ------------------------------------------------------------------------------------------------------ named faults


def header(at: int, new: bytes) -> bytes:
    data = bytearray(build(sample()))
    data[at : at + len(new)] = new
    return seal(data)


def patched(tag: bytes, at: int, new: bytes) -> bytes:
    content = sections(sample())
    content[tag][at : at + len(new)] = new
    return assemble(content)


def resized(tag: bytes, by: int) -> bytes:
    content = sections(sample())
    content[tag] = content[tag][:by] if by < 0 else content[tag] + bytes(by)
    return assemble(content)


def changed(change: Callable[[Game], object]) -> bytes:
    game = sample()
    change(game)
    return build(game)


def table(row: int, at: int, new: bytes) -> bytes:
    return header(64 + 12 * row + at, new)


def retagged(order: list[bytes]) -> bytes:
    content = sections(sample())
    return assemble({tag: content.get(tag, bytearray()) for tag in order})


def gap() -> bytes:
    """Four unused bytes between the table and the first section."""
    data = build(sample())
    moved = bytearray(data[: 64 + 12 * 11] + bytes(4) + data[64 + 12 * 11 :])
    struct.pack_into("<I", moved, 8, len(moved))
    for row in range(11):
        struct.pack_into("<I", moved, 64 + 12 * row + 4, struct.unpack_from("<I", moved, 64 + 12 * row + 4)[0] + 4)
    return seal(moved)


def padding_used() -> bytes:
    data = bytearray(build(sample()))
    for row in range(11):
        offset, size = struct.unpack_from("<II", data, 64 + 12 * row + 4)
        if size % 4:
            data[offset + size] = 1
            return seal(data)
    raise AssertionError("no section is padded")


def symbol(number: int, **changes: object) -> bytes:
    return changed(lambda game: [setattr(game.symbols[number], name, value) for name, value in changes.items()])


def mode(number: int, **changes: object) -> bytes:
    return changed(lambda game: [setattr(game.modes[number], name, value) for name, value in changes.items()])


def feature(**changes: object) -> bytes:
    return changed(lambda game: [setattr(game.features[0], name, value) for name, value in changes.items()])


def nine_scatters() -> bytes:
    symbols = [Symbol(f"S{n}", scatter=True) for n in range(9)]
    return build(Game(symbols=symbols, lines=[], sets=[[[0] * 3] * 3]))


def rich(pay: int, *, unit: int = 1, lines: int = 1, wild: int = 1, **options: object) -> bytes:
    game = Game(
        symbols=[Symbol("A", [0, 0, pay]), Symbol("W", wild=True, mask=1, multiplier=wild)],
        lines=[[0, 0, 0]] * lines,
        sets=[[[0, 1, 0]] * 3],
        max_unit=unit,
    )
    for name, value in options.items():
        setattr(game, name, value)
    return build(game)


def rich_feature(spins: int, multiplier: int, *, pay: int = 1, unit: int = 1, wild: int = 1, rule: int = 0) -> bytes:
    game = Game(
        symbols=[
            Symbol("A", [0, 0, pay]),
            Symbol("S", scatter=True),
            Symbol("W", wild=True, mask=1, multiplier=wild),
        ],
        lines=[[0, 0, 0]],
        sets=[[[0, 1, 0]] * 3],
        modes=[Mode(feature=0), Mode("free", flags=0)],
        features=[Feature(trigger=1, mode=1, options={3: [(1, multiplier)]}, most=spins)],
        max_unit=unit,
        rule=rule,
    )
    return build(game)


BAD = {
    "pack_magic": [lambda: header(0, b"CABH")],
    "pack_version": [lambda: header(4, b"\2")],
    "pack_length": [lambda: header(6, b"\x41"), lambda: header(8, b"\0\0\0\1")],
    "pack_hash": [lambda: build(sample())[:40] + b"\0" + build(sample())[41:]],
    "pack_reserved": [
        lambda: header(14, b"\1"),
        padding_used,
        lambda: patched(b"GAME", 9, b"\1"),
        lambda: patched(b"GAME", 28, b"\1"),
        lambda: patched(b"SYMB", 8, b"\1"),
        lambda: patched(b"SETS", 6, b"\1"),
        lambda: patched(b"MODE", 9, b"\1"),
        lambda: patched(b"MODE", 23, b"\1"),
        lambda: patched(b"FEAT", 8, b"\1"),
        lambda: patched(b"OPTN", 6, b"\1"),
    ],
    "pack_name": [
        lambda: header(16, bytes(16)),
        lambda: header(16, b"Sample"),
        lambda: header(16, b"a" * 16),
        lambda: header(16, b"sample\0x"),
        lambda: header(16, b"s ample"),
    ],
    "pack_sections": [
        lambda: header(12, b"\xff\xff"),
        gap,
        lambda: table(0, 4, b"\x01"),
        lambda: table(3, 4, struct.pack("<I", 64)),
        lambda: table(10, 8, struct.pack("<I", 2**32 - 1)),
        lambda: table(10, 4, struct.pack("<I", 2**32 - 4)),
        lambda: table(10, 8, b"\0\0\0\0"),  # bytes of the pack that belong to no section
        lambda: header(12, b"\x0a"),  # the last row of the table is read as a gap
    ],
    "pack_tag": [
        lambda: table(0, 0, b"WAYS"),
        lambda: table(1, 0, b"GAME"),
        lambda: retagged([tag for tag in TAGS if tag != b"FEAT"]),
        lambda: retagged([*TAGS, b"EXTR"]),
    ],
    "pack_size": [lambda tag=tag, by=by: resized(tag, by) for tag in TAGS[:7] + TAGS[8:11] for by in (4, -4)],
    "pack_game": [
        *(
            lambda at=at, value=value: patched(b"GAME", at, bytes([value]))
            for at, value in ((0, 2), (0, 7), (1, 2), (1, 6))
        ),
        *(lambda at=at: patched(b"GAME", at, b"\0") for at in (2, 4, 5)),
        *(
            lambda at=at, most=most: patched(b"GAME", at, bytes([most + 1]))
            for at, most in ((2, 32), (3, 100), (4, 16))
        ),
        *(
            lambda at=at, most=most: patched(b"GAME", at, bytes([most + 1]))
            for at, most in ((5, 16), (6, 8), (7, 2), (8, 1))
        ),
        lambda: patched(b"GAME", 16, b"\0\0\0\0\0\0\0\x80"),
        lambda: changed(lambda game: setattr(game, "max_unit", 0)),
    ],
    "pack_bets": [
        lambda: patched(b"BETS", 0, b"\0\0"),  # no level
        lambda: patched(b"BETS", 0, b"\2\0"),  # the dearest coin at the highest level is not the largest unit
        lambda: changed(lambda game: setattr(game, "coin_values", [])),
        lambda: changed(lambda game: setattr(game, "coin_values", list(range(484, 501)))),  # 17
        lambda: changed(lambda game: setattr(game, "coin_values", [500, 100, 500])),
        lambda: changed(lambda game: setattr(game, "coin_values", [100, 100, 500])),
        lambda: changed(lambda game: setattr(game, "coin_values", [0, 500])),
    ],
    "pack_text": [
        lambda: resized(b"TEXT", -1),
        lambda: patched(b"TEXT", 0, b"\xff"),
        lambda: patched(b"TEXT", 0, b"\xc0\x80e"),  # overlong zero
        lambda: patched(b"TEXT", 0, b"\xed\xa0\x80"),  # surrogate
        lambda: patched(b"TEXT", 0, b"\0"),  # an empty name
        lambda: patched(b"SYMB", 0, b"\1"),  # inside a name
        lambda: patched(b"SYMB", 0, b"\xff\xff"),
        lambda: patched(b"MODE", 0, b"\xff\xff"),
        lambda: changed(lambda game: [setattr(row, "name", "") for row in [*game.symbols, *game.modes]]),
    ],
    "pack_symbol": [lambda: patched(b"SYMB", 2, b"\4"), nine_scatters],
    "pack_wild": [
        lambda: symbol(3, mask=0),
        lambda: symbol(3, mask=0b1001),  # itself
        lambda: symbol(3, mask=1 << 6),  # a symbol that is not there
        lambda: symbol(3, mask=1 << 31),
        lambda: symbol(3, multiplier=0),
        lambda: symbol(0, multiplier=2),
        lambda: symbol(0, multiplier=0),
        lambda: symbol(0, mask=2),
    ],
    "pack_line": [lambda: patched(b"LINE", 74, b"\3"), lambda: patched(b"LINE", 0, b"\xff")],
    "pack_strip": [
        lambda: patched(b"STRP", 0, b"\6"),
        lambda: patched(b"SETS", 4, b"\2\0"),
        lambda: patched(b"SETS", 4, struct.pack("<H", 4097)),
        lambda: patched(b"SETS", 0, struct.pack("<I", 73)),
        lambda: patched(b"SETS", 0, struct.pack("<I", 2**32 - 1)),
        lambda: resized(b"STRP", -1),
    ],
    "pack_mode": [
        lambda: mode(0, set=2),
        lambda: mode(0, cost=0),
        lambda: mode(0, flags=4),
        lambda: mode(0, feature=1),
        lambda: mode(0, rtp=(2, 1)),
    ],
    "pack_evaluation": [lambda: patched(b"MODE", 2, b"\1")],
    "pack_feature": [
        lambda: feature(trigger=0),
        lambda: feature(trigger=6),
        lambda: feature(trigger=NONE),
        lambda: feature(adds=0),
        lambda: feature(adds=NONE),
        lambda: feature(added=0),
        lambda: feature(most=0),
        lambda: feature(mode=3),
        lambda: feature(mode=0),  # its spins would trigger it again
        lambda: feature(options={0: [(1, 1)], 1: [(1, 1)]}),
        lambda: feature(options={16: [(1, 1)]}),
        lambda: patched(b"FEAT", 6, b"\6"),  # smallest above largest
    ],
    "pack_option": [
        lambda: feature(options={3: [(1, 1)], 5: [(1, 1)]}),  # nothing for four
        lambda: feature(options={3: [(1, 1)] * 17}),
        lambda: feature(options={3: [(0, 1)]}),
        lambda: feature(options={3: [(13, 1)]}),  # above the most it plays
        lambda: feature(options={3: [(1, 0)]}),
        lambda: patched(b"OPTN", 0, b"\1"),
        lambda: patched(b"OPTN", 1, b"\4"),
        lambda: patched(b"OPTN", 8 * 5 + 1, b"\6"),
        lambda: resized(b"OPTN", 8),
    ],
    "pack_award": [
        lambda: rich(2**31, lines=2),
        lambda: rich(2**24, wild=255, lines=2),
        lambda: rich(2**9, wild=255, rule=PRODUCT),  # 512 x 255^3
        lambda: rich(2**31, wild=2, rule=SUM),
        lambda: rich_feature(65535, 65535, pay=2**31, unit=2),
        lambda: rich_feature(65535, 65535, pay=2**16, unit=2**17),
        lambda: rich_feature(1, 65535, wild=255, rule=PRODUCT),  # the multiplier of an event has 32 bits
    ],
}


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, makers in BAD.items() for number in range(len(makers))]
)
def test_a_malformed_pack_is_refused_by_name(name, number):
    assert error_of(BAD[name][number]()) == name


def test_what_is_just_allowed_is_accepted():
    for data in (
        rich(2**32 - 1, unit=2**31),
        rich(2**32 // 255, wild=255),
        rich(2**9, wild=200, rule=PRODUCT),
        rich(2**16, wild=255, rule=PRODUCT, needs_natural=True),
        rich_feature(65535, 65535, pay=2**16, unit=2**15),
        changed(lambda game: setattr(game, "lines", [])),
        changed(lambda game: setattr(game, "name", "a" * 15)),
        changed(lambda game: setattr(game, "cap", 2**63 - 1)),
        retagged(list(reversed(TAGS))),  # order of the sections is free
        feature(options={15: [(1, 1)] * 16}),
        build(Game(symbols=[Symbol(f"{n}") for n in range(32)], lines=[[4] * 6], rows=5, sets=[[[31] * 5] * 6])),
        build(Game(symbols=[Symbol("A")], lines=[], sets=[[[0] * 4096] * 3])),
    ):
        play_a_round_of_each_mode(Pack(data))


def test_modes_and_features_without_end_are_refused_through_any_mode():
    game = sample()
    game.modes[1] = Mode("free_spins", set=1, flags=0, feature=0)
    assert error_of(build(game)) == "pack_feature"

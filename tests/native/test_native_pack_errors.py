"""Every refusal of a pack has its case here: by name, and what is just allowed beside it."""

import struct
from collections.abc import Callable
from functools import partial

import pytest

from native import Pack
from native.cpython._core import ffi, lib
from tests.native import packs
from tests.native.everything import every_mechanic
from tests.native.packs import (
    CELLS,
    PRODUCT,
    ROLL,
    SELECTABLE,
    SHAPES,
    SUM,
    TAGS,
    WAYS,
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
from tests.native.test_native_pack import error_of, play_a_round_of_each_mode

TABLE = len(TAGS)  # rows of the section table


def header(at: int, new: bytes) -> bytes:
    data = bytearray(build(sample()))
    data[at : at + len(new)] = new
    return seal(data)


def patched(tag: bytes, at: int, new: bytes) -> bytes:
    content = sections(every_mechanic())
    content[tag][at : at + len(new)] = new
    return assemble(content)


def resized(tag: bytes, by: int) -> bytes:
    content = sections(every_mechanic())
    content[tag] = content[tag][:by] if by < 0 else content[tag] + bytes(by)
    return assemble(content)


def changed(change: Callable[[Game], object], game: Callable[[], Game] = sample) -> bytes:
    changing = game()
    change(changing)
    return build(changing)


rich = partial(changed, game=every_mechanic)


def put(rows: str, number: int, *, of: Callable[[], Game] = every_mechanic, **values: object) -> bytes:
    """The game with fields of one of its rows set."""
    game = of()
    for name, value in values.items():
        setattr(getattr(game, rows)[number], name, value)
    return build(game)


def step(mode: int, number: int, **values: object) -> bytes:
    return rich(lambda game: [setattr(game.modes[mode].steps[number], name, value) for name, value in values.items()])


def steps(mode: int, *rows: packs.Step) -> bytes:
    """The game with these steps in a mode instead of its own."""
    return rich(lambda game: setattr(game.modes[mode], "steps", list(rows)))


def table(number: int, *rows: packs.Prize) -> bytes:
    return rich(lambda game: game.tables.__setitem__(number, list(rows)))


def one_row(row: int, at: int, new: bytes) -> bytes:
    return header(64 + 12 * row + at, new)


def retagged(order: list[bytes]) -> bytes:
    content = sections(sample())
    return assemble({tag: content.get(tag, bytearray()) for tag in order})


def gap() -> bytes:
    """Four unused bytes between the table and the first section."""
    data = build(sample())
    end = 64 + 12 * TABLE
    moved = bytearray(data[:end] + bytes(4) + data[end:])
    struct.pack_into("<I", moved, 8, len(moved))
    for row in range(TABLE):
        struct.pack_into("<I", moved, 64 + 12 * row + 4, struct.unpack_from("<I", moved, 64 + 12 * row + 4)[0] + 4)
    return seal(moved)


def padding_used() -> bytes:
    data = bytearray(build(sample()))
    for row in range(TABLE):
        offset, size = struct.unpack_from("<II", data, 64 + 12 * row + 4)
        if size % 4:
            data[offset + size] = 1
            return seal(data)
    raise AssertionError("no section is padded")


def nine_scatters() -> bytes:
    symbols = [Symbol(f"S{n}", scatter=True) for n in range(9)]
    return build(Game(symbols=symbols, lines=[], sets=[[[0] * 3] * 3]))


def pays(pay: int, *, unit: int = 1, lines: int = 1, wild: int = 1, **options: object) -> bytes:
    game = Game(
        symbols=[Symbol("A", [0, 0, pay]), Symbol("W", wild=True, mask=1, multiplier=wild)],
        lines=[[0, 0, 0]] * lines,
        sets=[[[0, 1, 0]] * 3],
        max_unit=unit,
    )
    for name, value in options.items():
        setattr(game, name, value)
    return build(game)


def ways(pay: int, *, other: int = 1, **options: object) -> bytes:
    """Ways with two wilds; `other` is the multiplier of the second."""
    game = Game(
        symbols=[
            Symbol("A", [0, 0, pay]),
            Symbol("W", wild=True, mask=1, multiplier=2),
            Symbol("X", wild=True, mask=1, multiplier=other),
        ],
        lines=[],
        sets=[[[0, 1, 2]] * 3],
        modes=[Mode(evaluation=WAYS)],
        max_unit=1,
    )
    for name, value in options.items():
        setattr(game, name, value)
    return build(game)


def multiplied(spins: int, multiplier: int, *, pay: int = 1, unit: int = 1, wild: int = 1, rule: int = 0) -> bytes:
    """A feature of so many spins with such a multiplier."""
    game = Game(
        symbols=[
            Symbol("A", [0, 0, pay]),
            Symbol("S", scatter=True),
            Symbol("W", wild=True, mask=1, multiplier=wild),
        ],
        lines=[[0, 0, 0]],
        sets=[[[0, 1, 0]] * 3],
        modes=[Mode(steps=[packs.award([1], 0, 3)]), Mode("free", flags=0)],
        tables=[[packs.feature(0)]],
        features=[Feature(mode=1, options={3: [(1, multiplier)]}, most=spins)],
        max_unit=unit,
        rule=rule,
    )
    return build(game)


def value_of(credits: int) -> bytes:
    return table(1, packs.credits(credits))


NOTHING, CREDITS, POT, WHEEL = packs.nothing(), packs.credits(1), packs.pot(0), packs.wheel(6)
FEATURE, SPINS, BOARDS, SHAPE = packs.feature(0), packs.spins(1), packs.boards(0), packs.shape(1, 1)


def wrong_kinds() -> list[Callable[[], bytes]]:
    """A table of every_mechanic by its role, with each kind of prize that this role forbids."""
    roles = {
        0: (CREDITS, POT, WHEEL, FEATURE, SPINS, SHAPE),  # of a modifier
        1: (NOTHING, POT, WHEEL, FEATURE, SPINS, BOARDS, SHAPE),  # of values
        2: (SPINS, BOARDS, SHAPE),  # of a pile in a base mode
        3: (SPINS, BOARDS, SHAPE),  # of an award in a base mode
        6: (packs.wheel(8), BOARDS, SHAPE, SPINS),  # of a wheel that base modes spin
        10: (FEATURE, packs.wheel(6), BOARDS, SHAPE),  # of a pile in a feature; wheel 6 holds features
        11: (FEATURE, packs.wheel(8), BOARDS, SHAPE),  # of a wheel that a feature spins
        12: (NOTHING, CREDITS, WHEEL, FEATURE, SPINS, BOARDS, SHAPE),  # of tokens
    }
    return [partial(table, number, prize) for number, prizes in roles.items() for prize in prizes]


BAD: dict[str, list[Callable[[], bytes]]] = {
    "pack_magic": [lambda: header(0, b"CABH")],
    "pack_version": [lambda: header(4, b"\1"), lambda: header(4, b"\3")],
    "pack_length": [lambda: header(6, b"\x41"), lambda: header(8, b"\0\0\0\1")],
    "pack_hash": [lambda: build(sample())[:40] + b"\0" + build(sample())[41:]],
    "pack_reserved": [
        lambda: header(14, b"\1"),
        padding_used,
        *(
            partial(patched, tag, at, b"\1")
            for tag, places in {
                b"GAME": (*range(13, 16), *range(30, 40)),
                b"SYMB": range(8, 12),
                b"SETS": (6, 7),
                b"MODE": range(16, 24),
                b"STEP": (6, 7),
                b"PRIZ": (6, 7),
                b"POTS": (3,),
                b"BGRP": (6, 7),
                b"FEAT": (14, 15, *range(20, 24)),
                b"OPTN": (6, 7),
                b"GAMB": (14, 15, *range(16 + 11, 16 + 16)),
            }.items()
            for at in places
        ),
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
        lambda: one_row(0, 4, b"\x01"),
        lambda: one_row(3, 4, struct.pack("<I", 64)),
        lambda: one_row(TABLE - 1, 8, struct.pack("<I", 2**32 - 1)),
        lambda: one_row(TABLE - 1, 4, struct.pack("<I", 2**32 - 4)),
        lambda: one_row(TABLE - 1, 8, b"\0\0\0\0"),  # bytes of the pack that belong to no section
        lambda: header(12, bytes([TABLE - 1])),  # the last row of the table is read as a gap
    ],
    "pack_tag": [
        lambda: one_row(0, 0, b"WAYS"),
        lambda: one_row(1, 0, b"GAME"),
        lambda: retagged([tag for tag in TAGS if tag != b"FEAT"]),
        lambda: retagged([*TAGS, b"EXTR"]),
    ],
    "pack_size": [
        *(partial(resized, tag, by) for tag in TAGS if tag not in (b"STRP", b"TEXT", b"BORD") for by in (1, -1)),
        lambda: resized(b"BORD", 2),
        lambda: resized(b"BORD", -2),
        lambda: rich(lambda game: game.modes[0].steps.extend([packs.collect([0])] * 200)),
    ],
    "pack_game": [
        *(partial(patched, b"GAME", at, bytes([value])) for at, value in ((0, 2), (0, 7), (1, 2), (1, 6))),
        *(partial(patched, b"GAME", at, b"\0") for at in (2, 4, 5)),
        *(
            partial(patched, b"GAME", at, bytes([most + 1]))
            for at, most in ((2, 32), (3, 100), (4, 16), (5, 16), (6, 8), (7, 2), (8, 3), (10, 8))
        ),
        lambda: patched(b"GAME", 16, b"\0\0\0\0\0\0\0\x80"),
        lambda: changed(lambda game: setattr(game, "cap", 0)),
        lambda: changed(lambda game: setattr(game, "stake", 0)),
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
        *(partial(patched, tag, 0, b"\xff\xff") for tag in (b"SYMB", b"MODE", b"POTS", b"FEAT")),
        lambda: patched(b"GAMB", 16, b"\xff\xff"),
        lambda: changed(lambda game: [setattr(row, "name", "") for row in [*game.symbols, *game.modes]]),
    ],
    "pack_symbol": [lambda: patched(b"SYMB", 2, b"\4"), nine_scatters],
    "pack_wild": [
        lambda: put("symbols", 3, of=sample, mask=0),
        lambda: put("symbols", 3, of=sample, mask=0b1001),  # itself
        lambda: put("symbols", 3, of=sample, mask=1 << 6),  # a symbol that is not there
        lambda: put("symbols", 3, of=sample, mask=1 << 31),
        lambda: put("symbols", 3, of=sample, multiplier=0),
        lambda: put("symbols", 0, of=sample, multiplier=2),
        lambda: put("symbols", 0, of=sample, multiplier=0),
        lambda: put("symbols", 0, of=sample, mask=2),
    ],
    "pack_line": [lambda: patched(b"LINE", 15, b"\3"), lambda: patched(b"LINE", 0, b"\xff")],
    "pack_strip": [
        lambda: patched(b"STRP", 0, b"\x08"),
        lambda: patched(b"SETS", 4, b"\2\0"),
        lambda: patched(b"SETS", 4, struct.pack("<H", 4097)),
        lambda: patched(b"SETS", 0, struct.pack("<I", 73)),
        lambda: patched(b"SETS", 0, struct.pack("<I", 2**32 - 1)),
        lambda: resized(b"STRP", -1),
    ],
    "pack_mode": [
        lambda: put("modes", 0, set=2),
        lambda: put("modes", 0, cost=0),
        lambda: put("modes", 2, cost=0),
        lambda: put("modes", 0, flags=4),
        lambda: put("modes", 0, rtp=(2, 1)),
        lambda: rich(lambda game: setattr(game, "max_unit", 2**32 // 15 + 1)),  # a chance beyond one draw
    ],
    "pack_evaluation": [
        lambda: put("modes", 0, evaluation=2),
        lambda: ways(1, rule=SUM),
        lambda: ways(1, other=3),  # two multipliers where only the highest counts
    ],
    "pack_step": [
        *(partial(step, 0, number, op=op) for number in (0, 1) for op in (0, 10, 255)),
        *(partial(patched, b"STEP", at, bytes([mode])) for at, mode in ((0, 1), (0, 4), (20 * 8, 0))),
        lambda: patched(b"STEP", 20 * 16, b"\2"),  # modes out of order
        lambda: patched(b"STEP", 20 * 16, b"\4"),  # a mode that is not there
        lambda: steps(0, *[packs.collect([0])] * 13),
        lambda: steps(0, packs.collect([0]), packs.modifier(0)),  # not first
        lambda: steps(0, packs.respin([7], 2), packs.collect([0])),  # not last
        *(
            partial(steps, 0, row)
            for row in (
                packs.frames([4]),
                packs.frames_of_level_3([4], 1),
                packs.add_spins([4], 1),
                packs.tokens([4], 12),
            )
        ),
        *(partial(steps, 2, row) for row in (packs.modifier(0), packs.respin([7], 2))),
        *(partial(step, 0, number, symbols=0) for number in range(1, 8)),
        *(partial(step, 0, number, symbols=1 << 8) for number in range(1, 8)),
        *(partial(step, 0, number, index=14) for number in (0, 1, 3, 4)),
        lambda: step(0, 0, symbols=1),
        *(partial(step, 0, number, index=1) for number in (2, 7)),
        *(partial(step, 0, number, least=1) for number in (0, 1, 2, 3)),
        *(partial(step, 0, number, most=9) for number in (0, 1, 2, 3, 7)),
        *(partial(step, 0, number, needed=1) for number in (0, 1, 2, 3, 7)),
        *(partial(step, 0, number, credits=1) for number in range(8)),
        lambda: step(0, 6, needed=1 << 8),
        lambda: step(0, 4, least=0),
        lambda: step(0, 4, least=5),  # above the most
        lambda: step(0, 7, least=0),
        lambda: step(2, 2, least=0),
        lambda: step(2, 0, index=2),  # a rule of frames that is not there
        lambda: step(2, 0, credits=1),
        lambda: step(3, 2, credits=0),
        # 12 cells and 12, and 9 awards: one prize more than the queue holds
        lambda: steps(0, packs.pile([7], 2), packs.pile([6], 2), *[packs.award([7], 3, 3)] * 9),
    ],
    "pack_table": [
        lambda: patched(b"TABL", 0, b"\1"),
        lambda: patched(b"TABL", 2, b"\0\0"),
        lambda: patched(b"TABL", 2, b"\4\0"),
        lambda: patched(b"TABL", 2, b"\xff\xff"),
        lambda: resized(b"PRIZ", 12),  # a row that belongs to no table
        lambda: table(1, packs.credits(1, weight=2**31), packs.credits(1)),
        lambda: table(3, packs.wheel(6), packs.nothing()),  # an award of two rows
    ],
    "pack_prize": [
        *wrong_kinds(),
        lambda: table(2, packs.nothing(weight=0)),
        lambda: table(2, packs.Prize(8)),
        lambda: table(2, packs.Prize(0, index=1)),
        lambda: table(2, packs.Prize(0, number=1)),
        lambda: table(2, packs.credits(0)),
        lambda: table(2, packs.Prize(1, index=1, number=1)),
        lambda: table(2, packs.pot(2)),
        lambda: table(2, packs.Prize(2, number=1)),
        lambda: table(2, packs.wheel(14)),
        lambda: table(2, packs.Prize(3, 6, number=1)),
        lambda: table(2, packs.feature(4)),
        lambda: table(2, packs.Prize(4, number=1)),
        lambda: table(10, packs.spins(0)),
        lambda: table(10, packs.spins(65536)),
        lambda: table(10, packs.Prize(5, index=1, number=1)),
        lambda: table(0, packs.boards(2)),
        lambda: table(0, packs.Prize(6, number=1)),
        *(partial(table, 7, packs.shape(width, height)) for width, height in ((0, 1), (1, 0), (5, 1), (1, 4))),
        lambda: table(7, packs.Prize(7, index=1, number=257)),
        lambda: table(7, packs.Prize(7, number=65536 + 257)),
    ],
    "pack_board": [
        lambda: put("groups", 0, mode=4),
        lambda: put("groups", 0, mode=2),  # of other strips than the mode that shows them
        lambda: put("groups", 0, boards=[]),
        lambda: put("groups", 0, boards=[[10, 0, 0, 0]]),
        lambda: put("groups", 1, boards=[[0, 0, 0, 11]]),
        lambda: patched(b"BGRP", 2, b"\1"),
        lambda: patched(b"BGRP", 4, b"\1"),
        lambda: patched(b"BGRP", 8 + 4, b"\2"),
        lambda: resized(b"BORD", 8),  # a board of no group
    ],
    "pack_pot": [
        lambda: put("pots", 0, credits=0),
        lambda: put("pots", 1, tokens=0),  # drawn by tokens, without a row
    ],
    "pack_feature": [
        lambda: put("features", 0, mode=4),
        lambda: put("features", 0, mode=0),  # a player can select it
        lambda: put("features", 0, most=0),
        lambda: put("features", 0, options={13: [(1, 1)]}),
        lambda: patched(b"FEAT", 7, b"\5"),  # smallest above largest
        lambda: put("features", 0, opening=4),
        lambda: put("features", 0, level=4),
        lambda: put("features", 0, level=0),
        lambda: put("features", 0, symbols=0),
        lambda: put("features", 0, symbols=1 << 8),
        lambda: put("features", 0, shapes=7),
        lambda: put("features", 1, level=0),
        lambda: put("features", 1, symbols=1),
        lambda: put("features", 1, shapes=14),
        lambda: put("features", 1, shapes=8),  # credits are no shapes
        lambda: put("features", 2, symbols=0),
        lambda: put("features", 2, shapes=7),
        lambda: put("features", 3, symbols=1),
        lambda: put("features", 3, shapes=7),
        lambda: patched(b"FEAT", 6, b"\2"),
        *(partial(put, "features", 0, bowls=(8, 8, number)) for number in (14, 254, 2, 7, 10)),
    ],
    "pack_option": [
        lambda: put("features", 0, of=sample, options={3: [(1, 1)], 5: [(1, 1)]}),  # nothing for four
        lambda: put("features", 0, of=sample, options={3: [(1, 1)] * 17}),
        lambda: put("features", 0, of=sample, options={3: [(0, 1)]}),
        lambda: put("features", 0, of=sample, options={3: [(13, 1)]}),  # above the most it plays
        lambda: put("features", 0, of=sample, options={3: [(1, 0)]}),
        lambda: patched(b"OPTN", 0, b"\1"),
        lambda: patched(b"OPTN", 1, b"\4"),
        lambda: patched(b"OPTN", 8 * 2 + 1, b"\5"),
        lambda: resized(b"OPTN", 8),
    ],
    "pack_gamble": [
        *(partial(rich, lambda game, value=value: setattr(game, "payback", value)) for value in (0, 1_000_001)),
        *(partial(rich, lambda game, value=value: setattr(game, "most_gambles", value)) for value in (0, 21)),
        lambda: rich(lambda game: setattr(game, "gamble_limit", game.gamble_from - 1)),
        lambda: rich(lambda game: setattr(game, "gamble_limit", 2**32 - 1) or setattr(game, "max_unit", 2148)),
        lambda: patched(b"GAMB", 16 + 2, b"\2"),  # kind
        lambda: patched(b"GAMB", 16 + 3, b"\0"),  # cash with a feature
        lambda: patched(b"GAMB", 16 + 10, b"\2"),  # flags
        lambda: put("gambles", 0, numerator=3),
        lambda: put("gambles", 0, denominator=0),
        lambda: put("gambles", 0, numerator=4295),  # beyond one draw
        lambda: put("gambles", 0, spins=1),
        lambda: put("gambles", 0, value=1),
        lambda: put("gambles", 3, feature=4),
        lambda: put("gambles", 3, feature=0),  # its opening reads the window
        lambda: put("gambles", 3, feature=2),  # so does this one
        lambda: rich(lambda game: setattr(game.features[1], "collects", True)),
        lambda: put("gambles", 3, value=0),
        lambda: put("gambles", 3, value=2**63 // 500 + 1),
        lambda: put("gambles", 3, numerator=1),
        lambda: put("gambles", 3, denominator=1),
        lambda: put("gambles", 3, spins=101),  # above the most it plays
        lambda: put("gambles", 4, spins=2),  # of a feature that offers a choice
    ],
    "pack_award": [
        lambda: pays(2**31, lines=2),
        lambda: pays(2**24, wild=255, lines=2),
        lambda: pays(2**9, wild=255, rule=PRODUCT),  # 512 x 255^3
        lambda: pays(2**31, wild=2, rule=SUM),
        lambda: pays(2**32 - 1, unit=2**31 + 2),  # beyond 2^63 pence
        lambda: multiplied(1, 65535, pay=2**31, unit=2**17),
        lambda: multiplied(1, 65535, wild=255, rule=PRODUCT),  # the multiplier of an event has 32 bits
        lambda: ways(2**32 // 27),  # 27 ways, twice for a wild
        lambda: ways(2**28, rule=PRODUCT, needs_natural=True),
        lambda: value_of(2**32 // 12 + 1),
        lambda: put("pots", 0, credits=2**32 - 1, of=lambda: rich_game(2**32 - 1)),
        lambda: changed(lambda game: setattr(game.symbols[5], "view", [0, 2**32 // 15 + 1])),  # times the cost
    ],
}


def rich_game(unit: int) -> Game:
    """A game without gambles and spin chance, whose largest unit can be any."""
    game = every_mechanic()
    game.gambles, game.spin_chance, game.max_unit = [], False, unit
    return game


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, makers in BAD.items() for number in range(len(makers))]
)
def test_a_malformed_pack_is_refused_by_name(name, number):
    assert error_of(BAD[name][number]()) == name


GOOD: list[Callable[[], bytes]] = [
    lambda: pays(2**32 - 1, unit=2**31),
    lambda: pays(2**32 // 255, wild=255),
    lambda: pays(2**9, wild=200, rule=PRODUCT),
    lambda: pays(2**16, wild=255, rule=PRODUCT, needs_natural=True),
    lambda: multiplied(65535, 65535, pay=2**16, unit=2**15),
    lambda: ways(2**32 // 54 - 1),
    lambda: ways(2**32 // 54 - 1, other=2),
    lambda: ways(1, other=3, rule=PRODUCT),
    lambda: value_of(2**32 // 12),
    lambda: put("pots", 0, credits=2**32 - 1, of=lambda: rich_game(2**31)),
    lambda: changed(lambda game: setattr(game, "lines", [])),
    lambda: changed(lambda game: setattr(game, "name", "a" * 15)),
    lambda: changed(lambda game: setattr(game, "cap", 1)),
    lambda: retagged(list(reversed(TAGS))),  # order of the sections is free
    lambda: put("features", 0, of=sample, options={15: [(1, 1)] * 16}),
    lambda: put("features", 0, of=sample, options={0: [(1, 1)]}),
    lambda: table(1, packs.credits(1, weight=2**31)),
    lambda: table(7, packs.shape(4, 3)),
    lambda: rich(lambda game: game.tables.append([packs.boards(0), packs.shape(1, 1), packs.spins(2)])),  # of no use
    lambda: steps(0, packs.pile([7], 2), packs.pile([6], 2), *[packs.award([7], 3, 3)] * 8),  # a full queue
    lambda: put("groups", 0, mode=1),  # the same strips
    lambda: put("pots", 0, tokens=255),
    lambda: put("gambles", 0, numerator=4294, denominator=1),
    lambda: build(Game(symbols=[Symbol(f"{n}") for n in range(32)], lines=[[4] * 6], rows=5, sets=[[[31] * 5] * 6])),
    lambda: build(Game(symbols=[Symbol("A")], lines=[], sets=[[[0] * 4096] * 3])),
]


@pytest.mark.parametrize("number", range(len(GOOD)))
def test_what_is_just_allowed_is_accepted(number):
    play_a_round_of_each_mode(Pack(GOOD[number]()))


def test_every_error_of_a_pack_has_a_case():
    names = (ffi.string(lib.cab_error_name(code)).decode() for code in range(lib.CAB_ERRORS))
    assert set(BAD) == {name for name in names if name.startswith("pack_")}


def test_a_mode_of_a_feature_is_for_no_player():
    game = sample()
    game.modes[1].flags = SELECTABLE
    assert error_of(build(game)) == "pack_feature"


@pytest.mark.parametrize("opening", [CELLS, SHAPES, ROLL])
def test_openings_have_what_they_need_and_nothing_else(opening):
    game = every_mechanic()
    feature = game.features[3]
    feature.opening, feature.level = opening, 1
    assert error_of(build(game)) == "pack_feature"
    if opening == SHAPES:
        feature.shapes = 7
    else:
        feature.symbols = 1
        game.gambles.pop()  # a gamble has no window
    assert Pack(build(game)).bowls(3) == ((3, 8),)

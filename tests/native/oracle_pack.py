"""A game pack of version 2 as plain Python values, and the reader of its bytes (native/MECHANICS.md).

The reader is for packs that are good: it asserts what it needs and validates nothing. encoder.py writes the same values.
"""

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

NONE = 255
HIGHEST, PRODUCT, SUM = 0, 1, 2
SCATTER_PAYS, SELECTABLE = 1, 2
LINES, WAYS = 0, 1

MODIFIER, VALUES, COLLECT, PILE, AWARD, RESPIN, FRAMES, ADD_SPINS, TOKENS = range(1, 10)
NOTHING, CREDITS, POT, WHEEL, FEATURE, SPINS, BOARDS, SHAPE = range(8)
OPEN_NONE, OPEN_CELLS, OPEN_SHAPE, OPEN_ROLL = range(4)
CASH, PLAY_FEATURE = 0, 1


@dataclass
class Symbol:
    """pays: credits for a run of 1, 2, … reels; view: total bets for 1, 2, … in view (of a scatter)."""

    name: str
    pays: list[int] = field(default_factory=list)
    wild: bool = False
    scatter: bool = False
    multiplier: int = 1
    mask: int = 0
    view: list[int] = field(default_factory=list)


@dataclass
class Step:
    op: int
    index: int = 0
    symbols: int = 0
    least: int = 0
    most: int = 0
    needed: int = 0
    credits: int = 0


@dataclass
class Mode:
    name: str = "base"
    evaluation: int = LINES
    set: int = 0
    cost: int = 1
    flags: int = SELECTABLE
    rtp: tuple[int, int] = (0, 0)
    steps: list[Step] = field(default_factory=list)


@dataclass
class Prize:
    weight: int
    kind: int
    index: int = 0
    number: int = 0


@dataclass
class Pot:
    name: str
    credits: int
    tokens: int = 0


@dataclass
class Boards:
    mode: int
    stops: list[tuple[int, ...]]


@dataclass
class Feature:
    """options: trigger count → [(spins, multiplier), …]; bowls: table of frame level 1, 2, 3."""

    name: str
    mode: int
    options: dict[int, list[tuple[int, int]]]
    opening: int = OPEN_NONE
    index: int = 0
    level: int = 0
    collects: bool = False
    bowls: tuple[int, int, int] = (NONE, NONE, NONE)
    most: int = 100
    symbols: int = 0


@dataclass
class GambleRow:
    name: str
    kind: int = CASH
    feature: int = NONE
    numerator: int = 0
    denominator: int = 0
    spins: int = 0
    only_cash_after: bool = False
    value_micro: int = 0


@dataclass
class Gamble:
    rows: list[GambleRow]
    payback_ppm: int = 1_000_000
    offered_from: int = 1
    limit: int = 1000
    most: int = 5


@dataclass
class Game:
    symbols: list[Symbol]
    sets: list[list[list[int]]]  # [set][reel][stop]
    lines: list[list[int]] = field(default_factory=list)
    rows: int = 3
    modes: list[Mode] = field(default_factory=lambda: [Mode()])
    tables: list[list[Prize]] = field(default_factory=list)
    pots: list[Pot] = field(default_factory=list)
    boards: list[Boards] = field(default_factory=list)
    features: list[Feature] = field(default_factory=list)
    gamble: Gamble | None = None
    name: str = "test"
    rule: int = HIGHEST
    needs_natural: bool = False
    spin_chance: bool = False
    cap: int = 10**9
    stake: int = 1
    coin_values: list[int] = field(default_factory=lambda: [500])
    levels: int = 1

    @property
    def reels(self) -> int:
        return len(self.sets[0])

    @property
    def scatters(self) -> list[int]:
        return [number for number, symbol in enumerate(self.symbols) if symbol.scatter]

    @property
    def max_unit(self) -> int:
        return self.coin_values[-1] * self.levels


def sections(pack: bytes) -> dict[bytes, bytes]:
    magic, version, header, total, count, _ = struct.unpack_from("<4sHHIHH", pack)
    assert (magic, version, header, total) == (b"CABG", 2, 64, len(pack))
    assert pack[32:64] == hashlib.sha256(pack[:32] + pack[64:]).digest()
    table = [struct.unpack_from("<4sII", pack, 64 + 12 * row) for row in range(count)]
    return {tag: pack[offset : offset + length] for tag, offset, length in table}


def read(pack: bytes) -> Game:
    part = sections(pack)

    def rows(tag: bytes, layout: str) -> list[tuple]:
        return list(struct.iter_unpack("<" + layout, part[tag]))

    def text(offset: int) -> str:
        return part[b"TEXT"][offset : part[b"TEXT"].index(0, offset)].decode()

    (head,) = rows(b"GAME", "13B3xQIH10x")
    reels, height, symbols, lines, modes, sets, features, rule, flags = head[:9]
    tables, pots, groups, gambles, cap, max_unit, stake = head[9:]
    game = Game(
        symbols=_symbols(rows, text, reels, reels * height),
        sets=_sets(rows, part[b"STRP"], reels),
        lines=[list(line) for line in rows(b"LINE", f"{reels}B")],
        rows=height,
        modes=[Mode(text(name), *rest, (low, high)) for name, *rest, low, high in rows(b"MODE", "HBBHHII8x")],
        tables=[[Prize(*row) for row in table] for table in _split(rows(b"TABL", "HH"), rows(b"PRIZ", "IBBxxI"))],
        pots=[Pot(text(name), credits, tokens) for name, tokens, credits in rows(b"POTS", "HBxI")],
        features=[_feature(number, row, rows, text) for number, row in enumerate(rows(b"FEAT", "H10BHxxI4x"))],
        gamble=_gamble(part[b"GAMB"], text),
        name=pack[16:32].rstrip(b"\0").decode(),
        rule=rule,
        needs_natural=bool(flags & 1),
        spin_chance=bool(flags & 2),
        cap=cap,
        stake=stake,
        coin_values=list(struct.unpack(f"<{len(part[b'BETS']) // 4 - 1}I", part[b"BETS"][4:])),
        levels=struct.unpack_from("<H", part[b"BETS"])[0],
    )
    heads = rows(b"BGRP", "HHHxx")
    boards = _split([(first, count) for _, first, count in heads], rows(b"BORD", f"{reels}H"))
    game.boards = [Boards(mode, stops) for (mode, _, _), stops in zip(heads, boards, strict=True)]
    for mode, op, index, most, least, mask, needed, credits in rows(b"STEP", "4BHxxIII"):
        game.modes[mode].steps.append(Step(op, index, mask, least, most, needed, credits))
    assert (game.reels, game.max_unit) == (reels, max_unit)
    assert (len(game.symbols), len(game.lines), len(game.modes), len(game.sets)) == (symbols, lines, modes, sets)
    assert (len(game.features), len(game.tables), len(game.pots), len(game.boards)) == (features, tables, pots, groups)
    assert (len(game.gamble.rows) if game.gamble else 0) == gambles
    return game


def _symbols(rows, text, reels: int, cells: int) -> list[Symbol]:
    pays, views = rows(b"PAYS", f"{reels}I"), iter(rows(b"SCAT", f"{cells}I"))
    return [
        Symbol(text(name), list(pay), bool(flags & 1), bool(flags & 2), multiplier, mask, _view(flags, views))
        for (name, flags, multiplier, mask), pay in zip(rows(b"SYMB", "HBBI4x"), pays, strict=True)
    ]


def _view(flags: int, views: Iterator[tuple]) -> list[int]:
    return list(next(views)) if flags & 2 else []


def _sets(rows, strips: bytes, reels: int) -> list[list[list[int]]]:
    every = [list(strips[offset : offset + length]) for offset, length in rows(b"SETS", "IHxx")]
    return [every[first : first + reels] for first in range(0, len(every), reels)]


def _split(heads: list[tuple], rows: list[tuple]) -> list[list[tuple]]:
    """The rows that each head (first row, rows) names; together they are all of them, in order."""
    assert [row for first, count in heads for row in range(first, first + count)] == list(range(len(rows)))
    return [rows[first : first + count] for first, count in heads]


def _feature(number: int, row: tuple, rows, text) -> Feature:
    name, mode, opening, index, level, flags, smallest, largest, *bowls, most, symbols = row
    options = {count: [] for count in range(smallest, largest + 1)}
    for feature, count, spins, multiplier in rows(b"OPTN", "BBHHxx"):
        if feature == number:
            options[count].append((spins, multiplier))
    return Feature(text(name), mode, options, opening, index, level, bool(flags), tuple(bowls), most, symbols)


def _gamble(section: bytes, text) -> Gamble | None:
    if not section:
        return None
    payback, offered_from, limit, most = struct.unpack_from("<IIIHxx", section)
    rows = [
        GambleRow(text(name), kind, feature, numerator, denominator, spins, bool(flags), value)
        for name, kind, feature, numerator, denominator, spins, flags, value in struct.iter_unpack(
            "<HBBHHHB5xQ", section[16:]
        )
    ]
    return Gamble(rows, payback, offered_from, limit, most)

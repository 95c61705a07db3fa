"""Builds game packs for tests, from native/README.md and nothing else: it shares no code with the sheet compiler."""

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

NONE = 255
TAGS = tuple(b"GAME BETS SYMB PAYS LINE SCAT SETS STRP MODE STEP TABL PRIZ POTS BGRP BORD FEAT OPTN GAMB TEXT".split())

HIGHEST, PRODUCT, SUM = 0, 1, 2
LINES, WAYS = 0, 1
SCATTER_PAYS, SELECTABLE = 1, 2
NO_OPENING, CELLS, SHAPES, ROLL = 0, 1, 2, 3


@dataclass
class Symbol:
    """pays: credits for a run of 1, 2, … reels; view: total bets for 1, 2, … in view. Missing ones are 0."""

    name: str
    pays: list[int] = field(default_factory=list)
    wild: bool = False
    scatter: bool = False
    view: list[int] = field(default_factory=list)
    multiplier: int = 1
    mask: int = 0


def mask(symbols: Iterable[int]) -> int:
    return sum(1 << symbol for symbol in symbols)


@dataclass
class Step:
    """A row of STEP; the functions below make each kind. symbols and needed are masks."""

    op: int
    symbols: int = 0
    index: int = 0
    least: int = 0
    most: int = 0
    needed: int = 0
    credits: int = 0


def modifier(table: int) -> Step:
    return Step(1, index=table)


def values(symbols: Iterable[int], table: int) -> Step:
    return Step(2, mask(symbols), table)


def collect(symbols: Iterable[int]) -> Step:
    return Step(3, mask(symbols))


def pile(symbols: Iterable[int], table: int) -> Step:
    return Step(4, mask(symbols), table)


def award(symbols: Iterable[int], table: int, least: int, most: int = 255, needed: Iterable[int] = ()) -> Step:
    return Step(5, mask(symbols), table, least, most, mask(needed))


def respin(symbols: Iterable[int], exactly: int) -> Step:
    return Step(6, mask(symbols), least=exactly)


def frames(symbols: Iterable[int]) -> Step:
    """Rule 0: a frame rises by a level."""
    return Step(7, mask(symbols))


def frames_of_level_3(symbols: Iterable[int], credits: int) -> Step:
    """Rule 1: a bare cell becomes level 3; credits where none is bare."""
    return Step(7, mask(symbols), index=1, credits=credits)


def add_spins(symbols: Iterable[int], each: int) -> Step:
    return Step(8, mask(symbols), least=each)


def tokens(symbols: Iterable[int], table: int) -> Step:
    return Step(9, mask(symbols), table)


@dataclass
class Prize:
    """A row of a table; the functions below make each kind."""

    kind: int
    index: int = 0
    number: int = 0
    weight: int = 1


def nothing(weight: int = 1) -> Prize:
    return Prize(0, weight=weight)


def credits(number: int, weight: int = 1) -> Prize:
    return Prize(1, number=number, weight=weight)


def pot(number: int, weight: int = 1) -> Prize:
    return Prize(2, number, weight=weight)


def wheel(table: int, weight: int = 1) -> Prize:
    return Prize(3, table, weight=weight)


def feature(number: int, weight: int = 1) -> Prize:
    return Prize(4, number, weight=weight)


def spins(number: int, weight: int = 1) -> Prize:
    return Prize(5, number=number, weight=weight)


def boards(group: int, weight: int = 1) -> Prize:
    return Prize(6, group, weight=weight)


def shape(width: int, height: int, weight: int = 1) -> Prize:
    return Prize(7, number=width + 256 * height, weight=weight)


@dataclass
class Mode:
    name: str = "base"
    set: int = 0
    cost: int = 1
    flags: int = SCATTER_PAYS | SELECTABLE
    evaluation: int = LINES
    steps: list[Step] = field(default_factory=list)
    rtp: tuple[int, int] = (0, 0)


@dataclass
class Feature:
    """options: trigger count → [(spins, multiplier), …]; bowls: tables of level 1, 2, 3; symbols: a mask."""

    mode: int
    options: dict[int, list[tuple[int, int]]]
    most: int = 100
    name: str = "feature"
    opening: int = NO_OPENING
    shapes: int = 0
    symbols: int = 0
    level: int = 0
    collects: bool = False
    bowls: tuple[int, int, int] = (NONE, NONE, NONE)


@dataclass
class Pot:
    name: str
    credits: int
    tokens: int = 0


@dataclass
class Group:
    mode: int
    boards: list[list[int]]


@dataclass
class Gamble:
    """Cash (numerator / denominator) or a feature (its number, its value in millionths of a credit)."""

    name: str
    numerator: int = 0
    denominator: int = 0
    feature: int = NONE
    spins: int = 0
    value: int = 0
    then_cash_only: bool = False


@dataclass
class Game:
    """sets: strips as lists of symbol numbers, per set, per reel. cap: in pence, out of reach unless a test wants it."""

    symbols: list[Symbol]
    lines: list[list[int]]
    sets: list[list[list[int]]]
    rows: int = 3
    modes: list[Mode] = field(default_factory=lambda: [Mode()])
    features: list[Feature] = field(default_factory=list)
    tables: list[list[Prize]] = field(default_factory=list)
    pots: list[Pot] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    gambles: list[Gamble] = field(default_factory=list)
    payback: int = 1_000_000
    gamble_from: int = 1
    gamble_limit: int = 10_000
    most_gambles: int = 5
    name: str = "test"
    rule: int = HIGHEST
    needs_natural: bool = False
    spin_chance: bool = False
    stake: int = 1
    cap: int = 2**63 - 1
    max_unit: int = 500
    coin_values: list[int] | None = None  # None: one of max_unit pence, one level
    levels: int = 1

    @property
    def reels(self) -> int:
        return len(self.sets[0])

    @property
    def scatters(self) -> list[int]:
        return [number for number, symbol in enumerate(self.symbols) if symbol.scatter]


def row(values: list[int], length: int) -> bytes:
    return struct.pack(f"<{length}I", *values, *[0] * (length - len(values)))


def contiguous(parts: list[int]) -> list[tuple[int, int]]:
    """(first, how many) of parts that stand one behind the other."""
    return [(sum(parts[:n]), count) for n, count in enumerate(parts)]


def sections(game: Game) -> dict[bytes, bytearray]:
    """The content of each section."""
    text = bytearray()

    def name(string: str) -> int:
        offset = len(text)
        text.extend(string.encode() + b"\0")
        return offset

    head = struct.pack(
        "<13B3xQIH10x",
        game.reels,
        game.rows,
        len(game.symbols),
        len(game.lines),
        len(game.modes),
        len(game.sets),
        len(game.features),
        game.rule,
        game.needs_natural | game.spin_chance << 1,
        len(game.tables),
        len(game.pots),
        len(game.groups),
        len(game.gambles),
        game.cap,
        game.max_unit,
        game.stake,
    )
    symbols = [
        struct.pack("<HBBII", name(s.name), s.wild | s.scatter << 1, s.multiplier, s.mask, 0) for s in game.symbols
    ]
    strips, sets = b"", b""
    for one_set in game.sets:
        for strip in one_set:
            sets += struct.pack("<IHH", len(strips), len(strip), 0)
            strips += bytes(strip)
    modes = [struct.pack("<HBBHHII8x", name(m.name), m.evaluation, m.set, m.cost, m.flags, *m.rtp) for m in game.modes]
    steps = [
        struct.pack("<4BHHIII", number, s.op, s.index, s.most, s.least, 0, s.symbols, s.needed, s.credits)
        for number, m in enumerate(game.modes)
        for s in m.steps
    ]
    prizes = [struct.pack("<IBBHI", p.weight, p.kind, p.index, 0, p.number) for table in game.tables for p in table]
    pots = [struct.pack("<HBBI", name(p.name), p.tokens, 0, p.credits) for p in game.pots]
    groups = [
        struct.pack("<4H", group.mode, first, count, 0)
        for group, (first, count) in zip(game.groups, contiguous([len(g.boards) for g in game.groups]), strict=True)
    ]
    features = [
        struct.pack(
            "<H10BHHI4x",
            name(f.name),
            f.mode,
            f.opening,
            f.shapes,
            f.level,
            f.collects,
            min(f.options),
            max(f.options),
            *f.bowls,
            f.most,
            0,
            f.symbols,
        )
        for f in game.features
    ]
    options = [
        struct.pack("<BBHHH", number, count, spins, multiplier, 0)
        for number, f in enumerate(game.features)
        for count in sorted(f.options)
        for spins, multiplier in f.options[count]
    ]
    gambles = [
        struct.pack(
            "<HBBHHHB5xQ",
            name(g.name),
            g.feature != NONE,
            g.feature,
            g.numerator,
            g.denominator,
            g.spins,
            g.then_cash_only,
            g.value,
        )
        for g in game.gambles
    ]
    rules = struct.pack("<IIIHH", game.payback, game.gamble_from, game.gamble_limit, game.most_gambles, 0)
    coins = [game.max_unit] if game.coin_values is None else game.coin_values
    content = {
        b"GAME": head,
        b"BETS": struct.pack("<HH", game.levels, len(coins)) + struct.pack(f"<{len(coins)}I", *coins),
        b"SYMB": b"".join(symbols),
        b"PAYS": b"".join(row(s.pays, game.reels) for s in game.symbols),
        b"LINE": bytes(cell for line in game.lines for cell in line),
        b"SCAT": b"".join(row(game.symbols[n].view, game.reels * game.rows) for n in game.scatters),
        b"SETS": sets,
        b"STRP": strips,
        b"MODE": b"".join(modes),
        b"STEP": b"".join(steps),
        b"TABL": b"".join(struct.pack("<HH", *span) for span in contiguous([len(table) for table in game.tables])),
        b"PRIZ": b"".join(prizes),
        b"POTS": b"".join(pots),
        b"BGRP": b"".join(groups),
        b"BORD": b"".join(struct.pack(f"<{game.reels}H", *board) for g in game.groups for board in g.boards),
        b"FEAT": b"".join(features),
        b"OPTN": b"".join(options),
        b"GAMB": rules + b"".join(gambles) if gambles else b"",
        b"TEXT": bytes(text),
    }
    return {tag: bytearray(content[tag]) for tag in TAGS}


def seal(pack: bytes | bytearray) -> bytes:
    """The pack with the hash that its bytes ask for."""
    return bytes(pack[:32]) + hashlib.sha256(bytes(pack[:32]) + bytes(pack[64:])).digest() + bytes(pack[64:])


def assemble(content: dict[bytes, bytearray], name: str = "test") -> bytes:
    """Header, section table in the order of content, sections."""
    offset = 64 + 12 * len(content)
    table, body = b"", b""
    for tag, data in content.items():
        table += struct.pack("<4sII", tag, offset + len(body), len(data))
        body += bytes(data) + bytes(-len(data) % 4)
    total = offset + len(body)
    header = struct.pack("<4sHHIHH16s32x", b"CABG", 2, 64, total, len(content), 0, name.encode())
    return seal(header + table + body)


def build(game: Game) -> bytes:
    return assemble(sections(game), game.name)


# ------------------------------------------------------------------------------------------------------------- samples

LINES_15 = [  # the row on each reel
    [int(row) for row in f"{line:05}"]
    for line in (11111, 0, 22222, 1210, 21012, 100, 22122, 12221, 10001, 10101, 12121, 1010, 21212, 11011, 11211)
]


def sample() -> Game:
    """Small strips, wins often: two wilds with multipliers, a choice of free spins that can be prolonged, a win cap."""
    a, b, c, wild, double, scatter = range(6)
    low = mask((a, b, c))
    base = [
        [a, b, c, wild, a, scatter, b, c, a],
        [b, a, double, c, scatter, a, b],
        [a, scatter, c, b, wild, a, c, scatter],
        [c, a, b, double, scatter, a],
        [a, b, scatter, c, wild, b, a, c, a, b],
    ]
    return Game(
        symbols=[
            Symbol("Ace", [0, 0, 5, 20, 100]),
            Symbol("Bell", [0, 2, 10, 40, 200]),
            Symbol("Cherry £", [0, 0, 3, 15, 60]),
            Symbol("Wild", [0, 5, 20, 100, 1000], wild=True, mask=low, multiplier=1),
            Symbol("Double", wild=True, mask=low, multiplier=2),
            Symbol("Scatter", scatter=True, view=[0, 1, 3, 10, 50]),
        ],
        lines=LINES_15,
        sets=[base, [strip[::-1] for strip in base]],
        modes=[
            Mode("base", cost=15, steps=[award([scatter], 0, 3)], rtp=(940_000, 950_000)),
            Mode("free_spins", set=1, cost=15, flags=0, steps=[add_spins([scatter], 1)]),
            Mode("plain", cost=15),
        ],
        tables=[[feature(0)]],
        features=[
            Feature(
                name="free",
                mode=1,
                most=12,
                options={3: [(4, 3), (6, 2)], 4: [(5, 4)], 5: [(10, 2), (8, 3), (6, 5)]},
            )
        ],
        name="sample",
        rule=PRODUCT,
        stake=15,
        cap=50_000,
    )


# The strips of slotopol's set 10 (par/SOURCES.md, T4): test data that has been counted by others. Symbols from 1.
SLOTOPOL_STRIPS = [
    "4 12 11 10 6 9 8 12 11 5 12 9 7 3 8 2 12 6 10 9 11 8 4 10 9 11 12 10 11 6 12 1 8 9 7 10 11 5 7",
    "8 9 10 12 11 3 9 12 7 8 9 12 7 11 6 12 11 7 5 4 10 9 12 10 5 8 10 12 11 4 10 2 6 9 11 8 6 11 1",
    "4 10 1 7 9 10 11 8 10 12 8 11 12 6 11 12 7 9 5 12 11 9 12 11 2 6 12 9 10 7 11 6 10 5 8 3 4 9 8",
    "12 7 11 8 12 3 10 9 5 7 9 4 8 11 7 10 12 6 8 11 1 6 12 2 11 10 6 5 9 4 10 9 12 10 11 9 12 11 8",
    "8 12 6 11 10 4 12 10 11 9 5 6 10 7 9 11 7 3 2 8 11 12 4 8 9 11 10 1 9 12 8 11 7 12 6 9 10 12 5",
]


def slotopol_set_10() -> Game:
    """Piggy Riches as slotopol models it: wild ×3, scatters pay 2/4/15/100 total bets, 15 lines, 15 credits."""
    pays = {
        "bag": [0, 5, 25, 300, 2000],
        "notes": [0, 0, 25, 150, 1000],
        "keys": [0, 0, 20, 125, 750],
        "wallet": [0, 0, 20, 75, 400],
        "pig": [0, 0, 15, 75, 200],
        "A": [0, 0, 15, 50, 125],
        "K": [0, 0, 10, 25, 100],
        "Q": [0, 0, 5, 20, 75],
        "J": [0, 0, 5, 15, 60],
        "10": [0, 0, 5, 10, 50],
    }
    symbols = [
        Symbol("wild", wild=True, multiplier=3, mask=0xFFC),
        Symbol("scatter", scatter=True, view=[0, 2, 4, 15, 100]),
        *(Symbol(name, credits) for name, credits in pays.items()),
    ]
    strips = [[int(symbol) - 1 for symbol in strip.split()] for strip in SLOTOPOL_STRIPS]
    free_spins = Feature(
        mode=1,
        most=500,
        options={
            3: [(22, 2), (15, 3), (9, 5)],
            4: [(25, 2), (18, 3), (14, 4), (10, 6)],
            5: [(28, 2), (20, 3), (16, 4), (13, 5), (11, 6)],
        },
    )
    return Game(
        symbols=symbols,
        lines=LINES_15,
        sets=[strips],
        modes=[
            Mode("base", cost=15, steps=[award([1], 0, 3)]),
            Mode("free_spins", cost=15, flags=0, steps=[add_spins([1], 1)]),
        ],
        tables=[[feature(0)]],
        features=[free_spins],
        stake=15,
        needs_natural=True,
        name="slotopol_10",
    )


# A 15-line model of Lobstermania 96.2 % (par/SOURCES.md, T1 and T1b): the counts and pays of Harrigan and Dixon's
# paper in an order shuffled by the author of that model.
LOBSTERMANIA_STRIPS = [
    (
        "SG TU LM SG BO LM LO BO TU TU LM BO SF BU BU LH TU SG CL TU BO WS TU LO CL LT LH SF SF WS SF CL LT BU CL "
        "SG BO SG LH LH CL LH SF BU LM BO CL"
    ),
    (
        "BO WS CL LH LT WS SF TU LH SF CL LM SG TU BU BO SG LO BO BU CL CL LO SG SF BU TU LT SG SF CL TU LO LO SG "
        "BO LM SG LH SF BU LM CL LM LH LO"
    ),
    (
        "LH BO CL LO SG LH LH CL WS SG BU BU TU SF LM BO LO TU SF LO LH BU LT SF SG SG CL TU BO LO LH BU SF LO CL "
        "CL BO LM TU SF LH LM BU TU LT SF SG LO"
    ),
    (
        "CL WS LT CL CL SF SG SF LM LH LT CL CL BO SF SF WS TU SG BO BU LH WS TU SF SG SG BU LM LM CL LH LH BO TU "
        "SF SF TU BU SF BU WS LM LH SG SG TU BO LH TU"
    ),
    (
        "LH BU SG SF CL LH TU BU LT SF BO WS LM TU LT LH SF LH LH CL BU CL CL CL WS BU SF BU TU TU LH SG SG TU SG "
        "LH SG LM TU BO SF TU SG CL BO SF BO LM SF LM"
    ),
]
LOBSTERMANIA_LINES = [
    [int(row) for row in f"{line:05}"]
    for line in (11111, 0, 22222, 1210, 21012, 22100, 122, 12101, 10121, 21110, 1112, 12210, 10012, 11210, 11012)
]


def lobstermania(lines: list[list[int]]) -> Game:
    """A wild with pays of its own and no multiplier; three LO are the bonus, fixed at 331 credits."""
    pays = {
        "WS": [0, 5, 100, 500, 10000],
        "LM": [0, 2, 40, 200, 1000],
        "BU": [0, 0, 25, 100, 500],
        "BO": [0, 0, 25, 100, 500],
        "LH": [0, 0, 10, 50, 500],
        "TU": [0, 0, 10, 50, 250],
        "CL": [0, 0, 5, 30, 200],
        "SG": [0, 0, 5, 30, 200],
        "SF": [0, 0, 5, 30, 150],
        "LO": [0, 0, 331],
    }
    symbols = [Symbol(name, credits) for name, credits in pays.items()]
    symbols[0].wild, symbols[0].mask = True, 0b1_1111_1110
    symbols.append(Symbol("LT", scatter=True, view=[0, 0, 5, 25, 200]))
    numbers = {symbol.name: number for number, symbol in enumerate(symbols)}
    return Game(
        symbols=symbols,
        lines=lines,
        sets=[[[numbers[name] for name in strip.split()] for strip in LOBSTERMANIA_STRIPS]],
        modes=[Mode(cost=len(lines))],
        name="lobstermania",
    )

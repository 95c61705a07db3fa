"""The core against the oracle: random games of version 2, random seeds, choices, gambles and wrong calls, event by event."""

import struct
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import native
from host_tools.cabinet import games
from native import CoreError, Pack
from native import Round as CoreRound
from tests.native import encoder, oracle_pack, oracle_round
from tests.native.oracle_games import Maker
from tests.native.oracle_mutations import MUTATIONS
from tests.native.oracle_pack import Game
from tests.native.oracle_round import Refused
from tests.native.oracle_round import Round as OracleRound

SEEDS = st.integers(0, 2**32 - 1)


# ------------------------------------------------------------------------------------------------------- side by side


def look(round_: CoreRound | OracleRound) -> dict[str, object]:
    """All that a round shows of itself."""
    return {
        "stops": tuple(round_.stops()),
        "window": bytes(round_.window()),
        "frames": bytes(round_.frames()),
        "values": tuple(round_.values()),
        "matrix": bytes(round_.matrix()),
        "options": tuple(round_.options()),
        "offer": round_.offer,
        "pile": round_.pile,
        "award": round_.award_pence,
        "finished": round_.finished,
    }


class Duel:
    """The same calls to both sides; every answer and everything shown has to be the same."""

    def __init__(self, pack: Pack, game: Game, *arguments) -> None:
        self.core, self.oracle = CoreRound(pack, *arguments), OracleRound(game, *arguments)
        self.events: list[tuple] = []
        self.same()

    def same(self) -> None:
        assert look(self.core) == look(self.oracle), self.events[-12:]

    def call(self, name: str, *arguments: int) -> tuple | str | None:
        """The answer, or the name of the refusal; a refused call leaves the round as it was."""
        answers = []
        for side, refusal in ((self.core, CoreError), (self.oracle, Refused)):
            try:
                answers.append(getattr(side, name)(*arguments))
            except refusal as error:
                answers.append(error.args[0])
        assert answers[0] == answers[1], (name, arguments, self.events[-12:])
        self.same()
        return answers[0]

    def wrong(self, random: Random, game: Game) -> None:
        """Something that the player may not do now, or may by chance."""
        options, offer = len(self.oracle.options()), self.oracle.offer
        if not options:
            self.call("choose", random.randrange(3))
        else:
            self.call("choose", options)
        if options or offer or self.oracle.finished:
            self.call("next")
        if not offer:
            self.call("collect")
            self.call("gamble", 0, 1)
        else:
            self.call("gamble", len(game.gamble.rows), 1)
            self.call("gamble", random.randrange(len(game.gamble.rows)), random.choice([0, offer + 1]))

    def play(self, random: Random, game: Game) -> list[tuple]:
        while not self.oracle.finished:
            if random.random() < 0.05:
                self.wrong(random, game)
            if self.oracle.options():
                assert self.call("choose", random.randrange(len(self.oracle.options()))) is None
            elif self.oracle.offer:
                self.answer(random, game)
            else:
                event = self.call("next")
                assert isinstance(event, tuple), (event, self.events[-12:])
                self.events.append(event)
        self.wrong(random, game)
        return self.events

    def answer(self, random: Random, game: Game) -> None:
        """Collects one time in six; gambles otherwise, mostly all of it, and collects where that is refused."""
        offer = self.oracle.offer
        row = random.randrange(len(game.gamble.rows))
        pence = random.choice([offer, offer, random.randint(1, offer), 1 + offer // 7])
        if not random.randrange(6) or self.call("gamble", row, pence) is not None:
            self.call("collect")


def duel(data: bytes, random: Random, rounds: int = 3) -> Counter[int]:
    """Plays rounds of each mode that a player can select; returns the events of each kind."""
    pack, game = Pack(data), oracle_pack.read(data)
    kinds: Counter[int] = Counter()
    for number, mode in enumerate(game.modes):
        for _ in range(rounds if mode.flags & oracle_pack.SELECTABLE else 0):
            unit = random.choice([1, 7, game.max_unit, random.randint(1, game.max_unit)])
            wager = random.randrange(mode.cost * unit) if game.spin_chance else 0
            pile = random.choice([0, 3, 65_533, 65_535])
            arguments = (number, unit, random.randbytes(32), random.choice([0, wager]), random.random() < 0.8, pile)
            kinds.update(event[0] for event in Duel(pack, game, *arguments).play(random, game))
    return kinds


@settings(max_examples=250, deadline=None)
@given(SEEDS)
def test_random_games_play_as_the_oracle(seed):
    duel(encoder.encode(Maker(seed).game()), Random(seed))


@pytest.mark.parametrize("name", games.names())
def test_the_games_of_this_tree_play_as_the_oracle(name):
    kinds = duel(games.pack(name), Random(name), rounds=150)
    assert kinds[native.ROUND_END] >= 150


def test_random_games_reach_every_kind_of_event_often():
    """Or the test above proves less than it seems to."""
    kinds: Counter[int] = Counter()
    for seed in range(120):
        kinds += duel(encoder.encode(Maker(seed).game()), Random(seed))
    assert set(kinds) == set(range(native.SPIN, oracle_round.GAMBLED + 1))
    assert min(kinds.values()) >= 10, kinds


def test_the_numbers_of_events_are_those_of_the_page():
    names = (
        "SPIN LINE_WIN WAYS_WIN SCATTER_WIN CHOICE FREE_SPINS_BEGIN FREE_SPINS_ADDED FREE_SPINS_END WIN_CAP ROUND_END "
        "SPIN_CHANCE MODIFIER RESPIN VALUE COLLECT PILE WHEEL POT PRIZE FRAME SHAPE BOWL TOKEN GAMBLE_OFFER GAMBLE"
    )
    assert [getattr(native, name) for name in names.split()] == list(range(1, 26))


@pytest.mark.parametrize(
    ("error", "change"),
    [
        ("mode", {"mode": 99}),
        ("unit", {"unit": 0}),
        ("unit", {"unit": 10**8}),
        ("wager", {"wager": 10**8}),
        ("argument", {"gamble": True, "pile": 65_536}),
    ],
)
def test_a_round_that_cannot_begin(error, change):
    game = next(game for game in (Maker(seed).game() for seed in range(50)) if game.spin_chance)
    arguments = {"mode": 0, "unit": 1, "seed": bytes(32), "wager": 0, "gamble": False, "pile": 0, **change}.values()
    with pytest.raises(CoreError, match=rf"^{error}$"):
        CoreRound(Pack(encoder.encode(game)), *arguments)
    with pytest.raises(Refused, match=rf"^{error}$"):
        OracleRound(game, *arguments)


# -------------------------------------------------------------------------------------------------------------- packs


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_the_core_reads_a_pack_as_the_oracle_does(seed):
    game = Maker(seed).game()
    data = encoder.encode(game)
    pack, read = Pack(data), oracle_pack.read(data)
    assert (pack.name, pack.reels, pack.rows) == (game.name, game.reels, game.rows)
    assert (pack.win_cap_pence, pack.max_unit_pence, pack.stake) == (game.cap, game.max_unit, game.stake)
    assert pack.spin_chance == game.spin_chance
    assert pack.symbols == tuple(symbol.name for symbol in game.symbols)
    assert pack.modes == tuple(mode.name for mode in game.modes)
    assert pack.pots == tuple((pot.name, pot.credits, pot.tokens) for pot in game.pots)
    rows = game.gamble.rows if game.gamble else []
    assert pack.gambles == tuple(
        (r.name, r.kind, r.feature, r.numerator, r.denominator, r.spins, r.value_micro, int(r.only_cash_after))
        for r in rows
    )
    head = game.gamble
    assert (pack.gamble_payback_ppm, pack.gamble_from, pack.gamble_limit, pack.most_gambles) == (
        (head.payback_ppm, head.offered_from, head.limit, head.most) if head else (0, 0, 0, 0)
    )
    assert pack.features == tuple(
        (f.name, f.mode, tuple((count, *option) for count in sorted(f.options) for option in f.options[count]))
        for f in game.features
    )
    for number, feature in enumerate(game.features):
        bowls = tuple((level, table) for level, table in enumerate(feature.bowls, 1) if table != oracle_pack.NONE)
        assert pack.bowls(number) == bowls
    assert pack.wilds == tuple((n, s.multiplier, s.mask) for n, s in enumerate(game.symbols) if s.wild)
    for number, mode in enumerate(game.modes):
        assert pack.steps(number) == tuple(
            (s.op, s.index, s.most, s.least, s.symbols, s.needed, s.credits) for s in mode.steps
        )
        assert (pack.evaluation(number), pack.cost(number), pack.flags(number)) == (
            mode.evaluation,
            mode.cost,
            mode.flags,
        )
    for number, table in enumerate(read.tables):
        assert pack.table(number) == tuple((p.weight, p.kind, p.index, p.number) for p in table)
    for number, group in enumerate(read.boards):
        assert pack.boards(number) == (group.mode, tuple(group.stops))
    for number, one_set in enumerate(game.sets):
        for reel, strip in enumerate(one_set):
            assert list(pack.strip(number, reel)) == strip


def refused(data: bytes) -> str:
    """The name of the refusal, or nothing."""
    try:
        Pack(data)
    except CoreError as error:
        return error.args[0]
    return ""


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_game_beyond_the_contract_is_refused(name):
    spoiled = 0
    for seed in range(400):
        game = Maker(seed).game()
        if MUTATIONS[name](game, Random(seed)):
            error = refused(encoder.encode(game))
            assert error.startswith("pack_"), (seed, error)
            assert error != "pack_hash"
            spoiled += 1
        if spoiled == 3:
            break
    assert spoiled, "no game to spoil"


ZERO = {  # bytes of a row that have to be zero
    "GAME": (40, [13, 14, 15, *range(30, 40)]),
    "SYMB": (12, range(8, 12)),
    "SETS": (8, [6, 7]),
    "MODE": (24, range(16, 24)),
    "STEP": (20, [6, 7]),
    "PRIZ": (12, [6, 7]),
    "POTS": (8, [3]),
    "BGRP": (8, [6, 7]),
    "FEAT": (24, [14, 15, *range(20, 24)]),
    "OPTN": (8, [6, 7]),
}


def rich() -> Game:
    """The first game that leaves no section empty."""
    return next(g for g in (Maker(seed).game() for seed in range(2000)) if all(encoder.sections(g).values()))


def test_bytes_that_are_kept_at_zero_are_checked():
    game = rich()
    for tag, (length, places) in ZERO.items():
        for place in places:
            content = encoder.sections(game)
            content[tag][len(content[tag]) - length + place] = 1
            assert refused(encoder.assemble(content, game.name)).startswith("pack_"), (tag, place)
    for place in (14, 15, 16 + 11, 16 + 12, 16 + 13, 16 + 14, 16 + 15):
        content = encoder.sections(game)
        content["GAMB"][place] = 1
        assert refused(encoder.assemble(content, game.name)).startswith("pack_"), ("GAMB", place)


def test_sections_of_another_length_order_or_number():
    game = rich()
    content = encoder.sections(game)
    assert not refused(encoder.assemble(content, game.name))
    assert not refused(encoder.assemble(dict(reversed(content.items())), game.name))
    for tag in encoder.TAGS:
        for change in (lambda data: data + b"\0", lambda data: data[:-1], lambda data: data * 2):
            changed = {**content, tag: bytearray(change(content[tag]))}
            if tag in ("STRP", "TEXT"):
                continue  # more than a set or a name refers to is not an error of itself
            assert refused(encoder.assemble(changed, game.name)).startswith("pack_"), tag
        assert refused(encoder.assemble({t: data for t, data in content.items() if t != tag})).startswith("pack_")


def test_rows_that_point_astray():
    game = rich()
    for tag, layout, at in (("TABL", "<H", 0), ("TABL", "<H", 2), ("BGRP", "<H", 2), ("BGRP", "<H", 4)):
        for delta in (1, -1):
            content = encoder.sections(game)
            value = struct.unpack_from(layout, content[tag], at)[0]
            struct.pack_into(layout, content[tag], at, (value + delta) % 65536)
            assert refused(encoder.assemble(content, game.name)).startswith("pack_"), (tag, at, delta)


def test_steps_are_sorted_by_mode():
    game = rich()
    content = encoder.sections(game)
    content["STEP"] = content["STEP"][20:] + content["STEP"][:20]
    assert content["STEP"][0] != content["STEP"][-20] or game.modes[0].steps
    assert refused(encoder.assemble(content, game.name)).startswith("pack_")

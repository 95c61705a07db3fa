"""Rounds for tests: seeds, playing to the end, games whose window is known, and the draws that a seed gives."""

from collections.abc import Callable

import native
from native import Pack, Round
from tests.native import oracle
from tests.native.packs import Game, Group, Mode, Symbol, boards, build, modifier

Event = tuple[int, int, int, int, int, int]


def seed(number: int) -> bytes:
    return number.to_bytes(32, "little")


def run(round_: Round, choose: Callable[[int], int] = lambda options: 0) -> list[Event]:
    """All events; offers of a gamble are declined."""
    events = []
    while not round_.finished:
        event = round_.next()
        events.append(event)
        if event[0] == native.CHOICE:
            assert len(round_.options()) == event[3]
            round_.choose(choose(event[3]))
        else:
            assert round_.options() == ()
        if event[0] == native.GAMBLE_OFFER:
            assert round_.offer == event[5]
            round_.collect()
        else:
            assert round_.offer == 0
    return events


def find(pack: Pack, wanted: Callable[[list[Event]], bool], mode: int = 0, unit: int = 1) -> bytes:
    """A seed whose round, with the first options, is the wanted one."""
    return next(seed(n) for n in range(20_000) if wanted(run(Round(pack, mode, unit, seed(n)))))


def kinds(events: list[Event]) -> list[int]:
    return [event[0] for event in events]


def of(events: list[Event], *wanted: int) -> list[Event]:
    """The events of these kinds."""
    return [event for event in events if event[0] in wanted]


class Draws:
    """What a seed draws, from the independent implementation in oracle.py."""

    def __init__(self, seed_: bytes) -> None:
        self.words = oracle.stream(seed_)

    def __call__(self, range_: int) -> int:
        return oracle.draw(self.words, range_)


def fixed(*columns: str, **fields: object) -> Game:
    """A game whose base mode always shows these columns: a MODIFIER with one board gives the stops (two draws).

    Symbols are letters: A pays nothing, B pays 1 credit for three, S is a scatter without pays, W a wild for A and B, the
    others are what a test makes of them. Set 1 has the same strips, for features: its stops are drawn.
    """
    letters = "ABSWCDEF"
    symbols = [Symbol(letter) for letter in letters]
    symbols[1].pays = [0, 0, 1]
    symbols[2].scatter = True
    symbols[3].wild, symbols[3].mask = True, 0b11
    strips = [[letters.index(letter) for letter in column] for column in columns]
    game = Game(
        symbols=symbols,
        rows=len(columns[0]),
        lines=[],
        sets=[strips, strips],
        modes=[Mode(steps=[modifier(0)]), Mode("free", set=1, flags=0)],
        tables=[[boards(0)]],
        groups=[Group(0, [[0] * len(columns)])],
    )
    for name, value in fields.items():
        setattr(game, name, value)
    return game


def played(game: Game, seed_: bytes = bytes(32), unit: int = 1, **arguments: int) -> list[Event]:
    """The events of a base round, without the MODIFIER and the first SPIN of a fixed game, and without ROUND_END."""
    events = run(Round(Pack(build(game)), 0, unit, seed_, **arguments))
    assert events[-1][0] == native.ROUND_END
    assert kinds(events[:2]) == [native.MODIFIER, native.SPIN]
    return events[2:-1]

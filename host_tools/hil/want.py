"""Entropy for which the next round has a wanted outcome.

The firmware has no way in by which an outcome could be set; the rig plays the part of the random device, so it can look for
bytes that lead there: it repeats the firmware's generator over what the device has sent since power-on, tries candidate
bytes for the next request, and plays each resulting seed through the core.
"""

import operator
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import native
from firmware.play.gamble import Selection
from firmware.play.shown import event_name, prize_name
from firmware.rng import generator as rng
from firmware.rng.drbg import HmacDrbg

MAX_CANDIDATES = 2_000_000
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Event = tuple[int, int, int, int, int, int]
Row = tuple[int, int, int, int]  # weight, kind, index, number
Step = tuple[int, int, int, int, int, int, int]


def slug(name: str) -> str:
    """A pack's name as a script writes it: `Rollin' Bones` is rollin_bones."""
    return re.sub("[^a-z0-9]+", "_", name.replace("'", "").lower()).strip("_")


class NotFound(Exception):
    """No candidate had the outcome, the game has no such thing, or the generator cannot be repeated."""


@dataclass(frozen=True)
class Play:
    """The play that comes next, as the cabinet's selection stands."""

    pack: native.Pack
    mode: int
    unit_pence: int
    wager_pence: int = 0  # a spin chance; 0: the whole cost
    pile: int = 0

    def round(self, seed: bytes, gamble: bool = False) -> native.Round:
        return native.Round(self.pack, self.mode, self.unit_pence, seed, self.wager_pence, gamble, self.pile)


@dataclass(frozen=True)
class Outcome:
    """What the next round must be. `kind`: a word of vocabulary.OUTCOMES; `name`: what it is narrowed down to, "" any."""

    kind: str
    op: str = ">"
    number: int = 0  # hundredths of the bet for `win`, scatters in view for `scatters`
    name: str = ""

    def __str__(self) -> str:
        if self.kind == "win":
            return f"win {self.op} {self.number / 100:g}x"
        if self.kind == "scatters":
            return f"scatters {self.number}"
        return f"{self.kind} {self.name}".rstrip()


def holds(outcome: Outcome, play: Play) -> Callable[[bytes], bool]:
    """The test of a seed: True when its round has the outcome. Errors: NotFound lists what the game has instead."""
    if outcome.kind in ("loss", "win"):
        return lambda seed: _plain(outcome, play, seed)
    if outcome.kind == "scatters":
        symbols = _scatters(play)
        return lambda seed: _in_view(play, seed, symbols) == outcome.number
    if outcome.kind == "gamble":
        colour, row = _colour_and_row(outcome, play.pack)
        return lambda seed: _gambled(play, seed, colour == "green", row)
    matches = _matcher(outcome, play.pack)
    return lambda seed: any(matches(event) for event in _events(play, seed))


def _events(play: Play, seed: bytes):
    """The round's events, its first option being picked where a choice is due, without a gamble."""
    core = play.round(seed)
    while not core.finished:
        event = core.next()
        if event[0] == native.CHOICE:
            core.choose(0)
        yield event


def _plain(outcome: Outcome, play: Play, seed: bytes) -> bool:
    """A loss, or a win of the reels alone: nothing but spins and wins."""
    core = play.round(seed)
    plain = (native.SPIN, native.LINE_WIN, native.WAYS_WIN, native.SCATTER_WIN, native.VALUE, native.PILE)
    plain += (native.COLLECT, native.SPIN_CHANCE, native.ROUND_END)
    while not core.finished:
        event = core.next()
        if event[0] not in plain or (event[0] == native.PILE and event[4]):
            return False
    if outcome.kind == "loss":
        return core.award_pence == 0
    bet = play.unit_pence * play.pack.cost(play.mode)
    return core.award_pence > 0 and OPERATORS[outcome.op](100 * core.award_pence, outcome.number * bet)


def _scatters(play: Play) -> frozenset[int]:
    """The symbols whose count wins the mode's feature."""
    pack = play.pack
    for op, index, _, _, symbols, _, _ in pack.steps(play.mode):
        if op == native.STEP_AWARD and any(row[1] == native.PRIZE_FEATURE for row in pack.table(index)):
            return frozenset(symbol for symbol in range(len(pack.symbols)) if symbols & 1 << symbol)
    raise NotFound(f"nothing in view wins a feature in mode {pack.modes[play.mode]} of {pack.name}")


def _in_view(play: Play, seed: bytes, symbols: frozenset[int]) -> int:
    core = play.round(seed)
    while not core.finished:
        if core.next()[0] == native.SPIN:
            return sum(symbol in symbols for symbol in core.window())
    return -1


def _colour_and_row(outcome: Outcome, pack: native.Pack) -> tuple[str, int]:
    """`green` or `red`, and the segment: the first, or the one that is named behind the colour."""
    names = [slug(row[0]) for row in pack.gambles]
    colour, _, name = outcome.name.partition(" ")
    if not names or colour not in ("green", "red") or (name and name not in names):
        there = f"green or red, then one of {', '.join(names)}" if names else "no gamble"
        raise NotFound(f"gamble {outcome.name}: this game has {there}")
    return colour, names.index(name) if name else 0


def _gambled(play: Play, seed: bytes, green: bool, row: int) -> bool:
    """The round's first offer comes without a choice before it, and all of it on the segment ends in this colour."""
    core = play.round(seed, gamble=True)
    while not core.finished:
        event = core.next()
        if event[0] == native.CHOICE:
            return False
        if event[0] == native.GAMBLE_OFFER:
            selection = Selection(play.pack, play.unit_pence, event[5], only_cash=False, taken=0)
            selection.row = row
            if not selection.amount():
                return False
            core.gamble(row, selection.amount())
        elif event[0] == native.GAMBLE:
            return event[3] == green
    return False


def _matcher(outcome: Outcome, pack: native.Pack) -> Callable[[Event], bool]:
    """ "The round has an event of a kind, with one field of a value": the test of one event."""
    name = outcome.name
    if outcome.kind == "spin_chance":
        won = _one_of(outcome, ("win", "loss")) == "win"
        return lambda event: event[0] == native.SPIN_CHANCE and event[3] == won
    if outcome.kind == "pile":
        if name and name != "prize":
            _one_of(outcome, ("prize",))
        return lambda event: event[0] == native.PILE and (not name or event[4] > 0)
    kind, known = _NAMED[outcome.kind](pack) if outcome.kind in _NAMED else (_KINDS[outcome.kind], ())
    if not name:
        return lambda event: event[0] == kind
    _one_of(outcome, tuple(known))
    if outcome.kind in ("modifier", "bowl"):
        place = 1 if outcome.kind == "modifier" else 3
        return lambda event: event[0] == kind and event[place] == int(name)
    return lambda event: event[0] == kind and slug(event_name(pack, event)) == name


def _one_of(outcome: Outcome, known: tuple[str, ...]) -> str:
    if outcome.name not in known:
        there = ", ".join(known) or "nothing of that kind"
        raise NotFound(f"{outcome.kind} {outcome.name}: this game has {there}")
    return outcome.name


_KINDS = {
    "free_spins": native.FREE_SPINS_BEGIN,
    "respin": native.RESPIN,
    "collect": native.COLLECT,
    "prize": native.PRIZE,
    "shape": native.SHAPE,
    "win_cap": native.WIN_CAP,
}


_PRIZE_STEPS = (native.STEP_MODIFIER, native.STEP_PILE, native.STEP_AWARD, native.STEP_TOKENS)


def _tables(pack: native.Pack, wanted: int) -> list[Row]:
    """All rows of one kind of prize that any play can reach."""
    rows = [row for mode in range(len(pack.modes)) for row in _reach(pack, mode) if row[1] == wanted]
    return list(dict.fromkeys(rows))


def _wheel_prizes(pack: native.Pack) -> list[str]:
    prizes = [
        slug(prize_name(pack, prize))
        for wheel in {row[2] for row in _tables(pack, native.PRIZE_WHEEL)}
        for prize in pack.table(wheel)
    ]
    return sorted(set(prizes))


_NAMED: dict[str, Callable[[native.Pack], tuple[int, list[str]]]] = {
    "wheel": lambda pack: (native.WHEEL, _wheel_prizes(pack)),
    "pot": lambda pack: (native.POT, [slug(pot[0]) for pot in pack.pots]),
    "token": lambda pack: (native.TOKEN, [slug(pot[0]) for pot in pack.pots]),
    "feature": lambda pack: (native.FREE_SPINS_BEGIN, [slug(feature[0]) for feature in pack.features]),
    "modifier": lambda pack: (native.MODIFIER, [str(row[2]) for row in _tables(pack, native.PRIZE_BOARDS)]),
    "bowl": lambda pack: (
        native.BOWL,
        [str(level) for feature in range(len(pack.features)) for level, _ in pack.bowls(feature)],
    ),
}


def everything(pack: native.Pack, mode: int) -> list[Outcome]:
    """All outcomes but gambles and spin chances that can follow a play of `mode`: those that its steps can lead to."""
    found = [Outcome("loss"), Outcome("win")]
    ops = {step[0] for step in pack.steps(mode)}
    reach = _reach(pack, mode)
    if native.STEP_MODIFIER in ops:
        found += [Outcome("modifier", name=str(row[2])) for row in reach if row[1] == native.PRIZE_BOARDS]
    if native.STEP_RESPIN in ops:
        found.append(Outcome("respin"))
    if native.STEP_PILE in ops:
        found += [Outcome("pile"), Outcome("pile", name="prize")]
    if native.STEP_COLLECT in ops:
        found.append(Outcome("collect"))
    for wheel in dict.fromkeys(row[2] for row in reach if row[1] == native.PRIZE_WHEEL):
        found += [Outcome("wheel", name=slug(prize_name(pack, row))) for row in pack.table(wheel)]
    found += [Outcome("pot", name=slug(pack.pots[row[2]][0])) for row in reach if row[1] == native.PRIZE_POT]
    for number in dict.fromkeys(row[2] for row in reach if row[1] == native.PRIZE_FEATURE):
        found.append(Outcome("feature", name=slug(pack.features[number][0])))
        found += [Outcome("bowl", name=str(level)) for level, _ in pack.bowls(number)]
        inner = pack.steps(pack.features[number][1])
        found += [
            Outcome("token", name=slug(pack.pots[row[2]][0]))
            for row in _rows(pack, inner, (native.STEP_TOKENS,))
            if row[1] == native.PRIZE_POT
        ]
    return list(dict.fromkeys(found))


def _rows(pack: native.Pack, steps: Iterable[Step], ops: tuple[int, ...]) -> list[Row]:
    return [row for step in steps if step[0] in ops for row in pack.table(step[1])]


def _reach(pack: native.Pack, mode: int) -> list[Row]:
    """Rows of all tables that a play of `mode` may draw from: its own, its wheels' and its features'."""
    rows: list[Row] = []
    modes, tables = [mode], [step[1] for step in pack.steps(mode) if step[0] in _PRIZE_STEPS]
    seen: set[int] = set()
    while tables:
        number = tables.pop(0)
        if number in seen:
            continue
        seen.add(number)
        for row in pack.table(number):
            rows.append(row)
            if row[1] == native.PRIZE_WHEEL:
                tables.append(row[2])
            if row[1] == native.PRIZE_FEATURE and pack.features[row[2]][1] not in modes:
                modes.append(pack.features[row[2]][1])
                tables += [step[1] for step in pack.steps(modes[-1]) if step[0] in _PRIZE_STEPS]
    return rows


class Twin:
    """The firmware's generator, repeated from what the random device has answered. `hear` each answer in order: what an answer
    was for can be told from its size."""

    def __init__(self) -> None:
        self._drbg: HmacDrbg | None = None

    def hear(self, data: bytes) -> None:
        """One complete, healthy answer of the device."""
        if len(data) == rng.BYTES[rng.INSTANTIATE]:
            self._drbg = HmacDrbg(data)
        elif self._drbg is not None and len(data) in (rng.BYTES[rng.RESEED], rng.BYTES[rng.DRAW]):
            self._drbg.reseed(data)
            if len(data) == rng.BYTES[rng.DRAW]:
                self._drbg.generate(rng.SEED_BYTES)

    def drbg(self) -> HmacDrbg:
        """The generator as it stands. Errors: NotFound before the firmware has one."""
        if self._drbg is None:
            raise NotFound("the firmware's generator is not running yet; wait until idle first")
        return self._drbg


def search(drbg: HmacDrbg, play: Play, outcome: Outcome, chooser: random.Random) -> tuple[bytes, bytes]:
    """Bytes for the next draw of `drbg`, and the seed that they lead to, whose round has `outcome`.

    Errors: NotFound after MAX_CANDIDATES.
    """
    test = holds(outcome, play)
    for _ in range(MAX_CANDIDATES):
        candidate = chooser.randbytes(rng.BYTES[rng.DRAW])
        twin = drbg.copy()
        twin.reseed(candidate)
        seed = twin.generate(rng.SEED_BYTES)
        if test(seed):
            return candidate, seed
    raise NotFound(f"none of {MAX_CANDIDATES} random rounds was: {outcome}")

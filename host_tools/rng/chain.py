"""The whole chain on the host: the model of a random device fed by the operating system -> driver -> health tests -> DRBG ->
seeds -> the streams of rounds. Everything from the driver on is what the cabinet runs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import native
from firmware.rng.generator import FAILED, Generator
from firmware.rng.health import NAMES
from hal.entropy.asked import AskedSource
from host_tools.hil.line import Line
from host_tools.hil.models.entropy_asked import EntropySource
from native.cpython import draws, draws64, scale, stream_words

STEP_US = 1000
SEED_WITHIN_MS = 5000
BLOCKS_PER_SEED = 256  # 16 KiB of a round's stream: hundreds of times what a round takes
DRAWS_PER_SEED = 1000
FLAW_ROUNDS = 6  # words that are ANDed: each bit of the flaw is a one with 2^-6, so each of the stream with 50.8 %


class ChainFailed(Exception):
    """The firmware's generator gave no seed. The text says why."""


class Chain:
    """Seeds of rounds, as many as are asked for. `fault`: what is wrong with the device, in the words of a rig script."""

    def __init__(self, fault: str = "") -> None:
        self._line = Line("entropy", 921_600)
        device = EntropySource()
        self._line.attach(device)
        device.power(True, 0)
        if fault:
            kind, *figures = fault.split()
            device.fault(kind, *figures)
        self._driver = AskedSource(self._line.port)
        self._generator = Generator(self._driver)
        self._now_us = 0

    def seeds(self) -> Iterator[bytes]:
        """One seed a round, each behind a reseed, without end. Errors: ChainFailed."""
        generator = self._generator
        while True:
            generator.request()
            end_us = self._now_us + 1000 * SEED_WITHIN_MS
            while not (seed := generator.seed()):
                self._now_us += STEP_US
                self._line.advance(self._now_us)
                self._driver.poll(self._now_us // 1000)
                generator.poll(self._now_us // 1000)
                if generator.state == FAILED or self._now_us > end_us:
                    raise ChainFailed(f"no seed: {NAMES[generator.fault] or generator.state}")
            yield seed


def words(chain: Chain, flawed: bool = False) -> Iterator[bytes]:
    """Raw 32-bit words, little endian, 16 KiB a seed. `flawed`: each bit is a one with 50.8 %."""
    flaw = np.random.default_rng()
    for seed in chain.seeds():
        data = stream_words(seed, BLOCKS_PER_SEED)
        if flawed:
            found = np.frombuffer(data, np.uint32)
            mask = np.bitwise_and.reduce(flaw.integers(0, 2**32, (FLAW_ROUNDS, len(found)), dtype=np.uint32))
            data = (found | mask).astype("<u4").tobytes()
        yield data


@dataclass(frozen=True, order=True)
class Range:
    """Draws from 0 ... limit-1 that a game makes, and where."""

    limit: int
    where: str


def ranges_of(pack: native.Pack) -> list[Range]:
    """Every range from which a round of the game may draw: stops, tables, boards, shapes, gambles, spin chances."""
    found: dict[int, str] = {}

    def add(limit: int, where: str) -> None:
        if limit > 1:
            found.setdefault(limit, f"{pack.name} {where}")

    for number in _indexes(lambda index: pack.strip(index, 0)):
        for reel in range(pack.reels):
            add(len(pack.strip(number, reel)), f"strip {reel + 1} of set {number}")
    for number in _indexes(pack.table):
        rows = pack.table(number)
        add(sum(row[0] for row in rows), f"table {number}")
        for _, kind, _, size in rows:
            if kind == native.PRIZE_SHAPE:
                add((pack.reels - (size & 255) + 1) * (pack.rows - (size >> 8) + 1), "place of a shape")
    for number in _indexes(pack.boards):
        add(len(pack.boards(number)[1]), f"boards {number}")
    for row in pack.gambles:
        if row[1] == native.GAMBLE_CASH:
            add(row[3] * 1_000_000, f"gamble {row[0]}")
        else:
            for unit in (1, pack.max_unit_pence):
                add(row[6] * unit, f"gamble {row[0]} at {unit}p")
    if pack.spin_chance:
        for mode, name in enumerate(pack.modes):
            if pack.flags(mode) & native.MODE_SELECTABLE:
                for coin in pack.coin_values:
                    add(pack.cost(mode) * coin, f"spin chance of {name} at {coin}p")
    return sorted(Range(limit, where) for limit, where in found.items())


def _indexes(look) -> Iterator[int]:
    index = 0
    while True:
        try:
            look(index)
        except native.CoreError:
            return
        yield index
        index += 1


def draws_of(chain: Chain, limit: int, count: int, flawed: bool = False) -> list[int]:
    """`count` draws by the core, over as many seeds as that takes. `flawed`: from the flawed words, scaled by the core."""
    values: list[int] = []
    if flawed:
        for data in words(chain, flawed=True):
            for word in np.frombuffer(data, "<u4"):
                value = scale(int(word), limit & 0xFFFFFFFF) if limit <= 1 << 32 else int(word) * limit >> 32
                if value is not None:
                    values.append(value)
            if len(values) >= count:
                return values[:count]
    draw = draws if limit <= 1 << 32 else draws64
    for seed in chain.seeds():
        values += draw(
            seed, [limit & 0xFFFFFFFF if draw is draws else limit] * min(DRAWS_PER_SEED, count - len(values))
        )
        if len(values) >= count:
            break
    return values

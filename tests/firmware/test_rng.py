"""The generator of round seeds: no seed without fresh healthy bytes, and what follows a failure."""

import hashlib
from collections.abc import Callable

import pytest

from firmware.rng import generator as rng
from firmware.rng import health, known_answers


def noise(count: int, start: int = 0) -> bytes:
    """Bytes without order that repeat with `start`."""
    blocks = (hashlib.sha256(b"%d %d" % (start, block)).digest() for block in range(count // 32 + 1))
    return b"".join(blocks)[:count]


class Source:
    """An entropy driver that gives what the test put in; `asked` are the sizes that were asked for, in order."""

    def __init__(self) -> None:
        self.events: list[tuple] = [("online",)]
        self.asked: list[int] = []
        self.bytes = b""
        self.cancelled = 0

    def event(self) -> tuple | None:
        return self.events[0] if self.events else None

    def booked(self) -> None:
        self.events.pop(0)

    def request(self, count: int) -> bool:
        self.asked.append(count)
        return True

    def cancel(self) -> None:
        self.cancelled += 1
        self.asked.clear()
        self.bytes = b""

    def available(self) -> int:
        return len(self.bytes)

    def take(self, count: int) -> bytes:
        data, self.bytes = self.bytes[:count], self.bytes[count:]
        return data


class Bench:
    """A generator, its source, and a clock that steps by a millisecond. `answer` makes the bytes of a request."""

    def __init__(self, rounds_per_reseed: int = 1, answer: Callable[[int, int], bytes] = noise) -> None:
        self.source = Source()
        self.generator = rng.Generator(self.source, rounds_per_reseed)
        self.now_ms = 0
        self.given: list[int] = []
        self.answer = answer

    def run(self, ms: int, answers: bool = True) -> "Bench":
        for _ in range(ms):
            self.now_ms += 1
            self.generator.poll(self.now_ms)
            if answers and self.source.asked:
                count = self.source.asked.pop(0)
                self.given.append(count)
                self.source.bytes += self.answer(count, len(self.given))
        return self

    def started(self) -> "Bench":
        self.run(60)
        assert self.generator.state == rng.READY
        return self

    def seed(self) -> bytes:
        """Asks for a seed and gives the bytes."""
        self.generator.request()
        for _ in range(20):
            self.run(1)
            seed = self.generator.seed()
            if seed:
                return seed
        raise AssertionError("no seed came")


TEST, INSTANTIATE, RESEED, DRAW = rng.BYTES


def test_sizes_tell_purposes_apart_and_hold_enough_entropy():
    """At the claimed 4 bits a byte: 256 bits to seed, 128 more for the nonce; start-up in whole requests."""
    assert len(set(rng.BYTES)) == 4
    assert 4 * DRAW >= 256
    assert 4 * RESEED >= 256
    assert 4 * INSTANTIATE >= 256 + 128
    assert rng.START_UP_BYTES == 8 * TEST


def test_start_up_tests_1024_bytes_and_uses_none_of_them():
    bench = Bench().started()
    assert bench.given == [TEST] * 8 + [INSTANTIATE]
    instantiated = noise(INSTANTIATE, 9)
    twin = rng.HmacDrbg(instantiated)
    assert bench.generator._drbg is not None
    assert bench.generator._drbg._key == twin._key


def test_nothing_is_asked_before_the_known_answers_hold(monkeypatch):
    calls = []
    parts = tuple((name, lambda name=name: calls.append(name) or iter((True,))) for name, _ in known_answers.PARTS)
    monkeypatch.setattr(known_answers, "PARTS", parts)
    bench = Bench().run(2 * len(parts))
    assert not bench.source.asked
    assert not bench.given
    assert len(calls) == len(parts)
    bench.run(1)
    assert bench.given == [TEST]


def test_a_seed_needs_bytes_that_were_asked_for_after_the_request():
    bench = Bench().started()
    bench.generator.request()
    bench.run(1, answers=False)
    assert bench.source.asked == [DRAW]
    assert bench.generator.seed() == b""
    bench.run(2)
    seed = bench.generator.seed()
    assert len(seed) == 32
    assert bench.generator.seed() == b""
    assert bench.seed() != seed


def test_bytes_of_a_cancelled_draw_seed_no_round():
    bench = Bench().started()
    bench.generator.request()
    bench.run(1, answers=False)
    bench.generator.cancel()
    bench.generator.request()
    bench.run(2, answers=False)
    assert bench.source.asked == [DRAW]
    bench.source.asked.clear()
    bench.source.bytes = noise(DRAW, 99)
    bench.run(1, answers=False)
    assert bench.generator.seed() == b"", "these bytes were on their way before start was pressed"
    bench.run(1, answers=False)
    assert bench.source.asked == [DRAW]


def test_rounds_per_reseed():
    bench = Bench(rounds_per_reseed=3).started()
    seeds = {bench.seed() for _ in range(7)}
    assert len(seeds) == 7
    assert bench.given[9:].count(DRAW) == 3, "for the first, the fourth and the seventh"


def test_idle_it_tests_in_the_background_and_reseeds_every_minute():
    bench = Bench().started()
    before = bytes(bench.generator._drbg._v)
    bench.run(1000)
    assert bench.given[9:] == [TEST] * 5
    assert bytes(bench.generator._drbg._v) == before
    bench.run(rng.RESEED_EVERY_MS)
    assert bench.given[9:].count(RESEED) == 1
    assert bytes(bench.generator._drbg._v) != before


@pytest.mark.parametrize(
    ("event", "state", "tilt"),
    [(("offline",), rng.OFFLINE, "rng_no_data"), (("unhealthy", 3), rng.FAILED, "rng_device")],
)
def test_a_device_fault_zeroises_and_leaves_no_seed(event, state, tilt):
    bench = Bench().started()
    bench.generator.request()
    bench.run(1, answers=False)
    drbg = bench.generator._drbg
    bench.source.events.append(event)
    bench.source.bytes = noise(DRAW, 50)
    bench.run(1, answers=False)
    assert bench.generator.state == state
    assert bench.generator.tilt() == tilt
    assert bench.generator._drbg is None
    assert drbg is not None
    assert not any(drbg._key)
    assert bench.generator.seed() == b""
    assert bench.source.cancelled == 1


def test_a_silent_device_that_comes_back_is_tested_from_the_start():
    bench = Bench().started()
    bench.source.events.append(("offline",))
    bench.run(20, answers=False)
    assert bench.generator.state == rng.OFFLINE
    bench.source.events.append(("online",))
    bench.given.clear()
    bench.run(40)
    assert bench.generator.state == rng.READY
    assert bench.given == [TEST] * 8 + [INSTANTIATE]
    assert bench.generator.tilt() == ""


def test_a_failed_health_test_recovers_only_through_the_whole_start_up_test():
    bench = Bench().started()
    bench.answer = lambda count, turn: bytes(count)
    bench.run(250)
    assert bench.generator.state == rng.FAILED
    assert health.NAMES[bench.generator.fault] == "repetition count"
    bench.run(3 * rng.RETRY_MS)
    assert bench.generator.tilt() == "rng_repetition", "named until it has passed, also while it is tried again"
    assert bench.generator.alarms == {health.ALARM_REPETITION: 4}
    bench.answer = noise
    bench.given.clear()
    bench.run(rng.RETRY_MS + 50)
    assert bench.generator.state == rng.READY
    assert bench.given[:9] == [TEST] * 8 + [INSTANTIATE]


def test_a_start_up_that_fails_late_begins_again():
    bench = Bench(answer=lambda count, turn: bytes(count) if turn == 8 else noise(count, turn))
    bench.run(100)
    assert bench.generator.state == rng.FAILED
    bench.run(rng.RETRY_MS)
    assert bench.given == [TEST] * 8 + [TEST] * 8 + [INSTANTIATE]


def test_known_answers_on_demand_hold_back_a_draw_and_a_wrong_one_locks(monkeypatch):
    bench = Bench().started()
    bench.generator.check()
    bench.generator.request()
    bench.run(len(known_answers.PARTS), answers=False)
    assert not bench.source.asked
    bench.run(25)
    assert bench.generator.seed()
    monkeypatch.setattr(known_answers, "PARTS", (("generator", lambda: iter((False,))),))
    bench.generator.check()
    bench.run(1)
    assert (bench.generator.state, bench.generator.tilt()) == (rng.FAILED, "rng_known_answer")
    assert bench.generator._drbg is None
    bench.run(5 * rng.RETRY_MS)
    assert bench.generator.state != rng.READY
    monkeypatch.undo()
    bench.run(rng.RETRY_MS + 60)
    assert bench.generator.state == rng.READY


def test_a_sample_is_shown_and_never_used():
    bench = Bench().started()
    key = bytes(bench.generator._drbg._key)
    assert bench.generator.sample(200)
    bench.run(10)
    assert bench.given[9:] == [TEST] * 2
    assert bench.generator.sampled() == (noise(TEST, 10) + noise(TEST, 11))[:200]
    assert bench.generator.sampled() is None
    assert bytes(bench.generator._drbg._key) == key


def test_a_failure_wipes_a_sample():
    bench = Bench().started()
    assert bench.generator.sample(500)
    bench.run(2)
    bench.source.events.append(("unhealthy", 1))
    bench.run(1)
    assert bench.generator.sampled() is None
    assert not bench.generator.sample(1)

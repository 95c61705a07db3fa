"""Randomness: published vectors, exact cutoffs, and no seed without fresh healthy bytes."""

import math

import pytest

from firmware import rng


def test_hmac_drbg_sha256_published_vector():
    """CAVP, no reseed, no prediction resistance, no personalisation: the second 128 bytes."""
    drbg = rng.HmacDrbg(
        bytes.fromhex("ca851911349384bffe89de1cbdc46e6831e44d34a4fb935ee285dd14b71a7488")
        + bytes.fromhex("659ba96c601dc69fc902940805ec0ca8")
    )
    drbg.generate(128)
    assert drbg.generate(128).hex() == (
        "e528e9abf2dece54d47c7e75e5fe302149f817ea9fb4bee6f4199697d04d5b89d54fbb978a15b5c443c9ec21036d2460"
        "b6f73ebad0dc2aba6e624abf07745bc107694bb7547bb0995f70de25d6b29e2d3011bb19d27676c07162c8b5ccde0668"
        "961df86803482cb37ed6d5c0bb8d50cf1f50d476aa0458bdaba806f48be9dcb8"
    )


def test_cutoffs_are_those_of_the_formulas():
    """SP 800-90B 4.4.1 and 4.4.2 at 4 bits a byte and alpha 2^-30, computed from the binomial distribution."""
    assert math.ceil(30 / 4) + 1 == rng.REPETITION_CUTOFF
    n, p, alpha = rng.PROPORTION_WINDOW, 1 / 16, 2.0**-30
    tail, quantile = 1.0, 0
    while True:
        tail -= math.comb(n, quantile) * p**quantile * (1 - p) ** (n - quantile)
        if tail <= alpha:
            break
        quantile += 1
    assert quantile + 1 == rng.PROPORTION_CUTOFF


def test_eight_equal_bytes_pass_and_nine_alarm():
    assert rng.HealthTests().feed(b"\x07" * 8 + b"\x08") == ""
    assert rng.HealthTests().feed(b"\x07" * 9) == "repetition count"


@pytest.mark.parametrize(("same", "alarm"), [(70, ""), (71, "adaptive proportion")])
def test_seventy_of_a_window_pass_and_seventy_one_alarm(same, alarm):
    window = [0] + [index % 255 + 1 for index in range(511)]
    for place in range(same - 1):
        window[1 + place * 7] = 0  # never two in a row
    assert rng.HealthTests().feed(bytes(window)) == alarm


class Source:
    """An entropy driver that gives what the test put in."""

    def __init__(self):
        self.events = [("online",)]
        self.asked = []
        self.bytes = b""

    def event(self):
        return self.events[0] if self.events else None

    def booked(self):
        self.events.pop(0)

    def request(self, count):
        self.asked.append(count)
        return True

    def available(self):
        return len(self.bytes)

    def take(self, count):
        data, self.bytes = self.bytes[:count], self.bytes[count:]
        return data


def stream(count: int, start: int = 0) -> bytes:
    return bytes((start + index * 37) % 251 for index in range(count))


def started() -> tuple[rng.Generator, Source]:
    source = Source()
    generator = rng.Generator(source)
    for turn in range(20):
        generator.poll(turn)
        if source.asked:
            source.bytes += stream(source.asked.pop(), turn)
    assert generator.state == rng.READY
    return generator, source


def test_a_seed_needs_bytes_that_were_asked_for_after_the_request():
    generator, source = started()
    generator.poll(100)
    assert not source.asked
    generator.request()
    generator.poll(101)
    assert source.asked == [rng.RESEED_BYTES]
    assert generator.seed() == b""
    source.bytes = stream(64, 9)
    generator.poll(102)
    seed = generator.seed()
    assert len(seed) == 32
    assert generator.seed() == b""


@pytest.mark.parametrize("event", [("offline",), ("unhealthy", 3)])
def test_a_device_fault_zeroises_and_leaves_no_seed(event):
    generator, source = started()
    generator.request()
    generator.poll(1)
    source.events.append(event)
    source.bytes = stream(64)
    generator.poll(2)
    assert generator.state in (rng.OFFLINE, rng.FAILED)
    assert generator._drbg is None
    assert generator.seed() == b""


def test_a_failed_health_test_recovers_only_through_the_whole_start_up_test():
    generator, source = started()
    generator.request()
    generator.poll(1)
    source.asked.clear()
    source.bytes = b"\x00" * 64
    generator.poll(2)
    assert (generator.state, generator.fault) == (rng.FAILED, "repetition count")
    tested = 0
    for turn in range(3000):
        generator.poll(10 + turn)
        if source.asked:
            count = source.asked.pop()
            tested += count
            source.bytes += stream(count, turn)
        if generator.state == rng.READY:
            break
    assert generator.state == rng.READY
    assert tested >= rng.START_UP_BYTES + rng.INSTANTIATE_BYTES

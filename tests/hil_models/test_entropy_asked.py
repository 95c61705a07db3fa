"""The random device: what it sends can be told before and after."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host_tools.hil.line import Line
from host_tools.hil.models.entropy_asked import EntropySource
from host_tools.hil.models.entropy_device import expand

from .conftest import Bench


def ready() -> tuple[Bench, EntropySource]:
    source = EntropySource()
    return Bench(Line("entropy", 115_200), source), source


def ask(bench: Bench, count: int, ms: int = 20) -> bytes:
    return bench.exchange(b"x" + count.to_bytes(2, "little"), ms)


def test_bytes_and_a_good_status() -> None:
    bench, source = ready()
    answered: list[bytes] = []
    source.on_answer = answered.append
    first, second = ask(bench, 32), ask(bench, 32)
    assert (len(first), first[-1], len(second)) == (33, 0, 33)
    assert first != second
    assert answered == [first[:-1], second[:-1]]
    assert ask(bench, 0) == b"\x00"
    assert ask(bench, 300, 40)[-1] == 0


def test_a_seed_repeats_and_each_size_has_its_own_stream() -> None:
    bench, source = ready()
    source.seed(7)
    first = ask(bench, 48)[:-1] + ask(bench, 48)[:-1]
    assert first == expand(7, 48, 0, 96)
    assert first[:32] == hashlib.sha256(b"cabinet" + (7).to_bytes(8, "little") + b"\x30\0\0\0" + bytes(8)).digest()
    assert ask(bench, 16)[:-1] == expand(7, 16, 0, 16)
    source.seed(7)
    assert ask(bench, 16)[:-1] == expand(7, 16, 0, 16)
    assert ask(bench, 48)[:-1] == first[:48]
    source.random()
    assert ask(bench, 48)[:-1] != first[48:]


@given(seed=st.integers(0, 2**64 - 1), offset=st.integers(0, 200), length=st.integers(0, 200))
def test_a_stream_is_one_stream(seed: int, offset: int, length: int) -> None:
    assert expand(seed, 5, offset, length) == expand(seed, 5, 0, offset + length)[offset:]


def test_queued_bytes_come_first_and_the_source_goes_on() -> None:
    bench, source = ready()
    source.seed(3)
    source.queue(b"\xaa\xbb\xcc")
    assert ask(bench, 2) == b"\xaa\xbb\x00"
    assert source.queued == 1
    assert ask(bench, 5)[:-1] == b"\xcc" + expand(3, 5, 0, 4)


def test_a_queued_answer_waits_for_a_request_of_its_size() -> None:
    bench, source = ready()
    source.queue_answer(b"good")
    source.queue_answer(b"best")
    assert len(ask(bench, 3)) == 4
    assert ask(bench, 4) == b"best\x00"
    assert ask(bench, 4)[:-1] not in (b"good", b"best")


def test_power_forgets_what_waits_but_no_seed_repeats_by_itself() -> None:
    bench, source = ready()
    source.seed(3)
    ask(bench, 8)
    source.queue(b"\x01")
    source.queue_answer(bytes(8))
    source.power(False, bench.now_us)
    assert ask(bench, 8) == b""
    source.power(True, bench.now_us)
    assert ask(bench, 8)[:-1] == expand(3, 8, 8, 8)


def test_faults() -> None:
    bench, source = ready()
    answered: list[bytes] = []
    source.on_answer = answered.append
    source.fault("stuck", 0x55)
    assert ask(bench, 4) == b"\x55" * 4 + b"\x00"
    source.clear()
    answered.clear()
    source.fault("unhealthy", 2)
    assert ask(bench, 4)[-1] == 2
    source.clear()
    source.fault("short", 3)
    assert len(ask(bench, 4)) == 1
    assert (answered, source.spoiled) == ([], 5)
    source.clear()
    source.fault("slow", 100)
    assert len(ask(bench, 4, 250)) == 3
    bench.run(300)
    assert len(bench.line.port.read()) == 2
    source.clear()
    source.fault("silent")
    assert ask(bench, 4) == b""
    source.clear()
    assert len(ask(bench, 4)) == 5
    with pytest.raises(ValueError, match="known: silent"):
        source.fault("melt")


def test_unplugged_it_is_silent_and_plugged_in_again_it_repeats_its_buffer() -> None:
    bench, source = ready()
    first = ask(bench, 30) + ask(bench, 30)
    source.fault("unplug", 40)
    assert ask(bench, 4) == b""
    source.clear()
    bench.run(20)
    assert bench.line.port.read() == first[-40:] == source.stale_sent
    assert len(ask(bench, 4)) == 5


def test_half_a_request_is_dropped() -> None:
    bench, _ = ready()
    bench.exchange(b"x\x04", 200)
    assert len(ask(bench, 2)) == 3
    assert bench.exchange(b"ab\x00", 20) == b"", "only x begins a request"

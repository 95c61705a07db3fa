"""What can be wrong with a random device's bytes, and the two devices that stream."""

import pytest

from host_tools.hil.line import Line
from host_tools.hil.models.entropy_asked import EntropySource
from host_tools.hil.models.entropy_command import CommandDevice
from host_tools.hil.models.entropy_device import expand
from host_tools.hil.models.entropy_stream import StreamDevice

from .conftest import Bench


def noise(kind: str, *args: int, count: int = 4096) -> bytes:
    source = EntropySource()
    source.seed(1)
    source.fault(kind, *args)
    return source._make(count)


def test_stuck_byte_and_bit() -> None:
    assert set(noise("stuck", 9)) == {9}
    data = noise("stuck_bit", 6, 0)
    assert not any(byte & 0x40 for byte in data)
    assert len(set(data)) == 128
    assert all(byte & 0x40 for byte in noise("stuck_bit", 6, 1))


@pytest.mark.parametrize("period", [1, 16, 500])
def test_period(period: int) -> None:
    data = noise("period", period, count=2000)
    assert data[period:] == data[:-period]
    source = EntropySource()
    source.fault("period", period)
    source._make(7)
    first = source._make(period)
    assert source._make(period) == first, "the phase goes on across requests"


@pytest.mark.parametrize("percent", [0, 60, 100])
def test_bias(percent: int) -> None:
    """Standard deviation of 32,768 bits at 60 %: 0.27 %."""
    data = noise("bias", percent)
    share = 100 * sum(byte.bit_count() for byte in data) / (8 * len(data))
    assert abs(share - percent) < 1.6
    assert data == noise("bias", percent), "a seed repeats it"


def stream(rate: int = 8000) -> tuple[Bench, StreamDevice]:
    device = StreamDevice(rate=rate)
    return Bench(Line("entropy", 115_200), device), device


def test_a_stream_runs_at_its_rate_from_power_on() -> None:
    bench, device = stream()
    bench.run(1000)
    assert len(bench.line.port.read()) + bench.line.port.overruns == pytest.approx(8000, abs=30)
    assert device.made == pytest.approx(8000, abs=20)
    device.power(False, bench.now_us)
    made = device.made
    bench.run(100)
    assert device.made == made


def test_a_stream_hears_nothing_and_follows_its_seed() -> None:
    bench, device = stream(rate=1000)
    device.seed(5)
    heard = bench.exchange(b"x\x20\x00", 100)
    assert heard == expand(5, 0, 0, len(heard))
    assert 90 <= len(heard) <= 100


def test_a_slow_stream() -> None:
    bench, device = stream()
    device.fault("slow", 100)
    bench.run(1010)
    bench.line.port.read()
    bench.run(1000)
    assert len(bench.line.port.read()) == 10


def test_a_stream_that_was_unplugged_sends_its_buffer_once_more() -> None:
    bench, device = stream(rate=1000)
    bench.run(500)
    before = bench.line.port.read()
    device.fault("unplug", 100)
    bench.run(500)
    bench.line.port.read()
    device.clear()
    bench.run(10)
    assert len(device.stale_sent) == 100
    assert bench.line.port.read()[:100] == bytes(device.stale_sent)
    assert bytes(device.stale_sent)[:50] in before
    bench.run(100)
    assert bench.line.port.read()


def command() -> tuple[Bench, CommandDevice]:
    device = CommandDevice()
    return Bench(Line("entropy", 115_200), device), device


def test_commands_start_and_stop_and_flush() -> None:
    bench, device = command()
    assert bench.exchange(b"", 100) == b""
    first = bench.exchange(b"cmdO\n", 50)
    assert len(first) > CommandDevice.BUFFER
    assert device.running
    bench.exchange(b"cmdo\n", 20)
    assert not device.running
    assert bench.exchange(b"", 100) == b""
    assert (device.flushed, device.mode) == (0, 0)
    bench.exchange(b"cmd4\ncmdw\n", 20)
    assert (device.flushed, device.mode) == (1, 4)


def test_a_flush_drops_what_was_ready() -> None:
    bench, device = command()
    device.seed(2)
    device._ready = b"old" * 10
    assert not bench.exchange(b"cmdw\ncmdO\n", 30).startswith(b"old")
    bench.exchange(b"cmdo\n", 20)
    device._ready = b"old" * 10
    assert bench.exchange(b"cmdO\n", 30).startswith(b"old")


def test_what_is_no_command_is_counted() -> None:
    bench, device = command()
    bench.exchange(b"cmdX\nhello\ncmd9\n" + b"y" * 40 + b"\ncmdO1\n", 50)
    assert device.unknown == 5
    assert not device.running

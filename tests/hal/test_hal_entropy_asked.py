"""The entropy device: only whole, healthy and timely answers are handed out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.entropy.asked import AskedSource
from tests.hal.bench import SILENCE, Bench, ScriptedPort


def ask(number: int) -> bytes:
    return b"x" + number.to_bytes(2, "little")


def numbered(number: int, first: int = 0) -> bytes:
    return bytes((first + place) % 256 for place in range(number))


@pytest.fixture
def port() -> ScriptedPort:
    return ScriptedPort()


@pytest.fixture
def source(port) -> AskedSource:
    return AskedSource(port)


@pytest.fixture
def bench(source) -> Bench:
    return Bench(source)


def test_nothing_is_asked_before_the_first_request(bench, port):
    assert bench.tell(3000) == []
    assert port.sent == []


def test_a_request_byte_by_byte(bench, port, source):
    bench.run(250)
    port.expect(b"x\x20\x00", numbered(32) + b"\x00")
    assert source.request(32)
    assert bench.tell(10) == [("online",)]
    assert source.available() == 32
    assert source.take(20) == numbered(20)
    assert source.take(12) == numbered(12, 20)
    assert source.available() == 0
    port.done()


def test_256_bytes_are_fetched_128_at_a_time(bench, port, source):
    for part in range(2):
        port.expect(ask(128), numbered(128, 128 * part) + b"\x00")
    assert source.request(256)
    assert not source.request(1)
    bench.run(300)
    port.done()
    assert source.take(256) == numbered(256)


def test_requests_add_up_and_are_bounded(bench, port, source):
    port.expect(ask(50), numbered(50) + b"\x00")
    assert source.request(30)
    assert source.request(20)
    bench.run(300)
    port.done()
    assert source.available() == 50
    assert not source.request(207)
    for number in (0, 257):
        with pytest.raises(ValueError, match="256"):
            source.request(number)


def test_taking_more_than_there_is_raises(bench, port, source):
    port.expect(ask(4), b"abcd\x00")
    source.request(4)
    bench.run(300)
    with pytest.raises(ValueError, match="fewer"):
        source.take(5)
    assert source.take(0) == b""
    assert source.take(4) == b"abcd"


def test_taken_bytes_are_wiped(bench, port, source):
    port.expect(ask(4), b"abcd\x00")
    source.request(4)
    bench.run(300)
    source.take(3)
    assert bytes(source._store[:8]) == b"d\0\0\0\0\0\0\0"
    source.take(1)
    assert not any(source._store)
    assert not any(source._answer)


def test_an_unhealthy_answer_is_thrown_away_and_asked_again_after_a_second(bench, port, source):
    port.expect(ask(8), numbered(8) + b"\x05")
    port.expect(ask(8), numbered(8, 100) + b"\x00")
    source.request(8)
    assert bench.tell(300) == [("online",), ("unhealthy", 5)]
    assert source.available() == 0
    assert bench.tell(800) == []
    assert len(port.sent) == 1
    bench.run(300)
    assert source.take(8) == numbered(8, 100)


def test_stale_bytes_at_the_start_are_drained(bench, port, source):
    port.arriving = b"old bytes"
    port.expect(ask(4), b"new!\x00")
    source.request(4)
    bench.run(100)
    port.arriving = b"more"
    bench.run(190)
    assert port.sent == []
    bench.run(50)
    assert source.take(4) == b"new!"
    assert source.stray_bytes == 13


def test_silence_for_half_a_second_is_offline_and_it_keeps_trying(bench, port, source):
    port.expect(ask(4), b"abcd\x00")
    source.request(4)
    assert bench.tell(300) == [("online",)]
    port.always(ask(4), SILENCE)
    source.request(4)
    assert bench.tell(480) == []
    assert bench.tell(40) == [("offline",)]
    assert bench.tell(5000) == []
    assert port.count(ask(4)) >= 5
    port.always(ask(4), b"efgh\x00")
    assert bench.tell(2000) == [("online",)]
    assert source.take(8) == b"abcdefgh"


def test_a_late_rest_of_an_answer_is_not_taken_for_the_next(bench, port, source):
    port.expect(ask(8), b"\x01\x02\x03")
    port.expect(ask(8), numbered(8, 30) + b"\x00")
    port.expect(ask(8), numbered(8, 50) + b"\x00")
    source.request(8)
    bench.run(750)
    port.arriving = b"\x04\x05\x06\x07\x08\x00"
    bench.run(700)
    assert source.take(8) == numbered(8, 50)
    assert source.timeouts == 1


def test_an_old_buffer_that_looks_like_an_answer_is_thrown_away(bench, port, source):
    """The device is pulled, asked in vain, and plugged in again: it sends what it had sent before, whole and with status 0."""
    port.expect(ask(8), SILENCE)
    port.expect(ask(8), SILENCE)
    port.expect(ask(8), numbered(8, 50) + b"\x00")
    source.request(8)
    bench.run(1000)
    assert port.count(ask(8)) == 2
    port.arriving = numbered(8) + b"\x00"
    bench.run(400)
    assert source.take(8) == numbered(8, 50)


def test_too_many_bytes_make_the_answer_worthless(bench, port, source):
    port.expect(ask(4), b"abcd\x00\x00")
    port.expect(ask(4), b"efgh\x00")
    source.request(4)
    bench.run(600)
    assert source.take(4) == b"efgh"


def test_what_was_asked_for_before_a_cancel_is_never_handed_out(bench, port, source):
    port.expect(ask(8), b"\x01\x02")
    source.request(8)
    bench.run(250)
    source.cancel()
    port.expect(ask(8), numbered(8, 50) + b"\x00")
    source.request(8)
    port.arriving = b"\x03\x04\x05\x06\x07\x08\x00"
    bench.run(150)
    assert source.available() == 0
    bench.run(150)
    assert source.take(8) == numbered(8, 50)
    assert not any(source._answer)


def test_a_cancel_wipes_what_is_stored(bench, port, source):
    port.expect(ask(8), numbered(8, 1) + b"\x00")
    source.request(8)
    bench.run(300)
    assert source.available() == 8
    source.cancel()
    assert source.available() == 0
    assert not any(source._store)


def test_bytes_that_nobody_asked_for_are_dropped(bench, port, source):
    bench.run(300)
    port.arriving = b"\x00"
    bench.run(10)
    port.expect(ask(4), b"abcd\x00")
    source.request(4)
    bench.run(300)
    assert source.take(4) == b"abcd"


def test_a_port_that_is_gone_is_offline(bench, port, source):
    port.expect(ask(4), b"abcd\x00")
    source.request(4)
    bench.tell(300)
    port.gone = True
    source.request(4)
    assert bench.tell(1300) == [("offline",)]


def test_a_free_running_stream_is_never_taken_for_answers(bench, port, source):
    source.request(4)
    for _ in range(1000):
        port.arriving += b"\x00\x01\x02"
        bench.run(4)
    assert port.sent == []
    assert source.available() == 0


@given(st.lists(st.tuples(st.binary(max_size=80), st.integers(0, 1500)), max_size=12))
def test_no_noise_raises_and_a_quiet_line_works_again(noise):
    port = ScriptedPort()
    source = AskedSource(port)
    bench = Bench(source)
    for number in range(1, 129):
        port.always(ask(number), SILENCE)
    for chunk, pause_ms in noise:
        source.request(16)
        port.arriving += chunk
        source.poll(bench.now_ms)
        source.poll(bench.now_ms + pause_ms)
        bench.now_ms += pause_ms
    bench.tell(3000)
    for number in range(1, 129):
        port.always(ask(number), numbered(number, 7) + b"\x00")
    source.take(source.available())
    source.request(16)
    bench.tell(3000)
    assert source.available() >= 16

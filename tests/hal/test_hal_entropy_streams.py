"""Random devices that stream: nothing that came before a request or before a silence is ever handed out."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.entropy.command import GAP_MS as COMMAND_GAP_MS
from hal.entropy.command import QUIET_MS, START, STOP, CommandSource
from hal.entropy.kinds import KINDS, NAMES, make_source
from hal.entropy.source import TIMEOUT_MS
from hal.entropy.stream import GAP_MS, SETTLE_MS, StreamSource
from tests.hal.bench import SILENCE, Bench, ScriptedPort


class Numbered:
    """Feeds a port with bytes that count upwards, so that a test knows when each was sent."""

    def __init__(self, port: ScriptedPort, bench: Bench, per_step: int = 4) -> None:
        self.port, self.bench, self.per_step, self.sent = port, bench, per_step, 0

    def run(self, ms: int) -> list[tuple]:
        told: list[tuple] = []
        for _ in range(0, ms, self.bench.step_ms):
            self.send(self.per_step)
            told += self.bench.tell(self.bench.step_ms)
        return told

    def send(self, number: int) -> None:
        self.port.arriving += bytes((self.sent + place) % 256 for place in range(number))
        self.sent += number


@pytest.fixture
def port() -> ScriptedPort:
    return ScriptedPort()


@pytest.fixture
def source(port) -> StreamSource:
    return StreamSource(port)


@pytest.fixture
def bench(source) -> Bench:
    return Bench(source)


@pytest.fixture
def line(port, bench) -> Numbered:
    return Numbered(port, bench)


def test_the_kinds_keep_their_numbers():
    assert NAMES == ("asked", "stream", "command")
    for number, (_, driver) in enumerate(KINDS):
        assert type(make_source(number, ScriptedPort())) is driver
    assert type(make_source(77, ScriptedPort())) is KINDS[0][1]


def test_a_stream_settles_before_it_is_online(line, source):
    assert line.run(SETTLE_MS) == []
    assert line.run(10) == [("online",)]
    assert source.available() == 0
    assert source.stray_bytes == line.sent


def test_only_bytes_behind_the_request_are_handed_out(line, source):
    line.run(SETTLE_MS + 50)
    line.send(37)  # arrived, and not looked at yet
    assert source.request(20)
    first = line.sent % 256
    line.run(20)
    assert source.take(20) == bytes((first + place) % 256 for place in range(20))
    assert source.available() == 0


def test_a_request_that_adds_to_another_drops_nothing(line, source):
    line.run(SETTLE_MS + 50)
    source.request(8)
    first = line.sent % 256
    line.send(4)
    source.request(8)
    line.run(20)
    assert source.take(16) == bytes((first + place) % 256 for place in range(16))


def test_what_comes_first_after_a_silence_is_old(line, bench, source):
    line.run(SETTLE_MS + 50)
    source.request(100)
    line.run(10)
    assert source.available() == 20
    assert bench.tell(GAP_MS + 10) == []
    line.run(SETTLE_MS - 10)
    assert source.available() == 0, "neither the old buffer nor what was stored before the silence"
    first = line.sent % 256
    line.run(80)
    taken = source.take(100)
    assert (taken[0] - first) % 256 <= 6 * line.per_step
    assert taken == bytes((taken[0] + place) % 256 for place in range(100))


def test_a_short_pause_is_no_silence(line, bench, source):
    line.run(SETTLE_MS + 50)
    source.request(30)
    line.run(10)
    bench.run(GAP_MS - 20)
    line.run(10)
    assert source.available() == 30


def test_a_loop_that_was_held_up_has_seen_no_silence(line, bench, source):
    line.run(SETTLE_MS + 50)
    source.request(30)
    line.run(10)
    bench.now_ms += 300
    line.run(10)
    assert source.available() == 30


def test_a_silent_stream_is_offline_and_comes_back(line, bench, source):
    line.run(SETTLE_MS + 50)
    assert bench.tell(TIMEOUT_MS - 20) == []
    assert bench.tell(40) == [("offline",)]
    assert line.run(SETTLE_MS + 20) == [("online",)]


def test_a_slow_stream_never_settles_and_a_request_times_out(line, bench, source):
    line.run(SETTLE_MS + 50)
    source.request(16)
    told = []
    for _ in range(4):
        line.send(1)
        told += bench.tell(300)
    assert told == [("offline",)]
    assert source.available() == 0
    assert source.timeouts >= 1


def test_a_cancel_wipes_a_stream(line, source):
    line.run(SETTLE_MS + 50)
    source.request(50)
    line.run(10)
    source.cancel()
    assert source.available() == 0
    assert not any(source._store)
    line.run(10)
    assert source.available() == 0


# --- text commands -------------------------------------------------------------------------------------------------


class Device:
    """A port of a device with text commands that counts upwards; `stale` is what it still sends after a stop."""

    def __init__(self) -> None:
        self.port = ScriptedPort()
        self.source = CommandSource(self.port)
        self.bench = Bench(self.source)
        self.line = Numbered(self.port, self.bench)
        self.running = False
        self.deaf = False
        self.port.always(START, self._answer(True))
        self.port.always(STOP, self._answer(False))

    def _answer(self, running: bool) -> Callable[[], bytes | None]:
        def answer() -> bytes | None:
            self.running = running and not self.deaf
            return SILENCE

        return answer

    def run(self, ms: int) -> list[tuple]:
        told: list[tuple] = []
        for _ in range(0, ms, self.bench.step_ms):
            if self.running:
                self.line.send(self.line.per_step)
            told += self.bench.tell(self.bench.step_ms)
        return told


def test_it_is_stopped_first_and_started_by_a_request():
    device = Device()
    assert device.run(500) == []
    assert device.port.sent == [STOP]
    device.source.request(20)
    assert device.run(30) == [("online",)]
    assert device.port.sent == [STOP, START, STOP]
    assert device.source.take(20) == bytes(range(20))


def test_each_request_starts_anew_behind_a_silence():
    device = Device()
    device.run(100)
    device.source.request(10)
    device.run(30)
    device.source.take(10)
    device.source.request(10)
    device.line.send(25)  # still on its way from before the stop
    device.run(10)
    assert device.port.sent[-1] == STOP
    first = device.line.sent % 256
    device.run(QUIET_MS + 30)
    assert device.source.take(10) == bytes((first + place) % 256 for place in range(10))


def test_a_device_that_does_not_stop_is_told_again_and_gives_nothing():
    device = Device()
    device.source.request(10)
    for _ in range(100):
        device.line.send(3)
        device.bench.tell(10)
    assert START not in device.port.sent
    assert device.port.count(STOP) >= 4
    assert device.source.available() == 0
    assert device.source.timeouts >= 1


def test_a_gap_in_a_request_throws_away_what_came():
    device = Device()
    device.run(100)
    device.source.request(40)
    device.run(20)
    had = device.source.available()
    assert 0 < had < 40
    device.running = False  # pulled out and put in again
    device.run(COMMAND_GAP_MS + 10)
    device.line.send(30)
    assert device.run(20) == []
    assert device.source.available() == 0
    first = device.line.sent % 256
    device.run(100)
    taken = device.source.take(40)
    assert 0 < (taken[0] - first) % 256 <= 2 * device.line.per_step, (
        "what came first behind the gap is not sure, either"
    )
    assert taken == bytes((taken[0] + place) % 256 for place in range(40))


def test_a_deaf_device_is_offline_and_comes_back():
    device = Device()
    device.run(100)
    device.source.request(10)
    device.run(30)
    device.source.take(10)
    device.deaf = True
    device.source.request(10)
    told = device.run(TIMEOUT_MS + 60)
    assert told == [("offline",)]
    device.deaf = False
    assert device.run(700) == [("online",)]


def test_a_cancel_stops_it():
    device = Device()
    device.run(100)
    device.source.request(100)
    device.run(14)
    device.source.cancel()
    device.run(50)
    assert not device.running
    assert device.source.available() == 0
    assert not any(device.source._store)


@given(st.sampled_from([1, 2]), st.lists(st.tuples(st.binary(max_size=80), st.integers(0, 700)), max_size=12))
def test_no_noise_raises_and_a_good_line_works_again(kind, noise):
    port = ScriptedPort()
    running = [kind == 1]
    port.always(START, lambda: running.__setitem__(0, True))
    port.always(STOP, lambda: running.__setitem__(0, False))
    source = make_source(kind, port)
    bench = Bench(source)
    for chunk, pause_ms in noise:
        source.request(16)
        port.arriving += chunk
        source.poll(bench.now_ms)
        source.poll(bench.now_ms + pause_ms)
        bench.now_ms += pause_ms
    source.cancel()
    bench.tell(1000)
    running[0] = kind == 1
    source.request(64)
    for _ in range(500):
        if running[0]:
            port.arriving += b"\x55"
        bench.tell(2)
    assert source.available() == 64

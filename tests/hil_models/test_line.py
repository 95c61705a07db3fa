"""Lines: times of bytes, echo, faults, and the promise that the same calls give the same bytes."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hal.board import PortError
from host_tools.hil.device import NEVER, Device, Model
from host_tools.hil.line import RX_BYTES, TX_BYTES, Line
from host_tools.hil.line_faults import LINE_FAULTS


class Ear(Device):
    """Hears everything, answers `answer` to each `?`."""

    wake_us = NEVER

    def __init__(self, answer: bytes = b"", delay_us: int = 0) -> None:
        self.heard: list[tuple[int, int]] = []
        self.answer = answer
        self.delay_us = delay_us

    def receive(self, byte: int, now_us: int) -> None:
        self.heard.append((byte, now_us))
        if byte == ord("?") and self.answer and self.line is not None:
            self.line.send(self.answer, self.delay_us)

    @property
    def text(self) -> bytes:
        return bytes(byte for byte, _ in self.heard)


def line_with(*devices: Device, baud: int = 9600, echo: bool = False, seed: int = 0) -> Line:
    line = Line("test", baud, echo, seed=seed)
    for device in devices:
        line.attach(device)
    return line


def test_a_byte_takes_ten_bits() -> None:
    ear = Ear(b"ok", delay_us=500)
    line = line_with(ear)
    line.port.write(b"a?")
    line.advance(1041)
    assert ear.heard == []
    line.advance(1042)
    assert ear.heard == [(ord("a"), 1041)], "1041.67 us, in whole microseconds"
    line.advance(2083 + 500 + 1041)
    assert line.port.read() == b"", "the first byte of the answer is not complete"
    line.advance(2083 + 500 + 1042)
    assert line.port.read() == b"o"
    line.advance(10_000)
    assert line.port.read() == b"k"
    assert line.port.read() == b""


def test_next_us_tells_when_something_happens() -> None:
    line = line_with(Ear())
    assert line.next_us() == NEVER
    line.port.write(b"x")
    assert line.next_us() == 1042
    line.advance(line.next_us())
    assert line.next_us() == NEVER


def test_a_single_wire_echoes_and_everybody_hears() -> None:
    ear, talker = Ear(), Ear(b"yes")
    line = line_with(ear, talker, echo=True)
    line.port.write(b"?")
    line.advance(10_000)
    assert line.port.read() == b"?yes"
    assert ear.text == b"?yes"
    assert talker.text == b"?", "a device does not take its own answer for a question"


def test_two_wires_do_not() -> None:
    ear, talker = Ear(), Ear(b"yes")
    line = line_with(ear, talker)
    line.port.write(b"?")
    line.advance(10_000)
    assert line.port.read() == b"yes"
    assert ear.text == b"?"


def test_a_full_port_takes_nothing() -> None:
    line = line_with(Ear())
    line.port.write(bytes(TX_BYTES))
    with pytest.raises(PortError):
        line.port.write(b"x")
    line.advance(1042)
    line.port.write(b"x")


def test_unread_bytes_are_lost_and_counted() -> None:
    line = line_with(baud=1_000_000)
    line.send(bytes(RX_BYTES + 7))
    line.advance(100_000)
    assert line.port.overruns == 7
    assert len(line.port.read()) == RX_BYTES
    line.board_reset()
    assert line.port.overruns == 0


def test_a_board_reset_forgets_what_was_queued() -> None:
    ear = Ear()
    line = line_with(ear)
    line.port.write(b"abc")
    line.advance(1100)
    line.board_reset()
    line.port.write(b"z")
    line.advance(20_000)
    assert ear.text == b"az"


def test_time_never_runs_backwards() -> None:
    line = line_with()
    line.advance(5)
    with pytest.raises(ValueError, match="backwards"):
        line.advance(4)


def test_a_device_that_keeps_its_wake_time_is_told_off() -> None:
    class Stuck(Device):
        wake_us = 5

    with pytest.raises(RuntimeError, match="did not move"):
        line_with(Stuck()).advance(10)


def test_agenda_runs_in_order_with_its_own_times() -> None:
    done: list[tuple[str, int]] = []
    model = Model("m")
    line = line_with(model)
    model.at(300, lambda at_us: done.append(("late", at_us)))
    model.at(100, lambda at_us: done.append(("early", at_us)))
    line.advance(1000)
    assert done == [("early", 100), ("late", 300)]
    assert model.wake_us == NEVER


@settings(max_examples=60, deadline=None)
@given(
    data=st.binary(min_size=1, max_size=60),
    steps=st.lists(st.integers(1, 20_000), min_size=1, max_size=40),
    baud=st.sampled_from([9600, 19_200, 115_200]),
)
def test_how_often_time_is_advanced_changes_nothing(data: bytes, steps: list[int], baud: int) -> None:
    def run(cuts: list[int]) -> tuple[bytes, list[tuple[int, int]]]:
        ear = Ear(b"answer", delay_us=777)
        line = line_with(ear, baud=baud, echo=True)
        line.port.write(data)
        now_us = 0
        heard = b""
        for step in cuts:
            now_us += step
            line.advance(now_us)
            heard += line.port.read()
        line.advance(2_000_000)
        return heard + line.port.read(), ear.heard

    assert run(steps) == run([])


@settings(max_examples=60, deadline=None)
@given(
    data=st.binary(max_size=80),
    faults=st.lists(
        st.sampled_from(
            [("drop", 2), ("corrupt", 3), ("duplicate", 2), ("delay", 7), ("fragment", 3, 4), ("garbage", 5)]
        )
    ),
    seed=st.integers(0, 1000),
)
def test_faults_repeat_from_the_seed(data: bytes, faults: list[tuple[str, int]], seed: int) -> None:
    def run(step_us: int) -> tuple[bytes, bytes]:
        ear = Ear()
        line = line_with(ear, echo=True, seed=seed)
        for kind, *args in faults:
            line.fault(kind, *args)
        line.port.write(data)
        for now_us in range(0, 1_000_000, step_us):
            line.advance(now_us)
        return line.port.read(), ear.text

    first = run(100_000)
    assert first == run(100_000) == run(3_331)
    if not any(kind in ("garbage",) for kind, *_ in faults):
        assert len(first[0]) == len(data), "the echo loses nothing"


def test_drop_corrupt_duplicate() -> None:
    ear = Ear(b"12345")
    line = line_with(ear)
    line.fault("drop", 2, "rx")
    line.fault("duplicate", 1, "tx")
    line.port.write(b"a?")
    line.advance(50_000)
    assert ear.text == b"aa?"
    assert line.port.read() == b"345"
    line.fault("corrupt", "1", "rx")
    line.port.write(b"?")
    line.advance(100_000)
    answer = line.port.read()
    assert answer[0] != ord("1")
    assert answer[1:] == b"2345"


def test_mute_is_a_pulled_cable_behind_the_transceiver() -> None:
    ear = Ear(b"yes")
    line = line_with(ear, echo=True)
    line.fault("mute")
    line.port.write(b"?")
    line.advance(10_000)
    assert (line.port.read(), ear.text) == (b"?", b"")
    line.clear()
    line.port.write(b"?")
    line.advance(20_000)
    assert (line.port.read(), ear.text) == (b"?yes", b"?")


@pytest.mark.parametrize("fault", [("delay", 500), ("fragment", 1, 400)])
def test_what_a_line_held_back_comes_when_it_is_good_again(fault) -> None:
    """In its order, as fast as the line can, and before what is sent then."""
    ear = Ear(b"0123456789")
    line = line_with(ear)
    line.fault(*fault)
    line.port.write(b"?")
    line.advance(30_000)
    heard = line.port.read()
    assert len(heard) <= 1
    line.clear()
    line.port.write(b"?")
    line.advance(30_000 + 10 * line.byte_ns // 1000 + 1)
    heard += line.port.read()
    assert heard[:10] == b"0123456789"
    line.advance(60_000)
    assert heard + line.port.read() == b"0123456789" * 2


def test_echo_faults() -> None:
    ear = Ear()
    line = line_with(ear, echo=True)
    line.fault("echo", "corrupt")
    line.fault("echo", "off", 1)
    line.port.write(b"abc")
    line.advance(10_000)
    echo = line.port.read()
    assert len(echo) == 2
    assert echo[0] != ord("b")
    assert echo[1:] == b"c"
    assert ear.text == b"abc", "the devices heard it well"


def test_delay_and_fragments() -> None:
    line = line_with(Ear(b"12345"))
    line.fault("delay", 30)
    line.port.write(b"?")
    line.advance(1042 + 1041 + 29_000)
    assert line.port.read() == b""
    line.advance(40_000)
    assert line.port.read() == b"12345"
    line.clear()
    line.fault("fragment", 2, 20)
    line.port.write(b"?")
    arrivals = []
    for now_us in range(40_000, 120_000, 1000):
        line.advance(now_us)
        arrivals += [(byte, now_us) for byte in line.port.read()]
    times = [at_us for _, at_us in arrivals]
    assert bytes(byte for byte, _ in arrivals) == b"12345"
    assert times[2] - times[1] >= 20_000
    assert times[4] - times[3] >= 20_000


def test_garbage_both_ways() -> None:
    ear = Ear()
    line = line_with(ear)
    line.fault("garbage", 4)
    line.fault("garbage", 3, "tx")
    line.advance(50_000)
    assert (len(line.port.read()), len(ear.text)) == (4, 3)


@pytest.mark.parametrize(
    ("kind", "args", "message"),
    [
        ("explode", (), "known: drop N"),
        ("drop", (), "takes: N"),
        ("drop", (0,), "N is 1 to"),
        ("drop", ("x",), "whole number"),
        ("echo", ("loud",), "one of: corrupt off"),
        ("mute", (1,), "no arguments"),
    ],
)
def test_wrong_faults_tell_what_is_right(kind: str, args: tuple[int | str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        line_with().fault(kind, *args)
    assert set(LINE_FAULTS) >= {"drop", "corrupt", "duplicate", "delay", "fragment", "mute", "noise", "garbage", "echo"}


def test_an_idle_line_costs_next_to_nothing() -> None:
    line = line_with(Model("a"), Model("b"), Model("c"))
    started = time.perf_counter()
    for now_us in range(0, 100_000_000, 1000):
        line.advance(now_us)
    per_call_us = (time.perf_counter() - started) * 10
    assert per_call_us < 10, "measured below 1 us on an idle machine; the bound leaves room for a busy one"

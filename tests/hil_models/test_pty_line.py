"""The pty line in real time, with pyserial as a host that is not ours."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import serial

from host_tools.hil.line import PtyLine
from host_tools.hil.models.coin_acceptor import CoinAcceptor
from host_tools.hil.models.entropy_asked import EntropySource


@contextmanager
def served(line: PtyLine) -> Iterator[None]:
    """Runs a line in the background: the host under test blocks in this thread."""
    done = threading.Event()
    thread = threading.Thread(target=line.serve, args=(30.0, done.is_set))
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        line.close()


@pytest.fixture
def entropy() -> Iterator[tuple[PtyLine, EntropySource]]:
    line, source = PtyLine("entropy", 115_200), EntropySource()
    line.attach(source)
    source.power(True, 0)
    with served(line):
        yield line, source


def test_pyserial_asks_a_model(entropy: tuple[PtyLine, EntropySource]) -> None:
    line, source = entropy
    with serial.Serial(line.path, 115_200, timeout=5) as host:
        for count in (1, 32, 200):
            host.write(b"x" + count.to_bytes(2, "little"))
            answer = host.read(count + 1)
            assert len(answer) == count + 1
            assert answer[-1] == 0
    assert source.requests == 3


def test_the_line_survives_a_host_that_comes_and_goes(entropy: tuple[PtyLine, EntropySource]) -> None:
    line, _ = entropy
    for _ in range(3):
        with serial.Serial(line.path, 115_200, timeout=5) as host:
            host.reset_input_buffer()
            host.write(b"x\x04\x00")
            assert len(host.read(5)) == 5


def test_a_cctalk_host_sees_echo_and_answer_at_the_pace_of_the_line() -> None:
    line, model = PtyLine("cctalk", 9600, echo=True), CoinAcceptor(boot_ms=0)
    line.attach(model)
    model.power(True, 0)
    with served(line), serial.Serial(line.path, 9600, timeout=5) as host:
        started = time.monotonic()
        host.write(bytes.fromhex("02 00 01 FE FF"))
        assert host.read(10) == bytes.fromhex("02 00 01 FE FF 01 00 02 00 FD")
        assert time.monotonic() - started >= 10 * 10 / 9600


def test_faults_work_as_in_memory() -> None:
    line, source = PtyLine("entropy", 115_200), EntropySource()
    line.attach(source)
    source.power(True, 0)
    line.fault("mute")
    with served(line), serial.Serial(line.path, 115_200, timeout=0.1) as host:
        host.write(b"x\x04\x00")
        assert host.read(1) == b""
        line.clear()
        host.write(b"x\x04\x00")
        host.timeout = 5
        assert len(host.read(5)) == 5


def test_a_host_that_never_reads_stops_nothing() -> None:
    with PtyLine("entropy", 1_000_000) as line:
        source = EntropySource()
        line.attach(source)
        source.power(True, 0)
        with serial.Serial(line.path, 115_200) as host:
            host.write(b"x\x60\xea" * 2)
            line.serve(1.5)
        assert source.requests == 2
        assert line.port.overruns > 0

"""Benches: a line with models on it and a test as the board, byte by byte."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from host_tools.hil.device import Device
from host_tools.hil.line import Line
from host_tools.hil.models.cctalk_device import CctalkModel


class Bench:
    """A line at some time; every step advances it by a millisecond, as a board's loop would."""

    def __init__(self, line: Line, *devices: Device) -> None:
        self.line = line
        for device in devices:
            line.attach(device)
            device.power(True, 0)
        self.now_us = 0

    def run(self, ms: int) -> None:
        for _ in range(ms):
            self.now_us += 1000
            self.line.advance(self.now_us)

    def exchange(self, data: bytes, ms: int = 60) -> bytes:
        """What came back in the given time, without the echo."""
        self.line.port.read()
        self.line.port.write(data)
        self.run(ms)
        heard = self.line.port.read()
        if self.line.echo:
            assert heard.startswith(data)
            heard = heard[len(data) :]
        return heard


def frame8(to: int, header: int, data: bytes = b"") -> bytes:
    """A request of the host in the simple checksum mode."""
    body = bytes([to, len(data), 1, header]) + data
    return body + bytes([256 - sum(body) % 256 if sum(body) % 256 else 0])


class CctalkBench(Bench):
    """A ccTalk bus past its boot time."""

    def __init__(self, *devices: CctalkModel) -> None:
        super().__init__(Line("cctalk", 9600, echo=True), *devices)
        self.run(700)

    def ask(self, to: int, header: int, data: bytes = b"", ms: int = 60) -> tuple[int, bytes] | None:
        """(answer header, data), or None without an answer."""
        heard = self.exchange(frame8(to, header, data), ms)
        if not heard:
            return None
        assert sum(heard) % 256 == 0
        assert (heard[0], heard[1], heard[2]) == (1, len(heard) - 5, to)
        return heard[3], heard[4:-1]


def read_vectors() -> Iterator[tuple[str, str, bytes]]:
    """(section, mark, frame) of every line of vectors.txt."""
    section = ""
    for line in (Path(__file__).parent / "vectors.txt").read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            yield section, line[0], bytes.fromhex(line[1:])


@pytest.fixture
def vectors() -> dict[str, list[tuple[bytes, bytes]]]:
    """Section -> (request, expected answer)."""
    sections: dict[str, list[tuple[bytes, bytes]]] = {}
    for section, mark, frame in read_vectors():
        pairs = sections.setdefault(section, [])
        if mark == "<":
            pairs[-1] = (pairs[-1][0], frame)
        else:
            pairs.append((frame, b""))
    return sections

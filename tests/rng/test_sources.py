"""Bytes of a device on a serial line, by the cabinet's own drivers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from host_tools.hil.line import PtyLine
from host_tools.hil.world import ENTROPY
from host_tools.rng import sources
from host_tools.rng.batteries import CannotRun


@contextmanager
def served(kind: str) -> Iterator[str]:
    line, device = PtyLine("entropy", 921_600), ENTROPY[kind]("entropy")
    line.attach(device)
    device.power(True, 0)
    done = threading.Event()
    server = threading.Thread(target=lambda: line.serve(60, done.is_set))
    server.start()
    try:
        yield line.path
    finally:
        done.set()
        server.join()
        line.close()


@pytest.mark.parametrize("kind", ENTROPY)
def test_a_device_of_each_kind(kind):
    with served(kind) as path:
        found = sources.chunks(path, kind)
        data = b"".join(next(found) for _ in range(8))
        found.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert len(data) == 2048
    assert len(set(data)) > 200


def test_a_device_of_another_kind_is_told(monkeypatch):
    monkeypatch.setattr(sources, "SILENT_S", 1.0)
    with served("stream") as path, pytest.raises(CannotRun, match="gives no bytes; is it a device of the kind asked"):
        next(sources.chunks(path, "asked"))


def test_what_is_not_there_is_told():
    with pytest.raises(CannotRun, match="no kind dice"):
        next(sources.device("/dev/null", "dice"))
    with pytest.raises(CannotRun, match="cannot"):
        next(sources.chunks("/dev/ttyNone", "asked"))

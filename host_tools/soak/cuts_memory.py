"""Memories for power cuts: one that watches bytes which must not matter, one that tells what is written to it."""

from collections.abc import Callable, Sequence

from host_tools.hil.host_session import RigNvram

Window = tuple[int, int]
"""Addresses from the first on, up to and without the second."""


class WatchedNvram(RigNvram):
    """The rig's NVRAM with a hook before each write and a watch over bytes that must not matter."""

    on_write: Callable[[int, bytes], None] | None = None

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.torn: list[Window] = []
        self.tainted = False

    def read(self, offset: int, length: int) -> bytes:
        for start, end in self.torn:
            if offset < end and start < offset + length:
                self.tainted = True
        return super().read(offset, length)

    def write(self, offset: int, data: bytes) -> None:
        if self.on_write is not None:
            self.on_write(offset, data)
        if self.torn:
            self.torn = [rest for window in self.torn for rest in _without(window, (offset, offset + len(data)))]
        super().write(offset, data)


class Recording(RigNvram):
    """A copy of `memory`; `writes` are (offset, data) in order."""

    def __init__(self, memory: bytes | bytearray) -> None:
        super().__init__(len(memory))
        self.memory[:] = memory
        self.writes: list[tuple[int, bytes]] = []

    def write(self, offset: int, data: bytes) -> None:
        self.writes.append((offset, bytes(data)))
        super().write(offset, data)


def masked(memory: bytes, windows: Sequence[Window]) -> bytes:
    """`memory` with zeros in the windows."""
    image = bytearray(memory)
    for start, end in windows:
        image[start:end] = bytes(end - start)
    return bytes(image)


def _without(window: Window, hole: Window) -> list[Window]:
    parts = [(window[0], min(window[1], hole[0])), (max(window[0], hole[1]), window[1])]
    return [part for part in parts if part[0] < part[1]]

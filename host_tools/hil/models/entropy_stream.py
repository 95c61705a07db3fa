"""A hardware random generator that sends whitened bytes as soon as its port is open, and hears nothing (SOURCES.md 4.1)."""

from typing import Final

from host_tools.hil.models.entropy_device import EntropyDevice

CHUNK_US: Final = 2000  # it hands its bytes to USB in packets
OPEN_US: Final = 1000


class StreamDevice(EntropyDevice):
    """`rate` bytes a second, from power-on or plugging in to the end of either; `made` counts what it has sent."""

    def __init__(self, name: str = "entropy", *, rate: int = 8000) -> None:
        super().__init__(name)
        self.rate = rate
        self.made = 0
        self._owed_us = 0  # time for which bytes are not made yet

    def power(self, on: bool, now_us: int) -> None:
        if on == self.on:
            return
        super().power(on, now_us)
        self.cancel()
        if on:
            self.at(now_us + OPEN_US, self._chunk)

    def _plugged_in(self) -> None:
        self.cancel()
        self.at(self.now_us + OPEN_US, self._chunk)

    def _chunk(self, now_us: int) -> None:
        pause_us = self._gap_us or CHUNK_US
        self.at(now_us + pause_us, self._chunk)
        if self.silent:
            return
        if self._gap_us:
            count = 1
        else:
            self._owed_us += pause_us * self.rate
            count, self._owed_us = self._owed_us // 1_000_000, self._owed_us % 1_000_000
        self.made += count
        self._recent.extend(data := self._make(count))
        if self.line is not None:
            self.line.send(data)

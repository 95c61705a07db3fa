"""A hardware random generator with text commands: `cmdO` starts its stream, `cmdo` stops it (SOURCES.md 4.1)."""

from typing import Final

from host_tools.hil.models.entropy_device import EntropyDevice

CHUNK_US: Final = 1000
LINE_BYTES: Final = 16  # a longer line is no command


class CommandDevice(EntropyDevice):
    """It hears lines that begin with `cmd`: 0 to 7 the mode, O start, o stop, w forget what is buffered.

    `mode`, `running`: what it was told; `flushed`: how often it was told to forget; `unknown`: lines that are no command.
    Up to BUFFER bytes are ready before it is started, made when it was powered or stopped last; a flush makes new ones.
    """

    BUFFER: Final = 64

    def __init__(self, name: str = "entropy", *, rate: int = 10_000) -> None:
        super().__init__(name)
        self.rate = rate
        self.mode = 0
        self.running = False
        self.flushed = 0
        self.unknown = 0
        self._line = bytearray()
        self._ready = b""

    def power(self, on: bool, now_us: int) -> None:
        if on == self.on:
            return
        super().power(on, now_us)
        self._come_up()

    def _plugged_in(self) -> None:
        self._come_up()

    def _come_up(self) -> None:
        self.cancel()
        self.mode, self.running = 0, False
        self._line.clear()
        self._ready = self._make(self.BUFFER) if self.on else b""

    def receive(self, byte: int, now_us: int) -> None:
        if self.unplugged or not self.on:
            return
        if byte != 0x0A:
            self._line.append(byte)
            del self._line[LINE_BYTES:]
            return
        command, name = bytes(self._line[:3]), bytes(self._line[3:]).decode("latin-1")
        self._line.clear()
        if command != b"cmd" or len(name) != 1 or name not in "01234567Oow":
            self.unknown += 1
        elif name == "O":
            self._start(now_us)
        elif name == "o":
            self.running = False
            self.cancel()
        elif name == "w":
            self.flushed += 1
            self._ready = b""
        else:
            self.mode = int(name)

    def _start(self, now_us: int) -> None:
        if self.running:
            return
        self.running = True
        ready, self._ready = self._ready, b""
        if not self._silent:
            self._sends(ready)
        self.at(now_us + CHUNK_US, self._chunk)

    def _chunk(self, now_us: int) -> None:
        pause_us = self._gap_us or CHUNK_US
        self.at(now_us + pause_us, self._chunk)
        count = 1 if self._gap_us else self.rate * pause_us // 1_000_000
        data = b"" if self.silent else self._make(count)
        if data and self.line is not None:
            self._recent.extend(data)
            self.line.send(data)

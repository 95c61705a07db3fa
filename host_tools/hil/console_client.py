"""The far end of the console line: types commands, reads text for people and JSON objects for programs."""

import json
from collections import deque
from collections.abc import Callable
from typing import Any

from host_tools.hil.device import NEVER, Device

TEXT_LINES = 1000
FRAME_MARKS = ("\x06\x09", "\x04\x14")


class ConsoleClient(Device):
    """What a terminal would show is in `text`; each JSON object is handed to `on_event`."""

    name = "console"
    wake_us = NEVER

    def __init__(self, on_event: Callable[[dict[str, Any]], None]) -> None:
        self.on_event = on_event
        self.text: deque[str] = deque(maxlen=TEXT_LINES)
        self.muted = False
        self._line = bytearray()

    def type(self, line: str) -> None:
        """Types a line and Enter."""
        # A console line is text towards the board, sent as a person's terminal would: no faster than the line takes it.
        if self.line is not None:
            self.line.send(line.encode() + b"\r")

    def receive(self, byte: int, now_us: int) -> None:
        if self.muted:
            return
        if byte not in (10, 13):
            self._line.append(byte)
            return
        if not self._line:
            return
        line, self._line = self._line.decode(errors="replace"), bytearray()
        if line.startswith(FRAME_MARKS):
            return  # an answer of the update server, for whoever asked
        if line.startswith("{"):
            try:
                event = json.loads(line)
            except ValueError:
                self.text.append(line)
                return
            self.on_event(event)
        else:
            self.text.append(line)

    def power(self, on: bool, now_us: int) -> None:
        self._line.clear()

    def fault(self, kind: str, *args: int | str) -> None:
        if kind != "silent" or args:
            raise ValueError(f"console knows no fault {kind!r}; known: silent")
        self.muted = True

    def clear(self) -> None:
        self.muted = False

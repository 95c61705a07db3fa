"""The technicians' console: a line of text in, lines of text out, on the board's console port.

Beside the text for people there is a stream for programs: after `watch on` each thing that happens is one JSON object on a
line of its own, and `query` answers with one object. The rig and the front panel use nothing else, so they work on any
board. Output waits in a bounded queue; a watch line that finds it full is dropped and counted.

Frames of the update server (update/smp.py) share the line both ways. Coming in, they are taken out of what is typed, wherever
they stand. Going out, the lines of an answer stay together, between two lines of text; and no text holds the bytes that
begin a frame, since a line with control characters is not accepted and so never repeated.
"""

import json

from firmware import commands
from hal.board import PortError

LINE_BYTES = 200  # longer input is refused
OUTPUT_LINES = 200
WATCH_RESERVE = 50  # lines kept free for answers
WAITING_LINES = 8
_CHUNK_BYTES = 128
_ANSWER_LINES = 4  # steps of an answer in one turn of the loop, so that no turn is long


class Console:
    """Reads command lines from `port` and answers; see commands.py for what can be said.

    updates: the update server, which sees all that arrives first
    noise: lines that were no commands while frames came, and so are taken for damaged frames
    """

    def __init__(self, port, cabinet, updates):
        self._port = port
        self._cabinet = cabinet
        self._updates = updates
        self.noise = 0
        self._line = bytearray()
        self._output = []
        self._rest = b""
        self._answer = iter(())  # lines of the answer that is being printed
        self._answering = False
        self._waiting = []  # command lines that arrived while an answer was being printed
        self.watching = False
        self.dropped = 0

    def poll(self, now_ms: int) -> None:
        data = self._port.read()
        if data:
            data = self._updates.take(data, now_ms)
            if data:
                self._receive(data, now_ms)
        self._updates.poll(now_ms)
        self._pump(now_ms)

    def show(self, thing: dict) -> None:
        """Sends `thing` to whoever watches."""
        if not self.watching:
            return
        if len(self._output) >= OUTPUT_LINES - WATCH_RESERVE:
            self.dropped += 1
            return
        self._output.append(json.dumps(thing))

    def _receive(self, data: bytes, now_ms: int) -> None:
        for byte in data:
            if byte in (10, 13):
                line, self._line = bytes(self._line), bytearray()
                if line.strip():
                    self._line_came(line, now_ms)
            elif byte in (8, 127):
                self._line = self._line[:-1]  # MicroPython's bytearray has no pop()
            elif len(self._line) <= LINE_BYTES:
                self._line.append(byte)

    def _line_came(self, line: bytes, now_ms: int) -> None:
        wrong = ""
        if len(line) > LINE_BYTES:
            wrong = "error: the line is longer than %d characters" % LINE_BYTES
        elif not _plain(line):
            wrong = "error: the line holds control characters"
        if self._updates.talking(now_ms) and (wrong or not commands.known(line)):
            self.noise += 1  # answering it would take the line's time, and a dialogue must not take it for an answer
        elif wrong:
            self.say(wrong)
        else:
            self._run(line, now_ms)

    def _run(self, line: bytes, now_ms: int) -> None:
        if self._answering:
            if len(self._waiting) < WAITING_LINES:
                self._waiting.append(line)
            else:
                self.say("error: %d lines wait already; wait for the answers" % WAITING_LINES)
            return
        try:
            words = line.decode().split()
        except UnicodeError:
            self.say("error: the line is not text")
            return
        self._answer, self._answering = commands.run(self._cabinet, words, now_ms), True

    def say(self, line: str) -> None:
        """A line for people, also one that nobody asked for. Dropped when the queue is full."""
        if len(self._output) < OUTPUT_LINES:
            self._output.append(line)

    def _next_line(self) -> bool:
        """One step of the answer. False: no more in this turn, as the answer is over or asks for a turn of its own (None)."""
        try:
            line = next(self._answer)
        except StopIteration:
            self._answering = False
            return False
        if line is not None:
            self._output.append(line)
        return line is not None

    def _pump(self, now_ms: int) -> None:
        if self._waiting and not self._answering:
            self._run(self._waiting.pop(0), now_ms)
        for _ in range(_ANSWER_LINES):
            if not self._answering or len(self._output) >= OUTPUT_LINES - WATCH_RESERVE or not self._next_line():
                break
        while self._updates.replies:
            # Behind whole lines of text: the rest always ends with a line's end.
            self._rest += self._updates.replies.pop(0)
        while len(self._rest) < _CHUNK_BYTES and self._output:
            self._rest += self._output.pop(0).encode() + b"\r\n"
        if self._rest:
            try:
                self._port.write(self._rest[:_CHUNK_BYTES])
            except PortError:
                return  # full or unplugged: the rest waits
            self._rest = self._rest[_CHUNK_BYTES:]


def _plain(line: bytes) -> bool:
    """Without control characters; a tab is a space."""
    return not any(byte == 127 or (byte < 32 and byte != 9) for byte in line)

"""A hardware random generator that is asked: request `x` + count (u16 LE) -> bytes + status, 0 good (SOURCES.md 4.1)."""

import hashlib
import os
from typing import ClassVar, Final

from host_tools.hil.device import Model
from host_tools.hil.faults import Arg, FaultSpec, Value, resolve

GAP_US: Final = 100_000  # a request that stops half way is dropped after this silence
REQUEST: Final = 0x78  # "x"


def expand(seed: int, offset: int, length: int) -> bytes:
    """Bytes `offset`.. of a seed's stream: blocks of SHA-256(b"cabinet" + seed as u64 LE + block number as u64 LE)."""
    first, last = offset // 32, (offset + length + 31) // 32
    start = b"cabinet" + seed.to_bytes(8, "little")
    stream = b"".join(hashlib.sha256(start + block.to_bytes(8, "little")).digest() for block in range(first, last))
    return stream[offset - first * 32 :][:length]


class EntropySource(Model):
    """Truth: `sent`, all bytes of complete answers with status 0 since power on, which is what a host may have used.

    `spoiled` counts the bytes of answers with a bad status or cut short, `requests` all requests since power on. The
    source is `random` (the operating system's) until `seed(n)`; `queue(data)` puts bytes in front of either. Loss of
    power forgets the queue and `sent`; a seed's stream begins anew at `seed` only, so a restart does not repeat
    bytes.
    """

    FAULTS: ClassVar[dict[str, FaultSpec]] = {
        "silent": FaultSpec("no answer"),
        "stuck": FaultSpec("every byte is BYTE, status good", (Arg("BYTE", 0, 255),)),
        "unhealthy": FaultSpec("answers carry this status", (Arg("STATUS", 1, 255, default=1),)),
        "slow": FaultSpec("MS between bytes", (Arg("MS", 1, 60_000, default=1000),)),
        "short": FaultSpec("answers stop N bytes early and lack the status", (Arg("N", 1, 65_535, default=1),)),
    }

    def __init__(self, name: str = "entropy", *, answer_ms: int = 1) -> None:
        super().__init__(name)
        self.answer_us = answer_ms * 1000
        self.sent = bytearray()
        self.spoiled = 0
        self.requests = 0
        self._queue = bytearray()
        self._seed: int | None = None
        self._drawn = 0
        self._request = bytearray()
        self._last_byte_us = 0
        self.clear()

    def random(self) -> None:
        """From now on (after what is queued) bytes of the operating system."""
        self._seed = None

    def seed(self, number: int) -> None:
        """From now on (after what is queued) the stream of `expand(number)` from its beginning. 0 <= number < 2**64."""
        self._seed, self._drawn = number, 0

    def queue(self, data: bytes) -> None:
        """These bytes are sent first, then the source goes on."""
        self._queue += data

    @property
    def queued(self) -> int:
        """Bytes still queued."""
        return len(self._queue)

    def receive(self, byte: int, now_us: int) -> None:
        if not self.on:
            return
        if self._request and now_us - self._last_byte_us > GAP_US:
            self._request.clear()
        self._last_byte_us = now_us
        if not self._request and byte != REQUEST:
            return
        self._request.append(byte)
        if len(self._request) == 3:
            count = int.from_bytes(self._request[1:], "little")
            self._request.clear()
            self._answer(count)

    def _answer(self, count: int) -> None:
        if self._silent or self.line is None:
            return
        self.requests += 1
        data = bytes([self._stuck]) * count if self._stuck is not None else self._draw(count)
        if self._short:
            data = answer = data[: max(0, count - self._short)]
        else:
            answer = data + bytes([self._status])
        if self._short or self._status:
            self.spoiled += len(data)
        else:
            self.sent += data
        if not self._gap_us:
            self.line.send(answer, self.answer_us)
            return
        for index, byte in enumerate(answer):
            self.line.send(bytes([byte]), self.answer_us + index * self._gap_us)

    def _draw(self, count: int) -> bytes:
        data = bytes(self._queue[:count])
        del self._queue[:count]
        rest = count - len(data)
        if self._seed is None:
            return data + os.urandom(rest)
        self._drawn += rest
        return data + expand(self._seed, self._drawn - rest, rest)

    def power(self, on: bool, now_us: int) -> None:
        if on == self.on:
            return
        self.on = on
        self._request.clear()
        if on:
            self.sent.clear()
            self.spoiled = self.requests = 0
        else:
            self._queue.clear()
            if self.line is not None:
                self.line.cut()

    def fault(self, kind: str, *args: Value) -> None:
        values = resolve(self.name, self.FAULTS, kind, args)
        figure = int(values[0]) if values else 0
        if kind == "silent":
            self._silent = True
        elif kind == "stuck":
            self._stuck = figure
        elif kind == "unhealthy":
            self._status = figure
        elif kind == "slow":
            self._gap_us = figure * 1000
        elif kind == "short":
            self._short = figure

    def clear(self) -> None:
        self._silent = False
        self._stuck: int | None = None
        self._status = self._gap_us = self._short = 0

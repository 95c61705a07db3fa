"""A hardware random generator that is asked: request `x` + count (u16 LE) -> bytes + status, 0 good (SOURCES.md 4.1)."""

from collections.abc import Callable
from typing import ClassVar, Final

from host_tools.hil.faults import Arg, FaultSpec
from host_tools.hil.models.entropy_device import EntropyDevice

GAP_US: Final = 100_000  # a request that stops half way is dropped after this silence
REQUEST: Final = 0x78  # "x"


class EntropySource(EntropyDevice):
    """`spoiled` counts the bytes of answers with a bad status or cut short, `requests` all requests since power on.

    `on_answer` is called with the bytes of each complete answer with status 0: what a host may have used. Requests of one size
    have one lane of a seed's streams. `queue_answer(data)` is for the next request of exactly so many bytes.
    """

    FAULTS: ClassVar[dict[str, FaultSpec]] = {
        **EntropyDevice.FAULTS,
        "unhealthy": FaultSpec("answers carry this status", (Arg("STATUS", 1, 255, default=1),)),
        "short": FaultSpec("answers stop N bytes early and lack the status", (Arg("N", 1, 65_535, default=1),)),
    }

    def __init__(self, name: str = "entropy", *, answer_ms: int = 1) -> None:
        super().__init__(name)
        self.answer_us = answer_ms * 1000
        self.on_answer: Callable[[bytes], None] | None = None
        self.spoiled = 0
        self.requests = 0
        self._request = bytearray()
        self._last_byte_us = 0
        self._answers: dict[int, bytes] = {}

    def queue_answer(self, data: bytes) -> None:
        """The next request of exactly so many bytes gets these; a later call of the same size takes its place."""
        self._answers[len(data)] = data

    def receive(self, byte: int, now_us: int) -> None:
        if self.silent:
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
        self.requests += 1
        queued = self._answers.pop(count, None)
        data = self._make(count, lane=count) if queued is None else queued
        if self._short:
            data = answer = data[: max(0, count - self._short)]
        else:
            answer = data + bytes([self._status])
        if self._short or self._status:
            self.spoiled += len(data)
        elif self.on_answer is not None:
            self.on_answer(data)
        self._sends(answer, self.answer_us)

    def power(self, on: bool, now_us: int) -> None:
        if on == self.on:
            return
        super().power(on, now_us)
        self._request.clear()
        self._answers.clear()
        if on:
            self.spoiled = self.requests = 0

    def _set_fault(self, kind: str, figures: list[int]) -> None:
        super()._set_fault(kind, figures)
        if kind == "unhealthy":
            self._status = figures[0]
        elif kind == "short":
            self._short = figures[0]

    def _reset_faults(self) -> None:
        super()._reset_faults()
        self._status = self._short = 0

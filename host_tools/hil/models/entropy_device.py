"""What all models of random devices have in common: where their bytes come from, what can be wrong with them, the plug."""

import hashlib
import os
from collections import deque
from typing import ClassVar, Final

from host_tools.hil.device import Model
from host_tools.hil.faults import Arg, FaultSpec, Value, resolve

BUFFER_BYTES: Final = 1024  # what a device and its USB driver may still hold of what was not read


def expand(seed: int, lane: int, offset: int, length: int) -> bytes:
    """Bytes `offset`.. of a seed's stream `lane`: blocks of SHA-256(b"cabinet" + seed u64 + lane u32 + block u64, all LE)."""
    first, last = offset // 32, (offset + length + 31) // 32
    start = b"cabinet" + seed.to_bytes(8, "little") + lane.to_bytes(4, "little")
    stream = b"".join(hashlib.sha256(start + block.to_bytes(8, "little")).digest() for block in range(first, last))
    return stream[offset - first * 32 :][:length]


class EntropyDevice(Model):
    """Noise, its faults and the plug. A model of a protocol asks `_make` for bytes and says when they leave.

    The source is `random` (the operating system's) until `seed(n)`; `queue(data)` puts bytes in front of either. A seed
    has a stream for each `lane`, so that bytes which are asked for more or less often on another board do not shift the others.
    Loss of power forgets the queue; a seed's streams begin anew at `seed` only, so a restart does not repeat bytes.
    `stale_sent`: bytes that it sent a second time, from its buffer, after it was plugged in again.
    """

    FAULTS: ClassVar[dict[str, FaultSpec]] = {
        "silent": FaultSpec("no byte more"),
        "stuck": FaultSpec("every byte is BYTE", (Arg("BYTE", 0, 255),)),
        "stuck_bit": FaultSpec(
            "bit BIT of every byte is VALUE", (Arg("BIT", 0, 7, default=3), Arg("VALUE", 0, 1, default=1))
        ),
        "period": FaultSpec("the next N bytes over and over", (Arg("N", 1, 65_536, default=16),)),
        "bias": FaultSpec("PERCENT of the bits are ones", (Arg("PERCENT", 0, 100, default=60),)),
        "slow": FaultSpec("MS between bytes", (Arg("MS", 1, 60_000, default=1000),)),
        "unplug": FaultSpec(
            "pulled; plugged in again it first sends the last STALE bytes once more",
            (Arg("STALE", 0, BUFFER_BYTES, default=256),),
        ),
    }

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.stale_sent = bytearray()
        self._queue = bytearray()
        self._seed: int | None = None
        self._drawn: dict[int, int] = {}
        self._recent: deque[int] = deque(maxlen=BUFFER_BYTES)
        self._stale = 0
        self.unplugged = False
        self._reset_faults()

    # --- noise -----------------------------------------------------------------------------------------------------

    def random(self) -> None:
        """From now on (after what is queued) bytes of the operating system."""
        self._seed = None

    def seed(self, number: int) -> None:
        """From now on (after what is queued) the streams of `expand(number)` from their beginning. 0 <= number < 2**64."""
        self._seed, self._drawn = number, {}

    def queue(self, data: bytes) -> None:
        """These bytes are sent first, then the source goes on."""
        self._queue += data

    @property
    def queued(self) -> int:
        """Bytes still queued."""
        return len(self._queue)

    def _make(self, count: int, lane: int = 0) -> bytes:
        """The next bytes, with what is wrong with them."""
        if self._period:
            return self._periodic(count)
        data = bytes(self._queue[:count])
        del self._queue[:count]
        data += self._noise(count - len(data), lane)
        if self._stuck is not None:
            return bytes([self._stuck]) * count
        if self._bias is not None:
            data = bytes(self._biased(byte) for byte in data)
        mask, value = self._stuck_bit
        return bytes(byte & ~mask & 0xFF | value for byte in data)

    def _noise(self, count: int, lane: int) -> bytes:
        if self._seed is None:
            return os.urandom(count)
        offset = self._drawn.get(lane, 0)
        self._drawn[lane] = offset + count
        return expand(self._seed, lane, offset, count)

    def _periodic(self, count: int) -> bytes:
        while len(self._loop) < self._period:
            self._loop += self._noise(self._period - len(self._loop), 0)
        data = bytes(self._loop[(self._phase + index) % self._period] for index in range(count))
        self._phase = (self._phase + count) % self._period
        return data

    def _biased(self, byte: int) -> int:
        """Eight bits, each a one with the probability, out of a hash of the byte and a counter: repeats with a seed."""
        assert self._bias is not None
        self._count += 1
        digest = hashlib.sha256(bytes([byte]) + self._count.to_bytes(8, "little")).digest()
        limit = self._bias * 65536 // 100
        return sum((int.from_bytes(digest[2 * bit : 2 * bit + 2], "little") < limit) << bit for bit in range(8))

    # --- the line --------------------------------------------------------------------------------------------------

    def _sends(self, data: bytes, delay_us: int = 0) -> None:
        """Bytes leave, unless the plug is out; a slow device takes its time for each."""
        if self.line is None or self.unplugged or not self.on:
            return
        self._recent.extend(data)
        if not self._gap_us:
            self.line.send(data, delay_us)
            return
        for index, byte in enumerate(data):
            self.line.send(bytes([byte]), delay_us + index * self._gap_us)

    @property
    def silent(self) -> bool:
        return self._silent or self.unplugged or not self.on

    def power(self, on: bool, now_us: int) -> None:
        if on == self.on:
            return
        self.on = on
        if not on:
            self._queue.clear()
            self._recent.clear()
            if self.line is not None:
                self.line.cut()

    # --- faults ----------------------------------------------------------------------------------------------------

    def fault(self, kind: str, *args: Value) -> None:
        values = resolve(self.name, self.FAULTS, kind, args)
        self._set_fault(kind, [int(value) for value in values])

    def _set_fault(self, kind: str, figures: list[int]) -> None:
        if kind == "silent":
            self._silent = True
        elif kind == "stuck":
            self._stuck = figures[0]
        elif kind == "stuck_bit":
            self._stuck_bit = (1 << figures[0], figures[1] << figures[0])
        elif kind == "period":
            self._period, self._phase, self._loop = figures[0], 0, bytearray()
        elif kind == "bias":
            self._bias = figures[0]
        elif kind == "slow":
            self._gap_us = figures[0] * 1000
        elif kind == "unplug":
            self.unplugged, self._stale = True, figures[0]
            if self.line is not None:
                self.line.cut()

    def clear(self) -> None:
        if self._gap_us and self.line is not None:
            self.line.cut()  # what it would still have sent, byte by byte
        self._reset_faults()
        if self.unplugged:
            self.unplugged = False
            stale = bytes(list(self._recent)[-self._stale :]) if self._stale else b""
            self.stale_sent += stale
            self._sends(stale)
            self._plugged_in()

    def _plugged_in(self) -> None:
        """What a device does when it comes up."""

    def _reset_faults(self) -> None:
        self._silent = False
        self._stuck: int | None = None
        self._stuck_bit = (0, 0)
        self._period = self._phase = self._gap_us = self._count = 0
        self._loop = bytearray()
        self._bias: int | None = None

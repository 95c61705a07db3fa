"""Faults that happen on a line whatever is attached to it."""

from random import Random
from typing import Final

from host_tools.hil.faults import Arg, FaultSpec, Value, resolve

_LONGEST_BURST: Final = 100  # whose stretches are all kept from coming right
_WAY: Final = Arg("WAY", words=("rx", "tx", "both"), default="both")

LINE_FAULTS: Final[dict[str, FaultSpec]] = {
    "drop": FaultSpec("the next N bytes vanish", (Arg("N", 1), _WAY)),
    "corrupt": FaultSpec("the next N bytes arrive with wrong bits", (Arg("N", 1), _WAY)),
    "duplicate": FaultSpec("the next N bytes arrive twice", (Arg("N", 1, default=1), _WAY)),
    "delay": FaultSpec("everything reaches the board MS later", (Arg("MS", 0, 60_000),)),
    "fragment": FaultSpec(
        "bytes reach the board in chunks of N with MS between chunks",
        (Arg("N", 1, 4096), Arg("MS", 0, 60_000, default=5)),
    ),
    "mute": FaultSpec("the cable is pulled: nothing passes either way"),
    "noise": FaultSpec(
        "of 1000 bytes so many vanish and so many arrive with wrong bits, at random, until it is cleared",
        (Arg("LOST", 0, 1000), Arg("WRONG", 0, 1000), _WAY),
    ),
    "garbage": FaultSpec("N random bytes arrive", (Arg("N", 1, 4096), Arg("WAY", words=("rx", "tx"), default="rx"))),
    "echo": FaultSpec(
        "the next N echoed bytes are corrupt, or missing",
        (Arg("WHAT", words=("corrupt", "off")), Arg("N", 1, default=1)),
    ),
}
# `rx` is what the board receives, `tx` what it sends. A `tx` fault sits beyond the transceiver: the echo stays good.


class LineFaults:
    """The state of a line's faults. All randomness comes from the line's seed, so a run can be repeated."""

    def __init__(self, name: str, seed: int) -> None:
        self._name = name
        self._random = Random(seed)
        self.ever = False  # a fault was set, and what it left may still be heard
        self.clear()

    def clear(self) -> None:
        """No faults."""
        self.active = False
        self.mute = False
        self.delay_ns = 0
        self.chunk = 0
        self.gap_ns = 0
        self._drop = {"rx": 0, "tx": 0}
        self._corrupt = {"rx": 0, "tx": 0}
        self._sums = {"rx": [0], "tx": [0]}  # of what the corrupt bytes of the burst are out by, so far
        self._duplicate = {"rx": 0, "tx": 0}
        self._noise: dict[str, tuple[int, int]] = {}  # way: bytes of 1000 that vanish, that vanish or are wrong
        self._echo_corrupt = 0
        self._echo_off = 0

    @property
    def lasting(self) -> bool:
        """Some byte will still suffer; garbage has been sent already."""
        counts = (*self._drop.values(), *self._corrupt.values(), *self._duplicate.values())
        held = self.mute or self.delay_ns or self.chunk or self._noise
        return bool(held or any(counts) or self._echo_corrupt or self._echo_off)

    def set(self, kind: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
        """Takes a fault and returns its arguments with defaults. Errors: ValueError lists the known kinds."""
        values = resolve(f"line {self._name}", LINE_FAULTS, kind, args)
        self.active = self.ever = True
        if kind in ("drop", "corrupt", "duplicate"):
            counts = {"drop": self._drop, "corrupt": self._corrupt, "duplicate": self._duplicate}[kind]
            for way in ("rx", "tx") if values[1] == "both" else (str(values[1]),):
                counts[way] = int(values[0])
        elif kind == "delay":
            self.delay_ns = int(values[0]) * 1_000_000
        elif kind == "fragment":
            self.chunk = int(values[0])
            self.gap_ns = int(values[1]) * 1_000_000
        elif kind == "mute":
            self.mute = True
        elif kind == "noise":
            lost, wrong = int(values[0]), int(values[1])
            self._noise |= dict.fromkeys(
                ("rx", "tx") if values[2] == "both" else (str(values[2]),), (lost, lost + wrong)
            )
        elif kind == "echo" and values[0] == "corrupt":
            self._echo_corrupt = int(values[1])
        elif kind == "echo":
            self._echo_off = int(values[1])
        return values

    def garbage(self, number: int) -> bytes:
        """Random bytes of the line's own generator."""
        return self._random.randbytes(number)

    def pass_byte(self, byte: int, way: str) -> tuple[int, ...]:
        """What is left of one byte: nothing, it, a wrong one, or two."""
        if self.mute:
            return ()
        if way in self._noise:
            lost, bad = self._noise[way]
            chance = self._random.randrange(1000)
            if chance < lost:
                return ()
            if chance < bad:
                return (byte ^ self._random.randrange(1, 256),)
        if self._drop[way]:
            self._drop[way] -= 1
            return ()
        if self._corrupt[way]:
            self._corrupt[way] -= 1
            byte = self._wrong(byte, way)
        if self._duplicate[way]:
            self._duplicate[way] -= 1
            return (byte, byte)
        return (byte,)

    def _wrong(self, byte: int, way: str) -> int:
        """Another byte, but none by which the sum of a stretch of the burst comes right again: that is the blind spot of a
        checksum (1 of 255 longer bursts on ccTalk), and no host could see it."""
        sums = self._sums[way]
        while True:
            wrong = self._random.randrange(256)
            total = (sums[-1] + wrong - byte) & 0xFF
            if wrong != byte and (total not in sums or len(sums) > _LONGEST_BURST):
                sums.append(total)
                if not self._corrupt[way]:
                    self._sums[way] = [0]
                return wrong

    def pass_echo(self, byte: int) -> tuple[int, ...]:
        """What the board hears of one of its own bytes; the transceiver echoes even with the cable pulled."""
        if self._echo_off:
            self._echo_off -= 1
            return ()
        if self._echo_corrupt:
            self._echo_corrupt -= 1
            byte ^= self._random.randrange(1, 256)
        return (byte,)

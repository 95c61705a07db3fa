"""One OPP Gen2 board: wings, inputs, lamp bits and solenoids. Source: SOURCES.md, OPP."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

# Wing type -> (input pins, lamp pins, solenoids) of the wing's eight pins.
SOLENOIDS, INPUTS, LAMPS, HIGH_SIDE_LAMPS, EIGHT_SOLENOIDS = 0x01, 0x02, 0x03, 0x07, 0x0D
_NO_WING: Final = (0x00, 0x00, 0)
_WINGS: Final = {
    0x00: _NO_WING,
    SOLENOIDS: (0x0F, 0x00, 4),
    INPUTS: (0xFF, 0x00, 0),
    LAMPS: (0x00, 0xFF, 0),
    HIGH_SIDE_LAMPS: (0x00, 0xFF, 0),
    EIGHT_SOLENOIDS: (0x00, 0x00, 8),
}
USE_INPUT, AUTO_CLEAR, ON_OFF, DELAYED, CANCELLABLE = 0x01, 0x02, 0x04, 0x08, 0x20
_LAMP_FADE_BASE: Final = 0x1000  # fade index of the first lamp bit


@dataclass(frozen=True, slots=True)
class Pulse:
    """One activation: when it began, how long it lasted, how long the solenoid had been off before. Microseconds."""

    name: str
    at_us: int
    on_us: int
    pause_us: int


class Owner(Protocol):
    """What a solenoid needs of the chain: an agenda, and someone to count."""

    def at(self, when_us: int, action: Callable[[int], None]) -> None: ...
    def cancel(self, action: Callable[[int], None] | None = None) -> None: ...
    def pulsed(self, pulse: Pulse) -> None: ...
    def drawing(self, name: str, current: bool) -> None: ...


class Solenoid:
    """A driver with its configuration (command 14). Not configured until told, and again after power or reset."""

    def __init__(self) -> None:
        self.name = ""
        self.owner: Owner | None = None
        self.refused = 0
        self.on_since_us: int | None = None
        self._off_since_us = -(1 << 40)
        self._delay_us = 0
        self.forget()

    def forget(self) -> None:
        """No configuration."""
        self.flags = self.pulse_ms = self.low = self.high = self._delay_us = 0

    def configure(self, flags: int, pulse_ms: int, last: int) -> None:
        """Command 14. Last byte: hold power (low nibble) and minimum-off factor 0..7, or the delay in units of 2 ms."""
        self.flags, self.pulse_ms = flags, pulse_ms
        delayed = bool(flags & DELAYED)
        self.low, self.high = (0, 0) if delayed else (last & 0x0F, last >> 4 & 0x07)
        self._delay_us = last * 2000 if delayed else 0

    def kick(self, now_us: int) -> None:
        """On, for a pulse or until switched off."""
        resting = now_us - self._off_since_us < self.pulse_ms * 1000 * self.high
        if self.owner is None or not (self.pulse_ms or self.flags & ON_OFF) or self.on_since_us is not None or resting:
            self.refused += 1
        elif self.flags & DELAYED and self._delay_us:
            self.owner.at(now_us + self._delay_us, self._start)
        else:
            self._start(now_us)

    def _start(self, when_us: int) -> None:
        if self.on_since_us is not None or self.owner is None:
            return
        self.on_since_us = when_us
        self.owner.drawing(self.name, True)
        # Without hold power and without full power the driver lets go by itself, auto-clear or not.
        if self.flags & AUTO_CLEAR or not (self.flags & ON_OFF or self.low):
            self.owner.at(when_us + self.pulse_ms * 1000, self.end)

    def release(self, now_us: int) -> None:
        """Switched off by the host: at once if the configuration allows it, else the pulse ends in its own time."""
        if self.flags & CANCELLABLE or not self.flags & AUTO_CLEAR:
            self.end(now_us)

    def end(self, when_us: int) -> None:
        """Off, whatever the reason; the activation is reported."""
        if self.owner is None:
            return
        self.owner.cancel(self.end)
        self.owner.cancel(self._start)
        if self.on_since_us is None:
            return
        pulse = Pulse(self.name, self.on_since_us, when_us - self.on_since_us, self.on_since_us - self._off_since_us)
        self.on_since_us = None
        self._off_since_us = when_us
        self.owner.drawing(self.name, False)
        self.owner.pulsed(pulse)


class Board:
    """Errors: ValueError for wings that are not four, or of a type that this model lacks (matrices, LED chains)."""

    def __init__(self, address: int, wings: Sequence[int], serial: int, version: tuple[int, int, int, int]) -> None:
        unknown = [wing for wing in wings if wing not in _WINGS]
        if len(wings) != 4 or unknown or not 0x20 <= address <= 0x2F:
            raise ValueError(f"board 0x{address:02X}: four wings of types {sorted(_WINGS)}; given {list(wings)}")
        self.address = address
        self.wings = bytes(wings)
        self.serial = serial
        self.version = bytes(version)
        self.lit = 0  # lamp bits
        self.solenoids: dict[int, Solenoid] = {}
        self._input_pins = self._lamp_pins = self._solenoid_pins = 0
        for wing, kind in enumerate(wings):
            inputs, lamps, number = _WINGS[kind]
            self._input_pins |= inputs << wing * 8
            self._lamp_pins |= lamps << wing * 8
            first = wing * (8 if number == 8 else 4)
            for index in range(first, min(first + number, 16)):  # the kick mask has 16 bits
                self.solenoids[index] = Solenoid()
                self._solenoid_pins |= 1 << index
        self._high = self._input_pins  # contact bits: 1 = open, active low
        self._ties: set[tuple[int, int]] = set()

    def pins(self, kind: str) -> int:
        """Mask of the "input" or "lamp" bits, or of the "solenoid" indices, that the wings have."""
        return {"input": self._input_pins, "lamp": self._lamp_pins, "solenoid": self._solenoid_pins}[kind]

    def contact(self, bit: int, closed: bool, now_us: int | None) -> None:
        """A contact opens or closes; closing one tied to a solenoid kicks it. `now_us` None: no mains, no kick."""
        was_closed = not self._high >> bit & 1
        self._high = self._high & ~(1 << bit) | (not closed) << bit
        if not closed or was_closed or now_us is None:
            return
        for index, solenoid in self.solenoids.items():
            own = solenoid.flags & USE_INPUT and bit == (index >> 2) * 8 + (index & 3)
            if own or (bit, index) in self._ties:
                solenoid.kick(now_us)

    def stop(self, now_us: int) -> None:
        """Outputs off and configuration gone: reset command, loss of power."""
        self.lit = 0
        self._ties.clear()
        for solenoid in self.solenoids.values():
            solenoid.end(now_us)
            solenoid.forget()

    def command(self, command: int, data: bytes, now_us: int) -> bytes | None:
        """Carries out one command; the data of its answer, None if it has none."""
        if command == 0x00:
            return self.serial.to_bytes(4, "big")
        if command == 0x01:
            return bytes(4)
        if command == 0x02:
            return self.version
        if command == 0x08:
            return self._high.to_bytes(4, "big")
        if command == 0x0D:
            return self.wings
        if command == 0x04:
            self.stop(now_us)
        elif command == 0x07:
            self._kick(int.from_bytes(data[:2], "big"), int.from_bytes(data[2:], "big"), now_us)
        elif command == 0x13:
            self._set_lamps(data[0], int.from_bytes(data[1:], "big"))
        elif command == 0x14 and data[0] in self.solenoids:
            self.solenoids[data[0]].configure(data[1], data[2], data[3])
        elif command == 0x17:
            tie = (data[0], data[1] & 0x0F)
            (self._ties.discard if data[1] & 0x80 else self._ties.add)(tie)
        elif command == 0x40:
            self._fade(int.from_bytes(data[:2], "big") - _LAMP_FADE_BASE, data[6:])
        return None

    def _kick(self, value: int, mask: int, now_us: int) -> None:
        for index, solenoid in self.solenoids.items():
            if mask >> index & 1:
                if value >> index & 1:
                    solenoid.kick(now_us)
                else:
                    solenoid.release(now_us)

    def _set_lamps(self, sub_command: int, mask: int) -> None:
        mask &= self._lamp_pins
        if sub_command == 0x07:
            self.lit = mask
        elif sub_command == 0x02:
            self.lit |= mask
        elif sub_command == 0x03:
            self.lit &= ~mask

    def _fade(self, first: int, levels: bytes) -> None:
        for index, level in enumerate(levels, first):
            if 0 <= index < 32 and self._lamp_pins >> index & 1:
                self.lit = self.lit | 1 << index if level else self.lit & ~(1 << index)

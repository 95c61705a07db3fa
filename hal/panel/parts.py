"""What hangs on the panel boards, as the driver keeps it.

Bits are held a byte a wing, because numbers of 32 bits would be allocated.
"""

from .frame import AUTO_CLEAR, INPUTS, encode

PROVING_LOOKS = 2  # readings within a pulse that must show no current before the coil counts as unplugged


class Inputs:
    """Debounced inputs of one board. Active low: a 0 is a closed switch. Before the first reading all are open.

    request: the frame that asks for a reading
    state: a byte a wing, a 0 for each switch that is closed
    """

    def __init__(self, address: int):
        self.address = address
        self.request = encode(address, INPUTS)
        self._last = b""
        self._agreed = False  # the last reading agreed with the one before, so the state is the same
        self.state = bytearray(b"\xff\xff\xff\xff")
        self._readings = 0

    @property
    def known(self) -> bool:
        """Two readings have been taken since restart()."""
        return self._readings == 2

    def restart(self) -> None:
        """The next reading has no predecessor to agree with. The state stays."""
        self._readings = 0

    def take(self, data: bytes) -> bool:
        """A reading, wing 3 first as on the line. Bits on which it agrees with the one before become the state.

        Returns whether the state may have changed.
        """
        if self._readings == 2 and data == self._last and self._agreed:
            return False  # nearly always
        changed = False
        for wing in range(4):
            now = data[3 - wing]
            steady = ~(now ^ self._last[3 - wing]) & 0xFF if self._readings else 0
            state = (self.state[wing] & ~steady) | (now & steady)
            changed = changed or state != self.state[wing]
            self.state[wing] = state
        self._agreed = self._readings > 0 and data == self._last
        self._last = data
        if self._readings < 2:
            self._readings += 1
            changed = True
        return changed


class Switch:
    """A button, door or key: where it is wired, what its changes are called, what was last told to the firmware.

    first: the change that is told at the first reading, "" for none
    """

    def __init__(self, name: str, inputs: "Inputs", bit: int, on_close: str, on_open: str, first: str):
        self._name = name
        self._inputs = inputs
        self._wing, self._mask = bit >> 3, 1 << (bit & 7)
        self._on_close = on_close
        self._on_open = on_open
        self._first = first
        self._told = None

    @property
    def closed(self) -> bool:
        """Debounced."""
        return not self._inputs.state[self._wing] & self._mask

    def news(self):
        """The event to be told, or None. told() when it is on its way."""
        closed = not self._inputs.state[self._wing] & self._mask
        if closed == self._told:
            return None
        kind = self._on_close if closed else self._on_open
        if self._told is None and kind != self._first:
            self._told = closed
            return None
        return (kind, self._name)

    def told(self) -> None:
        """The news of this moment has been queued."""
        self._told = self.closed


class Lamps:
    """Wanted lamps of one board."""

    def __init__(self, address: int):
        self.address = address
        self.changed = True
        self._wanted = bytearray(4)

    def set(self, bit: int, on: bool) -> None:
        """Switch the lamp at `bit`."""
        wing, mask = bit >> 3, 1 << (bit & 7)
        before = self._wanted[wing]
        self._wanted[wing] = before | mask if on else before & ~mask
        self.changed = self.changed or self._wanted[wing] != before

    def data(self) -> bytes:
        """As in the frame, wing 3 first."""
        return bytes((self._wanted[3], self._wanted[2], self._wanted[1], self._wanted[0]))


class Solenoid:
    """A coil that gets pulses of a fixed length.

    free_ms: when its on and off time is over
    felt: whether current was seen in the last pulse
    """

    def __init__(self, address: int, number: int, pulse_ms: int, off_factor: int):
        self.address = address
        self.free_ms = 0
        self.felt = False
        self.sense_address = -1  # the board and bit of the input that is closed while the coil draws current
        self.sense_bit = 0
        self._pulse_ms = pulse_ms
        self.until_ms = 0  # end of the pulse under way
        self._dead = 0  # readings without current, before there was any
        self._broken = False  # one without, after there was
        self._kicked_ms = -1  # beginning of the turn in which the kick was sent, until the next turn
        self.cycle_ms = pulse_ms * (1 + off_factor)
        mask = (1 << number).to_bytes(2, "big")
        self.kick = mask + mask  # value, then which of them to change
        self.configuration = bytes((number, AUTO_CLEAR, pulse_ms, off_factor << 4))

    def kicked(self, now_ms: int, pause_ms: int, asked: bool) -> None:
        """A pulse is on its way. `asked`: a reading of the inputs is too, and shows the time before the pulse."""
        self.free_ms = now_ms + self.cycle_ms + pause_ms
        self.until_ms = now_ms + self._pulse_ms
        self._kicked_ms = now_ms
        self._dead = -1 if asked else 0
        self.felt = self._broken = False

    def rest(self, now_ms: int, pause_ms: int) -> None:
        """A pulse that nobody remembers may be under way: the cabinet has just started, and the board has kept its power. It
        would refuse the next one until the off time is over."""
        self.free_ms = max(self.free_ms, now_ms + self.cycle_ms + pause_ms)

    def sent_by(self, now_ms: int) -> None:
        """The next turn has come: the kick left at some time before it, and the board counts the off time from then."""
        if self._kicked_ms >= 0:
            self.free_ms += now_ms - self._kicked_ms
            self._kicked_ms = -1

    def look(self, data: bytes) -> None:
        """A reading, within a pulse, of the board with the sense input, wing 3 first: is there current?"""
        if not (data[3 - (self.sense_bit >> 3)] >> (self.sense_bit & 7)) & 1:
            self.felt = True
        elif self.felt:
            self._broken = True
        else:
            self._dead += 1

    def missed(self) -> bool:
        """True when the last pulse was looked at and drew no current. Too few looks prove nothing."""
        return self.sense_address >= 0 and not self.felt and self._dead >= PROVING_LOOKS

    def doubtful(self) -> bool:
        """True when the last pulse was looked at too seldom to know anything of it, or drew current for a part of it only."""
        if self.felt:
            return self._broken or self._dead >= PROVING_LOOKS
        return self.sense_address >= 0 and self._dead < PROVING_LOOKS

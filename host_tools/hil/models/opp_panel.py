"""OPP Gen2 I/O boards on one serial chain: buttons, doors, keys, lamps, meters. Source: SOURCES.md, OPP (frames, CRC, wings).

Frame: address, command, data, CRC-8 (polynomial 0x07, initial 0xFF). Every FF outside a frame comes back, so an
answer that was asked for with a closing FF ends with one. Lengths are fixed by the command; a wrong CRC drops the
frame; an unknown command drops what was collected, and the host gets back into step with FFs.

Decisions where the source is silent: pins that are no inputs read 0; a solenoid without configuration does not move;
a kick while the solenoid is on or within its minimum off time is refused and counted; switching off ends a pulse
early only if the configuration says so (flag 20, or no auto-clear); a lamp fade (40) takes its final brightness at
once, any brightness is on.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final

from host_tools.hil.device import Model
from host_tools.hil.faults import Arg, FaultSpec, Value, resolve
from host_tools.hil.models.opp_board import Board, Pulse, Solenoid

INVENTORY, END = 0xF0, 0xFF
FADE: Final = 0x40
# Data bytes of each command that is taken; FADE tells its own length.
LENGTHS: Final = {0x04: 0, 0x05: 0, 0x13: 5, 0x17: 2, 0x1B: 2} | dict.fromkeys((0, 1, 2, 7, 8, 0x0D, 0x14), 4)
_MAX_FADE: Final = 256
Place = tuple[int, int]
_METER: Final = Arg("METER", words=("em_in", "em_out"))


def _table() -> bytes:
    entries = bytearray()
    for entry in range(256):
        crc = entry
        for _ in range(8):
            crc = (crc << 1 ^ 0x07 if crc & 0x80 else crc << 1) & 0xFF
        entries.append(crc)
    return bytes(entries)


_CRC_TABLE: Final = _table()


def crc8(data: bytes | bytearray) -> int:
    """CRC-8 over address to last data byte."""
    crc = 0xFF
    for byte in data:
        crc = _CRC_TABLE[crc ^ byte]
    return crc


class OppPanel(Model):
    """The chain and what is wired to it.

    `boards`: address -> four wing types (SOURCES.md, OPP), e.g. `{0x20: (1, 2, 3, 3)}`. `inputs` and `lamps`: name ->
    (address, bit), bit = wing x 8 + pin. `solenoids`: name -> (address, index), index = wing x 4 + number on the wing.
    `normally_closed` names inputs whose contact opens when they are active (a door switch held closed by the shut
    door). `senses`: solenoid name -> (address, bit) of an input that is closed while its coil draws
    current. `min_on_ms` and `min_off_ms`: what an electromechanical meter on a solenoid needs to advance (10 Hz type).

    Truths: `pulses[name]` (long enough, after a pause long enough), `bad_pulses` (the others), `pulse_log` (both; the
    last 4096 are kept), `lost_pulses[name]` (given while the meter was unplugged), `refused_kicks`,
    `lamp(name)`. Errors: ValueError for wiring that the wings cannot carry.
    """

    FAULTS: ClassVar[dict[str, FaultSpec]] = {
        "offline": FaultSpec("the chain neither hears nor answers; outputs stay as they are"),
        "crc": FaultSpec("the next N answers have a wrong CRC", (Arg("N", 1, 65_535, default=1),)),
        "stuck": FaultSpec("an input stays active", (Arg("BUTTON", free=True),)),
        "meter_unplugged": FaultSpec("a meter's plug is out: no current, no count", (_METER,)),
        "sense_broken": FaultSpec("a meter counts, but its current is not seen", (_METER,)),
    }

    def __init__(
        self,
        name: str = "panel",
        *,
        boards: Mapping[int, Sequence[int]],
        inputs: Mapping[str, Place],
        lamps: Mapping[str, Place],
        solenoids: Mapping[str, Place],
        normally_closed: Collection[str] = (),
        senses: Mapping[str, Place] | None = None,
        serial: int = 0x01234567,
        version: tuple[int, int, int, int] = (2, 2, 0, 2),
        min_on_ms: int = 30,
        min_off_ms: int = 30,
        answer_us: int = 200,
    ) -> None:
        super().__init__(name)
        self.boards = {at: Board(at, wings, serial + at - 0x20, version) for at, wings in boards.items()}
        self.inputs, self.lamps = dict(inputs), dict(lamps)
        self.solenoids: dict[str, Solenoid] = {}
        self.normally_closed = frozenset(normally_closed)
        self.senses = dict(senses or {})
        self._unplugged: set[str] = set()
        self._cut_short: set[str] = set()  # whose plug was pulled in the pulse under way: that one is accounted for
        self._plugged_us: dict[str, int] = {}  # when the plug was put in again
        self._blind: set[str] = set()
        self.min_on_us, self.min_off_us = min_on_ms * 1000, min_off_ms * 1000
        self.answer_us = answer_us
        self._active: dict[str, bool] = dict.fromkeys(self.inputs, False)
        self._stuck: set[str] = set()
        self._offline = self._boot_loader = False
        self._wrong_crcs = 0
        self._frame = bytearray()
        self.bad_frames = 0  # wrong CRC, unknown command or address
        self._wire_up(solenoids)

    def _wire_up(self, solenoids: Mapping[str, Place]) -> None:
        inputs = self.inputs | self.senses
        for kind, places in (("input", inputs), ("lamp", self.lamps), ("solenoid", solenoids)):
            for name, (address, bit) in places.items():
                board = self.boards.get(address)
                if board is None or not board.pins(kind) >> bit & 1:
                    raise ValueError(f"{self.name}: no wing of board 0x{address:02X} has {kind} {bit} ({name})")
                if kind == "solenoid":
                    self.solenoids[name] = board.solenoids[bit]
                    board.solenoids[bit].name = name
        for board in self.boards.values():
            for solenoid in board.solenoids.values():
                solenoid.owner = self
        self.pulses: dict[str, int] = dict.fromkeys(self.solenoids, 0)
        self.lost_pulses: dict[str, int] = dict.fromkeys(self.solenoids, 0)
        self.bad_pulses: deque[Pulse] = deque(maxlen=4096)
        self.pulse_log: deque[Pulse] = deque(maxlen=4096)
        for name in self.inputs:
            self._contact(name)

    # The hands at the cabinet

    def set_input(self, name: str, active: bool, now_us: int) -> None:
        """A button is pressed, a door opened, a key turned (`active`), or not any more. Errors: KeyError."""
        self.poll(now_us)
        if name not in self._active:
            raise KeyError(name)
        self._active[name] = active
        self._contact(name)

    def press(self, name: str, now_us: int, for_ms: int = 100) -> None:
        """Active now, and not any more after `for_ms`."""
        self.set_input(name, True, now_us)
        self.at(now_us + for_ms * 1000, lambda when_us: self.set_input(name, False, when_us))

    def active(self, name: str) -> bool:
        """What hands left the input at, whatever the electronics make of it."""
        return self._active[name]

    def lamp(self, name: str) -> bool:
        """Light is seen."""
        address, bit = self.lamps[name]
        return self.on and bool(self.boards[address].lit >> bit & 1)

    @property
    def refused_kicks(self) -> int:
        """Kicks that moved nothing."""
        return sum(solenoid.refused for board in self.boards.values() for solenoid in board.solenoids.values())

    @property
    def faulty(self) -> bool:
        """It is deaf, dead, or its answers are wrong."""
        return not self.on or self._offline or self._boot_loader or self._wrong_crcs > 0

    def _contact(self, name: str) -> None:
        address, bit = self.inputs[name]
        closed = (self._active[name] or name in self._stuck) != (name in self.normally_closed)
        self.boards[address].contact(bit, closed, self.now_us if self.on else None)

    # The line

    def receive(self, byte: int, now_us: int) -> None:
        if not self.on or self._offline or self._boot_loader:
            return
        frame = self._frame
        if not frame:
            if byte == END:
                self._send(b"\xff")
            elif byte == INVENTORY:
                self._send(bytes([INVENTORY, *sorted(self.boards)]))
            elif byte & 0xE0 == 0x20:
                frame.append(byte)
            return
        frame.append(byte)
        length = LENGTHS.get(frame[1])
        if length is None and frame[1] == FADE:
            length = 6 + int.from_bytes(frame[4:6], "big") if len(frame) >= 6 else _MAX_FADE
        if length is None or length > 6 + _MAX_FADE:
            self.bad_frames += 1
            frame.clear()
        elif len(frame) == length + 3:
            complete = bytes(frame)
            frame.clear()
            self._hear(complete, now_us)

    def _hear(self, frame: bytes, now_us: int) -> None:
        board = self.boards.get(frame[0])
        if board is None or crc8(frame[:-1]) != frame[-1]:
            self.bad_frames += 1
            return
        if frame[1] == 0x05:
            self._boot_loader = True  # until the power is cycled
            board.stop(now_us)
            return
        data = board.command(frame[1], frame[2:-1], now_us)
        if data is not None:
            answer = frame[:2] + data
            crc = crc8(answer)
            if self._wrong_crcs:
                self._wrong_crcs -= 1
                crc ^= 0x5A
            self._send(answer + bytes([crc]))

    def _send(self, data: bytes) -> None:
        if self.line is not None:
            self.line.send(data, self.answer_us)

    # Solenoids report here

    def pulsed(self, pulse: Pulse) -> None:
        """A solenoid has gone off: was that a pulse that a meter counts?"""
        name = pulse.name
        if not name:
            return
        if name in self._cut_short:
            self._cut_short.remove(name)
            return
        plugged_us = self._plugged_us.get(name, pulse.at_us)
        current_us = pulse.at_us + pulse.on_us - max(pulse.at_us, plugged_us)
        if name in self._unplugged or current_us < min(self.min_on_us, pulse.on_us):
            self.lost_pulses[name] += 1
            return
        self.pulse_log.append(pulse)
        if pulse.on_us >= self.min_on_us and pulse.pause_us >= self.min_off_us:
            self.pulses[name] += 1
        else:
            self.bad_pulses.append(pulse)

    def drawing(self, name: str, current: bool) -> None:
        """A coil is driven or let go: the sense in series with it closes with the current."""
        if name in self.senses:
            address, bit = self.senses[name]
            closed = current and name not in self._unplugged and name not in self._blind
            self.boards[address].contact(bit, closed, None)

    # Power and faults

    def power(self, on: bool, now_us: int) -> None:
        self.poll(now_us)
        if on == self.on:
            return
        self._frame.clear()
        self._boot_loader = False
        for board in self.boards.values():
            board.stop(now_us)
        self.on = on
        if not on and self.line is not None:
            self.line.cut()
        for name in self.inputs:
            self._contact(name)

    def fault(self, kind: str, *args: Value) -> None:
        values = resolve(self.name, self.FAULTS, kind, args)
        if kind == "offline":
            self._offline = True
        elif kind == "crc":
            self._wrong_crcs = int(values[0])
        elif kind == "meter_unplugged":
            self._unplug(str(values[0]))
        elif kind == "sense_broken":
            self._blind.add(str(values[0]))
        elif str(values[0]) not in self.inputs:
            raise ValueError(f"{self.name} has no input {values[0]!r}; known: {' '.join(sorted(self.inputs))}")
        else:
            self._stuck.add(str(values[0]))
            self._contact(str(values[0]))

    def _unplug(self, name: str) -> None:
        """In the middle of a pulse, too: the meter has moved if it had its current for long enough."""
        solenoid = self.solenoids[name]
        since_us = solenoid.on_since_us
        if since_us is not None and name not in self._unplugged:
            self.drawing(name, False)
            self._cut_short.add(name)
            moved = self.now_us - max(since_us, self._plugged_us.get(name, since_us)) >= self.min_on_us
            self.pulses[name] += moved
            self.lost_pulses[name] += not moved
        self._unplugged.add(name)

    def clear(self) -> None:
        self._offline = False
        self._wrong_crcs = 0
        self._plugged_us |= dict.fromkeys(self._unplugged, self.now_us)
        self._unplugged.clear()
        self._blind.clear()
        for name in self.senses:
            self.drawing(name, self.solenoids[name].on_since_us is not None)
        self._frame.clear()
        stuck, self._stuck = self._stuck, set()
        for name in stuck:
            self._contact(name)

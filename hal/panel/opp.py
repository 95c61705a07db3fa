"""Buttons, doors, key switches, lamps and electromechanical meters on OPP Gen2 boards.

The host asks one thing and waits for the answer; lamps, solenoid configuration and kicks have none.

Start: FF until FF comes back, inventory (F0), then for every board identify (00), wings (0D), version (02); lamps are set
(13), and from then on the inputs are read (08) every 10 ms. A change counts when two readings in a row agree. What does
not arrive whole is dropped and the last state kept. When nothing sound has come for 500 ms the panel is offline and the
start begins again.

A pulse is sent exactly once and its fate cannot be read back. It ends by itself on the board. Nor does a board tell what it has
not heard, or has forgotten: each kick (07) brings the configuration (14) that it needs, and lamps are set once a second.
"""

from ..board import PortError
from ..events import EventSource
from .frame import (
    ANSWER_BYTES,
    CONFIGURE,
    END,
    IDENTIFY,
    INPUTS,
    INVENTORY,
    KICK,
    LAMPS,
    LAMPS_SET,
    VERSION,
    WINGS,
    decode,
    encode,
)
from .parts import Inputs, Lamps, Solenoid, Switch

READ_MS = 10  # from one reading of the inputs to the next
ANSWER_MS = 50
QUIET_MS = 20  # of silence after an answer that was bad or missing
OFFLINE_MS = 500
LAMPS_MS = 1000  # from one setting of the lamps to the next, unless one changes
RETRY_MS = 250  # from a failed start to the next
PULSE_MARGIN_MS = (
    10  # a kick may reach the board late; the next must not come within the off time as the board counts it
)
EVENTS = 64
MAX_ANSWER_BYTES = 16  # an inventory of 14 boards


class Panel(EventSource):
    """The panel behind `port`, wired as `wiring` says. It starts offline, silently.

    online: the boards are those of the wiring and the inputs are known
    serial: 32-bit id of the first board; version: its four version bytes
    bad_answers, timeouts, stray_bytes, port_faults: counters since the start

    Changes of one reading are told in the order doors, keys, buttons, and within each as the wiring lists them.
    A board that is missing or has other wings than the wiring says is told once as ("fault", address).
    """

    def __init__(self, port, wiring):
        EventSource.__init__(self, EVENTS)
        self.online = False
        self.serial = 0
        self.version = b""
        self.bad_answers = 0
        self.timeouts = 0
        self.stray_bytes = 0
        self.port_faults = 0
        self._port = port
        self._boards = wiring.boards
        self._inputs: list = []
        self._switches: dict = {}
        self._in_order: list = []  # as added here: MicroPython's dicts keep no order, and what changes at once is told in it
        self._add_switches(wiring.doors, "close", "open", "open")
        self._add_switches(wiring.keys, "turn", "unturn", "turn")
        self._add_switches(wiring.buttons, "press", "release", "")
        if not self._inputs:
            raise ValueError("a panel without inputs cannot tell whether it is there")
        self._lamp_boards: list = []
        self._lamps: dict = {}
        for name, address, bit in wiring.lamps:
            self._lamps[name] = (self._on_board(self._lamp_boards, Lamps, address), bit)
        self._solenoids: dict = {}
        for name, address, number, pulse_ms, off_factor in wiring.solenoids:
            self._solenoids[name] = Solenoid(address, number, pulse_ms, off_factor)
        for name, address, bit in wiring.senses:
            self._on_board(self._inputs, Inputs, address)
            self._solenoids[name].sense_address, self._solenoids[name].sense_bit = address, bit
        # The request on the line and what comes after it.
        self._now_ms = 0
        self._answer = bytearray(MAX_ANSWER_BYTES)
        self._arrived = 0
        self._echoes = 0  # closing FFs of frames without an answer, still to come back
        self._expected = 0  # bytes of the answer; 0: as many as come before END
        self._address = 0
        self._command = 0
        self._then = None  # takes the answer; None: no request on the line
        self._deadline_ms = 0
        self._next = self._sync  # sends the next request when it is due
        self._due_ms = 0
        self._place = 0  # in the boards, or in the boards with inputs
        self._cycle_ms = 0
        self._lit_ms = 0
        self._heard_ms = 0
        self._met = False
        self._untold = False
        self._fault = None
        self._kicked = False  # pulses were sent in this turn

    def _add_switches(self, rows: tuple, on_close: str, on_open: str, first: str) -> None:
        for name, address, bit in rows:
            inputs = self._on_board(self._inputs, Inputs, address)
            self._switches[name] = Switch(name, inputs, bit, on_close, on_open, first)
            self._in_order.append(self._switches[name])

    def _on_board(self, parts: list, kind, address: int):
        """The part of that board, made when it is first named."""
        for part in parts:
            if part.address == address:
                return part
        parts.append(kind(address))
        return parts[-1]

    # What the firmware calls.

    def closed(self, name: str) -> bool:
        """Whether a door is closed, a button pressed, a key turned. False while not known. KeyError: no such name."""
        return self._switches[name].closed and self.online

    def lamp(self, name: str, on: bool) -> None:
        """Switch a lamp; it is sent when it changed, and again after the panel was offline. KeyError: no such name."""
        lamps, bit = self._lamps[name]
        lamps.set(bit, on)

    def lamps_off(self) -> None:
        """Switch all lamps off."""
        for lamps, bit in self._lamps.values():
            lamps.set(bit, False)

    def pulse(self, name: str) -> bool:
        """Send one pulse, now. True: it is on its way and must not be asked for again. KeyError: no such name.

        False: nothing was sent, because the coil is still in its on and off time, or the panel is offline, or has not answered
        for a moment and may soon be.
        """
        solenoid = self._solenoids[name]
        if not self.online or self.busy(name, self._now_ms) or self._now_ms - self._heard_ms > ANSWER_MS:
            return False
        configuration = encode(solenoid.address, CONFIGURE, solenoid.configuration)
        if not self._tell(configuration + encode(solenoid.address, KICK, solenoid.kick), 2):
            return False
        self._kicked = True
        solenoid.kicked(self._now_ms, PULSE_MARGIN_MS, self._then is not None)
        return True

    def missed(self, name: str) -> bool:
        """Whether the last pulse, now over, is known to have drawn no current: the meter is not plugged in.

        KeyError: no such name.
        """
        return self._solenoids[name].missed()

    def doubtful(self, name: str) -> bool:
        """Whether it is not known what the last pulse, now over, moved: boards that do not answer may not have heard the kick
        either, and a plug may have been pulled or put in meanwhile.

        Without a sense in the wiring a pulse is taken for given. KeyError: no such name.
        """
        return self._solenoids[name].doubtful()

    def busy(self, name: str, now_ms: int) -> bool:
        """Whether the coil is in the on and off time of its last pulse. KeyError: no such name."""
        return now_ms < self._solenoids[name].free_ms

    def poll(self, now_ms: int) -> None:
        """Take what has arrived, tell what changed, send what is due."""
        self._now_ms = now_ms
        if self._kicked:
            self._kicked = False
            for solenoid in self._solenoids.values():
                solenoid.sent_by(now_ms)
        arrived = self._port.read()
        if arrived:
            self._take(arrived)
        if self._then is not None and now_ms >= self._deadline_ms:
            self.timeouts += 1
            self._fail()
        if self._untold:
            self._tell_changes()
        if self._met:
            self._send_lamps()
        if self._then is None and now_ms >= self._due_ms:
            self._next()

    # One request at a time.

    def _write(self, data: bytes) -> bool:
        try:
            self._port.write(data)
        except PortError:
            self.port_faults += 1
            return False
        return True

    def _tell(self, data: bytes, frames: int = 1) -> bool:
        """Send frames that have no answer. Their closing FF come back, and that is no disturbance."""
        if not self._write(data):
            return False
        self._echoes += frames
        return True

    def _ask(self, data: bytes, expected: int, then) -> None:
        """Send; a frame that the port does not take is like one that is not answered."""
        self._arrived = 0
        self._expected = expected
        self._then = then
        self._deadline_ms = self._now_ms + ANSWER_MS
        self._write(data)

    def _ask_board(self, address: int, command: int, then) -> None:
        self._address = address
        self._command = command
        self._ask(encode(address, command), ANSWER_BYTES, then)

    def _go_on(self, pause_ms: int, step) -> None:
        self._next = step
        self._due_ms = self._now_ms + pause_ms

    def _take(self, arrived: bytes) -> None:
        if self._then is not None and not self._arrived and not self._echoes and len(arrived) == self._expected:
            self._finish(decode(arrived, self._address, self._command))  # nearly always: the answer, whole
            return
        for byte in arrived:
            self._receive(byte)

    def _receive(self, byte: int) -> None:
        if byte == END and self._echoes and (self._then is None or not self._arrived):
            self._echoes -= 1
            return
        if self._then is None:
            self.stray_bytes += 1
            self._due_ms = max(self._due_ms, self._now_ms + QUIET_MS)  # out of step: wait until the line is silent
            return
        self._answer[self._arrived] = byte
        self._arrived += 1
        if self._expected:
            if self._arrived == self._expected:
                self._finish(decode(self._answer[: self._arrived], self._address, self._command))
        elif byte == END:
            self._finish(bytes(self._answer[: self._arrived - 1]))
        elif self._arrived == MAX_ANSWER_BYTES:
            self._finish(None)

    def _finish(self, answer) -> None:
        then = self._then
        if answer is None or then is None:
            self.bad_answers += 1
            self._fail()
            return
        self._then = None
        self._heard_ms = self._now_ms
        then(answer)

    def _fail(self) -> None:
        """No sound answer: while the inputs are being read just read again, else start anew."""
        self._then = None
        if not self._met:
            self._go_on(RETRY_MS, self._sync)
        elif self._now_ms - self._heard_ms >= OFFLINE_MS:
            self._met = False
            if self.online:
                self.online = False
                self._events.push(("offline",))
            self._go_on(QUIET_MS, self._sync)
        else:
            self._go_on(QUIET_MS, self._next)

    # Start.

    def _sync(self) -> None:
        self._echoes = 0
        self._ask(bytes((END,)), 0, self._synced)

    def _synced(self, answer: bytes) -> None:
        self._ask(bytes((INVENTORY, END)), 0, self._got_inventory)

    def _got_inventory(self, answer: bytes) -> None:
        if answer[:1] != bytes((INVENTORY,)):
            self.bad_answers += 1
            self._fail()
            return
        for address, _ in self._boards:
            if address not in answer[1:]:
                self._refuse(address)
                return
        self._place = 0
        self._identify()

    def _refuse(self, address: int) -> None:
        """A board is missing or is not what the wiring says."""
        if self._fault != address and self._events.room():
            self._fault = address
            self._events.push(("fault", address))
        self._go_on(RETRY_MS, self._sync)

    def _identify(self) -> None:
        self._ask_board(self._boards[self._place][0], IDENTIFY, self._identified)

    def _identified(self, answer: bytes) -> None:
        if self._place == 0:
            self.serial = int.from_bytes(answer, "big")
        self._ask_board(self._address, WINGS, self._got_wings)

    def _got_wings(self, answer: bytes) -> None:
        if tuple(answer) == self._boards[self._place][1]:
            self._ask_board(self._address, VERSION, self._got_version)
        else:
            self._refuse(self._address)

    def _got_version(self, answer: bytes) -> None:
        if self._place == 0:
            self.version = answer
        self._place += 1
        if self._place < len(self._boards):
            self._identify()
        else:
            self._begin()

    def _begin(self) -> None:
        for solenoid in self._solenoids.values():
            solenoid.rest(self._now_ms, PULSE_MARGIN_MS)
        self._lit_ms = self._now_ms - LAMPS_MS
        for inputs in self._inputs:
            inputs.restart()
        self._met = True
        self._place = 0
        self._cycle_ms = self._now_ms
        self._go_on(0, self._read)

    # Running.

    def _send_lamps(self) -> None:
        again = self._now_ms - self._lit_ms >= LAMPS_MS
        if again:
            self._lit_ms = self._now_ms
        for lamps in self._lamp_boards:
            lamps.changed = lamps.changed or again
            if lamps.changed and self._tell(encode(lamps.address, LAMPS, bytes((LAMPS_SET,)) + lamps.data())):
                lamps.changed = False

    def _read(self) -> None:
        if self._place == 0:
            self._cycle_ms = self._now_ms
        inputs = self._inputs[self._place]
        self._address, self._command = inputs.address, INPUTS
        self._ask(inputs.request, ANSWER_BYTES, self._got_inputs)

    def _got_inputs(self, answer: bytes) -> None:
        inputs = self._inputs[self._place]
        for solenoid in self._solenoids.values():
            if self._now_ms < solenoid.until_ms and solenoid.sense_address == inputs.address:
                solenoid.look(answer)
        changed = inputs.take(answer)
        self._untold = self._untold or changed
        self._place = (self._place + 1) % len(self._inputs)
        pause_ms = max(0, self._cycle_ms + READ_MS - self._now_ms) if self._place == 0 else 0
        self._go_on(pause_ms, self._read)

    def _tell_changes(self) -> None:
        """Queue what is news. What finds no room stays news."""
        if not self.online:
            if not self._met or self._events.room() < 2:
                return
            for inputs in self._inputs:
                if not inputs.known:
                    return
            self.online = True
            self._fault = None
            self._events.push(("online", self.serial))
        self._untold = False
        for switch in self._in_order:
            news = switch.news()
            if news is not None:
                if self._events.room() < 2:  # one stays free for ("offline",)
                    self._untold = True
                    return
                self._events.push(news)
                switch.told()

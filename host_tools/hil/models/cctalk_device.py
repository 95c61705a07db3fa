"""What every ccTalk slave does: frames, checksums, the headers that all devices answer, and faults of answering.

Sources: SOURCES.md 1.1 (link and frame), 1.2 (headers), 1.9 (identity strings of real devices). The receiver drops a
partial frame when the next byte comes more than 50 ms after the last one; nothing is answered to a bad checksum, a
foreign address or an unknown header.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from host_tools.hil.device import Model
from host_tools.hil.faults import Arg, FaultSpec, Value, resolve

GAP_US: Final = 50_000
Reply = tuple[int, bytes]
ACK: Final[Reply] = (0, b"")
NAK: Final[Reply] = (5, b"")
BUSY: Final[Reply] = (6, b"")
Handler = Callable[[bytes, int], Reply | None]

_COUNT: Final = Arg("N", 1, 65_535, default=1)
ANSWER_FAULTS: Final[dict[str, FaultSpec]] = {
    "silent": FaultSpec("the device neither acts nor answers"),
    "busy": FaultSpec("every command is answered with BUSY (6) and not carried out"),
    "nak": FaultSpec("every command is answered with NAK (5) and not carried out"),
    "slow": FaultSpec("answers come MS later", (Arg("MS", 0, 60_000),)),
    "lost_answers": FaultSpec("the next N commands are carried out and not answered", (_COUNT,)),
    "bad_checksum": FaultSpec("the next N answers have a wrong checksum", (_COUNT,)),
}


@dataclass(frozen=True, slots=True)
class Identity:
    """What a device tells about itself: headers 246 245 244 241 192 242 4 243."""

    manufacturer: str
    category: str
    product: str
    software: str
    build: str
    serial: int  # 24 bits
    comms: bytes = b"\x01\x04\x07"
    database: int = 1


def crc16(data: bytes) -> int:
    """CRC-16 of section 1.1: polynomial 0x1021, seed 0, not reflected."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


class CctalkModel(Model):
    """A slave at `address`. `crc` selects the CRC mode, in which answers go to address 1.

    `boot_ms` after power and `reset_ms` after header 1 the device hears nothing. Diagnostics for tests: `unknown`
    counts commands that it does not know or whose data had a wrong length.
    """

    FAULTS = ANSWER_FAULTS

    def __init__(
        self,
        name: str,
        address: int,
        identity: Identity,
        *,
        crc: bool = False,
        boot_ms: int = 250,
        reset_ms: int = 100,
        answer_ms: int = 2,
    ) -> None:
        super().__init__(name)
        self.address = address
        self.identity = identity
        self.crc = crc
        self.boot_us = boot_ms * 1000
        self.reset_us = reset_ms * 1000
        self.answer_us = answer_ms * 1000
        self.unknown = 0
        self._frame = bytearray()
        self._last_byte_us = 0
        self._deaf_until_us = 0
        self._comms = [0, 0, 0]  # receive timeouts, bytes ignored, bad checksums
        self._clear_answer_faults()
        self._commands: dict[int, tuple[int | None, Handler]] = {
            254: (0, lambda data, now_us: ACK),
            249: (0, lambda data, now_us: (0, b"\x02\x14")),  # unit 2 = 10 ms: poll me every 200 ms
            246: self._text(identity.manufacturer),
            245: self._text(identity.category),
            244: self._text(identity.product),
            243: (0, lambda data, now_us: (0, bytes([identity.database]))),
            242: (0, lambda data, now_us: (0, self.identity.serial.to_bytes(3, "little"))),
            241: self._text(identity.software),
            197: (0, lambda data, now_us: (0, crc16(identity.software.encode()).to_bytes(4, "little"))),
            192: self._text(identity.build),
            4: (0, lambda data, now_us: (0, identity.comms)),
            3: (0, self._clear_comms),
            2: (0, lambda data, now_us: (0, bytes(self._comms))),
            1: (0, self._reset_command),
        }

    # Link: bytes in, frames out

    def receive(self, byte: int, now_us: int) -> None:
        if not self.on or now_us < self._deaf_until_us:
            return
        frame = self._frame
        if frame and now_us - self._last_byte_us > GAP_US:
            self._count(0, 1)
            self._count(1, len(frame))
            frame.clear()
        self._last_byte_us = now_us
        frame.append(byte)
        if len(frame) >= 5 and len(frame) == frame[1] + 5:
            complete = bytes(frame)
            frame.clear()
            self._hear(complete, now_us)

    def _hear(self, frame: bytes, now_us: int) -> None:
        if frame[0] not in (self.address, 0):
            return
        wrong = crc16(frame[:2] + frame[3:-1]) ^ (frame[2] | frame[-1] << 8) if self.crc else sum(frame) & 0xFF
        if wrong:
            self._count(2, 1)
            return
        if self._silent:
            return
        header, data = frame[3], frame[4:-1]
        if header == 253:  # address poll: the bare address, at a time of its own so that several devices can answer
            if self.line is not None and not data:
                self.line.send(bytes([self.address]), self.address * 4000)
            return
        reply = self._carry_out(header, data, now_us)
        if reply is not None:
            self._answer(1 if self.crc else frame[2], reply)

    def _carry_out(self, header: int, data: bytes, now_us: int) -> Reply | None:
        length, handler = self._commands.get(header, (None, None))
        if handler is None or (length is not None and length != len(data)):
            self.unknown += 1
            return None
        if self._busy or self._nak:
            self.refused(header)
            return BUSY if self._busy else NAK
        return handler(data, now_us)

    def _answer(self, to: int, reply: Reply) -> None:
        if self._lost_answers:
            self._lost_answers -= 1
            return
        header, data = reply
        if self.crc:
            crc = crc16(bytes([to, len(data), header]) + data)
            frame = bytes([to, len(data), crc & 0xFF, header]) + data + bytes([crc >> 8])
        else:
            frame = bytes([to, len(data), self.address, header]) + data
            frame += bytes([-sum(frame) & 0xFF])
        if self._bad_checksum:
            self._bad_checksum -= 1
            frame = frame[:-1] + bytes([frame[-1] ^ 0x55])
        if self.line is not None:
            self.line.send(frame, self.answer_us + self._slow_us)

    def answer_end_us(self, data_bytes: int) -> int:
        """When an answer of so many data bytes that starts now will have left completely."""
        if self.line is None:
            return self.now_us
        return self.now_us + self.answer_us + self._slow_us + int((data_bytes + 5) * self.line.byte_us) + 1

    def refused(self, header: int) -> None:
        """A command was understood but answered NAK or BUSY because of a fault."""

    # Power, faults

    def power(self, on: bool, now_us: int) -> None:
        self.poll(now_us)
        if on == self.on:
            return
        self.on = on
        self._frame.clear()
        if on:
            self._deaf_until_us = now_us + self.boot_us
            self.started(now_us, True)
        else:
            if self.line is not None:
                self.line.cut()
            self.stopping(now_us, True)

    def restart(self, now_us: int, *, power: bool, deaf_us: int) -> None:
        """Stops and starts at once: a reset command, or a brown-out of the device alone (`power`)."""
        self.stopping(now_us, power)
        self._frame.clear()
        self._deaf_until_us = now_us + deaf_us
        self.started(now_us, power)

    def started(self, now_us: int, power: bool) -> None:
        """Volatile state begins anew, after power or (`power` off) after a reset command."""
        self._comms = [0, 0, 0]

    def stopping(self, now_us: int, power: bool) -> None:
        """The device stops where it is; what is not in its EEPROM is lost."""

    def fault(self, kind: str, *args: Value) -> None:
        values = resolve(self.name, self.FAULTS, kind, args)
        if kind in ANSWER_FAULTS:
            figure = int(values[0]) if values else 0
            self._silent |= kind == "silent"
            self._busy |= kind == "busy"
            self._nak |= kind == "nak"
            if kind == "slow":
                self._slow_us = figure * 1000
            elif kind == "lost_answers":
                self._lost_answers = figure
            elif kind == "bad_checksum":
                self._bad_checksum = figure
        else:
            self.own_fault(kind, values)

    def own_fault(self, kind: str, values: tuple[Value, ...]) -> None:
        """A fault of this kind of device, its arguments checked."""

    def clear(self) -> None:
        self._clear_answer_faults()

    def _clear_answer_faults(self) -> None:
        self._silent = self._busy = self._nak = False
        self._slow_us = 0
        self._lost_answers = self._bad_checksum = 0

    # Headers of all devices

    def _text(self, text: str) -> tuple[int, Handler]:
        return 0, lambda data, now_us: (0, text.encode("ascii"))

    def _clear_comms(self, data: bytes, now_us: int) -> Reply:
        self._comms = [0, 0, 0]
        return ACK

    def _reset_command(self, data: bytes, now_us: int) -> Reply:
        # The acknowledgement comes before the reset (header 1), so the device goes once its answer has left.
        self.at(self.answer_end_us(0), lambda when_us: self.restart(when_us, power=False, deaf_us=self.reset_us))
        return ACK

    def _count(self, index: int, number: int) -> None:
        self._comms[index] = min(255, self._comms[index] + number)

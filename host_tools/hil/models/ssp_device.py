"""What every SSP slave does: frames, sequence bit, keys, and faults of answering. Sources: SOURCES.md 2.2.

A packet with the sequence bit of the last one that was taken is answered with the last answer, and nothing is carried out.
SYNC makes bit 0 the next new one. A packet that is damaged, meant for others, or encrypted with a wrong counter gets no
answer.
"""

import secrets
from collections.abc import Callable
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from host_tools.hil.device import Model
from host_tools.hil.faults import Arg, FaultSpec, Value, resolve

OK: Final = b"\xf0"
UNKNOWN: Final = b"\xf2"
WRONG_COUNT: Final = b"\xf3"
OUT_OF_RANGE: Final = b"\xf4"
NOT_NOW: Final = b"\xf5"
FAIL: Final = b"\xf8"
NO_KEY: Final = b"\xfa"
SYNC: Final = 0x11
KEY_COMMANDS: Final = (0x4A, 0x4B, 0x4C)
Handler = Callable[[bytes, int], bytes]

_COUNT: Final = Arg("N", 1, 65_535, default=1)
LINK_FAULTS: Final[dict[str, FaultSpec]] = {
    "slow": FaultSpec("answers come MS later", (Arg("MS", 0, 60_000),)),
    "lost_answers": FaultSpec("the next N commands are carried out and not answered", (_COUNT,)),
    "bad_crc": FaultSpec("the next N answers have a wrong CRC", (_COUNT,)),
    "key": FaultSpec("the device has lost its keys and takes encrypted packets only"),
    "count": FaultSpec("the device has miscounted the encrypted packets"),
}


def crc16(data: bytes) -> int:
    """Polynomial 0x8005, seed 0xFFFF, most significant bit first."""
    crc = 0xFFFF
    for byte in data:
        for bit in range(7, -1, -1):
            carry = (crc >> 15) ^ (byte >> bit & 1)
            crc = crc << 1 & 0xFFFF ^ (0x8005 if carry else 0)
    return crc


def stuff(body: bytes) -> bytes:
    """A frame from its bytes behind the first one, CRC not yet included."""
    framed = bytearray([0x7F])
    for byte in body + crc16(body).to_bytes(2, "little"):
        framed.append(byte)
        if byte == 0x7F:
            framed.append(byte)
    return bytes(framed)


class SspModel(Model):
    """A slave at `address`. `fixed_key` as its maker writes it; `commands`: code -> (data lengths, handler)."""

    def __init__(
        self, name: str, *, address: int = 0, fixed_key: bytes = bytes.fromhex("0123456701234567"), answer_ms: int = 5
    ) -> None:
        super().__init__(name)
        self.address = address
        self.answer_us = answer_ms * 1000
        self.needs_key = False
        self.dropped = 0  # packets that were damaged, or encrypted with a wrong counter
        self.commands: dict[int, tuple[tuple[int, ...], Handler]] = {}
        self._fixed_key = fixed_key[::-1]
        self._deaf_until_us = 0
        self._bytes: bytearray | None = None  # of the frame that comes in
        self._half = False  # a 7F whose meaning the next byte tells
        self._link_start()
        self._clear_link_faults()

    def _link_start(self) -> None:
        self._bytes = None
        self._half = False
        self._last_bit: int | None = None
        self._last_answer = b""
        self._aes: Cipher | None = None
        self._packets = 0  # encrypted packets taken
        self._generator = self._modulus = 0

    # Bytes

    def receive(self, byte: int, now_us: int) -> None:
        if not self.on or now_us < self._deaf_until_us:
            return
        if self._half:
            self._half = False
            if byte != 0x7F:
                self._bytes = bytearray()
        elif byte == 0x7F:
            self._half = True
            return
        if self._bytes is None:
            return
        self._bytes.append(byte)
        if len(self._bytes) >= 4 and len(self._bytes) == self._bytes[1] + 4:
            frame, self._bytes = bytes(self._bytes), None
            if crc16(frame[:-2]) == int.from_bytes(frame[-2:], "little"):
                self._packet(frame[0], frame[2:-2], now_us)
            else:
                self.dropped += 1

    def _packet(self, head: int, data: bytes, now_us: int) -> None:
        if head & 0x7F != self.address or not data or self.mute(now_us):
            return
        bit = head >> 7
        if data[0] != SYNC and bit == self._last_bit:
            self._send(self._last_answer)
            return
        secret = data[0] == 0x7E
        if secret:
            opened = self._open(data[1:])
            if opened is None:
                if self._aes is None:
                    self._reply(bit, NO_KEY)
                else:
                    self.dropped += 1
                return
            data = opened
        answer = NO_KEY if self.needs_key and not secret and data[0] not in (SYNC, *KEY_COMMANDS) else None
        if answer is None:
            answer = self._carry_out(data, now_us)
        if data[0] == SYNC:
            self._reply(bit, answer, taken=1)
            return
        self._reply(bit, self._seal(answer) if secret else answer)

    def _reply(self, bit: int, data: bytes, taken: int | None = None) -> None:
        self._last_bit = bit if taken is None else taken
        self._last_answer = stuff(bytes([bit << 7 | self.address, len(data)]) + data)
        self._send(self._last_answer)

    def _send(self, frame: bytes) -> None:
        if self._lost_answers:
            self._lost_answers -= 1
            return
        if self._bad_crc:
            self._bad_crc -= 1
            frame = frame[:-1] + bytes([frame[-1] ^ 0x2A])
        if self.line is not None:
            self.line.send(frame, self.answer_us + self._slow_us)

    def mute(self, now_us: int) -> bool:
        """Does the device neither act nor answer?"""
        return False

    # Commands

    def _carry_out(self, data: bytes, now_us: int) -> bytes:
        code, rest = data[0], data[1:]
        if code == SYNC:
            return OK
        if code in KEY_COMMANDS:
            return self._agree(code, rest)
        lengths, handler = self.commands.get(code, ((), None))
        if handler is None:
            return UNKNOWN
        return handler(rest, now_us) if len(rest) in lengths else WRONG_COUNT

    def _agree(self, code: int, rest: bytes) -> bytes:
        if len(rest) != 8:
            return WRONG_COUNT
        figure = int.from_bytes(rest, "little")
        if code == 0x4A:
            self._generator = figure
            return OK
        if code == 0x4B:
            self._modulus = figure
            return OK
        if not self._generator or not self._modulus:
            return NOT_NOW
        own = secrets.randbelow(1 << 32) | 1
        shared = pow(figure, own, self._modulus)
        self._aes = Cipher(algorithms.AES(self._fixed_key + shared.to_bytes(8, "little")), modes.ECB())
        self._packets = 0
        return OK + pow(self._generator, own, self._modulus).to_bytes(8, "little")

    def _open(self, blocks: bytes) -> bytes | None:
        """The data of an encrypted packet that is the next in order."""
        if self._aes is None or not blocks or len(blocks) % 16:
            return None
        plain = self._aes.decryptor().update(blocks)
        if crc16(plain[:-2]) != int.from_bytes(plain[-2:], "little"):
            return None
        if int.from_bytes(plain[1:5], "little") != self._packets or not 1 <= plain[0] <= len(plain) - 7:
            return None
        self._packets += 1
        return plain[5 : 5 + plain[0]]

    def _seal(self, answer: bytes) -> bytes:
        if self._aes is None:
            return answer
        plain = bytes([len(answer)]) + self._packets.to_bytes(4, "little") + answer
        plain += secrets.token_bytes(-(len(plain) + 2) % 16)
        plain += crc16(plain).to_bytes(2, "little")
        return b"\x7e" + self._aes.encryptor().update(plain)

    # Faults

    def fault(self, kind: str, *args: Value) -> None:
        values = resolve(self.name, self.FAULTS, kind, args)
        figure = values[0] if values else 0
        if kind == "slow":
            self._slow_us = int(figure) * 1000
        elif kind == "lost_answers":
            self._lost_answers = int(figure)
        elif kind == "bad_crc":
            self._bad_crc = int(figure)
        elif kind == "key":
            self.needs_key = True
            self._aes = None
        elif kind == "count":
            self._packets += 7
        else:
            self.own_fault(kind, values)

    def own_fault(self, kind: str, values: tuple[Value, ...]) -> None:
        """A fault of this kind of device, its arguments checked."""

    def clear(self) -> None:
        self.needs_key = False
        self._clear_link_faults()

    def _clear_link_faults(self) -> None:
        self._slow_us = self._lost_answers = self._bad_crc = 0

"""eSSP: key agreement with the device, and the encrypted form of a packet's data.

    7E, then AES-128 in blocks of 16 (ECB) over  [length][counter, 4 bytes][data][padding][CRC low][CRC high]

The key is the fixed half, eight bytes that the operator has set in the device and in this cabinet's configuration, and
eight that both ends agree on anew after every start (Diffie-Hellman). The counter goes up by one with each encrypted
packet that the device takes: the answer carries the new figure, and another one means that keys must be agreed anew. A
64-bit exchange keeps no secret from a determined attacker on the wire: what protects the line is the fixed half.

All figures are little endian. AES itself comes from the board: MicroPython's cryptolib, or a library on the host.
"""

from ..board import Cipher
from .frame import crc16

# Two primes below 2**63: some devices take the figures as signed. The generator is the larger one.
GENERATOR = 9223372036854775783
MODULUS = 9223372036854775643

SET_GENERATOR = 0x4A
SET_MODULUS = 0x4B
KEY_EXCHANGE = 0x4C

_BLOCK = 16
_HEADER = 5  # length and counter


def figure(command: int, number: int) -> bytes:
    """The command that carries a figure of 64 bits."""
    return bytes((command,)) + number.to_bytes(8, "little")


def power(base: int, exponent: int, modulus: int) -> int:
    """base ** exponent % modulus in at most 64 rounds, each of the same small size."""
    result = 1
    base %= modulus
    while exponent:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


class Secret:
    """The keys shared with one device.

    fixed_key: eight bytes as the device's maker writes them, b"\\x01\\x23\\x45\\x67\\x01\\x23\\x45\\x67" from the factory
    random: a function from a number to that many random bytes
    cipher: the board's aes()
    """

    def __init__(self, fixed_key: bytes, random, cipher):
        if len(fixed_key) != 8:
            raise ValueError("the fixed key has 8 bytes, not %d" % len(fixed_key))
        self.ready = False
        self.counter = 0
        self._fixed = bytes([fixed_key[7 - place] for place in range(8)])
        self._random = random
        self._make_cipher = cipher
        self._encrypt = Cipher()
        self._decrypt = Cipher()
        self._own = 0

    def forget(self) -> None:
        """The device has lost its half, or the counters do not agree."""
        self.ready = False

    def begin(self) -> int:
        """A fresh figure of our own and what the device is told of it."""
        self.ready = False
        self._own = int.from_bytes(self._random(8), "little") | 1
        return power(GENERATOR, self._own, MODULUS)

    def agree(self, answer: int) -> None:
        """The device's own figure has come: the key is known on both ends, and the counters start at 0."""
        key = self._fixed + power(answer, self._own, MODULUS).to_bytes(8, "little")
        # One object a direction: MicroPython's turn into one or the other with their first use.
        self._encrypt = self._make_cipher(key)
        self._decrypt = self._make_cipher(key)
        self.counter = 0
        self._own = 0
        self.ready = True

    def wrap(self, data: bytes) -> bytes:
        """The encrypted form of a packet's data; once for each packet, not for its repetitions."""
        plain = bytes((len(data),)) + self.counter.to_bytes(4, "little") + data
        plain += self._random(-(len(plain) + 2) % _BLOCK)
        crc = crc16(plain)
        plain += bytes((crc & 0xFF, crc >> 8))
        self.counter = (self.counter + 1) & 0xFFFFFFFF
        return b"\x7e" + self._by_block(self._encrypt.encrypt, plain)

    def unwrap(self, data: bytes):
        """The data of an encrypted answer, None if it is not sound or not the answer to the last packet."""
        size = len(data) - 1
        if size < _BLOCK or size % _BLOCK:
            return None
        plain = self._by_block(self._decrypt.decrypt, data[1:])
        end = size - 2
        if crc16(plain[:end]) != plain[end] | plain[end + 1] << 8:
            return None
        length = plain[0]
        if not 1 <= length <= end - _HEADER or int.from_bytes(plain[1:_HEADER], "little") != self.counter:
            return None
        return plain[_HEADER : _HEADER + length]

    def _by_block(self, function, data: bytes) -> bytes:
        return b"".join([function(data[place : place + _BLOCK]) for place in range(0, len(data), _BLOCK)])

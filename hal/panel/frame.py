"""OPP Gen2 frames: `address command data crc8`, and 0xFF ends a transmission.

0xFF may also stand inside a frame, so an answer is told from its length, which the request fixes.
"""

END = 0xFF

INVENTORY = 0xF0
IDENTIFY = 0x00
VERSION = 0x02
KICK = 0x07
INPUTS = 0x08
WINGS = 0x0D
LAMPS = 0x13
LAMPS_SET = 0x07  # sub-command of LAMPS: 32 bits on or off
CONFIGURE = 0x14
AUTO_CLEAR = 0x02  # flag of CONFIGURE: the pulse ends by itself

ANSWER_BYTES = 8  # address, command, 32 bits, crc, end

_READING = b"\x00\x00\x00\x00"


def _crc8_table() -> bytes:
    """CRC of each byte, from those of its bits: bit by bit for all of them costs a board's start 25 ms."""
    table, crc = bytearray(256), 0x07
    for bit in range(8):
        first = 1 << bit
        for byte in range(first):
            table[first + byte] = table[byte] ^ crc
        crc = (crc << 1) & 0xFF ^ (0x07 if crc & 0x80 else 0)
    return bytes(table)


_CRC8 = _crc8_table()  # the inputs are read a hundred times a second


def crc8(data: bytes) -> int:
    """CRC-8 of a frame: polynomial 0x07, start 0xFF, not reflected."""
    crc = 0xFF
    for byte in data:
        crc = _CRC8[crc ^ byte]
    return crc


def encode(address: int, command: int, data: bytes = _READING) -> bytes:
    """One transmission of one frame. A request that reads carries four zero bytes."""
    frame = bytes((address, command)) + data
    return frame + bytes((crc8(frame), END))


def decode(answer, address: int, command: int):
    """The four data bytes of an answer, or None if it is not a sound answer to that request."""
    if len(answer) != ANSWER_BYTES or answer[0] != address or answer[1] != command or answer[7] != END:
        return None
    return bytes(answer[2:6]) if crc8(answer[:6]) == answer[6] else None

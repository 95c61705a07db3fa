"""SSP frames: byte stuffing, CRC-16 and a byte-wise parser.

    7F [sequence bit and address] [length] [data 1..255] [CRC low] [CRC high]

The CRC covers everything behind 7F, before any stuffing. A byte 7F behind the first one is sent twice, also in the CRC;
so a single 7F, followed by anything else, can only be the beginning of a frame, and a receiver that was lost finds its
place there.
"""

STX = 0x7F
SEQUENCE = 0x80  # the bit that tells a new packet from a repeated one
MAX_DATA_BYTES = 255

# Polynomial 0x8005, four bits a step.
_STEPS = (
    0x0000, 0x8005, 0x800F, 0x000A, 0x801B, 0x001E, 0x0014, 0x8011,
    0x8033, 0x0036, 0x003C, 0x8039, 0x0028, 0x802D, 0x8027, 0x0022,
)  # fmt: skip


def crc16(data) -> int:
    """CRC-16: polynomial 0x8005, start 0xFFFF, not reflected, no final xor."""
    steps = _STEPS
    crc = 0xFFFF
    for byte in data:
        crc = (crc << 4 & 0xFFFF) ^ steps[crc >> 12 ^ byte >> 4]
        crc = (crc << 4 & 0xFFFF) ^ steps[crc >> 12 ^ byte & 15]
    return crc


def encode(head: int, data: bytes) -> bytes:
    """The bytes of one frame; `head` is the sequence bit and the address. ValueError: not 1 to 255 data bytes."""
    if not 1 <= len(data) <= MAX_DATA_BYTES:
        raise ValueError("1 to 255 data bytes")
    body = bytes((head, len(data))) + data
    crc = crc16(body)
    body += bytes((crc & 0xFF, crc >> 8))
    return b"\x7f" + body.replace(b"\x7f", b"\x7f\x7f")


class Parser:
    """Finds frames in a stream of bytes, one byte at a time, in one fixed buffer.

    bad_checksums: frames that were complete and wrong
    ignored_bytes: bytes outside of a frame, and of frames that another one cut short
    """

    def __init__(self):
        self.bad_checksums = 0
        self.ignored_bytes = 0
        self._frame = bytearray(MAX_DATA_BYTES + 4)
        self._length = -1  # bytes of the frame so far, -1: none has begun
        self._lone = False  # the last byte was a 7F whose meaning the next one tells

    def feed(self, byte: int):
        """Take one byte. Returns `(head, data)` when it completes a sound frame, else None."""
        if self._lone:
            if byte != STX:
                self.reset()
                self._length = 0
            elif self._length < 0:
                return None  # 7F 7F outside of a frame: the second may still be a beginning
            self._lone = False
        elif byte == STX:
            self._lone = True
            return None
        elif self._length < 0:
            self.ignored_bytes += 1
            return None
        frame = self._frame
        length = self._length
        frame[length] = byte
        length += 1
        if length < 5 or length < frame[1] + 4:
            if length == 2 and not byte:
                self.reset()  # a frame without data
            else:
                self._length = length
            return None
        self._length = -1
        end = length - 2
        if crc16(memoryview(frame)[:end]) != frame[end] | frame[end + 1] << 8:
            self.bad_checksums += 1
            return None
        return (frame[0], bytes(frame[2:end]))

    def reset(self) -> None:
        """Forget a frame that has begun."""
        if self._length > 0:
            self.ignored_bytes += self._length
        self._length = -1
        self._lone = False

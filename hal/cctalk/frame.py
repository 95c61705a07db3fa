"""ccTalk frames: two checksum modes and a byte-wise parser (ccTalk generic specification, part 1).

    simple checksum   [destination][length][source][header][data 0..255][sum]     all bytes add up to 0 modulo 256
    CRC mode          [destination][length][CRC low][header][data 0..255][CRC high]

In CRC mode the source address has given its place to the CRC, so an answer tells only where it goes to.
A decoded frame is the tuple `(destination, source, header, data)`; the source is -1 in CRC mode.
"""

HOST = 1
OVERHEAD_BYTES = 5
MAX_FRAME_BYTES = 255 + OVERHEAD_BYTES
GAP_MS = 50  # a receiver drops what it has when the line was silent for longer inside a frame

ACK = 0  # answer: done, with or without data
NAK = 5  # answer: understood and refused
BUSY = 6  # answer: not now


def crc16(data: bytes, crc: int = 0) -> int:
    """CRC-16/XMODEM: polynomial 0x1021, start 0, not reflected, no final xor. `crc` continues an earlier result."""
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
        crc &= 0xFFFF
    return crc


def _frame_crc16(frame) -> int:
    """CRC of everything in the frame but the CRC itself: destination, length, header, data."""
    return crc16(frame[3:-1], crc16(frame[:2]))


def encode(destination: int, header: int, data: bytes = b"", crc: bool = False, source: int = HOST) -> bytes:
    """The bytes of one frame. ValueError: more than 255 data bytes, or a number that is no byte."""
    if len(data) > 255:
        raise ValueError("more than 255 data bytes")
    frame = bytearray((destination, len(data), source, header)) + data + b"\x00"
    if crc:
        check = _frame_crc16(frame)
        frame[2] = check & 0xFF
        frame[-1] = check >> 8
    else:
        frame[-1] = -sum(frame) & 0xFF
    return bytes(frame)


def is_sound(frame, crc: bool = False) -> bool:
    """Whether length and checksum of a whole frame are right."""
    if len(frame) < OVERHEAD_BYTES or len(frame) != frame[1] + OVERHEAD_BYTES:
        return False
    if crc:
        return _frame_crc16(frame) == frame[2] | frame[-1] << 8
    return sum(frame) & 0xFF == 0


class Parser:
    """Finds frames in a stream of bytes, one byte at a time, in one fixed buffer.

    The length byte only says when to look at the checksum. If it is wrong the parser waits for bytes that belong to
    nobody, and silence of more than GAP_MS ends that wait. Silence is only what was observed: a byte comes with the
    earliest and the latest moment at which it can have arrived, so a loop that was held up does not mistake its own
    delay for a gap.
    """

    def __init__(self, crc: bool = False):
        self.crc = crc
        self.bad_checksums = 0
        self.ignored_bytes = 0  # parts of frames dropped by a gap or a reset
        self._frame = bytearray(MAX_FRAME_BYTES)
        self._length = 0
        self._latest_ms = 0

    def feed(self, byte: int, earliest_ms: int, latest_ms: int):
        """Take one byte. Returns `(destination, source, header, data)` when it completes a sound frame, else None."""
        if earliest_ms - self._latest_ms > GAP_MS:
            self.reset()
        self._latest_ms = latest_ms
        self._frame[self._length] = byte
        self._length += 1
        if self._length < OVERHEAD_BYTES or self._length < self._frame[1] + OVERHEAD_BYTES:
            return None
        frame = bytes(self._frame[: self._length])
        self._length = 0
        if not is_sound(frame, self.crc):
            self.bad_checksums += 1
            return None
        return (frame[0], -1 if self.crc else frame[2], frame[3], frame[4:-1])

    def reset(self) -> None:
        """Forget a frame that has begun."""
        self.ignored_bytes += self._length
        self._length = 0

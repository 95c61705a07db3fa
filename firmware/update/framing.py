"""SMP frames on a text console: what distinguishes them from text, puts them together and takes them apart.

A frame is one or more lines. The first begins with 06 09, each further one with 04 14; then base64 and a newline. Decoded:

    [length of what follows: u16] [message] [CRC-16 of the message]      both big endian; CRC: polynomial 0x1021, start 0

Neither pair of bytes can be in base64 or in text that anybody types, so a receiver that has lost a newline finds its
place at the next pair, wherever that stands. What is neither whole nor sound is dropped and counted: the sender hears
nothing, and sends it again (SMP has no way to refuse a frame).
"""

import binascii

from native import crc16

_SECOND = {0x06: 0x09, 0x04: 0x14}  # first byte of a pair: its second one
_LINE_BYTES = 93  # of a frame in one line of an answer: 124 of base64, 127 with its ends, the length that peers expect


def lines(message) -> bytes:
    """A message as the lines of its frame."""
    crc = crc16(message)
    length = len(message) + 2
    frame = bytes((length >> 8, length & 0xFF)) + bytes(message) + bytes((crc >> 8, crc & 0xFF))
    told = b"\x06\x09"
    for first in range(0, len(frame), _LINE_BYTES):
        if first:
            told += b"\x04\x14"
        told += binascii.b2a_base64(frame[first : first + _LINE_BYTES])  # ends with a newline
    return told


class Receiver:
    """Takes the frames out of what arrives on the line.

    on_message: called with a view of each sound message; it is the receiver's own memory, good until the call returns
    largest: bytes of a message; the memory for one is all that is ever used
    bad: frames that were begun and came to nothing
    """

    def __init__(self, largest: int, on_message):
        self.bad = 0
        self.begun = 0  # lines that began with a pair
        self._on_message = on_message
        self._frame = memoryview(bytearray(largest + 4))
        self._filled = -1  # bytes of the frame so far, -1: none has begun
        self._crc = 0
        self._rest = b""  # up to three characters: bytes come out of each four
        self._lead = 0  # the first byte of a pair, whose second is still to come
        self._inside = False  # a line of a frame

    def take(self, data: bytes) -> bytes:
        """Takes what has arrived; returns what of it is text."""
        if not self._inside and not self._lead and data.find(b"\x06") < 0 and data.find(b"\x04") < 0:
            return data
        text = b""
        at, end = 0, len(data)
        while at < end:
            if self._lead:
                lead, self._lead = self._lead, 0
                if data[at] == _SECOND[lead]:
                    self._begin(lead == 0x06)
                    at += 1
                    continue
            stop = self._next_lead(data, at, end)
            if self._inside:
                newline = data.find(b"\n", at, stop)
                if newline >= 0:
                    stop = newline
                if not self._feed(data[at:stop]):
                    self._drop()
                if newline >= 0:
                    self._line_ends()
                    at = stop + 1
                    continue
            else:
                text += data[at:stop]
            at = stop
            if at < end:
                self._lead = data[at]
                at += 1
        return text

    def _next_lead(self, data: bytes, at: int, end: int) -> int:
        """Where the next byte stands that may begin a pair, `end` if none does."""
        six = data.find(b"\x06", at)
        four = data.find(b"\x04", at)
        if six < 0:
            return four if four >= 0 else end
        return four if 0 <= four < six else six

    def _begin(self, first: bool) -> None:
        """A pair: from here on it is a line of a frame."""
        self.begun += 1
        if first or self._rest:  # characters are left of a line that was torn
            self._drop()
        if first:
            self._filled = 0
            self._crc = 0
        self._inside = True

    def _drop(self) -> None:
        if self._filled >= 0:
            self.bad += 1
        self._filled = -1
        self._rest = b""

    def _feed(self, characters: bytes) -> bool:
        """Characters of a line. False: they make the frame worthless."""
        if self._filled < 0:
            return True  # of a frame whose beginning was lost: counted already, or never heard
        characters = self._rest + characters.rstrip(b"\r")
        whole = len(characters) & ~3
        self._rest = characters[whole:]
        try:
            decoded = binascii.a2b_base64(characters[:whole])
        except ValueError:
            return False
        filled = self._filled
        if filled + len(decoded) > len(self._frame):
            return False
        self._frame[filled : filled + len(decoded)] = decoded
        self._filled = filled + len(decoded)
        self._crc = crc16(decoded[2:] if filled == 0 else decoded, self._crc)
        return True

    def _line_ends(self) -> None:
        self._inside = False
        if self._rest:
            self._drop()
        filled = self._filled
        if filled < 2:
            self._drop()
            return
        wanted = (self._frame[0] << 8 | self._frame[1]) + 2
        if filled < wanted <= len(self._frame):
            return  # more lines follow
        if filled != wanted or wanted < 4 or self._crc:
            self._drop()
            return
        self._filled = -1
        self._on_message(self._frame[2 : wanted - 2])

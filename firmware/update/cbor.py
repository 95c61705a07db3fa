"""The part of CBOR (RFC 8949) that SMP needs: maps with text keys; whole numbers, bytes, text, lists, True, False, None.

What else CBOR knows is skipped in a map's values, so that a peer may say more than is understood here.
"""

MAX_PAIRS = 16  # of a map that is read
_MAX_DEPTH = 4
_BREAK = 0xFF
_NEVER = object()  # a value that is skipped


class _Reader:
    def __init__(self, data):
        self._data = data
        self.at = 0

    def take(self, length: int):
        """A view of the next bytes. ValueError: there are not so many."""
        first = self.at
        if length > len(self._data) - first:
            raise ValueError("the message ends too early")
        self.at = first + length
        return self._data[first : self.at]

    def head(self):
        """(major type, number) of the next item; number None: indefinite length, or a break."""
        first = self.take(1)[0]
        major, number = first >> 5, first & 31
        if number < 24:
            return major, number
        if number == 31:
            return major, None
        if number > 27:
            raise ValueError("not CBOR")
        value = 0
        for byte in self.take(1 << (number - 24)):
            value = value << 8 | byte
        if major == 7 and number != 24:
            return 7, _BREAK + 1  # a float
        return major, value

    def value(self, depth: int):
        """The next item; bytes are a view of the message."""
        major, number = self.head()
        if major == 0 and number is not None:
            return number
        if major == 1 and number is not None:
            return -1 - number
        if major in (2, 3) and number is not None:
            found = self.take(number)
            return found if major == 2 else str(bytes(found), "utf-8")
        if major == 7 and number in (20, 21, 22):
            return (False, True, None)[number - 20]
        self._skip(major, number, depth)
        return _NEVER

    def _skip(self, major: int, number, depth: int) -> None:
        if depth >= _MAX_DEPTH:
            raise ValueError("nested too deeply")
        if major == 7 and number is not None:
            return  # a simple value or a float, whose bytes are taken
        if major == 6 and number is not None:
            self.value(depth + 1)  # behind a tag
            return
        if major < 2 or major > 5:
            raise ValueError("not CBOR")
        items = -1 if number is None else number * (2 if major == 5 else 1)
        while items:
            if items < 0 and self.ends():
                return
            self.value(depth + 1)
            items -= 1

    def ends(self) -> bool:
        """An indefinite length ends here."""
        if self.at < len(self._data) and self._data[self.at] == _BREAK:
            self.at += 1
            return True
        return False


def read_map(data) -> dict:
    """The map that `data` (a memoryview) is; its bytes are views of `data`. ValueError: it is none, or cut short."""
    reader = _Reader(data)
    major, left = reader.head()
    if major != 5:
        raise ValueError("not a map")
    found = {}
    if left is None:
        left = -1
    while left:
        if left < 0 and reader.ends():
            break
        key, value = reader.value(0), reader.value(0)
        if not isinstance(key, str):
            raise ValueError("a key that is no text")
        if value is not _NEVER:
            if len(found) >= MAX_PAIRS:
                raise ValueError("more than %d pairs" % MAX_PAIRS)
            found[key] = value
        left -= 1
    if reader.at != len(data):
        raise ValueError("more than one map")
    return found


def _head(major: int, number: int) -> bytes:
    if number < 24:
        return bytes((major << 5 | number,))
    if number < 0x100:
        return bytes((major << 5 | 24, number))
    if number < 0x10000:
        return bytes((major << 5 | 25, number >> 8, number & 0xFF))
    return bytes((major << 5 | 26,)) + number.to_bytes(4, "big")


def write(value) -> bytes:
    """A value as CBOR. Whole numbers: 0 to 2**32 - 1."""
    if value is True or value is False:
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return _head(0, value)
    if isinstance(value, str):
        text = value.encode()
        return _head(3, len(text)) + text
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _head(2, len(value)) + bytes(value)
    if isinstance(value, dict):
        told = _head(5, len(value))
        for key in value:
            told += write(key) + write(value[key])
        return told
    told = _head(4, len(value))
    for item in value:
        told += write(item)
    return told

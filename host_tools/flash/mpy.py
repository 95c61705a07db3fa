"""Puts the machine code of an .mpy file at addresses from which a Cortex-M can run it.

The compiler packs code behind numbers of varying length, so it begins anywhere. Numbers may have leading groups of zero bits
(bytes 0x80), which every loader skips: as many as are missing to the next multiple of four come before each block of code. The
file stays a valid one for any MicroPython; py/persistentcode.c has the format.
"""

ALIGNMENT = 4
_STR, _BYTES, _TUPLE = 5, 6, 10  # kinds of constants with a zero behind them; and with constants in them
_WITHOUT_DATA = (0, 1, 2, 3, 4)
_BYTECODE, _NATIVE = 0, 1  # of Python; hand-written machine code (viper, assembler) is not used here


class MpyError(Exception):
    """It is no .mpy file of the version that this understands."""


def align(mpy: bytes) -> bytes:
    """The same program with its machine code at multiples of ALIGNMENT from the beginning of the file."""
    if mpy[:2] != b"M\x06":
        raise MpyError("no .mpy of version 6")
    return _Copy(mpy).run()


class _Copy:
    def __init__(self, mpy: bytes) -> None:
        self._in = mpy
        self._place = 4
        self._out = bytearray(mpy[:4])

    def run(self) -> bytes:
        strings, constants = self._uint(), self._uint()
        for _ in range(strings):
            length = self._uint()
            if not length & 1:
                self._bytes((length >> 1) + 1)
        for _ in range(constants):
            self._constant()
        self._code()
        if self._place != len(self._in):
            raise MpyError("bytes are left behind the code")
        return bytes(self._out)

    def _constant(self) -> None:
        kind = self._bytes(1)[0]
        if kind in _WITHOUT_DATA:
            return
        length = self._uint()
        if kind == _TUPLE:
            for _ in range(length):
                self._constant()
        else:
            self._bytes(length + (kind in (_STR, _BYTES)))

    def _code(self) -> None:
        head = self._peek_uint()
        kind, has_children, length = head & 3, head & 4, head >> 3
        if kind == _NATIVE:
            end = len(self._out) + self._uint_bytes()
            self._out += b"\x80" * (-end % ALIGNMENT)
        elif kind != _BYTECODE:
            raise MpyError("viper and assembler functions are not understood")
        self._uint()
        self._bytes(length)
        if kind == _NATIVE:
            self._uint()  # where its prelude is
        if has_children:
            for _ in range(self._uint()):
                self._code()

    def _bytes(self, number: int) -> bytes:
        data = self._in[self._place : self._place + number]
        if len(data) < number:
            raise MpyError("it is cut off")
        self._place += number
        self._out += data
        return data

    def _uint_bytes(self) -> int:
        end = self._place
        while end < len(self._in) and self._in[end] & 0x80:
            end += 1
        return end + 1 - self._place

    def _peek_uint(self) -> int:
        number = 0
        for byte in self._in[self._place : self._place + self._uint_bytes()]:
            number = number << 7 | byte & 0x7F
        return number

    def _uint(self) -> int:
        number = self._peek_uint()
        self._bytes(self._uint_bytes())
        return number

"""A scripted port and a bench with a clock: stories of requests, answers and time.

The far end of a line is a table from request to answer. A request that the table lacks fails the test where it is sent,
one that was promised in `expect` and did not come fails in `done()`. This file also runs under MicroPython.
"""

from hal.board import PortError, SerialPort

SILENCE = None


class ScriptedPort(SerialPort):
    """Requests in order (`expect`) or at any time (`always`); with `echo` what is sent comes back first.

    An answer is bytes, SILENCE, or a function of no arguments. chunk: the most bytes that a read returns, 0: no limit.
    """

    def __init__(self, echo: bool = False):
        self.echo = echo
        self.chunk = 0
        self.gone = False
        self.sent: list[bytes] = []
        self.arriving = b""
        self.corrupt_echo = 0  # how many of the next echoes come back wrong
        self._steps: list[tuple[bytes, object]] = []
        self._always: dict[bytes, object] = {}

    def expect(self, request: bytes, answer=SILENCE) -> None:
        self._steps.append((request, answer))

    def always(self, request: bytes, answer=SILENCE) -> None:
        self._always[request] = answer

    def done(self) -> None:
        assert not self._steps, f"never sent: {[step[0].hex(' ') for step in self._steps]}"

    def count(self, request: bytes) -> int:
        return self.sent.count(request)

    def write(self, data: bytes) -> None:
        if self.gone:
            raise PortError("gone")
        data = bytes(data)
        self.sent.append(data)
        if self._steps and self._steps[0][0] == data:
            answer = self._steps.pop(0)[1]
        else:
            expected = self._steps[0][0].hex(" ") if self._steps else "nothing more"
            assert data in self._always, f"sent {data.hex(' ')}, expected {expected}"
            answer = self._always[data]
        if self.echo:
            echo = data
            if self.corrupt_echo:
                self.corrupt_echo -= 1
                echo = data[:2] + bytes((data[2] ^ 0x40,)) + data[3:]
            self.arriving += echo
        if callable(answer):
            answer = answer()
        if answer is not SILENCE:
            assert isinstance(answer, bytes)
            self.arriving += answer

    def read(self) -> bytes:
        if self.gone:
            return b""
        size = self.chunk or len(self.arriving)
        data, self.arriving = self.arriving[:size], self.arriving[size:]
        return data


class Bench:
    """Drivers, polled in the given order, a clock, and what they told."""

    def __init__(self, *drivers, step_ms: int = 2):
        self.drivers = drivers
        self.step_ms = step_ms
        self.now_ms = 0

    def run(self, for_ms: int) -> None:
        """Let time pass without taking events."""
        for _ in range(0, for_ms, self.step_ms):
            for driver in self.drivers:
                driver.poll(self.now_ms)
            self.now_ms += self.step_ms

    def tell(self, for_ms: int) -> list[tuple]:
        """Let time pass; the events of all drivers, booked as they came."""
        told = []
        for _ in range(0, for_ms, self.step_ms):
            for driver in self.drivers:
                driver.poll(self.now_ms)
                while hasattr(driver, "event") and driver.event() is not None:
                    told.append(driver.event())
                    driver.booked()
            self.now_ms += self.step_ms
        return told


def cctalk(destination: int, header: int, data: bytes = b"", source: int = 1) -> bytes:
    """A simple-checksum frame, made here on purpose: a shared codec would agree with itself."""
    body = bytes([destination, len(data), source, header]) + data
    return body + bytes([(256 - sum(body)) % 256])


def xmodem(data: bytes) -> int:
    """CRC-16/XMODEM by polynomial division of the whole message."""
    value = int.from_bytes(data + b"\0\0", "big")
    for shift in range(8 * len(data) - 1, -1, -1):
        if value >> (shift + 16) & 1:
            value ^= 0x11021 << shift
    return value


def cctalk16(destination: int, header: int, data: bytes = b"") -> bytes:
    """A CRC frame."""
    crc = xmodem(bytes([destination, len(data), header]) + data)
    return bytes([destination, len(data), crc & 255, header]) + data + bytes([crc >> 8])


def opp(text: str) -> bytes:
    """A transmission from hex without CRC: CRC and end are added."""
    data = bytes.fromhex(text)
    crc = 0xFF
    for bit in range(8 * len(data)):
        byte = data[bit // 8] >> (7 - bit % 8) & 1
        carry = crc >> 7 ^ byte
        crc = (crc << 1 & 0xFF) ^ (0x07 * carry)
    return data + bytes([crc, 0xFF])


def ssp(head: int, text: str) -> bytes:
    """An SSP frame: sequence bit and address, data as hex. The CRC by bits, unlike the driver's."""
    data = bytes.fromhex(text)
    body = bytes([head, len(data)]) + data
    crc = 0xFFFF
    for byte in body:
        for bit in range(7, -1, -1):
            carry = crc >> 15 ^ (byte >> bit & 1)
            crc = (crc << 1 & 0xFFFF) ^ (0x8005 * carry)
    return b"\x7f" + (body + bytes([crc & 255, crc >> 8])).replace(b"\x7f", b"\x7f\x7f")

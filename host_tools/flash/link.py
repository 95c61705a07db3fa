"""SMP over a serial line that also carries text, and may be bad: a transport for smpclient.

smpclient's own transport opens local ports only, hands a damaged line to the caller as an error, and takes the next answer
for the one to the last question. Here a port is whatever pyserial opens (a device, a pty, socket://, rfc2217://) or a rig's
line in virtual time; what is damaged is skipped, what is late is not mistaken, and text goes where a person can read it.
"""

import struct
import time
from collections.abc import Callable
from typing import Final, Protocol

import serial
from smp import packet
from smp.exceptions import SMPException
from smp.header import Header
from smpclient.transport import SMPTransport

BAUD: Final = 115200
BYTE_S: Final = 10 / BAUD  # start, eight data, stop bit
LINE_BYTES: Final = 127  # of a frame's line: what mcumgr's servers take
UNASKED_BYTES: Final = 128  # of a message, until the server has said how much it takes
TEXT_BYTES: Final = 4096  # of a line of text that never ends
_FRAME_BYTES: Final = 4  # length and CRC


class Unplugged(Exception):
    """The port is gone, or cannot be opened. The text says why."""


class Wire(Protocol):
    """A line to a board. Errors of all calls: Unplugged."""

    def send(self, data: bytes) -> None: ...

    def receive(self, patience_s: float) -> bytes:
        """What has arrived, b"" when nothing has within `patience_s`."""
        ...

    def now_s(self) -> float: ...

    def pause(self, seconds: float) -> None:
        """Lets time pass."""
        ...

    def close(self) -> None: ...


class SerialWire:
    """A port as pyserial names it: /dev/ttyUSB0, a pty, socket://HOST:PORT, rfc2217://HOST:PORT."""

    def __init__(self, port: str, baud: int = BAUD) -> None:
        try:
            self._serial = serial.serial_for_url(port, baudrate=baud, timeout=0, write_timeout=10, do_not_open=True)
            if isinstance(self._serial, serial.Serial):
                self._serial.exclusive = True  # a terminal program on the same port would steal answers
            self._serial.open()
        except (serial.SerialException, OSError, ValueError) as error:
            raise Unplugged(str(error)) from None

    def send(self, data: bytes) -> None:
        try:
            self._serial.write(data)
        except (serial.SerialException, OSError) as error:
            raise Unplugged(str(error)) from None

    def receive(self, patience_s: float) -> bytes:
        try:
            self._serial.timeout = max(patience_s, 0)
            data = self._serial.read(1)
            self._serial.timeout = 0
            return data + self._serial.read(4096) if data else b""
        except (serial.SerialException, OSError) as error:
            raise Unplugged(str(error)) from None

    def now_s(self) -> float:
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def close(self) -> None:
        self._serial.close()


class Link(SMPTransport):
    """smpclient's transport over a Wire. It blocks: there is nothing else to do meanwhile.

    timeout_s: how long the next answer may take once the question is on the line; TimeoutError when none came
    on_text: called with each line of text that the console prints
    """

    def __init__(self, wire: Wire, on_text: Callable[[str], None] = lambda line: None) -> None:
        self.wire = wire
        self.timeout_s = 2.0
        self.sent_bytes = 0
        self._on_text = on_text
        self._heard = b""
        self._decoder = None
        self._buffer_bytes = 0

    # --- smpclient's contract ------------------------------------------------------------------------------------

    async def connect(self, address: str, timeout_s: float) -> None:
        """The wire is open already."""

    async def disconnect(self) -> None:
        self.wire.close()

    async def send(self, data: bytes) -> None:
        self.post(data)

    async def receive(self) -> bytes:
        return self.fetch(None)

    async def send_and_receive(self, data: bytes) -> bytes:
        self.post(data)
        return self.fetch(Header.loads(data[: Header.SIZE]).sequence)

    def initialize(self, smp_server_transport_buffer_size: int) -> None:
        self._buffer_bytes = smp_server_transport_buffer_size

    @property
    def mtu(self) -> int:
        return self._buffer_bytes or UNASKED_BYTES

    @property
    def max_unencoded_size(self) -> int:
        return self.mtu - _FRAME_BYTES

    # --- without smpclient's loop --------------------------------------------------------------------------------

    def post(self, message: bytes) -> None:
        """Puts a message on the line. Errors: Unplugged."""
        data = b"".join(packet.encode(message, LINE_BYTES + 1))
        self.sent_bytes += len(data)
        self.wire.send(data)

    def line_s(self, message: bytes) -> float:
        """How long the line carries a message."""
        characters = -(-(len(message) + _FRAME_BYTES) // 3) * 4
        return (characters + 3 * -(-characters // (LINE_BYTES - 3))) * BYTE_S

    def fetch(self, sequence: int | None, timeout_s: float | None = None) -> bytes:
        """The answer of that sequence number (None: any). Errors: TimeoutError, Unplugged."""
        patience_s = self.timeout_s if timeout_s is None else timeout_s
        end_s = self.wire.now_s() + patience_s
        while True:
            message = self._next_message()
            if message is None:
                left_s = end_s - self.wire.now_s()
                if left_s <= 0:
                    raise TimeoutError(f"no answer within {patience_s:.1f} s")
                self._heard += self.wire.receive(left_s)
            elif len(message) >= Header.SIZE and (sequence is None or message[6] == sequence):
                return message

    def read_text(self, seconds: float) -> None:
        """Listens for text only."""
        end_s = self.wire.now_s() + seconds
        while (left_s := end_s - self.wire.now_s()) > 0:
            self._heard += self.wire.receive(left_s)
            while self._next_message() is not None:
                pass

    def _next_message(self) -> bytes | None:
        """The next whole message among what was heard."""
        while True:
            line, newline, rest = self._heard.partition(b"\n")
            if not newline:
                self._heard = self._heard[-TEXT_BYTES:]
                return None
            self._heard = rest
            places = [place for place in (line.rfind(b"\x06\x09"), line.rfind(b"\x04\x14")) if place >= 0]
            if not places:
                text = line.decode(errors="replace").strip()
                if text:
                    self._on_text(text)
                continue
            message = self._decode(line[max(places) :] + b"\n")
            if message is not None:
                return message

    def _decode(self, line: bytes) -> bytes | None:
        """A line of a frame, which begins with its mark. Returns the message that it completes."""
        if line.startswith(packet.START_DELIMITER) or self._decoder is None:
            self._decoder = packet.decode()
            next(self._decoder)
        try:
            self._decoder.send(line)
        except StopIteration as done:
            self._decoder = None
            return done.value
        except (SMPException, ValueError, ArithmeticError, LookupError, struct.error):
            self._decoder = None  # damaged: the question is asked again
        return None

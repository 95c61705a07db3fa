"""The SSP link: one question at a time, asked again with the same sequence bit until it is answered.

A device that sees the sequence bit of the last packet again repeats its last answer and does nothing. So every command,
also one that moves a note, may be sent again as long as the bit stays: that is what makes a POLL, which takes events out
of the device and accepts the note in escrow, happen once. A question that stayed without an answer to the end breaks the
chain: the next one must be SYNC, after which the device takes bit 0 for new.

"Unanswered for so long" is only what was seen: what has arrived is read before the time is looked at.
"""

from ..board import PortError
from .frame import SEQUENCE, Parser, encode

ANSWER_MS = 1000  # the longest wait for an answer
REPEATS = 20  # of the same packet; then the device is dead
SECRET_REPEATS = 5  # a device drops in silence what it cannot decrypt: keys are agreed anew sooner
QUIET_MS = 300  # of silence after a repeated packet: its second answer may still be on the way

SYNC = b"\x11"
ENCRYPTED = 0x7E  # first byte of encrypted data

# States of a link.
IDLE = 0
WAITING = 1
DONE = 2  # there is an answer, or a failure, to take()


class Link:
    """The line to the device at `address` behind `port`.

    secret: a hal.ssp.essp.Secret, None for a device that is only spoken to in plain text
    state: IDLE, WAITING or DONE
    answered_ms: when the device was last heard
    repeats, port_faults, foreign_frames, bad_secrets: counters since the start
    """

    def __init__(self, port, address: int = 0, secret=None):
        self.secret = secret
        self.answered_ms = 0
        self.repeats = 0
        self.port_faults = 0
        self.foreign_frames = 0
        self.bad_secrets = 0
        self._port = port
        self._address = address
        self._parser = Parser()
        self.state = IDLE
        self._sequence = 0
        self._packet = b""
        self._answer = None
        self._is_secret = False
        self._left = 0
        self._deadline_ms = 0
        self._quiet_until_ms = 0
        self._unsent = False
        self._again = False  # the packet had to be repeated
        self._sent_ms = 0

    def silent_ms(self, now_ms: int) -> int:
        """For how long the packet under way has stayed without an answer."""
        return now_ms - self._sent_ms if self.state == WAITING and not self._unsent else 0

    def ask(self, data: bytes, plain: bool = False) -> None:
        """Send a new packet, encrypted once keys are agreed unless `plain`. ValueError: one is under way."""
        if self.state != IDLE:
            raise ValueError("the link is busy")
        self._sequence = SEQUENCE if data == SYNC else self._sequence ^ SEQUENCE
        secret = self.secret
        if secret is not None and secret.ready and not plain:
            self._is_secret = True
            self._left = SECRET_REPEATS
            data = secret.wrap(data)
        else:
            self._is_secret = False
            self._left = REPEATS
        self._packet = encode(self._sequence | self._address, data)
        self.state = WAITING
        self._answer = None
        self._unsent = True
        self._again = False

    def take(self):
        """The answer's data, None if there was none to any attempt. Only when DONE."""
        answer, self._answer = self._answer, None
        self.state = IDLE
        return answer

    def poll(self, now_ms: int) -> None:
        """Take what has arrived, repeat what is late."""
        arrived = self._port.read()
        if arrived:
            if self._again:
                self._quiet_until_ms = now_ms + QUIET_MS
            feed = self._parser.feed
            for byte in arrived:
                found = feed(byte)
                if found is not None:
                    self._hear(found[0], found[1], now_ms)
        if self.state != WAITING:
            return
        if self._unsent:
            if now_ms >= self._quiet_until_ms:
                self._sent_ms = now_ms
                self._send(now_ms)
        elif now_ms >= self._deadline_ms:
            if self._left:
                self._left -= 1
                self.repeats += 1
                self._again = True
                self._send(now_ms)
            else:
                self.state = DONE

    def _send(self, now_ms: int) -> None:
        self._unsent = False
        self._parser.reset()
        self._deadline_ms = now_ms + ANSWER_MS
        try:
            self._port.write(self._packet)
        except PortError:
            self.port_faults += 1  # the silence that follows is dealt with like any other

    def _hear(self, head: int, data: bytes, now_ms: int) -> None:
        if self.state != WAITING or self._unsent or head != self._sequence | self._address:
            self.foreign_frames += 1
            return
        secret = self.secret
        if self._is_secret and secret is not None and data[0] in (ENCRYPTED, 0xF0):
            # An OK in plain text could come from anyone on the wire.
            opened = secret.unwrap(data) if data[0] == ENCRYPTED else None
            if opened is None:
                self.bad_secrets += 1
                return
            data = opened
        self._answer = data
        self.state = DONE
        self.answered_ms = now_ms
        if self._again:
            self._quiet_until_ms = now_ms + QUIET_MS

"""One ccTalk line: transactions for all the devices on it (ccTalk generic specification, part 1).

The line is half duplex and every byte that is sent comes back as an echo. So one transaction at a time: send, compare
the echo with exactly what was sent, wait for the answer, hand it over. Whatever goes wrong ends in silence: the next
frame leaves only after the line was quiet for GAP_MS, so a late answer cannot be taken for the answer to something
else.

An answer does not say what it answers. So after an attempt that failed, its device is for LATE_MS asked only the same
again, or what has answers of another length; what is urgent goes out, but no answer to it is believed in that time.
Else a late answer would be taken for that to the next question: flags for a count of coins, one coin's id for
another's.

A device owns its Transaction objects and uses them again and again. Each can stand in the queue once, which bounds
the queue.
Requests leave in the order in which they were made, urgent ones first, and a failed one goes back to the end of its
kind: a dead device cannot starve the others.
"""

from ..board import PortError
from .frame import ACK, BUSY, GAP_MS, HOST, MAX_FRAME_BYTES, NAK, Parser, encode

MAX_TRANSACTIONS = 16  # Transaction objects of all devices of one line
ANSWER_MS = 100  # from the last byte sent to the first byte of the answer
LATE_MS = 600  # from an attempt that nothing answered: so long its answer may still come
BABBLE_MS = 500  # a line that is never quiet is used anyway, and its transactions fail as they should

# How often a request may be repeated when its fate is unknown.
IDEMPOTENT = 3  # it reads
STATE = 3  # it sets something to a value: twice is the same as once
ONCE = 0  # a probe: nobody may be there
VALUE = 0  # it moves money: never repeated, its fate is read back from the device

# Outcomes of a transaction.
OK = 0  # answered with header 0
REFUSED = 1  # answered with NAK: understood, not done
NOT_NOW = 2  # answered with BUSY
UNKNOWN = 3  # no sound answer to any attempt: for a VALUE request, done or not

_IDLE = 0
_QUEUED = 1
_ON_LINE = 2
_DONE = 3


class Transaction:
    """A request and its outcome. Made by Bus.transaction().

    done: it has an outcome to take()
    """

    def __init__(self, bus: "Bus", address: int):
        self.address = address
        self.header = 0
        self.data = b""
        self.crc = False
        self.urgent = False
        self.after_gap = False
        self.shortest = 0
        self.longest = 255
        self.sent: bytes | None = None  # data of the last attempt that was put on the line
        self.repeats = 0
        self.state = _IDLE
        self.done = False
        self.status = UNKNOWN
        self.answer = b""
        self._bus = bus

    @property
    def pending(self) -> bool:
        """Started and without outcome."""
        return self.state == _QUEUED or self.state == _ON_LINE

    def start(
        self,
        header: int,
        data: bytes = b"",
        repeats: int = IDEMPOTENT,
        shortest: int = 0,
        longest: int = 255,
        crc: bool = False,
        urgent: bool = False,
        after_gap: bool = False,
    ) -> None:
        """Queue a request. An answer whose data is shorter or longer than given is not an answer to it.

        after_gap: send it only into a silence that resynchronises every receiver. A device that has just woken up in the
        middle of others' traffic takes its next frame for the rest of one.

        `data` may be replaced while the request is pending: every attempt sends what stands there at that moment.
        ValueError: it is pending.
        """
        if self.pending:
            raise ValueError("transaction is pending")
        self.header = header
        self.data = data
        self.repeats = repeats
        self.shortest = shortest
        self.longest = longest
        self.crc = crc
        self.urgent = urgent
        self.after_gap = after_gap
        self.sent = None
        self.done = False
        self.state = _QUEUED
        self._bus.enqueue(self)

    def finish(self, status: int, answer: bytes) -> None:
        """Called by the bus."""
        self.status = status
        self.answer = answer
        self.state = _DONE
        self.done = True

    def take(self) -> tuple:
        """(status, data of the answer); the transaction is free again."""
        self.state = _IDLE
        self.done = False
        return (self.status, self.answer)

    def withdraw(self) -> bool:
        """Take back a request that was never put on the line. False: too late, or nothing was pending."""
        if self.state != _QUEUED or self.sent is not None:
            return False
        self._bus.dequeue(self)
        self.state = _IDLE
        return True


class _Owed:
    """What a device may still answer late."""

    def __init__(self):
        self.header = 0
        self.data = b""
        self.shortest = 0
        self.longest = 255
        self.until_ms = 0

    def bars(self, transaction: "Transaction", now_ms: int) -> bool:
        """Whether the late answer could be taken for one to this request: its length fits, or a refusal would decide."""
        if now_ms >= self.until_ms or (transaction.header == self.header and transaction.data == self.data):
            return False
        fits = transaction.shortest <= self.longest and self.shortest <= transaction.longest
        return fits or transaction.repeats == VALUE

    def note(self, transaction: "Transaction", sent_ms: int, now_ms: int) -> None:
        """An attempt of this request may be answered later; perhaps also one of another request before it."""
        if now_ms < self.until_ms and (transaction.header != self.header or transaction.data != self.data):
            self.header = -1
            self.shortest = min(self.shortest, transaction.shortest)
            self.longest = max(self.longest, transaction.longest)
        else:
            self.header = transaction.header
            self.data = transaction.sent
            self.shortest = transaction.shortest
            self.longest = transaction.longest
        self.until_ms = sent_ms + LATE_MS


class Bus:
    """The line behind `port`. poll() it once a turn, before its devices.

    echo: the line echoes what is sent, as every real single-wire line does
    """

    def __init__(self, port, baud: int = 9600, echo: bool = True):
        self._port = port
        self._baud = baud
        self._echo = echo
        self._parser = Parser()
        self._made = 0
        self._owed: dict = {}  # by address
        self._queue: list = [None] * MAX_TRANSACTIONS
        self._queued = 0
        self._active = None
        self._frame = b""
        self._echoed = 0  # bytes of the frame that have come back
        self._deadline_ms = 0
        self._limit_ms = 0  # no answer takes longer, however much arrives
        self._polled_ms = 0
        self._last_byte_ms = 0
        self._sent_ms = 0
        self._faulty = False  # wait for silence before the next frame
        self._fault_ms = 0
        self.requests = 0
        self.answers = 0
        self.refusals = 0
        self.timeouts = 0
        self.echo_faults = 0
        self.lost_echoes = 0
        self.foreign_frames = 0
        self.late_answers = 0
        self.stray_bytes = 0
        self.port_faults = 0

    def transaction(self, address: int) -> "Transaction":
        """A new Transaction for a device. ValueError: the line has MAX_TRANSACTIONS already."""
        if self._made == MAX_TRANSACTIONS:
            raise ValueError("too many transactions on this line")
        self._made += 1
        if address not in self._owed:
            self._owed[address] = _Owed()
        return Transaction(self, address)

    def release(self, transaction: "Transaction") -> None:
        """Its driver is no more: room for another one. What is on the line already ends unheard."""
        if transaction.state == _QUEUED:
            self.dequeue(transaction)
        self._made -= 1

    def statistics(self) -> tuple:
        """Counters since the start, as (name, number) pairs for the console."""
        return (
            ("requests", self.requests),
            ("answers", self.answers),
            ("refusals", self.refusals),
            ("timeouts", self.timeouts),
            ("bad_checksums", self._parser.bad_checksums),
            ("echo_faults", self.echo_faults),
            ("lost_echoes", self.lost_echoes),
            ("foreign_frames", self.foreign_frames),
            ("late_answers", self.late_answers),
            ("ignored_bytes", self.stray_bytes + self._parser.ignored_bytes),
            ("port_faults", self.port_faults),
        )

    # The queue: fixed slots, urgent requests before the others.

    def enqueue(self, transaction: "Transaction") -> None:
        """Called by Transaction.start()."""
        place = self._queued
        while transaction.urgent and place and not self._queue[place - 1].urgent:
            self._queue[place] = self._queue[place - 1]
            place -= 1
        self._queue[place] = transaction
        self._queued += 1

    def dequeue(self, transaction: "Transaction") -> None:
        """Called by Transaction.withdraw()."""
        place = self._queue.index(transaction)
        self._queued -= 1
        for at in range(place, self._queued):
            self._queue[at] = self._queue[at + 1]
        self._queue[self._queued] = None

    # One turn.

    def poll(self, now_ms: int) -> None:
        """Take what has arrived, end what took too long, send what is next."""
        arrived = self._port.read()
        if arrived:
            for byte in arrived[self._take_echo(arrived, now_ms) :]:
                self._receive(byte, now_ms)
            self._last_byte_ms = now_ms
        self._polled_ms = now_ms
        if self._active is not None and self._is_late(now_ms):
            self._give_up(self._active, now_ms)
        if self._active is None and self._queued:
            transaction = self._next(now_ms)
            if transaction is not None and self._may_send(transaction, now_ms):
                self._send(transaction, now_ms)

    def _is_late(self, now_ms: int) -> bool:
        """The answer did not begin in time, or what began was not followed by more."""
        if now_ms < self._deadline_ms:
            return False
        return now_ms - self._last_byte_ms > GAP_MS or now_ms >= self._limit_ms

    def _next(self, now_ms: int):
        """The first in the queue whose device owes no answer to something else, or None."""
        for place in range(self._queued):
            transaction = self._queue[place]
            if transaction.urgent or not self._owed[transaction.address].bars(transaction, now_ms):
                return transaction
        return None

    def _may_send(self, transaction: "Transaction", now_ms: int) -> bool:
        if now_ms - self._last_byte_ms > GAP_MS:
            return True
        if self._faulty:
            return now_ms - self._fault_ms > BABBLE_MS
        return not transaction.after_gap or now_ms - self._sent_ms > BABBLE_MS

    def _line_ms(self, number_of_bytes: int) -> int:
        """Time that bytes take on the line, 10 bits each, rounded up."""
        return (number_of_bytes * 10_000 + self._baud - 1) // self._baud

    def _send(self, transaction: "Transaction", now_ms: int) -> None:
        self.dequeue(transaction)
        transaction.state = _ON_LINE
        transaction.sent = transaction.data
        self._active = transaction
        self._frame = encode(transaction.address, transaction.header, transaction.data, transaction.crc)
        self._echoed = 0 if self._echo else len(self._frame)
        self._faulty = False
        self._sent_ms = now_ms
        self._parser.reset()
        self._parser.crc = transaction.crc
        self._deadline_ms = now_ms + self._line_ms(len(self._frame)) + ANSWER_MS
        self._limit_ms = self._deadline_ms + self._line_ms(MAX_FRAME_BYTES)
        self.requests += 1
        try:
            self._port.write(self._frame)
        except PortError:
            self.port_faults += 1
            self._fail(transaction, now_ms)

    def _take_echo(self, arrived: bytes, now_ms: int) -> int:
        """Takes what has arrived of a sound echo at once. Returns how many bytes that were."""
        if self._active is None or self._echoed == len(self._frame):
            return 0
        number = min(len(arrived), len(self._frame) - self._echoed)
        if arrived[:number] != self._frame[self._echoed : self._echoed + number]:
            return 0
        self._echoed += number
        if self._echoed == len(self._frame):
            self._deadline_ms = now_ms + ANSWER_MS
        return number

    def _receive(self, byte: int, now_ms: int) -> None:
        transaction = self._active
        if transaction is None:
            self.stray_bytes += 1
        elif self._echoed < len(self._frame):
            if byte != self._frame[self._echoed]:
                self.echo_faults += 1
                self._fail(transaction, now_ms)
                return
            self._echoed += 1
            if self._echoed == len(self._frame):
                self._deadline_ms = now_ms + ANSWER_MS
        else:
            frame = self._parser.feed(byte, self._polled_ms, now_ms)
            if frame is not None:
                self._match(transaction, frame, now_ms)

    def _match(self, transaction: "Transaction", frame: tuple, now_ms: int) -> None:
        """End the transaction if this frame is its answer; another frame is counted and the wait goes on."""
        destination, source, header, data = frame
        ours = destination == HOST and (source == transaction.address or transaction.crc)
        owed = self._owed[transaction.address]
        if ours and now_ms < owed.until_ms:
            if owed.bars(transaction, now_ms):
                self.late_answers += 1
                return
            if (
                owed.header == transaction.header
            ):  # perhaps the answer to the older attempt: then this one is still owed
                owed.note(transaction, self._sent_ms, now_ms)
        if ours and header == ACK and transaction.shortest <= len(data) <= transaction.longest:
            self.answers += 1
            self._end(transaction, OK, data)
        elif ours and header == NAK:
            self.refusals += 1
            self._end(transaction, REFUSED, data)
        elif ours and header == BUSY:
            self.refusals += 1
            self._end(transaction, NOT_NOW, data)
        else:
            self.foreign_frames += 1

    def _give_up(self, transaction: "Transaction", now_ms: int) -> None:
        if self._echoed == 0:
            self.lost_echoes += 1
        elif self._echoed < len(self._frame):
            self.echo_faults += 1
        else:
            self.timeouts += 1
        self._fail(transaction, now_ms)

    def _fail(self, transaction: "Transaction", now_ms: int) -> None:
        """An attempt came to nothing: repeat it later if its kind allows that."""
        self._faulty = True
        self._fault_ms = now_ms
        self._owed[transaction.address].note(transaction, self._sent_ms, now_ms)
        if transaction.repeats:
            transaction.repeats -= 1
            self._active = None
            transaction.state = _QUEUED
            self.enqueue(transaction)
        else:
            self._end(transaction, UNKNOWN, b"")

    def _end(self, transaction: "Transaction", status: int, answer: bytes) -> None:
        self._active = None
        transaction.finish(status, answer)

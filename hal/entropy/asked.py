"""A generator that is asked for bytes and answers with a status (TectroLabs devices).

    host    'x' [count low] [count high]            count 1 to 128 here
    device  count bytes, then one status byte       0: its own health tests pass

Bytes that come with another status, or in a wrong number, or late, are never handed out. What is on the line before a request
is drained until the line has been silent. After a time-out the first whole answer is thrown away as well: a device that was
plugged in again may send an old buffer that happens to look like one.
"""

from .source import TIMEOUT_MS, EntropySource

REQUEST_BYTES = 128
SILENCE_MS = 200  # after which nothing of an older request is on its way any more
UNHEALTHY_PAUSE_MS = 1000

_REQUEST = 0x78


class AskedSource(EntropySource):
    """It is asked nothing before the first request(). Events: online, offline, unhealthy with the device's status."""

    def __init__(self, port):
        super().__init__(port)
        self._asked = 0  # bytes of the request on the line, 0: none
        self._answer = bytearray(REQUEST_BYTES + 1)
        self._arrived = 0
        self._deadline_ms = 0
        self._cancelled = False  # the answer on the line is not wanted any more
        self._draining = True
        self._quiet_ms = None  # since when the line is silent
        self._unsure = False  # the device was silent: what looks like its next answer may be an old buffer
        self._resume_ms = 0

    def cancel(self) -> None:
        super().cancel()
        self._cancelled = self._asked > 0

    def poll(self, now_ms: int) -> None:
        arrived = self._port.read()
        if self._cancelled:
            self._cancelled = False
            self.stray_bytes += self._arrived
            self._start_draining(now_ms)
        if self._draining:
            self._drain(arrived, now_ms)
        else:
            self._collect(arrived, now_ms)
        if self._asked and now_ms >= self._deadline_ms:
            self._time_out(now_ms)
        if self._wanted and not self._asked and not self._draining and now_ms >= self._resume_ms:
            self._ask(now_ms)

    def _drain(self, arrived: bytes, now_ms: int) -> None:
        """Throw away what belongs to an older request, until the line has been silent."""
        self.stray_bytes += len(arrived)
        if arrived or self._quiet_ms is None:
            self._quiet_ms = now_ms
        elif now_ms - self._quiet_ms >= SILENCE_MS:
            self._draining = False

    def _collect(self, arrived: bytes, now_ms: int) -> None:
        """More bytes than were asked for make the whole answer worthless: it cannot be told which of them are ours."""
        if not arrived:
            return
        expected = self._asked + 1 if self._asked else 0
        if self._arrived + len(arrived) > expected:
            self.stray_bytes += self._arrived + len(arrived)
            self._start_draining(now_ms)
            return
        self._answer[self._arrived : self._arrived + len(arrived)] = arrived
        self._arrived += len(arrived)
        if self._arrived == expected:
            self._finish(now_ms)

    def _finish(self, now_ms: int) -> None:
        number, status = self._asked, self._answer[self._asked]
        if self._unsure:
            self._unsure = False
            self.stray_bytes += self._arrived
            self._start_draining(now_ms)
            return
        self._set_online(True)
        if status == 0:
            self._keep(self._answer[:number])
        else:
            self._tell(("unhealthy", status))
            self._resume_ms = now_ms + UNHEALTHY_PAUSE_MS
        self._forget_answer()

    def _ask(self, now_ms: int) -> None:
        number = min(self._wanted, REQUEST_BYTES)
        self._asked = number
        self._deadline_ms = now_ms + TIMEOUT_MS
        self._write(bytes((_REQUEST, number & 0xFF, number >> 8)))

    def _time_out(self, now_ms: int) -> None:
        self.timeouts += 1
        self.stray_bytes += self._arrived
        self._unsure = True
        self._start_draining(now_ms)
        self._set_online(False)

    def _start_draining(self, now_ms: int) -> None:
        self._draining = True
        self._quiet_ms = now_ms
        self._forget_answer()

    def _forget_answer(self) -> None:
        self._answer[: self._arrived] = bytes(self._arrived)
        self._asked = 0
        self._arrived = 0

"""A generator that is told what to do in lines of text and streams while it is started (OneRNG class).

    host    cmdo LF   stop          cmd0 LF   whitened bytes of the avalanche diode
            cmdw LF   forget what is buffered             cmdO LF   start
    device  bytes without frame, from start to stop

Each request flushes, starts, collects and stops, so the bytes of a request were made after it. Until the line has been silent
behind a stop, what arrives belongs to something older and is thrown away.
"""

from .source import TIMEOUT_MS, EntropySource

STOP = b"cmdo\n"
START = b"cmd0\ncmdw\ncmdO\n"
QUIET_MS = 30  # of silence after a stop: nothing older is on its way any more
GAP_MS = 100  # a silence in the middle of a request: it may have been plugged in anew, and sends what it had
STOP_AGAIN_MS = 200  # a device that still talks did not hear it, or was plugged in anew


class CommandSource(EntropySource):
    """Events: online, offline. It is told to stop at the start, and started by the first request()."""

    def __init__(self, port):
        super().__init__(port)
        self._running = False
        self._stop_ms = -1  # when it was last told to stop, -1: that is still due
        self._quiet_ms = -1  # since when the line is silent
        self._deadline_ms = -1
        self._cancelled = False
        self._unsure = False  # the device was silent when it should have talked

    def cancel(self) -> None:
        super().cancel()
        self._cancelled = True

    def poll(self, now_ms: int) -> None:
        arrived = self._port.read()
        if self._cancelled:
            self._cancelled = False
            if self._running:
                self._stop(now_ms)
        if self._running:
            self._collect(arrived, now_ms)
        else:
            self._wait_for_silence(arrived, now_ms)
        if not self._wanted:
            self._deadline_ms = -1
        elif self._deadline_ms < 0:
            self._deadline_ms = now_ms + TIMEOUT_MS
        elif now_ms >= self._deadline_ms:
            self._time_out(now_ms)

    def _collect(self, arrived: bytes, now_ms: int) -> None:
        if not arrived:
            if self._quiet_ms < 0:
                self._quiet_ms = now_ms
            elif now_ms - self._quiet_ms >= GAP_MS:
                self._begin_anew(now_ms)
            return
        self._quiet_ms = -1
        if self._unsure:
            self._unsure = False
            self.stray_bytes += len(arrived)
            self._stop(now_ms)
            return
        self._set_online(True)
        self._keep(arrived)
        if not self._wanted:
            self._stop(now_ms)

    def _wait_for_silence(self, arrived: bytes, now_ms: int) -> None:
        self.stray_bytes += len(arrived)
        if self._stop_ms < 0 or (arrived and now_ms - self._stop_ms >= STOP_AGAIN_MS):
            self._stop(now_ms)
        elif arrived or self._quiet_ms < 0:
            self._quiet_ms = now_ms
        elif now_ms - self._quiet_ms >= QUIET_MS and self._wanted:
            self._running = True
            self._quiet_ms = -1
            self._write(START)

    def _stop(self, now_ms: int) -> None:
        self._running = False
        self._stop_ms, self._quiet_ms = now_ms, -1
        self._write(STOP)

    def _begin_anew(self, now_ms: int) -> None:
        """What came so far is thrown away, and so is what comes first now: it may be an old buffer. The request's time goes
        on running."""
        self._unsure = True
        self._wanted += self._stored
        self._wipe()
        self._stop(now_ms)

    def _time_out(self, now_ms: int) -> None:
        self.timeouts += 1
        self._begin_anew(now_ms)
        self._deadline_ms = -1
        self._set_online(False)

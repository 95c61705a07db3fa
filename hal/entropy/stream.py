"""A generator that streams whitened bytes from the moment its port is opened, and takes no commands (TrueRNG class).

Nothing on such a line tells old bytes from new ones, so time has to: a silence means that the device was unplugged, and
what comes first after it (a buffer of the device or of the computer's USB driver) is thrown away. The same holds at the
start. Between requests bytes are thrown away as they arrive, so that none ever waits to be used.
"""

from .source import TIMEOUT_MS, EntropySource

GAP_MS = 50  # a silence after which the device counts as plugged in anew; it sends a byte every 0.1 ms
SETTLE_MS = 200  # what arrives for so long after it is old: 2,300 bytes at 115,200 baud


class StreamSource(EntropySource):
    """Events: online once the stream has settled, offline when it falls silent or cannot fulfil a request in time."""

    def __init__(self, port):
        super().__init__(port)
        self._quiet_ms = -1  # first look at the line that found nothing since the last byte, -1: none did
        self._silence_ms = GAP_MS  # silence that was seen before the bytes that come next; a start is one
        self._settled_ms = -1  # from then on bytes are new, -1: nothing has arrived since the last silence
        self._deadline_ms = -1

    def request(self, number: int) -> bool:
        if not self._wanted:
            # What has arrived by now was not asked for.
            stale = self._port.read()
            self.stray_bytes += len(stale)
            if stale:
                self._quiet_ms = -1
        return super().request(number)

    def cancel(self) -> None:
        super().cancel()
        self._deadline_ms = -1

    def poll(self, now_ms: int) -> None:
        arrived = self._port.read()
        if arrived:
            self._take_in(arrived, now_ms)
        else:
            self._see_silence(now_ms)
        if not self._wanted:
            self._deadline_ms = -1
        elif self._deadline_ms < 0:
            self._deadline_ms = now_ms + TIMEOUT_MS
        elif now_ms >= self._deadline_ms:
            self._time_out()

    def _take_in(self, arrived: bytes, now_ms: int) -> None:
        if self._silence_ms >= GAP_MS:
            self._settled_ms = now_ms + SETTLE_MS
            self._wanted += self._stored  # what was stored came before the silence
            self._wipe()
        self._quiet_ms, self._silence_ms = -1, 0
        if now_ms >= self._settled_ms:
            self._set_online(True)
            self._keep(arrived)
        else:
            self.stray_bytes += len(arrived)

    def _see_silence(self, now_ms: int) -> None:
        """Only what was looked at counts: a loop that was held up has not seen a silence."""
        if self._quiet_ms < 0:
            self._quiet_ms = now_ms
        self._silence_ms = max(self._silence_ms, now_ms - self._quiet_ms)
        if self._silence_ms >= TIMEOUT_MS:
            self._set_online(False)

    def _time_out(self) -> None:
        self.timeouts += 1
        self._deadline_ms = -1
        self._wanted += self._stored
        self._wipe()
        self._set_online(False)

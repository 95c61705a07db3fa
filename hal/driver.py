"""What every driver of a device that answers has: whether it is there, its events, one timer."""

from .events import EventSource


class Driver(EventSource):
    """It starts offline, silently, and goes on from `first` as soon as its loop runs.

    online: identified and answering
    serial: serial number, 0 until it is known or if the device has none
    """

    def __init__(self, capacity: int, first):
        EventSource.__init__(self, capacity)
        self.online = False
        self.serial = 0
        self._timer = first
        self._wake_ms = 0
        self._now_ms = 0

    def _pause(self, pause_ms: int, then) -> None:
        self._timer = then
        self._wake_ms = self._now_ms + pause_ms

    def _look(self) -> None:
        """What is to be asked next; a driver's own."""

    def _look_soon(self) -> None:
        self._pause(0, self._look)

    def _come_online(self) -> None:
        if not self.online:
            self.online = True
            self._events.push(("online", self.serial))

    def _go_offline(self) -> None:
        if self.online:
            self.online = False
            self._events.push(("offline",))

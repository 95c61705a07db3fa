"""The bounded queue between a driver and the firmware, and the end of it that the firmware sees."""


class EventQueue:
    """Up to `capacity` event tuples, oldest first, in memory taken once.

    oldest: the oldest event, or None. An attribute, as every driver is asked for it in every turn of the loop.

    A driver asks for room before it talks to its device, so an event never has to be thrown away. An overflow is
    therefore a mistake of the driver and raises.
    """

    def __init__(self, capacity: int):
        self.oldest = None
        self._slots: list = [None] * capacity
        self._first = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def room(self) -> int:
        """How many events still fit."""
        return len(self._slots) - self._count

    def push(self, event: tuple) -> None:
        """Append. IndexError: full."""
        if not self.room():
            raise IndexError("event queue full")
        self._slots[(self._first + self._count) % len(self._slots)] = event
        if not self._count:
            self.oldest = event
        self._count += 1

    def pop(self):
        """Remove and return the oldest event; None if there is none."""
        event = self.oldest
        if event is not None:
            self._slots[self._first] = None
            self._first = (self._first + 1) % len(self._slots)
            self._count -= 1
            self.oldest = self._slots[self._first]
        return event


class EventSource:
    """What every driver is for the firmware: event() until there is none, each booked() when it is committed."""

    def __init__(self, capacity: int):
        self._events = EventQueue(capacity)

    def event(self):
        """The oldest event or None; it stays until booked()."""
        return self._events.oldest

    def booked(self) -> None:
        """The firmware has committed the oldest event, or taken notice of it where there is nothing to commit."""
        self._events.pop()

"""The hands of the person at the cabinet: one thing at a time, at a speed that a button and a coin slot can follow.

Keys of a terminal come as fast as the auto-repeat sends them and without a release; a contact needs a while for both.
So what is asked for waits here and is done in the rig's time.
"""

from collections import deque
from collections.abc import Callable

from host_tools.hil.rig import Rig

PRESS_MS, PAUSE_MS = 80, 80
COIN_MS = 400  # a coin falls for 150 ms and the acceptor refuses one that follows too closely
NOTE_MS = 600  # from one note to the next
WAITING = 8  # presses and coins that are remembered; an auto-repeating key shall not run on after its release


class Hands:
    """Presses, coins and switches on the rig's devices. `poll` after each step."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._presses: deque[str] = deque()
        self._coins: deque[int] = deque()
        self._notes: deque[int] = deque()
        self._next_press_ms = self._next_coin_ms = self._next_note_ms = 0

    def press(self, button: str, times: int = 1) -> None:
        for _ in range(times):
            if len(self._presses) < WAITING:
                self._presses.append(button)

    def coin(self, pence: int) -> None:
        if len(self._coins) < WAITING:
            self._coins.append(pence)

    def note(self, pence: int) -> None:
        if len(self._notes) < WAITING:
            self._notes.append(pence)

    def toggle(self, name: str) -> bool:
        """Opens or closes a door, turns or returns a key. True when it is open or turned now."""
        panel = self._rig.world.panel
        active = not panel.active(name)
        panel.set_input(name, active, self._now_us)
        return active

    def active(self, name: str) -> bool:
        return self._rig.world.panel.active(name)

    def poll(self) -> None:
        now_ms = self._rig.now_ms
        if self._presses and now_ms >= self._next_press_ms:
            self._next_press_ms = now_ms + PRESS_MS + PAUSE_MS
            self._rig.world.panel.press(self._presses.popleft(), self._now_us, PRESS_MS)
        if self._coins and now_ms >= self._next_coin_ms:
            self._next_coin_ms = now_ms + COIN_MS
            self._rig.world.acceptor.insert(self._coins.popleft(), self._now_us)

        notes = self._rig.world.note_acceptor
        if self._notes and notes.note is None and now_ms >= self._next_note_ms:
            self._next_note_ms = now_ms + NOTE_MS
            notes.insert(self._notes.popleft(), self._now_us)

    @property
    def _now_us(self) -> int:
        return self._rig.now_ms * 1000


class Pace:
    """Keeps the rig's time beside real time. `clock`: seconds, monotonic."""

    MOST_MS = 200  # of catching up in one turn, so that the screen answers; the rest is let go

    def __init__(self, rig: Rig, hands: Hands, clock: Callable[[], float]) -> None:
        self._rig = rig
        self._hands = hands
        self._clock = clock
        self.restart()

    def restart(self) -> None:
        """From here on, after the rig ran ahead or stood still on purpose."""
        self._ahead_ms = self._rig.now_ms - self._clock() * 1000

    def turn(self) -> None:
        """Steps the rig up to now."""
        due = self._clock() * 1000 + self._ahead_ms
        if due - self._rig.now_ms > self.MOST_MS:
            due = self._rig.now_ms + self.MOST_MS
            self._ahead_ms = due - self._clock() * 1000
        while self._rig.now_ms + 5 <= due:
            self._rig.step()
            self._hands.poll()

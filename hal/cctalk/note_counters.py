"""Figures that a bill validator keeps without power: accepted notes (header 225) and rejected ones (194), where it has them."""

from ..evidence import NO_COUNT
from .bus import UNKNOWN
from .device import Device

SETTLE_MS = 250
POLL_MS = 200

_ACCEPT_COUNTER = 225
_REJECT_COUNTER = 194


class NoteCounters(Device):
    """The part of the driver that asks for them."""

    def __init__(self, bus, address: int):
        Device.__init__(self, bus, address, SETTLE_MS)
        self._taken = NO_COUNT  # notes taken by the device that are accounted for
        self._counts = True  # it keeps a counter of accepted notes, until it says nothing of it
        self._rejects = True

    def _had_counters(self) -> bool:
        """Whether something that was committed says that this device keeps them. Of the part that has the records."""
        return False

    def _no_answer(self, status: int) -> None:
        """Ask again; a device that is gone is searched for."""
        if self.online:
            self._pause(POLL_MS, self._look)
        else:
            self._search(status)

    def _ask_counters(self, then) -> None:
        """Go on with then(taken, rejected)."""
        if not self._counts:
            then(NO_COUNT, NO_COUNT)
            return

        def got_accepted(accepted: bytes) -> None:
            def got_rejected(rejected: bytes) -> None:
                then(int.from_bytes(accepted, "little"), int.from_bytes(rejected, "little"))

            if self._rejects:
                self._ask(_REJECT_COUNTER, got_rejected, shortest=3, longest=3, otherwise=self._no_answer)
            else:
                then(int.from_bytes(accepted, "little"), NO_COUNT)

        self._ask(_ACCEPT_COUNTER, got_accepted, shortest=3, longest=3, otherwise=self._no_answer)

    def _find_counters(self, then) -> None:
        """Which of the counters the device has, at its identification; go on with then(taken, rejected)."""
        self._counts = self._rejects = True

        def no_rejects(status: int) -> None:
            self._rejects = False
            self._ask_counters(then)

        def no_accepts(status: int) -> None:
            if status == UNKNOWN and self._had_counters():
                self._search(status)
                return
            self._counts = self._rejects = False
            self._taken = NO_COUNT
            then(NO_COUNT, NO_COUNT)

        def got_accepts(accepted: bytes) -> None:
            def got_rejects(rejected: bytes) -> None:
                then(int.from_bytes(accepted, "little"), int.from_bytes(rejected, "little"))

            self._ask(_REJECT_COUNTER, got_rejects, shortest=3, longest=3, otherwise=no_rejects)

        self._ask(_ACCEPT_COUNTER, got_accepts, shortest=3, longest=3, otherwise=no_accepts)

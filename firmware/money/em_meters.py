"""Electromechanical meters: a pulse queue that survives power loss (CAB-MTR-07).

Money to count is added in the transaction that books the coin. A pulse is taken off the queue before it is given: after a
power cut at most that one pulse is in doubt, it is logged and never repeated.
"""

from firmware import events
from firmware.store import keys

PULSE_PENCE = 100  # one pulse counts a pound; smaller sums wait until they make one

_METERS = (
    ("em_in", keys.EM_IN_PENCE, keys.EM_IN_FLIGHT),
    ("em_out", keys.EM_OUT_PENCE, keys.EM_OUT_FLIGHT),
)


class EmMeters:
    """Drains both queues through the panel driver, one pulse at a time each."""

    def __init__(self, books, panel):
        self._books = books
        self._panel = panel
        self._unsent = {}  # pulses taken off the queue that the panel could not send yet

    def recover(self, now_ms: int) -> None:
        """Closes pulses that power loss left in doubt; called once at power-up."""
        for name, _, flight in _METERS:
            if self._books.journal.get_int(flight):
                meter = 0 if name == "em_in" else 1
                self._books.transaction(now_ms).set(flight, 0).event(events.EM_PULSE_IN_DOUBT, meter).commit()

    def idle(self) -> bool:
        """True when no whole pulse waits and none is in flight."""
        journal = self._books.journal
        return not any(journal.get_int(k) >= PULSE_PENCE or journal.get_int(f) for _, k, f in _METERS)

    def poll(self, now_ms: int, panel_online: bool) -> None:
        journal = self._books.journal
        for name, queue, flight in _METERS:
            pence = journal.get_int(queue)
            if pence < PULSE_PENCE and not journal.get_int(flight):
                continue
            if self._panel.busy(name, now_ms):
                continue
            if name in self._unsent:
                if self._panel.pulse(name):
                    del self._unsent[name]
                continue
            if pence >= PULSE_PENCE:
                if panel_online:
                    transaction = self._books.transaction(now_ms).set(queue, pence - PULSE_PENCE).set(flight, 1)
                    transaction.count(name).commit()
                    if not self._panel.pulse(name):
                        self._unsent[name] = True
            else:
                journal.commit(((flight, 0),))

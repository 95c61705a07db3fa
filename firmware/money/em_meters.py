"""Electromechanical meters: a pulse queue that survives power loss (CAB-MTR-07).

Money to count is added in the transaction that books the coin. A pulse is taken off the queue before it is given: after a
power cut at most that one pulse is in doubt. It is counted when its time is over. One that the panel's boards may not have
heard is in doubt, too. Whatever is in doubt is counted, logged and never repeated.

A pulse that is known to have drawn no current has moved no meter: it goes back to the queue, and the tilt stops both meters
until a technician has plugged it in. Where it was the sense that is broken, the meter is ahead by that one pulse.
"""

from firmware import events
from firmware.store import keys

_METERS = (
    ("em_in", keys.EM_IN_PENCE, keys.EM_IN_FLIGHT),
    ("em_out", keys.EM_OUT_PENCE, keys.EM_OUT_FLIGHT),
)


class EmMeters:
    """Drains both queues through the panel driver, one pulse at a time each."""

    def __init__(self, books, panel, tilts):
        self._books = books
        self._tilts = tilts
        self._panel = panel
        self._unsent = {}  # pulses taken off the queue that the panel could not send yet
        self._quiet = -1  # the journal's sequence number with which there was nothing to do

    def recover(self, now_ms: int) -> None:
        """Closes pulses that power loss left in doubt; called once at power-up."""
        for name, _, flight in _METERS:
            if self._books.journal.get_int(flight):
                transaction = self._books.transaction(now_ms).set(flight, 0).count(name)
                transaction.event(events.EM_PULSE_IN_DOUBT, _number(name)).commit()

    def idle(self) -> bool:
        """True when no whole pulse waits and none is in flight."""
        journal, pulse_pence = self._books.journal, self._books.config.value("pulse")
        return not any(journal.get_int(k) >= pulse_pence or journal.get_int(f) for _, k, f in _METERS)

    def poll(self, now_ms: int, panel_online: bool) -> None:
        """Smaller sums than one pulse counts wait until they make one."""
        journal = self._books.journal
        if journal.sequence == self._quiet:
            return
        pulse_pence = self._books.config.value("pulse")
        stopped = self._tilts.latched("em_meter")
        waiting = False
        for name, queue, flight in _METERS:
            pence = journal.get_int(queue)
            if pence < pulse_pence and not journal.get_int(flight):
                continue
            waiting = True
            if self._panel.busy(name, now_ms):
                continue
            if name in self._unsent:
                if self._panel.pulse(name):
                    del self._unsent[name]
                continue
            if journal.get_int(flight):
                self._settle(name, queue, flight, now_ms)
            elif panel_online and not stopped:
                journal.commit(((queue, pence - pulse_pence), (flight, 1)))
                if not self._panel.pulse(name):
                    self._unsent[name] = True
        if not waiting:
            self._quiet = journal.sequence

    def _settle(self, name: str, queue: int, flight: int, now_ms: int) -> None:
        """The on and off time of a pulse is over."""
        transaction = self._books.transaction(now_ms).set(flight, 0)
        if self._panel.missed(name):
            transaction.set(queue, self._books.journal.get_int(queue) + self._books.config.value("pulse"))
            transaction.event(events.EM_PULSE_MISSED, _number(name))
            self._tilts.latch("em_meter", transaction)
        else:
            transaction.count(name)
            if self._panel.doubtful(name):
                transaction.event(events.EM_PULSE_IN_DOUBT, _number(name))
        transaction.commit()


def _number(name: str) -> int:
    return 0 if name == "em_in" else 1

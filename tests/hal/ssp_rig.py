"""A note acceptor in virtual time: driver, line and model, and a host that keeps books as the firmware does.

The host's journal outlives its power. A cut is asked for at a moment (`cut_at`) or at a step of the host's own work
(`cut_step`): before and after each commit, each order to the driver and each booking.
"""

from dataclasses import dataclass, field
from typing import Any

from hal.boards.host import Aes
from hal.ssp.essp import Secret
from hal.ssp.note_acceptor import NoteAcceptor
from host_tools.hil.line import Line
from host_tools.hil.models.ssp_acceptor import SspAcceptor

STEP_MS = 5
FIXED_KEY = bytes.fromhex("0123456701234567")


class PowerCut(Exception):
    """The host has lost its power."""


@dataclass
class Journal:
    """What the firmware would keep in NVRAM."""

    pending: tuple[int, int, bytes] | None = None
    token: bytes = b""
    credited: list[int] = field(default_factory=list)
    disputed: list[tuple[int, str]] = field(default_factory=list)
    returned: int = 0
    refused: list[int] = field(default_factory=list)


class NoteRig:
    """One acceptor on one line. `decide(pence)` is what the firmware does with a held note: True, False, or None for later."""

    # In what devices of this protocol differ (options of the model), and in what they tell of a note found at a start.
    DEVICES: tuple[dict[str, Any], ...] = ({"acks": True}, {"acks": False})
    STARTS: tuple[dict[str, Any], ...] = tuple({"evidence": kind} for kind in ("channel", "blank", "amount", "none"))
    # The device's own codes: of refused notes, of a note that was in escrow when the host came up, of one pulled back.
    NOT_READ, INHIBITED, FROM_BEFORE, PULLED = 1, 6, 8, 0xE6
    END_EVENTS = 2  # credit and stacked: they tell that a note went in
    SILENCE_MS = 11_000  # a device that hears nothing for so long takes no notes
    RESET_MS = 6000  # from a reset until notes are taken again
    DOUBT_MS = 25_000  # until what no counter proves is settled

    def __init__(self, keys: bool = False, **model: Any) -> None:
        self._fit(**model)
        self.journal = Journal()
        self.now_ms = 0
        self.told: list[tuple[Any, ...]] = []
        self.decide: Any = lambda pence: True
        self.decide_after_ms = 0
        self.slow_ms = 0  # from an event until the firmware looks at it
        self._event: Any = None
        self._event_ms = 0
        self.wanted: Any = True
        self.steps = 0
        self.cut_step = -1
        self.host: Any = None
        self._keys = keys
        self._held_ms = 0
        self.model.power(True, 0)
        self.boot()

    def _fit(self, **model: Any) -> None:
        """The line and the device on it."""
        self.line = Line("note", 9600, stop_bits=2)
        self.model: Any = SspAcceptor(**model)
        self.line.attach(self.model)

    def _driver(self, last_token: bytes) -> Any:
        secret = Secret(FIXED_KEY, lambda number: bytes(range(1, number + 1)), Aes) if self._keys else None
        return NoteAcceptor(self.line.port, last_token=last_token, secret=secret)

    @property
    def serial(self) -> int:
        return self.model.serial

    @property
    def retells(self) -> bool:
        """Does the device tell a host that comes back again what it had told the one before?"""
        return 0x57 in self.model.commands

    @property
    def tells_ends(self) -> bool:
        """Does the device tell that a jam is over?"""
        return True

    def exchange(self, serial: int) -> None:
        """Another device stands there, without a note."""
        self.model.cancel()
        self.model.note = None
        self.model.serial = serial

    def boot(self) -> None:
        """The host comes up with what its journal holds."""
        journal = self.journal
        self.host = self._driver(journal.token)
        self.host.accept(self.wanted)
        if journal.pending is not None:
            self.host.resume(*journal.pending)

    def cut_host(self) -> None:
        """The host alone loses its power."""
        self.line.board_reset()
        self.host = None

    def cut_device(self, off_ms: int = 300) -> None:
        self.model.power(False, self.now_ms * 1000)
        self.run(off_ms)
        self.model.power(True, self.now_ms * 1000)

    def cut(self, kind: str, off_ms: int = 300) -> None:
        """`kind`: "host", "device" or "mains"."""
        if kind == "host":
            self.cut_host()
            self.run(off_ms)
            self.boot()
        elif kind == "device":
            self.cut_device(off_ms)
        else:
            self.cut_mains(off_ms)

    def cut_mains(self, off_ms: int = 300) -> None:
        self.model.power(False, self.now_ms * 1000)
        self.cut_host()
        self.run(off_ms)
        self.model.power(True, self.now_ms * 1000)
        self.boot()

    def run(self, ms: int) -> None:
        end = self.now_ms + ms
        while self.now_ms < end:
            self.now_ms += STEP_MS
            self.line.advance(self.now_ms * 1000)
            if self.host is not None:
                try:
                    self._turn(self.host)
                except PowerCut:
                    self.cut_host()
                    self.cut_step = -1
                    self.run(200)
                    self.boot()

    def run_until(self, condition: Any, within_ms: int = 60_000) -> None:
        end = self.now_ms + within_ms
        while not condition():
            assert self.now_ms < end, f"not within {within_ms} ms; told {self.told}, note {self.model.note}"
            self.run(STEP_MS)

    def insert(self, pence: int) -> Any:
        return self.model.insert(pence, self.now_ms * 1000)

    def ready(self) -> "NoteRig":
        self.run_until(lambda: self.model.accepting)
        return self

    def told_kinds(self) -> list[str]:
        return [event[0] for event in self.told]

    # --- the firmware's part -------------------------------------------------------------------------------------

    def _step(self) -> None:
        self.steps += 1
        if self.steps == self.cut_step:
            raise PowerCut

    def poll(self, host: Any) -> None:
        """The drivers' turn; nobody looks at what the note acceptor's has to tell."""
        host.poll(self.now_ms)

    def _turn(self, host: Any) -> None:
        self.poll(host)
        event: Any = host.event()
        if event is not self._event:
            self._event, self._event_ms = event, self.now_ms
        if event is None or self.now_ms - self._event_ms < self.slow_ms:
            return
        if event[0] == "escrow" and not self._decided(host, event):
            return
        self._step()
        self._commit(event)
        self._step()
        self.told.append(event)
        if event[0] == "escrow" and self.journal.pending is not None:
            host.stack()
        self._step()
        host.booked()
        self._held_ms = 0

    def _decided(self, host: Any, event: Any) -> bool:
        self._held_ms = self._held_ms or self.now_ms
        if self.now_ms - self._held_ms < self.decide_after_ms:
            return False
        answer = self.decide(event[1])
        if answer is False:
            self._step()
            host.return_note()
        return answer is not None

    def _commit(self, event: Any) -> None:
        """One record."""
        journal = self.journal
        kind = event[0]
        if kind == "escrow":
            if self.decide(event[1]):
                assert journal.pending is None, "a second note in hand"
                journal.pending = event[1:4]
        elif kind == "stacked":
            journal.token = event[1]
            journal.credited.append(event[2])
            journal.pending = None
        elif kind == "returned":
            journal.returned += 1
            journal.pending = None
        elif kind == "disputed":
            journal.token = event[1]
            journal.disputed.append((event[2], event[3]))
            if event[3] not in ("unasked", "unbooked", "given_back"):
                journal.pending = None
        elif kind == "refused":
            journal.token = event[1]
            journal.refused.append(event[2])

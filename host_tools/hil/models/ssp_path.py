"""A note's way as an SSP acceptor tells of it: the events on its way and after a start. Sources: SOURCES.md 2.2."""

from typing import Final

from host_tools.hil.models.note_faults import NoteFaults
from host_tools.hil.models.note_path import (
    BY_DISABLE,
    BY_HOST,
    CANNOT_STACK,
    INHIBITED,
    NOT_READ,
    PULLED,
    TIMED_OUT,
    Note,
)
from host_tools.hil.models.ssp_device import SspModel

POLL_WATCHDOG_US: Final = 10_000_000
CREDIT, REJECTED, STACKED, TO_CASHBOX, TO_FRONT = 0xEE, 0xEC, 0xEB, 0xE2, 0xE1
REJECT_CODES: Final = {
    NOT_READ: 1, INHIBITED: 6, BY_HOST: 8, BY_DISABLE: 12, PULLED: 14, TIMED_OUT: 19, CANNOT_STACK: 29,
}  # fmt: skip


class SspPath(NoteFaults, SspModel):
    """The part of the model that makes events. `evidence`: what it tells of its start, see SspAcceptor."""

    def __init__(
        self,
        name: str,
        *,
        address: int,
        channels: dict[int, int],
        currency: str,
        counts_at: str,
        evidence: str,
        read_ms: int,
        credit_ms: int,
        stack_ms: int,
        reject_ms: int,
        fixed_key: bytes,
    ) -> None:
        super().__init__(name, address=address, fixed_key=fixed_key)
        self.currency = currency
        self.evidence = evidence
        self._unacked: list[bytes] = []  # told with POLL_WITH_ACK and not acknowledged; they survive
        self.fit_path(
            channels=channels,
            counts_at=counts_at,
            read_ms=read_ms,
            credit_ms=credit_ms,
            stack_ms=stack_ms,
            reject_ms=reject_ms,
        )
        self._start()

    def _start(self) -> None:
        """What begins anew with power."""
        self._link_start()
        self._enabled = False
        self._mask = 0
        self._version = 4
        self._clearing = True
        self._events: list[tuple[int, bytes]] = []  # (told from this time on, event)
        self._swapped: bytes | None = None
        self._polled_us = self.now_us

    def _clear_path_faults(self) -> None:
        super()._clear_path_faults()
        self._swap = False

    @property
    def accepting(self) -> bool:
        polled = self.now_us - self._polled_us <= POLL_WATCHDOG_US
        idle = self.note is None and not self._unacked and not self._clearing
        return self.on and self._enabled and bool(self._mask) and polled and idle and self.stacker == "ok"

    def lets_in(self, channel: int) -> bool:
        return bool(self._mask >> (channel - 1) & 1)

    # Events

    def credited(self, note: Note) -> None:
        self._tell(CREDIT, note.channel, note)

    def arrived(self, note: Note) -> None:
        self._tell(STACKED, None, note)

    def left(self, note: Note, reason: str) -> None:
        self._tell(REJECTED, None, note)

    def cleared(self, note: Note, inside: bool, known: bool) -> None:
        if self.evidence == "none":
            return
        if self.evidence == "amount" and inside:
            amount = note.pence.to_bytes(4, "little") + self.currency.encode()
            self._tell_event(bytes([0xCA, 1]) + amount if self._version >= 8 else b"\xca", note)
        else:
            channel = note.channel if known and self.evidence == "channel" else 0
            self._tell(TO_CASHBOX if inside else TO_FRONT, channel, note)

    def _tell(self, code: int, channel: int | None = None, note: Note | None = None) -> None:
        self._tell_event(bytes([code]) if channel is None else bytes([code, channel]), note or self.note)

    def _tell_event(self, event: bytes, note: Note | None) -> None:
        if note is not None:
            note.told.append(event[0])
        if self._lose:
            self._lose -= 1
            return
        copies = 1
        if self._repeat:
            self._repeat -= 1
            copies = 2
        if self._swap:
            self._swap = False
            self._swapped = event
            return
        due_us = self.now_us + self._late_us
        self._events += [(due_us, event)] * copies
        if self._swapped is not None:
            self._events.append((due_us, self._swapped))
            self._swapped = None

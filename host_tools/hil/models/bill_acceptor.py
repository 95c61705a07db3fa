"""A bill validator on ccTalk, address 40, CRC mode. Sources: SOURCES.md 1.2 (headers), 1.3 (event counter), 1.7 (bill events).

Inhibits, master inhibit and operating mode are volatile and zero after any start; without escrow in the mode it takes notes in
unasked. It stops accepting when its events were not read for a second. A note in escrow waits for header 154, or goes back
by itself. What was in the path at a start is cleared and, by `clears`, told.
"""

from typing import Final

from host_tools.hil.faults import Arg, FaultSpec, Value, resolve
from host_tools.hil.models.cctalk_device import ACK, ANSWER_FAULTS, NAK, CctalkModel, Identity, Reply
from host_tools.hil.models.note_faults import NOTE_FAULTS, NoteFaults
from host_tools.hil.models.note_path import (
    BY_DISABLE,
    BY_HOST,
    ESCROW,
    INHIBITED,
    JAMMED,
    NOT_READ,
    PULLED,
    READING,
    Note,
)

BILLS: Final = {1: ("GB0005A", 500), 2: ("GB0010A", 1000), 3: ("GB0020A", 2000), 4: ("GB0050A", 5000)}
IDENTITY: Final = Identity("ITL", "Bill Validator", "NV9", "CABINET-1.0", "B0", 7_654_321)
ROUTED_EMPTY, ROUTED_FAILED = 254, 255
# Section 1.7.
MASTER_INHIBITED, RETURNED, INVALID, TRANSPORT, BY_SERIAL = 0, 1, 2, 3, 4
JAM_UNSAFE, PULLED_BACK, TAMPER, STACKER_OK, REMOVED, INSERTED, FULL, JAM_SAFE = 6, 8, 9, 10, 11, 12, 14, 16
REASONS: Final = {NOT_READ: INVALID, INHIBITED: BY_SERIAL, BY_DISABLE: MASTER_INHIBITED, PULLED: PULLED_BACK}


class BillAcceptor(NoteFaults, CctalkModel):
    """A validator; its truths are those of NotePath, and `resets`.

    `bills`: bill type -> (id, pence). `counters`: does it count accepted and rejected notes (225, 194)? `counts_at`: "credit",
    "stacker" or "escrow". `clears`: does it tell what it found in its path at a start? `checks`: does it know the self-check?
    """

    FAULTS = ANSWER_FAULTS | NOTE_FAULTS | {
        "refuse_route": FaultSpec("the next N routes fail (255) and the note stays in escrow", (Arg("N", 1, 100, default=1),)),
        "event": FaultSpec("one event without a bill type (section 1.7)", (Arg("CODE", 0, 255),)),
    }  # fmt: skip

    def __init__(
        self,
        name: str = "note_acceptor",
        *,
        address: int = 40,
        bills: dict[int, tuple[str, int]] | None = None,
        identity: Identity = IDENTITY,
        crc: bool = True,
        counters: bool = True,
        counts_at: str = "credit",
        clears: bool = True,
        checks: bool = True,
        scale: tuple[int, int] = (100, 2),
        read_ms: int = 700,
        credit_ms: int = 500,
        stack_ms: int = 400,
        reject_ms: int = 500,
        clear_ms: int = 1500,
        boot_ms: int = 400,
        reset_ms: int = 150,
        poll_watchdog_ms: int = 1000,
    ) -> None:
        super().__init__(name, address, identity, crc=crc, boot_ms=boot_ms, reset_ms=reset_ms)
        self.bills = dict(BILLS if bills is None else bills)
        self.clear_us, self.watchdog_us = clear_ms * 1000, poll_watchdog_ms * 1000
        self.clears = clears
        self.scale = scale
        self.resets = 0
        self.fit_path(
            channels={kind: pence for kind, (_, pence) in self.bills.items()},
            counts_at=counts_at,
            read_ms=read_ms,
            credit_ms=credit_ms,
            stack_ms=stack_ms,
            reject_ms=reject_ms,
        )
        self._volatile_start()
        self._commands |= {
            231: (2, self._modify_inhibits),
            230: (0, lambda data, now_us: (0, self._mask.to_bytes(2, "little"))),
            228: (1, self._modify_master),
            227: (0, lambda data, now_us: (0, bytes([self._master]))),
            159: (0, self._read_events),
            157: (1, self._bill_id),
            156: (2, self._scaling),
            154: (1, self._route),
            153: (1, self._modify_mode),
            152: (0, lambda data, now_us: (0, bytes([self._mode]))),
        }
        if checks:
            self._commands[232] = (0, lambda data, now_us: (0, bytes([self._wrong()])))
        if counters:
            self._commands[225] = (0, lambda data, now_us: (0, (self.counted_in & 0xFFFFFF).to_bytes(3, "little")))
            self._commands[194] = (0, lambda data, now_us: (0, (self.counted_back & 0xFFFFFF).to_bytes(3, "little")))

    def _clear_path_faults(self) -> None:
        super()._clear_path_faults()
        self._refuse_route = 0

    # A note's way, as it is told

    @property
    def accepting(self) -> bool:
        polled = self.now_us - self._polled_us <= self.watchdog_us
        idle = self.note is None and not self._clearing
        return self.on and bool(self._master) and bool(self._mask) and polled and idle and self.stacker == "ok"

    def lets_in(self, channel: int) -> bool:
        return bool(self._master) and bool(self._mask >> (channel - 1) & 1)

    def escrowed(self, note: Note) -> None:
        if self.counts_at == ESCROW:
            self.counted_in += 1
        if self._mode & 2:
            self._event(note.channel, 1)
        else:
            self._accept(self.now_us)

    def credited(self, note: Note) -> None:
        self._event(note.channel, 0)

    def left(self, note: Note, reason: str) -> None:
        self._event(0, REASONS.get(reason, RETURNED))

    def jammed(self, note: Note) -> None:
        self._event(0, JAM_UNSAFE if self._jam == "unsafe" else JAM_SAFE)

    def cleared(self, note: Note, inside: bool, known: bool) -> None:
        if self.clears and inside:
            self._event(note.channel, 0)
        elif self.clears and known:
            self._event(0, RETURNED)

    def _event(self, a: int, b: int) -> None:
        if self._lose:
            self._lose -= 1
            return
        copies = 2 if self._repeat else 1
        self._repeat = max(0, self._repeat - 1)
        for _ in range(copies):
            if self._late_us:
                self.at(self.now_us + self._late_us, lambda when_us: self._make(a, b))
            else:
                self._make(a, b)

    def _make(self, a: int, b: int) -> None:
        self._counter = self._counter % 255 + 1
        self._events = [(a, b), *self._events[:4]]

    # Commands

    def _hear(self, frame: bytes, now_us: int) -> None:
        if not self._no_word:
            super()._hear(frame, now_us)

    def _read_events(self, data: bytes, now_us: int) -> Reply:
        self._polled_us = now_us
        if self._counter != self._shown_counter:
            self._shown_counter = self._counter
            self.on_told(f"{self._counter}: {self._events[0][0]} {self._events[0][1]}")
        return 0, bytes([self._counter]) + b"".join(bytes(pair) for pair in self._events)

    def _modify_inhibits(self, data: bytes, now_us: int) -> Reply:
        self._mask = int.from_bytes(data, "little")
        return ACK

    def _modify_master(self, data: bytes, now_us: int) -> Reply:
        self._master = data[0] & 1
        if not self._master and self.note is not None and self.note.place == READING and not self._clearing:
            self._reject(BY_DISABLE)  # one in escrow stays there
        return ACK

    def _modify_mode(self, data: bytes, now_us: int) -> Reply:
        self._mode = data[0] & 3
        return ACK

    def _bill_id(self, data: bytes, now_us: int) -> Reply:
        if not 1 <= data[0] <= 16:
            return NAK
        return 0, self.bills.get(data[0], (".......", 0))[0].encode("ascii")

    def _scaling(self, data: bytes, now_us: int) -> Reply:
        factor, decimals = (
            self.scale if any(name.encode().startswith(data) for name, _ in self.bills.values()) else (0, 0)
        )
        return 0, factor.to_bytes(2, "little") + bytes([decimals])

    def _route(self, data: bytes, now_us: int) -> Reply:
        if data[0] not in (0, 1, 255):
            return NAK
        if not self._in_escrow():
            return 0, bytes([ROUTED_EMPTY])
        if data[0] == 255:
            self._keep(now_us)
        elif self._refuse_route:
            self._refuse_route -= 1
            return 0, bytes([ROUTED_FAILED])
        elif data[0] == 1:
            self._accept(now_us)
        else:
            self._reject(BY_HOST)
        return ACK

    def _wrong(self) -> int:
        """Section 1.5."""
        if self.note is not None and self.note.place == JAMMED:
            return 39
        return {"removed": 44, "full": 45}.get(self.stacker, 0)

    # Power and faults

    def _volatile_start(self) -> None:
        self._counter = self._shown_counter = 0  # the second: in the last answer
        self._events: list[tuple[int, int]] = [(0, 0)] * 5
        self._mask = self._master = self._mode = 0
        self._polled_us = -(1 << 40)
        self._clearing = True

    def started(self, now_us: int, power: bool) -> None:
        super().started(now_us, power)
        self._volatile_start()
        self.at(now_us + self.boot_us + self.clear_us, self._clear_path)

    def stopping(self, now_us: int, power: bool) -> None:
        self.cancel()

    def _brown_out(self, now_us: int) -> None:
        if self.on:
            self.resets += 1
            self.restart(now_us, power=True, deaf_us=self.boot_us)

    def fault(self, kind: str, *args: Value) -> None:
        if kind == "silent":  # of all ccTalk devices, but here at a step of a note's way
            self.own_fault(kind, resolve(self.name, self.FAULTS, kind, args))
        else:
            super().fault(kind, *args)

    def _forget(self) -> None:
        self._mask = self._mode = 0

    def _see_fraud(self) -> None:
        self._event(0, TAMPER)

    def special_fault(self, kind: str, figure: Value) -> None:
        if kind == "refuse_route":
            self._refuse_route = int(figure)
        else:
            self._event(0, int(figure))

    def _move_stacker(self, state: str) -> None:
        before, self.stacker = self.stacker, state
        if state == "removed":
            self._event(0, REMOVED)
        elif state == "full":
            self._event(0, FULL)
        elif before == "removed":
            self._event(0, INSERTED)
        if state == "ok" and before != "ok":
            self._event(0, STACKER_OK)

"""A note acceptor on SSP, without payout. Sources: SOURCES.md 2.2 (commands, events, reject codes).

An answer to POLL tells what has happened since the last one and then what lasts. The POLL after the one that has shown a note in
escrow accepts it. With POLL_WITH_ACK what moves money is told again until EVENT_ACK, and no other note is moved before.
"""

from host_tools.hil.faults import Arg, FaultSpec, Value
from host_tools.hil.models.note_faults import NOTE_FAULTS
from host_tools.hil.models.note_path import (
    BY_DISABLE,
    BY_HOST,
    ESCROW,
    GBP_NOTES,
    JAMMED,
    LEAVING,
    MOVING,
    PAST,
    READING,
)
from host_tools.hil.models.ssp_device import FAIL, LINK_FAULTS, NOT_NOW, OK
from host_tools.hil.models.ssp_path import REJECT_CODES, SspPath


class SspAcceptor(SspPath):
    """A validator; its truths are those of NotePath, and `resets`.

    `channels`: channel -> pence. `highest`: protocol version that it speaks at most. `acks`, `counters`, `holds`: does it
    know POLL_WITH_ACK, GET_COUNTERS, HOLD? `counts_at`: "credit" or "stacker". `evidence` after power loss: "channel", "blank"
    (channel 0), "amount" (paid into stacker, CA), "none".
    """

    FAULTS = LINK_FAULTS | NOTE_FAULTS | {
        "swap": FaultSpec("the next event of a note is told after the one that follows it"),
        "path": FaultSpec("the note path is open"),
        "version": FaultSpec("the highest protocol version that it takes", (Arg("N", 4, 9),)),
    }  # fmt: skip

    def __init__(
        self,
        name: str = "note_acceptor",
        *,
        address: int = 0,
        channels: dict[int, int] | None = None,
        currency: str = "GBP",
        serial: int = 1_234_567,
        highest: int = 8,
        acks: bool = True,
        counters: bool = True,
        holds: bool = True,
        counts_at: str = "credit",
        evidence: str = "channel",
        read_ms: int = 700,
        credit_ms: int = 500,
        stack_ms: int = 400,
        reject_ms: int = 500,
        boot_ms: int = 400,
        clear_ms: int = 1500,
        fixed_key: bytes = bytes.fromhex("0123456701234567"),
    ) -> None:
        super().__init__(
            name,
            address=address,
            channels=dict(GBP_NOTES if channels is None else channels),
            currency=currency,
            counts_at=counts_at,
            evidence=evidence,
            read_ms=read_ms,
            credit_ms=credit_ms,
            stack_ms=stack_ms,
            reject_ms=reject_ms,
            fixed_key=fixed_key,
        )
        self.serial = serial
        self.highest = highest
        self.boot_us, self.clear_us = boot_ms * 1000, clear_ms * 1000
        self.resets = 0
        self._replaced = self._path_open = False
        none, one, two = (0,), (1,), (2,)
        self.commands |= {
            0x01: (none, self._reset),
            0x02: (two, self._inhibit),
            0x05: (none, lambda rest, now_us: OK + self._setup()),
            0x06: (one, self._set_version),
            0x07: (none, lambda rest, now_us: self._poll(False, now_us)),
            0x08: (none, self._reject_held),
            0x09: (none, self._disable),
            0x0A: (none, self._enable),
            0x0C: (none, lambda rest, now_us: OK + self.serial.to_bytes(4, "big")),
            0x17: (none, lambda rest, now_us: OK + bytes([REJECT_CODES[self._reason]])),
        }
        if holds:
            self.commands[0x18] = (none, self._hold)
        if acks:
            self.commands[0x56] = (none, lambda rest, now_us: self._poll(True, now_us))
            self.commands[0x57] = (none, self._acknowledge)
        if counters:
            self.commands[0x58] = (none, self._tell_counters)

    def _start(self) -> None:
        super()._start()
        self._fresh = True
        self._fraud = False

    # Events

    def _poll(self, with_ack: bool, now_us: int) -> bytes:
        self._polled_us = now_us
        note = self.note
        if self._in_escrow() and note is not None and note.shown and not (with_ack and self._unacked):
            self._accept(now_us)
        answer = bytearray(OK)
        if self._fresh:
            self._fresh = False
            answer += b"\xf1"
        for event in self._unacked:
            answer += event
        if not with_ack:
            self._unacked.clear()
        waiting = []
        for due_us, event in self._events:
            if due_us > now_us:
                waiting.append((due_us, event))
                continue
            answer += event
            if with_ack and event[0] in (0xEE, 0xE1, 0xE2, 0xCA):
                self._unacked.append(event)
        self._events = waiting
        answer += self._states(with_ack)
        self.on_told(answer[1:].hex(" ").upper())
        return bytes(answer)

    def _states(self, with_ack: bool) -> bytes:
        """What every answer tells while it lasts."""
        told = bytearray()
        note = self.note
        if note is not None and not self._clearing:
            if note.place == ESCROW:
                note.shown = True
                told += bytes([0xEF, note.channel])
            elif note.place == JAMMED:
                told.append(0xE9 if self._jam == "unsafe" else 0xEA)
            elif note.place != PAST:
                told += {READING: b"\xef\x00", MOVING: b"\xcc", LEAVING: b"\xed"}[note.place]
        if self._fraud:
            self._fraud = False
            told += bytes([0xE6, 0])
        if self.stacker != "ok":
            told.append(0xE7 if self.stacker == "full" else 0xE3)
        if self._replaced:
            self._replaced = False
            told.append(0xE4)
        if self._path_open:
            told.append(0xE0)
        if with_ack and self._clearing:
            told.append(0xB6)
        if not self._enabled or self.stacker != "ok":
            told.append(0xE8)
        elif not self._mask:
            told.append(0xB5)
        return bytes(told)

    # Commands

    def _acknowledge(self, rest: bytes, now_us: int) -> bytes:
        if not self._unacked:
            return NOT_NOW
        self._unacked.clear()
        return OK

    def _hold(self, rest: bytes, now_us: int) -> bytes:
        if not self._in_escrow():
            return NOT_NOW
        self._keep(now_us)
        return OK

    def _reject_held(self, rest: bytes, now_us: int) -> bytes:
        if not self._in_escrow():
            return NOT_NOW
        self._reject(BY_HOST)
        return OK

    def _enable(self, rest: bytes, now_us: int) -> bytes:
        self._enabled = True
        self._polled_us = now_us
        return OK

    def _disable(self, rest: bytes, now_us: int) -> bytes:
        self._enabled = False
        if self.note is not None and self.note.place == READING and not self._clearing:
            self._reject(BY_DISABLE)  # one in escrow stays there: a host must not rely on more than REJECT
        return OK

    def _inhibit(self, rest: bytes, now_us: int) -> bytes:
        self._mask = int.from_bytes(rest, "little")
        return OK

    def _set_version(self, rest: bytes, now_us: int) -> bytes:
        if not 4 <= rest[0] <= self.highest:
            return FAIL
        self._version = rest[0]
        return OK

    def _setup(self) -> bytes:
        number = max(self.channels)
        pounds = [self.channels.get(channel, 0) // 100 for channel in range(1, number + 1)]
        answer = b"\x00" + b"0410" + self.currency.encode() + (1).to_bytes(3, "big") + bytes([number, *pounds])
        answer += bytes([2] * number) + (100).to_bytes(3, "big") + bytes([self._version])
        if self._version >= 6:
            answer += self.currency.encode() * number + b"".join(value.to_bytes(4, "little") for value in pounds)
        return answer

    def _tell_counters(self, rest: bytes, now_us: int) -> bytes:
        figures = (self.counted_in, 0, 0, 0, self.counted_back)  # stacked, stored, dispensed, moved, rejected
        return OK + b"\x05" + b"".join(figure.to_bytes(4, "little") for figure in figures)

    def _reset(self, rest: bytes, now_us: int) -> bytes:
        self.at(now_us + self.answer_us + 20_000, self._brown_out)
        return OK

    # Power and faults

    def power(self, on: bool, now_us: int) -> None:
        self.poll(now_us)
        if on == self.on:
            return
        self.on = on
        self.cancel()
        if on:
            self._deaf_until_us = now_us + self.boot_us
            self._start()
            self._polled_us = now_us
            self.at(now_us + self.boot_us + self.clear_us, self._clear_path)
        elif self.line is not None:
            self.line.cut()

    def _brown_out(self, now_us: int) -> None:
        if self.on:
            self.resets += 1
            self.power(False, now_us)
            self.power(True, now_us)

    def mute(self, now_us: int) -> bool:
        return self._no_word

    def _forget(self) -> None:
        self._mask = 0

    def _see_fraud(self) -> None:
        self._fraud = True

    def _pulled(self) -> None:
        self._fraud = True
        super()._pulled()

    def _move_stacker(self, state: str) -> None:
        self._replaced = self.stacker == "removed" and state == "ok"
        super()._move_stacker(state)

    def special_fault(self, kind: str, figure: Value) -> None:
        if kind == "swap":
            self._swap = True
        elif kind == "path":
            self._path_open = True
        else:
            self.highest = int(figure)

    def clear(self) -> None:
        super().clear()
        self._path_open = False

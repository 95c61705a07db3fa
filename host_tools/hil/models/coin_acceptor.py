"""A coin acceptor on ccTalk, address 2. Sources: SOURCES.md 1.2 (headers), 1.3 (event counter), 1.4 and 1.5 (codes).

A coin takes time to fall: it is measured, at `gate_ms` the gate lets it through or sends it back, and at `credit_ms`
it passes the credit sensor and falls into the cashbox or hopper; then the credit event is made. Without mains the
gate rejects. All inhibit bits are volatile and zero after any start, and the device stops accepting when header 229
has not come for a second.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from host_tools.hil.faults import Arg, FaultSpec, Value
from host_tools.hil.models.cctalk_device import ACK, ANSWER_FAULTS, NAK, CctalkModel, Identity, Reply

DEFAULT_COINS: Final = {1: ("GB010A", 10), 2: ("GB020A", 20), 3: ("GB050A", 50), 4: ("GB100A", 100), 5: ("GB200A", 200)}
IDENTITY: Final = Identity("Alberici", "Coin Acceptor", "AL66V", "CABINET-1.0", "M0", 12_345_678)
REJECTED, INHIBITED, SECOND_CLOSE, CREDIT_SENSOR_BLOCKED, STRING = 1, 2, 8, 14, 20  # section 1.4
SORTER_PATH: Final = 1


@dataclass(slots=True)
class Coin:
    """A coin that fell in, and what became of its event. Times in microseconds."""

    pence: int
    swallowed_us: int
    credited: bool  # an event was made for it
    reported_us: int | None = None  # the first answer that carried the event had left completely
    wiped_us: int | None = None  # the event left the buffer: five newer ones, a reset, no power

    @property
    def lost(self) -> bool:
        """No answer can have told the board about it: never credited, or wiped before the first answer had left."""
        if not self.credited:
            return True
        return self.wiped_us is not None and (self.reported_us is None or self.wiped_us < self.reported_us)


class CoinAcceptor(CctalkModel):
    """Truths: `swallowed` (pence, in order), `returned` (pence), `lost_pence` (swallowed, and no answer ever told of
    it), `coins` (the last 4096 swallowed ones with what became of their events).

    `coins`: position 1..16 -> (id, pence). `on_coin(pence, path)` is called for each swallowed coin, for a rig that lets
    coins fall into a hopper. Sorter paths (headers 210 and 209) are volatile and 1 after any start; a device without
    `sorter` knows neither header and reports path 0.
    """

    FAULTS = ANSWER_FAULTS | {
        "reset": FaultSpec("the device power-cycles itself"),
        "jam": FaultSpec("a coin sticks at the credit sensor (code 14); all coins come back"),
        "string": FaultSpec("a coin on a string is seen (code 20)"),
        "swallow": FaultSpec(
            "the next N coins fall in without a credit; CODE is reported if not 0",
            (Arg("N", 1, 1000, default=1), Arg("CODE", 0, 255, default=0)),
        ),
        "error": FaultSpec("one event with this error code (section 1.4)", (Arg("CODE", 0, 255),)),
    }

    def __init__(
        self,
        name: str = "coin_acceptor",
        *,
        address: int = 2,
        coins: dict[int, tuple[str, int]] | None = None,
        identity: Identity = IDENTITY,
        crc: bool = False,
        gate_ms: int = 100,
        credit_ms: int = 150,
        close_ms: int = 60,
        poll_watchdog_ms: int = 1000,
        boot_ms: int = 250,
        reset_ms: int = 100,
        answer_ms: int = 2,
        sorter: bool = True,
    ) -> None:
        super().__init__(name, address, identity, crc=crc, boot_ms=boot_ms, reset_ms=reset_ms, answer_ms=answer_ms)
        self.table = dict(DEFAULT_COINS if coins is None else coins)
        self.gate_us = gate_ms * 1000
        self.fall_us = (credit_ms - gate_ms) * 1000
        self.close_us = close_ms * 1000
        self.watchdog_us = poll_watchdog_ms * 1000
        self.on_coin: Callable[[int, int], None] | None = None
        self.sorter = sorter
        self.swallowed: list[int] = []
        self.coins: deque[Coin] = deque(maxlen=4096)
        self.returned: list[int] = []
        self.lost_pence = 0
        self._in_gate: list[tuple[int, int]] = []  # (decision time, pence) of coins before the gate
        self._last_insert_us = -(1 << 40)
        self._jam = self._string = False
        self._swallow = self._swallow_code = 0
        self._meters = {226: 0, 225: 0, 194: 0, 193: 0}  # insertions, accepted, rejected, fraud: EEPROM
        self._alarms = 0
        self._rejected_events = 0
        self._volatile_start()
        self._commands |= {
            248: (0, lambda data, now_us: (0, bytes([2 if self._string else 0]))),
            240: (1, lambda data, now_us: ACK),
            236: (0, lambda data, now_us: (0, bytes([1 if self._jam else 0]))),
            232: (0, self._self_check),
            231: (2, self._modify_inhibits),
            230: (0, lambda data, now_us: (0, self._inhibits.to_bytes(2, "little"))),
            229: (0, self._read_events),
            228: (1, self._modify_master),
            227: (0, lambda data, now_us: (0, bytes([self._master]))),
            216: (0, lambda data, now_us: (0, bytes(5))),
            184: (1, self._coin_id),
            176: (0, self._alarm_counter),
        }
        if sorter:
            self._commands |= {
                210: (2, self._modify_sorter),
                209: (1, lambda data, now_us: (0, bytes([self._paths.get(data[0], SORTER_PATH)]))),
            }
        for header in self._meters:
            self._commands[header] = (0, lambda data, now_us, header=header: self._meter(header))

    def insert(self, pence: int, now_us: int) -> None:
        """A coin is put into the slot."""
        self.poll(now_us)
        close = now_us - self._last_insert_us < self.close_us
        self._last_insert_us = now_us
        if not self.on or self._jam:
            self.returned.append(pence)
            return
        self._meters[226] += 1
        if close:
            self._reject(pence, SECOND_CLOSE, now_us)
            return
        self._in_gate.append((now_us + self.gate_us, pence))
        self.at(now_us + self.gate_us, self._at_gate)

    @property
    def accepting(self) -> bool:
        """Master inhibit released, some coin enabled, polled in time, nothing stuck: the gate would open."""
        polled = not self.watchdog_us or self.now_us - self._last_poll_us <= self.watchdog_us
        return self.on and bool(self._master) and bool(self._inhibits) and polled and not self._jam

    def enabled_positions(self) -> set[int]:
        """Positions whose coins are not inhibited one by one."""
        return {position for position in range(1, 17) if self._inhibits >> (position - 1) & 1}

    @property
    def rejected(self) -> int:
        """Events so far that were no coins: rejects, and alarms of faults."""
        return self._rejected_events

    # A coin falls

    def _at_gate(self, when_us: int) -> None:
        _, pence = self._in_gate.pop(0)
        position = next((place for place, (_, value) in self.table.items() if value == pence), 0)
        awake = not self.watchdog_us or when_us - self._last_poll_us <= self.watchdog_us
        if self._jam or not self._master or not awake:
            self.returned.append(pence)  # the whole device is inhibited: it measures nothing, so it reports nothing
        elif not position:
            self._reject(pence, REJECTED, when_us)
        elif not self._inhibits >> (position - 1) & 1:
            self._reject(pence, INHIBITED, when_us)
        else:
            self.at(when_us + self.fall_us, lambda at_us: self._at_credit_sensor(position, pence, at_us))
            self._falling.append(pence)

    def _at_credit_sensor(self, position: int, pence: int, when_us: int) -> None:
        self._falling.remove(pence)
        credited = not self._swallow
        path = self._paths.get(position, SORTER_PATH) if self.sorter else 0
        self._fell(pence, when_us, credited, path)
        if credited:
            self._meters[225] += 1
            self._event(position, path, self.coins[-1])
            return
        self._swallow -= 1
        if self._swallow_code:
            self._event(0, self._swallow_code)

    def _fell(self, pence: int, when_us: int, credited: bool, path: int = SORTER_PATH) -> None:
        self.swallowed.append(pence)
        self.coins.append(Coin(pence, when_us, credited))
        if not credited:
            self.lost_pence += pence
        if self.on_coin is not None:
            self.on_coin(pence, path)

    def _reject(self, pence: int, code: int, when_us: int) -> None:
        self.returned.append(pence)
        self._meters[194] += 1
        if self._master:
            self._event(0, code)

    def _event(self, a: int, b: int, coin: Coin | None = None) -> None:
        self._rejected_events += coin is None
        self._counter = self._counter % 255 + 1  # 0 only after a start, then 1..255 and 1 again (section 1.3)
        self._events.insert(0, (a, b, coin))
        self._wipe(self._events.pop()[2])

    def _wipe(self, coin: Coin | None) -> None:
        if coin is not None:
            coin.wiped_us = self.now_us
            if coin.lost:
                self.lost_pence += coin.pence

    # Power and faults

    def _volatile_start(self) -> None:
        self._counter = 0
        self._events: list[tuple[int, int, Coin | None]] = [(0, 0, None)] * 5
        self._inhibits = 0
        self._paths: dict[int, int] = {}
        self._master = 0
        self._last_poll_us = -(1 << 40)
        self._falling: list[int] = []

    def started(self, now_us: int, power: bool) -> None:
        super().started(now_us, power)
        self._volatile_start()

    def stopping(self, now_us: int, power: bool) -> None:
        self.cancel()
        for _, pence in self._in_gate:
            self.returned.append(pence)  # the gate closes without current
        self._in_gate.clear()
        for pence in self._falling:
            self._fell(pence, now_us, False)  # past the gate: it falls, and nobody is left to report it
        self._falling.clear()
        for _, _, coin in self._events:
            self._wipe(coin)

    def own_fault(self, kind: str, values: tuple[Value, ...]) -> None:
        if kind == "reset":
            if self.on:
                self.restart(self.now_us, power=True, deaf_us=self.boot_us)
        elif kind == "jam":
            self._jam = True
            self._alarm(CREDIT_SENSOR_BLOCKED)
        elif kind == "string":
            self._string = True
            self._meters[193] += 1
            self._alarm(STRING)
        elif kind == "swallow":
            self._swallow, self._swallow_code = int(values[0]), int(values[1])
        elif kind == "error":
            self._alarm(int(values[0]))

    def _alarm(self, code: int) -> None:
        if self.on:
            self._alarms = min(255, self._alarms + 1)
            self._event(0, code)

    def clear(self) -> None:
        super().clear()
        self._jam = self._string = False
        self._swallow = 0

    # Commands

    def _read_events(self, data: bytes, now_us: int) -> Reply:
        self._last_poll_us = now_us
        told = not self._lost_answers and not self._bad_checksum
        pairs = bytearray([self._counter])
        for a, b, coin in self._events:
            pairs += bytes([a, b])
            if told and coin is not None and coin.reported_us is None:
                coin.reported_us = self.answer_end_us(11)
        return 0, bytes(pairs)

    def _modify_inhibits(self, data: bytes, now_us: int) -> Reply:
        self._inhibits = int.from_bytes(data, "little")
        return ACK

    def _modify_sorter(self, data: bytes, now_us: int) -> Reply:
        if not 1 <= data[0] <= 16 or not 1 <= data[1] <= 8:
            return NAK
        self._paths[data[0]] = data[1]
        return ACK

    def _modify_master(self, data: bytes, now_us: int) -> Reply:
        self._master = data[0] & 1
        return ACK

    def _coin_id(self, data: bytes, now_us: int) -> Reply:
        if not 1 <= data[0] <= 16:
            return NAK
        return 0, self.table.get(data[0], ("......", 0))[0].encode("ascii")

    def _self_check(self, data: bytes, now_us: int) -> Reply:
        return 0, bytes([3 if self._jam else 20 if self._string else 0])  # section 1.5: credit sensor, COS

    def _alarm_counter(self, data: bytes, now_us: int) -> Reply:
        alarms, self._alarms = self._alarms, 0
        return 0, bytes([alarms])

    def _meter(self, header: int) -> Reply:
        return 0, (self._meters[header] & 0xFFFFFF).to_bytes(3, "little")

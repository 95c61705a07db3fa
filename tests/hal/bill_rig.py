"""The rig of note acceptors with a bill validator on a ccTalk line, alone or beside a coin acceptor and a hopper."""

from dataclasses import replace
from typing import Any

from hal.cctalk.bus import Bus
from hal.cctalk.coin_acceptor import CoinAcceptor
from hal.cctalk.hopper import Hopper
from hal.cctalk.note_acceptor import NoteAcceptor
from host_tools.hil.line import Line
from host_tools.hil.models import coin_acceptor, hopper
from host_tools.hil.models.bill_acceptor import BillAcceptor
from tests.hal.ssp_rig import NoteRig

COINS = {"GB010A": 10, "GB020A": 20, "GB050A": 50, "GB100A": 100, "GB200A": 200}


class BillRig(NoteRig):
    """`others`: a coin acceptor and a hopper share the line, both in the simple checksum mode."""

    DEVICES = ({"clears": True}, {"clears": False})
    STARTS = ({},)  # told or not, which is `clears`
    NOT_READ, INHIBITED, FROM_BEFORE, PULLED = 2, 4, 256, 8
    END_EVENTS = 1
    SILENCE_MS = 1100
    RESET_MS = 12_000
    DOUBT_MS = 80_000  # a late event has a minute to come

    def __init__(self, others: bool = False, **model: Any) -> None:
        self._others = others
        self.coins_told: list[tuple[Any, ...]] = []
        self.hopper_told: list[tuple[Any, ...]] = []
        self.coin_counter: int | None = 0
        super().__init__(**model)

    def _fit(self, **model: Any) -> None:
        self.line = Line("cctalk", 9600, True)
        self.model = BillAcceptor(**model)
        self.line.attach(self.model)
        if self._others:
            self.coin_model = coin_acceptor.CoinAcceptor()
            self.hopper_model = hopper.Hopper("hopper", address=3, coin_id="GB100A", pence=100)
            for device in (self.coin_model, self.hopper_model):
                self.line.attach(device)
                device.power(True, 0)

    def _driver(self, last_token: bytes) -> NoteAcceptor:
        self.bus = Bus(self.line.port)
        if self._others:
            self.coins = CoinAcceptor(self.bus, COINS, last_counter=self.coin_counter)
            self.coins.accept(True)
            self.hopper = Hopper(self.bus, 3)
        return NoteAcceptor(self.bus, last_token=last_token)

    @property
    def serial(self) -> int:
        return self.model.identity.serial

    @property
    def retells(self) -> bool:
        return True

    @property
    def tells_ends(self) -> bool:
        return 232 in self.model._commands  # the self-check

    def exchange(self, serial: int) -> None:
        self.model.cancel()
        self.model.note = None
        self.model.identity = replace(self.model.identity, serial=serial)

    def listen(self) -> list[tuple[int, bytes]]:
        """(header, data) of what goes to the validator from now on."""
        sent: list[tuple[int, bytes]] = []
        write = self.line.port.write

        def hear(data: Any) -> None:
            if data[0] == 40:
                sent.append((data[3], bytes(data[4:-1])))
            write(data)

        self.line.port.write = hear
        return sent

    def poll(self, host: Any) -> None:
        self.bus.poll(self.now_ms)
        if self._others:
            self.coins.poll(self.now_ms)
            self.hopper.poll(self.now_ms)
            while (event := self.coins.event()) is not None:
                self.coins_told.append(event)
                self.coins.booked()
                self.coin_counter = self.coins.last_counter
            while (event := self.hopper.event()) is not None:
                self.hopper_told.append(event)
                self.hopper.booked()
        super().poll(host)

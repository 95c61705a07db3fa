"""The default cabinet's world: its serial lines and the devices on them."""

from collections.abc import Callable
from typing import Any

from hal.panel.wiring import DEFAULT as WIRING
from host_tools.hil.console_client import ConsoleClient
from host_tools.hil.device import Device
from host_tools.hil.line import Line
from host_tools.hil.models.battery_clock import BatteryClock
from host_tools.hil.models.bill_acceptor import BillAcceptor
from host_tools.hil.models.coin_acceptor import CoinAcceptor
from host_tools.hil.models.entropy_asked import EntropySource
from host_tools.hil.models.entropy_command import CommandDevice
from host_tools.hil.models.entropy_device import EntropyDevice
from host_tools.hil.models.entropy_stream import StreamDevice
from host_tools.hil.models.hopper import Hopper
from host_tools.hil.models.opp_panel import OppPanel
from host_tools.hil.models.ssp_acceptor import SspAcceptor

BAUDS = {"console": 115200, "cctalk": 9600, "panel": 115200, "entropy": 115200, "note": 9600}
STOP_BITS = {"note": 2}  # one on every other line

ENTROPY: dict[str, type[EntropyDevice]] = {"asked": EntropySource, "stream": StreamDevice, "command": CommandDevice}
"""Models of random devices by the names of hal/entropy/kinds.py."""

NOTE_ACCEPTORS: dict[str, tuple[str, type[SspAcceptor] | type[BillAcceptor]]] = {
    "ssp": ("note", SspAcceptor),
    "cctalk": ("cctalk", BillAcceptor),
}
"""Line and model of a note acceptor, by its protocol."""


def make_panel() -> OppPanel:
    """The I/O board wired as the default cabinet's."""
    places = [*WIRING.buttons, *WIRING.doors, *WIRING.keys]
    return OppPanel(
        boards=dict(WIRING.boards),
        inputs={name: (board, bit) for name, board, bit in places},
        lamps={name: (board, bit) for name, board, bit in WIRING.lamps},
        solenoids={name: (board, number) for name, board, number, _, _ in WIRING.solenoids},
        senses={name: (board, bit) for name, board, bit in WIRING.senses},
        normally_closed=[name for name, _, _ in WIRING.doors],
    )


class World:
    """Lines by name, devices by name, and the physical truths that the meters are compared with."""

    def __init__(
        self,
        on_event: Callable[[dict[str, Any]], None],
        make_line: Callable[..., Line] = Line,
        entropy: str = "asked",
        note: str = "ssp",
    ) -> None:
        self.lines = {
            name: make_line(name, baud, name == "cctalk", stop_bits=STOP_BITS.get(name, 1))
            for name, baud in BAUDS.items()
        }
        self.acceptor = CoinAcceptor()
        self.hopper_100 = Hopper("hopper_100", address=3, coin_id="GB100A", pence=100)
        self.hopper_10 = Hopper("hopper_10", address=4, coin_id="GB010A", pence=10)
        self.acceptor.on_coin = self._fell
        self.cashbox_pence = 0  # coins that the sorter let fall there
        self.panel = make_panel()
        self.entropy: EntropyDevice = ENTROPY[entropy]("entropy")
        self.note_line, model = NOTE_ACCEPTORS[note]
        self.note_acceptor = model()
        self.console = ConsoleClient(on_event)
        self.clock = BatteryClock()
        self.devices: dict[str, Device] = {
            "coin_acceptor": self.acceptor,
            "hopper_100": self.hopper_100,
            "hopper_10": self.hopper_10,
            "panel": self.panel,
            "entropy": self.entropy,
            "note_acceptor": self.note_acceptor,
            "console": self.console,
            "clock": self.clock,
        }
        self.hoppers = {"hopper_100": self.hopper_100, "hopper_10": self.hopper_10}
        for device in (self.acceptor, *self.hoppers.values()):
            self.lines["cctalk"].attach(device)
        self.lines["panel"].attach(self.panel)
        self.lines["entropy"].attach(self.entropy)
        self.lines[self.note_line].attach(self.note_acceptor)
        self.lines["console"].attach(self.console)

    def fit_note_acceptor(self, protocol: str) -> None:
        """Another note acceptor in place of the one that there is, which has had no power yet."""
        self.lines[self.note_line].detach(self.note_acceptor)
        self.note_line, model = NOTE_ACCEPTORS[protocol]
        self.note_acceptor = self.devices["note_acceptor"] = model()
        self.lines[self.note_line].attach(self.note_acceptor)

    def _fell(self, pence: int, path: int) -> None:
        """A coin leaves the acceptor along a sorter path: the cabinet's chutes."""
        hopper = {2: self.hopper_100, 3: self.hopper_10}.get(path)
        if hopper is not None:
            assert hopper.pence == pence, f"{pence}p fell into {hopper.name}"
            hopper.refill(1)
        else:
            self.cashbox_pence += pence

    def power(self, on: bool, now_us: int) -> None:
        """Mains of the whole cabinet."""
        for device in self.devices.values():
            device.power(on, now_us)
        if not on:
            self.board_reset()

    def board_reset(self) -> None:
        """The board alone lost power or was reset."""
        for line in self.lines.values():
            line.board_reset()

    def advance(self, now_us: int) -> None:
        for line in self.lines.values():
            line.advance(now_us)

    def faulty(self, name: str) -> Device | Line:
        """The device or line that a fault is meant for; `panel` and `entropy` name the devices."""
        return self.devices[name] if name in self.devices else self.lines[name]

    @property
    def swallowed_pence(self) -> int:
        """Coins that fell into the cabinet."""
        return sum(self.acceptor.swallowed)

    @property
    def stacked_pence(self) -> int:
        """Notes that are past recovery in the cabinet."""
        return sum(self.note_acceptor.stacked)

    @property
    def paid_pence(self) -> int:
        """Coins that left through the hoppers."""
        return sum(hopper.paid_coins * hopper.pence for hopper in self.hoppers.values())

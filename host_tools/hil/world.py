"""The default cabinet's world: its serial lines and the devices on them."""

from collections.abc import Callable
from typing import Any

from hal.panel.wiring import DEFAULT as WIRING
from host_tools.hil.console_client import ConsoleClient
from host_tools.hil.device import Device
from host_tools.hil.line import Line
from host_tools.hil.models.coin_acceptor import CoinAcceptor
from host_tools.hil.models.entropy_source import EntropySource
from host_tools.hil.models.hopper import Hopper
from host_tools.hil.models.opp_panel import OppPanel

BAUDS = {"console": 115200, "cctalk": 9600, "panel": 115200, "entropy": 115200}


def make_panel() -> OppPanel:
    """The I/O board wired as the default cabinet's."""
    places = [*WIRING.buttons, *WIRING.doors, *WIRING.keys]
    return OppPanel(
        boards=dict(WIRING.boards),
        inputs={name: (board, bit) for name, board, bit in places},
        lamps={name: (board, bit) for name, board, bit in WIRING.lamps},
        solenoids={name: (board, number) for name, board, number, _, _ in WIRING.solenoids},
        normally_closed=[name for name, _, _ in WIRING.doors],
    )


class World:
    """Lines by name, devices by name, and the physical truths that the meters are compared with."""

    def __init__(
        self,
        on_event: Callable[[dict[str, Any]], None],
        make_line: Callable[[str, int, bool], Line] = Line,
    ) -> None:
        self.lines = {name: make_line(name, baud, name == "cctalk") for name, baud in BAUDS.items()}
        self.acceptor = CoinAcceptor()
        self.hopper_100 = Hopper("hopper_100", address=3, coin_id="GB100A", pence=100)
        self.hopper_10 = Hopper("hopper_10", address=4, coin_id="GB010A", pence=10)
        self.panel = make_panel()
        self.entropy = EntropySource()
        self.console = ConsoleClient(on_event)
        self.devices: dict[str, Device] = {
            "coin_acceptor": self.acceptor,
            "hopper_100": self.hopper_100,
            "hopper_10": self.hopper_10,
            "panel": self.panel,
            "entropy": self.entropy,
            "console": self.console,
        }
        for device in (self.acceptor, self.hopper_100, self.hopper_10):
            self.lines["cctalk"].attach(device)
        self.lines["panel"].attach(self.panel)
        self.lines["entropy"].attach(self.entropy)
        self.lines["console"].attach(self.console)

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
    def paid_pence(self) -> int:
        """Coins that left through the hoppers."""
        return sum(hopper.paid_coins * hopper.pence for hopper in (self.hopper_100, self.hopper_10))

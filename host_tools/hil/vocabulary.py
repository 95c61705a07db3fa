"""The names that a rig script may use: those of the default cabinet. A rig with other wiring passes its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from host_tools.hil.faults import FaultSpec
from host_tools.hil.line_faults import LINE_FAULTS
from host_tools.hil.models.battery_clock import BatteryClock
from host_tools.hil.models.bill_acceptor import BillAcceptor
from host_tools.hil.models.coin_acceptor import CoinAcceptor
from host_tools.hil.models.entropy_asked import EntropySource
from host_tools.hil.models.hopper import Hopper
from host_tools.hil.models.opp_panel import OppPanel
from host_tools.hil.models.ssp_acceptor import SspAcceptor

BUTTONS: Final = (
    "start", "autoplay", "max_bet", "stake_up", "stake_down", "level_up", "level_down", "collect", "gamble", "left",
    "right", "info", "fortune_bet", "fortune_spins", "no_thanks", "cash_out",
)  # fmt: skip
DOORS: Final = ("main", "cashbox", "note_box", "logic")
KEYS: Final = ("attendant", "technician")
GAMES: Final = ("dog_diner", "piggy_bank", "piggy_riches")
STATES: Final = (
    "idle", "playing", "choosing", "gambling", "offering", "paying", "handpay", "tilted", "service", "setup", "locked",
    "off",
)  # fmt: skip
OUTCOMES: Final[dict[str, str]] = {
    "loss": "",
    "win": "[OP Nx]",
    "free_spins": "",
    "scatters": "N",
    "feature": "[NAME]",
    "wheel": "[PRIZE]",
    "pot": "[NAME]",
    "token": "[POT]",
    "bowl": "[LEVEL]",
    "pile": "[prize]",
    "modifier": "[GROUP]",
    "respin": "",
    "collect": "",
    "prize": "",
    "shape": "",
    "win_cap": "",
    "gamble": "green|red [SEGMENT]",
    "spin_chance": "win|loss",
}
"""What `want` can look for, and what may (in brackets) or must follow. Names are those of the game's pack."""

_ECHO: Final = {kind: spec for kind, spec in LINE_FAULTS.items() if kind == "echo"}
_UART: Final = {kind: spec for kind, spec in LINE_FAULTS.items() if kind != "echo"}
# `panel` and `entropy` name a device and its line at once: their kinds have no name in common.
DEVICES: Final[dict[str, dict[str, FaultSpec]]] = {
    "coin_acceptor": CoinAcceptor.FAULTS,
    "hopper_100": Hopper.FAULTS,
    "hopper_10": Hopper.FAULTS,
    "panel": OppPanel.FAULTS | _UART,
    "entropy": EntropySource.FAULTS | _UART,
    "note_acceptor": SspAcceptor.FAULTS,
    "clock": BatteryClock.FAULTS,
    "console": {"silent": FaultSpec("nobody reads what the console prints")} | _UART,
    "cctalk": _UART | _ECHO,
    "note": _UART,
}
NOTE_ACCEPTORS: Final[dict[str, dict[str, FaultSpec]]] = {"ssp": SspAcceptor.FAULTS, "cctalk": BillAcceptor.FAULTS}
"""What can be wrong with a note acceptor, by the protocol that it speaks."""

FIGURES: Final = (
    "credit", "coins_in", "notes_in", "wagered", "won", "hopper_out", "handpay", "games", "tilts", "last_win",
    "free_spins_left", "em_in", "em_out", "bet", "stake", "pile", "swallowed", "stacked", "paid", "pulses.em_in", "pulses.em_out",
)  # fmt: skip
"""`expect` names whose value is a figure: pence, or a count for games, tilts, free_spins_left, em_* and pulses.*."""
WORDS: Final = ("state", "tilt", "game", "mode", "audit")
"""`expect` names whose value is a word; `lamp.NAME` is on or off, `meter.NAME` a figure, `console` text."""
CHECKS: Final = ("books", "settled")
"""`expect` names that compare books and world (auditor.py): `books` at any moment, `settled` when nothing is under way."""


@dataclass(frozen=True)
class Vocabulary:
    """Known names. `lamps` and `meters` None: any identifier will do."""

    buttons: tuple[str, ...] = BUTTONS
    doors: tuple[str, ...] = DOORS
    keys: tuple[str, ...] = KEYS
    games: tuple[str, ...] = GAMES
    states: tuple[str, ...] = STATES
    lamps: tuple[str, ...] | None = None
    meters: tuple[str, ...] | None = None
    devices: Mapping[str, Mapping[str, FaultSpec]] = field(default_factory=lambda: DEVICES)
    note_acceptor: str = "ssp"

    def fitted(self, protocol: str) -> "Vocabulary":
        """The names of the same cabinet with this note acceptor: what can be wrong with it is another matter."""
        devices = {**self.devices, "note_acceptor": NOTE_ACCEPTORS[protocol]}
        return replace(self, devices=devices, note_acceptor=protocol)

    def called(self, device: str) -> str:
        """A device as error messages call it."""
        return f"{device} ({self.note_acceptor})" if device == "note_acceptor" else device

    @property
    def inputs(self) -> tuple[str, ...]:
        """Everything that a panel input can be."""
        return self.buttons + self.doors + self.keys


DEFAULT: Final = Vocabulary()


def is_line_fault(kind: str) -> bool:
    """Is this kind the line's business rather than the device's?"""
    return kind in LINE_FAULTS

"""What breaks in a soak: every kind of fault of every device and line, dealt from a shuffled deck so that each one comes."""

import random
from typing import Final

from host_tools.hil import script_commands as cmd
from host_tools.hil.faults import Arg, Value
from host_tools.hil.vocabulary import BUTTONS, DEFAULT, DOORS, KEYS

# Faults that are over with a few bytes or answers come several times in a deck: they hit other moments each time.
BRIEF: Final = (
    "drop",
    "corrupt",
    "duplicate",
    "garbage",
    "echo",
    "crc",
    "lost_answers",
    "bad_checksum",
    "short",
    "error",
    "bad_crc",
    "lose",
    "repeat",
    "swap",
    "give_back",
    "fall_back",
    "pull",
    "forget",
    "fraud",
    "refuse_route",
    "event",
)
ON_THE_WAY: Final = ("fall_back", "pull")  # happen to a note that is on its way, or to none
BRIEF_CARDS: Final = 4
# Largest figure of an argument, where a soak wants less than the table allows: enough to fail, soon over.
_MOST: Final[dict[tuple[str, str], int]] = {
    ("delay", "MS"): 400,
    ("fragment", "N"): 8,
    ("fragment", "MS"): 40,
    ("slow", "MS"): 400,
    ("runaway", "N"): 4,
    ("swallow", "N"): 2,
    ("garbage", "N"): 40,
    ("short", "N"): 60,
    ("late", "MS"): 4000,
    ("lose", "N"): 3,
    ("repeat", "N"): 3,
}
_UNUSED: Final = ("clock",)  # nobody sets the time in a life
_MOST_BYTES: Final = 12
_HOPPER_AFTER: Final = 3
LONGEST_MS: Final = 2500  # that a fault lasts before somebody comes, when it does not end by itself


def lasts(kind: str) -> bool:
    """Until it is cleared."""
    return kind not in BRIEF


def kinds(note: str) -> list[tuple[str, str]]:
    """(device or line, kind) of every fault of the devices that a life with this note acceptor makes use of."""
    unused = _UNUSED if note == "ssp" else (*_UNUSED, "note")
    devices = DEFAULT.fitted(note).devices
    return [(device, kind) for device in devices if device not in unused for kind in devices[device]]


class Deck:
    """Deals faults; when it is empty it is shuffled anew."""

    def __init__(self, dice: random.Random, note: str) -> None:
        self._dice = dice
        self._note = note
        self._devices = DEFAULT.fitted(note).devices
        self._cards: list[tuple[str, str]] = []

    def deal(self) -> cmd.Fault:
        """The next fault, its arguments drawn."""
        if not self._cards:
            for card in kinds(self._note):
                self._cards += [card] * (1 if lasts(card[1]) else BRIEF_CARDS)
            self._dice.shuffle(self._cards)
        device, kind = self._cards.pop()
        return cmd.Fault(device, kind, self._arguments(device, kind))

    def _arguments(self, device: str, kind: str) -> tuple[Value, ...]:
        return tuple(self._argument(device, kind, arg) for arg in self._devices[device][kind].args)

    def _argument(self, device: str, kind: str, arg: Arg) -> Value:
        dice = self._dice
        if arg.words:
            return dice.choice(arg.words)
        if arg.free:
            return dice.choice((*BUTTONS, *DOORS, *KEYS))
        if kind == "swallow" and arg.name == "CODE":
            return dice.choice((0, 6, 16, 36))
        most = _MOST.get((kind, arg.name))
        if most is None:
            most = _HOPPER_AFTER if device.startswith("hopper") and arg.low == 0 else _MOST_BYTES
            most = arg.high if arg.high == 255 else most
        return dice.randint(arg.low, min(most, arg.high))

"""The commands of a rig script. `str(command)` is the canonical line, which parses to an equal command again.

`line` is where a command stands (from 1); it does not count in comparisons. Durations are milliseconds, money is pence.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from host_tools.hil.faults import Value

PRESS_MS: Final = 100
COIN_MS: Final = 500  # a coin falls for 150 ms and is asked for every 200: then it is booked
REFILL_COINS: Final = 500
WITHIN_MS: Final = 120_000


@dataclass(frozen=True, slots=True)
class Times:
    """A multiple of the bet, in hundredths: `10x` is Times(1000), `0.5x` is Times(50)."""

    hundredths: int

    def pence(self, bet_pence: int) -> Fraction:
        """The amount at a bet, exactly."""
        return Fraction(self.hundredths * bet_pence, 100)

    def __str__(self) -> str:
        whole, part = divmod(self.hundredths, 100)
        return f"{whole}.{part:02d}".rstrip("0").rstrip(".") + "x" if part else f"{whole}x"


def duration(ms: int) -> str:
    """The shortest exact way to write a duration."""
    if ms and ms % 60_000 == 0:
        return f"{ms // 60_000}m"
    if ms and ms % 1000 == 0:
        return f"{ms // 1000}s"
    return f"{ms}ms"


def quote(text: str) -> str:
    """Text in quotes, control characters as \\xHH."""
    body = "".join(
        f"\\x{ord(char):02x}" if ord(char) < 32 or ord(char) == 127 else "\\" + char if char in '"\\' else char
        for char in text
    )
    return f'"{body}"'


def _plain(text: str) -> bool:
    """May stand in a script without quotes?"""
    return bool(text) and text == text.strip() and text.isprintable() and not any(char in text for char in '#"')


@dataclass(frozen=True, slots=True)
class Command:
    """One line of a script."""

    line: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Coin(Command):
    """`for_ms`: what the hand takes, until the next command."""

    pence: int
    for_ms: int = COIN_MS

    def __str__(self) -> str:
        return f"coin {self.pence}" + ("" if self.for_ms == COIN_MS else f" for {duration(self.for_ms)}")


@dataclass(frozen=True, slots=True)
class Refill(Command):
    """Coins are poured into a hopper."""

    hopper: str
    coins: int = REFILL_COINS

    def __str__(self) -> str:
        return f"refill {self.hopper}" + ("" if self.coins == REFILL_COINS else f" {self.coins}")


@dataclass(frozen=True, slots=True)
class Coins(Command):
    """Several coins as fast as an acceptor takes them."""

    pence: tuple[int, ...]

    def __str__(self) -> str:
        return " ".join(["coins", *map(str, self.pence)])


@dataclass(frozen=True, slots=True)
class Note(Command):
    """`for_ms`: until the next command; None: until it is in the stacker or back, or something holds it up."""

    pence: int
    for_ms: int | None = None

    def __str__(self) -> str:
        return f"note {self.pence}" + ("" if self.for_ms is None else f" for {duration(self.for_ms)}")


@dataclass(frozen=True, slots=True)
class Press(Command):
    button: str
    for_ms: int = PRESS_MS

    def __str__(self) -> str:
        return f"press {self.button}" + ("" if self.for_ms == PRESS_MS else f" for {duration(self.for_ms)}")


@dataclass(frozen=True, slots=True)
class Hold(Command):
    """`hold` or, with `down` false, `release`: a button that a hand stays on. Takes no time."""

    button: str
    down: bool

    def __str__(self) -> str:
        return f"{'hold' if self.down else 'release'} {self.button}"


@dataclass(frozen=True, slots=True)
class Door(Command):
    """`open` or, with `opened` false, `close`."""

    door: str
    opened: bool

    def __str__(self) -> str:
        return f"{'open' if self.opened else 'close'} {self.door}"


@dataclass(frozen=True, slots=True)
class Key(Command):
    """`turn` or, with `turned` false, `unturn`."""

    key: str
    turned: bool

    def __str__(self) -> str:
        return f"{'turn' if self.turned else 'unturn'} {self.key}"


@dataclass(frozen=True, slots=True)
class Wait(Command):
    ms: int

    def __str__(self) -> str:
        return f"wait {duration(self.ms)}"


@dataclass(frozen=True, slots=True)
class WaitUntil(Command):
    state: str = "idle"
    within_ms: int = WITHIN_MS

    def __str__(self) -> str:
        return f"wait until {self.state}" + (
            "" if self.within_ms == WITHIN_MS else f" within {duration(self.within_ms)}"
        )


@dataclass(frozen=True, slots=True)
class Power(Command):
    on: bool

    def __str__(self) -> str:
        return f"power {'on' if self.on else 'off'}"


@dataclass(frozen=True, slots=True)
class PowerCut(Command):
    """The board's supply fails, now or once `writes` more bytes have been written to NVRAM; `mains`: that of the devices too."""

    writes: int | None = None
    mains: bool = False

    def __str__(self) -> str:
        when = "" if self.writes is None else f" after {self.writes} writes"
        return f"power cut{' mains' if self.mains else ''}{when}"


@dataclass(frozen=True, slots=True)
class Memory(Command):
    """The NVRAM is exchanged for a blank one, or one with the usual configuration."""

    blank: bool

    def __str__(self) -> str:
        return f"memory {'blank' if self.blank else 'commissioned'}"


@dataclass(frozen=True, slots=True)
class Fit(Command):
    """Which note acceptor the cabinet has; before it has had power for the first time."""

    protocol: str

    def __str__(self) -> str:
        return f"fit note_acceptor {self.protocol}"


@dataclass(frozen=True, slots=True)
class Fault(Command):
    """A device or line fault; defaults of arguments are not filled in."""

    device: str
    kind: str
    args: tuple[Value, ...] = ()

    def __str__(self) -> str:
        return " ".join(["fault", self.device, self.kind, *map(str, self.args)])


@dataclass(frozen=True, slots=True)
class Clear(Command):
    device: str

    def __str__(self) -> str:
        return f"clear {self.device}"


@dataclass(frozen=True, slots=True)
class Console(Command):
    text: str

    def __str__(self) -> str:
        return f"console {self.text if _plain(self.text) else quote(self.text)}"


@dataclass(frozen=True, slots=True)
class Game(Command):
    name: str

    def __str__(self) -> str:
        return f"game {self.name}"


@dataclass(frozen=True, slots=True)
class Entropy(Command):
    """`data` are the bytes to send first; with `data` empty, `seed` is the seed or None for random."""

    data: bytes = b""
    seed: int | None = None

    def __str__(self) -> str:
        if self.data:
            return f"entropy {self.data.hex()}"
        return "entropy random" if self.seed is None else f"entropy seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Want(Command):
    """`outcome`: a word of vocabulary.OUTCOMES; `value`: the multiple of `win OP Nx`, a number of Scatters, or a name."""

    outcome: str
    op: str | None = None
    value: Times | int | str | None = None

    def __str__(self) -> str:
        return " ".join(str(part) for part in ("want", self.outcome, self.op, self.value) if part is not None)


@dataclass(frozen=True, slots=True)
class Expect(Command):
    """`value` is a figure, a multiple of the bet, or text."""

    what: str
    op: str
    value: int | Times | str

    def __str__(self) -> str:
        value = self.value
        if isinstance(value, str):
            bare = _plain(value) and " " not in value
            value = value if bare else quote(value)
        return f"expect {self.what} {self.op} {value}"

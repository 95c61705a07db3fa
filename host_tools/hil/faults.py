"""The vocabulary of faults: what a device or a line can be told to do wrong, and with which arguments.

One table per device serves three readers: the model that carries the fault out, the script parser that refuses a
wrong one before anything runs, and the person who reads the error message. Figures arrive as int or as text of an
int, so a script and a test may call the same `fault(kind, *args)`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Value = int | str


@dataclass(frozen=True, slots=True)
class Arg:
    """One argument of a fault: a figure within `low`..`high`, one of `words`, or any name when `free`.

    An argument with a default may be left out; such arguments come last.
    """

    name: str
    low: int = 0
    high: int = 1_000_000
    words: tuple[str, ...] = ()
    free: bool = False
    default: Value | None = None

    def read(self, given: Value) -> Value:
        """The argument as int or word. Errors: ValueError with what is allowed."""
        if self.words:
            if str(given) in self.words:
                return str(given)
            raise ValueError(f"{self.name} is one of: {' '.join(self.words)}; not {given!r}")
        if self.free:
            return str(given)
        try:
            figure = int(given)
        except ValueError:
            raise ValueError(f"{self.name} is a whole number, not {given!r}") from None
        if not self.low <= figure <= self.high:
            raise ValueError(f"{self.name} is {self.low} to {self.high}, not {figure}")
        return figure

    def __str__(self) -> str:
        shown = "|".join(self.words) or self.name
        return shown if self.default is None else f"[{shown}={self.default}]"


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """What a fault does, in one sentence, and its arguments in order."""

    text: str
    args: tuple[Arg, ...] = ()


def usage(specs: Mapping[str, FaultSpec]) -> str:
    """All kinds with their arguments in one line, for error messages."""
    return ", ".join(" ".join([kind, *map(str, spec.args)]) for kind, spec in specs.items())


def resolve(
    owner: str, specs: Mapping[str, FaultSpec], kind: str, args: Sequence[Value], *, fill: bool = True
) -> tuple[Value, ...]:
    """Checked arguments of one fault, with defaults filled in unless `fill` is off.

    Errors: ValueError names the owner and lists the known kinds, or tells which argument is wrong.
    """
    spec = specs.get(kind)
    if spec is None:
        raise ValueError(f"{owner} knows no fault {kind!r}; known: {usage(specs)}")
    needed = sum(arg.default is None for arg in spec.args)
    if not needed <= len(args) <= len(spec.args):
        raise ValueError(f"{owner} {kind} takes: {' '.join(map(str, spec.args)) or 'no arguments'}; given {len(args)}")
    values: list[Value] = []
    for index, arg in enumerate(spec.args):
        if index < len(args):
            try:
                values.append(arg.read(args[index]))
            except ValueError as error:
                raise ValueError(f"{owner} {kind}: {error}") from None
        elif fill and arg.default is not None:
            values.append(arg.default)
    return tuple(values)

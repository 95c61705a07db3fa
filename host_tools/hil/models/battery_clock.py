"""A battery-backed clock on the board: it runs on while the cabinet has no power, and shows what a person has set."""

from typing import ClassVar

from host_tools.hil.device import Device
from host_tools.hil.faults import Arg, FaultSpec, Value, resolve

START_S = 825_681_600  # 2026-03-01 12:00:00, seconds since 2000: what it shows when a rig begins
_LIMIT_S = 4_000_000_000


class BatteryClock(Device):
    """What a fault does shows when the board is switched on next: while it has power the chip needs no battery.

    shown(now_us): the truth of this world, whatever the firmware makes of it
    """

    FAULTS: ClassVar[dict[str, FaultSpec]] = {
        "battery": FaultSpec(
            "without power the clock stops and forgets the time, until the fault is cleared and it is set"
        ),
        "wrong": FaultSpec("somebody has set it ahead (or back)", (Arg("seconds", -_LIMIT_S, _LIMIT_S),)),
    }
    name = "clock"

    def __init__(self) -> None:
        self._ahead_s: int | None = START_S  # of the rig's time; None: it stands still
        self._empty = False
        self._shift_s = 0

    def shown(self, now_us: int) -> int | None:
        """Seconds since 2000; None after it stood still."""
        return None if self._ahead_s is None else self._ahead_s + now_us // 1_000_000

    def switched_on(self, now_us: int) -> int | None:
        """The board has power again: what the clock shows now."""
        if self._empty:
            self._ahead_s = None
        if self._ahead_s is not None:
            self._ahead_s += self._shift_s
        self._shift_s = 0
        return self.shown(now_us)

    def set(self, moment_s: int, now_us: int) -> None:
        """The firmware has set it."""
        self._ahead_s = moment_s - now_us // 1_000_000

    def fault(self, kind: str, *args: Value) -> None:
        values = resolve(self.name, self.FAULTS, kind, args)
        if kind == "battery":
            self._empty = True
        else:
            self._shift_s += int(values[0])

    def clear(self) -> None:
        self._empty = False

"""The boards that a rig can run the firmware on."""

from collections.abc import Callable, Mapping
from typing import Protocol

from host_tools.boards.board_files import BoardFiles
from host_tools.hil.host_session import HostSession
from host_tools.hil.line import Line
from host_tools.hil.models.battery_clock import BatteryClock

BOARDS = ("host", "unix", "mps2")


class Memory(Protocol):
    """The NVRAM as the rig sees it: `memory` its bytes, `written` bytes that have landed since the session began,
    `cut_after` bytes that still land before the power fails (None: it does not)."""

    @property
    def memory(self) -> bytearray | memoryview: ...
    @property
    def written(self) -> int: ...
    @property
    def cut_after(self) -> int | None: ...
    @cut_after.setter
    def cut_after(self, landed: int | None) -> None: ...


class Session(Protocol):
    """One firmware on one board, switched on and off by the rig, with its NVRAM in the rig's hands.

    clock: the battery-backed clock of its world, None for a board without one
    """

    packs: Mapping[str, bytes]
    clock: BatteryClock | None

    @property
    def nvram(self) -> Memory: ...

    @property
    def on(self) -> bool: ...

    def start(self, now_ms: int) -> bool:
        """Power comes on. False when it failed again while starting."""
        ...

    def stop(self) -> None:
        """The board loses its power."""
        ...

    def poll(self, now_ms: int) -> bool:
        """One turn of the firmware's loop. False when the power failed in it."""
        ...

    def close(self) -> None:
        """Ends whatever the firmware runs in."""
        ...


def session_on(
    board: str, at: BoardFiles | None = None
) -> Callable[[Mapping[str, Line], Mapping[str, bytes], int], Session]:
    """Makes sessions on `board`. at: an mps2 board that was programmed. Errors: ValueError names the boards there are."""
    if board == "host":
        return HostSession
    if board == "unix":
        from host_tools.boards.unix_session import UnixSession  # builds the board when it is not there yet

        return UnixSession
    if board == "mps2":
        from host_tools.boards.mps2_session import Mps2Session

        # The size of its NVRAM is the board's.
        return lambda lines, packs, _: Mps2Session(lines, packs, at and at.memory, image=at and at.flash)
    raise ValueError(f"there is no board {board}; there is {', '.join(BOARDS)}")

"""The boards that a rig can run the firmware on."""

from collections.abc import Callable, Mapping
from typing import Protocol

from host_tools.hil.host_session import HostSession, RigNvram
from host_tools.hil.line import Line

BOARDS = ("host", "unix")


class Session(Protocol):
    """One firmware on one board, switched on and off by the rig, with its NVRAM in the rig's hands."""

    nvram: RigNvram
    packs: Mapping[str, bytes]

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


def session_on(board: str) -> Callable[[Mapping[str, Line], Mapping[str, bytes], int], Session]:
    """Makes sessions on `board`. Errors: ValueError names the boards there are."""
    if board == "host":
        return HostSession
    if board == "unix":
        from host_tools.boards.unix_session import UnixSession  # builds the board when it is not there yet

        return UnixSession
    raise ValueError(f"there is no board {board}; there is {', '.join(BOARDS)}")

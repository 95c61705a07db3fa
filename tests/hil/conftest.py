"""Stories about the whole cabinet: a rig script in, the world and the books out."""

from collections.abc import Callable, Iterator

import pytest

from host_tools.cabinet import games
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse


class Story:
    """A cabinet in virtual time. `tell` runs rig script lines; truths and books are compared by `balanced`."""

    def __init__(self, board: str = "host") -> None:
        self.rig = Rig(games.packs(), board=board)
        self.world = self.rig.world

    def tell(self, script: str) -> "Story":
        self.rig.run(parse(script))
        return self

    def books(self) -> dict:
        return self.rig.query()

    def saw(self, kind: str) -> list[dict]:
        """Events of one kind, in order."""
        return [event for event in self.rig.events if event["e"] == kind]

    def balanced(self) -> dict:
        """Asserts the audit identity and that books and physical truths agree; returns the books."""
        books = self.books()
        assert books["audit"] == 0
        assert books["coins_in"] == self.world.swallowed_pence
        assert books["hopper_out"] == self.world.paid_pence
        return books


@pytest.fixture
def story(request: pytest.FixtureRequest) -> Iterator[Callable[..., Story]]:
    """story(script): a new cabinet that has lived through the script (quick spin on, a fixed entropy seed)."""

    told: list[Story] = []

    def begin(script: str = "") -> Story:
        for earlier in told:
            earlier.rig.close()  # an emulator that nobody asks any more would still run
        told.append(Story(request.config.getoption("--board")))
        return told[-1].tell("entropy seed 7\npower on\nconsole set quick_spin on\n" + script)

    yield begin
    for it in told:
        it.rig.close()

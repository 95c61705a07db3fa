"""Stories about the whole cabinet: a rig script in, the world and the books out."""

from collections.abc import Callable, Iterator, Mapping

import pytest

from firmware.store import keys
from firmware.store.journal import Journal
from hal.board import Nvram
from host_tools.cabinet import games
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse


class Story:
    """A cabinet in virtual time. `tell` runs rig script lines; truths and books are compared by `balanced`."""

    def __init__(self, board: str, packs: Mapping[str, bytes], entropy: str = "asked", note: str = "ssp") -> None:
        self.rig = Rig(packs, board=board, entropy=entropy, note=note)
        self.world = self.rig.world

    def tell(self, script: str) -> "Story":
        self.rig.run(parse(script, vocabulary=self.rig.vocabulary))
        return self

    def books(self) -> dict:
        return self.rig.query()

    def saw(self, kind: str) -> list[dict]:
        """Events of one kind, in order."""
        return [event for event in self.rig.events if event["e"] == kind]

    def until(self, *kinds: str, within_ms: int = 120_000) -> dict:
        """Lives on to the first event of these kinds since the last press of a button, and returns it."""
        pressed = [event["t"] for event in self.saw("press")][-1]

        def found() -> list[dict]:
            return [event for event in self.rig.events if event["e"] in kinds and event["t"] >= pressed]

        assert self.rig.run_until(lambda: bool(found()), within_ms), f"no {kinds} came; {self.rig.state}"
        return found()[0]

    def cut(self, mains: bool = False) -> "Story":
        """The power fails and comes back."""
        if mains:
            self.rig.power_off()
        else:
            self.rig.cut_power()
        return self.tell("wait 300ms\npower on")

    def finish(self, within_ms: int = 600_000) -> dict:
        """Lives to the round's end: takes the first option, collects what could be gambled. Returns the round's end."""
        ended = len(self.saw("round_end"))
        buttons = {"choosing": "start", "gambling": "collect"}
        waiting = [*buttons, "idle", "handpay"]
        while len(self.saw("round_end")) == ended:
            assert self.rig.run_until(lambda: self.rig.state in waiting, within_ms), f"still {self.rig.state}"
            if self.rig.state in buttons:
                self.tell(f"press {buttons[self.rig.state]}")
            else:
                self.rig.run_for(50)
        return self.saw("round_end")[-1]

    def balanced(self) -> dict:
        """Asserts the audit identity and that books and physical truths agree; returns the books."""
        books = self.books()
        assert books["audit"] == 0
        assert books["coins_in"] + books["test_coins_in"] == self.world.swallowed_pence
        assert books["notes_in"] == self.world.stacked_pence
        assert books["hopper_out"] + books["test_hopper_100"] + books["test_hopper_10"] == self.world.paid_pence
        return books

    def stands_at(self, facts: Mapping[int, int | bytes]) -> "Story":
        """The power goes, and comes back to a journal in which these keys have these values: a cabinet with a past."""
        self.rig.power_off()
        journal = Journal(Past(self.rig.session.nvram.memory))
        assert not journal.open()
        game = journal.get(keys.GAME).decode()
        journal.commit(facts.items())
        return self.tell(f"power on\nconsole game {game}")


class Past(Nvram):
    """The memory of a cabinet that is off, in a test's hands."""

    def __init__(self, memory: bytearray | memoryview) -> None:
        self.size = len(memory)
        self._memory = memory

    def read(self, offset: int, length: int) -> bytes:
        return bytes(self._memory[offset : offset + length])

    def write(self, offset: int, data: bytes) -> None:
        self._memory[offset : offset + len(data)] = data


@pytest.fixture
def story(request: pytest.FixtureRequest) -> Iterator[Callable[..., Story]]:
    """story(script, game, packs, entropy): a new cabinet that has lived through the script (quick spin on, a fixed entropy seed).

    `packs`: other games than the tree's. `entropy`: which random device it has; the firmware expects the one that is asked.
    `note`: which note acceptor it has and expects.
    """

    told: list[Story] = []

    def begin(
        script: str = "",
        game: str = "piggy_riches",
        packs: Mapping[str, bytes] | None = None,
        entropy: str = "asked",
        note: str = "ssp",
    ) -> Story:
        for earlier in told:
            earlier.rig.close()  # an emulator that nobody asks any more would still run
        told.append(Story(request.config.getoption("--board"), packs or games.packs(), entropy, note))
        start = f"entropy seed 7\npower on\nconsole set quick_spin on\nconsole game {game}\n"
        return told[-1].tell(start + script)

    yield begin
    for it in told:
        it.rig.close()

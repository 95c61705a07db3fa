"""The firmware on the emulated board with the models of its devices, in real time."""

from collections.abc import Iterator
from typing import Any

import pytest

from host_tools.boards.mps2_session import Mps2Session
from host_tools.cabinet import games
from host_tools.hil import commission
from host_tools.hil.world import World

STEP_MS = 5


class Cabinet:
    """A world around a board, and what the board said last."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.last: dict[str, dict[str, Any]] = {}
        self.world = World(self._heard)
        self.session = Mps2Session(self.world.lines, games.packs())
        memory = self.session.nvram.memory
        memory[:] = commission.image(games.packs(), len(memory))

    def _heard(self, event: dict[str, Any]) -> None:
        self.last[event["e"]] = event

    def on(self) -> None:
        self.world.power(True, self.now_ms * 1000)
        assert self.session.start(self.now_ms)
        self.world.console.type("watch on")

    def run(self, ms: int) -> bool:
        """False: the power failed."""
        end = self.now_ms + ms
        while self.now_ms < end:
            self.now_ms += STEP_MS
            self.world.advance(self.now_ms * 1000)
            if not self.session.poll(self.now_ms):
                return False
        return True

    def dead(self) -> None:
        """What the world sees when the board has lost its power."""
        self.session.stop()
        self.world.board_reset()
        self.world.console.power(False, self.now_ms * 1000)
        self.last.clear()

    def query(self) -> dict[str, Any]:
        self.last.pop("query", None)
        self.world.console.type("query")
        for _ in range(100):
            if "query" in self.last:
                break
            self.run(50)
        return self.last["query"]


@pytest.fixture
def cabinet(mps2_image) -> Iterator[Cabinet]:
    it = Cabinet()
    it.world.entropy.seed(7)
    yield it
    it.session.close()


def test_a_coin_is_played_and_survives_power_cuts(cabinet):
    cabinet.on()
    cabinet.run(3500)
    assert cabinet.query()["state"] == "idle"
    cabinet.world.acceptor.insert(200, cabinet.now_ms * 1000)
    cabinet.run(1000)
    assert cabinet.query()["credit"] == 200
    cabinet.dead()
    cabinet.on()
    cabinet.run(3500)
    assert cabinet.query()["credit"] == 200
    cabinet.world.panel.press("start", cabinet.now_ms * 1000, 100)
    cabinet.session.nvram.cut_after = 60
    assert not cabinet.run(3000), "the round was not committed"
    cabinet.dead()
    cabinet.on()
    assert cabinet.run(5000)
    books = cabinet.query()
    assert (books["audit"], books["coins_in"]) == (0, 200)
    turns = cabinet.session.nvram.turns()
    assert turns.count > 100
    assert turns.first_us < 2_000_000
    cabinet.dead()


def test_the_board_restarts_itself_when_its_loop_stands_still(cabinet):
    """A pack that no core accepts: the firmware cannot even begin, so nobody feeds the watchdog."""
    cabinet.session = Mps2Session(cabinet.world.lines, {"broken": b"CABG" + bytes(96)})
    cabinet.on()
    resets = cabinet.session.nvram.resets
    for _ in range(60):  # six seconds; the watchdog bites after four at the latest
        if cabinet.session.nvram.resets > resets:
            break
        cabinet.run(100)
    assert cabinet.session.nvram.resets > resets
    assert cabinet.session.machine is not None
    assert "CoreError" in cabinet.session.machine.last_words()

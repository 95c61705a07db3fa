"""The front panel as a person uses it: keys and clicks in, picture out, in a time that the test holds in its hand."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from host_tools.cabinet import games
from host_tools.face.app import FrontPanel
from host_tools.face.reels import Reels
from host_tools.face.wheels import Wheels
from host_tools.face.widgets import Choice, Info, Option, PanelButton
from host_tools.hil import script_commands as cmd
from host_tools.hil.transcript import pounds


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Person:
    """At a front panel of `size`."""

    def __init__(self, app: FrontPanel, pilot: Pilot[None], clock: Clock) -> None:
        self.app, self.pilot, self._clock = app, pilot, clock

    async def wait(self, seconds: float) -> None:
        for _ in range(round(seconds * 10)):
            self._clock.now += 0.1
            await self.app.tick()
        await self.pilot.pause(0)

    async def wait_for(self, condition: Callable[[], bool], seconds: float = 60) -> None:
        waited = 0.0
        while not condition():
            assert waited < seconds, f"nothing came of it; the cabinet is {self.app.view.state}"
            await self.wait(0.2)
            waited += 0.2

    async def keys(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    def do(self, command: cmd.Command) -> None:
        """What a script could do, at once in virtual time."""
        self.app.rig.do(command)
        self.app.pace.restart()

    def text(self, id: str) -> str:
        return str(self.app.query_one(id, Static).content)


def at_the_panel(
    story: Callable[[Person], Awaitable[None]], size: tuple[int, int] = (100, 32), game: str = "piggy_riches"
) -> None:
    async def tell() -> None:
        clock = Clock()
        app = FrontPanel(games.packs(), clock)
        app.TICK_S = 3600  # the test ticks
        async with app.run_test(size=size) as pilot:
            person = Person(app, pilot, clock)
            await person.wait_for(lambda: app.view.state == "idle")
            person.do(cmd.Game(game))
            await person.wait_for(lambda: app.view.game == game)
            await story(person)

    asyncio.run(tell())


def test_coins_a_play_and_cash_out() -> None:
    async def story(person: Person) -> None:
        app, view = person.app, person.app.view
        reels = app.query_one(Reels)
        await person.keys("4", "4", "5")
        await person.wait_for(lambda: view.credit == 400)
        assert app.query_one(".start", PanelButton).has_class("lit")
        await person.keys("plus", "up")
        await person.wait_for(lambda: (view.bet, view.coin_value, view.level) == (60, 2, 2))
        person.do(cmd.Want("win"))
        await person.keys("space")
        await person.wait_for(lambda: view.spinning(app.rig.now_ms))
        assert view.credit == 340
        first = reels.render()
        await person.wait(0.3)
        assert reels.render() != first, "the reels turn"
        await person.wait_for(lambda: view.state == "idle")
        assert view.win > 0
        assert view.credit == 340 + view.win
        assert view.shown_win(app.rig.now_ms) is not None
        assert "£" in person.text("#message")
        await person.keys("c")
        await person.wait_for(lambda: view.state == "idle" and view.credit < 10, 120)
        assert app.rig.world.paid_pence == 340 + view.win - view.credit

    at_the_panel(story)


def test_free_spins_are_chosen_by_click() -> None:
    async def story(person: Person) -> None:
        app, view = person.app, person.app.view
        await person.keys("5")
        await person.wait_for(lambda: view.credit == 200)
        person.do(cmd.Want("free_spins"))
        await person.pilot.click(".start")
        await person.wait_for(lambda: view.state == "choosing")
        assert app.query_one(Choice).display
        options = list(app.query(Option))
        assert len(options) == len(view.options) >= 3
        spins = view.options[2]
        await person.pilot.click(options[2])
        await person.wait_for(lambda: view.cursor == 2)
        await person.pilot.click(options[2])
        await person.wait_for(lambda: view.in_feature)
        assert (view.free_spins, view.multiplier) == spins
        assert app.query_one("#free_spins").display

    at_the_panel(story)


def test_door_tilts_and_key_serves() -> None:
    async def story(person: Person) -> None:
        view = person.app.view
        await person.keys("d")
        await person.wait_for(lambda: view.state == "tilted")
        assert "E11 main door open" in person.text("#message")
        assert person.app.query_one("#state").has_class("alert")
        await person.keys("d")
        await person.wait_for(lambda: view.state == "idle")
        await person.keys("t")
        await person.wait_for(lambda: view.state == "service")

    at_the_panel(story)


def test_console_information_and_settings() -> None:
    async def story(person: Person) -> None:
        app, view = person.app, person.app.view
        await person.keys("s")
        await person.wait_for(lambda: view.quick_spin)
        await person.keys("i", "right")
        await person.wait_for(lambda: view.info_page == "symbols")
        assert app.query_one(Info).display
        await person.keys("i")
        await person.wait_for(lambda: not view.info_page)
        await person.keys("slash", *"set volume 3", "enter")
        await person.wait_for(lambda: view.volume == 3)
        assert view.quick_spin
        await person.keys("escape", "6")
        await person.wait_for(lambda: view.credit == 500)

    at_the_panel(story)


def test_mains_off_and_on_keeps_the_credit() -> None:
    async def story(person: Person) -> None:
        app, view = person.app, person.app.view
        await person.keys("4")
        await person.wait_for(lambda: view.credit == 100)
        await person.keys("0")
        await person.wait_for(lambda: view.state == "off")
        await person.keys("slash", *"help", "enter", "escape")
        await person.wait(0.2)
        await person.keys("0")
        await person.wait_for(lambda: view.state == "idle")
        assert view.credit == 100
        assert app.rig.session.on

    at_the_panel(story)


def test_a_late_tick_catches_up_little_and_goes_on() -> None:
    async def story(person: Person) -> None:
        app = person.app
        before = app.rig.now_ms
        await person.wait(0.1)
        assert app.rig.now_ms == pytest.approx(before + 100, abs=5)
        person._clock.now += 60  # the machine slept
        before = app.rig.now_ms
        await app.tick()
        assert app.rig.now_ms == before + 200
        await person.wait(0.1)
        assert app.rig.now_ms == pytest.approx(before + 300, abs=5)

    at_the_panel(story)


@pytest.mark.parametrize("game", games.names())
@pytest.mark.parametrize("size", [(80, 24), (100, 32), (160, 50)])
def test_everything_is_on_the_screen(size: tuple[int, int], game: str) -> None:
    async def story(person: Person) -> None:
        screen = person.app.screen.region
        for selector in (
            "Reels",
            "#lines",
            "#message",
            ".coin",
            ".note",
            ".switch",
            "#credit",
            ".button",
            "#console_line",
        ):
            for widget in person.app.query(selector):
                assert widget.region.area > 0, f"{widget} is not shown"
                assert screen.contains_region(widget.region), f"{widget} leaves the screen"

    at_the_panel(story, size, game)


def test_a_win_is_gambled_with_keys() -> None:
    async def story(person: Person) -> None:
        app, view = person.app, person.app.view
        await person.keys("5")
        await person.wait_for(lambda: view.credit == 200)
        person.do(cmd.Want("gamble", value="green x2"))
        await person.keys("space")
        await person.wait_for(lambda: view.state == "gambling")
        wheels = app.query_one(Wheels)
        assert wheels.display
        assert not app.query_one(Reels).display
        await person.keys("right")
        await person.wait_for(lambda: view.gamble is not None and view.gamble["name"] == "x2")
        offer = view.gamble
        assert offer is not None
        text = wheels.render().plain
        for part in ("x2", "Mega", pounds(offer["pence"]), "50.00 %", "payback 100 %"):
            assert part in text
        await person.keys("g")
        await person.wait_for(lambda: view.pointer is not None)
        assert view.overlay(app.rig.now_ms) == "pointer"
        await person.wait_for(lambda: view.state in ("gambling", "idle"))
        assert view.win == 2 * offer["pence"]
        if view.state == "gambling":
            await person.keys("o")
        await person.wait_for(lambda: view.state == "idle")
        assert view.credit == 190 + view.win

    at_the_panel(story, game="dog_diner")


def test_spin_chance_and_a_mode_with_keys() -> None:
    async def story(person: Person) -> None:
        app, view = person.app, person.app.view
        await person.keys("1", "p")
        await person.wait_for(lambda: view.credit == 10 and view.mode == "fortune_spins")
        assert "fortune spins" in person.text("#title")
        assert "STAKE" in str(app.query_one(".stake_up", PanelButton).content)
        await person.keys("space")
        await person.wait_for(lambda: view.state == "offering")
        text = app.query_one(Wheels).render().plain
        assert "SPIN CHANCE" in text
        assert "50.00 %" in text
        await person.keys("n")
        await person.wait_for(lambda: view.state == "idle")
        assert (view.credit, app.query_one(Wheels).display) == (10, False)

    at_the_panel(story, game="piggy_bank")


@pytest.mark.parametrize(("game", "outcome"), [("dog_diner", "wheel"), ("piggy_bank", "wheel")])
def test_the_wheel_is_shown_before_its_prize(game: str, outcome: str) -> None:
    async def story(person: Person) -> None:
        app, view = person.app, person.app.view
        await person.keys("5")
        await person.wait_for(lambda: view.credit == 200)
        person.do(cmd.Want(outcome))
        await person.keys("space")
        await person.wait_for(lambda: view.overlay(app.rig.now_ms) == "wheel")
        wheel = view.wheel
        assert wheel is not None
        text = app.query_one(Wheels).render().plain
        assert all(prize.upper() in text for prize in wheel.prizes)
        assert wheel.lit(wheel.since_ms + wheel.for_ms) == wheel.row

    at_the_panel(story, game=game)

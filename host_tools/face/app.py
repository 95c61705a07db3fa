"""The front panel: the cabinet in a terminal, in real time. Why it is made like this: README.md."""

import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Horizontal, Vertical
from textual.theme import Theme
from textual.widgets import Input, RichLog, Static

import native
from host_tools.face import controls
from host_tools.face.hands import Hands, Pace
from host_tools.face.reels import Reels
from host_tools.face.view import STATES, View
from host_tools.face.wheels import Wheels
from host_tools.face.widgets import Choice, ConsoleLine, Info, Meter, PanelButton, Pressable, SwitchLine
from host_tools.hil.rig import Rig, RigError
from host_tools.hil.transcript import pounds

TONES = {"quiet": "#8a97b1", "hint": "#d7deed", "win": "#f2c14e", "ask": "#63b3ed", "alert": "#ff6b6b"}
DIM = "#5b6883"
MOST_LINE_NUMBERS = 20  # more are not listed one by one; the lit ones are

THEME = Theme(
    name="cabinet",
    dark=True,
    primary="#f2c14e",
    secondary="#63b3ed",
    accent="#4ecb8d",
    warning="#f2c14e",
    error="#e5484d",
    success="#4ecb8d",
    foreground="#d7deed",
    background="#0b101a",
    surface="#111827",
    panel="#1c263a",
)


def _bindings() -> list[BindingType]:
    found: list[BindingType] = [Binding(b.keys, f"press('{b.name}')", b.caption) for b in controls.BUTTONS]
    found += [Binding(key, f"coin({pence})", caption) for pence, caption, key in controls.COINS]
    found += [Binding(key, f"note({pence})", caption) for pence, caption, key in controls.NOTES]
    found += [Binding(s.key, f"switch('{s.name}')", s.caption) for s in controls.SWITCHES]
    found += [
        Binding(controls.MAINS.key, "mains", "Mains"),
        Binding(controls.QUICK_SPIN.key, "quick_spin", "Quick spin"),
        Binding(controls.MUTE_KEY, "mute", "Mute"),
        Binding(controls.GAME_KEY, "game", "Next game"),
        Binding(controls.CONSOLE_KEY, "console", "Console"),
        Binding("ctrl+q", "quit", "Quit", priority=True),
    ]
    return found


class FrontPanel(App[None]):
    """The cabinet of `packs` (game name -> pack) with its world in this process, and everything a person does to it.

    `clock`: monotonic seconds; tests bring their own.
    """

    TICK_S = 0.025
    CSS_PATH = "face.tcss"
    TITLE = "Cabinet"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012 - Textual declares it so
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (96, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = _bindings()

    def __init__(self, packs: Mapping[str, bytes], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.register_theme(THEME)
        self.theme = "cabinet"
        self.view = View({name: native.Pack(data) for name, data in packs.items()})
        self.rig = Rig(packs, self._happened)
        # A query's answer is for whoever asked; the rig keeps it to itself, so the panel listens to the line as well.
        self._rig_hears = self.rig.world.console.on_event
        self.rig.world.console.on_event = self._heard
        self.hands = Hands(self.rig)
        self.pace = Pace(self.rig, self.hands, clock)
        self._ask = False
        self._unseen = 0  # console lines that answer the panel's own questions
        self._message = self._lines = self._state = ("", "")

    # --- layout --------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Horizontal(id="head"):
            yield Static(id="title")
            yield Static(id="state")
            yield Static(id="hints")
        with Horizontal(id="middle"):
            with Vertical(id="stage"):
                with Vertical(id="glass"):
                    yield Reels(self.view)
                    yield Wheels(self.view)
                    yield Choice()
                    yield Info()
                yield Static(id="lines")
                yield Static(id="message")
            with Vertical(id="side"):
                with Horizontal(id="money", classes="pane"):
                    for pence, caption, key in controls.COINS:
                        yield Pressable(f"[b]{caption}[/b]\n{key}", f"app.coin({pence})", "coin")
                    for pence, caption, key in controls.NOTES:
                        yield Pressable(f"[b]{caption}[/b]\n{key}", f"app.note({pence})", "note")
                with Grid(id="switches", classes="pane"):
                    for switch in controls.SWITCHES:
                        yield SwitchLine(switch, f"app.switch('{switch.name}')")
                    yield SwitchLine(controls.MAINS, "app.mains")
                    yield SwitchLine(controls.QUICK_SPIN, "app.quick_spin")
                yield RichLog(id="log", classes="pane", wrap=True, min_width=10, max_lines=500)
                yield RichLog(id="console", classes="pane", wrap=True, min_width=10, max_lines=500)
                yield ConsoleLine()
        with Horizontal(id="meters"):
            yield Meter("CREDIT", id="credit")
            yield Meter("BET", id="bet")
            yield Meter("WIN", id="win")
            yield Meter("FREE SPINS", id="free_spins")
        with Grid(id="deck"):
            for button in controls.BUTTONS:
                yield PanelButton(button)

    def on_mount(self) -> None:
        for id, title in (
            ("money", "coins and notes"),
            ("switches", "cabinet"),
            ("log", "events"),
            ("console", "console"),
        ):
            self.query_one(f"#{id}").border_title = title
        for log in self.query(RichLog):
            log.can_focus = False  # the arrow keys belong to the cabinet
        self.set_interval(self.TICK_S, self.tick)
        self.call_after_refresh(self._switch_on)

    # --- time ----------------------------------------------------------------------------------------------------

    async def tick(self) -> None:
        """Brings cabinet and picture up to now."""
        self.pace.turn()
        if self._ask and self.rig.session.on:
            self._ask = False
            self.rig.world.console.type("query")
        await self.show()

    def _happened(self, event: dict[str, Any]) -> None:
        self.view.take(event)
        if event["e"] in ("state", "bet", "payout_done"):
            self._ask = True  # what is due by hand, and which game it is, only a query tells

    def _heard(self, event: dict[str, Any]) -> None:
        self._rig_hears(event)
        if event["e"] == "query":
            self.view.take({"t": self.rig.now_ms, **event})

    def _switch_on(self) -> None:
        try:
            self.rig.power_on()
        except RigError as error:
            self.say(f"the cabinet does not start: {error}", "alert")
        self.rig.world.console.text.clear()  # the rig's own conversation
        self._type("set", unseen=1)
        self.pace.restart()

    def _type(self, line: str, unseen: int = 0) -> None:
        if self.rig.session.on:
            self._unseen += unseen
            self.rig.world.console.type(line)
        else:
            self.say("the cabinet is off", "alert")

    # --- picture -------------------------------------------------------------------------------------------------

    async def show(self) -> None:
        """Draws what has changed."""
        view, now_ms = self.view, self.rig.now_ms
        if not self.query(Reels):
            return  # a last tick while the screen is being taken down
        reels = self.query_one(Reels)
        reels.show(now_ms)
        wheels = self.query_one(Wheels)
        wheels.show(now_ms)
        wheels.display = bool(view.overlay(now_ms)) and not view.options and not view.info_page
        reels.display = not view.options and not view.info_page and not wheels.display
        choice, info = self.query_one(Choice), self.query_one(Info)
        choice.display = bool(view.options)
        info.display = bool(view.info_page) and not view.options
        await choice.show(view.options, view.cursor)
        info.show(view.info_page, view.info_lines)
        self._show_texts(now_ms)
        self._show_meters()
        self._show_controls()
        self._show_logs()

    def _show_texts(self, now_ms: int) -> None:
        view = self.view
        message = view.message(now_ms)
        if message != self._message:
            self._message = message
            bar = self.query_one("#message", Static)
            bar.update(Text(message[0]))
            bar.set_classes(message[1])
        lines = self._below_the_reels(now_ms)
        if lines.markup != self._lines[0]:
            self._lines = (lines.markup, "")
            self.query_one("#lines", Static).update(lines)
        caption, tone = STATES.get(view.state, (view.state.upper(), "hint"))
        title = view.game.replace("_", " ").upper() + (
            "" if view.mode == "base" else f"  {view.mode.replace('_', ' ')}"
        )
        if (caption, title) != self._state:
            self._state = (caption, title)
            state = self.query_one("#state", Static)
            state.update(caption)
            state.set_classes(tone)
            self.query_one("#title", Static).update(title)
            more = "F2 game   " if len(view.packs) > 1 else ""
            self.query_one("#hints", Static).update(f"{more}/ console   ^q quit")

    def _below_the_reels(self, now_ms: int) -> Text:
        """The pots' places while they are filled, else line numbers or ways, and the pile."""
        view = self.view
        text = Text("", no_wrap=True)
        if view.in_feature and view.pots():
            for name, filled, places in view.pots():
                text.append(f" {name.upper()} ", DIM)
                text.append("●" * filled + "○" * (places - filled), "bold #f2c14e" if filled else "#3f4b63")
        elif view.pack.evaluation(0):
            text.append(f"{view.pack.rows**view.pack.reels} WAYS", DIM)
        else:
            self._line_numbers(text, now_ms)
        if view.pile and not (view.in_feature and view.pots()):
            text.append("  PILE ", DIM).append(str(view.pile), "bold #f2c14e")
        return text

    def _line_numbers(self, text: Text, now_ms: int) -> None:
        view = self.view
        shown = view.shown_win(now_ms)
        won = view.lines_won() if shown is not None or not view.spinning(now_ms) else frozenset[int]()
        count = len(view.pack.lines)
        text.append("LINES ", DIM)
        room = self.query_one("#lines").size.width - (len(f"  PILE {view.pile}") if view.pile else 0)
        pitch = 4 if room >= len(text) + 4 * count else 3
        for line in range(count) if count <= MOST_LINE_NUMBERS else sorted(won):
            style = "#3f4b63"
            if shown is not None and line == shown.line:
                style = "bold #10151f on #f2c14e"
            elif line in won:
                style = "bold #f2c14e"
            text.append(f"{line + 1:^{pitch}}", style)

    def _show_meters(self) -> None:
        view = self.view

        def amount(pence: int) -> str:
            return pounds(pence) if view.powered else ""

        self.query_one("#credit", Meter).show(amount(view.credit))
        stake = f"BET   {view.coin_value}p × level {view.level}" if view.level and view.pack.levels > 1 else "BET"
        self.query_one("#bet", Meter).show(amount(view.bet), stake)
        self.query_one("#win", Meter).show(amount(view.win))
        self.query_one("#win").set_class(view.win > 0, "lit")
        free_spins = self.query_one("#free_spins", Meter)
        free_spins.display = view.in_feature
        times = f"   ×{view.multiplier}" if view.multiplier > 1 else ""
        free_spins.show(str(view.free_spins), f"FREE SPINS{times}")

    def _show_controls(self) -> None:
        panel = self.rig.world.panel
        for button in self.query(PanelButton):
            if button.button.name in controls.STAKES:
                button.caption(controls.STAKES[button.button.name][self.view.pack.levels == 1])
            button.show(panel.lamp(button.button.name), panel.active(button.button.name))
        states = [panel.active(switch.name) for switch in controls.SWITCHES]
        states += [self.view.powered, self.view.quick_spin]
        for line, active in zip(self.query(SwitchLine), states, strict=True):
            line.show(active)
        self.screen.set_class(self.query_one(ConsoleLine).has_focus, "-typing")
        self.query_one("#money").set_class(self.rig.world.acceptor.accepting, "open")

    def _show_logs(self) -> None:
        log = self.query_one("#log", RichLog)
        while self.view.log:
            text, tone = self.view.log.popleft()
            log.write(Text(text, style=TONES[tone]))
        text = self.rig.world.console.text
        while text:
            line = text.popleft()
            self.view.console(line)
            answer = self._unseen > 0 and line.startswith(("quick_spin ", "error: "))
            self._unseen -= answer
            if not answer or line.startswith("error: "):
                self.say(line)

    def say(self, line: str, tone: str = "hint") -> None:
        self.query_one("#console", RichLog).write(Text(line, style=TONES[tone]))

    # --- what a person does --------------------------------------------------------------------------------------

    def action_press(self, button: str) -> None:
        self.hands.press(button)

    def action_option(self, number: int) -> None:
        """A click on an option: to it, and on the one that is highlighted, take it."""
        steps = number - self.view.cursor
        if steps:
            self.hands.press("right" if steps > 0 else "left", abs(steps))
        else:
            self.hands.press("start")

    def action_coin(self, pence: int) -> None:
        self.hands.coin(pence)

    def action_note(self, pence: int) -> None:
        self.hands.note(pence)

    def action_switch(self, name: str) -> None:
        self.hands.toggle(name)

    def action_mains(self) -> None:
        if self.rig.session.on:
            self.rig.power_off()
            self._unseen = 0
        else:
            self._switch_on()

    def action_quick_spin(self) -> None:
        self._type(f"set quick_spin {'off' if self.view.quick_spin else 'on'}", unseen=1)

    def action_mute(self) -> None:
        self._type(f"set mute {'off' if self.view.mute else 'on'}")

    def action_game(self) -> None:
        names = sorted(self.view.packs)
        self._type(f"game {names[(names.index(self.view.game) + 1) % len(names)]}")

    def action_console(self) -> None:
        self.query_one(ConsoleLine).focus()

    @on(Input.Submitted, "#console_line")
    def _command(self, event: Input.Submitted) -> None:
        line = event.value.strip()
        event.input.clear()
        if line:
            self.query_one(ConsoleLine).remember(line)
            self.say(f"> {line}", "ask")
            self._type(line)

"""The panel's smaller parts. Each shows what it is told and says what was clicked; none knows the cabinet."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import Click
from textual.widgets import Digits, Input, Static

from host_tools.face.controls import Button, Switch


class Pressable(Static):
    """A caption that runs one of the app's actions when it is clicked."""

    def __init__(self, caption: Text | str, action: str, classes: str = "") -> None:
        super().__init__(caption, classes=classes)
        self.action = action

    async def on_click(self, event: Click) -> None:
        event.stop()
        await self.app.run_action(self.action)


class PanelButton(Pressable):
    """A button with its lamp inside."""

    def __init__(self, button: Button) -> None:
        self.button = button
        self._caption = button.caption
        super().__init__(self._text(), f"app.press('{button.name}')", f"button {button.name}")

    def _text(self) -> str:
        return f"[b]{self._caption}[/b]\n" + f"{self.button.second} {self.button.hint}".strip()

    def caption(self, caption: str) -> None:
        if caption != self._caption:
            self._caption = caption
            self.update(self._text())

    def show(self, lit: bool, down: bool) -> None:
        self.set_class(lit, "lit")
        self.set_class(down, "down")


class SwitchLine(Pressable):
    """A door or a key switch; bright when it is open or turned."""

    def __init__(self, switch: Switch, action: str) -> None:
        super().__init__("", action, "switch")
        self._switch = switch
        self._active: bool | None = None

    def show(self, active: bool) -> None:
        if active == self._active:
            return
        self._active = active
        self.set_class(active, "active")
        mark = "●" if active else "○"
        self.update(f"{mark} {self._switch.caption} [dim]{self._switch.key}[/dim]")


class Meter(Vertical):
    """A large amount under its name; in a low terminal one plain line."""

    def __init__(self, name: str, id: str) -> None:
        super().__init__(id=id, classes="meter")
        self._caption = name
        self._shown = ("", "")

    def compose(self) -> ComposeResult:
        yield Static(self._caption, classes="caption")
        yield Digits("", classes="big")
        yield Static("", classes="small")

    def show(self, value: str, caption: str = "") -> None:
        caption = caption or self._caption
        if (value, caption) == self._shown:
            return
        self._shown = (value, caption)
        self.query_one(".caption", Static).update(caption)
        self.query_one(Digits).update(value)
        self.query_one(".small", Static).update(value)


class Option(Vertical):
    """One of the wins that can be chosen; a click asks for it."""

    def __init__(self, number: int, spins: int, x: int) -> None:
        super().__init__(classes="option")
        self.number = number
        self._spins, self._x = spins, x

    def compose(self) -> ComposeResult:
        yield Digits(str(self._spins))
        yield Static("free spins")
        yield Digits(f"x{self._x}")

    async def on_click(self, event: Click) -> None:
        event.stop()
        await self.app.run_action(f"app.option({self.number})")


class Choice(Horizontal):
    """The screen on which free spins are chosen."""

    def __init__(self) -> None:
        super().__init__(id="choice")
        self._options: tuple[tuple[int, int], ...] = ()

    async def show(self, options: Sequence[tuple[int, int]], cursor: int) -> None:
        if tuple(options) != self._options:
            self._options = tuple(options)
            await self.remove_children()
            await self.mount(*(Option(number, spins, x) for number, (spins, x) in enumerate(options)))
        for option in self.query(Option):
            option.set_class(option.number == cursor, "lit")


class Info(VerticalScroll):
    """An information page of the firmware, in two columns where one is too high."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(id="info")
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(id="info_title")
        yield Static(id="info_lines")

    def show(self, page: str, lines: Sequence[str]) -> None:
        shown = (page, tuple(lines), self.size)
        if not page or shown == self._shown:
            return
        self._shown = shown
        self.query_one("#info_title", Static).update(
            f"[b]{page.upper()}[/b]   [dim]◀ ▶ turn the page, i closes it[/dim]"
        )
        self.query_one("#info_lines", Static).update(_columns(list(lines), self.size.width - 4, self.size.height - 3))
        self.scroll_home(animate=False)


def _columns(lines: list[str], width: int, height: int) -> Text:
    """Names in one column, what they pay in the next; lines that are too many for the height in two halves."""
    names = [line.split("  ", 1)[0] if "  " in line else "" for line in lines]
    first = max(map(len, names))
    lines = [f"{name:{first}}{line[len(name) :]}" if name else line for name, line in zip(names, lines, strict=True)]
    widest = max(map(len, lines))
    if len(lines) > height > 0 and 2 * widest + 3 <= width:
        half = (len(lines) + 1) // 2
        right = [*lines[half:], ""]
        lines = [f"{lines[i]:{widest}}   {right[i]}".rstrip() for i in range(half)]
    text = Text("\n".join(lines))
    text.highlight_regex(r"(?m)^[^:\n]*?(?=  |:)", "bold")
    return text


class ConsoleLine(Input):
    """Where commands are typed; up and down bring back earlier ones, escape gives the keys back to the cabinet."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "earlier(-1)", show=False),
        Binding("down", "earlier(1)", show=False),
        Binding("escape", "leave", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(placeholder="/  type a command, or help", id="console_line", compact=True)
        self._history: list[str] = []
        self._place = 0

    def remember(self, line: str) -> None:
        if line not in self._history[-1:]:
            self._history.append(line)
        self._place = len(self._history)

    def action_earlier(self, by: int) -> None:
        self._place = min(max(self._place + by, 0), len(self._history))
        self.value = self._history[self._place] if self._place < len(self._history) else ""
        self.cursor_position = len(self.value)

    def action_leave(self) -> None:
        self.screen.set_focus(None)

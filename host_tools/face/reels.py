"""Draws the reels: a grid of cards that grows with the room it gets."""

from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from host_tools.face.symbols import Look, look
from host_tools.face.view import View

GLASS = "#111827"
_BLUR_MS = 70  # a turning reel moves by one symbol in this time
_WIDEST, _HIGHEST = 18, 8
_FRAMES = {1: "#c98b5a", 2: "#c3cede", 3: "#ffd75e"}  # by level: bronze, silver, gold
_VALUE = "#ffe9a8"

Row = list[tuple[str, Style]]


def mix(colour: str, ground: str, part: float) -> str:
    """`part` of colour over ground, both #rrggbb."""
    pairs = ((int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(ground + (over - ground) * part):02x}" for over, ground in pairs)


class Reels(Widget):
    """The reels of `view`. `show(now_ms)` draws them again when they look different."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view
        self._now_ms = 0
        self._frame: tuple[object, ...] = ()

    def show(self, now_ms: int) -> None:
        view = self._view
        turning = now_ms // _BLUR_MS if view.spinning(now_ms) else 0
        win = view.shown_win(now_ms)
        extra = (tuple(view.frames.items()), tuple(view.values.items()), view.marked)
        frame = (
            view.game,
            view.mode,
            view.powered,
            tuple(view.window),
            turning,
            win,
            extra,
            tuple(self._stopped(now_ms)),
        )
        self._now_ms = now_ms
        if frame != self._frame:
            self._frame = frame
            self.refresh()

    def _stopped(self, now_ms: int) -> list[bool]:
        return [not self._view.reel_turns(reel, now_ms) for reel in range(self._view.pack.reels)]

    def render(self) -> Text:
        pack = self._view.pack
        pitch = min(_WIDEST, self.size.width // pack.reels)
        high = min(_HIGHEST, self.size.height // pack.rows)
        if pitch < 3 or high < 1:
            return Text("…")
        left = (self.size.width - pitch * pack.reels + 1) // 2
        text = Text("\n" * ((self.size.height - high * pack.rows) // 2), no_wrap=True, end="")
        for row in range(pack.rows):
            cards = [self._card(reel, row, pitch - 1, high) for reel in range(pack.reels)]
            for line in range(high):
                text.append(" " * left)
                for card in cards:
                    for part, style in card[line]:
                        text.append(part, style)
                    text.append(" ")
                text.append("\n")
        return text

    def _card(self, reel: int, row: int, width: int, high: int) -> list[Row]:
        view = self._view
        cell = reel * view.pack.rows + row
        if not view.powered:
            return _rows([], width, high, Style(bgcolor="#0d1420"), "#0d1420")
        turning = view.reel_turns(reel, self._now_ms)
        if turning:
            strip = view.pack.strip(view.strips, reel)
            symbol = strip[(row - self._now_ms // _BLUR_MS + 7 * reel) % len(strip)]
            ink, ground = 0.5, 0.05
        elif not view.window:
            strip = view.pack.strip(view.strips, reel)
            symbol, ink, ground = strip[(row + 5 * reel) % len(strip)], 0.5, 0.06
        else:
            symbol, ink, ground = view.window[cell], 1.0, 0.17
        shown = self._look(symbol)
        value = "" if turning else _short(view.values.get(cell, 0))
        frame = view.frames.get(cell, 0)
        win = view.shown_win(self._now_ms)
        if win is not None and cell in win.cells:
            return _draw(shown, width, high, "#10151f", mix(shown.ink, "#ffffff", 0.85), value, frame)
        if win is not None and not value:
            ink, ground = 0.5, 0.07
        if (shown.special and ink == 1.0) or cell in view.marked:
            ground = 0.36
        return _draw(shown, width, high, mix(shown.ink, GLASS, ink), mix(shown.ink, GLASS, ground), value, frame)

    def _look(self, symbol: int) -> Look:
        pack = self._view.pack
        scatter = any(pack.scatter_pay(symbol, count) for count in range(1, pack.reels * pack.rows + 1))
        return look(pack.symbols[symbol], symbol, scatter)


def _fitting(name: str, width: int) -> str:
    """As many words of a name as there is room for."""
    while len(name) > width and " " in name:
        name = name.rsplit(" ", 1)[0]
    return name[:width]


def _short(pence: int) -> str:
    """An amount that fits a card."""
    if not pence:
        return ""
    return f"£{pence // 100}" if pence % 100 == 0 or pence >= 100_000 else f"£{pence / 100:.2f}"


def _draw(shown: Look, width: int, high: int, ink: str, ground: str, value: str = "", frame: int = 0) -> list[Row]:
    """A card; `value` stands in place of the name, a `frame` goes round it in the colour of its level."""
    style = Style(color=ink, bgcolor=ground, bold=True)
    name = _fitting(shown.name, width - 2 * bool(frame))
    gap = [""] if high > 6 else []
    lines = [value or name] if high < 4 else [*shown.art, *gap, value or name]
    rows = _rows(lines, width, high, style, ground)
    if value:
        place = next(i for i, row in enumerate(rows) if row[0][0].strip() == value)
        rows[place] = [(value.center(width), Style(color="#10151f", bgcolor=_VALUE, bold=True))]
    return _framed(rows, width, frame, ground) if frame else rows


def _framed(rows: list[Row], width: int, level: int, ground: str) -> list[Row]:
    colour = _FRAMES[min(level, 3)]
    side, label = Style(color=colour, bgcolor=ground, bold=True), Style(color="#10151f", bgcolor=colour, bold=True)
    framed: list[Row] = []
    for row in rows:
        text, style = row[0]
        if text.strip("▀▄"):
            framed.append([("▌", side), (text[1:-1], style), ("▐", side)])
        else:
            framed.append([(text, Style(color=colour, bgcolor=GLASS))])
    if len(rows) > 1 and width > 4:
        last = width // 2 - 1
        text, style = framed[-1][0] if len(framed[-1]) == 1 else (" " * width, side)
        framed[-1] = [(text[:last], style), (f"L{level}", label), (text[last + 2 :], style)]
    return framed


def _rows(lines: list[str], width: int, high: int, style: Style, ground: str) -> list[Row]:
    """Half-block edges stand between the cards, so that a gap costs half a row."""
    edge = Style(color=ground, bgcolor=GLASS)
    edges = 0 if high < 4 else 1 if high == 4 else 2
    inner = high - edges
    above = (inner - len(lines)) // 2
    body: list[Row] = [[(line.center(width), style)] for line in [""] * above + lines]
    body += [[(" " * width, style)]] * (inner - len(body))
    if edges:
        body.append([("▀" * width, edge)])
    if edges == 2:
        body.insert(0, [("▄" * width, edge)])
    return body

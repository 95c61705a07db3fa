"""The wheels before the reels: bonus wheel, gamble and spin chance, as text that fits the glass."""

from typing import Any

from rich.text import Text
from textual.widget import Widget

import native
from host_tools.face.view import View
from host_tools.hil.transcript import pounds

GREEN, RED, GOLD, DIM, TEXT, BLUE = "#4ecb8d", "#e5484d", "#f2c14e", "#8a97b1", "#d7deed", "#63b3ed"
_WIDEST = 60
_FRAME_MS = 50
_MOST_SEGMENTS = 9  # of a wheel that are listed at once


class Wheels(Widget):
    """Draws whatever `view` has to show before its reels."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view
        self._now_ms = 0
        self._frame: tuple[object, ...] = ()

    def show(self, now_ms: int) -> None:
        view = self._view
        overlay = view.overlay(now_ms)
        moving = now_ms // _FRAME_MS if overlay in ("wheel", "pointer") else 0
        frame = (overlay, moving, view.gamble, view.offer)
        self._now_ms = now_ms
        if frame != self._frame:
            self._frame = frame
            self.refresh()

    def render(self) -> Text:
        view = self._view
        overlay = view.overlay(self._now_ms)
        width = min(_WIDEST, self.size.width - 2)
        if not overlay or width < 20:
            return Text("")
        lines = getattr(self, "_" + overlay)(width)
        above = max(0, (self.size.height - len(lines)) // 2)
        text = Text("\n" * above, justify="center", no_wrap=True, end="")
        for line in lines:
            line.pad_right(max(0, width - line.cell_len))
            text.append_text(line)
            text.append("\n")
        return text

    def _wheel(self, width: int) -> list[Text]:
        wheel = self._view.wheel
        assert wheel is not None
        lit = wheel.lit(self._now_ms)
        lines = [_centred("WHEEL BONUS", width, f"bold {GOLD}"), Text("")]
        for number, prize in enumerate(wheel.prizes):
            name = prize.upper().center(24)
            style = f"bold #10151f on {GOLD}" if number == lit else f"{TEXT} on #1c263a"
            mark = "▶" if number == lit else " "
            line = Text(" " * max(0, (width - 28) // 2))
            line.append(f"{mark} ", f"bold {GOLD}")
            line.append(name, style)
            lines.append(line)
        return lines

    def _pointer(self, width: int) -> list[Text]:
        pointer = self._view.pointer
        assert pointer is not None
        stopped = pointer.stopped(self._now_ms)
        verdict = ("GREEN" if pointer.green else "RED") if stopped else ""
        place = round(pointer.place(self._now_ms) * (width - 1))
        return [
            _centred(pointer.title, width, f"bold {TEXT}"),
            Text(""),
            Text(" " * place + "▼", f"bold {GOLD}"),
            _bar(pointer.chance_ppm, width),
            _bar(pointer.chance_ppm, width),
            Text(" " * place + "▲", f"bold {GOLD}"),
            _centred(verdict, width, f"bold {GREEN if pointer.green else RED}"),
        ]

    def _gamble(self, width: int) -> list[Text]:
        offer = self._view.gamble
        assert offer is not None
        lines = [_centred(f"GAMBLE {pounds(offer['pence'])}", width, f"bold {GOLD}")]
        gambles = self._view.pack.gambles
        cash = [number for number, row in enumerate(gambles) if row[1] == native.GAMBLE_CASH]
        other = [number for number in range(len(gambles)) if number not in cash]
        half = width // 2
        high = max(3, min(_MOST_SEGMENTS, self.size.height - 9))
        columns = [_around(column, offer["row"], high) for column in (cash, other)]
        for place in range(max(map(len, columns))):
            line = Text("")
            for column in columns:
                if place < len(column):
                    self._segment(line, column[place], offer, half - 1)
                else:
                    line.append(" " * (half - 1))
                line.append(" ")
            lines.append(line)
        goal = pounds(offer["win"]) if not offer["feature"] else _feature(offer)
        lines.append(Text(""))
        lines.append(_centred(f"{pounds(offer['amount'])} for {goal}, {pounds(offer['banked'])} kept", width, TEXT))
        lines.append(_bar(offer["chance_ppm"], width))
        chance = f"green {offer['chance_ppm'] / 10_000:.2f} %   payback {offer['payback_ppm'] / 10_000:g} %"
        lines.append(_centred(chance, width, GREEN))
        lines.append(_centred("◀ ▶ segment   - + amount", width, BLUE))
        lines.append(_centred(f"space gambles   o collects {pounds(offer['pence'])}", width, BLUE))
        return lines

    def _segment(self, line: Text, number: int, offer: dict[str, Any], width: int) -> None:
        name, kind, _, numerator, denominator, spins, value_micro, _ = self._view.pack.gambles[number]
        gives = f"×{numerator}/{denominator}" if denominator > 1 else f"×{numerator}"
        if kind != native.GAMBLE_CASH:
            gives = pounds(value_micro * self._view.unit // 1_000_000)
        label = name.replace("_", " ") + (f" {spins}" if spins and str(spins) not in name else "")
        chosen = number == offer["row"]
        text = f"{'▶' if chosen else ' '} {label[: width - len(gives) - 3]:{width - len(gives) - 3}} {gives}"
        line.append(text, f"bold #10151f on {GOLD}" if chosen else f"{TEXT} on #1c263a")

    def _offer(self, width: int) -> list[Text]:
        offer = self._view.offer
        assert offer is not None
        return [
            _centred("SPIN CHANCE", width, f"bold {GOLD}"),
            Text(""),
            _centred(f"{pounds(offer['credit'])} for a play of {pounds(offer['bet'])}", width, TEXT),
            _bar(offer["chance_ppm"], width),
            _bar(offer["chance_ppm"], width),
            _centred(f"green {offer['chance_ppm'] / 10_000:.2f} %: one play   red: the credit is lost", width, GREEN),
            Text(""),
            _centred("space PLAY   n NO THANKS", width, BLUE),
        ]


def _around(column: list[int], chosen: int, high: int) -> list[int]:
    """At most `high` segments of a wheel, the chosen one among them."""
    place = column.index(chosen) if chosen in column else 0
    first = max(0, min(place - high // 2, len(column) - high))
    return column[first : first + high]


def _feature(offer: dict[str, Any]) -> str:
    return (f"{offer['spins']} " if offer["spins"] else "") + offer["feature"].replace("_", " ")


def _centred(text: str, width: int, style: str) -> Text:
    return Text(text[:width].center(width), style)


def _bar(chance_ppm: int, width: int) -> Text:
    green = min(width, max(1 if chance_ppm else 0, round(chance_ppm * width / 1_000_000)))
    text = Text("█" * green, GREEN)
    return text.append("█" * (width - green), RED)

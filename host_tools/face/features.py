"""What a round shows beside the reels: frames, values, pile, pots, the wheel, the gamble and the spin chance. Plain data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import native
from firmware.play.shown import prize_name
from host_tools.hil.transcript import pounds

Event = dict[str, Any]

# How long the firmware shows a wheel and a pointer: (normal, quick spin).
WHEEL_MS = (3000, 600)
POINTER_MS = (2000, 400)
TURNING = 0.6  # part of that time until it has stopped


@dataclass(frozen=True)
class Wheel:
    """The bonus wheel: what it holds, where it stops, since when it is shown and for how long."""

    prizes: tuple[str, ...]
    row: int
    since_ms: int
    for_ms: int

    def lit(self, now_ms: int) -> int:
        """The prize under the pointer: it runs, slows down and stops."""
        part = min(1.0, (now_ms - self.since_ms) / (TURNING * self.for_ms))
        away = round((1 - part) ** 2 * 3 * len(self.prizes))
        return (self.row - away) % len(self.prizes)

    def over(self, now_ms: int) -> bool:
        return now_ms - self.since_ms >= self.for_ms


@dataclass(frozen=True)
class Pointer:
    """A pointer over green and red, and where it stops."""

    title: str
    chance_ppm: int
    green: bool
    since_ms: int
    for_ms: int

    def place(self, now_ms: int) -> float:
        """0 … 1 of the way round; it runs three times round and stops in the middle of its colour."""
        chance = self.chance_ppm / 1_000_000
        goal = chance / 2 if self.green else (1 + chance) / 2
        part = min(1.0, (now_ms - self.since_ms) / (TURNING * self.for_ms))
        return (goal - 3 * (1 - part) ** 2) % 1.0

    def stopped(self, now_ms: int) -> bool:
        return now_ms - self.since_ms >= TURNING * self.for_ms

    def over(self, now_ms: int) -> bool:
        return now_ms - self.since_ms >= self.for_ms


class Features(ABC):
    """Taken in by the view (view.py), which says what pack, unit and speed apply."""

    quick_spin = False
    unit = 1
    pile = 0

    def _clear_features(self) -> None:
        self.frames: dict[int, int] = {}  # level by cell
        self.values: dict[int, int] = {}  # pence by cell
        self.tokens: dict[str, int] = {}  # places filled by pot
        self.wheel: Wheel | None = None
        self.gamble: Event | None = None  # what can be gambled, as the firmware told it last
        self.offer: Event | None = None  # the spin chance
        self.pointer: Pointer | None = None
        self.marked: frozenset[int] = frozenset()  # cells that the last event is about

    @property
    @abstractmethod
    def pack(self) -> native.Pack:
        """Of the game that is played."""

    def _times(self, pair: tuple[int, int]) -> int:
        return pair[self.quick_spin]

    def overlay(self, now_ms: int) -> str:
        """What stands before the reels: "pointer", "wheel", "gamble", "offer" or ""."""
        if self.pointer is not None and not self.pointer.over(now_ms):
            return "pointer"
        if self.wheel is not None and not self.wheel.over(now_ms):
            return "wheel"
        if self.gamble is not None:
            return "gamble"
        return "offer" if self.offer is not None else ""

    def pots(self) -> list[tuple[str, int, int]]:
        """(name, places filled, places) of the pots that tokens fill."""
        return [(name, self.tokens.get(name, 0), tokens) for name, _, tokens in self.pack.pots if tokens]

    # --- events --------------------------------------------------------------------------------------------------

    def _on_value(self, event: Event) -> None:
        self.values[event["index"]] = event["pence"]

    def _on_pile(self, event: Event) -> None:
        self.pile = event["count"]
        self.marked = frozenset((event["index"],))

    def _on_frame(self, event: Event) -> None:
        self.frames[event["index"]] = event["count"]

    def _on_shape(self, event: Event) -> None:
        wide, high = event["count"] % 256, event["count"] // 256
        rows = self.pack.rows
        self.marked = frozenset(event["index"] + reel * rows + row for reel in range(wide) for row in range(high))

    def _on_bowl(self, event: Event) -> None:
        self.values[event["index"]] = event["pence"]
        self.marked = frozenset((event["index"],))

    def _on_token(self, event: Event) -> None:
        self.tokens[event["name"]] = event["count"]
        self.marked = frozenset((event["index"],))

    def _on_wheel(self, event: Event) -> None:
        prizes = tuple(self._prize(row) for row in self.pack.table(event["index"]))
        self.wheel = Wheel(prizes, event["count"], event["t"], self._times(WHEEL_MS))

    def _prize(self, row: tuple[int, int, int, int]) -> str:
        if row[1] == native.PRIZE_CREDITS:
            return pounds(row[3] * self.unit)
        if row[1] == native.PRIZE_SPINS:
            return f"{row[3]} extra spins"
        return prize_name(self.pack, row).replace("_", " ")

    def _on_gamble_offer(self, event: Event) -> None:
        self.gamble = event

    def _on_gamble_select(self, event: Event) -> None:
        self.gamble = event

    def _on_gamble(self, event: Event) -> None:
        chance = self.gamble["chance_ppm"] if self.gamble is not None else 500_000
        name = event["name"].replace("_", " ")
        title = f"{pounds(event['pence'])} on {name}"
        self.pointer = Pointer(title, chance, bool(event["count"]), event["t"], self._times(POINTER_MS))
        self.gamble = None

    def _on_gamble_collect(self, event: Event) -> None:
        self.gamble = None

    def _on_spin_chance_offer(self, event: Event) -> None:
        self.offer = event

    def _on_spin_chance_declined(self, event: Event) -> None:
        self.offer = None

    def _on_spin_chance(self, event: Event) -> None:
        chance = self.offer["chance_ppm"] if self.offer is not None else 500_000
        title = f"{pounds(event['pence'])} for a play"
        self.pointer = Pointer(title, chance, bool(event["count"]), event["t"], self._times(POINTER_MS))
        self.offer = None

    def _picture(self, event: Event) -> None:
        """The whole picture after a new start."""
        self.frames = {cell: level for cell, level in enumerate(event.get("frames", ())) if level}
        self.values = {cell: pence for cell, pence in enumerate(event.get("values", ())) if pence}
        pots: Mapping[str, int] = dict(zip((pot[0] for pot in self.pack.pots), event.get("matrix", ()), strict=False))
        self.tokens = dict(pots)

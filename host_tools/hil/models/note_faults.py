"""What can go wrong with a note on its way, whatever the protocol."""

from typing import Final

from host_tools.hil.faults import Arg, FaultSpec, Value
from host_tools.hil.models.note_path import ESCROW, MOVING, PAST, PULLED, READING, NotePath

_COUNT: Final = Arg("N", 1, 100, default=1)
_AT: Final = Arg("AT", words=("now", READING, ESCROW, MOVING, PAST), default="now")
NOTE_FAULTS: Final = {
    "silent": FaultSpec("the device stops talking when a note gets so far; it goes on working", (_AT,)),
    "reset": FaultSpec("the device alone loses power for a moment when a note gets so far", (_AT,)),
    "late": FaultSpec("events of notes come MS late", (Arg("MS", 1, 120_000),)),
    "lose": FaultSpec("the next N events of notes are never told", (_COUNT,)),
    "repeat": FaultSpec("the next N events of notes are told twice", (_COUNT,)),
    "give_back": FaultSpec("the next accepted note comes back on its way to the stacker"),
    "fall_back": FaultSpec("the note in escrow or on its way falls out at the front without a word"),
    "pull": FaultSpec("the note on its way is pulled back by the customer"),
    "jam": FaultSpec(
        "the next accepted note sticks, out of the customer's reach (safe) or not, until clear or power-up",
        (Arg("WHERE", words=("safe", "unsafe"), default="safe"),),
    ),
    "stacker": FaultSpec("the stacker", (Arg("STATE", words=("full", "removed", "ok")),)),
    "forget": FaultSpec("inhibits and what else is volatile are forgotten"),
    "fraud": FaultSpec("an attempt at fraud is seen"),
}


class NoteFaults(NotePath):
    """The switches of these faults. A model says what its protocol makes of them.

    `_late_us`, `_lose`, `_repeat`: of the events to come. `_no_word`: the device has stopped talking.
    """

    def _clear_path_faults(self) -> None:
        super()._clear_path_faults()
        self._late_us = self._lose = self._repeat = 0
        self._no_word = False
        self._traps: dict[str, str] = {}  # place of a note -> what happens when one gets there

    # What the protocol makes of it.

    def _brown_out(self, now_us: int) -> None:
        """It loses power for a moment."""
        raise NotImplementedError

    def _move_stacker(self, state: str) -> None:
        """The stacker is removed, full, or as it should be."""
        self.stacker = state

    def _forget(self) -> None:
        """What the host has set and nothing keeps."""
        raise NotImplementedError

    def _see_fraud(self) -> None:
        """An attempt."""
        raise NotImplementedError

    def _pulled(self) -> None:
        """The note in escrow or on its way."""
        self._reject(PULLED)

    def special_fault(self, kind: str, figure: Value) -> None:
        """One that only this model has; `figure`: its only value, 0 if it has none."""
        raise NotImplementedError

    # The switches

    def _reached(self, place: str) -> None:
        kind = self._traps.pop(place, "")
        if kind == "reset":
            self.at(self.now_us, self._brown_out)
        elif kind == "silent":
            self._no_word = True

    def own_fault(self, kind: str, values: tuple[Value, ...]) -> None:
        figure = values[0] if values else 0
        if kind in ("reset", "silent"):
            self._traps[str(figure)] = kind
            if figure == "now":
                self._reached("now")
        elif kind == "late":
            self._late_us = int(figure) * 1000
        elif kind == "lose":
            self._lose = int(figure)
        elif kind == "repeat":
            self._repeat = int(figure)
        elif kind == "give_back":
            self._give_back = True
        elif kind == "jam":
            self._jam = str(figure)
        elif kind == "stacker":
            self._move_stacker(str(figure))
        elif kind in ("forget", "fraud", "pull", "fall_back"):
            self._by_hand(kind)
        else:
            self.special_fault(kind, figure)

    def _by_hand(self, kind: str) -> None:
        if kind == "forget":
            self._forget()
        elif kind == "fraud":
            self._see_fraud()
        elif kind == "fall_back":
            self._falls_out()
        elif self.note is not None and self.note.place in (ESCROW, MOVING):
            self._pulled()

    def clear(self) -> None:
        super().clear()
        jam = self._jam
        self._clear_path_faults()
        self._move_stacker("ok")
        self._mend_jam(jam)

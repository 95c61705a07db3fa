"""A recorded round, event by event, from what the cabinet's recall and audit store: no state but the arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import native
from host_tools.par.model import Sheet
from native import CoreError, Pack, Round

KINDS = {
    getattr(native, name): name.lower()
    for name in (
        "SPIN", "LINE_WIN", "WAYS_WIN", "SCATTER_WIN", "CHOICE", "FREE_SPINS_BEGIN", "FREE_SPINS_ADDED", "FREE_SPINS_END",
        "WIN_CAP", "ROUND_END", "SPIN_CHANCE", "MODIFIER", "RESPIN", "VALUE", "COLLECT", "PILE", "WHEEL", "POT", "PRIZE",
        "FRAME", "SHAPE", "BOWL", "TOKEN", "GAMBLE_OFFER", "GAMBLE",
    )
}  # fmt: skip
WINS = frozenset(("line_win", "ways_win", "scatter_win", "collect", "pot", "prize", "bowl"))
SYMBOL = frozenset(
    ("line_win", "ways_win", "scatter_win", "choice", "value", "collect", "pile", "free_spins_added", "token")
)


class ReplayError(ValueError):
    """A choice that the round does not ask for, or one that is missing."""


@dataclass(frozen=True)
class Told:
    """One event. `award_pence`: won so far, with it."""

    kind: str
    index: int
    symbol: str
    count: int
    multiplier: int
    pence: int
    award_pence: int
    window: tuple[str, ...]  # of a spin: rows, top first
    stops: tuple[int, ...]

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value not in ("", ())}


def decide(round: Round, choice: str) -> None:
    """One choice as recorded: `2` takes option 2, `collect` declines a gamble, `gamble:ROW:PENCE` takes it."""
    name, *numbers = choice.split(":")
    try:
        if name == "collect" and not numbers:
            round.collect()
        elif name == "gamble" and len(numbers) == 2:
            round.gamble(int(numbers[0]), int(numbers[1]))
        elif name.isdigit() and not numbers:
            round.choose(int(name))
        else:
            raise ReplayError(f"'{choice}' is no choice: write an option's number, collect, or gamble:ROW:PENCE")
    except CoreError as fault:
        raise ReplayError(f"the round refuses the choice '{choice}' here ({fault.args[0]})") from fault
    except ValueError as fault:
        raise ReplayError(f"'{choice}' is no choice: {fault}") from fault


def replay(
    sheet: Sheet,
    pack: Pack,
    mode: int,
    unit_pence: int,
    seed: bytes,
    choices: list[str],
    wager_pence: int = 0,
    gamble: bool = False,
    pile: int = 0,
) -> Iterator[Told]:
    """All events. Ends early, with ReplayError, when a choice is due that is not given."""
    round, left = Round(pack, mode, unit_pence, seed, wager_pence, gamble, pile), list(choices)
    while not round.finished:
        if round.options() or round.offer:
            if not left:
                due = f"options 0 to {len(round.options()) - 1}" if round.options() else f"a gamble of {round.offer}p"
                raise ReplayError(f"the round asks for a choice ({due}): give it with --choice")
            decide(round, left.pop(0))
            continue
        kind, index, symbol, count, multiplier, pence = round.next()
        name, rows, stops = KINDS[kind], (), ()
        if name == "spin":
            cells = [sheet.symbols[cell].id for cell in round.window()]
            rows = tuple(" ".join(cells[row :: sheet.rows]) for row in range(sheet.rows))
            stops = round.stops()
        shown = sheet.symbols[symbol].id if name in SYMBOL and symbol < len(sheet.symbols) else ""
        yield Told(name, index, shown, count, multiplier, pence, round.award_pence, rows, stops)
    if left:
        raise ReplayError(f"the round is over, but the choices {' '.join(left)} were not asked for")

"""The board killed at random moments of a busy cabinet, on any board: on the emulator with SIGKILL, as a power cut is.

Where `cuts.py` tries every byte of one script in this process, this goes on and on with one cabinet: random coins, plays,
picks and pay-outs, a kill, a new start on the same memory, the books against the world, and on.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from host_tools.hil.rig import Rig
from host_tools.soak.recovery import MAX_SHOWN, recover

LONGEST_MS = 4000  # from one start to the next kill
COINS = (10, 20, 50, 100, 200)
BUTTONS = (
    "start", "start", "start", "start", "cash_out", "right", "left", "level_up", "level_down", "stake_up", "stake_down",
    "max_bet", "gamble", "collect", "no_thanks", "fortune_bet", "fortune_spins",
)  # fmt: skip


@dataclass
class KillReport:
    """`kills` starts on the memory that a kill left behind; the totals are the books' at the end."""

    kills: int = 0
    violated: int = 0
    violations: list[str] = field(default_factory=list)
    states: dict[str, int] = field(default_factory=dict)
    games: int = 0
    coins_in: int = 0
    hopper_out: int = 0


def run(
    packs: Mapping[str, bytes],
    kills: int,
    seed: int,
    board: str,
    progress: Callable[[KillReport], None] = lambda so_far: None,
) -> KillReport:
    """Kills the board `kills` times. Errors: RigError when the cabinet cannot be started at all."""
    dice = random.Random(seed)
    report = KillReport()
    rig = Rig(packs, board=board)
    try:
        rig.world.entropy.seed(seed)
        rig.power_on()
        rig.world.console.type("set quick_spin on")  # or most kills fall into the reels of one long round
        for number in range(kills):
            rig.world.hopper_100.refill(max(0, 500 - rig.world.hopper_100.level))
            rig.world.hopper_10.refill(max(0, 500 - rig.world.hopper_10.level))
            _live(rig, dice, sorted(packs))
            killed_ms = rig.now_ms
            rig.cut_power()
            rig.run_for(dice.randrange(0, 400, 5))
            wrong = _start_again(rig)
            report.kills += 1
            report.states[rig.state] = report.states.get(rig.state, 0) + 1
            if wrong:
                report.violated += 1
                if len(report.violations) < MAX_SHOWN:
                    report.violations.append(f"kill {number + 1} at {killed_ms} ms: {'; '.join(wrong)}")
            progress(report)
        books = rig.query()
        report.games, report.coins_in, report.hopper_out = books["games"], books["coins_in"], books["hopper_out"]
    finally:
        rig.close()
    return report


def _live(rig: Rig, dice: random.Random, games: Sequence[str]) -> None:
    """A player in a hurry, for a random time."""
    end = rig.now_ms + dice.randrange(5, LONGEST_MS, 5)
    while rig.now_ms < end:
        now_us = rig.now_ms * 1000
        if dice.random() < 0.05:
            rig.world.console.type(f"game {dice.choice(games)}")
        elif dice.random() < 0.4:
            rig.world.acceptor.insert(dice.choice(COINS), now_us)
        else:
            rig.world.panel.press(dice.choice(BUTTONS), now_us, 60)
        rig.run_for(min(end - rig.now_ms, dice.randrange(70, 900, 5)))


def _start_again(rig: Rig) -> list[str]:
    books, wrong = recover(rig)
    if books.get("state") in ("tilted", "handpay"):
        for turned in (True, False, True, False):  # an attendant clears the tilt, then pays what is due by hand
            rig.world.panel.set_input("attendant", turned, rig.now_ms * 1000)
            rig.run_for(100)
    return wrong

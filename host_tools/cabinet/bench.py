"""What an engineer asks first: how fast, how much, on this machine. Figures only; nothing here passes or fails."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import native
from host_tools.cabinet import games
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse
from native.cpython.wrapper import cycle, simulate

ROUNDS = 1_000_000


@dataclass(frozen=True)
class Figure:
    name: str
    value: float
    unit: str


def seconds(action: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def mathematics() -> list[Figure]:
    """The C core on one core of this machine, each the best of three."""
    pack = native.Pack(games.pack("piggy_riches"))
    stops = [len(pack.strip(0, reel)) for reel in range(pack.reels)]
    boards = 1
    for length in stops:
        boards *= length
    full = min(seconds(lambda: cycle(pack, 0, 0, stops[0])) for _ in range(3))
    rounds = min(seconds(lambda: simulate(pack, 0, 1, bytes(32), 0, ROUNDS)) for _ in range(3))
    return [
        Figure("full cycle of piggy_riches' main game", boards / full / 1e6, "million boards/s"),
        Figure("whole rounds through the round function", ROUNDS / rounds / 1e6, "million rounds/s"),
        Figure("size of the game pack", len(games.pack("piggy_riches")), "bytes"),
    ]


def cabinet() -> list[Figure]:
    """The whole cabinet in the rig: simulation speed on the wall clock, all else in the cabinet's own time."""
    rig = Rig(games.packs())
    rig.run(parse("entropy seed 1\npower on"))
    boot_ms = next(event["t"] for event in rig.events if event["e"] == "state" and event["state"] == "idle")
    memory = rig.session.nvram

    def written(script: str) -> int:
        before = memory.written
        rig.run(parse(script))
        return memory.written - before

    coin = written("coin 50")
    rig.run(parse("console set quick_spin on\nwant loss"))
    begun_ms = rig.now_ms
    play = written("press start for 20ms\nwait until idle")
    spin_ms = next(event["t"] for event in reversed(rig.events) if event["e"] == "spin") - begun_ms
    start_ms = rig.now_ms
    wall = seconds(lambda: rig.run_for(60_000))
    return [
        Figure("power on to ready", boot_ms, "ms"),
        Figure("start button to the outcome on the reels", spin_ms, "ms"),
        Figure("NVRAM written for a coin of 50p (both banks)", coin, "bytes"),
        Figure("NVRAM written for a lost play (both banks)", play, "bytes"),
        Figure("simulated time, idle cabinet", (rig.now_ms - start_ms) / 1000 / wall, "times real time"),
    ]


def run() -> list[Figure]:
    return mathematics() + cabinet()

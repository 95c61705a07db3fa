"""What an engineer asks first: how fast, how much, on this machine. Figures only; nothing here passes or fails."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import native
from host_tools.cabinet import games
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse
from native.cpython.wrapper import Pack, cycle, simulate

ROUNDS = 1_000_000  # from tables
PLAIN = 50_000  # event by event


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


def best(action: Callable[[], object]) -> float:
    """Seconds of the best of three runs: the others were disturbed."""
    return min(seconds(action) for _ in range(3))


def threads() -> int:
    return len(os.sched_getaffinity(0))


def enumeration(pack: Pack, mode: int) -> list[Figure]:
    """All windows of a mode, in ranges of the first reel when there are threads."""
    evaluation = "ways" if pack.evaluation(mode) else f"{len(pack.lines)} lines"
    name = f"full cycle of {pack.name}, {evaluation}"
    boards = cycle(pack, mode).boards
    stops = boards // cycle(pack, mode, 0, 1).boards  # of the first reel

    def shared() -> None:
        with ThreadPoolExecutor(threads()) as pool:
            list(pool.map(lambda stop: cycle(pack, mode, stop, stop + 1), range(stops)))

    return [
        Figure(f"{name}, one core", boards / best(lambda: cycle(pack, mode)) / 1e6, "million boards/s"),
        Figure(f"{name}, {threads()} threads", boards / best(shared) / 1e6, "million boards/s"),
    ]


def simulation(pack: Pack, mode: int) -> list[Figure]:
    """Whole rounds, features included: from tables, and as many times faster than event by event."""
    name = f"whole rounds of {pack.name}, {pack.modes[mode]}"
    seed, batch = bytes(32), ROUNDS // (4 * threads())

    def shared() -> None:
        with ThreadPoolExecutor(threads()) as pool:
            list(pool.map(lambda first: simulate(pack, mode, 1, seed, first, batch), range(0, ROUNDS, batch)))

    simulate(pack, mode, 1, seed, 0, 1)  # makes the tables
    quick = ROUNDS / best(lambda: simulate(pack, mode, 1, seed, 0, ROUNDS)) / 1e6
    plain = PLAIN / best(lambda: simulate(pack, mode, 1, seed, 0, PLAIN, plain=True)) / 1e6
    return [
        Figure(f"{name}, one core", quick, "million rounds/s"),
        Figure(f"{name}, {threads()} threads", ROUNDS / best(shared) / 1e6, "million rounds/s"),
        Figure(f"{name}, against the plain round function", quick / plain, "times"),
    ]


def mathematics() -> list[Figure]:
    """The C core on this machine, each the best of three."""
    figures = [Figure("load of this machine before", os.getloadavg()[0], "processes ready to run")]
    for name, data in games.packs().items():
        pack = Pack(data)
        selectable = [mode for mode in range(len(pack.modes)) if pack.flags(mode) & native.MODE_SELECTABLE]
        figures += enumeration(pack, selectable[0])
        for mode in selectable:
            figures += simulation(pack, mode)
        figures.append(Figure(f"size of the game pack of {name}", len(data), "bytes"))
    return figures


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

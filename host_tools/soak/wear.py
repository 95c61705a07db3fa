"""What the journal writes, measured on the real firmware, and what that means for kinds of memory.

`cabinet soak --wear` prints the table of firmware/store/README.md.
"""

from collections.abc import Mapping
from typing import Final

from firmware.store.journal import BANKS, CONTROL_BYTES
from hal.boards.host import NVRAM_BYTES
from host_tools.hil.host_session import RigNvram
from host_tools.hil.player import play
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse

PLAYS: Final = 40  # of each game, with the features that come
PLAYS_A_MINUTE: Final = 10
PLAYS_A_COIN: Final = 5  # one coin for so many plays, one coin paid out for so many coins
COINS_A_PAY_OUT: Final = 20
MINUTES_A_YEAR: Final = 60 * 24 * 365
FLASH_ERASES: Final = 100_000
FRAM_WRITES: Final = 10**13  # of one byte, as makers warrant it; 10**14 is common


# Budgets of bytes, both banks together; tests/soak/test_wear.py holds the firmware to them.
BUDGET_BYTES: Final = {"coin": 160, "play": 800, "pay-out of one coin": 700, "power-up": 1200}


class _Counted(RigNvram):
    """Counts writes. A record is written once to each bank."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.writes = 0

    def write(self, offset: int, data: bytes) -> None:
        self.writes += 1
        super().write(offset, data)


def measure(packs: Mapping[str, bytes], plays: int = PLAYS) -> dict[str, tuple[float, float]]:
    """Records, and bytes of both banks together, of a coin, a play of each game, a pay-out and a power-up.

    The pulses of the electromechanical meters are part of what causes them, snapshots of what fills the area.
    """
    rig = Rig(packs)
    memory = _Counted(NVRAM_BYTES)
    rig.session.nvram = memory  # pyright: ignore[reportAttributeAccessIssue]
    found: dict[str, tuple[float, float]] = {}

    def told(script: str) -> tuple[float, float]:
        writes, written = memory.writes, memory.written
        rig.run(parse(script))
        return (memory.writes - writes) / BANKS, memory.written - written

    rig.run(parse("entropy seed 1\npower on\nconsole set quick_spin on\nconsole set gamble off\nwait 2s"))
    found["power-up"] = told("power off\npower on\nwait 2s")
    records, written = told("coin 200\ncoin 100\ncoin 50\ncoin 20\ncoin 10\nwait 5s")
    found["coin"] = records / 5, written / 5
    rig.run(parse("press cash_out\nwait until idle\nwait 5s\ncoin 10\nwait 1s"))
    found["pay-out of one coin"] = told("press cash_out\nwait until idle\nwait 1s")
    for name in sorted(packs):
        rig.run(parse(f"game {name}\ncoins 200 200 200\nwait 8s"))
        writes, written, coins_in = memory.writes, memory.written, rig.query()["coins_in"]
        for _ in range(plays):
            play(rig)
        coins = (rig.query()["coins_in"] - coins_in) // 200  # that the player put in meanwhile
        records = (memory.writes - writes) / BANKS - coins * found["coin"][0]
        found[f"play of {name}"] = records / plays, (memory.written - written - coins * found["coin"][1]) / plays
    return found


def year(found: Mapping[str, tuple[float, float]], size: int = NVRAM_BYTES) -> dict[str, float]:
    """A year of uninterrupted play at PLAYS_A_MINUTE, on the costliest game, in a memory of `size` bytes."""
    plays = PLAYS_A_MINUTE * MINUTES_A_YEAR
    coins = plays / PLAYS_A_COIN
    each = {"coin": coins, "pay-out of one coin": coins / COINS_A_PAY_OUT}
    costliest = max((name for name in found if name.startswith("play")), key=lambda name: found[name][1])
    each[costliest] = plays
    records = sum(number * found[name][0] for name, number in each.items())
    written = sum(number * found[name][1] for name, number in each.items())
    # The log goes round both areas of a bank, so every byte of them is written once a lap; flash must be erased once a lap.
    laps = written / (size - CONTROL_BYTES)
    return {
        "records": records,
        "bytes": written,
        "writes of each byte": laps,
        "years of FRAM": FRAM_WRITES / laps,
        "erases of each flash sector, as this log": laps,
        "years of flash, as this log": FLASH_ERASES / laps,
        "days of flash, facts in place": 365 * FLASH_ERASES / records,  # each record erases the sector of its facts
    }


def as_text(found: Mapping[str, tuple[float, float]], a_year: Mapping[str, float]) -> str:
    lines = [f"{name:22} {records:5.1f} records {written:7.0f} bytes" for name, (records, written) in found.items()]
    return "\n".join([*lines, "", *(f"{name:42} {value:,.1f}" for name, value in a_year.items())])

"""The firmware's memory in the long run, on MicroPython's unix port: its console tells what is free."""

import re

from host_tools.cabinet import games
from host_tools.hil.player import play
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse

PLAYS = 1000
BLOCKS_BYTES = 256  # eight of the collector's blocks


def test_a_thousand_plays_leave_the_heap_as_ten_do():
    """What is free may differ by a few of the collector's blocks and no more: the journal keeps numbers in as few bytes as
    they need, the last games and events are of different lengths, and the collector takes a stale word for a pointer."""
    rig = Rig(games.packs(), board="unix")

    def free() -> int:
        rig.run(parse("wait 2s\nconsole memory\nwait 300ms"))
        heap = next(line for line in rig.world.console.text if line.startswith("heap"))
        assert "TOO LITTLE" not in heap
        found = re.search(r"(\d+) of \d+ bytes free", heap)
        assert found, heap
        return int(found[1])

    try:
        rig.run(parse("entropy seed 7\npower on\nconsole set quick_spin on\ngame piggy_riches"))
        heap = {}
        for number in range(1, PLAYS + 1):
            play(rig)
            if number in (10, PLAYS // 2, PLAYS):
                heap[number] = free()
        assert rig.query()["games"] == PLAYS
        assert max(heap.values()) - min(heap.values()) <= BLOCKS_BYTES, heap
    finally:
        rig.close()

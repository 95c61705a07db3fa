"""Power cuts under a note of a bill validator: what its event counter alone proves (the rest: test_hal_note_cuts.py)."""

import pytest

from tests.hal.bill_rig import BillRig
from tests.hal.note_steps import BOTH, LIFE_MS, STEP_MS, inserted, judge


@pytest.mark.parametrize("off_ms", [3000, 15_000])
def test_the_host_is_off_for_longer(off_ms):
    """The device goes on by itself meanwhile, and shows what was when somebody asks."""
    for at_ms in range(0, LIFE_MS, STEP_MS):
        rig = inserted(BillRig, counters=False)
        rig.run(at_ms)
        rig.cut("host", off_ms)
        judge(rig, True, at_ms)


@BOTH
def test_a_cut_near_the_wrap_of_the_counter(counters):
    """Escrow at 255, stacked at 1, and the cabinet lost its power in between."""
    for at_ms in range(700, LIFE_MS, STEP_MS):
        rig = BillRig(counters=counters).ready()
        rig.run(500)
        rig.model._counter = rig.host._seen = 254
        rig.host._last = bytes([254]) + rig.host._last[1:]
        rig.run(500)
        rig.insert(2000)
        rig.run(at_ms)
        rig.cut("host")
        judge(rig, True, at_ms)

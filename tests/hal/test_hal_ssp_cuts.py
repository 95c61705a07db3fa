"""Power cuts under a note of an SSP acceptor that demands encryption (without it: test_hal_note_cuts.py)."""

import pytest

from tests.hal.note_steps import CUTS, judge
from tests.hal.ssp_rig import NoteRig


@pytest.mark.parametrize("kind", CUTS)
def test_a_cut_with_keys(kind):
    for at_ms in range(0, 4000, 311):
        rig = NoteRig(keys=True)
        rig.model.fault("key")
        rig.ready()
        rig.run(500)
        rig.insert(2000)
        rig.run(at_ms)
        rig.cut(kind)
        judge(rig, True, at_ms)

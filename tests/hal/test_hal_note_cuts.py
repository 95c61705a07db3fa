"""Power cuts of the host, of the device and of both at every moment of a note's way: it ends once, as the model's truth has it.

With counters nothing is ever disputed. Without them a note may be, and one told twice may leave a record too many; what is never
allowed is a credit without a note in the box, or a note in the box without a credit or a record.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hal.note_steps import CUTS, LIFE_MS, RIGS, STEP_MS, each_device, inserted, judge

EACH = pytest.mark.parametrize("fit", RIGS.values(), ids=RIGS)
COUNTERS = [(True, "credit"), (True, "stacker"), (False, "credit")]
KINDS = pytest.mark.parametrize("kind", CUTS)


@KINDS
@each_device()
@pytest.mark.parametrize(("counters", "counts_at"), COUNTERS)
def test_a_cut_at_every_moment(fit, device, counters, counts_at, kind):
    for number, at_ms in enumerate(range(0, LIFE_MS, STEP_MS)):
        start = fit.STARTS[number % len(fit.STARTS)]
        rig = inserted(fit, counters=counters, counts_at=counts_at, **device, **start)
        rig.run(at_ms)
        rig.cut(kind)
        # A host that alone was cut is told everything again: nothing is open then either.
        judge(rig, counters or (rig.retells and kind == "host"), (at_ms, start))


@each_device()
@pytest.mark.parametrize(("counters", "counts_at"), COUNTERS)
def test_a_cut_of_the_host_at_every_step_of_its_own(fit, device, counters, counts_at):
    """Before and after each commit, each order and each booking."""
    rig = inserted(fit, counters=counters, counts_at=counts_at, **device)
    judge(rig, counters, "no cut")
    steps = rig.steps
    assert steps == 6, "escrow and stacked, three steps each"
    for step in range(1, steps + 1):
        rig = inserted(fit, counters=counters, counts_at=counts_at, **device)
        rig.cut_step = step
        judge(rig, counters or rig.retells, step)
        assert rig.cut_step == -1, "the cut has struck"


@EACH
def test_what_was_not_committed_is_told_again(fit):
    """A slow firmware, and a device without counters to fall back on: nothing is acknowledged before it is committed."""
    for at_ms in range(0, LIFE_MS + 1000, STEP_MS):
        rig = fit(counters=False).ready()
        rig.slow_ms = 400
        rig.run(500)
        rig.insert(2000)
        rig.run(at_ms)
        rig.cut("host")
        judge(rig, True, at_ms)


@EACH
@settings(max_examples=60, deadline=None)
@given(
    st.data(),
    st.sampled_from(COUNTERS),
    st.lists(
        st.tuples(st.integers(0, 3000), st.sampled_from(CUTS), st.integers(1, 400).map(lambda n: n * 5)),
        min_size=2,
        max_size=3,
    ),
)
def test_cut_after_cut(fit, data, counts, cuts):
    counters, counts_at = counts
    device = data.draw(st.sampled_from(fit.DEVICES)) | data.draw(st.sampled_from(fit.STARTS))
    rig = inserted(fit, counters=counters, counts_at=counts_at, **device)
    for after_ms, kind, off_ms in cuts:
        rig.run(after_ms)
        rig.cut(kind, off_ms)
    judge(rig, counters, cuts)


@KINDS
@EACH
def test_a_cut_while_the_note_goes_back(fit, kind):
    for at_ms in range(0, LIFE_MS, STEP_MS):
        rig = fit().ready()
        rig.run(500)
        rig.decide = lambda pence: False
        rig.insert(2000)
        rig.run(at_ms)
        rig.cut(kind)
        judge(rig, True, at_ms)
        assert rig.model.returned == [2000]

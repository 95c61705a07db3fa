"""Power cuts of host, validator and both at every moment of a note's way: it ends once, as the model's truth has it.

With counters nothing is ever disputed. Without them a note may be, and one told twice may leave a record too many; what is never
allowed is a credit without a note in the box, or a note in the box without a credit or a record.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hal.bill_rig import BillRig

LIFE_MS = 3200  # from the slot to the stacker, with some time before and behind
STEP_MS = 83  # no divisor of the time between two polls: every part of an exchange is hit
WITH_MS = 25_000
BLIND_MS = 80_000  # without counters a late event has a minute to come
COUNTERS = [(True, "credit"), (True, "stacker"), (False, "credit")]
CUTS = ("host", "device", "mains")


def cut(rig: BillRig, kind: str, off_ms: int = 300) -> None:
    if kind == "host":
        rig.cut_host()
        rig.run(off_ms)
        rig.boot()
    elif kind == "device":
        rig.cut_device(off_ms)
    else:
        rig.cut_mains(off_ms)


def inserted(**options) -> BillRig:
    rig = BillRig(**options).ready()
    rig.run(500)
    rig.steps = 0
    rig.insert(2000)
    return rig


def judge(rig: BillRig, counters: bool, when: object) -> None:
    """Books against truth."""
    rig.run(WITH_MS)
    if rig.journal.pending is not None and not counters:
        rig.run(BLIND_MS - WITH_MS)
    journal, model = rig.journal, rig.model
    at = f"{when}: {journal}, stacked {model.stacked}, returned {model.returned}, told {rig.told}"
    assert model.note is None, at
    assert journal.pending is None, at
    assert rig.host is not None, at
    assert rig.host.accepting, at
    assert len(model.stacked) + len(model.returned) == 1, at
    credited, stacked = sum(journal.credited), sum(model.stacked)
    if counters:
        assert credited == stacked, at
        assert not journal.disputed, at
    else:
        assert credited == stacked or (credited < stacked and journal.disputed), at


@pytest.mark.parametrize("kind", CUTS)
@pytest.mark.parametrize("clears", [True, False])
@pytest.mark.parametrize(("counters", "counts_at"), COUNTERS)
def test_a_cut_at_every_moment(counters, counts_at, clears, kind):
    for at_ms in range(0, LIFE_MS, STEP_MS):
        rig = inserted(counters=counters, counts_at=counts_at, clears=clears)
        rig.run(at_ms)
        cut(rig, kind)
        # While the device lives, its event counter alone is proof enough.
        judge(rig, counters or kind == "host", at_ms)


@pytest.mark.parametrize(("counters", "counts_at"), COUNTERS)
def test_a_cut_of_the_host_at_every_step_of_its_own(counters, counts_at):
    """Before and after each commit, each order and each booking."""
    rig = inserted(counters=counters, counts_at=counts_at)
    judge(rig, counters, "no cut")
    steps = rig.steps
    assert steps == 6, "escrow and stacked, three steps each"
    for step in range(1, steps + 1):
        rig = inserted(counters=counters, counts_at=counts_at)
        rig.cut_step = step
        judge(rig, True, step)
        assert rig.cut_step == -1, "the cut has struck"


@pytest.mark.parametrize("off_ms", [3000, 15_000])
def test_the_host_is_off_for_longer(off_ms):
    """The device goes on by itself meanwhile, and shows what was when somebody asks."""
    for at_ms in range(0, LIFE_MS, STEP_MS):
        rig = inserted(counters=False)
        rig.run(at_ms)
        cut(rig, "host", off_ms)
        judge(rig, True, at_ms)


def test_what_was_not_committed_is_told_again():
    """A slow firmware, and a device without counters to fall back on."""
    for at_ms in range(0, LIFE_MS + 1000, STEP_MS):
        rig = BillRig(counters=False).ready()
        rig.slow_ms = 400
        rig.run(500)
        rig.insert(2000)
        rig.run(at_ms)
        cut(rig, "host")
        judge(rig, True, at_ms)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(COUNTERS),
    st.booleans(),
    st.lists(
        st.tuples(st.integers(0, 3000), st.sampled_from(CUTS), st.integers(1, 400).map(lambda n: n * 5)),
        min_size=2,
        max_size=3,
    ),
)
def test_cut_after_cut(counts, clears, cuts):
    counters, counts_at = counts
    rig = inserted(counters=counters, counts_at=counts_at, clears=clears)
    for after_ms, kind, off_ms in cuts:
        rig.run(after_ms)
        cut(rig, kind, off_ms)
    judge(rig, counters, cuts)


@pytest.mark.parametrize("kind", CUTS)
def test_a_cut_while_the_note_goes_back(kind):
    for at_ms in range(0, LIFE_MS, STEP_MS):
        rig = BillRig().ready()
        rig.run(500)
        rig.decide = lambda pence: False
        rig.insert(2000)
        rig.run(at_ms)
        cut(rig, kind)
        judge(rig, True, at_ms)
        assert rig.model.returned == [2000]


@pytest.mark.parametrize("counters", [True, False])
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
        cut(rig, "host")
        judge(rig, True, at_ms)

"""Power cuts of the host, of the device and of both at every moment of a note's way: it ends once, as the model's truth has it.

With counters nothing is ever disputed. Without them a note may be, and one told twice may leave a record too many; what is never
allowed is a credit without a note in the box, or a note in the box without a credit or a record.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hal.ssp_rig import NoteRig

LIFE_MS = 3200  # from the slot to the stacker, with some time before and behind
STEP_MS = 83  # no divisor of the time between two polls: every part of an exchange is hit
SETTLED_MS = 25_000
EVIDENCE = ("channel", "blank", "amount", "none")
COUNTERS = [(True, "credit"), (True, "stacker"), (False, "credit")]
CUTS = ("host", "device", "mains")


def cut(rig: NoteRig, kind: str, off_ms: int = 300) -> None:
    if kind == "host":
        rig.cut_host()
        rig.run(off_ms)
        rig.boot()
    elif kind == "device":
        rig.cut_device(off_ms)
    else:
        rig.cut_mains(off_ms)


def inserted(**options) -> NoteRig:
    rig = NoteRig(**options).ready()
    rig.run(500)
    rig.steps = 0
    rig.insert(2000)
    return rig


def judge(rig: NoteRig, counters: bool, when: object) -> None:
    """Books against truth."""
    rig.run(SETTLED_MS)
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
@pytest.mark.parametrize("acks", [True, False])
@pytest.mark.parametrize(("counters", "counts_at"), COUNTERS)
def test_a_cut_at_every_moment(counters, counts_at, acks, kind):
    for number, at_ms in enumerate(range(0, LIFE_MS, STEP_MS)):
        evidence = EVIDENCE[number % len(EVIDENCE)]
        rig = inserted(counters=counters, counts_at=counts_at, acks=acks, evidence=evidence)
        rig.run(at_ms)
        cut(rig, kind)
        # With acknowledgement the device tells a host that was cut everything again: nothing is open then either.
        judge(rig, counters or (acks and kind == "host"), (at_ms, evidence))


@pytest.mark.parametrize("acks", [True, False])
@pytest.mark.parametrize(("counters", "counts_at"), COUNTERS)
def test_a_cut_of_the_host_at_every_step_of_its_own(counters, counts_at, acks):
    """Before and after each commit, each order and each booking."""
    rig = inserted(counters=counters, counts_at=counts_at, acks=acks)
    judge(rig, counters, "no cut")
    steps = rig.steps
    assert steps == 6, "escrow and stacked, three steps each"
    for step in range(1, steps + 1):
        rig = inserted(counters=counters, counts_at=counts_at, acks=acks)
        rig.cut_step = step
        judge(rig, counters or acks, step)
        assert rig.cut_step == -1, "the cut has struck"


def test_nothing_is_acknowledged_before_it_is_committed():
    """A slow firmware without counters to fall back on: what it had not committed, the device tells again."""
    for at_ms in range(0, LIFE_MS + 1000, STEP_MS):
        rig = NoteRig(counters=False).ready()
        rig.slow_ms = 400
        rig.run(500)
        rig.insert(2000)
        rig.run(at_ms)
        cut(rig, "host")
        judge(rig, True, at_ms)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(COUNTERS),
    st.booleans(),
    st.sampled_from(EVIDENCE),
    st.lists(
        st.tuples(st.integers(0, 3000), st.sampled_from(CUTS), st.integers(1, 400).map(lambda n: n * 5)),
        min_size=2,
        max_size=3,
    ),
)
def test_cut_after_cut(counts, acks, evidence, cuts):
    counters, counts_at = counts
    rig = inserted(counters=counters, counts_at=counts_at, acks=acks, evidence=evidence)
    for after_ms, kind, off_ms in cuts:
        rig.run(after_ms)
        cut(rig, kind, off_ms)
    judge(rig, counters, cuts)


@pytest.mark.parametrize("kind", CUTS)
def test_a_cut_while_the_note_goes_back(kind):
    for at_ms in range(0, LIFE_MS, STEP_MS):
        rig = NoteRig().ready()
        rig.run(500)
        rig.decide = lambda pence: False
        rig.insert(2000)
        rig.run(at_ms)
        cut(rig, kind)
        judge(rig, True, at_ms)
        assert rig.model.returned == [2000]


@pytest.mark.parametrize("kind", CUTS)
def test_a_cut_with_keys(kind):
    for at_ms in range(0, 4000, 311):
        rig = NoteRig(keys=True)
        rig.model.fault("key")
        rig.ready()
        rig.run(500)
        rig.insert(2000)
        rig.run(at_ms)
        cut(rig, kind)
        judge(rig, True, at_ms)

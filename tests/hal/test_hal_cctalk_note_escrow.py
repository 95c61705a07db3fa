"""A bill validator's note in escrow: routed once, only while its event is the newest, and given back if in doubt."""

import pytest

from tests.hal.bill_rig import BillRig
from tests.hal.note_steps import BLIND_MS, BOTH, SETTLED_MS, play, settled


def ready(**options) -> BillRig:
    return BillRig(**options).ready()


def test_the_device_gives_the_note_back_by_itself():
    """B12: it did not hear the extensions, and the decision comes after its time; the yes must not become a credit."""
    rig = ready()
    rig.model._keep = lambda now_us: None
    rig.decide_after_ms = 12_000
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "escrow")
    rig.model.at(rig.now_ms * 1000 + 10_000_000, rig.model._timed_out)
    rig.run(40_000)
    assert (rig.model.returned, rig.model.stacked, rig.journal.credited) == ([2000], [], [])
    settled(rig)


def test_only_the_newest_event_is_routed():
    """Something was told after the escrow event: what waits there now is not known for sure, so the device gives it back."""
    rig = ready()
    rig.decide = lambda pence: None
    rig.insert(2000)
    rig.run_until(lambda: rig.host.pending())
    rig.model.fault("event", 9)
    sent = rig.listen()
    rig.decide = lambda pence: True
    rig.run(SETTLED_MS)
    assert (154, b"\x01") not in sent
    assert (rig.model.returned, rig.journal.credited) == ([2000], [])
    assert ("fraud", 9) in rig.told
    settled(rig)


def test_an_event_just_before_the_route_stops_it():
    """It is made after the last poll and before the firmware's yes: the events are read again before the route."""
    rig = ready()
    rig.insert(2000)
    rig.run_until(lambda: rig.journal.pending is not None)
    rig.model.fault("fall_back")
    rig.model._make(0, 1)
    sent = rig.listen()
    rig.run(SETTLED_MS)
    assert sent[0][0] == 159
    assert (154, b"\x01") not in sent
    assert (rig.model.returned, rig.journal.credited, rig.journal.returned) == ([2000], [], 1)


@pytest.mark.parametrize(("times", "stacked"), [(1, [2000]), (2, [2000]), (3, [])])
def test_routes_that_fail(times, stacked):
    """The note still waits: it is asked for again, and given back in the end."""
    rig = ready()
    rig.model.fault("refuse_route", times)
    play(rig, ms=40_000)
    assert rig.model.stacked == rig.journal.credited == stacked
    settled(rig)


@BOTH
def test_a_route_whose_answer_is_lost_is_not_repeated_while_the_note_moves(counters):
    rig = ready(counters=counters)
    sent = rig.listen()
    carried_out = rig.model._commands[154][1]

    def route(data, now_us):
        if data == b"\x01":
            rig.model.fault("lost_answers", 1)
        return carried_out(data, now_us)

    rig.model._commands[154] = (1, route)
    play(rig)
    assert sent.count((154, b"\x01")) == 1
    assert rig.journal.credited == rig.model.stacked == [2000]
    settled(rig)


def test_a_route_that_got_lost_is_sent_again_once_the_note_is_seen_to_wait():
    rig = ready()
    sent = rig.listen()
    carried_out = rig.model._commands[154][1]
    drops = [1]

    def route(data, now_us):
        if data == b"\x01" and drops.pop() if drops else False:
            return None
        return carried_out(data, now_us)

    rig.model._commands[154] = (1, route)
    play(rig)
    assert sent.count((154, b"\x01")) == 2
    between = [header for header, _ in sent[sent.index((154, b"\x01")) + 1 :]]
    assert 159 in between[: between.index(154)]
    assert rig.journal.credited == rig.model.stacked == [2000]


@BOTH
@pytest.mark.parametrize("ms", [1000, 9000, 14_000, 40_000])
def test_late_events(ms, counters):
    """B04: the event comes long after the note went in, or after it went back: one credit or none."""
    rig = ready(counters=counters)
    rig.model.fault("late", ms)
    play(rig, ms=2 * ms + BLIND_MS)
    assert rig.journal.credited == rig.model.stacked
    assert len(rig.model.stacked) == (ms < 10_000)
    settled(rig)


def test_a_lost_escrow_event():
    """Nobody asks for the note: it goes back by itself."""
    rig = ready()
    rig.model.fault("lose", 1)
    play(rig)
    assert (rig.model.returned, rig.journal.credited) == ([2000], [])
    settled(rig)


@BOTH
@pytest.mark.parametrize("second", [2000, 5000])
@pytest.mark.parametrize("place", ["escrow", "moving"])
def test_a_second_escrow_after_a_note_that_fell_out(place, second, counters):
    """The first is gone without a word; the second must not be credited for it, nor the first for the second."""
    rig = ready(counters=counters)
    if place == "escrow":
        rig.decide_after_ms = 1000
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == place and rig.host.pending())
    rig.model.fault("fall_back")
    rig.decide_after_ms = 0
    rig.run(600)
    rig.insert(second)
    rig.run(2 * BLIND_MS)
    assert rig.model.returned[0] == 2000
    assert sum(rig.journal.credited) == sum(rig.model.stacked)
    assert all(reason == "lost" for _, reason in rig.journal.disputed)
    settled(rig, disputes=len(rig.journal.disputed))


def test_a_note_between_two_polls():
    """Escrow, returned and another escrow within one answer: only the newest is asked about."""
    rig = ready()
    rig.told.clear()
    for pair in ((2, 1), (0, 1)):
        rig.model._make(*pair)
    play(rig, 500)
    assert [event[0] for event in rig.told] == ["refused", "escrow", "stacked"]
    assert rig.journal.credited == [500]


def test_a_device_that_counts_in_escrow_is_not_asked_for_proof():
    """Its counter says nothing of what became of a note; no note is missed and none is thought to be."""
    rig = ready(counts_at="escrow")
    for decision in (True, False, True):
        rig.decide = lambda pence, decision=decision: decision
        play(rig)
    assert rig.journal.credited == rig.model.stacked == [2000, 2000]
    settled(rig)
    rig.cut_host()
    rig.boot()
    play(rig)
    settled(rig)

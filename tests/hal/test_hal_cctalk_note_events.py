"""A bill validator's events: every code, the counter that numbers them, and the lives of the device in which it counts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hal.cctalk.note_evidence import continues, evidence, token, verdict
from host_tools.hil.models.bill_acceptor import IDENTITY
from tests.hal.bill_rig import BillRig
from tests.hal.note_steps import BLIND_MS, BOTH, SETTLED_MS, moving, play, settled

SERIAL = IDENTITY.serial


def ready(**options) -> BillRig:
    return BillRig(**options).ready()


# --- every event -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (0, [("refused", 0)]),
        (1, [("refused", 1)]),
        (2, [("refused", 2)]),
        (3, [("refused", 3)]),
        (4, [("refused", 4)]),
        (5, [("refused", 5)]),
        (6, [("jam", "unsafe"), ("jam", "")]),
        (7, [("jam", "safe"), ("jam", "")]),
        (8, [("fraud", 8)]),
        (9, [("fraud", 9)]),
        (10, []),
        (11, [("stacker", "removed"), ("stacker", "inserted")]),
        (12, []),
        (13, [("fault", "out_of_service")]),
        (14, [("stacker", "full"), ("stacker", "ok")]),
        (15, [("jam", "safe"), ("jam", "")]),
        (16, [("jam", "safe"), ("jam", "")]),
        (17, [("fraud", 17)]),
        (18, [("fraud", 18)]),
        (19, [("fraud", 19)]),
        (20, []),
        (21, []),
        (22, []),
    ],
)
def test_every_event_without_a_bill_type(code, told):
    """And when it is over, which the self-check tells, notes are taken again."""
    rig = ready()
    rig.run(10_000)  # what comes out sooner was found in the path
    rig.told.clear()
    rig.model.fault("event", code)
    rig.run(15_000)
    assert [(event[0], event[-1]) for event in rig.told] == told
    assert rig.host.unread_events == (code == 22)
    assert rig.model.accepting
    play(rig)
    assert rig.journal.credited == [2000]
    settled(rig)


def test_a_bill_with_a_code_that_nobody_knows_is_no_credit():
    rig = ready()
    rig.told.clear()
    rig.model._make(3, 2)
    rig.run(15_000)
    assert rig.told == []
    assert rig.host.unread_events == 1
    play(rig)
    assert rig.journal.credited == [2000]
    settled(rig)


@pytest.mark.parametrize("code", [7, 11, 13, 14, 15])
def test_what_disables_the_acceptor(code):
    rig = ready(checks=False)
    rig.model.fault("event", code)
    rig.run(1000)
    assert not rig.model.accepting
    rig.model.fault("event", 10)
    rig.run(1000)
    assert rig.model.accepting


@BOTH
@pytest.mark.parametrize("code", [0, 21])
def test_a_credit_that_nobody_ordered(code, counters):
    """Only the counters can prove it; they have not moved. Without counters it is disputed."""
    rig = ready(counters=counters)
    rig.told.clear()
    rig.model._make(3 if code == 0 else 0, code)
    rig.run(70_000)
    if counters:
        assert rig.told == []
        assert rig.host.repeated_credits == 1
    else:
        assert [(kind, *rest[1:]) for kind, *rest in rig.told] == [("disputed", 2000 if code == 0 else 0, "unasked")]
    assert rig.model.accepting


def test_a_credit_that_nobody_ordered_and_that_the_counter_proves():
    rig = ready()
    rig.told.clear()
    rig.model.counted_in += 1
    rig.model.stacked.append(2000)
    rig.model._make(3, 0)
    rig.run(20_000)
    assert [(kind, *rest[1:]) for kind, *rest in rig.told] == [("stacked", 2000, 3)]
    settled(rig)


def test_an_unknown_bill_in_the_stacker_that_the_counter_proves():
    rig = ready()
    rig.model.counted_in += 1
    rig.model.fault("event", 21)
    rig.run(20_000)
    assert rig.journal.disputed == [(0, "unbooked")]


def test_a_credited_note_that_comes_out_again():
    rig = ready(clear_ms=4000)
    rig.insert(2000)
    rig.run_until(lambda: rig.journal.credited)
    rig.model.fault("reset")
    rig.run(2500)
    rig.model._make(0, 1)
    rig.run(500)
    assert [(kind, *rest[1:]) for kind, *rest in rig.told[-1:]] == [("disputed", 2000, "given_back")]


def test_another_note_that_came_and_went_is_not_taken_for_the_one_in_hand():
    """The stacked event is lost, and before the next poll somebody tries another note: its return is not that of the first."""
    rig = moving(ready())
    rig.model.fault("lose", 1)
    rig.run_until(lambda: rig.model.stacked)
    rig.model._make(2, 1)
    rig.model._make(0, 1)
    rig.run(SETTLED_MS)
    assert (rig.journal.credited, rig.journal.returned) == ([2000], 0)
    settled(rig)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)), max_size=40), st.booleans())
def test_whatever_a_device_tells(pairs, counters):
    """Pairs that make no sense: no exception, and no credit that the device's counter does not prove."""
    rig = ready(counters=counters)
    for pair in pairs:
        rig.model._make(*pair)
        rig.run(70)
    rig.run(20_000)
    assert rig.journal.credited == []


# --- conditions: the self-check ----------------------------------------------------------------------------------


def test_a_stacker_that_was_removed_while_the_cabinet_was_off():
    """The event is gone; the self-check tells."""
    rig = BillRig()
    rig.model.stacker = "removed"
    rig.run(6000)
    assert rig.told[-1] == ("stacker", "removed")


@pytest.mark.parametrize("lost", [1, 3, 6])
def test_a_self_check_whose_answers_are_lost_is_asked_again(lost):
    """Else the end of a jam, which has no event, is never noticed."""
    rig = ready()
    carried_out, left = rig.model._commands[232][1], [lost]

    def check(data, now_us):
        if left[0]:
            left[0] -= 1
            rig.model.fault("lost_answers", 1)
        return carried_out(data, now_us)

    rig.model._commands[232] = (0, check)
    rig.model.fault("event", 7)
    rig.run(25_000)
    assert left == [0]
    assert rig.told[-2:] == [("jam", "safe"), ("jam", "")]
    play(rig)
    assert rig.journal.credited == [2000]
    settled(rig)


def test_a_jam_that_is_over_is_no_news_after_a_restart():
    """Its event is still shown, and a validator has none for its end: the self-check knows."""
    rig = ready()
    rig.model.fault("jam", "unsafe")
    play(rig, ms=8000)
    assert ("jam", "unsafe") in rig.told
    rig.model.clear()
    rig.run(SETTLED_MS)
    assert rig.told[-1] != ("jam", "unsafe")
    rig.model.fault("forget")
    rig.cut_host()
    rig.told.clear()
    rig.run(500)
    rig.boot()
    rig.run(SETTLED_MS)
    assert not [event for event in rig.told if event[0] == "jam"]
    rig.model.fault("jam", "unsafe")
    play(rig, ms=8000)
    rig.model.fault("forget")
    rig.cut_host()
    rig.told.clear()
    rig.run(500)
    rig.boot()
    rig.run(SETTLED_MS)
    assert [event for event in rig.told if event[0] == "jam"] == [("jam", "unsafe")], "one that lasts is"


# --- the event counter -------------------------------------------------------------------------------------------


@BOTH
def test_one_note_after_the_other_across_the_wrap_of_the_counter(counters):
    """150 notes are 300 events: the counter goes from 255 to 1 once."""
    rig = ready(counters=counters)
    for number in range(150):
        play(rig, (500, 5000, 2000)[number % 3], 2600)
    assert len(rig.journal.credited) == 150
    assert rig.journal.credited == rig.model.stacked
    assert rig.model._counter == 45
    assert rig.host.lost_events == rig.host.resets - 1 == 0
    settled(rig)


def test_what_was_told_before_a_restart_is_not_told_again():
    rig = ready()
    for code in (9, 17, 2, 14, 10):
        rig.model.fault("event", code)
    rig.run(3000)
    rig.cut_host()
    rig.run(300)
    rig.told.clear()
    rig.boot()
    rig.run(6000)
    assert rig.told == [("online", SERIAL)]


@BOTH
def test_more_events_than_are_shown(counters):
    """The five that are shown are taken; a credit among the others is found by its counter."""
    rig = ready(counters=counters)
    rig.told.clear()
    if counters:
        rig.model.counted_in += 1
        rig.model.stacked.append(500)
    rig.model._make(1, 0)
    for code in (2, 2, 17, 18, 19, 9, 17):
        rig.model._make(0, code)
    rig.run(15_000)
    assert rig.host.lost_events == 3
    assert [event for event in rig.told if event[0] == "fraud"] == [("fraud", code) for code in (17, 18, 19, 9, 17)]
    assert rig.journal.disputed == ([(0, "unbooked")] if counters else [])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 21)), min_size=1, max_size=600), st.integers(1, 12))
def test_an_answer_goes_on_where_the_last_one_stood(events, more):
    """As a device would show them; up to four new ones can be told from another life of it."""
    shown = [(0, 0)] * 5
    answers = []
    for number, event in enumerate(events):
        shown = [event, *shown[:4]]
        answers.append(bytes([number % 255 + 1]) + b"".join(bytes(pair) for pair in shown))
    newer, older = answers[-1], answers[max(0, len(answers) - 1 - more)]
    if len(answers) > more:
        assert continues(older, newer) is (more < 5)
    assert continues(newer, newer)
    assert not continues(newer, bytes(11))


def test_a_full_queue_leaves_events_in_the_device():
    """Every event of the five is a new one, and the firmware takes its time: none is lost, none comes twice."""
    rig = ready()
    rig.run(12_000)
    rig.told.clear()
    turn, rig._turn = rig._turn, rig.poll
    for code in (2, 3, 4, 9, 17) * 4:
        rig.model._make(0, code)
        rig.run(230)
    waiting = len(rig.host._events)
    assert 8 <= waiting <= 14
    rig._turn = turn
    rig.run(3000)
    codes = [event[-1] for event in rig.told if event[0] in ("refused", "fraud")]
    assert codes == [*([2, 3, 4, 9, 17] * 4)[: len(codes) - 5], 2, 3, 4, 9, 17]
    assert len(codes) == 20 - rig.host.lost_events


# --- lives of the device -----------------------------------------------------------------------------------------


def test_a_reset_with_new_events_is_no_jump():
    """Last 10, now 2: not 247 lost events (1.3, trap 1)."""
    rig = ready()
    for _ in range(5):
        play(rig, 500, 3000)
    assert rig.model._counter == 10
    rig.model.fault("reset")
    rig.run(100)
    rig.model._make(0, 10)
    rig.model._make(0, 17)
    rig.run(3000)
    assert rig.told[-2:] == [("device_reset",), ("fraud", 17)]
    assert rig.host.lost_events == 0


@pytest.mark.parametrize("counters", [True, False])
def test_inhibits_forgotten_while_the_host_was_off_make_no_news_of_old_events(counters):
    """A zero mask looks like a reset, and the credit that is shown from before like one of the note in hand, which fell out."""
    rig = ready(counters=counters)
    play(rig, 500, 12_000)
    rig.insert(500)
    rig.run_until(lambda: rig.journal.pending is not None)
    rig.model.fault("fall_back")
    rig.run(1000)
    rig.model.fault("forget")
    rig.cut_host()
    rig.run(500)
    rig.boot()
    rig.run(90_000)
    assert rig.model.stacked == rig.journal.credited == [500]
    assert rig.journal.disputed == [(500, "lost")]  # no counter moved, and the order may have been carried out
    settled(rig, disputes=1)


def test_the_mask_is_not_set_before_a_reset_is_settled():
    """Else the cabinet, restarted meanwhile, would take the numbers of the new life for those of the old one."""
    rig = moving(ready(counters=False, clear_ms=6000))
    rig.cut_device()
    rig.run(3000)
    assert rig.told[-1] == ("device_reset",)
    assert rig.model._mask == 0
    rig.cut_host()
    rig.run(500)
    rig.boot()
    rig.run(BLIND_MS)
    assert rig.journal.credited == rig.model.stacked == [2000]
    settled(rig)
    assert rig.model._mask == 15


def test_what_was_read_just_before_a_reset_counts():
    """The answer with the credit has come, and the device is reset before its mask is read."""
    rig = ready(counters=False, clears=False)
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "past")
    known = rig.model._commands[230]
    resets = []

    def reset_first(data, now_us):
        if not resets and rig.model._events[0] == (3, 0):
            resets.append(now_us)
            rig.model._brown_out(now_us)
            return None
        return known[1](data, now_us)

    rig.model._commands[230] = (0, reset_first)
    rig.run(BLIND_MS)
    assert resets
    assert rig.journal.credited == rig.model.stacked == [2000]
    settled(rig)


def test_a_reset_between_two_answers_with_a_queue_that_is_half_full():
    """Ten events in two lives of the device, each of which becomes one or more of ours: all told, once, in order."""
    rig = ready()
    rig.run(12_000)
    rig.told.clear()
    turn, rig._turn = rig._turn, rig.poll
    known = rig.model._commands[230]
    codes = (11, 14, 16, 10, 9)
    lives = []

    def reset_first(data, now_us):
        if lives:
            return known[1](data, now_us)
        lives.append(now_us)
        rig.model._brown_out(now_us)
        for code in (*codes[:-1], 17):
            rig.model._make(0, code)
        return None

    for code in range(8):
        rig.host._events.push(("fraud", 100 + code))
    for code in codes:
        rig.model._make(0, code)
    rig.model._commands[230] = (0, reset_first)
    rig.run(4000)
    rig._turn = turn
    rig.run(6000)
    once = [
        ("stacker", "removed"), ("stacker", "full"), ("jam", "safe"), ("stacker", "inserted"), ("stacker", "ok"), ("jam", ""),
    ]  # fmt: skip
    told = [event for event in rig.told if event[0] not in ("online", "offline")]
    assert told == [
        *[("fraud", 100 + code) for code in range(8)],
        *once,
        ("fraud", 9),
        ("device_reset",),
        *once,
        ("fraud", 17),
    ]
    assert rig.model.accepting


# --- evidence ----------------------------------------------------------------------------------------------------


def test_tokens_and_evidence_have_their_sizes_at_the_ends_of_the_ranges():
    assert len(token(0xFFFFFF, 255, 0xFFFFFFFF, 255)) == 9
    assert len(evidence(0xFFFFFF, 255, 0xFFFFFFFF, 0xFFFFFFFF)) == 12


@given(st.integers(0, 0xFFFFFF), st.integers(0, 0xFFFFFF), st.integers(0, 5), st.integers(0, 5))
def test_the_verdict_of_the_counters(taken, rejected, more, back):
    """Also across the end of three bytes."""
    record = evidence(SERIAL, 7, taken, rejected)
    now = (taken + more) & 0xFFFFFF, (rejected + back) & 0xFFFFFF
    expected = {0: 1 if back else 2, 1: 0}.get(more, 4)
    assert verdict(record, SERIAL, *now) == expected
    assert verdict(record, SERIAL + 1, *now) == 3

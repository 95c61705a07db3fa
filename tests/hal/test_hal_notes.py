"""What every note acceptor's driver owes, whatever it speaks (hal/README.md: the contract of note acceptors).

Driver against model, in the rig of either protocol. Truth is what the model swallowed.
"""

from collections.abc import Callable

import pytest

from tests.hal.bill_rig import BillRig
from tests.hal.note_steps import BLIND_MS, BOTH, RIGS, SETTLED_MS, each_device, moving, play, settled
from tests.hal.ssp_rig import NoteRig

WHERE = pytest.mark.parametrize("where", ["safe", "unsafe"])


@pytest.fixture(params=RIGS.values(), ids=RIGS)
def fit(request: pytest.FixtureRequest) -> type[NoteRig]:
    """The rig of either protocol."""
    return request.param


@pytest.fixture
def ready(fit: type[NoteRig]) -> Callable[..., NoteRig]:
    """A rig whose device, with these options, takes notes."""
    return lambda **options: fit(**options).ready()


# --- a note's way ------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(("channel", "pence"), [(1, 500), (2, 1000), (3, 2000), (4, 5000)])
@each_device()
def test_a_note_is_credited_once(ready, device, channel, pence, counters):
    rig = ready(**device, counters=counters)
    play(rig, pence)
    assert [event[0] for event in rig.told] == ["online", "device_reset", "escrow", "stacked"]
    assert rig.told[2][1:3] == (pence, channel)
    assert rig.told[3][2:] == (pence, channel)
    assert (len(rig.told[2][3]), len(rig.told[3][1])) == (12, 9), "evidence and token"
    assert rig.journal.credited == rig.model.stacked == [pence]
    settled(rig)


def test_one_note_after_the_other(ready):
    rig = ready()
    for pence in (500, 5000, 2000, 500):
        play(rig, pence, 5000)
    assert rig.journal.credited == rig.model.stacked == [500, 5000, 2000, 500]
    settled(rig)


def test_a_refused_note_goes_back(ready):
    """B12: the credit limit says no."""
    rig = ready()
    rig.decide = lambda pence: False
    play(rig, 5000)
    assert rig.model.returned == [5000]
    assert (rig.journal.credited, rig.journal.returned) == ([], 1)
    settled(rig)


@pytest.mark.parametrize("seconds", [4, 9, 14, 25])
def test_the_firmware_may_take_its_time(ready, seconds):
    """The note is held beyond the device's own ten seconds."""
    rig = ready()
    rig.decide_after_ms = seconds * 1000
    play(rig, ms=40_000)
    assert rig.journal.credited == rig.model.stacked == [2000]
    settled(rig)


def test_without_a_decision_the_note_goes_back(ready):
    rig = ready()
    rig.decide = lambda pence: None
    play(rig, ms=45_000)
    assert (rig.model.returned, rig.model.stacked) == ([2000], [])
    assert rig.host.stack() is False, "a late yes comes to nothing"
    assert rig.host.return_note() is False
    rig.decide = lambda pence: True
    rig.run(5000)
    assert rig.host.event() is None
    assert rig.journal.returned == 1


def test_a_note_that_cannot_be_read_and_one_that_is_inhibited(ready):
    rig = ready()
    play(rig, 700, 4000)
    assert rig.told[-1][0::2] == ("refused", rig.NOT_READ)
    rig.host.accept(0b0001)
    rig.run(500)
    assert rig.host.accepting == 1
    play(rig, 5000, 4000)
    assert rig.told[-1][0::2] == ("refused", rig.INHIBITED)
    assert rig.model.returned == [700, 5000]
    settled(rig)


def test_nothing_is_accepted_before_it_is_allowed_or_after_it_is_forbidden(fit):
    rig = fit()
    rig.wanted = False
    rig.host.accept(False)
    rig.run(5000)
    assert rig.host.online
    assert not rig.model.accepting
    rig.host.accept(True)
    rig.run(400)
    assert rig.model.accepting
    rig.host.accept(False)
    rig.run(400)
    assert not rig.model.accepting
    assert rig.host.accepting == 0


def test_a_silent_host_ends_acceptance(ready):
    rig = ready()
    rig.cut_host()
    rig.run(rig.SILENCE_MS)
    assert not rig.model.accepting


def test_forbidden_while_the_note_is_read(ready):
    rig = ready()
    rig.insert(2000)
    rig.run(300)
    rig.host.accept(False)
    rig.run(SETTLED_MS)
    assert (rig.model.returned, rig.model.stacked) == ([2000], [])
    settled(rig)


def test_a_note_in_escrow_from_before_the_start_goes_back(ready):
    """The host loses its power with an undecided note in escrow; whatever it asks when it is back, the note is not taken in."""
    rig = ready()
    rig.decide = lambda pence: None
    rig.insert(5000)
    rig.run_until(lambda: rig.host.pending())
    rig.run(1000)
    rig.cut_host()
    rig.run(300)
    rig.boot()
    rig.run(8000)
    assert rig.told[-1][0::2] == ("refused", rig.FROM_BEFORE)
    rig.run(SETTLED_MS)
    assert (rig.model.returned, rig.model.stacked, rig.journal.credited) == ([5000], [], [])
    settled(rig)


# --- the device comes and goes -----------------------------------------------------------------------------------


def test_a_dead_line_is_offline_and_comes_back(ready):
    rig = ready()
    rig.line.fault("mute")
    rig.run(4000)
    assert rig.told[-1] == ("offline",)
    rig.run(30_000)
    assert rig.told_kinds().count("offline") == 1
    rig.line.clear()
    rig.run(6000)
    assert rig.told[-1] == ("online", rig.serial)
    assert rig.host.resets == 1, "only the one of the first start"
    play(rig)
    assert rig.journal.credited == [2000]
    settled(rig)


@pytest.mark.parametrize(("silent_ms", "off_ms"), [(500, 1000), (1000, 1500)])
def test_a_device_that_was_exchanged(ready, silent_ms, off_ms):
    """The note went into the box that was carried away: nobody can say what became of it."""
    rig = ready()
    rig.insert(2000)
    rig.run_until(lambda: rig.journal.pending is not None)
    rig.model.fault("silent")
    rig.run(silent_ms)
    rig.exchange(serial=7)
    rig.model.clear()
    rig.cut_device(off_ms)
    rig.run(60_000)
    assert rig.journal.disputed == [(2000, "other_device")]
    assert ("online", 7) in rig.told
    settled(rig, disputes=1)


def test_a_reset_by_itself_is_told_and_repaired(ready):
    rig = ready()
    rig.model.fault("reset")
    rig.run(rig.RESET_MS)
    assert rig.told_kinds().count("device_reset") == 2
    assert rig.model.accepting
    assert rig.host.resets == 2


@BOTH
@pytest.mark.parametrize("at", ["reading", "escrow", "moving", "past"])
@each_device(starts=True)
def test_a_reset_at_every_step(ready, device, at, counters):
    rig = ready(**device, counters=counters)
    rig.model.fault("reset", at)
    play(rig, ms=BLIND_MS)
    assert rig.model.resets == 1
    if counters:
        settled(rig)
    else:
        assert sum(rig.journal.credited) <= sum(rig.model.stacked)
        settled(rig, disputes=len(rig.journal.disputed))
        assert rig.journal.credited == rig.model.stacked or rig.journal.disputed
    assert rig.model.accepting


@BOTH
@pytest.mark.parametrize("at", ["escrow", "moving", "past"])
@pytest.mark.parametrize("seconds", [2, 8, 40])
def test_silent_when_a_note_gets_so_far(ready, at, counters, seconds):
    """B13: the device goes on working and says nothing; then it speaks again, and its events are still there."""
    rig = ready(counters=counters)
    rig.model.fault("silent", at)
    play(rig, ms=seconds * 1000)
    if seconds > 3:
        assert ("offline",) in rig.told
    rig.model.clear()
    rig.run(BLIND_MS)
    assert rig.journal.credited == rig.model.stacked
    settled(rig)


@each_device(starts=True)
def test_silent_for_ever_after_stacking_and_a_restart(ready, device):
    """B13: what the device tells of its start settles it, or the counter does."""
    rig = ready(**device)
    rig.model.fault("silent", "past")
    play(rig, ms=60_000)
    assert rig.journal.pending is not None
    rig.model.clear()
    rig.cut_mains()
    rig.run(SETTLED_MS)
    assert rig.journal.credited == [2000]
    settled(rig)


# --- faults of a note's way --------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("ms", [1000, 9000, 14_000, 40_000])
def test_a_late_end(ready, ms, counters):
    """B04: what tells that the note went in comes long after: one credit, whether the counters gave it already or not."""
    rig = moving(ready(counters=counters))
    rig.model.fault("late", ms)
    rig.run(BLIND_MS)
    assert rig.journal.credited == rig.model.stacked == [2000]
    assert rig.host.repeated_credits == (counters and ms > 10_000)
    settled(rig)


def test_an_end_later_than_any_patience(ready):
    rig = moving(ready(counters=False))
    rig.model.fault("late", 70_000)
    rig.run(100_000)
    assert (rig.journal.credited, rig.journal.disputed) == ([], [(2000, "lost")])
    assert rig.host.repeated_credits == 1
    settled(rig, disputes=1)
    rig.cut_host()
    rig.boot()
    rig.run(BLIND_MS)
    settled(rig, disputes=1)


@BOTH
def test_a_lost_end(ready, counters):
    """B13: the note is in the box and nothing was ever told."""
    rig = moving(ready(counters=counters))
    rig.model.fault("lose", rig.END_EVENTS)
    rig.run(BLIND_MS)
    if counters:
        assert rig.journal.credited == [2000]
        settled(rig)
    else:
        assert rig.journal.disputed == [(2000, "lost")]
        settled(rig, disputes=1)


@BOTH
def test_a_return_that_was_not_told(ready, counters):
    """Returned and never told: the counter of rejected notes says so."""
    rig = moving(ready(counters=counters))
    rig.model.fault("give_back")
    rig.model.fault("lose", 1)
    rig.run(BLIND_MS)
    assert (rig.model.returned, rig.journal.credited) == ([2000], [])
    settled(rig, disputes=0 if counters else 1)


@BOTH
@pytest.mark.parametrize("times", [1, 2])
@each_device()
def test_events_told_twice(ready, device, times, counters):
    rig = ready(**device, counters=counters)
    rig.model.fault("repeat", times)
    play(rig, ms=rig.DOUBT_MS)
    play(rig, ms=rig.DOUBT_MS)
    assert rig.journal.credited == [2000, 2000]
    if counters:
        settled(rig)
    assert all(reason == "unasked" for _, reason in rig.journal.disputed)


def test_notes_that_were_taken_without_a_word(ready):
    """Somebody fed the device while the cabinet was off, or the record is lost."""
    rig = ready()
    play(rig)
    rig.cut_host()
    rig.model.counted_in += 2
    rig.run(500)
    rig.boot()
    rig.run(20_000)
    assert rig.journal.disputed == [(0, "unbooked")]
    rig.cut_host()
    rig.boot()
    rig.run(20_000)
    assert rig.journal.disputed == [(0, "unbooked")], "told once"


@BOTH
def test_returned_after_escrow(ready, counters):
    """B03: the yes was given, the device could not stack: it goes back."""
    rig = ready(counters=counters)
    rig.model.fault("give_back")
    play(rig)
    assert (rig.model.returned, rig.journal.credited, rig.journal.returned) == ([2000], [], 1)
    settled(rig)


def test_escrow_returned_escrow_stacked(ready):
    """B03: two notes, one went back: one credit."""
    rig = ready()
    rig.decide = lambda pence: pence != 5000
    play(rig, 5000, 6000)
    play(rig, 1000, 6000)
    assert (rig.model.returned, rig.journal.credited) == ([5000], [1000])
    settled(rig)


@BOTH
def test_a_note_pulled_back(ready, counters):
    rig = moving(ready(counters=counters), 5000)
    rig.model.fault("pull")
    rig.run(SETTLED_MS)
    assert ("fraud", rig.PULLED) in rig.told
    assert (rig.model.returned, rig.journal.credited) == ([5000], [])
    settled(rig)


@BOTH
@WHERE
@pytest.mark.parametrize(
    ("fit", "device"),
    [(NoteRig, {}), (BillRig, {"checks": True}), (BillRig, {"checks": False})],
    ids=["ssp", "cctalk", "cctalk-checks=False"],
)
def test_a_jam_and_the_technician(ready, device, where, counters):
    rig = ready(**device, counters=counters)
    rig.model.fault("jam", where)
    play(rig, ms=90_000)
    assert ("jam", where) in rig.told
    assert rig.host.pending(), "as long as it is stuck nothing is decided"
    assert rig.journal.disputed == []
    rig.model.clear()
    rig.run(SETTLED_MS)
    assert (("jam", "") in rig.told) is rig.tells_ends
    assert rig.journal.credited == ([2000] if where == "safe" else [])
    settled(rig)


@BOTH
@WHERE
def test_a_jam_and_the_mains(ready, where, counters):
    rig = ready(counters=counters)
    rig.model.fault("jam", where)
    play(rig, ms=5000)
    rig.cut_mains()
    rig.run(SETTLED_MS)
    assert rig.journal.credited == ([2000] if where == "safe" else [])
    settled(rig)


def test_an_attendant_gives_a_note_up(ready):
    """And what the device says later of it is not another note, also after a restart."""
    rig = ready()
    rig.model.fault("jam", "safe")
    play(rig, ms=5000)
    assert rig.host.give_up()
    assert not rig.host.give_up()
    rig.run(1000)
    assert rig.journal.disputed == [(2000, "given_up")]
    rig.model.clear()
    rig.run(SETTLED_MS)
    assert rig.journal.credited == []
    settled(rig, disputes=1)
    rig.cut_host()
    rig.boot()
    rig.run(SETTLED_MS)
    settled(rig, disputes=1)
    play(rig, 500)
    assert rig.journal.credited == [500]


def test_the_stacker(ready):
    rig = ready()
    rig.model.fault("stacker", "removed")
    rig.run(3000)
    assert rig.told[-1] == ("stacker", "removed")
    rig.model.fault("stacker", "ok")
    rig.run(3000)
    assert rig.told[-1] == ("stacker", "inserted")
    rig.model.fault("stacker", "full")
    rig.run(3000)
    assert rig.told[-1] == ("stacker", "full")
    play(rig, ms=3000)
    assert rig.model.returned == [2000]
    rig.model.clear()
    rig.run(3000)
    assert rig.told[-1] == ("stacker", "ok")
    play(rig)
    assert rig.journal.credited == [2000]


# --- the line ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["rx", "tx"])
@pytest.mark.parametrize("fault", [("drop", 1), ("corrupt", 1), ("duplicate", 1), ("drop", 7), ("corrupt", 9)])
def test_line_faults_under_a_note(ready, fault, way):
    """At any moment of a note's way: nothing happens twice."""
    for at_ms in range(0, 3000, 211):
        rig = ready()
        rig.insert(2000)
        rig.run(at_ms)
        rig.line.fault(*fault, way)
        rig.run(30_000)
        assert rig.journal.credited == rig.model.stacked == [2000], at_ms
        settled(rig)


@BOTH
@pytest.mark.parametrize(
    ("fit", "fault", "count", "too_long"),
    [
        (NoteRig, "lost_answers", 1, False),
        (NoteRig, "lost_answers", 3, True),
        (NoteRig, "bad_crc", 2, False),
        (BillRig, "lost_answers", 1, False),
        (BillRig, "lost_answers", 3, False),
        (BillRig, "lost_answers", 8, True),
        (BillRig, "bad_checksum", 2, False),
    ],
    ids=["ssp-1", "ssp-3", "ssp-bad", "cctalk-1", "cctalk-3", "cctalk-8", "cctalk-bad"],
)
def test_lost_answers_under_a_note(ready, fault, count, too_long, counters):
    for at_ms in range(0, 3000, 173):
        rig = ready(counters=counters)
        rig.insert(2000)
        rig.run(at_ms)
        rig.model.fault(fault, count)
        rig.run(30_000)
        if rig.journal.pending is not None and not counters:
            rig.run(BLIND_MS)
        assert rig.journal.credited == rig.model.stacked, at_ms
        assert rig.model.stacked == [2000] or too_long, "only a longer silence sends a note back that waits"
        settled(rig)


def test_a_loop_that_was_held_up_loses_nothing(ready):
    """The answers wait in the port while the firmware is busy for two seconds at a time."""
    rig = ready()
    rig.insert(2000)
    for _ in range(12):
        rig.run(100)
        host, rig.host = rig.host, None
        rig.run(2000)
        rig.host = host
    rig.run(SETTLED_MS)
    assert rig.told_kinds().count("offline") == 0
    assert sum(rig.journal.credited) == sum(rig.model.stacked)
    settled(rig)


def test_events_that_nobody_takes_stop_the_device(ready):
    """Nothing is lost: the driver asks no more, so the device stops by itself."""
    rig = ready()
    turn, rig._turn = rig._turn, rig.poll
    for _ in range(8):
        play(rig, ms=45_000)
    assert not rig.model.accepting
    rig._turn = turn
    rig.run(SETTLED_MS)
    assert rig.told_kinds().count("escrow") == rig.told_kinds().count("returned") == 5
    assert rig.model.returned == [2000] * 8
    settled(rig)

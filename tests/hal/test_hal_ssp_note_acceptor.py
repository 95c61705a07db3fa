"""The SSP note acceptor against the model: a note's ways, every event, every fault. Truth is what the model swallowed."""

import pytest

from hal.boards.host import Aes
from hal.ssp.essp import Secret
from hal.ssp.events import data_bytes
from hal.ssp.note_acceptor import NoteAcceptor
from tests.hal.ssp_rig import FIXED_KEY, NoteRig

SETTLED_MS = 25_000


def ready(**options) -> NoteRig:
    return NoteRig(**options).ready()


def play(rig: NoteRig, pence: int = 2000, ms: int = SETTLED_MS) -> NoteRig:
    """A note goes in; then all comes to rest."""
    rig.insert(pence)
    rig.run(ms)
    return rig


def settled(rig: NoteRig, *, disputes: int = 0) -> None:
    """Nothing in hand, nothing in the path, every note accounted for once."""
    journal, model = rig.journal, rig.model
    assert model.note is None
    assert journal.pending is None
    assert rig.host is not None
    assert not rig.host.pending
    assert len(journal.disputed) == disputes, journal.disputed
    if not disputes:
        assert sum(journal.credited) == sum(model.stacked)


# --- a note's way ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("acks", [True, False])
@pytest.mark.parametrize("pence", [500, 1000, 2000, 5000])
def test_a_note_is_credited_once(pence, acks):
    rig = ready(acks=acks)
    play(rig, pence)
    assert [event[0] for event in rig.told] == ["online", "device_reset", "escrow", "stacked"]
    assert rig.told[2][1:3] == (pence, pence_channel(pence))
    assert rig.told[3][2:] == (pence, pence_channel(pence))
    assert rig.journal.credited == rig.model.stacked == [pence]
    settled(rig)


def pence_channel(pence: int) -> int:
    return (500, 1000, 2000, 5000).index(pence) + 1


def test_one_note_after_the_other():
    rig = ready()
    for pence in (500, 5000, 2000, 500):
        play(rig, pence, 5000)
    assert rig.journal.credited == rig.model.stacked == [500, 5000, 2000, 500]
    settled(rig)


def test_a_refused_note_goes_back():
    """B12: the credit limit says no."""
    rig = ready()
    rig.decide = lambda pence: False
    play(rig, 5000)
    assert rig.model.returned == [5000]
    assert (rig.journal.credited, rig.journal.returned) == ([], 1)
    settled(rig)


@pytest.mark.parametrize("seconds", [4, 9, 14, 25])
def test_the_firmware_may_take_its_time(seconds):
    """The note is held beyond the device's own ten seconds."""
    rig = ready()
    rig.decide_after_ms = seconds * 1000
    play(rig, ms=40_000)
    assert rig.journal.credited == rig.model.stacked == [2000]
    settled(rig)


def test_without_a_decision_the_note_goes_back():
    rig = ready()
    rig.decide = lambda pence: None
    play(rig, ms=45_000)
    assert (rig.model.returned, rig.model.stacked) == ([2000], [])
    assert rig.host is not None
    assert rig.host.stack() is False, "a late yes comes to nothing"
    assert rig.host.return_note() is False
    rig.decide = lambda pence: True
    rig.run(5000)
    assert rig.host.event() is None
    assert rig.journal.returned == 1


def test_a_device_without_hold_gives_the_note_back_itself():
    """B12: the decision comes after the device's time; the yes must not become a credit."""
    rig = ready(holds=False)
    rig.decide_after_ms = 12_000
    play(rig, ms=40_000)
    assert (rig.model.returned, rig.model.stacked, rig.journal.credited) == ([2000], [], [])
    settled(rig)


def test_a_note_that_cannot_be_read_and_one_that_is_inhibited():
    rig = ready()
    rig.insert(700)
    rig.run(4000)
    assert rig.told[-1][0::2] == ("refused", 1)
    rig.host.accept(0b0001)
    rig.run(500)
    assert rig.host.accepting == 1
    play(rig, 5000, 4000)
    assert rig.told[-1][0::2] == ("refused", 6)
    assert rig.model.returned == [700, 5000]
    settled(rig)


def test_nothing_is_accepted_before_it_is_allowed_or_after_it_is_forbidden():
    rig = NoteRig()
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


def test_a_silent_host_ends_acceptance():
    rig = ready()
    rig.cut_host()
    rig.run(11_000)
    assert not rig.model.accepting


def test_forbidden_while_the_note_is_read():
    rig = ready()
    rig.insert(2000)
    rig.run(300)
    rig.host.accept(False)
    rig.run(SETTLED_MS)
    assert (rig.model.returned, rig.model.stacked) == ([2000], [])
    settled(rig)


def test_only_notes_of_the_cabinet_are_let_in():
    rig = ready(channels={1: 500, 2: 700, 3: 2000})
    assert rig.host.accepting == 0b101
    rig.model._mask = 0xFFFF  # the device does not care
    play(rig, 700)
    assert (rig.model.returned, rig.journal.credited) == ([700], [])


# --- identification ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("highest", "version"), [(8, 8), (7, 7), (6, 6), (4, 4)])
def test_the_highest_version_that_both_speak(highest, version):
    """B17: the device refuses 8 and offers less; below 6 it tells its channels in the short form."""
    rig = ready(highest=highest)
    assert rig.host.version == version
    assert rig.host.values == (500, 1000, 2000, 5000)
    play(rig)
    assert rig.journal.credited == [2000]
    settled(rig)


def test_a_dead_line_is_offline_and_comes_back():
    rig = ready()
    rig.line.fault("mute")
    rig.run(4000)
    assert rig.told[-1] == ("offline",)
    rig.run(30_000)
    assert rig.told_kinds().count("offline") == 1
    rig.line.clear()
    rig.run(6000)
    assert rig.told[-1] == ("online", 1_234_567)
    play(rig)
    assert rig.journal.credited == [2000]
    settled(rig)


def test_a_device_that_was_exchanged():
    """The note went into the box that was carried away: nobody can say what became of it."""
    rig = ready()
    rig.insert(2000)
    rig.run_until(lambda: rig.host.pending)
    rig.model.fault("silent")
    rig.run(500)
    rig.model.note = None
    rig.model.serial = 7
    rig.model.clear()
    rig.cut_device(1000)
    rig.run(60_000)
    assert rig.journal.disputed == [(2000, "other_device")]
    assert ("online", 7) in rig.told
    settled(rig, disputes=1)


def test_a_device_that_forgets_its_inhibits():
    """B17."""
    rig = ready()
    rig.model.fault("forget")
    assert not rig.model.accepting
    rig.run(2500)
    assert rig.model.accepting
    play(rig)
    assert rig.journal.credited == [2000]


def test_a_reset_by_itself_is_told_and_repaired():
    rig = ready()
    rig.model.fault("reset")
    rig.run(6000)
    assert rig.told_kinds().count("device_reset") == 2
    assert rig.model.accepting
    assert rig.host.resets == 2


def test_the_next_poll_never_takes_in_what_was_not_decided():
    """The host loses its power with a note in escrow; whatever it asks when it is back, the note goes back."""
    rig = ready()
    rig.decide = lambda pence: None
    rig.insert(5000)
    rig.run_until(lambda: rig.host.pending)
    rig.run(1000)
    rig.cut_host()
    rig.run(300)
    rig.boot()
    rig.run(SETTLED_MS)
    assert (rig.model.returned, rig.model.stacked, rig.journal.credited) == ([5000], [], [])
    settled(rig)


# --- encryption --------------------------------------------------------------------------------------------------


def test_a_device_that_demands_encryption():
    rig = NoteRig(keys=True)
    rig.model.fault("key")
    rig.ready()
    play(rig)
    assert rig.journal.credited == [2000]
    assert rig.host.link.secret.ready
    settled(rig)


@pytest.mark.parametrize("fault", ["key", "count"])
def test_keys_that_are_lost_in_service_are_agreed_anew(fault):
    """B17: KEY_NOT_SET in the middle of service, or a counter that does not agree."""
    rig = NoteRig(keys=True)
    rig.model.fault("key")
    rig.ready()
    rig.model.fault(fault)
    rig.run(20_000)
    assert rig.model.accepting
    play(rig)
    assert rig.journal.credited == [2000]
    settled(rig)


def test_keys_lost_under_a_note():
    rig = NoteRig(keys=True)
    rig.model.fault("key")
    rig.ready()
    rig.insert(2000)
    rig.run_until(lambda: rig.host.pending)
    rig.model.fault("count")
    rig.run(60_000)
    settled(rig)


def test_a_device_that_demands_keys_and_gets_none():
    rig = NoteRig()
    rig.model.fault("key")
    rig.run(30_000)
    assert rig.told == [("fault", "key")]
    rig.model.clear()
    rig.run(10_000)
    assert rig.model.accepting


def test_the_wrong_fixed_key_lets_nothing_in():
    rig = NoteRig(keys=True, fixed_key=bytes(8))
    rig.model.fault("key")
    rig.run(60_000)
    assert not rig.model.accepting
    assert not rig.host.online


def test_good_news_in_plain_text_is_not_believed():
    """Somebody on the wire answers an encrypted question: CREDIT, channel 4."""
    rig = NoteRig(keys=True)
    rig.model.fault("key")
    rig.ready()
    rig.decide = lambda pence: None
    rig.insert(500)
    rig.run_until(lambda: rig.host.pending)
    carry_out = rig.model._packet
    rig.model._packet = lambda head, data, now_us: rig.model._reply(head >> 7, b"\xf0\xee\x04")
    rig.run(4000)
    assert rig.host.link.bad_secrets > 0
    rig.model._packet = carry_out
    rig.run(60_000)
    assert rig.journal.credited == []
    settled(rig)


def test_packets_are_never_twice_the_same():
    noise = iter(range(1 << 20))
    secret = Secret(FIXED_KEY, lambda number: bytes(next(noise) % 256 for _ in range(number)), Aes)
    secret.begin()
    secret.agree(12345)
    assert secret.wrap(b"\x07") != secret.wrap(b"\x07")
    assert secret.counter == 2


# --- every event -------------------------------------------------------------------------------------------------


def tell(rig: NoteRig, text: str, ms: int = 3000) -> list[tuple]:
    """The device tells one event; what the firmware hears of it."""
    before = len(rig.told)
    rig.model._events.append((0, bytes.fromhex(text)))
    rig.run(ms)
    return rig.told[before:]


GBP_5 = "F4010000 474250"
STATES = [
    ("E9", [("jam", "unsafe"), ("jam", "")]),
    ("EA", [("jam", "safe"), ("jam", "")]),
    ("E9 EA", [("jam", "unsafe"), ("jam", "")]),
    ("E7", [("stacker", "full"), ("stacker", "ok")]),
    ("E3", [("stacker", "removed"), ("stacker", "inserted")]),
    ("E4", [("stacker", "inserted")]),
    ("E6 01", [("fraud", 0xE6)]),
    ("E0", [("fault", "path_open")]),
    ("C6", [("fault", "out_of_service")]),
    ("F1", [("device_reset",)]),
]
SILENT = [
    "EF 00", "CC", "ED", "EB", "E8", "B5", "B6", "B0", "DB", "D1", "D3", "D4", "C2", "C3", "C4", "C5", "C7", "C8", "CF", "E5",
    "B7 01", f"CD 01 {GBP_5}", f"CE {GBP_5}", f"DA 01 {GBP_5}", f"D2 01 {GBP_5}", f"D6 01 {GBP_5}", f"D9 01 {GBP_5}",
    f"D5 01 {GBP_5}", f"D7 01 {GBP_5}", f"D8 01 {GBP_5}", f"C9 01 {GBP_5}", f"DE 01 {GBP_5}", f"DF 01 {GBP_5}",
    f"B3 01 {GBP_5}", f"B4 01 {GBP_5}", f"B1 01 {GBP_5} 01", "DC 01 F4010000 E8030000 474250", "DD 01 F4010000 E8030000 474250",
]  # fmt: skip
CREDITS = ["EE 03", "E2 03", "CA 01 D0070000 474250", "CB 01 D0070000 474250"]
# What an acceptor tells on a note's way, and of one that it gives back: below, with notes; EC here for one that is not there.
REJECTED, TO_FRONT = "EC", "E1 03"
# The fact sheet's events (host_tools/hil/SOURCES.md 2.2).
KNOWN = bytes.fromhex(
    "F1 EF ED EC EE CC EB E9 EA E1 E2 CA CB CD CE DC DD DA D2 D6 D9 D5 DB E6 E7 E3 E4 E8 B5 B6 E0 E5 D1"
    "B0 B1 B3 B4 C2 C3 C6 C9 CF D7 D8 DE DF"
)


def test_every_event_of_the_fact_sheet_is_driven_through_the_driver():
    driven = {int(event[:2], 16) for event in (*(event for event, _ in STATES), *SILENT, *CREDITS, REJECTED, TO_FRONT)}
    assert set(KNOWN) - driven == set()
    for code in range(0xB0, 0x100):  # and the driver reads no code that has no test
        read = data_bytes(bytes([code]) + bytes(30), 0, 8, 0) >= 0
        assert read == (code in driven), f"{code:02X}"


@pytest.mark.parametrize(("event", "told"), STATES)
def test_states(event, told):
    assert tell(ready(), event) == told


@pytest.mark.parametrize("event", SILENT)
def test_events_that_say_nothing_by_themselves(event):
    """Notes go on being taken behind each of them."""
    rig = ready()
    assert tell(rig, event) == []
    play(rig)
    assert rig.journal.credited == [2000]
    assert rig.host.unread_events == 0
    settled(rig)


def test_a_rejection_of_a_note_that_was_never_held_is_a_refusal():
    """The reason is asked for (header 17): the last one that the device knows."""
    rig = ready()
    assert [event[0] for event in tell(rig, REJECTED)] == ["refused"]
    play(rig)
    assert rig.journal.credited == [2000]
    settled(rig)


def test_a_ticket_is_never_taken_in():
    """The next POLL would accept it."""
    rig = ready()
    sent = []
    write = rig.line.port.write
    rig.line.port.write = lambda data: (sent.append(bytes(data)[3]), write(data))
    tell(rig, "E5", 400)
    assert sent[sent.index(0x56) : sent.index(0x56) + 2] == [0x56, 0x08]


@pytest.mark.parametrize("counters", [True, False])
@pytest.mark.parametrize("event", CREDITS)
def test_a_credit_that_nobody_ordered(event, counters):
    """Only the counters can prove it; they have not moved. Without counters it is disputed."""
    rig = ready(counters=counters)
    told = tell(rig, event, 20_000)
    if counters:
        assert told == []
        assert rig.host.repeated_credits == 1
    else:
        assert [(kind, *rest[1:]) for kind, *rest in told] == [("disputed", 2000, "unasked")]
    assert rig.model.accepting


@pytest.mark.parametrize("event", CREDITS)
def test_a_credit_that_nobody_ordered_and_that_the_counters_prove(event):
    rig = ready()
    rig.model.counted_in += 1
    rig.model.stacked.append(2000)
    told = tell(rig, event, 20_000)
    assert [(kind, *rest[1:]) for kind, *rest in told] == [("stacked", 2000, 3)]
    settled(rig)


def test_notes_that_were_taken_without_a_word():
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


def test_cleared_out_of_the_front_without_a_pending_note():
    assert tell(ready(), TO_FRONT)[0][0::2] == ("refused", 256)


def test_a_credited_note_that_comes_out_again():
    rig = ready(stack_ms=5000)
    rig.insert(2000)
    rig.run_until(lambda: rig.journal.credited)
    told = tell(rig, "E1 03")
    assert [(kind, *rest[1:]) for kind, *rest in told] == [("disputed", 2000, "given_back")]


@pytest.mark.parametrize("lost", [2, 4])
def test_a_note_that_the_counters_credit_is_not_the_one_that_comes_out_later(lost):
    """Neither its credit nor its arrival was told. The next note is in the path when the device restarts, and goes back."""
    rig = ready()
    rig.model.fault("lose", lost)
    play(rig, ms=80_000)
    assert rig.journal.credited == rig.model.stacked == [2000]
    told = tell(rig, "E1 03")
    assert [event[0] for event in told] == ["refused"]
    settled(rig)


def test_an_unknown_event_hides_what_follows_it():
    """The credit behind it is not seen; the counters bring it to light."""
    rig = ready()
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "moving")
    rig.model._events.append((0, b"\x90"))
    told = rig.model._tell
    rig.model._tell = lambda code, *rest: None if code == 0xEE else told(code, *rest)
    rig.run(SETTLED_MS)
    assert rig.host.unread_events == 1
    assert rig.journal.credited == [2000]
    settled(rig)


# --- faults ------------------------------------------------------------------------------------------------------

BOTH = pytest.mark.parametrize("counters", [True, False])


@BOTH
@pytest.mark.parametrize("ms", [1000, 9000, 14_000, 40_000])
def test_late_events(ms, counters):
    """B04: the event comes long after the note went in: one credit."""
    rig = ready(counters=counters)
    rig.model.fault("late", ms)
    play(rig, ms=80_000)
    assert rig.journal.credited == [2000]
    settled(rig)


def test_later_than_any_patience():
    rig = ready(counters=False)
    rig.model.fault("late", 70_000)
    play(rig, ms=100_000)
    assert (rig.journal.credited, rig.journal.disputed) == ([], [(2000, "lost")])
    settled(rig, disputes=1)


@BOTH
def test_lost_events(counters):
    """B13: the note is in the box and nothing was ever told."""
    rig = ready(counters=counters)
    rig.model.fault("lose", 2)
    play(rig, ms=80_000)
    if counters:
        assert rig.journal.credited == [2000]
        settled(rig)
    else:
        assert rig.journal.disputed == [(2000, "lost")]
        settled(rig, disputes=1)


@pytest.mark.parametrize("lost", [1, 2])
@pytest.mark.parametrize("broken_ms", [0, 3000])
@pytest.mark.parametrize("second", [500, 5000, 777])
@pytest.mark.parametrize("place", ["reading", "escrow"])
def test_another_note_that_goes_back_after_one_that_went_in_without_a_word(place, second, broken_ms, lost):
    """The return is the second note's, whether it cannot be read, is not wanted, or came while the link was broken; and whether
    credit and arrival of the first one went lost, or the credit alone."""
    rig = ready()
    rig.decide = lambda pence: pence == 2000
    rig.model.fault("lose", lost)
    rig.insert(2000)
    rig.run_until(lambda: rig.model.stacked == [2000] and rig.model.note is None)
    rig.model.fault("lost_answers", 100 if broken_ms else 1)
    note = rig.insert(second)
    rig.run_until(lambda: note.place in (place, "customer"))
    rig.run(broken_ms)
    rig.model.clear()
    rig.run(SETTLED_MS)
    assert (rig.model.stacked, rig.model.returned) == ([2000], [second])
    assert (rig.journal.credited, rig.journal.disputed) == ([2000], [])
    settled(rig)


def test_a_return_that_is_told_behind_the_arrival_of_a_note_is_another_ones():
    """The credit went lost, and what was read meanwhile was never seen: both came in one answer."""
    rig = ready()
    rig.model.fault("lose", 1)
    rig.insert(2000)
    rig.run_until(lambda: rig.model.stacked == [2000] and rig.model.note is None)
    rig.model._tell_event(b"\xec", None)
    rig.run(SETTLED_MS)
    assert (rig.journal.credited, rig.journal.disputed) == ([2000], [])
    settled(rig)


@BOTH
def test_a_return_that_was_not_told(counters):
    """Returned and never told: the counter of rejected notes says so."""
    rig = ready(counters=counters)
    rig.model.fault("give_back")
    rig.model.fault("lose", 1)
    play(rig, ms=80_000)
    assert (rig.model.returned, rig.journal.credited) == ([2000], [])
    settled(rig, disputes=0 if counters else 1)


@pytest.mark.parametrize("acks", [True, False])
@BOTH
@pytest.mark.parametrize("times", [1, 2])
def test_events_told_twice(times, counters, acks):
    rig = ready(counters=counters, acks=acks)
    rig.model.fault("repeat", times)
    play(rig)
    play(rig)
    assert rig.journal.credited == [2000, 2000]
    if counters:
        settled(rig)
    assert all(reason == "unasked" for _, reason in rig.journal.disputed)


@BOTH
def test_stacked_before_credit(counters):
    rig = ready(counters=counters)
    rig.model.fault("swap")
    play(rig, ms=80_000)
    assert rig.journal.credited == [2000]
    settled(rig)


@BOTH
def test_returned_after_escrow(counters):
    """B03: the yes was given, the device could not stack: it goes back."""
    rig = ready(counters=counters)
    rig.model.fault("give_back")
    play(rig)
    assert (rig.model.returned, rig.journal.credited, rig.journal.returned) == ([2000], [], 1)
    settled(rig)


def test_escrow_returned_escrow_stacked():
    """B03: two notes, one went back: one credit."""
    rig = ready()
    rig.decide = lambda pence: pence != 5000
    play(rig, 5000, 6000)
    play(rig, 1000, 6000)
    assert (rig.model.returned, rig.journal.credited) == ([5000], [1000])
    settled(rig)


@BOTH
@pytest.mark.parametrize("place", ["escrow", "moving"])
def test_a_second_escrow_after_a_note_that_fell_out(place, counters):
    """The first is gone without a word; the second must not be credited for it, nor the first for the second."""
    rig = ready(counters=counters)
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == place and rig.host.pending)
    rig.model.fault("fall_back")
    rig.run(1800)
    rig.insert(2000)
    rig.run(100_000)
    assert rig.model.returned[0] == 2000
    assert sum(rig.journal.credited) == sum(rig.model.stacked)
    assert all(reason == "lost" for _, reason in rig.journal.disputed)
    settled(rig, disputes=len(rig.journal.disputed))


@BOTH
def test_a_note_pulled_back(counters):
    rig = ready(counters=counters)
    rig.insert(5000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "moving")
    rig.model.fault("pull")
    rig.run(SETTLED_MS)
    assert ("fraud", 0xE6) in rig.told
    assert (rig.model.returned, rig.journal.credited) == ([5000], [])
    settled(rig)


@BOTH
@pytest.mark.parametrize("where", ["safe", "unsafe"])
def test_a_jam_and_the_technician(where, counters):
    rig = ready(counters=counters)
    rig.model.fault("jam", where)
    play(rig, ms=90_000)
    assert ("jam", where) in rig.told
    assert rig.host.pending, "as long as it is stuck nothing is decided"
    assert rig.journal.disputed == []
    rig.model.clear()
    rig.run(SETTLED_MS)
    assert ("jam", "") in rig.told
    assert rig.journal.credited == ([2000] if where == "safe" else [])
    settled(rig)


@BOTH
@pytest.mark.parametrize("where", ["safe", "unsafe"])
def test_a_jam_and_the_mains(where, counters):
    rig = ready(counters=counters)
    rig.model.fault("jam", where)
    play(rig, ms=5000)
    rig.cut_mains()
    rig.run(SETTLED_MS)
    assert rig.journal.credited == ([2000] if where == "safe" else [])
    settled(rig)


def test_an_attendant_gives_a_note_up():
    """And what the device says later of it is not another note."""
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
    play(rig, 500)
    assert rig.journal.credited == [500]


@pytest.mark.parametrize("off", ["before it is counted", "after"])
def test_a_disputed_note_that_is_counted_later_is_disputed_once_over_a_restart(off):
    """No record says that it was counted; its token says that it may be."""
    rig = ready()
    rig.model.fault("jam", "safe")
    play(rig, ms=5000)
    assert rig.host.give_up()
    rig.run(1000)
    if off == "after":
        rig.model.clear()
        rig.run(SETTLED_MS)
    rig.cut_host()
    rig.model.clear()
    rig.run(SETTLED_MS)
    assert rig.model.stacked == [2000]
    rig.boot()
    rig.run(SETTLED_MS)
    play(rig, 500)
    assert rig.journal.credited == [500]
    settled(rig, disputes=1)


@BOTH
@pytest.mark.parametrize("acks", [True, False])
@pytest.mark.parametrize("at", ["reading", "escrow", "moving", "past"])
@pytest.mark.parametrize("evidence", ["channel", "blank", "amount", "none"])
def test_a_reset_at_every_step(at, acks, counters, evidence):
    rig = ready(acks=acks, counters=counters, evidence=evidence)
    rig.model.fault("reset", at)
    play(rig, ms=80_000)
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
def test_silent_when_a_note_gets_so_far(at, counters, seconds):
    """B13: the device goes on working and says nothing; then it speaks again."""
    rig = ready(counters=counters)
    rig.model.fault("silent", at)
    play(rig, ms=seconds * 1000)
    if seconds > 3:
        assert ("offline",) in rig.told
    rig.model.clear()
    rig.run(80_000)
    settled(rig, disputes=len(rig.journal.disputed))
    if counters:
        assert rig.journal.disputed == []
        assert rig.journal.credited == rig.model.stacked
    assert sum(rig.journal.credited) <= sum(rig.model.stacked)


def test_silent_for_ever_after_stacking_and_a_restart():
    """B13: the evidence of the start-up settles it."""
    rig = ready()
    rig.model.fault("silent", "past")
    play(rig, ms=60_000)
    assert rig.journal.pending is not None
    rig.model.clear()
    rig.cut_mains()
    rig.run(SETTLED_MS)
    assert rig.journal.credited == [2000]
    settled(rig)


def test_the_stacker():
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


def test_a_full_stacker_is_not_enabled_without_end():
    rig = ready()
    sent = []
    write = rig.line.port.write
    rig.line.port.write = lambda data: (sent.append(bytes(data)[3]), write(data))
    rig.model.fault("stacker", "full")
    rig.run(10_000)
    assert 5 <= sent.count(0x0A) <= 11


# --- the line ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["rx", "tx"])
@pytest.mark.parametrize("fault", [("drop", 1), ("corrupt", 1), ("duplicate", 1), ("drop", 7), ("corrupt", 9)])
def test_line_faults_under_a_note(fault, way):
    """At any moment of a note's way: repeated with the same sequence bit, so nothing happens twice."""
    for at_ms in range(0, 3000, 211):
        rig = ready()
        rig.insert(2000)
        rig.run(at_ms)
        rig.line.fault(*fault, way)
        rig.run(30_000)
        assert rig.journal.credited == rig.model.stacked == [2000], at_ms
        settled(rig)


@pytest.mark.parametrize(("fault", "count"), [("lost_answers", 1), ("lost_answers", 3), ("bad_crc", 2)])
def test_lost_answers_under_a_note(fault, count):
    for at_ms in range(0, 3000, 173):
        rig = ready()
        rig.insert(2000)
        rig.run(at_ms)
        rig.model.fault(fault, count)
        rig.run(30_000)
        assert rig.journal.credited == rig.model.stacked, at_ms
        assert rig.model.stacked == [2000] or count == 3, "three seconds of silence send a note back that waits"
        settled(rig)


@pytest.mark.parametrize("ms", [300, 950, 1400, 2600])
def test_slow_answers(ms):
    """Answers to both attempts come, one after the other: the second is not taken for another question's."""
    rig = ready()
    rig.model.fault("slow", ms)
    play(rig, ms=120_000)
    assert sum(rig.journal.credited) == sum(rig.model.stacked)
    settled(rig)


def test_fragments_and_noise():
    rig = ready()
    rig.line.fault("fragment", 3, 40)
    play(rig)
    rig.line.clear()
    rig.line.fault("garbage", 200, "rx")
    play(rig)
    assert rig.journal.credited == [2000, 2000]
    settled(rig)


def test_a_loop_that_was_held_up_loses_nothing():
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


def test_a_port_that_is_gone():
    class Gone:
        overruns = 0

        def read(self):
            return b""

        def write(self, data):
            from hal.board import PortError

            raise PortError("gone")

    host = NoteAcceptor(Gone())
    for now_ms in range(0, 60_000, 5):
        host.poll(now_ms)
    assert host.event() is None
    assert 20 <= host.link.port_faults < 100


def test_events_that_nobody_takes_stop_the_device():
    """Nothing is lost: the driver asks no more, so the device stops by itself."""
    rig = ready()
    turn = rig._turn
    rig._turn = lambda host: host.poll(rig.now_ms)
    for _ in range(8):
        play(rig, ms=45_000)
    assert not rig.model.accepting
    rig._turn = turn
    rig.run(SETTLED_MS)
    assert rig.told_kinds().count("escrow") == rig.told_kinds().count("returned") == 5
    assert rig.model.returned == [2000] * 8
    settled(rig)

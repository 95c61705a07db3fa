"""The ccTalk note acceptor against the model: a note's ways, every event, every fault. Truth is what the model swallowed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hal.cctalk.note_evidence import continues, evidence, token, verdict
from host_tools.hil.models.bill_acceptor import IDENTITY
from tests.hal.bench import cctalk16
from tests.hal.bill_rig import BillRig

SETTLED_MS = 25_000
BLIND_MS = 90_000  # without counters a late event has a minute to come
BOTH = pytest.mark.parametrize("counters", [True, False])
SERIAL = IDENTITY.serial


def ready(**options) -> BillRig:
    return BillRig(**options).ready()


def play(rig: BillRig, pence: int = 2000, ms: int = SETTLED_MS) -> BillRig:
    """A note goes in; then all comes to rest."""
    rig.insert(pence)
    rig.run(ms)
    return rig


def settled(rig: BillRig, *, disputes: int = 0) -> None:
    """Nothing in hand, nothing in the path, every note accounted for once."""
    journal, model = rig.journal, rig.model
    assert model.note is None
    assert journal.pending is None
    assert rig.host is not None
    assert not rig.host.pending
    assert len(journal.disputed) == disputes, journal.disputed
    if not disputes:
        assert sum(journal.credited) == sum(model.stacked)


def sent_by(rig: BillRig) -> list[tuple[int, bytes]]:
    """(header, data) of what goes to the validator from now on."""
    sent = []
    write = rig.line.port.write

    def listen(data):
        if data[0] == 40:
            sent.append((data[3], bytes(data[4:-1])))
        write(data)

    rig.line.port.write = listen
    return sent


# --- a note's way ------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(("channel", "pence"), [(1, 500), (2, 1000), (3, 2000), (4, 5000)])
def test_a_note_is_credited_once(channel, pence, counters):
    rig = ready(counters=counters)
    play(rig, pence)
    assert [event[0] for event in rig.told] == ["online", "device_reset", "escrow", "stacked"]
    assert rig.told[2][1:3] == (pence, channel)
    assert rig.told[3][2:] == (pence, channel)
    assert (len(rig.told[2][3]), len(rig.told[3][1])) == (12, 9)
    assert rig.journal.credited == rig.model.stacked == [pence]
    settled(rig)


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
    assert rig.host.stack() is False, "a late yes comes to nothing"
    assert rig.host.return_note() is False
    rig.decide = lambda pence: True
    rig.run(5000)
    assert rig.host.event() is None
    assert rig.journal.returned == 1


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
    rig.run_until(lambda: rig.host.pending)
    rig.model.fault("event", 9)
    sent = sent_by(rig)
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
    sent = sent_by(rig)
    rig.run(SETTLED_MS)
    assert sent[0][0] == 159
    assert (154, b"\x01") not in sent
    assert (rig.model.returned, rig.journal.credited, rig.journal.returned) == ([2000], [], 1)


def test_a_note_that_cannot_be_read_and_one_that_is_inhibited():
    rig = ready()
    play(rig, 700, 4000)
    assert rig.told[-1][0::2] == ("refused", 2)
    rig.host.accept(0b0001)
    rig.run(1000)
    assert rig.host.accepting == 1
    play(rig, 5000, 4000)
    assert rig.told[-1][0::2] == ("refused", 4)
    assert rig.model.returned == [700, 5000]
    settled(rig)


def test_nothing_is_accepted_before_it_is_allowed_or_after_it_is_forbidden():
    rig = BillRig()
    rig.wanted = False
    rig.host.accept(False)
    rig.run(5000)
    assert rig.host.online
    assert not rig.model.accepting
    assert rig.model._mask == 15, "the mask is the mark of the device's life"
    rig.host.accept(True)
    rig.run(400)
    assert rig.model.accepting
    rig.host.accept(False)
    rig.run(400)
    assert not rig.model.accepting
    assert rig.host.accepting == 0


def test_a_silent_host_ends_acceptance():
    rig = ready()
    rig.cut_host()
    rig.run(1100)
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
    bills = {1: ("GB0005A", 500), 2: ("GB0007A", 700), 3: ("EU0020A", 2000)}
    rig = ready(bills=bills)
    assert rig.host.values == (500, 700)
    assert rig.host.accepting == 0b001
    rig.model._mask = 0xFFFF  # the device does not care
    play(rig, 700, 6000)
    play(rig, 2000, 6000)
    assert (rig.model.returned, rig.journal.credited) == ([700, 2000], [])


# --- identification ----------------------------------------------------------------------------------------------


def test_start_up_byte_by_byte():
    """In CRC mode, after the simple checksum found nobody; frames made independently of the driver."""
    rig = BillRig()
    heard = []
    write = rig.line.port.write
    rig.line.port.write = lambda data: (heard.append(bytes(data)), write(data))
    rig.ready()
    asked = [
        (254, b""), (242, b""), (228, b"\0"), (245, b""), (156, b"GB"), *[(157, bytes([kind])) for kind in range(1, 17)],
        (225, b""), (194, b""), (159, b""), (230, b""), (159, b""), (232, b""), (228, b"\0"),
        (153, b"\3"), (152, b""), (231, b"\x0f\0"), (159, b""), (230, b""), (228, b"\1"),
    ]  # fmt: skip
    crc = heard.index(cctalk16(40, 254))
    assert heard[crc : crc + len(asked)] == [cctalk16(40, header, data) for header, data in asked]


@pytest.mark.parametrize("crc", [True, False])
def test_either_checksum_mode(crc):
    """B16."""
    rig = ready(crc=crc)
    assert rig.host.crc is crc
    play(rig)
    assert rig.journal.credited == [2000]


@pytest.mark.parametrize(
    ("scale", "bill_id", "pence"),
    [((100, 2), "GB0020A", 2000), ((1, 0), "GB0020A", 2000), ((1000, 2), "GB0002B", 2000)],
)
def test_scaling(scale, bill_id, pence):
    rig = ready(bills={1: (bill_id, pence)}, scale=scale)
    assert rig.host.values == (pence,)
    play(rig)
    assert rig.journal.credited == [2000]


def test_another_currency_and_odd_ids_are_worth_nothing():
    rig = BillRig(bills={1: ("EU0020A", 2000), 2: ("GB00x0A", 1000), 3: ("GB0010A", 1000)}, scale=(1, 3))
    rig.run(8000)
    assert rig.host.online
    assert rig.host.values == (0, 0, 1)
    assert not rig.model.accepting


def test_a_device_that_is_no_bill_validator_is_left_alone():
    rig = BillRig(identity=type(IDENTITY)("A", "Coin Acceptor", "C", "1", "0", 5))
    rig.run(10_000)
    assert not rig.host.online
    assert rig.host.category == "Coin Acceptor"
    assert (rig.told, rig.model._mask, rig.model._master) == ([], 0, 0)


def test_a_device_that_is_silent_where_it_has_no_bill_type():
    rig = BillRig()
    known = rig.model._commands[157][1]
    rig.model._commands[157] = (1, lambda data, now_us: known(data, now_us) if data[0] <= 4 else None)
    rig.ready()
    assert rig.host.values == (500, 1000, 2000, 5000)
    play(rig)
    assert rig.journal.credited == [2000]


def test_a_device_without_escrow_gets_no_notes():
    rig = BillRig()
    rig.model._commands[153] = (1, lambda data, now_us: (0, b""))
    rig.run(8000)
    assert ("fault", "out_of_service") in rig.told
    assert not rig.model.accepting


def test_a_mode_forgotten_right_after_it_was_set_is_set_again():
    rig = BillRig()
    modify, forgotten = rig.model._commands[153], []

    def once(data, now_us):
        answer = modify[1](data, now_us)
        if not forgotten:
            forgotten.append(rig.model.fault("forget"))
        return answer

    rig.model._commands[153] = (1, once)
    rig.run(8000)
    assert forgotten
    assert rig.model.accepting
    assert ("fault", "out_of_service") not in rig.told


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


def test_a_device_that_does_not_keep_its_mask_gets_no_notes():
    """It acknowledges and forgets: told once, no reset is made of it, and the line is not flooded."""
    rig = BillRig()
    keeps = rig.model._commands[231]
    rig.model._commands[231] = (2, lambda data, now_us: (0, b""))
    rig.run(5000)
    sent = sent_by(rig)
    rig.run(30_000)
    assert rig.told == [("online", SERIAL), ("device_reset",), ("fault", "out_of_service")]
    assert 4 <= [header for header, _ in sent].count(231) <= 8
    assert not rig.model.accepting
    rig.model._commands[231] = keeps
    rig.run(7000)
    play(rig)
    assert rig.journal.credited == [2000]


def test_a_dead_line_is_offline_and_comes_back():
    rig = ready()
    rig.line.fault("mute")
    rig.run(4000)
    assert rig.told[-1] == ("offline",)
    rig.run(30_000)
    assert rig.told_kinds().count("offline") == 1
    rig.line.clear()
    rig.run(8000)
    assert rig.told[-1] == ("online", SERIAL)
    assert rig.host.resets == 1, "its mask was still there"
    play(rig)
    assert rig.journal.credited == [2000]
    settled(rig)


def test_a_device_that_was_exchanged():
    """The note went into the box that was carried away: nobody can say what became of it."""
    rig = ready()
    rig.insert(2000)
    rig.run_until(lambda: rig.journal.pending is not None)
    rig.model.fault("silent")
    rig.run(1000)
    rig.model.cancel()
    rig.model.note = None
    rig.model.identity = type(IDENTITY)("A", "Bill Validator", "C", "1", "0", 7)
    rig.model.clear()
    rig.cut_device(1500)
    rig.run(60_000)
    assert rig.journal.disputed == [(2000, "other_device")]
    assert ("online", 7) in rig.told
    settled(rig, disputes=1)


def test_a_device_that_forgets_its_inhibits():
    """B17: without a reset; the events go on as before."""
    rig = ready()
    play(rig, 500, 5000)
    rig.model.fault("forget")
    assert not rig.model.accepting
    rig.run(7000)
    assert rig.model.accepting
    assert rig.model._mode == 3
    assert rig.host.resets == 1
    play(rig)
    assert rig.journal.credited == [500, 2000]
    settled(rig)


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


def test_a_reset_by_itself_is_told_and_repaired():
    rig = ready()
    rig.model.fault("reset")
    rig.run(12_000)
    assert rig.told_kinds().count("device_reset") == 2
    assert rig.model.accepting
    assert rig.host.resets == 2


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


def test_a_note_in_escrow_from_before_the_start_goes_back():
    """The host loses its power with an undecided note in escrow."""
    rig = ready()
    rig.decide = lambda pence: None
    rig.insert(5000)
    rig.run_until(lambda: rig.host.pending)
    rig.run(1000)
    rig.cut_host()
    rig.run(300)
    rig.boot()
    rig.run(8000)
    assert (rig.model.returned, rig.model.stacked, rig.journal.credited) == ([5000], [], [])
    assert rig.told[-1][0::2] == ("refused", 256)
    settled(rig)


# --- events ------------------------------------------------------------------------------------------------------


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


def test_a_credited_note_that_comes_out_again():
    rig = ready(clear_ms=4000)
    rig.insert(2000)
    rig.run_until(lambda: rig.journal.credited)
    rig.model.fault("reset")
    rig.run(2500)
    rig.model._make(0, 1)
    rig.run(500)
    assert [(kind, *rest[1:]) for kind, *rest in rig.told[-1:]] == [("disputed", 2000, "given_back")]


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


# --- faults ------------------------------------------------------------------------------------------------------


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


@BOTH
@pytest.mark.parametrize("ms", [1000, 9000, 14_000, 40_000])
def test_a_late_stacked_event(ms, counters):
    """The escrow event came in time, the one of the end did not."""
    rig = ready(counters=counters)
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "moving")
    rig.model.fault("late", ms)
    rig.run(ms + BLIND_MS)
    assert rig.journal.credited == rig.model.stacked == [2000]
    assert rig.host.repeated_credits == (counters and ms > 10_000)
    settled(rig)


def test_later_than_any_patience():
    rig = ready(counters=False)
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "moving")
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
def test_a_lost_stacked_event(counters):
    """B13: the note is in the box and nothing was ever told."""
    rig = ready(counters=counters)
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "moving")
    rig.model.fault("lose", 1)
    rig.run(BLIND_MS)
    if counters:
        assert rig.journal.credited == [2000]
        settled(rig)
    else:
        assert rig.journal.disputed == [(2000, "lost")]
        settled(rig, disputes=1)


def test_a_lost_escrow_event():
    """Nobody asks for the note: it goes back by itself."""
    rig = ready()
    rig.model.fault("lose", 1)
    play(rig)
    assert (rig.model.returned, rig.journal.credited) == ([2000], [])
    settled(rig)


@BOTH
def test_a_return_that_was_not_told(counters):
    """Returned and never told: the counter of rejected notes says so."""
    rig = ready(counters=counters)
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "moving")
    rig.model.fault("give_back")
    rig.model.fault("lose", 1)
    rig.run(BLIND_MS)
    assert (rig.model.returned, rig.journal.credited) == ([2000], [])
    settled(rig, disputes=0 if counters else 1)


@BOTH
@pytest.mark.parametrize("times", [1, 2])
def test_events_told_twice(times, counters):
    rig = ready(counters=counters)
    rig.model.fault("repeat", times)
    play(rig, ms=BLIND_MS)
    play(rig, ms=BLIND_MS)
    assert rig.journal.credited == [2000, 2000]
    if counters:
        settled(rig)
    assert all(reason == "unasked" for _, reason in rig.journal.disputed)


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
@pytest.mark.parametrize("second", [2000, 5000])
@pytest.mark.parametrize("place", ["escrow", "moving"])
def test_a_second_escrow_after_a_note_that_fell_out(place, second, counters):
    """The first is gone without a word; the second must not be credited for it, nor the first for the second."""
    rig = ready(counters=counters)
    if place == "escrow":
        rig.decide_after_ms = 1000
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == place and rig.host.pending)
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


@BOTH
def test_a_note_pulled_back(counters):
    rig = ready(counters=counters)
    rig.insert(5000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "moving")
    rig.model.fault("pull")
    rig.run(SETTLED_MS)
    assert ("fraud", 8) in rig.told
    assert (rig.model.returned, rig.journal.credited) == ([5000], [])
    settled(rig)


@BOTH
@pytest.mark.parametrize("checks", [True, False])
@pytest.mark.parametrize("where", ["safe", "unsafe"])
def test_a_jam_and_the_technician(where, checks, counters):
    rig = ready(counters=counters, checks=checks)
    rig.model.fault("jam", where)
    play(rig, ms=90_000)
    assert ("jam", where) in rig.told
    assert rig.host.pending, "as long as it is stuck nothing is decided"
    assert rig.journal.disputed == []
    rig.model.clear()
    rig.run(SETTLED_MS)
    assert (("jam", "") in rig.told) is checks
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


@BOTH
@pytest.mark.parametrize("clears", [True, False])
@pytest.mark.parametrize("at", ["reading", "escrow", "moving", "past"])
def test_a_reset_at_every_step(at, clears, counters):
    rig = ready(clears=clears, counters=counters)
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
def test_silent_when_a_note_gets_so_far(at, counters, seconds):
    """B13: the device goes on working and says nothing; then it speaks again, and its events are still there."""
    rig = ready(counters=counters)
    rig.model.fault("silent", at)
    play(rig, ms=seconds * 1000)
    if seconds > 3:
        assert ("offline",) in rig.told
    rig.model.clear()
    rig.run(BLIND_MS)
    settled(rig)
    assert rig.journal.credited == rig.model.stacked


def test_silent_for_ever_after_stacking_and_a_restart():
    """B13: the counter settles it."""
    rig = ready(clears=False)
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
    sent = sent_by(rig)
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
    sent = sent_by(rig)
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


# --- the line ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["rx", "tx"])
@pytest.mark.parametrize("fault", [("drop", 1), ("corrupt", 1), ("duplicate", 1), ("drop", 7), ("corrupt", 9)])
def test_line_faults_under_a_note(fault, way):
    for at_ms in range(0, 3000, 211):
        rig = ready()
        rig.insert(2000)
        rig.run(at_ms)
        rig.line.fault(*fault, way)
        rig.run(30_000)
        assert rig.journal.credited == rig.model.stacked == [2000], at_ms
        settled(rig)


@pytest.mark.parametrize(
    ("fault", "count"), [("lost_answers", 1), ("lost_answers", 3), ("lost_answers", 8), ("bad_checksum", 2)]
)
@BOTH
def test_lost_answers_under_a_note(fault, count, counters):
    for at_ms in range(0, 3000, 173):
        rig = ready(counters=counters)
        rig.insert(2000)
        rig.run(at_ms)
        rig.model.fault(fault, count)
        rig.run(30_000)
        if rig.journal.pending is not None:
            rig.run(BLIND_MS)
        assert rig.journal.credited == rig.model.stacked, at_ms
        assert rig.model.stacked == [2000] or count == 8, "a silence of more than a second sends back a note that waits"
        settled(rig)


@pytest.mark.parametrize("fault", ["busy", "nak"])
def test_a_device_that_refuses_everything(fault):
    rig = ready()
    rig.insert(2000)
    rig.run_until(lambda: rig.host.pending)
    rig.model.fault(fault)
    rig.run(5000)
    rig.model.clear()
    rig.run(BLIND_MS)
    assert rig.journal.credited == rig.model.stacked
    settled(rig)


@pytest.mark.parametrize("ms", [50, 90, 150, 300, 950, 2600])
@BOTH
def test_slow_answers(ms, counters):
    """Answers come after the bus has given up: none is taken for another question's."""
    rig = ready(counters=counters)
    rig.insert(2000)
    rig.run(900)
    rig.model.fault("slow", ms)
    rig.run(60_000)
    rig.model.clear()
    rig.run(BLIND_MS)
    assert sum(rig.journal.credited) == sum(rig.model.stacked)
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
    assert sum(rig.journal.credited) == sum(rig.model.stacked)
    settled(rig)


def test_events_that_nobody_takes_stop_the_device():
    """Nothing is lost: the driver asks no more, so the device stops by itself."""
    rig = ready()
    turn = rig._turn
    rig._turn = lambda host: (rig.bus.poll(rig.now_ms), host.poll(rig.now_ms))
    for _ in range(8):
        play(rig, ms=45_000)
    assert not rig.model.accepting
    rig._turn = turn
    rig.run(SETTLED_MS)
    assert rig.told_kinds().count("escrow") == rig.told_kinds().count("returned") == 5
    assert rig.model.returned == [2000] * 8
    settled(rig)


# --- neighbours on the line --------------------------------------------------------------------------------------


def test_coins_notes_and_a_payout_on_one_line_in_two_checksum_modes():
    rig = BillRig(others=True).ready()
    rig.run(2000)
    assert (rig.host.crc, rig.coins.crc, rig.hopper.crc) == (True, False, False)
    rig.hopper_model.refill(50)
    rig.hopper.prepare(7)
    for number in range(30):
        rig.coin_model.insert(100, rig.now_ms * 1000)
        if number % 5 == 0:
            rig.insert(2000)
        if number == 3:
            assert rig.hopper.dispense()
        rig.run(700)
    rig.run(10_000)
    assert sum(event[2] for event in rig.coins_told if event[0] == "coin") == sum(rig.coin_model.swallowed) == 3000
    assert rig.journal.credited == rig.model.stacked
    assert len(rig.model.stacked) == 6
    assert [event[1:3] for event in rig.hopper_told if event[0] == "done"] == [(7, 0)]
    assert rig.hopper_model.paid_coins == 7
    settled(rig)


@pytest.mark.parametrize("fault", [("silent", "now"), ("slow", 400), ("busy",), ("lost_answers", 50)])
def test_a_validator_in_trouble_leaves_the_others_alone(fault):
    rig = BillRig(others=True).ready()
    rig.run(2000)
    rig.model.fault(*fault)
    for _ in range(10):
        rig.coin_model.insert(50, rig.now_ms * 1000)
        rig.run(1500)
    rig.run(3000)
    assert rig.coin_model.swallowed == [50] * 10
    assert sum(event[2] for event in rig.coins_told if event[0] == "coin") == 500
    assert ("offline",) not in rig.coins_told
    assert ("offline",) not in rig.hopper_told


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


# --- lives of the device -----------------------------------------------------------------------------------------


def test_the_mask_is_not_set_before_a_reset_is_settled():
    """Else the cabinet, restarted meanwhile, would take the numbers of the new life for those of the old one."""
    rig = ready(counters=False, clear_ms=6000)
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "moving")
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


def test_a_full_queue_leaves_events_in_the_device():
    """Every event of the five is a new one, and the firmware takes its time: none is lost, none comes twice."""
    rig = ready()
    rig.run(12_000)
    rig.told.clear()
    turn, rig._turn = rig._turn, lambda host: (rig.bus.poll(rig.now_ms), host.poll(rig.now_ms))
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


def test_a_reset_between_two_answers_with_a_queue_that_is_half_full():
    """Ten events in two lives of the device, each of which becomes one or more of ours: all told, once, in order."""
    rig = ready()
    rig.run(12_000)
    rig.told.clear()
    turn, rig._turn = rig._turn, lambda host: (rig.bus.poll(rig.now_ms), host.poll(rig.now_ms))
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


def test_another_note_that_came_and_went_is_not_taken_for_the_one_in_hand():
    """The stacked event is lost, and before the next poll somebody tries another note: its return is not that of the first."""
    rig = ready()
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "moving")
    rig.model.fault("lose", 1)
    rig.run_until(lambda: rig.model.stacked)
    rig.model._make(2, 1)
    rig.model._make(0, 1)
    rig.run(SETTLED_MS)
    assert (rig.journal.credited, rig.journal.returned) == ([2000], 0)
    settled(rig)

"""The SSP note acceptor against the model: what is told and asked in SSP only. Truth is what the model swallowed.

What it shares with every other note acceptor is in test_hal_notes.py.
"""

import pytest

from hal.boards.host import Aes
from hal.ssp.essp import Secret
from hal.ssp.events import data_bytes
from hal.ssp.note_acceptor import NoteAcceptor
from tests.hal.note_steps import BOTH, SETTLED_MS, moving, play, settled
from tests.hal.ssp_rig import FIXED_KEY, NoteRig


def ready(**options) -> NoteRig:
    return NoteRig(**options).ready()


# --- a note's way ------------------------------------------------------------------------------------------------


def test_a_device_without_hold_gives_the_note_back_itself():
    """B12: the decision comes after the device's time; the yes must not become a credit."""
    rig = ready(holds=False)
    rig.decide_after_ms = 12_000
    play(rig, ms=40_000)
    assert (rig.model.returned, rig.model.stacked, rig.journal.credited) == ([2000], [], [])
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


def test_a_device_that_forgets_its_inhibits():
    """B17."""
    rig = ready()
    rig.model.fault("forget")
    assert not rig.model.accepting
    rig.run(2500)
    assert rig.model.accepting
    play(rig)
    assert rig.journal.credited == [2000]


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
    rig.run_until(lambda: rig.host.pending())
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
    rig.run_until(lambda: rig.host.pending())
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
# What an acceptor tells on a note's way, and of one that it gives back, comes with notes; EC here for one that is not there.
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
    rig = moving(ready())
    rig.model._events.append((0, b"\x90"))
    told = rig.model._tell
    rig.model._tell = lambda code, *rest: None if code == 0xEE else told(code, *rest)
    rig.run(SETTLED_MS)
    assert rig.host.unread_events == 1
    assert rig.journal.credited == [2000]
    settled(rig)


# --- faults ------------------------------------------------------------------------------------------------------


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
def test_stacked_before_credit(counters):
    rig = ready(counters=counters)
    rig.model.fault("swap")
    play(rig, ms=80_000)
    assert rig.journal.credited == [2000]
    settled(rig)


@BOTH
@pytest.mark.parametrize("place", ["escrow", "moving"])
def test_a_second_escrow_after_a_note_that_fell_out(place, counters):
    """The first is gone without a word; the second must not be credited for it, nor the first for the second."""
    rig = ready(counters=counters)
    rig.insert(2000)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == place and rig.host.pending())
    rig.model.fault("fall_back")
    rig.run(1800)
    rig.insert(2000)
    rig.run(100_000)
    assert rig.model.returned[0] == 2000
    assert sum(rig.journal.credited) == sum(rig.model.stacked)
    assert all(reason == "lost" for _, reason in rig.journal.disputed)
    settled(rig, disputes=len(rig.journal.disputed))


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


def test_a_full_stacker_is_not_enabled_without_end():
    rig = ready()
    sent = []
    write = rig.line.port.write
    rig.line.port.write = lambda data: (sent.append(bytes(data)[3]), write(data))
    rig.model.fault("stacker", "full")
    rig.run(10_000)
    assert 5 <= sent.count(0x0A) <= 11


# --- the line ----------------------------------------------------------------------------------------------------


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

"""Notes: accepted, credited once, returned or disputed, whatever the device, the line and the power do (CAB-NOT, CAB-PWR-02)."""

import pytest

from tests.hil.notes import BOTH, READY, accounted, fitted, inserted, lives_until, settled

INHIBITED = {"ssp": "6", "cctalk": "4"}  # of a channel, as the device says why it gave a note back

# --- what is accepted ------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("pence", [500, 1000, 2000, 5000])
def test_a_note_is_credited_once_when_it_is_stacked(story, pence, kind):
    """CAB-NOT-02, CAB-NOT-05: credit, meters of its value, ring and pulses."""
    it = fitted(story, kind)
    note = inserted(it, pence)
    lives_until(it, "moving", note)
    assert it.books()["credit"] == 0
    it.tell("console status")
    assert f"note     £{pence / 100:.2f} on its way" in "\n".join(it.world.console.text)
    it.tell(f"wait 2s\nexpect credit == {pence}\nconsole notes\nexpect console contains £{pence / 100:.2f}")
    it.tell(
        f"expect console contains 2026-03-01\nexpect meter.notes_{pence} == {pence}\nexpect meter.notes_in_stacker == 1"
    )
    it.tell("wait 15s")
    settled(it)
    assert it.balanced()["em_in"] == pence // 100 == it.world.panel.pulses["em_in"]


@BOTH
def test_several_notes_and_coins_make_one_credit(story, kind):
    it = fitted(
        story, kind, "note 500\nnote 1000\ncoin 200\nnote 2000\ncoin 10\nexpect credit == 3710\nexpect stacked == 3500"
    )
    it.tell("press cash_out\nwait until idle within 60s\nexpect paid == 3710\nconsole meters").balanced()
    assert "number_notes_1000" in "\n".join(it.world.console.text)


@BOTH
def test_a_note_beyond_the_credit_limit_comes_back(story, kind):
    """CAB-NOT-03: judged in escrow, by its value."""
    it = fitted(
        story,
        kind,
        "note 5000\n" * 9 + "note 2000\nnote 2000\nexpect credit == 49000\nnote 2000\nexpect credit == 49000",
    )
    assert it.world.note_acceptor.returned == [2000]
    assert [event["taken"] for event in it.saw("note_held")][-1] is False
    it.tell("note 1000\nexpect credit == 50000\nnote 500\nexpect credit == 50000\ncoin 10\nexpect credit == 50000")
    assert it.world.note_acceptor.returned == [2000, 500]
    assert it.balanced()["notes_returned"] == 1


@BOTH
def test_a_note_beyond_the_note_limit_comes_back(story, kind):
    it = fitted(
        story, kind, "turn technician\nconsole config note_limit £30\nunturn technician\nwait 1s\nnote 2000\nnote 2000"
    )
    it.tell("expect credit == 2000\nnote 1000\nexpect credit == 3000\nnote 500\nexpect credit == 3000\ncoin 200")
    assert it.world.note_acceptor.returned == [2000, 500]
    assert it.balanced()["credit"] == 3200


@BOTH
def test_only_configured_values_are_accepted(story, kind):
    it = fitted(
        story,
        kind,
        "turn technician\nconsole config notes 500 2000\nunturn technician\nwait 1s\nnote 1000\nnote 5000\nnote 500",
    )
    assert it.world.note_acceptor.returned == [1000, 5000]
    assert it.balanced()["credit"] == 500


@BOTH
def test_what_the_acceptor_refuses_itself_is_counted(story, kind):
    it = fitted(
        story, kind, "turn technician\nconsole config notes 500\nunturn technician\nwait 1s\nnote 1000\nwait 1s"
    )
    assert it.balanced()["notes_refused"] == 1
    it.tell('console events 3\nexpect console contains "note refused by the acceptor, code: ' + INHIBITED[kind] + '"')


@BOTH
@pytest.mark.parametrize(
    "state",
    [
        "open main", "turn technician", "fault entropy unplug\nwait 2s", "fault note_acceptor stacker full",
        "fault note_acceptor stacker removed", "coin 100\nwant free_spins\npress start\nwait until choosing",
    ],
)  # fmt: skip
def test_notes_come_back_while_a_condition_does_not_hold(story, state, kind):
    """CAB-NOT-01: idle, no door, no tilt, no service; the stacker in its place and not full."""
    it = fitted(story, kind, state + "\nwait 1s\nnote 500")
    assert it.world.note_acceptor.returned == [500]
    assert it.balanced()["notes_in"] == 0


@BOTH
def test_a_cabinet_without_note_acceptor(story, kind):
    it = fitted(
        story, kind, "turn technician\nconsole config note_acceptor none\nunturn technician\nwait 1s\nconsole status"
    )
    assert "note acceptor none" in "\n".join(it.world.console.text)
    it.tell("note 500\nexpect state == idle")
    it.world.note_acceptor.fault("silent")
    it.tell(
        "wait 3s\npower off\npower on\nwait 5s\nexpect state == idle\nexpect tilt == none\ncoin 100\nexpect credit == 100"
    )
    it.balanced()


@BOTH
def test_an_acceptor_is_fitted_in_service(story, kind):
    change = f"console config note_acceptor none\nconsole config note_acceptor {kind}\n"
    it = story("turn technician\n" + change + "unturn technician\n" + READY[kind], note=kind)
    it.tell("note 500\nexpect credit == 500").balanced()


# --- doors, tilts, the device ----------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("place", ["reading", "escrow", "moving", "past"])
@pytest.mark.parametrize("door", ["main", "note_box"])
def test_a_note_on_its_way_when_a_door_opens_is_credited_or_returned(story, place, door, kind):
    """CAB-DOR-04."""
    it = fitted(story, kind)
    lives_until(it, place, inserted(it, 1000))
    it.tell(f"open {door}\nwait 3s\nclose {door}\nwait 1s\nexpect state == idle")
    accounted(it, 1000)
    it.balanced()


@BOTH
@pytest.mark.parametrize(
    ("fault", "tilt", "code"),
    [
        ("stacker full", "note_full", "E32"), ("stacker removed", "note_stacker", "E33"), ("silent", "note_offline", "E35"),
    ],
)  # fmt: skip
def test_a_condition_of_the_device_tilts_while_it_lasts(story, fault, tilt, code, kind):
    it = fitted(story, kind, f"fault note_acceptor {fault}\nwait 4s\nexpect tilt == {tilt}\nconsole tilts")
    assert any(line.startswith(code) for line in it.world.console.text)
    it.tell("power off\npower on\nwait 6s\nexpect state == tilted")
    it.tell(
        f"expect tilt == {tilt}\nclear note_acceptor\nwait 6s\nexpect tilt == none\nnote 500\nexpect credit == 500"
    ).balanced()


@BOTH
def test_stacker_removals_are_metered_and_empty_the_count(story, kind):
    """CAB-NOT-05."""
    it = fitted(
        story,
        kind,
        "note 500\nnote 1000\nexpect meter.notes_in_stacker == 2\nfault note_acceptor stacker removed\nwait 1s",
    )
    it.tell(
        "fault note_acceptor stacker ok\nwait 2s\nexpect tilt == none\nnote 500\nexpect meter.notes_in_stacker == 1"
    )
    it.tell('console events\nexpect console contains "stacker removed, notes in it: 2"\nconsole notes')
    assert it.balanced()["stacker_removals"] == 1
    assert any(line.split() == ["stacker_removals", "1"] for line in it.world.console.text)


@BOTH
@pytest.mark.parametrize("where", ["safe", "unsafe"])
def test_a_jammed_note_is_credited_or_returned_when_somebody_has_helped(story, where, kind):
    it = fitted(story, kind, f"fault note_acceptor jam {where}")
    inserted(it, 2000)
    it.tell("wait 4s\nexpect tilt == note_jam\nexpect credit == 0\nclear note_acceptor\nwait 5s")
    assert it.world.note_acceptor.stacked == ([2000] if where == "safe" else [])
    settled(it)
    it.tell("turn attendant\nunturn attendant\nwait 1s\nexpect tilt == none")
    accounted(it, 2000)


@BOTH
def test_fraud_locks_the_acceptor_until_an_attendant_comes(story, kind):
    """CAB-NOT-06: over power loss too."""
    it = fitted(
        story, kind, "fault note_acceptor fraud\nwait 1s\nexpect tilt == note_fraud\nnote 500\nexpect credit == 0"
    )
    it.tell(
        "clear note_acceptor\npower off\npower on\nwait 3s\nexpect tilt == note_fraud\nturn attendant\nunturn attendant"
    )
    it.tell("wait 1s\nexpect tilt == none\nnote 500\nexpect credit == 500").balanced()


@pytest.mark.parametrize(
    ("kind", "fault", "told"), [("ssp", "path", "path open"), ("cctalk", "event 13", "out of service")]
)
def test_a_fault_of_the_device_is_one_that_an_attendant_clears(story, kind, fault, told):
    it = fitted(story, kind, f"fault note_acceptor {fault}\nwait 1s\nexpect tilt == note_fault\nconsole events")
    assert told in "\n".join(it.world.console.text)
    it.tell("clear note_acceptor\nwait 1s\nturn attendant\nunturn attendant\nwait 1s\nexpect tilt == none").balanced()


@BOTH
def test_a_note_that_is_pulled_back_is_fraud_and_no_credit(story, kind):
    it = fitted(story, kind)
    lives_until(it, "moving", inserted(it, 5000))
    it.tell("fault note_acceptor pull\nwait 3s\nexpect tilt == note_fraud\nexpect credit == 0")
    accounted(it, 5000)


@BOTH
def test_what_nothing_can_prove_is_disputed_and_settled_by_an_attendant(story, kind):
    """The note falls out without a word, and the counters have not moved."""
    it = fitted(story, kind)
    lives_until(it, "moving", inserted(it, 2000))
    it.tell(
        "fault note_acceptor fall_back\nwait 20s\nexpect tilt == notes_disputed\nexpect credit == 0\nconsole events"
    )
    assert "note disputed: £20.00, nothing tells what became of it" in "\n".join(it.world.console.text)
    assert accounted(it, 2000)["notes_disputed"] == 1
    it.tell(
        "power off\npower on\nwait 3s\nexpect tilt == notes_disputed\nturn attendant\nunturn attendant\nexpect tilt == none"
    )
    it.tell("wait 1s\nnote 500\nexpect credit == 500").balanced()


@BOTH
def test_an_attendant_gives_up_a_note_in_an_acceptor_that_is_gone(story, kind):
    it = fitted(story, kind, "fault note_acceptor silent moving")
    inserted(it, 1000)
    it.tell("wait 5s\nexpect tilt == note_offline\nexpect credit == 0\nturn attendant\nunturn attendant\nwait 500ms")
    it.tell("expect tilt == notes_disputed\nexpect meter.notes_disputed == 1\nclear note_acceptor\nwait 15s")
    it.tell("turn attendant\nunturn attendant\nwait 1s\nexpect tilt == none")
    assert accounted(it, 1000)["notes_in"] == 0
    it.tell("note 500\nexpect credit == 500\nexpect meter.notes_disputed == 1")

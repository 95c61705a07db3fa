"""The power fails in a note's life, with both kinds of acceptor (CAB-PWR-02): credited or returned, never both, never neither."""

import pytest

from firmware.store import keys
from firmware.store.journal import Journal
from host_tools.cabinet import games
from host_tools.hil.script import parse
from host_tools.soak import cuts_all, event_cuts
from tests.hil.conftest import Past, Story
from tests.hil.notes import BOTH, READY, accounted, fitted, inserted, lives_until

# What is told of a note: of one that is taken in, and of one that was in the path at a start. On ccTalk (bill type, code).
EVENTS = [
    *(("ssp", told) for told in ("EF", "CC", "EE", "EB", "E2", "E1")),
    *(("cctalk", told) for told in ("2 1", "2 0", "cleared in", "0 1")),
]


@BOTH
@pytest.mark.parametrize("mains", [False, True])
@pytest.mark.parametrize("after_ms", range(100, 2100, 150))
def test_power_fails_at_any_moment_of_a_notes_life(story, after_ms, mains, kind):
    it = fitted(story, kind)
    inserted(it, 2000)
    it.rig.run_for(after_ms)
    it.cut(mains=mains)
    it.tell("wait 15s\nexpect tilt == none")
    accounted(it, 2000)
    assert it.balanced()["notes_disputed"] == 0
    it.tell(READY[kind] + "note 500").balanced()


def lives_until_told(it: Story, kind: str, told: str) -> None:
    """A note of £10 lives until the acceptor tells this event of it."""
    found: list[str] = []
    if told in ("E1", "E2", "0 1", "cleared in"):
        it.world.note_acceptor.fault("reset", "escrow" if told in ("E1", "0 1") else "moving")
    event = "2 0" if told == "cleared in" else told

    def tells(what: str) -> None:
        if event in what.split() if kind == "ssp" else what.endswith(f": {event}"):
            found.append(what)

    it.world.note_acceptor.on_told = tells
    inserted(it, 1000)
    assert it.rig.run_until(lambda: bool(found), 20_000)


@pytest.mark.parametrize(("kind", "told"), EVENTS)
@pytest.mark.parametrize("heard", [False, True])
@pytest.mark.parametrize("who", ["board", "device", "mains"])
def test_power_fails_at_every_event_of_a_notes_life(story, who, heard, kind, told):
    """As the acceptor tells the event, before the board has heard it all and behind that."""
    it = fitted(story, kind)
    lives_until_told(it, kind, told)
    if heard:
        it.rig.run_for(25)
    if who == "device":
        device = it.world.note_acceptor
        device.power(False, it.rig.now_ms * 1000)
        it.rig.run_for(300)
        device.power(True, it.rig.now_ms * 1000)
    else:
        it.cut(mains=who == "mains")
    it.tell("wait 15s\nexpect tilt == none")
    accounted(it, 1000)
    assert it.balanced()["notes_disputed"] == 0


@BOTH
def test_a_pending_note_is_in_the_journal_before_it_is_ordered(story, kind):
    it = fitted(story, kind)
    note = inserted(it, 1000)
    lives_until(it, "moving", note)
    it.rig.cut_power()
    journal = Journal(Past(it.rig.session.nvram.memory))
    journal.open()
    assert journal.get(keys.NOTE_PENDING)[:4] == (1000).to_bytes(4, "little")
    it.tell("power on\nwait 15s")
    assert accounted(it, 1000)["credit"] == 1000


# --- all events of a script, in forked processes ------------------------------------------------------------------------


@pytest.mark.host_only
@pytest.mark.parametrize("name", ["note", "note_cctalk"])
def test_power_fails_at_each_answer_of_a_note(name):
    """What `cabinet soak --cuts events` does with all money scripts."""
    report = event_cuts.run(parse((cuts_all.FOLDER / f"{name}.rig").read_text()), games.packs())
    assert report.violations == []
    assert report.answers >= 2
    assert report.cuts >= 9 * report.answers
    assert report.disputed == 0


@pytest.mark.host_only
def test_a_credit_at_escrow_is_found_by_the_cuts(monkeypatch):
    """The check must be able to fail: this firmware credits a note when it is held."""
    from firmware.money.notes_in import NotesIn

    held = NotesIn._held

    def credits_at_once(self, acceptor, event, now_ms):
        self._books.transaction(now_ms).post(f"notes_{event[1]}", event[1]).post("credit", event[1]).commit()
        held(self, acceptor, event, now_ms)

    monkeypatch.setattr(NotesIn, "_held", credits_at_once)
    monkeypatch.setattr(NotesIn, "_stacked", lambda self, event, now_ms: self._ended(now_ms).commit())
    report = event_cuts.run(parse("entropy seed 6\npower on\nwait 3s\nnote 500"), games.packs(), kinds=["device"])
    assert report.violated > 0
    assert "notes [500], () are stacked" in report.violations[0]

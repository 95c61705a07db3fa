"""What the stories about notes share."""

import pytest

from tests.hil.conftest import Story

BOTH = pytest.mark.parametrize("kind", ["ssp", "cctalk"])
# The acceptor was found, has cleared its path and heard that it is wanted. On ccTalk its checksum mode is found first.
READY = {"ssp": "wait 3s\n", "cctalk": "wait 4s\n"}
QUIET_MS = 90_000


def fitted(story, kind: str, script: str = "") -> Story:
    """A cabinet with this note acceptor, ready for notes, that has lived through the script."""
    return story(READY[kind] + script, note=kind)


def inserted(it: Story, pence: int):
    """A note at the slot, of an acceptor that draws it in."""
    assert it.rig.run_until(lambda: it.world.note_acceptor.accepting, 20_000), it.books()["tilt"]
    return it.world.note_acceptor.insert(pence, it.rig.now_ms * 1000)


def lives_until(it: Story, place: str, note) -> None:
    assert it.rig.run_until(lambda: note.place == place, 10_000), note


def settled(it: Story) -> dict:
    """Nothing is on its way any more, as far as the cabinet knows."""
    assert it.rig.run_until(lambda: bool(it.books()["quiet"]), QUIET_MS), it.books()
    return it.books()


def accounted(it: Story, pence: int) -> dict:
    """The one note of the story was credited or returned: never both, never neither. A dispute record says otherwise."""
    books = settled(it)
    stacked, returned = sum(it.world.note_acceptor.stacked), sum(it.world.note_acceptor.returned)
    assert stacked + returned == pence, (stacked, returned)
    assert books["audit"] == 0
    if books["notes_disputed"]:
        assert books["notes_in"] in (0, stacked)
    else:
        assert books["notes_in"] == stacked
    return books

"""A bill validator on the ccTalk line, beside coin acceptor and hoppers: what is no matter of notes alone."""

from tests.hil.notes import READY, fitted, inserted


def test_notes_coins_and_a_payout_share_the_line(story):
    it = fitted(story, "cctalk", "note 500\ncoins 100 200 50\nnote 1000\ncoin 10\nexpect credit == 1860")
    note = inserted(it, 2000)
    it.tell("coins 100 20 10 10\nwait 3s")
    assert note.place == "stacker"
    it.tell("expect credit == 4000\npress cash_out\nwait until idle within 60s\nexpect paid == 4000").balanced()


def test_it_is_fitted_in_service_again_and_again(story):
    """More often than the line has places for drivers."""
    change = "console config note_acceptor none\nwait 500ms\nconsole config note_acceptor cctalk\nwait 500ms\n"
    it = story("turn technician\n" + change * 20 + "unturn technician\n" + READY["cctalk"], note="cctalk")
    it.tell("note 500\nexpect credit == 500\ncoin 100\nexpect credit == 600").balanced()

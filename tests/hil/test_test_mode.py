"""The test mode: a technician tries lamps, inputs, coins and hoppers, and no accounting meter moves (CAB-MTR-10, CAB-CFG-02)."""

import pytest

from firmware.money.ledger import ACCOUNTS
from firmware.money.meters import METERS
from hal.panel.wiring import LAMPS

TOUCHED = ("power_ups", "tilts", "acceptor_resets")  # by what the stories do beside the test


def accounting(books: dict) -> dict:
    return {name: books[name] for name in ACCOUNTS + METERS if name not in TOUCHED}


def said(it) -> str:
    return "\n".join(it.world.console.text)


def test_lamps_are_lit_one_by_one_and_then_as_the_state_wants_them(story):
    it = story("coin 200\nturn technician\nwait 500ms")
    it.world.console.type("test lamps")
    seen: list[str] = []
    while tuple(seen[-len(LAMPS) :]) != LAMPS:
        it.rig.run_for(20)
        lit = [name for name in LAMPS if it.world.panel.lamp(name)]
        if len(lit) == 1 and lit != seen[-1:]:
            seen += lit
        assert it.rig.now_ms < 60_000, seen
    it.tell(
        "wait 2s\nexpect lamp.tower == on\nexpect lamp.start == off\nunturn technician\nwait 500ms\nexpect lamp.start == on"
    )
    assert "lamp cash_out" in said(it)
    assert "all lamps were lit" in said(it)


def test_inputs_are_shown_as_they_change_and_do_nothing_else(story):
    it = story(
        "coin 200\nturn technician\nconsole test inputs 5\npress start\npress cash_out\nturn attendant\nunturn attendant"
    )
    for line in ("press start", "release start", "press cash_out", "turn attendant", "unturn attendant"):
        assert line in said(it)
    it.tell(
        "wait 5s\nexpect console contains ended\nexpect games == 0\nexpect paid == 0\nunturn technician\nexpect state == idle"
    )
    assert it.balanced()["credit"] == 200


def test_test_coins_are_counted_apart(story):
    it = story("coin 200\nwait 2s\nturn technician")
    before = accounting(it.books())
    it.tell("console test coins 10\ncoin 100\ncoin 50\ncoin 5\nwait 10s\ncoin 200\nexpect console contains ended")
    assert "coin of 100p, not credited" in said(it)
    books = it.balanced()
    assert books["test_coins_in"] == 150
    assert accounting(books) == before | {"coins_refused": before["coins_refused"] + 1}
    assert it.world.acceptor.returned == [5, 200]
    it.tell("unturn technician\nwait 2s\ncoin 20\nexpect credit == 220\nexpect pulses.em_in == 2").balanced()


@pytest.mark.parametrize("lead_ms", range(0, 320, 40))
@pytest.mark.parametrize("end", ["unturn technician", "open main"])
def test_a_coin_that_falls_while_the_test_ends_is_a_test_coin_or_comes_back(story, lead_ms, end):
    it = story("turn technician\nconsole test coins 30")
    it.world.acceptor.insert(100, it.rig.now_ms * 1000)
    it.rig.run_for(lead_ms)
    it.tell(end + "\nwait 3s\nexpect credit == 0")
    assert it.balanced()["test_coins_in"] + sum(it.world.acceptor.returned) == 100
    it.tell("close main\nunturn technician\nwait 1s\ncoin 50\nexpect credit == 50").balanced()


@pytest.mark.parametrize("after_ms", range(0, 500, 50))
def test_power_lost_in_a_coin_test_never_makes_a_credit_of_a_test_coin(story, after_ms):
    it = story("coin 10\nturn technician\nconsole test coins 30")
    it.world.acceptor.insert(100, it.rig.now_ms * 1000)
    it.rig.run_for(after_ms)
    it.cut().tell("unturn technician\nwait 4s\nexpect credit == 10\ncoin 20\nexpect credit == 30")
    it.balanced()


def test_a_coin_before_the_test_is_credited(story):
    """CAB-DOR-04: it was validated for a player, then the key was turned."""
    it = story("wait 1s")
    it.world.acceptor.insert(100, it.rig.now_ms * 1000)
    it.rig.run_for(160)
    it.tell("turn technician\nwait 1s\nexpect credit == 100\nexpect meter.test_coins_in == 0").balanced()


@pytest.mark.parametrize(("hopper", "pence"), [("hopper_100", 100), ("hopper_10", 10)])
def test_one_coin_of_a_hopper(story, hopper, pence):
    it = story("coin 50\nwait 2s\nturn technician")
    before = accounting(it.books())
    it.tell(f"console test hopper {hopper}\nwait 3s")
    assert f"{hopper}: one coin left" in said(it)
    books = it.balanced()
    assert (it.world.paid_pence, books[f"test_{hopper}"]) == (pence, pence)
    assert accounting(books) == before
    it.tell("unturn technician\npress cash_out\nwait until idle within 20s\nwait 2s\nexpect hopper_out == 50")
    assert it.world.panel.pulses["em_out"] == 0
    it.balanced()


@pytest.mark.parametrize(("fault", "tilt"), [("jam", "hopper_jam"), ("empty", "hopper_empty")])
def test_a_fault_that_the_test_finds_is_told_like_any_other(story, fault, tilt):
    it = story(f"coin 100\nturn technician\nfault hopper_100 {fault}\nconsole test hopper hopper_100\nwait 5s")
    it.tell(f"expect tilt == {tilt}\nexpect console contains coin\nexpect meter.test_hopper_100 == 0\nclear hopper_100")
    assert "hopper_100: no coin left" in said(it)
    it.tell("console test hopper hopper_100\nwait 3s\nunturn technician\nturn technician\nunturn technician")
    it.tell("expect tilt == none\npress cash_out\nwait until idle within 20s\nexpect hopper_out == 100")
    it.balanced()


def test_an_extra_coin_in_a_test_is_the_houses_loss_and_locks(story):
    it = story(
        "turn technician\nfault hopper_10 extra_coin\nconsole test hopper hopper_10\nwait 4s\nexpect tilt == hopper_extra"
    )
    books = it.balanced()
    assert (books["test_hopper_10"], books["overpaid"], books["hopper_10"]) == (10, 10, 10)


def test_a_hopper_that_does_not_answer_is_not_tested(story):
    it = story("turn technician\nfault hopper_10 silent\nwait 3s\nconsole test hopper hopper_10\nwait 1s")
    it.tell('expect console contains "does not answer"\nconsole test lamps\nexpect console contains lamp')


@pytest.mark.parametrize("mains", [False, True])
def test_power_lost_at_any_moment_of_a_hopper_test_leaves_no_doubt(story, mains):
    for after_ms in range(0, 1100, 90):
        it = story("coin 100\nwait 1s\nturn technician")
        it.world.console.type("test hopper hopper_100")
        it.rig.run_for(after_ms)
        it.cut(mains).tell("wait 4s\nexpect tilt == none")
        books = it.balanced()
        assert books["test_hopper_100"] == it.world.paid_pence
        assert (books["credit"], books["hopper_out"], books["payouts"]) == (100, 0, 0)
        it.tell("unturn technician\npress cash_out\nwait until idle within 20s\nexpect hopper_out == 100").balanced()


@pytest.mark.parametrize("end", ["unturn technician", "open logic"])
@pytest.mark.parametrize("after_ms", range(20, 620, 120))
def test_key_and_doors_end_a_hopper_test_in_a_defined_state(story, end, after_ms):
    it = story("coin 100\nopen main\nturn technician")
    it.world.console.type("test hopper hopper_100")
    it.rig.run_for(after_ms)
    it.tell(
        end
        + "\nwait 3s\nclose logic\nclose main\nunturn technician\nwait 1s\nexpect state == idle\nexpect tilt == none"
    )
    assert it.balanced()["test_hopper_100"] == it.world.paid_pence
    it.tell("press cash_out\nwait until idle within 20s\nexpect hopper_out == 100").balanced()


@pytest.mark.parametrize(
    ("before", "command", "answer"),
    [
        ("", "test lamps", "turn the technician key first"),
        ("turn technician", "test meter", "cannot be given without counting"),
        ("turn technician", "test entropy", "drawn for rounds only"),
        ("turn technician", "test", "say test lamps"),
        ("turn technician", "test hopper hopper_50", "say test lamps"),
        ("turn technician", "test coins 900", "1 to 120 seconds"),
    ],
)
def test_what_cannot_be_tested_is_refused_with_the_reason(story, before, command, answer):
    it = story(before + f"\nconsole {command}")
    assert answer in said(it)
    it.rig.run_for(5000)
    assert it.balanced()["test_hopper_10"] == 0


def cash_out_and_key(story, key_ms: int):
    """£4.00 is asked for; the technician key is turned so long after the button was let go."""
    it = story("coin 200\ncoin 200")
    for name, active, then_ms in (("cash_out", True, 60), ("cash_out", False, key_ms), ("technician", True, 0)):
        it.world.panel.set_input(name, active, it.rig.now_ms * 1000)
        it.rig.run_for(then_ms)
    return it


def test_a_hopper_that_pays_is_not_tested(story):
    it = cash_out_and_key(story, 60)
    it.tell("wait 60ms\nconsole test hopper hopper_10\nwait 5s")
    assert "a pay-out is under way" in said(it)
    assert it.balanced()["test_hopper_10"] == 0


@pytest.mark.parametrize("after_ms", range(0, 100, 10))
def test_a_hopper_that_may_still_pay_is_not_tested(story, after_ms):
    """The key ends a payout that has just begun; the test is asked for while the hopper is being stopped, or a moment later."""
    it = cash_out_and_key(story, 100)
    it.rig.run_for(after_ms)
    it.world.console.type("test hopper hopper_10")
    it.rig.run_for(5000)
    tested = it.balanced()["test_hopper_10"]
    refused = any(why in said(it) for why in ("turn the technician key first", "a pay-out is under way"))
    assert tested == (0 if refused else 10)
    it.tell(f"unturn technician\npress cash_out\nwait until idle within 1m\nexpect paid == {400 + tested}")


def test_nothing_can_be_played_in_a_test(story):
    it = story(
        "coin 200\nturn technician\nconsole test coins 3\npress start\npress max_bet\npress autoplay\npress cash_out"
    )
    it.tell("wait 4s\nexpect games == 0\nexpect state == service\nexpect paid == 0\nexpect credit == 200").balanced()

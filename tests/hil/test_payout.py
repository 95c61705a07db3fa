"""Every fault of a pay-out, from the first coin to the last: what left is booked, what did not is owed, somebody is called."""

import random
from dataclasses import replace

import pytest

from firmware.money.ledger import ACCOUNTS
from firmware.store import keys

ATTENDANT = "turn attendant\nunturn attendant\n"
TECHNICIAN = "turn technician\nunturn technician\n"
BUTTONS = (
    "start", "autoplay", "max_bet", "stake_up", "stake_down", "level_up", "level_down", "collect", "gamble", "left",
    "right", "info", "fortune_bet", "fortune_spins", "no_thanks", "cash_out",
)  # fmt: skip


def settled(books: dict) -> int:
    """Where three pounds that were cashed out can be."""
    return sum(books[name] for name in ("hopper_out", "credit", "payout", "handpay_due", "handpay"))


# --- a remainder is owed, shown, and reclaimed -------------------------------------------------------------------------


def short(story):
    """£2.00 cashed out of hoppers that hold one coin of a pound and four of ten pence."""
    it = story("coin 200")
    it.world.hopper_100.level, it.world.hopper_10.level = 1, 4
    it.tell("press cash_out\nwait until tilted within 20s\nexpect tilt == hopper_empty\nexpect paid == 140")
    assert it.saw("payout_done")[-1]["unpaid"] == 60
    it.tell("expect meter.handpay_due == 60\nconsole hoppers")
    assert any("£0.60 could not be paid" in line for line in it.world.console.text)
    return it


def test_what_an_empty_hopper_owes_is_paid_after_the_refill(story):
    """CAB-HOP-06: the attendant refills, clears the tilt, and cash-out pays the rest."""
    it = short(story)
    it.tell("press cash_out\nwait 1s\nexpect paid == 140")  # not before the tilt is cleared
    it.world.hopper_10.refill(100)
    it.tell(ATTENDANT + "expect state == handpay\nexpect lamp.cash_out == on")
    assert it.saw("due")[-1]["reclaimable"] == 60
    it.tell(
        "press cash_out\nwait until idle within 20s\nexpect paid == 200\nexpect meter.handpay_due == 0\nexpect handpay == 0"
    )
    it.balanced()


def test_what_an_empty_hopper_owes_can_be_paid_by_hand_instead(story):
    it = short(story)
    it.tell("power off\npower on\nexpect tilt == hopper_empty\n" + ATTENDANT + ATTENDANT)
    it.tell("expect state == idle\nexpect handpay == 60\npress cash_out\nwait 1s\nexpect paid == 140\nconsole hoppers")
    assert not any("could not be paid" in line for line in it.world.console.text)
    it.balanced()


def test_what_was_reclaimed_is_not_reclaimed_from_what_is_owed_next(story):
    """Another £2.00, owed for another reason, is the attendant's business alone."""
    it = short(story)
    it.world.hopper_10.refill(100)
    it.tell(ATTENDANT + "press cash_out\nwait until idle within 20s\nexpect paid == 200")
    owed = {keys.ACCOUNT_BASE + ACCOUNTS.index(name): 200 for name in ("handpay_due", "overpaid")}
    it.stands_at(owed).tell("expect state == handpay\nexpect lamp.cash_out == off\npress cash_out\nwait 2s")
    it.tell("expect paid == 200\n" + ATTENDANT + "expect handpay == 200\nexpect audit == ok")


def test_a_refill_that_is_too_small_leaves_the_rest_owed(story):
    it = short(story)
    it.world.hopper_10.refill(2)
    it.tell(
        ATTENDANT + "press cash_out\nwait until tilted within 20s\nexpect paid == 160\nexpect meter.handpay_due == 40"
    )
    it.world.hopper_10.refill(50)
    it.tell(ATTENDANT + "press cash_out\nwait until idle within 20s\nexpect paid == 200")
    it.balanced()


@pytest.mark.parametrize("moment_ms", range(100, 1500, 200))
def test_power_lost_while_the_rest_is_reclaimed_owes_what_was_not_paid(story, moment_ms):
    it = short(story)
    it.world.hopper_10.refill(100)
    it.tell(ATTENDANT + f"press cash_out for 60ms\nwait {moment_ms}ms")
    it.cut(mains=moment_ms % 400 == 100)
    it.rig.run_until(lambda: it.rig.state not in ("boot", "paying"), 20_000)
    assert settled(it.balanced()) == 200
    it.tell("press cash_out\nwait until idle within 20s\nexpect paid == 200")


def test_what_exceeds_the_hopper_limit_is_not_reclaimed_from_a_hopper(story):
    """CAB-HOP-04: the attendant pays it, however often cash-out is pressed."""
    it = story("\n".join(["coin 200"] * 51) + "\npress cash_out\nwait until handpay within 3m\npress cash_out\nwait 2s")
    it.tell("expect paid == 10000\nexpect meter.handpay_due == 200\nexpect lamp.cash_out == off\n" + ATTENDANT)
    assert it.balanced()["handpay"] == 200


# --- coins that nobody asked for ---------------------------------------------------------------------------------------


def locked_up(it, pence: int) -> None:
    """CAB-HOP-03, CAB-HOP-05: counted, shown, and only the technician clears it, whatever the power does."""
    books = it.balanced()
    assert books["overpaid"] == pence
    # Whether a hopper that runs by itself can prove its figures depends on the moment at which it was asked.
    assert books["tilt"][0] == "hopper_extra"
    assert set(books["tilt"]) <= {"hopper_extra", "hopper_evidence"}
    it.tell("console tilts\nexpect console contains E43\npower off\nwait 1s\npower on\nexpect tilt == hopper_extra")
    it.tell(ATTENDANT + "expect tilt == hopper_extra\ncoin 100\npress cash_out\nwait 1s")
    it.cut().tell("wait 1s\nexpect tilt == hopper_extra\nclear hopper_100\n" + TECHNICIAN + "expect tilt == none")
    it.balanced()


def test_an_extra_coin_after_a_pay_out_is_booked_and_locks(story):
    it = story(
        "coin 200\nfault hopper_100 extra_coin\npress cash_out\nwait until tilted within 20s\nexpect paid == 300"
    )
    assert it.books()["extra_coins"] == 1
    locked_up(it, 100)


def test_a_runaway_of_an_idle_hopper_is_booked_coin_by_coin_and_locks(story):
    it = story("fault hopper_100 runaway 7\nwait 4s\nexpect paid == 700\nexpect meter.extra_coins == 7")
    locked_up(it, 700)


def test_a_runaway_in_a_pay_out_is_told_from_what_was_ordered(story):
    it = story("coin 200\npress cash_out\nwait 200ms\nfault hopper_100 runaway 5\nwait 8s\nexpect paid == 700")
    locked_up(it, 500)


@pytest.mark.parametrize("coins", [1, 6])
def test_coins_that_leave_while_the_cabinet_has_no_power_are_found(story, coins):
    """The hopper's own count proves them; it is kept in the journal as far as its coins are booked."""
    it = story("coin 200\npress cash_out\nwait until idle within 20s")
    it.rig.cut_power()
    it.tell(f"fault hopper_100 runaway {coins}\nwait 3s\npower on\nwait 2s\nexpect meter.extra_coins == {coins}")
    locked_up(it, 100 * coins)


def test_coins_that_leave_before_the_first_pay_out_ever_are_found_too(story):
    it = story("wait 2s")
    it.rig.cut_power()
    it.tell("fault hopper_100 runaway 2\nwait 2s\npower on\nwait 2s")
    locked_up(it, 200)


def test_coins_that_leave_while_the_cabinet_restarts_are_booked_once(story):
    """The board dies again and again while a hopper runs away."""
    it = story("coin 100\nwait 1s\nfault hopper_100 runaway 30")
    for moment_ms in (300, 700, 900, 1300):
        it.rig.run_for(moment_ms)
        it.cut()
    it.tell("wait 6s\nexpect paid == 3000\nexpect meter.extra_coins == 30")
    assert it.balanced()["overpaid"] == 3000


def test_another_hopper_in_its_place_is_fitted_not_accused(story):
    it = story("coin 200\npress cash_out\nwait until idle within 20s\npower off")
    hopper = it.world.hopper_100
    hopper.identity = replace(hopper.identity, serial=99)
    hopper._lifetime = 40  # of another cabinet
    it.tell("power on\nwait 2s\nexpect tilt == none\nconsole events 5\nexpect console contains fitted")
    it.tell("coin 200\npress cash_out\nwait until idle within 20s").balanced()


# --- sensors, silence, doors, hands ------------------------------------------------------------------------------------


def test_a_stuck_sensor_is_a_fault_of_its_own_and_the_other_hopper_pays(story):
    it = story("coin 200\nfault hopper_100 stuck_sensor\nwait 1s\nexpect tilt == hopper_sensor\nconsole tilts")
    it.tell("expect console contains E44\npower off\npower on\nexpect tilt == hopper_sensor\nclear hopper_100\nwait 1s")
    it.tell(ATTENDANT + "expect tilt == none\npress cash_out\nwait until idle within 20s\nexpect paid == 200")
    it.balanced()


@pytest.mark.parametrize("coins", [0, 1])
def test_a_sensor_that_sticks_in_a_pay_out_leaves_the_rest_to_the_other_hopper(story, coins):
    it = story(f"coin 200\ncoin 100\npress cash_out\nwait {100 + 150 * coins}ms\nfault hopper_100 stuck_sensor")
    it.tell("wait until tilted within 30s\nexpect tilt == hopper_sensor\nexpect paid == 300\nclear hopper_100\nwait 1s")
    it.tell(ATTENDANT + "expect tilt == none\nexpect state == idle").balanced()


def test_a_hopper_that_stays_silent_in_a_pay_out_is_waited_for_over_power_cycles(story):
    """Nothing is sent again and nothing is given up: it may have paid. Another hopper in its place settles it too."""
    it = story("coin 200\ncoin 100\npress cash_out\nwait 400ms\nfault hopper_100 silent\nwait 4s")
    it.tell(
        "expect tilt == hopper_offline\nconsole status\nexpect console contains payout\npower off\npower on\nwait 4s"
    )
    it.tell("expect tilt == hopper_offline\n" + ATTENDANT + "coin 100\npress cash_out\nwait 1s\nexpect credit == 0")
    it.tell("clear hopper_100\nwait 8s")
    books = it.balanced()
    assert books["payout"] == 0
    assert settled(books) == 300
    assert books["tilt"] == []
    it.tell("press cash_out\nwait until idle within 20s\nexpect paid == 300")


@pytest.mark.parametrize("door", ["main", "cashbox", "note_box", "logic"])
def test_any_door_stops_the_hopper_at_any_moment(story, door):
    for moment_ms in range(40, 1000, 160):
        it = story("coin 200\ncoin 200\ncoin 50\npress cash_out for 40ms")
        it.tell(f"wait {moment_ms}ms\nopen {door}\nwait 500ms")
        paid = it.world.paid_pence
        it.tell("wait 4s")
        assert it.world.paid_pence == paid < 450
        it.tell(f"press cash_out\nclose {door}\nwait until idle within 10s")
        assert it.balanced()["credit"] == 450 - paid
        it.tell("press cash_out\nwait until idle within 20s\nexpect paid == 450")


@pytest.mark.parametrize("seed", range(5))
def test_a_player_who_presses_everything_all_the_time_gets_the_same_coins(story, seed):
    """CAB-HOP-02: all buttons at random for the whole pay-out, two hoppers and a jam in one of them."""
    dice = random.Random(seed)
    jam = "fault hopper_100 jam 2\n" if seed % 2 else ""
    it = story("coin 200\ncoin 200\ncoin 50\ncoin 20\n" + jam + "press cash_out for 60ms\nexpect state == paying")
    while it.rig.state == "paying":
        for button in dice.sample(BUTTONS, dice.randint(1, 6)):
            it.world.panel.press(button, it.rig.now_ms * 1000, dice.randint(20, 200))
        it.rig.run_for(dice.randrange(5, 200, 5))
    it.tell("wait 1s")
    books = it.balanced()
    assert (books["hopper_out"], books["credit"], books["games"], books["payouts"]) == (470, 0, 0, 1)
    assert (books["hopper_100"], books["tilt"]) == ((200, ["hopper_jam"]) if jam else (400, []))


def test_levels_are_told_when_they_change_over_power_loss_too(story):
    """CAB-HOP-01: the low level plate of the ten pence hopper is uncovered, later it is full."""
    it = story("wait 1s")
    it.world.hopper_10.level = 21
    it.tell(
        "coin 20\npress cash_out\nwait until idle within 20s\nwait 2s\nconsole hoppers\nexpect console contains low"
    )
    assert [event["level"] for event in it.saw("hopper_level")] == ["low"]
    it.tell("power off\npower on\nwait 2s\nconsole hoppers\nexpect console contains low")
    it.world.hopper_10.refill(800)
    it.tell("wait 2s\nconsole hoppers\nexpect console contains full\nexpect tilt == none")
    assert [event["level"] for event in it.saw("hopper_level")] == ["low", "full"]
    it.balanced()


def test_less_than_the_smallest_coin_stays_as_credit(story):
    it = story(
        "coin 20\nwant loss\npress start\nwait until idle within 60s\npress cash_out\nwait 1s\nexpect state == idle"
    )
    it.tell("expect credit == 5\nexpect paid == 0\nexpect meter.payouts == 0\nexpect lamp.cash_out == off").balanced()


# --- where accepted coins fall -----------------------------------------------------------------------------------------


def test_coins_fall_into_the_hopper_of_their_value_and_the_rest_is_the_drop(story):
    """CAB-MTR-01: the drop is what the acceptor reported to have fallen into the cashbox."""
    it = story("wait 2s\ncoin 100\ncoin 10\ncoin 200\ncoin 100\ncoin 50\nconsole meters")
    books = it.balanced()
    assert (books["to_hopper_100"], books["to_hopper_10"]) == (200, 10)
    assert (it.world.hopper_100.level, it.world.hopper_10.level, it.world.cashbox_pence) == (502, 501, 250)
    assert any(line.split() == ["drop", "GBP", "£2.50", "£2.50"] for line in it.world.console.text)


def test_a_full_hopper_sends_its_coins_to_the_cashbox(story):
    """CAB-HOP-03."""
    it = story("wait 2s\ncoin 100")
    it.world.hopper_100.level = 800
    it.tell("wait 2s\ncoin 100\ncoin 10")
    assert (it.world.hopper_100.level, it.world.cashbox_pence) == (800, 100)
    it.world.hopper_100.level = 700
    it.tell("wait 2s\ncoin 100")
    assert (it.world.hopper_100.level, it.world.cashbox_pence) == (701, 100)
    assert it.balanced()["to_hopper_100"] == 200


@pytest.mark.parametrize("fault", ["hopper_100 silent", "coin_acceptor reset"])
def test_whatever_fails_the_drop_is_what_fell_into_the_cashbox(story, fault):
    """An acceptor that was reset lets everything fall into the cashbox until it is told again."""
    it = story(f"wait 2s\ncoin 100\nfault {fault}\nwait 700ms\ncoin 100\nwait 3s\nclear hopper_100\nwait 3s\ncoin 100")
    it.tell("coin 10\ncoin 50")
    books = it.balanced()
    assert it.world.cashbox_pence == books["coins_in"] - books["to_hopper_100"] - books["to_hopper_10"]
    assert it.world.hopper_100.level + it.world.hopper_10.level == 1000 + books["to_hopper_100"] // 100 + 1

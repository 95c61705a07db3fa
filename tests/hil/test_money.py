"""Coins in, coins out: credited once, paid once, whatever happens on the line, at the doors or to the power."""

import pytest

from host_tools.cabinet import games
from host_tools.soak import kills


def test_coins_of_every_denomination_are_credited_once(story):
    it = story("coin 10\ncoin 20\ncoin 50\ncoin 100\ncoin 200\nexpect credit == 380\nexpect coins_in == 380")
    books = it.balanced()
    assert [books[f"coins_{pence}"] for pence in (10, 20, 50, 100, 200)] == [10, 20, 50, 100, 200]


def test_coins_inserted_faster_than_they_are_polled_are_all_counted(story):
    """CAB-COI-02: six coins within the time of one poll of the acceptor."""
    it = story()
    for pence in (100, 10, 20, 50, 200, 100):
        it.world.acceptor.insert(pence, it.rig.now_ms * 1000)
        it.rig.run_for(65)
    it.rig.run_for(1000)
    assert it.balanced()["credit"] == 480


def test_the_coin_counter_wraps_without_losing_or_doubling_a_coin(story):
    it = story("\n".join(["coin 10"] * 260))
    assert it.balanced()["credit"] == 2600


def test_coins_are_returned_beyond_the_credit_limit(story):
    it = story("\n".join(["coin 200"] * 255))
    assert it.balanced()["credit"] == 50000
    assert it.world.acceptor.returned == [200] * 5


def test_a_coin_of_an_unknown_kind_is_not_credited(story):
    assert story("coin 5\nexpect credit == 0").balanced()["coins_in"] == 0


@pytest.mark.parametrize(
    ("code", "tilt"), [(20, "coin_in"), (17, "coin_in"), (14, "coin_jam"), (255, "coin_jam"), (6, "coins_lost")]
)
def test_acceptor_errors_tilt_until_the_attendant_comes(story, code, tilt):
    it = story(f"fault coin_acceptor error {code}\nwait 1s\nexpect tilt == {tilt}\ncoin 100\nexpect credit == 0")
    it.tell("power off\npower on\nwait 1s")
    it.tell(f"expect tilt == {tilt}\nturn attendant\nunturn attendant\nexpect tilt == none\ncoin 100")
    assert it.balanced()["credit"] == 100


@pytest.mark.parametrize("code", [1, 2, 3, 8, 24])
def test_rejected_coins_are_logged_and_stop_nothing(story, code):
    it = story(f"fault coin_acceptor error {code}\nwait 1s\nexpect tilt == none\nconsole events 1")
    assert "coin acceptor error" in "\n".join(it.world.console.text)


def test_a_swallowed_coin_is_disputed_not_credited(story):
    """CAB-COI-05."""
    it = story("fault coin_acceptor swallow 1 16\ncoin 100\nwait 1s\nexpect credit == 0\nexpect tilt == coins_lost")
    assert it.books()["coins_disputed"] == 1


def test_an_acceptor_that_resets_itself_is_set_up_again_and_loses_nothing_known(story):
    it = story("coin 50\nfault coin_acceptor reset\nwait 2s\ncoin 20\nexpect credit == 70\nexpect tilt == none")
    it.balanced()


def test_a_coin_lost_in_the_acceptors_own_reset_is_disputed(story):
    """The event buffer is gone with the device's power; its lifetime counter tells that a coin was swallowed."""
    it = story("coin 50")
    it.world.acceptor.insert(100, it.rig.now_ms * 1000)
    while len(it.world.acceptor.swallowed) < 2:
        it.rig.step()
    it.tell("fault coin_acceptor reset\nwait 3s\nexpect tilt == coins_lost\nexpect credit == 50")
    assert it.books()["coins_disputed"] == 1


@pytest.mark.parametrize("fault", ["lost_answers 3", "bad_checksum 3", "busy", "nak", "slow 30"])
def test_trouble_of_the_acceptor_never_changes_what_is_credited(story, fault):
    it = story(f"coin 100\nfault coin_acceptor {fault}\ncoin 50\nwait 2s\nclear coin_acceptor\nwait 3s\ncoin 20")
    it.rig.run_for(1000)
    it.balanced()


@pytest.mark.parametrize(
    "fault", ["drop 5 rx", "corrupt 5 rx", "corrupt 3 tx", "duplicate 4", "delay 20", "fragment 3 8", "echo corrupt 2"]
)
def test_trouble_on_the_wire_never_changes_what_is_credited_or_paid(story, fault):
    it = story(f"coin 100\ncoin 200\nfault cctalk {fault}\ncoin 50\nwait 2s")
    it.tell(f"fault cctalk {fault}\npress cash_out\nwait 3s\nclear cctalk\nwait 6s")
    if it.rig.state == "tilted":
        it.tell("turn attendant\nunturn attendant\nwait 1s")
    it.balanced()


def test_an_unplugged_acceptor_tilts_and_recovers(story):
    """CAB-COI-04."""
    it = story("coin 10\nfault coin_acceptor silent\nwait 3s\nexpect tilt == acceptor_offline\nexpect lamp.tower == on")
    it.tell("clear coin_acceptor\nwait 3s\nexpect tilt == none\ncoin 10\nexpect credit == 20").balanced()


# --- cash-out --------------------------------------------------------------------------------------------------------


def test_cash_out_pays_pounds_then_tens_and_keeps_the_rest(story):
    it = story("coin 200\ncoin 100\ncoin 50\ncoin 20\nwant loss\npress start\nwait until idle\nexpect credit == 355")
    it.tell("press cash_out\nwait until idle\nexpect credit == 5\nexpect hopper_out == 350\nexpect paid == 350")
    assert (it.world.hopper_100.paid_coins, it.world.hopper_10.paid_coins) == (3, 5)
    it.balanced()


def test_what_exceeds_the_largest_hopper_pay_is_paid_by_hand(story):
    """CAB-HOP-04."""
    it = story("\n".join(["coin 200"] * 60))
    it.world.hopper_100.refill(500)
    it.tell(
        "press cash_out\nwait until handpay within 3m\nexpect hopper_out == 10000\nexpect meter.handpay_due == 2000"
    )
    it.tell("coin 100\npress start\nexpect games == 0")
    it.tell("turn attendant\nunturn attendant\nexpect handpay == 2000\nexpect state == idle\nexpect credit == 0")
    it.balanced()


def test_when_both_hoppers_fail_the_rest_is_owed_by_hand(story):
    it = story("coin 200\nfault hopper_100 empty 1\nfault hopper_10 empty 4\npress cash_out\nwait 20s")
    it.tell("expect meter.handpay_due == 60\nexpect tilt == hopper_empty")
    it.tell("clear hopper_100\nclear hopper_10\nturn attendant\nunturn attendant\nexpect state == handpay")
    it.tell("turn attendant\nunturn attendant\nexpect handpay == 60\nexpect state == idle")
    it.balanced()


def test_a_silent_hopper_is_waited_for_and_its_coins_are_booked_when_it_answers(story):
    it = story(
        "coin 200\ncoin 200\npress cash_out\nwait 300ms\nfault hopper_100 silent\nwait 4s\nclear hopper_100\nwait 8s"
    )
    it.tell("turn attendant\nunturn attendant\nwait 1s")
    assert it.balanced()["hopper_out"] == 400


def test_opening_the_door_stops_the_hopper_and_the_rest_goes_back_to_the_credit(story):
    """CAB-DOR-01."""
    it = story("\n".join(["coin 200"] * 5) + "\npress cash_out\nwait 500ms\nopen main\nwait 3s")
    paid = it.world.paid_pence
    assert 0 < paid < 1000
    it.tell("expect tilt == door_main\nclose main\nwait 1s\nexpect state == idle")
    assert it.balanced()["credit"] == 1000 - paid


def test_pressing_everything_during_a_pay_out_changes_nothing(story):
    """CAB-HOP-02."""
    it = story("coin 200\ncoin 200\npress cash_out\nwait 200ms")
    for button in ("cash_out", "start", "collect", "max_bet", "autoplay", "left", "info"):
        it.tell(f"press {button} for 60ms")
    it.tell("wait until idle\nexpect paid == 400\nexpect games == 0").balanced()


def test_mains_failing_at_any_moment_of_a_pay_out_owes_exactly_what_was_not_paid(story):
    """CAB-PWR-03: the whole cabinet loses power, hoppers included."""
    for moment in range(0, 3000, 130):
        it = story("coin 200\ncoin 200\ncoin 50")
        it.tell(f"press cash_out for 60ms\nwait {moment}ms\npower off\nwait 1s\npower on\nwait until idle within 20s")
        books = it.balanced()
        assert books["credit"] + it.world.paid_pence == 450
        it.tell("press cash_out\nwait until idle within 20s\nexpect credit == 0\nexpect paid == 450")


# --- electromechanical meters ----------------------------------------------------------------------------------------


def test_electromechanical_meters_count_pounds_in_and_out(story):
    """CAB-MTR-07: the queue is drained at the meter's own pace, nothing is lost."""
    it = story("\n".join(["coin 200"] * 5 + ["coin 50"] * 3) + "\npress cash_out\nwait until idle\nwait 4s")
    assert it.world.panel.pulses == {"em_in": 11, "em_out": 11}
    assert not it.world.panel.bad_pulses


def test_the_pulse_queue_survives_power_loss_with_at_most_one_pulse_in_doubt(story):
    it = story()
    for _ in range(12):
        it.world.acceptor.insert(200, it.rig.now_ms * 1000)
        it.rig.run_for(120)
    it.rig.run_for(380)  # the last coin is asked for; without mains the acceptor would forget it
    assert it.world.panel.pulses["em_in"] < it.world.swallowed_pence // 100 == 24
    it.tell("power off\nwait 1s\npower on\nwait 5s")
    assert it.world.panel.pulses["em_in"] in (it.balanced()["coins_in"] // 100, it.balanced()["coins_in"] // 100 - 1)


@pytest.mark.parametrize("seed", range(4))
def test_kills_at_random_moments_lose_and_make_no_money(seed, request):
    """CAB-PWR-01, CAB-PWR-03: the board is killed again and again in the middle of coins, plays, picks and pay-outs."""
    board = request.config.getoption("--board")
    report = kills.run(games.packs(), 40 if board == "host" else 15, seed, board)
    assert report.violations == []
    assert report.coins_in > 0

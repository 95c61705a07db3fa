"""What random soaks have found, each told as the story of its kind; books and world are compared by `expect settled`."""

import pytest

REST = "wait 2s\nexpect settled == ok"


@pytest.mark.parametrize("game", ["dog_diner", "piggy_bank"])
@pytest.mark.parametrize("second", ["cash_out", "collect", "no_thanks"])
def test_a_second_button_in_the_turn_of_a_spin_chance_answers_the_offer(story, game, second):
    """The credit that was offered cannot be paid out behind the offer, and then be wagered."""
    it = story(
        f"expect books == ok\ncoin 10\npress stake_up\npress stake_up\nhold start\nhold {second}\nwait 60ms", game
    )
    it.tell(f"release start\nrelease {second}\nwait 600ms\nwait until idle\nexpect credit == 10\nexpect paid == 0")
    it.tell(f"press start\nwait until offering\npress no_thanks\nwait until idle\n{REST}")


@pytest.mark.parametrize("hopper", ["hopper_100", "hopper_10"])
@pytest.mark.parametrize("slow_ms", [120, 250, 397])
def test_answers_that_come_too_late_are_not_taken_for_others(story, hopper, slow_ms):
    """Flags of a slow hopper were once taken for its count of coins, and hundreds of extra coins booked."""
    it = story(
        f"expect books == ok\ncoin 200\ncoin 200\ncoin 50\nfault {hopper} slow {slow_ms}\npress cash_out\nwait 3s"
    )
    it.tell(f"clear {hopper}\nwait 10s\nturn attendant\nunturn attendant\nwait until idle")
    it.tell(f"expect meter.extra_coins == 0\nexpect audit == ok\n{REST}")


def test_late_answers_of_the_acceptor_change_no_coin(story):
    """Ids are asked one after another when the acceptor comes back: one too late would be the next one's."""
    it = story(
        "expect books == ok\nfault coin_acceptor slow 300\nfault coin_acceptor reset\nwait 20s\nclear coin_acceptor"
    )
    it.tell(f"wait until idle within 1m\ncoin 10\ncoin 20\ncoin 50\ncoin 100\ncoin 200\nexpect credit == 380\n{REST}")


def test_coins_that_overflowed_the_acceptor_are_disputed_once(story):
    """Some in the overflow, the others when the acceptor loses its power: no coin twice, although both count them."""
    coins = "\n".join(f"coin {pence} for 90ms" for pence in (10, 20, 50, 100, 10, 20, 50, 100))
    it = story(f"expect books == ok\ncoin 10\nfault cctalk mute\n{coins}\nwait 200ms\nclear cctalk\nwait 3s")
    fell = it.world.swallowed_pence
    books = it.books()
    assert books["coins_disputed"] > 0
    assert fell - books["coins_in"] > 0
    lost = books["coins_disputed"]
    it.tell(
        "turn technician\nunturn technician\nwait until idle\ncoin 20\npower off\nwait 1s\npower on\nwait until idle\nwait 2s"
    )
    assert it.books()["coins_disputed"] == lost
    it.tell("expect settled == ok")


def test_refusals_that_overflowed_the_acceptor_are_no_coins(story):
    """Coins that follow each other too closely come back; their events push out one another and nothing is disputed."""
    coins = "\n".join("coin 10 for 20ms" for _ in range(12))
    it = story(f"expect books == ok\ncoin 10\nfault cctalk mute\n{coins}\nwait 100ms\nclear cctalk\nwait 3s")
    missing = it.world.swallowed_pence - it.books()["coins_in"]
    assert it.books()["coins_disputed"] * 10 == missing
    it.tell("turn technician\nunturn technician\nwait until idle")


@pytest.mark.parametrize("silent_ms", [1100, 1500, 2100, 3000])
def test_a_hopper_that_falls_silent_at_the_end_of_a_pay_out_comes_back(story, silent_ms):
    it = story("expect books == ok\ncoin 200\npress cash_out\nwait 600ms\nfault hopper_100 silent")
    it.tell(f"wait {silent_ms}ms\nclear hopper_100\nwait 6s\nexpect tilt != hopper_offline")


def test_coins_that_leave_while_an_order_is_given_up_are_booked(story):
    """The hopper does not tell its count before the order, so the order is given up; the count known before still holds."""
    it = story("expect books == ok\ncoin 200\nfault hopper_100 lost_answers 12\npress cash_out\nwait 370ms")
    it.tell("fault hopper_100 runaway 2\nclear hopper_100\nwait 12s\nturn technician\nunturn technician\nwait 2s")
    it.tell("turn attendant\nunturn attendant\nwait until idle\nwait 2s\nexpect settled == ok")


@pytest.mark.parametrize("second", [500, 1000])
@pytest.mark.parametrize("link", ["fault note_acceptor lost_answers 40", "fault note mute"])
def test_a_note_that_goes_back_is_not_the_one_that_went_in_without_a_word(story, second, link):
    """The first note's credit was never told and the link breaks; the second comes while it is broken, and goes back."""
    it = story(f"expect books == ok\nwait 3s\nfault note_acceptor lose 2\nnote 2000\nclear note_acceptor\n{link}")
    it.tell(f"note {second} for 3s\nclear note_acceptor\nclear note\nwait 20s\nwait until idle")
    it.tell(f"expect stacked == 2000\nexpect credit == 2000\nexpect meter.notes_disputed == 0\nwait 15s\n{REST}")


@pytest.mark.parametrize("after_ms", range(0, 240, 15))
@pytest.mark.parametrize("fault", ["", "press cash_out for 20ms\n"])
def test_a_pulse_under_way_when_the_board_loses_its_power_does_not_unplug_the_meter(story, after_ms, fault):
    """The I/O board goes on with the pulse, and refuses the next one, of a cabinet that is back at once, until it is over."""
    it = story(
        f"expect books == ok\nwait 3s\ncoins 200 200 200\n{fault}wait {after_ms}ms\npower cut\npower on\nwait 5s"
    )
    it.tell(f"expect tilt == none\nwait until idle\nwait 5s\n{REST}")
    assert it.world.panel.refused_kicks == 0


def test_a_hopper_that_pays_its_last_coin_is_empty_without_a_fault(story):
    """What the large hopper cannot pay the small one pays, until it has no more; the rest is an attendant's."""
    it = story("expect books == ok\nwait 3s\n" + "coin 200\n" * 2)
    it.world.hopper_10.level = 12
    it.tell("fault hopper_100 silent\npress cash_out\nwait 2s\nclear hopper_100\nwait until tilted\nexpect books == ok")
    it.tell("expect tilt == hopper_empty\nexpect paid == 120\nrefill hopper_10\nturn attendant\nunturn attendant")
    it.tell(f"wait until handpay\nturn attendant\nunturn attendant\nwait until idle\nexpect handpay == 280\n{REST}")


@pytest.mark.parametrize("silent_ms", range(300, 800, 100))
def test_a_hopper_that_comes_back_after_its_order_was_given_up_counts_its_coins(story, silent_ms):
    """It was asked to get ready and is found to be gone; the other hopper paid. Ready and never sent, it would look at nothing
    any more."""
    it = story(f"expect books == ok\nwait 3s\ncoins 100 20\nfault hopper_100 silent\nwait {silent_ms}ms")
    it.tell("press cash_out\nwait 5s")
    it.tell(
        "clear hopper_100\nwait until idle within 10s\nexpect paid == 120\nwait 2s\nfault hopper_100 runaway 2\nwait 3s"
    )
    it.tell(
        f"expect tilt == hopper_extra\nexpect paid == 320\nturn technician\nunturn technician\nwait until idle\n{REST}"
    )


def test_a_coin_that_was_disputed_without_a_count_is_not_disputed_again(story):
    """Its event was pushed out while nobody could read, and the answer with the count was lost, too. The count tells of that coin
    when the acceptor is reset, and somebody has looked at it already."""
    it = story(
        "expect books == ok\nwait 3s\ncoin 100\nwait 1s\nfault coin_acceptor nak\ncoins 50 10 10 50 10 50\nwait 100ms"
    )
    acceptor = it.world.acceptor
    count = acceptor._commands.pop(225)
    it.tell("clear coin_acceptor\nwait 2s\nexpect tilt == coins_lost\nexpect meter.coins_disputed == 1")
    acceptor._commands[225] = count
    it.tell("turn attendant\nunturn attendant\nwait 1s\nexpect tilt == none\nfault coin_acceptor reset\nwait 3s")
    it.tell(f"expect tilt == none\nexpect meter.coins_disputed == 1\n{REST}")


@pytest.mark.parametrize("address", [0x20, 0x21])
def test_a_board_that_has_forgotten_everything_moves_meters_and_lights_lamps(story, address):
    """What configures a meter's coil was lost on a noisy line, or the board was reset: nothing tells the cabinet of it."""
    it = story("expect books == ok\ncoin 100\nwait 2s")
    panel = it.world.panel
    lit = [name for name in panel.lamps if panel.lamp(name)]
    assert lit
    panel.boards[address].stop(panel.now_us)
    it.tell(f"wait 1100ms\ncoin 100\nwait 2s\nexpect tilt == none\nexpect pulses.em_in == 2\n{REST}")
    assert [name for name in panel.lamps if panel.lamp(name)] == lit

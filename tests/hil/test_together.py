"""CAB-PWR-06: what happens when two things happen in one reading of the panel. The table is in firmware/README.md."""

import pytest

DOORS = ("main", "cashbox", "note_box", "logic")


def together(it, *names: str, coin: int = 0) -> None:
    """All at once: buttons go down, doors open, keys turn, and a coin falls in; 100 ms later buttons are let go."""
    now_us = it.rig.now_ms * 1000
    if coin:
        it.world.acceptor.insert(coin, now_us)
        it.rig.run_for(150)  # it falls: now it is being counted
        now_us = it.rig.now_ms * 1000
    for name in names:
        it.world.panel.set_input(name, True, now_us)
    it.rig.run_for(100)
    for name in names:
        if name not in DOORS and name not in ("attendant", "technician"):
            it.world.panel.set_input(name, False, it.rig.now_ms * 1000)
    it.rig.run_for(500)


@pytest.mark.parametrize("other", ["cash_out", "collect", "autoplay", "max_bet", "stake_up", "info"])
def test_of_two_buttons_the_first_of_the_panel_acts_and_the_other_finds_its_state(story, other):
    it = story("coin 200\nwant loss")
    together(it, other, "start")
    it.tell("wait until idle within 1m\nexpect games == 1\nexpect wagered == 15\nexpect hopper_out == 0")
    it.balanced()


def test_left_and_right_move_there_and_back(story):
    it = story("coin 200\nwant free_spins\npress start\nwait until choosing")
    together(it, "right", "left")
    moved = [event["option"] for event in it.saw("highlight")]
    assert len(moved) == 2
    assert moved[-1] == 0


@pytest.mark.parametrize("door", DOORS)
def test_a_door_and_a_button_the_door_wins(story, door):
    it = story("coin 200")
    together(it, "start", door)
    it.tell(f"expect tilt == door_{door}\nexpect games == 0\nexpect credit == 200\nclose {door}\nwait until idle")
    together(it, "cash_out", door)
    it.tell(f"expect paid == 0\nexpect credit == 200\nclose {door}\nwait until idle").balanced()


@pytest.mark.parametrize("button", ["start", "cash_out", "max_bet", "autoplay"])
def test_the_technician_key_and_a_button_the_key_wins(story, button):
    it = story("coin 200")
    together(it, button, "technician")
    it.tell("expect state == service\nexpect games == 0\nexpect paid == 0\nunturn technician\nwait until idle")
    it.tell("expect credit == 200").balanced()


def test_the_attendant_key_acts_first_and_the_button_then(story):
    it = story(
        "coin 200\nfault hopper_100 empty 0\nfault hopper_10 empty 0\npress cash_out\nwait until tilted within 1m"
    )
    it.tell("turn attendant\nunturn attendant\nwait until handpay\nclear hopper_100\nclear hopper_10")
    together(it, "start", "attendant")
    it.tell("expect handpay == 200\nexpect games == 0\nexpect state == idle").balanced()


def test_a_door_and_a_key_both_count(story):
    it = story()
    together(it, "technician", "logic")
    it.tell("expect tilt == door_logic\nconsole config win_limit £50\nwait 200ms\nexpect console contains £50.00")
    it.tell("close logic\nwait 100ms\nexpect state == service")


def test_both_keys_both_act(story):
    it = story("fault coin_acceptor error 14\nwait 1s\nexpect tilt == coin_jam\nclear coin_acceptor")
    together(it, "technician", "attendant")
    it.tell("expect tilt == none\nexpect state == service")


def test_doors_that_open_at_once_are_counted_each(story):
    it = story()
    together(it, *DOORS)
    books = it.books()
    assert [books[f"door_{door}"] for door in DOORS] == [1, 1, 1, 1]
    assert [event["door"] for event in it.saw("door")] == list(DOORS)


def test_a_coin_and_a_button_the_play_costs_what_was_there_and_the_coin_is_credited(story):
    it = story("coin 20\nwant loss")
    together(it, "start", coin=50)
    it.tell("wait until idle within 1m\nexpect games == 1\nexpect credit == 55").balanced()


def test_a_coin_and_cash_out_the_coin_stays_as_credit(story):
    it = story("coin 100")
    together(it, "cash_out", coin=50)
    it.tell("wait until idle within 1m")
    assert it.balanced()["credit"] + it.world.paid_pence == 150


@pytest.mark.parametrize("event", ["main", "technician"])
def test_a_coin_that_is_being_counted_when_a_door_opens_or_a_key_turns_is_credited(story, event):
    """CAB-DOR-04: and the next one is returned."""
    it = story()
    together(it, event, coin=100)
    it.tell("expect credit == 100\ncoin 50\nexpect credit == 100")
    assert it.world.acceptor.returned == [50]
    it.balanced()

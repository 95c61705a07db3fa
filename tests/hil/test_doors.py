"""Doors, and hands that do several things at once: nothing is lost, and what was under way comes back."""

import itertools

import pytest

DOORS = ("main", "cashbox", "note_box", "logic")


@pytest.mark.parametrize("door", DOORS)
def test_a_door_sounds_and_blinks_for_as_long_as_it_is_open_and_at_least_a_moment(story, door):
    """CAB-DOR-01: at least 1.5 s, also of a door that is closed at once. Sound is the watcher's, light is the tower lamp."""
    it = story(f"wait 1s\nopen {door}\nclose {door}")
    assert it.saw("sound")[-1]["sound"] == "door_alarm"
    assert it.saw("sound")[-1]["ms"] >= 1500
    assert blinks(it, 1300) >= 2
    it.rig.run_for(2000)
    it.tell(f"expect lamp.tower == off\nexpect state == idle\nopen {door}\nwait 10s")
    assert blinks(it, 5000) >= 8
    it.tell(f"close {door}\nwait 3s\nexpect lamp.tower == off")


def blinks(it, for_ms: int) -> int:
    """How often the tower lamp changes."""
    seen = []
    for _ in range(for_ms // 10):
        it.rig.run_for(10)
        seen.append(it.world.panel.lamp("tower"))
    return sum(before != after for before, after in itertools.pairwise(seen))


@pytest.mark.parametrize("door", DOORS)
def test_each_door_opened_while_off_has_its_event_its_meter_and_its_message(story, door):
    """CAB-DOR-02, CAB-DOR-03: the switch still shows it at power-up."""
    it = story(f"coin 100\npower off\nopen {door}\nwait 1s\npower on\nwait 1s\nexpect tilt == door_{door}")
    it.tell(f"expect meter.door_{door} == 1\nconsole events 8\nexpect console contains found\nconsole tilts")
    it.tell(f"expect console contains door\ncoin 100\npress start\npress cash_out\nexpect games == 0\nclose {door}")
    it.tell("expect state == idle\nexpect tilt == none\nexpect credit == 100").balanced()


def test_a_door_opened_and_closed_while_off_leaves_no_trace_without_a_battery(story):
    """What the panel cannot see: stated in firmware/README.md."""
    it = story("power off\nopen main\nwait 1s\nclose main\npower on\nwait 1s\nexpect tilt == none")
    it.tell("expect meter.door_main == 0")


def test_a_door_closed_while_off_counts_again_when_it_is_opened_next(story):
    it = story("open main\nexpect meter.door_main == 1\npower off\nclose main\npower on\nwait 1s\nexpect tilt == none")
    it.tell("expect state == idle\nopen main\nexpect meter.door_main == 2\nexpect tilt == door_main")


def test_a_door_that_moves_while_the_panel_is_unplugged_is_seen_when_it_is_back(story):
    it = story("wait 1s\nfault panel offline\nwait 2s\nopen cashbox\nwait 1s\nclear panel\nwait 2s")
    it.tell("expect tilt == door_cashbox\nexpect meter.door_cashbox == 1\nfault panel offline\nwait 2s\nclose cashbox")
    it.tell("wait 1s\nclear panel\nwait 2s\nexpect tilt == none\nopen cashbox\nexpect meter.door_cashbox == 2")


def test_all_doors_at_once_each_count_and_the_last_one_to_close_gives_the_cabinet_back(story):
    it = story("coin 100\nwait 1s")
    for door in DOORS:
        it.world.panel.set_input(door, True, it.rig.now_ms * 1000)
    it.rig.run_for(100)
    books = it.books()
    assert books["tilt"] == [f"door_{door}" for door in DOORS]
    assert [books[f"door_{door}"] for door in DOORS] == [1, 1, 1, 1]
    for door in DOORS[:-1]:
        it.tell(f"close {door}\nexpect state == tilted\npress start")
    it.tell("close logic\nexpect state == idle\nexpect games == 0\nexpect credit == 100").balanced()


@pytest.mark.parametrize(
    ("before", "state"),
    [
        ("want free_spins\npress start\nwait until choosing within 2m", "choosing"),
        ("fault hopper_100 empty\nfault hopper_10 empty\npress cash_out\nwait until tilted within 20s\n"
         "turn attendant\nunturn attendant", "handpay"),
        ("turn technician", "service"),
    ],
)  # fmt: skip
def test_the_state_before_the_door_comes_back_when_it_is_closed(story, before, state):
    it = story(f"coin 200\n{before}\nexpect state == {state}")
    due = it.books()["handpay_due"]
    it.tell(
        f"open main\nexpect state == tilted\npress cash_out\npress start\nwait 2s\nclose main\nexpect state == {state}"
    )
    assert it.balanced()["handpay_due"] == due


@pytest.mark.parametrize("lead_ms", range(0, 240, 30))
def test_door_coin_and_button_at_once_have_a_defined_result(story, lead_ms):
    """CAB-PWR-06, CAB-DOR-04: the coin is credited or comes back, the button does nothing or one play."""
    it = story("coin 100\nwait 1s")
    panel, now_us = it.world.panel, it.rig.now_ms * 1000
    it.world.acceptor.insert(200, now_us)
    it.rig.run_for(lead_ms)
    for button in ("start", "cash_out", "max_bet"):
        panel.press(button, it.rig.now_ms * 1000, 100)
    panel.set_input("main", True, it.rig.now_ms * 1000)
    it.tell("wait 2s\nexpect state == tilted\nclose main\nwait until idle within 2m\nwait 1s")
    books = it.balanced()
    assert books["games"] <= 1
    assert books["coins_in"] + sum(it.world.acceptor.returned) == 300
    assert books["credit"] + books["hopper_out"] + books["wagered"] - books["won"] == books["coins_in"]


@pytest.mark.parametrize(
    ("buttons", "games"), [(("start", "cash_out"), 1), (("cash_out", "max_bet"), 1), (("left", "info", "collect"), 0)]
)
def test_buttons_pressed_at_once_are_taken_in_the_order_of_the_wiring(story, buttons, games):
    it = story("coin 200\ncoin 200\nwant loss")
    for button in buttons:
        it.world.panel.press(button, it.rig.now_ms * 1000, 100)
    it.tell("wait 500ms\nwait until idle within 2m\nwait 500ms")
    books = it.balanced()
    assert books["games"] == games
    assert books["credit"] + books["hopper_out"] + books["wagered"] - books["won"] == 400


def test_key_and_door_and_coin_at_once(story):
    it = story("coin 50\nwait 1s")
    it.world.acceptor.insert(100, it.rig.now_ms * 1000)
    it.rig.run_for(120)
    for name in ("technician", "attendant", "note_box"):
        it.world.panel.set_input(name, True, it.rig.now_ms * 1000)
    it.tell(
        "wait 2s\nexpect state == tilted\nclose note_box\nexpect state == service\nunturn technician\nunturn attendant"
    )
    it.tell("expect state == idle\nexpect credit == 150").balanced()

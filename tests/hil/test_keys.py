"""Keys that are found turned: one turn, one act, and a power cut makes no second one of it (CAB-PWR-05)."""

import pytest


@pytest.mark.parametrize(("key", "way"), [("attendant", "off"), ("technician", "off"), ("attendant", "cut")])
def test_a_key_that_is_found_turned_clears_no_tilt(story, key, way):
    it = story("fault coin_acceptor error 20\nwait 1s\nexpect tilt == coin_in")
    if way == "off":
        it.tell(f"power off\nturn {key}\npower on\nwait 1s")
    else:
        it.tell(f"power cut after 30 writes\nturn {key}\npower on\nwait 1s")
    it.tell(f"expect tilt == coin_in\nunturn {key}\nexpect tilt == coin_in")
    it.tell(f"turn {key}\nunturn {key}\nexpect tilt == none\nexpect state == idle").balanced()


def test_a_key_that_is_found_turned_pays_nothing_by_hand(story):
    """The turn that cleared the tilt is interrupted; what is due after it has not been seen by anybody."""
    it = story("coin 200\nfault hopper_100 empty\nfault hopper_10 empty\npress cash_out\nwait until tilted within 1m")
    it.tell("clear hopper_100\nclear hopper_10\nturn attendant\nwait 1s\nexpect state == handpay")
    it.cut().tell("wait 1s\nexpect state == handpay\nexpect handpay == 0\nunturn attendant\nexpect handpay == 0")
    it.tell("turn attendant\nunturn attendant\nexpect handpay == 200\nexpect state == idle").balanced()


def test_a_technicians_key_that_is_found_turned_keeps_play_away(story):
    it = story("coin 50\npower off\nturn technician\npower on\nwait 1s\nexpect state == service\npress start\nwait 1s")
    it.tell("expect games == 0\nunturn technician\nexpect state == idle\nexpect credit == 50").balanced()

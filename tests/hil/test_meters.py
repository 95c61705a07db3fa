"""Meters: every kind rolls over without a side effect, periods, limits of one play, readable whatever has happened."""

import pytest

from firmware.money.ledger import ACCOUNTS, METER_MODULUS
from firmware.money.meters import METERS, OCCURRENCE_MODULUS, TALLIES
from firmware.store import keys

BRINK = METER_MODULUS - 10  # the next ten pence roll a meter over


def account(name: str) -> int:
    return keys.ACCOUNT_BASE + ACCOUNTS.index(name)


def meter(name: str) -> int:
    return keys.METER_BASE + METERS.index(name)


def at_the_brink(name: str, **others: int) -> dict[int, int]:
    """`name` and its counterweight, so that the audit identity holds at the start."""
    owed = sum(others.values())
    counterweight = "notes_5000" if name == "overpaid" else "overpaid"
    source = name.startswith("coins_") or name in ("won", "refunded", "overpaid")
    balance = (owed - BRINK if source else owed + BRINK) % METER_MODULUS
    return {account(name): BRINK, account(counterweight): balance} | {
        account(key): value for key, value in others.items()
    }


ACTS = {
    "coins_10": ("coin 10", 10),
    "coins_20": ("coin 20", 20),
    "coins_50": ("coin 50", 50),
    "coins_100": ("coin 100", 100),
    "coins_200": ("coin 200", 200),
    "wagered": ("coin 200\nwant loss\npress start\nwait until idle within 60s", 15),
    "hopper_100": ("coin 100\npress cash_out\nwait until idle within 20s", 100),
    "hopper_10": ("coin 20\npress cash_out\nwait until idle within 20s", 20),
    "overpaid": ("fault hopper_10 runaway 3\nwait 3s", 30),
}


@pytest.mark.parametrize("name", ACTS)
def test_a_value_meter_rolls_over_to_zero_without_a_side_effect(story, name):
    """CAB-MTR-03: 12 digits of pence; the audit before each play and pay-out compares modulo the range."""
    act, grown = ACTS[name]
    it = story().stands_at(at_the_brink(name))
    assert it.books()[name] == BRINK
    it.tell(act + "\nexpect audit == ok")
    books = it.books()
    assert books[name] == grown - 10
    assert "audit" not in books["tilt"]
    it.tell("power off\npower on\nexpect audit == ok")
    assert it.books()[name] == grown - 10


def test_the_meter_of_wins_rolls_over_in_a_round(story):
    it = story().stands_at(at_the_brink("won"))
    it.tell("coin 200\nwant win >= 1x\npress start\nwait until idle within 2m\nexpect audit == ok\nexpect tilt == none")
    award = it.saw("round_end")[-1]["award"]
    assert (it.books()["won"], it.books()["credit"]) == ((BRINK + award) % METER_MODULUS, 185 + award)


@pytest.mark.parametrize(("paid", "owed"), [("handpay", "handpay_due"), ("large_win", "large_win_due")])
def test_the_meters_of_what_is_paid_by_hand_roll_over(story, paid, owed):
    it = story().stands_at(at_the_brink(paid, **{owed: 500}))
    it.tell(
        f"expect state == handpay\nturn attendant\nunturn attendant\nexpect meter.{paid} == 490\nexpect state == idle"
    )
    it.tell(f"expect audit == ok\nexpect meter.{owed} == 0\nconsole meters\nexpect console contains {paid}")


def test_occurrence_meters_roll_over_at_eight_digits(story):
    """Every one of them stands at its last figure; what happens once more counts from 0."""
    it = story().stands_at({meter(name): OCCURRENCE_MODULUS - 1 for name in METERS})
    before = it.books()
    assert (before["games"], before["door_main"], before["power_ups"]) == (OCCURRENCE_MODULUS - 1,) * 2 + (0,)
    it.tell("coin 200\nwant loss\npress start\nwait until idle within 60s\nopen main\nclose main\npress cash_out")
    it.tell("wait until idle within 20s\nwait 3s\nopen logic\nclose logic\nfault coin_acceptor error 1\nwait 1s")
    books = it.books()
    for name in ("games", "door_main", "door_logic", "coins_refused", "payouts"):
        assert books[name] == 0, name
    assert books["em_in"] == 1
    assert books["audit"] == 0


@pytest.mark.parametrize("name", ["test_coins_in", "test_hopper_100"])
def test_tallies_roll_over_too(story, name):
    it = story().stands_at({keys.TALLY_BASE + TALLIES.index(name): BRINK})
    act = "console test coins 2\ncoin 100" if name == "test_coins_in" else "console test hopper hopper_100"
    it.tell(f"turn technician\n{act}\nwait 5s")
    assert it.books()[name] == 90


def test_number_of_coins_follows_from_the_value_over_the_roll_over(story):
    it = story().stands_at(at_the_brink("coins_10"))
    it.tell("console meters\nexpect console contains number_coins_10")
    assert row(it, "number_coins_10") == ["coins", str(METER_MODULUS // 10 - 1), str(METER_MODULUS // 10 - 1)]
    it.tell("coin 10\nconsole meters")
    assert row(it, "number_coins_10")[1] == "0"


def row(it, name: str) -> list[str]:
    """Unit, lifetime and period as the console printed them."""
    return next(line.split()[1:] for line in it.world.console.text if line.split()[0] == name)


# --- periods ---------------------------------------------------------------------------------------------------------


def test_a_period_counts_from_where_a_technician_began_it(story):
    it = story("coin 200\nconsole meters")
    assert row(it, "coins_in") == ["GBP", "£2.00", "£2.00"]
    it.tell(
        "console period start\nexpect console contains error\nturn technician\nconsole period start\nunturn technician"
    )
    it.tell("console events 3\nexpect console contains period\ncoin 50\nconsole meters")
    assert row(it, "coins_in") == ["GBP", "£2.50", "£0.50"]
    assert row(it, "number_coins_50") == ["coins", "1", "1"]
    assert row(it, "credit") == ["GBP", "£2.50", "-"]
    before = int(row(it, "power_ups")[1])
    assert row(it, "power_ups")[2] == "0"
    it.tell('power off\npower on\nconsole meters\nexpect console contains "period 1: began 2026-03-01 12:"')
    assert row(it, "coins_in") == ["GBP", "£2.50", "£0.50"]
    assert row(it, "power_ups") == ["times", f"{before + 1}", "1"]
    it.balanced()


def test_a_period_value_is_right_over_a_roll_over_of_the_lifetime_meter(story):
    it = story().stands_at(at_the_brink("coins_100") | {meter("payouts"): OCCURRENCE_MODULUS - 1})
    it.tell("turn technician\nconsole period start\nunturn technician\ncoin 100\ncoin 100")
    it.tell("press cash_out\nwait until idle within 20s\nconsole meters")
    assert row(it, "coins_100") == ["GBP", "£1.90", "£2.00"]
    assert row(it, "payouts") == ["times", "0", "1"]


def test_turnover_wins_and_drop_are_sums_of_accounts(story):
    it = story(
        "coin 200\nwant win >= 1x\npress start\nwait until idle within 2m\npress cash_out\nwait until idle within 60s"
    )
    it.tell("console meters")
    books = it.balanced()
    pounds = {name: f"£{pence // 100}.{pence % 100:02d}" for name, pence in books.items() if isinstance(pence, int)}
    assert row(it, "turnover")[1] == "£0.15"
    assert row(it, "wins")[1] == pounds["won"]
    assert row(it, "coins_out")[1] == row(it, "money_out")[1] == pounds["hopper_out"]
    assert row(it, "drop")[1] == "£2.00"
    it.tell('console meters\nexpect console contains "audit balances: sources"')


STATES = {
    "tilted": "open main",
    "service": "turn technician",
    "handpay": "fault hopper_100 empty\nfault hopper_10 empty\npress cash_out\nwait until tilted within 20s\n"
    "turn attendant\nunturn attendant",
    "playing": "console set quick_spin off\nwant free_spins\npress start",
    "paying": "press cash_out",
}


@pytest.mark.parametrize("state", STATES)
def test_meters_can_be_read_in_every_state_and_change_nothing(story, state):
    """CAB-MTR-09."""
    it = story("coin 200\ncoin 200\n" + STATES[state])
    it.tell(f'expect state == {state}\nconsole meters\nwait 300ms\nexpect console contains "audit balances"')
    assert row(it, "coins_in")[1] == "£4.00"
    it.tell(f"expect state == {state}")


# --- limits of one play ----------------------------------------------------------------------------------------------


def test_more_coins_than_one_play_can_take_are_a_fault_for_the_technician(story):
    """CAB-MTR-06: £1,000 since the last play; the coins themselves stay credited."""
    it = story().stands_at({keys.COINS_SINCE_PLAY: 99_800})
    it.tell("coin 100\nexpect tilt == none\ncoin 100\nexpect tilt == excessive\nexpect credit == 200\nconsole tilts")
    it.tell(
        "expect console contains E82\npower off\npower on\nexpect tilt == excessive\nturn attendant\nunturn attendant"
    )
    it.tell("expect tilt == excessive\nturn technician\nunturn technician\nexpect tilt == none\ncoin 100")
    assert it.balanced()["credit"] == 300


def test_a_play_begins_a_new_allowance(story):
    it = story().stands_at({keys.COINS_SINCE_PLAY: 99_700})
    it.tell("coin 100\nwant loss\npress start\nwait until idle within 60s\ncoin 200\ncoin 200\nexpect tilt == none")
    assert it.balanced()["credit"] == 485


@pytest.mark.host_only
def test_an_award_beyond_the_win_cap_is_kept_for_the_attendant_and_locks(story):
    """The core cannot make one while it is sound, so the pack is told to promise less than the core pays."""
    it = story("coin 200\nwant win >= 2x\nwait 100ms")
    it.rig.session.cabinet.packs["piggy_riches"].win_cap_pence = 20
    it.tell("press start\nwait until tilted within 2m\nexpect tilt == excessive")
    award = it.saw("round_end")[-1]["award"]
    assert it.balanced()["large_win_due"] == award > 20
    it.tell("turn technician\nunturn technician\nexpect state == handpay\nturn attendant\nunturn attendant")
    assert it.balanced()["large_win"] == award


def test_a_large_win_is_paid_by_hand_as_a_whole(story):
    """Not only what exceeds the limit: the credit is what it was after the bet."""
    it = story("turn technician\nwait until service\nconsole config win_limit £10\nunturn technician\nwait until idle")
    it.tell("console game piggy_riches\ncoin 200\nconsole set gamble off\nwant win >= 67x")
    it.tell("press start\nwait until handpay within 2m\nexpect credit == 185")
    award = it.saw("round_end")[-1]["award"]
    books = it.balanced()
    assert (books["large_win_due"], books["handpay_due"], books["won"], books["large_wins"]) == (award, 0, award, 1)
    it.tell("coin 100\npress start\npress cash_out\nexpect games == 1\nexpect credit == 185\npower off\npower on")
    it.tell("expect state == handpay\nturn attendant\nunturn attendant\nexpect state == idle")
    assert it.balanced()["large_win"] == award


# --- electromechanical meters ----------------------------------------------------------------------------------------


def test_an_unplugged_meter_is_noticed_and_loses_no_pulse(story):
    """CAB-MTR-07: the sense in series with the coil stays open, so the pulse moved nothing and stays in the queue."""
    it = story("fault panel meter_unplugged em_in\ncoin 200\nwait 2s\nexpect tilt == em_meter\nexpect em_in == 0")
    assert it.world.panel.lost_pulses == {"em_in": 1, "em_out": 0}
    it.tell(
        "console tilts\nexpect console contains E81\npower off\nwait 1s\npower on\nwait 1s\nexpect tilt == em_meter"
    )
    it.tell(
        "turn attendant\nunturn attendant\nexpect tilt == em_meter\nclear panel\nturn technician\nunturn technician"
    )
    it.tell("wait 2s\nexpect tilt == none\nexpect pulses.em_in == 2\nexpect em_in == 2").balanced()


def test_a_meter_that_is_still_unplugged_stops_the_machine_again(story):
    it = story("fault panel meter_unplugged em_in\ncoin 200\nwait 1s\nturn technician\nunturn technician\nwait 1s")
    it.tell("expect tilt == em_meter\nexpect em_in == 0\nclear panel\nturn technician\nunturn technician\nwait 2s")
    it.tell("expect pulses.em_in == 2\nexpect tilt == none")


@pytest.mark.parametrize("back_ms", [45, 300])
def test_a_plug_pulled_in_a_pulse_leaves_that_one_in_doubt_at_most(story, back_ms):
    for after_ms in range(180, 300, 5):  # from the coin's insertion: before its pulse, in it and behind it
        it = story("wait 1s")
        it.world.acceptor.insert(100, it.rig.now_ms * 1000)
        it.rig.run_for(after_ms)
        it.tell(
            f"fault panel meter_unplugged em_in\nwait {back_ms}ms\nclear panel\nwait 1s\n"
            "turn technician\nunturn technician\nwait 2s"
        )
        doubts, books = _doubts(it), it.balanced()
        assert books["em_in"] == 1
        assert 1 - doubts <= it.world.panel.pulses["em_in"] <= 1


def test_a_broken_sense_puts_a_meter_ahead_by_one_pulse_at_most(story):
    it = story("fault panel sense_broken em_in\ncoin 200\nwait 3s\nexpect tilt == em_meter")
    it.tell("expect pulses.em_in == 1\nexpect em_in == 0\nclear panel\nturn technician\nunturn technician\nwait 3s")
    it.tell("expect em_in == 2\nexpect pulses.em_in == 3")


def test_the_meter_of_coins_out_is_watched_as_well(story):
    it = story("fault panel meter_unplugged em_out\ncoin 200\npress cash_out\nwait until tilted within 20s\nwait 1s")
    it.tell("expect paid == 200\nclear panel\nturn technician\nunturn technician\nwait 2s\nexpect pulses.em_out == 2")
    it.balanced()


def test_power_lost_in_a_pulse_leaves_that_one_in_doubt_and_never_repeats_it(story):
    it = story()
    for after_ms in range(200, 620, 25):  # from the coin's insertion; its pulse begins when the acceptor has told of it
        it.world.acceptor.insert(100, it.rig.now_ms * 1000)
        it.rig.run_for(after_ms)
        it.cut().tell("wait 1s")
    doubts = _doubts(it)
    books = it.balanced()
    assert books["em_in"] * 100 == books["coins_in"]
    assert doubts > 0
    assert 0 <= books["em_in"] - it.world.panel.pulses["em_in"] <= doubts


def test_pulses_that_a_silent_panel_may_not_have_heard_are_in_doubt_and_never_repeated(story):
    """Whenever the cable is pulled: before, in and after a pulse, and in the same moment as the kick."""
    it = story()
    for after_ms in range(200, 420, 10):
        it.world.acceptor.insert(200, it.rig.now_ms * 1000)
        it.rig.run_for(after_ms)
        it.tell("fault panel mute\nwait 1s\nclear panel\nwait until idle within 10s\nwait 1s")
    doubts = _doubts(it)
    books = it.balanced()
    assert books["em_in"] * 100 == books["coins_in"]
    assert (
        0 < books["em_in"] - it.world.panel.pulses["em_in"] <= doubts <= 22
    )  # one each time: a panel that is silent gets no more


def test_a_sound_panel_leaves_no_pulse_in_doubt(story):
    it = story("coin 200\nwait 1s\nnote 500\nwait 5s\nexpect credit == 700\npress cash_out\nwait until idle within 1m")
    assert (_doubts(it), it.world.panel.pulses["em_in"]) == (0, 7)
    it.balanced()


def _doubts(it) -> int:
    """Pulses that the log of events calls doubtful."""
    it.tell("console events 128\nwait 1s")
    return sum("in doubt" in line for line in it.world.console.text)

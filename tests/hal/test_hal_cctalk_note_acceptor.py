"""The ccTalk note acceptor against the model: its start-up, its line and its neighbours on it.

What it shares with every other one is in test_hal_notes.py; its escrow and its events have files of their own.
"""

import pytest

from host_tools.hil.models.bill_acceptor import IDENTITY
from tests.hal.bench import cctalk16
from tests.hal.bill_rig import BillRig
from tests.hal.note_steps import BLIND_MS, BOTH, play, settled

SERIAL = IDENTITY.serial


def ready(**options) -> BillRig:
    return BillRig(**options).ready()


# --- identification ----------------------------------------------------------------------------------------------


def test_start_up_byte_by_byte():
    """In CRC mode, after the simple checksum found nobody; frames made independently of the driver."""
    rig = BillRig()
    heard = []
    write = rig.line.port.write
    rig.line.port.write = lambda data: (heard.append(bytes(data)), write(data))
    rig.ready()
    asked = [
        (254, b""), (242, b""), (228, b"\0"), (245, b""), (156, b"GB"), *[(157, bytes([kind])) for kind in range(1, 17)],
        (225, b""), (194, b""), (159, b""), (230, b""), (159, b""), (232, b""), (228, b"\0"),
        (153, b"\3"), (152, b""), (231, b"\x0f\0"), (159, b""), (230, b""), (228, b"\1"),
    ]  # fmt: skip
    crc = heard.index(cctalk16(40, 254))
    assert heard[crc : crc + len(asked)] == [cctalk16(40, header, data) for header, data in asked]


@pytest.mark.parametrize("crc", [True, False])
def test_either_checksum_mode(crc):
    """B16."""
    rig = ready(crc=crc)
    assert rig.host.crc is crc
    play(rig)
    assert rig.journal.credited == [2000]


@pytest.mark.parametrize(
    ("scale", "bill_id", "pence"),
    [((100, 2), "GB0020A", 2000), ((1, 0), "GB0020A", 2000), ((1000, 2), "GB0002B", 2000)],
)
def test_scaling(scale, bill_id, pence):
    rig = ready(bills={1: (bill_id, pence)}, scale=scale)
    assert rig.host.values == (pence,)
    play(rig)
    assert rig.journal.credited == [2000]


def test_another_currency_and_odd_ids_are_worth_nothing():
    rig = BillRig(bills={1: ("EU0020A", 2000), 2: ("GB00x0A", 1000), 3: ("GB0010A", 1000)}, scale=(1, 3))
    rig.run(8000)
    assert rig.host.online
    assert rig.host.values == (0, 0, 1)
    assert not rig.model.accepting


def test_only_notes_of_the_cabinet_are_let_in():
    bills = {1: ("GB0005A", 500), 2: ("GB0007A", 700), 3: ("EU0020A", 2000)}
    rig = ready(bills=bills)
    assert rig.host.values == (500, 700)
    assert rig.host.accepting == 0b001
    rig.model._mask = 0xFFFF  # the device does not care
    play(rig, 700, 6000)
    play(rig, 2000, 6000)
    assert (rig.model.returned, rig.journal.credited) == ([700, 2000], [])


def test_a_device_that_is_no_bill_validator_is_left_alone():
    rig = BillRig(identity=type(IDENTITY)("A", "Coin Acceptor", "C", "1", "0", 5))
    rig.run(10_000)
    assert not rig.host.online
    assert rig.host.category == "Coin Acceptor"
    assert (rig.told, rig.model._mask, rig.model._master) == ([], 0, 0)


def test_a_device_that_is_silent_where_it_has_no_bill_type():
    rig = BillRig()
    known = rig.model._commands[157][1]
    rig.model._commands[157] = (1, lambda data, now_us: known(data, now_us) if data[0] <= 4 else None)
    rig.ready()
    assert rig.host.values == (500, 1000, 2000, 5000)
    play(rig)
    assert rig.journal.credited == [2000]


def test_a_device_without_escrow_gets_no_notes():
    rig = BillRig()
    rig.model._commands[153] = (1, lambda data, now_us: (0, b""))
    rig.run(8000)
    assert ("fault", "out_of_service") in rig.told
    assert not rig.model.accepting


# --- inhibits and operating mode ---------------------------------------------------------------------------------


def test_a_mode_forgotten_right_after_it_was_set_is_set_again():
    rig = BillRig()
    modify, forgotten = rig.model._commands[153], []

    def once(data, now_us):
        answer = modify[1](data, now_us)
        if not forgotten:
            forgotten.append(rig.model.fault("forget"))
        return answer

    rig.model._commands[153] = (1, once)
    rig.run(8000)
    assert forgotten
    assert rig.model.accepting
    assert ("fault", "out_of_service") not in rig.told


def test_the_mask_is_set_while_nothing_is_accepted():
    """It is the mark of the device's life."""
    rig = BillRig()
    rig.wanted = False
    rig.host.accept(False)
    rig.run(5000)
    assert rig.host.online
    assert not rig.model.accepting
    assert rig.model._mask == 15


def test_a_device_that_does_not_keep_its_mask_gets_no_notes():
    """It acknowledges and forgets: told once, no reset is made of it, and the line is not flooded."""
    rig = BillRig()
    keeps = rig.model._commands[231]
    rig.model._commands[231] = (2, lambda data, now_us: (0, b""))
    rig.run(5000)
    sent = rig.listen()
    rig.run(30_000)
    assert rig.told == [("online", SERIAL), ("device_reset",), ("fault", "out_of_service")]
    assert 4 <= [header for header, _ in sent].count(231) <= 8
    assert not rig.model.accepting
    rig.model._commands[231] = keeps
    rig.run(7000)
    play(rig)
    assert rig.journal.credited == [2000]


def test_a_device_that_forgets_its_inhibits():
    """B17: without a reset; the events go on as before."""
    rig = ready()
    play(rig, 500, 5000)
    rig.model.fault("forget")
    assert not rig.model.accepting
    rig.run(7000)
    assert rig.model.accepting
    assert rig.model._mode == 3
    assert rig.host.resets == 1
    play(rig)
    assert rig.journal.credited == [500, 2000]
    settled(rig)


# --- the line ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["busy", "nak"])
def test_a_device_that_refuses_everything(fault):
    rig = ready()
    rig.insert(2000)
    rig.run_until(lambda: rig.host.pending())
    rig.model.fault(fault)
    rig.run(5000)
    rig.model.clear()
    rig.run(BLIND_MS)
    assert rig.journal.credited == rig.model.stacked
    settled(rig)


@pytest.mark.parametrize("ms", [50, 90, 150, 300, 950, 2600])
@BOTH
def test_slow_answers(ms, counters):
    """Answers come after the bus has given up: none is taken for another question's."""
    rig = ready(counters=counters)
    rig.insert(2000)
    rig.run(900)
    rig.model.fault("slow", ms)
    rig.run(60_000)
    rig.model.clear()
    rig.run(BLIND_MS)
    assert sum(rig.journal.credited) == sum(rig.model.stacked)
    settled(rig)


# --- neighbours on the line --------------------------------------------------------------------------------------


def test_coins_notes_and_a_payout_on_one_line_in_two_checksum_modes():
    rig = BillRig(others=True).ready()
    rig.run(2000)
    assert (rig.host.crc, rig.coins.crc, rig.hopper.crc) == (True, False, False)
    rig.hopper_model.refill(50)
    rig.hopper.prepare(7)
    for number in range(30):
        rig.coin_model.insert(100, rig.now_ms * 1000)
        if number % 5 == 0:
            rig.insert(2000)
        if number == 3:
            assert rig.hopper.dispense()
        rig.run(700)
    rig.run(10_000)
    assert sum(event[2] for event in rig.coins_told if event[0] == "coin") == sum(rig.coin_model.swallowed) == 3000
    assert rig.journal.credited == rig.model.stacked
    assert len(rig.model.stacked) == 6
    assert [event[1:3] for event in rig.hopper_told if event[0] == "done"] == [(7, 0)]
    assert rig.hopper_model.paid_coins == 7
    settled(rig)


@pytest.mark.parametrize("fault", [("silent", "now"), ("slow", 400), ("busy",), ("lost_answers", 50)])
def test_a_validator_in_trouble_leaves_the_others_alone(fault):
    rig = BillRig(others=True).ready()
    rig.run(2000)
    rig.model.fault(*fault)
    for _ in range(10):
        rig.coin_model.insert(50, rig.now_ms * 1000)
        rig.run(1500)
    rig.run(3000)
    assert rig.coin_model.swallowed == [50] * 10
    assert sum(event[2] for event in rig.coins_told if event[0] == "coin") == 500
    assert ("offline",) not in rig.coins_told
    assert ("offline",) not in rig.hopper_told

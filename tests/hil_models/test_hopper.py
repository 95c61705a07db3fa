"""The hopper: coins out of the door against what it says about them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host_tools.hil.models.hopper import Hopper

from .conftest import CctalkBench


def ready(**options: Any) -> tuple[CctalkBench, Hopper]:
    """An enabled hopper at address 3."""
    model = Hopper("hopper_100", address=3, coin_id="GB100A", pence=100, **options)
    bench = CctalkBench(model)
    assert bench.ask(3, 164, b"\xa5") == (0, b"")
    return bench, model


def dispense(bench: CctalkBench, model: Hopper, coins: int) -> tuple[int, bytes] | None:
    key = model.identity.serial.to_bytes(3, "little") if model.security == "serial" else bytes(8)
    return bench.ask(3, 167, key + bytes([coins]))


def status(bench: CctalkBench) -> list[int]:
    answer = bench.ask(3, 166)
    assert answer is not None
    return list(answer[1])


def flags(bench: CctalkBench) -> list[int]:
    answer = bench.ask(3, 163)
    assert answer is not None
    return list(answer[1])


def test_it_pays_coin_by_coin() -> None:
    bench, model = ready(coin_ms=150)
    assert status(bench) == [0, 0, 0, 0]
    assert dispense(bench, model, 5) == (0, b"\x01")
    assert status(bench) == [1, 5, 0, 0]
    bench.run(300)
    between = status(bench)
    assert between[1] + between[2] == 5
    assert 0 < between[2] < 5
    bench.run(700)
    assert status(bench) == [1, 0, 5, 0]
    assert (model.paid_coins, model.level) == (5, 495)
    gaps = {later - earlier for earlier, later in zip(model.paid_at_us, list(model.paid_at_us)[1:], strict=False)}
    assert gaps == {150_000}
    assert bench.ask(3, 168) == (0, b"\x05\x00\x00")
    assert bench.ask(3, 171) == (0, b"GB100A")


@pytest.mark.parametrize(("vendor", "answer", "after_refusal"), [("flow", b"\x01", 2), ("alberici", b"", 1)])
def test_vendors_count_differently(vendor: str, answer: bytes, after_refusal: int) -> None:
    bench, model = ready(vendor=vendor)
    assert dispense(bench, model, 1) == (0, answer)
    assert dispense(bench, model, 1) == (5, b""), "still paying"
    bench.run(400)
    assert status(bench) == [after_refusal, 0, 1, 0]
    assert model.paid_coins == 1


def test_who_may_dispense() -> None:
    bench, model = ready(vendor="alberici")
    serial = model.identity.serial.to_bytes(3, "little")
    assert bench.ask(3, 167, bytes(3) + b"\x01") == (5, b"")
    assert bench.ask(3, 167, bytes(8) + b"\x01") is None, "the other security's layout is no command here"
    assert bench.ask(3, 167, serial + b"\x00") == (5, b"")
    bench.ask(3, 164, b"\x01")
    assert bench.ask(3, 167, serial + b"\x01") == (5, b"")
    assert flags(bench)[0] & 0x80
    bench.ask(3, 164, b"\xa5")
    assert not flags(bench)[0] & 0x80
    assert bench.ask(3, 167, serial + b"\x01") == (0, b"")
    open_bench, open_model = ready(security="none")
    assert dispense(open_bench, open_model, 1) == (0, b"\x01")
    with pytest.raises(ValueError, match="vendor is flow or alberici"):
        Hopper("x", address=3, coin_id="GB100A", pence=100, vendor="acme")


@pytest.mark.parametrize("power", [True, False])
def test_an_interrupted_payout_is_remembered(power: bool) -> None:
    bench, model = ready()
    dispense(bench, model, 10)
    while model.paid_coins < 7:
        bench.run(1)
    if power:
        model.power(False, bench.now_us)
        bench.run(500)
        assert model.paid_coins == 7, "the motor stood still at once"
        model.power(True, bench.now_us)
        bench.run(650)
    else:
        bench.ask(3, 1, ms=200)
    assert status(bench) == [0, 0, model.paid_coins, 10 - model.paid_coins]
    registers = flags(bench)
    assert bool(registers[0] & 0x40) is power, "power-up"
    assert bool(registers[2] & 0x01) is power, "power down during payout"
    assert registers[0] & 0x80, "disabled after any start"
    bench.run(1000)
    assert status(bench)[2] == model.paid_coins


@settings(max_examples=60, deadline=None)
@given(coins=st.integers(1, 20), cut_us=st.integers(0, 3_500_000), by_device=st.booleans())
def test_a_power_cut_falls_before_or_after_a_coin(coins: int, cut_us: int, by_device: bool) -> None:
    bench, model = ready()
    dispense(bench, model, coins)
    bench.now_us += cut_us
    bench.line.advance(bench.now_us)
    if by_device:
        model.fault("reset")
    else:
        model.power(False, bench.now_us)
        model.power(True, bench.now_us)
    bench.run(650)
    counter, remaining, paid, unpaid = status(bench)
    assert (counter, remaining) == (0, 0)
    assert paid == model.paid_coins
    assert paid + unpaid == coins
    assert bench.ask(3, 168) == (0, model.paid_coins.to_bytes(3, "little"))
    assert model.level == 500 - model.paid_coins


@pytest.mark.parametrize(
    ("kind", "register", "mask"), [("empty", 0, 0x02), ("jam", 0, 0x05), ("stuck_sensor", 0, 0x20)]
)
def test_a_payout_that_cannot_go_on(kind: str, register: int, mask: int) -> None:
    bench, model = ready()
    if kind == "stuck_sensor":
        dispense(bench, model, 5)
        while model.paid_coins < 2:
            bench.run(1)
        model.fault(kind)
    else:
        model.fault(kind, 2)
        dispense(bench, model, 5)
    bench.run(3000)
    assert status(bench) == [1, 0, 2, 3]
    assert flags(bench)[register] & mask == mask
    assert model.paid_coins == 2
    if kind == "stuck_sensor":
        assert flags(bench)[0] & 0x08, "blocked at idle"
        assert dispense(bench, model, 3) == (5, b"")
    model.clear()
    assert dispense(bench, model, 3) is not None
    bench.run(700)
    assert status(bench)[1:] == [0, 3, 0]
    assert model.paid_coins == 5


def test_a_hopper_runs_empty_and_is_refilled() -> None:
    bench, model = ready(level=2)
    assert bench.ask(3, 236) == (0, b"\x03")
    assert bench.ask(3, 217) == (0, b"\x31")
    dispense(bench, model, 3)
    bench.run(3000)
    assert status(bench) == [1, 0, 2, 1]
    model.refill(900)
    assert bench.ask(3, 236) == (0, b"\x00")
    assert bench.ask(3, 217) == (0, b"\x32")
    model.level = 400
    assert bench.ask(3, 236) == (0, b"\x01")


def test_emergency_stop_and_disable() -> None:
    for header, data in ((172, b""), (164, b"\x00")):
        bench, model = ready()
        dispense(bench, model, 9)
        bench.run(500)
        answer = bench.ask(3, header, data)
        paid = model.paid_coins
        assert answer == (0, bytes([9 - paid]) if header == 172 else b"")
        bench.run(1000)
        assert model.paid_coins == paid
        assert status(bench)[1:] == [0, paid, 9 - paid]


def test_coins_that_nobody_asked_for() -> None:
    bench, model = ready()
    model.fault("extra_coin")
    dispense(bench, model, 2)
    bench.run(1000)
    assert status(bench) == [1, 0, 3, 0]
    assert model.paid_coins == 3
    model.fault("runaway", 4)
    bench.run(300)
    bench.ask(3, 172)
    bench.run(1000)
    assert model.paid_coins == 7, "an emergency stop does not reach a welded relay"
    assert bench.ask(3, 168) == (0, b"\x07\x00\x00")
    model.fault("runaway", 100)
    bench.run(200)
    model.power(False, bench.now_us)
    paid = model.paid_coins
    bench.run(1000)
    assert model.paid_coins == paid < 20, "no power, no coins"


def test_a_hopper_that_restarts_by_itself() -> None:
    """B06: what was paid before stays known."""
    bench, model = ready()
    model.fault("reset", 2)
    dispense(bench, model, 3)
    bench.run(1500)
    assert status(bench) == [0, 0, 2, 1]
    assert model.paid_coins == 2


@pytest.mark.parametrize(("kind", "taken"), [("lost_answers", True), ("bad_checksum", True), ("silent", False)])
def test_a_dispense_whose_answer_is_lost(kind: str, taken: bool) -> None:
    """B09: the truth is in header 166, whatever became of the answer."""
    bench, model = ready()
    model.fault(kind, *([] if kind == "silent" else [1]))
    request = model.identity.serial.to_bytes(3, "little") + b"\x02"
    body = bytes([3, 4, 1, 167]) + request
    bench.exchange(body + bytes([-sum(body) & 0xFF]))
    model.clear()
    bench.run(600)
    assert status(bench) == ([1, 0, 2, 0] if taken else [0, 0, 0, 0])
    assert model.paid_coins == 2 * taken


def test_a_nak_fault_counts_as_the_vendor_counts() -> None:
    for vendor, counter in (("flow", 1), ("alberici", 0)):
        bench, model = ready(vendor=vendor)
        model.fault("nak")
        assert dispense(bench, model, 1) == (5, b"")
        model.clear()
        assert status(bench)[0] == counter


def test_two_hoppers_share_a_bus() -> None:
    one = Hopper("hopper_100", address=3, coin_id="GB100A", pence=100)
    two = Hopper("hopper_10", address=4, coin_id="GB010A", pence=10)
    bench = CctalkBench(one, two)
    assert one.identity.serial != two.identity.serial
    bench.ask(3, 164, b"\xa5")
    assert bench.ask(3, 167, one.identity.serial.to_bytes(3, "little") + b"\x02") == (0, b"\x01")
    assert bench.ask(4, 171) == (0, b"GB010A")
    bench.run(600)
    assert (one.paid_coins, two.paid_coins) == (2, 0)
    heard = bench.exchange(bytes.fromhex("00 00 01 FD 02"))
    assert heard == b"\x03\x04", "address poll: one byte each, at address x 4 ms"

"""The published frames against the models: each alone, before any driver of ours meets them."""

import pytest

from host_tools.hil.line import Line
from host_tools.hil.models.cctalk_device import crc16
from host_tools.hil.models.coin_acceptor import CoinAcceptor
from host_tools.hil.models.hopper import Hopper
from host_tools.hil.models.opp_panel import OppPanel, crc8

from .conftest import Bench, CctalkBench

Vectors = dict[str, list[tuple[bytes, bytes]]]


def hopper(serial: int = 0x05464E, security: str = "serial") -> Hopper:
    return Hopper("hopper", address=3, coin_id="GB100A", pence=100, serial=serial, security=security)


def panel(wings: tuple[int, int, int, int], inputs: dict[str, tuple[int, int]] | None = None) -> OppPanel:
    return OppPanel(boards={0x20: wings}, inputs=inputs or {}, lamps={}, solenoids={})


def play(bench: Bench, pairs: list[tuple[bytes, bytes]], ms: int = 60) -> None:
    assert pairs
    for request, answer in pairs:
        assert bench.exchange(request, ms) == answer, request.hex(" ")


def test_crc_check_values() -> None:
    assert crc16(b"123456789") == 0x31C3
    assert crc8(bytes.fromhex("20 00 00 00 00 00")) == 0x94


def test_acceptor_frames(vectors: Vectors) -> None:
    play(CctalkBench(CoinAcceptor()), vectors["acceptor"])


def test_acceptor_inhibit_readback(vectors: Vectors) -> None:
    bench = CctalkBench(CoinAcceptor())
    assert bench.ask(2, 231, b"\x3f\x00") == (0, b"")
    play(bench, vectors["acceptor inhibits"])


def test_hopper_frames(vectors: Vectors) -> None:
    play(CctalkBench(hopper()), vectors["hopper flow"])
    play(CctalkBench(hopper(0x0AD7DF)), vectors["hopper serial"])
    play(CctalkBench(hopper(security="none")), vectors["hopper none"])


def test_hopper_status_after_power_loss(vectors: Vectors) -> None:
    model = hopper()
    bench = CctalkBench(model)
    bench.ask(3, 164, b"\xa5")
    bench.ask(3, 167, model.identity.serial.to_bytes(3, "little") + bytes([10]))
    while model.paid_coins < 7:
        bench.run(1)
    model.power(False, bench.now_us)
    model.power(True, bench.now_us)
    bench.run(700)
    play(bench, vectors["hopper after power loss"])


def test_crc_mode(vectors: Vectors) -> None:
    play(CctalkBench(CoinAcceptor(address=40, crc=True)), vectors["crc"] + vectors["crc rejects"])


def test_rejected_frames(vectors: Vectors) -> None:
    model = CoinAcceptor()
    play(CctalkBench(model), vectors["rejects"])
    assert model.unknown == 1, "header 0 is no command; the others must not even be read"


def test_panel_frames(vectors: Vectors) -> None:
    bench = Bench(Line("panel", 115200), panel((1, 2, 3, 3)))
    play(bench, vectors["panel"], ms=5)


def test_panel_inputs(vectors: Vectors) -> None:
    model = panel((1, 3, 2, 3), {"a": (0x20, 0), "b": (0x20, 1)})
    bench = Bench(Line("panel", 115200), model)
    for name in ("a", "b"):
        model.set_input(name, True, bench.now_us)
    play(bench, vectors["panel inputs"], ms=5)


@pytest.mark.parametrize("gap_ms", [60, 200])
def test_corrupt_length_then_good_frame(gap_ms: int) -> None:
    """B01: a wrong length must not swallow the next frame once 50 ms have passed."""
    bench = CctalkBench(CoinAcceptor())
    assert bench.exchange(bytes.fromhex("02 2C 01 FE FF"), gap_ms) == b""
    assert bench.ask(2, 254) == (0, b"")
    assert bench.ask(2, 2) == (0, bytes([1, 5, 0])), "one receive timeout, five bytes ignored"

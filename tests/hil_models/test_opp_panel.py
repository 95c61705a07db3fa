"""The I/O boards: contacts, lamps and the pulses that an electromechanical meter would count."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host_tools.hil.line import Line
from host_tools.hil.models.opp_board import Pulse
from host_tools.hil.models.opp_panel import OppPanel, crc8

from .conftest import Bench

SOL, INP, LAMP, NONE = 1, 2, 3, 0


def ready(**options: Any) -> tuple[Bench, OppPanel]:
    """Two boards: meters and buttons on the first, lamps and a door on the second."""
    panel = OppPanel(
        boards={0x20: (SOL, INP, LAMP, NONE), 0x21: (NONE, LAMP, INP, NONE)},
        inputs={"start": (0x20, 8), "own": (0x20, 1), "main": (0x21, 16)},
        lamps={"start": (0x20, 16), "tower": (0x21, 15)},
        solenoids={"em_in": (0x20, 0), "em_out": (0x20, 1)},
        normally_closed=["main"],
        **options,
    )
    return Bench(Line("panel", 115_200), panel), panel


def frame(board: int, command: int, *data: int) -> bytes:
    body = bytes([board, command, *data])
    return body + bytes([crc8(body)])


def ask(bench: Bench, board: int, command: int, *data: int) -> bytes:
    """The answer without its CRC, b"" for none."""
    heard = bench.exchange(frame(board, command, *data) + b"\xff", 5)
    assert heard.endswith(b"\xff")
    assert not heard[:-1] or crc8(heard[:-2]) == heard[-2]
    return heard[:-2]


def inputs(bench: Bench, board: int) -> int:
    return int.from_bytes(ask(bench, board, 0x08, 0, 0, 0, 0)[2:], "big")


def configure(bench: Bench, number: int, *, flags: int = 2, pulse_ms: int = 50, last: int = 0x10) -> None:
    assert ask(bench, 0x20, 0x14, number, flags, pulse_ms, last) == b""


def kick(bench: Bench, value: int, mask: int) -> None:
    assert ask(bench, 0x20, 0x07, 0, value, 0, mask) == b""


def test_the_chain_is_found() -> None:
    bench, _ = ready()
    assert bench.exchange(b"\xf0\xff", 5) == b"\xf0\x20\x21\xff"
    heard = bench.exchange(frame(0x20, 0x0D, 0, 0, 0, 0) + frame(0x21, 0x0D, 0, 0, 0, 0) + b"\xff", 5)
    assert heard == frame(0x20, 0x0D, SOL, INP, LAMP, NONE) + frame(0x21, 0x0D, NONE, LAMP, INP, NONE) + b"\xff"
    assert ask(bench, 0x20, 0x00, 0, 0, 0, 0) != ask(bench, 0x21, 0x00, 0, 0, 0, 0)
    assert ask(bench, 0x22, 0x00, 0, 0, 0, 0) == b"", "no such board"


def test_contacts_are_active_low_and_a_shut_door_holds_its_switch() -> None:
    bench, panel = ready()
    assert inputs(bench, 0x20) == 0xFF0F
    assert inputs(bench, 0x21) == 0xFE0000, "shut: the door's contact is closed"
    panel.set_input("start", True, bench.now_us)
    panel.set_input("main", True, bench.now_us)
    assert inputs(bench, 0x20) == 0xFE0F
    assert inputs(bench, 0x21) == 0xFF0000
    panel.set_input("start", False, bench.now_us)
    panel.set_input("main", False, bench.now_us)
    assert (inputs(bench, 0x20), inputs(bench, 0x21)) == (0xFF0F, 0xFE0000)
    panel.press("start", bench.now_us, 40)
    assert inputs(bench, 0x20) == 0xFE0F
    bench.run(40)
    assert inputs(bench, 0x20) == 0xFF0F
    with pytest.raises(KeyError):
        panel.set_input("bell", True, bench.now_us)


def test_a_meter_counts_good_pulses_only() -> None:
    bench, panel = ready()
    kick(bench, 1, 1)
    bench.run(100)
    assert (panel.pulses, panel.refused_kicks) == ({"em_in": 0, "em_out": 0}, 1), "not configured yet"
    configure(bench, 0)
    kick(bench, 1, 1)
    bench.run(45)
    assert panel.pulses["em_in"] == 0, "still on"
    bench.run(20)
    assert panel.pulses["em_in"] == 1
    kick(bench, 1, 1)
    bench.run(200)
    assert (panel.pulses["em_in"], panel.refused_kicks) == (1, 2), "within the minimum off time"
    kick(bench, 1, 1)
    kick(bench, 1, 1)
    bench.run(100)
    assert (panel.pulses["em_in"], panel.refused_kicks) == (2, 3), "a second kick while it is on"
    assert [(pulse.on_us, pulse.name) for pulse in panel.pulse_log] == [(50_000, "em_in")] * 2
    configure(bench, 1, pulse_ms=10, last=0)
    for _ in range(3):
        kick(bench, 2, 2)
        bench.run(10)
    assert panel.pulses["em_out"] == 0
    assert [pulse.on_us for pulse in panel.bad_pulses] == [10_000] * 3


def test_pause_too_short_for_the_meter() -> None:
    bench, panel = ready(min_off_ms=100)
    configure(bench, 0, last=0)
    kick(bench, 1, 1)
    bench.run(80)
    kick(bench, 1, 1)
    bench.run(80)
    assert panel.pulses["em_in"] == 1
    assert isinstance(panel.bad_pulses[0], Pulse)
    assert panel.bad_pulses[0].pause_us < 100_000


def test_holding_and_switching_off() -> None:
    bench, panel = ready()
    configure(bench, 0, flags=4, last=0)
    kick(bench, 1, 1)
    bench.run(500)
    assert panel.solenoids["em_in"].on_since_us is not None
    kick(bench, 0, 1)
    assert panel.solenoids["em_in"].on_since_us is None
    configure(bench, 1, flags=0x22, pulse_ms=200)
    kick(bench, 2, 2)
    bench.run(50)
    kick(bench, 0, 2)
    bench.run(10)
    assert panel.pulses["em_out"] == 1
    assert panel.pulse_log[-1].on_us < 100_000, "cancelled"
    configure(bench, 1, flags=0x02, pulse_ms=200, last=0)
    bench.run(300)
    kick(bench, 2, 2)
    kick(bench, 0, 2)
    bench.run(300)
    assert panel.pulse_log[-1].on_us == 200_000, "a pulse without the cancel flag ends in its own time"
    configure(bench, 1, flags=0x0A, pulse_ms=40, last=50)
    kick(bench, 2, 2)
    bench.run(90)
    assert panel.solenoids["em_out"].on_since_us is None
    bench.run(10)
    assert panel.solenoids["em_out"].on_since_us is not None, "100 ms after the kick"


def test_a_switch_can_kick_by_itself() -> None:
    bench, panel = ready()
    configure(bench, 1, flags=0x03)
    panel.press("own", bench.now_us)
    bench.run(200)
    assert panel.pulses["em_out"] == 1
    configure(bench, 0)
    ask(bench, 0x20, 0x17, 8, 0x00)
    panel.press("start", bench.now_us)
    bench.run(200)
    assert panel.pulses["em_in"] == 1
    ask(bench, 0x20, 0x17, 8, 0x80)
    panel.press("start", bench.now_us)
    bench.run(200)
    assert panel.pulses["em_in"] == 1


def test_lamps() -> None:
    bench, panel = ready()
    assert not panel.lamp("start")
    ask(bench, 0x20, 0x13, 7, 0, 1, 0, 0)
    ask(bench, 0x21, 0x13, 7, 0xFF, 0xFF, 0xFF, 0xFF)
    assert (panel.lamp("start"), panel.lamp("tower")) == (True, True)
    assert panel.boards[0x21].lit == 0xFF00, "only where lamps are"
    ask(bench, 0x21, 0x13, 3, 0, 0, 0x80, 0)
    assert not panel.lamp("tower")
    ask(bench, 0x21, 0x13, 2, 0, 0, 0x80, 0)
    assert panel.lamp("tower")
    ask(bench, 0x21, 0x40, 0x10, 0x0E, 0, 2, 0, 40, 255, 0)
    assert panel.boards[0x21].lit & 0xC000 == 0x4000
    ask(bench, 0x20, 0x04)
    assert (panel.lamp("start"), panel.lamp("tower")) == (False, False)


def test_power_off_is_dark_and_forgets_the_configuration() -> None:
    bench, panel = ready()
    configure(bench, 0, pulse_ms=100)
    ask(bench, 0x20, 0x13, 7, 0, 1, 0, 0)
    kick(bench, 1, 1)
    bench.run(20)
    panel.power(False, bench.now_us)
    assert not panel.lamp("start")
    assert (panel.pulses["em_in"], len(panel.bad_pulses)) == (0, 1), "cut short"
    assert bench.exchange(b"\xff", 5) == b""
    panel.set_input("start", True, bench.now_us)
    panel.power(True, bench.now_us)
    assert inputs(bench, 0x20) == 0xFE0F
    kick(bench, 1, 1)
    bench.run(200)
    assert panel.pulses["em_in"] == 0


def test_faults() -> None:
    bench, panel = ready()
    panel.fault("stuck", "start")
    assert inputs(bench, 0x20) == 0xFE0F
    panel.press("start", bench.now_us)
    bench.run(200)
    assert inputs(bench, 0x20) == 0xFE0F
    assert not panel.active("start")
    panel.clear()
    assert inputs(bench, 0x20) == 0xFF0F
    panel.fault("crc", 1)
    heard = bench.exchange(frame(0x20, 0x08, 0, 0, 0, 0), 5)
    assert crc8(heard[:-1]) != heard[-1]
    assert inputs(bench, 0x20) == 0xFF0F
    panel.fault("offline")
    assert bench.exchange(b"\xff", 5) == b""
    panel.clear()
    assert bench.exchange(b"\xff", 5) == b"\xff"
    with pytest.raises(ValueError, match="no input 'bell'"):
        panel.fault("stuck", "bell")
    with pytest.raises(ValueError, match="known: offline"):
        panel.fault("melt")


def test_the_boot_loader_is_deaf_until_power_returns() -> None:
    bench, panel = ready()
    bench.exchange(frame(0x20, 0x05), 5)
    assert bench.exchange(b"\xff", 5) == b""
    panel.power(False, bench.now_us)
    panel.power(True, bench.now_us)
    assert bench.exchange(b"\xff", 5) == b"\xff"


@pytest.mark.parametrize(
    "wiring",
    [
        {"inputs": {"a": (0x20, 0)}},
        {"lamps": {"a": (0x20, 8)}},
        {"solenoids": {"a": (0x20, 4)}},
        {"inputs": {"a": (0x21, 8)}},
        {"boards": {0x20: (2, 2, 2)}},
        {"boards": {0x20: (6, 2, 2, 2)}},
        {"boards": {0x40: (2, 2, 2, 2)}},
    ],
)
def test_wiring_must_fit_the_wings(wiring: dict[str, Any]) -> None:
    options: dict[str, Any] = {"boards": {0x20: (LAMP, INP, NONE, NONE)}, "inputs": {}, "lamps": {}, "solenoids": {}}
    with pytest.raises(ValueError, match="0x"):
        OppPanel(**options | wiring)


def test_eight_solenoid_wing() -> None:
    panel = OppPanel(boards={0x20: (0x0D, INP, NONE, NONE)}, inputs={}, lamps={}, solenoids={"coil": (0x20, 7)})
    bench = Bench(Line("panel", 115_200), panel)
    configure(bench, 7)
    kick(bench, 0x80, 0x80)
    bench.run(100)
    assert panel.pulses == {"coil": 1}


@settings(max_examples=80, deadline=None)
@given(noise=st.binary(max_size=40))
def test_ffs_get_back_into_step(noise: bytes) -> None:
    """Whatever came before: enough FFs, and the chain answers again."""
    bench, _ = ready()
    bench.exchange(noise, 10)
    bench.exchange(b"\xff" * 250, 60)
    bench.exchange(b"\xff" * 60, 20)
    assert bench.exchange(b"\xf0\xff", 5) == b"\xf0\x20\x21\xff"

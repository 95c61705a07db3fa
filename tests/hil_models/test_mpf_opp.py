"""A host that is not ours on the panel model: the Mission Pinball Framework's own OPP platform over a pty.

mpf runs in a process of its own with its real clock and event loop. What it found is read from its log; what it did
is read from the model: a pulse counted, a lamp lit.
"""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host_tools.hil.line import PtyLine
from host_tools.hil.models.opp_panel import OppPanel

pytest.importorskip("mpf")
START_SECONDS = 25.0
STEP_SECONDS = 5.0
WAIT_FOR_END = 5.0

CONFIG = """#config_version=6
hardware:
  platform: opp
  driverboards: gen2
opp:
  ports: {path}
  debug: true
bcp:
  servers:
    url_style: {{port: 0}}
playfields:
  playfield:
    tags: default
    default_source_device: None
switches:
  s_start: {{number: 0-8}}
  s_main_door: {{number: 0-24, type: NC}}
coils:
  c_em_in: {{number: 0-0, default_pulse_ms: 50}}
  c_em_out: {{number: 0-1, default_pulse_ms: 60}}
lights:
  l_start: {{number: 1-0, subtype: incand}}
  l_tower: {{number: 1-17, subtype: incand}}
coil_player:
  s_start_active: {{c_em_in: {{action: pulse}}}}
  s_main_door_active: {{c_em_out: {{action: pulse}}}}
light_player:
  s_start_active: {{l_tower: white}}
"""


class Mpf:
    """mpf on a panel. The line is served by whoever waits."""

    def __init__(self, folder: Path, command: str) -> None:
        self.panel = OppPanel(
            boards={0x20: (1, 2, 2, 2), 0x21: (3, 3, 3, 3)},
            inputs={"start": (0x20, 8), "main": (0x20, 24)},
            lamps={"start": (0x21, 0), "tower": (0x21, 17)},
            solenoids={"em_in": (0x20, 0), "em_out": (0x20, 1)},
            normally_closed=["main"],
        )
        self.line = PtyLine("panel", 115_200)
        self.line.attach(self.panel)
        self.panel.power(True, 0)
        (folder / "config").mkdir()
        (folder / "config" / "config.yaml").write_text(CONFIG.format(path=self.line.path))
        self._log, self._out = folder / "mpf.log", folder / "mpf.out"
        options = ["-t", "-b", "-v", "-a", "-A", "-l", str(self._log)] if command == "game" else []
        words = command.split()
        with self._out.open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "mpf", *words[:1], *words[1:], *([] if len(words) > 1 else ["."]), *options],
                cwd=folder,
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )

    @property
    def text(self) -> str:
        """All that mpf has told so far."""
        return "\n".join(path.read_text(errors="replace") for path in (self._log, self._out) if path.exists())

    def ended(self) -> bool:
        return self.process.poll() is not None

    def wait(self, what: str, seconds: float, until: Callable[[], bool]) -> None:
        """Serves the line until something holds."""
        met = self.line.serve(seconds, lambda: until() or self.ended())
        assert met and until(), f"no {what} after {seconds} s; mpf said:\n{self.text[-4000:]}"  # noqa: PT018

    def wait_for_text(self, pattern: str, seconds: float) -> None:
        """Serves the line until mpf tells something; its log is read a few times a second only."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            assert time.monotonic() < end, f"no {pattern!r}; mpf said:\n{self.text[-4000:]}"
            assert not self.ended(), f"mpf ended without {pattern!r}:\n{self.text[-4000:]}"
            self.line.serve(0.1)

    def stop(self) -> None:
        """Ends the process that this object started, and no other."""
        if not self.ended():
            self.process.send_signal(signal.SIGINT)
            if not self.line.serve(WAIT_FOR_END, self.ended):
                self.process.kill()
        self.process.wait()
        self.line.close()


@pytest.fixture
def game(tmp_path: Path) -> Iterator[Mpf]:
    mpf = Mpf(tmp_path, "game")
    yield mpf
    mpf.stop()


def test_mpf_finds_the_boards_sees_a_button_and_fires_a_pulse(game: Mpf) -> None:
    game.wait_for_text("reset_complete", START_SECONDS)
    log = game.text
    assert re.search(r"Found 2 Gen2 OPP boards", log)
    assert re.search(r"Firmware version of board 0x20 .*2\.2\.0\.2", log)
    for card, address in (("Solenoid", "0x20"), ("Input", "0x20"), ("Incand", "0x21")):
        assert re.search(rf"Creating OPP {card} at hardware address: {address}", log)
    assert not re.search(r"bad CRC|Malformed|unknown serial command", log)
    panel = game.panel
    assert [panel.solenoids[name].pulse_ms for name in ("em_in", "em_out")] == [50, 60]
    assert panel.pulses == {"em_in": 0, "em_out": 0}
    assert not re.search(r"s_main_door_active", log), "a shut door is not open"

    panel.press("start", game.line.real_us(), 200)
    game.wait("pulse of em_in", STEP_SECONDS, lambda: panel.pulses["em_in"] == 1)
    game.wait("lit tower", STEP_SECONDS, lambda: panel.lamp("tower"))
    game.wait_for_text("s_start_active", STEP_SECONDS)
    game.wait_for_text("'s_start' inactive", STEP_SECONDS)

    panel.set_input("main", True, game.line.real_us())
    game.wait("pulse of em_out", STEP_SECONDS, lambda: panel.pulses["em_out"] == 1)
    assert panel.pulse_log[-1].name == "em_out"
    assert panel.pulse_log[-1].on_us >= 60_000
    assert (panel.bad_frames, panel.refused_kicks, len(panel.bad_pulses)) == (0, 0, 0)
    assert not panel.lamp("start")
    assert not re.search(r"bad CRC|Malformed|unknown serial command", game.text)


def test_mpf_scan_lists_what_is_wired(tmp_path: Path) -> None:
    mpf = Mpf(tmp_path, "hardware scan")
    try:
        mpf.line.serve(START_SECONDS, mpf.ended)
        text = mpf.text
        assert "Board: 0x20 Firmware: 0x2020002" in text, text[-4000:]
        assert re.search(r"Solenoid cards:\s+- .*Board: 0x20 Card: 0 Numbers: \[0, 1, 2", text)
        assert re.search(r"Input cards:\s+- .*Board: 0x20 Card: 0 Numbers: \[0, 1, 2, 3, 8, 9, ", text)
        assert re.search(r"Incand cards:\s+- .*Board: 0x21 Card: 1 Numbers: \[0, 1, 2", text)
    finally:
        mpf.stop()

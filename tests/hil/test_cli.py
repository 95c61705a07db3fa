"""The command line as a person or a rig calls it: exit codes, messages, JSON."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hal.boards.host import NVRAM_BYTES
from host_tools.cabinet import games
from host_tools.hil import commission

CABINET = [sys.executable, "-c", "from host_tools.cabinet.cli import app; app()"]


def cabinet(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*CABINET, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, **options
    )


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "test.rig"
    path.write_text(text)
    return str(path)


def test_run_without_a_terminal_plays_the_demonstration():
    done = cabinet("run")
    assert done.returncode == 0, done.stderr
    for part in ("coin £1.00 in", "play for", "free spins at x", "coin £1.00 out", "audit balances"):
        assert part in done.stdout


def test_json_is_one_event_a_line_and_a_summary_last(tmp_path):
    done = cabinet(
        "run",
        "--json",
        "--script",
        script(tmp_path, "entropy seed 1\ngame piggy_riches\ncoin 100\nwant loss\npress start\nwait until idle"),
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    summary = events[-1]
    names = ["credit", "coins_in", "notes_in", "wagered", "won", "hopper_out", "handpay", "games", "tilts", "audit"]
    assert summary["e"] == "summary"
    assert [summary[name] for name in names] == [85, 100, 0, 15, 0, 0, 0, 1, 0, "ok"]
    assert all("t" in event for event in events)


def test_the_same_seed_tells_the_same_story(tmp_path):
    path = script(tmp_path, "entropy seed 5\ncoin 200\nconsole autoplay 5\npress autoplay\nwait until idle within 5m")
    assert cabinet("run", "--json", "--script", path).stdout == cabinet("run", "--json", "--script", path).stdout


def test_a_failed_expectation_names_line_expected_and_found(tmp_path):
    done = cabinet("run", "--script", script(tmp_path, "coin 50\n\nexpect credit == 60"))
    assert done.returncode == 1
    assert "line 3: expect credit == 60: expected credit == 60, found 50" in done.stderr


def test_every_bad_line_is_refused_before_anything_runs(tmp_path):
    done = cabinet("run", "--script", script(tmp_path, "coin 50\npress strat\nopen window\nexpect credit ~ 5"))
    assert done.returncode == 2
    assert done.stdout == ""
    for part in ("test.rig:2", "test.rig:3", "test.rig:4", "start"):
        assert part in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("game piggy_riches\nwant pot mini", "this game has nothing of that kind"),
        ("game piggy_bank\nwant wheel mega", "this game has extra_spins, free_spins, golden_free_spins"),
        ("wait until handpay within 1s", "the state is"),
        ("coin 10\npower off\nexpect credit == 10", "the cabinet is off"),
        ("expect meter.bogus == 1", "the cabinet has no meter.bogus"),
        ("want scatters 15", "none of"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_line(tmp_path, text, message, monkeypatch):
    from host_tools.hil import want

    monkeypatch.setattr(want, "MAX_CANDIDATES", 300)
    from typer.testing import CliRunner

    from host_tools.cabinet.cli import app

    done = CliRunner().invoke(app, ["run", "--script", script(tmp_path, text)])
    assert done.exit_code == 1
    assert message in done.stderr
    assert "line " in done.stderr


def test_a_missing_script_and_a_binary_one_are_clear_errors(tmp_path):
    done = cabinet("run", "--script", "nowhere.rig")
    assert (done.returncode, "cannot read nowhere.rig" in done.stderr) == (2, True)
    (tmp_path / "binary.rig").write_bytes(b"\xff\xfe\x00")
    done = cabinet("run", "--script", str(tmp_path / "binary.rig"))
    assert (done.returncode, "not a text file" in done.stderr) == (2, True)


def test_soak_reports_cuts_as_json(tmp_path):
    path = script(tmp_path, "entropy seed 1\ncoin 100\n")
    done = cabinet("soak", "--cuts", "20", "--script", path, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["cuts"] > 10
    assert report["violations"] == 0
    assert cabinet("soak", "--cuts", "none").returncode == 2


def test_firmware_and_devices_in_two_processes_over_ptys(tmp_path):
    """The same drivers and models in real time: a new cabinet gets its first set-up and is ready."""
    devices = subprocess.Popen([*CABINET, "devices"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert devices.stdin is not None
        assert devices.stdout is not None
        ports = [devices.stdout.readline().strip() for _ in range(4)]
        arguments = [argument for port in ports for argument in ("--port", port)]
        firmware = subprocess.Popen(
            [*CABINET, "firmware", *arguments, "--nvram", str(tmp_path / "nvram.bin")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert firmware.stdin is not None
            assert firmware.stdout is not None

            def hand(text: str) -> None:
                devices.stdin.write(text + "\n")
                devices.stdin.flush()

            def until(part: str, typed: str) -> str:
                """Types again and again until a line holds `part`, and returns it."""
                for _ in range(60):
                    firmware.stdin.write(typed + "\n")
                    firmware.stdin.flush()
                    line = firmware.stdout.readline()
                    while not line.startswith(("state", "error", "locked items")) and " of 12 " not in line:
                        assert line, f"the firmware ended with {firmware.wait(10)}"
                        line = firmware.stdout.readline()
                    if part in line:
                        return line
                    time.sleep(0.5)
                raise AssertionError(f"{part} never came")

            until("setup", "status")
            hand("turn technician")
            until("1 of 12", "setup")
            answers = [text or "piggy_bank" for text in commission.USUAL.values()]
            for number, answer in enumerate(answers[:-1], 2):
                until(f"{number} of 12", answer)
            asked = until("locked items", answers[-1]).split("type ")[1].split()[0]
            firmware.stdin.write(asked + "\n")
            until("service", "status")
            hand("unturn technician")
            until("idle", "status")
        finally:
            os.kill(firmware.pid, signal.SIGTERM)
            firmware.wait(10)
    finally:
        os.kill(devices.pid, signal.SIGTERM)
        devices.wait(10)


@pytest.mark.parametrize("note", ["ssp", "cctalk"])
def test_a_line_that_is_not_named_is_one_that_nobody_connected(tmp_path, note):
    """The firmware starts whatever note acceptor was set up, and says what is missing."""
    nvram = tmp_path / "nvram.bin"
    nvram.write_bytes(commission.image(games.packs(), NVRAM_BYTES, note))
    ends = [os.openpty() for _ in range(3)]
    ports = [
        f"--port={name}={os.ttyname(end)}" for name, (_, end) in zip(("cctalk", "panel", "entropy"), ends, strict=True)
    ]
    command = [*CABINET, "firmware", *ports, "--nvram", str(nvram), "--seconds", "1"]
    done = subprocess.run(command, input="status\n", capture_output=True, text=True, timeout=120)
    for pair in ends:
        for end in pair:
            os.close(end)
    assert done.returncode == 0, done.stderr
    assert "note acceptor offline" in done.stdout


def test_a_bad_port_is_a_clear_error(tmp_path):
    done = cabinet("firmware", "--port", "modem=/dev/null", "--nvram", str(tmp_path / "n"))
    assert (done.returncode, "NAME=PATH" in done.stderr) == (2, True)
    done = cabinet("firmware", "--port", "cctalk=/dev/null", "--nvram", str(tmp_path / "n"))
    assert (done.returncode, "no path for panel, entropy" in done.stderr) == (2, True)

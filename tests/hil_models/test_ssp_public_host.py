"""A host that is not ours on the note acceptor's model: a public library for SSP from npm, over a pty.

It runs in node, installed from a lock file into an ignored folder beside this test. What it learned is read from its standard
output, what it did from the model. Without node, npm or a registry the test is skipped with the reason.
"""

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from host_tools.hil.line import PtyLine
from host_tools.hil.models.ssp_acceptor import SspAcceptor

FOLDER = Path(__file__).parent / "ssp_host"
INSTALL_S = 180
ANSWER_S = 20.0


@pytest.fixture(scope="session")
def node() -> str:
    """The interpreter, with the library installed."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not installed (Debian: nodejs npm)")
    ready = FOLDER / "node_modules" / ".package-lock.json"
    if not ready.exists():
        # Another test process may install at the same moment: into a folder of its own, then renamed.
        own = FOLDER.parent / f".ssp_host.{os.getpid()}"
        shutil.copytree(FOLDER, own, ignore=shutil.ignore_patterns("node_modules"), dirs_exist_ok=True)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=own, capture_output=True, text=True, timeout=INSTALL_S)
        if done.returncode == 0 and not ready.exists():
            (own / "node_modules").rename(FOLDER / "node_modules")
        shutil.rmtree(own)
        if done.returncode:
            pytest.skip(f"npm could not install the host: {done.stderr.strip()[-300:]}")
    return node


class Host:
    """The public host on a model. The line is served by whoever waits."""

    def __init__(self, node: str, *, version: int = 6, encrypt: bool = False, rejected: int = 0, **model: Any) -> None:
        self.model = SspAcceptor(**model)
        self.line = PtyLine("note", 9600, stop_bits=2)
        self.line.attach(self.model)
        self.model.power(True, 0)
        self.line.serve(2.2)
        self.said: list[dict[str, Any]] = []
        arguments = [node, FOLDER / "host.js", self.line.path, str(version), "yes" if encrypt else "no", str(rejected)]
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(json.loads(line) if line.startswith("{") else {"what": "TEXT", "text": line})

    def wait(self, what: str, until: Callable[[], bool] | None = None) -> dict[str, Any]:
        """Serves the line until the host has said so."""
        met = until or (lambda: any(said["what"] == what for said in self.said))
        assert self.line.serve(ANSWER_S, lambda: met() or self.process.poll() is not None) and met(), (what, self.said)  # noqa: PT018
        return next((said for said in reversed(self.said) if said["what"] == what), {})

    def insert(self, pence: int) -> None:
        self.model.insert(pence, self.line.real_us())

    def count(self, what: str) -> int:
        return sum(said["what"] == what for said in self.said)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        end = time.monotonic() + 5
        while self.process.poll() is None and time.monotonic() < end:
            self.line.serve(0.05)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(5)
        self.line.close()


@pytest.fixture
def start(node: str) -> Iterator[Callable[..., Host]]:
    hosts: list[Host] = []

    def make(**options: Any) -> Host:
        hosts.append(Host(node, **options))
        return hosts[-1]

    yield make
    for host in hosts:
        host.close()


def test_identified_a_note_stacked_and_a_note_rejected(start: Callable[..., Host]) -> None:
    host = start(rejected=500)
    assert host.wait("GET_SERIAL_NUMBER")["info"]["serial_number"] == 1_234_567
    info = host.wait("SETUP_REQUEST")["info"]
    assert info["expanded_channel_value"] == [5, 10, 20, 50]
    assert info["expanded_channel_country_code"] == ["GBP"] * 4
    assert (info["real_value_multiplier"], info["protocol_version"]) == (100, 6)
    assert host.wait("ENABLE")["status"] == "OK"
    host.wait("SLAVE_RESET")
    host.wait("accepting", lambda: host.model.accepting)

    host.insert(2000)
    assert host.wait("CREDIT_NOTE")["channel"] == 3
    host.wait("NOTE_STACKED")
    assert host.model.stacked == [2000]

    host.insert(500)
    assert host.wait("REJECT_BANKNOTE")["status"] == "OK"
    host.wait("NOTE_REJECTED")
    assert (host.model.stacked, host.model.returned) == ([2000], [500])
    assert host.count("CREDIT_NOTE") == 1
    assert host.model.dropped == 0


def test_with_encryption(start: Callable[..., Host]) -> None:
    """The key exchange and every packet behind it, between two implementations that share nothing."""
    host = start(encrypt=True)
    host.wait("KEYS")
    host.model.needs_key = True  # from here on plain text would be refused
    assert host.wait("GET_SERIAL_NUMBER")["info"]["serial_number"] == 1_234_567
    assert host.wait("ENABLE")["status"] == "OK"
    host.wait("accepting", lambda: host.model.accepting)
    host.insert(5000)
    assert host.wait("CREDIT_NOTE")["channel"] == 4
    assert host.model.stacked == [5000]
    assert host.model.dropped == 0


def test_lost_answers_are_asked_for_again(start: Callable[..., Host]) -> None:
    """It repeats the packet with the same sequence bit: the note is accepted and credited once."""
    host = start()
    host.wait("accepting", lambda: host.model.accepting)
    host.insert(1000)
    host.wait("MOVING", lambda: host.model.note is not None and host.model.note.place == "moving")
    host.model.fault("lost_answers", 1)
    host.wait("NOTE_STACKED")
    assert host.count("CREDIT_NOTE") == 1
    assert host.model.stacked == [1000]


def test_events_of_the_device(start: Callable[..., Host]) -> None:
    host = start()
    host.wait("accepting", lambda: host.model.accepting)
    host.model.fault("stacker", "removed")
    host.wait("CASHBOX_REMOVED")
    host.model.fault("stacker", "ok")
    host.wait("CASHBOX_REPLACED")
    host.model.fault("fraud")
    host.wait("FRAUD_ATTEMPT")
    host.model.fault("jam", "safe")
    host.insert(500)
    host.wait("SAFE_NOTE_JAM")
    host.model.clear()
    assert host.wait("CREDIT_NOTE")["channel"] == 1

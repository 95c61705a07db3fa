"""`cabinet run --console` and who speaks to it: our tool, and others' (PyPI smpclient and smpmgr), in real time."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from smpclient import SMPClient
from smpclient.generics import success
from smpclient.requests.image_management import ImageStatesRead
from smpclient.requests.os_management import EchoWrite
from smpclient.transport.serial import SMPSerialTransport
from typer.testing import CliRunner

from host_tools.cabinet import exits
from host_tools.cabinet.cli import app
from host_tools.flash.link import BYTE_S, Link, SerialWire
from tests.firmware.update_images import hash_of, image
from tests.flash.served import Served


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    began: list[Served] = []

    def begin(port: str = "") -> Served:
        began.append(Served(port or str(tmp_path / "console")))
        return began[-1]

    yield begin
    for it in began:
        it.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "image.bin"
    path.write_bytes(image("2.0.0", 1, "host", 10_000))
    return path


def run(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.output


def test_our_tool(served: Callable[..., Served], file: Path):
    it = served()
    code, said = run("flash", "--port", it.port, "--dry-run", "--json", file)
    assert code == 0
    assert [json.loads(line)["e"] for line in said.splitlines()] == ["identity", "dry_run", "factory"]
    assert it.slots().image(0) is None
    code, said = run("flash", "--port", it.port, "--no-start", "--json", file)
    assert code == 0, said
    events = [json.loads(line) for line in said.splitlines()]
    assert {"progress", "sent", "summary"} <= {event["e"] for event in events}
    summary = events[-1]
    assert (summary["state"], summary["version"]) == ("sent", "2.0.0")
    assert summary["hash"] == hash_of(file.read_bytes()).hex()
    code, said = run("slots", "--port", it.port)
    assert code == 0
    assert "slot 0  2.0.0" in said
    code, said = run("rollback", "--port", it.port)
    assert code == exits.REFUSED
    assert "no other confirmed image" in said
    code, said = run("confirm", "--port", it.port)
    assert code == exits.REFUSED
    assert "no image in a slot runs" in said


def test_refusals_have_their_codes(served: Callable[..., Served], file: Path, tmp_path: Path):
    assert run("flash", file)[0] == exits.NO_PORT
    code, said = run("flash", "--port", tmp_path / "nothing", file)
    assert code == exits.NO_PORT
    assert "check name, cable" in said
    other = tmp_path / "other.bin"
    other.write_bytes(b"no image")
    assert run("flash", "--port", tmp_path / "nothing", other)[0] == 2
    damaged = bytearray(file.read_bytes())
    damaged[300] ^= 1
    other.write_bytes(damaged)
    code, said = run("flash", "--port", tmp_path / "nothing", other)
    assert code == 2
    assert "is damaged" in said
    it = served()
    other.write_bytes(image("2.0.0", 1, "mps2"))
    code, said = run("flash", "--port", it.port, other)
    assert code == exits.WRONG_BOARD
    assert "'mps2'" in said
    it.do("coin 200")
    while not it.rig.world.swallowed_pence:
        time.sleep(0.01)
    code, said = run("flash", "--port", it.port, file)
    assert code == exits.REFUSED
    assert "£2.00 is on the machine" in said


def test_over_tcp(served: Callable[..., Served], file: Path):
    it = served("127.0.0.1:0")
    assert it.port.startswith("socket://127.0.0.1:")
    code, said = run("flash", "--port", it.port, "--no-start", file)
    assert code == 0, said
    assert it.slots().find(hash_of(file.read_bytes())) == 0


def test_smpclient(served: Callable[..., Served], file: Path):
    """Its own transport and upload, at the size that the server tells."""
    it, data = served(), file.read_bytes()

    async def talk() -> list[int]:
        async with SMPClient(SMPSerialTransport(), it.port) as client:
            echo = await client.request(EchoWrite(d="hello"))
            assert success(echo)
            assert echo.r == "hello"
            offsets = [offset async for offset in client.upload(data)]
            states = await client.request(ImageStatesRead())
            assert success(states)
            assert states.images[0].hash == hash_of(data)
            return offsets

    offsets = asyncio.run(talk())
    assert offsets[-1] == len(data)
    assert len(offsets) <= 7  # pieces of two thousand bytes
    assert it.slots().find(hash_of(data)) == 0


def test_smpmgr(served: Callable[..., Served], file: Path):
    it = served()
    assert "hello" in it.smpmgr("os", "echo", "hello")
    it.smpmgr("image", "upload", str(file))
    assert it.slots().find(hash_of(file.read_bytes())) == 0
    assert hash_of(file.read_bytes()).hex().upper()[:16] in it.smpmgr("image", "state-read")
    it.smpmgr("image", "state-write", hash_of(file.read_bytes()).hex())
    found = it.slots().image(0)
    assert found is not None
    assert found.pending
    it.smpmgr("image", "erase", "0")
    assert it.slots().image(0) is None


def test_a_terminal_beside(served: Callable[..., Served]):
    it = served()
    texts: list[str] = []
    wire = SerialWire(it.port)
    link = Link(wire, texts.append)
    wire.send(b"version\r")
    link.read_text(300 * BYTE_S + 1.0)
    wire.close()
    assert any("on board host" in text for text in texts)

"""Application images: what imgtool says of ours and the firmware of imgtool's, and whatever is changed is refused."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from firmware.update import image as firmware_image
from firmware.update import trust
from hal.boards.host_application import Application, read_romfs
from host_tools.cabinet import games
from host_tools.cabinet.cli import app
from host_tools.flash import images, mpy, romfs
from tests.firmware.update_images import image, other_key

PLACES = 1000


def cabinet(*arguments: object):
    return CliRunner().invoke(app, ["image", *map(str, arguments)])


def imgtool(*arguments: object) -> subprocess.CompletedProcess:
    command = [str(Path(sys.executable).with_name("imgtool")), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def whole() -> bytes:
    """This tree, for the host board."""
    return images.build_image(images.DEVELOPMENT_KEY, "host", games.packs(), "1.2.3+4", 5)


def judge(data: bytes, board: str = "host", floor: int = 0) -> str:
    return firmware_image.judge(data, board, floor, trust.KEYS)[1]


def test_the_trusted_key_is_the_development_key():
    assert images.public_key(images.DEVELOPMENT_KEY) == trust.DEVELOPMENT


def test_image_of_this_tree_is_good_and_says_what_is_in_it(whole, tmp_path):
    assert judge(whole) == ""
    about = images.inspect(whole)
    assert (about["version"], about["counter"], about["board"]) == ("1.2.3+4", 5, "host")
    assert set(about["manifest"]["packs"]) == set(games.packs())
    assert "firmware/main.py" in about["files"]
    path = tmp_path / "image.bin"
    path.write_bytes(whole)
    said = imgtool("verify", "-k", images.DEVELOPMENT_KEY, path)
    assert said.returncode == 0, said.stdout + said.stderr
    assert about["hash"] in said.stdout


def test_the_loader_accepts_what_imgtool_s_command_line_signs(tmp_path):
    """Ours says 'imgtool made it'; here a person does, with the options of the README, padding of the signature included."""
    payload, signed, manifest = tmp_path / "app.romfs", tmp_path / "app.bin", tmp_path / "manifest.json"
    payload.write_bytes(romfs.write({"firmware/main.py": b"pass\n"}))
    manifest.write_text(json.dumps({"version": "9.0.0"}))
    arguments = ["sign", "-k", images.DEVELOPMENT_KEY, "-v", "9.0.0", "-H", 32, "--pad-header", "-S", 1 << 21, "-s", 7]
    arguments += [
        "--pad-sig",
        "--custom-tlv",
        "0x00a0",
        "host",
        "--custom-tlv-file",
        "0x00a1",
        manifest,
        payload,
        signed,
    ]
    said = imgtool(*arguments)
    assert said.returncode == 0, said.stdout + said.stderr
    found, why = firmware_image.judge(signed.read_bytes(), "host", 0, trust.KEYS)
    assert why == ""
    assert found is not None
    assert (found.version, found.counter, found.manifest()) == ("9.0.0", 7, {"version": "9.0.0"})


def test_a_bit_flipped_at_a_thousand_places_of_the_payload_is_refused(whole):
    payload = firmware_image.parse(whole).payload
    chance = random.Random(7)
    for _ in range(PLACES):
        damaged = bytearray(whole)
        damaged[32 + chance.randrange(payload)] ^= 1 << chance.randrange(8)
        assert judge(damaged)


def test_every_bit_of_header_and_tlvs_counts():
    """On a small image, as all bits of it are tried; the TLVs are the same."""
    small = image("1.2.3", 5)
    assert judge(small) == ""
    found = firmware_image.parse(small)
    for place in [*range(32), *range(32 + found.payload, len(small))]:
        for bit in range(8):
            damaged = bytearray(small)
            damaged[place] ^= 1 << bit
            assert judge(damaged), f"bit {bit} of byte {place} does not count"


def test_no_garbage_breaks_the_parser(whole):
    """Any bytes end in a reason, never in an exception."""
    chance = random.Random(11)
    found = firmware_image.parse(whole)
    head = whole[:32]
    for length in (0, 1, 31, 32, 33, 36, 40, 400):
        assert judge(chance.randbytes(length))
        assert judge(head + chance.randbytes(length))
    for _ in range(300):
        damaged = bytearray(head[:12] + (0).to_bytes(4, "little") + head[16:]) + whole[32 + found.payload :]
        for _ in range(chance.randrange(1, 5)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        assert judge(damaged[: chance.randrange(32, len(damaged) + 1)])


@pytest.mark.parametrize("length", [0, 100, 5000])
def test_truncated(whole, length):
    assert judge(whole[: len(whole) - 1 - length])


def test_wrong_key_board_counter_payload(whole, tmp_path):
    assert "does not know" in judge(images.sign(romfs.write({}), other_key(tmp_path), "host", {}, "1.0.0", 1))
    assert "for board host" in judge(whole, "mps2")
    assert "security counter 5 is below 6" in judge(whole, floor=6)
    assert "no ROMFS" in judge(images.sign(b"PK\x03\x04 a zip", images.DEVELOPMENT_KEY, "host", {}, "1.0.0", 1))


def test_signature_is_read_in_its_one_form_only():
    good = bytes.fromhex("3006020101020102")
    assert firmware_image.raw_signature(good) == bytes(31) + b"\x01" + bytes(31) + b"\x02"
    assert firmware_image.raw_signature(good + b"\0\0")
    for wrong in (
        "3006020101020180",  # negative
        "300702020001020102",  # longer than needed
        "3006020100020102",  # zero
        "300602010102010201",  # bytes behind
        "3005020101020102",
        "3006030101020102",
        "3007020101020102",
    ):
        with pytest.raises(firmware_image.ImageError):
            firmware_image.raw_signature(bytes.fromhex(wrong))


def test_command_line(tmp_path):
    key, output = tmp_path / "own.pem", tmp_path / "app.bin"
    made = cabinet("keygen", key)
    assert made.exit_code == 0
    assert made.stdout.strip() == images.public_key(key).hex()
    assert key.stat().st_mode & 0o077 == 0
    assert cabinet("keygen", key).exit_code == 1
    built = cabinet("build", "--key", key, "-o", output, "--board", "host", "--version", "3.2.1", "--json")
    assert built.exit_code == 0, built.output
    assert json.loads(built.stdout)["version"] == "3.2.1"
    assert cabinet("verify", output, "--key", key).exit_code == 0
    other = cabinet("verify", output)
    assert other.exit_code == 1
    assert "does not know" in other.output
    shown = cabinet("inspect", output)
    assert shown.exit_code == 0
    assert "pack dog_diner" in shown.stdout
    output.write_bytes(output.read_bytes()[:-1])
    assert cabinet("inspect", output).exit_code == 1
    assert cabinet("verify", tmp_path / "none", "--key", key).exit_code == 1
    assert cabinet("build", "-o", output, "--board", "toaster").exit_code == 2
    assert cabinet("build", "-o", output, "--board", "host", "--version", "three").exit_code == 1


# --- ROMFS and machine code ---------------------------------------------------------------------------------------------


def test_romfs_holds_what_was_put_in_at_aligned_places():
    files = {f"a/{'b' * n}/{n}.bin": bytes(range(n)) for n in range(1, 60)} | {"empty": b"", "top": b"x" * 300}
    made = romfs.write(files)
    assert read_romfs(made) == files
    assert len(made) % 2 == 0
    for data in files.values():
        if len(data) > 20:
            assert made.index(data) % romfs.ALIGNMENT == 0
    assert romfs.write(dict(reversed(files.items()))) == made
    with pytest.raises(romfs.RomfsError):
        romfs.write({"a": b"", "a/b": b""})


def test_application_keeps_its_modules_apart():
    files = {
        "firmware/__init__.py": b"",
        "firmware/main.py": b"from firmware import other\nfrom hal.board import PortError\nimport struct\nVALUE = other.VALUE\n",
        "firmware/other.py": b"VALUE = 7\ndef late():\n    from firmware import main\n    return main.VALUE\n",
        "firmware/wrong.py": b"import firmware.machine\n",
        "games/x.pack": b"pack",
    }
    from hal.board import PortError

    it = Application(romfs.write(files))
    main = it.load("firmware.main")
    assert main.VALUE == it.load("firmware.other").late() == 7
    assert main.PortError is PortError
    assert it.packs == {"x": b"pack"}
    assert not hasattr(__import__("firmware.main").main, "VALUE")
    with pytest.raises(ModuleNotFoundError):
        it.load("firmware.wrong")  # not this process's own machine


def test_machine_code_is_aligned_and_nothing_else_changes():
    from host_tools.boards import build

    compiler = build.ensure("mpy-cross")
    for name in ("firmware/main.py", "firmware/play/play.py", "hal/cctalk/bus.py"):
        made = subprocess.run(
            [compiler, "-march=armv7m", "-X", "emit=native", "-o", "-", "-s", name, build.ROOT / name],
            capture_output=True,
            check=True,
        ).stdout
        aligned = mpy.align(made)
        assert aligned != made
        assert mpy.align(aligned) == aligned
        assert aligned.replace(b"\x80", b"") == made.replace(b"\x80", b"")
    with pytest.raises(mpy.MpyError):
        mpy.align(made[:-1])
    with pytest.raises(mpy.MpyError):
        mpy.align(b"MZ")


def test_an_application_trusts_the_key_that_it_is_signed_with(tmp_path):
    key = other_key(tmp_path)
    data = images.build_image(key, "host", games.packs(), "1.0.0", 1)
    found = firmware_image.parse(data)
    it = Application(data[32 : 32 + found.payload])
    assert (images.public_key(key),) == it.load("firmware.update.trust").KEYS
    assert it.load("firmware.update.trust").DEVELOPMENT == trust.DEVELOPMENT
    assert "is no key of ECDSA P-256" in cabinet("build", "--key", wrong_key(tmp_path), "-o", tmp_path / "x").output


def wrong_key(folder: Path) -> Path:
    path = folder / "rsa.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ED25519", "-out", path], check=True)
    return path

"""`cabinet flash` on a bare board: files, a folder that plays a bootloader's volume, and programs that play esptool and pyocd."""

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from firmware.update import image as firmware_image
from host_tools.boards import board_files
from host_tools.cabinet import exits, games
from host_tools.cabinet.cli import app
from host_tools.flash import volume
from host_tools.flash.chip_tools import Esp, Probe
from host_tools.flash.failure import FlashError
from host_tools.flash.resident import BOARDS, WAYS, recognise
from tests.firmware.update_images import image
from tests.flash import programming_files as files

OWN_FILE = b"....hal/boards/mps2.py...."


def flash(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["flash", *map(str, arguments)])
    return done.exit_code, done.output


def events(said: str) -> list[dict]:
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.fixture
def uf2_file(tmp_path: Path) -> Path:
    return put(tmp_path / "resident.uf2", files.pico_uf2(400))


class Bootloader(threading.Thread):
    """Takes the volume away when so many bytes of a file have come."""

    def __init__(self, folder: Path, after_bytes: int) -> None:
        super().__init__(daemon=True)
        self.folder, self.after_bytes = folder, after_bytes
        self.taken = b""
        self.over = threading.Event()

    def run(self) -> None:
        file = self.folder / volume.FILE
        while not self.over.is_set():
            if file.exists() and file.stat().st_size >= self.after_bytes:
                self.taken = file.read_bytes()
                shutil.rmtree(self.folder)
                return
            time.sleep(0.001)


@pytest.fixture
def bootloader(tmp_path: Path) -> Iterator[Callable[..., Bootloader]]:
    began: list[Bootloader] = []

    def begin(after_bytes: int) -> Bootloader:
        began.append(Bootloader(files.volume(tmp_path / "RPI-RP2"), after_bytes))
        began[-1].start()
        return began[-1]

    yield begin
    for it in began:
        it.over.set()
        it.join()


# --- the volume of a Pico's bootloader --------------------------------------------------------------------------------


def test_a_pico_gets_every_byte_and_restarts(uf2_file: Path, bootloader):
    size = uf2_file.stat().st_size
    board = bootloader(size)
    code, said = flash("--port", board.folder, "--json", uf2_file)
    assert code == 0, said
    assert board.taken == uf2_file.read_bytes()
    told = events(said)
    assert [event["e"] for event in told if event["e"] != "progress"] == ["file", "identity", "sent", "summary"]
    assert [event["offset"] for event in told if event["e"] == "progress"][-1] == size
    assert (told[0]["board"], told[-1]["state"]) == ("pico", "programmed")


def test_a_dry_run_writes_nothing(uf2_file: Path, tmp_path: Path):
    folder = files.volume(tmp_path / "RPI-RP2")
    before = sorted(os.listdir(folder))
    code, said = flash("--port", folder, "--dry-run", "--json", uf2_file)
    assert code == 0
    assert [event["e"] for event in events(said)] == ["file", "identity", "dry_run"]
    assert sorted(os.listdir(folder)) == before


def test_a_volume_that_stays_is_an_error(uf2_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(volume, "GONE_S", 0.2)
    code, said = flash("--port", files.volume(tmp_path / "RPI-RP2"), uf2_file)
    assert code == exits.BROKEN_OFF
    assert "still there" in said
    assert "BOOTSEL" in said


def test_a_volume_that_is_full(uf2_file: Path, tmp_path: Path):
    folder = files.volume(tmp_path / "RPI-RP2")
    (folder / volume.FILE).symlink_to("/dev/full")
    code, said = flash("--port", folder, uf2_file)
    assert code == exits.BROKEN_OFF
    assert "took 0 of" in said
    assert "No space left" in said


def test_a_plug_that_is_pulled_in_the_middle(tmp_path: Path, bootloader, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(volume, "PIECE_BYTES", 512)
    file = put(tmp_path / "resident.uf2", files.pico_uf2(8000))
    board = bootloader(8000)
    code, said = flash("--port", board.folder, file)
    assert code == exits.BROKEN_OFF
    assert "the volume is gone" in said
    assert f"of {file.stat().st_size} bytes" in said


def test_a_device_that_is_gone_counts_though_its_folder_still_shows_files(
    uf2_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As on Linux, where a pulled disk stays mounted until somebody unmounts it."""
    folder = files.volume(tmp_path / "RPI-RP2")
    device = put(tmp_path / "sda1", b"")
    monkeypatch.setattr(volume, "mounted", lambda: [(str(folder), f"/dev/..{device}")])
    file = folder / volume.FILE

    def pull() -> None:
        end_s = time.monotonic() + 20
        while not (file.exists() and file.stat().st_size == uf2_file.stat().st_size) and time.monotonic() < end_s:
            time.sleep(0.001)
        device.unlink()

    thread = threading.Thread(target=pull)
    thread.start()
    code, said = flash("--port", folder, uf2_file)
    thread.join()
    assert code == 0, said
    assert file.exists()


def test_another_board_in_its_bootloader_is_left_alone(uf2_file: Path, tmp_path: Path):
    folder = files.volume(tmp_path / "RP2350", "RP2350")
    code, said = flash("--port", folder, uf2_file)
    assert code == exits.WRONG_BOARD
    assert "'RP2350'" in said
    assert not (folder / volume.FILE).exists()


def test_without_a_port_the_candidates_are_listed_and_none_is_taken(
    uf2_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder, other = files.volume(tmp_path / "RPI-RP2"), tmp_path / "stick"
    other.mkdir()
    monkeypatch.setattr(volume, "mounted", lambda: [(str(folder), "/dev/sda1"), (str(other), "/dev/sdb1")])
    code, said = flash(uf2_file)
    assert code == exits.NO_PORT
    assert str(folder) in said
    assert str(other) not in said
    assert not (folder / volume.FILE).exists()
    monkeypatch.setattr(volume, "mounted", list)
    assert "no volume of a bootloader is mounted" in flash(uf2_file)[1]


def test_the_computer_s_own_disks_are_no_candidates():
    assert volume.mounted  # the real one
    assert all(it.board_id or it.model for it in volume.candidates())


def test_a_folder_that_is_no_volume(uf2_file: Path, tmp_path: Path):
    assert flash("--port", tmp_path / "nothing", uf2_file)[0] == exits.NO_PORT
    code, said = flash("--port", tmp_path, uf2_file)
    assert code == exits.NO_ANSWER
    assert "INFO_UF2.TXT" in said
    assert not (tmp_path / volume.FILE).exists()


# --- files ------------------------------------------------------------------------------------------------------------


def test_wrong_files_are_told_before_any_port_is_looked_at(tmp_path: Path):
    good = files.pico_uf2()
    arm = files.elf([(0, OWN_FILE + b"x" * 64)])
    for name, data, board, why in (
        ("a.uf2", good[:-512], None, "one is missing"),
        ("a.uf2", b"\0" + good[1:], None, "block 0 does not begin"),
        ("a.uf2", good, "mps2", "is for board 'pico'"),
        ("a.elf", arm[:-10], None, "cut short"),
        ("a.elf", arm[:40], "mps2", "no ELF that can be read"),
        ("a.elf", files.elf([(0, OWN_FILE)], machine=62), None, "no program for an Arm"),
        ("a.elf", files.elf([(0x10000000, OWN_FILE)]), None, "other memory than a mps2's"),
        ("a.elf", files.elf([(0, b"another program")]), "mps2", "no resident image of a cabinet"),
        ("a.elf", files.elf([(0, b"another program")]), None, "does not tell its board"),
        ("a.elf", files.elf([]), "pico", "holds nothing"),
        ("a.hex", files.intel_hex(0x10000000, b"abc").replace(b"6162", b"6163"), "pico", "no Intel HEX"),
        ("a.hex", files.intel_hex(0x20000000, b"abc"), "pico", "other memory"),
        ("a.bin", b"", "pico", "holds nothing"),
        ("a.bin", bytes((2 << 20) + 1), "pico", "other memory"),
        ("a.bin", b"abc", None, "name it with --board"),
        ("a.bin", b"abc", "mps2", "is programmed from ELF"),
        ("a.bin", b"abc", "toaster", "no board toaster"),
        ("a.txt", b"abc", None, "no image for a cabinet"),
    ):
        more = [] if board is None else ["--board", board]
        code, said = flash(*more, "--port", tmp_path / "nothing", put(tmp_path / name, data))
        assert code == (exits.WRONG_BOARD if "is for board" in why else 2), (why, said)
        assert why in " ".join(said.split()), said


def test_an_application_for_another_board_than_is_said(tmp_path: Path):
    file = put(tmp_path / "app.bin", image("2.0.0", 1, "mps2"))
    code, said = flash("--board", "pico", "--port", tmp_path / "nothing", file)
    assert code == exits.WRONG_BOARD
    assert "'mps2'" in said


def test_the_table_has_one_way_for_each_board_and_kind():
    pairs = [(way.board, kind) for way in WAYS for kind in way.kinds]
    assert len(set(pairs)) == len(pairs)
    assert set(BOARDS) == {board for board, _ in pairs}


def test_no_start_of_a_file_is_taken_for_an_application_s():
    magic = firmware_image.MAGIC.to_bytes(4, "little")
    assert not magic.startswith((b"UF2\n", b"\x7fELF", b":", b"\xe9"))


# --- the emulated board -----------------------------------------------------------------------------------------------


@pytest.fixture
def elf_file(tmp_path: Path) -> Path:
    return put(tmp_path / "firmware.elf", files.elf([(0, bytes(64) + OWN_FILE)]))


def test_a_bare_emulated_board_is_a_folder_with_program_and_packs(elf_file: Path, tmp_path: Path):
    folder = tmp_path / "board"
    assert flash("--port", folder, "--dry-run", elf_file)[0] == 0
    assert not folder.exists()
    code, said = flash("--port", folder, elf_file)
    assert code == 0, said
    assert f"--at {folder}" in " ".join(said.split())
    with board_files.in_use(folder) as found:
        assert found.flash.read_bytes() == elf_file.read_bytes()
        memory = found.memory.read_bytes()
    for pack in games.packs().values():
        assert pack in memory
    assert set(memory[: 1 << 12]) == {0xFF}  # no journal yet
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "firmware.elf"]


def test_a_board_that_is_there_is_not_made_anew(elf_file: Path, tmp_path: Path):
    folder = tmp_path / "board"
    flash("--port", folder, elf_file)
    put(folder / board_files.MEMORY, b"money")
    code, said = flash("--port", folder, elf_file)
    assert code == exits.REFUSED
    assert "may hold money" in said
    assert (folder / board_files.MEMORY).read_bytes() == b"money"
    assert flash(elf_file)[0] == exits.NO_PORT
    assert flash("--port", tmp_path / "no" / "where", elf_file)[0] == exits.NO_PORT


def test_a_board_that_cannot_be_made_leaves_nothing(elf_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(games, "packs", lambda: {"huge": bytes(2 << 20)})
    code, said = flash("--port", tmp_path / "board", elf_file)
    assert code == exits.BROKEN_OFF
    assert "do not fit" in said
    assert [path.name for path in tmp_path.iterdir()] == ["firmware.elf"]


def test_run_wants_a_board_that_was_programmed_and_that_nobody_else_runs(elf_file: Path, tmp_path: Path):
    run = CliRunner().invoke(app, ["run", "--board", "mps2", "--at", str(tmp_path)])
    assert run.exit_code == 2
    assert "is no board's folder" in run.output
    run = CliRunner().invoke(app, ["run", "--at", str(tmp_path)])
    assert run.exit_code == 2
    flash("--port", tmp_path / "board", elf_file)
    with board_files.in_use(tmp_path / "board"):
        run = CliRunner().invoke(app, ["run", "--board", "mps2", "--at", str(tmp_path / "board")])
    assert run.exit_code == 2
    assert "another program" in run.output


# --- esptool and pyocd, played by programs on PATH --------------------------------------------------------------------

PLAYS = """
import json, os, sys
told = json.load(open(os.environ["PLAYED"]))
open(os.environ["PLAYED"] + ".log", "a").write(json.dumps(sys.argv[1:]) + "\\n")
verb = next(word for word in sys.argv[1:] if word in told)
print(told[verb][1])
sys.exit(told[verb][0])
"""


class Played:
    """A program on PATH that says what it is told to, and writes down what it was asked."""

    def __init__(self, folder: Path, name: str, told: dict[str, tuple[int, str]]) -> None:
        self.told, self._state = dict(told), folder / "played.json"
        program = folder / "bin" / name
        program.parent.mkdir()
        program.write_text(f"#!{sys.executable} -IS\n{PLAYS}")
        program.chmod(0o755)
        self.save()

    def save(self) -> None:
        self._state.write_text(json.dumps(self.told))

    def says(self, verb: str, code: int, text: str) -> None:
        self.told[verb] = (code, text)
        self.save()

    def asked(self) -> list[list[str]]:
        log = Path(f"{self._state}.log")
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Played]:
    def begin(name: str, told: dict[str, tuple[int, str]]) -> Played:
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("PLAYED", str(tmp_path / "played.json"))
        return Played(tmp_path, name, told)

    return begin


# What esptool 5.6 prints, without what does not matter.
GOOD_ESP = {
    "version": (0, "esptool v5.6.0\n5.6.0"),
    "image-info": (0, "Image size: 144 bytes\nDetected image type: ESP32-C3\nChecksum: 0x62 (valid)"),
    "chip-id": (0, "Connected to ESP32-C3 on /dev/ttyUSB0:\nChip type:          ESP32-C3 (QFN32) (revision v0.4)"),
    "write-flash": (0, "Writing at 0x00000000 [=====>    ]  50.0% 72/144 bytes...\nHash of data verified."),
}


@pytest.fixture
def esp_file(tmp_path: Path) -> Path:
    return put(tmp_path / "resident.bin", files.esp_image(5))


def test_an_esp_is_asked_who_it_is_and_then_written(played, esp_file: Path):
    esptool, size = played("esptool", GOOD_ESP), esp_file.stat().st_size
    code, said = flash("--port", "/dev/ttyUSB0", "--json", esp_file)
    assert code == 0, said
    told = events(said)
    assert [event["e"] for event in told if event["e"] != "progress"] == ["file", "identity", "sent", "summary"]
    assert [event["offset"] for event in told if event["e"] == "progress"] == [size // 2, size]
    assert told[0]["board"] == "esp32c3"
    assert esptool.asked()[-3:] == [
        ["image-info", str(esp_file)],
        ["--port", "/dev/ttyUSB0", "chip-id"],
        ["--chip", "esp32c3", "--port", "/dev/ttyUSB0", "write-flash", "0x0", str(esp_file)],
    ]


def test_an_esp_that_is_only_looked_at(played, esp_file: Path):
    esptool = played("esptool", GOOD_ESP)
    assert flash("--port", "/dev/ttyUSB0", "--dry-run", esp_file)[0] == 0
    assert not any("write-flash" in asked for asked in esptool.asked())


@pytest.mark.parametrize(
    ("verb", "exit_", "says", "code", "why"),
    [
        ("version", 0, "4.8.1", 1, "pip install 'esptool>=5.0'"),
        ("image-info", 2, "A fatal error occurred: Invalid image", 2, "no image that esptool can read"),
        ("image-info", 0, "Detected image type: ESP32-C3\nChecksum: 0x62 (invalid - calculated 0x63)", 2, "is damaged"),
        ("image-info", 0, "Detected image type: ESP32-C6", 2, "is for ESP32-C6"),
        (
            "chip-id",
            2,
            "A fatal error occurred: Could not open /dev/ttyUSB0, the port is busy",
            exits.NO_PORT,
            "is busy",
        ),
        ("chip-id", 2, "A fatal error occurred: Failed to connect: No serial data received.", exits.NO_ANSWER, "BOOT"),
        ("chip-id", 0, "Connected to ESP32-S3 on /dev/ttyUSB0:", exits.WRONG_BOARD, "is ESP32-S3"),
        ("chip-id", 0, "something else", exits.NO_ANSWER, "no chip answers"),
        (
            "write-flash",
            2,
            "A fatal error occurred: The chip stopped responding.",
            exits.BROKEN_OFF,
            "stopped responding",
        ),
    ],
)
def test_what_can_go_wrong_with_an_esp(played, esp_file: Path, verb: str, exit_: int, says: str, code: int, why: str):
    esptool = played("esptool", GOOD_ESP)
    esptool.says(verb, exit_, says)
    found, said = flash("--port", "/dev/ttyUSB0", esp_file)
    assert found == code, said
    assert why in " ".join(said.split())
    assert any("write-flash" in asked for asked in esptool.asked()) == (verb == "write-flash")


def test_an_esp_needs_a_port_that_is_named(played, esp_file: Path):
    esptool = played("esptool", GOOD_ESP)
    assert flash(esp_file)[0] == exits.NO_PORT
    assert not any("chip-id" in asked for asked in esptool.asked())


def test_a_missing_tool_is_named_with_the_line_that_installs_it(
    esp_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    code, said = flash("--port", "/dev/ttyUSB0", esp_file)
    assert code == 1
    assert "pip install 'esptool>=5.0'" in said
    code, said = flash("--port", "x", "--board", "pico", put(tmp_path / "a.bin", b"abc"))
    assert code == 1
    assert "pip install 'pyocd>=0.36'" in said


def probes(*boards: dict[str, str]) -> tuple[int, str]:
    return 0, json.dumps({"pyocd_version": "0.46.0", "status": 0, "boards": list(boards)}, indent=4)


MINE = {"unique_id": "E661", "info": "Raspberry Pi Debug Probe", "target": "cortex_m"}
GOOD_PYOCD = {
    "--version": (0, "0.46.0"),
    "json": probes(MINE),
    "commander": (0, "Core 0: Running"),
    "load": (0, "[====] 100%"),
}


@pytest.fixture
def probe_file(tmp_path: Path) -> Path:
    return put(tmp_path / "resident.elf", files.elf([(0x10000000, files.boot_stage())]))


@pytest.mark.parametrize("kind", ["elf", "hex", "bin"])
def test_a_board_behind_a_debug_probe(played, tmp_path: Path, kind: str):
    data = {"elf": files.elf([(0x10000000, b"abc")]), "hex": files.intel_hex(0x10000000, b"abc"), "bin": b"abc"}[kind]
    file = put(tmp_path / f"resident.{kind}", data)
    pyocd = played("pyocd", GOOD_PYOCD)
    code, said = flash("--board", "pico", "--port", "E661", "--json", file)
    assert code == 0, said
    assert [event["e"] for event in events(said) if event["e"] != "progress"] == ["file", "identity", "sent", "summary"]
    wanted = ["load", "--no-wait", "--uid", "E661", "--target", "rp2040", "--format", kind]
    wanted += ["--base-address", "0x10000000"] if kind == "bin" else []
    assert pyocd.asked()[-1] == [*wanted, str(file)]


def test_a_dry_run_behind_a_debug_probe(played, probe_file: Path):
    pyocd = played("pyocd", GOOD_PYOCD)
    assert flash("--board", "pico", "--port", "E661", "--dry-run", probe_file)[0] == 0
    assert [asked[0] for asked in pyocd.asked()] == ["--version", "json", "commander"]


@pytest.mark.parametrize(
    ("verb", "says", "port", "code", "why"),
    [
        ("json", probes(), "E661", exits.NO_PORT, "no debug probe E661"),
        ("json", probes(MINE, {**MINE, "unique_id": "E662"}), None, exits.NO_PORT, "E662 Raspberry Pi Debug Probe"),
        ("json", probes({**MINE, "target": "nrf52840"}), "E661", exits.WRONG_BOARD, "nrf52840"),
        ("json", (1, "no backend"), "E661", 1, "does not list its probes"),
        ("commander", (3, "Error: no ACK received"), "E661", exits.NO_ANSWER, "SWDIO"),
        ("load", (1, "Error: flash program page failure"), "E661", exits.BROKEN_OFF, "page failure"),
        ("--version", (0, "0.13.1"), "E661", 1, "pip install 'pyocd>=0.36'"),
    ],
)
def test_what_can_go_wrong_behind_a_debug_probe(
    played, probe_file: Path, verb: str, says: tuple[int, str], port: str | None, code: int, why: str
):
    pyocd = played("pyocd", GOOD_PYOCD)
    pyocd.says(verb, *says)
    named = [] if port is None else ["--port", port]
    found, said = flash("--board", "pico", *named, probe_file)
    assert found == code, said
    assert why in " ".join(said.split())
    assert any(asked[0] == "load" for asked in pyocd.asked()) == (verb == "load")


# --- the real ones, as far as they go without a board -----------------------------------------------------------------


@pytest.mark.skipif(shutil.which("esptool") is None, reason="esptool is not installed (pip install esptool)")
def test_the_real_esptool_knows_these_calls(esp_file: Path, tmp_path: Path):
    found = recognise(esp_file, esp_file.read_bytes(), None)
    Esp().check_image(found)
    damaged = bytearray(esp_file.read_bytes())
    damaged[40] ^= 1
    put(esp_file, bytes(damaged))
    with pytest.raises(Exception) as caught:  # noqa: PT011 - typer's Exit
        Esp().check_image(found)
    assert getattr(caught.value, "exit_code", None) == 2
    for step, code in (
        (lambda: Esp().identify(found, str(tmp_path / "none")), exits.NO_PORT),
        (lambda: Esp().write(found, str(tmp_path / "none"), lambda percent: None), exits.BROKEN_OFF),
    ):
        with pytest.raises(FlashError, match="ould not open") as refused:
            step()
        assert refused.value.code == code


@pytest.mark.skipif(shutil.which("pyocd") is None, reason="pyocd is not installed (pip install pyocd)")
@pytest.mark.parametrize("board", ["pico", "nrf52840"])
def test_the_real_pyocd_knows_these_calls(board: str, tmp_path: Path):
    file = put(tmp_path / "resident.bin", bytes(256))
    found, probe = recognise(file, file.read_bytes(), board), Probe()
    assert "nobody" not in [it["unique_id"] for it in probe.probes()]
    with pytest.raises(FlashError, match="no debug probe nobody"):
        probe.identify(found, "nobody")
    with pytest.raises(
        FlashError, match=r"No target device|No connected debug probe"
    ):  # and no word of wrong arguments
        probe.write(found, "nobody", lambda percent: None)
    code, said = probe._tool.run(
        "commander", "--no-wait", "--uid", "nobody", "--connect", "attach", "--command", "status"
    )
    assert (code, "No connected debug probe" in said) == (3, True)

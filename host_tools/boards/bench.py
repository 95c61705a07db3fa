"""What the emulated board spends: bytes of its image, time of its loop, instructions of the core. Figures only.

Time on the board counts instructions (`-icount shift=5`, 32 ns each), so the figures hardly depend on this machine.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from host_tools.boards import build
from host_tools.boards.mps2_session import Mps2Session
from host_tools.cabinet.bench import Figure
from host_tools.hil.rig import Rig, RigError
from host_tools.hil.script import parse

PLAYS = 100
CORE_ROUNDS = 10_000
INSTRUCTION_NS = 32
CYCLE_NS = 40

# A section that the linker placed: its name, address, bytes and the object that it came from.
_PLACED = re.compile(r"^ (\.\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S+)$", re.MULTILINE)
_PARTS = (
    ("firmware and drivers, frozen", "frozen_content.o"),
    ("C core", "core/"),
    ("its Python module", "micropython/"),
    ("board", "boards/"),
)


def image(target: str = "mps2") -> list[Figure]:
    """Bytes in the chip's flash by what they are for, out of the linker's map."""
    build.ensure(target)
    objects = build.BUILD / "objects" / target
    said = (objects / "firmware.map").read_text()
    placed = re.sub(r"^( \.\S+)\n\s+", r"\1 ", said[said.index("Linker script and memory map") :], flags=re.MULTILINE)
    sizes = dict.fromkeys([name for name, _ in _PARTS] + ["MicroPython"], 0)
    for section, address, size, source in _PLACED.findall(placed):
        if section.startswith((".text", ".rodata", ".data", ".cabinet_vectors")) and int(address, 16):
            source = source.removeprefix(f"{objects}/")
            name = next((name for name, start in _PARTS if source.startswith(start)), "MicroPython")
            sizes[name] += int(size, 16)
    figures = [Figure(f"image: {name}", size / 1024, "KiB") for name, size in sizes.items()]
    return [Figure("image", sum(sizes.values()) / 1024, "KiB"), *figures]


def core(packs: Mapping[str, bytes]) -> list[Figure]:
    """Instructions of one base play of each game, the random draws included; core_bench.c says how it is measured."""
    here = Path(__file__).parent
    sources = sorted((build.ROOT / "native" / "core").glob("*.c"))
    figures = []
    for name, data in packs.items():
        with tempfile.TemporaryDirectory(prefix="cabinet-") as folder:
            words = ", ".join(map(str, data))
            pack = Path(folder, "pack.c")
            pack.write_text(
                "#include <stdint.h>\n"
                f"const uint8_t pack_data[] __attribute__((aligned(64))) = {{{words}}};\n"
                f"const uint32_t pack_bytes = {len(data)};\n"
            )
            program = Path(folder, "core.elf")
            command = ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m3", "-O2", f"-DROUNDS={CORE_ROUNDS}"]
            command += [
                "-ffunction-sections",
                "-Wl,--gc-sections",
                "-nostartfiles",
                "--specs=nano.specs",
                "--specs=nosys.specs",
            ]
            command += [
                "-I",
                str(build.ROOT / "native" / "core"),
                "-T",
                str(here / "core_bench.ld"),
                "-o",
                str(program),
            ]
            subprocess.run([*command, str(here / "core_bench.c"), str(pack), *map(str, sources)], check=True)
            emulator = ["qemu-system-arm", "-machine", "mps2-an385", "-icount", "shift=5", "-display", "none"]
            emulator += ["-monitor", "none", "-serial", "none", "-semihosting", "-kernel", str(program)]
            ran = subprocess.run(emulator, check=True, capture_output=True, text=True, timeout=60)
        cycles, plays = map(int, (ran.stdout + ran.stderr).split())
        figures.append(
            Figure(f"C core, one base play of {name}", cycles * CYCLE_NS / INSTRUCTION_NS / plays, "instructions")
        )
    return figures


class _Busy:
    """A cabinet on the emulated board that is played like a busy one."""

    def __init__(self, packs: Mapping[str, bytes]) -> None:
        self.rig = Rig(packs, board="mps2")
        self.presses_ms: list[int] = []

    @property
    def session(self) -> Mps2Session:
        assert isinstance(self.rig.session, Mps2Session)
        return self.rig.session

    def do(self, script: str) -> None:
        self.rig.run(parse(script))

    def play(self) -> None:
        """One play, its features too, with credit for it."""
        if self.rig.query()["credit"] < 1000:
            self.do("coin 200\ncoin 200")
        began_ms = self.rig.now_ms
        self.do("press start for 60ms")
        for _ in self._until_idle():
            if self.rig.state == "choosing":
                self.do("press start for 50ms")
            elif self.rig.state == "gambling":
                self.do("press collect for 50ms")
            elif self.rig.state == "handpay":
                self.do("turn attendant\nunturn attendant")
        # Told behind the commit; the line on the console takes some milliseconds, too.
        rounds = [event["t"] for event in self.rig.events if event["e"] == "round" and event["t"] > began_ms]
        self.presses_ms.append(rounds[0] - began_ms)

    def _until_idle(self) -> Iterator[None]:
        end_ms = self.rig.now_ms + 300_000
        self.rig.run_for(150)
        while self.rig.state != "idle":
            if self.rig.now_ms > end_ms:
                raise RigError(f"the cabinet is still {self.rig.state} five minutes after the start button")
            yield
            self.rig.step()


def cabinet(packs: Mapping[str, bytes]) -> list[Figure]:
    """The loop in play: coins, plays with their features, a query of the books between any two."""
    it = _Busy(packs)
    try:
        it.do("entropy seed 1\npower on\nconsole set quick_spin on")
        boot_ms = next(event["t"] for event in it.rig.events if event["e"] == "state" and event["state"] == "idle")
        it.session.nvram.clear_turns()
        for name in packs:
            it.do(f"game {name}")
            for _ in range(PLAYS // len(packs)):
                it.play()
        turns = it.session.nvram.turns()
        it.do("press cash_out\nwait until idle within 5m")
        whole = it.session.nvram.turns()
        it.do("console memory")
        lines = [line.split() for line in it.rig.world.console.text]
    finally:
        it.rig.close()
    presses = sorted(it.presses_ms)
    figures = [
        Figure("power on to ready", boot_ms, "ms"),
        Figure("first turn of the loop", turns.first_us / 1000, "ms"),
        Figure(f"turn of the loop, median of {turns.count} in {PLAYS} plays", turns.median_us / 1000, "ms"),
        Figure("turn of the loop, worst", turns.worst_us / 1000, "ms"),
        Figure("turn of the loop, worst with a cash-out", whole.worst_us / 1000, "ms"),
        Figure("start button to the committed outcome, median", presses[len(presses) // 2], "ms"),
        Figure("start button to the committed outcome, worst", presses[-1], "ms"),
    ]
    for words in lines:
        if words[0] in ("heap", "stack"):
            free, size = int(words[1]), int(words[3])
            figures.append(Figure(f"{words[0]} free, of {size / 1024:.0f} KiB", 100 * free / size, "%"))
    return figures


def run(packs: Mapping[str, bytes]) -> list[Figure]:
    return image() + core(packs) + cabinet(packs)

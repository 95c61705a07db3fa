"""What the emulated board spends: bytes of its image, time of its loop, instructions of the core. Figures only.

Time on the board counts instructions (`-icount shift=5`, 32 ns each), so the figures hardly depend on this machine.
"""

import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from firmware.store import keys
from firmware.store.journal import Journal
from hal.boards.host import MemoryNvram
from host_tools.boards import build
from host_tools.boards.mps2_session import BoardMemory, Mps2Session
from host_tools.cabinet.bench import Figure
from host_tools.flash import rate
from host_tools.hil.player import finish, put_money_in
from host_tools.hil.rig import Rig, RigError
from host_tools.hil.script import parse

PLAYS = 100
CORE_ROUNDS = 10_000
PRESS_MS = 100
LONGEST_MS = 1000  # from the start button to the outcome in NVRAM
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


def press_to_outcome_ms(rig: Rig, memory: BoardMemory) -> int:
    """Presses the start button. How long until the round's seed, and so its outcome, is in NVRAM.

    Errors: RigError when that does not happen within LONGEST_MS.
    """
    began_ms, written = rig.now_ms, memory.written
    rig.world.panel.press("start", began_ms * 1000, PRESS_MS)
    while rig.now_ms - began_ms < LONGEST_MS:
        rig.step(1)
        if memory.written != written:
            written = memory.written
            journal = Journal(MemoryNvram(bytearray(memory.memory)))  # a copy: opening it may write
            journal.open()
            if journal.get(keys.ROUND):
                return rig.now_ms - began_ms
    raise RigError("the start button began no play")


def cabinet(packs: Mapping[str, bytes]) -> list[Figure]:
    """The loop in play: coins, plays with their features, a query of the books between any two."""
    rig = Rig(packs, board="mps2")
    assert isinstance(rig.session, Mps2Session)
    memory = rig.session.nvram
    presses = []
    try:
        rig.run(parse("entropy seed 1\npower on\nconsole set quick_spin on"))
        boot_ms = next(event["t"] for event in rig.events if event["e"] == "state" and event["state"] == "idle")
        memory.clear_turns()
        for name in packs:
            rig.run(parse(f"game {name}"))
            for _ in range(PLAYS // len(packs)):
                put_money_in(rig)
                presses.append(press_to_outcome_ms(rig, memory))
                finish(rig)
        turns = memory.turns()
        rig.run(parse("press cash_out\nwait until idle within 5m"))
        whole = memory.turns()
        rig.run(parse("console memory"))
        lines = [line.split() for line in rig.world.console.text]
    finally:
        rig.close()
    presses.sort()
    figures = [
        Figure("power on to ready", boot_ms, "ms"),
        Figure("first turn of the loop", turns.first_us / 1000, "ms"),
        Figure(f"turn of the loop, median of {turns.count} in {PLAYS} plays", turns.median_us / 1000, "ms"),
        Figure("turn of the loop, worst", turns.worst_us / 1000, "ms"),
        Figure("turn of the loop, worst with a cash-out", whole.worst_us / 1000, "ms"),
        Figure("start button to the outcome in NVRAM, median", presses[len(presses) // 2], "ms"),
        Figure("start button to the outcome in NVRAM, worst", presses[-1], "ms"),
    ]
    for words in lines:
        if words[0] in ("heap", "stack"):
            free, size = int(words[1]), int(words[3])
            figures.append(Figure(f"{words[0]} free, of {size / 1024:.0f} KiB", 100 * free / size, "%"))
    return figures


def run(packs: Mapping[str, bytes]) -> list[Figure]:
    return image() + core(packs) + cabinet(packs) + rate.upload(packs)

"""The core under the address and undefined-behaviour sanitizers, fed with packs that were tampered with."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.native import fuzz
from tests.native.encoder import encode
from tests.native.everything import every_mechanic
from tests.native.oracle_games import Maker
from tests.native.packs import (
    PRODUCT,
    SUM,
    Feature,
    Game,
    Mode,
    Symbol,
    add_spins,
    award,
    build,
    feature,
    sample,
    slotopol_set_10,
)

HERE = Path(__file__).resolve().parent
CORE = HERE.parents[1] / "native" / "core"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow"]
PROCESSOR = ("__cpu_model", "__cpu_indicator_init")  # of the compiler: what the processor can do; host tools only
SANITIZE = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def compile_c(output: Path, *arguments: str | Path, sources: list[Path]) -> Path:
    command = ["gcc", *STRICT, *map(str, arguments), f"-I{CORE}", *map(str, sources), "-o", str(output)]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return output


@pytest.fixture(scope="module")
def sanitizer(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The flags, where the compiler has the runtime; elsewhere there is nothing to run these tests with."""
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.c").write_text("int main(void) { return 0; }\n")
    probe = subprocess.run(["gcc", *SANITIZE, "probe.c", "-o", "probe"], cwd=folder, capture_output=True, text=True)
    if probe.returncode:
        pytest.skip("gcc has no address and undefined-behaviour sanitizer runtime here")
    return SANITIZE


@pytest.fixture(scope="module")
def core(sanitizer: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The core's object files under the sanitizers, by source."""
    folder = tmp_path_factory.mktemp("core")

    def compiled(source: Path) -> Path:
        return compile_c(folder / f"{source.stem}.o", "-c", *sanitizer, sources=[source])

    sources = sorted(CORE.glob("*.c"))
    with ThreadPoolExecutor(2) as pool:
        return dict(zip((source.stem for source in sources), pool.map(compiled, sources), strict=True))


def many_scatters() -> Game:
    """Six reels, five rows, 32 symbols, scatters that are wild, wilds that stand for wilds."""
    symbols = [Symbol(f"s{n}", [0, 1, 2, 3, 4, 5]) for n in range(22)]
    symbols += [Symbol(f"S{n}", scatter=True, view=[n, 1, 2]) for n in range(7)]
    symbols += [
        Symbol("W", [1] * 6, wild=True, scatter=True, view=[0, 4], mask=1 << 30 | 0xFFF, multiplier=2),
        Symbol("X", wild=True, mask=1 << 29 | 1 << 31 | 0xFF0, multiplier=3),
        Symbol("Y", [0, 9], wild=True, mask=1 << 22 | 7, multiplier=5),
    ]
    strips = [[(stop * (reel + 5)) % 32 for stop in range(6)] for reel in range(6)]
    return Game(
        symbols=symbols,
        rows=5,
        lines=[[(line + reel) % 5 for reel in range(6)] for line in range(5)],
        sets=[strips, [strip[::-1] for strip in strips]],
        modes=[Mode(steps=[award([22], 0, 1)]), Mode("free", set=1, flags=1, steps=[add_spins([29], 2)])],
        tables=[[feature(0)]],
        features=[Feature(mode=1, most=20, options={1: [(3, 2), (1, 9)]})],
        rule=SUM,
        name="many",
    )


def small() -> Game:
    return Game(
        symbols=[Symbol("A", [0, 2, 5]), Symbol("W", [0, 0, 9], wild=True, mask=1, multiplier=2)],
        lines=[[0, 1, 2], [1, 1, 1]],
        sets=[[[0, 1, 0, 0]] * 3],
        rule=PRODUCT,
        needs_natural=True,
        name="small",
    )


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("packs")
    paths = []
    for game in (sample(), every_mechanic(), slotopol_set_10(), many_scatters(), small()):
        paths.append(folder / f"{game.name}.pack")
        paths[-1].write_bytes(build(game))
    return paths


def test_the_core_compiles_without_a_warning(tmp_path):
    """Freestanding too: beyond string.h the core may need nothing of a C library."""
    for source in sorted(CORE.glob("*.c")):
        for flags in (["-O0"], ["-O3"], ["-Os", "-ffreestanding"]):
            compile_c(tmp_path / f"{source.stem}.o", "-c", *flags, sources=[source])
        object_ = compile_c(tmp_path / f"{source.stem}.o", "-c", "-O2", sources=[source])
        undefined = subprocess.run(["nm", "-u", object_], check=True, capture_output=True, text=True).stdout.split()
        assert {name for name in undefined if name != "U"} <= {
            *("memcmp", "memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"),
            *(PROCESSOR if source.name in ("lanes.c", "quick.c") else ()),
            *(name for name in undefined if name.startswith("cab_")),
        }
        data = subprocess.run(["size", "-A", object_], check=True, capture_output=True, text=True).stdout
        writable = {
            row.split()[0]: int(row.split()[1]) for row in data.splitlines() if row.startswith((".data ", ".bss "))
        }
        assert set(writable.values()) <= {0}, "the core has no mutable globals"


def test_changed_packs_never_reach_undefined_behaviour(sanitizer, core, packs, tmp_path):
    """The kept corpus of tests.native.fuzz, the packs above, some random games, and mutations of all of them."""
    program = compile_c(
        tmp_path / "fuzz", *sanitizer, "-DCAB_FUZZ_DRIVER", sources=[HERE / "fuzz_pack.c", *core.values()]
    )
    paths = [*packs, *fuzz.kept(tmp_path / "kept")]
    for seed in range(20):
        paths.append(tmp_path / f"random_{seed}")
        paths[-1].write_bytes(encode(Maker(seed).game()))

    def run(half: int) -> list[int]:
        command = [program, str(half + 1), "4", *paths[half::2]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[-3000:]
        return [int(word) for word in done.stdout.split() if word.isdigit()]

    with ThreadPoolExecutor(2) as pool:
        for opened, refused, _, simulations, *kinds in pool.map(run, range(2)):
            assert min(opened, refused, simulations) > 300  # the run has been on both sides of the door
            assert min(kinds) > 0  # and has seen every kind of event


def test_any_compiler_gives_the_same(tmp_path):
    """Without vectors and processor dispatch: the fuzzer compares simulations with the plain round function."""
    program = compile_c(
        tmp_path / "portable",
        "-O2",
        "-DCAB_PORTABLE",
        "-DCAB_FUZZ_DRIVER",
        sources=[HERE / "fuzz_pack.c", *sorted(CORE.glob("*.c"))],
    )
    paths = [tmp_path / f"random_{seed}" for seed in range(40)]
    for seed, path in enumerate(paths):
        path.write_bytes(encode(Maker(seed).game()))
    done = subprocess.run([program, "1", "10", *paths], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    simulations = int(done.stdout.split("simulations")[1].split()[0])
    assert simulations > 100


def test_a_stream_without_usable_words_is_a_fault_not_a_loop(sanitizer, core, packs, tmp_path):
    others = [object_ for name, object_ in core.items() if name != "chacha20"]
    program = compile_c(tmp_path / "stuck", *sanitizer, sources=[HERE / "stuck_stream.c", *others])
    done = subprocess.run([program, packs[0]], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def test_health_tests_at_the_ends_of_their_counters(sanitizer, core, tmp_path):
    program = compile_c(tmp_path / "health", *sanitizer, sources=[HERE / "health_wraps.c", *core.values()])
    done = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "")

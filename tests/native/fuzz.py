"""Fuzzes the core with libFuzzer under the address and undefined-behaviour sanitizers.

    python -m tests.native.fuzz --runs 10000000 --jobs 2     needs clang with compiler-rt (Debian: clang libclang-rt-14-dev)

Starts from the kept corpus, from random games and from the games of this tree, and leaves everything in build/fuzz: corpus/,
the logs, and crash-… files if there is a finding. Repeat one with: build/fuzz/fuzz build/fuzz/crash-…. With --keep, what the
corpus reaches is kept in tests/native/fuzz_corpus.tar.xz by as few packs as libFuzzer's merge finds; the regression test
(test_native_sanitized.py) plays them with gcc. --coverage tells which lines of the core the kept corpus reaches.
"""

import argparse
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.native.encoder import encode
from tests.native.oracle_games import Maker

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORE = ROOT / "native" / "core"
KEPT = HERE / "fuzz_corpus.tar.xz"
BUILD = ROOT / "build" / "fuzz"
MOST_BYTES = 6000  # of an input; the largest game of this tree has 5,536


def find_clang() -> str:
    for name in ("clang", *(f"clang-{version}" for version in range(22, 10, -1))):
        if path := shutil.which(name):
            return path
    sys.exit("fuzz: no clang here (Debian: apt install clang libclang-rt-14-dev)")


def compile_with(clang: str, output: Path, harness: list[str], core: list[str]) -> Path:
    """harness, core: flags of each. The hash has none: it would take two thirds of the time; the regression test sanitizes it."""
    common, objects = [clang, "-std=c99", "-DCAB_PORTABLE", f"-I{CORE}", "-c"], []  # clang 14 knows no clones by target
    for source in (HERE / "fuzz_pack.c", *sorted(CORE.glob("*.c"))):
        flags = ["-O3"] if source.name == "sha256.c" else ["-g", "-O2", *(core if source.parent == CORE else harness)]
        objects.append(BUILD / f"{source.stem}.o")
        subprocess.run([*common, *flags, source, "-o", objects[-1]], check=True)
    subprocess.run([clang, *core, *objects, "-o", output], check=True)
    return output


def kept(folder: Path) -> list[Path]:
    """Unpacks the kept corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(KEPT) as archive:
        archive.extractall(folder, filter="data")
        return sorted(folder / name for name in archive.getnames())


def seeds(folder: Path, games: int) -> None:
    """Random games, the games of this tree, and what was kept."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(games):
        (folder / f"random_{seed}").write_bytes(encode(Maker(seed).game()))
    from host_tools.cabinet.games import packs

    for name, pack in packs().items():
        (folder / name).write_bytes(pack)
    if KEPT.exists():
        kept(folder)


def fuzz(program: Path, runs: int, jobs: int, first_seed: int) -> int:
    """Runs side by side on one corpus. Returns the findings."""
    (BUILD / "corpus").mkdir(exist_ok=True)
    running = []
    for job in range(jobs):
        log = (BUILD / f"fuzz-{job}.log").open("w")
        command = ["nice", "-n", "10", program, "corpus", "seeds", f"-runs={runs // jobs}", f"-seed={first_seed + job}"]
        command += [f"-max_len={MOST_BYTES}", "-timeout=20", "-reload=30", "-print_final_stats=1", "-len_control=0"]
        running.append(subprocess.Popen(command, cwd=BUILD, stdout=log, stderr=log))
    findings = sum(process.wait() != 0 for process in running)
    for job in range(jobs):
        lines = (BUILD / f"fuzz-{job}.log").read_text(errors="replace").splitlines()
        told = [line for line in lines if "DONE" in line or line.startswith("stat::") or "ERROR" in line]
        print(f"job {job}:", *told, sep="\n  ")
    return findings


def keep(program: Path) -> None:
    """Merges corpus and seeds into as few packs as reach the same, smallest first, and writes the archive."""
    small = BUILD / "small"
    shutil.rmtree(small, ignore_errors=True)
    small.mkdir()
    subprocess.run([program, "-merge=1", small, BUILD / "corpus", BUILD / "seeds"], check=True, capture_output=True)
    packs = sorted(small.iterdir(), key=lambda path: path.stat().st_size)
    with tarfile.open(KEPT, "w:xz", preset=9) as archive:
        for path in packs:
            entry = tarfile.TarInfo(path.name[:12])  # the hash of its bytes, by libFuzzer; no times, no owners
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                archive.addfile(entry, file)
    print(f"kept {len(packs)} packs in {KEPT.stat().st_size} bytes")


def coverage(clang: str) -> None:
    flags = ["-fprofile-instr-generate", "-fcoverage-mapping"]
    program = compile_with(clang, BUILD / "covered", ["-DCAB_FUZZ_DRIVER"], flags)
    raw, profile = BUILD / "covered.profraw", BUILD / "covered.profdata"
    subprocess.run([program, "1", "0", *kept(BUILD / "kept")], check=True, env={"LLVM_PROFILE_FILE": str(raw)})
    tool = Path(clang).resolve().parent
    subprocess.run([tool / "llvm-profdata", "merge", raw, "-o", profile], check=True)
    subprocess.run([tool / "llvm-cov", "report", program, f"-instr-profile={profile}", *sorted(CORE.glob("*.c"))])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000_000, help="executions of all jobs together")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="of the first job; the next job takes the next")
    parser.add_argument("--games", type=int, default=200, help="random games to start from")
    parser.add_argument("--keep", action="store_true", help="write tests/native/fuzz_corpus.tar.xz")
    parser.add_argument("--coverage", action="store_true", help="tell which lines the kept corpus reaches")
    asked = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    clang = find_clang()
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    # Compared values are for mutators that do not know the format; ours does, and they cost a third of the time.
    guided = ["-fsanitize=fuzzer", "-fno-sanitize-coverage=trace-cmp"]
    program = compile_with(clang, BUILD / "fuzz", sanitizers, [*sanitizers, *guided])
    seeds(BUILD / "seeds", asked.games)
    findings = fuzz(program, asked.runs, asked.jobs, asked.seed) if asked.runs else 0
    if asked.keep:
        keep(program)
    if asked.coverage:
        coverage(clang)
    print(f"findings: {findings}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

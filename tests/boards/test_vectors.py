"""The C core gives the same answers on every board, character by character (vectors.py)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import native
from host_tools.boards.repl import Emulator
from host_tools.cabinet import games
from tests.boards.vectors import replay
from tests.native.everything import every_mechanic
from tests.native.packs import build, sample, slotopol_set_10

ROOT = Path(__file__).parents[2]
VECTORS = Path(__file__).with_name("vectors.py")
ROUNDS = 3_000
PACKS = [build(game) for game in (every_mechanic(), sample(), slotopol_set_10())]
# Of each game of the firmware. CABINET_VECTOR_ROUNDS=100000 pytest tests/boards/test_vectors.py takes longer and proves more.
GAME_ROUNDS = int(os.environ.get("CABINET_VECTOR_ROUNDS", "4000"))


@pytest.fixture(scope="module")
def packs(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("packs")
    files = []
    for number, data in enumerate(PACKS):
        files.append(folder / f"{number}.pack")
        files[-1].write_bytes(data)
    return files


@pytest.fixture(scope="module")
def replayed() -> str:
    """What CPython says of the games' own rounds."""
    told = [replay(native.Pack(data), GAME_ROUNDS) for data in games.packs().values()]
    return "".join(f"{counts['award_pence']} {counts['sha256']}\n" for counts in told)


@pytest.fixture(scope="module")
def told(packs) -> str:
    """What CPython says."""
    return subprocess.run(
        [sys.executable, VECTORS, str(ROUNDS), *packs],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout


def test_cpython_covers_what_the_vectors_are_for(told):
    crcs, chained, hashes, arguments, signatures, health, *found = json.loads(told)
    of_one = [True, *[False] * 12]
    assert signatures == [*of_one, *of_one, *["ValueError"] * 3]
    assert [alarm for alarm in range(6) if alarm not in health[3:24:4]] == []
    assert crcs[0] == 0xCBF43926  # the check value of CRC-32/ISO-HDLC
    assert chained
    assert hashes[0] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-4, "abc"
    assert set(arguments) == {"argument", "TypeError"}
    names, kinds = set(), {}
    for report in found:
        ((name, (_, refusals, _, (before, in_rounds, _), counts)),) = report.items()
        assert set(refusals) == set(before) - {"mode", "unit", "wager"} == {"argument", "TypeError"}, name
        names |= {*before, *in_rounds}
        counts = dict(counts)
        assert counts["rounds"] == ROUNDS
        for kind, count in counts["events"]:
            kinds[kind] = kinds.get(kind, 0) + count
    calls = "choice_due no_choice option no_offer gamble_row gamble_amount round_over"
    assert names == {"argument", "TypeError", "mode", "unit", "wager", *calls.split()}
    assert sorted(kinds) == list(range(native.SPIN, native.GAMBLE + 1))
    assert min(kinds.values()) > 200
    assert max(dict(next(iter(report.values()))[4])["best_pence"] for report in found) > 2**32


def test_the_unix_port_says_the_same(told, micropython, packs):
    assert micropython(VECTORS, str(ROUNDS), *packs) == told


def test_the_cortex_m3_says_the_same(told, mps2_image):
    """32-bit words, integers beyond 30 bits on the heap, packs read in place out of a memoryview."""
    board = Emulator(mps2_image)
    try:
        board.run("packs = []")
        for data in PACKS:
            send(board, data)
            board.run("packs.append(memoryview(bytes(data)))")
        board.run(VECTORS.read_text())
        assert board.run(f"report(packs, {ROUNDS})") == told
    finally:
        board.close()


def send(board: Emulator, data: bytes) -> None:
    """Leaves it in `data` on the board."""
    board.run("data = bytearray()")
    for first in range(0, len(data), 256):
        board.run(f"data.extend(bytes.fromhex('{data[first : first + 256].hex()}'))")


REPLAY = """
import sys
sys.path.insert(0, sys.argv[1])
from vectors import read, replay
import native
for path in sys.argv[3:]:
    counts = replay(native.Pack(read(path)), int(sys.argv[2]))
    print(counts["award_pence"], counts["sha256"])
"""


def test_the_games_play_the_same_rounds_on_the_unix_port(replayed, micropython, tmp_path):
    files = []
    for name, data in games.packs().items():
        files.append(tmp_path / f"{name}.pack")
        files[-1].write_bytes(data)
    script = tmp_path / "replay.py"
    script.write_text(REPLAY)
    assert micropython(script, VECTORS.parent, str(GAME_ROUNDS), *files) == replayed


def test_the_games_play_the_same_rounds_on_the_cortex_m3(replayed, mps2_image):
    said = ""
    for data in games.packs().values():
        board = Emulator(mps2_image)
        try:
            send(board, data)
            board.run("data = bytes(data)")
            board.run(VECTORS.read_text())
            said += board.run(
                f"counts = replay(native.Pack(memoryview(data)), {GAME_ROUNDS})\n"
                "print(counts['award_pence'], counts['sha256'])"
            )
        finally:
            board.close()
    assert said == replayed


HEAP = """
import gc, native, sys
with open(sys.argv[1], "rb") as file:
    pack = native.Pack(memoryview(file.read()))

def play(rounds):
    for number in range(rounds):
        current = native.Round(pack, 0, 1, native.sha256(number.to_bytes(4, "little")))
        while not current.finished:
            if current.next()[0] == native.CHOICE:
                current.choose(0)
            current.stops(), current.window(), current.frames(), current.values(), current.matrix(), current.award_pence
            pack.name, pack.symbols, pack.lines, pack.features, pack.modes, pack.steps(0), pack.table(0), pack.bowls(0)
    del current, number
    gc.collect()
    return gc.mem_alloc()

play(1)
print("rounds", play(2000) - play(10))
gc.collect()
gc.disable()
current = native.Round(pack, 0, 1, bytes(32))
before = gc.mem_alloc()
current.next()
print("event", gc.mem_alloc() - before)
before = gc.mem_alloc()
pack.name; pack.symbols; pack.lines; pack.features; pack.modes; pack.sha256; pack.coin_values; pack.win_cap_pence
pack.pots; pack.wilds; pack.gambles; pack.gamble_from; pack.gamble_limit; pack.stake; pack.spin_chance
print("fields", gc.mem_alloc() - before)
"""


def test_a_round_leaves_no_memory_behind_and_an_event_costs_one_tuple(micropython, packs, tmp_path):
    script = tmp_path / "heap.py"
    script.write_text(HEAP)
    told = dict(line.split() for line in micropython(script, packs[0]).splitlines())
    tuple_bytes = (2 + 6) * 8  # on a 64-bit processor: type, length, six items
    assert told == {"rounds": "0", "event": str(tuple_bytes), "fields": "0"}


def test_a_pack_is_read_in_place(micropython, packs, tmp_path):
    """Opening one costs its tables, however long its strips are: less than the bytes of the pack themselves."""
    script = tmp_path / "place.py"
    script.write_text(
        "import gc, native, sys\n"
        "with open(sys.argv[1], 'rb') as file:\n    data = bytes(file.read()) + b''\n"
        "gc.collect()\nbefore = gc.mem_alloc()\nfirst = native.Pack(data)\nfrom_bytes = gc.mem_alloc() - before\n"
        "copy = bytearray(data)\ngc.collect()\nbefore = gc.mem_alloc()\nsecond = native.Pack(copy)\n"
        "from_array = gc.mem_alloc() - before\ncopy[40] ^= 1\n"
        "print(from_array - from_bytes >= len(data), second.sha256 == first.sha256)"
    )
    assert micropython(script, packs[0]).split() == ["True", "True"]

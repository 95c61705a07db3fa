"""The chain on the host: its seeds are the firmware's, its ranges are all that the games draw from, a flaw is caught."""

import json
import subprocess
import sys
from itertools import islice

import pytest
from typer.testing import CliRunner

import native
from host_tools.cabinet import games
from host_tools.cabinet.cli import app
from host_tools.rng import batteries
from host_tools.rng.batteries import FAIL, NOT_RUN, PASS, CannotRun, Feed, Row
from host_tools.rng.chain import Chain, ChainFailed, draws_of, ranges_of, words
from host_tools.rng.estimates import draws_p
from native.cpython import draws, stream_words
from tests.native import oracle


def test_stream_words_are_the_words_that_draws_come_from():
    seed = bytes(range(32))
    data = stream_words(seed, 3)
    found = [int.from_bytes(data[place : place + 4], "little") for place in range(0, len(data), 4)]
    stream = oracle.stream(seed)
    assert found == draws(seed, [0] * 48) == [next(stream) for _ in range(48)]


def test_seeds_differ_and_are_whole():
    seeds = list(islice(Chain().seeds(), 50))
    assert len(set(seeds)) == 50
    assert {len(seed) for seed in seeds} == {32}


@pytest.mark.parametrize(
    ("fault", "why"),
    [("stuck 3", "repetition"), ("bias 60", "balance"), ("silent", "starting"), ("period 20", "repeated sequence")],
)
def test_a_broken_device_gives_no_seed(fault, why):
    with pytest.raises(ChainFailed, match=why):
        list(islice(Chain(fault).seeds(), 100))


def test_ranges_are_those_that_the_core_draws_from():
    """Rounds of every mode with a Python oracle of the stream: each range that it was asked for is in the list."""
    for data in games.packs().values():
        pack = native.Pack(data)
        limits = {entry.limit for entry in ranges_of(pack)}
        assert {len(pack.strip(0, reel)) for reel in range(pack.reels)} <= limits
        for number in range(200):
            try:
                rows = pack.table(number)
            except native.CoreError:
                break
            total = sum(row[0] for row in rows)
            assert total == 1 or total in limits
        for row in pack.gambles:
            if row[1] == native.GAMBLE_CASH:
                assert row[3] * 1_000_000 in limits


def test_a_flawed_chain_is_caught_by_the_draws_and_by_the_bytes():
    chain = Chain()
    assert draws_p(draws_of(chain, 40, 20_000), 40) > 1e-6
    assert draws_p(draws_of(chain, 32, 60_000, flawed=True), 32) < 1e-3
    assert len(draws_of(chain, 10**11, 3000)) == 3000
    fair = batteries.estimates(Feed(words(chain)), 1_000_000, 4.0)
    spoiled = batteries.estimates(Feed(words(chain, flawed=True)), 1_000_000, 4.0)
    assert fair[0].verdict == PASS
    assert batteries.verdict_of(spoiled) == FAIL


def test_a_feed_never_gives_a_byte_twice():
    feed = Feed(iter([b"abc", b"defgh", b"ij"]))
    assert feed.take(4) == b"abcd"
    assert feed.given == 4
    assert feed.chunk() == b"efgh"
    assert feed.take(10) == b"ij"
    assert feed.dry
    assert feed.given == 10


@pytest.fixture
def rngtest_there() -> None:
    for program in batteries.PACKAGES:
        try:
            batteries.require(program)
        except CannotRun as error:
            pytest.skip(str(error))


@pytest.mark.usefixtures("rngtest_there")
def test_rngtest_passes_the_chain_and_refuses_a_flaw():
    chain = Chain()
    assert batteries.rngtest(Feed(words(chain)), 200)[0].verdict == PASS
    # Of 200 blocks a flaw that is as small as this one fails too few for certainty once in a few hundred runs.
    assert batteries.rngtest(Feed(words(chain, flawed=True)), 1000)[0].verdict == FAIL
    assert batteries.rngtest(Feed(iter([b"short"])), 200)[0].verdict == NOT_RUN


@pytest.mark.usefixtures("rngtest_there")
def test_dieharder_refuses_a_flaw_and_never_rewinds():
    rows = batteries.dieharder(Feed(words(Chain(), flawed=True)), 100)
    assert [(row.battery, row.verdict) for row in rows] == [("dieharder", FAIL)]
    few = Feed(iter([bytes(range(256))] * 100))
    assert batteries.dieharder(few, 100)[0].verdict == NOT_RUN


def test_a_missing_battery_names_its_package(monkeypatch):
    monkeypatch.setattr(batteries.shutil, "which", lambda program: None)
    for program, package in batteries.PACKAGES.items():
        with pytest.raises(CannotRun, match=f"apt-get install {package}"):
            batteries.require(program)


def test_the_verdict_of_all():
    def rows(*verdicts: str) -> list[Row]:
        return [Row("b", "t", "p", 0.5, verdict) for verdict in verdicts]

    assert batteries.verdict_of(rows(PASS, PASS)) == PASS
    assert batteries.verdict_of(rows(*[PASS] * 99, "weak")) == PASS
    assert batteries.verdict_of(rows(*["weak"] * 20)) == FAIL
    assert batteries.verdict_of(rows(PASS, FAIL)) == FAIL
    assert batteries.verdict_of(rows(NOT_RUN)) == NOT_RUN


@pytest.mark.usefixtures("rngtest_there")
def test_assess_a_file(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(b"".join(islice(words(Chain()), 200)))
    bad.write_bytes(b"".join(islice(words(Chain(), flawed=True), 200)))
    run = CliRunner().invoke
    done = run(app, ["rng", "assess", str(good), "--dieharder", "none", "--json"])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["verdict"]) == (0, "pass")
    assert [test["battery"] for test in told["tests"]] == ["SP 800-90B", "chi-square", "rngtest"]
    assert run(app, ["rng", "assess", str(bad), "--dieharder", "none"]).exit_code == 1
    small = tmp_path / "small"
    small.write_bytes(b"few")
    assert run(app, ["rng", "assess", str(small)]).exit_code == 2
    assert run(app, ["rng", "assess", str(tmp_path / "none")]).exit_code == 2
    assert run(app, ["rng", "assess", str(good), "--dieharder", "many"]).exit_code == 2


def test_the_raw_chain_ends_with_its_reader():
    script = (
        f"{sys.executable} -c 'from host_tools.cabinet.cli import app; app()' rng chain --raw | head -c 100000 | wc -c"
    )
    done = subprocess.run(script, shell=True, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("100000", "")


def test_a_chain_with_a_broken_device_fails():
    done = CliRunner().invoke(app, ["rng", "chain", "--fault", "stuck 0", "--raw"])
    assert done.exit_code == 1
    assert "repetition count" in done.stderr
    assert CliRunner().invoke(app, ["rng", "chain", "--fault", "melt", "--raw"]).exit_code == 2

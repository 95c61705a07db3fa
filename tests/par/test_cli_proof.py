"""The commands that play and prove: simulate's state and places, verify, replay, report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from host_tools.par.compiler import compile_sheet
from host_tools.par.sheet import load
from native.cpython import simulate as core_simulate
from native.cpython.wrapper import Pack, Round

from .helpers import SMALL
from .test_cli import quoted, run

SEED = "07" * 32


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return quoted(path)


def played(*arguments: str | Path) -> dict:
    result = run("simulate", *arguments, "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    data.pop("rounds_per_second")
    return data


def test_state_goes_on_where_it_was(small: Path, tmp_path: Path) -> None:
    state = tmp_path / "run.json"
    whole = played(small, "--rounds", "250000")
    first = played(small, "--rounds", "100000", "--state", state)
    assert first["rounds"] == 100_000
    assert played(small, "--rounds", "250000", "--state", state, "--threads", "3") == whole
    assert played(small, "--rounds", "250000", "--state", state) == whole, "nothing left to play"


def test_state_of_something_else_is_refused(small: Path, tmp_path: Path) -> None:
    state = tmp_path / "run.json"
    played(small, "--rounds", "1000", "--state", state)
    for arguments, words in (
        (("--rounds", "2000", "--seed", "2"), "another game, mode, seed, unit or policy"),
        (("--rounds", "999"), "already holds 1000 rounds"),
    ):
        result = run("simulate", small, "--state", state, *arguments)
        assert result.exit_code == 2
        assert words in result.stderr
    state.write_text("{")
    result = run("simulate", small, "--state", state)
    assert result.exit_code == 2
    assert "no state file" in result.stderr


def test_coverage_counts_what_the_core_counts(small: Path) -> None:
    data = played(small, "--rounds", "20000")
    (row,) = data["coverage"]
    assert row["what"] == "feature free"
    pack = Pack(compile_sheet(load(small)))
    from host_tools.par.simulate import master_seed

    assert row["seen"] == core_simulate(pack, 0, 1, master_seed("1"), 0, 20_000, {2: 0}).features
    assert row["seen"] == pytest.approx(row["expected"], rel=0.1)


def test_verify(small: Path) -> None:
    result = run("verify", small, "--rounds", "200000", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert [(row["mode"], row["policy"]) for row in rows] == [("base", "best"), ("base", "worst")]
    for row in rows:
        assert row["good"]
        assert row["methods_agree"]
        assert abs(row["off"]) <= 3
        assert row["half_width"] > 0
    assert "good" in run("verify", small, "--rounds", "200000").stdout


def test_verify_sees_a_wrong_quote(small: Path) -> None:
    text = small.read_text()
    small.write_text(re.sub(r"highest_ppm = (\d+)", lambda m: f"highest_ppm = {int(m[1]) + 1}", text, count=1))
    result = run("verify", small, "--rounds", "10000")
    assert result.exit_code == 1
    assert "highest_ppm quotes" in result.stdout


def test_verify_sees_a_simulation_that_is_off(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from host_tools.par import simulate, verify

    honest = simulate.play

    def richer(*arguments, **named):
        total = honest(*arguments, **named)
        return type(total)(**{**vars(total), "award_pence": total.award_pence * 11 // 10})

    monkeypatch.setattr(verify, "play", richer)
    result = run("verify", small, "--rounds", "100000")
    assert result.exit_code == 1
    assert "standard errors off" in " ".join(result.stdout.split())


def test_verify_sees_a_deviation_that_is_off(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean is right, and rounds swing more than they should: the mistake of leaving out a feature's random length."""
    from host_tools.par import simulate, verify

    monkeypatch.setattr(simulate, "BATCH", 2000)
    monkeypatch.setattr(verify, "BATCH", 2000)
    row = json.loads(run("verify", small, "--rounds", "100000", "--json").stdout)[0]
    assert row["good"]
    assert abs(row["deviation_off"]) <= 3
    assert row["played_deviation"] == pytest.approx(row["deviation"], rel=0.1)
    honest = simulate.played

    def swinging(*arguments):
        part = honest(*arguments)
        return type(part)(**{**vars(part), "sum_squares": part.sum_squares * 3 // 2})

    monkeypatch.setattr(simulate, "played", swinging)
    result = run("verify", small, "--rounds", "100000")
    assert result.exit_code == 1
    assert "variance" in result.stdout


def test_published_figures(small: Path) -> None:
    boards = 5 * 5 * 4
    figures = {"boards": boards, "scatter_boards.S.0": 0, "volatility_index.0.z": "1.65", "wins_from:0": boards}
    beside = small.with_name("small.published.json")
    beside.write_text(json.dumps([{"source": "counted here", "mode": "base", "figures": figures}]))
    result = run("verify", "--published", small.parent, "--json")
    data = json.loads(result.stdout)
    assert [row["name"] for row in data if row["printed"] != row["ours"]] == ["scatter_boards.S.0"]
    assert result.exit_code == 1
    right = figures | {"scatter_boards.S.0": data[1]["ours"]}
    beside.write_text(json.dumps([{"source": "counted here", "mode": "base", "figures": right}]))
    assert run("verify", "--published", small.parent).exit_code == 0
    beside.write_text(json.dumps([{"source": "", "mode": "base", "figures": {"bords": 1}}]))
    result = run("verify", "--published", small.parent)
    assert result.exit_code == 2
    assert "'bords' is no figure" in result.stderr


def test_verify_needs_one_or_all(small: Path) -> None:
    for arguments in (("verify",), ("verify", small, "--all")):
        assert run(*arguments).exit_code == 2


def test_replay_is_the_round(small: Path) -> None:
    pack = Pack(compile_sheet(load(small)))
    for number in range(40):
        seed = bytes([number]) * 32
        round, choices = Round(pack, 0, 2, seed), []
        while not round.finished:
            if round.options():
                round.choose(1)
                choices += ["--choice", "1"]
            round.next()
        result = run("replay", small, "base", "2", seed.hex(), *choices, "--json")
        assert result.exit_code == 0, result.output
        events = json.loads(result.stdout)
        assert events[0]["kind"] == "spin"
        assert len(events[0]["window"]) == 3
        assert (events[-1]["kind"], events[-1]["award_pence"]) == ("round_end", round.award_pence)


def test_replay_refuses(small: Path) -> None:
    result = run("replay", small, "base", "1", "07")
    assert result.exit_code == 2
    assert "64 hexadecimal digits" in result.stderr
    result = run("replay", small, "base", "1", SEED, "--choice", "0", "--choice", "0", "--choice", "0")
    assert result.exit_code == 2
    assert "were not asked for" in result.stderr
    pack = Pack(compile_sheet(load(small)))
    seeds = (bytes([number]) * 32 for number in range(256))
    asks = next(seed for seed in seeds if choice_due(Round(pack, 0, 1, seed)))
    result = run("replay", small, "base", "1", asks.hex())
    assert result.exit_code == 2
    assert "asks for a choice (options 0 to 1)" in result.stderr
    assert "the round refuses" in run("replay", small, "base", "1", asks.hex(), "--choice", "9").stderr
    assert "is no choice" in run("replay", small, "base", "1", asks.hex(), "--choice", "left").stderr


def choice_due(round: Round) -> bool:
    while not round.finished and not round.options():
        round.next()
    return bool(round.options())


def test_report_is_one_page(small: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "small.html"
    result = run("report", small, "--rounds", "5000", "-o", page)
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert text.count("<svg") == 4
    assert not re.search(r'(src|href)="http', text), "nothing is fetched"
    for words in ("Convergence", "Volatility", "RTP, best picks", "feature free"):
        assert words in text
    run("report", small, "--rounds", "5000", "-o", page)
    assert page.read_text() == text, "the same figures give the same page"


def test_dask_gives_the_same_integers(small: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        shared = played(small, "--rounds", "500000", "--dask", cluster.scheduler_address)
    assert shared == played(small, "--rounds", "500000", "--threads", "1")


def test_dask_address_without_a_scheduler(small: Path) -> None:
    pytest.importorskip("distributed")
    result = run("simulate", small, "--rounds", "10", "--dask", "tcp://127.0.0.1:1")
    assert result.exit_code == 2
    assert "no dask scheduler answers" in result.stderr

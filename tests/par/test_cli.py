"""The commands: output, exit codes, messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from host_tools.cabinet import games
from host_tools.par.cli import app
from native import Pack

from .helpers import SHEETS, SMALL


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def quoted(path: Path) -> Path:
    """Writes the exact RTP into a sheet, as a mathematician does after `exact` has printed it."""
    data = json.loads(run("exact", path, "--json").stdout)["rtp_ppm"]
    low, high = data["lowest"], data["highest"]
    path.write_text(SMALL.replace("lowest_ppm = 0\nhighest_ppm = 0", f"lowest_ppm = {low}\nhighest_ppm = {high}", 1))
    return path


def test_build_one(tmp_path: Path) -> None:
    result = run("build", "piggy_riches", "-o", tmp_path / "new" / "p.pack")
    assert result.exit_code == 0, result.output
    pack = Pack((tmp_path / "new" / "p.pack").read_bytes())
    assert pack.name == "piggy_riches"
    assert pack.sha256.hex() in result.stdout


def test_build_all(tmp_path: Path) -> None:
    result = run("build", "--all", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert sorted(path.stem for path in tmp_path.glob("*.pack")) == list(games.names())


def test_build_needs_one_or_all(small: Path) -> None:
    for arguments in (("build",), ("build", small, "--all")):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "GAME" in result.stderr


def test_build_refuses_what_the_core_refuses(small: Path, tmp_path: Path) -> None:
    small.write_text(SMALL.replace("A = [0, 2, 10]", "A = [0, 2, 4000000000]"))
    result = run("build", small, "-o", tmp_path / "p.pack")
    assert result.exit_code == 2
    assert "can win 72000000000 credits" in result.stderr
    assert not (tmp_path / "p.pack").exists()


def test_build_to_a_place_that_cannot_be(small: Path) -> None:
    result = run("build", small, "-o", small / "p.pack")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


@pytest.mark.parametrize("command", ["build", "show", "exact", "simulate", "search"])
def test_unknown_game(command: str) -> None:
    result = run(command, "pigy_riches")
    assert result.exit_code == 2
    assert "there is no game 'pigy_riches'" in result.stderr
    assert "did you mean 'piggy_riches'?" in result.stderr


@pytest.mark.parametrize("command", ["build", "show", "exact", "simulate", "search"])
def test_malformed_sheet(command: str, small: Path) -> None:
    small.write_text(SMALL.replace("rows = 3", "rows = 9"))
    result = run(command, small)
    assert result.exit_code == 2
    assert f"{small}: game.rows: is 9, out of range; give a whole number from 3 to 5" in result.stderr


def test_exact_json() -> None:
    result = run("exact", "piggy_riches", "--json", "--policy", "worst")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["game"], data["mode"], data["policy"]) == ("piggy_riches", "base", "worst")
    assert data["methods_agree"] is True
    assert data["targets_missed"] == []
    for name in (
        "rtp", "main_game_rtp", "free_spins_rtp", "hit_frequency", "line_hit_frequency", "scatter_hit_frequency",
        "sd_base_spin", "sd_round", "trigger_one_in", "boards_per_second",
    ):  # fmt: skip
        assert isinstance(data[name], float), name
    assert data["rtp"] == pytest.approx(data["main_game_rtp"] + data["free_spins_rtp"])
    fraction = data["rtp_exact"]
    assert 100 * int(fraction["numerator"]) / int(fraction["denominator"]) == pytest.approx(data["rtp"], rel=1e-14)
    assert data["boards"] == 153_040_896
    assert [row["z"] for row in data["volatility_index"]] == [1.65, 1.96]
    for row in data["volatility_index"]:
        assert row["value"] == pytest.approx(row["z"] * data["sd_round"])
    assert sum(data["contributions"].values()) == pytest.approx(data["rtp"])
    assert all(row["enumeration"] == row["counts"] for row in data["methods"])
    assert sum(row["with_wild"] + row["without_wild"] for row in data["combos"]) == data["winning_lines"]


def test_exact_does_not_depend_on_threads(small: Path) -> None:
    one, three = (json.loads(run("exact", small, "--json", "--threads", n).stdout) for n in ("1", "3"))
    for data in (one, three):
        data.pop("boards_per_second")
    assert one == three


def test_exact_refuses_a_wrong_quoted_rtp(small: Path) -> None:
    result = run("exact", small)
    assert result.exit_code == 1
    assert "modes.base.rtp.lowest_ppm quotes 0, exact is" in result.stdout
    assert run("exact", quoted(small)).exit_code == 0


def test_exact_reports_a_missed_target(small: Path) -> None:
    quoted(small)
    target = '[targets.base]\nsource = "test"\nbest_rtp = { value = 96.0, within = 0.1 }\n'
    small.write_text(small.read_text() + target)
    result = run("exact", small)
    assert result.exit_code == 1
    assert "target best_rtp" in result.stdout


def test_exact_of_a_sheet_of_counts() -> None:
    result = run("exact", SHEETS / "lobster_850.toml")
    assert result.exit_code == 0, result.output
    assert "the methods agree" in result.stdout


def test_unknown_mode_and_policy(small: Path) -> None:
    result = run("exact", small, "--mode", "bse")
    assert result.exit_code == 2
    assert "has no mode 'bse'; did you mean 'base'?" in result.stderr
    assert run("exact", small, "--policy", "middling").exit_code == 2


def test_disagreement_of_the_methods_is_fatal(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quoted(small)
    from host_tools.par import exact

    honest = exact.by_counts

    def wrong(*arguments):  # one credit too many
        result = honest(*arguments)
        result.line_pays += 1
        return result

    monkeypatch.setattr(exact, "by_counts", wrong)
    result = run("exact", small)
    assert result.exit_code == 1
    assert "methods DISAGREE" in result.stdout
    assert "line pays, credits" in result.stdout


def test_show_prints_everything() -> None:
    result = run("show", "piggy_riches")
    assert result.exit_code == 0, result.output
    for words in (
        "Money Bag",
        "win cap £250,000.00",
        "largest stake £4.50",
        "reel 5",
        "22 x2",
        "all 6 targets are met",
    ):
        assert words in result.stdout
    assert "at most 250 spins" in result.stdout


def test_simulate_is_reproducible(small: Path) -> None:
    results = [
        json.loads(run("simulate", small, "--json", "--rounds", "520001", "--seed", seed, "--threads", threads).stdout)
        for seed, threads in (("7", "1"), ("7", "3"), ("8", "1"))
    ]
    for data in results:
        assert data.pop("rounds_per_second") > 0
        assert data["rounds"] == 520_001
    assert results[0] == results[1]
    assert results[0]["award_pence"] != results[2]["award_pence"]


def test_simulate_meets_the_exact_figures() -> None:
    result = run("simulate", "piggy_riches", "--json", "--rounds", "3000000", "--unit", "30", "--policy", "worst")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    low, high = data["interval_95"]
    assert low < data["rtp"] < high
    assert abs(data["rtp"] - data["exact_rtp"]) < 2 * (high - low) / 2
    assert data["sd_round"] == pytest.approx(data["exact_sd_round"], rel=0.1)  # 3 million rounds tell no more
    assert data["hit_frequency"] == pytest.approx(40.84, abs=0.2)


def test_simulate_text(small: Path) -> None:
    result = run("simulate", small, "--rounds", "1000")
    assert result.exit_code == 0, result.output
    assert "rounds a second" in result.stdout


def test_simulate_refuses(small: Path) -> None:
    assert "largest unit" in run("simulate", small, "--unit", "11").stderr
    assert "cannot select" in run("simulate", small, "--mode", "free").stderr
    assert run("simulate", small, "--rounds", "0").exit_code == 2


def test_simulate_says_when_the_core_cannot_tell_counts_apart(small: Path) -> None:
    rows = "3 = [{ spins = 1, multiplier = 9 }, { spins = 1, multiplier = 1 }]"
    small.write_text(SMALL.replace("3 = [{ spins = 3, multiplier = 2 }]", rows))
    result = run("simulate", small, "--rounds", "100", "--policy", "worst")
    assert result.exit_code == 2
    assert "2 options" in result.stderr


def test_search_needs_a_plan(small: Path) -> None:
    result = run("search", small)
    assert result.exit_code == 2
    assert "search: is missing; add [search]" in result.stderr

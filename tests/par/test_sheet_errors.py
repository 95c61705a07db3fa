"""A malformed sheet is refused with file, place, what is wrong and a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from host_tools.par.reading import SheetError
from host_tools.par.sheet import load, parse

from .helpers import SMALL

# What is replaced, by what, the place named, words of the problem, words of the remedy.
MISTAKES = {
    "later format": ("format = 1", "format = 2", "format", "later sheet format", "newer compiler"),
    "no format": ("format = 1\n", "", "format", "missing", "whole number"),
    "unknown table": ("[bets]", "[bettts]", "bettts", "not known", "did you mean 'bets'"),
    "bad name": ('name = "small"', 'name = "Small Game"', "game.name", "Small Game", "small letters"),
    "long name": ('name = "small"', 'name = "abcdefghijklmnop"', "game.name", "abcdefghijklmnop", "15"),
    "too few reels": ("reels = 3\n", "reels = 2\n", "game.reels", "2, out of range", "3 to 6"),
    "reels a text": ("reels = 3\n", 'reels = "3"\n', "game.reels", "not a whole number", "3 to 6"),
    "rows a bool": ("rows = 3\n", "rows = true\n", "game.rows", "not a whole number", "3 to 5"),
    "negative cap": ("win_cap_pence = 0", "win_cap_pence = -1", "game.win_cap_pence", "-1", "whole number"),
    "unknown rule": ('wild_rule = "highest"', 'wild_rule = "higest"', "game.wild_rule", "higest", "'highest'"),
    "flag a number": ("needs_natural = false", "needs_natural = 0", "game.needs_natural", "0", "true or false"),
    "misspelt key": ("needs_natural", "need_natural", "game.needs_natural", "missing", "true or false"),
    "extra key": ("rows = 3\n", "rows = 3\ncolour = 1\n", "game.colour", "not known", "known here"),
    "no provenance": ('[game]\nsource = "made for tests"', "[game]", "game.source", "no provenance", "where these"),
    "blank provenance": ('[pays]\nsource = "made for tests"', '[pays]\nsource = " "', "pays.source", "no", "where"),
    "provenance of rtp": ('rtp]\nsource = "made for tests"', "rtp]", "modes.base.rtp.source", "no prov", "where"),
    "provenance of options": ('options]\nsource = "made for tests"', "options]", "options.source", "no prov", "where"),
    "unit and bets differ": ("levels = 5", "levels = 4", "bets.levels", "8p", "equal"),
    "no levels": ("levels = 5", "levels = 0", "bets.levels", "0, out of range", "from 1"),
    "no coin values": ("pence = [1, 2]", "pence = []", "bets.coin_values_pence", "0 values", "1 to 16"),
    "coin values fall": ("pence = [1, 2]", "pence = [2, 1]", "bets.coin_values_pence", "not rise", "smallest"),
    "symbol twice": ('id = "K"', 'id = "A"', "symbols.list[3].id", "given twice", "its own"),
    "symbol id": ('id = "K"', 'id = "K!"', "symbols.list[3].id", "K!", "letters"),
    "symbols no list": ("list = [\n", "list = 3\nother = [\n", "symbols.list", "not a list", "{"),
    "wild for itself": ('"all", except = ["S"]', '["W", "A"]', "wild.substitutes", "itself", "leave it out"),
    "wild for nothing": ('except = ["S"]', 'except = ["S", "A", "K"]', "wild.substitutes", "nothing", "no wild"),
    "wild for unknown": ('"all", except = ["S"]', '["Ace"]', "wild.substitutes", "'Ace' is not a symbol", "known"),
    "except beside list": ('"all", except', '["A"], except', "wild.except", "no meaning", '"all"'),
    "wild multiplier": ("multiplier = 2, ", "multiplier = 0, ", "wild.multiplier", "0, out of range", "1 to 255"),
    "pay of unknown": ("A = [0, 2, 10]", "B = [0, 2, 10]", "pays.B", "'B' is not a symbol", "known here"),
    "pay row short": ("A = [0, 2, 10]", "A = [2, 10]", "pays.A", "2 numbers", "exactly 3"),
    "pay negative": ("A = [0, 2, 10]", "A = [0, -2, 10]", "pays.A[1]", "-2", "whole number"),
    "pay fraction": ("A = [0, 2, 10]", "A = [0, 2.5, 10]", "pays.A[1]", "2.5", "whole number"),
    "pay of scatter": ("A = [0, 2, 10]", "S = [0, 2, 10]", "pays.S", "is a scatter", "scatter_pays"),
    "no pays": ("A = [0, 2, 10]\nK = [0, 0, 5]", "A = [0, 0, 0]", "pays", "pays nothing", "at least one"),
    "line off the window": ("[0, 1, 2]]", "[0, 1, 3]]", "lines.map[2][2]", "3, out of range", "0 to 2"),
    "line too long": ("[0, 1, 2]]", "[0, 1, 2, 0]]", "lines.map[2]", "4 numbers", "exactly 3"),
    "line twice": ("[0, 1, 2]]", "[1, 1, 1]]", "lines.map[2]", "same as map[0]", "remove one"),
    "no lines": ("map = [[1, 1, 1], [0, 0, 0], [0, 1, 2]]", "map = []", "lines.map", "1 to 100", "row"),
    "scatter pay of no scatter": ("S = [0, 1, 3]", "A = [0, 1, 3]", "scatter_pays.A", "not a scatter", "mark"),
    "scatter pays missing": ("S = [0, 1, 3]", "S = [0, 1]", "scatter_pays.S", "can show 3", "every count"),
    "too many scatter pays": ("S = [0, 1, 3]", f"S = {[0] * 10}", "scatter_pays.S", "10 pays", "1 to 9"),
    "strip symbol": ('"A K S K W"', '"A K S K V"', "sets.base.reels[0]", "'V' is not a symbol", "known"),
    "strip too short": ('"A K S K W"', '"A K"', "sets.base.reels[0]", "2 stops", "one window"),
    "strip missing": ('"A K S K W", ', "", "sets.base.reels", "2 strips", "give 3"),
    "unknown set": ('set = "base"', 'set = "bass"', "modes.base.set", "bass", "'base'"),
    "unknown mode": ('mode = "free"', 'mode = "fee"', "features.free.mode", "fee", "'free'"),
    "unknown evaluation": ('"lines"', '"ways"', "modes.base.evaluation", "ways", "lines"),
    "free cost": ("cost_credits = 3", "cost_credits = 0", "modes.base.cost_credits", "0, out of", "whole number"),
    "costs differ": ('et = "base"\ncost_credits = 3\nscatter_pays = false', 'et = "base"\ncost_credits = 4\n'
                     "scatter_pays = false", "features.free.mode", "costs 4", "equal"),
    "no selectable mode": ("player_selects = true", "player_selects = false", "modes", "no mode", "player_selects"),
    "unknown feature": ('feature = "free"', 'feature = "fee"', "modes.base.feature", "fee", "'free'"),
    "feature not started": ('feature = "free"\n', "", "features.free", "no mode starts", "remove it"),
    "feature in a feature": ('player_selects = false\n', 'player_selects = false\nfeature = "free"\n',
                             "features.free.mode", "feature of its own", "without"),
    "rtp order": ("lowest_ppm = 0", "lowest_ppm = 5", "modes.base.rtp.lowest_ppm", "above highest", "par exact"),
    "trigger": ('trigger = "S"', 'trigger = "A"', "features.free.trigger", "not a scatter", "scatter"),
    "adding symbol": ('symbol = "S"', 'symbol = "A"', "features.free.adds.symbol", "not a scatter", "scatter"),
    "unbounded": ("max_spins = 4\n", "", "features.free.max_spins", "missing", "whole number"),
    "option beyond bound": ("spins = 3,", "spins = 5,", "options.3[0].spins", "5, out of range", "1 to 4"),
    "option multiplier": ("multiplier = 3 }", "multiplier = 0 }", "options.2[1].multiplier", "0, out", "1 to"),
    "option count": ("\n3 = [{", "\nthree = [{", "options.three", "not a number of scatters", "1 to 9"),
    "option gap": ("\n3 = [{", "\n4 = [{", "options.3", "missing between", "every number"),
    "no options": ("2 = [{ spins = 2, multiplier = 1 }, { spins = 1, multiplier = 3 }]", "2 = []",
                   "options.2", "0 options", "1 to 16"),
    "unknown target": ("format = 1", 'format = 1\n[targets]\nsource = "test"\nrtp = { value = 1, within = 1 }',
                       "targets.rtp", "not a figure", "worst_rtp"),
    "counts of unknown": ('reels = ["A K S K W", "A S K A K", "K A K S"]', "counts = { B = [3, 3, 3] }",
                          "sets.base.counts.B", "not a symbol", "known"),
    "not TOML": ("format = 1", "format =", "file", "not TOML", "mend"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_refused_with_its_place(name: str) -> None:
    old, new, place, problem, remedy = MISTAKES[name]
    assert old in SMALL, "the mistake must change the sheet"
    with pytest.raises(SheetError) as caught:
        parse(SMALL.replace(old, new, 1), "small.toml")
    fault = caught.value
    assert fault.file == "small.toml"
    assert fault.place.endswith(place)
    assert problem in fault.problem
    assert remedy in fault.remedy
    assert str(fault) == f"small.toml: {fault.place}: {fault.problem}; {fault.remedy}"


def test_the_sheet_without_mistakes_is_accepted() -> None:
    sheet = parse(SMALL)
    assert sheet.sources["pays"] == "made for tests"
    assert sheet.sources["features.free.options"] == "made for tests"


@pytest.mark.parametrize(
    "table", ["bets", "symbols", "pays", "lines", "scatter_pays", "sets.base", "modes.free", "game"]
)
def test_every_table_needs_provenance(table: str) -> None:
    with pytest.raises(SheetError, match="no provenance") as caught:
        parse(SMALL.replace(f'[{table}]\nsource = "made for tests"', f"[{table}]", 1))
    assert caught.value.place == f"{table}.source"


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SheetError, match="cannot be read"):
        load(tmp_path / "nothing.toml")


def test_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "noise.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SheetError, match="UTF-8"):
        load(path)

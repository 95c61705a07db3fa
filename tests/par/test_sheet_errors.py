"""A malformed sheet is refused with file, place, what is wrong and a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from host_tools.par.compiler import compile_sheet
from host_tools.par.model import OPS
from host_tools.par.reading import SheetError
from host_tools.par.sheet import load, parse
from native import Pack

from .full_sheet import FULL
from .helpers import SMALL

# What is replaced, by what, the place named, words of the problem, words of the remedy.
MISTAKES = {
    "later format": ("format = 2", "format = 3", "format", "not the sheet format", "format = 2"),
    "no format": ("format = 2\n", "", "format", "missing", "whole number"),
    "unknown table": ("[bets]", "[bettts]", "bettts", "not known", "did you mean 'bets'"),
    "bad name": ('name = "small"', 'name = "Small Game"', "game.name", "Small Game", "small letters"),
    "long name": ('name = "small"', 'name = "abcdefghijklmnop"', "game.name", "abcdefghijklmnop", "15"),
    "too few reels": ("reels = 3\n", "reels = 2\n", "game.reels", "2, out of range", "3 to 6"),
    "reels a text": ("reels = 3\n", 'reels = "3"\n', "game.reels", "not a whole number", "3 to 6"),
    "rows a bool": ("rows = 3\n", "rows = true\n", "game.rows", "not a whole number", "3 to 5"),
    "negative cap": ("win_cap_pence = 100_000_000_000", "win_cap_pence = 0", "game.win_cap_pence", "0, out of", "from 1"),
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
    "unknown evaluation": ('"lines"', '"way"', "modes.base.evaluation", "is 'way'", "did you mean 'ways'"),
    "free cost": ("cost_credits = 3", "cost_credits = 0", "modes.base.cost_credits", "0, out of", "whole number"),
    "no selectable mode": ("player_selects = true", "player_selects = false", "modes", "no mode", "player_selects"),
    "unknown feature": ('feature = "free"', 'feature = "fee"', "steps[0].prize.feature", "fee", "'free'"),
    "feature not started": ('steps = [{ op = "award", symbols = ["S"], least = 2, prize = { feature = "free" } }]\n', "",
                            "features.free", "never used", "remove it"),
    "rtp order": ("lowest_ppm = 0", "lowest_ppm = 5", "modes.base.rtp.lowest_ppm", "above highest", "par exact"),
    "unbounded": ("max_spins = 4\n", "", "features.free.max_spins", "missing", "whole number"),
    "option beyond bound": ("spins = 3,", "spins = 5,", "options.3[0].spins", "5, out of range", "1 to 4"),
    "option multiplier": ("multiplier = 3 }", "multiplier = 0 }", "options.2[1].multiplier", "0, out", "1 to"),
    "option count": ("\n3 = [{", "\nthree = [{", "options.three", "not a trigger count", "1 to 9"),
    "option gap": ("\n3 = [{", "\n4 = [{", "options.3", "missing between", "every trigger count"),
    "no options": ("2 = [{ spins = 2, multiplier = 1 }, { spins = 1, multiplier = 3 }]", "2 = []",
                   "options.2", "0 options", "1 to 16"),
    "unknown target": ("format = 2", 'format = 2\n[targets.base]\nsource = "test"\nrpt = { value = 1, within = 1 }',
                       "targets.base.rpt", "not a figure", "'rtp'"),
    "counts of unknown": ('reels = ["A K S K W", "A S K A K", "K A K S"]', "counts = { B = [3, 3, 3] }",
                          "sets.base.counts.B", "not a symbol", "known"),
    "not TOML": ("format = 2", "format =", "file", "not TOML", "mend"),
    "set not used": ("[modes.base]", '[sets.other]\nsource = "test"\nreels = ["A K S", "A S K", "K A S"]\n\n[modes.base]',
                     "sets.other", "never used", "name it in a mode"),
    "mode not played": ("[features.free]", '[modes.odd]\nsource = "test"\ntitle = "Odd"\nevaluation = "lines"\nset = "base"\n'
                        "cost_credits = 3\nscatter_pays = false\nplayer_selects = false\nrtp = "
                        '{ source = "test", lowest_ppm = 0, highest_ppm = 0 }\n\n[features.free]',
                        "modes.odd", "never played", "player_selects"),
    "trigger out of reach": ("least = 2", "least = 6", "steps[0].least", "at most 3 S, 6 asked", "ask for less"),
    "lines missing": ('[lines]\nsource = "made for tests"\nmap = [[1, 1, 1], [0, 0, 0], [0, 1, 2]]\n', "",
                      "modes.base.evaluation", "the sheet has none", "[lines]"),
    "pay overflow": ("A = [0, 2, 10]", "A = [0, 2, 4000000000]", "pays.A[2]", "can win", "below 2^32"),
}  # fmt: skip

# The same, in the sheet that has every mechanic.
MECHANICS = {
    "prize of no kind": ("{ weight = 3, credits = 5 }", "{ weight = 3 }", "tables.cash.rows[0]", "names no prize", "one of"),
    "two prizes": ("{ weight = 3, credits = 5 }", '{ weight = 3, credits = 5, pot = "MINI" }', "cash.rows[0]", "several", "one"),
    "weight 0": ("weight = 3, credits = 5", "weight = 0, credits = 5", "cash.rows[0].weight", "0, out of", "from 1"),
    "weights overflow": ("weight = 3, credits = 5", "weight = 2147483648, credits = 5", "tables.cash.rows", "in all", "sum to"),
    "empty table": ('rows = [{ weight = 1, pot = "MINI" }]', "rows = []", "tables.tokens.rows", "0 rows", "at least one"),
    "nothing is false": ("{ weight = 9, nothing = true }, { weight = 1, wheel", "{ weight = 9, nothing = false }, "
                         "{ weight = 1, wheel", "pile.rows[0].nothing", "is false", "nothing = true"),
    "credits 0": ("credits = 7", "credits = 0", "wheel.rows[2].credits", "0, out of", "from 1"),
    "unknown pot": ('pot = "GRAND"', 'pot = "GRANT"', "wheel.rows[0].pot", "GRANT", "'GRAND'"),
    "unknown wheel": ('wheel = "wheel"', 'wheel = "whel"', "pile.rows[1].wheel", "whel", "'wheel'"),
    "unknown boards": ('boards = "lucky"', 'boards = "luck"', "dog.rows[1].boards", "luck", "'lucky'"),
    "shape off the grid": ("shape = [2, 3]", "shape = [4, 3]", "shapes.rows[0].shape", "does not fit", "3 x 3"),
    "wheel in a wheel": ("{ weight = 1, credits = 7 }", '{ weight = 1, wheel = "pile" }', "'wheel')", "gives wheel", "only"),
    "credits in a modifier": ('{ weight = 1, boards = "lucky" }', "{ weight = 1, credits = 1 }", "steps[0].table",
                              "gives credits", "nothing, boards"),
    "pot as a value": ("{ weight = 1, credits = 25 }", '{ weight = 1, pot = "MINI" }', "steps[1].table", "gives pot", "credits"),
    "credits as a token": ('rows = [{ weight = 1, pot = "MINI" }]', "rows = [{ weight = 1, credits = 2 }]", "steps[5].table",
                           "gives credits", "only pot"),
    "nothing in a bowl": ("{ weight = 1, credits = 3 }", "{ weight = 1, nothing = true }", "bowls (level 1)", "gives nothing",
                          "credits, pot"),
    "token pot without a row": ("credits = 20, tokens = 2", "credits = 20", "steps[5].table", "pot MINI", "tokens ="),
    "spins in base": ("{ weight = 1, credits = 7 }", "{ weight = 1, spins = 2 }", "'wheel')", "no feature runs", "feature ="),
    "feature within a feature": ("{ weight = 1, spins = 2 }", '{ weight = 1, feature = "rolled" }', "free.steps[2].table",
                                 "feature within a feature", "spins ="),
    "pot twice": ('id = "GRAND"', 'id = "MINI"', "pots.list[1].id", "given twice", "its own"),
    "pot of 0": ("credits = 500", "credits = 0", "pots.list[1].credits", "0, out of", "from 1"),
    "stop off the strip": ("[4, 0, 0]", "[5, 0, 0]", "boards.lucky.stops[1][0]", "beyond the strip", "0 to 4"),
    "board too short": ("[4, 0, 0]", "[4, 0]", "boards.lucky.stops[1]", "2 numbers", "exactly 3"),
    "boards of other strips": ('mode = "base"\nstops', 'mode = "free"\nstops', "steps[0].table", "other strips", "these strips"),
    "unknown op": ('op = "pile", symbols = ["P"], table = "pile"', 'op = "pyle", symbols = ["P"], table = "pile"',
                   "base.steps[3].op", "pyle", "'pile'"),
    "step without symbols": ('op = "collect", symbols = ["C"]', 'op = "collect", symbols = []', "steps[2].symbols", "empty",
                             "one"),
    "step of unknown symbol": ('op = "collect", symbols = ["C"]', 'op = "collect", symbols = ["CC"]', "steps[2].symbols",
                               "'CC' is not a symbol", "'C'"),
    "symbol twice in a step": ('op = "collect", symbols = ["C"]', 'op = "collect", symbols = ["C", "C"]', "steps[2].symbols",
                               "twice", "once"),
    "argument of another op": ('op = "collect", symbols = ["C"]', 'op = "collect", symbols = ["C"], least = 2', "steps[2].least",
                               "not known", "known here"),
    "modifier late": ('  { op = "modifier", table = "dog" },\n  { op = "values", symbols = ["P"], table = "cash" },',
                      '  { op = "values", symbols = ["P"], table = "cash" },\n  { op = "modifier", table = "dog" },',
                      "base.steps[1]", "not the first", "first"),
    "respin early": ('prize = { feature = "free" } },\n', 'prize = { feature = "free" } },\n'
                     '  { op = "respin", symbols = ["S"], exactly = 1 },\n', "base.steps[5]", "not the last", "last"),
    "frames in base": ('{ op = "respin", symbols = ["S"], exactly = 2 }', '{ op = "frames", symbols = ["S"], rule = "raise" }',
                       "base.steps[5]", "no feature plays", "mode of a feature"),
    "respin in a feature": ('{ op = "tokens", symbols = ["T"], table = "tokens" }',
                            '{ op = "respin", symbols = ["S"], exactly = 1 }', "free.steps[5]", "features play",
                            "player selects"),
    "collect without values": ('  { op = "values", symbols = ["P"], table = "cash" },\n  { op = "collect", symbols = ["C"] },\n'
                               '  { op = "pile", symbols = ["P"], table = "pile" }', '  { op = "collect", symbols = ["C"] },\n'
                               '  { op = "pile", symbols = ["P"], table = "pile" }', "base.steps[1]", "no symbol has a value",
                               "values step"),
    "two values for a symbol": ('  { op = "collect", symbols = ["C"] },',
                                '  { op = "values", symbols = ["P"], table = "cash" },\n'
                                '  { op = "collect", symbols = ["C"] },', "steps[2].symbols", "another step", "one table"),
    "least above most": ("least = 3, needed", "least = 3, most = 2, needed", "steps[4].most", "2, out of", "from 3"),
    "needed is never seen": ('needed = ["A"]', 'needed = ["X"]', "steps[4].needed", "can never happen", "more reels"),
    "symbol is never seen": ('op = "collect", symbols = ["C"]', 'op = "collect", symbols = ["T"]', "steps[2].symbols",
                             "can never happen", "more reels"),
    "respin is never due": ("exactly = 2", "exactly = 5", "steps[5].exactly", "at most 3 S", "ask for less"),
    "fill without credits": ('rule = "fill", credits = 4', 'rule = "fill"', "steps[3].credits", "missing", "whole number"),
    "raise with credits": ('rule = "fill", credits = 4', 'rule = "raise", credits = 4', "steps[3].credits", "not known", "known"),
    "unbounded retrigger": ('"bowl"]\nmax_spins = 9\n[features.free.options]', '"bowl"]\n[features.free.options]',
                            "features.free.max_spins", "missing", "whole number"),
    "feature mode selectable": ('set = "free"\ncost_credits = 5\nscatter_pays = false\nplayer_selects = false',
                                'set = "free"\ncost_credits = 5\nscatter_pays = false\nplayer_selects = true',
                                "modes.free.player_selects", "features play this mode", "mode of their own"),
    "two openings": ('opening = { roll = ["S"] }', 'opening = { roll = ["S"], shape = "shapes" }', "rolled.opening", "2 openings",
                     "one of"),
    "level 4": ('shape = "shapes", level = 2', 'shape = "shapes", level = 4', "shaped.opening.level", "4, out of", "1 to 3"),
    "bowls short": ('bowls = ["bowl", "bowl", "bowl"]', 'bowls = ["bowl", "bowl"]', "free.bowls", "2 tables", "1, 2, 3"),
    "bowls missing": ('bowls = ["bowl", "bowl", "bowl"]\n', "", "free.bowls", "has frames", "3 tables"),
    "bowl unknown": ('"bowl", "bowl", "bowl"', '"bowl", "bool", "bowl"', "free.bowls", "'bool' is not a table", "'bowl'"),
    "table not used": ("[tables.bowl]", '[tables.odd]\nsource = "test"\nrows = [{ weight = 1, credits = 1 }]\n\n[tables.bowl]',
                       "tables.odd", "never used", "remove it"),
    "no source of a table": ('[tables.bowl]\nsource = "made for tests"', "[tables.bowl]", "tables.bowl.source", "no prov",
                             "where"),
    "gamble that loses by winning": ("cash = [2, 1]", "cash = [1, 2]", "gamble.rows[0].cash", "1/2", "more than"),
    "gamble of a window": ('feature = "shaped", spins', 'feature = "free", spins', "gamble.rows.shaped.feature", "reads a window",
                           "another opening"),
    "gamble beyond the bound": ("spins = 4, value", "spins = 10, value", "rows.shaped.spins", "at most 9", "max_spins"),
    "gamble without value": ("value_micro = 5_000_000", "value_micro = 0", "rows[1].value_micro", "0, out of", "from 1"),
    "gamble limit": ("limit_credits = 1000", "limit_credits = 24", "gamble.limit_credits", "24, out of", "from 25"),
    "payback above 1": ("payback_ppm = 900_000", "payback_ppm = 1_000_001", "gamble.payback_ppm", "out of", "to 1000000"),
    "too many gambles": ("most_gambles = 3", "most_gambles = 21", "gamble.most_gambles", "21, out of", "to 20"),
    "ways with sum": ('wild_rule = "highest"', 'wild_rule = "sum"', "modes.base.evaluation", "no meaning", "highest or product"),
    "value overflow": ("credits = 25 }", "credits = 4000000000 }", "tables.cash.rows[1].credits", "can win", "below 2^32"),
    "targets of no mode": ("[targets.base]", "[targets.bas]", "targets.bas", "names no mode", "'base'"),
}  # fmt: skip


@pytest.mark.parametrize("name", MECHANICS)
def test_mistake_in_mechanics_is_refused_with_its_place(name: str) -> None:
    old, new, place, problem, remedy = MECHANICS[name]
    assert old in FULL, "the mistake must change the sheet"
    with pytest.raises(SheetError) as caught:
        parse(FULL.replace(old, new, 1), "full.toml")
    fault = caught.value
    assert fault.file == "full.toml"
    assert fault.place.endswith(place)
    assert problem in fault.problem
    assert remedy in fault.remedy


def test_the_sheet_with_every_mechanic_is_accepted_by_the_core_too() -> None:
    assert {step.op for mode in parse(FULL).modes for step in mode.steps} == set(OPS[1:])
    assert Pack(compile_sheet(parse(FULL))).modes == ("base", "free")


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

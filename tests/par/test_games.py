"""What the rule sheets demand of the games' sheets, read from the sheets themselves (ids of the rules in the games' notes)."""

from __future__ import annotations

import pytest

from host_tools.cabinet import games
from host_tools.par.checks import shown_at_most
from host_tools.par.model import Prize, Sheet
from host_tools.par.sheet import load

LADDER = [10, 20, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 400, 500]
AGT = ["11111", "00000", "22222", "01210", "21012", "00122", "22100", "12221", "10001", "01110"]


@pytest.fixture(scope="module")
def dog() -> Sheet:
    return load(games.sheet_path("dog_diner"))


@pytest.fixture(scope="module")
def pig() -> Sheet:
    return load(games.sheet_path("piggy_bank"))


def ids(sheet: Sheet, numbers: frozenset[int] | set[int]) -> set[str]:
    return {sheet.symbols[number].id for number in numbers}


def reels_of(sheet: Sheet, set_name: str, symbol: str) -> list[int]:
    """Reels (from 1) of a set that hold a symbol."""
    (entry,) = [entry for entry in sheet.sets if entry.id == set_name]
    return [reel for reel, strip in enumerate(entry.reels, 1) if sheet.number(symbol) in strip]


def prizes(sheet: Sheet, table: str) -> list[Prize]:
    return [row.prize for row in sheet.tables[sheet.table(table)].rows]


def credits(sheet: Sheet, table: str) -> list[int]:
    return [prize.number for prize in prizes(sheet, table) if prize.kind == "credits"]


def pots(sheet: Sheet, table: str) -> set[str]:
    return {sheet.pots[prize.index].id for prize in prizes(sheet, table) if prize.kind == "pot"}


def features(sheet: Sheet, table: str) -> set[str]:
    return {sheet.features[prize.index].id for prize in prizes(sheet, table) if prize.kind == "feature"}


@pytest.mark.parametrize(("game", "cap"), [("dog_diner", 25_000_000), ("piggy_bank", 5_000_000)])
def test_stakes_cap_gamble_and_spin_chance(game: str, cap: int) -> None:
    """G1, G4, G5, G6."""
    sheet = load(games.sheet_path(game))
    assert [coin * sheet.stake for coin in sheet.coin_values] == LADDER
    assert sheet.levels == 1
    assert sheet.win_cap_pence == cap
    assert sheet.spin_chance
    gamble = sheet.gamble
    assert gamble is not None
    assert (gamble.offered_from, gamble.limit) == (5 * sheet.stake, 2500 * sheet.stake)
    cash = [(row.numerator, row.denominator) for row in gamble.rows if row.kind == "cash"]
    assert cash == [(4, 3), (2, 1), (3, 1)]
    assert gamble.payback_ppm == 1_000_000


@pytest.mark.parametrize("game", ["dog_diner", "piggy_bank"])
def test_quoted_rtp_is_within_the_target(game: str) -> None:
    """G7: 94.50 ± 0.02 in every mode that a player selects. That the quote is the exact figure, `par exact` proves."""
    sheet = load(games.sheet_path(game))
    for mode in sheet.modes:
        if mode.selectable:
            assert mode.lowest_ppm == mode.highest_ppm == pytest.approx(945_000, abs=200)


def test_dog_ways_and_wild(dog: Sheet) -> None:
    """A1, A2, A3."""
    assert (dog.reels, dog.rows, dog.lines) == (5, 3, ())
    assert {mode.evaluation for mode in dog.modes} == {"ways"}
    pays = {symbol.id: dog.pays[number][2:] for number, symbol in enumerate(dog.symbols) if any(dog.pays[number])}
    low = {"A": (2, 3, 5), "K": (2, 3, 5), "Q": (2, 3, 5), "J": (2, 3, 5), "T": (1, 2, 3), "N9": (1, 2, 3)}
    assert pays == low | {
        "DISH": (3, 5, 10),
        "CHAMP": (3, 6, 12),
        "GREEN": (4, 7, 14),
        "CHEF": (4, 8, 16),
        "RED": (5, 10, 20),
    }
    wild = dog.symbols[dog.number("WILD")]
    assert wild.multiplier == 1
    assert ids(dog, set(range(len(dog.symbols))) - wild.substitutes) == {"WILD", "BONUS", "SCAT"}
    for entry in dog.sets:
        assert reels_of(dog, entry.id, "WILD") == [2, 3, 4, 5]


def test_dog_wheels(dog: Sheet) -> None:
    """A4, A8: Bonus on all reels of the three games; wheels lose the Mini, then the Minor."""
    assert reels_of(dog, "base", "BONUS") == reels_of(dog, "fortune", "BONUS") == [1, 2, 3, 4, 5]
    assert reels_of(dog, "free", "BONUS") == reels_of(dog, "steaks", "BONUS") == []
    everything = {"go_large", "rollin_bones", "high_steaks"}
    for wheel, left in (("wheel_1", 4), ("wheel_2", 3), ("wheel_3", 2)):
        assert features(dog, wheel) == everything
        assert pots(dog, wheel) == set(["GRAND", "MAJOR", "MINOR", "MINI"][:left])
    for name in ("base", "fortune_bet", "fortune_spins"):
        ranges = [(s.least, s.most, dog.tables[p.index].id) for s, p in dog.awards(dog.mode(name)) if p.kind == "wheel"]
        assert ranges == [(3, 3, "wheel_1"), (4, 4, "wheel_2"), (5, 15, "wheel_3")]
    assert [(pot.id, pot.credits // dog.stake) for pot in dog.pots] == [
        ("MINI", 10),
        ("MINOR", 25),
        ("MAJOR", 100),
        ("GRAND", 1000),
    ]


def test_dog_modifier_lands_what_the_rule_says(dog: Sheet) -> None:
    """A5: three groups in each mode; boards are counted in tests/par/test_strips.py."""
    for name in ("base", "fortune_bet", "fortune_spins"):
        (step,) = dog.modes[dog.mode(name)].steps_of("modifier")
        assert step.table is not None
        kinds = [row.prize.kind for row in dog.tables[step.table].rows]
        assert kinds == ["nothing", "boards", "boards", "boards"]
    plans = {
        name: (plan.get("symbols"), plan.get("least"), plan.get("win_from_credits"))
        for name, plan in dog.search["boards"].items()
    }
    for suffix in ("", "_spins"):
        assert plans[f"bonus{suffix}"] == (["BONUS"], 3, None)
        assert plans[f"scatters{suffix}"] == (["SCAT"], 6, None)
        assert plans[f"wins{suffix}"] == (None, None, 10 * dog.stake)


def test_dog_pile(dog: Sheet) -> None:
    """A6."""
    for name in ("base", "fortune_bet", "fortune_spins"):
        (step,) = dog.modes[dog.mode(name)].steps_of("pile")
        assert ids(dog, step.symbols) == {"BONUS"}
        assert step.table is not None
        assert [prize.kind for prize in prizes(dog, dog.tables[step.table].id)] == ["nothing", "wheel"]


def test_dog_features(dog: Sheet) -> None:
    """A7, A9: openings, six free spins each, bowls within their ranges."""
    openings = {feature.id: (feature.opening, ids(dog, feature.symbols), feature.level) for feature in dog.features}
    assert openings["go_large"] == ("shape", set(), 1)
    assert openings["rollin_bones"] == ("roll", {"BONUS"}, 1)
    assert openings["high_steaks"] == ("cells", {"BONUS"}, 3)
    assert openings["free_spins"] == ("cells", {"SCAT"}, 1)
    assert [prize.shape for prize in prizes(dog, "shapes")] == [(2, 2), (3, 3), (5, 3)]
    for feature in dog.features:
        assert [(o.spins, o.multiplier) for options in feature.options.values() for o in options] == [(6, 1)]
        assert [dog.tables[bowl or 0].id for bowl in feature.bowls] == ["bowl_1", "bowl_2", "bowl_3"]
    (raising,), (filling,) = (dog.modes[dog.mode(name)].steps_of("frames") for name in ("free", "steaks"))
    assert (raising.rule, filling.rule, filling.credits) == ("raise", "fill", 10 * dog.stake)
    assert dog.modes[dog.features[dog.feature("high_steaks")].mode].id == "steaks"
    for bowl, low, high, allowed in (
        ("bowl_1", 5, 15, set[str]()),
        ("bowl_2", 20, 80, {"MINI", "MINOR"}),
        ("bowl_3", 100, 2500, {"MINI", "MINOR", "MAJOR", "GRAND"}),
    ):
        assert (min(credits(dog, bowl)), max(credits(dog, bowl))) == (low, high)
        assert pots(dog, bowl) == allowed


def test_dog_triggers_and_alternative_games(dog: Sheet) -> None:
    """A9, A10, A11."""
    for name, scatters, cost in (("base", 6, 10), ("fortune_bet", 5, 15), ("fortune_spins", 6, 30)):
        mode = dog.modes[dog.mode(name)]
        assert mode.cost == cost
        (award,) = [s for s, p in dog.awards(dog.mode(name)) if p.kind == "feature"]
        assert (award.least, ids(dog, award.symbols)) == (scatters, {"SCAT"})
        assert shown_at_most(dog, mode, award.symbols) >= scatters
    (respin,) = dog.modes[dog.mode("fortune_bet")].steps_of("respin")
    assert (respin.least, ids(dog, respin.symbols)) == (2, {"BONUS"})
    (fortune,) = [entry for entry in dog.sets if entry.id == "fortune"]
    assert ids(dog, {symbol for strip in fortune.reels for symbol in strip}) == {
        "BONUS",
        "SCAT",
        "RED",
        "CHEF",
        "GREEN",
        "WILD",
    }


def test_dog_gamble_bonuses(dog: Sheet) -> None:
    """G5: Standard, Super, Mega; after Mega only cash."""
    assert dog.gamble is not None
    rows = [(row.id, row.only_cash_after) for row in dog.gamble.rows if row.kind == "feature"]
    assert rows == [("standard", False), ("super", False), ("mega", True)]
    values = [row.value_micro for row in dog.gamble.rows if row.kind == "feature"]
    assert values == sorted(values)


def test_pig_lines_and_wild(pig: Sheet) -> None:
    """B1, B2."""
    assert ["".join(map(str, line)) for line in pig.lines] == AGT
    assert {symbol.id for number, symbol in enumerate(pig.symbols) if pig.pays[number][1]} == {"TREE"}
    assert all(not row[0] for row in pig.pays)
    wild = pig.symbols[pig.number("WILD")]
    assert not ids(pig, wild.substitutes) & {"COLLECT", "ENTRY", "CASH", "BIG"}
    for name in ("base", "free", "golden"):
        assert reels_of(pig, name, "WILD") == [2, 3, 4]


def test_pig_cash(pig: Sheet) -> None:
    """B3, B4, B5."""
    for name in ("base", "fortune", "free"):
        assert reels_of(pig, name, "CASH") == [1, 2, 3, 4]
        assert reels_of(pig, name, "COLLECT") == [5]
    assert reels_of(pig, "base", "ENTRY") == reels_of(pig, "fortune", "ENTRY") == [5]
    assert reels_of(pig, "free", "ENTRY") == reels_of(pig, "golden", "ENTRY") == []
    assert [value // pig.stake for value in credits(pig, "cash")] == [1, 2, 5]
    assert [value // pig.stake for value in credits(pig, "big")] == [10, 20, 30, 50, 75, 100]
    for name in ("base", "fortune_spins"):
        ((award, prize),) = pig.awards(pig.mode(name))
        assert (award.least, ids(pig, award.symbols), ids(pig, award.needed)) == (4, {"CASH", "BIG"}, {"ENTRY"})
        assert pig.features[prize.index].id == "free_spins"
        (collect,) = pig.modes[pig.mode(name)].steps_of("collect")
        assert ids(pig, collect.symbols) == {"COLLECT", "ENTRY"}


def test_pig_bank_and_wheels(pig: Sheet) -> None:
    """B6, B7."""
    assert features(pig, "wheel_base") == {"free_spins", "golden"}
    assert pots(pig, "wheel_base") == {"MINI", "MINOR", "MAJOR", "GRAND"}
    assert pots(pig, "wheel_free") == {"MAJOR", "GRAND"}
    assert {prize.kind for prize in prizes(pig, "wheel_free")} == {"spins", "pot"}
    assert all(pig.features[pig.feature(name)].collects for name in ("free_spins", "golden"))
    assert reels_of(pig, "golden", "CASH") == []
    assert reels_of(pig, "golden", "BIG")
    for mode in pig.modes:
        (pile,) = mode.steps_of("pile")
        assert pig.number("BIG") in pile.symbols


def test_pig_free_spins(pig: Sheet) -> None:
    """B4, B8, B9: eight free spins, added spins and tokens on reels 1 to 4, the pots of the matrix."""
    for name in ("free_spins", "golden"):
        assert [o.spins for options in pig.features[pig.feature(name)].options.values() for o in options] == [8]
    for name in ("free", "golden"):
        assert set(reels_of(pig, name, "EXTRA")) <= {1, 2, 3, 4}
        assert set(reels_of(pig, name, "TOKEN")) <= {1, 2, 3, 4}
        (added,) = pig.modes[pig.mode(name)].steps_of("add_spins")
        assert (ids(pig, added.symbols), added.least) == ({"EXTRA"}, 1)
    assert [(pot.id, pot.credits // pig.stake) for pot in pig.pots] == [
        ("MINI", 10),
        ("MINOR", 25),
        ("MAJOR", 50),
        ("GRAND", 1000),
    ]
    assert pots(pig, "tokens") == {"MINI", "MINOR", "MAJOR", "GRAND"}
    assert all(pot.tokens for pot in pig.pots)


def test_pig_fortune_spins(pig: Sheet) -> None:
    """B10: the four symbols, of which Cash has two faces, and the nine values."""
    (fortune,) = [entry for entry in pig.sets if entry.id == "fortune"]
    shown = ids(pig, {symbol for strip in fortune.reels for symbol in strip})
    assert shown == {"CASH", "BIG", "BLANK", "COLLECT", "ENTRY"}
    assert len(credits(pig, "cash") + credits(pig, "big")) == 9


def test_pig_gamble_rows(pig: Sheet) -> None:
    """B11: 1 to 30 free spins; more spins are worth more."""
    assert pig.gamble is not None
    rows = [row for row in pig.gamble.rows if row.kind == "feature"]
    assert [row.spins for row in rows] == list(range(1, 31))
    assert [row.value_micro for row in rows] == sorted({row.value_micro for row in rows})

"""The search around fixed symbols: it repeats, and what it finds is what the sheets of its games hold."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

from host_tools.cabinet import games
from host_tools.par import editing
from host_tools.par.knobs import Knob, exact_rtp, knobs, solve, turned
from host_tools.par.model import Sheet
from host_tools.par.reading import SheetError
from host_tools.par.searching import searched
from host_tools.par.sheet import load, parse
from host_tools.par.strip_plan import plan
from host_tools.par.strips import Figures, Search, Walk, board_win, found_in

from .full_sheet import FULL
from .helpers import SMALL

GAMES = ("dog_diner", "piggy_bank")


@pytest.fixture(scope="module", params=GAMES)
def sheet(request: pytest.FixtureRequest) -> Sheet:
    return load(games.sheet_path(request.param))


def test_recorded_search_gives_the_strips_and_boards_of_the_sheet(sheet: Sheet) -> None:
    given = plan(sheet)
    found = Search(sheet, given).run()
    assert found == found_in(sheet, given)
    assert found.digest() == given.digest


def test_another_seed_gives_other_strips(sheet: Sheet) -> None:
    one, other = (
        [Walk(sheet, p.sets[-1], random.Random(f"{p.seed}"), print).start(1) for p in (plan(sheet, s),)] for s in (1, 2)
    )
    assert one != other


def test_strips_keep_the_rules_of_the_plan(sheet: Sheet) -> None:
    rows = sheet.rows
    for given in plan(sheet).sets:
        reels = sheet.sets[given.set].reels
        assert tuple(map(len, reels)) == given.lengths
        for reel, strip in enumerate(reels):
            assert {symbol: strip.count(symbol) for symbol in given.fixed} == {
                s: row[reel] for s, row in given.fixed.items()
            }
            assert set(given.paying) <= set(strip) <= set(given.paying) | set(given.fixed)
            for stop in range(len(strip)):
                window = [strip[(stop + row) % len(strip)] for row in range(rows)]
                assert len(given.apart & set(window)) <= 1
                for symbol in given.fixed:
                    shown = [row for row, cell in enumerate(window) if cell == symbol]
                    assert len(shown) <= given.blocks.get(symbol, 1)
                    assert not shown or shown == list(range(shown[0], shown[-1] + 1)), "one block a window"


def test_boards_show_what_their_group_asks(sheet: Sheet) -> None:
    for given in plan(sheet).groups:
        group = sheet.groups[given.group]
        reels = sheet.sets[sheet.modes[group.mode].set].reels
        assert len(set(group.boards)) == given.count
        for board in group.boards:
            window = [
                [s[(stop + row) % len(s)] for row in range(sheet.rows)] for s, stop in zip(reels, board, strict=True)
            ]
            assert sum(cell in given.symbols for column in window for cell in column) >= given.least
            assert board_win(sheet, window) >= given.win_from


def test_figures_of_ways_against_every_board() -> None:
    """Means and hits by closed form, against windows looked at one by one."""
    sheet = parse(FULL.replace("A = [0, 2, 10]", "A = [0, 2, 10]").replace("K = [0, 0, 5]", "K = [0, 3, 5]"))
    reels = sheet.sets[0].reels
    wins = []
    for stops in product(*(range(len(strip)) for strip in reels)):
        window = [[s[(stop + row) % len(s)] for row in range(3)] for s, stop in zip(reels, stops, strict=True)]
        wins.append(board_win(sheet, window))
    mean, hit = Figures(sheet, 0)(reels)
    assert mean == pytest.approx(sum(wins) / len(wins), rel=1e-12)
    assert hit == pytest.approx(100 * sum(win > 0 for win in wins) / len(wins), rel=1e-12)
    assert mean > 0
    assert 0 < hit < 100


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": -1}, "seed"),
        ({"speed": 3}, "not known"),
        ({"sets": {"bass": {}}}, "names no set"),
        ({"boards": {"luck": {}}}, "names no board group"),
    ],
)
def test_plan_is_checked(change: dict[str, object], words: str) -> None:
    sheet = load(games.sheet_path("dog_diner"))
    with pytest.raises(SheetError, match=words):
        plan(replace(sheet, search={**sheet.search, **change}))


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("paying", ["RED", "BLUE"], "'BLUE' is not a symbol"),
        ("lengths", [10, 38, 38, 38, 38], "leaves"),
        ("win_credits", {"value": 6.0, "within": 0.0}, "above 0"),
        ("fixed", {"SCAT": [3, 3]}, "exactly 5"),
        ("colour", 1, "not known"),
    ],
)
def test_plan_of_a_set_is_checked(key: str, value: object, words: str) -> None:
    sheet = load(games.sheet_path("dog_diner"))
    sets = {**sheet.search["sets"], "base": {**sheet.search["sets"]["base"], key: value}}
    with pytest.raises(SheetError, match=words):
        plan(replace(sheet, search={**sheet.search, "sets": sets}))


def test_copies_that_no_order_keeps_apart_are_told() -> None:
    sheet = load(games.sheet_path("dog_diner"))
    given = plan(sheet).sets[0]
    scatters = {**given.fixed, sheet.number("BONUS"): (13,) * 5}
    with pytest.raises(SheetError, match="keeps equal symbols of reel 1 apart"):
        Walk(sheet, replace(given, fixed=scatters), random.Random(1), print).run()


# Knobs

KNOB = (
    '\n[search]\nsource = "made for tests"\nseed = 1\n[search.knobs]\nbase = { table = "%s", row = %d, against = %d }\n'
)


def knob_sheet(rtp: float, table: str = "cash", row: int = 1, against: int = 0) -> Sheet:
    """The small sheet of lines, with values on its kings that an ace collects."""
    cash = "rows = [{ weight = 999_000, credits = 5 }, { weight = 1000, credits = 25 }]"
    text = SMALL.replace("[sets.base]", f'[tables.cash]\nsource = "made for tests"\n{cash}\n\n[sets.base]')
    steps = '{ op = "values", symbols = ["K"], table = "cash" }, { op = "collect", symbols = ["A"] }'
    text = text.replace('steps = [{ op = "award"', f'steps = [{steps}, {{ op = "award"')
    target = f'\n[targets.base]\nsource = "made for tests"\nrtp = {{ value = {rtp}, within = 0.02 }}\n'
    return parse(text + target + KNOB % (table, row, against))


def test_knob_brings_the_rtp_home_and_leaves_the_sum() -> None:
    low, high = (exact_rtp(turned(knob_sheet(0), knobs(knob_sheet(0))[0], weight), 0) for weight in (1, 500_000))
    wanted = (low + high) / 2
    sheet = knob_sheet(wanted)
    (knob,) = knobs(sheet)
    solved, rtp = solve(sheet, knob)
    assert exact_rtp(solved, 0) == rtp == pytest.approx(wanted, abs=0.02)
    assert solved.tables[knob.table].weight == sheet.tables[knob.table].weight
    assert solved.tables[knob.table].rows[1].weight not in (1, 1000, 500_000)


def test_knob_out_of_reach_is_told() -> None:
    sheet = knob_sheet(1_000_000.0)
    with pytest.raises(SheetError, match=r"search\.knobs\.base: would need weight"):
        solve(sheet, knobs(sheet)[0])


@pytest.mark.parametrize(
    ("table", "row", "against", "words"),
    [("cahs", 1, 0, "'cahs' is not a table"), ("cash", 2, 0, "out of range"), ("cash", 1, 1, "own row")],
)
def test_knobs_are_checked(table: str, row: int, against: int, words: str) -> None:
    with pytest.raises(SheetError, match=words):
        knobs(knob_sheet(95, table, row, against))


def test_knob_needs_a_target() -> None:
    sheet = knob_sheet(95)
    with pytest.raises(SheetError, match=r"targets\.base\.rtp is missing"):
        knobs(replace(sheet, targets={}))


@pytest.mark.parametrize("game", GAMES)
def test_knobs_of_the_games(game: str) -> None:
    sheet = load(games.sheet_path(game))
    selectable = [number for number, mode in enumerate(sheet.modes) if mode.selectable]
    found = knobs(sheet)
    assert [knob.mode for knob in found] == selectable
    for knob in found:
        table = sheet.tables[knob.table]
        assert isinstance(knob, Knob)
        assert (knob.rtp, knob.within) == (94.5, 0.02)
        assert table.rows[knob.against].prize.kind == "nothing"
        assert table.weight == 1_000_000


# Text


def test_a_search_without_knobs_leaves_the_text_as_it_is(sheet: Sheet) -> None:
    same, text = searched(sheet, None, lambda _: None, with_knobs=False)
    assert same
    assert text == games.sheet_path(sheet.name).read_text()


def test_edits_change_one_place_only() -> None:
    text = games.sheet_path("dog_diner").read_text()
    before = load(games.sheet_path("dog_diner"))
    edits = {
        "weight": editing.with_weight(text, "bowl_2", 2, 161),
        "value": editing.with_value(text, "super", 77),
        "rtp": editing.with_number(text, "modes.fortune_bet.rtp", "lowest_ppm", 5),
        "boards": editing.with_boards(text, "wins", ((0, 1, 2, 3, 4),)),
        "strips": editing.with_strips(text, before, "steaks", before.sets[before.modes[before.mode("free")].set].reels),
    }
    after = {name: parse(edited) for name, edited in edits.items()}
    assert after["weight"].tables[before.table("bowl_2")].rows[2].weight == 161
    assert after["weight"].tables[before.table("bowl_2")].rows[3] == before.tables[before.table("bowl_2")].rows[3]
    assert [row.value_micro for row in after["value"].gamble.rows if row.id == "super"] == [77]  # type: ignore[union-attr]
    assert after["rtp"].modes[1].lowest_ppm == 5
    assert after["rtp"].modes[0].lowest_ppm == before.modes[0].lowest_ppm
    assert after["boards"].groups[before.group("wins")].boards == ((0, 1, 2, 3, 4),)
    assert after["strips"].sets[3].reels == before.sets[2].reels
    with pytest.raises(SheetError, match=r"write it as \[boards.none\]"):
        editing.with_boards(text, "none", ())

"""The recorded search gives the strips that are in the sheet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from host_tools.cabinet import games
from host_tools.par.hits import hits
from host_tools.par.model import Sheet
from host_tools.par.reading import SheetError
from host_tools.par.search import Search, found_in, plan
from host_tools.par.sheet import load


@pytest.fixture(scope="module")
def sheet() -> Sheet:
    return load(games.sheet_path("piggy_riches"))


def test_recorded_search_gives_the_strips_of_the_sheet(sheet: Sheet) -> None:
    """The whole search, all four stages (about 15 s)."""
    given = plan(sheet)
    found = Search(sheet, given).run()
    assert found == found_in(sheet, given)
    assert found.digest() == given.digest


def test_digest_sees_every_stop(sheet: Sheet) -> None:
    found = found_in(sheet, plan(sheet))
    reel = found.base[0]
    other = replace(found, base=((reel[1], reel[0], *reel[2:]), *found.base[1:]))
    assert other.digest() != found.digest()


def test_first_stages_follow_the_seed(sheet: Sheet) -> None:
    search = Search(sheet, plan(sheet))
    reels = search.scatters()
    assert sorted(reels) == sorted((strip.count(search.scatter), len(strip)) for strip in sheet.sets[0].reels), (
        "stage 1 is closed form: no seed in it"
    )
    draws = [Search(sheet, plan(sheet, seed)).random("base counts").random() for seed in (2, 2, 3)]
    assert draws[0] == draws[1] != draws[2]


def test_arranged_strips_keep_the_rules(sheet: Sheet) -> None:
    search = Search(sheet, plan(sheet, 99))
    counts = search.start([(3, 38), (2, 40), (1, 42), (1, 44), (1, 46)], 2)
    strips = search.arrange("test", counts, search.scatter, lambda any_win, lines: 0.0, 1.0)
    for strip, reel in zip(strips, counts, strict=True):
        assert {symbol: strip.count(symbol) for symbol in reel} == reel
        assert all(search.placed_well(strip, stop) for stop in range(len(strip)))
    assert hits(sheet, strips, search.scatter).by_scatters > 0


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("seed", -1, "seed"),
        ("mode", "free", "starts no feature"),
        ("copies", [0], "copies"),
        ("free_lengths", [60], "exactly 5"),
        ("speed", 3, "not known"),
    ],
)
def test_plan_is_checked(sheet: Sheet, key: str, value: object, words: str) -> None:
    with pytest.raises(SheetError, match=words):
        plan(replace(sheet, search={**sheet.search, key: value}))


def test_search_needs_targets(sheet: Sheet) -> None:
    with pytest.raises(SheetError, match="best_rtp"):
        plan(replace(sheet, targets={}))

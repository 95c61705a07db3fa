"""The game's sheet against the rule sheet and the targets (C1 to C6)."""

from __future__ import annotations

import math
from functools import cache

import pytest

from host_tools.cabinet import games
from host_tools.par.counts import in_view
from host_tools.par.exact import Exact, check_quoted, exact, figures, misses
from host_tools.par.hits import hits
from host_tools.par.model import Sheet
from host_tools.par.sheet import load

from .helpers import SHEETS

PAYTABLE = {
    "Money Bag": (0, 5, 25, 300, 2000), "Gold Card": (0, 0, 25, 150, 1000), "Keys": (0, 0, 20, 125, 750),
    "Wallet": (0, 0, 20, 75, 400), "Piggy Bank": (0, 0, 15, 75, 200), "Ace": (0, 0, 15, 50, 125),
    "King": (0, 0, 10, 25, 100), "Queen": (0, 0, 5, 20, 75), "Jack": (0, 0, 5, 15, 60), "Ten": (0, 0, 5, 10, 50),
}  # fmt: skip
OPTIONS = {
    3: [(22, 2), (15, 3), (9, 5)],
    4: [(25, 2), (18, 3), (14, 4), (10, 6)],
    5: [(28, 2), (20, 3), (16, 4), (13, 5), (11, 6)],
}


@cache
def game() -> Sheet:
    return load(games.sheet_path("piggy_riches"))


@cache
def solved() -> Exact:
    return exact(game(), 0, threads=2)


def test_targets_are_met_exactly() -> None:
    result = solved()
    assert result.agree
    assert misses(result) == []
    assert check_quoted(result).problems == []
    have = figures(result)
    assert have["best_rtp"] == pytest.approx(96.38, abs=0.005)
    assert have["worst_rtp"] == pytest.approx(95.80, abs=0.02)
    assert have["main_game_rtp"] == pytest.approx(77.4, abs=0.5)
    assert have["hit_frequency"] == pytest.approx(40.9, abs=0.5)
    assert have["line_hit_frequency"] == pytest.approx(33.1, abs=0.5)
    assert have["scatter_hit_frequency"] == pytest.approx(10.2, abs=0.2)


def test_quoted_rtp_is_the_range_over_policies() -> None:
    assert solved().ppm() == (game().modes[0].lowest_ppm, game().modes[0].highest_ppm) == (957_894, 963_801)


def test_free_spin_mode_quotes_its_own() -> None:
    assert check_quoted(exact(game(), 1, threads=2)).problems == []


def test_best_picks_are_the_highest_multipliers() -> None:
    """The rule sheet names the highest multiplier as the best strategy; here it is so by expectation."""
    picks = solved().policies["best"].picks
    assert {count: (pick.option.spins, pick.option.multiplier) for count, pick in picks.items()} == {
        3: (9, 5),
        4: (10, 6),
        5: (11, 6),
    }
    worst = solved().policies["worst"].picks
    assert {count: pick.option.multiplier for count, pick in worst.items()} == {3: 2, 4: 2, 5: 2}


def test_third_opinion_on_hit_frequencies() -> None:
    sums, (scatter,) = solved().base.cycle, game().scatter_pays
    found = hits(game(), game().sets[0].reels, scatter)
    assert (found.any_win, found.by_lines, found.by_scatters) == (
        sums.boards_any,
        sums.boards_line,
        sums.boards_scatter,
    )


def test_paytable_lines_and_options() -> None:
    sheet = game()
    for number, symbol in enumerate(sheet.symbols):
        assert sheet.pays[number] == PAYTABLE.get(symbol.title, (0,) * 5)
    (scatter,) = sheet.scatter_pays
    assert sheet.scatter_pays[scatter] == (0, 2, 4, 15, 100)
    assert sheet.lines == load(SHEETS / "slotopol_10.toml").lines
    (feature,) = sheet.features
    assert {count: [(o.spins, o.multiplier) for o in options] for count, options in feature.options.items()} == OPTIONS
    (adds,) = sheet.modes[feature.mode].steps
    assert (adds.op, adds.symbols, adds.least) == ("add_spins", frozenset({scatter}), 1)
    assert not sheet.modes[feature.mode].scatter_pays


def test_wild() -> None:
    sheet = game()
    wild = sheet.symbols[0]
    assert (wild.multiplier, sheet.wild_rule, sheet.needs_natural) == (3, "highest", False)
    assert wild.substitutes == frozenset(range(2, len(sheet.symbols)))
    assert not any(sheet.pays[0])
    assert all(0 in strip for entry in sheet.sets for strip in entry.reels), "on all reels, in both games"


def test_published_largest_wins() -> None:
    """360,000 coins on a line (level 10, wild, free spins at x6) and 15,000 by scatters."""
    sheet = game()
    line = max(max(row) for row in sheet.pays) * sheet.symbols[0].multiplier
    highest = max(option.multiplier for options in sheet.features[0].options.values() for option in options)
    assert line * highest * sheet.levels == 360_000
    assert max(sheet.scatter_pays[1]) * sheet.modes[0].cost * sheet.levels == 15_000


def test_stakes() -> None:
    sheet = game()
    assert len(sheet.lines) == sheet.modes[0].cost == 15
    stakes = {15 * coin * level for coin in sheet.coin_values for level in range(1, sheet.levels + 1)}
    assert min(stakes) == 15
    assert max(stakes) == 15 * sheet.max_unit_pence == 450


def test_strips_look_like_strips() -> None:
    sheet = game()
    for entry in sheet.sets:
        for strip in entry.reels:
            size = len(strip)
            assert 30 <= size <= 60
            assert set(strip) >= set(range(2, len(sheet.symbols))), "every paying symbol is on every reel"
            for symbol in (0, 1):
                assert len(in_view(strip, {symbol}, sheet.rows)) <= 2, "never two wilds or scatters in a window"
            assert all(strip[stop] != strip[(stop + 1) % size] for stop in range(size)), "no stacks"
            assert max(strip.count(symbol) for symbol in set(strip)) <= size / 5
    slotopol = load(SHEETS / "slotopol_10.toml").sets[0].reels
    assert not {strip for entry in sheet.sets for strip in entry.reels} & set(slotopol)


def test_bound_of_spins_changes_no_digit() -> None:
    """Expected spins with the bound equal the unbounded n / (1 - q) far beyond any printed digit."""
    result = solved()
    (free,) = result.free.values()
    (adds,) = game().modes[1].steps
    (scatter,) = adds.symbols
    added = sum(count * ways for count, ways in enumerate(free.cycle.in_view[scatter])) / free.cycle.boards
    for played in result.policies.values():
        for pick in played.picks.values():
            assert float(pick.spins) == pytest.approx(pick.option.spins / (1 - added), rel=1e-14)


def test_win_cap_changes_no_digit() -> None:
    """Bennett's inequality: the chance that a feature of 250 spins reaches the cap at the largest stake."""
    sheet, result = game(), solved()
    (free,) = result.free.values()
    sums, bound = free.cycle, sheet.features[0].max_spins
    multiplier = 6
    cap = sheet.win_cap_pence / sheet.max_unit_pence - result.base.cycle.max_credits  # credits left for free spins
    mean = sums.sum_credits / sums.boards
    spread = (sums.sum_squares / sums.boards - mean**2) * multiplier**2
    largest = sums.max_credits * multiplier
    excess = cap - bound * multiplier * mean
    reach = largest * excess / (bound * spread)
    exponent = bound * spread / largest**2 * ((1 + reach) * math.log1p(reach) - reach)
    assert math.exp(-exponent) < 1e-40

"""Exact figures as JSON: what `par exact --json` prints."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from host_tools.par.exact import Exact, Z, check_gamble, figures, misses

LONGEST_EXACT_BITS = 12_000  # a longer fraction is not printed: it no longer helps a reader


def digits(value: Fraction) -> dict[str, str] | None:
    """A fraction as text, unless it has become unprintably long."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > LONGEST_EXACT_BITS:
        return None
    return {"numerator": str(value.numerator), "denominator": str(value.denominator)}


def to_json(result: Exact, policy: str) -> dict[str, Any]:
    """Percentages unless a name says otherwise."""
    sheet, sums, played = result.sheet, result.base.cycle, result.policies[policy]
    deviation = math.sqrt(played.variance)
    low, high = result.ppm()
    parts = [(sheet.modes[result.mode].id, result.base)]
    parts += [(sheet.modes[number].id, part) for number, part in result.free.items()]
    boards = sum(part.cycle.boards for _, part in parts)
    seconds = sum(part.seconds for _, part in parts)
    have = figures(result)
    return {
        "game": sheet.name,
        "mode": sheet.modes[result.mode].id,
        "policy": policy,
        "rtp": float(100 * played.rtp),
        "rtp_exact": digits(played.rtp),
        "main_game_rtp": float(100 * result.main_rtp),
        "main_game_rtp_exact": {"numerator": str(sums.sum_credits), "denominator": str(sums.boards * result.cost)},
        "free_spins_rtp": float(100 * played.free_spins_rtp),
        "rtp_ppm": {"lowest": low, "highest": high},
        "hit_frequency": have["hit_frequency"],
        "window_hit_frequency": result.share(sums.boards_any),
        "line_hit_frequency": have["line_hit_frequency"],
        "scatter_hit_frequency": have["scatter_hit_frequency"],
        "below_bet_frequency": result.share(sums.boards_below_bet),
        "from_bet_frequency": result.share(sums.boards_from_bet),
        "boards": sums.boards,
        "winning_boards": sums.boards_any,
        "line_winning_boards": sums.boards_line,
        "scatter_winning_boards": sums.boards_scatter,
        "line_pays": sums.line_credits,
        "scatter_pays_bets": sums.scatter_bets,
        "winning_lines": sums.winning_lines,
        "max_base_win_credits": sums.max_credits,
        "scatter_boards": {sheet.symbols[symbol].id: list(seen) for symbol, seen in sums.in_view.items()},
        "combos": [
            {
                "symbol": sheet.symbols[symbol].id,
                "run": run,
                "without_wild": sums.runs.get((symbol, run, False), 0),
                "with_wild": sums.runs.get((symbol, run, True), 0),
            }
            for symbol, run in sorted({(symbol, run) for symbol, run, _ in sums.runs})
        ],
        "contributions": {cause: float(100 * mean / result.cost) for cause, mean in played.whole.parts.items()},
        "one_in": {name: float(1 / often) for name, often in played.whole.often.items() if often},
        "trigger_one_in": result.one_in("feature "),
        "picks": {
            str(count): {
                "spins": pick.option.spins,
                "multiplier": pick.option.multiplier,
                "mean_award_bets": float(pick.mean / result.cost),
                "mean_spins": float(pick.spins),
            }
            for count, pick in played.picks.items()
        },
        "sd_base_spin": math.sqrt(result.base_variance),
        "sd_round": deviation,
        "sd_is": "exact",
        "volatility_index": [{"z": z, "value": z * deviation} for z in Z],
        "methods_agree": result.agree,
        "methods": [
            {"mode": name, "quantity": check.quantity, "enumeration": check.enumeration, "counts": check.counts}
            for name, part in parts
            for check in part.checks
        ],
        "targets_missed": [miss.name for miss in misses(result)],
        "gamble_problems": check_gamble(sheet),
        "boards_per_second": boards / seconds if seconds else None,
    }

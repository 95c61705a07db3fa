"""The parts of play that need no cabinet: the gamble's arithmetic, piles, the round record."""

from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.play import pile, rounds
from firmware.play.gamble import Selection
from firmware.store.journal import Journal
from tests.firmware.nvram import RigNvram

# name, kind, feature, numerator, denominator, spins, value in millionths of a credit, flags
CASH = (("third", 0, 255, 4, 3, 0, 0, 0), ("double", 0, 255, 2, 1, 0, 0, 0), ("triple", 0, 255, 3, 1, 0, 0, 0))
BONUS = ("mega", 1, 0, 0, 0, 10, 120_500_000, 1)


def wheels(payback_ppm: int = 1_000_000):
    return SimpleNamespace(
        gambles=(*CASH, BONUS), gamble_payback_ppm=payback_ppm, stake=10, features=(("free_spins", 1, ()),)
    )


def test_a_third_needs_multiples_of_threepence_and_the_rest_is_kept():
    facts = Selection(wheels(), 1, 100, False, 0).facts("gamble_offer")
    assert (facts["name"], facts["amount"], facts["banked"], facts["win"]) == ("third", 99, 1, 132)
    assert facts["chance_ppm"] == 750_000


@given(row=st.integers(0, 2), offer=st.integers(3, 10**7), payback=st.integers(1, 1_000_000))
def test_cash_pays_back_what_is_promised(row, offer, payback):
    """P(green) x what green pays = payback x what is gambled, up to the millionth that the display rounds down."""
    it = Selection(wheels(payback), 5, offer, False, 0)
    it.row = row
    facts = it.facts("gamble_offer")
    exact = Fraction(payback, 10**6) * facts["amount"] / facts["win"]
    assert 0 <= exact * 10**6 - facts["chance_ppm"] < 1
    assert facts["amount"] + facts["banked"] == offer


@given(unit=st.integers(1, 50), offer=st.integers(1, 10**7), payback=st.integers(1, 1_000_000))
def test_a_bonus_takes_no_more_than_its_worth(unit, offer, payback):
    it = Selection(wheels(payback), unit, offer, False, 0)
    it.row = 3
    amount = it.amount()
    worth = Fraction(BONUS[6] * unit, 10**6)
    assert amount == min(offer, worth / Fraction(payback, 10**6) // 1)
    assert it.chance_ppm() <= 1_000_000
    assert it.facts("gamble_offer")["banked"] == offer - amount


@given(offer=st.integers(1, 10**7), row=st.integers(0, 3), only_cash=st.booleans())
def test_steps_go_down_to_a_small_amount_and_back_to_the_whole(offer, row, only_cash):
    it = Selection(wheels(), 2, offer, only_cash, 0)
    for _ in range(row):
        it.move(1)
    seen = [it.amount()]
    for _ in range(60):
        it.step(-1)
        seen.append(it.amount())
    down = list(dict.fromkeys(seen))
    assert down == sorted(down, reverse=True)
    assert down[-1] > 0
    for _ in range(60):
        it.step(1)
    assert it.amount() == down[0]


def test_after_the_highest_bonus_only_cash_can_be_chosen():
    it = Selection(wheels(), 1, 500, True, 0)
    chosen = set()
    for _ in range(8):
        it.move(1)
        chosen.add(it.row)
    assert chosen == {0, 1, 2}


def test_a_segment_that_takes_nothing_is_passed_over():
    it = Selection(wheels(), 1, 2, False, 0)
    assert it.row == 1
    it.move(-1)
    assert it.row == 3


def test_piles_belong_to_names():
    journal = Journal(RigNvram())
    journal.open()
    for game, size in (("one", 7), ("two", 70_000), ("one", 8)):
        journal.commit((pile.change(journal, game, size),))
    assert [pile.of(journal, game) for game in ("one", "two", "three")] == [8, 70_000, 0]


def test_more_piles_than_slots_are_refused():
    journal = Journal(RigNvram())
    journal.open()
    for number in range(16):
        journal.commit((pile.change(journal, f"game{number}", 1),))
    with pytest.raises(ValueError, match="16 games"):
        pile.change(journal, "one_more", 1)


def test_a_record_with_the_most_decisions_fits_the_journal():
    record = rounds.RoundRecord("g" * 15, bytes(32), 15, True, 500, 2**32 - 1, 65535)
    record.seed, record.credit_before, record.award = bytes(range(32)), 10**12, 10**12
    gambles = b"".join(rounds.gamble_bytes(number, 2**32 - 1) + b"\x00" for number in range(20))
    record.decisions = b"\x0f" + gambles + bytes([rounds.COLLECT])
    data = record.pack_finished()
    assert len(data) <= 255
    back = rounds.unpack(data)
    assert vars(back) == {**vars(record), "pack_hash": bytes(8)}

"""Power cut after every single byte that is written to NVRAM: nothing is lost, doubled or stuck."""

import pytest

from firmware.books import Transaction
from firmware.store import keys
from host_tools.cabinet import games
from host_tools.cabinet.cli import MONEY
from host_tools.hil.script import parse
from host_tools.soak import cuts

pytestmark = pytest.mark.host_only  # each cut forks the process that the firmware runs in


def money(extra: str = ""):
    return parse(MONEY.read_text() + extra)


def test_a_cut_after_every_byte_of_coins_free_spins_pick_and_pay_out():
    """The board alone loses its supply: every coin is credited exactly once, every paid coin booked exactly once."""
    report = cuts.run(money(), games.packs(), jobs=1)
    assert report.violations == []
    assert report.violated == 0
    assert report.cuts > 2500
    assert set(report.states) <= {"idle", "playing", "choosing"}
    print(f"\n{report.cuts} cuts, 0 violations, recovered to {report.states}")


def test_mains_cut_all_over_the_same_script():
    """The devices lose their power too: a coin whose event died with the acceptor is disputed, never forgotten."""
    report = cuts.run(money(), games.packs(), mains=True, every=5, jobs=1)
    assert report.violations == []
    assert report.cuts > 500
    assert report.disputed > 0


GAMBLE = """
entropy seed 9
console set quick_spin on
game dog_diner
coin 50
want gamble green x2
press start
wait until gambling within 5m
press right
press stake_down
press start
wait 600ms
press collect
wait until idle within 5m
press max_bet
wait 200ms
want spin_chance win
press start
wait 3s
"""


def test_cuts_in_the_gamble_and_in_a_spin_chance():
    report = cuts.run(parse(GAMBLE), games.packs(), every=3, jobs=1)
    assert report.violations == []
    assert report.cuts > 300
    assert {"gambling", "idle"} <= set(report.states)


def test_cuts_in_the_compaction_of_the_journal():
    """The area fills up in the middle of autoplay and the whole state moves to the other one."""
    script = "entropy seed 3\nconsole set quick_spin on\ngame piggy_riches\n" + "coin 200\n" * 3
    script += (
        "console autoplay 40\npress autoplay\nwait until idle within 5m\npress cash_out\nwait until idle within 5m\n"
    )
    report = cuts.run(parse(script), games.packs(), every=13, jobs=1, nvram_bytes=32768)
    assert report.violations == []
    assert report.compactions > 0


def test_a_counter_that_is_not_committed_with_its_credit_is_caught(monkeypatch):
    """The harness itself must be able to fail."""
    whole_set = Transaction.set
    monkeypatch.setattr(
        Transaction,
        "set",
        lambda self, key, value: self if key == keys.ACCEPTOR_COUNTER else whole_set(self, key, value),
    )
    report = cuts.run(parse("entropy seed 3\ncoin 200\ncoin 50\n"), games.packs(), every=17, jobs=1)
    assert report.violated > 0
    assert "swallowed" in report.violations[0]

"""Power cut after every single byte that is written to NVRAM: nothing is lost, doubled or stuck, and the story goes on.

The suite takes samples of what `cabinet soak --cuts exhaustive` does with every script of host_tools/hil/scripts/money.
"""

import pytest

from firmware.books import Transaction
from firmware.store import keys
from host_tools.cabinet import games
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse
from host_tools.soak import cuts, cuts_all

pytestmark = pytest.mark.host_only  # each cut forks the process that the firmware runs in


def money(name: str):
    return parse((cuts_all.FOLDER / f"{name}.rig").read_text())


@pytest.mark.parametrize("name", sorted(path.stem for path in cuts_all.FOLDER.glob("*.rig")))
def test_each_money_script_ends_well_without_a_cut(name):
    """Or its cuts prove nothing."""
    (script,) = cuts_all.read([cuts_all.FOLDER / f"{name}.rig"])
    report = cuts.run(script.commands, games.packs(), every=10**9, nvram_bytes=script.nvram_bytes)
    assert report.violations == []


def test_a_cut_after_every_byte_of_coins_free_spins_pick_and_pay_out():
    """The board alone loses its supply: every coin is credited exactly once, every paid coin booked exactly once."""
    report = cuts.run(money("money_path"), games.packs())
    assert report.violations == []
    assert report.cuts > 2500
    assert {"idle", "playing", "choosing"} <= set(report.states)
    assert report.endings < report.cuts // 20  # the others share one


def test_mains_cut_all_over_a_pay_out():
    """The devices lose their power too: a coin whose event died with the acceptor is disputed, never forgotten."""
    report = cuts.run(money("coins_at_speed"), games.packs(), mains=True)
    assert report.violations == []
    assert report.disputed > 0
    report = cuts.run(money("pay_out"), games.packs(), mains=True)
    assert report.violations == []


@pytest.mark.parametrize("mains", [False, True])
def test_cuts_all_over_a_note(mains):
    """Credited once or returned, and never disputed: the acceptor's counters prove what became of it."""
    commands = parse("entropy seed 6\npower on\nwait 3s\nnote 500")
    report = cuts.run(commands, games.packs(), mains=mains, skipped=2, every=2)
    assert report.violations == []
    assert report.cuts > 100


def test_a_second_cut_in_every_recovery_from_the_first():
    commands = parse("entropy seed 3\npower on\ncoin 10")
    report = cuts.run(commands, games.packs(), double=True, skipped=2, every=3)
    assert report.violations == []
    assert report.double_cuts > 10 * report.cuts
    assert report.double_cuts == cuts.run(commands, games.packs(), double=True, skipped=2, every=3).double_cuts


def test_torn_bytes_that_are_read_are_followed_one_by_one():
    """The script's own power-on reads the whole memory while torn bytes are still there: no cut stands for another."""
    report = cuts.run(parse("power on\nwait 500ms\ncoin 10"), games.packs(), skipped=2, every=5)
    assert (report.tainted, report.violations) == (0, [])
    again = cuts.run(parse("power on\nwait 500ms\ncoin 10\npower off\npower on"), games.packs(), skipped=2, every=5)
    assert again.violations == []
    assert again.tainted > 0
    assert again.endings > report.endings + again.tainted


def test_cuts_in_the_compaction_of_the_journal():
    """The area fills up in the middle of autoplay and the whole state moves to the other one."""
    script = "entropy seed 3\npower on\nconsole set quick_spin on\ngame piggy_riches\ncoins 200 200 200 200 200\n"
    for plays in (22, 6):
        script += f"console autoplay {plays}\npress autoplay\nwait until idle within 5m\n"
    report = cuts.run(parse(script), games.packs(), every=31, skipped=8, nvram_bytes=32768)
    assert report.violations == []
    assert report.compactions > 0


def test_a_violation_comes_with_a_script_that_repeats_it(monkeypatch):
    """The harness itself must be able to fail, and its script must lead to the same wrong books."""
    whole_set = Transaction.set
    monkeypatch.setattr(
        Transaction,
        "set",
        lambda self, key, value: self if key == keys.ACCEPTOR_COUNTER else whole_set(self, key, value),
    )
    commands = parse("entropy seed 3\npower on\ncoin 200\ncoin 50")
    report = cuts.run(commands, games.packs(), every=17, skipped=2, until_violation=True)
    assert report.violated > 0
    told, script = report.violations[0].split("\n", 1)
    assert "swallowed 250" in told
    rig = Rig(games.packs())
    rig.run(parse(script))
    assert rig.query()["coins_in"] > rig.world.swallowed_pence == 250


def test_every_money_script_can_be_read_and_the_short_ones_are_cut_twice():
    scripts = cuts_all.read(cuts_all.FOLDER.glob("*.rig"))
    assert len(scripts) > 40
    assert sum(script.double for script in scripts) >= 5


def test_a_directive_that_there_is_not_is_told(tmp_path):
    path = tmp_path / "x.rig"
    path.write_text("# cuts: triple\ncoin 10\n")
    with pytest.raises(ValueError, match="write '# cuts: double'"):
        cuts_all.read([path])

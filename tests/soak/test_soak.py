"""The soak itself: a sound cabinet passes, a broken one fails with a short script that repeats the failure."""

import json
import random
import signal
import subprocess
import sys

import pytest

from firmware import tilt
from firmware.books import Transaction
from firmware.money.coins_in import CoinsIn
from firmware.play import play, rounds
from firmware.store import keys
from hal.cctalk import payout as fate
from host_tools.cabinet import games
from host_tools.hil import script_commands as cmd
from host_tools.hil.rig import Rig, RigError
from host_tools.hil.script import parse
from host_tools.hil.vocabulary import NOTE_ACCEPTORS
from host_tools.soak import breakage, cuts_all, soaking
from host_tools.soak.shrink import CHECK, first_failure, likeness, shrink

PLAYS = 240


def test_cabinets_live_through_everything():
    """About eight seconds on two cores; `cabinet soak --plays` goes on for as long as one likes."""
    report = soaking.run(games.packs(), PLAYS, 7, jobs=2)
    assert [bad.text for bad in report.failures] == []
    assert (report.discrepancy_pence, report.unexplained_lockups) == (0, 0)
    assert report.plays >= PLAYS
    assert report.faults >= PLAYS
    assert report.power_cuts >= PLAYS // 10
    assert len(report.never_injected) < len(breakage.kinds("ssp")) // 3  # a longer run injects them all
    assert {"board at a byte", "mains at a byte", "board at rest", "board in recovery"} <= set(report.by_cut)
    print(f"\n{report.as_dict()}")


@pytest.mark.parametrize(
    "line", ['{"e":"state","stbte":"idle"}', '{"e":"query"}', '{"f":"coin"}', '{"e":["round"],"bet":1}']
)
def test_a_line_that_noise_has_changed_and_that_can_still_be_read_says_nothing(line):
    rig = Rig(games.packs())
    rig.audit()
    rig.run(parse("power on\nfault console corrupt 1 tx\nclear console"))
    for byte in line.encode() + b"\n":
        rig.world.console.receive(byte, rig.now_ms * 1000)
    assert rig.state == "idle"
    assert rig.query()["audit"] == 0


def test_a_large_win_that_an_attendant_pays_is_no_finding():
    rig = Rig(games.packs())
    auditor = rig.audit()
    rig.run(parse((cuts_all.FOLDER / "large_win.rig").read_text()))
    assert auditor.violations == []
    assert rig.summary()["handpay"] == rig.query()["large_win"] >= 100_000


def test_a_driver_that_believes_the_count_of_a_hopper_alone_is_a_finding(monkeypatch):
    """The count has missed coins that nobody saw leave, and the figures tell of them."""
    monkeypatch.setattr(fate.Payout, "settle", lambda self, count: self._end((count - self.count) & 0xFFFFFF, True))
    rig = Rig(games.packs())
    rig.audit()
    rig.run(parse("coin 200\ncoin 100\nfault hopper_100 miscount 2\npress cash_out\nwait 420ms\npower cut\nwait 1s"))
    rig.run(parse("clear hopper_100\npower on\nwait until idle within 20s\npress cash_out\nwait 10s"))
    with pytest.raises(RigError, match=r"hoppers booked 300, paid 500; .* nobody was called"):
        rig.run(parse("expect settled == ok"))


def test_the_result_does_not_depend_on_the_number_of_workers():
    packs = games.packs()
    found = [soaking.run(packs, 24, 3, jobs=jobs, life_plays=8).as_dict() for jobs in (1, 2)]
    assert found[0] == found[1]
    assert found[0]["lives"] == 3


@pytest.mark.parametrize("note", NOTE_ACCEPTORS)
def test_a_deck_holds_every_fault_of_every_device(note):
    deck = breakage.Deck(random.Random(1), note)
    dealt = [deck.deal() for _ in range(600)]
    assert {(fault.device, fault.kind) for fault in dealt} == set(breakage.kinds(note))
    for fault in dealt:
        assert parse(f"fit note_acceptor {note}\n{fault}")[1] == fault


def lose_a_coin(monkeypatch):
    """The acceptor's counter moves on without the credit."""
    whole = CoinsIn._coin

    def broken(self, event, now_ms):
        if event[2] == 20 and self._books.ledger.value("credit") > 500:
            self._books.transaction(now_ms).set(keys.ACCEPTOR_COUNTER, event[1]).commit()
        else:
            whole(self, event, now_ms)

    monkeypatch.setattr(CoinsIn, "_coin", broken)


def award_twice(monkeypatch):
    """The books balance, and yet a win has come twice."""
    whole = rounds.OpenRound.finish

    def broken(self, *args):
        award = self.core.award_pence
        if award:
            self._books.transaction(0).post("won", award).post("credit", award).commit()
        return whole(self, *args)

    monkeypatch.setattr(rounds.OpenRound, "finish", broken)


def play_before_the_commit(monkeypatch):
    """A play is told, and its bet booked a moment later."""
    whole = play.Play.begin

    def broken(self, seed, wager, now_ms):
        self._show({"e": "round", "game": self.game, "mode": "base", "bet": wager, "credit": 0})
        whole(self, seed, wager, now_ms)

    monkeypatch.setattr(play.Play, "begin", broken)


def never_notice_a_closed_door(monkeypatch):
    """A lock-up that stays although its cause is gone."""
    whole = tilt.Tilts.follow

    def broken(self, name, present, now_ms):
        return whole(self, name, present or (name == "door_logic" and name in self._automatic), now_ms)

    monkeypatch.setattr(tilt.Tilts, "follow", broken)


@pytest.mark.parametrize("broken", [lose_a_coin, award_twice, play_before_the_commit, never_notice_a_closed_door])
def test_a_broken_firmware_fails_and_a_short_script_repeats_it(monkeypatch, broken):
    broken(monkeypatch)
    packs = games.packs()
    report = soaking.run(packs, 400, 2, stop_at_failure=True)
    assert report.failed == 1
    bad = report.failures[0]
    short = shrink(packs, bad.script, bad.text, 120)
    assert len(short) < 60, short
    text = "".join(f"{command}\n" for command in short)
    with pytest.raises(RigError) as again:
        Rig(packs).run(parse(text))
    assert likeness(bad.text.split("found: ")[-1]) in likeness(str(again.value).split("found: ")[-1].split("ms: ")[-1])


def test_what_is_left_cannot_be_left_out(monkeypatch):
    """Of a failure that needs two commands exactly these two are left."""
    whole = Transaction.post

    def broken(self, account, pence):
        books = self._books
        taken = pence + 10 if account == "coins_50" and books.ledger.value("coins_20") == 20 else pence
        return whole(self, account, taken)

    monkeypatch.setattr(Transaction, "post", broken)
    packs = games.packs()
    script = parse("power on\ncoin 10\ncoin 20\npress info\ncoin 10\nwait 1s\ncoin 50\ncoin 10\n")
    failure, number = first_failure(packs, script)
    assert number == 7
    short = shrink(packs, script, failure)
    assert short[:-1] == (cmd.Coin(20), cmd.Coin(50))  # the first coin turns the power on
    assert short[-1] == CHECK


def test_whoever_interrupts_kills_is_told_what_was_found_so_far():
    command = [sys.executable, "-c", "from host_tools.cabinet.cli import app; app()"]
    with subprocess.Popen(
        [*command, "soak", "--kills", "100000", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as soak:
        assert soak.stdout is not None
        assert soak.stderr is not None
        assert soak.stderr.readline() == "10 of 100000 kills, 0 violations\n"
        soak.send_signal(signal.SIGINT)
        found = json.loads(soak.stdout.read())
        assert "interrupted after" in soak.stderr.read()
    assert (found["interrupted"], found["violations"], soak.returncode) == (True, 0, 130)
    assert found["kills"] >= 10

"""Checks that cannot fail prove nothing: each broken variant of mutations.py is caught, and the table says by what.

    script   the rig script fails, or its end is judged wrong, without any cut
    cuts     a power cut somewhere in the script
    mains    a cut that takes the devices' power too
    journal  the journal against its model (journal_model.py)
    full     a plain history that fills the journal's areas several times, read back after each record

"script" variants are in the list because a soak plays the same stories at random.
"""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from host_tools.cabinet import games
from host_tools.hil.rig import RigError
from host_tools.hil.script import parse
from host_tools.soak import cuts, cuts_all
from tests.firmware.journal_model import KEYS, JournalMachine
from tests.soak import mutations as broken

pytestmark = pytest.mark.host_only

START = "entropy seed 3\npower on\nconsole set quick_spin on\ngame piggy_riches\n"
COINS = START + "coin 100\ncoin 50\nwait 500ms"
PLAY = START + "coin 50\nwant win >= 2x\npress start\nwait until idle within 5m"
PICK = START + "coin 50\nwant free_spins\npress start\nwait until choosing\npress right\npress start\nwait 300ms"
NOTE = START + "wait 3s\nnote 1000"
NOTE_BACK = START + "wait 3s\nfault note_acceptor give_back\nnote 1000\nwait 15s\nexpect credit == 0"
NOTES_AND_CUT = NOTE + "\nnote 500\npower cut\npower on\nwait 12s"
PAY = START + "coins 100 50\npress cash_out\nwait until idle"


def money(name: str) -> str:
    return (cuts_all.FOLDER / f"{name}.rig").read_text()


FULL = START + "coins " + " ".join(["200"] * 250) + "\nwait 1s\ncoin 200\nexpect credit == 50000"

TABLE: dict[Callable[[], None], tuple[str, str]] = {
    broken.coin_is_not_committed: ("cuts", COINS),
    broken.device_counter_is_not_committed_with_the_credit: ("cuts", COINS),
    broken.device_counter_is_not_restored: ("cuts", COINS),
    broken.meter_pulse_is_not_marked_in_flight: ("cuts", COINS),
    broken.second_bank_is_not_written: ("script", COINS),
    broken.swallowed_coin_is_not_disputed: ("mains", COINS),
    broken.bet_is_not_committed: ("cuts", PLAY),
    broken.award_is_booked_before_the_round_is_closed: ("cuts", PLAY),
    broken.seed_is_drawn_again_after_a_cut: ("cuts", PLAY),
    broken.pick_is_not_committed: ("cuts", PICK),
    broken.order_goes_out_before_it_is_committed: ("cuts", PAY),
    broken.order_is_forgotten_after_a_cut: ("cuts", PAY),
    broken.rest_of_a_payout_is_forgotten: ("cuts", PAY),
    broken.payout_record_is_not_cleared: ("cuts", PAY),
    broken.order_is_sent_again_after_a_lost_answer: ("script", money("hopper_lost_answers")),
    broken.extra_coin_is_ignored: ("script", money("hopper_runaway")),
    broken.door_does_not_stop_the_hopper: ("script", money("pay_out_and_door")),
    broken.latched_tilt_is_lost_at_power_up: ("cuts", money("tilt_latched")),
    broken.acceptor_stays_open_at_the_credit_limit: ("script", FULL),
    broken.large_win_goes_to_the_credit: ("script", money("large_win")),
    broken.note_is_credited_in_escrow: ("script", NOTE_BACK),
    broken.note_is_ordered_in_without_a_record: ("cuts", NOTE),
    broken.note_token_stays_that_of_the_first_credit: ("script", NOTES_AND_CUT),
    broken.pending_note_is_not_ended_with_the_credit: ("cuts", NOTE),
    broken.pending_note_is_forgotten_after_a_cut: ("cuts", NOTE),
    broken.crc_is_ignored: ("journal", ""),
    broken.second_bank_is_written_first: ("journal", ""),
    broken.bad_copy_is_repaired_from_itself: ("journal", ""),
    broken.bad_copy_is_not_repaired: ("journal", ""),
    broken.history_lost_in_both_banks_is_cut_off: ("journal", ""),
    broken.clearing_is_not_marked: ("journal", ""),
    broken.snapshot_misses_the_changes_that_it_was_taken_for: ("full", ""),
}


def by_journal() -> str:
    """What the journal's model finds wrong."""
    quick = settings(
        max_examples=250,
        stateful_step_count=20,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(JournalMachine, settings=quick)
    except BaseException as error:  # what pytest.raises throws is no Exception
        return repr(error)
    return ""


def by_full_areas() -> str:
    """What is wrong after some record of a long history. No chance in it: a random one may cross no border with a new value."""
    machine = JournalMachine()
    try:
        for number in range(300):
            machine.commit({number % KEYS: bytes([number % 256]) * 100})
            machine.reads_what_was_committed()
            machine.banks_agree()
    except AssertionError as error:
        return repr(error)
    return ""


def by_rig(script: str, mains: bool, cut: bool) -> str:
    """What the script's own expectations, its end or, with `cut`, its cuts find wrong."""
    commands = parse(script)
    skipped = next((at for at, each in enumerate(commands) if str(each).startswith(("coin", "note", "fault"))), 0)
    try:
        report = cuts.run(
            commands,
            games.packs(),
            mains=mains,
            every=5 if cut else 10**9,
            skipped=skipped if cut else len(commands),
            until_violation=True,
        )
    except RigError as error:
        return str(error)
    return "\n".join(report.violations)


@pytest.mark.parametrize("mutation", TABLE, ids=lambda mutation: mutation.__name__)
def test_it_is_caught(mutation):
    by, script = TABLE[mutation]

    def work() -> str:
        mutation()
        if by in ("journal", "full"):
            return by_journal() if by == "journal" else by_full_areas()
        return by_rig(script, by == "mains", by != "script")

    found = broken.in_a_child(work)
    assert found, "nothing catches it: close the hole in the checks"
    # Caught for what it does, not because it cannot run.
    assert not found.startswith("harness")
    assert "the firmware stopped" not in found
    print(f"\n{mutation.__name__}: {by}: {found.splitlines()[0][:160]}")


@pytest.mark.parametrize("script", [COINS, PLAY, PICK, PAY, NOTE], ids=["coins", "play", "pick", "pay", "note"])
def test_the_same_scripts_are_clean_without_a_mutation(script):
    assert by_rig(script, False, True) == ""


@pytest.mark.parametrize("script", sorted({script for by, script in TABLE.values() if by == "script"}))
def test_a_script_that_catches_something_uncut_is_clean_without_a_mutation(script):
    assert by_rig(script, False, False) == ""


def test_a_long_history_is_clean_without_a_mutation():
    assert by_full_areas() == ""


def test_there_are_enough():
    assert len(TABLE) >= 15

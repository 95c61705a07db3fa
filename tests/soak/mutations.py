"""Deliberately broken variants of firmware and drivers. Each is applied in a child process and must be caught there.

`rewrite` changes a function's own source, so a mutation whose place has moved fails loudly instead of testing nothing.
"""

import inspect
import textwrap
import traceback
from collections.abc import Callable
from typing import Any

from firmware import main
from firmware.machine import Machine
from firmware.money.coins_in import CoinsIn
from firmware.money.em_meters import EmMeters
from firmware.money.hoppers import Hoppers
from firmware.money.notes_in import NotesIn
from firmware.money.payout import Payout
from firmware.play import rounds
from firmware.store.journal import Journal
from firmware.tilt import Tilts
from hal.cctalk import payout as fate
from host_tools.soak.child import split, tell


def rewrite(owner: Any, name: str, old: str, new: str) -> None:
    """Replaces `old` in the source of function `owner.name` by `new`. Errors: AssertionError when it is not there."""
    function = getattr(owner, name)
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) >= 1, f"{name} does not hold {old!r} any more: mend the mutation"
    scope: dict[str, Any] = {}
    exec(compile(source.replace(old, new), f"<mutated {name}>", "exec"), function.__globals__, scope)
    setattr(owner, name, scope[name])


def coin_is_not_committed() -> None:
    """In RAM it is."""
    rewrite(
        CoinsIn,
        "_coin",
        "transaction.commit()",
        "j = self._books.journal; j._write = lambda *_: None; transaction.commit(); del j._write",
    )


def bet_is_not_committed() -> None:
    """Money is taken in a record of its own, the round comes with the next."""
    rewrite(
        rounds,
        "begin",
        "transaction.set(keys.ROUND, record.pack())",
        "transaction.commit(); transaction = books.transaction(now_ms).set(keys.ROUND, record.pack())",
    )


def award_is_booked_before_the_round_is_closed() -> None:
    rewrite(
        rounds.OpenRound,
        "finish",
        "_close(record, journal, transaction)",
        "transaction.commit(); transaction = self._books.transaction(now_ms); _close(record, journal, transaction)",
    )


def seed_is_drawn_again_after_a_cut() -> None:
    rewrite(
        rounds,
        "recover",
        "    pack = packs.get(record.game)",
        "    record.seed = bytes(32); journal.commit(((keys.ROUND, record.pack()),)); pack = packs.get(record.game)",
    )


def pick_is_not_committed() -> None:
    kept = "(keys.ROUND_STEP, self.step)"
    rewrite(rounds.OpenRound, "decide", f"((keys.ROUND_DECISIONS, decisions), {kept})", f"({kept},)")


def order_goes_out_before_it_is_committed() -> None:
    """The dispense command leaves, its record follows with the first coin."""
    rewrite(
        Payout,
        "_order",
        "self._books.transaction(now_ms).set(keys.PAYOUT, record).commit()",
        "self._late = record",
    )
    rewrite(
        Payout,
        "_book",
        "bytearray(journal.get(keys.PAYOUT))",
        "bytearray(self._late)",
    )


def order_is_forgotten_after_a_cut() -> None:
    """What was promised is given back without asking the hopper, and so paid twice."""
    rewrite(Payout, "recover", "if index == _NO_ORDER:", "if True:")


def order_is_sent_again_after_a_lost_answer() -> None:
    rewrite(
        fate.Payout,
        "settle",
        "grown = ",
        "self._running = False; self._status = b'\\0' * 4; return NOT_TAKEN; grown = ",
    )
    rewrite(fate.Payout, "judge", "if status[1] and", "if False and")


def payout_record_is_not_cleared() -> None:
    rewrite(Payout, "_finish", '.set(keys.PAYOUT, b"")', "")


def rest_of_a_payout_is_forgotten() -> None:
    rewrite(Payout, "_finish", "self._owe(rest, transaction)", "self._recovering or self._owe(rest, transaction)")


def extra_coin_is_ignored() -> None:
    rewrite(Hoppers, "take", "self._extra(index, event[1], now_ms)", "pass")


def door_does_not_stop_the_hopper() -> None:
    rewrite(Payout, "stop", "self._driver().emergency_stop()", "pass")


def device_counter_is_not_committed_with_the_credit() -> None:
    rewrite(CoinsIn, "_coin", ".set(keys.ACCEPTOR_COUNTER, counter)", "")


def device_counter_is_not_restored() -> None:
    rewrite(main.Devices, "__init__", "last_counter=acceptor_counter", "last_counter=0")


def swallowed_coin_is_not_disputed() -> None:
    rewrite(CoinsIn, "_count_accepted", "if missing:", "if False:")


def meter_pulse_is_not_marked_in_flight() -> None:
    rewrite(EmMeters, "poll", "(flight, 1)", "(flight, 0)")


def latched_tilt_is_lost_at_power_up() -> None:
    rewrite(Tilts, "__init__", "self._automatic = {}", "self._automatic = {}; books.journal.commit(((keys.TILTS, 0),))")


def acceptor_stays_open_at_the_credit_limit() -> None:
    rewrite(Machine, "_enable_acceptors", "credit + self.notes.pending_pence <= self._coins_below", "True")


def large_win_goes_to_the_credit() -> None:
    rewrite(rounds.OpenRound, "finish", "by_hand = record.award >=", "by_hand = False and record.award >=")


def note_is_credited_in_escrow() -> None:
    booked = '.post("notes_%d" % pence, pence).post("credit", pence)'
    rewrite(NotesIn, "_held", ".set(keys.NOTE_PENDING, record)", ".set(keys.NOTE_PENDING, record)" + booked)
    rewrite(NotesIn, "_stacked", booked, "")


def note_is_ordered_in_without_a_record() -> None:
    rewrite(NotesIn, "_held", "self._books.transaction(now_ms).set(keys.NOTE_PENDING, record).commit()", "pass")


def note_token_stays_that_of_the_first_credit() -> None:
    first = "self._books.journal.get(keys.NOTE_TOKEN) or token"
    rewrite(NotesIn, "_stacked", ".set(keys.NOTE_TOKEN, token)", f".set(keys.NOTE_TOKEN, {first})")


def pending_note_is_not_ended_with_the_credit() -> None:
    rewrite(NotesIn, "_stacked", "self._ended(now_ms)", "self._books.transaction(now_ms)")


def pending_note_is_forgotten_after_a_cut() -> None:
    rewrite(NotesIn, "fit", "pending is not None", "False")


def crc_is_ignored() -> None:
    rewrite(Journal, "_parse", "return record if native.crc32(", "return record if True or native.crc32(")


def second_bank_is_not_written() -> None:
    rewrite(Journal, "commit", "for bank in range(BANKS):", "for bank in range(1):")


def second_bank_is_written_first() -> None:
    rewrite(Journal, "commit", "for bank in range(BANKS):", "for bank in (1, 0):")


def bad_copy_is_repaired_from_itself() -> None:
    rewrite(
        Journal, "_copy", "record)", "bytes(self._nvram.read(self._address(bank, walk.area, offset), len(record))))"
    )


def bad_copy_is_not_repaired() -> None:
    rewrite(Journal, "_copy", "self._write(bank, walk.area, offset, record)", "pass")


def history_lost_in_both_banks_is_cut_off() -> None:
    rewrite(Journal, "open", "self._refuse_lost_history(best)", "pass")


def clearing_is_not_marked() -> None:
    rewrite(Journal, "clear_steps", "self._nvram.write(last, bytes([CLEARING]))", "pass")


def snapshot_misses_the_changes_that_it_was_taken_for() -> None:
    rewrite(Journal, "commit", "_set(merged, key, changed[key])", "pass")


def in_a_child(work: Callable[[], str]) -> str:
    """The text that `work` returns in a forked child, whose broken firmware dies with it."""
    parent, told = split("its mutation")
    if told is None:
        try:
            found = work()
        except BaseException:
            found = "harness: " + traceback.format_exc()
        tell(parent, found)
    return told

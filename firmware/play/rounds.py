"""A round and its committed facts: the bet and the seed before anything is shown, each choice, the award at the end.

A round is a function of (pack, mode, unit, seed, choices), so these facts are enough to finish it after any interruption
(G9) and to show it again (recall). The record is the same for the round under way and for the last ten.
"""

import struct

import native
from firmware import events
from firmware.store import keys

_RECORD = "<16s8sBIIQ32s"  # game, first bytes of the pack's SHA-256, mode, unit, bet, credit before, seed
_RECORD_BYTES = struct.calcsize(_RECORD)
_HASH_BYTES = 8
LARGE_WIN_PENCE = 100000  # a win of this size is paid by hand (default configuration)


class RoundRecord:
    """What was committed about one round."""

    def __init__(self, game: str, pack_hash: bytes, mode: int, unit: int, bet: int, credit_before: int, seed: bytes):
        self.game = game
        self.pack_hash = pack_hash[:_HASH_BYTES]
        self.mode = mode
        self.unit = unit
        self.bet = bet
        self.credit_before = credit_before
        self.seed = seed
        self.choices = b""
        self.award = 0

    def pack(self) -> bytes:
        name = self.game.encode()
        return struct.pack(_RECORD, name, self.pack_hash, self.mode, self.unit, self.bet, self.credit_before, self.seed)

    def pack_finished(self) -> bytes:
        return self.pack() + struct.pack("<Q", self.award) + self.choices


def unpack(data: bytes) -> RoundRecord:
    """The record that `pack` or `pack_finished` wrote."""
    name, pack_hash, mode, unit, bet, credit_before, seed = struct.unpack(_RECORD, data[:_RECORD_BYTES])
    record = RoundRecord(name.rstrip(b"\x00").decode(), pack_hash, mode, unit, bet, credit_before, seed)
    if len(data) > _RECORD_BYTES:
        record.award = struct.unpack("<Q", data[_RECORD_BYTES : _RECORD_BYTES + 8])[0]
        record.choices = data[_RECORD_BYTES + 8 :]
    return record


def recall(journal, number: int):
    """The last finished rounds, newest first, at most `number` of ten, as RoundRecords (CAB-EVT-02)."""
    total = journal.get_int(keys.RECALLS_TOTAL)
    found = []
    for sequence in range(total - 1, max(-1, total - 1 - min(number, keys.RECALL_SLOTS)), -1):
        found.append(unpack(journal.get(keys.RECALL_BASE + sequence % keys.RECALL_SLOTS)))
    return found


class OpenRound:
    """The round under way. Every method that changes a fact commits it before it returns."""

    def __init__(self, books, pack, record):
        self._books = books
        self.record = record
        self.core = native.Round(pack, record.mode, record.unit, record.seed)
        self.step = 0
        self.had_free_spins = False
        self.free_spins_left = 0
        self.multiplier = 1  # of the free spins under way
        self.won = 0  # pence shown as won so far

    def next(self):
        """The next event of the round (native/README.md)."""
        event = self.core.next()
        self.step += 1
        kind, _, _, count, multiplier, pence = event
        if kind in (native.LINE_WIN, native.WAYS_WIN, native.SCATTER_WIN):
            self.won += pence
        elif kind == native.SPIN:
            self.free_spins_left = count
        elif kind == native.FREE_SPINS_BEGIN:
            self.had_free_spins = True
            self.free_spins_left, self.multiplier = count, multiplier
        elif kind == native.FREE_SPINS_ADDED:
            self.free_spins_left += count
        elif kind == native.FREE_SPINS_END:
            self.free_spins_left, self.multiplier = 0, 1
        return event

    def note_progress(self) -> None:
        """Commits how far the round has been shown, so that recovery goes on from there."""
        self._books.journal.commit(((keys.ROUND_STEP, self.step),))

    def choose(self, option: int) -> None:
        """Commits the player's choice, then makes it."""
        choices = self.record.choices + bytes([option])
        self._books.journal.commit(((keys.ROUND_CHOICES, choices), (keys.ROUND_STEP, self.step)))
        self.record.choices = choices
        self.core.choose(option)

    def finish(self, now_ms: int, capped_pence: int) -> bool:
        """Books the award and moves the round to the recall list. True when the award waits for a handpay."""
        record, journal = self.record, self._books.journal
        record.award = self.core.award_pence
        total = journal.get_int(keys.RECALLS_TOTAL)
        transaction = self._books.transaction(now_ms)
        by_hand = record.award >= LARGE_WIN_PENCE
        if record.award:
            transaction.post("won", record.award).post("handpay_due" if by_hand else "credit", record.award)
            transaction.count("games_won")
        if by_hand:
            transaction.event(events.HANDPAY_DUE, record.award)
        if self.had_free_spins:
            transaction.count("free_spin_features")
        if capped_pence:
            transaction.event(events.WIN_CAPPED, capped_pence)
        _close(transaction)
        transaction.set(keys.RECALL_BASE + total % keys.RECALL_SLOTS, record.pack_finished())
        transaction.set(keys.RECALLS_TOTAL, total + 1)
        transaction.set(keys.LAST_AWARD, record.award).set(keys.LAST_BET, record.bet)
        transaction.commit()
        return by_hand


def begin(books, game: str, pack, mode: int, unit: int, seed: bytes, now_ms: int) -> OpenRound:
    """Commits bet and seed, then begins the round. LedgerError when the credit does not cover the bet."""
    bet = unit * pack.cost(mode)
    record = RoundRecord(game, pack.sha256, mode, unit, bet, books.ledger.value("credit"), seed)
    opened = OpenRound(books, pack, record)
    transaction = books.transaction(now_ms).post("credit", -bet).post("wagered", bet)
    transaction.count("games").count("games_since_power_up").count("games_since_door")
    transaction.set(keys.ROUND, record.pack()).set(keys.ROUND_CHOICES, b"").set(keys.ROUND_STEP, 0)
    transaction.commit()
    return opened


def recover(books, packs, now_ms: int):
    """The round that was under way when power went, replayed to where it was shown; None when there was none.

    `packs` maps a game's name to its opened pack. A round whose pack is gone or different, or whose replay fails, is
    voided: its bet is refunded and the event logged (G8).
    """
    data = books.journal.get(keys.ROUND)
    if not data:
        return None
    record = unpack(data)
    choices = books.journal.get(keys.ROUND_CHOICES)
    shown = books.journal.get_int(keys.ROUND_STEP)
    pack = packs.get(record.game)
    if pack is None or pack.sha256[:_HASH_BYTES] != record.pack_hash:
        void(books, record, now_ms)
        return None
    try:
        opened = OpenRound(books, pack, record)
        taken = 0
        while not opened.core.finished:
            if opened.core.options():
                if taken == len(choices):
                    break
                opened.core.choose(choices[taken])
                taken += 1
            elif opened.step >= shown:
                break
            else:
                opened.next()
    except native.CoreError:
        void(books, record, now_ms)
        return None
    record.choices = choices
    books.transaction(now_ms).event(events.ROUND_RECOVERED, opened.step).commit()
    return opened


def void(books, record, now_ms: int) -> None:
    """Refunds the bet of a round that cannot be finished."""
    transaction = books.transaction(now_ms).post("refunded", record.bet).post("credit", record.bet)
    transaction.count("voided_games").event(events.ROUND_VOIDED, record.bet)
    _close(transaction)
    transaction.commit()


def _close(transaction) -> None:
    transaction.set(keys.ROUND, b"").set(keys.ROUND_CHOICES, b"").set(keys.ROUND_STEP, 0)

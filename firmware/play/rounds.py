"""A round and its committed facts: the bet and the seed before anything is shown, each decision, the award at the end.

A round is a function of (pack, mode, unit, wager, seed, pile, decisions), so these facts are enough to finish it after any
interruption (G9) and to show it again (recall). The record is the same for the round under way and for the last ten.

Decisions are bytes in the order in which they were made: a pick is its option; a gamble is its row and a u32 of pence;
COLLECT takes the winnings. Which of them a byte begins follows from what the round asks for at that point.
"""

import struct

import native
from firmware import events, tilt
from firmware.money import increments
from firmware.play import pile
from firmware.store import keys

_RECORD = "<16s8sBBIIIQ32sI"  # game, first bytes of the pack's SHA-256, mode, flags, unit, bet, pile, credit before, seed, date
_RECORD_BYTES = struct.calcsize(_RECORD)
_HASH_BYTES = 8
_GAMBLE_ALLOWED, _VOIDED = 1, 2  # flags
_FINISHED = "<QQ"  # award, credit after
COLLECT = 0xFF

_WIN_KINDS = (
    native.LINE_WIN,
    native.WAYS_WIN,
    native.SCATTER_WIN,
    native.COLLECT,
    native.POT,
    native.PRIZE,
    native.BOWL,
)
_IS_WIN = bytes([kind in _WIN_KINDS for kind in range(native.GAMBLE + 1)])


class RoundRecord:
    """What was committed about one round. `bet` are the pence that it took; less than its cost is a spin chance."""

    def __init__(self, game: str, pack_hash: bytes, mode: int, gamble: bool, unit: int, bet: int, pile_before: int):
        self.game = game
        self.pack_hash = pack_hash[:_HASH_BYTES]
        self.mode = mode
        self.gamble = gamble
        self.unit = unit
        self.bet = bet
        self.pile_before = pile_before
        self.credit_before = 0
        self.seed = b""
        self.date = 0  # of its beginning, seconds since 2000; 0 while the time is not known
        self.decisions = b""
        self.award = 0
        self.credit_after = 0
        self.voided = False

    def pack(self) -> bytes:
        return struct.pack(
            _RECORD,
            self.game.encode(),
            self.pack_hash,
            self.mode,
            (_GAMBLE_ALLOWED if self.gamble else 0) | (_VOIDED if self.voided else 0),
            self.unit,
            self.bet,
            self.pile_before,
            self.credit_before,
            self.seed,
            self.date,
        )

    def pack_finished(self) -> bytes:
        return self.pack() + struct.pack(_FINISHED, self.award, self.credit_after) + self.decisions

    def fits(self, pack) -> bool:
        """True when `pack` is the one that the round was played with."""
        return pack is not None and pack.sha256[:_HASH_BYTES] == self.pack_hash

    def core(self, pack):
        """The round from its beginning."""
        wager = self.bet if self.bet < self.unit * pack.cost(self.mode) else 0
        return native.Round(pack, self.mode, self.unit, self.seed, wager, self.gamble, self.pile_before)


def unpack(data: bytes) -> RoundRecord:
    """The record that `pack` or `pack_finished` wrote."""
    name, pack_hash, mode, flags, unit, bet, pile_before, credit_before, seed, date = struct.unpack(
        _RECORD, data[:_RECORD_BYTES]
    )
    gamble = bool(flags & _GAMBLE_ALLOWED)
    record = RoundRecord(name.rstrip(b"\x00").decode(), pack_hash, mode, gamble, unit, bet, pile_before)
    record.credit_before, record.seed, record.date = credit_before, seed, date
    record.voided = bool(flags & _VOIDED)
    if len(data) > _RECORD_BYTES:
        end = _RECORD_BYTES + struct.calcsize(_FINISHED)
        record.award, record.credit_after = struct.unpack(_FINISHED, data[_RECORD_BYTES:end])
        record.decisions = data[end:]
    return record


def under_way(journal):
    """The round that has begun and not ended, None when there is none."""
    data = journal.get(keys.ROUND)
    return unpack(data) if data else None


def recall(journal, number: int):
    """The last finished or voided rounds, newest first, at most `number` of ten, as RoundRecords (CAB-EVT-02)."""
    total = journal.get_int(keys.RECALLS_TOTAL)
    found = []
    for sequence in range(total - 1, max(-1, total - 1 - min(number, keys.RECALL_SLOTS)), -1):
        found.append(unpack(journal.get(keys.RECALL_BASE + sequence % keys.RECALL_SLOTS)))
    return found


def gamble_bytes(row: int, pence: int) -> bytes:
    return struct.pack("<BI", row, pence)


def decide(core, due: int, decisions: bytes, place: int) -> int:
    """Makes the decision that begins at `place`; `due` is the event that asks for it. Returns the place behind it."""
    if due == native.CHOICE:
        core.choose(decisions[place])
        return place + 1
    if decisions[place] == COLLECT:
        core.collect()
        return place + 1
    row, pence = struct.unpack("<BI", decisions[place : place + 5])
    core.gamble(row, pence)
    return place + 5


def asks(kind: int) -> bool:
    """True for an event behind which the player must decide."""
    return kind in (native.CHOICE, native.GAMBLE_OFFER)


class OpenRound:
    """The round under way. Every method that changes a fact commits it before it returns."""

    def __init__(self, books, pack, record):
        self._books = books
        self.pack = pack
        self.record = record
        self.core = record.core(pack)
        self.step = 0
        self.due = 0  # CHOICE or GAMBLE_OFFER while the player must decide
        self.strips = -1  # set of strips of the last spin, -1 before the first
        self.gambles = 0  # taken in this round
        self.only_cash = False  # a gamble was won after which only cash can be gambled
        self.had_free_spins = False
        self.free_spins_left = 0
        self.multiplier = 1  # of the free spins under way
        self.won = 0  # pence shown as won so far

    def next(self):
        """The next event of the round (native/MECHANICS.md)."""
        event = self.core.next()
        self.step += 1
        kind = event[0]
        if kind == native.SPIN:
            self.strips, self.free_spins_left = event[1], event[3]
        elif _IS_WIN[kind]:
            self.won += event[5]
        elif kind == native.CHOICE:
            self.due = kind
        elif kind == native.GAMBLE_OFFER:
            self.due, self.gambles = kind, event[1]
        elif kind == native.FREE_SPINS_BEGIN:
            self.had_free_spins = True
            self.free_spins_left, self.multiplier = event[3], event[4]
        elif kind == native.FREE_SPINS_ADDED:
            self.free_spins_left += event[3]
        elif kind == native.FREE_SPINS_END:
            self.free_spins_left, self.multiplier = 0, 1
        elif kind == native.WIN_CAP:
            self.won -= event[5]
        elif kind == native.GAMBLE:
            self._gambled(event[1], event[3], event[5])
        return event

    def _gambled(self, row: int, green: int, pence: int) -> None:
        gamble = self.pack.gambles[row]
        self.won -= pence
        if green and gamble[1] == native.GAMBLE_CASH:
            self.won += pence * gamble[3] // gamble[4]
        self.only_cash = self.only_cash or bool(gamble[7] & native.GAMBLE_THEN_CASH_ONLY)

    def replay(self, decisions: bytes, shown: int) -> None:
        """Goes on to where `shown` events had been shown and all `decisions` were made."""
        place = 0
        while not self.core.finished:
            if self.due:
                if place == len(decisions):
                    break
                place = decide(self.core, self.due, decisions, place)
                self.due = 0
            elif self.step >= shown:
                break
            else:
                self.next()
        self.record.decisions = decisions

    def note_progress(self) -> None:
        """Commits how far the round has been shown, so that recovery goes on from there."""
        self._books.journal.commit(((keys.ROUND_STEP, self.step),))

    def decide(self, decision: bytes) -> None:
        """Commits the player's decision, then makes it. CoreError when the core refuses it."""
        decisions = self.record.decisions + decision
        self._books.journal.commit(((keys.ROUND_DECISIONS, decisions), (keys.ROUND_STEP, self.step)))
        self.record.decisions = decisions
        decide(self.core, self.due, decision, 0)
        self.due = 0

    def finish(self, now_ms: int, capped_pence: int) -> bool:
        """Books the award and moves the round to the recall list. True when the award waits for a handpay."""
        record, journal = self.record, self._books.journal
        record.award = self.core.award_pence
        transaction = self._books.transaction(now_ms)
        excessive = record.award > self.pack.win_cap_pence  # the core cannot do that while it is sound
        by_hand = record.award >= self._books.config.value("win_limit") or excessive
        record.credit_after = self._books.ledger.value("credit") + (0 if by_hand else record.award)
        if record.award:
            transaction.post("won", record.award).post("large_win_due" if by_hand else "credit", record.award)
            transaction.count("games_won")
        if by_hand:
            transaction.event(events.HANDPAY_DUE, record.award).count("large_wins")
        if excessive:
            transaction.event(events.EXCESSIVE_INCREMENT, record.award)
            tilt.latch(journal, ("excessive",), transaction)
        if self.had_free_spins:
            transaction.count("free_spin_features")
        if capped_pence:
            transaction.event(events.WIN_CAPPED, capped_pence)
        if self.core.pile != record.pile_before:
            transaction.set(*pile.change(journal, record.game, self.core.pile))
        _close(record, journal, transaction)
        transaction.set(keys.LAST_AWARD, record.award).set(keys.LAST_BET, record.bet)
        transaction.commit()
        return by_hand


def begin(books, pack, record: RoundRecord, seed: bytes, now_ms: int) -> OpenRound:
    """Commits bet and seed, then begins the round. LedgerError when the credit does not cover the bet."""
    record.credit_before, record.seed, record.date = books.ledger.value("credit"), seed, books.date(now_ms)
    opened = OpenRound(books, pack, record)
    transaction = books.transaction(now_ms).post("credit", -record.bet).post("wagered", record.bet)
    transaction.count("games").count("games_since_power_up").count("games_since_door")
    increments.play_begins(transaction)
    transaction.set(keys.ROUND, record.pack()).set(keys.ROUND_DECISIONS, b"").set(keys.ROUND_STEP, 0)
    transaction.commit()
    return opened


def recover(books, packs, now_ms: int):
    """The round that was under way when power went, replayed to where it was shown; None when there was none.

    `packs` maps a game's name to its opened pack. A round whose pack is gone or different, or whose replay fails, is
    voided: its bet is refunded and the event logged (G8).
    """
    journal = books.journal
    data = journal.get(keys.ROUND)
    if not data:
        return None
    record = unpack(data)
    pack = packs.get(record.game)
    if not record.fits(pack):
        void(books, record, now_ms)
        return None
    try:
        opened = OpenRound(books, pack, record)
        opened.replay(journal.get(keys.ROUND_DECISIONS), journal.get_int(keys.ROUND_STEP))
    except native.CoreError:
        void(books, record, now_ms)
        return None
    books.transaction(now_ms).event(events.ROUND_RECOVERED, opened.step).commit()
    return opened


def void(books, record, now_ms: int) -> None:
    """Refunds the bet of a round that cannot be finished. The pile stays as it was before the round."""
    transaction = books.transaction(now_ms).post("refunded", record.bet).post("credit", record.bet)
    transaction.count("voided_games").event(events.ROUND_VOIDED, record.bet)
    record.voided, record.credit_after = True, books.ledger.value("credit") + record.bet
    record.decisions = books.journal.get(keys.ROUND_DECISIONS)
    _close(record, books.journal, transaction)
    transaction.commit()


def _close(record, journal, transaction) -> None:
    """The round is over: it moves to the recall list."""
    transaction.set(keys.ROUND, b"").set(keys.ROUND_DECISIONS, b"").set(keys.ROUND_STEP, 0)
    total = journal.get_int(keys.RECALLS_TOTAL)
    transaction.set(keys.RECALL_BASE + total % keys.RECALL_SLOTS, record.pack_finished())
    transaction.set(keys.RECALLS_TOTAL, total + 1)

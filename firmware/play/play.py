"""Playing: paces the events of a round for the eye, waits for the player's decisions, and books the award.

`Play` decides nothing about outcomes; it walks through the round function's events and shows each for a while.
"""

import native
from firmware import events, programs
from firmware.play import pile, rounds, shown
from firmware.play.autoplay import Autoplay
from firmware.play.bets import Bets
from firmware.play.gamble import Selection
from firmware.play.settings import Settings
from firmware.store import keys


class Play:
    """The selected game and the round under way.

    `packs`: name -> opened pack. `show`: called with one dict for each thing a player sees.
    """

    def __init__(self, books, packs, show):
        self._books = books
        self.packs = packs
        self._show = show
        self.autoplay = Autoplay()
        self.settings = Settings(books.journal)
        self.round = None
        self.cursor = 0  # option highlighted while a choice is due
        self.gamble = None  # segment and amount while an offer stands
        self.voided = False  # the round that power loss interrupted could not be finished
        self._fault = False  # the core failed in the middle of a round
        self._due_ms = 0
        self._capped = 0
        name = books.journal.get(keys.GAME).decode()
        self.game = name if name in packs else sorted(packs)[0]
        self.pack = packs[self.game]
        self.bets = Bets(books.journal, self.pack)

    def select(self, name: str, now_ms: int) -> bool:
        """Selects a game between rounds. False when there is no game of that name."""
        if self.round is not None or name not in self.packs:
            return False
        transaction = self._books.transaction(now_ms)
        transaction.set(keys.GAME, name.encode()).set(keys.COIN_VALUE, 0).set(keys.LEVEL, 0).set(keys.MODE, 0).commit()
        self.game, self.pack = name, self.packs[name]
        self.bets = Bets(self._books.journal, self.pack)
        self.show_bet()
        return True

    def bet(self) -> int:
        """Pence that the next play costs."""
        return self.bets.bet()

    def pile(self) -> int:
        """Size of the game's pile: in a round as it has been shown, else as it is kept."""
        if self.round is not None:
            return self.round.core.pile
        return pile.of(self._books.journal, self.game)

    def gamble_allowed(self) -> bool:
        """Whether the next play may be gambled. Autoplay collects: its plays begin without the gamble."""
        return self.settings.gamble and bool(self.pack.gambles) and not self.autoplay.running()

    def show_bet(self) -> None:
        bets = self.bets
        told = {"e": "bet", "bet": bets.bet(), "coin_value": bets.coin_value(), "level": bets.level()}
        told["mode"], told["stake"], told["game"] = bets.mode_name(), bets.stake(), self.game
        self._show(told)

    # --- rounds --------------------------------------------------------------------------------------------------

    def begin(self, seed: bytes, wager: int, now_ms: int) -> None:
        """Commits and begins a round with the selected bet; a `wager` below the bet is a spin chance for it."""
        bets = self.bets
        record = rounds.RoundRecord(
            self.game,
            self.pack.sha256,
            bets.mode(),
            self.gamble_allowed(),
            bets.unit(),
            wager,
            pile.of(self._books.journal, self.game),
        )
        opened = rounds.begin(self._books, self.pack, record, seed, now_ms)
        self._enter(opened, now_ms)
        self.autoplay.played()
        told = {"e": "round", "game": self.game, "mode": bets.mode_name(), "bet": wager, "credit": self._credit()}
        self._show(told)

    def recover(self, now_ms: int) -> None:
        """Takes up the round that power loss interrupted, if any; one that cannot be finished is voided."""
        if not self._books.journal.get(keys.ROUND):
            return
        opened = rounds.recover(self._books, self.packs, now_ms)
        if opened is None:
            self.voided = True
            return
        self._enter(opened, now_ms)
        if opened.due == native.GAMBLE_OFFER:
            self._offer(opened)

    def show_picture(self) -> None:
        """Tells somebody who has just begun to watch what stands on the screen."""
        self.show_bet()
        if self.voided:
            self._show({"e": "round_voided", "credit": self._credit()})
        opened = self.round
        if opened is None:
            return
        self._show({"e": "round_recovered", "game": opened.record.game, "bet": opened.record.bet, "won": opened.won})
        if opened.strips >= 0:
            self._show(shown.window("window", opened))
        if opened.due == native.CHOICE:
            self._show_choice(opened)
        elif self.gamble is not None:
            self._show_gamble("gamble_offer")

    def free_spins_left(self) -> int:
        return self.round.free_spins_left if self.round is not None else 0

    def choosing(self) -> bool:
        return self.round is not None and self.round.due == native.CHOICE

    def gambling(self) -> bool:
        return self.gamble is not None

    def move(self, by: int) -> None:
        """Moves the highlight among the options, or among the gamble's segments."""
        if self.gamble is not None:
            self.gamble.move(by)
            self._show_gamble("gamble_select")
        elif self.round is not None and self.choosing():
            self.cursor = (self.cursor + by) % len(self.round.core.options())
            self._show({"e": "highlight", "option": self.cursor})

    def step_amount(self, by: int) -> None:
        """A larger or smaller part of the winnings to gamble."""
        if self.gamble is not None:
            self.gamble.step(by)
            self._show_gamble("gamble_select")

    def confirm(self, now_ms: int) -> None:
        """Takes the highlighted option, or gambles what is selected."""
        if self.gamble is not None:
            self._decide(rounds.gamble_bytes(self.gamble.row, self.gamble.amount()), now_ms)
        elif self.choosing():
            option = self.cursor
            if self._decide(bytes([option]), now_ms):
                self._show({"e": "chosen", "option": option})

    def collect(self, now_ms: int) -> None:
        """Takes the winnings instead of gambling them."""
        opened = self.round
        if opened is not None and self.gamble is not None and self._decide(bytes([rounds.COLLECT]), now_ms):
            self._show({"e": "gamble_collect", "pence": opened.won})

    def _decide(self, decision: bytes, now_ms: int) -> bool:
        opened = self.round
        if opened is None:
            return False
        self.cursor, self.gamble = 0, None
        self._due_ms = now_ms
        try:
            opened.decide(decision)
        except native.CoreError:
            self._void(opened, now_ms)
            return False
        return True

    def poll(self, now_ms: int) -> bool:
        """Shows what is due. False when nothing was."""
        opened = self.round
        if opened is None or now_ms < self._due_ms or opened.due:
            return False
        try:
            event = opened.next()
        except native.CoreError:
            self._void(opened, now_ms)
            return True
        kind = event[0]
        self._present(event, opened)
        times = shown.SHOWN_MS.get(kind)
        if times:
            self._due_ms = now_ms + times[1 if self.settings.quick_spin else 0]
        if kind == native.SPIN and opened.had_free_spins:
            opened.note_progress()
        if kind == native.WIN_CAP:
            self._capped = event[5]
        if kind == native.ROUND_END:
            self._end(opened, now_ms)
        return True

    def take_fault(self) -> bool:
        """True once after the core has failed in the middle of a round."""
        fault, self._fault = self._fault, False
        return fault

    def _enter(self, opened, now_ms: int) -> None:
        self.round = opened
        self.gamble = None
        self.voided = self._fault = False
        self.cursor = self._capped = 0
        self._due_ms = now_ms

    def _offer(self, opened) -> None:
        record = opened.record
        self.gamble = Selection(opened.pack, record.unit, opened.core.offer, opened.only_cash, opened.gambles)

    def _end(self, opened, now_ms: int) -> None:
        self.round = None
        by_hand = opened.finish(now_ms, self._capped)
        award = opened.record.award
        self._show({"e": "round_end", "award": award, "credit": self._credit(), "handpay": by_hand})
        reason = self.autoplay.finished(award, opened.had_free_spins, self._credit())
        if reason:
            self._show({"e": "autoplay_stopped", "reason": reason})

    def _void(self, opened, now_ms: int) -> None:
        self.round = self.gamble = None
        self.autoplay.stop()
        rounds.void(self._books, opened.record, now_ms)
        self._fault = True
        self._show({"e": "round_voided", "credit": self._credit()})

    # --- what the player sees ------------------------------------------------------------------------------------

    def _present(self, event, opened) -> None:
        kind = event[0]
        if kind == native.ROUND_END:
            return  # shown with the new credit once it is booked
        if kind == native.SPIN:
            self._show(shown.window("spin", opened))
        elif kind == native.CHOICE:
            self._show_choice(opened)
        elif kind == native.GAMBLE_OFFER:
            self._offer(opened)
            self._show_gamble("gamble_offer")
        else:
            self._show(shown.as_dict(opened.pack, event))

    def _show_gamble(self, name: str) -> None:
        if self.gamble is not None:
            self._show(self.gamble.facts(name))

    def _show_choice(self, opened) -> None:
        self._show({"e": "choice", "options": [list(option) for option in opened.core.options()]})

    def _credit(self) -> int:
        return self._books.ledger.value("credit")


def note_program(books, packs, now_ms: int) -> None:
    """Logs a change of the games' programs since the last power-up (CAB-NVM-09, CAB-PRG-03)."""
    digest = programs.VERSION.encode()
    for name in sorted(packs):
        digest = native.sha256(digest + packs[name].sha256)
    before = books.journal.get(keys.PACK_HASH)
    if before != digest:
        transaction = books.transaction(now_ms).set(keys.PACK_HASH, digest)
        for key, value in programs.changes(books, before, digest, now_ms):
            transaction.set(key, value)
        transaction.event(events.PROGRAM_CHANGED, int.from_bytes(digest[:4], "little")).commit()

"""Playing: paces the events of a round for the eye, waits for choices, and books the award.

`Play` decides nothing about outcomes; it walks through the round function's events and shows each for a while.
"""

import native
from firmware import events
from firmware.play import rounds
from firmware.play.autoplay import Autoplay
from firmware.play.bets import Bets
from firmware.play.settings import Settings
from firmware.store import keys

BASE_MODE = 0

# How long an event is shown, ms: (normal, quick spin).
_SHOWN_MS = {
    native.SPIN: (2000, 400),
    native.LINE_WIN: (300, 60),
    native.SCATTER_WIN: (500, 100),
    native.FREE_SPINS_BEGIN: (1000, 200),
    native.FREE_SPINS_ADDED: (500, 100),
    native.FREE_SPINS_END: (1000, 200),
}
_EVENT_NAMES = {
    native.LINE_WIN: "line_win",
    native.WAYS_WIN: "ways_win",
    native.SCATTER_WIN: "scatter_win",
    native.FREE_SPINS_BEGIN: "free_spins_begin",
    native.FREE_SPINS_ADDED: "free_spins_added",
    native.FREE_SPINS_END: "free_spins_end",
    native.WIN_CAP: "win_cap",
}


class Play:
    """The selected game and the round under way.

    `packs`: name -> opened pack. `show`: called with one dict for each thing a player sees.
    """

    def __init__(self, books, packs, show):
        self._books = books
        self._packs = packs
        self._show = show
        self.autoplay = Autoplay()
        self.settings = Settings(books.journal)
        self.round = None
        self.cursor = 0  # option highlighted while a choice is due
        self.fault = False  # set when the core failed in the middle of a round
        self.voided = False  # the round that power loss interrupted could not be finished
        self._due_ms = 0
        self._capped = 0
        name = books.journal.get(keys.GAME).decode()
        self.game = name if name in packs else sorted(packs)[0]
        self.pack = packs[self.game]
        self.bets = Bets(books.journal, self.pack)

    def select(self, name: str, now_ms: int) -> bool:
        """Selects a game between rounds. False when there is no game of that name."""
        if self.round is not None or name not in self._packs:
            return False
        transaction = self._books.transaction(now_ms)
        transaction.set(keys.GAME, name.encode()).set(keys.COIN_VALUE, 0).set(keys.LEVEL, 0).commit()
        self.game, self.pack = name, self._packs[name]
        self.bets = Bets(self._books.journal, self.pack)
        self.show_bet()
        return True

    def bet(self) -> int:
        """Pence that the next play costs."""
        return self.bets.bet(BASE_MODE)

    def show_bet(self) -> None:
        bets = self.bets
        self._show({"e": "bet", "bet": self.bet(), "coin_value": bets.coin_value(), "level": bets.level()})

    # --- rounds --------------------------------------------------------------------------------------------------

    def begin(self, seed: bytes, now_ms: int) -> None:
        """Commits and begins a round with the selected bet."""
        opened = rounds.begin(self._books, self.game, self.pack, BASE_MODE, self.bets.unit(), seed, now_ms)
        self._enter(opened, now_ms)
        self.autoplay.played()
        self._show({"e": "round", "game": self.game, "bet": opened.record.bet, "credit": self._credit()})

    def recover(self, now_ms: int) -> None:
        """Takes up the round that power loss interrupted, if any; one that cannot be finished is voided."""
        if not self._books.journal.get(keys.ROUND):
            return
        opened = rounds.recover(self._books, self._packs, now_ms)
        if opened is None:
            self.voided = True
        else:
            self._enter(opened, now_ms)

    def show_picture(self) -> None:
        """Tells somebody who has just begun to watch what stands on the screen."""
        self.show_bet()
        if self.voided:
            self._show({"e": "round_voided", "credit": self._credit()})
        opened = self.round
        if opened is None:
            return
        self._show({"e": "round_recovered", "game": opened.record.game, "bet": opened.record.bet, "won": opened.won})
        if opened.step:
            self._show_window("window", opened)
        if opened.core.options():
            self._show_choice(opened.core)

    def free_spins_left(self) -> int:
        return self.round.free_spins_left if self.round is not None else 0

    def choosing(self) -> bool:
        return bool(self.options())

    def options(self):
        """((spins, multiplier), …) while a choice is due, else ()."""
        opened = self.round
        return opened.core.options() if opened is not None else ()

    def move(self, by: int) -> None:
        """Moves the highlight among the options."""
        options = self.options()
        if options:
            self.cursor = (self.cursor + by) % len(options)
            self._show({"e": "highlight", "option": self.cursor})

    def confirm(self, now_ms: int) -> None:
        """Takes the highlighted option."""
        opened = self.round
        if opened is not None and self.choosing():
            option, self.cursor = self.cursor, 0
            opened.choose(option)
            self._show({"e": "chosen", "option": option})
            self._due_ms = now_ms

    def poll(self, now_ms: int) -> bool:
        """Shows what is due. True when the round has just ended."""
        opened = self.round
        if opened is None or now_ms < self._due_ms or opened.core.options():
            return False
        try:
            event = opened.next()
        except native.CoreError:
            self._void(opened, now_ms)
            return True
        kind = event[0]
        self._present(event, opened)
        shown = _SHOWN_MS.get(kind)
        if shown:
            self._due_ms = now_ms + shown[1 if self.settings.quick_spin else 0]
        if kind == native.SPIN and opened.had_free_spins:
            opened.note_progress()
        if kind == native.WIN_CAP:
            self._capped = event[5]
        if kind == native.ROUND_END:
            self._end(opened, now_ms)
            return True
        return False

    def _enter(self, opened, now_ms: int) -> None:
        self.round = opened
        self.voided = False
        self.cursor = self._capped = 0
        self.fault = False
        self._due_ms = now_ms

    def _end(self, opened, now_ms: int) -> None:
        self.round = None
        by_hand = opened.finish(now_ms, self._capped)
        award = opened.record.award
        self._show({"e": "round_end", "award": award, "credit": self._credit(), "handpay": by_hand})
        reason = self.autoplay.finished(award, opened.had_free_spins, self._credit())
        if reason:
            self._show({"e": "autoplay_stopped", "reason": reason})

    def _void(self, opened, now_ms: int) -> None:
        self.round = None
        self.autoplay.stop()
        rounds.void(self._books, opened.record, now_ms)
        self.fault = True
        self._show({"e": "round_voided", "credit": self._credit()})

    # --- what the player sees ------------------------------------------------------------------------------------

    def _present(self, event, opened) -> None:
        kind, index, symbol, count, multiplier, pence = event
        if kind == native.ROUND_END:
            return  # shown with the new credit once it is booked
        if kind == native.SPIN:
            self._show_window("spin", opened)
        elif kind == native.CHOICE:
            self._show_choice(opened.core)
        else:
            name = _EVENT_NAMES[kind]
            self._show({"e": name, "index": index, "symbol": symbol, "count": count, "x": multiplier, "pence": pence})

    def _show_window(self, name: str, opened) -> None:
        core, left = opened.core, opened.free_spins_left
        self._show(
            {
                "e": name,
                "window": list(core.window()),
                "stops": list(core.stops()),
                "free_spins": left,
                "x": opened.multiplier,
                "won": opened.won,
            }
        )

    def _show_choice(self, core) -> None:
        self._show({"e": "choice", "options": [list(option) for option in core.options()]})

    def _credit(self) -> int:
        return self._books.ledger.value("credit")


def note_program(books, packs, now_ms: int) -> None:
    """Logs a change of the games' programs since the last power-up (CAB-NVM-09, CAB-PRG-03)."""
    digest = b""
    for name in sorted(packs):
        digest = native.sha256(digest + packs[name].sha256)
    if books.journal.get(keys.PACK_HASH) != digest:
        transaction = books.transaction(now_ms).set(keys.PACK_HASH, digest)
        transaction.event(events.PROGRAM_CHANGED, int.from_bytes(digest[:4], "little")).commit()

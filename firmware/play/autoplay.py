"""Autoplay (C7): a number of plays, and the conditions that stop it. Nothing of it survives power loss, by rule."""

DEFAULT_PLAYS = 10
MAX_PLAYS = 1000
# Stop conditions, as typed at the console: two switches and three amounts in pence (0 = off).
SWITCHES = ("any_win", "free_spins")
AMOUNTS = ("single_win", "cash_up", "cash_down")


class Autoplay:
    """Settings, and the plays still to go. A change made during a round takes effect after it."""

    def __init__(self):
        self.remaining = 0
        self.settings = _defaults()
        self._next_settings = None
        self._start_pence = 0

    def configure(self, settings: dict, in_round: bool) -> None:
        """Replaces the settings (keys `plays`, SWITCHES, AMOUNTS); missing ones are off."""
        merged = _defaults()
        merged.update(settings)
        if in_round:
            self._next_settings = merged
        else:
            self.settings = merged

    def reset(self, in_round: bool) -> None:
        """Clears every stop condition (the Reset button)."""
        self.configure({"plays": self.settings["plays"]}, in_round)

    def start(self, credit_pence: int) -> None:
        self.remaining = self.settings["plays"]
        self._start_pence = credit_pence

    def stop(self) -> None:
        self.remaining = 0

    def running(self) -> bool:
        return self.remaining > 0

    def played(self) -> None:
        """A play has begun."""
        if self.remaining:
            self.remaining -= 1

    def finished(self, award_pence: int, had_free_spins: bool, credit_pence: int) -> str:
        """A play and its features are over. Returns why autoplay stops now, "" when it goes on or was not running."""
        if self._next_settings is not None:
            self.settings, self._next_settings = self._next_settings, None
        if not self.remaining:
            return ""
        reason = self._reason(award_pence, had_free_spins, credit_pence - self._start_pence)
        if reason:
            self.stop()
        return reason

    def _reason(self, award_pence: int, had_free_spins: bool, change_pence: int) -> str:
        settings = self.settings
        if settings["any_win"] and award_pence:
            return "any win"
        if settings["free_spins"] and had_free_spins:
            return "free spins won"
        if settings["single_win"] and award_pence >= settings["single_win"]:
            return "single win of %d or more" % settings["single_win"]
        if settings["cash_up"] and change_pence >= settings["cash_up"]:
            return "cash up by %d" % settings["cash_up"]
        if settings["cash_down"] and -change_pence >= settings["cash_down"]:
            return "cash down by %d" % settings["cash_down"]
        return ""


def _defaults() -> dict:
    settings = {"plays": DEFAULT_PLAYS}
    for name in SWITCHES:
        settings[name] = False
    for name in AMOUNTS:
        settings[name] = 0
    return settings

"""The player's buttons: what each does in each state, and which lamps say so.

One press at a time, in the order of the panel's inputs, so that simultaneous presses have a defined result.
"""

BLINK_MS = 500
_MODES = ("fortune_spins", "fortune_bet")  # buttons that toggle the mode of play of the same name


class Buttons:
    """Hands presses on to `machine` (machine.py) and lights what can be pressed on `panel`."""

    def __init__(self, machine, panel, show):
        self._machine = machine
        self._panel = panel
        self._show = show
        # By state; a state that is not here takes no presses.
        self._handlers = {
            "idle": self._idle,
            "choosing": self._choosing,
            "gambling": self._gambling,
            "offering": self._offering,
            "playing": self._playing,
            "handpay": self._handpay,
        }

    def press(self, name: str, now_ms: int) -> None:
        self._show({"e": "press", "button": name})
        handler = self._handlers.get(self._machine.state)
        if handler:
            handler(name, now_ms)

    def _idle(self, name: str, now_ms: int) -> None:
        machine = self._machine
        play = machine.play
        if name == "autoplay":
            play.autoplay.start(machine.credit())
            machine.start_play(now_ms)
        elif machine.info.press(name):
            return
        elif name == "start":
            machine.start_play(now_ms)
        elif name == "max_bet":
            # The highest level at the coin value that is selected; with a ladder of stakes, its highest stake.
            if play.bets.max_level() if play.pack.levels > 1 else play.bets.max_coin_value():
                play.show_bet()
            machine.start_play(now_ms)
        elif name in ("cash_out", "collect"):
            machine.cash_out(now_ms)
        else:
            self._select_bet(name)

    def _select_bet(self, name: str) -> None:
        bets = self._machine.play.bets
        if name in _MODES:
            changed = bets.toggle_mode(name)
        elif name in ("stake_up", "stake_down"):
            changed = bets.step_coin_value(1 if name == "stake_up" else -1)
        elif name in ("level_up", "level_down"):
            changed = bets.step_level(1 if name == "level_up" else -1)
        else:
            changed = False
        if changed:
            self._machine.play.show_bet()

    def _choosing(self, name: str, now_ms: int) -> None:
        if name in ("left", "right"):
            self._machine.play.move(1 if name == "right" else -1)
        elif name == "start":
            self._machine.play.confirm(now_ms)

    def _gambling(self, name: str, now_ms: int) -> None:
        play = self._machine.play
        if name in ("left", "right"):
            play.move(1 if name == "right" else -1)
        elif name in ("stake_up", "stake_down"):
            play.step_amount(1 if name == "stake_up" else -1)
        elif name in ("start", "gamble"):
            play.confirm(now_ms)
        elif name in ("collect", "cash_out", "no_thanks"):
            play.collect(now_ms)

    def _offering(self, name: str, now_ms: int) -> None:
        if name == "start":
            self._machine.take_offer()
        elif name in ("collect", "no_thanks", "cash_out"):
            self._machine.decline_offer()

    def _playing(self, name: str, now_ms: int) -> None:
        if name == "autoplay" and self._machine.play.autoplay.running():
            self._machine.play.autoplay.stop()
            self._show({"e": "autoplay_stopped", "reason": "button"})

    def _handpay(self, name: str, now_ms: int) -> None:
        if name == "cash_out":
            self._machine.retry_payout(now_ms)

    # --- lamps ---------------------------------------------------------------------------------------------------

    def set_lamps(self, now_ms: int) -> None:
        """A lamp is lit when its button does something; those of the modes when the mode is selected.

        The tower lamp calls for somebody; at an open door it blinks.
        """
        machine, lamp = self._machine, self._panel.lamp
        play, state = machine.play, machine.state
        idle, choosing, gambling, offering = [state == name for name in ("idle", "choosing", "gambling", "offering")]
        credit = machine.credit()
        can_play = idle and credit >= play.bet()
        can_offer = idle and 0 < credit < play.bet() and play.pack.spin_chance
        lamp("start", can_play or can_offer or choosing or gambling or offering)
        lamp("autoplay", can_play or play.autoplay.running())
        lamp("max_bet", can_play)
        owed = credit if idle else machine.payout.reclaimable() if state == "handpay" else 0
        lamp("cash_out", machine.payout.payable(owed) > 0)
        lamp("collect", gambling or offering)
        lamp("no_thanks", offering)
        lamp("gamble", gambling)
        for name in ("stake_up", "stake_down"):
            lamp(name, idle or gambling)
        for name in ("level_up", "level_down"):
            lamp(name, idle and play.pack.levels > 1)
        for name in _MODES:
            lamp(name, idle and play.bets.mode_name() == name)
        lamp("info", idle)
        for name in ("left", "right"):
            lamp(name, choosing or gambling or machine.info.open)
        alarm_ms = machine.doors.alarm_ms(now_ms)
        if alarm_ms >= 0:
            lamp("tower", alarm_ms // BLINK_MS % 2 == 0)
        else:
            lamp("tower", state in ("tilted", "handpay", "service", "setup"))

"""What a play costs: coin value, bet level (C1, C8) and the mode of play. All selections survive power loss.

A game with a ladder of stakes has one level, and its coin values are the ladder.
"""

import native
from firmware.store import keys

BASE_MODE = 0


class Bets:
    """Bet selection over a game pack: unit = coin value x level, bet = unit x the mode's cost, all in pence."""

    def __init__(self, journal, pack):
        self._journal = journal
        self._pack = pack

    def coin_value(self) -> int:
        values = self._pack.coin_values
        return values[min(self._journal.get_int(keys.COIN_VALUE), len(values) - 1)]

    def level(self) -> int:
        return min(self._journal.get_int(keys.LEVEL), self._pack.levels - 1) + 1

    def unit(self) -> int:
        return self.coin_value() * self.level()

    def mode(self) -> int:
        mode = self._journal.get_int(keys.MODE)
        return mode if self.selectable(mode) else BASE_MODE

    def mode_name(self) -> str:
        return self._pack.modes[self.mode()]

    def selectable(self, mode: int) -> bool:
        return mode < len(self._pack.modes) and bool(self._pack.flags(mode) & native.MODE_SELECTABLE)

    def mode_named(self, name: str) -> int:
        """Number of the selectable mode called `name`, -1 when the game has none."""
        for mode in range(len(self._pack.modes)):
            if self._pack.modes[mode] == name and self.selectable(mode):
                return mode
        return -1

    def bet(self) -> int:
        """Pence that the next play costs."""
        return self.unit() * self._pack.cost(self.mode())

    def stake(self) -> int:
        """Pence of the base stake, to which "x stake" refers in every mode."""
        return self.unit() * self._pack.stake

    def step_level(self, by: int) -> bool:
        """Moves the level by `by` within 1 … levels; True when it changed."""
        return self._select(keys.LEVEL, self.level() - 1 + by, self._pack.levels)

    def step_coin_value(self, by: int) -> bool:
        index = self._pack.coin_values.index(self.coin_value())
        return self._select(keys.COIN_VALUE, index + by, len(self._pack.coin_values))

    def max_level(self) -> bool:
        return self._select(keys.LEVEL, self._pack.levels - 1, self._pack.levels)

    def max_coin_value(self) -> bool:
        return self._select(keys.COIN_VALUE, len(self._pack.coin_values) - 1, len(self._pack.coin_values))

    def toggle_mode(self, name: str) -> bool:
        """Selects the mode called `name`, or the base game when it was selected; False when the game has none."""
        mode = self.mode_named(name)
        if mode < 0:
            return False
        return self._select(keys.MODE, BASE_MODE if self.mode() == mode else mode, len(self._pack.modes))

    def _select(self, key: int, index: int, count: int) -> bool:
        if not 0 <= index < count or index == self._journal.get_int(key):
            return False
        self._journal.commit(((key, index),))
        return True

"""What a play costs: coin value and bet level (C1, C8). Both selections survive power loss."""

from firmware.store import keys


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

    def bet(self, mode: int) -> int:
        return self.unit() * self._pack.cost(mode)

    def step_level(self, by: int) -> bool:
        """Moves the level by `by` within 1 … levels; True when it changed."""
        return self._select(keys.LEVEL, self.level() - 1 + by, self._pack.levels)

    def step_coin_value(self, by: int) -> bool:
        index = self._pack.coin_values.index(self.coin_value())
        return self._select(keys.COIN_VALUE, index + by, len(self._pack.coin_values))

    def max_level(self) -> bool:
        return self._select(keys.LEVEL, self._pack.levels - 1, self._pack.levels)

    def _select(self, key: int, index: int, count: int) -> bool:
        if not 0 <= index < count or index == self._journal.get_int(key):
            return False
        self._journal.commit(((key, index),))
        return True

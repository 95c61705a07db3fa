"""The gamble's wheels as the player sees them: which segment is chosen, how much is put on it, and what the chance is (G5).

Arithmetic of native/MECHANICS.md: what the core would round down or cap is rounded and capped here already, so that what is
shown, committed and drawn is one amount.
"""

import native

MILLION = 1000000
# The amount can be the whole, a half, a third, or so many steps of 1, 2, 5, 10 … stakes.
_MOST_STEPS = 20
_SERIES = (1, 2, 5)


class Selection:
    """Segment and amount while an offer stands. `offer`: pence that can be gambled now; `taken`: gambles so far."""

    def __init__(self, pack, unit: int, offer: int, only_cash: bool, taken: int):
        self._pack = pack
        self._unit = unit
        self._only_cash = only_cash
        self._gambles = taken
        self.offer = offer
        self.row = 0
        self._wanted = offer  # what the player asked for; a segment may take less
        if not self._possible(0):
            self.move(1)

    def amount(self) -> int:
        """Pence that the segment takes of what the player wants to gamble."""
        return self._taken(self.row)

    def _taken(self, row: int) -> int:
        kind, denominator = self._pack.gambles[row][1], self._pack.gambles[row][4]
        if kind == native.GAMBLE_CASH:
            return self._wanted // denominator * denominator
        return min(self._wanted, self._value(row) // self._pack.gamble_payback_ppm)

    def _value(self, row: int) -> int:
        """What a feature is worth, in millionths of a penny."""
        return self._pack.gambles[row][6] * self._unit

    def _possible(self, row: int) -> bool:
        return self._taken(row) > 0 and (self._pack.gambles[row][1] == native.GAMBLE_CASH or not self._only_cash)

    def move(self, by: int) -> None:
        """To the next segment that can be chosen."""
        rows = len(self._pack.gambles)
        for _ in range(rows):
            self.row = (self.row + by) % rows
            if self._possible(self.row):
                return

    def step(self, by: int) -> None:
        """To the next larger (+1) or smaller (-1) amount that the segment takes."""
        before, wanted = self.amount(), self._wanted
        amounts = self._amounts()
        if by < 0:
            amounts.reverse()
        for amount in amounts:
            self._wanted = amount
            taken = self.amount()
            if taken > 0 and (taken - before) * by > 0:
                return
        self._wanted = wanted

    def _amounts(self):
        whole, stake = self.offer, self._pack.stake * self._unit
        step, place = stake, 0
        while step * _MOST_STEPS < whole:
            place += 1
            step = stake * _SERIES[place % 3] * 10 ** (place // 3)
        amounts = {whole, whole // 2, whole // 3}
        for amount in range(step, whole, step):
            amounts.add(amount)
        return sorted([amount for amount in amounts if amount])

    def chance_ppm(self) -> int:
        """Chance of green in parts per million, rounded down."""
        payback = self._pack.gamble_payback_ppm
        _, kind, _, numerator, denominator = self._pack.gambles[self.row][:5]
        if kind == native.GAMBLE_CASH:
            return denominator * payback // numerator
        return self.amount() * payback * MILLION // self._value(self.row)

    def facts(self, name: str) -> dict:
        """What a player must see before gambling, as the event `name`."""
        row = self._pack.gambles[self.row]
        amount = self.amount()
        return {
            "e": name,
            "pence": self.offer,
            "taken": self._gambles,
            "row": self.row,
            "name": row[0],
            "amount": amount,
            "banked": self.offer - amount,
            "win": amount * row[3] // row[4] if row[1] == native.GAMBLE_CASH else 0,
            "feature": "" if row[1] == native.GAMBLE_CASH else self._pack.features[row[2]][0],
            "spins": row[5],
            "worth": 0 if row[1] == native.GAMBLE_CASH else self._value(self.row) // MILLION,
            "chance_ppm": self.chance_ppm(),
            "payback_ppm": self._pack.gamble_payback_ppm,
        }

"""Random games of version 2, every one within the contract, with random compositions of steps, features and gambles.

Hypothesis gives a seed and nothing more: what fills a game comes from a seeded generator, because hypothesis prefers empty
lists and small numbers, and games in which nothing happens prove nothing. Strips are short, so that steps meet their symbols.
"""

from random import Random

from hypothesis import strategies as st

from tests.native import oracle_pack as pack
from tests.native.oracle_pack import (
    NONE,
    Boards,
    Feature,
    Gamble,
    GambleRow,
    Game,
    Mode,
    Pot,
    Prize,
    Step,
    Symbol,
)


class Maker:
    """Builds one game. Tables are added as steps ask for them, so every table is used."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.reels, self.rows = self.pick(3, 5, 5, 5, 6, 4), self.pick(3, 3, 3, 4, 5)
        self.cells = self.reels * self.rows
        self.ways = self.random.random() < 0.4
        self.scale = self.pick(1, 1, 1, 1, 1, 100_000)  # of prizes and units: some games reach beyond 32 bits
        self.tables: list[list[Prize]] = []
        self.pots = [
            Pot(f"p{n}", self.pick(1, 10, 250) * self.scale, self.pick(0, 1, 2, 3))
            for n in range(self.random.randint(0, 4))
        ]
        self.boards: list[Boards] = []
        self.features: list[Feature] = []

    def pick(self, *values):
        return self.random.choice(values)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # --------------------------------------------------------------------------------------------------------------- symbols

    def symbols(self, rule: int) -> list[Symbol]:
        """With ways and the rule of the highest, the wilds' multipliers beyond 1 are one number."""
        count = self.random.randint(5, 9)
        same = self.random.randint(1, 4)
        table = []
        for number in range(count):
            wild, scatter = self.chance(0.25), self.chance(0.25)
            others = [other for other in range(count) if other != number]
            pays = [self.pick(0, 0, 1, 2, 5, 20) for _ in range(self.random.randint(0, self.reels))]
            table.append(
                Symbol(
                    f"s{number}",
                    pays if self.chance(0.5) else sorted(pays),
                    wild,
                    scatter,
                    (self.pick(1, same, same) if self.ways and rule == pack.HIGHEST else self.random.randint(1, 4))
                    if wild
                    else 1,
                    sum(1 << s for s in self.random.sample(others, self.random.randint(1, 4))) if wild else 0,
                    [self.pick(0, 1, 2, 9) for _ in range(self.random.randint(1, 9))] if scatter else [],
                )
            )
        return table

    def mask(self, most: int = 2) -> int:
        return sum(1 << s for s in self.random.sample(range(self.count), self.random.randint(1, most)))

    # ---------------------------------------------------------------------------------------------------------------- tables

    def table(self, rows: list[Prize]) -> int:
        self.tables.append(rows)
        return len(self.tables) - 1

    def weight(self) -> int:
        return self.pick(1, 1, 2, 3, 7, 1000)

    def some(self, make, most: int = 4) -> list[Prize]:
        return [make() for _ in range(self.random.randint(1, most))]

    def credits(self) -> Prize:
        return Prize(self.weight(), pack.CREDITS, 0, self.pick(1, 2, 5, 10, 100) * self.scale)

    def money(self) -> Prize:
        if self.pots and self.chance(0.4):
            return Prize(self.weight(), pack.POT, self.random.randrange(len(self.pots)))
        return self.credits()

    def prize(self, base: bool, wheel: bool = True) -> Prize:
        """Something that may stand in the queue of a base or a feature mode."""
        kind = self.pick("nothing", "money", "wheel", "more", "more")
        if kind == "wheel" and wheel:
            return Prize(self.weight(), pack.WHEEL, self.wheel(base))
        if kind == "more" and not base:
            return Prize(self.weight(), pack.SPINS, 0, self.random.randint(1, 4))
        if kind == "more" and self.features:
            return Prize(self.weight(), pack.FEATURE, self.random.randrange(len(self.features)))
        return Prize(self.weight(), pack.NOTHING) if kind == "nothing" else self.money()

    def wheel(self, base: bool) -> int:
        return self.table(self.some(lambda: self.prize(base, wheel=False)))

    def pile(self, base: bool) -> int:
        rows = [Prize(self.pick(1, 5, 20), pack.NOTHING), *self.some(lambda: self.prize(base), 2)]
        self.random.shuffle(rows)
        return self.table(rows)

    def award(self, base: bool) -> int:
        return self.table([self.prize(base)])

    # ----------------------------------------------------------------------------------------------------------------- steps

    def counted(self, base: bool) -> Step:
        least = self.random.randint(1, 5)
        most = self.pick(least, least + 1, self.cells, 255)
        needed = self.mask() if self.chance(0.3) else 0
        return Step(pack.AWARD, self.award(base), self.mask(), least, most, needed)

    def values(self) -> list[Step]:
        return [Step(pack.VALUES, self.table(self.some(self.credits)), self.mask()) for _ in range(self.pick(1, 1, 2))]

    def both(self, base: bool) -> list[Step]:
        """Steps that any mode may have, behind VALUES."""
        steps = [Step(pack.COLLECT, symbols=self.mask()) for _ in range(self.pick(0, 1, 1, 2))]
        steps += [Step(pack.PILE, self.pile(base), self.mask()) for _ in range(self.pick(0, 0, 1))]
        return steps + [self.counted(base) for _ in range(self.pick(0, 1, 2, 2))]  # with a pile 32 prizes at most

    def base_steps(self, mode: int, strips: list[list[int]]) -> list[Step]:
        steps = self.both(True) + (self.values() if self.chance(0.6) else [])
        self.random.shuffle(steps)  # VALUES act before the wins wherever they stand
        if self.chance(0.3):
            rows = [Prize(self.weight(), pack.BOARDS, self.group(mode, strips)) for _ in range(self.pick(1, 2))]
            if self.chance(0.8):
                rows.insert(0, Prize(self.weight(), pack.NOTHING))
            steps.insert(0, Step(pack.MODIFIER, self.table(rows)))
        if self.chance(0.4):
            steps.append(Step(pack.RESPIN, symbols=self.mask(), least=self.random.randint(1, 3)))
        return steps

    def group(self, mode: int, strips: list[list[int]]) -> int:
        boards = [
            tuple(self.random.randrange(len(strip)) for strip in strips) for _ in range(self.random.randint(1, 3))
        ]
        self.boards.append(Boards(mode, boards))
        return len(self.boards) - 1

    def feature_steps(self) -> list[Step]:
        steps = self.both(False)
        tokens = [n for n, pot in enumerate(self.pots) if pot.tokens]
        if self.chance(0.5):
            rule = self.pick(0, 1)
            steps.append(Step(pack.FRAMES, rule, self.mask(), credits=self.pick(1, 10) if rule else 0))
        if self.chance(0.5):
            steps.append(Step(pack.ADD_SPINS, symbols=self.mask(), least=self.random.randint(1, 3)))
        if tokens and self.chance(0.6):
            rows = self.some(lambda: Prize(self.weight(), pack.POT, self.pick(*tokens)))
            steps.append(Step(pack.TOKENS, self.table(rows), self.mask()))
        steps += self.values() if self.chance(0.5) else []
        self.random.shuffle(steps)
        return steps

    # -------------------------------------------------------------------------------------------------------------- features

    def feature(self, number: int, mode: int) -> Feature:
        opening = self.pick(0, 1, 2, 3)
        smallest, most = self.random.randint(0, 3), self.random.randint(3, 9)
        options = {
            count: [(self.random.randint(1, 3), self.random.randint(1, 5)) for _ in range(self.pick(1, 1, 2, 3))]
            for count in range(smallest, smallest + self.random.randint(1, 3))
        }
        shapes = [
            Prize(
                self.weight(),
                pack.SHAPE,
                0,
                self.random.randint(1, self.reels) + 256 * self.random.randint(1, self.rows),
            )
            for _ in range(self.random.randint(1, 3))
        ]
        return Feature(
            f"f{number}",
            mode,
            options,
            opening,
            self.table(shapes) if opening == pack.OPEN_SHAPE else 0,
            self.random.randint(1, 3) if opening else 0,
            self.chance(0.4),
            tuple(self.table(self.some(self.money)) if self.chance(0.9) else NONE for _ in range(3)),
            most,
            self.mask() if opening in (pack.OPEN_CELLS, pack.OPEN_ROLL) else 0,
        )

    def gamble(self, credits: int) -> Gamble:
        """credits: the limit; with the largest unit 180,000 come near to what 63 bits hold in millionths of a penny."""
        playable = [
            number
            for number, f in enumerate(self.features)
            if f.opening in (pack.OPEN_NONE, pack.OPEN_SHAPE) and not f.collects
        ]
        rows = []
        for number in range(self.random.randint(1, 5)):
            last = self.chance(0.4)
            if playable and self.chance(0.5):
                feature = self.pick(*playable)
                options = self.features[feature].options
                alone = len(options[min(options)]) == 1  # spins of the row leave nothing to choose
                spins = self.pick(0, 1, self.features[feature].most) if alone else 0
                value = self.pick(1, 999_999, 20_000_000, 123_456_789) * self.pick(1, self.scale // 100 + 1)
                rows.append(GambleRow(f"g{number}", pack.PLAY_FEATURE, feature, 0, 0, spins, last, value))
            else:
                numerator, denominator = self.pick((4, 3), (2, 1), (3, 1))
                rows.append(GambleRow(f"g{number}", pack.CASH, NONE, numerator, denominator, 0, last, 0))
        return Gamble(
            rows, self.pick(1, 500_000, 940_000, 1_000_000), self.pick(0, 1, 5, 20, 50), credits, self.pick(1, 2, 5, 20)
        )

    # ------------------------------------------------------------------------------------------------------------------ game

    def game(self) -> Game:
        rule = self.pick(0, 1) if self.ways else self.pick(0, 1, 2)
        symbols = self.symbols(rule)
        self.count = len(symbols)
        features, feature_modes, base_modes = self.pick(0, 1, 2, 3), self.pick(1, 2), self.pick(1, 2)
        feature_modes = feature_modes if features else 0
        sets = [
            [self.random.choices(range(self.count), k=self.random.randint(self.rows, 9)) for _ in range(self.reels)]
            for _ in range(self.pick(1, 2, 3))
        ]
        modes = [
            Mode(
                f"m{number}",
                self.pick(0, 1) if self.ways else 0,
                self.random.randrange(len(sets)),
                self.random.randint(1, 30),
                self.pick(0, pack.SCATTER_PAYS) | (pack.SELECTABLE if number < base_modes else 0),
            )
            for number in range(base_modes + feature_modes)
        ]
        order = list(range(len(modes)))
        self.features = [
            self.feature(number, base_modes + (number if number < feature_modes else 0)) for number in range(features)
        ]
        for number in order[base_modes:]:
            modes[number].steps = self.feature_steps() if number < base_modes + features else []
        for number in order[:base_modes]:
            modes[number].steps = self.base_steps(number, sets[modes[number].set])
        return Game(
            symbols,
            sets,
            [self.random.choices(range(self.rows), k=self.reels) for _ in range(self.random.randint(0, 5))],
            self.rows,
            modes,
            self.tables,
            self.pots,
            self.boards,
            self.features,
            self.gamble(self.pick(50, 1000, 180_000)) if self.chance(0.6) else None,
            f"game_{self.random.randrange(1000)}",
            rule,
            self.chance(0.3),
            self.chance(0.5),
            self.pick(500, 20_000, 10**6, 10**9) * self.pick(1, self.scale * self.scale // 100 + 1),
            self.random.randint(1, 10),
            [10, 100 * self.scale],
            self.pick(1, 5),
        )


games = st.integers(0, 2**32 - 1).map(lambda seed: Maker(seed).game())

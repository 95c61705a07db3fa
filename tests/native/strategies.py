"""Random small games: every one compiles to a pack that the core accepts.

Hypothesis chooses the shape; what fills it comes from a seeded generator, because hypothesis prefers empty lists and
small numbers, and games in which nothing wins prove nothing.
"""

from random import Random

from hypothesis import strategies as st

from tests.native.packs import NONE, SCATTER_PAYS, SELECTABLE, Feature, Game, Mode, Symbol


def symbols(random: Random, reels: int) -> list[Symbol]:
    """Three to seven symbols with pays, wilds with masks and multipliers, scatters that wilds may stand for."""
    count = random.randint(3, 7)
    rows = []
    for number in range(count):
        others = [other for other in range(count) if other != number]
        wild, scatter = random.random() < 0.4, random.random() < 0.5
        pays = [random.choice([0, 0, 1, 2, 3, 5, 10, 50]) for _ in range(random.randint(0, reels))]
        stands_for = random.sample(others, random.randint(1, len(others))) if wild else []
        rows.append(
            Symbol(
                f"s{number}",
                pays=pays if random.random() < 0.5 else sorted(pays),
                wild=wild,
                scatter=scatter,
                view=[random.choice([0, 1, 2, 9]) for _ in range(random.randint(2, 9))] if scatter else [],
                multiplier=random.randint(1, 4) if wild else 1,
                mask=sum(1 << other for other in stands_for),
            )
        )
    return rows


@st.composite
def games(draw: st.DrawFn, max_reels: int = 6, max_rows: int = 5, max_strip: int = 6, sets: int = 1) -> Game:
    """Games of 3 … max_reels reels; with two sets also a feature, if there is a scatter, and sometimes a win cap."""
    reels, rows = draw(st.integers(3, max_reels)), draw(st.integers(3, max_rows))
    rule, needs_natural = draw(st.integers(0, 2)), draw(st.booleans())
    random = Random(draw(st.integers(0, 2**32 - 1)))
    table = symbols(random, reels)

    def strip() -> list[int]:
        return random.choices(range(len(table)), k=random.randint(rows, max(rows, max_strip)))

    game = Game(
        symbols=table,
        rows=rows,
        lines=[random.choices(range(rows), k=reels) for _ in range(random.randint(0, 6))],
        sets=[[strip() for _ in range(reels)] for _ in range(sets)],
        modes=[
            Mode("base", cost=random.randint(1, 30), flags=SELECTABLE | random.choice([0, SCATTER_PAYS, SCATTER_PAYS]))
        ],
        rule=rule,
        needs_natural=needs_natural,
    )
    if sets > 1 and game.scatters:
        game.cap = random.choice([0, 0, 500, 5_000, 50_000])
        game.modes[0].feature = 0
        game.modes.append(Mode("free", set=1, cost=0, flags=random.choice([0, SCATTER_PAYS])))
        smallest, most = random.randint(1, 3), random.randint(1, 9)
        adds = random.choice([NONE, *game.scatters])
        game.features = [
            Feature(
                trigger=random.choice(game.scatters),
                mode=1,
                options={
                    count: [(random.randint(1, most), random.randint(1, 5)) for _ in range(random.randint(1, 4))]
                    for count in range(smallest, smallest + random.randint(1, 3))
                },
                most=most,
                adds=adds,
                added=0 if adds == NONE else random.randint(1, 3),
            )
        ]
    return game

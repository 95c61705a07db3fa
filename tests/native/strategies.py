"""Random small games: every one compiles to a pack that the core accepts.

Hypothesis chooses the shape; what fills it comes from a seeded generator, because hypothesis prefers empty lists and
small numbers, and games in which nothing wins prove nothing.
"""

from random import Random

from hypothesis import strategies as st

from tests.native.packs import SCATTER_PAYS, SELECTABLE, Game, Mode, Symbol


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
def games(draw: st.DrawFn, max_reels: int = 6, max_rows: int = 5, max_strip: int = 6) -> Game:
    """Games of 3 … max_reels reels with lines and scatters; whole games of version 2 are made by oracle_games.py."""
    reels, rows = draw(st.integers(3, max_reels)), draw(st.integers(3, max_rows))
    rule, needs_natural = draw(st.integers(0, 2)), draw(st.booleans())
    random = Random(draw(st.integers(0, 2**32 - 1)))
    table = symbols(random, reels)

    def strip() -> list[int]:
        return random.choices(range(len(table)), k=random.randint(rows, max(rows, max_strip)))

    return Game(
        symbols=table,
        rows=rows,
        lines=[random.choices(range(rows), k=reels) for _ in range(random.randint(0, 6))],
        sets=[[strip() for _ in range(reels)]],
        modes=[
            Mode("base", cost=random.randint(1, 30), flags=SELECTABLE | random.choice([0, SCATTER_PAYS, SCATTER_PAYS]))
        ],
        rule=rule,
        needs_natural=needs_natural,
    )

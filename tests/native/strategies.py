"""Random small games for hypothesis: every one compiles to a pack that the core accepts."""

from hypothesis import strategies as st

from tests.native.packs import NONE, SCATTER_PAYS, SELECTABLE, Feature, Game, Mode, Symbol


@st.composite
def symbols(draw: st.DrawFn, reels: int) -> list[Symbol]:
    """Two to seven symbols with pays, wilds with masks and multipliers, scatters that wilds may stand for."""
    count = draw(st.integers(2, 7))
    rows = []
    for number in range(count):
        others = [other for other in range(count) if other != number]
        wild, scatter = draw(st.booleans()), draw(st.booleans())
        mask = sum(1 << n for n in draw(st.lists(st.sampled_from(others), min_size=1, unique=True))) if wild else 0
        rows.append(
            Symbol(
                f"s{number}",
                pays=draw(st.lists(st.integers(0, 50), max_size=reels)),
                wild=wild,
                scatter=scatter,
                view=draw(st.lists(st.integers(0, 9), max_size=6)) if scatter else [],
                multiplier=draw(st.integers(1, 4)) if wild else 1,
                mask=mask,
            )
        )
    return rows


@st.composite
def games(draw: st.DrawFn, max_reels: int = 6, max_rows: int = 5, max_strip: int = 6, sets: int = 1) -> Game:
    """Games of 3 … max_reels reels; with two sets also a feature, if there is a scatter, and sometimes a win cap."""
    reels, rows = draw(st.integers(3, max_reels)), draw(st.integers(3, max_rows))
    table = draw(symbols(reels))
    strip = st.lists(st.integers(0, len(table) - 1), min_size=rows, max_size=max(rows, max_strip))
    game = Game(
        symbols=table,
        rows=rows,
        lines=draw(st.lists(st.lists(st.integers(0, rows - 1), min_size=reels, max_size=reels), max_size=6)),
        sets=[[draw(strip) for _ in range(reels)] for _ in range(sets)],
        modes=[Mode("base", cost=draw(st.integers(1, 30)), flags=SELECTABLE | draw(st.integers(0, SCATTER_PAYS)))],
        rule=draw(st.integers(0, 2)),
        needs_natural=draw(st.booleans()),
    )
    if sets > 1 and game.scatters:
        game.cap = draw(st.sampled_from([0, 500, 5_000, 50_000]))
        game.modes[0].feature = 0
        game.modes.append(Mode("free", set=1, cost=0, flags=draw(st.integers(0, SCATTER_PAYS))))
        smallest = draw(st.integers(1, 3))
        most = draw(st.integers(1, 9))
        option = st.tuples(st.integers(1, most), st.integers(1, 5))
        adds = draw(st.sampled_from([NONE, *game.scatters]))
        game.features = [
            Feature(
                trigger=draw(st.sampled_from(game.scatters)),
                mode=1,
                options={
                    count: draw(st.lists(option, min_size=1, max_size=4))
                    for count in range(smallest, smallest + draw(st.integers(1, 3)))
                },
                most=most,
                adds=adds,
                added=0 if adds == NONE else draw(st.integers(1, 3)),
            )
        ]
    return game

"""Ways to take a good game of version 2 beyond the contract. Each returns False where the game has nothing to spoil."""

from collections.abc import Callable, Iterator
from random import Random

from tests.native import oracle_pack as pack
from tests.native.oracle_pack import Boards, Game, Mode, Pot, Prize, Step

Mutation = Callable[[Game, Random], bool | None]
MUTATIONS: dict[str, Mutation] = {}


def mutation(function: Mutation) -> Mutation:
    MUTATIONS[function.__name__] = function
    return function


def played(game: Game) -> set[int]:
    """The modes of features."""
    return {feature.mode for feature in game.features}


def base(game: Game) -> list[Mode]:
    return [mode for number, mode in enumerate(game.modes) if number not in played(game)]


def of_features(game: Game) -> list[Mode]:
    return [game.modes[number] for number in sorted(played(game))]


def steps(game: Game, *ops: int) -> Iterator[Step]:
    return (step for mode in game.modes for step in mode.steps if step.op in ops)


def add_table(game: Game, *rows: Prize) -> int:
    game.tables.append(list(rows))
    return len(game.tables) - 1


def spoil(found: Iterator | list, **values: int) -> bool:
    """Sets fields of the first of the rows found that has other values there."""
    for row in found:
        if all(getattr(row, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(row, name, value)
            return True
    return False


def first(game: Game, mode: Mode, step: Step) -> bool:
    """Puts a step before all others but a MODIFIER, and away from the end."""
    at = 1 if mode.steps and mode.steps[0].op == pack.MODIFIER else 0
    mode.steps.insert(at, step)
    return len(mode.steps) <= 12


# ----------------------------------------------------------------------------------------------------------- single fields

TABLES_OF = (pack.MODIFIER, pack.VALUES, pack.PILE, pack.AWARD, pack.TOKENS)


def simple(name: str, rows: Callable[[Game], Iterator | list], **values: int) -> None:
    """A mutation that gives one row another value."""
    MUTATIONS[name] = lambda game, random: spoil(rows(game), **values)


def prizes(game: Game, *kinds: int) -> list[Prize]:
    return [prize for table in game.tables for prize in table if prize.kind in kinds]


def gambles(game: Game, *kinds: int) -> list:
    return [row for row in game.gamble.rows if row.kind in kinds] if game.gamble else []


def whole(game: Game) -> list:
    return [game.gamble] if game.gamble else []


for op in TABLES_OF:
    simple(f"step_{op}_names_no_table", lambda game, op=op: steps(game, op), index=254)
for op in (*range(2, 10),):
    simple(f"step_{op}_without_symbols_that_exist", lambda game, op=op: steps(game, op), symbols=1 << 31)
    simple(f"step_{op}_without_symbols", lambda game, op=op: steps(game, op), symbols=0)
simple("an_award_needs_a_symbol_beyond", lambda game: steps(game, pack.AWARD), needed=1 << 30)
simple("an_award_with_most_below_least", lambda game: steps(game, pack.AWARD), least=20, most=19)
simple("a_rule_of_frames_beyond", lambda game: steps(game, pack.FRAMES), index=2)
simple("an_unknown_step", lambda game: steps(game, *range(1, 10)), op=10)
simple("step_0", lambda game: steps(game, *range(1, 10)), op=0)
simple("an_unknown_prize", lambda game: prizes(game, *range(8)), kind=8)
simple("a_weight_of_nothing", lambda game: prizes(game, *range(8)), weight=0)
simple("a_weight_beyond", lambda game: prizes(game, *range(8)), weight=2**31 + 1)
simple("a_prize_names_no_pot", lambda game: prizes(game, pack.POT), index=200)
simple("a_prize_names_no_table", lambda game: prizes(game, pack.WHEEL), index=254)
simple("a_prize_names_no_feature", lambda game: prizes(game, pack.FEATURE), index=8)
simple("a_prize_names_no_boards", lambda game: prizes(game, pack.BOARDS), index=200)
simple("a_shape_of_no_width", lambda game: prizes(game, pack.SHAPE), number=256)
simple("a_shape_of_no_height", lambda game: prizes(game, pack.SHAPE), number=1)
simple("a_shape_too_wide", lambda game: prizes(game, pack.SHAPE), number=7 + 256)
simple("a_shape_too_high", lambda game: prizes(game, pack.SHAPE), number=1 + 6 * 256)
simple("a_pot_of_nothing", lambda game: game.pots, credits=0)
simple("an_unknown_evaluation", lambda game: game.modes, evaluation=2)
simple("a_mode_that_costs_nothing", lambda game: base(game), cost=0)
simple("an_unknown_flag_of_a_mode", lambda game: game.modes, flags=4)
simple("a_set_beyond", lambda game: game.modes, set=16)
simple("a_feature_that_players_select", of_features, flags=pack.SELECTABLE)
simple("a_feature_of_a_mode_beyond", lambda game: game.features, mode=16)
simple("an_unknown_opening", lambda game: game.features, opening=4)
simple("a_frame_of_level_4", lambda game: [f for f in game.features if f.opening], level=4)
simple("cells_of_level_0", lambda game: [f for f in game.features if f.opening == pack.OPEN_CELLS], level=0)
simple("a_shape_table_beyond", lambda game: [f for f in game.features if f.opening == pack.OPEN_SHAPE], index=254)
simple("bowls_of_no_table", lambda game: game.features, bowls=(254, 254, 254))
simple("cells_of_no_symbol", lambda game: [f for f in game.features if f.opening == pack.OPEN_CELLS], symbols=1 << 31)
simple("options_beyond_the_most_spins", lambda game: game.features, most=0)
simple("a_gamble_of_no_kind", lambda game: gambles(game, 0, 1), kind=2)
simple("a_gamble_of_no_feature", lambda game: gambles(game, pack.PLAY_FEATURE), feature=8)
simple("cash_that_names_a_feature", lambda game: gambles(game, pack.CASH), feature=0)
simple("cash_with_a_value", lambda game: gambles(game, pack.CASH), value_micro=1)
simple("cash_by_0", lambda game: gambles(game, pack.CASH), denominator=0)
simple("cash_that_loses", lambda game: gambles(game, pack.CASH), numerator=0)
simple("a_gamble_for_nothing", lambda game: gambles(game, pack.PLAY_FEATURE), value_micro=0)
simple("a_gamble_beyond_64_bits", lambda game: gambles(game, pack.PLAY_FEATURE), value_micro=2**64 - 1)
simple("a_gamble_of_more_than_the_most_spins", lambda game: gambles(game, pack.PLAY_FEATURE), spins=65535)
simple("a_payback_of_0", whole, payback_ppm=0)
simple("a_payback_above_100_percent", whole, payback_ppm=1_000_001)
simple("no_gambles", whole, most=0)
simple("21_gambles", whole, most=21)
simple("no_cap", lambda game: [game], cap=0)
simple("a_cap_of_64_bits", lambda game: [game], cap=2**63)
simple("no_stake", lambda game: [game], stake=0)


USED = {  # the arguments that a step has; all others are 0
    pack.MODIFIER: {"index"},
    pack.VALUES: {"index", "symbols"},
    pack.COLLECT: {"symbols"},
    pack.PILE: {"index", "symbols"},
    pack.AWARD: {"index", "symbols", "least", "most", "needed"},
    pack.RESPIN: {"symbols", "least"},
    pack.FRAMES: {"index", "symbols", "credits"},
    pack.ADD_SPINS: {"symbols", "least"},
    pack.TOKENS: {"index", "symbols"},
}
for op, used in USED.items():
    for unused in sorted({"index", "symbols", "least", "most", "needed", "credits"} - used):
        simple(f"step_{op}_with_{unused}", lambda game, op=op: steps(game, op), **{unused: 1})
simple("an_award_from_no_cells", lambda game: steps(game, pack.AWARD), least=0)
simple("a_respin_without_cells", lambda game: steps(game, pack.RESPIN), least=0)
simple("credits_of_nothing", lambda game: prizes(game, pack.CREDITS), number=0)
simple("no_spins", lambda game: prizes(game, pack.SPINS), number=0)
simple("a_number_of_nothing", lambda game: prizes(game, pack.NOTHING), number=1)
simple("cash_with_spins", lambda game: gambles(game, pack.CASH), spins=1)
simple("cash_for_less", lambda game: gambles(game, pack.CASH), denominator=7)
simple("cash_beyond_a_draw", lambda game: gambles(game, pack.CASH), numerator=5000, denominator=1)
simple("an_offer_from_beyond_its_limit", whole, offered_from=2**32 - 1)


# -------------------------------------------------------------------------------------------------------------- composition


@mutation
def a_modifier_behind_another_step(game, random):
    for mode in base(game):
        if len(mode.steps) > 1 and mode.steps[0].op == pack.MODIFIER and mode.steps[-1].op != pack.RESPIN:
            mode.steps.append(mode.steps.pop(0))
            return True
    return False


@mutation
def a_modifier_in_a_feature(game, random):
    for number in played(game):
        game.boards.append(Boards(number, [(0,) * game.reels]))
        table = add_table(game, Prize(1, pack.BOARDS, len(game.boards) - 1))
        game.modes[number].steps.insert(0, Step(pack.MODIFIER, table))
        return True
    return False


@mutation
def a_modifier_with_the_boards_of_another_mode(game, random):
    """Of one with other strips: modes of one set may share boards."""
    for group in game.boards:
        for number, mode in enumerate(game.modes):
            if mode.set != game.modes[group.mode].set:
                group.mode = number
                return True
    return False


@mutation
def a_respin_in_a_feature(game, random):
    for mode in of_features(game):
        mode.steps.append(Step(pack.RESPIN, symbols=1, least=2))
        return len(mode.steps) <= 12
    return False


@mutation
def a_respin_before_another_step(game, random):
    for mode in base(game):
        if mode.steps and mode.steps[-1].op not in (pack.RESPIN, pack.MODIFIER, pack.VALUES):
            return first(game, mode, Step(pack.RESPIN, symbols=1, least=2))
    return False


@mutation
def frames_in_base(game, random):
    return first(game, base(game)[0], Step(pack.FRAMES, 0, 1))


@mutation
def added_spins_in_base(game, random):
    return first(game, base(game)[0], Step(pack.ADD_SPINS, 0, 1, least=1))


@mutation
def tokens_in_base(game, random):
    game.pots.append(Pot("token", 5, 3))
    return first(game, base(game)[0], Step(pack.TOKENS, add_table(game, Prize(1, pack.POT, len(game.pots) - 1)), 1))


@mutation
def tokens_of_a_pot_without_a_row(game, random):
    game.pots.append(Pot("rowless", 5, 0))
    for step in steps(game, pack.TOKENS):
        game.tables[step.index].append(Prize(1, pack.POT, len(game.pots) - 1))
        return True
    return False


def in_tables(name: str, op: int, prize: Prize) -> None:
    """A mutation that puts a prize into the table of a step, where it does not belong."""

    def spoiled(game: Game, random: Random) -> bool:
        for step in steps(game, op):
            game.tables[step.index].append(prize)
            return True
        return False

    MUTATIONS[name] = spoiled


in_tables("values_of_nothing", pack.VALUES, Prize(1, pack.NOTHING))
in_tables("values_of_shapes", pack.VALUES, Prize(1, pack.SHAPE, 0, 257))
in_tables("tokens_of_credits", pack.TOKENS, Prize(1, pack.CREDITS, 0, 5))
in_tables("a_modifier_of_credits", pack.MODIFIER, Prize(1, pack.CREDITS, 0, 5))
in_tables("a_pile_of_shapes", pack.PILE, Prize(1, pack.SHAPE, 0, 257))
in_tables("an_award_of_two_rows", pack.AWARD, Prize(1, pack.CREDITS, 0, 5))


@mutation
def boards_in_a_pile(game, random):
    for step in steps(game, pack.PILE):
        game.boards.append(Boards(0, [(0,) * game.reels]))
        game.tables[step.index].append(Prize(1, pack.BOARDS, len(game.boards) - 1))
        return True
    return False


def award(game: Game, modes: list[Mode], *prizes: Prize) -> bool:
    """An award of a prize (or of a wheel of several) in the first of the modes."""
    for mode in modes:
        table = add_table(game, *prizes)
        if len(prizes) > 1:
            table = add_table(game, Prize(1, pack.WHEEL, table))
        return first(game, mode, Step(pack.AWARD, table, 1, 1, 3))
    return False


@mutation
def spins_in_base(game, random):
    return award(game, base(game), Prize(1, pack.SPINS, 0, 1))


@mutation
def spins_of_a_wheel_in_base(game, random):
    return award(game, base(game), Prize(1, pack.NOTHING), Prize(1, pack.SPINS, 0, 1))


@mutation
def a_feature_within_a_feature(game, random):
    return award(game, of_features(game), Prize(1, pack.FEATURE, 0))


@mutation
def a_feature_of_a_wheel_within_a_feature(game, random):
    return award(game, of_features(game), Prize(1, pack.NOTHING), Prize(1, pack.FEATURE, 0))


@mutation
def a_wheel_of_a_wheel(game, random):
    inner = add_table(game, Prize(1, pack.NOTHING))
    return award(game, base(game), Prize(1, pack.NOTHING), Prize(1, pack.WHEEL, inner))


@mutation
def a_wheel_of_boards(game, random):
    game.boards.append(Boards(0, [(0,) * game.reels]))
    return award(game, base(game), Prize(1, pack.NOTHING), Prize(1, pack.BOARDS, len(game.boards) - 1))


@mutation
def a_wheel_of_shapes(game, random):
    return award(game, base(game), Prize(1, pack.NOTHING), Prize(1, pack.SHAPE, 0, 257))


@mutation
def bowls_of_nothing(game, random):
    for feature in game.features:
        table = add_table(game, Prize(1, pack.NOTHING))
        feature.bowls = (table, table, table)
        return True
    return False


@mutation
def shapes_and_credits(game, random):
    for feature in game.features:
        if feature.opening == pack.OPEN_SHAPE:
            game.tables[feature.index].append(Prize(1, pack.CREDITS, 0, 1))
            return True
    return False


@mutation
def weights_beyond_2_to_31(game, random):
    for table in game.tables:
        if len(table) > 1:
            table[0].weight = 2**31
            return True
    return False


@mutation
def a_stop_beyond_its_strip(game, random):
    for group in game.boards:
        strip = game.sets[game.modes[group.mode].set][0]
        group.stops[-1] = (len(strip), *group.stops[-1][1:])
        return True
    return False


@mutation
def thirteen_steps(game, random):
    mode = base(game)[0]
    while len(mode.steps) < 13:
        first(game, mode, Step(pack.COLLECT, 0, 1))
    return True


@mutation
def a_gamble_that_reads_the_window(game, random):
    for row in gambles(game, pack.PLAY_FEATURE):
        feature = game.features[row.feature]
        feature.opening, feature.level, feature.index, feature.symbols = random.choice([1, 3]), 1, 0, 1
        return True
    return False


@mutation
def a_gamble_that_collects(game, random):
    for row in gambles(game, pack.PLAY_FEATURE):
        game.features[row.feature].collects = True
        return True
    return False


@mutation
def ways_that_sum_the_wilds(game, random):
    game.modes[0].evaluation, game.rule = pack.WAYS, pack.SUM
    return True


@mutation
def an_option_missing(game, random):
    for feature in game.features:
        if len(feature.options) > 2:
            feature.options[min(feature.options) + 1] = []
            return True
    return False


@mutation
def values_beyond_32_bits_together(game, random):
    """Two cells show the symbol somewhere, and then their sum does not fit."""
    for mode in game.modes:
        for step in mode.steps:
            if step.op == pack.VALUES and any(s.op == pack.COLLECT for s in mode.steps):
                strips = game.sets[mode.set]
                game.tables[step.index][0].number = 2**31
                return sum(any(step.symbols >> symbol & 1 for symbol in strip) for strip in strips) > 1
    return False


@mutation
def options_to_choose_whose_spins_the_gamble_gives(game, random):
    for row in gambles(game, pack.PLAY_FEATURE):
        options = game.features[row.feature].options
        row.spins = 1
        if len(options[min(options)]) > 1:
            return True
    return False

"""Gamble and spin chance: offers, refusals, amounts, draws, what is banked, what ends it."""

import pytest

import native
from native import CoreError, Pack, Round
from native.cpython import draws64
from tests.native import oracle
from tests.native.packs import Feature, Gamble, Game, Mode, Symbol, award, build, credits
from tests.native.rounds import Draws, fixed, kinds, of, run, seed

THIRD, DOUBLE, TRIPLE, SPINS = range(4)
WON = 100  # credits of the base spin


def gambling(**fields: object) -> Game:
    """A base spin that wins 100 credits; the feature wins 40 with each spin."""
    game = fixed("CAA", "AAA", "AAA")
    game.tables += [[credits(WON)], [credits(40)]]
    game.modes[0].steps.append(award([4], 1, 1))
    game.modes[1].steps = [award([0], 2, 1)]
    game.features = [Feature(1, {0: [(2, 1)]}, most=9)]
    game.gambles = [
        Gamble("a third", 4, 3),
        Gamble("double", 2, 1),
        Gamble("triple", 3, 1, then_cash_only=True),
        Gamble("spins", feature=0, value=80_000_000),
    ]
    game.gamble_from, game.gamble_limit = 50, 1_000_000
    for name, value in fields.items():
        setattr(game, name, value)
    return game


def offered(game: Game, number: int = 0, unit: int = 1, **arguments: object) -> tuple[Round, Draws]:
    """A round at its first offer, and the draws that are left."""
    draws, round_ = Draws(seed(number)), Round(Pack(build(game)), 0, unit, seed(number), gamble=True, **arguments)
    draws(1), draws(1)
    while (event := round_.next())[0] != native.GAMBLE_OFFER:
        pass
    assert event == (native.GAMBLE_OFFER, 0, 0, 0, 0, WON * unit)
    assert round_.offer == WON * unit
    return round_, draws


def refused(round_: Round, error: str, *call: int) -> None:
    before = round_.offer, round_.award_pence
    with pytest.raises(CoreError, match=rf"^{error}$"):
        round_.gamble(*call)
    assert (round_.offer, round_.award_pence) == before


def test_an_offer_can_be_declined():
    round_, _ = offered(gambling())
    with pytest.raises(CoreError, match=r"^choice_due$"):
        round_.next()
    with pytest.raises(CoreError, match=r"^no_choice$"):
        round_.choose(0)
    round_.collect()
    assert round_.offer == 0
    refused(round_, "no_offer", DOUBLE, 1)
    with pytest.raises(CoreError, match=r"^no_offer$"):
        round_.collect()
    assert round_.next() == (native.ROUND_END, 0, 0, 0, 0, WON)
    refused(round_, "no_offer", DOUBLE, 1)


@pytest.mark.parametrize(
    ("fields", "gamble", "expected"),
    [
        ({}, True, 1),
        ({}, False, 0),
        ({"gamble_from": WON}, True, 1),
        ({"gamble_from": WON + 1}, True, 0),
        ({"gamble_from": 0}, True, 1),
        ({"gamble_limit": WON}, True, 1),
        ({"gamble_limit": WON - 1}, True, 0),
        ({"gambles": []}, True, 0),
        ({"tables": []}, True, 0),  # nothing won
        ({"cap": 300}, True, 1),
        ({"cap": 299}, True, 0),
    ],
)
def test_offers_need_leave_winnings_and_a_pack_that_gambles(fields, gamble, expected):
    game = gambling(**fields)
    if not game.tables:
        game.modes, game.features, game.gambles = [Mode()], [], game.gambles[:3]
        game.groups = []
    assert len(of(run(Round(Pack(build(game)), 0, 3, bytes(32), gamble=gamble)), native.GAMBLE_OFFER)) == expected


def test_rows_and_amounts_that_are_refused():
    round_, _ = offered(gambling())
    refused(round_, "gamble_row", 4, 1)
    refused(round_, "argument", -1, 1)
    refused(round_, "gamble_amount", DOUBLE, 0)
    refused(round_, "gamble_amount", DOUBLE, WON + 1)
    refused(round_, "gamble_amount", DOUBLE, 2**64 - 1)
    refused(round_, "argument", DOUBLE, 2**64)
    refused(round_, "gamble_amount", THIRD, 2)  # not a multiple of three
    dear = gambling(payback=1_000_000)
    dear.gambles[SPINS].value = 999_999  # millionths of a credit: less than a penny
    round_, _ = offered(dear)
    refused(round_, "gamble_amount", SPINS, 1)


@pytest.mark.parametrize("payback", [1_000_000, 900_000, 1])
@pytest.mark.parametrize(("row", "numerator", "denominator"), [(THIRD, 4, 3), (DOUBLE, 2, 1), (TRIPLE, 3, 1)])
def test_cash_is_drawn_against_the_payback_and_the_rest_is_banked(row, numerator, denominator, payback):
    seen = set()
    for number in range(40):
        round_, draws = offered(gambling(payback=payback), number, unit=7)
        pence = 2 + 17 * number
        amount = pence - pence % denominator
        green = draws(numerator * 1_000_000) < denominator * payback
        if not amount:
            refused(round_, "gamble_amount", row, pence)
            continue
        round_.gamble(row, pence)
        assert round_.offer == 0
        assert round_.award_pence == 7 * WON
        assert round_.next() == (native.GAMBLE, row, 0, int(green), 0, amount)
        winnings = amount * numerator // denominator if green else 0
        assert round_.award_pence == 7 * WON - amount + winnings
        event = round_.next()
        if green:
            assert event == (native.GAMBLE_OFFER, 1, 0, 0, 0, winnings)  # however small: it came from cash
            round_.collect()
            event = round_.next()
        assert event == (native.ROUND_END, 0, 0, 0, 0, 7 * WON - amount + winnings)
        seen.add(green)
    assert seen == ({False} if payback == 1 else {False, True})


def feature_seed(amount: int, value: int, payback: int, green: bool) -> int:
    for number in range(1000):
        words = oracle.stream(seed(number))
        next(words), next(words)  # the modifier and its board
        if (oracle.draw_64(words, value) < amount * payback) == green:
            return number
    raise AssertionError


@pytest.mark.parametrize("green", [True, False])
def test_a_feature_is_drawn_from_64_bits_and_what_it_wins_can_be_gambled_again(green):
    game = gambling(payback=500_000)
    number = feature_seed(60, 80_000_000, 500_000, green)
    round_, _ = offered(game, number)
    round_.gamble(SPINS, 60)
    assert round_.next() == (native.GAMBLE, SPINS, 0, int(green), 0, 60)
    assert round_.award_pence == WON - 60
    if not green:
        assert round_.next() == (native.ROUND_END, 0, 0, 0, 0, WON - 60)
        return
    events = []
    while not round_.offer:
        events.append(round_.next())
    assert [event[0] for event in events] == [
        native.FREE_SPINS_BEGIN,
        *[native.SPIN, native.PRIZE] * 2,
        native.FREE_SPINS_END,
        native.GAMBLE_OFFER,
    ]
    assert events[0] == (native.FREE_SPINS_BEGIN, 0, 0, 2, 1, 0)
    assert events[-2:] == [(native.FREE_SPINS_END, 0, 0, 2, 1, 80), (native.GAMBLE_OFFER, 1, 0, 0, 0, 80)]
    assert round_.award_pence == WON - 60 + 80


def test_a_feature_is_not_paid_for_twice():
    """30 credits are 60 pence, which 120 buy at this payback: no more is taken, and then green is certain."""
    game = gambling(payback=500_000)
    game.gambles[SPINS].value = 30_000_000
    for number in range(8):
        round_, _ = offered(game, number, unit=2)
        round_.gamble(SPINS, 200)
        assert round_.next() == (native.GAMBLE, SPINS, 0, 1, 0, 30 * 2 * 2)
        assert round_.award_pence == 200 - 120


def test_the_spins_of_a_gamble_replace_those_of_the_option():
    game = gambling()
    game.gambles[SPINS].spins, game.gambles[SPINS].value = 5, 1_000_000
    round_, _ = offered(game)
    round_.gamble(SPINS, 1)
    assert round_.next()[:4] == (native.GAMBLE, SPINS, 0, 1)
    assert round_.next() == (native.FREE_SPINS_BEGIN, 0, 0, 5, 1, 0)


def test_after_a_feature_the_threshold_counts_again_and_after_cash_it_does_not():
    game = gambling(gamble_from=90)  # the feature wins 80
    game.gambles[SPINS].value = 1_000_000
    round_, _ = offered(game)
    round_.gamble(SPINS, 1)
    assert native.GAMBLE_OFFER not in kinds(run(round_))
    assert round_.award_pence == WON - 1 + 80


def test_a_row_can_leave_only_cash_behind_it():
    game = gambling(payback=1_000_000)
    number = next(n for n in range(100) if green_at(n, 3))
    round_, _ = offered(game, number)
    round_.gamble(TRIPLE, 30)
    assert round_.next()[3] == 1
    assert round_.next() == (native.GAMBLE_OFFER, 1, 0, 0, 0, 90)
    refused(round_, "gamble_row", SPINS, 30)
    round_.gamble(DOUBLE, 90)


def green_at(number: int, numerator: int) -> bool:
    draws = Draws(seed(number))
    draws(1), draws(1)
    return draws(numerator * 1_000_000) < 1_000_000


def test_gambles_end_with_the_most_that_there_are():
    game = gambling(most_gambles=2)
    taken = set()
    for number in range(60):
        round_, _ = offered(game, number)
        round_.gamble(DOUBLE, 10)
        events = []
        while not round_.finished:
            events.append(round_.next())
            if events[-1][0] == native.GAMBLE_OFFER:
                round_.gamble(DOUBLE, events[-1][5])
        assert len(of(events, native.GAMBLE)) <= 2
        taken.add(round_.award_pence)
    assert taken == {90, 90 + 40}  # lost once or twice, or doubled twice and offered no more


def test_a_gamble_beyond_the_cap_is_cut_and_ends_the_round():
    game = gambling(cap=130)
    number = next(n for n in range(100) if green_at(n, 2))
    round_, _ = offered(game, number)
    round_.gamble(DOUBLE, 40)
    assert run(round_) == [
        (native.GAMBLE, DOUBLE, 0, 1, 0, 40),
        (native.WIN_CAP, 0, 0, 0, 0, 10),
        (native.ROUND_END, 0, 0, 0, 0, 130),
    ]


def test_winnings_beyond_the_limit_are_offered_no_more():
    game = gambling(gamble_limit=150)
    number = next(n for n in range(100) if green_at(n, 2))
    round_, _ = offered(game, number)
    round_.gamble(DOUBLE, WON)
    assert kinds(run(round_)) == [native.GAMBLE, native.ROUND_END]
    assert round_.award_pence == 2 * WON


def test_amounts_beyond_30_and_32_bits():
    game = gambling(max_unit=2**20)
    game.tables[1] = [credits(100_000)]
    round_ = Round(Pack(build(game)), 0, 2**20, seed(1), gamble=True)
    while round_.next()[0] != native.GAMBLE_OFFER:
        pass
    assert round_.offer == 100_000 * 2**20
    round_.gamble(THIRD, round_.offer)
    assert round_.next()[5] == 100_000 * 2**20 // 3 * 3


def test_draws_of_64_bits_take_two_words_each_and_reject_as_one_word_does():
    for number in range(20):
        words = oracle.stream(seed(number))
        ranges = [1, 2, 3, 10**6, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1]
        assert draws64(seed(number), ranges) == [oracle.draw_64(words, range_) for range_ in ranges]


# ---------------------------------------------------------------------------------------------------- spin chance


def chance(cost: int = 10) -> Game:
    return Game(
        symbols=[Symbol("A", [0, 0, 1])],
        lines=[[0, 0, 0]],
        sets=[[[0] * 3] * 3],
        modes=[Mode(cost=cost)],
        spin_chance=True,
    )


def test_a_spin_chance_is_drawn_first():
    pack, seen = Pack(build(chance())), set()
    for number in range(40):
        won = Draws(seed(number))(70) < 23
        events = run(Round(pack, 0, 7, seed(number), 23))
        assert events[0] == (native.SPIN_CHANCE, 0, 0, int(won), 0, 23)
        expected = [native.SPIN, native.LINE_WIN, native.ROUND_END] if won else [native.ROUND_END]
        assert kinds(events[1:]) == expected
        assert events[-1][5] == (7 if won else 0)
        seen.add(won)
    assert seen == {False, True}


def test_a_wager_is_below_the_cost_and_needs_leave_of_the_pack():
    pack = Pack(build(chance()))
    for wager in (70, 71, 2**32 - 1):
        with pytest.raises(CoreError, match=r"^wager$"):
            Round(pack, 0, 7, bytes(32), wager)
    assert Round(pack, 0, 7, bytes(32), 69).next()[0] == native.SPIN_CHANCE
    assert Round(pack, 0, 7, bytes(32), 0).next()[0] == native.SPIN
    game = chance()
    game.spin_chance = False
    with pytest.raises(CoreError, match=r"^wager$"):
        Round(Pack(build(game)), 0, 7, bytes(32), 1)


def test_a_feature_of_a_choice_asks_in_a_gamble_too():
    game = gambling()
    game.features[0].options = {0: [(1, 1), (2, 3)]}
    game.gambles[SPINS].value = 1_000_000
    round_, _ = offered(game)
    round_.gamble(SPINS, 1)
    assert kinds([round_.next(), round_.next()]) == [native.GAMBLE, native.CHOICE]
    round_.choose(1)
    assert round_.next() == (native.FREE_SPINS_BEGIN, 0, 0, 2, 3, 0)

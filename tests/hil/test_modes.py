"""Modes of play, the ladder of stakes, the spin chance, the pile and the pages, for every game that has them."""

import pytest

import native
from host_tools.cabinet import games

PACKS = {name: native.Pack(data) for name, data in games.packs().items()}
WITH_CHANCE = [name for name, pack in PACKS.items() if pack.spin_chance]
LADDER = (10, 20, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 400, 500)
TOGGLES = [
    (game, button)
    for game, pack in PACKS.items()
    for button in ("fortune_spins", "fortune_bet")
    if button in pack.modes
]


@pytest.mark.parametrize("game", WITH_CHANCE)
def test_the_ladder_of_stakes(story, game):
    it = story("", game)
    bets = [it.books()["bet"]]
    for _ in range(len(LADDER)):
        it.tell("press stake_up")
        bets.append(it.books()["bet"])
    assert bets == [*LADDER, LADDER[-1]]
    it.tell("press stake_down\ncoin 10\npower off\npower on\nexpect bet == 400")


@pytest.mark.parametrize(("game", "button"), TOGGLES)
def test_a_mode_is_selected_by_its_button_and_kept(story, game, button):
    pack = PACKS[game]
    it = story(f"coin 200\ncoin 100\npress {button}\nexpect mode == {button}\nexpect lamp.{button} == on", game)
    bet = 10 * pack.cost(pack.modes.index(button)) // pack.stake
    it.tell(f"expect bet == {bet}\nexpect stake == 10\npower off\npower on\nexpect mode == {button}")
    it.tell("want loss\npress start\nwait until idle within 5m")
    assert it.saw("round")[-1]["mode"] == button
    assert it.balanced()["wagered"] == bet
    it.tell(f"press {button}\nexpect mode == base\nexpect lamp.{button} == off\nexpect bet == 10")


def test_one_mode_takes_the_place_of_another(story):
    it = story("press fortune_spins\npress fortune_bet\nexpect mode == fortune_bet", "dog_diner")
    it.tell("game piggy_bank\nexpect mode == base\ngame dog_diner\nexpect mode == base")


def test_a_mode_that_the_game_does_not_have_changes_nothing(story):
    it = story("press fortune_bet\npress fortune_spins\nexpect mode == base", "piggy_riches")
    it.tell('console mode fortune_bet\nexpect console contains "say mode and one of: base"')


@pytest.mark.parametrize("game", WITH_CHANCE)
@pytest.mark.parametrize("outcome", ["win", "loss"])
@pytest.mark.parametrize("cut", [None, "chance", "round"])
def test_spin_chance(story, game, outcome, cut):
    """G6: the whole credit for one play, green with the chance credit / cost."""
    it = story("coin 50\n" + "press stake_up\n" * 7 + "expect bet == 100\nexpect lamp.start == on\npress start", game)
    it.tell("expect state == offering\nexpect wagered == 0\nexpect lamp.no_thanks == on")
    offer = it.saw("spin_chance_offer")[-1]
    assert (offer["credit"], offer["bet"], offer["chance_ppm"]) == (50, 100, 500_000)
    it.tell(f"want spin_chance {outcome}\npress start for 60ms")
    it.until("round" if cut == "round" else "spin_chance")
    if cut:
        it.cut()
    if not it.saw("round_end"):
        it.finish()
    told = it.saw("spin_chance")[-1]
    assert (told["count"], told["pence"]) == (int(outcome == "win"), 50)
    books = it.balanced()
    award = it.saw("round_end")[-1]["award"]
    assert (books["wagered"], books["games"], books["won"], books["credit"]) == (50, 1, award, award)
    assert bool(it.saw("spin")) == (outcome == "win")
    if outcome == "loss":
        assert award == 0


@pytest.mark.parametrize("game", WITH_CHANCE)
@pytest.mark.parametrize("button", ["collect", "no_thanks"])
def test_no_thanks_leaves_the_credit(story, game, button):
    it = story(f"coin 50\npress max_bet\nexpect bet == 500\nexpect state == offering\npress {button}", game)
    it.tell("expect state == idle\nexpect credit == 50\nexpect games == 0\ncoin 10\nexpect credit == 60")
    it.tell("press start\nexpect state == offering\npower off\npower on\nexpect state == idle\nexpect credit == 60")


def test_the_offer_waits_behind_a_door_and_nothing_is_wagered(story):
    it = story(
        "coin 50\npress max_bet\nexpect state == offering\nopen main\npress start\nexpect wagered == 0", "dog_diner"
    )
    it.tell("expect state == tilted\nclose main\nexpect state == offering\npress no_thanks\nexpect credit == 50")


@pytest.mark.parametrize("game", sorted(set(PACKS) - set(WITH_CHANCE)))
def test_a_game_without_spin_chance_asks_for_coins(story, game):
    it = story("coin 10\npress start\nexpect state == idle\nexpect games == 0", game)
    assert it.saw("credit_low")


@pytest.mark.parametrize("game", WITH_CHANCE)
def test_autoplay_ends_with_the_credit_and_takes_no_chance(story, game):
    it = story("coin 50\npress stake_up\npress stake_up\nconsole autoplay 5\nwant loss\npress autoplay", game)
    it.tell("wait 20s\nexpect state == idle")
    assert not it.saw("spin_chance_offer")
    assert it.balanced()["credit"] >= 0


@pytest.mark.parametrize("game", WITH_CHANCE)
def test_the_pile_grows_and_is_kept_for_each_game(story, game):
    it = story("coin 100\nwant pile\npress start for 60ms", game)
    it.finish()
    shown = it.saw("pile")[-1]
    pile = 0 if shown["x"] else shown["count"]
    assert it.books()["pile"] == pile
    it.tell("power off\npower on\nwait until idle")
    assert it.books()["pile"] == pile
    it.tell("game piggy_riches\nexpect pile == 0\ngame " + game)
    assert it.books()["pile"] == pile


@pytest.mark.parametrize("game", PACKS)
def test_the_pages_tell_what_the_pack_holds(story, game):
    """G8: pays at the bet that is selected, roles, prizes, gamble, return to player, win cap."""
    it, pack = story("press stake_up\nconsole paytable\nwait 3s", game), PACKS[game]
    text = "\n".join(it.world.console.text)
    unit = it.books()["unit"]
    wanted = [f"£{pack.pay(symbol, 5) * unit / 100:.2f}" for symbol in range(len(pack.symbols)) if pack.pay(symbol, 5)]
    wanted += [f"£{pack.win_cap_pence / 100:.2f} at most", "malfunction voids"]
    wanted += [
        f"{name.replace('_', ' ')}: {options[0][1]} free spins"
        for name, _, options in pack.features
        if options[0][0] == 0
    ]
    wanted += [f"{name.replace('_', ' ')} pot: £{credits * unit / 100:.2f}" for name, credits, _ in pack.pots]
    if pack.gambles:
        wanted += [f"payback of the gamble {pack.gamble_payback_ppm / 10_000:.2f} %"]
        wanted += [row[0] for row in (*pack.gambles[:4], pack.gambles[-1])]
    for mode, name in enumerate(pack.modes):
        if pack.flags(mode) & native.MODE_SELECTABLE:
            low = pack.rtp_ppm(mode)[0]
            wanted.append(f"{name.replace('_', ' ')}  bet £{pack.cost(mode) * unit / 100:.2f}, return to player")
            wanted.append(f"{low // 10_000}.{low % 10_000 // 100:02d} %")
    for part in wanted:
        assert part in text, part
    assert "error" not in text


@pytest.mark.parametrize("game", PACKS)
def test_pages_turn_with_the_buttons_and_close_with_play(story, game):
    it = story("coin 100\npress info\nwait 200ms", game)
    titles = [it.saw("info")[-1]["page"]]
    for _ in range(12):
        it.tell("press right\nwait 300ms")
        titles.append(it.saw("info")[-1]["page"])
    pages = list(dict.fromkeys(titles))
    assert titles == (pages * 13)[:13]
    assert {"paytable", "symbols", "rtp"} <= set(pages)
    assert all(event["lines"] for event in it.saw("info"))
    it.tell("press left\nwant loss\npress start")
    assert it.saw("info")[-1]["page"] == ""


AUTOPLAY_STOPS = [
    ("free_spins", "feature", "free spins won"),
    ("any_win", "win", "any win"),
    ("cash_down 5", "loss", "cash down"),
]


@pytest.mark.parametrize("game", PACKS)
@pytest.mark.parametrize(("setting", "outcome", "reason"), AUTOPLAY_STOPS)
def test_autoplay_stops_in_every_game(story, game, setting, outcome, reason):
    it = story(f"coin 200\nconsole autoplay 10 {setting}\nwant {outcome}\npress autoplay\nwait 1s", game)
    if not it.saw("round_end"):
        it.finish()
    it.tell("wait 1s\nexpect state == idle\nexpect games == 1")
    assert it.saw("autoplay_stopped")[-1]["reason"].startswith(reason)
    it.balanced()

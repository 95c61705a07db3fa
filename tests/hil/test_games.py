"""Every outcome of every game played in the whole cabinet, with the power cut in the middle of it (G9).

The stories play the games with loaded tables (loaded.py): the same steps, features and wheels, of which rare ones come often.
"""

from collections.abc import Iterator

import pytest

import native
from firmware.play.gamble import Selection
from firmware.play.shown import NAMES
from host_tools.hil import want
from tests.hil import loaded

PACKS = loaded.packs()
# In a mode beside the base game, what differs in it; wheels and pots are the same ones.
OF_A_MODE = ("loss", "win", "respin", "modifier", "feature", "collect", "pile")


def modes(game: str) -> list[str]:
    pack = native.Pack(PACKS[game])
    return [name for mode, name in enumerate(pack.modes) if pack.flags(mode) & native.MODE_SELECTABLE]


def outcomes() -> Iterator[tuple[str, str, str]]:
    for game, data in PACKS.items():
        pack = native.Pack(data)
        for mode in modes(game):
            for outcome in want.everything(pack, pack.modes.index(mode)):
                if mode == "base" or outcome.kind in OF_A_MODE:
                    yield game, mode, str(outcome).replace(" > 0x", "")


def event_of(outcome: str) -> str:
    """The kind of event that an outcome is told by."""
    kind = outcome.split()[0]
    kinds = {"feature": "free_spins_begin", "win": "spin", "loss": "spin"}
    return kinds.get(kind, kind)


def alone(game: str, mode: str, unit: int, seed: bytes, pile: int = 0) -> tuple[int, list[tuple[int, ...]]]:
    """Award and events of a round of the core alone, its first options picked."""
    pack = native.Pack(PACKS[game])
    core = native.Round(pack, pack.modes.index(mode), unit, seed, 0, False, pile)
    events = []
    while not core.finished:
        events.append(core.next())
        if events[-1][0] == native.CHOICE:
            core.choose(0)
    return core.award_pence, events


@pytest.mark.parametrize(("game", "mode", "outcome"), list(outcomes()))
def test_every_outcome_ends_as_drawn_although_the_power_fails_in_it(story, game, mode, outcome):
    it = story("coin 200\nconsole set gamble off\n", game, PACKS)
    it.tell(f"console mode {mode}\nexpect mode == {mode}\nwant {outcome}\npress start for 60ms")
    before = it.books()
    it.until(event_of(outcome), "choice")
    it.cut(mains=len(outcome) % 2 == 0)
    end = it.finish()
    award, events = alone(game, mode, before["unit"], it.rig.wanted_seed)
    assert end["award"] == award
    kinds = {NAMES.get(event[0]) for event in events}
    assert event_of(outcome) in kinds | {"spin"}
    books = it.balanced()
    assert (books["wagered"], books["won"], books["games"]) == (before["bet"], award, 1)
    piled = [event for event in events if event[0] == native.PILE]
    if piled:
        assert books["pile"] == (0 if piled[-1][4] else piled[-1][3])
    it.tell('console replay 1\nwait 4s\nexpect console contains "as booked"')


@pytest.mark.parametrize("game", PACKS)
@pytest.mark.parametrize("part", range(12))
def test_a_round_cut_anywhere_tells_the_rest_of_the_same_story(story, game, part):
    """A feature with everything in it, cut at twelve places: what is shown before and behind the cut is one story."""
    name = want.slug(native.Pack(PACKS[game]).features[0][0])
    script = f"coin 200\nconsole set gamble off\nwant feature {name}\npress start for 60ms"
    it = story(script, game, PACKS)
    unit = it.books()["unit"]
    award, events = alone(game, "base", unit, it.rig.wanted_seed)
    spins = sum(event[0] == native.SPIN for event in events)
    it.rig.run_for(part * 450 * spins // 12)
    if it.rig.state == "choosing":
        it.tell("press start")
    it.cut(mains=part % 2 == 1)
    if not it.saw("round_end"):
        it.finish()
    assert it.saw("round_end")[-1]["award"] == award
    assert it.balanced()["games"] == 1


def some(rows: tuple) -> list:
    """All segments; of many that are alike (a number of free spins) the first, one in the middle and the last."""
    return list(rows) if len(rows) < 9 else [*rows[:4], rows[len(rows) // 2], rows[-1]]


GAMBLES = [
    (game, want.slug(row[0]), colour)
    for game, data in PACKS.items()
    for row in some(native.Pack(data).gambles)
    for colour in ("green", "red")
    # What is worth no more than the least win that can be gambled is bought: never red.
    if colour == "green" or row[1] == native.GAMBLE_CASH or row[6] > 1_000_000 * native.Pack(data).gamble_from
]
GAMBLING = [game for game, data in PACKS.items() if native.Pack(data).gambles]


@pytest.mark.parametrize(("game", "segment", "colour"), GAMBLES)
def test_every_segment_of_the_gamble_with_power_cuts_before_and_behind_the_draw(story, game, segment, colour):
    it = story("coin 200\n", game, PACKS)
    unit = it.books()["unit"]
    it.tell(f"want gamble {colour} {segment}\npress start\nwait until gambling within 5m")
    offer = it.saw("gamble_offer")[-1]
    it.cut().tell("wait until gambling")
    assert it.saw("gamble_offer")[-1]["pence"] == offer["pence"]
    choose(it, segment)
    chosen = selected(it)
    selection = Selection(native.Pack(PACKS[game]), unit, offer["pence"], False, 0)
    selection.row = chosen["row"]
    assert (chosen["amount"], chosen["chance_ppm"]) == (selection.amount(), selection.chance_ppm())
    it.tell("press start")
    it.cut(mains=True)
    drawn = it.until("gamble")
    assert (want.slug(drawn["name"]), drawn["count"], drawn["pence"]) == (
        segment,
        int(colour == "green"),
        chosen["amount"],
    )
    end = it.finish()
    books = it.balanced()
    assert (books["won"], books["games"], end["award"]) == (end["award"], 1, end["award"])
    if colour == "red":
        assert end["award"] == chosen["banked"]
    elif chosen["win"]:
        assert end["award"] == chosen["banked"] + chosen["win"]
    it.tell('console replay 1\nwait 4s\nexpect console contains "as booked"')
    it.tell("console recall 1\nwait 1s\nexpect console contains gamble")


def choose(it, segment: str) -> None:
    for _ in range(40):
        if want.slug(selected(it)["name"]) == segment:
            return
        it.tell("press right")
    raise AssertionError(f"{segment} cannot be chosen")


def selected(it) -> dict:
    """The segment and amount that the player sees."""
    return [event for event in it.rig.events if event["e"] in ("gamble_offer", "gamble_select")][-1]


@pytest.mark.parametrize("game", GAMBLING)
def test_a_part_of_the_win_is_gambled_and_the_rest_is_kept(story, game):
    it = story("coin 200\nwant gamble green\npress start\nwait until gambling within 5m", game, PACKS)
    whole = selected(it)
    it.tell("press stake_down")
    part = selected(it)
    assert part["amount"] < whole["amount"]
    assert part["amount"] + part["banked"] == whole["pence"]
    it.tell("press stake_up")
    assert selected(it)["amount"] == whole["amount"]
    for _ in range(60):
        it.tell("press stake_down")
    least = selected(it)
    assert 0 < least["amount"] <= part["amount"]
    it.tell("press gamble")
    it.until("gamble")
    end = it.finish()
    assert end["award"] in (least["banked"], least["banked"] + least["win"])
    it.balanced()


@pytest.mark.parametrize("game", GAMBLING)
@pytest.mark.parametrize("button", ["collect", "cash_out", "no_thanks"])
def test_collect_takes_the_winnings_at_any_time(story, game, button):
    it = story("coin 200\nwant gamble green\npress start\nwait until gambling within 5m\nwait 300ms", game, PACKS)
    assert all(it.rig.world.panel.lamp(name) for name in ("collect", "gamble", "left", "right", "stake_up", "start"))
    offer = it.saw("gamble_offer")[-1]["pence"]
    it.tell(f"press {button}\nwait until idle")
    assert it.saw("round_end")[-1]["award"] == offer
    assert it.balanced()["hopper_out"] == 0


@pytest.mark.parametrize("game", GAMBLING)
def test_gamble_off_and_autoplay_offer_nothing(story, game):
    it = story(
        "coin 200\nconsole set gamble off\nwant gamble green\npress start\nwait until idle within 5m", game, PACKS
    )
    assert it.saw("round_end")
    it.tell("console set gamble on\npower off\npower on\nconsole set")
    assert "gamble on" in "\n".join(it.world.console.text)
    it.tell("console autoplay 1\nwant gamble green\npress autoplay\nwait until idle within 5m")
    assert not it.saw("gamble_offer")
    it.balanced()


@pytest.mark.parametrize("game", GAMBLING)
def test_a_door_freezes_the_gamble(story, game):
    it = story("coin 200\nwant gamble red\npress start\nwait until gambling within 5m\nopen main", game, PACKS)
    it.tell("press start\npress collect\nexpect state == tilted\nclose main\nexpect state == gambling\npress collect")
    it.tell("wait until idle")
    assert not it.saw("gamble")
    it.balanced()

"""Playing: rounds, picks, autoplay, recovery in the middle of everything, tilts and keys."""

import json

import pytest

import native
from host_tools.cabinet import games
from tests.hil.decay import spoil_both_banks


def test_a_round_costs_its_bet_and_pays_what_the_core_says(story):
    it = story("coin 200\nwant win >= 1x\npress start\nwait until idle")
    end = it.saw("round_end")[-1]
    books = it.balanced()
    assert books["credit"] == 200 - 15 + end["award"]
    assert (books["wagered"], books["won"], books["games"], books["games_won"]) == (15, end["award"], 1, 1)


def test_without_enough_credit_nothing_is_played(story):
    it = story("coin 10\npress start\nwait 1s\nexpect games == 0\nexpect state == idle")
    assert it.saw("credit_low")


@pytest.mark.parametrize(
    ("presses", "bet"),
    [
        (["level_up"], 30),
        (["level_up", "level_up", "level_down"], 30),
        (["level_down"], 15),
        (["stake_up"], 30),
        (["stake_up"] * 5, 45),
        (["stake_up", "stake_down"], 15),
        (["level_up"] * 12, 150),
    ],
)
def test_the_bet_is_coin_value_times_level_times_lines(story, presses, bet):
    it = story("\n".join(f"press {name}" for name in presses))
    it.tell(f"coin 10\nexpect bet == {bet}\npower off\npower on\nexpect bet == {bet}")  # a player is still here


def test_max_bet_plays_at_the_highest_level_with_the_coin_value_as_it_is(story):
    it = story("coin 200\ncoin 200\npress stake_up\nwant loss\npress max_bet\nwait until idle")
    assert it.saw("round")[-1]["bet"] == 300


FREE_SPINS = "coin 200\nwant free_spins\npress start\nwait until choosing\n"


def test_a_pick_is_the_players_and_free_spins_end_in_the_round_total(story):
    it = story(FREE_SPINS + "press right\npress right\npress start\nwait until idle within 5m")
    spins, multiplier = it.saw("choice")[0]["options"][2]
    begin = it.saw("free_spins_begin")[0]
    assert (begin["count"], begin["x"]) == (spins, multiplier)
    wins = sum(event["pence"] for kind in ("line_win", "scatter_win") for event in it.saw(kind))
    assert it.saw("round_end")[-1]["award"] == wins
    it.balanced()


def test_left_from_the_first_option_goes_to_the_last(story):
    it = story(FREE_SPINS + "press left\npress start")
    assert it.saw("chosen")[0]["option"] == len(it.saw("choice")[0]["options"]) - 1


def _recall(it) -> dict:
    it.tell("console recall 1")
    lines = list(it.world.console.text)
    return {"text": lines, "seed": bytes.fromhex(lines[1].split()[1])}


def test_recall_replays_to_the_same_award(story):
    """CAB-EVT-02: seed and choices of the last games give their awards through the core alone."""
    it = story(FREE_SPINS + "press right\npress start\nwait until idle within 5m")
    seed = _recall(it)["seed"]
    core = native.Round(native.Pack(games.pack("piggy_riches")), 0, 1, seed)
    while not core.finished:
        if core.options():
            core.choose(1)
        core.next()
    assert core.award_pence == it.saw("round_end")[-1]["award"]


def test_recall_keeps_the_last_ten_games(story):
    it = story("coin 200\nconsole autoplay 12\npress autoplay\nwait until idle within 5m\nexpect games == 12")
    it.tell("console recall")
    assert len([line for line in it.world.console.text if "seed" in line]) == 10


@pytest.mark.parametrize("moment", range(0, 9000, 370))
@pytest.mark.parametrize("mains", ["power off", "cut"])
def test_a_round_interrupted_anywhere_ends_with_the_outcome_that_was_drawn(story, moment, mains):
    """CAB-PWR-01, G9: in the base game, at the pick, in the free spins; nothing is drawn again."""
    script = "coin 200\nwant free_spins\npress start for 60ms\nwait {}\n"
    whole = story(script.format("2s") + "press right\npress start\nwait until idle within 5m")
    # The books' account: what a board had on its way to the console when the power went is lost.
    seed, award = _recall(whole)["seed"], whole.books()["won"]

    it = story("coin 200\nwant free_spins\npress start for 60ms\n")
    elapsed = 120
    if moment > 2000:
        it.tell("wait 2s\npress right\npress start\n")
        elapsed += 2000 + 320
    it.rig.run_for(max(0, moment - elapsed))
    if mains == "cut":
        it.rig.session.stop()
        it.rig._died("cut")
    else:
        it.tell("power off")
    it.tell("wait 500ms\npower on")
    assert it.rig.run_until(lambda: it.rig.state in ("choosing", "idle"), 300_000)
    if it.rig.state == "choosing":
        it.tell("press right\npress start")
    it.tell("wait until idle within 5m")
    assert it.books()["won"] == award
    assert _recall(it)["seed"] == seed
    assert it.balanced()["games"] == 1


def test_a_round_of_a_changed_program_is_voided_and_refunded(story):
    """G8: a malfunction voids the play, the bet is refunded, the event logged."""
    it = story("coin 200\nwant free_spins\npress start\nwait until choosing\npower off")
    changed = bytearray(games.pack("piggy_riches"))
    from host_tools.par.compiler import compile_sheet
    from host_tools.par.sheet import parse

    text = (games.GAMES_DIR / "piggy_riches" / "piggy_riches.toml").read_text()
    changed = compile_sheet(parse(text.replace("BAG   = [0, 5,", "BAG   = [0, 6,")))
    it.rig.session.packs = {"piggy_riches": changed}
    it.tell("power on\nexpect tilt == program_new\nexpect credit == 200\npress start\nwait 1s\nexpect games == 1")
    it.tell("turn technician\nconsole program\nconsole {asked}\nunturn technician\nwait until idle")
    books = it.balanced()
    assert (books["refunded"], books["voided_games"], books["state"]) == (15, 1, "idle")


# --- autoplay --------------------------------------------------------------------------------------------------------


def test_autoplay_plays_its_number_of_games(story):
    story(
        "coin 200\ncoin 200\nconsole autoplay 7\npress autoplay\nwait until idle within 5m\nwait 2s\nexpect games == 7"
    )


def test_autoplay_stops_on_any_win(story):
    it = story("coin 200\ncoin 200\nconsole autoplay 100 any_win\npress autoplay\nwait 60s\nexpect state == idle")
    awards = [event["award"] for event in it.saw("round_end")]
    assert awards[-1] > 0
    assert not any(awards[:-1])
    assert it.saw("autoplay_stopped")[-1]["reason"] == "any win"


def test_autoplay_stops_when_free_spins_are_won(story):
    it = story("coin 200\nconsole autoplay 10 free_spins\nwant free_spins\npress autoplay\nwait until choosing")
    it.tell("press start\nwait 2m\nexpect state == idle\nexpect games == 1")
    assert it.saw("autoplay_stopped")[-1]["reason"] == "free spins won"


@pytest.mark.parametrize(("setting", "reason"), [("single_win 30", "single win"), ("cash_up 15", "cash up")])
def test_autoplay_stops_on_amounts_won(story, setting, reason):
    it = story(f"coin 200\nconsole autoplay 10 {setting}\nwant win >= 3x\npress autoplay\nwait 10s\nexpect games == 1")
    assert it.saw("autoplay_stopped")[-1]["reason"].startswith(reason)


def test_autoplay_stops_on_cash_decrease(story):
    it = story("coin 200\nconsole autoplay 10 cash_down 15\nwant loss\npress autoplay\nwait 10s\nexpect games == 1")
    assert it.saw("autoplay_stopped")[-1]["reason"].startswith("cash down")


def test_autoplay_stops_by_its_button_after_the_round_and_by_an_open_door(story):
    it = story(
        "coin 200\nconsole autoplay 50\npress autoplay\nwait 100ms\npress autoplay\nwait 1m\nexpect state == idle"
    )
    assert it.books()["games"] <= 2
    it.tell("press autoplay\nwait 300ms\nopen main\nwait 5s\nclose main\nwait 30s\nexpect state == idle")
    assert it.books()["games"] <= 4


def test_autoplay_settings_changed_in_a_round_take_effect_after_it(story):
    it = story("coin 200\nwant free_spins\nconsole autoplay 5\npress autoplay\nwait until choosing")
    it.tell('console autoplay 9 any_win\nexpect console contains "takes effect after the round"')
    it.tell('press start\nwait until idle within 5m\nconsole autoplay\nexpect console contains "autoplay 9 plays"')


def test_autoplay_settings_return_to_default_after_power_loss(story):
    it = story("console autoplay 99 any_win\npower off\npower on\nconsole autoplay")
    it.tell('expect console contains "autoplay 10 plays, 0 to go"')
    assert "any_win" not in "\n".join(it.world.console.text)


# --- tilts, doors, keys ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("door", ["main", "cashbox", "note_box", "logic"])
def test_each_door_has_its_own_tilt_event_and_meter(story, door):
    """CAB-DOR-01, CAB-DOR-03, CAB-MTR-02."""
    it = story(f"coin 100\nopen {door}\nexpect tilt == door_{door}\nexpect state == tilted\nexpect lamp.tower == on")
    it.tell(f"coin 50\npress start\nexpect credit == 100\nexpect games == 0\nexpect meter.door_{door} == 1")
    it.tell(f"close {door}\nexpect state == idle\nexpect tilt == none\nconsole events 4")
    assert "door open" in "\n".join(it.world.console.text)
    it.balanced()


def test_a_door_opened_while_off_is_noticed_at_power_up(story):
    """CAB-DOR-02."""
    it = story("power off\nopen logic\npower on\nwait 1s\nexpect tilt == door_logic\nexpect meter.door_logic == 1")
    it.tell("power off\npower on\nwait 1s\nexpect meter.door_logic == 1\nclose logic\nexpect state == idle")


def test_an_open_door_freezes_the_round_and_it_goes_on_when_closed(story):
    it = story(
        "coin 200\nwant free_spins\npress start\nwait until choosing\nopen main\npress right\npress start\nwait 5s"
    )
    it.tell("expect state == tilted\nclose main\nexpect state == choosing\npress start\nwait until idle within 5m")
    assert it.saw("chosen")[-1]["option"] == 0
    it.balanced()


def test_a_coin_in_flight_when_the_door_opens_is_credited_or_returned(story):
    """CAB-DOR-04."""
    for lead in range(0, 240, 20):
        it = story()
        it.world.acceptor.insert(100, it.rig.now_ms * 1000)
        it.rig.run_for(lead)
        it.tell("open main\nwait 1s\nclose main\nwait 1s")
        assert it.balanced()["credit"] + sum(it.world.acceptor.returned) == 100


def test_service_mode_cannot_be_played(story):
    """CAB-CFG-02."""
    it = story("coin 100\nturn technician\nexpect state == service\ncoin 100\npress start\npress cash_out\nwait 1s")
    it.tell(
        "expect credit == 100\nexpect games == 0\nunturn technician\nexpect state == idle\ncoin 20\nexpect credit == 120"
    )


def test_an_unplugged_panel_tilts_and_recovers(story):
    story("fault panel offline\nwait 2s\nexpect tilt == panel_offline\nclear panel\nwait 2s\nexpect state == idle")


@pytest.mark.host_only
def test_meters_that_disagree_lock_the_machine_until_a_technician_has_looked(story):
    """CAB-MTR-05."""
    it = story("coin 200")
    it.rig.session.cabinet.books.journal.commit([(0, 500)])
    it.tell("press start\nwait 1s\nexpect tilt == audit\nexpect games == 0\nturn attendant\nunturn attendant")
    it.tell("expect tilt == audit\npower off\npower on\nwait 1s\nexpect tilt == audit")


def test_unrecoverable_memory_locks_with_the_console_alive(story):
    """CAB-NVM-05."""
    it = story("coin 200\npower off")
    spoil_both_banks(it.rig.session.nvram.memory)
    it.tell("power on\nexpect state == locked\nconsole status\nexpect console contains locked\nconsole tilts")
    it.tell("expect console contains E52\nexpect lamp.tower == on\ncoin 100\nwait 1s")
    assert it.world.acceptor.returned == [100]


@pytest.mark.host_only
@pytest.mark.parametrize("command", ["coin 100", "console set volume 3", "press level_up", "power off\npower on"])
def test_memory_that_keeps_nothing_any_more_locks_at_whatever_commits_next(story, command):
    """CAB-NVM-05: a write that does not read back, from a device, the console, a button or the start itself."""
    it = story("coin 200")
    it.rig.session.nvram.write = lambda offset, data: None
    it.tell(command + "\nwait 1s\nconsole status\nexpect console contains locked\nexpect lamp.tower == on")
    it.tell("console help\nexpect console contains meters\ncoin 50\nwait 1s")
    assert it.world.acceptor.returned[-1] == 50


# --- the console -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("help", "meters"),
        ("status", "state    idle"),
        ("credit", "credit £0.00"),
        ("meters", "audit balances"),
        ("events", "power up"),
        ("recall", "no game has been played yet"),
        ("tilts", "no tilts"),
        ("version", "game piggy_riches"),
        ("lines", "cctalk"),
        ("memory", "journal  "),
        ("paytable", "free spins"),
        ("set volume 3", "volume 3"),
        ("bogus", "error: there is no command bogus; type help"),
        ("events 0", "error: the number of events must be a number from 1 to 128"),
        ("recall x", "error: the number of games"),
        ("autoplay 5 nonsense", "error: nonsense is no stop condition"),
        ("set volume 11", "error: volume"),
        ("game chess", "error: say game and one of"),
        ("watch maybe", "error: say watch on or watch off"),
        ("x" * 300, "error: the line is longer"),
    ],
)
def test_console_commands(story, text, answer):
    it = story(f'console "{text}"\nwait 500ms')
    assert answer in "\n".join(it.world.console.text)


def test_console_noise_is_survived(story):
    it = story()
    it.world.lines["console"].send(bytes(range(256)) * 3 + b"\r")
    it.tell("wait 1s\nconsole status\nexpect console contains idle")


def test_every_watch_event_is_one_json_object(story):
    it = story(FREE_SPINS + "press start\nwait until idle within 5m\npress cash_out\nwait until idle")
    assert json.dumps(list(it.rig.events))
    assert len(it.saw("spin")) == 1 + it.saw("free_spins_end")[-1]["count"]

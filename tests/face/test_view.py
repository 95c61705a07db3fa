"""What the front panel would show, from the events alone."""

import pytest

import native
from host_tools.cabinet import games
from host_tools.face import view as module
from host_tools.face.features import Pointer
from host_tools.face.symbols import look
from host_tools.face.view import CYCLE_MS, View

GAME = "piggy_riches"


@pytest.fixture
def view() -> View:
    shown = View({GAME: native.Pack(games.pack(GAME))})
    shown.take({"t": 0, "e": "power", "on": True})
    shown.take({"t": 0, "e": "query", "state": "idle", "tilt": [], "bet": 15, "credit": 100, "game": GAME})
    return shown


def spin(view: View, t: int, window: list[int] | None = None, left: int = 0) -> None:
    view.take(
        {"t": t, "e": "spin", "window": window or list(range(10)) + [0] * 5, "stops": [0] * 5, "free_spins": left}
    )


def line_win(view: View, t: int, line: int, pence: int, count: int = 3, x: int = 1) -> None:
    view.take(
        {"t": t, "e": "line_win", "index": line, "symbol": 8, "count": count, "x": x, "pence": pence},
    )


def test_message_follows_credit(view: View) -> None:
    assert view.message(0) == ("Press start", module.HINT)
    view.take({"t": 5, "e": "payout", "pence": 100, "credit": 0})
    assert view.message(5) == ("Insert coins", module.HINT)
    view.take({"t": 6, "e": "coin", "pence": 20, "credit": 20})
    assert view.credit == 20
    assert view.message(6) == ("Press start", module.HINT)


def test_reels_stop_one_after_the_other_before_the_wins(view: View) -> None:
    spin(view, 1000)
    turning = [sum(view.reel_turns(reel, t) for reel in range(5)) for t in range(1000, 3000, 50)]
    assert turning[0] == 5
    assert turning[-1] == 0
    assert turning == sorted(turning, reverse=True)
    assert not view.spinning(3000)


def test_quick_spin_is_read_from_the_console_and_shortens(view: View) -> None:
    view.console("quick_spin on, volume 4, mute on, gamble off")
    assert (view.quick_spin, view.volume, view.mute, view.gamble_on) == (True, 4, True, False)
    spin(view, 1000)
    assert not view.spinning(1400)
    view.console("error: volume must be a number from 0 to 10, not 11")
    assert view.quick_spin


def test_lines_are_lit_and_cycle_once_idle(view: View) -> None:
    view.take({"t": 0, "e": "state", "state": "playing", "tilts": []})
    view.take({"t": 0, "e": "round", "game": GAME, "bet": 15, "credit": 85})
    spin(view, 0)
    line_win(view, 2000, 0, 10)
    line_win(view, 2300, 3, 75, count=4, x=3)
    newest = view.shown_win(2350)
    assert newest is not None
    assert newest.text == "Line 4: 4 × King  ×3  £0.75"
    assert newest.cells == {0, 4, 8, 10}  # rows 0 1 2 1 of line 4
    assert view.lines_won() == {0, 3}
    assert view.win == 85
    view.take({"t": 2600, "e": "round_end", "award": 85, "credit": 170, "handpay": False})
    view.take({"t": 2600, "e": "state", "state": "idle", "tilts": []})
    shown = [view.shown_win(2600 + i * CYCLE_MS) for i in range(3)]
    assert [win.line for win in shown if win] == [0, 3, 0]
    assert "Win £0.85" in view.message(2600)[0]
    assert view.credit == 170


def test_scatter_cells_are_where_the_symbol_is(view: View) -> None:
    spin(view, 0, [1, 2, 3, 4, 1, 5, 6, 7, 8, 9, 10, 11, 2, 3, 4])
    view.take({"t": 2000, "e": "scatter_win", "index": 0, "symbol": 1, "count": 2, "x": 1, "pence": 30})
    win = view.shown_win(2000)
    assert win is not None
    assert win.cells == {0, 4}
    assert win.line is None


def test_choice_and_free_spins(view: View) -> None:
    view.take({"t": 0, "e": "choice", "options": [[22, 2], [15, 3]]})
    view.take({"t": 0, "e": "state", "state": "choosing", "tilts": []})
    view.take({"t": 1, "e": "highlight", "option": 1})
    assert (view.options, view.cursor) == ([(22, 2), (15, 3)], 1)
    assert view.message(1)[1] == module.ASK
    view.take({"t": 2, "e": "chosen", "option": 1})
    view.take({"t": 3, "e": "free_spins_begin", "index": 0, "symbol": 0, "count": 15, "x": 3, "pence": 0})
    assert view.options == []
    assert (view.free_spins, view.multiplier, view.in_feature) == (15, 3, True)
    spin(view, 4, left=0)
    assert view.in_feature, "the last free spin is shown as one"
    view.take({"t": 9, "e": "free_spins_end", "index": 0, "symbol": 0, "count": 15, "x": 3, "pence": 120})
    assert not view.in_feature
    assert view.summary == "15 free spins won £1.20"


def test_tilts_come_before_everything(view: View) -> None:
    view.note(0, "something else")
    view.take({"t": 0, "e": "state", "state": "tilted", "tilts": ["door_main", "hopper_empty"]})
    text, tone = view.message(0)
    assert tone == module.ALERT
    assert "E11 main door open" in text
    assert "E41 hopper empty: refill (attendant key)" in text


def test_handpay_names_the_sum_and_the_attendant(view: View) -> None:
    view.take({"t": 0, "e": "query", "state": "handpay", "tilt": [], "handpay_due": 125000, "credit": 5})
    assert "£1250.00" in view.message(0)[0]
    assert "attendant" in view.message(0)[0]


def test_notes_pass(view: View) -> None:
    view.take({"t": 0, "e": "coin_returned", "pence": 200})
    assert view.message(1)[0] == "£2.00 returned"
    assert view.message(module.NOTE_MS)[0] == "Press start"


def test_power_off_leaves_nothing(view: View) -> None:
    spin(view, 0)
    view.take({"t": 10, "e": "choice", "options": [[22, 2]]})
    view.take({"t": 20, "e": "power", "on": False, "reason": "off"})
    assert not view.powered
    assert (view.window, view.options, view.wins) == ([], [], [])
    assert view.message(20) == ("The mains switch is off", module.QUIET)


def test_log_has_the_transcript_without_the_reels(view: View) -> None:
    view.log.clear()
    spin(view, 0)
    view.take({"t": 5, "e": "coin", "pence": 50, "credit": 50})
    assert list(view.log) == [("coin £0.50 in, credit £0.50", module.WIN)]


def test_every_symbol_has_a_look() -> None:
    for data in games.packs().values():
        pack = native.Pack(data)
        looks = [look(name, number, False) for number, name in enumerate(pack.symbols)]
        assert len({shown.art for shown in looks}) == len(looks)
        assert all(len(row) <= 9 for shown in looks for row in shown.art)
    assert look("Dragon", 4, False).name == "DRAGON"
    assert look("Anything", 4, True).special


# --- beside the reels ------------------------------------------------------------------------------------------------


@pytest.fixture
def diner() -> View:
    shown = View({name: native.Pack(data) for name, data in games.packs().items()})
    shown.take({"t": 0, "e": "power", "on": True})
    query = {"e": "query", "state": "playing", "tilt": [], "bet": 20, "unit": 2, "credit": 100, "pile": 41}
    shown.take({"t": 0, **query, "game": "dog_diner", "mode": "fortune_bet"})
    return shown


def told(view: View, t: int, kind: str, **fields: object) -> None:
    view.take({"t": t, "e": kind, "index": 0, "symbol": 0, "count": 0, "x": 0, "pence": 0, **fields})


def test_a_way_lights_the_symbol_and_its_wilds_on_the_reels_of_the_run(diner: View) -> None:
    red, wild = diner.pack.symbols.index("Cat (Red)"), diner.pack.symbols.index("Wild")
    spin(diner, 0, [red, 9, 9, wild, red, 9, red, 9, 9, red, 9, 9, 9, 9, 9])
    told(diner, 2000, "ways_win", symbol=red, count=3, x=2, pence=20)
    win = diner.shown_win(2000)
    assert win is not None
    assert win.cells == {0, 3, 4, 6}
    assert "2 ways" in win.text


def test_frames_stay_until_the_next_round_and_bowls_pay_on_them(diner: View) -> None:
    told(diner, 0, "free_spins_begin", count=6, x=1, name="Go Large")
    told(diner, 1, "frame", index=4, count=1)
    told(diner, 2, "frame", index=4, count=2)
    spin(diner, 3, left=5)
    assert diner.frames == {4: 2}
    told(diner, 4, "bowl", index=4, symbol=255, count=2, pence=60)
    assert diner.values == {4: 60}
    assert diner.win == 60
    diner.take({"t": 9, "e": "round", "game": "dog_diner", "bet": 20, "credit": 80})
    assert (diner.frames, diner.values) == ({}, {})


def test_a_picture_after_power_loss_has_frames_values_and_places(diner: View) -> None:
    diner.take({"t": 0, "e": "round_recovered", "game": "piggy_bank", "bet": 10, "won": 0})
    cells = [0] * 15
    window = {"window": cells, "stops": [0] * 5, "set": 1, "free_spins": 3, "x": 1, "won": 70}
    told(diner, 1, "window", **window, frames=cells, values=[0, 50, *cells[2:]], matrix=[2, 0, 1, 0])
    assert diner.values == {1: 50}
    assert diner.pots()[0] == ("Mini", 2, 3)
    assert (diner.win, diner.free_spins) == (70, 3)


def test_the_pointer_stops_in_its_colour() -> None:
    for chance in (1, 250_000, 500_000, 999_999):
        for green in (True, False):
            pointer = Pointer("", chance, green, 1000, 2000)
            assert pointer.stopped(2200)
            assert (pointer.place(2200) < chance / 1_000_000) == green


def test_the_wheel_stops_at_what_was_drawn(diner: View) -> None:
    table = next(step[1] for step in diner.pack.steps(0) if step[0] == 5)
    wheel = diner.pack.table(table)[0][2]
    told(diner, 100, "wheel", index=wheel, count=4, name="Go Large")
    shown = diner.wheel
    assert shown is not None
    assert shown.prizes[shown.lit(100 + shown.for_ms)] == "Go Large"
    assert diner.overlay(101) == "wheel"
    assert diner.overlay(100 + shown.for_ms) == ""


def test_gambling_moves_the_win(diner: View) -> None:
    diner.win = 300
    offer = {"name": "x2", "feature": "", "row": 1, "amount": 200, "banked": 100, "win": 400, "chance_ppm": 500_000}
    told(diner, 0, "gamble_offer", **offer)
    told(diner, 1, "gamble", index=1, count=1, pence=200, name="x2")
    assert diner.win == 500
    told(diner, 2, "gamble_offer", **offer)
    told(diner, 3, "gamble", index=1, count=0, pence=200, name="x2")
    assert diner.win == 300
    assert diner.gamble is None

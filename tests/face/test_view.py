"""What the front panel would show, from the events alone."""

import pytest

import native
from host_tools.cabinet import games
from host_tools.face import view as module
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
    view.console("quick_spin on, volume 4, mute on")
    assert (view.quick_spin, view.volume, view.mute) == (True, 4, True)
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
    pack = native.Pack(games.pack(GAME))
    looks = [look(name, number, False) for number, name in enumerate(pack.symbols)]
    assert len({shown.art for shown in looks}) == len(looks)
    assert all(len(row) <= 9 for shown in looks for row in shown.art)
    assert look("Dragon", 4, False).name == "DRAGON"
    assert look("Anything", 4, True).special

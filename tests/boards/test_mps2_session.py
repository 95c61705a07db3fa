"""The firmware on the emulated Cortex-M3 board, over its real UART registers and in real time: the same books as here."""

from host_tools.cabinet import games
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse
from host_tools.soak import kills
from host_tools.soak.cuts_all import FOLDER


def books(board: str) -> dict:
    rig = Rig(games.packs(), board=board)
    try:
        rig.run(parse((FOLDER / "money_path.rig").read_text()))
        summary = rig.summary()
        assert summary["coins_in"] == rig.world.swallowed_pence
        assert summary["hopper_out"] == rig.world.paid_pence
        return summary
    finally:
        rig.close()


def test_the_money_script_ends_with_the_same_books_as_in_this_process():
    assert books("mps2") == books("host")


def test_kills_of_the_emulator_lose_and_make_no_money():
    report = kills.run(games.packs(), 3, 5, "mps2")
    assert report.violations == []

"""What every soak does after it took the power away: start again on what the NVRAM holds, and compare books and world."""

from typing import Any

from host_tools.hil.rig import Rig, RigError

SETTLE_MS = 700  # after recovery: longer than a poll of the acceptor and the console's answer
RECOVERY_MS = 60_000
UNSETTLED = ("boot", "paying", "off")
MAX_SHOWN = 20  # violations that a report tells one by one


def recover(rig: Rig, mains: bool = False) -> tuple[dict[str, Any], list[str]]:
    """The books after a new start, {} when there are none, and what is wrong with them.

    mains: the devices were without power too. They take the acceptor's event buffer along, so a coin that was not
    booked yet must at least be disputed.
    """
    try:
        rig.power_on()
        if not rig.run_until(lambda: rig.state not in UNSETTLED, RECOVERY_MS):
            return {}, [f"still {rig.state} after {RECOVERY_MS} ms"]
        rig.run_for(SETTLE_MS)
        if rig.world.note_acceptor.notes:
            rig.run_until(lambda: bool(rig.query()["quiet"]), RECOVERY_MS)  # what became of one on its way is found out
        books = rig.query()
    except RigError as error:
        return {}, [str(error)]
    if books["state"] == "locked":
        return {}, [f"locked: {books['reason']}"]
    wrong: list[str] = []
    if books["audit"]:
        wrong.append(f"audit identity is out by {books['audit']}")
    missing = rig.world.swallowed_pence - books["coins_in"] - books["test_coins_in"]
    if missing and not (mains and books["coins_disputed"] and missing > 0):
        wrong.append(f"coins in {books['coins_in']}, swallowed {rig.world.swallowed_pence}")
    unbooked = rig.world.stacked_pence - books["notes_in"]
    if unbooked and not (books["notes_disputed"] and unbooked > 0):
        wrong.append(f"notes in {books['notes_in']}, stacked {rig.world.stacked_pence}")
    booked = books["hopper_out"] + books["test_hopper_100"] + books["test_hopper_10"]
    if booked != rig.world.paid_pence:
        wrong.append(f"hoppers booked {booked}, paid {rig.world.paid_pence}")
    return books, wrong

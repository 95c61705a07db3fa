"""A player who never tires, for long runs: coins while there is little credit, a play, and what each of its states waits for."""

from host_tools.hil.rig import Rig, RigError
from host_tools.hil.script import parse

LITTLE_PENCE = 1000
STARTED_MS = 2000  # after which the console has told that a play began
LONGEST_MS = 300_000  # of one play with all its features

# What a state waits for: the first option, the sure winnings, an attendant with the key.
ANSWERS = {
    "choosing": parse("press start"),
    "gambling": parse("press collect"),
    "handpay": parse("turn attendant\nunturn attendant"),
}
_COINS, _START = parse("coin 200\ncoin 200"), parse("press start")


def put_money_in(rig: Rig) -> None:
    """Coins, when there is little credit."""
    if rig.query()["credit"] < LITTLE_PENCE:
        rig.run(_COINS)


def finish(rig: Rig) -> None:
    """Plays on until the cabinet is idle, from a start button that was just pressed.

    Errors: RigError when no play began, or it takes longer than LONGEST_MS.
    """
    began_ms = rig.now_ms
    if not rig.run_until(lambda: rig.state != "idle", STARTED_MS):
        raise RigError("the start button began no play")
    while rig.state != "idle":
        if rig.now_ms - began_ms > LONGEST_MS:
            raise RigError(f"the cabinet is still {rig.state} {LONGEST_MS // 1000} s after the start button")
        rig.run(ANSWERS.get(rig.state, ()))
        rig.step()


def play(rig: Rig) -> None:
    """One whole play. Errors: RigError, as finish()."""
    put_money_in(rig)
    rig.run(_START)
    finish(rig)

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


def play(rig: Rig) -> int:
    """One play, from the start button until the cabinet is idle. Returns when the button was pressed, in the rig's ms.

    Errors: RigError when none begins, or it takes longer than LONGEST_MS.
    """
    if rig.query()["credit"] < LITTLE_PENCE:
        rig.run(_COINS)
    began_ms = rig.now_ms
    rig.run(_START)
    if not rig.run_until(lambda: rig.state != "idle", STARTED_MS):
        raise RigError("the start button began no play")
    while rig.state != "idle":
        if rig.now_ms - began_ms > LONGEST_MS:
            raise RigError(f"the cabinet is still {rig.state} {LONGEST_MS // 1000} s after the start button")
        rig.run(ANSWERS.get(rig.state, ()))
        rig.step()
    return began_ms

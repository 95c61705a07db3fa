"""What a cabinet starts at power-up. The table in README.md is `choose`, row by row.

It runs before anything else and may be cut anywhere: each of its writes leaves a record from which the next start goes
on. It never writes the journal.
"""

from firmware.update.image import HEADER_BYTES
from firmware.update.slots import CONFIRMED, HUNG, INVALID, NO_TRIAL, NONE, PENDING, UNCONFIRMED, Slots

FACTORY = -1  # the application that the resident image holds
WAIT = -2  # nothing: console and update server only


class Choice:
    """slot: 0, 1, FACTORY or WAIT; image: of a slot; why: what went wrong, "" when all is well."""

    def __init__(self, slot: int, image, why: str):
        self.slot = slot
        self.image = image
        self.why = why


def choose(slots, reset_reason: str) -> Choice:
    """Decides, and writes what the decision depends on next time. reset_reason: as Board.reset_reason."""
    if not slots.present:
        return Choice(FACTORY, None, "")
    if not slots.known:
        return Choice(WAIT, None, "the slots' record is lost: a technician has to say which image counts")
    why = ""
    state = slots.state
    if state.phase == PENDING and state.trial != NONE:
        trial = state.trial
        image, why = slots.judge(trial)
        if image is None:
            why = "slot %d was not tried: %s" % (trial, why)
            failed = slots.dropped(INVALID)
        else:
            failed = slots.started(trial, True)
            if not failed:
                return Choice(trial, image, "")
        why = failed or why
    elif state.phase != NO_TRIAL:
        failure = HUNG if reset_reason == "watchdog" else UNCONFIRMED
        trial = state.trial
        failed = slots.dropped(failure)
        why = failed or "slot %d was left: %s" % (trial, slots.failure(trial))
    return _preferred(slots, why)


def _preferred(slots, why: str) -> Choice:
    preferred = slots.state.preferred
    if preferred == NONE:
        return Choice(FACTORY, None, slots.started(FACTORY, False) or why)
    image, wrong = slots.judge(preferred)
    if image is not None:
        return Choice(preferred, image, slots.started(preferred, False) or why)
    why = "slot %d is not started: %s" % (preferred, wrong)
    other = 1 - preferred
    if slots.state.status[other] == CONFIRMED:
        image, wrong = slots.judge(other)
        if image is not None:
            return Choice(other, image, slots.fell_back(other) or slots.started(other, False) or why)
        why += "; slot %d neither: %s" % (other, wrong)
    return Choice(WAIT, None, slots.started(WAIT, False) or why)


def run(board) -> None:
    """What a board with MicroPython does at power-up. Returns when the board is to start an application."""
    slots = Slots(board.slots, board.name)
    choice = choose(slots, board.reset_reason)
    if choice.slot >= 0:
        board.feed_watchdog()
        board.start(choice.slot * slots.SIZE + HEADER_BYTES, choice.image.payload)
        return
    resident = __import__("firmware.main", None, None, ("run",))  # takes a second to import: not before it is needed
    resident.run(board, choice.why if choice.slot == WAIT else "")

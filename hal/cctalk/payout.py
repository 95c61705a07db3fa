"""What became of a payout: a hopper's own figures, judged against the command that was sent (ccTalk header 167).

    status          [event counter][remaining][paid][unpaid]      header 166
    dispense count  coins paid in the hopper's life               header 168, three bytes, least significant first

The event counter is 0 after a reset and otherwise 1 to 255, then 1 again. With e0 the counter before the command and
n the coins that it asked for:

| event counter now | the command |
|---|---|
| e0 + 1 | was taken. Some makes also count a command that they refuse |
| 0, and e0 not 0 or the command was accepted | was taken, then the hopper was reset |
| e0, in two readings | was not taken; if e0 is 0 a reset cannot be seen by the counter |
| another | nothing is known: somebody else paid out |

How many coins were paid is what the dispense count grew by: it survives a reset and counts nothing twice. The figures
of the status tell the progress, and must agree if the payout was seen under way, or if they are those of this command. A
hopper that keeps no dispense count is judged by the figures alone: they are proof if paid + unpaid is n and they are known to
be younger than the command.
"""

import struct

from .bus import OK, REFUSED, UNKNOWN

PROOFS = 2  # readings before a command counts as not taken: a wrong answer would pay twice
PATIENCE = 10  # readings of a payout that was accepted and does not show

NO_COUNT = 0xFFFFFFFF  # in place of a dispense count
_EVIDENCE = "<iBI2s"  # serial number, event counter, dispense count, bytes paid and unpaid: all as before the command
EVIDENCE_BYTES = 11
COUNT_MASK = 0xFFFFFF

# Verdicts.
LOOK_AGAIN = 0  # read the status again in a while
ASK_COUNT = 1  # read the dispense count and settle()
NOT_TAKEN = 2
PROVEN = 3  # over; `paid` is what was paid
UNPROVEN = 4  # over; `paid` is the best that is known

# What the event counter says about the command.
_TAKEN = 0
_SAME = 1
_RESET = 2
_FOREIGN = 3


def next_counter(counter: int) -> int:
    """The event counter after one more command: 255 is followed by 1."""
    return counter % 255 + 1


def resumed(coins: int, evidence: bytes, paid: int) -> "Payout":
    """What was committed before a command whose fate is not known; paid: coins of it that are booked."""
    owner, before, count, baseline = struct.unpack(_EVIDENCE, evidence)
    if count == NO_COUNT:
        baseline = b""  # a cabinet that was off has not seen a reset: figures alone that are as before prove nothing
    return Payout(coins, before, count, baseline, owner, paid)


class Payout:
    """One command to dispense.

    coins: n; before: e0
    count: the dispense count before the command, NO_COUNT if the hopper keeps none
    baseline: the bytes paid and unpaid as they stood before the command, b"" if that is not known
    owner: serial number of the hopper that got the command, -1 if that is not known
    reply: outcome of 167 on the bus
    paid: coins paid, as far as the hopper has shown
    """

    def __init__(
        self, coins: int, before: int = 0, count: int = NO_COUNT, baseline: bytes = b"", owner: int = -1, paid: int = 0
    ):
        self.coins = coins
        self.before = before
        self.count = count
        self.baseline = baseline
        self.owner = owner
        self.reply = UNKNOWN
        self.paid = paid
        self._running = False  # it was seen under way
        self._looks = 0
        self._proofs = 0
        self._status = b""

    @property
    def unpaid(self) -> int:
        """Coins still owed."""
        return max(0, self.coins - self.paid)

    def evidence(self) -> bytes:
        """What has to be committed before 167 leaves, of EVIDENCE_BYTES."""
        return struct.pack(_EVIDENCE, self.owner, self.before, self.count, self.baseline)

    def sent(self, owner: int) -> None:
        """167 is about to leave, to the hopper with that serial number."""
        self.owner = owner
        self.reply = UNKNOWN
        self._looks = 0
        self._proofs = 0

    def judge(self, status: bytes, serial: int) -> int:
        """The verdict on one status of the hopper with that serial number; `paid` is brought up to date."""
        if self.owner not in (-1, serial):
            return UNPROVEN  # another hopper was put in its place
        self._status = status
        if status[1] and self._kind() in (_TAKEN, _SAME):
            self._running = True
            self.paid = max(self.paid, status[2])
            return LOOK_AGAIN
        return self._by_figures() if self.count == NO_COUNT else ASK_COUNT

    def settle(self, count: int) -> int:
        """The verdict after ASK_COUNT, on the dispense count as it stands now; `paid` is brought up to date."""
        grown = (count - self.count) & COUNT_MASK
        figure, unpaid = self._status[2:]
        kind = self._kind()
        old = self._go_on(grown)
        # Without a coin they may be of an older command of as many coins.
        adds_up = figure + unpaid == self.coins and (grown or not old)
        extra = figure > self.coins and grown and kind == _TAKEN and not old
        otherwise = figure != grown and (adds_up or extra)
        if kind == _FOREIGN:
            return UNPROVEN if grown or otherwise or self.paid else PROVEN
        if grown > 255:
            return UNPROVEN
        if self.reply == REFUSED and not self._running:
            return self._end(grown, not grown)
        if kind == _SAME and self.reply != OK and not self._running:
            if not grown and not otherwise:
                return self._prove_not_taken()
            if self.before:
                return UNPROVEN
        if self._running:  # a reset may have wiped out its figures
            return self._end(max(figure, grown), figure == grown or (kind == _RESET and not figure))
        shown = figure == grown and figure + unpaid == self.coins
        if self.reply == OK and kind != _RESET and not shown and self._is_patient():
            return LOOK_AGAIN
        if otherwise:
            return self._end(grown if old else max(figure, grown), False)
        return self._end(grown, kind != _SAME or not self.before)

    def _go_on(self, grown: int) -> bool:
        """The figures may be those of before the command, which a hopper that refused it counts on when coins leave it."""
        paid, unpaid = self._status[2:]
        return len(self.baseline) == 2 and paid == min(255, self.baseline[0] + grown) and unpaid == self.baseline[1]

    def _kind(self) -> int:
        counter = self._status[0]
        if counter == next_counter(self.before):
            return _TAKEN
        if counter == 0 and (self.before or self.reply == OK or self._running):
            return _RESET
        return _SAME if counter == self.before else _FOREIGN

    def _by_figures(self) -> int:
        """The verdict on a hopper that keeps no dispense count and has stopped."""
        figures = self._status[2:]
        paid, unpaid = figures
        adds_up = paid + unpaid == self.coins
        kind = self._kind()
        if kind == _FOREIGN:
            return UNPROVEN
        if kind == _RESET:
            if not adds_up or (figures == self.baseline and not self._running):
                return UNPROVEN
            return self._end(paid, self._running or self.baseline != b"")
        if self._running:
            return self._end(paid, adds_up and kind == _TAKEN)
        if self.reply == REFUSED:
            return PROVEN  # the figures may still be those of an older payout
        if kind == _TAKEN and adds_up:
            return self._end(paid, True)
        if self.reply == OK:
            if self._is_patient():
                return LOOK_AGAIN
            return self._end(paid, False) if kind == _TAKEN else UNPROVEN
        if kind == _TAKEN:
            return UNPROVEN
        if self.before == 0 and adds_up and figures != self.baseline:
            return self._end(paid, self.baseline != b"")
        self.baseline = figures
        return self._prove_not_taken()

    def _prove_not_taken(self) -> int:
        if self.paid:
            return UNPROVEN  # it was seen to pay, before the power failed
        self._proofs += 1
        return NOT_TAKEN if self._proofs >= PROOFS else LOOK_AGAIN

    def _is_patient(self) -> bool:
        """Accepted, but the figures do not show it yet."""
        self._looks += 1
        return self._looks < PATIENCE

    def _end(self, paid: int, proven: bool) -> int:
        """The final figure; fewer coins than the hopper had shown before prove nothing."""
        proven = proven and paid >= self.paid
        self.paid = max(self.paid, paid)
        return PROVEN if proven else UNPROVEN

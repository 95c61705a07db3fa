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

from .bus import OK, REFUSED, UNKNOWN

PROOFS = 2  # readings before a command counts as not taken: a wrong answer would pay twice
PATIENCE = 10  # readings of a payout that was accepted and does not show

NO_COUNT = 0xFFFFFFFF  # in place of a dispense count
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
        if kind == _FOREIGN:
            return UNPROVEN if grown else PROVEN
        if grown > 255:
            return UNPROVEN
        if self.reply == REFUSED and not self._running:
            return self._end(grown, not grown)
        if kind == _SAME and self.reply != OK and not self._running:
            if not grown:
                return self._prove_not_taken()
            return UNPROVEN if self.before else self._end(grown, True)
        if self._running:
            return self._end(max(figure, grown), kind == _RESET or figure == grown)
        shown = figure == grown and figure + unpaid == self.coins
        if self.reply == OK and kind != _RESET and not shown and self._is_patient():
            return LOOK_AGAIN
        if kind == _TAKEN and figure != grown and figure + unpaid == self.coins and self._status[2:] != self.baseline:
            return self._end(max(figure, grown), False)  # its own figures are of this command, and say otherwise
        return self._end(grown, kind != _SAME)

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

"""What became of a payout: a hopper's status (ccTalk header 166), judged against the command that was sent (167).

    status    [event counter][remaining][paid][unpaid]

The event counter is 0 after a reset and otherwise 1 to 255, then 1 again. With e0 the counter before the command and
n the coins that it asked for:

| event counter now | meaning |
|---|---|
| e0 + 1 | the command was taken: follow it. Some makes also count a command that they refuse |
| e0, not 0, in two readings | it was not taken |
| 0, e0 not 0 | the hopper was reset; it shows what it had paid, if paid + unpaid is n and the figures are not old |
| 0, e0 is 0 | a reset cannot be seen: not taken, unless the figures have changed to a sum of n |
| another | somebody else paid out: nothing is known |
"""

from .bus import OK, REFUSED, UNKNOWN

PROOFS = 2  # readings before a command counts as not taken: a wrong answer would pay twice
PATIENCE = 10  # readings of a payout that was accepted and does not show

# Verdicts.
LOOK_AGAIN = 0
NOT_TAKEN = 1
PROVEN = 2  # over; the hopper's figures say how many were paid
UNPROVEN = 3  # over; `paid` is the best that is known


def next_counter(counter: int) -> int:
    """The event counter after one more command: 255 is followed by 1."""
    return counter % 255 + 1


class Payout:
    """One command to dispense.

    coins: n; before: e0
    baseline: the bytes paid and unpaid as they stood before the command, b"" if that is not known
    owner: serial number of the hopper that got the command, -1 if that is not known
    reply: outcome of 167 on the bus
    paid: coins paid, as far as the hopper has shown
    """

    def __init__(self, coins: int, before: int = 0, baseline: bytes = b"", owner: int = -1, paid: int = 0):
        self.coins = coins
        self.before = before
        self.baseline = baseline
        self.owner = owner
        self.reply = UNKNOWN
        self.paid = paid
        self._running = False  # it was seen under way
        self._looks = 0
        self._proofs = 0

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
        """The verdict on one reading from the hopper with that serial number; `paid` is brought up to date."""
        counter, remaining, paid, unpaid = status
        if self.owner not in (-1, serial):
            return UNPROVEN  # another hopper was put in its place
        if counter == next_counter(self.before):
            return self._follow(remaining, paid, unpaid)
        if counter == self.before and self.reply == REFUSED and not remaining:
            return PROVEN
        if counter == 0 and (self.before or self.reply == OK or self._running):
            fresh = self._running or status[2:] != self.baseline
            return self._end(paid, True) if paid + unpaid == self.coins and fresh else UNPROVEN
        if counter != self.before or self._running:
            return UNPROVEN
        if self.reply == OK:
            return self._be_patient()
        if counter == 0 and paid + unpaid == self.coins and status[2:] != self.baseline:
            return self._end(paid, self.baseline != b"")
        self.baseline = status[2:]
        self._proofs += 1
        return NOT_TAKEN if self._proofs >= PROOFS else LOOK_AGAIN

    def _follow(self, remaining: int, paid: int, unpaid: int) -> int:
        if remaining:
            self._running = True
            self.paid = max(self.paid, paid)
            return LOOK_AGAIN
        adds_up = paid + unpaid == self.coins
        if self._running:
            return self._end(paid, adds_up)
        if self.reply == REFUSED:
            return PROVEN  # counted and refused; the figures may still be those of an older payout
        if adds_up:
            return self._end(paid, True)
        if self.reply != OK:
            return UNPROVEN
        verdict = self._be_patient()
        return verdict if verdict == LOOK_AGAIN else self._end(paid, False)

    def _be_patient(self) -> int:
        """Accepted, but the status does not show it yet."""
        self._looks += 1
        return LOOK_AGAIN if self._looks < PATIENCE else UNPROVEN

    def _end(self, paid: int, proven: bool) -> int:
        """The hopper's final figure; fewer than it had shown before prove nothing."""
        proven = proven and paid >= self.paid
        self.paid = max(self.paid, paid)
        return PROVEN if proven else UNPROVEN

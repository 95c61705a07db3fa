"""The note in hand of an acceptor, whatever it speaks: its place, what is decided of it, and the times that it is given."""

from .driver import Driver
from .evidence import NO_COUNT

STACKED_MS = 2000  # from an unasked credit until the counters must show it
JUDGE_MS = 10_000  # from the last sign of motion until the counters are believed
BLIND_MS = 60_000  # the same for a device without counters: a late event must not find the note given up

NONE = 0
SEEN = 1
HELD = 2
ORDERED = 3
LEAVING = 4
UNSURE = 5

UNKNOWN_CHANNEL = 256  # of an odd note that the device could not name
CLEARED_FROM_FRONT = 256  # code of ("refused", ...): at its start the device gave a note back that nobody had asked for
MOST_GROWN = 1000  # counters that have grown by more were set anew by a repair


class HeldNote(Driver):
    """What a driver knows of the note in hand, and what the firmware may do with it.

    It stands beside the protocol's own Device as a second base, and overrides nothing of Driver: MicroPython looks there first.

    values: pence by channel as the device says, channel 1 first, 0 for what is no money of ours
    repeated_credits: credits that were told again and not taken again
    """

    def _no_note(self, last_token: bytes) -> None:
        """At the start: none is in hand; the token is the one that was committed last."""
        self.values = ()
        self.repeated_credits = 0
        self._token = last_token
        self._place = NONE
        self._order = NONE
        self._pence = 0
        self._channel = 0
        self._evidence = b""
        self._since_ms = 0  # when the place was reached
        self._hold_ms = 0
        self._judge_ms = None  # when the counters are asked what was
        self._odd = 0  # channel of a note that went in and that nobody had ordered

    def resume(self, pence: int, channel: int, proof: bytes) -> None:
        """Before the first poll: the note that the journal holds as pending, with the evidence of its escrow event."""
        self._place = UNSURE
        self._pence = pence
        self._channel = channel
        self._evidence = proof

    def stack(self) -> bool:
        """Take the held note in; its pending record is committed. False: it is not held any more, its end will be told."""
        return self._decide(ORDERED)

    def return_note(self) -> bool:
        """Give the held note back. False: it is not held any more, its end will be told."""
        return self._decide(LEAVING)

    def give_up(self) -> bool:
        """An attendant has looked: what is known of the note in hand is all there will be. False: none is in hand."""
        if not self.pending() or not self._events.room():
            return False
        self._dispute("given_up", NO_COUNT)
        return True

    def pending(self) -> bool:
        """A note is in hand whose end was not told yet."""
        return self._place > SEEN

    def _decide(self, order: int) -> bool:
        if self._place != HELD or self._order != NONE:
            return False
        self._order = order
        self._wake_ms = 0
        return True

    def _value(self, channel: int) -> int:
        return self.values[channel - 1] if 0 < channel <= len(self.values) else 0

    def _judge(self, taken: int, rejected: int) -> None:
        """Nothing more will be told: what the counters say is what was."""
        if self.pending() and self._place != HELD:
            self._conclude(taken, rejected)
        if self._place == NONE:
            self._account(taken)
        self._look_soon()

    def _conclude(self, taken: int, rejected: int) -> None:
        """The end of the note in hand, by the counters. A driver's own."""

    def _account(self, taken: int) -> None:
        """A note that nobody ordered, or that was taken without a word, against the counters. A driver's own."""

    def _end(self, event: tuple) -> None:
        self._place = NONE
        self._order = NONE
        self._judge_ms = None if not self._odd else self._judge_ms
        self._events.push(event)

    def _returned(self) -> None:
        self._end(("returned",))

    def _dispute(self, reason: str, taken: int) -> None:
        """It is not known what was. A driver's own."""

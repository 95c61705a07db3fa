"""Double-entry ledger: one account for each place where money can be.

Money enters the cabinet's books from a source (a coin, a note, a win), rests as credit or as something owed, and ends in a
sink (a bet, the hopper, a handpay). A transaction balances or is refused, so credit, meters and reports cannot disagree.
The audit identity (CAB-MTR-05) says of the stored accounts: sources = sinks + what is owed. All amounts are pence.
"""

from firmware.store import keys

METER_MODULUS = 10**12  # value meters have 12 decimal digits of pence and roll over to zero (CAB-MTR-03)

COINS_PENCE = (10, 20, 50, 100, 200)
NOTES_PENCE = (500, 1000, 2000, 5000)

# Name and kind, in the order of the journal's keys: only ever append.
_ACCOUNTS = (
    ("credit", "owed"),  # the player's
    ("payout", "owed"),  # promised to the hoppers
    ("handpay_due", "owed"),  # to be paid by an attendant
    ("wagered", "sink"),
    ("won", "source"),
    ("refunded", "source"),  # bets of voided rounds
    ("hopper_100", "sink"),
    ("hopper_10", "sink"),
    ("handpay", "sink"),
    ("coins_10", "source"),
    ("coins_20", "source"),
    ("coins_50", "source"),
    ("coins_100", "source"),
    ("coins_200", "source"),
    ("notes_500", "source"),
    ("notes_1000", "source"),
    ("notes_2000", "source"),
    ("notes_5000", "source"),
    ("overpaid", "source"),  # coins that a hopper gave beyond its order: the house's loss
    ("large_win_due", "owed"),  # a win that an attendant pays (jackpot), apart from credit that is paid by hand
    ("large_win", "sink"),
)
ACCOUNTS = tuple([name for name, _ in _ACCOUNTS])
SOURCES = tuple([name for name, kind in _ACCOUNTS if kind == "source"])
SINKS = tuple([name for name, kind in _ACCOUNTS if kind == "sink"])
OWED = tuple([name for name, kind in _ACCOUNTS if kind == "owed"])


class LedgerError(Exception):
    """A transaction that does not balance, or that would pay out more than is owed. Nothing was booked."""


class Ledger:
    """Accounts kept in a journal. `entries` prepares changes; the caller commits them with whatever belongs to them."""

    def __init__(self, journal):
        self._journal = journal
        self._keys = {ACCOUNTS[i]: keys.ACCOUNT_BASE + i for i in range(len(ACCOUNTS))}

    def value(self, account: str) -> int:
        """Pence in `account` (KeyError when there is none of that name)."""
        return self._journal.get_int(self._keys[account])

    def total(self, accounts) -> int:
        """Pence in several accounts together, modulo the meters' range."""
        return sum([self.value(account) for account in accounts]) % METER_MODULUS

    def coins_in(self) -> int:
        return self.total(["coins_%d" % pence for pence in COINS_PENCE])

    def notes_in(self) -> int:
        return self.total(["notes_%d" % pence for pence in NOTES_PENCE])

    def hopper_out(self) -> int:
        return self.total(("hopper_100", "hopper_10"))

    def entries(self, *postings):
        """Journal changes of one transaction, given as (account, pence) with pence added to the account.

        Sources and sinks only grow; owed accounts grow and shrink. Raises LedgerError unless what the sources gain
        equals what sinks and owed accounts gain, and no owed account falls below zero.
        """
        balance = 0
        changes = []
        for account, pence in postings:
            value = self.value(account) + pence
            if account in OWED:
                if value < 0:
                    raise LedgerError("%s of %d pence cannot change by %d" % (account, self.value(account), pence))
                balance -= pence
            else:
                if pence < 0:
                    raise LedgerError("meter %s cannot go back by %d pence" % (account, -pence))
                balance += pence if account in SOURCES else -pence
            changes.append((self._keys[account], value % METER_MODULUS))
        if balance:
            raise LedgerError("transaction is out of balance by %d pence: %s" % (balance, postings))
        return changes

    def discrepancy(self) -> int:
        """Sources - sinks - owed, modulo the meters' range: 0 when the audit identity holds (CAB-MTR-05)."""
        return (self.total(SOURCES) - self.total(SINKS) - self.total(OWED)) % METER_MODULUS

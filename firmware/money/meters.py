"""Meters beside the ledger: how often something happened (CAB-MTR-01, CAB-MTR-02), and tallies of money that is no one's.

Occurrence meters count to 10^8 - 1, then from 0; tallies are pence with the range of the ledger's accounts. Tallies are
what the ledger does not hold: coins of the test mode, and where an accepted coin fell.
"""

from firmware.money.ledger import METER_MODULUS
from firmware.store import keys

OCCURRENCE_MODULUS = 10**8

METERS = (  # the order is the journal's: only ever append
    "games",
    "games_won",
    "games_since_power_up",
    "games_since_door",
    "power_ups",
    "door_main",
    "door_cashbox",
    "door_note_box",
    "door_logic",
    "tilts",
    "handpays",
    "payouts",
    "free_spin_features",
    "voided_games",
    "coins_disputed",  # swallowed by the acceptor, never credited: to be settled by an attendant
    "em_in",  # pulses given to the electromechanical meters
    "em_out",
    "large_wins",  # wins that were owed by hand
    "extra_coins",  # that hoppers gave beyond their orders
    "acceptor_resets",
    "coins_refused",  # coins and slugs that the acceptor sent back and told of
    "ram_clears",
    "notes_refused",  # that the note acceptor sent back by itself
    "notes_returned",  # from escrow, or on the way to the stacker
    "notes_disputed",  # what became of them cannot be proved: to be settled by an attendant
    "notes_in_stacker",  # since it was taken out last
    "stacker_removals",
    "note_acceptor_resets",
)
TALLIES = (  # as above
    "test_coins_in",
    "test_hopper_100",
    "test_hopper_10",
    "to_hopper_100",  # accepted coins that the sorter let fall into a hopper
    "to_hopper_10",
)


class Meters:
    """Counters kept in a journal; `count` prepares changes for the caller's commit."""

    def __init__(self, journal):
        self._journal = journal
        self._keys = {METERS[i]: keys.METER_BASE + i for i in range(len(METERS))}
        for i in range(len(TALLIES)):
            self._keys[TALLIES[i]] = keys.TALLY_BASE + i

    def value(self, name: str) -> int:
        return self._journal.get_int(self._keys[name])

    def count(self, name: str, number: int = 1):
        """The change that adds `number` to meter `name`."""
        key = self._keys[name]
        modulus = OCCURRENCE_MODULUS if key < keys.TALLY_BASE else METER_MODULUS
        return (key, (self._journal.get_int(key) + number) % modulus)

    def zero(self, name: str):
        return (self._keys[name], 0)

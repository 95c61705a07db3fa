"""Occurrence meters: how often something happened (CAB-MTR-01, CAB-MTR-02). They count to 10^8 - 1, then from 0."""

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
)


class Meters:
    """Counters kept in a journal; `count` prepares changes for the caller's commit."""

    def __init__(self, journal):
        self._journal = journal
        self._keys = {METERS[i]: keys.METER_BASE + i for i in range(len(METERS))}

    def value(self, name: str) -> int:
        return self._journal.get_int(self._keys[name])

    def count(self, name: str, number: int = 1):
        """The change that adds `number` to meter `name`."""
        return (self._keys[name], (self.value(name) + number) % OCCURRENCE_MODULUS)

    def zero(self, name: str):
        return (self._keys[name], 0)

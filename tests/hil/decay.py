"""Memory that decays while the power is off."""

from firmware.store.journal import AREAS, BANKS, CONTROL_BYTES

PLACE = 60  # in the first records, none of which is the last


def spoil_both_banks(memory) -> None:
    """Flips the same bit of the same record in both banks: nothing can restore it."""
    area_bytes = (len(memory) - CONTROL_BYTES) // (BANKS * AREAS)
    for bank in range(BANKS):
        memory[bank * AREAS * area_bytes + PLACE] ^= 1

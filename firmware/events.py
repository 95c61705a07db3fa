"""The log of significant events: the last 128, kept through power loss (CAB-EVT-01)."""

import struct

from firmware.store import keys

POWER_UP = 1
PROGRAM_CHANGED = 2
MEMORY_FORMATTED = 3
MEMORY_REPAIRED = 4
DOOR_OPEN = 10
DOOR_CLOSED = 11
KEY_TURNED = 12
KEY_RETURNED = 13
TILT = 20
TILT_CLEARED = 21
COIN_ERROR = 30
COINS_DISPUTED = 31
ACCEPTOR_RESET = 32
DEVICE_OFFLINE = 40
DEVICE_ONLINE = 41
PAYOUT_STARTED = 50
PAYOUT_DONE = 51
PAYOUT_SHORT = 52
PAYOUT_RESUMED = 53
HANDPAY_DUE = 54
HANDPAY_PAID = 55
ROUND_RECOVERED = 60
ROUND_VOIDED = 61
WIN_CAPPED = 62
CONFIG_CHANGED = 70
EM_PULSE_IN_DOUBT = 71

NAMES = {
    POWER_UP: "power up",
    PROGRAM_CHANGED: "program changed",
    MEMORY_FORMATTED: "memory formatted",
    MEMORY_REPAIRED: "memory records repaired",
    DOOR_OPEN: "door open",
    DOOR_CLOSED: "door closed",
    KEY_TURNED: "key turned",
    KEY_RETURNED: "key returned",
    TILT: "tilt",
    TILT_CLEARED: "tilt cleared",
    COIN_ERROR: "coin acceptor error",
    COINS_DISPUTED: "coins swallowed without credit",
    ACCEPTOR_RESET: "coin acceptor was reset",
    DEVICE_OFFLINE: "device offline",
    DEVICE_ONLINE: "device online",
    PAYOUT_STARTED: "payout started",
    PAYOUT_DONE: "payout done",
    PAYOUT_SHORT: "payout short",
    PAYOUT_RESUMED: "payout followed up after power loss",
    HANDPAY_DUE: "handpay due",
    HANDPAY_PAID: "handpay paid",
    ROUND_RECOVERED: "round recovered",
    ROUND_VOIDED: "round voided, bet refunded",
    WIN_CAPPED: "win cap reached",
    CONFIG_CHANGED: "setting changed",
    EM_PULSE_IN_DOUBT: "one meter pulse in doubt",
}

# Until a real-time clock exists an event is dated by power-up and seconds since then.
_RECORD = "<IIBI"  # power-ups, uptime in seconds, code, argument


class EventLog:
    """Ring of events in the journal. `changes` prepares one event for the caller's commit, so that an event and what
    it tells of land together."""

    def __init__(self, journal, meters):
        self._journal = journal
        self._meters = meters

    def changes(self, now_ms: int, *events):
        """Journal changes that append events, each (code, argument)."""
        total = self._journal.get_int(keys.EVENTS_TOTAL)
        changes = []
        for code, argument in events:
            record = struct.pack(_RECORD, self._meters.value("power_ups"), now_ms // 1000, code, argument & 0xFFFFFFFF)
            changes.append((keys.EVENT_BASE + total % keys.EVENT_SLOTS, record))
            total += 1
        changes.append((keys.EVENTS_TOTAL, total))
        return changes

    def newest(self, number: int):
        """Up to `number` events, newest first, as (sequence, power-ups, uptime_s, code, argument)."""
        total = self._journal.get_int(keys.EVENTS_TOTAL)
        found = []
        for sequence in range(total - 1, max(-1, total - 1 - min(number, keys.EVENT_SLOTS)), -1):
            record = self._journal.get(keys.EVENT_BASE + sequence % keys.EVENT_SLOTS)
            found.append((sequence,) + struct.unpack(_RECORD, record))  # noqa: RUF005 (star in a tuple costs MicroPython a list)
        return found

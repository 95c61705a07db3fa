"""The log of significant events: the last 128, kept through power loss (CAB-EVT-01)."""

import struct

from firmware.store import keys

POWER_UP = 1
PROGRAM_CHANGED = 2
MEMORY_FORMATTED = 3
MEMORY_REPAIRED = 4
POWER_DOWN = 5
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
CONFIG_CHANGED = 70  # argument: config.argument
EM_PULSE_IN_DOUBT = 71
RNG_ALARM = 120
RNG_RECOVERED = 121
RNG_DEVICE_CHANGED = 122
EM_PULSE_MISSED = 100
PERIOD_STARTED = 101
DOOR_FOUND_OPEN = 102
HOPPER_LEVEL = 103
HOPPER_FITTED = 104
EXTRA_COINS = 105
TEST_BEGUN = 106
TEST_ENDED = 107
EXCESSIVE_INCREMENT = 108
CLOCK_LOST = 80
CLOCK_LEFT = 81
CLOCK_SET = 82
CONFIG_WAS = 72  # before CONFIG_CHANGED, in the same transaction
CONFIGURED = 73
RAM_CLEARED = 74
PROGRAM_ACCEPTED = 75
NOTE_RETURNED = 130
NOTE_REFUSED = 131  # argument: the device's code, 256: found in its path at start-up
NOTE_DISPUTED = 132  # argument: money/notes_in.py REASONS above the pence
NOTE_ACCEPTOR_RESET = 133
STACKER_REMOVED = 134
NOTE_FAULT = 135
NOTE_UNASKED = 136  # taken and credited although nobody had ordered it
UPDATE_FAILED = 140  # argument: slot above why (update/slots.py FAILURES)
PROGRAM_DAMAGED = 141
SETTINGS = (CONFIG_CHANGED, CONFIG_WAS)  # their argument is config.argument's

NAMES = {
    POWER_UP: "power up",
    PROGRAM_CHANGED: "program changed",
    MEMORY_FORMATTED: "memory formatted",
    MEMORY_REPAIRED: "memory records repaired",
    POWER_DOWN: "power down (last sign of life)",
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
    CONFIG_CHANGED: "setting changed to",
    CONFIG_WAS: "setting about to be changed was",
    CONFIGURED: "first set-up of cabinet",
    RAM_CLEARED: "memory cleared by a technician, time",
    PROGRAM_ACCEPTED: "program accepted by a technician",
    EM_PULSE_IN_DOUBT: "one meter pulse in doubt",
    RNG_ALARM: "random source failed test",
    RNG_RECOVERED: "random source passed its start-up test again",
    RNG_DEVICE_CHANGED: "random device changed to kind",
    EM_PULSE_MISSED: "meter pulse without current, kept in the queue",
    PERIOD_STARTED: "period meters started",
    DOOR_FOUND_OPEN: "door found open at power-up",
    HOPPER_LEVEL: "hopper level",
    HOPPER_FITTED: "hopper fitted",
    EXTRA_COINS: "hopper gave extra coins",
    TEST_BEGUN: "test begun",
    TEST_ENDED: "test ended",
    EXCESSIVE_INCREMENT: "excessive increment",
    CLOCK_LOST: "date and time lost",
    CLOCK_LEFT: "clock about to be set, it showed",
    CLOCK_SET: "clock set to",
    NOTE_RETURNED: "note returned",
    NOTE_REFUSED: "note refused by the acceptor, code",
    NOTE_DISPUTED: "note disputed",
    NOTE_ACCEPTOR_RESET: "note acceptor was reset",
    STACKER_REMOVED: "stacker removed, notes in it",
    NOTE_FAULT: "note acceptor fault",
    NOTE_UNASKED: "note taken without an order, and credited",
    UPDATE_FAILED: "new application was left",
    PROGRAM_DAMAGED: "what runs is damaged",
}

_RECORD = "<IIIBI"  # date (0: not known), power-ups, uptime in seconds, code, argument


class EventLog:
    """Ring of events in the journal. `changes` prepares one event for the caller's commit, so that an event and what
    it tells of land together."""

    def __init__(self, journal):
        self._journal = journal

    def changes(self, events):
        """Journal changes that append events, each ((date, power-ups, uptime_s), code, argument)."""
        total = self._journal.get_int(keys.EVENTS_TOTAL)
        changes = []
        for when, code, argument in events:
            record = struct.pack(_RECORD, when[0], when[1], when[2], code, argument & 0xFFFFFFFF)
            changes.append((keys.EVENT_BASE + total % keys.EVENT_SLOTS, record))
            total += 1
        changes.append((keys.EVENTS_TOTAL, total))
        return changes

    def newest(self, number: int, last: int = -1):
        """Up to `number` events, newest first, as (sequence, date, power-ups, uptime_s, code, argument). `last`: the newest
        sequence number wanted, -1 for the newest there is."""
        total = self._journal.get_int(keys.EVENTS_TOTAL)
        oldest = max(0, total - keys.EVENT_SLOTS)
        first = total - 1 if last < 0 else min(last, total - 1)
        found = []
        for sequence in range(first, max(oldest - 1, first - number), -1):
            record = self._journal.get(keys.EVENT_BASE + sequence % keys.EVENT_SLOTS)
            found.append((sequence,) + struct.unpack(_RECORD, record))  # noqa: RUF005 (star in a tuple costs MicroPython a list)
        return found

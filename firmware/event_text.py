"""Events as a technician reads them: date, message, and the argument in words."""

from firmware import clock, config, events, tilt
from firmware.money import notes_in
from firmware.money.amounts import pounds
from firmware.money.hoppers import LEVELS
from firmware.rng import health
from firmware.test_mode import KINDS as TESTS
from firmware.update.slots import FAILURES
from hal.calendar import dates
from hal.entropy import kinds

DOORS = ("main", "cashbox", "note box", "logic")
KEYS = ("attendant", "technician")
DEVICES = ("", "I/O board", "coin acceptor", "hopper £1", "hopper 10p", "note acceptor")
NOTE_REASONS = (
    "nothing tells what became of it",
    "another acceptor stands there",
    "more than one note was taken since",
    "an attendant has given it up",
    "it was credited and came out again",
    "a credit that nobody can place",
    "notes were taken without a word",
    "not a note of this cabinet",
)
NOTE_FAULTS = ("path open", "out of service", "wants encryption, and has no key of ours")
RESETS = ("mains or supply", "watchdog", "restart asked for")
HOPPERS = DEVICES[3:]
EM_METERS = ("coins in", "coins out")
_TILTS = {tilt.CODES[name]: "E%d %s" % (tilt.CODES[name], tilt.MESSAGES[name]) for name in tilt.NAMES}


def _nothing(argument: int) -> str:
    return ""


def _number(argument: int) -> str:
    return "%d" % argument


def _hex(argument: int) -> str:
    return "0x%08x" % argument


def _tilt(argument: int) -> str:
    return _TILTS.get(argument, "E%d" % argument)


def _date(argument: int) -> str:
    return dates.text(argument) if argument else "no known time"


def _disputed(argument: int) -> str:
    reason, pence = argument >> notes_in.REASON_SHIFT, argument & (1 << notes_in.REASON_SHIFT) - 1
    return "%s, %s" % (pounds(pence), NOTE_REASONS[reason] if reason < len(NOTE_REASONS) else "%d" % reason)


def _one_of(names):
    return lambda argument: names[argument] if argument < len(names) else "%d" % argument


# What the argument of an event is; a number where a code is not listed.
ARGUMENTS = {
    events.POWER_UP: _one_of(RESETS),
    events.POWER_DOWN: _nothing,
    events.PROGRAM_CHANGED: _hex,
    events.MEMORY_FORMATTED: _nothing,
    events.DOOR_OPEN: _one_of(DOORS),
    events.DOOR_CLOSED: _one_of(DOORS),
    events.KEY_TURNED: _one_of(KEYS),
    events.KEY_RETURNED: _one_of(KEYS),
    events.TILT: _tilt,
    events.TILT_CLEARED: _tilt,
    events.ACCEPTOR_RESET: _nothing,
    events.DEVICE_OFFLINE: _one_of(DEVICES),
    events.DEVICE_ONLINE: _one_of(DEVICES),
    events.PAYOUT_STARTED: pounds,
    events.PAYOUT_DONE: lambda argument: "all paid" if argument == 0 else pounds(argument) + " not paid",
    events.PAYOUT_SHORT: lambda argument: "hopper flags " + _hex(argument),
    events.PAYOUT_RESUMED: lambda argument: pounds(argument) + " back to the credit",
    events.HANDPAY_DUE: pounds,
    events.HANDPAY_PAID: pounds,
    events.ROUND_RECOVERED: lambda argument: "behind its event %d" % argument,
    events.ROUND_VOIDED: pounds,
    events.WIN_CAPPED: pounds,
    events.EM_PULSE_IN_DOUBT: _one_of(EM_METERS),
    events.PROGRAM_ACCEPTED: _hex,
    events.EM_PULSE_MISSED: _one_of(EM_METERS),
    events.DOOR_FOUND_OPEN: _one_of(DOORS),
    events.HOPPER_FITTED: _one_of(HOPPERS),
    events.HOPPER_LEVEL: lambda argument: "%s %s" % (_one_of(HOPPERS)(argument >> 2), LEVELS[argument & 3]),
    events.EXTRA_COINS: pounds,
    events.EXCESSIVE_INCREMENT: pounds,
    events.TEST_BEGUN: _one_of(TESTS),
    events.TEST_ENDED: lambda argument: "%d coins" % argument,
    events.RNG_ALARM: lambda argument: health.NAMES.get(argument, "%d" % argument),
    events.RNG_RECOVERED: _nothing,
    events.RNG_DEVICE_CHANGED: _one_of(kinds.NAMES),
    events.CLOCK_LOST: lambda argument: clock.REASONS.get(argument, "%d" % argument),
    events.CLOCK_LEFT: _date,
    events.CLOCK_SET: _date,
    events.NOTE_RETURNED: pounds,
    events.NOTE_DISPUTED: _disputed,
    events.NOTE_ACCEPTOR_RESET: _nothing,
    events.NOTE_FAULT: _one_of(NOTE_FAULTS),
    events.NOTE_UNASKED: pounds,
    events.UPDATE_FAILED: lambda argument: "slot %d, %s" % (argument >> 8, _one_of(FAILURES)(argument & 0xFF)),
    events.PROGRAM_DAMAGED: _nothing,
}


def when(date: int, power_ups: int, uptime_s: int) -> str:
    """Date and time (UTC); power-up and uptime where the time was not known."""
    return dates.text(date) if date else "power-up %d +%ds" % (power_ups, uptime_s)


def line(event, packs) -> str:
    """One event, as EventLog.newest gives it. packs: games on the board by name."""
    sequence, date, power_ups, uptime_s, code, argument = event
    said = config.told(argument, packs) if code in events.SETTINGS else ARGUMENTS.get(code, _number)(argument)
    message = events.NAMES.get(code, "event %d" % code)
    return "%6d  %-19s  %3d %s%s" % (
        sequence,
        when(date, power_ups, uptime_s),
        code,
        message,
        ": " + said if said else "",
    )

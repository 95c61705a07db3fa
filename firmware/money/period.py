"""Period meters: what each meter has grown by since a technician began the period (CAB-MTR-01, AWP practice).

Nothing is counted twice: at its beginning a period keeps what every meter stood at, and its value is the difference modulo
the meter's range, so a roll-over inside the period does not show. Lifetime meters are never touched.
"""

import struct

from firmware import events
from firmware.money.ledger import ACCOUNTS, COINS_PENCE, METER_MODULUS, NOTES_PENCE, OWED
from firmware.money.meters import METERS, OCCURRENCE_MODULUS, TALLIES
from firmware.store import keys

_RECORD = (
    "<5I"  # number of the period, event that tells of its beginning, date (0: unknown), power-ups, uptime in seconds
)
NO_PERIOD = ("games_since_power_up", "games_since_door", "notes_in_stacker")  # begin anew by themselves

PENCE = "GBP"
TIMES = "times"
COINS = "coins"
NOTES = "notes"


def start(books, now_ms: int) -> int:
    """Begins a period: one record holds all bases and the event. Returns the period's number."""
    journal = books.journal
    number = current(books)[0] + 1
    sequence = journal.get_int(keys.EVENTS_TOTAL)
    transaction = books.transaction(now_ms).event(events.PERIOD_STARTED, number)
    moment = (books.date(now_ms), books.meters.value("power_ups"), now_ms // 1000)
    transaction.set(keys.PERIOD, struct.pack(_RECORD, number, sequence, *moment))
    for key, base, _ in _stored():
        transaction.set(base, journal.get_int(key))
    transaction.commit()
    return number


def current(books):
    """(number, sequence of its event, date, power-ups, uptime in seconds) of the period; number 0: since the memory was
    cleared. Dates as in clock.py."""
    record = books.journal.get(keys.PERIOD)
    return struct.unpack(_RECORD, record) if record else (0, 0, 0, 0, 0)


def _stored():
    """(key, key of its base, modulus) of everything that has a period."""
    for i in range(len(ACCOUNTS)):
        if ACCOUNTS[i] not in OWED:
            yield keys.ACCOUNT_BASE + i, keys.PERIOD_ACCOUNT_BASE + i, METER_MODULUS
    for i in range(len(METERS)):
        if METERS[i] not in NO_PERIOD:
            yield keys.METER_BASE + i, keys.PERIOD_METER_BASE + i, OCCURRENCE_MODULUS
    for i in range(len(TALLIES)):
        yield keys.TALLY_BASE + i, keys.PERIOD_TALLY_BASE + i, METER_MODULUS


def rows(books):
    """All meters as (name, unit, lifetime, period); period is None where it has no meaning."""
    accounts = [_pair(books, keys.ACCOUNT_BASE + i, keys.PERIOD_ACCOUNT_BASE + i) for i in range(len(ACCOUNTS))]
    found = {ACCOUNTS[i]: accounts[i] for i in range(len(ACCOUNTS))}
    for i in range(len(TALLIES)):
        found[TALLIES[i]] = _pair(books, keys.TALLY_BASE + i, keys.PERIOD_TALLY_BASE + i)
    coins = ["coins_%d" % pence for pence in COINS_PENCE]
    notes = ["notes_%d" % pence for pence in NOTES_PENCE]
    yield _row("turnover", found, ("wagered",), ("refunded",))
    yield _row("wins", found, ("won",))
    yield _row("coins_in", found, coins)
    yield _row("notes_in", found, notes)
    yield _row("money_in", found, coins + notes)
    yield _row("coins_out", found, ("hopper_100", "hopper_10"))
    yield _row("money_out", found, ("hopper_100", "hopper_10", "handpay", "large_win"))
    yield _row("coins_to_hoppers", found, ("to_hopper_100", "to_hopper_10"))
    yield _row("drop", found, coins, ("to_hopper_100", "to_hopper_10"))
    for name in ACCOUNTS:
        lifetime, period = found[name]
        yield name, PENCE, lifetime, None if name in OWED else period
    for name in TALLIES:
        yield name, PENCE, found[name][0], found[name][1]
    for name, values, unit in (("coins", COINS_PENCE, COINS), ("notes", NOTES_PENCE, NOTES)):
        for pence in values:
            lifetime, period = found["%s_%d" % (name, pence)]
            yield "number_%s_%d" % (name, pence), unit, lifetime // pence, period // pence
    for i in range(len(METERS)):
        lifetime, base = books.meters.value(METERS[i]), books.journal.get_int(keys.PERIOD_METER_BASE + i)
        period = None if METERS[i] in NO_PERIOD else (lifetime - base) % OCCURRENCE_MODULUS
        yield METERS[i], TIMES, lifetime, period


def _pair(books, key: int, base: int):
    value = books.journal.get_int(key)
    return value, (value - books.journal.get_int(base)) % METER_MODULUS


def _row(name: str, found, added, taken=()):
    lifetime = sum([found[part][0] for part in added]) - sum([found[part][0] for part in taken])
    period = sum([found[part][1] for part in added]) - sum([found[part][1] for part in taken])
    return name, PENCE, lifetime % METER_MODULUS, period % METER_MODULUS

"""Console commands about meters, periods, hoppers and the test mode; see commands.py."""

from firmware.answers import books as _books
from firmware.money import period
from firmware.money.amounts import pounds
from firmware.money.ledger import OWED, SINKS, SOURCES
from firmware.test_mode import KINDS, MAX_SECONDS
from hal.calendar import dates

COLUMN = 16  # characters of an amount
_TEST_SECONDS = 20
_NOT_TESTED = {
    "meter": "a pulse cannot be given without counting: compare the counter's figure with em_in and em_out of meters",
    "entropy": "random bytes are drawn for rounds only; their health is tested all the time: see status and tilts",
}


def _serviced(cabinet, what: str):
    machine = cabinet.machine
    if machine is None:
        raise ValueError("the machine is locked")
    if not machine.in_service():
        raise ValueError("turn the technician key first: %s only with it" % what)
    return machine


def meters(cabinet, words, now_ms):
    """All meters with what they hold, in every state (CAB-MTR-09)."""
    books = _books(cabinet)
    if cabinet.books is None:
        yield "memory is unrecoverable: these are the last readings that can be found"
    yield "%-22s %-5s %16s %16s" % ("meter", "unit", "lifetime", "period")
    for name, unit, lifetime, grown in period.rows(books):
        shown = [_amount(unit, value) for value in (lifetime, grown)]
        yield "%-22s %-5s %s %s" % (name, unit, _right(shown[0]), _right(shown[1]))
    yield _period_line(books)
    ledger = books.ledger
    difference = ledger.discrepancy()
    yield "audit %s: sources %s, sinks %s, owed %s" % (
        "balances" if difference == 0 else "is out by %d pence" % difference,
        pounds(ledger.total(SOURCES)),
        pounds(ledger.total(SINKS)),
        pounds(ledger.total(OWED)),
    )


def _right(text: str) -> str:
    """At the right of its column. MicroPython's %16s counts bytes, and a pound sign has two."""
    return " " * (COLUMN - len(text)) + text


def _amount(unit: str, value) -> str:
    if value is None:
        return "-"
    return pounds(value) if unit == period.PENCE else "%d" % value


def _period_line(books) -> str:
    number, sequence, date, power_ups, uptime_s = period.current(books)
    if not number:
        return "period 0: since the memory was new"
    when = dates.text(date) + " UTC, " if date else ""
    return "period %d: began %swith event %d, power-up %d +%ds" % (number, when, sequence, power_ups, uptime_s)


def _period(cabinet, words, now_ms):
    books = _books(cabinet)
    if words == ["start"]:
        _serviced(cabinet, "a period begins")
        period.start(books, now_ms)
    elif words:
        raise ValueError("say period, or period start")
    yield _period_line(books)


def _hoppers(cabinet, words, now_ms):
    machine = cabinet.machine
    if machine is None:
        raise ValueError("the machine is locked")
    hoppers = machine.hoppers
    for index in range(len(hoppers.rows)):
        account, value, _ = hoppers.rows[index]
        online = "online" if hoppers.online[index] else "offline"
        yield "%-11s coin %dp, %s, level %s" % (account, value, online, hoppers.level(index))
    yield "largest pay-out by hoppers %s" % pounds(machine.payout.limit_pence())
    due = machine.payout.reclaimable()
    if due:
        yield "%s could not be paid: refill, clear the tilt, then press cash-out, or pay it by hand" % pounds(due)


def _test(cabinet, words, now_ms):
    kind = words[0] if words else ""
    if kind in _NOT_TESTED:
        raise ValueError(_NOT_TESTED[kind])
    machine = _serviced(cabinet, "tests are made")
    names = [row[0] for row in machine.hoppers.rows]
    if kind not in KINDS or len(words) > 2 or (kind == "hopper" and (len(words) != 2 or words[1] not in names)):
        raise ValueError(
            "say test lamps, test inputs [SECONDS], test coins [SECONDS], or test hopper and one of: %s"
            % ", ".join(names)
        )
    if machine.payout.active():
        raise ValueError("a pay-out is under way; wait for its end")
    test = machine.test
    if kind == "hopper":
        if not test.begin_hopper(names.index(words[1]), words[1], now_ms):
            raise ValueError("%s does not answer; see status" % words[1])
    else:
        test.begin(kind, _seconds(words), now_ms)
    while cabinet.machine is machine:  # until the test has ended, or the machine locked
        line = test.line()
        if line is None and not test.kind:
            break
        yield line


def _seconds(words) -> int:
    word = words[1] if len(words) > 1 else "%d" % _TEST_SECONDS
    seconds = int(word) if word.isdigit() else 0
    if not 1 <= seconds <= MAX_SECONDS:
        raise ValueError("the time is 1 to %d seconds, not %s" % (MAX_SECONDS, word))
    return seconds


COMMANDS = {
    "meters": (meters, "all meters with unit, lifetime and period, and the audit identity"),
    "period": (_period, "[start]: when the period of the meters began; start begins a new one (technician key)"),
    "hoppers": (_hoppers, "coin, level and limit of the hoppers, and what they still owe"),
    "test": (_test, "lamps | inputs [S] | coins [S] | hopper NAME: tries them without counting (technician key)"),
}

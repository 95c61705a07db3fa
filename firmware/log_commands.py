"""Console commands of the clock and of all that is dated: events, finished games, program changes, notes."""

from firmware import clock, event_text, notes, programs
from firmware.answers import books as _books
from firmware.answers import whole
from firmware.money.amounts import pounds
from firmware.play import replays, rounds
from firmware.store import keys
from hal.calendar import dates

_PAGE = 20  # events shown unless told


def _events(cabinet, words, now_ms):
    log = _books(cabinet).events
    number = whole(words[0], "the number of events", 1, keys.EVENT_SLOTS) if words else _PAGE
    last = -1
    if len(words) > 1:
        if len(words) != 3 or words[1] != "from":
            raise ValueError("say events, events N, or events N from NUMBER")
        last = whole(words[2], "the event's number", 0, 0xFFFFFFFF)
    found = log.newest(1, last)
    if not found:
        yield "no event of that number or before it is kept"
    while found and number:  # one at a time, so that no turn of the loop is long
        yield event_text.line(found[0], cabinet.packs)
        last, number = found[0][0] - 1, number - 1
        found = log.newest(1, last) if last >= 0 else ()
    if found:
        yield "older ones: events %s from %d" % (words[0] if words else _PAGE, last)


def _recall(cabinet, words, now_ms):
    journal = _books(cabinet).journal
    number = whole(words[0], "the number of games", 1, keys.RECALL_SLOTS) if words else keys.RECALL_SLOTS
    opened = rounds.under_way(journal)
    if opened is not None:
        yield from replays.summary(opened, cabinet.packs, 0)
    found = rounds.recall(journal, number)
    if not found and opened is None:
        yield "no game has been played yet"
    for i in range(len(found)):
        yield from replays.summary(found[i], cabinet.packs, i + 1)


def _replay(cabinet, words, now_ms):
    journal = _books(cabinet).journal
    number = whole(words[0], "the game", 1, keys.RECALL_SLOTS) if words else 1
    found = rounds.recall(journal, number)
    if len(found) < number:
        raise ValueError("there are %d games to replay" % len(found))
    yield from replays.replay(found[number - 1], cabinet.packs)


def _hash(digest: bytes) -> str:
    return "".join(["%02x" % byte for byte in digest]) if digest != bytes(32) else "none"


def _programs(cabinet, words, now_ms):
    for sequence, date, old, new, version in programs.newest(_books(cabinet).journal, keys.PROGRAM_SLOTS):
        yield "%3d  %s  version %s" % (sequence, dates.text(date) if date else "time not known", version)
        yield "     from %s" % _hash(old)
        yield "     to   %s" % _hash(new)


def _notes(cabinet, words, now_ms):
    found = notes.newest(_books(cabinet).journal, keys.NOTE_SLOTS)
    if not found:
        yield "no note has been taken yet"
    for sequence, date, pence in found:
        yield "%6d  %s  %s" % (sequence, dates.text(date) if date else "time not known", pounds(pence))
    meters = _books(cabinet).meters
    for name in ("notes_in_stacker", "notes_refused", "notes_returned", "notes_disputed", "stacker_removals"):
        yield "%-16s %d" % (name, meters.value(name))


def _clock(cabinet, words, now_ms):
    books = _books(cabinet)
    if words:
        moment_s = _moment(words)
        if not cabinet.machine.technician_present():
            raise ValueError("the clock is set in service mode: turn the technician key")
        if not books.clock.set(books, moment_s, now_ms):
            yield "this board keeps the time only until it is switched off: its clock cannot be set from here"
    yield warning(books) or "clock %s" % books.clock.text(now_ms)


def _moment(words) -> int:
    """Seconds since 2000 of `set YYYY-MM-DD HH:MM[:SS]`."""
    numbers = []
    if len(words) == 3 and words[0] == "set":
        numbers = words[1].split("-") + words[2].split(":")
    if len(numbers) not in (5, 6) or words[1].count("-") != 2 or not all(map(str.isdigit, numbers)):
        raise ValueError("say clock set YYYY-MM-DD HH:MM or HH:MM:SS, in UTC")
    return dates.seconds(*[int(part) for part in numbers])


def warning(books) -> str:
    """What technicians must see while the time is not known, "" while it is."""
    if not books.clock.lost:
        return ""
    reason = clock.REASONS[books.clock.lost]
    return "E%d date and time lost: %s; play goes on, a technician sets the clock" % (clock.CODE, reason)


COMMANDS = {
    "clock": (_clock, "[set YYYY-MM-DD HH:MM[:SS]] date and time, UTC"),
    "events": (_events, "[N [from NUMBER]] significant events, newest first"),
    "notes": (_notes, "the last notes, and how many are in the stacker, came back, are disputed"),
    "programs": (_programs, "the last program changes"),
    "recall": (_recall, "[N] the last N games: stakes, features, gambles, seed"),
    "replay": (_replay, "[N] the N-th last game event by event, and whether its award is the booked one"),
}

"""What a technician does at the console: first set-up, settings, RAM clear, new programs. Each row of COMMANDS as in commands.py.

Reading is always allowed; changing needs the technician key, which is read from the I/O board and not from the console.
"""

from firmware import config, events, setup
from firmware.money_commands import meters
from firmware.ram_clear import RamClear
from firmware.store import keys


def _hex(data: bytes) -> str:
    return "".join(["%02x" % byte for byte in data])


def _begin(cabinet, dialogue):
    cabinet.dialogue = dialogue
    return dialogue.begin()


def _setup(cabinet, words, now_ms):
    if cabinet.machine is None:
        raise ValueError("the machine is locked; only ramclear leads out")
    if cabinet.books.config.complete:
        raise ValueError("the cabinet is set up: change settings with config; what is locked changes by ramclear")
    if not cabinet.technician():
        raise ValueError("turn the technician key first")
    yield from _begin(cabinet, setup.SetUp(cabinet))


def _config(cabinet, words, now_ms):
    books = cabinet.readable()
    if books is None:
        raise ValueError("critical memory cannot be read: %s" % cabinet.lock_reason)
    if not books.config.complete:
        raise ValueError("there is no configuration yet: turn the technician key and type setup")
    found = books.config
    if not words:
        yield from setup.listed({row.name: found.value(row.name) for row in config.ITEMS})
        return
    row = config.item(words[0])
    if len(words) > 1:
        _change(cabinet, row, row.parsed(words[1:], cabinet.packs), now_ms)
    yield "%s %s" % (row.name, row.shown(found.value(row.name)))
    yield "    %s: %s%s" % (
        row.meaning,
        row.span(cabinet.packs),
        "; locked, changes only by RAM clear" if row.locked else "",
    )


def _change(cabinet, row, value, now_ms: int) -> None:
    """One item, in one transaction with its old and new value (CAB-CFG-01)."""
    if cabinet.machine is None:
        raise ValueError("the machine is locked; only ramclear leads out")
    why = cabinet.machine.no_change()
    if why:
        raise ValueError(why)
    if row.locked:
        raise ValueError("%s is locked: it changes only by a RAM clear and a new set-up" % row.name)
    books, packs = cabinet.books, cabinet.packs
    values = {each.name: books.config.value(each.name) for each in config.ITEMS}
    old, values[row.name] = values[row.name], value
    if old == value:
        return
    config.check(values)
    config.check_board(row, value, cabinet.board)
    transaction = books.transaction(now_ms)
    transaction.event(events.CONFIG_WAS, config.argument(row, old, packs))
    transaction.event(events.CONFIG_CHANGED, config.argument(row, value, packs))
    for key, data in config.facts(values):
        if books.journal.get(key) != data:
            transaction.set(key, data)
    transaction.commit()
    cabinet.machine.configured(now_ms)


def _program(cabinet, words, now_ms):
    books = cabinet.readable()
    if books is None:
        raise ValueError("critical memory cannot be read: %s" % cabinet.lock_reason)
    here, accepted = books.journal.get(keys.PACK_HASH), books.journal.get(keys.PROGRAM_ACCEPTED)
    if words[:1] == ["accept"]:
        _accept(cabinet, words[1:], _hex(here[:4]), now_ms)
        accepted = here
    elif words:
        raise ValueError("say program, or program accept and the first eight digits of the new hash")
    yield "on this board  %s" % _hex(here)
    if here == accepted:
        yield "accepted       the same"
    elif accepted:
        yield "accepted       %s" % _hex(accepted)
        yield "compare the hash with its papers, then type program accept %s to let it be played" % _hex(here[:4])
    else:
        yield "accepted       none: the first set-up accepts the programs that it finds"


def _accept(cabinet, words, digits: str, now_ms: int) -> None:
    """A technician takes the responsibility for other programs (CAB-NVM-09). Credit may stay: no program touches it, and it
    could not be paid before."""
    if cabinet.machine is None or not cabinet.books.config.complete:
        raise ValueError("programs are accepted in a cabinet that is set up")
    if not cabinet.technician():
        raise ValueError("turn the technician key first")
    if words != [digits]:
        raise ValueError("type the first eight digits of the hash on this board: program accept %s" % digits)
    books = cabinet.books
    if not books.config.games(cabinet.packs):
        raise ValueError("none of the games that can be played is on this board: set games with config first")
    transaction = books.transaction(now_ms).set(keys.PROGRAM_ACCEPTED, books.journal.get(keys.PACK_HASH))
    transaction.event(events.PROGRAM_ACCEPTED, int(digits, 16)).commit()
    cabinet.machine.configured(now_ms)


def _ramclear(cabinet, words, now_ms):
    missing = cabinet.no_clear_access()
    if missing:
        raise ValueError("memory is cleared only by a technician at the open cabinet: %s" % missing)
    yield from _begin(cabinet, RamClear(cabinet, lambda: meters(cabinet, (), now_ms), now_ms))


COMMANDS = {
    "setup": (_setup, "the first set-up of a cabinet, item by item"),
    "config": (_config, "[ITEM [VALUE]]: the settings; changing needs the technician key and no credit"),
    "program": (_program, "[accept DIGITS]: hash of the games' programs, and the one that a technician accepted"),
    "ramclear": (_ramclear, "clears all memory; technician key turned, logic door open"),
}

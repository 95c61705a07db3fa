"""What can be said at the console. Each command is a function that yields lines; HELP is its one line of help.

Amounts are pence unless they carry a pound sign. Nothing here can set an outcome, a seed or a meter.
"""

import gc
import json

from firmware import log_commands, money_commands, rng_commands, service_commands, tilt
from firmware.answers import books as _books
from firmware.answers import whole as _whole
from firmware.money.amounts import pounds
from firmware.money.ledger import ACCOUNTS
from firmware.money.meters import METERS, TALLIES
from firmware.play import settings
from firmware.play.autoplay import AMOUNTS, MAX_PLAYS, SWITCHES
from firmware.programs import VERSION
from firmware.store import keys
from firmware.update import verify_commands

HEAP_FREE_PERCENT = 40  # budgets: what the largest state must leave free
STACK_FREE_PERCENT = 50


def run(cabinet, words, now_ms: int):
    """Generator of the answer's lines to the command `words`; an error is one line that names the remedy.

    What is no command is the answer to a dialogue, so that everything can be looked at in the middle of one.
    """
    command = _COMMANDS.get(words[0])
    if command is None and cabinet.dialogue is not None:
        return _guard(cabinet.dialogue.answer(words, now_ms))
    if command is None:
        return iter(("error: there is no command %s; type help" % words[0],))
    return _guard(command[0](cabinet, words[1:], now_ms))


def known(line: bytes) -> bool:
    """The line begins with a command."""
    try:
        return line.decode().split()[0] in _COMMANDS
    except (UnicodeError, IndexError):
        return False


def _guard(lines):
    try:
        yield from lines
    except ValueError as error:
        yield "error: %s" % error


def _switch(words, name: str) -> int:
    if len(words) != 1 or words[0] not in ("on", "off"):
        raise ValueError("say %s on or %s off" % (name, name))
    return 1 if words[0] == "on" else 0


def _help(cabinet, words, now_ms):
    for title, commands in _GROUPS:
        yield "-- %s" % title
        for name in sorted(commands):
            yield "%-11s %s" % (name, commands[name][1])


def _status(cabinet, words, now_ms):
    machine, books = cabinet.machine, cabinet.books
    if machine is None:
        yield "state    locked: %s" % cabinet.lock_reason
        yield "         %s" % cabinet.way_out()
        return
    play = machine.play
    yield "state    %s" % machine.state
    if machine.state == "setup":
        yield "         no configuration: turn the technician key and type setup"
    yield "game     %s, %s, bet %s (coin %dp, level %d)" % (
        play.game,
        play.bets.mode_name(),
        pounds(play.bet()),
        play.bets.coin_value(),
        play.bets.level(),
    )
    yield "credit   %s" % pounds(books.ledger.value("credit"))
    for account in ("payout", "handpay_due", "large_win_due"):
        if books.ledger.value(account):
            yield "%-8s %s" % (account, pounds(books.ledger.value(account)))
    yield "tilts    %s" % (", ".join(machine.tilts.active()) or "none")
    if books.clock.lost:
        yield "warning  %s" % log_commands.warning(books)
    yield "clock    %s" % (books.clock.text(now_ms) if not books.clock.lost else "not known")
    yield "devices  panel %s, acceptor %s, hoppers %s, note acceptor %s, random source %s" % (
        _online(machine.panel_online),
        _online(machine.coins.online),
        " ".join([_online(online) for online in machine.hoppers.online]),
        _online(machine.notes.online) if machine.notes.fitted else "none",
        machine.generator.state,
    )
    if machine.notes.pending_pence:
        yield "note     %s on its way, not credited yet" % pounds(machine.notes.pending_pence)
    yield "uptime   %d s" % (now_ms // 1000)


def _online(online: bool) -> str:
    return "online" if online else "offline"


def _credit(cabinet, words, now_ms):
    books = _books(cabinet)
    yield "credit %s" % pounds(books.ledger.value("credit"))
    for account, name in (("handpay_due", "handpay"), ("large_win_due", "large win")):
        if books.ledger.value(account):
            yield "%s due %s" % (name, pounds(books.ledger.value(account)))


def _tilts(cabinet, words, now_ms):
    if cabinet.machine is None:
        if cabinet.refused:
            yield cabinet.lock_reason
        else:
            yield "E52 critical memory unrecoverable: %s (cleared by technician)" % cabinet.lock_reason
        return
    active = cabinet.machine.tilts.active()
    if not active:
        yield "no tilts"
    for name in active:
        yield "E%d %s (%s)" % (
            tilt.CODES[name],
            tilt.MESSAGES[name],
            "clears by itself" if tilt.CLEARS[name] == tilt.AUTO else "cleared by %s key" % tilt.CLEARS[name],
        )


def _version(cabinet, words, now_ms):
    yield "cabinet firmware %s on board %s" % (VERSION, cabinet.board.name)
    for name in sorted(cabinet.packs):
        yield "game %s %s" % (name, "".join(["%02x" % byte for byte in cabinet.packs[name].sha256]))


def _lines(cabinet, words, now_ms):
    for name, number in cabinet.devices.bus.statistics():
        yield "cctalk %-16s %d" % (name, number)


def _headroom(name: str, free: int, size: int, budget: int) -> str:
    percent = 100 * free // size
    verdict = "" if percent >= budget else ", TOO LITTLE"
    return "%-8s %d of %d bytes free (%d %%, budget at least %d %%%s)" % (name, free, size, percent, budget, verdict)


def _memory(cabinet, words, now_ms):
    if hasattr(gc, "mem_free"):
        gc.collect()
        free, used = gc.mem_free(), gc.mem_alloc()
        yield _headroom("heap", free, free + used, HEAP_FREE_PERCENT)
    else:
        yield "heap     this board's Python does not count it"
    stack = cabinet.board.stack()
    if stack:
        yield _headroom("stack", stack[0] - stack[1], stack[0], STACK_FREE_PERCENT)
    if cabinet.books is not None:
        used, area = cabinet.books.journal.usage()
        yield "journal  %d of %d bytes of the area written, record %d" % (used, area, cabinet.books.journal.sequence)


def _watch(cabinet, words, now_ms):
    cabinet.console.watching = bool(_switch(words, "watch"))
    yield "watch %s" % words[0]
    if cabinet.console.watching and cabinet.machine is not None:
        cabinet.machine.show_picture()
        cabinet.console.show(cabinet.books.clock.picture(now_ms))


def _query(cabinet, words, now_ms):
    """Everything that the rig compares, as one flat object. It is gathered and written down in three turns, and is of one
    moment all the same: what was gathered before a commit is gathered again."""
    books = cabinet.readable()
    sequence, answer = books.journal.sequence if books is not None else 0, _standing(cabinet)
    yield None
    books = cabinet.readable()
    if books is not None and books.journal.sequence != sequence:
        answer = _standing(cabinet)
    _add_meters(answer, books)
    yield None
    yield json.dumps(answer)


def query(cabinet) -> dict:
    """The same at once."""
    return _add_meters(_standing(cabinet), cabinet.readable())


def _standing(cabinet) -> dict:
    if cabinet.machine is None:
        return {"e": "query", "state": "locked", "reason": cabinet.lock_reason}
    machine, ledger, journal = cabinet.machine, cabinet.books.ledger, cabinet.books.journal
    return {
        "e": "query",
        "state": machine.state,
        "credit": ledger.value("credit"),
        "coins_in": ledger.coins_in(),
        "notes_in": ledger.notes_in(),
        "hopper_out": ledger.hopper_out(),
        "audit": ledger.discrepancy(),
        "tilt": machine.tilts.active(),
        "last_win": journal.get_int(keys.LAST_AWARD),
        "last_bet": journal.get_int(keys.LAST_BET),
        "free_spins_left": machine.play.free_spins_left(),
        "game": machine.play.game,
        "bet": machine.play.bet(),
        "coin_value": machine.play.bets.coin_value(),
        "level": machine.play.bets.level(),
        "mode": machine.play.bets.mode_name(),
        "unit": machine.play.bets.unit(),
        "stake": machine.play.bets.stake(),
        "pile": machine.play.pile(),
        "quiet": machine.em_meters.idle() and machine.notes.quiet(),
    }


def _add_meters(answer: dict, books) -> dict:
    if books is not None:
        get = books.journal.get_int
        for names, base in ((ACCOUNTS, keys.ACCOUNT_BASE), (METERS, keys.METER_BASE), (TALLIES, keys.TALLY_BASE)):
            for place in range(len(names)):
                answer[names[place]] = get(base + place)
    return answer


def _playing(cabinet):
    if cabinet.machine is None:
        raise ValueError("the machine is locked")
    return cabinet.machine.play


def _game(cabinet, words, now_ms):
    play = _playing(cabinet)
    known = cabinet.books.config.games(cabinet.packs)
    if len(words) != 1 or words[0] not in known:
        raise ValueError("say game and one of: %s" % ", ".join(known))
    if cabinet.machine.state != "idle" or not play.select(words[0], now_ms):
        raise ValueError("the game can be changed only while the machine is idle; it is %s" % cabinet.machine.state)
    yield "game %s" % words[0]


def _autoplay(cabinet, words, now_ms):
    play = _playing(cabinet)
    autoplay, in_round = play.autoplay, play.round is not None
    if words == ["reset"]:
        autoplay.reset(in_round)
    elif words:
        settings = {"plays": _whole(words[0], "the number of plays", 1, MAX_PLAYS)}
        i = 1
        while i < len(words):
            if words[i] in SWITCHES:
                settings[words[i]] = True
            elif words[i] in AMOUNTS and i + 1 < len(words):
                settings[words[i]] = _whole(words[i + 1], words[i], 1, 10**9)
                i += 1
            else:
                raise ValueError(
                    "%s is no stop condition; use %s, or %s with an amount in pence"
                    % (words[i], ", ".join(SWITCHES), ", ".join(AMOUNTS))
                )
            i += 1
        autoplay.configure(settings, in_round)
    settings = autoplay.settings
    yield "autoplay %d plays, %d to go%s" % (
        settings["plays"],
        autoplay.remaining,
        "; a change takes effect after the round" if words and in_round else "",
    )
    for name in SWITCHES + AMOUNTS:
        if settings[name]:
            yield "  stops on %s%s" % (name, "" if name in SWITCHES else " %d" % settings[name])


def _mode(cabinet, words, now_ms):
    play = _playing(cabinet)
    bets = play.bets
    known = [play.pack.modes[mode] for mode in range(len(play.pack.modes)) if bets.selectable(mode)]
    if words:
        if len(words) != 1 or words[0] not in known:
            raise ValueError("say mode and one of: %s" % ", ".join(known))
        if cabinet.machine.state != "idle":
            raise ValueError("the mode can be changed only while the machine is idle; it is %s" % cabinet.machine.state)
        if bets.mode_name() != words[0]:
            bets.toggle_mode(words[0])
            play.show_bet()
    yield "mode %s of %s" % (bets.mode_name(), ", ".join(known))


def _paytable(cabinet, words, now_ms):
    _playing(cabinet)
    pages = cabinet.machine.info
    for title in pages.titles():
        yield "-- %s" % title
        yield from pages.page(title)


def _set(cabinet, words, now_ms):
    found = _playing(cabinet).settings
    if len(words) == 2:
        value = {"on": 1, "off": 0}.get(words[1])
        found.set(words[0], _whole(words[1], words[0], 0, 10) if value is None else value)
    elif words:
        raise ValueError("say set and one of %s and on|off, or set volume 0-10" % ", ".join(settings.SWITCHES))
    yield "quick_spin %s, volume %d, mute %s, gamble %s" % (
        _on(found.quick_spin),
        found.volume,
        _on(found.mute),
        _on(found.gamble),
    )


def _on(value: bool) -> str:
    return "on" if value else "off"


_SHOWING = {
    "help": (_help, "this list"),
    "status": (_status, "state, game, credit, tilts and devices"),
    "credit": (_credit, "the player's credit and what is owed"),
    "tilts": (_tilts, "active tilts and who clears them"),
    "version": (_version, "firmware, board and game hashes"),
    "lines": (_lines, "error counts of the serial lines"),
    "memory": (_memory, "headroom of heap and stack against their budgets, and how full the journal's area is"),
    "watch": (_watch, "on|off: what happens, one JSON object a line"),
    "query": (_query, "the state as one JSON object"),
    "paytable": (_paytable, "the information pages at the current bet"),
}
_PLAYING = {
    "game": (_game, "NAME: select a game"),
    "mode": (_mode, "[NAME]: select a mode of play"),
    "autoplay": (_autoplay, "[N [STOP…] | reset]: autoplay settings"),
    "set": (_set, "[quick_spin on|off | mute on|off | gamble on|off | volume 0-10]"),
}
_GROUPS = (
    ("looking, in every state", _SHOWING),
    ("what happened and when", log_commands.COMMANDS),
    ("money", money_commands.COMMANDS),
    ("random source", rng_commands.COMMANDS),
    ("what runs", verify_commands.COMMANDS),
    ("what a player selects", _PLAYING),
    ("for a technician", service_commands.COMMANDS),
)
_COMMANDS = {name: commands[name] for _, commands in _GROUPS for name in commands}

"""Recall: finished games told again through the round function, which also proves their awards (CAB-EVT-02, G2).

Generators of lines for the console. A None among them ends the turn of the loop, so that a long feature takes many turns
instead of one long one.
"""

import native
from firmware.money.amounts import pounds
from firmware.play import rounds, shown
from hal.calendar import dates

# What a game is remembered by, beside its bet and its award.
_REMARKABLE = (
    native.FREE_SPINS_END,
    native.SPIN_CHANCE,
    native.MODIFIER,
    native.RESPIN,
    native.WHEEL,
    native.POT,
    native.PRIZE,
    native.WIN_CAP,
    native.GAMBLE,
)
_MOST_REMARKS = 12
_EVENTS_A_TURN = 4


def summary(record, packs, number: int):
    """A game in a few lines: stakes, credit, seed, what it had beside its spins, decisions. Number 0: it is under way, and its
    seed, which knows what comes, is not told."""
    pack = packs.get(record.game)
    fits = record.fits(pack)
    yield "%2d  %s  %s %s  bet %s  credit before %s" % (
        number,
        dates.text(record.date) if record.date else "time not known",
        record.game,
        pack.modes[record.mode] if fits else "mode %d" % record.mode,
        pounds(record.bet),
        pounds(record.credit_before),
    )
    if number == 0:
        yield "    under way"
        return
    yield "    seed %s" % "".join(["%02x" % byte for byte in record.seed])
    if record.voided:
        yield "    voided, bet refunded  credit after %s" % pounds(record.credit_after)
    else:
        yield "    award %s  credit after %s" % (pounds(record.award), pounds(record.credit_after))
    if not fits:
        if record.decisions:
            yield "    decisions %s of another version of the game" % "".join(["%02x" % b for b in record.decisions])
        return
    made, had, events = [], [], 0
    try:
        for core, event, decision in _told(record, pack):
            if decision:
                made.append(decision)
            elif event is not None and event[0] in _REMARKABLE and len(had) < _MOST_REMARKS:
                had.append(_line(pack, core, event))
            events += 1
            if events % _EVENTS_A_TURN == 0:
                yield None
    except native.CoreError:
        yield "    cannot be replayed"
        return
    if had:
        yield "    had %s" % "; ".join(had)
    if made:
        yield "    decisions %s" % ", ".join(made)


def replay(record, packs):
    """Every event of a finished game, its decisions, and whether the award is the booked one."""
    pack = packs.get(record.game)
    if record.voided:
        raise ValueError("that game was voided: it has no award to compare with")
    if not record.fits(pack):
        raise ValueError("%s has changed since; put the version that was played back to replay it" % record.game)
    yield "%s %s, bet %s" % (record.game, pack.modes[record.mode], pounds(record.bet))
    award = 0
    for core, event, decision in _told(record, pack):
        award = core.award_pence
        if decision:
            yield "  %s" % decision
        if event is not None:
            yield "  " + _line(pack, core, event)
    yield "award %s %s" % (
        pounds(award),
        "as booked" if award == record.award else "DIFFERS, booked " + pounds(record.award),
    )


def _told(record, pack):
    """(round, event or None, decision in words or "") step by step; an event every step, a decision where one was made."""
    core = record.core(pack)
    due, place = 0, 0
    while not core.finished:
        if due:
            if place == len(record.decisions):
                return  # voided before the player decided
            before = place
            place = rounds.decide(core, due, record.decisions, place)
            yield core, None, _decision(pack, due, record.decisions[before:place])
            due = 0
            continue
        event = core.next()
        if rounds.asks(event[0]):
            due = event[0]
        yield core, event, ""


def _decision(pack, due: int, data: bytes) -> str:
    if due == native.CHOICE:
        return "pick %d" % (data[0] + 1)
    if data[0] == rounds.COLLECT:
        return "collect"
    return "gamble %s on %s" % (pounds(int.from_bytes(data[1:], "little")), pack.gambles[data[0]][0])


def _line(pack, core, event) -> str:
    kind, index, symbol, count, multiplier, pence = event
    if kind == native.SPIN:
        window = core.window()
        rows = []
        for row in range(pack.rows):
            rows.append(" ".join([pack.symbols[window[reel * pack.rows + row]] for reel in range(pack.reels)]))
        return "spin: %s" % " / ".join(rows)
    if kind == native.CHOICE:
        return "choice of %d" % count
    if kind == native.GAMBLE_OFFER:
        return "gamble offered for %s" % pounds(pence)
    if kind == native.GAMBLE:
        return "gamble of %s on %s %s" % (pounds(pence), pack.gambles[index][0], "won" if count else "lost")
    if kind == native.ROUND_END:
        return "round end %s" % pounds(pence)
    name = shown.event_name(pack, event)
    text = shown.NAMES[kind].replace("_", " ") + (" " + name if name else "")
    for label, number in (("index", index), ("symbol", symbol), ("count", count), ("x", multiplier)):
        if number:
            text += "  %s %d" % (label, number)
    return text + ("  " + pounds(pence) if pence else "")

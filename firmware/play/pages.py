"""The text of the information pages, written from the game's pack, so that they cannot differ from what is played.

Each page is a generator of lines over (pack, bets, pile). It yields None where it has worked without a line, so that a turn of
the loop stays short.
"""

import native
from firmware.money.amounts import pounds
from firmware.play import shown


def names(pack, mask: int) -> str:
    """Names of the symbols of a mask."""
    found = [pack.symbols[symbol] for symbol in range(len(pack.symbols)) if mask & 1 << symbol]
    return " or ".join(found)


def title_case(name: str) -> str:
    return name.replace("_", " ")


def percent(ppm: int) -> str:
    return "%d.%02d %%" % (ppm // 10000, ppm % 10000 // 100)


def titles(pack):
    found = ["paytable", "symbols"]
    if pack.features:
        found.append("features")
    if _wheels(pack) or pack.pots:
        found.append("prizes")
    if pack.gambles:
        found.append("gamble")
    found.append("ways" if pack.evaluation(0) == native.WAYS else "lines")
    found.append("rtp")
    return tuple(found)


def _paytable(pack, bets, pile):
    unit = bets.unit()
    if pack.evaluation(bets.mode()) == native.WAYS:
        yield "bet %s, pays for one way" % pounds(bets.bet())
    else:
        yield "bet %s, %s a line" % (pounds(bets.bet()), pounds(unit))
    for symbol in range(len(pack.symbols)):
        pays = []
        for count in range(1, pack.reels + 1):
            credits = pack.pay(symbol, count)
            if credits:
                pays.append("%d: %s" % (count, pounds(credits * unit)))
        yield "%s  %s" % (pack.symbols[symbol], "  ".join(pays)) if pays else None
    if pack.flags(bets.mode()) & native.MODE_SCATTER_PAYS:
        for symbol in range(len(pack.symbols)):
            yield _scatter_pays(pack, symbol, bets.bet())


def _scatter_pays(pack, symbol: int, bet: int):
    pays = []
    before = 0
    for count in range(1, pack.reels * pack.rows + 1):
        multiple = pack.scatter_pay(symbol, count)
        if multiple and multiple != before:
            pays.append("%d: %s" % (count, pounds(multiple * bet)))
        before = multiple
    return "%s anywhere  %s" % (pack.symbols[symbol], "  ".join(pays)) if pays else None


def _symbols(pack, bets, pile):
    """What each symbol does beside its pays, mode by mode; what several modes share is said once."""
    for symbol, multiplier, mask in pack.wilds:
        others = [pack.symbols[i] for i in range(len(pack.symbols)) if not mask & 1 << i and i != symbol]
        times = ", a win with it pays x%d" % multiplier if multiplier > 1 else ""
        but = " but " + ", ".join(others) if others else ""
        yield "%s  stands for every symbol%s%s" % (pack.symbols[symbol], but, times)
    told = set()
    for mode in range(len(pack.modes)):
        for step in pack.steps(mode):
            for text in _role(pack, bets, mode, step):
                if text in told:
                    yield None
                else:
                    told.add(text)
                    yield text
    if pile:
        yield "the pile holds %d" % pile


def _role(pack, bets, mode: int, step):
    """Lines about one step of a mode."""
    op, index, most, least, symbols, needed, credits = step
    who, stake = names(pack, symbols), bets.unit()
    if op == native.STEP_MODIFIER:
        yield "%s: on any play a modifier may decide where the reels stop" % title_case(pack.modes[mode])
    elif op == native.STEP_VALUES:
        values = [row[3] for row in pack.table(index)]
        yield "%s  carries %s to %s" % (who, pounds(min(values) * stake), pounds(max(values) * stake))
    elif op == native.STEP_COLLECT:
        yield "%s  pays all values in view" % who
    elif op == native.STEP_PILE:
        yield "%s  grows the pile and may win: %s" % (who, _prizes(pack, index))
    elif op == native.STEP_AWARD:
        count = "%d" % least if most == least else "%d or more" % least
        if most > least and most < pack.reels * pack.rows:
            count = "%d to %d" % (least, most)
        with_it = " with %s" % names(pack, needed) if needed else ""
        text = "%s %s in view%s: %s" % (count, who, with_it, _prizes(pack, index))
        yield "%s  %s" % (title_case(pack.modes[mode]), text)
    elif op == native.STEP_RESPIN:
        yield "%s: %d %s without a feature spin the other reels again" % (title_case(pack.modes[mode]), least, who)
    elif op == native.STEP_FRAMES and index == 0:
        yield "%s  in %s: makes a frame, or raises it, up to level 3" % (who, title_case(pack.modes[mode]))
    elif op == native.STEP_FRAMES:
        yield "%s  in %s: makes a frame of level 3, or pays %s" % (
            who,
            title_case(pack.modes[mode]),
            pounds(credits * stake),
        )
    elif op == native.STEP_ADD_SPINS:
        yield "%s  adds %d free spin%s" % (who, least, "" if least == 1 else "s")
    elif op == native.STEP_TOKENS:
        yield "%s  fills a place of a pot's row" % who


def _prizes(pack, table: int) -> str:
    """What can be won from a table, each once."""
    found = []
    for row in pack.table(table):
        if row[1] == native.PRIZE_WHEEL:
            name = "the wheel"
        elif row[1] == native.PRIZE_NOTHING:
            continue
        elif row[1] == native.PRIZE_SPINS:
            name = "%d extra spins" % row[3]
        else:
            name = title_case(shown.prize_name(pack, row))
        if name not in found:
            found.append(name)
    return ", ".join(found)


def _features(pack, bets, pile):
    for name, _, options in pack.features:
        for count, spins, multiplier in options:
            times = " x%d" % multiplier if multiplier > 1 else ""
            by = " for %d in view" % count if count else ""
            yield "%s%s: %d free spins%s" % (title_case(name), by, spins, times)
    told = set()
    for number in range(len(pack.features)):
        for level, table in pack.bowls(number):
            yield None if (level, table) in told else _bowl(pack, bets.unit(), level, table)
            told.add((level, table))


def _bowl(pack, unit: int, level: int, table: int) -> str:
    lowest, highest, pots = 0, 0, []
    for _, kind, index, credits in pack.table(table):
        if kind == native.PRIZE_POT:
            pots.append(pack.pots[index][0])
        else:
            lowest = min(lowest or credits, credits)
            highest = max(highest, credits)
    text = "a frame of level %d pays at the end: %s to %s" % (level, pounds(lowest * unit), pounds(highest * unit))
    return text + (", or " + ", ".join(pots) if pots else "")


def _wheels(pack):
    """Numbers of the tables that a wheel can be spun on."""
    found = []
    for mode in range(len(pack.modes)):
        for step in pack.steps(mode):
            if step[0] in (native.STEP_AWARD, native.STEP_PILE):
                for row in pack.table(step[1]):
                    if row[1] == native.PRIZE_WHEEL and row[2] not in found:
                        found.append(row[2])
    return found


def _prize_lines(pack, bets, pile):
    wheels = _wheels(pack)
    for number in range(len(wheels)):
        yield "wheel %d: %s" % (number + 1, _prizes(pack, wheels[number]))
    if wheels:
        yield "the size of a segment says nothing of its chance"
    for name, credits, tokens in pack.pots:
        text = "%s pot: %s" % (title_case(name), pounds(credits * bets.unit()))
        yield text + (", won by %d tokens in free spins" % tokens if tokens else "")


def _gamble(pack, bets, pile):
    unit = bets.unit()
    yield "a win of %s or more may be gambled, %d times at most" % (
        pounds(pack.gamble_from * unit),
        pack.most_gambles,
    )
    yield "winnings above %s are collected" % pounds(pack.gamble_limit * unit)
    yield "expected payback of the gamble %s" % percent(pack.gamble_payback_ppm)
    rows = pack.gambles
    for number in range(len(rows)):
        name, kind, feature, numerator, denominator, spins, value_micro, _ = rows[number]
        if kind == native.GAMBLE_CASH:
            text = "winnings x %d/%d" % (numerator, denominator) if denominator > 1 else "winnings x %d" % numerator
            yield "%s  %s, chance %s" % (name, text, percent(denominator * pack.gamble_payback_ppm // numerator))
        elif 0 < number < len(rows) - 1 and rows[number - 1][2] == feature == rows[number + 1][2]:
            yield None  # of many numbers of spins of one feature, the least and the most are told
        else:
            count = "%d of " % spins if spins else ""
            worth = pounds(value_micro * unit // 1000000)
            yield "%s  %s%s, worth %s" % (name, count, pack.features[feature][0], worth)
    yield "the chance is payback x amount gambled / worth offered, and is shown before"


def _lines(pack, bets, pile):
    for number in range(len(pack.lines)):
        yield "%d: %s" % (number + 1, " ".join([str(row + 1) for row in pack.lines[number]]))


def _ways(pack, bets, pile):
    yield "%d ways: the product of the matching symbols on adjacent reels" % pack.rows**pack.reels
    yield "from the first reel on; pay x ways, the longest run only, all symbols add"


def _rtp(pack, bets, pile):
    for mode in range(len(pack.modes)):
        if not bets.selectable(mode):
            continue
        low, high = pack.rtp_ppm(mode)
        text = percent(low) if low == high else "%s to %s by choice of free spins" % (percent(low), percent(high))
        yield "%s  bet %s, return to player %s" % (
            title_case(pack.modes[mode]),
            pounds(bets.unit() * pack.cost(mode)),
            text,
        )
    if pack.spin_chance:
        yield "spin chance: a credit below the bet wins a play with the chance credit / bet"
    yield "a round pays %s at most" % pounds(pack.win_cap_pence)
    yield "malfunction voids all pays and plays"


WRITERS = {
    "paytable": _paytable,
    "symbols": _symbols,
    "features": _features,
    "prizes": _prize_lines,
    "gamble": _gamble,
    "lines": _lines,
    "ways": _ways,
    "rtp": _rtp,
}

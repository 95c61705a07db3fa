"""What the player sees of a round: the name of each kind of event, how long it is shown, and what it tells."""

import native

# By prize kind of a table's row.
_KIND_NAMES = ("nothing", "credits", "pot", "wheel", "feature", "extra_spins", "boards", "shape")

# How long an event is shown, ms: (normal, quick spin). What is not here is followed by the next event at once.
SHOWN_MS = {
    native.SPIN: (2000, 400),
    native.LINE_WIN: (300, 60),
    native.WAYS_WIN: (300, 60),
    native.SCATTER_WIN: (500, 100),
    native.FREE_SPINS_BEGIN: (1000, 200),
    native.FREE_SPINS_ADDED: (500, 100),
    native.FREE_SPINS_END: (1000, 200),
    native.SPIN_CHANCE: (2000, 400),
    native.MODIFIER: (1500, 300),
    native.RESPIN: (500, 100),
    native.COLLECT: (1000, 200),
    native.PILE: (300, 60),
    native.WHEEL: (3000, 600),
    native.POT: (1500, 300),
    native.PRIZE: (800, 160),
    native.FRAME: (100, 20),
    native.SHAPE: (1500, 300),
    native.BOWL: (500, 100),
    native.TOKEN: (400, 80),
    native.GAMBLE: (2000, 400),
}
NAMES = {
    native.LINE_WIN: "line_win",
    native.WAYS_WIN: "ways_win",
    native.SCATTER_WIN: "scatter_win",
    native.FREE_SPINS_BEGIN: "free_spins_begin",
    native.FREE_SPINS_ADDED: "free_spins_added",
    native.FREE_SPINS_END: "free_spins_end",
    native.WIN_CAP: "win_cap",
    native.SPIN_CHANCE: "spin_chance",
    native.MODIFIER: "modifier",
    native.RESPIN: "respin",
    native.VALUE: "value",
    native.COLLECT: "collect",
    native.PILE: "pile",
    native.WHEEL: "wheel",
    native.POT: "pot",
    native.PRIZE: "prize",
    native.FRAME: "frame",
    native.SHAPE: "shape",
    native.BOWL: "bowl",
    native.TOKEN: "token",
    native.GAMBLE: "gamble",
}
NO_POT = 255


def prize_name(pack, prize) -> str:
    """Name of a table's row (weight, kind, index, number): a pot's or a feature's own, else that of its kind."""
    _, kind, index, _ = prize
    if kind == native.PRIZE_POT:
        return pack.pots[index][0]
    if kind == native.PRIZE_FEATURE:
        return pack.features[index][0]
    return _KIND_NAMES[kind]


def event_name(pack, event) -> str:
    """The name that belongs to an event beside its numbers, "" where it has none."""
    kind, index, _, count, multiplier, _ = event
    if kind in (native.FREE_SPINS_BEGIN, native.FREE_SPINS_END):
        return pack.features[index][0]
    if kind == native.WHEEL:
        return prize_name(pack, pack.table(index)[count])
    if kind == native.POT:
        return pack.pots[index][0]
    if kind == native.BOWL:
        # The event's second field holds the pot that a bowl was filled with.
        return pack.pots[event[2]][0] if event[2] != NO_POT else ""
    if kind == native.TOKEN:
        return pack.pots[multiplier][0]
    if kind == native.GAMBLE:
        return pack.gambles[index][0]
    return ""


def as_dict(pack, event) -> dict:
    """An event of the round as the console's watch stream tells it."""
    kind, index, symbol, count, multiplier, pence = event
    told = {"e": NAMES[kind], "index": index, "symbol": symbol, "count": count, "x": multiplier, "pence": pence}
    name = event_name(pack, event)
    if name:
        told["name"] = name
    return told


def window(name: str, opened) -> dict:
    """The window of the last spin. `name` "window" tells a newcomer the whole picture, frames and values included."""
    core = opened.core
    told = {
        "e": name,
        "window": list(core.window()),
        "stops": list(core.stops()),
        "set": opened.strips,
        "free_spins": opened.free_spins_left,
        "x": opened.multiplier,
        "won": opened.won,
    }
    if name == "window":
        told["frames"] = list(core.frames())
        told["values"] = [credits * opened.record.unit for credits in core.values()]
        told["matrix"] = list(core.matrix())
    return told

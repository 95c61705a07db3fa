"""What can be pressed, put in, opened and turned: names, captions and keys, for layout and bindings."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Button:
    """`name` as in hal.panel.wiring; `keys` as Textual names them, `hint` as a person reads the first of them."""

    name: str
    caption: str
    keys: str
    hint: str
    second: str = ""  # caption's second row, before the hint


# In the order of the deck, eight in a row: what is used most lies below, start at its right end.
BUTTONS = (
    Button("cash_out", "CASH OUT", "c", "c"),
    Button("collect", "COLLECT", "o", "o"),
    Button("gamble", "GAMBLE", "g", "g"),
    Button("fortune_bet", "FORTUNE", "f", "f", "BET"),
    Button("fortune_spins", "FORTUNE", "p", "p", "SPINS"),
    Button("no_thanks", "NO THANKS", "n", "n"),
    Button("left", "◀ LEFT", "left", "←"),
    Button("right", "RIGHT ▶", "right", "→"),
    Button("info", "INFO", "i", "i"),
    Button("stake_down", "COIN −", "minus", "-"),
    Button("stake_up", "COIN +", "plus,equals_sign", "+"),
    Button("level_down", "LEVEL −", "down", "↓"),
    Button("level_up", "LEVEL +", "up", "↑"),
    Button("max_bet", "MAX BET", "m", "m"),
    Button("autoplay", "AUTOPLAY", "a", "a"),
    Button("start", "START", "space,enter", "space"),
)

# What the stake's buttons are called where a play costs coin value x level, and where there is one ladder of stakes.
STAKES = {"stake_down": ("COIN −", "STAKE −"), "stake_up": ("COIN +", "STAKE +")}


@dataclass(frozen=True)
class Switch:
    """A door or a key switch."""

    name: str
    caption: str
    key: str


SWITCHES = (
    Switch("main", "main door", "d"),
    Switch("cashbox", "cashbox", "b"),
    Switch("note_box", "note box", "e"),
    Switch("logic", "logic door", "l"),
    Switch("attendant", "attendant", "k"),
    Switch("technician", "technician", "t"),
)

COINS = ((10, "10p", "1"), (20, "20p", "2"), (50, "50p", "3"), (100, "£1", "4"), (200, "£2", "5"))
NOTES = ((500, "£5", "6"), (1000, "£10", "7"), (2000, "£20", "8"), (5000, "£50", "9"))
MAINS = Switch("mains", "mains", "0")
QUICK_SPIN = Switch("quick_spin", "quick spin", "s")
MUTE_KEY = "x"
GAME_KEY = "f2"
CONSOLE_KEY = "slash"

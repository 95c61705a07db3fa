"""The cabinet's configuration: what an operator decides, as a table of items (CAB-CFG-01, CAB-NVM-07).

No value is ever assumed. Until every item was entered at the first set-up (setup.py) there is no configuration, every limit
reads as 0 and nothing as accepted, and the machine stays in its state `setup`. Later a technician changes one item at a time;
items that say what the books mean are locked until a RAM clear.
"""

import struct

import native
from firmware.money.amounts import pounds
from firmware.money.ledger import COINS_PENCE, NOTES_PENCE
from firmware.store import keys

# What the answer to an item looks like.
NUMBER = "number"
MONEY = "money"
COINS = "coins"  # some of COINS_PENCE, kept as a bit mask
NOTES = "notes"  # some of NOTES_PENCE, kept as a bit mask
GAMES = "games"  # names of games on the board
GAME = "game"
ACCEPTOR = "acceptor"  # one of NOTE_ACCEPTORS, kept as its place
KEY = "key"  # KEY_BYTES bytes, or none

NOTE_ACCEPTORS = ("none", "ssp", "cctalk")  # only ever append
KEY_BYTES = 8

_LOCKED = True
_FREE = False
_VERSION = 2
_NUMBER_BITS = 24  # of an event's argument; the item's place in the table is above them


class Item:
    """One row of the table. low, high: what a NUMBER or MONEY may be. usual: only shown, never taken by itself."""

    def __init__(self, name: str, kind: str, low: int, high: int, locked: bool, usual, meaning: str):
        self.name = name
        self.kind = kind
        self.low = low
        self.high = high
        self.locked = locked
        self.usual = usual
        self.meaning = meaning

    def span(self, packs) -> str:
        """What can be entered, for people. `packs`: games on the board by name."""
        if self.kind == NUMBER:
            return "%d to %d" % (self.low, self.high)
        if self.kind == MONEY:
            return "%s to %s, in pence or with a pound sign" % (pounds(self.low), pounds(self.high))
        if self.kind == COINS:
            return "some of %s, or all, or none" % _spaced(COINS_PENCE)
        if self.kind == NOTES:
            return "some of %s, or all, or none" % _spaced(NOTES_PENCE)
        if self.kind == ACCEPTOR:
            return "one of %s" % " ".join(NOTE_ACCEPTORS)
        if self.kind == KEY:
            return "%d hexadecimal digits, or none" % (2 * KEY_BYTES)
        names = " ".join(sorted(packs))
        return "some of %s, or all" % names if self.kind == GAMES else "one of %s" % names

    def shown(self, value) -> str:
        """The value for people."""
        if self.kind == MONEY:
            return pounds(value)
        if self.kind in (COINS, NOTES):
            known = COINS_PENCE if self.kind == COINS else NOTES_PENCE
            return _spaced(_of_mask(value, known)) or "none"
        if self.kind == GAMES:
            return " ".join(value)
        if self.kind == ACCEPTOR:
            return NOTE_ACCEPTORS[value]
        if self.kind == KEY:
            return _key_shown(_key_number(value))
        return "%d" % value if self.kind == NUMBER else value

    def parsed(self, words, packs):
        """The value that `words` say. ValueError tells what can be entered."""
        text = " ".join(words)
        value = None
        if self.kind in (NUMBER, MONEY):
            value = _whole(text) if self.kind == NUMBER else _pence(text)
            if value is not None and not self.low <= value <= self.high:
                value = None
        elif self.kind in (COINS, NOTES):
            value = _mask(text, COINS_PENCE if self.kind == COINS else NOTES_PENCE)
        elif self.kind == GAMES:
            names = sorted(packs) if text == "all" else text.replace(",", " ").split()
            if names and not [name for name in names if name not in packs]:
                value = tuple(sorted(set(names)))
        elif self.kind == ACCEPTOR:
            value = NOTE_ACCEPTORS.index(text) if text in NOTE_ACCEPTORS else None
        elif self.kind == KEY:
            value = _key(text)
        elif text in packs:
            value = text
        if value is None:
            raise ValueError("%s must be %s; not %s" % (self.name, self.span(packs), text or "nothing"))
        return value

    def number(self, value, packs) -> int:
        """The value as an event holds it: games are bits or places in the sorted list of the board's games."""
        names = sorted(packs)
        if self.kind == GAMES:
            return sum([1 << place for place in range(len(names)) if names[place] in value])
        if self.kind == GAME:
            return names.index(value) if value in names else len(names)
        if self.kind == KEY:
            return _key_number(value)
        return value


# The order is the journal's record and the events': only ever append, and raise _VERSION.
ITEMS = (
    Item("cabinet", NUMBER, 1, 9999999, _LOCKED, None, "number of this cabinet in the operator's books"),
    Item("pulse", MONEY, 10, 10000, _LOCKED, 100, "what one pulse of the electromechanical meters counts"),
    Item("coins", COINS, 0, 0, _FREE, None, "coins that are accepted, in pence"),
    Item("notes", NOTES, 0, 0, _FREE, None, "notes that are accepted, in pence"),
    Item("credit_limit", MONEY, 1000, 1000000, _FREE, 50000, "credit up to which coins and notes are accepted"),
    Item("note_limit", MONEY, 500, 1000000, _FREE, 50000, "credit up to which a note is accepted"),
    Item("hopper_limit", MONEY, 0, 100000, _FREE, 10000, "largest pay-out in coins; the rest is paid by hand"),
    Item("win_limit", MONEY, 1000, 10000000, _FREE, 100000, "a win from this amount on is paid by hand"),
    Item("games", GAMES, 0, 0, _FREE, None, "games that can be played"),
    Item("first_game", GAME, 0, 0, _FREE, None, "game that is shown at power-up"),
    Item("note_acceptor", ACCEPTOR, 0, len(NOTE_ACCEPTORS) - 1, _FREE, None, "protocol of the note acceptor"),
    Item("note_key", KEY, 0, 0, _FREE, b"", "key of a note acceptor that wants encryption, as its maker writes it"),
)
_BY_NAME = {item.name: item for item in ITEMS}
_NUMBERS = tuple([item.name for item in ITEMS if item.kind not in (GAMES, GAME, KEY)])
_RECORD = "<B%dI" % len(_NUMBERS)


def item(name: str) -> Item:
    """The row of that name. ValueError lists the names."""
    if name not in _BY_NAME:
        raise ValueError("there is no setting %s; there are %s" % (name, ", ".join([row.name for row in ITEMS])))
    return _BY_NAME[name]


class Config:
    """The configuration that `journal` holds. `complete`: every item was entered."""

    def __init__(self, journal):
        self._journal = journal
        self.complete = False
        self._values: dict = {}
        self.reload()

    def reload(self) -> None:
        """Takes over what was committed."""
        data = self._journal.get(keys.CONFIG)
        games = self._journal.get(keys.CONFIG_GAMES).decode()
        self.complete = len(data) == struct.calcsize(_RECORD) and data[0] == _VERSION and bool(games)
        numbers = struct.unpack(_RECORD, data)[1:] if self.complete else [0] * len(_NUMBERS)
        self._values = {_NUMBERS[i]: numbers[i] for i in range(len(_NUMBERS))}
        self._values["games"] = tuple(games.split()) if self.complete else ()
        self._values["note_key"] = self._journal.get(keys.CONFIG_NOTE_KEY) if self.complete else b""
        self._values["first_game"] = self._journal.get(keys.CONFIG_FIRST_GAME).decode()

    def value(self, name: str):
        """An int (pence, number, mask or place), a tuple of names for `games`, a name for `first_game`, bytes for `note_key`;
        0 or empty until complete."""
        return self._values[name]

    def coins(self) -> tuple:
        """Pence of the coins that are accepted."""
        return _of_mask(self._values["coins"], COINS_PENCE)

    def notes(self) -> tuple:
        """Pence of the notes that are accepted."""
        return _of_mask(self._values["notes"], NOTES_PENCE)

    def games(self, packs) -> list:
        """Names of the games that can be played, of those on the board."""
        return [name for name in self._values["games"] if name in packs]

    def first_game(self, packs) -> str:
        """The game to show at power-up: as configured while it can be played, else the first that can; "" when none can."""
        games = self.games(packs)
        first = self._values["first_game"]
        if first in games:
            return first
        return games[0] if games else ""


def check_board(row, value, board) -> None:
    """ValueError when this board cannot do what `value` of an item asks of it."""
    if row.kind == KEY and value:
        board.aes(bytes(16))


def check(values) -> None:
    """ValueError when values do not go together. In a set-up the later ones may still be missing."""
    if "first_game" in values and values["first_game"] not in values["games"]:
        raise ValueError("first_game %s is not one of games: %s" % (values["first_game"], " ".join(values["games"])))


def facts(values) -> list:
    """Journal changes that hold `values`, one for each item."""
    record = struct.pack(_RECORD, _VERSION, *[values[name] for name in _NUMBERS])
    return [
        (keys.CONFIG, record),
        (keys.CONFIG_GAMES, " ".join(values["games"]).encode()),
        (keys.CONFIG_FIRST_GAME, values["first_game"].encode()),
        (keys.CONFIG_NOTE_KEY, values["note_key"]),
    ]


def argument(row: Item, value, packs) -> int:
    """What an event about an item holds: its place in the table and its value."""
    return ITEMS.index(row) << _NUMBER_BITS | row.number(value, packs)


def told(event_argument: int, packs) -> str:
    """An event's argument for people."""
    place, number = event_argument >> _NUMBER_BITS, event_argument & (1 << _NUMBER_BITS) - 1
    if place >= len(ITEMS):
        return "item %d: %d" % (place, number)
    row, names = ITEMS[place], sorted(packs)
    if row.kind == GAMES:
        value = [names[bit] for bit in range(len(names)) if number >> bit & 1]
    elif row.kind == KEY:
        return "%s %s" % (row.name, _key_shown(number))
    elif row.kind == ACCEPTOR:
        value = number if number < len(NOTE_ACCEPTORS) else 0
    elif row.kind == GAME:
        value = names[number] if number < len(names) else "a game that was not there"
    else:
        value = number
    return "%s %s" % (row.name, row.shown(value))


def _spaced(numbers) -> str:
    return " ".join(["%d" % number for number in numbers])


def _of_mask(mask: int, known) -> tuple:
    return tuple([known[bit] for bit in range(len(known)) if mask >> bit & 1])


def _mask(text: str, known):
    """The bit mask of the values that `text` lists, None when it lists something else."""
    if text == "none":
        return 0
    if text == "all":
        return (1 << len(known)) - 1
    mask = 0
    for word in text.replace(",", " ").split():
        value = _whole(word)
        if value not in known:
            return None
        mask |= 1 << known.index(value)
    return mask or None


def _key(text: str):
    """The bytes of a key, b"" for none; None when it is no key."""
    if text == "none":
        return b""
    if len(text) != 2 * KEY_BYTES or [digit for digit in text if digit not in "0123456789abcdefABCDEF"]:
        return None
    return bytes([int(text[place : place + 2], 16) for place in range(0, len(text), 2)])


def _key_number(key: bytes) -> int:
    """What events and displays hold instead of a key: enough to compare two, too little to find one. 0: no key."""
    return native.crc32(key) & (1 << _NUMBER_BITS) - 1 | 1 if key else 0


def _key_shown(number: int) -> str:
    return "kept, check %06x" % number if number else "none"


def _whole(text: str):
    return int(text) if 0 < len(text) < 10 and text.isdigit() else None


def _pence(text: str):
    """Pence that `text` says: 50000, £500 or £500.00; None when it is no amount."""
    if not text.startswith("£"):
        return _whole(text)
    whole, point, part = text[len("£") :].partition(".")
    if point and len(part) != 2:
        return None
    whole, part = _whole(whole), _whole(part) if point else 0
    return None if whole is None or part is None else 100 * whole + part

"""The pile of each game (biscuits, the piggy bank): its size is kept through power loss and changes only with a round's end.

It decides nothing: what a symbol may win does not depend on it (G2, A6). A slot of the journal belongs to the game whose name
it holds, so that a new game among the others moves no pile to a wrong one.
"""

import struct

from firmware.store import keys

_SLOT = "<16sI"


def of(journal, game: str) -> int:
    """The pile of `game`, 0 when it never had one."""
    data = journal.get(_slot(journal, game))
    return struct.unpack(_SLOT, data)[1] if data else 0


def change(journal, game: str, pile: int):
    """The journal change that gives `game` this pile."""
    return (_slot(journal, game), struct.pack(_SLOT, game.encode(), pile))


def _slot(journal, game: str) -> int:
    """The key of the game's slot: its own, else the first free one. ValueError when all belong to other games."""
    name = game.encode()
    for key in range(keys.PILE_BASE, keys.PILE_BASE + keys.PILE_SLOTS):
        data = journal.get(key)
        if not data or data[:16].rstrip(b"\x00") == name:
            return key
    raise ValueError("the journal holds the piles of %d games, no more" % keys.PILE_SLOTS)

"""The kinds of random devices that a cabinet's entropy port can have, by name. The numbers are stored: only ever append."""

from .asked import AskedSource
from .command import CommandSource
from .stream import StreamSource

KINDS = (("asked", AskedSource), ("stream", StreamSource), ("command", CommandSource))
NAMES = tuple([name for name, _ in KINDS])


def make_source(number: int, port):
    """The driver of kind `number` on `port`; that of kind 0 for a number that is none."""
    return KINDS[number if 0 <= number < len(KINDS) else 0][1](port)

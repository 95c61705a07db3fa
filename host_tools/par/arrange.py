"""Lays symbol counts out on a reel strip.

Published sheets often print counts only. Line pays depend on counts alone, so any order gives the same RTP; an even
spread is the order that nobody can accuse of clustering, and it keeps copies of one symbol as far apart as they can
be.
"""

from __future__ import annotations

from collections.abc import Mapping


def lay(counts: Mapping[int, int]) -> tuple[int, ...]:
    """A strip with these counts, each symbol spread evenly; the same counts always give the same strip.

    Copy k of n wants to stand at (k + 1/2) / n of the way round. Stops are filled by these wishes, rare symbols first
    where wishes are equal.
    """
    wishes = [
        ((2 * copy + 1) / (2 * count), count, symbol) for symbol, count in counts.items() for copy in range(count)
    ]
    return tuple(symbol for _, _, symbol in sorted(wishes))

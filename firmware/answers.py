"""What the console's commands have in common: reading numbers, and the books that some of them need."""


def whole(word: str, name: str, low: int, high: int) -> int:
    """The number that `word` is. ValueError names it and its range."""
    try:
        value = int(word)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise ValueError("%s must be a number from %d to %d, not %s" % (name, low, high, word))
    return value


def books(cabinet):
    """The cabinet's books, or what of damaged ones can still be read. ValueError when nothing can (CAB-MTR-09)."""
    found = cabinet.readable()
    if found is None:
        raise ValueError("critical memory cannot be read: %s" % cabinet.lock_reason)
    return found

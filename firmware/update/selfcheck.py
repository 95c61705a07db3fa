"""Hashes what runs, piece by piece: soon after power-up and each day from then on (CAB-PRG-01).

The application of a slot is compared with its signed hash. The resident image has none in itself: it is compared with what
it was at power-up, and an inspector compares it with the published one (console: verify). A piece takes half a millisecond
of a 25 MHz board, and there are 40 a second.
"""

from firmware.update.image import digest_in_pieces

PIECE_BYTES = 256
PAUSE_MS = 25
START_MS = 10_000  # after power-up, when the devices have come up
DAY_MS = 86_400_000

UNKNOWN, GOOD, DAMAGED = 0, 1, 2
VERDICTS = ("not checked yet", "good", "DAMAGED")


class SelfCheck:
    """slots: of the board; resident: what else the program consists of, bytes-like, b"" where it cannot be read.

    due_ms: when poll() is to be called next
    """

    def __init__(self, slots, resident, now_ms: int):
        self._slots = slots
        self._image = slots.image(slots.running) if slots.running >= 0 else None
        self._resident = resident
        self._pieces = None  # of the check under way
        self._on_resident = False
        self.hash = b"" if self._image is None else self._image.hash
        self.version = "" if self._image is None else self._image.version
        self.resident_hash = b""
        self.verdict = UNKNOWN
        self.checked_ms = 0
        self.due_ms = now_ms + START_MS

    @property
    def under_way(self) -> bool:
        return self._pieces is not None

    def again(self, now_ms: int) -> None:
        """A check begins now, unless one is under way."""
        if self._pieces is None:
            self.due_ms = now_ms

    def poll(self, now_ms: int) -> bool:
        """One piece. True when what runs is found damaged."""
        self.due_ms = now_ms + PAUSE_MS
        pieces = self._pieces or self._begin(False)
        digest = next(pieces)
        if not digest:
            return False
        if self._on_resident:
            damaged = self.resident_hash not in (b"", digest)
            self.resident_hash = self.resident_hash or digest
        else:
            damaged = digest != self.hash
            if not damaged and self._resident:
                self._begin(True)
                return False
        self._pieces = None
        self.verdict = DAMAGED if damaged else GOOD
        self.checked_ms = now_ms
        self.due_ms = now_ms + DAY_MS
        return damaged

    def _begin(self, resident: bool):
        image = None if resident else self._image
        self._on_resident = image is None
        if image is None:
            self._pieces = digest_in_pieces(self._resident, len(self._resident), PIECE_BYTES)
        else:
            self._pieces = digest_in_pieces(self._slots.view(self._slots.running), image.signed, PIECE_BYTES)
        return self._pieces

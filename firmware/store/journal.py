"""The journal: every fact the cabinet must not lose, in two NVRAM banks.

A small store of key -> bytes held in RAM and mirrored in NVRAM as a snapshot followed by transaction records. `commit`
is the only way to change it: all changes of one call land, or none. `README.md` beside this file holds the layout and
the recovery table; the names there are the names here.
"""

import native

TRANSACTION = 0xA5
SNAPSHOT = 0x5A
HEADER_BYTES = 8  # mark u8, reserved u8 (0), payload length u16, sequence u32
CRC_BYTES = 4
OVERHEAD_BYTES = HEADER_BYTES + CRC_BYTES
TIDY_BYTES = 1024  # a play's records with a decision or two, before they have to be moved in the middle of it
SCRUB_BYTES = 256  # compared by one scrub(); an area takes 64 turns of the loop, a quarter of a second
BANKS = 2
AREAS = 2
MIN_NVRAM_BYTES = 32768
MAX_VALUE_BYTES = 255
NUMBER_BITS = 64
SMALL_BYTES = 3  # of numbers that every board keeps without memory for each
# Keys are places in a list: MicroPython's dicts take 3,000 instructions to find a number among neighbours.
MAX_KEYS = 1024
CONTROL_BYTES = 16  # at the end of the NVRAM; its last byte marks a RAM clear that is under way
CLEARING = 0xC1
# How many sequence numbers past the end of the log are searched for to tell a torn tail from corruption.
LOOKAHEAD = 3
SEARCHED_BYTES = 256  # read at once where the length is not a record's
_ZEROS = bytes(SEARCHED_BYTES + HEADER_BYTES)
_ONES = b"\xff" * (SEARCHED_BYTES + HEADER_BYTES)


class JournalCorrupt(Exception):
    """Neither bank holds an intact history. The machine locks; nothing is repaired or cleared (CAB-NVM-05)."""


class JournalWriteError(Exception):
    """What was read back is not what was written: the NVRAM is failing."""


class Journal:
    """Atomic store over `nvram` (see hal/board.py). Call `open()` once before anything else."""

    def __init__(self, nvram):
        if nvram.size < MIN_NVRAM_BYTES:
            raise ValueError("NVRAM of %d bytes is too small: the journal needs %d" % (nvram.size, MIN_NVRAM_BYTES))
        self._nvram = nvram
        self._area_bytes = (nvram.size - CONTROL_BYTES) // (BANKS * AREAS)
        self._payload_bytes = min(
            0xFFFF, self._area_bytes - OVERHEAD_BYTES
        )  # what a record's length can tell, and hold
        # By key, b"" where nothing was ever set. Numbers stay numbers, as a bytes object takes a board 64 bytes and a collection
        # has to look at all of them.
        self._values = []
        self._area = 0
        self._end = 0
        self._begun = 0  # of its bytes those of the snapshot that it begins with
        self._scrubbed = 0  # bytes of the active area compared in the sweep under way
        self.sequence = 0
        self.sweeps = 0  # whole comparisons of both banks since power-up
        self.repaired = 0  # records restored from the other bank by the last open() or scrub()
        self._sealed = False  # only to be read, by salvage()

    # --- reading -------------------------------------------------------------------------------------------------

    def get(self, key: int) -> bytes:
        """Value of `key`, b"" when it was never set."""
        values = self._values
        value = values[key] if key < len(values) else b""
        return value if isinstance(value, bytes) else pack_int(value)

    def get_int(self, key: int) -> int:
        """Value of `key` as an unsigned integer, 0 when it was never set."""
        values = self._values
        value = values[key] if key < len(values) else 0
        return int.from_bytes(value, "little") if isinstance(value, bytes) else value

    def usage(self):
        """(bytes written of the active area, bytes of an area)."""
        return self._end, self._area_bytes

    # --- writing -------------------------------------------------------------------------------------------------

    def commit(self, changes) -> None:
        """Makes `changes`, an iterable of (key, bytes or unsigned int), durable at once and together.

        Writes the record to bank 0, then to bank 1, each read back. Raises JournalWriteError when the NVRAM does not
        hold what was written. Raises ValueError, before anything is written, when a key is too large, a value or all
        changes together too long, a number negative, or the whole state larger than an area. RAM then still shows the
        state before.
        """
        if self._sealed:
            raise JournalWriteError("critical memory is unrecoverable and only to be read")
        changed = {}
        for key, value in changes:
            if not 0 <= key < MAX_KEYS:
                raise ValueError("there is no key %d; keys are below %d" % (key, MAX_KEYS))
            changed[key] = _checked(key, value)
        if not changed:
            return
        sequence = (self.sequence + 1) & 0xFFFFFFFF
        record = self._record(TRANSACTION, sequence, sorted(changed), changed)  # MicroPython's dicts keep no order
        if self._end + len(record) > self._area_bytes:
            # The area is full: the whole state including these changes becomes the first record of the other area.
            merged = list(self._values)
            for key in changed:
                _set(merged, key, changed[key])
            self._snapshot(sequence, merged)
        else:
            for bank in range(BANKS):
                self._write(bank, self._area, self._end, record)
            self._end += len(record)
        for key in changed:
            _set(self._values, key, changed[key])
        self.sequence = sequence

    def _record(self, mark: int, sequence: int, ordered, values) -> bytes:
        """A record of the `values` whose keys are `ordered`; None: of all. ValueError: an area has no room for it."""
        try:
            record = native.record(mark, sequence, ordered, values)
        except native.CoreError:
            record = b""  # more than the length of a record can tell
        if not 0 < len(record) <= self._payload_bytes + OVERHEAD_BYTES:
            what = "the state does" if ordered is None else "these changes do"
            raise ValueError("%s not fit a record of %d bytes" % (what, self._payload_bytes))
        return record

    def _snapshot(self, sequence: int, values) -> None:
        """Begins the other area with the whole state. ValueError: it is larger than an area, and nothing was written."""
        record = self._record(SNAPSHOT, sequence, None, values)
        area, length = 1 - self._area, len(record)
        for bank in range(BANKS):
            self._write(bank, area, 0, record)
        self._area, self._begun, self._end = area, length, length
        self._scrubbed = 0

    def tidy(self) -> bool:
        """Begins the other area when this one is nearly full, so that no commit that somebody waits for has to. True when it did.

        Call it in turns of the loop that have time. Not before as much was written as is to be kept free, so that a state
        that nearly fills an area does not move in every turn.
        """
        free, written = self._area_bytes - self._end, self._end - self._begun
        if self._sealed or free >= TIDY_BYTES or written < TIDY_BYTES:
            return False
        sequence = (self.sequence + 1) & 0xFFFFFFFF
        self._snapshot(sequence, self._values)
        self.sequence = sequence
        return True

    def scrub(self) -> int:
        """One small step of the check that never ends: compares the next SCRUB_BYTES of the log in both banks (CAB-NVM-03).

        Call it once a turn of the loop. Where the banks differ the whole log is walked as at power-up: the copy with the
        right CRC restores the other. Returns how many records were restored, 0 nearly always. Raises JournalCorrupt when
        both copies of a record are bad, JournalWriteError when a bank does not keep what restores it.
        """
        start = self._scrubbed
        length = min(SCRUB_BYTES, self._end - start)
        first = self._address(0, self._area, start)
        second = self._address(1, self._area, start)
        self._scrubbed = start + length
        if self._scrubbed >= self._end:
            self._scrubbed = 0
            self.sweeps += 1
        if self._nvram.same(first, second, length):
            return 0
        walk = self._walk(self._area)
        if walk is None or walk.last != self.sequence or walk.end != self._end:
            raise JournalCorrupt("record after %d is damaged in both banks" % (walk.last if walk else 0))
        self._copy(walk)
        self.repaired = len(walk.copies)  # nothing is under way: a record that one bank lacks has decayed
        return self.repaired

    def clear(self, facts=()) -> None:
        """RAM clear: initialises every byte, then commits `facts`, (key, bytes or unsigned int), as all there is (CAB-NVM-06).

        A cut while it runs leaves the clearing mark, and `open()` refuses: half-wiped areas must never pass for an
        older but intact state.
        """
        for _ in self.clear_steps(facts):
            pass

    def clear_steps(self, facts=()):
        """The same as a generator, a little of it in each step. Nothing else may use the journal until it has ended."""
        last = self._nvram.size - 1
        self._nvram.write(last, bytes([CLEARING]))
        for offset in range(0, last, 256):
            self._nvram.write(offset, b"\xff" * min(256, last - offset))
            yield
        self._format(facts)
        self._nvram.write(last, b"\xff")
        self._sealed = False
        self.repaired = 0

    # --- opening -------------------------------------------------------------------------------------------------

    def open(self) -> bool:
        """Recovers the newest committed state. True when the NVRAM was blank and has been formatted.

        Raises JournalCorrupt when committed history is damaged in both banks.
        """
        self.repaired = 0
        if self._nvram.read(self._nvram.size - 1, 1)[0] == CLEARING:
            raise JournalCorrupt("a RAM clear was interrupted")
        best = None
        for area in range(AREAS):
            walk = self._walk(area)
            if walk is not None and (best is None or _newer(walk.first, best.first)):
                best = walk
        if best is None:
            if not self._blank(1):
                raise JournalCorrupt("no intact snapshot in either bank")
            # Bank 1 is written only after bank 0 is whole, so a blank bank 1 means that formatting never finished.
            self._format()
            return True
        self._refuse_lost_history(best)
        self._values, self._area, self._end, self.sequence = best.values, best.area, best.end, best.last
        self._begun, self._scrubbed = best.begun, 0
        self._copy(best)
        self.repaired = sum([is_repair for _, _, _, is_repair in best.copies])
        return False

    def _copy(self, walk) -> None:
        """Writes each record that one bank lacks from the other, verified."""
        for bank, offset, record, _ in walk.copies:
            self._write(bank, walk.area, offset, record)

    def salvage(self) -> bool:
        """After open() has refused: reads what can still be read, to be looked at and never to go on from (CAB-MTR-09).

        Takes the newest log that begins with a whole snapshot, up to its first damaged record. False: there is none.
        Commits are refused from now on.
        """
        self._sealed = True
        best = None
        for area in range(AREAS):
            try:
                walk = self._walk(area)
            except JournalCorrupt:
                continue
            if walk is not None and (best is None or _newer(walk.first, best.first)):
                best = walk
        if best is None:
            return False
        self._values, self._area, self._end, self.sequence = best.values, best.area, best.end, best.last
        return True

    def _format(self, facts=()) -> None:
        self._values = []
        self._area, self._end, self._scrubbed, self.sequence = 0, 0, 0, 1
        for key, value in facts:
            _set(self._values, key, _checked(key, value))
        record = native.record(SNAPSHOT, 1, None, self._values)
        for bank in range(BANKS):
            self._write(bank, 0, 0, record)
        self._begun = self._end = len(record)

    def _walk(self, area):
        """Follows the log of `area` through both banks at once; None when neither bank starts with a snapshot."""
        walk = _Walk(area)
        offset = 0
        expected = -1
        while True:
            found = [self._parse(0, area, offset, expected), None]
            found[1] = self._parse(1, area, offset, expected, found[0])
            if expected < 0 and found[0] and found[1] and _sequence(found[0]) != _sequence(found[1]):
                # Only one bank got its new snapshot; the other still starts with the one from two areas ago.
                found[0 if _newer(_sequence(found[1]), _sequence(found[0])) else 1] = None
            record = found[0] or found[1]
            if record is None:
                break
            sequence = _sequence(record)
            if found[0] and found[1]:
                if found[0] != found[1]:
                    raise JournalCorrupt("banks disagree about record %d" % sequence)
            else:
                walk.missing.append((1 if found[0] else 0, offset, record))
            walk.apply(record)
            if expected < 0:
                walk.first, walk.begun = sequence, len(record)
            walk.last = sequence
            offset += len(record)
            expected = (sequence + 1) & 0xFFFFFFFF
        if walk.last < 0:
            return None
        walk.end = offset
        # The last record missing in bank 1 alone is a commit whose second write was cut: finishing it is no repair.
        for bank, at, record in walk.missing:
            is_last = at + len(record) == walk.end
            walk.copies.append((bank, at, record, not (is_last and bank == 1)))
        return walk

    def _parse(self, bank: int, area: int, offset: int, expected: int, twin=None):
        """The intact record at a place, else None. `expected` < 0 wants a snapshot. `twin`: the record of the other bank;
        the same bytes need no second check.

        Reads no more than the record: an area at once would need more memory in one piece than a used heap may have.
        """
        header = self._header(bank, area, offset)
        if header is None or header[0] != (SNAPSHOT if expected < 0 else TRANSACTION) or header[1] != 0:
            return None
        if expected >= 0 and _sequence(header) != expected:
            return None
        length = (header[2] | header[3] << 8) + OVERHEAD_BYTES
        if offset + length > self._area_bytes:
            return None
        record = bytes(self._nvram.read(self._address(bank, area, offset), length))
        if record == twin:
            return record
        return record if native.crc32(record[:-CRC_BYTES]) == int.from_bytes(record[-CRC_BYTES:], "little") else None

    def _header(self, bank: int, area: int, offset: int):
        if offset + OVERHEAD_BYTES > self._area_bytes:
            return None
        return self._nvram.read(self._address(bank, area, offset), HEADER_BYTES)

    def _refuse_lost_history(self, walk) -> None:
        """Raises JournalCorrupt when a record after `walk`'s end was committed once but cannot be read any more.

        A torn write leaves a bad record in bank 0 and nothing in bank 1. Two other pictures prove damage: a bad
        record with the next sequence number in bank 1 (it is written only when bank 0's is whole), and an intact
        record with a later sequence number anywhere.
        """
        following = (walk.last + 1) & 0xFFFFFFFF
        for area, start in ((walk.area, walk.end), (1 - walk.area, 0)):
            header = self._header(1, area, start)
            mark = TRANSACTION if start else SNAPSHOT
            if header and header[0] == mark and header[1] == 0 and _sequence(header) == following:
                raise JournalCorrupt("record %d is damaged in both banks" % following)
            for bank in range(BANKS):
                self._refuse_later(bank, area, start, walk.last)

    def _refuse_later(self, bank: int, area: int, start: int, last: int) -> None:
        """Raises JournalCorrupt when an intact record with one of the next sequence numbers lies anywhere from `start` on."""
        for position in range(start, self._area_bytes, SEARCHED_BYTES):
            # Some bytes of the next piece are read along: a header may lie across the border.
            length = min(SEARCHED_BYTES + HEADER_BYTES - 1, self._area_bytes - position)
            memory = bytes(self._nvram.read(self._address(bank, area, position), length))
            if _ONES.startswith(memory) or _ZEROS.startswith(memory):
                continue  # never written, as most of an area is
            for ahead in range(1, LOOKAHEAD + 1):
                later = (last + ahead) & 0xFFFFFFFF
                pattern = later.to_bytes(4, "little")
                at = memory.find(pattern, 4)
                while at >= 0:
                    offset = position + at - 4
                    found = self._parse(bank, area, offset, -1 if memory[at - 4] == SNAPSHOT else later)
                    if found and _sequence(found) == later:
                        raise JournalCorrupt("records before %d are damaged in both banks" % later)
                    at = memory.find(pattern, at + 1)

    def _blank(self, bank: int) -> bool:
        start = bank * AREAS * self._area_bytes
        end = start + AREAS * self._area_bytes
        fill = self._nvram.read(start, 1)[0]
        if fill not in (0x00, 0xFF):
            return False
        while start < end:
            length = min(256, end - start)
            if bytes(self._nvram.read(start, length)) != bytes([fill]) * length:
                return False
            start += length
        return True

    def _address(self, bank: int, area: int, offset: int) -> int:
        return (bank * AREAS + area) * self._area_bytes + offset

    def _write(self, bank: int, area: int, offset: int, record: bytes) -> None:
        address = self._address(bank, area, offset)
        self._nvram.write(address, record)
        if not self._nvram.holds(address, record):
            raise JournalWriteError("NVRAM does not keep what was written at 0x%X" % address)


class _Walk:
    """What one area holds, seen through both banks."""

    def __init__(self, area):
        self.area = area
        self.values = []
        self.first = -1
        self.begun = 0  # bytes of the snapshot
        self.last = -1
        self.end = 0
        self.missing = []
        self.copies = []

    def apply(self, record: bytes) -> None:
        position, end = HEADER_BYTES, len(record) - CRC_BYTES
        while position < end:
            key = record[position] | record[position + 1] << 8
            length = record[position + 2]
            position += 3
            if key >= MAX_KEYS:
                raise JournalCorrupt("there is no key %d" % key)
            _set(self.values, key, _kept(record[position : position + length]))
            position += length


def _checked(key: int, value):
    """The value to be kept: bytes, or a number. ValueError: it has too many bytes, or is negative."""
    if isinstance(value, (bytes, bytearray)):
        if len(value) > MAX_VALUE_BYTES:
            raise ValueError("value of key %d is %d bytes, at most %d fit" % (key, len(value), MAX_VALUE_BYTES))
        return value if isinstance(value, bytes) else bytes(value)
    if value < 0 or value >> NUMBER_BITS:
        raise ValueError("%d is negative, or has more than %d bits" % (value, NUMBER_BITS))
    return value


def _kept(value: bytes):
    """What was read, as a number where that says the same: it is what pack_int() writes of one that needs no memory."""
    return int.from_bytes(value, "little") if 0 < len(value) <= SMALL_BYTES and value[-1] else value


def pack_int(value: int) -> bytes:
    """Unsigned integer as the fewest little-endian bytes; 0 is b""."""
    if value < 0:
        raise ValueError("%d is negative" % value)
    length = 0
    rest = value
    while rest:
        rest >>= 8
        length += 1
    return value.to_bytes(length, "little") if length else b""


def _set(values: list, key: int, value) -> None:
    while len(values) <= key:
        values.append(b"")
    values[key] = value


def _newer(a: int, b: int) -> bool:
    """True when sequence number `a` comes after `b`, modulo 2^32."""
    return a != b and ((a - b) & 0xFFFFFFFF) < 0x80000000


def _sequence(record: bytes) -> int:
    """Sequence number in a record or its header."""
    return int.from_bytes(record[4:8], "little")

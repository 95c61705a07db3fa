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
BANKS = 2
AREAS = 2
MIN_NVRAM_BYTES = 32768
MAX_VALUE_BYTES = 255
# Keys are places in a list: MicroPython's dicts take 3,000 instructions to find a number among neighbours.
MAX_KEYS = 1024
CONTROL_BYTES = 16  # at the end of the NVRAM; its last byte marks a RAM clear that is under way
CLEARING = 0xC1
# How many sequence numbers past the end of the log are searched for to tell a torn tail from corruption.
LOOKAHEAD = 3


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
        self._values = []  # by key, b"" where nothing was ever set
        self._area = 0
        self._end = 0
        self.sequence = 0
        self.repaired = 0  # records restored from the other bank by the last open()

    # --- reading -------------------------------------------------------------------------------------------------

    def get(self, key: int) -> bytes:
        """Value of `key`, b"" when it was never set."""
        values = self._values
        return values[key] if key < len(values) else b""

    def get_int(self, key: int) -> int:
        """Value of `key` as an unsigned integer, 0 when it was never set."""
        values = self._values
        value = values[key] if key < len(values) else b""
        return int.from_bytes(value, "little") if value else 0

    def usage(self):
        """(bytes written of the active area, bytes of an area)."""
        return self._end, self._area_bytes

    # --- writing -------------------------------------------------------------------------------------------------

    def commit(self, changes) -> None:
        """Makes `changes`, an iterable of (key, bytes or unsigned int), durable at once and together.

        Writes the record to bank 0, then to bank 1, each read back. Raises JournalWriteError when the NVRAM does not
        hold what was written, ValueError when a value is too long or a key too large; RAM then still shows the state before.
        """
        packed = {}
        for key, value in changes:
            if not isinstance(value, (bytes, bytearray)):
                value = pack_int(value)
            if not 0 <= key < MAX_KEYS:
                raise ValueError("there is no key %d; keys are below %d" % (key, MAX_KEYS))
            if len(value) > MAX_VALUE_BYTES:
                raise ValueError("value of key %d is %d bytes, at most %d fit" % (key, len(value), MAX_VALUE_BYTES))
            packed[key] = bytes(value)
        if not packed:
            return
        sequence = (self.sequence + 1) & 0xFFFFFFFF
        record = native.record(TRANSACTION, sequence, sorted(packed), packed)  # MicroPython's dicts keep no order
        area, offset = self._area, self._end
        if offset + len(record) > self._area_bytes:
            # The area is full: the whole state including these changes becomes the first record of the other area.
            merged = list(self._values)
            for key in packed:
                _set(merged, key, packed[key])
            record = native.record(SNAPSHOT, sequence, None, merged)
            if len(record) > self._area_bytes:
                raise ValueError("state of %d bytes does not fit an area of %d" % (len(record), self._area_bytes))
            area, offset = 1 - self._area, 0
        for bank in range(BANKS):
            self._write(bank, area, offset, record)
        for key in packed:
            _set(self._values, key, packed[key])
        self._area, self._end = area, offset + len(record)
        self.sequence = sequence

    def clear(self) -> None:
        """RAM clear: initialises every byte, then commits an empty state (CAB-NVM-06).

        A cut while it runs leaves the clearing mark, and `open()` refuses: half-wiped areas must never pass for an
        older but intact state.
        """
        last = self._nvram.size - 1
        self._nvram.write(last, bytes([CLEARING]))
        for offset in range(0, last, 256):
            self._nvram.write(offset, b"\xff" * min(256, last - offset))
        self._format()
        self._nvram.write(last, b"\xff")

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
        for bank, offset, record, is_repair in best.copies:
            self._write(bank, best.area, offset, record)
            self.repaired += is_repair
        return False

    def _format(self) -> None:
        self._values = []
        self._area, self._end, self.sequence = 0, 0, 1
        record = native.record(SNAPSHOT, 1, None, [])
        for bank in range(BANKS):
            self._write(bank, 0, 0, record)
        self._end = len(record)

    def _walk(self, area):
        """Follows the log of `area` through both banks at once; None when neither bank starts with a snapshot."""
        memory = [self._nvram.read(self._address(bank, area, 0), self._area_bytes) for bank in range(BANKS)]
        walk = _Walk(area, memory)
        offset = 0
        expected = -1
        same = memory[0] == memory[1]  # the usual case: a board at 25 MHz checks each record once instead of twice
        while True:
            found = [_parse(memory[0], offset, expected)]
            found.append(found[0] if same else _parse(memory[1], offset, expected))
            if expected < 0 and found[0] and found[1] and found[0][0] != found[1][0]:
                # Only one bank got its new snapshot; the other still starts with the one from two areas ago.
                found[0 if _newer(found[1][0], found[0][0]) else 1] = None
            good = found[0] or found[1]
            if good is None:
                break
            sequence, length = good
            source = 0 if found[0] else 1
            record = bytes(memory[source][offset : offset + length])
            if found[0] and found[1]:
                if not same and bytes(memory[1][offset : offset + length]) != record:
                    raise JournalCorrupt("banks disagree about record %d" % sequence)
            else:
                walk.missing.append((1 - source, offset, record))
            walk.apply(record)
            if expected < 0:
                walk.first = sequence
            walk.last = sequence
            offset += length
            expected = (sequence + 1) & 0xFFFFFFFF
        if walk.last < 0:
            return None
        walk.end = offset
        # The last record missing in bank 1 alone is a commit whose second write was cut: finishing it is no repair.
        for bank, at, record in walk.missing:
            is_last = at + len(record) == walk.end
            walk.copies.append((bank, at, record, not (is_last and bank == 1)))
        return walk

    def _refuse_lost_history(self, walk) -> None:
        """Raises JournalCorrupt when a record after `walk`'s end was committed once but cannot be read any more.

        A torn write leaves a bad record in bank 0 and nothing in bank 1. Two other pictures prove damage: a bad
        record with the next sequence number in bank 1 (it is written only when bank 0's is whole), and an intact
        record with a later sequence number anywhere.
        """
        following = (walk.last + 1) & 0xFFFFFFFF
        other = 1 - walk.area
        for area, start in ((walk.area, walk.end), (other, 0)):
            for bank in range(BANKS):
                if area == walk.area:
                    memory = walk.memory[bank]
                else:
                    memory = self._nvram.read(self._address(bank, area, 0), self._area_bytes)
                mark = TRANSACTION if start else SNAPSHOT
                if bank == 1 and _started(memory, start, mark, following):
                    raise JournalCorrupt("record %d is damaged in both banks" % following)
                for ahead in range(1, LOOKAHEAD + 1):
                    later = (walk.last + ahead) & 0xFFFFFFFF
                    if _holds(memory, start, later):
                        raise JournalCorrupt("records before %d are damaged in both banks" % later)

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
        if bytes(self._nvram.read(address, len(record))) != record:
            raise JournalWriteError("NVRAM does not keep what was written at 0x%X" % address)


class _Walk:
    """What one area holds, seen through both banks."""

    def __init__(self, area, memory):
        self.area = area
        self.memory = memory
        self.values = []
        self.first = -1
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
            _set(self.values, key, record[position : position + length])
            position += length


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


def _set(values: list, key: int, value: bytes) -> None:
    while len(values) <= key:
        values.append(b"")
    values[key] = value


def _newer(a: int, b: int) -> bool:
    """True when sequence number `a` comes after `b`, modulo 2^32."""
    return a != b and ((a - b) & 0xFFFFFFFF) < 0x80000000


def _parse(memory, offset: int, expected: int):
    """(sequence, total bytes) of an intact record at `offset`, else None. `expected` < 0 wants a snapshot."""
    if offset + OVERHEAD_BYTES > len(memory):
        return None
    mark = SNAPSHOT if expected < 0 else TRANSACTION
    if memory[offset] != mark or memory[offset + 1] != 0:
        return None
    sequence = int.from_bytes(memory[offset + 4 : offset + 8], "little")
    if expected >= 0 and sequence != expected:
        return None
    end = offset + HEADER_BYTES + (memory[offset + 2] | memory[offset + 3] << 8)
    if end + CRC_BYTES > len(memory):
        return None
    if native.crc32(memory[offset:end]) != int.from_bytes(memory[end : end + CRC_BYTES], "little"):
        return None
    return sequence, end + CRC_BYTES - offset


def _started(memory, offset: int, mark: int, sequence: int) -> bool:
    return (
        offset + HEADER_BYTES <= len(memory)
        and memory[offset] == mark
        and memory[offset + 1] == 0
        and int.from_bytes(memory[offset + 4 : offset + 8], "little") == sequence
    )


def _holds(memory, start: int, sequence: int) -> bool:
    """True when an intact record with `sequence` lies anywhere in `memory` from `start` on."""
    memory = bytes(memory)
    pattern = sequence.to_bytes(4, "little")
    position = memory.find(pattern, start + 4)
    while position >= 0:
        offset = position - 4
        found = _parse(memory, offset, -1 if memory[offset] == SNAPSHOT else sequence)
        if found and found[0] == sequence:
            return True
        position = memory.find(pattern, position + 1)
    return False

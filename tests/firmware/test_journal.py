"""The journal: atomic under every power cut, repaired from one good bank, locked when both are bad."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.store.journal import (
    CONTROL_BYTES,
    HEADER_BYTES,
    OVERHEAD_BYTES,
    SEARCHED_BYTES,
    Journal,
    JournalCorrupt,
    JournalWriteError,
    pack_int,
)
from tests.firmware.nvram import PowerCut, RigNvram, copy_of

SIZE = 32768
AREA = (SIZE - CONTROL_BYTES) // 4


def opened(nvram: RigNvram) -> Journal:
    journal = Journal(nvram)
    journal.open()
    return journal


def state(journal: Journal, keys: range) -> dict[int, bytes]:
    return {key: journal.get(key) for key in keys if journal.get(key)}


def test_new_memory_is_formatted_and_keeps_what_is_committed():
    nvram = RigNvram(SIZE)
    journal = Journal(nvram)
    assert journal.open() is True
    journal.commit([(1, b"one"), (2, 258)])
    again = Journal(nvram)
    assert again.open() is False
    assert (again.get(1), again.get_int(2), again.get(3), again.repaired) == (b"one", 258, b"", 0)


def test_every_cut_of_every_commit_leaves_the_state_before_or_after_and_the_journal_usable():
    """Includes the compaction into the other area, and second cuts spread over the recovery's own writes."""
    nvram = RigNvram(SIZE)
    journal = opened(nvram)
    fill = bytes(200)
    while journal._end + 600 < AREA:
        journal.commit([(9, fill)])
    cuts = double_cuts = 0
    for number in range(4):  # the second or third of these crosses into the other area
        before = copy_of(nvram)
        journal.commit([(1, pack_int(number)), (2, bytes([number]) * 100), (3, b"x" * 50)])
        length = nvram.written - before.written
        after = state(opened(copy_of(nvram)), range(16))
        original = state(opened(copy_of(before)), range(16))
        probe = copy_of(before)
        writer = opened(probe)
        start = probe.written
        writer.commit([(1, pack_int(number)), (2, bytes([number]) * 100), (3, b"x" * 50)])
        length = probe.written - start
        for cut in range(1, length):
            torn = copy_of(before)
            victim = opened(torn)
            torn.cut_after = cut
            with pytest.raises(PowerCut):
                victim.commit([(1, pack_int(number)), (2, bytes([number]) * 100), (3, b"x" * 50)])
            torn.cut_after = None
            recovery = copy_of(torn)
            survivor = opened(recovery)
            assert state(survivor, range(16)) in (original, after)
            assert survivor.repaired == 0
            for second in range(1, recovery.written + 1, recovery.written // 4 + 1):
                twice = copy_of(torn)
                twice.cut_after = second
                with pytest.raises(PowerCut):
                    opened(twice)
                twice.cut_after = None
                assert state(opened(twice), range(16)) == state(survivor, range(16))
                double_cuts += 1
            survivor.commit([(7, b"goes on")])
            assert opened(recovery).get(7) == b"goes on"
            cuts += 1
    assert cuts > 1000
    assert double_cuts > 1000


def test_every_cut_of_the_first_formatting_formats_again():
    length = 0
    probe = RigNvram(SIZE)
    opened(probe)
    length = probe.written
    for cut in range(1, length + 1):
        nvram = RigNvram(SIZE)
        nvram.cut_after = cut
        with pytest.raises(PowerCut):
            opened(nvram)
        opened(nvram).commit([(1, b"a")])
        assert opened(nvram).get(1) == b"a"


def test_every_flipped_bit_of_either_bank_is_repaired_from_the_other():
    nvram = RigNvram(SIZE)
    journal = opened(nvram)
    for number in range(5):
        journal.commit([(number, bytes([number]) * 20), (100, number)])
    want = state(journal, range(128))
    used = journal._end
    for bank in range(2):
        for offset in range(used):
            bad = copy_of(nvram)
            bad.memory[bank * 2 * AREA + offset] ^= 1 << (offset % 8)
            survivor = opened(bad)
            assert state(survivor, range(128)) == want
            assert bad.memory[: 2 * AREA][:used] == nvram.memory[: 2 * AREA][:used]
            assert bad.memory[2 * AREA : 2 * AREA + used] == nvram.memory[2 * AREA : 2 * AREA + used]
            # A damaged last record of bank 1 looks like a cut commit, which is finished without being called a repair.
            last = bank == 1 and offset >= used - len(_last_record(nvram, used))
            assert survivor.repaired == (0 if last else 1)


def _last_record(nvram: RigNvram, used: int) -> bytes:
    offset = 0
    while True:
        length = HEADER_BYTES + int.from_bytes(nvram.memory[offset + 2 : offset + 4], "little") + 4
        if offset + length == used:
            return bytes(nvram.memory[offset : offset + length])
        offset += length


@pytest.mark.parametrize("record", range(6))
def test_a_record_damaged_in_both_banks_locks(record):
    """Never rolled back silently: neither the snapshot, nor a record in the middle, nor the last one."""
    nvram = RigNvram(SIZE)
    journal = opened(nvram)
    ends = [0, journal._end]
    for number in range(5):
        journal.commit([(number, b"money")])
        ends.append(journal._end)
    for bank in range(2):
        nvram.memory[bank * 2 * AREA + ends[record] + HEADER_BYTES] ^= 0x10
    with pytest.raises(JournalCorrupt):
        opened(nvram)


def test_history_lost_across_a_compaction_locks():
    """The newer snapshot is gone in both banks: the older area is intact but must not come back to life."""
    nvram = RigNvram(SIZE)
    journal = opened(nvram)
    while journal._area == 0:
        journal.commit([(1, bytes(200))])
    journal.commit([(2, b"after")])
    for bank in range(2):
        nvram.memory[bank * 2 * AREA + AREA + 20] ^= 1
    with pytest.raises(JournalCorrupt):
        opened(nvram)


def test_opening_and_committing_read_no_more_at_once_than_the_longest_record(mocker):
    """A used heap has much memory, but not in one piece: a board that reads an area at once may never start again."""
    nvram = RigNvram(65536)
    journal = Journal(nvram)
    journal.open()
    for number in range(600):
        journal.commit([(number % 300, bytes([number % 256]) * (number % 30))])
    journal.commit([(1, b"torn")])
    nvram.memory[nvram.size // 2 :] = b"\xff" * (nvram.size // 2)  # the second bank is lost as a whole
    read = mocker.spy(nvram, "read")
    again = Journal(nvram)
    again.open()
    again.commit([(2, b"and on")])
    assert again.get(1) == b"torn"
    longest = max(call.args[1] for call in read.call_args_list)
    snapshot = sum(3 + len(again.get(key)) for key in range(300) if again.get(key)) + OVERHEAD_BYTES
    assert longest <= max(SEARCHED_BYTES + HEADER_BYTES, snapshot) < nvram.size // 8


def test_a_ram_clear_cut_anywhere_never_shows_an_older_state():
    nvram = RigNvram(SIZE)
    journal = opened(nvram)
    while journal._area == 0:
        journal.commit([(1, bytes(200))])
    probe = copy_of(nvram)
    clearing = opened(probe)
    start = probe.written
    clearing.clear()
    length = probe.written - start
    assert opened(probe).get(1) == b""
    for cut in [*range(1, 300), *range(300, length - 300, 997), *range(length - 300, length)]:
        torn = copy_of(nvram)
        victim = opened(torn)
        torn.cut_after = cut
        with pytest.raises(PowerCut):
            victim.clear()
        with pytest.raises(JournalCorrupt):
            opened(torn)
        Journal(torn).clear()
        assert opened(torn).get(1) == b""


def test_memory_that_does_not_keep_what_is_written_is_noticed():
    class Stuck(RigNvram):
        def write(self, offset, data):
            super().write(offset, bytes([data[0] ^ 1]) + data[1:] if self.written > 200 else data)

    nvram = Stuck(SIZE)
    journal = opened(nvram)
    while nvram.written <= 200:
        journal.commit([(1, b"abc")])
    with pytest.raises(JournalWriteError):
        journal.commit([(1, b"abc")])


def test_values_out_of_range_are_refused_and_change_nothing():
    nvram = RigNvram(SIZE)
    journal = opened(nvram)
    before = bytes(nvram.memory)
    with pytest.raises(ValueError, match="256 bytes"):
        journal.commit([(1, bytes(256))])
    with pytest.raises(ValueError, match="negative"):
        journal.commit([(1, -1)])
    with pytest.raises(ValueError, match="too small"):
        Journal(RigNvram(1024))
    assert bytes(nvram.memory) == before


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.integers(0, 40), st.binary(max_size=60), min_size=1, max_size=6), max_size=300))
def test_any_history_reads_back(history):
    nvram = RigNvram(SIZE)
    journal = opened(nvram)
    want: dict[int, bytes] = {}
    for changes in history:
        journal.commit(changes.items())
        want.update(changes)
    again = opened(nvram)
    assert {key: again.get(key) for key in want} == want
    assert again.sequence == journal.sequence

"""The recovery table of firmware/store/README.md, row by row: a picture in both banks, what `open()` makes of it. Then the
scrub."""

import pytest

from firmware.main import Cabinet
from firmware.store.journal import (
    CLEARING,
    CONTROL_BYTES,
    HEADER_BYTES,
    SCRUB_BYTES,
    Journal,
    JournalCorrupt,
    JournalWriteError,
)
from host_tools.cabinet import games
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse
from tests.firmware.nvram import RigNvram, copy_of

SIZE = 32768
AREA = (SIZE - CONTROL_BYTES) // 4
BANK = 2 * AREA
OLD, NEW = b"the state before", b"the state after."


class Picture:
    """A memory with three records, the last of which (key 1 = NEW) is at `last`, `length` bytes long."""

    def __init__(self) -> None:
        self.nvram = RigNvram(SIZE)
        journal = Journal(self.nvram)
        journal.open()
        journal.commit([(1, OLD)])
        self.last = journal._end
        journal.commit([(1, NEW)])
        self.length = journal._end - self.last
        self.end = journal._end
        self.whole = bytes(self.nvram.memory)

    def bad(self, bank: int, offset: int) -> "Picture":
        self.nvram.memory[bank * BANK + offset] ^= 0x40
        return self

    def gone(self, bank: int, offset: int, until: int) -> "Picture":
        self.nvram.memory[bank * BANK + offset : bank * BANK + until] = b"\xff" * (until - offset)
        return self

    def opened(self) -> Journal:
        journal = Journal(self.nvram)
        journal.open()
        return journal

    def locks(self, reason: str) -> None:
        before = bytes(self.nvram.memory)
        with pytest.raises(JournalCorrupt, match=reason):
            self.opened()
        assert bytes(self.nvram.memory) == before  # nothing is repaired, nothing is cleared


@pytest.fixture
def picture() -> Picture:
    return Picture()


def test_whole_and_whole_is_committed(picture):
    journal = picture.opened()
    assert (journal.get(1), journal.repaired, picture.nvram.written) == (NEW, 0, len(picture.whole) and picture.end * 2)


def test_whole_and_not_whole_at_the_end_is_finished_and_called_no_repair(picture):
    for landed in range(picture.length):
        torn = Picture().gone(1, picture.last + landed, picture.end)
        journal = torn.opened()
        assert (journal.get(1), journal.repaired) == (NEW, 0)
        assert bytes(torn.nvram.memory) == torn.whole


def test_whole_and_not_whole_in_the_middle_is_repaired_and_counted(picture):
    journal = picture.bad(1, picture.last - 2).opened()
    assert (journal.get(1), journal.repaired) == (NEW, 1)
    assert bytes(picture.nvram.memory) == picture.whole


@pytest.mark.parametrize("where", ["middle", "end"])
def test_not_whole_and_whole_is_repaired_and_counted(picture, where):
    journal = picture.bad(0, picture.last + (-2 if where == "middle" else HEADER_BYTES)).opened()
    assert (journal.get(1), journal.repaired) == (NEW, 1)
    assert bytes(picture.nvram.memory) == picture.whole


def test_a_torn_tail_was_never_committed(picture):
    for landed in range(picture.length):
        torn = Picture().gone(0, picture.last + landed, picture.end).gone(1, picture.last, picture.end)
        journal = torn.opened()
        assert (journal.get(1), journal.repaired, journal._end) == (OLD, 0, picture.last)


def test_the_last_record_bad_in_both_banks_locks(picture):
    picture.bad(0, picture.last + HEADER_BYTES).bad(1, picture.last + HEADER_BYTES).locks("record 3 is damaged in both")


def test_a_record_in_the_middle_bad_in_both_banks_locks(picture):
    picture.bad(0, picture.last - 2).bad(1, picture.last - 3).locks("record 2 is damaged in both")


def test_two_whole_records_that_differ_lock(picture):
    other = Journal(copy_of(picture.nvram))
    other._nvram.memory[:] = picture.gone(0, picture.last, picture.end).gone(1, picture.last, picture.end).nvram.memory
    other.open()
    other.commit([(1, b"another history!")])
    picture.nvram.memory[:] = picture.whole
    picture.nvram.memory[BANK : BANK + picture.end] = other._nvram.memory[BANK : BANK + picture.end]
    picture.locks("banks disagree about record 3")


def test_a_snapshot_that_only_bank_0_has_is_finished_in_bank_1():
    """Areas change: bank 1 still starts with the snapshot from two changes ago."""
    nvram = RigNvram(SIZE)
    journal = Journal(nvram)
    journal.open()
    for area in (0, 1):
        while journal._area == area:
            before = bytes(nvram.memory)
            journal.commit([(1, journal.sequence), (2, bytes(250))])
    whole = bytes(nvram.memory)
    nvram.memory[BANK:] = before[BANK:]
    survivor = Journal(nvram)
    survivor.open()
    assert (survivor.get_int(1), survivor.repaired) == (journal.get_int(1), 0)
    assert nvram.memory[BANK : BANK + survivor._end] == whole[:AREA][: survivor._end]


@pytest.mark.parametrize("fill", [0x00, 0xFF])
def test_no_snapshot_and_bank_1_blank_is_a_new_memory(fill):
    nvram = RigNvram(SIZE)
    nvram.memory[:] = bytes([fill]) * SIZE
    nvram.memory[:20] = b"\x5a formatting was cut"
    assert Journal(nvram).open() is True


def test_no_snapshot_and_bank_1_not_blank_locks(picture):
    picture.bad(0, 0).bad(1, 0).locks("records before|no intact snapshot")


def test_the_mark_of_a_ram_clear_locks(picture):
    picture.nvram.memory[-1] = CLEARING
    picture.locks("a RAM clear was interrupted")


# --- the scrub: the same while the cabinet runs (CAB-NVM-03, 04, 05) -------------------------------------------------


def sweep(journal: Journal) -> int:
    return sum(journal.scrub() for _ in range(journal._end // SCRUB_BYTES + 1))


@pytest.mark.parametrize("bank", [0, 1])
def test_each_byte_that_decays_in_one_bank_is_repaired_by_the_next_sweep(picture, bank):
    journal = picture.opened()
    for offset in range(picture.end):
        picture.bad(bank, offset)
        assert sweep(journal) + sweep(journal) == 1
        assert bytes(picture.nvram.memory) == picture.whole


def test_a_sweep_writes_nothing_and_goes_on_for_ever(picture):
    journal = picture.opened()
    written = picture.nvram.written
    for _ in range(50):
        assert journal.scrub() == 0
    assert (journal.sweeps, picture.nvram.written) == (50, written)


def test_both_copies_bad_are_found_by_the_sweep(picture):
    journal = picture.opened()
    picture.bad(0, picture.last - 2).bad(1, picture.last - 3)
    with pytest.raises(JournalCorrupt, match="record after 1 is damaged in both"):
        sweep(journal)


def test_a_bank_that_does_not_keep_its_repair_is_found(picture):
    journal = picture.opened()
    picture.bad(1, picture.last)
    picture.nvram.write = lambda offset, data: None
    with pytest.raises(JournalWriteError):
        sweep(journal)


def lived(script: str) -> Rig:
    rig = Rig(games.packs())
    rig.run(parse(script))
    return rig


def cabinet(rig: Rig) -> Cabinet:
    return rig.session.cabinet  # pyright: ignore[reportAttributeAccessIssue]


def test_a_running_cabinet_repairs_one_bad_copy_and_logs_it():
    rig = lived("power on\ncoin 100\nwait 2s")
    journal = cabinet(rig).books.journal
    rig.session.nvram.memory[journal._address(1, journal._area, 40)] ^= 1
    rig.run(parse('wait 1s\nconsole events 1\nexpect console contains "memory records repaired"\nexpect credit == 100'))
    assert sweep(journal) == 0


def test_a_running_cabinet_locks_when_both_copies_are_bad():
    rig = lived("power on\ncoin 100\nwait 2s")
    journal = cabinet(rig).books.journal
    for bank in range(2):
        rig.session.nvram.memory[journal._address(bank, journal._area, 40 + bank)] ^= 1
    rig.run(parse("wait 1s\nexpect state == locked\npress cash_out\nwait 2s\nexpect paid == 0"))


# --- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [SIZE, 512 * 1024])
def test_changes_that_no_record_can_hold_are_a_value_error_and_change_nothing(size):
    """In a large memory the length field of a record is the limit, in a small one its area."""
    nvram = RigNvram(size)
    journal = Journal(nvram)
    journal.open()
    before = bytes(nvram.memory)
    with pytest.raises(ValueError, match="do not fit a record of"):
        journal.commit([(key, bytes(255)) for key in range(300)])
    assert bytes(nvram.memory) == before
    assert journal.get(0) == b""


def test_a_state_that_no_area_can_hold_is_a_value_error_and_changes_nothing():
    nvram = RigNvram(SIZE)
    journal = Journal(nvram)
    journal.open()
    key = 0
    while 258 * (key + 1) <= AREA - 12:  # all that fits
        journal.commit([(key, bytes(255))])
        key += 1
    before = bytes(nvram.memory)
    with pytest.raises(ValueError, match="the state does not fit"):
        journal.commit([(key, bytes(255))])
    assert bytes(nvram.memory) == before
    assert journal.get(key) == b""

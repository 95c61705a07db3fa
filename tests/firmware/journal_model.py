"""The journal against a plain model: any history of commits, cuts, decay, restarts and RAM clears (hypothesis)."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from firmware.store.journal import BANKS, CONTROL_BYTES, HEADER_BYTES, Journal, JournalCorrupt
from tests.firmware.nvram import PowerCut, RigNvram, copy_of

SIZE = 32768
AREA = (SIZE - CONTROL_BYTES) // 4
KEYS = 24
CHANGES = st.dictionaries(st.integers(0, KEYS - 1), st.binary(max_size=120), min_size=1, max_size=5)
PART = st.integers(0, 10**6)  # a place, modulo what there is


class JournalMachine(RuleBasedStateMachine):
    """`want` is what must be read back; `journal` the firmware's, over a memory whose power fails and whose bits decay."""

    def __init__(self) -> None:
        super().__init__()
        self.nvram = RigNvram(SIZE)
        self.journal = Journal(self.nvram)
        assert self.journal.open() is True
        self.want: dict[int, bytes] = {}

    @initialize(left=st.integers(0, 400), areas=st.integers(0, 2))
    def close_to_the_end_of_an_area(self, left: int, areas: int) -> None:
        """So that a history of a few records crosses into the other area."""
        for area in range(areas):
            while self.journal._area == area % 2 and self.journal._end + left + 300 < AREA:
                self.commit({KEYS - 1: bytes(200)})
            if area + 1 < areas:
                while self.journal._area == area % 2:
                    self.commit({KEYS - 2: bytes(200)})

    @rule(changes=CHANGES)
    def commit(self, changes: dict[int, bytes]) -> None:
        self.journal.commit(changes.items())
        self.want.update(changes)

    @rule(changes=CHANGES, part=PART)
    def commit_that_is_cut(self, changes: dict[int, bytes], part: int) -> None:
        """Whichever byte is the last to land: all of it or nothing, and never a repair."""
        probe = copy_of(self.nvram)
        writer = Journal(probe)
        writer.open()
        began = probe.written
        writer.commit(changes.items())
        self.nvram.cut_after = 1 + part % (probe.written - began)
        with pytest.raises(PowerCut):
            self.journal.commit(changes.items())
        self.reopen()
        if self.found() != self.want:
            self.want.update(changes)
        assert self.journal.repaired == 0

    @rule(changes=CHANGES, part=PART, again=PART)
    def commit_that_is_cut_and_its_recovery_too(self, changes: dict[int, bytes], part: int, again: int) -> None:
        self.nvram.cut_after = 1 + part % 200
        try:
            self.journal.commit(changes.items())
            self.nvram.cut_after = None
            self.want.update(changes)
            return
        except PowerCut:
            pass
        probe = copy_of(self.nvram)
        Journal(probe).open()
        if probe.written:
            self.nvram.cut_after = 1 + again % probe.written
            with pytest.raises(PowerCut):
                Journal(self.nvram).open()
        self.reopen()
        if self.found() != self.want:
            self.want.update(changes)

    @rule(bank=st.integers(0, BANKS - 1), places=st.lists(PART, min_size=1, max_size=4), flip=st.integers(1, 255))
    def decay_in_one_bank_while_off(self, bank: int, places: list[int], flip: int) -> None:
        self.decay(bank, places, flip)
        self.reopen()
        self.banks_agree()

    @rule(bank=st.integers(0, BANKS - 1), places=st.lists(PART, min_size=1, max_size=4), flip=st.integers(1, 255))
    def decay_in_one_bank_while_on(self, bank: int, places: list[int], flip: int) -> None:
        before = bytes(self.nvram.memory)
        self.decay(bank, places, flip)
        assert sum(self.journal.scrub() for _ in range(2 * AREA // 256)) > 0
        assert bytes(self.nvram.memory) == before
        self.banks_agree()

    def decay(self, bank: int, places: list[int], flip: int) -> None:
        for place in {place % self.journal._end for place in places}:
            self.nvram.memory[(2 * bank + self.journal._area) * AREA + place] ^= flip

    @rule(part=PART, flip=st.integers(1, 255), on=st.booleans())
    def decay_of_one_record_in_both_banks(self, part: int, flip: int, on: bool) -> None:
        """Locked for good, however often the power comes back, until a RAM clear."""
        records = [place for place in self.records() if place[1] > HEADER_BYTES + 4]
        if not records:
            return
        start, length = records[part % len(records)]
        for bank in range(BANKS):
            self.nvram.memory[(2 * bank + self.journal._area) * AREA + start + HEADER_BYTES + part % (length - 12)] ^= (
                flip
            )
        if on:
            before = bytes(self.nvram.memory)
            for _ in range(2 * AREA // 256):
                self.journal.scrub()  # both copies say the same: only a walk sees it
            assert bytes(self.nvram.memory) == before
        for _ in range(2):
            with pytest.raises(JournalCorrupt):
                Journal(self.nvram).open()
        self.journal.clear()
        self.want = {}
        self.reopen()

    @rule()
    def restart(self) -> None:
        self.reopen()
        assert self.journal.repaired == 0

    @rule(part=PART)
    def ram_clear(self, part: int) -> None:
        """Cut anywhere it stays a RAM clear: nothing but another one opens the memory."""
        if part % 3:
            self.nvram.cut_after = 1 + part % (SIZE - 2)
            with pytest.raises(PowerCut):
                self.journal.clear()
            with pytest.raises(JournalCorrupt, match="RAM clear"):
                Journal(self.nvram).open()
            self.journal = Journal(self.nvram)
        self.journal.clear()
        self.want = {}
        self.reopen()

    @precondition(lambda self: self.journal.sequence % 5 == 0)
    @rule()
    def sweep(self) -> None:
        before = bytes(self.nvram.memory)
        assert not any(self.journal.scrub() for _ in range(2 * AREA // 256))
        assert bytes(self.nvram.memory) == before

    def reopen(self) -> None:
        self.journal = Journal(self.nvram)
        self.journal.open()

    def found(self) -> dict[int, bytes]:
        return {key: self.journal.get(key) for key in self.want}

    def records(self) -> list[tuple[int, int]]:
        """(offset, length) of each record of the log."""
        found, offset = [], 0
        memory = self.nvram.memory[self.journal._area * AREA :][:AREA]
        while offset < self.journal._end:
            length = HEADER_BYTES + int.from_bytes(memory[offset + 2 : offset + 4], "little") + 4
            found.append((offset, length))
            offset += length
        return found

    @invariant()
    def reads_what_was_committed(self) -> None:
        """In RAM, and by somebody who opens the memory as it is now."""
        assert self.found() == self.want
        other = Journal(copy_of(self.nvram))
        other.open()
        assert {key: other.get(key) for key in self.want} == self.want

    @invariant()
    def banks_agree(self) -> None:
        banks = [self.nvram.memory[(2 * bank + self.journal._area) * AREA :][: self.journal._end] for bank in range(2)]
        assert banks[0] == banks[1]

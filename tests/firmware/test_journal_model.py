"""Runs the state machine of journal_model.py, and every cut of a long sequence, second cuts in every recovery included."""

import random

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from firmware.store.journal import AREAS, CONTROL_BYTES, SNAPSHOT, TIDY_BYTES, Journal
from host_tools.soak.cuts_memory import Recording
from tests.firmware.journal_model import JournalMachine
from tests.firmware.nvram import RigNvram


def test_any_history_against_a_plain_model():
    run_state_machine_as_test(JournalMachine, settings=settings(max_examples=60, stateful_step_count=25, deadline=None))


def facts(journal: Journal) -> list[bytes]:
    return [journal.get(key) for key in range(len(journal._values))]


def test_every_cut_and_every_second_cut_of_a_long_sequence_with_area_changes():
    """Each byte of each write of commits, area changes and the first formatting; then each byte that recovery writes."""
    dice = random.Random(4)
    nvram = RigNvram(32768)
    journal = Journal(nvram)
    tally = {"cuts": 0, "double_cuts": 0}
    states: list[list[bytes]] = [[]]  # what may be found: before the write under way, and after it
    known: dict[bytes, list[bytes]] = {}

    def opened(memory: bytes) -> list[bytes]:
        """The facts that a memory holds, once it has been opened; second cuts leave the same memory again and again."""
        if memory not in known:
            survivor = Journal(RigNvram(len(memory)))
            survivor._nvram.memory[:] = memory
            survivor.open()
            known[memory] = [value for value in facts(survivor) if value]
        return known[memory]

    def cut_everywhere(offset: int, data: bytes) -> None:
        image = bytearray(nvram.memory)
        for place, byte in enumerate(data):
            image[offset + place] = byte
            assert opened(bytes(image)) in states
            tally["cuts"] += 1
            recovery = Recording(image)
            Journal(recovery).open()
            again = bytearray(image)
            for at, written in recovery.writes:
                for index, each in enumerate(written):
                    again[at + index] = each
                    assert opened(bytes(again)) in states
                    tally["double_cuts"] += 1
        known.clear()

    whole_write = nvram.write

    def write(offset: int, data: bytes) -> None:
        cut_everywhere(offset, bytes(data))
        whole_write(offset, data)

    nvram.write = write  # type: ignore[method-assign]
    journal.open()
    for number in range(30):
        changes = {dice.randrange(8): dice.randbytes(dice.randrange(1, 12)) for _ in range(dice.randrange(1, 4))}
        before = [value for value in facts(journal) if value]
        merged = {**dict(enumerate(facts(journal))), **changes}
        states = [before, [merged[key] for key in sorted(merged) if merged[key]]]
        journal.commit(changes.items())
        if number % 10 == 9:  # with these four records the log moves to the other area
            nvram.write = whole_write  # type: ignore[method-assign]
            began = journal._area
            while journal._area == began and journal._end + 140 < journal._area_bytes:
                journal.commit([(9, bytes(100))])
            nvram.write = write  # type: ignore[method-assign]
            for _ in range(4):
                full = [value for value in facts(journal) if value]
                states = [full, [*full[:-1], bytes(100)]]
                journal.commit([(9, bytes(100))])
            assert journal._area != began
    began, states = journal._area, [[value for value in facts(journal) if value]]
    nvram.write = whole_write  # type: ignore[method-assign]
    while journal._end + TIDY_BYTES <= journal._area_bytes:
        assert not journal.tidy()
        journal.commit([(9, bytes(100))])
    nvram.write = write  # type: ignore[method-assign]
    assert journal.tidy()  # the same move without a change
    assert not journal.tidy()
    assert journal._area != began
    area_bytes = (nvram.size - CONTROL_BYTES) // (2 * AREAS)
    assert [nvram.memory[area * area_bytes] for area in range(AREAS)] == [SNAPSHOT] * AREAS
    assert tally["cuts"] > 3000
    assert tally["double_cuts"] > 50_000
    print(f"\n{tally}")

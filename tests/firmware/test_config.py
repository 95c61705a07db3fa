"""The table of settings, and the memory that a RAM clear leaves."""

import pytest

from firmware import config, events
from firmware.books import Books
from firmware.store.journal import Journal, JournalCorrupt, JournalWriteError
from tests.firmware.nvram import PowerCut, RigNvram, copy_of

PACKS = dict.fromkeys(("dog_diner", "piggy_bank", "piggy_riches"))
VALUES = {
    "cabinet": 17, "pulse": 100, "coins": 0b11110, "notes": 0, "credit_limit": 50000, "note_limit": 20000,
    "hopper_limit": 0, "win_limit": 10_000_000, "games": ("dog_diner", "piggy_riches"), "first_game": "piggy_riches",
    "note_acceptor": 1, "note_key": b"\x01#Eg\x89\xab\xcd\xef",
}  # fmt: skip


def opened(nvram: RigNvram) -> Books:
    journal = Journal(nvram)
    journal.open()
    return Books(journal)


def test_a_memory_without_configuration_accepts_and_limits_to_nothing():
    found = opened(RigNvram()).config
    assert not found.complete
    assert [found.value(row.name) for row in config.ITEMS if row.kind in (config.NUMBER, config.MONEY)] == [0] * 6
    assert (found.coins(), found.notes(), found.games(PACKS), found.first_game(PACKS)) == ((), (), [], "")


def test_what_is_kept_is_what_was_entered():
    nvram = RigNvram()
    opened(nvram).journal.commit(config.facts(VALUES))
    found = opened(nvram).config
    assert found.complete
    assert {name: found.value(name) for name in VALUES} == VALUES
    assert found.coins() == (20, 50, 100, 200)
    assert found.first_game(PACKS) == "piggy_riches"
    assert found.first_game({"dog_diner": None}) == "dog_diner"
    assert found.first_game({"piggy_bank": None}) == ""


@pytest.mark.parametrize("length", [0, 1, 32])
def test_a_record_of_another_length_is_no_configuration(length):
    books = opened(RigNvram())
    books.journal.commit([(key, value[:length]) for key, value in config.facts(VALUES)])
    books.config.reload()
    assert not books.config.complete


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("credit_limit", "50000", 50000),
        ("credit_limit", "£500", 50000),
        ("credit_limit", "£500.05", 50005),
        ("credit_limit", "£10", 1000),
        ("credit_limit", "£10000.00", 1000000),
        ("hopper_limit", "0", 0),
        ("coins", "all", 31),
        ("coins", "none", 0),
        ("coins", "200, 10", 17),
        ("notes", "5000", 8),
        ("games", "piggy_bank,dog_diner piggy_bank", ("dog_diner", "piggy_bank")),
        ("first_game", "piggy_bank", "piggy_bank"),
        ("note_acceptor", "none", 0),
        ("note_acceptor", "ssp", 1),
        ("note_acceptor", "cctalk", 2),
        ("note_key", "none", b""),
    ],
)
def test_what_is_typed(name, typed, value):
    row = config.item(name)
    assert row.parsed(typed.split(), PACKS) == value
    assert row.parsed(row.shown(value).split(), PACKS) == value


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("credit_limit", "£9.99"),
        ("credit_limit", "£10000.01"),
        ("credit_limit", "-5"),
        ("credit_limit", "£500.5"),
        ("credit_limit", "£"),
        ("credit_limit", "500 00"),
        ("credit_limit", "5e4"),
        ("cabinet", "£5"),
        ("coins", "5"),
        ("coins", "10 x"),
        ("coins", ","),
        ("games", "none"),
        ("games", "dog_diner chess"),
        ("first_game", "dog_diner piggy_bank"),
        ("first_game", ""),
        ("note_acceptor", "jcm"),
        ("note_key", "0123456701234567a"),
        ("note_key", "01234567"),
        ("note_key", "0123456701234 67"),
        ("note_key", "+123456701234567"),
    ],
)
def test_what_is_refused_names_the_item_and_what_would_be_right(name, typed):
    row = config.item(name)
    with pytest.raises(ValueError, match=f"{name} must be "):
        row.parsed(typed.split(), PACKS)


def test_an_unknown_item_is_told_with_those_there_are():
    with pytest.raises(ValueError, match="there is no setting limit; there are cabinet, pulse"):
        config.item("limit")


@pytest.mark.parametrize("row", config.ITEMS, ids=[row.name for row in config.ITEMS])
def test_an_event_tells_any_value_again(row):
    largest = {"coins": 31, "notes": 15, "games": tuple(PACKS), "first_game": "piggy_riches", "note_key": bytes(8)}.get(
        row.name, row.high
    )
    for value in (largest, VALUES[row.name]):
        argument = config.argument(row, value, PACKS)
        assert argument < 1 << 32
        assert config.told(argument, PACKS) == f"{row.name} {row.shown(value)}"


def test_a_key_is_kept_and_never_shown():
    row = config.item("note_key")
    value = row.parsed(["0123456701234567"], PACKS)
    assert value == bytes.fromhex("0123456701234567")
    assert "0123456701234567" not in row.shown(value)
    assert row.shown(value) != row.shown(b"") != row.shown(bytes(8))


def cleared_facts() -> list:
    nvram = RigNvram()
    books = opened(nvram)
    kept = []
    books.journal.commit = kept.extend
    books.transaction(7000).event(events.RAM_CLEARED, 3).count("ram_clears", 3).commit()
    return kept


def test_a_clear_cut_behind_any_byte_is_the_old_memory_or_no_memory_or_the_new_one():
    """CAB-NVM-05, CAB-NVM-06: never a mixture, and never a memory that does not know that it was cleared."""
    old = RigNvram(32768)
    opened(old).journal.commit([(0, 500), *config.facts(VALUES)])
    whole = copy_of(old)
    Journal(whole).clear(cleared_facts())
    total = whole.written
    found = set()
    for cut in [0, 1, 2, *range(3, total - 400, 499), *range(total - 400, total + 1)]:
        nvram = copy_of(old)
        nvram.cut_after = cut or None
        if cut:
            with pytest.raises(PowerCut):
                Journal(nvram).clear(cleared_facts())
        try:
            books = opened(nvram)
        except JournalCorrupt as error:
            if "RAM clear was interrupted" not in str(error):
                raise
            found.add("locked")
            continue
        if books.config.complete:
            assert cut == 0
            found.add("old")
        else:
            assert books.ledger.value("credit") == 0
            assert books.meters.value("ram_clears") == 3
            assert [event[-2:] for event in books.events.newest(9)] == [(events.RAM_CLEARED, 3)]
            found.add("new")
    assert found == {"old", "locked", "new"}


def test_a_salvaged_memory_shows_what_lies_before_the_damage_and_takes_nothing():
    nvram = RigNvram(32768)
    journal = opened(nvram).journal
    journal.commit([(0, 500)])
    first_end = journal.usage()[0]
    journal.commit([(0, 700)])
    journal.commit([(0, 900)])
    for bank in range(2):
        nvram.memory[bank * 2 * journal.usage()[1] + first_end + 9] ^= 1
    damaged = bytes(nvram.memory)
    journal = Journal(nvram)
    with pytest.raises(JournalCorrupt):
        journal.open()
    assert journal.salvage()
    assert journal.get_int(0) == 500
    with pytest.raises(JournalWriteError):
        journal.commit([(0, 1)])
    assert bytes(nvram.memory) == damaged
    journal.clear()
    assert journal.get_int(0) == 0
    journal.commit([(0, 1)])


def test_nothing_can_be_salvaged_from_noise():
    nvram = RigNvram(32768)
    nvram.memory[:] = bytes(range(256)) * 128
    journal = Journal(nvram)
    with pytest.raises(JournalCorrupt):
        journal.open()
    assert not journal.salvage()

"""The ledger: balanced or refused, meters that roll over, and an audit that notices any damage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.books import Books
from firmware.money.ledger import ACCOUNTS, METER_MODULUS, OWED, SINKS, SOURCES, LedgerError
from firmware.store import keys
from firmware.store.journal import Journal
from tests.firmware.nvram import RigNvram


def new_books() -> Books:
    journal = Journal(RigNvram())
    journal.open()
    return Books(journal)


def test_every_account_is_of_one_kind_and_has_its_own_key():
    assert sorted(SOURCES + SINKS + OWED) == sorted(ACCOUNTS)
    assert len(set(ACCOUNTS)) == len(ACCOUNTS) <= keys.METER_BASE


def test_an_unbalanced_transaction_changes_nothing():
    books = new_books()
    books.transaction(0).post("coins_100", 100).post("credit", 100).commit()
    sequence = books.journal.sequence
    for postings in ([("credit", 5)], [("coins_10", 10), ("credit", 20)], [("credit", -10), ("wagered", 20)]):
        transaction = books.transaction(0).count("games").event(1)
        for account, pence in postings:
            transaction.post(account, pence)
        with pytest.raises(LedgerError, match="out of balance"):
            transaction.commit()
    assert (books.journal.sequence, books.meters.value("games")) == (sequence, 0)


def test_nothing_is_paid_that_is_not_owed_and_no_meter_goes_back():
    books = new_books()
    books.transaction(0).post("coins_10", 10).post("credit", 10).commit()
    with pytest.raises(LedgerError, match="credit of 10 pence"):
        books.transaction(0).post("credit", -20).post("handpay", 20).commit()
    with pytest.raises(LedgerError, match="cannot go back"):
        books.transaction(0).post("coins_10", -10).post("credit", -10).commit()


def test_meters_roll_over_to_zero_and_the_audit_still_holds():
    books = new_books()
    near = METER_MODULUS - 10
    books.transaction(0).post("coins_100", near).post("credit", near).commit()
    books.transaction(0).post("credit", -near).post("wagered", near).commit()
    books.transaction(0).post("coins_100", 100).post("credit", 100).commit()
    books.transaction(0).post("credit", -100).post("wagered", 100).commit()
    assert (books.ledger.value("coins_100"), books.ledger.value("wagered")) == (90, 90)
    assert books.ledger.discrepancy() == 0


def test_occurrence_meters_roll_over():
    books = new_books()
    books.transaction(0).count("games", 10**8 - 1).commit()
    books.transaction(0).count("games", 2).commit()
    assert books.meters.value("games") == 1


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_audit_notices_a_change_of_any_account(account):
    books = new_books()
    books.transaction(0).post("coins_200", 200).post("credit", 200).commit()
    books.journal.commit([(keys.ACCOUNT_BASE + ACCOUNTS.index(account), books.ledger.value(account) + 1)])
    assert books.ledger.discrepancy() != 0


@given(
    st.lists(
        st.tuples(st.sampled_from(SOURCES), st.sampled_from(SINKS), st.integers(0, 10**6), st.integers(0, 100)),
        max_size=40,
    )
)
def test_the_audit_identity_holds_after_any_balanced_history(moves):
    books = new_books()
    for source, sink, pence, share in moves:
        books.transaction(0).post(source, pence).post("credit", pence).commit()
        out = books.ledger.value("credit") * share // 100
        books.transaction(0).post("credit", -out).post(sink, out).commit()
    assert books.ledger.discrepancy() == 0


def test_the_event_log_keeps_the_last_128_and_numbers_them():
    books = new_books()
    for number in range(200):
        books.transaction(number * 1000).event(30, number).commit()
    found = books.events.newest(500)
    assert [row[0] for row in found] == list(range(199, 71, -1))
    assert found[0] == (199, 0, 0, 199, 30, 199)
    assert [row[0] for row in books.events.newest(3, 150)] == [150, 149, 148]
    assert [row[0] for row in books.events.newest(3, 73)] == [73, 72]
    assert books.events.newest(3, 71) == []

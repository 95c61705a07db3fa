"""The plan of a pay-out over hoppers that a default cabinet does not have: several of one coin, low ones, silent ones."""

from firmware import config
from firmware.books import Books
from firmware.money.hoppers import Hoppers
from firmware.money.payout import Payout
from firmware.store.journal import Journal
from firmware.tilt import Tilts
from tests.firmware.nvram import RigNvram

CONFIGURATION = {
    "cabinet": 1, "pulse": 100, "coins": 0b11111, "notes": 0, "credit_limit": 50000, "note_limit": 0,
    "hopper_limit": 10000, "win_limit": 100_000, "games": ("any",), "first_game": "any",
    "note_acceptor": 0, "note_key": b"",
}  # fmt: skip


class Coins:
    """A hopper's driver (hal/README.md) whose coins fall as soon as they are ordered, `level` of them."""

    def __init__(self, level: int, low: bool = False):
        self.level = level
        self.low, self.full = low, False
        self.ordered: list[int] = []
        self._events: list[tuple] = [("online", 1), ("counted", 1, 0)]
        self._coins = 0

    def known(self, serial: int, count: int) -> None: ...
    def event(self):
        return self._events[0] if self._events else None

    def booked(self) -> None:
        self._events.pop(0)

    def prepare(self, coins: int) -> bool:
        self._coins = coins
        self._events.append(("prepared", b""))
        return True

    def dispense(self) -> bool:
        paid = min(self._coins, self.level)
        self.level -= paid
        self.ordered.append(self._coins)
        flags = 0 if paid == self._coins else 2  # payout time-out
        self._events += [("paid", paid)] if paid else []
        self._events.append(("done", paid, self._coins - paid, flags))
        return True


def paid_out(pence: int, *drivers: tuple[str, int, Coins]) -> tuple[Books, Payout]:
    journal = Journal(RigNvram())
    journal.open()
    journal.commit(config.facts(CONFIGURATION))
    books = Books(journal)
    tilts = Tilts(books)
    payout = Payout(books, Hoppers(books, drivers, tilts, lambda thing: None), tilts, lambda thing: None)
    payout.poll(0)
    books.transaction(0).post("coins_100", pence).post("credit", pence).commit()
    payout.start(0)
    for now_ms in range(20):
        payout.poll(now_ms)
    assert not payout.active()
    assert books.ledger.discrepancy() == 0
    return books, payout


def test_of_two_hoppers_of_one_coin_the_fuller_one_pays():
    first, second, tens = Coins(100, low=True), Coins(100), Coins(100)
    books, _ = paid_out(320, ("hopper_100", 100, first), ("hopper_100", 100, second), ("hopper_10", 10, tens))
    assert (first.ordered, second.ordered, tens.ordered) == ([], [3], [2])
    assert books.ledger.value("hopper_100") == 300


def test_what_the_fuller_one_cannot_pay_the_other_one_of_the_coin_pays_before_smaller_coins():
    first, second, tens = Coins(100, low=True), Coins(1), Coins(100)
    books, _ = paid_out(320, ("hopper_100", 100, first), ("hopper_100", 100, second), ("hopper_10", 10, tens))
    assert (second.ordered, first.ordered, tens.ordered) == ([3], [2], [2])
    assert books.ledger.value("hopper_100") == 300


def test_a_large_coin_is_used_though_its_hopper_is_low():
    """Low is not empty: only between equals does the level decide."""
    pounds, tens = Coins(100, low=True), Coins(100)
    paid_out(250, ("hopper_100", 100, pounds), ("hopper_10", 10, tens))
    assert (pounds.ordered, tens.ordered) == ([2], [5])


def test_when_all_are_empty_the_rest_is_owed_and_can_be_reclaimed():
    pounds, tens = Coins(1), Coins(3)
    books, payout = paid_out(250, ("hopper_100", 100, pounds), ("hopper_10", 10, tens))
    assert books.ledger.value("handpay_due") == payout.reclaimable() == 120
    tens.level = 100
    payout.retry(0)
    for now_ms in range(20):
        payout.poll(now_ms)
    assert (books.ledger.value("handpay_due"), payout.reclaimable()) == (0, 0)
    assert books.ledger.hopper_out() == 250

"""The coin acceptor: start-up, and every coin exactly once whatever happens to counter, line and device."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hal.cctalk.bus import Bus
from hal.cctalk.coin_acceptor import UNKNOWN_COIN, CoinAcceptor, counter_back, counter_delta
from tests.hal.bench import SILENCE, Bench, ScriptedPort, cctalk, cctalk16

VALUES = {"GB010A": 10, "GB020A": 20, "GB050A": 50, "GB100A": 100, "GB200A": 200}
IDS = ["GB010A", "GB020A", "GB050A", "GB100A", "GB200A", "EU100A"] + ["......"] * 10
MASK = b"\x1f\x00"
SERIAL = 12345678
ACK = cctalk(1, 0, source=2)
OFF, ON = cctalk(2, 228, b"\x00"), cctalk(2, 228, b"\x01")
READ = cctalk(2, 229)


class Acceptor:
    """The far end as a table: what a real acceptor would answer in the state that the test gives it."""

    def __init__(self, **options):
        self.port = ScriptedPort(echo=True)
        self.counter = 0
        self.events: list[tuple[int, int]] = [(0, 0)] * 5
        self.mask = b"\x00\x00"
        self.ids = list(IDS)
        self.silent = False
        self.accepted = 70  # in its life
        self.port.always(cctalk(2, 225), lambda: self.say(self.accepted.to_bytes(3, "little")))
        self.port.always(cctalk(2, 254), lambda: self.say())
        self.port.always(cctalk16(2, 254), SILENCE)
        self.port.always(cctalk(2, 242), lambda: self.say(SERIAL.to_bytes(3, "little")))
        for position in range(1, 17):
            self.port.always(cctalk(2, 184, bytes([position])), lambda at=position: self.say(self.ids[at - 1].encode()))
        self.port.always(cctalk(2, 231, MASK), lambda: self.set_mask(MASK))
        self.port.always(cctalk(2, 230), lambda: self.say(self.mask))
        self.port.always(ON, lambda: self.say())
        self.port.always(OFF, lambda: self.say())
        self.port.always(READ, lambda: self.say(bytes([self.counter]) + bytes(sum(self.events, ()))))
        self.bus = Bus(self.port)
        self.driver = CoinAcceptor(self.bus, VALUES, **options)
        self.bench = Bench(self.bus, self.driver)

    def say(self, data: bytes = b""):
        return SILENCE if self.silent else cctalk(1, 0, data, source=2)

    def set_mask(self, mask: bytes):
        if not self.silent:
            self.mask = mask
        return self.say()

    def happen(self, coin: int, code: int = 0) -> None:
        self.counter = self.counter % 255 + 1
        self.events = [(coin, code), *self.events[:4]]
        self.accepted += coin != 0

    def reset(self) -> None:
        self.counter = 0
        self.events = [(0, 0)] * 5
        self.mask = b"\x00\x00"

    def start(self) -> list[tuple]:
        return self.bench.tell(1000)


@pytest.fixture
def acceptor() -> Acceptor:
    started = Acceptor()
    assert started.start() == [("device_reset", 70), ("online", SERIAL)]
    return started


def test_start_up_byte_by_byte():
    port = ScriptedPort(echo=True)
    bus = Bus(port)
    driver = CoinAcceptor(bus, VALUES)
    bench = Bench(bus, driver)
    port.expect(cctalk(2, 254), ACK)
    port.expect(cctalk(2, 242), bytes.fromhex("01 03 02 00 4E 61 BC 8F"))
    port.expect(OFF, ACK)
    for position, coin_id in enumerate(IDS, 1):
        port.expect(cctalk(2, 184, bytes([position])), cctalk(1, 0, coin_id.encode(), source=2))
    port.expect(READ, cctalk(1, 0, bytes(11), source=2))
    port.expect(cctalk(2, 225), cctalk(1, 0, b"\x01\x02\x03", source=2))
    port.expect(cctalk(2, 231, MASK), ACK)
    port.expect(cctalk(2, 230), cctalk(1, 0, MASK, source=2))
    port.expect(OFF, ACK)
    bench.run(250)
    assert port.sent == []
    assert bench.tell(260) == [("device_reset", 0x030201), ("online", SERIAL)]
    port.done()
    assert driver.coin_ids[:7] == [*IDS[:6], ""]
    assert driver.accepting is False
    for _ in range(3):
        port.expect(READ, cctalk(1, 0, bytes(11), source=2))
    bench.run(600)
    port.done()


def test_b15_the_mask_comes_from_the_ids_and_is_read_back():
    acceptor = Acceptor()
    acceptor.ids = ["......", "GB050A", "EU200A", "GB010A"] + ["......"] * 11 + ["GB200A"]
    mask = b"\x0a\x80"
    acceptor.port.expect(cctalk(2, 231, mask), cctalk(1, 0, source=2))  # acknowledged and not done
    acceptor.port.always(cctalk(2, 231, mask), lambda: acceptor.set_mask(mask))
    assert acceptor.start() == [("device_reset", 70), ("online", SERIAL)]
    assert acceptor.mask == mask
    assert acceptor.port.count(cctalk(2, 231, mask)) == 2


def test_an_acceptor_whose_mask_cannot_be_set_never_comes_online():
    acceptor = Acceptor()
    acceptor.port.always(cctalk(2, 231, MASK), ACK)
    assert ("online", SERIAL) not in acceptor.bench.tell(5000)
    assert acceptor.port.count(cctalk(2, 254)) > 1


def test_b16_an_acceptor_in_crc_mode_is_found():
    port = ScriptedPort(echo=True)
    bus = Bus(port)
    driver = CoinAcceptor(bus, {})
    port.expect(cctalk(2, 254), SILENCE)
    port.expect(cctalk16(2, 254), cctalk16(1, 0))
    port.expect(cctalk16(2, 242), cctalk16(1, 0, b"\x01\x00\x00"))
    port.expect(cctalk16(2, 228, b"\x00"), cctalk16(1, 0))
    for position in range(1, 17):
        port.expect(cctalk16(2, 184, bytes([position])), cctalk16(1, 0, b"......"))
    port.expect(cctalk16(2, 229), cctalk16(1, 0, bytes(11)))
    port.expect(cctalk16(2, 225), cctalk16(1, 5))
    port.expect(cctalk16(2, 231, b"\x00\x00"), cctalk16(1, 0))
    port.expect(cctalk16(2, 230), cctalk16(1, 0, b"\x00\x00"))
    port.expect(cctalk16(2, 228, b"\x00"), cctalk16(1, 0))
    port.always(cctalk16(2, 229), cctalk16(1, 0, bytes(11)))
    assert Bench(bus, driver).tell(1500) == [("device_reset", -1), ("online", 1)]
    port.done()


def test_a_position_that_is_refused_counts_as_not_programmed():
    acceptor = Acceptor()
    acceptor.port.always(cctalk(2, 184, b"\x10"), cctalk(1, 5, source=2))
    assert acceptor.start()[-1] == ("online", SERIAL)
    assert acceptor.driver.coin_ids[15] == ""


# Coins.


def test_coins_come_one_by_one_oldest_first_with_their_counters(acceptor):
    for coin in (4, 1, 5):
        acceptor.happen(coin)
    assert acceptor.bench.tell(300) == [
        ("coin", 1, 100, "GB100A", 0),
        ("coin", 2, 10, "GB010A", 0),
        ("coin", 3, 200, "GB200A", 0),
    ]
    assert acceptor.driver.last_counter == 3


def test_an_event_stays_until_it_is_booked(acceptor):
    acceptor.happen(1)
    acceptor.happen(2)
    acceptor.bench.run(1000)
    driver = acceptor.driver
    assert driver.event() == driver.event() == ("coin", 1, 10, "GB010A", 0)
    assert driver.last_counter == 0
    driver.booked()
    assert driver.last_counter == 1
    assert driver.event() == ("coin", 2, 20, "GB020A", 0)


def test_when_nobody_takes_the_events_the_acceptor_is_not_polled_and_nothing_is_lost(acceptor):
    for _ in range(3):
        for _ in range(4):
            acceptor.happen(4)
        acceptor.bench.run(500)
    polls = acceptor.port.count(READ)
    acceptor.bench.run(2000)
    assert acceptor.port.count(READ) == polls
    coins = acceptor.bench.tell(2000)
    assert [event[:2] for event in coins] == [("coin", counter) for counter in range(1, 13)]


def test_trap_1_reset_with_new_events_between_two_polls_is_no_loss_of_247_coins():
    acceptor = Acceptor(last_counter=10)
    acceptor.counter, acceptor.mask = 10, MASK
    assert acceptor.start() == [("online", SERIAL)]
    acceptor.reset()
    acceptor.happen(0, 2)
    acceptor.happen(0, 1)
    assert acceptor.bench.tell(500) == [("device_reset", 70), ("coin_error", 1, 2), ("coin_error", 2, 1)]
    assert acceptor.mask == MASK
    assert acceptor.driver.last_counter == 2


def test_trap_1_a_jump_without_reset_is_a_loss_and_the_five_shown_are_credited(acceptor):
    for _ in range(9):
        acceptor.happen(1)
    assert acceptor.bench.tell(500) == [
        ("coins_lost", 4, 4, 74),
        *[("coin", counter, 10, "GB010A", 0) for counter in range(5, 10)],
    ]


def test_trap_1_no_judgement_without_the_mask(acceptor):
    for _ in range(9):
        acceptor.happen(1)
    acceptor.port.expect(cctalk(2, 230), cctalk(1, 6, source=2))
    told = acceptor.bench.tell(800)
    assert told[0] == ("coins_lost", 4, 4, 74)
    assert len(told) == 6


def test_trap_1_what_was_lost_may_have_been_refusals(acceptor):
    """The count of coins before the five that are shown tells how many of the lost events were coins."""
    for coin in (0, 0, 1, 0, 1, 2, 0, 0, 3):
        acceptor.happen(coin, 0 if coin else 8)
    assert acceptor.bench.tell(900)[0] == ("coins_lost", 4, 4, 71)


def test_trap_1_a_coin_between_the_looks_is_not_taken_for_a_lost_one(acceptor):
    for _ in range(9):
        acceptor.happen(1)
    looks = []

    def count():
        looks.append(acceptor.accepted)
        answer = acceptor.say(acceptor.accepted.to_bytes(3, "little"))
        if len(looks) == 1:
            acceptor.happen(2)
        return answer

    acceptor.port.always(cctalk(2, 225), count)
    told = acceptor.bench.tell(900)
    assert told[0] == ("coins_lost", 5, 5, 75)
    assert [event[1] for event in told[1:]] == [6, 7, 8, 9, 10]
    assert len(looks) == 3


def test_trap_2_a_cabinet_restart_credits_what_was_not_committed_once():
    acceptor = Acceptor(last_counter=7)
    acceptor.counter, acceptor.mask = 9, MASK
    acceptor.events = [(5, 0), (4, 0), (3, 0), (2, 0), (1, 0)]
    assert acceptor.start() == [("coin", 8, 100, "GB100A", 0), ("coin", 9, 200, "GB200A", 0), ("online", SERIAL)]
    again = Acceptor(last_counter=9)
    again.counter, again.mask, again.events = 9, MASK, acceptor.events
    assert again.start() == [("online", SERIAL)]


def test_trap_2_both_restarted():
    acceptor = Acceptor(last_counter=7)
    assert acceptor.start() == [("device_reset", 70), ("online", SERIAL)]
    assert acceptor.driver.last_counter == 0


def test_an_unknown_last_counter_adopts_what_the_device_shows():
    acceptor = Acceptor(last_counter=None)
    acceptor.counter, acceptor.mask = 9, MASK
    acceptor.events = [(5, 0)] * 5
    assert acceptor.start() == [("adopted", 9, 70), ("online", SERIAL)]
    assert acceptor.driver.last_counter == 9
    acceptor.happen(1)
    assert acceptor.bench.tell(300) == [("coin", 10, 10, "GB010A", 0)]


def test_a_coin_falls_while_an_acceptor_is_adopted():
    """Count and counter are of one moment, so that coin is before both or after both."""
    acceptor = Acceptor(last_counter=None)
    acceptor.counter, acceptor.mask = 9, MASK
    falls = iter([True])

    def count():
        answer = acceptor.say(acceptor.accepted.to_bytes(3, "little"))
        if next(falls, False):
            acceptor.happen(1)
        return answer

    acceptor.port.always(cctalk(2, 225), count)
    assert acceptor.start() == [("adopted", 10, 71), ("online", SERIAL)]


def test_an_acceptor_that_keeps_no_count_is_adopted_by_its_events():
    acceptor = Acceptor(last_counter=None)
    acceptor.counter, acceptor.mask = 9, MASK
    acceptor.port.always(cctalk(2, 225), SILENCE)
    assert acceptor.bench.tell(5000) == [("adopted", 9, -1), ("online", SERIAL)]


def test_trap_3_the_counter_wraps_from_255_to_1():
    acceptor = Acceptor(last_counter=254)
    acceptor.counter, acceptor.mask = 254, MASK
    acceptor.start()
    for coin in (1, 2, 3):
        acceptor.happen(coin)
    assert [event[1] for event in acceptor.bench.tell(300)] == [255, 1, 2]
    assert acceptor.driver.last_counter == 2


def test_trap_4_two_polls_apart_by_255_events_cannot_be_seen_but_a_silent_acceptor_goes_offline_first(acceptor):
    acceptor.silent = True
    assert acceptor.bench.tell(2000) == [("offline",)]


def test_trap_5_a_lost_answer_is_asked_for_again_and_credits_once(acceptor):
    acceptor.happen(4)
    acceptor.port.expect(READ, SILENCE)
    assert acceptor.bench.tell(1000) == [("coin", 1, 100, "GB100A", 0)]


def test_trap_6_errors_advance_the_counter_too(acceptor):
    acceptor.happen(0, 20)
    acceptor.happen(4)
    acceptor.happen(0, 0)
    assert acceptor.bench.tell(300) == [
        ("coin_error", 1, 20),
        ("coin", 2, 100, "GB100A", 0),
        ("coin_error", 3, 0),
    ]


@pytest.mark.parametrize("position", [6, 7, 16, 17, 255])
def test_trap_7_a_coin_without_a_known_id_is_not_credited(acceptor, position):
    acceptor.happen(position)
    assert acceptor.bench.tell(300) == [("coin_error", 1, UNKNOWN_COIN + position)]


# Reset, loss, inhibit.


def test_counter_zero_is_a_reset_and_masks_and_acceptance_are_asserted_again(acceptor):
    acceptor.driver.accept(True)
    acceptor.happen(4)
    acceptor.bench.tell(300)
    acceptor.reset()
    sent = len(acceptor.port.sent)
    assert acceptor.bench.tell(300) == [("device_reset", 71)]
    again = acceptor.port.sent[sent:]
    assert [frame for frame in again if frame != READ] == [
        cctalk(2, 225),
        cctalk(2, 231, MASK),
        cctalk(2, 230),
        ON,
    ]
    assert acceptor.driver.accepting is True
    assert acceptor.driver.last_counter == 0


def test_a_mask_that_was_lost_unseen_is_repaired_without_touching_the_counter(acceptor):
    acceptor.happen(4)
    acceptor.bench.tell(300)
    acceptor.mask = b"\x00\x00"
    assert acceptor.bench.tell(6000) == []
    assert acceptor.mask == MASK
    assert acceptor.driver.mask_repairs == 1


def test_a_coin_that_went_with_a_reset_shows_in_the_lifetime_count(acceptor):
    acceptor.happen(4)
    assert acceptor.bench.tell(300) == [("coin", 1, 100, "GB100A", 0)]
    acceptor.happen(5)
    acceptor.reset()  # before the next poll
    assert acceptor.bench.tell(300) == [("device_reset", 72)]


def test_a_reset_without_events_before_and_after_shows_in_the_mask(acceptor):
    acceptor.accepted += 1
    acceptor.reset()
    assert acceptor.bench.tell(6000) == [("device_reset", 71)]
    assert acceptor.mask == MASK


def test_accept_goes_out_at_once_even_between_polls(acceptor):
    acceptor.bench.run(50)
    sent = len(acceptor.port.sent)
    acceptor.driver.accept(True)
    acceptor.bench.run(4)
    assert acceptor.port.sent[sent:] == [ON]
    acceptor.bench.run(20)
    assert acceptor.driver.accepting is True
    acceptor.driver.accept(False)
    acceptor.bench.run(20)
    assert acceptor.port.sent[-1] == OFF
    assert acceptor.driver.accepting is False


def test_accept_that_changes_on_the_line_is_corrected(acceptor):
    acceptor.driver.accept(True)
    acceptor.bus.poll(acceptor.bench.now_ms)
    acceptor.driver.accept(False)
    acceptor.bench.run(50)
    assert [frame for frame in acceptor.port.sent if frame in (ON, OFF)][-2:] == [ON, OFF]
    assert acceptor.driver.accepting is False


def test_accept_that_was_not_answered_is_sent_again(acceptor):
    for _ in range(4):
        acceptor.port.expect(OFF, SILENCE)
    acceptor.driver.accept(True)
    acceptor.bench.run(100)
    before = acceptor.port.count(OFF)
    acceptor.driver.accept(False)
    acceptor.bench.run(1000)
    acceptor.port.done()
    assert acceptor.port.count(OFF) == before + 5
    assert acceptor.driver.accepting is False


def test_offline_after_a_second_and_online_again_with_what_happened_meanwhile(acceptor):
    acceptor.driver.accept(True)
    acceptor.bench.tell(300)
    acceptor.happen(1)
    acceptor.bench.tell(300)
    acceptor.silent = True
    assert acceptor.bench.tell(900) == []
    assert acceptor.bench.tell(600) == [("offline",)]
    assert acceptor.bench.tell(5000) == []
    acceptor.happen(2)
    acceptor.silent = False
    acceptor.port.always(cctalk16(2, 254), SILENCE)
    assert acceptor.bench.tell(3000) == [("coin", 2, 20, "GB020A", 0), ("online", SERIAL)]
    assert acceptor.driver.accepting is True


def test_b02_a_corrupted_echo_gives_no_credit_and_the_next_poll_does(acceptor):
    acceptor.happen(4)
    acceptor.port.corrupt_echo = 1
    assert acceptor.bench.tell(600) == [("coin", 1, 100, "GB100A", 0)]


@given(st.integers(0, 255), st.integers(1, 300))
def test_counter_arithmetic(last, events):
    counter = last
    for _ in range(events):
        counter = counter % 255 + 1
    if events < 255:
        assert counter_delta(last, counter) == events
        back = counter_back(counter, events)
        assert back == last or (last == 0 and back == 255)


@settings(deadline=None)  # a busy computer is no fault
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 40), st.booleans()), max_size=40))
def test_every_coin_exactly_once_over_restarts_of_the_cabinet(story):
    """Coins fall, time passes, and now and then the cabinet restarts with the counter that was booked last."""
    acceptor = Acceptor()
    acceptor.start()
    happened, booked = [], []

    def book(for_ms: int) -> None:
        booked.extend(event for event in acceptor.bench.tell(for_ms) if event[0] == "coin")

    for coins, turns, restart in story:
        for coin in range(1, coins + 1):
            acceptor.happen(coin)
            happened.append(VALUES[IDS[coin - 1]])
        if restart:
            acceptor.bench.run(turns)  # seen perhaps, not booked
            acceptor.bus = Bus(acceptor.port)
            acceptor.port.arriving = b""
            acceptor.driver = CoinAcceptor(acceptor.bus, VALUES, last_counter=acceptor.driver.last_counter)
            acceptor.bench = Bench(acceptor.bus, acceptor.driver)
            book(1500)
        else:
            book(500)
    book(500)
    assert [event[2] for event in booked] == happened


# The sorter.


def route(position: int, path: int) -> bytes:
    return cctalk(2, 210, bytes([position, path]))


def test_a_coin_is_routed_between_polls_and_its_path_is_told(acceptor):
    acceptor.driver.route(100, 2)
    acceptor.port.always(route(4, 2), ACK)
    acceptor.bench.run(450)
    assert sum(frame == route(4, 2) for frame in acceptor.port.sent) == 1
    acceptor.happen(4, 2)
    assert acceptor.bench.tell(300) == [("coin", 1, 100, "GB100A", 2)]
    acceptor.driver.route(100, 2)
    acceptor.bench.run(2000)  # nothing more is sent: an unexpected frame fails


@pytest.mark.parametrize("answer", [SILENCE, cctalk(1, 5, source=2)])
def test_an_acceptor_without_a_sorter_is_left_alone(acceptor, answer):
    acceptor.port.always(route(4, 2), answer)
    acceptor.driver.route(100, 2)
    acceptor.bench.run(4000)
    asked = sum(frame == route(4, 2) for frame in acceptor.port.sent)
    assert 3 <= asked <= 12
    acceptor.happen(4)
    assert acceptor.bench.tell(8000) == [("coin", 1, 100, "GB100A", 0)]
    assert sum(frame == route(4, 2) for frame in acceptor.port.sent) == asked


def test_routes_are_sent_again_after_a_reset(acceptor):
    acceptor.port.always(route(4, 2), ACK)
    acceptor.driver.route(100, 2)
    acceptor.bench.run(1000)
    acceptor.reset()
    acceptor.bench.tell(8000)
    assert sum(frame == route(4, 2) for frame in acceptor.port.sent) == 2

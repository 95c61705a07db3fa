"""The ccTalk line: echo, matching, retries, silence, fairness."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.cctalk.bus import (
    IDEMPOTENT,
    MAX_TRANSACTIONS,
    NOT_NOW,
    OK,
    ONCE,
    REFUSED,
    STATE,
    UNKNOWN,
    VALUE,
    Bus,
)
from hal.cctalk.frame import MAX_FRAME_BYTES
from tests.hal.bench import SILENCE, Bench, ScriptedPort, cctalk, cctalk16

POLL = bytes.fromhex("02 00 01 FE FF")
ACK = bytes.fromhex("01 00 02 00 FD")


def line(echo: bool = True):
    port = ScriptedPort(echo)
    bus = Bus(port, echo=echo)
    return port, bus, Bench(bus), bus.transaction(2)


def number(bus: Bus, name: str) -> int:
    return dict(bus.statistics())[name]


def test_a_request_is_answered():
    port, bus, bench, transaction = line()
    port.expect(cctalk(2, 242), bytes.fromhex("01 03 02 00 4E 61 BC 8F"))
    transaction.start(242)
    bench.run(10)
    assert transaction.done
    assert transaction.take() == (OK, b"\x4e\x61\xbc")
    assert not transaction.done
    assert (number(bus, "requests"), number(bus, "answers")) == (1, 1)


def test_a_line_without_echo():
    port, _, bench, transaction = line(echo=False)
    port.expect(POLL, ACK)
    transaction.start(254)
    bench.run(10)
    assert transaction.take() == (OK, b"")


@pytest.mark.parametrize(("header", "status"), [(5, REFUSED), (6, NOT_NOW)])
def test_nak_and_busy_are_answers_and_not_repeated(header, status):
    port, bus, bench, transaction = line()
    port.expect(POLL, cctalk(1, header, source=2))
    transaction.start(254, repeats=IDEMPOTENT)
    bench.run(200)
    assert transaction.take() == (status, b"")
    assert number(bus, "refusals") == 1


@pytest.mark.parametrize("chunk", range(1, 8))
def test_b02_the_echo_in_any_chunks_is_not_the_answer(chunk):
    port, _, bench, transaction = line()
    port.chunk = chunk
    port.expect(cctalk(2, 229), cctalk(1, 0, bytes(11), source=2))
    transaction.start(229, shortest=11, longest=11)
    bench.run(100)
    assert transaction.take() == (OK, bytes(11))


def test_b02_a_corrupted_echo_is_a_line_fault_and_the_answer_is_not_used():
    port, bus, bench, transaction = line()
    port.corrupt_echo = 1
    port.expect(cctalk(2, 167, b"\x01"), cctalk(1, 0, b"\x09", source=2))
    transaction.start(167, b"\x01", VALUE)
    bench.run(300)
    assert transaction.take() == (UNKNOWN, b"")
    assert number(bus, "echo_faults") == 1
    assert number(bus, "ignored_bytes") > 0
    assert len(port.sent) == 1


def test_after_a_fault_the_next_frame_waits_for_silence():
    port, _, bench, transaction = line()
    port.corrupt_echo = 1
    port.expect(POLL, ACK)
    port.expect(POLL, ACK)
    transaction.start(254)
    bench.run(50)
    assert len(port.sent) == 1
    bench.run(20)
    assert transaction.take() == (OK, b"")


@pytest.mark.parametrize(("repeats", "attempts"), [(IDEMPOTENT, 4), (STATE, 4), (VALUE, 1), (ONCE, 1)])
def test_a_silent_device_is_asked_as_often_as_the_class_allows(repeats, attempts):
    port, bus, bench, transaction = line()
    port.always(POLL, SILENCE)
    transaction.start(254, repeats=repeats)
    bench.run(1000)
    assert transaction.take() == (UNKNOWN, b"")
    assert port.count(POLL) == attempts
    assert number(bus, "timeouts") == attempts


def test_the_answer_may_take_100_ms_after_the_last_byte_sent():
    port, _, bench, transaction = line()
    port.expect(POLL, SILENCE)
    transaction.start(254, repeats=ONCE)
    bench.run(98)
    port.arriving = ACK
    bench.run(4)
    assert transaction.take() == (OK, b"")


def test_an_answer_that_has_begun_may_end_later():
    port, _, bench, transaction = line()
    port.expect(POLL, SILENCE)
    transaction.start(254, repeats=ONCE)
    bench.run(90)
    for byte in ACK:
        port.arriving = bytes((byte,))
        bench.run(10)
    assert transaction.take() == (OK, b"")


def test_a_dead_transmitter_shows_as_lost_echo():
    port, bus, bench, transaction = line()
    port.echo = False
    port.always(POLL, SILENCE)
    transaction.start(254, repeats=ONCE)
    bench.run(300)
    assert transaction.take() == (UNKNOWN, b"")
    assert number(bus, "lost_echoes") == 1


@pytest.mark.parametrize(
    "wrong",
    [
        cctalk(1, 0, source=3),  # another device
        cctalk(7, 0, source=2),  # another host
        cctalk(1, 254, source=2),  # no answer header
        cctalk(1, 0, b"\x01", source=2),  # wrong length for this request
    ],
)
def test_what_is_not_the_answer_is_counted_and_passed_over(wrong):
    port, bus, bench, transaction = line()
    port.expect(POLL, wrong + ACK)
    transaction.start(254, longest=0)
    bench.run(50)
    assert transaction.take() == (OK, b"")
    assert number(bus, "foreign_frames") == 1


def test_b01_a_wrong_length_in_an_answer_costs_one_repeat():
    port, bus, bench, transaction = line()
    port.expect(POLL, bytes.fromhex("01 2C 02 00 FD"))
    port.expect(POLL, ACK)
    transaction.start(254)
    bench.run(300)
    assert transaction.take() == (OK, b"")
    assert number(bus, "ignored_bytes") == 5


def test_a_bad_checksum_costs_one_repeat():
    port, bus, bench, transaction = line()
    port.expect(POLL, ACK[:-1] + b"\x00")
    port.expect(POLL, ACK)
    transaction.start(254)
    bench.run(300)
    assert transaction.take() == (OK, b"")
    assert number(bus, "bad_checksums") == 1


def test_crc_mode_is_chosen_by_the_request():
    port, _, bench, transaction = line()
    port.expect(cctalk16(2, 254), bytes.fromhex("01 00 30 00 37"))
    transaction.start(254, crc=True)
    bench.run(20)
    assert transaction.take() == (OK, b"")


def test_a_loop_that_was_held_up_finds_its_answer():
    port, bus, _, transaction = line()
    port.expect(cctalk(2, 229), SILENCE)
    transaction.start(229, repeats=ONCE)
    bus.poll(0)
    answer = cctalk(1, 0, bytes(11), source=2)
    port.arriving += answer[:8]
    bus.poll(8)
    port.arriving += answer[8:]
    bus.poll(400)
    assert transaction.take() == (OK, bytes(11))


def test_a_babbling_line_does_not_hang_a_transaction():
    port, _, bench, transaction = line()
    port.always(POLL, SILENCE)
    transaction.start(254)
    for _ in range(2000):
        port.arriving += b"\x55"
        bench.run(2)
    assert transaction.take() == (UNKNOWN, b"")


def test_a_port_that_is_gone_fails_as_a_line_does():
    port, bus, bench, transaction = line()
    port.gone = True
    transaction.start(254)
    bench.run(100)
    assert transaction.take() == (UNKNOWN, b"")
    assert number(bus, "port_faults") == 4


def test_a_dead_device_does_not_starve_the_others():
    port, bus, bench, dead = line()
    alive = bus.transaction(3)
    port.always(POLL, SILENCE)
    port.always(cctalk(3, 254), cctalk(1, 0, source=3))
    dead.start(254)
    answers = 0
    for _ in range(250):
        bench.run(2)
        if not alive.pending:
            answers += alive.done
            alive.start(254)
    assert answers >= 4
    assert dead.done


def test_an_urgent_request_goes_out_next():
    port, bus, bench, first = line()
    second, third, urgent = bus.transaction(3), bus.transaction(4), bus.transaction(2)
    for address in (2, 3, 4):
        port.always(cctalk(address, 254), cctalk(1, 0, source=address))
    port.always(cctalk(2, 228, b"\x00"), ACK)
    for transaction in (first, second, third):
        transaction.start(254)
    bus.poll(0)
    urgent.start(228, b"\x00", STATE, urgent=True)
    bench.now_ms = 2
    bench.run(50)
    assert [frame[0:1] + frame[3:4] for frame in port.sent] == [b"\x02\xfe", b"\x02\xe4", b"\x03\xfe", b"\x04\xfe"]


def test_data_can_change_until_the_attempt_and_sent_tells_which_it_was():
    port, _, bench, transaction = line()
    port.expect(cctalk(2, 228, b"\x00"), ACK)
    transaction.start(228, b"\x01", STATE)
    transaction.data = b"\x00"
    bench.run(20)
    assert transaction.take() == (OK, b"")
    assert transaction.sent == b"\x00"


def test_a_request_can_be_withdrawn_only_before_it_was_on_the_line():
    port, bus, bench, transaction = line()
    port.always(POLL, SILENCE)
    assert not transaction.withdraw()
    transaction.start(254)
    assert transaction.withdraw()
    bench.run(20)
    assert port.sent == []
    transaction.start(254)
    bus.poll(20)
    assert not transaction.withdraw()
    bench.now_ms = 22
    bench.run(140)  # its first repeat stands in the queue or is on the line
    assert not transaction.withdraw()


def test_mistakes_of_the_caller_raise():
    _, bus, _, transaction = line()
    transaction.start(254)
    with pytest.raises(ValueError, match="pending"):
        transaction.start(254)
    for _ in range(MAX_TRANSACTIONS - 1):
        bus.transaction(9)
    with pytest.raises(ValueError, match="too many"):
        bus.transaction(9)


@given(st.lists(st.tuples(st.binary(max_size=MAX_FRAME_BYTES), st.integers(1, 120)), max_size=12))
def test_no_noise_raises_and_a_quiet_line_works_again(noise):
    port, bus, bench, transaction = line()
    port.always(POLL, SILENCE)
    for chunk, pause_ms in noise:
        if not transaction.pending:
            transaction.start(254)
        port.arriving += chunk
        bus.poll(bench.now_ms)
        bench.now_ms += pause_ms
    bench.run(1500)
    port.always(POLL, ACK)
    transaction.start(254)
    bench.run(200)
    assert transaction.take() == (OK, b"")


# Late answers: nothing in a frame tells which question it answers.


COUNT, FLAGS, STATUS = cctalk(2, 168), cctalk(2, 163), cctalk(2, 166)
LATE_FLAGS = cctalk(1, 0, b"\x40\x00\x00", source=2)


@pytest.mark.parametrize("late_ms", [110, 150, 200, 300, 450, 590])
def test_a_late_answer_is_not_taken_for_that_to_another_question(late_ms):
    """The flags of header 163 come when the count of header 168, as long, is what the host wants to know."""
    port, _, bench, flags = line()
    port.always(FLAGS, SILENCE)
    port.always(COUNT, cctalk(1, 0, b"\x07\x00\x00", source=2))
    flags.start(163, repeats=ONCE, shortest=1, longest=3)
    bench.run(101)
    count = flags._bus.transaction(2)
    count.start(168, shortest=3, longest=3)
    bench.run(late_ms - 101)
    port.arriving = LATE_FLAGS
    bench.run(1500)
    assert flags.take() == (UNKNOWN, b"")
    assert count.take() == (OK, b"\x07\x00\x00")


def test_an_answer_of_another_length_is_not_waited_for():
    port, _, bench, flags = line()
    port.always(FLAGS, SILENCE)
    port.always(STATUS, cctalk(1, 0, bytes(4), source=2))
    flags.start(163, repeats=ONCE, shortest=1, longest=3)
    bench.run(110)
    status = flags._bus.transaction(2)
    status.start(166, shortest=4, longest=4)
    bench.run(150)
    assert status.take() == (OK, bytes(4))


def test_what_moves_money_waits_until_no_old_answer_can_come():
    """A late refusal of something else would be proof that nothing was paid."""
    port, _, bench, status = line()
    port.always(STATUS, SILENCE)
    port.always(cctalk(2, 167, b"\x01"), cctalk(1, 0, b"\x02", source=2))
    status.start(166, repeats=ONCE, shortest=4, longest=4)
    bench.run(110)
    pay = status._bus.transaction(2)
    pay.start(167, b"\x01", VALUE, 0, 1)
    bench.run(300)
    assert port.count(cctalk(2, 167, b"\x01")) == 0
    bench.run(400)
    assert pay.take() == (OK, b"\x02")


def test_an_urgent_request_goes_out_and_the_late_answer_does_not_count_for_it():
    port, bus, bench, flags = line()
    stop = cctalk(2, 172)
    port.always(FLAGS, SILENCE)
    port.always(stop, SILENCE)
    flags.start(163, repeats=ONCE, shortest=1, longest=3)
    bench.run(110)
    urgent = bus.transaction(2)
    urgent.start(172, repeats=STATE, urgent=True)
    bench.run(90)
    assert port.count(stop) >= 1
    port.arriving = LATE_FLAGS
    bench.run(5)
    assert not urgent.done
    assert number(bus, "late_answers") == 1


def test_the_late_answer_may_be_the_one_to_the_same_question():
    port, _, bench, events = line()
    port.expect(cctalk(2, 229), SILENCE)
    port.always(cctalk(2, 229), SILENCE)
    events.start(229, shortest=11, longest=11)
    bench.run(180)
    port.arriving = cctalk(1, 0, bytes(11), source=2)
    bench.run(10)
    assert events.take() == (OK, bytes(11))

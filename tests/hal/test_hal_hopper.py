"""The hopper: a payout is sent once, and what became of it is read back, whatever is lost on the way."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.cctalk.bus import BUSY, NAK, NOT_NOW, OK, REFUSED, UNKNOWN, Bus
from hal.cctalk.hopper import EVIDENCE_MISSING, FLAGS_UNREAD, Hopper
from hal.cctalk.hopper_watch import FLAG_COIL_FAULT, FLAG_OPTO_BLOCKED_IDLE, LEVELS_236
from hal.cctalk.payout import (
    ASK_COUNT,
    LOOK_AGAIN,
    NO_COUNT,
    NOT_TAKEN,
    PATIENCE,
    PROVEN,
    UNPROVEN,
    Payout,
    next_counter,
)
from tests.hal.bench import SILENCE, Bench, ScriptedPort, cctalk, cctalk16

SERIAL = 0x05464E
ACK = cctalk(1, 0, source=3)
TEST, STATUS, STOP, COUNT = cctalk(3, 163), cctalk(3, 166), cctalk(3, 172), cctalk(3, 168)
LIFE = 0xFFFFFE  # coins paid before the tests: the dispense count wraps in most of them
ENABLE, DISABLE = cctalk(3, 164, b"\xa5"), cctalk(3, 164, b"\x00")


def dispense(coins: int) -> bytes:
    return cctalk(3, 167, SERIAL.to_bytes(3, "little") + bytes([coins]))


class Machine:
    """The far end as a table around four status figures. pay() lets coins fall."""

    keeps_count = True  # header 168

    def __init__(self, counts_refusals: bool = False, **options):
        self.life = LIFE
        self.port = ScriptedPort(echo=True)
        self.counter, self.remaining, self.paid, self.unpaid = 17, 0, 10, 0
        self.flags = b"\x80"
        self.enabled = False
        self.counts_refusals = counts_refusals
        self.refuse = False
        self.lose_answer = False
        self.lose_request = False
        self.silent = False
        self.serial = SERIAL
        self.dispensed = 0
        port = self.port
        port.always(cctalk(3, 254), lambda: self.say())
        port.always(cctalk16(3, 254), SILENCE)  # the other checksum mode, while it is searched for
        port.always(cctalk16(3, 172), SILENCE)
        port.always(cctalk(3, 242), lambda: self.say(self.serial.to_bytes(3, "little")))
        port.always(cctalk(3, 171), lambda: self.say(b"GB100A"))
        port.always(TEST, lambda: self.say(self.flags))
        port.always(STATUS, lambda: self.say(bytes([self.counter, self.remaining, self.paid, self.unpaid])))
        port.always(ENABLE, lambda: self.enable(True))
        port.always(DISABLE, lambda: self.enable(False))
        port.always(cctalk(3, 217), lambda: self.say(b"\x00"))
        port.always(
            COUNT, lambda: self.say(self.life.to_bytes(3, "little")) if self.keeps_count else self.say(b"", NAK)
        )
        port.always(STOP, self.stop)
        self.restart_cabinet(**options)

    def restart_cabinet(self, **options) -> None:
        self.port.arriving = b""
        self.bus = Bus(self.port)
        self.driver = Hopper(self.bus, **options)
        self.driver.known(self.serial, self.life)
        self.bench = Bench(self.bus, self.driver)

    def say(self, data: bytes = b"", header: int = 0):
        return SILENCE if self.silent else cctalk(1, header, data, source=3)

    def enable(self, on: bool):
        if not self.silent:
            self.enabled = on
        return self.say()

    def take(self, coins: int):
        """Header 167."""
        if self.lose_request or self.silent:
            return SILENCE
        refused = self.refuse or not self.enabled
        if not refused or self.counts_refusals:
            self.counter = next_counter(self.counter)
        if refused:
            if self.counts_refusals:
                self.remaining, self.paid, self.unpaid = 0, 0, coins
            return SILENCE if self.lose_answer else self.say(header=NAK)
        self.dispensed += 1
        self.remaining, self.paid, self.unpaid = coins, 0, 0
        return SILENCE if self.lose_answer else self.say(bytes([self.counter]))

    def stop(self):
        left = bytes([self.remaining])
        self.unpaid, self.remaining = self.unpaid + self.remaining, 0
        return self.say(left)

    def pay(self, coins: int) -> None:
        self.remaining -= coins
        self.paid += coins
        self.life = (self.life + coins) & 0xFFFFFF

    def evidence(self) -> bytes:
        """What ("prepared", ...) carries if it is prepared now."""
        count = self.life if self.keeps_count else NO_COUNT
        return struct.pack("<iBI2s", self.serial, self.counter, count, bytes([self.paid, self.unpaid]))

    def jam(self) -> None:
        self.stop()

    def reset(self) -> None:
        if self.remaining:
            self.jam()
        self.counter, self.enabled = 0, False

    def prepare(self, coins: int) -> None:
        """Up to the commit of ("prepared", evidence)."""
        self.bench.tell(1500)
        self.port.always(dispense(coins), lambda: self.take(coins))
        self.committed = self.evidence()
        assert self.driver.prepare(coins)
        assert self.bench.tell(300) == [("prepared", self.committed)]

    def start(self, coins: int) -> None:
        self.prepare(coins)
        assert self.driver.dispense()
        self.bench.run(20)


@pytest.fixture(params=[True, False], ids=["count", "figures"], autouse=True)
def keeps_count(request, monkeypatch) -> bool:
    """Every story is told by a hopper that keeps a dispense count and by one that does not."""
    monkeypatch.setattr(Machine, "keeps_count", request.param)
    return request.param


def unless(keeps_count: bool) -> int:
    """The flag that a result carries where only the dispense count could have proved it."""
    return 0 if keeps_count else EVIDENCE_MISSING


def test_start_up_byte_by_byte():
    port = ScriptedPort(echo=True)
    bus = Bus(port)
    driver = Hopper(bus)
    bench = Bench(bus, driver)
    port.expect(bytes.fromhex("03 00 01 FE FE"), ACK)
    port.expect(bytes.fromhex("03 00 01 F2 0A"), bytes.fromhex("01 03 03 00 4E 46 05 60"))
    port.expect(cctalk(3, 171), cctalk(1, 0, b"GB100A", source=3))
    port.expect(bytes.fromhex("03 00 01 A3 59"), bytes.fromhex("01 02 03 00 80 80 FA"))
    port.expect(bytes.fromhex("03 00 01 A8 54"), cctalk(1, 0, b"\x10\x27\x00", source=3))
    port.expect(bytes.fromhex("03 00 01 A6 56"), bytes.fromhex("01 04 03 00 00 00 07 03 EE"))
    port.expect(DISABLE, ACK)
    port.expect(TEST, cctalk(1, 0, b"\x80", source=3))
    port.expect(COUNT, cctalk(1, 0, b"\x10\x27\x00", source=3))
    port.expect(cctalk(3, 217), cctalk(1, 0, b"\x01", source=3))
    bench.run(700)
    assert port.sent == []
    assert bench.tell(250) == [("online", SERIAL), ("counted", SERIAL, 10000)]
    port.done()
    assert (driver.coin_id, driver.low, driver.full) == ("GB100A", True, False)


def test_payout_byte_by_byte():
    machine = Machine()
    assert machine.bench.tell(1000) == [("online", SERIAL)]
    port = machine.port
    port.expect(bytes.fromhex("03 00 01 A6 56"), cctalk(1, 0, bytes([255, 0, 2, 0]), source=3))
    port.expect(COUNT, cctalk(1, 0, b"\xff\x00\x00", source=3))
    port.expect(bytes.fromhex("03 01 01 A4 A5 B2"), ACK)
    assert machine.driver.prepare(3)
    machine.driver.known(SERIAL, 255)
    assert machine.bench.tell(100) == [("prepared", struct.pack("<iBI2s", SERIAL, 255, 255, bytes([2, 0])))]
    machine.counter = 255
    assert machine.bench.tell(2000) == []  # nothing moves before the commit
    port.expect(bytes.fromhex("03 04 01 A7 4E 46 05 03 B5"), cctalk(1, 0, b"\x01", source=3))
    port.expect(STATUS, cctalk(1, 0, bytes([1, 3, 0, 0]), source=3))
    port.expect(STATUS, cctalk(1, 0, bytes([1, 1, 2, 0]), source=3))
    for _ in range(2):  # after the last coin it lingers and looks again
        port.expect(STATUS, cctalk(1, 0, bytes([1, 0, 3, 0]), source=3))
        port.expect(COUNT, cctalk(1, 0, b"\x02\x01\x00", source=3))
    port.expect(TEST, cctalk(1, 0, b"\x00\x00\x00", source=3))
    port.expect(DISABLE, ACK)
    assert machine.driver.dispense()
    assert machine.bench.tell(1000) == [("paid", 2), ("paid", 3), ("done", 3, 0, 0)]
    port.done()


def test_without_security_eight_zero_bytes_are_sent():
    machine = Machine(security="none")
    machine.bench.tell(1000)
    machine.driver.prepare(1)
    machine.bench.tell(200)
    machine.port.expect(bytes.fromhex("03 09 01 A7 00 00 00 00 00 00 00 00 01 4B"), cctalk(1, 0, b"\x01", source=3))
    machine.driver.dispense()
    machine.bench.run(20)
    machine.port.done()
    with pytest.raises(ValueError, match="security"):
        Hopper(machine.bus, security="cipher")


@pytest.mark.parametrize("paid", range(6))
def test_jam_after_k_of_n_reports_k_and_the_reason(paid):
    machine = Machine()
    machine.start(5)
    machine.flags = b"\x02\x00\x00"
    machine.pay(paid)
    told = machine.bench.tell(80)
    machine.jam()
    told += machine.bench.tell(1000)
    assert told == [("paid", paid)] * (paid > 0) + [("done", paid, 5 - paid, 2)]
    assert not machine.enabled
    assert not machine.driver.busy()


def test_b09_a_lost_answer_is_followed_and_167_is_not_repeated():
    machine = Machine()
    machine.lose_answer = True
    machine.start(4)
    machine.bench.tell(500)
    machine.pay(4)
    assert machine.bench.tell(1000) == [("paid", 4), ("done", 4, 0, 0x80)]
    assert machine.dispensed == 1
    sent = [frame for frame in machine.port.sent if frame in (dispense(4), STATUS)]
    assert sent.count(dispense(4)) == 1
    assert sent[sent.index(dispense(4)) + 1] == STATUS


def test_a_lost_request_is_not_taken_and_only_the_firmware_sends_again():
    machine = Machine()
    machine.lose_request = True
    machine.start(4)
    assert machine.bench.tell(3000) == [("not_taken",)]
    assert machine.port.count(dispense(4)) == 1
    machine.lose_request = False
    assert machine.driver.dispense()
    machine.bench.tell(200)
    machine.pay(4)
    assert machine.bench.tell(1000) == [("paid", 4), ("done", 4, 0, 0x80)]
    assert machine.dispensed == 1


def test_not_taken_needs_two_readings():
    machine = Machine()
    machine.prepare(4)
    machine.lose_request = True
    status = machine.port.count(STATUS)
    machine.driver.dispense()
    assert machine.bench.tell(200) == []
    assert machine.port.count(STATUS) == status + 1
    assert machine.bench.tell(50) == [("not_taken",)]
    assert machine.port.count(STATUS) == status + 2


@pytest.mark.parametrize("make", ["flow", "alberici"])
@pytest.mark.parametrize("answer", ["nak", "lost"])
def test_nak_of_both_makes_pays_nothing(make, answer):
    machine = Machine(counts_refusals=make == "flow")
    machine.refuse = True
    machine.lose_answer = answer == "lost"
    machine.start(4)
    told = machine.bench.tell(1000)
    if make == "alberici" and answer == "lost":
        assert told == [("not_taken",)]
    else:
        assert told == [("done", 0, 4, 0x80)]
        assert not machine.driver.busy()
    assert machine.port.count(dispense(4)) == 1


def test_busy_to_167_is_read_back():
    machine = Machine()
    machine.prepare(2)
    machine.port.expect(dispense(2), cctalk(1, BUSY, source=3))
    machine.driver.dispense()
    assert machine.bench.tell(500) == [("not_taken",)]


@pytest.mark.parametrize("paid", range(4))
def test_reset_in_payout_the_hopper_still_knows(paid):
    machine = Machine()
    machine.start(3)
    machine.bench.tell(200)
    machine.pay(paid)
    machine.reset()
    told = machine.bench.tell(1500)
    assert told[-1] == ("done", paid, 3 - paid, 0x80)
    assert [event for event in told if event[0] == "paid"] == ([("paid", paid)] if paid else [])
    assert machine.port.count(dispense(3)) == 1


def test_reset_in_payout_that_wiped_the_figures(keeps_count):
    machine = Machine()
    machine.start(5)
    machine.pay(2)
    machine.bench.tell(300)
    machine.reset()
    machine.paid, machine.unpaid = 0, 0
    assert machine.bench.tell(1500)[-1] == ("done", 2, 3, 0x80 | unless(keeps_count))


def test_old_figures_of_an_equal_payout_are_no_evidence(keeps_count):
    machine = Machine()
    machine.prepare(10)  # the one before also paid 10
    machine.driver.dispense()
    machine.lose_answer = True
    machine.bench.run(6)
    machine.counter, machine.remaining, machine.paid, machine.unpaid = 0, 0, 10, 0
    told = machine.bench.tell(1500)
    assert told[-1] == ("done", 0, 10, 0x80 | unless(keeps_count))


def test_first_payout_after_power_on_lost_request_is_not_taken():
    machine = Machine()
    machine.reset()  # e0 is 0, and a reset cannot be told from it
    machine.lose_request = True
    machine.start(4)
    assert machine.bench.tell(1000) == [("not_taken",)]


def test_first_payout_after_power_on_reset_in_it_shows_in_the_figures():
    machine = Machine()
    machine.reset()
    machine.lose_answer = True
    machine.start(4)
    machine.pay(1)
    machine.reset()
    assert machine.bench.tell(1000) == [("paid", 1), ("done", 1, 3, 0x80)]


def test_an_extra_coin_right_after_the_last_is_part_of_the_payout(keeps_count):
    machine = Machine()
    machine.start(2)
    machine.bench.tell(300)
    machine.pay(2)
    assert machine.bench.tell(200) == [("paid", 2)]
    machine.paid, machine.life = 3, machine.life + 1
    assert machine.bench.tell(1000) == [("paid", 3), ("done", 3, 0, 0x80 | unless(keeps_count))]


def test_coins_that_left_while_the_cabinet_was_without_power_are_told(keeps_count):
    """The count up to which coins are booked comes from NVRAM; what the hopper shows beyond it left unasked."""
    machine = Machine()
    booked = machine.life
    machine.life = (machine.life + 2) & 0xFFFFFF
    machine.restart_cabinet()
    machine.driver.known(SERIAL, booked)
    assert machine.bench.tell(1500) == [("online", SERIAL), *([("extra", 2)] if keeps_count else [])]


@pytest.mark.parametrize(("serial", "booked"), [(99, LIFE), (SERIAL, LIFE + 2), (SERIAL, LIFE - 256)])
def test_a_count_of_another_hopper_or_out_of_proportion_begins_anew(serial, booked, keeps_count):
    machine = Machine()
    machine.driver.known(serial, booked)
    assert machine.bench.tell(1500) == [("online", SERIAL), *([("counted", SERIAL, LIFE)] if keeps_count else [])]


def test_coins_that_leave_while_idle_are_told(keeps_count):
    machine = Machine()
    machine.bench.tell(1500)
    machine.life = (machine.life + 3) & 0xFFFFFF
    assert machine.bench.tell(1500) == ([("extra", 3)] if keeps_count else [])


def test_coins_that_left_while_nobody_looked_are_told_before_the_next_payout(keeps_count):
    machine = Machine()
    machine.bench.tell(1500)
    machine.silent = True
    machine.bench.tell(2000)
    machine.life = (machine.life + 3) & 0xFFFFFF
    machine.silent = False
    told = machine.bench.tell(2000)
    assert told == ([("online", SERIAL), ("extra", 3)] if keeps_count else [("online", SERIAL)])
    machine.life = (machine.life + 2) & 0xFFFFFF
    machine.driver.prepare(1)
    told = machine.bench.tell(100)
    assert told == ([("extra", 2)] if keeps_count else []) + [("prepared", machine.evidence())]


def test_a_hopper_does_not_pay_while_its_count_cannot_be_read(keeps_count):
    machine = Machine()
    machine.bench.tell(1500)
    machine.port.always(COUNT, lambda: machine.say(b"", NAK))
    machine.driver.prepare(3)
    assert machine.bench.tell(200) == ([("not_taken",)] if keeps_count else [("prepared", machine.evidence())])


def test_coins_of_a_payout_that_was_given_up_are_extra(keeps_count):
    machine = Machine()
    machine.start(5)
    machine.pay(1)
    assert machine.bench.tell(200) == [("paid", 1)]
    machine.pay(2)
    machine.driver.cancel()
    told = machine.bench.tell(1500)
    assert told == ([("extra", 2)] if keeps_count else [])
    assert not machine.enabled


def test_b07_figures_and_count_that_disagree_prove_nothing(keeps_count):
    machine = Machine()
    machine.start(3)
    machine.bench.tell(200)
    machine.pay(3)
    machine.life = (machine.life - 1) & 0xFFFFFF
    flags = 0x80 | EVIDENCE_MISSING if keeps_count else 0x80
    recounted = [("counted", SERIAL, machine.life)] if keeps_count else []
    assert machine.bench.tell(1500) == [("paid", 3), ("done", 3, 0, flags), *recounted]


def test_silence_in_payout_offline_and_on_with_it():
    machine = Machine()
    machine.start(6)
    machine.pay(2)
    machine.bench.tell(200)
    machine.silent = True
    assert machine.bench.tell(2500) == [("offline",)]
    machine.pay(4)
    machine.silent = False
    assert machine.bench.tell(2500) == [("online", SERIAL), ("paid", 6), ("done", 6, 0, 0x80)]
    assert machine.port.count(dispense(6)) == 1
    identified = [frame for frame in machine.port.sent if frame == cctalk(3, 171)]
    assert len(identified) == 2


def test_another_hopper_in_its_place_is_no_evidence(keeps_count):
    machine = Machine()
    machine.start(6)
    machine.pay(2)
    machine.bench.tell(200)
    machine.silent = True
    machine.bench.tell(2500)
    machine.silent, machine.serial = False, 99
    machine.remaining, machine.paid, machine.unpaid = 0, 6, 0
    recounted = [("counted", 99, machine.life)] if keeps_count else []
    assert machine.bench.tell(1500) == [("online", 99), ("done", 2, 4, 0x80 | EVIDENCE_MISSING), *recounted]


def test_flags_that_cannot_be_read_do_not_hold_up_the_result():
    machine = Machine()
    machine.start(1)
    machine.bench.tell(200)
    machine.pay(1)
    machine.port.always(TEST, SILENCE)
    assert machine.bench.tell(2500) == [("paid", 1), ("done", 1, 0, FLAGS_UNREAD)]


# After a restart of the cabinet.


def resumed(machine: Machine, coins: int, paid: int = 0) -> list[tuple]:
    machine.restart_cabinet()
    machine.driver.resume(coins, machine.committed, paid)
    sent = len(machine.port.sent)
    told = machine.bench.tell(2500)
    assert not {frame[3] for frame in machine.port.sent[sent:]} & {167, 172}
    return [event for event in told if event[0] != "online"]


def test_resume_after_the_commit_and_before_167():
    machine = Machine()
    machine.prepare(4)
    assert resumed(machine, 4) == [("not_taken",)]
    assert machine.driver.dispense()
    machine.bench.tell(200)
    machine.pay(4)
    assert machine.bench.tell(1000) == [("paid", 4), ("done", 4, 0, 0x80)]


@pytest.mark.parametrize("paid", range(5))
def test_resume_in_payout_follows_it(paid):
    machine = Machine()
    machine.start(5)
    machine.pay(paid)
    assert resumed(machine, 5) == ([("paid", paid)] if paid else [])
    assert DISABLE not in machine.port.sent[-20:]
    machine.pay(5 - paid)
    assert machine.bench.tell(1000) == [("paid", 5), ("done", 5, 0, 0x80)]


@pytest.mark.parametrize("booked", range(6))
def test_resume_after_the_payout_books_the_rest(booked):
    machine = Machine()
    machine.start(5)
    machine.pay(5)
    expected = [("paid", 5)] if booked < 5 else []
    assert resumed(machine, 5, booked) == [*expected, ("done", 5, 0, 0x80)]


@pytest.mark.parametrize("paid", range(4))
def test_resume_when_the_hopper_was_reset_too(paid, keeps_count):
    machine = Machine()
    machine.start(3)
    machine.pay(paid)
    machine.reset()
    assert resumed(machine, 3)[-1] == ("done", paid, 3 - paid, 0x80 | unless(keeps_count))


def test_resume_with_figures_below_what_was_booked_is_no_evidence(keeps_count):
    machine = Machine()
    machine.start(3)
    machine.pay(1)
    machine.reset()
    recounted = [("counted", SERIAL, machine.life)] if keeps_count else []
    assert resumed(machine, 3, 2) == [("done", 2, 1, 0x80 | EVIDENCE_MISSING), *recounted]


def test_resume_of_the_first_payout_after_power_on_needs_the_count_to_tell_equal_figures(keeps_count):
    machine = Machine()
    machine.reset()
    machine.paid, machine.unpaid = 10, 0
    machine.committed = machine.evidence()
    if keeps_count:
        assert resumed(machine, 10) == [("not_taken",)]
    else:
        assert resumed(machine, 10) == [("paid", 10), ("done", 10, 0, 0x80 | EVIDENCE_MISSING)]
    machine.restart_cabinet()
    assert resumed(machine, 9) == [("not_taken",)]


def test_resume_when_somebody_else_gave_orders_since(keeps_count):
    machine = Machine()
    machine.committed = machine.evidence()
    machine.counter = 20
    assert resumed(machine, 4) == [("done", 0, 4, 0x80 | unless(keeps_count))]
    machine.restart_cabinet()
    machine.life += 1
    done = ("done", 0, 4, 0x80 | EVIDENCE_MISSING)
    assert resumed(machine, 4) == ([done, ("extra", 1)] if keeps_count else [done])


# Stopping, refusing, idling.


def test_emergency_stop_in_payout_ends_it():
    machine = Machine()
    machine.start(8)
    machine.pay(3)
    machine.bench.tell(200)
    machine.driver.emergency_stop()
    machine.bench.run(4)
    assert STOP in machine.port.sent[-2:]
    assert machine.bench.tell(1000) == [("done", 3, 5, 0x80)]
    assert not machine.enabled


def test_emergency_stop_before_167_left_keeps_it_from_leaving():
    machine = Machine()
    machine.prepare(8)
    machine.driver.dispense()
    machine.driver.emergency_stop()
    assert machine.bench.tell(500) == [("not_taken",)]
    assert machine.port.count(dispense(8)) == 0
    assert not machine.enabled
    assert machine.driver.dispense()
    machine.bench.tell(100)
    assert machine.dispensed == 1


def test_emergency_stop_when_167_is_queued_behind_another_device():
    machine = Machine()
    machine.prepare(8)
    other = machine.bus.transaction(9)
    machine.port.always(cctalk(9, 254), SILENCE)
    other.start(254)
    machine.bus.poll(machine.bench.now_ms)
    machine.driver.dispense()
    machine.driver.poll(machine.bench.now_ms)
    machine.driver.emergency_stop()
    assert machine.bench.tell(1000) == [("not_taken",)]
    assert machine.port.count(dispense(8)) == 0


def test_emergency_stop_while_offline_is_sent_when_it_answers():
    machine = Machine()
    machine.start(8)
    machine.silent = True
    machine.bench.tell(2000)
    machine.driver.emergency_stop()
    machine.bench.tell(2000)
    sent = len(machine.port.sent)
    machine.silent = False
    machine.bench.tell(3000)
    assert STOP in machine.port.sent[sent:]
    assert machine.remaining == 0


def test_cancel_switches_the_hopper_off():
    machine = Machine()
    machine.prepare(8)
    machine.driver.cancel()
    machine.bench.tell(200)
    assert not machine.enabled
    assert not machine.driver.busy()
    assert not machine.driver.dispense()


def test_a_hopper_that_cannot_be_enabled_does_not_prepare():
    machine = Machine()
    machine.bench.tell(1000)
    machine.port.expect(ENABLE, cctalk(1, NAK, source=3))
    machine.driver.prepare(3)
    assert machine.bench.tell(400) == [("not_taken",)]
    assert not machine.driver.dispense()


def test_a_hopper_that_is_paying_for_somebody_else_does_not_prepare_and_is_not_switched_off():
    machine = Machine()
    machine.remaining = 3
    assert machine.bench.tell(1500) == [("online", SERIAL)]
    assert machine.port.count(DISABLE) == 0
    machine.driver.prepare(3)
    assert machine.bench.tell(400) == [("not_taken",)]


def test_a_reset_before_167_left_is_prepared_anew():
    machine = Machine()
    machine.prepare(3)
    machine.driver.emergency_stop()  # it will have to be enabled again
    machine.bench.tell(400)
    machine.silent = True
    machine.driver.dispense()
    assert machine.bench.tell(3000) == [("not_taken",), ("offline",)]
    machine.reset()
    machine.silent = False
    told = machine.bench.tell(2500)
    assert ("prepared", machine.evidence()) in told
    assert machine.driver.dispense()
    machine.bench.tell(200)
    assert machine.dispensed == 1


def test_prepare_when_offline_or_busy_is_refused():
    machine = Machine()
    assert not machine.driver.prepare(1)
    machine.start(3)
    assert not machine.driver.prepare(1)
    with pytest.raises(ValueError, match="under way"):
        machine.driver.resume(1, machine.evidence())
    for coins in (0, 256):
        with pytest.raises(ValueError, match="255"):
            machine.driver.prepare(coins)


def test_idle_faults_come_and_go():
    machine = Machine()
    machine.bench.tell(1000)
    machine.flags = bytes([0x80 | FLAG_OPTO_BLOCKED_IDLE])
    assert machine.bench.tell(1000) == [("fault", FLAG_OPTO_BLOCKED_IDLE)]
    machine.flags = bytes([0x81, FLAG_COIL_FAULT >> 8])  # over-current was in the last payout
    assert machine.bench.tell(1000) == [("fault", FLAG_COIL_FAULT)]
    machine.flags = b"\x80"
    assert machine.bench.tell(1000) == [("fault", 0)]


@pytest.mark.parametrize(
    ("inverse", "plates", "low", "full"),
    [
        (True, 0b11, True, False),
        (True, 0b10, False, False),
        (True, 0b00, False, True),
        (False, 0b00, True, False),
        (False, 0b01, False, False),
        (False, 0b11, False, True),
    ],
)
def test_levels_by_header_236(inverse, plates, low, full):
    machine = Machine(levels=LEVELS_236, inverse=inverse)
    machine.port.always(cctalk(3, 236), lambda: machine.say(bytes([plates])))
    machine.bench.tell(1000)
    assert (machine.driver.low, machine.driver.full) == (low, full)


def test_a_hopper_without_level_sensors_is_asked_once():
    machine = Machine()
    machine.port.always(cctalk(3, 217), SILENCE)
    machine.bench.tell(5000)
    assert machine.driver.low is None
    assert machine.port.count(cctalk(3, 217)) == 4  # one request and its repeats
    assert machine.driver.online


# The judgement alone.


@given(
    st.integers(1, 255),
    st.integers(0, 255),
    st.sampled_from([NO_COUNT, 0, 100, 0xFFFFF0]),
    st.sampled_from([b"", b"\x00\x00", b"\x05\x00"]),
    st.sampled_from([OK, REFUSED, NOT_NOW, UNKNOWN]),
    st.lists(st.tuples(st.binary(min_size=4, max_size=4), st.integers(0, 3)), min_size=1, max_size=20),
)
def test_a_judgement_never_forgets_coins_and_never_calls_a_taken_command_not_taken(n, e0, count, old, reply, reads):
    payout = Payout(n, e0, count, old)
    payout.sent(1)
    payout.reply = reply
    shown = grown = 0
    for status, coins in reads:
        grown += coins
        verdict = payout.judge(status, 1)
        if verdict == ASK_COUNT:
            assert count != NO_COUNT
            verdict = payout.settle((count + grown) & 0xFFFFFF)
        assert payout.paid >= shown
        shown = payout.paid
        if verdict == NOT_TAKEN:
            assert reply != OK
            assert status[0] == e0
            assert not payout.paid
            assert count == NO_COUNT or not grown
        if verdict == PROVEN and count == NO_COUNT and payout.paid:
            assert status[2] + status[3] == n
        if verdict == PROVEN and count != NO_COUNT:
            assert payout.paid == grown
        if verdict in (PROVEN, UNPROVEN, NOT_TAKEN):
            break


def test_patience_is_bounded():
    payout = Payout(5, 17, NO_COUNT, b"\x00\x00")
    payout.sent(1)
    payout.reply = OK
    verdicts = [payout.judge(bytes([17, 0, 0, 0]), 1) for _ in range(PATIENCE)]
    assert verdicts == [LOOK_AGAIN] * (PATIENCE - 1) + [UNPROVEN]


def test_a_reset_that_is_seen_while_prepared_is_prepared_anew():
    machine = Machine()
    machine.prepare(3)
    machine.reset()
    assert machine.bench.tell(1500) == [("prepared", machine.evidence())]


def test_a_stop_that_was_not_acknowledged_does_not_stop_the_next_payout():
    machine = Machine()
    machine.prepare(2)
    machine.silent = True
    machine.driver.emergency_stop()
    machine.bench.run(20)
    machine.silent = False
    machine.driver.dispense()
    machine.bench.tell(900)
    machine.pay(2)
    assert machine.bench.tell(1000)[-1] == ("done", 2, 0, 0x80)


def test_a_hopper_that_was_lost_while_a_payout_was_closed_is_found_again():
    """It answers the status to the end and then nothing for seconds: also the steps that go on without an answer lead back."""
    machine = Machine()
    machine.start(1)
    machine.bench.tell(200)
    machine.pay(1)
    machine.bench.run(650)
    machine.silent = True
    told = machine.bench.tell(4000)
    assert ("offline",) in told
    machine.silent = False
    assert ("online", SERIAL) in machine.bench.tell(3000)
    assert machine.driver.online


@pytest.mark.parametrize("silent_ms", range(900, 3000, 150))
@pytest.mark.parametrize("after_ms", range(0, 900, 100))
def test_a_hopper_that_answers_again_is_online_again(after_ms, silent_ms):
    machine = Machine()
    machine.start(1)
    machine.bench.tell(200)
    machine.pay(1)
    machine.bench.run(after_ms)
    machine.silent = True
    machine.bench.run(silent_ms)
    machine.silent = False
    machine.bench.tell(4000)
    assert machine.driver.online

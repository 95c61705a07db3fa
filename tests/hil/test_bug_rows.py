"""What went wrong in other people's cabinets (host_tools/hil/SOURCES.md 6.2), told against this one. firmware/CHECKLIST.md says
which row is which test, and why a row has none."""

from collections.abc import Callable

import pytest

from firmware.money.ledger import ACCOUNTS
from firmware.money.meters import METERS
from hal.cctalk.frame import is_sound
from hal.panel.wiring import DEFAULT as WIRING
from host_tools.hil.device import Device

DISPENSE, STATUS = 167, 166
SWITCH_ON = bytes([164, 0xA5])
HOPPER_100 = 3
BETWEEN_FRAMES_US = 4000  # the board writes a frame in one go, a byte a millisecond; then the answer takes its time
MAX_PULSES_S = 10  # an electromechanical meter's


class Listener(Device):
    """Hears what the board says on a ccTalk line: whole frames, and their checksums."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.on_frame: Callable[[bytes], None] | None = None
        self._bytes = bytearray()
        self._last_us = 0

    def receive(self, byte: int, now_us: int) -> None:
        if now_us - self._last_us > BETWEEN_FRAMES_US:  # also when it was attached in the middle of one
            self._bytes.clear()
        self._last_us = now_us
        self._bytes.append(byte)
        if len(self._bytes) >= 5 and len(self._bytes) == self._bytes[1] + 5:
            self.frames.append(bytes(self._bytes))
            if self.on_frame is not None:
                self.on_frame(self.frames[-1])
            self._bytes.clear()

    def headers(self, address: int) -> list[int]:
        return [frame[3] for frame in self.frames if frame[0] == address]


def lose_answers_to_the_order(it, number: int) -> Listener:
    """The hopper of pounds loses answers from the one to its order on: from when it has been switched on for it."""
    listener = listen(it)

    def switched_on(frame: bytes) -> None:
        if frame[0] == HOPPER_100 and frame[3:5] == SWITCH_ON:
            listener.on_frame = None
            it.world.hopper_100.fault("lost_answers", number)

    listener.on_frame = switched_on
    return listener


class Recorder:
    """A device's wire that keeps what it sends."""

    def __init__(self, wire) -> None:
        self._wire = wire
        self.sent: list[bytes] = []

    def send(self, data: bytes, delay_us: int = 0) -> None:
        self.sent.append(bytes(data))
        self._wire.send(data, delay_us)

    def __getattr__(self, name: str):
        return getattr(self._wire, name)


def listen(it) -> Listener:
    listener = Listener()
    it.world.lines["cctalk"].attach(listener)
    return listener


def line_errors(it) -> dict[str, int]:
    """The firmware's error counts of the ccTalk line."""
    it.tell("console lines\nwait 500ms")
    counts = {line.split()[1]: int(line.split()[2]) for line in it.world.console.text if line.startswith("cctalk")}
    del counts["requests"], counts["answers"]
    return counts


# --- the line --------------------------------------------------------------------------------------------------------


def test_b01_a_wrong_length_does_not_swallow_what_follows(story):
    """A frame that promises 44 bytes and brings none, between the polls: the acceptor is heard again, its coins count once."""
    it = story("coin 100")
    for _ in range(5):
        it.world.lines["cctalk"].send(bytes.fromhex("01 2C 02 00"))
        it.tell("coin 20")
    it.tell("wait 1s\nexpect tilt == none\nexpect credit == 200").balanced()


@pytest.mark.parametrize("chunk", range(1, 8))
def test_b02_an_echo_in_pieces_is_no_answer(story, chunk):
    it = story(
        f"fault cctalk fragment {chunk} 3\ncoin 50\ncoin 100\nwait 2s\nclear cctalk\nwait 1s\nexpect credit == 150"
    )
    it.tell("press cash_out\nwait until idle within 20s\nexpect paid == 150").balanced()


def test_b02_a_wrong_echo_is_a_fault_of_the_line_and_no_credit(story):
    it = story("coin 100")
    before = line_errors(it)
    it.tell("fault cctalk echo corrupt 1\nwait 1s")
    after = line_errors(it)
    assert sum(after.values()) > sum(before.values())
    it.tell("expect credit == 100\ncoin 20\nexpect credit == 120\nexpect tilt == none").balanced()


def test_b29_a_checksum_of_zero_is_a_checksum(story):
    """Bytes that add up to 256: such an answer is believed at once and nothing is asked twice."""
    assert is_sound(bytes.fromhex("02 00 01 FD 00"))
    it = story()
    recorder = it.world.acceptor.line = Recorder(it.world.acceptor.line)
    before = line_errors(it)
    for _ in range(212):  # counter 212, and five events of position 5 and path 1: 1 + 11 + 2 + 0 + 212 + 5 x 6 = 256
        it.world.acceptor.insert(200, it.rig.now_ms * 1000)
        it.rig.run_for(100)
    it.rig.run_for(1000)
    assert any(len(answer) == 16 and answer[-1] == 0 for answer in recorder.sent)
    assert line_errors(it) == before
    assert it.balanced()["credit"] == 212 * 200


def test_b21_lines_that_are_unplugged_stop_the_play_and_come_back(story):
    """Each cable out and in again: a tilt, a loop that goes on turning, and nothing lost."""
    it = story("coin 100")
    # Nobody asks the random source before a play wants a seed.
    for line, tilt in (("cctalk", "acceptor_offline"), ("panel", "panel_offline"), ("entropy", "rng_no_data")):
        then = "press start" if line == "entropy" else "wait 100ms"
        it.tell(
            f"fault {line} mute\n{then}\nwait 4s\nexpect tilt == {tilt}\nclear {line}\nwait 6s\nexpect tilt == none\ncoin 10"
        )
    it.tell("expect credit == 130\nwant loss\npress start\nwait until idle\nexpect games == 1").balanced()


# --- coins in --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pence", [10, 20, 50, 100, 200])
def test_b15_every_coin_of_the_table_is_let_in(story, pence):
    """The inhibits come from what the acceptor says of itself: also coins beyond the third position are enabled."""
    it = story(f"coin {pence}\nexpect credit == {pence}")
    assert it.world.acceptor.enabled_positions() == set(it.world.acceptor.table)
    it.balanced()


@pytest.mark.parametrize("device", ["acceptor", "hopper_100", "hopper_10"])
def test_b16_a_device_in_the_other_checksum_mode_is_found(story, device):
    it = story("power off")
    getattr(it.world, device).crc = True
    it.tell("power on\nwait 5s\nexpect tilt == none\ncoin 100\ncoin 50\nexpect credit == 150")
    it.tell("press cash_out\nwait until idle within 20s\nexpect paid == 150").balanced()


def test_b27_coins_are_refused_until_the_firmware_wants_them(story):
    """Nothing opens the gate while nobody runs: not before the first start, not while only the board is dead, not in a reset."""
    it = story("power off")
    world = it.world
    world.power(True, it.rig.now_ms * 1000)  # the devices have power, the board not yet
    it.rig.run_for(2000)
    for pence in (100, 200):
        world.acceptor.insert(pence, it.rig.now_ms * 1000)
        it.rig.run_for(500)
    assert world.acceptor.returned == [100, 200]
    it.tell("power on\nwait 2s\ncoin 10\nexpect credit == 10")
    it.rig.cut_power()
    it.rig.run_for(1500)
    world.acceptor.insert(50, it.rig.now_ms * 1000)
    it.rig.run_for(500)
    assert world.acceptor.returned == [100, 200, 50]
    it.tell("power on\nwait 1s\nexpect credit == 10\ncoin 20\nexpect credit == 30").balanced()


# --- coins out -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", range(4))
def test_b06_a_hopper_that_resets_itself_leaves_the_rest_owed_exactly(story, after):
    """Some of three are paid, the device restarts: what it did not pay is still somebody's, to the penny."""
    it = story(f"coin 200\ncoin 100\nfault hopper_100 reset {after}\npress cash_out\nwait 25s")
    books = it.balanced()
    assert books["hopper_out"] + books["handpay_due"] + books["credit"] + books["payout"] == 300


def test_b07_a_hopper_whose_counts_disagree_is_looked_at_by_a_person(story):
    """It says that it paid three, and its lifetime count grew by two."""
    it = story(
        "coin 200\ncoin 100\nfault hopper_100 miscount\npress cash_out\nwait 10s\nexpect tilt == hopper_evidence"
    )
    it.tell("expect paid == 300\nexpect hopper_out == 300\nexpect credit == 0")
    it.tell("clear hopper_100\npower off\npower on\nwait 1s\nexpect tilt == hopper_evidence")
    it.tell("turn attendant\nunturn attendant\nwait 1s\nexpect tilt == none").balanced()


@pytest.mark.parametrize("lost", [1, 3, 9, 11, 14])
def test_b07_counts_that_disagree_behind_lost_answers_pay_nothing_twice(story, lost):
    """Nobody saw it pay. It says that it paid three of three, and its lifetime count grew by one."""
    it = story("coin 200\ncoin 100\nfault hopper_100 miscount 2")
    lose_answers_to_the_order(it, lost)
    it.tell("press cash_out\nwait 20s\nexpect tilt == hopper_evidence")
    it.tell("expect paid == 300\nexpect hopper_out == 300\nexpect credit == 0").balanced()


@pytest.mark.parametrize("missed", [1, 2, 3])
@pytest.mark.parametrize("paying_ms", [420, 560, 700])
@pytest.mark.parametrize("power", ["board", "mains"])
def test_b07_counts_that_disagree_behind_a_power_cut_pay_nothing_twice(story, power, paying_ms, missed):
    """The board dies while a hopper pays that misses coins by its lifetime count; the hopper goes on, or dies as well."""
    it = story(f"coin 200\ncoin 100\nfault hopper_100 miscount {missed}\npress cash_out\nwait {paying_ms}ms")
    it.tell("power off\nclear hopper_100\nwait 1s" if power == "mains" else "power cut\nwait 1s\nclear hopper_100")
    missing = it.world.hopper_100.missed_coins
    it.tell("power on\nwait 12s")
    assert ("hopper_evidence" in it.books()["tilt"]) == (missing > 0)
    it.tell("turn attendant\nunturn attendant\nwait 500ms\npress cash_out\nwait until idle within 30s")
    it.tell("expect credit == 0\nexpect paid == 300\nexpect hopper_out == 300").balanced()


def test_b07_an_extra_coin_beside_missed_ones_is_booked_behind_a_power_cut(story):
    """Its figures tell more coins than were ordered, its lifetime count fewer: a person looks."""
    it = story(
        "coin 200\ncoin 100\nfault hopper_100 miscount 2\nfault hopper_100 extra_coin\npress cash_out\nwait 400ms"
    )
    it.tell(
        "power cut\nwait 1s\npower on\nwait 12s\nexpect tilt == hopper_evidence\nexpect hopper_out == 400"
    ).balanced()


def test_b07_a_blocked_exit_sensor_pays_nothing_unseen(story):
    it = story("coin 200\ncoin 100\nfault hopper_100 stuck_sensor\npress cash_out\nwait 25s")
    books = it.balanced()
    assert it.world.hopper_100.paid_coins == 0
    assert it.world.paid_pence + books["handpay_due"] + books["credit"] == 300
    assert books["tilt"]


@pytest.mark.parametrize("lost", range(1, 6))
def test_b09_a_lost_answer_never_pays_twice(story, lost):
    """The answer to the order is lost, and those to the questions behind it: it is asked about, never sent again."""
    it = story("coin 200\ncoin 100")
    listener = lose_answers_to_the_order(it, lost)
    it.tell("press cash_out\nwait 15s\nexpect credit == 0\nexpect paid == 300")
    asked = listener.headers(HOPPER_100)
    assert asked.count(DISPENSE) == 1
    assert STATUS in asked[asked.index(DISPENSE) :]
    it.balanced()


@pytest.mark.parametrize("silent_ms", [5, 400])
def test_b09_an_order_whose_fate_is_unknown_is_read_back_after_a_power_cut(story, silent_ms):
    """The answer to the order is lost and the board dies before it has asked: the next start asks, and sends nothing."""
    it = story("coin 200\ncoin 100")
    listener = lose_answers_to_the_order(it, 1)
    it.tell("press cash_out for 60ms")
    assert it.rig.run_until(lambda: DISPENSE in listener.headers(HOPPER_100), 5000)
    it.rig.run_for(silent_ms)
    it.rig.cut_power()
    it.rig.run_for(3000)
    it.tell("power on\nwait 10s")
    assert listener.headers(HOPPER_100).count(DISPENSE) == 1
    books = it.balanced()
    assert books["credit"] + it.world.paid_pence == 300


@pytest.mark.parametrize("coins", range(4))
def test_b10_what_was_paid_before_an_error_stays_booked(story, coins):
    it = story(f"coin 200\ncoin 100\nfault hopper_100 jam {coins}\npress cash_out\nwait 20s")
    it.tell("expect credit == 0\nexpect paid == 300")
    books = it.balanced()
    assert books["hopper_100"] == 100 * coins
    assert ("hopper_jam" in books["tilt"]) == (coins < 3)


# --- meters ----------------------------------------------------------------------------------------------------------


def test_b24_a_meter_of_zero_is_a_zero_and_no_error(story):
    """New memory: every account and every meter is told, as a figure."""
    it = story()
    books = it.books()
    assert [account for account in ACCOUNTS if books[account] != 0] == []
    it.tell("console meters\nwait 2s")
    told = {line.split()[0]: line.split()[2] for line in it.world.console.text if len(line.split()) == 4}
    assert {told[account] for account in ACCOUNTS} == {"£0.00"}
    assert {meter for meter in METERS if told[meter] != "0"} <= {
        "power_ups",
        "acceptor_resets",
        "note_acceptor_resets",
        "tilts",
    }
    assert told["games"] == told["em_in"] == "0"
    assert "error" not in "\n".join(it.world.console.text)


def test_b25_pulses_of_coins_that_come_faster_than_the_meter_counts_all_arrive(story):
    """Five pounds within 350 ms, at a meter of ten pulses a second: five pulses, none too short."""
    it = story()
    for _ in range(5):
        it.world.acceptor.insert(100, it.rig.now_ms * 1000)
        it.rig.run_for(70)
    it.rig.run_for(5000)
    assert it.balanced()["coins_in"] == 500
    assert it.world.panel.pulses["em_in"] == 5
    assert not it.world.panel.bad_pulses
    assert it.books()["quiet"]
    times = {name: pulse_ms * (1 + off_factor) for name, _, _, pulse_ms, off_factor in WIRING.solenoids}
    assert times["em_in"] >= 1000 // MAX_PULSES_S

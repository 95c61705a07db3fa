"""The panel: start-up, debounced inputs, lamps, and pulses that are sent exactly once."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.panel.opp import Panel
from hal.panel.wiring import BUTTONS, DEFAULT, DOORS, KEYS, LAMPS, Wiring
from tests.hal.bench import SILENCE, Bench, ScriptedPort, opp

SERIAL = 0x01234567
SYNC, INVENTORY = b"\xff", b"\xf0\xff"
READ = opp("20 08 00 00 00 00")
KICK_IN = opp("20 14 00 02 32 10") + opp("20 07 00 01 00 01")
KICK_OUT = opp("20 14 01 02 32 10") + opp("20 07 00 02 00 02")
LAMPS_OUT = opp("21 13 07 00 00 00 00")
BIT = {name: bit for rows in (DEFAULT.buttons, DEFAULT.doors, DEFAULT.keys, DEFAULT.senses) for name, _, bit in rows}


class Board:
    """The far end as a table around the state of the switches."""

    def __init__(self, closed: tuple = DOORS):
        self.closed = set(closed)
        self.silent = False
        self.spoil = 0  # how many of the next input answers have a wrong CRC
        self.port = ScriptedPort()
        self.wings = {"20": "01 02 02 02", "21": "03 03 03 03"}
        port = self.port
        port.always(SYNC, lambda: self.say(SYNC))
        port.always(INVENTORY, lambda: self.say(bytes.fromhex("F0 20 21 FF")))
        for address in self.wings:
            port.always(opp(f"{address} 00 00 00 00 00"), lambda at=address: self.say(opp(f"{at} 00 01 23 45 67")))
            port.always(opp(f"{address} 0D 00 00 00 00"), lambda at=address: self.say(opp(f"{at} 0D {self.wings[at]}")))
            port.always(opp(f"{address} 02 00 00 00 00"), lambda at=address: self.say(opp(f"{at} 02 02 02 00 02")))
        for frame in (LAMPS_OUT, KICK_IN, KICK_OUT):
            port.always(frame, SILENCE)
        port.always(READ, self.inputs)
        self.driver = Panel(self.port, DEFAULT)
        self.bench = Bench(self.driver)

    def say(self, answer: bytes):
        return SILENCE if self.silent else answer

    def inputs(self):
        bits = 0xFFFFFFFF
        for name in self.closed:
            bits &= ~(1 << BIT[name])
        answer = opp(f"20 08 {bits:08X}")
        if self.spoil:
            self.spoil -= 1
            answer = answer[:3] + bytes([answer[3] ^ 1]) + answer[4:]
        return self.say(answer)

    def start(self) -> list[tuple]:
        return self.bench.tell(200)


@pytest.fixture
def board() -> Board:
    started = Board()
    assert started.start() == [("online", SERIAL)]
    return started


def test_the_default_wiring_fits_the_boards():
    used = [(address, bit) for rows in (DEFAULT.buttons, DEFAULT.doors, DEFAULT.keys) for _, address, bit in rows]
    assert len(set(used)) == len(used) == len(BUTTONS) + len(DOORS) + len(KEYS)
    assert {(address, DEFAULT.boards[0][1][bit // 8]) for address, bit in used} == {(0x20, 2)}
    assert [name for name, _, _ in DEFAULT.lamps] == list(LAMPS)
    assert len(LAMPS) == len(BUTTONS) + 1


def test_start_up_byte_by_byte():
    port = ScriptedPort()
    driver = Panel(port, DEFAULT)
    steps = [
        (SYNC, SYNC),
        (INVENTORY, bytes.fromhex("F0 20 21 FF")),
        (bytes.fromhex("20 00 00 00 00 00 94 FF"), bytes.fromhex("20 00 01 23 45 67 54 FF")),
        (bytes.fromhex("20 0D 00 00 00 00 60 FF"), opp("20 0D 01 02 02 02")),
        (bytes.fromhex("20 02 00 00 00 00 50 FF"), bytes.fromhex("20 02 02 02 00 02 A4 FF")),
        (opp("21 00 00 00 00 00"), opp("21 00 00 00 00 09")),
        (opp("21 0D 00 00 00 00"), opp("21 0D 03 03 03 03")),
        (opp("21 02 00 00 00 00"), opp("21 02 02 02 00 02")),
        (LAMPS_OUT, SILENCE),
        (bytes.fromhex("20 08 00 00 00 00 8D FF"), opp("20 08 FF FF FF FF")),
    ]
    for request, answer in steps:
        port.expect(request, answer)
    port.always(READ, opp("20 08 F0 FF FF FF"))
    told = Bench(driver).tell(100)
    port.done()
    assert told[0] == ("online", SERIAL)
    assert driver.version == b"\x02\x02\x00\x02"


def test_inputs_are_read_every_10_ms(board):
    before = board.port.count(READ)
    board.bench.run(1000)
    assert board.port.count(READ) - before == 100


def test_at_the_first_reading_only_open_doors_and_turned_keys_are_told():
    board = Board(closed=("main", "logic", "start", "technician"))
    assert not board.driver.online
    assert not board.driver.closed("main")
    assert board.start() == [("online", SERIAL), ("open", "cashbox"), ("open", "note_box"), ("turn", "technician")]
    assert board.driver.online
    assert board.driver.closed("main")
    assert not board.driver.closed("cashbox")


@pytest.mark.parametrize(
    ("name", "closing", "opening"),
    [
        *[(name, "press", "release") for name in BUTTONS],
        *[(name, "close", "open") for name in DOORS],
        *[(name, "turn", "unturn") for name in KEYS],
    ],
)
def test_every_switch_has_its_two_events(board, name, closing, opening):
    board.closed ^= {name}
    first = opening if name in DOORS else closing
    second = closing if name in DOORS else opening
    assert board.bench.tell(50) == [(first, name)]
    board.closed ^= {name}
    assert board.bench.tell(50) == [(second, name)]


def test_a_bounce_of_one_reading_is_no_press(board):
    board.closed.add("start")
    board.bench.run(10)
    board.closed.remove("start")
    assert board.bench.tell(100) == []


def test_a_change_counts_at_the_second_equal_reading(board):
    count = board.port.count(READ)
    board.closed.add("start")
    while not (told := board.bench.tell(2)):
        pass
    assert told == [("press", "start")]
    assert board.port.count(READ) - count <= 3


def test_a_wrong_crc_keeps_the_last_state_and_is_counted(board):
    board.spoil = 5
    assert board.bench.tell(300) == []
    assert board.driver.bad_answers == 5
    board.closed.add("left")
    assert board.bench.tell(50) == [("press", "left")]


def test_bytes_out_of_step_are_waited_out(board):
    board.port.arriving += b"\x20\x08\xff"
    board.bench.run(200)
    board.port.arriving += b"\x55"
    assert board.bench.tell(200) == []
    assert board.driver.online
    board.closed.add("left")
    assert board.bench.tell(50) == [("press", "left")]


def test_silence_for_500_ms_is_offline_and_it_starts_anew(board):
    board.driver.lamp("start", True)
    lit = opp("21 13 07 00 00 00 01")
    board.port.always(lit)
    board.bench.run(20)
    board.silent = True
    assert board.bench.tell(450) == []
    assert board.bench.tell(150) == [("offline",)]
    assert not board.driver.online
    assert not board.driver.closed("main")
    assert board.bench.tell(3000) == []
    board.closed -= {"main"}
    board.closed |= {"start"}
    board.silent = False
    lamps_set = board.port.count(lit)
    assert board.bench.tell(500) == [("online", SERIAL), ("open", "main"), ("press", "start")]
    assert board.port.count(lit) == lamps_set + 1


def test_a_port_that_is_gone_is_offline(board):
    board.port.gone = True
    assert board.bench.tell(700) == [("offline",)]
    assert board.driver.port_faults > 0
    board.port.gone = False
    assert board.bench.tell(500) == [("online", SERIAL)]


def test_nothing_new_after_a_break_tells_nothing_but_online(board):
    board.closed -= {"cashbox"}
    board.bench.tell(50)
    board.silent = True
    board.bench.tell(700)
    board.silent = False
    assert board.bench.tell(500) == [("online", SERIAL)]


def test_wrong_wings_are_a_fault_told_once():
    board = Board()
    board.wings["21"] = "03 03 02 03"
    assert board.bench.tell(3000) == [("fault", 0x21)]
    assert not board.driver.online
    board.wings["21"] = "03 03 03 03"
    assert board.bench.tell(500) == [("online", SERIAL)]


def test_a_missing_board_is_a_fault():
    board = Board()
    board.port.always(INVENTORY, bytes.fromhex("F0 20 FF"))
    assert board.bench.tell(1000) == [("fault", 0x21)]


def test_an_inventory_that_never_ends_starts_anew():
    board = Board()
    board.port.expect(INVENTORY, b"\xf0" + b"\x20" * 40)
    assert board.bench.tell(1000) == [("online", SERIAL)]


# Lamps.


def test_lamps_are_sent_when_they_change(board):
    one, two = opp("21 13 07 00 00 00 01"), opp("21 13 07 00 01 00 01")
    board.port.expect(one)
    board.driver.lamp("start", True)
    board.driver.lamp("start", True)
    board.bench.run(100)
    board.port.expect(two)
    board.driver.lamp("tower", True)
    board.bench.run(100)
    board.port.done()
    out = board.port.count(LAMPS_OUT)
    board.driver.lamps_off()
    board.bench.run(100)
    assert board.port.count(LAMPS_OUT) == out + 1
    with pytest.raises(KeyError):
        board.driver.lamp("beacon", True)


# Pulses.


def test_a_pulse_is_sent_once_and_another_waits_for_its_on_and_off_time(board):
    driver, bench = board.driver, board.bench
    assert driver.pulse("em_in")
    assert board.port.count(KICK_IN) == 1
    assert driver.busy("em_in", bench.now_ms)
    assert not driver.pulse("em_in")
    assert driver.pulse("em_out")  # another coil
    bench.run(100)
    assert not driver.pulse("em_in")
    bench.run(12)
    assert not driver.busy("em_in", bench.now_ms)
    assert driver.pulse("em_in")
    assert board.port.count(KICK_IN) == 2


def test_b25_five_quick_pulses_are_all_delivered(board):
    owed, at = 5, []
    for _ in range(600):
        board.bench.run(2)
        if owed and board.driver.pulse("em_in"):
            owed -= 1
            at.append(board.bench.now_ms)
    assert owed == 0
    assert board.port.count(KICK_IN) == 5
    assert all(later - earlier >= 100 for earlier, later in itertools.pairwise(at))
    assert at[-1] - at[0] <= 500


def test_the_off_time_counts_from_when_a_kick_can_have_left_at_the_latest(board):
    """The turn took 30 ms and the kick left at its end: the board refuses one that comes 100 ms after its beginning."""
    driver, began_ms = board.driver, board.bench.now_ms
    assert driver.pulse("em_in")
    assert driver.pulse("em_out")
    driver.poll(began_ms + 30)
    for name in ("em_in", "em_out"):
        assert driver.busy(name, began_ms + 30 + 100)
        assert not driver.busy(name, began_ms + 30 + 111)


def test_after_a_start_the_first_pulse_waits_for_one_that_may_be_under_way():
    """The cabinet was away for a moment, the board was not: it would refuse a pulse in the off time of the last one."""
    board = Board()
    while not board.driver.online:
        board.bench.run(1)
    online_ms = board.bench.now_ms
    assert not board.driver.pulse("em_in")
    while not board.driver.pulse("em_in"):
        board.bench.run(1)
    assert 50 < board.bench.now_ms - online_ms < 150


def test_a_pulse_that_could_not_be_sent_was_not_sent(board):
    board.port.gone = True
    assert not board.driver.pulse("em_in")
    board.port.gone = False
    assert board.driver.pulse("em_in")
    assert board.port.count(KICK_IN) == 1


def test_no_pulse_while_offline():
    board = Board()
    assert not board.driver.pulse("em_in")
    assert not board.driver.busy("em_in", 0)


def test_no_pulse_for_boards_that_have_not_answered_for_a_moment(board):
    """They are not offline yet, and a kick that they do not hear would be counted."""
    board.silent = True
    board.bench.run(60)
    assert board.driver.online
    assert not board.driver.pulse("em_in")
    board.silent = False
    board.bench.run(60)
    assert board.driver.pulse("em_in")


@pytest.mark.parametrize(
    ("looks", "current", "missed", "doubtful"),
    [(4, True, False, False), (4, False, True, False), (0, True, False, True), (1, False, False, True)],
)
def test_what_is_known_of_a_pulse_that_is_over(board, looks, current, missed, doubtful):
    driver, bench = board.driver, board.bench
    if current:
        board.closed.add("em_in")  # the sense in series with its coil
    assert driver.pulse("em_in")
    board.silent = True
    for _ in range(looks):
        board.silent = False
        bench.run(10)
        board.silent = True
    bench.run(120 - 10 * looks)
    assert (driver.missed("em_in"), driver.doubtful("em_in")) == (missed, doubtful)


@pytest.mark.parametrize("first", [True, False])
def test_current_in_a_part_of_a_pulse_only_leaves_it_in_doubt(board, first):
    driver, bench = board.driver, board.bench
    for current in (first, not first):
        board.closed ^= {"em_in"} if current != ("em_in" in board.closed) else set()
        if current is first:
            assert driver.pulse("em_in")
        bench.run(24)
    bench.run(100)
    assert (driver.missed("em_in"), driver.doubtful("em_in")) == (False, True)


# Bounds.


def test_events_that_nobody_takes_become_the_latest_state(board):
    for _ in range(100):
        board.closed ^= {"start"}
        board.bench.run(50)
    board.closed -= {"main"}
    board.bench.run(100)
    told = board.bench.tell(100)
    assert len(told) < 70
    assert ("open", "main") in told[-2:]


def test_another_wiring_needs_no_other_code():
    wiring = Wiring(
        boards=((0x20, (2, 2, 2, 2)), (0x22, (2, 2, 2, 2))),
        buttons=(("start", 0x22, 31),),
        doors=(("main", 0x20, 0),),
        keys=(),
        lamps=(),
        solenoids=(),
    )
    port = ScriptedPort()
    port.always(SYNC, SYNC)
    port.always(INVENTORY, bytes.fromhex("F0 20 22 FF"))
    for address in ("20", "22"):
        for command, answer in (("00", "00 00 00 05"), ("0D", "02 02 02 02"), ("02", "02 02 00 02")):
            port.always(opp(f"{address} {command} 00 00 00 00"), opp(f"{address} {command} {answer}"))
    port.always(opp("20 08 00 00 00 00"), opp("20 08 FF FF FF FE"))
    port.always(opp("22 08 00 00 00 00"), opp("22 08 FF FF FF FF"))
    bench = Bench(Panel(port, wiring))
    assert bench.tell(200) == [("online", 5)]
    port.always(opp("22 08 00 00 00 00"), opp("22 08 7F FF FF FF"))
    assert bench.tell(100) == [("press", "start")]


def test_a_wiring_without_inputs_is_refused():
    with pytest.raises(ValueError, match="without inputs"):
        Panel(ScriptedPort(), Wiring(DEFAULT.boards, (), (), (), DEFAULT.lamps, ()))


@given(st.lists(st.tuples(st.binary(max_size=40), st.integers(1, 300)), max_size=12))
def test_no_noise_raises_and_a_quiet_line_works_again(noise):
    board = Board()
    for chunk, pause_ms in noise:
        board.port.arriving += chunk
        board.driver.poll(board.bench.now_ms)
        board.bench.now_ms += pause_ms
    board.bench.tell(2000)
    assert board.driver.online
    board.closed.add("start")
    board.bench.tell(100)
    assert board.driver.closed("start")

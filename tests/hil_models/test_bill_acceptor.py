"""The bill validator on ccTalk: published CRC frames, and what happens to notes, by a host of bytes."""

import pytest

from host_tools.hil.line import Line
from host_tools.hil.models.bill_acceptor import BillAcceptor
from host_tools.hil.models.cctalk_device import crc16
from host_tools.hil.world import World
from tests.hal.vectors import CCTALK16, frames

from .conftest import Bench


class BillBench(Bench):
    """A host that frames and nothing else."""

    def __init__(self, **model) -> None:
        self.model = BillAcceptor(**model)
        super().__init__(Line("cctalk", 9600, True), self.model)
        self.run(3000)

    def ask(self, header: int, text: str = "", ms: int = 100) -> str | None:
        """The answer's data in hexadecimal, None without one."""
        data = bytes.fromhex(text)
        crc = crc16(bytes([40, len(data), header]) + data)
        sent = bytes([40, len(data), crc & 255, header]) + data + bytes([crc >> 8])
        heard = self.exchange(sent, ms)
        if not heard:
            return None
        assert (heard[0], heard[1], heard[3]) == (1, len(heard) - 5, 0)
        assert crc16(heard[:2] + heard[3:-1]) == heard[2] | heard[-1] << 8
        return heard[4:-1].hex(" ").upper()

    def enabled(self) -> "BillBench":
        assert [self.ask(153, "03"), self.ask(231, "0F 00"), self.ask(228, "01"), self.events()] == [
            "",
            "",
            "",
            "00" + " 00" * 10,
        ]
        return self

    def events(self) -> str:
        return self.ask(159) or ""

    def play(self, pence: int, ms: int) -> str:
        """A note goes in; events are read all the time, else the device stops accepting."""
        self.model.insert(pence, self.now_us)
        for _ in range(0, ms, 200):
            self.events()
            self.run(100)
        return self.events()


def test_published_requests_are_understood() -> None:
    bench = BillBench()
    answers = {}
    for frame in frames(CCTALK16):
        if frame[0] == 40:
            answers[frame[3]] = bench.exchange(frame, 100)
    assert set(answers) == {254, 246, 245, 159}
    assert answers[254] == bytes.fromhex("01 00 30 00 37"), "the published acknowledgement"
    assert answers[245][4:-1] == b"Bill Validator"


def test_simple_checksums_are_not_heard_and_wrong_crcs_neither() -> None:
    bench = BillBench()
    for text in ("28 00 01 FE D9", "28 00 08 FE DB", "28 00 B6 FE 20"):
        sent = bytes.fromhex(text)
        assert bench.exchange(sent, 100) == b""


def test_identity_values_and_counters() -> None:
    bench = BillBench()
    assert bytes.fromhex(bench.ask(157, "03") or "") == b"GB0020A"
    assert bytes.fromhex(bench.ask(157, "05") or "") == b"......."
    assert (bench.ask(156, "47 42"), bench.ask(156, "45 55")) == ("64 00 02", "00 00 00")
    assert (bench.ask(225), bench.ask(194)) == ("00 00 00", "00 00 00")
    assert BillBench(counters=False).ask(225) is None


def test_a_note_waits_for_its_route() -> None:
    bench = BillBench().enabled()
    assert bench.ask(154, "01") == "FE", "nothing in escrow"
    assert bench.play(2000, 1500) == "01 03 01" + " 00" * 8
    assert bench.ask(154, "01") == ""
    assert bench.model.stacked == []
    bench.run(600)
    assert bench.events() == "02 03 00 03 01" + " 00" * 6
    assert bench.model.stacked == [2000]
    bench.run(600)
    assert (bench.ask(225), bench.ask(194)) == ("01 00 00", "00 00 00")


def test_returned_by_the_host_or_by_itself() -> None:
    bench = BillBench().enabled()
    bench.play(500, 1500)
    assert bench.ask(154, "00") == ""
    bench.run(600)
    assert bench.events() == "02 00 01 01 01" + " 00" * 6
    assert bench.play(500, 9000)[:8] == "03 01 01"
    assert bench.ask(154, "FF") == "", "more time"
    assert bench.play(700, 9000)[:8] == "03 01 01"
    bench.run(2500)
    assert bench.events()[:8] == "04 00 01"
    assert bench.model.returned == [500, 700, 500]


def test_inhibits_and_unknown_notes() -> None:
    bench = BillBench().enabled()
    bench.ask(231, "01 00")
    assert bench.play(5000, 1500)[:8] == "01 00 04"
    assert bench.play(700, 1500)[:8] == "02 00 02"
    assert (bench.model.returned, bench.ask(194)) == ([5000, 700], "02 00 00")


def test_without_escrow_it_takes_notes_unasked() -> None:
    bench = BillBench().enabled()
    bench.ask(153, "01")
    assert bench.play(1000, 2000)[:8] == "01 02 00"
    assert bench.model.stacked == [1000]


def test_it_stops_by_itself_and_forgets_all_in_a_reset() -> None:
    bench = BillBench().enabled()
    assert bench.model.accepting
    bench.run(1100)
    assert not bench.model.accepting
    bench.events()
    assert bench.model.accepting
    assert bench.ask(1) == ""
    bench.run(3000)
    assert (bench.ask(230), bench.ask(227), bench.ask(152), bench.events()[:2]) == ("00 00", "00", "00", "00")


@pytest.mark.parametrize(
    ("place", "ms", "told", "stacked"),
    [
        ("reading", 300, "00", []),
        ("escrow", 1200, "01 00 01", []),
        ("moving", 200, "01 03 00", [2000]),
        ("past", 600, "01 03 00", [2000]),
    ],
)
def test_what_is_in_the_path_when_the_power_fails(place, ms, told, stacked) -> None:
    bench = BillBench().enabled()
    bench.play(2000, 1200) if place in ("moving", "past") else bench.model.insert(2000, bench.now_us)
    if place in ("moving", "past"):
        bench.ask(154, "01")
    bench.run(ms)
    assert bench.model.note is not None
    assert bench.model.note.place == place
    bench.model.power(False, bench.now_us)
    bench.run(500)
    bench.model.power(True, bench.now_us)
    bench.run(3000)
    assert bench.events().startswith(told)
    assert bench.model.stacked == stacked
    assert bench.model.note is None


def test_the_counter_wraps_to_one() -> None:
    bench = BillBench().enabled()
    for _ in range(256):
        bench.model.fault("event", 10)
    assert bench.events()[:2] == "01"


def test_it_stands_on_the_cctalk_line_of_a_world() -> None:
    world = World(lambda event: None, note="cctalk")
    assert world.note_acceptor in world.lines["cctalk"].devices
    assert world.lines["note"].devices == []

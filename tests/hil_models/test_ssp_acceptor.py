"""The SSP acceptor: published frames, and what happens to notes, by a host of bytes."""

import pytest

from host_tools.hil.line import Line
from host_tools.hil.models.ssp_acceptor import SspAcceptor
from host_tools.hil.models.ssp_device import crc16, stuff
from host_tools.hil.world import World
from tests.hal.vectors import SSP, frames

from .conftest import Bench


class SspBench(Bench):
    """A host that toggles the sequence bit and knows nothing else."""

    def __init__(self, model: SspAcceptor) -> None:
        super().__init__(Line("note", 9600, stop_bits=2), model)
        self.model = model
        self.bit = 0
        self.run(3000)

    def ask(self, text: str, ms: int = 100) -> str:
        """The answer's data in hexadecimal, "" without one."""
        self.bit ^= 0x80
        return self.repeat(text, ms)

    def repeat(self, text: str, ms: int = 100) -> str:
        data = bytes.fromhex(text)
        heard = self.exchange(stuff(bytes([self.bit, len(data)]) + data), ms)
        if not heard:
            return ""
        plain = heard[:1] + heard[1:].replace(b"\x7f\x7f", b"\x7f")
        assert (plain[0], plain[1], plain[2]) == (0x7F, self.bit, len(plain) - 5)
        assert crc16(plain[1:-2]) == int.from_bytes(plain[-2:], "little")
        return plain[3:-2].hex(" ").upper()

    def enabled(self) -> "SspBench":
        for text in ("06 08", "02 FF FF", "0A"):
            assert self.ask(text) == "F0"
        assert self.ask("07") == "F0 F1"
        return self

    def insert(self, pence: int) -> None:
        self.model.insert(pence, self.now_us)


def test_crc_and_stuffing() -> None:
    assert crc16(b"123456789") == 0xAEE7
    for frame in frames(SSP):
        body = (frame[:1] + frame[1:].replace(b"\x7f\x7f", b"\x7f"))[1:-2]
        assert stuff(body) == frame


def test_published_exchanges() -> None:
    bench = SspBench(SspAcceptor())
    for request, answer in (
        ("7F 80 01 11 65 82", "7F 80 01 F0 23 80"),
        ("7F 00 02 06 06 1B 94", "7F 00 01 F0 20 0A"),
        ("7F 80 02 06 08 03 94", "7F 80 01 F0 23 80"),
        ("7F 00 03 02 7F 7F 00 2D 9A", "7F 00 01 F0 20 0A"),
        ("7F 80 02 06 09 06 14", "7F 80 01 F8 10 00"),
        ("7F 00 01 07 11 88", "7F 00 03 F0 F1 E8 BC 30"),
        ("7F 80 01 0A 3F 82", "7F 80 01 F0 23 80"),
    ):
        assert bench.exchange(bytes.fromhex(request), 60) == bytes.fromhex(answer), request
    assert bench.model._mask == 0x7F


def test_a_note_is_taken_by_the_second_poll() -> None:
    bench = SspBench(SspAcceptor()).enabled()
    bench.insert(2000)
    assert bench.ask("07") == "F0 EF 00"
    bench.run(1000)
    assert bench.model.note is not None
    assert bench.model.note.place == "escrow"
    assert bench.ask("07") == "F0 EF 03"
    assert bench.ask("18") == "F0"
    assert bench.model.note.place == "escrow"
    assert bench.ask("07") == "F0 CC"
    bench.run(1000)
    assert bench.ask("07") == "F0 EE 03 EB"
    assert bench.model.stacked == [2000]
    assert bench.ask("07") == "F0"


def test_the_same_bit_repeats_the_answer_and_does_nothing() -> None:
    bench = SspBench(SspAcceptor()).enabled()
    bench.insert(500)
    bench.run(1000)
    assert bench.ask("07") == "F0 EF 01"
    for _ in range(3):
        assert bench.repeat("07") == "F0 EF 01"
    assert bench.model.note is not None
    assert bench.model.note.place == "escrow", "a repeated POLL accepts nothing"


def test_with_acknowledgement_the_credit_is_told_until_57() -> None:
    bench = SspBench(SspAcceptor()).enabled()
    bench.insert(1000)
    bench.run(1000)
    assert bench.ask("56") == "F0 EF 02"
    bench.ask("56")
    bench.run(1000)
    assert bench.ask("56") == "F0 EE 02 EB"
    assert bench.ask("56") == "F0 EE 02"
    bench.model.power(False, bench.now_us)
    bench.run(100)
    bench.model.power(True, bench.now_us)
    bench.run(3000)
    assert bench.ask("56") == "F0 F1 EE 02 E8"
    assert bench.ask("57") == "F0"
    assert bench.ask("57") == "F5"
    assert bench.ask("56") == "F0 E8"


def test_reject_gives_the_note_back_and_disable_does_not() -> None:
    bench = SspBench(SspAcceptor()).enabled()
    bench.insert(500)
    bench.run(1000)
    assert bench.ask("07") == "F0 EF 01"
    assert bench.ask("09") == "F0"
    assert bench.model.note is not None
    assert bench.model.note.place == "escrow"
    assert bench.ask("08") == "F0"
    assert bench.ask("07").startswith("F0 ED")
    bench.run(600)
    assert bench.ask("07").startswith("F0 EC")
    assert bench.ask("17") == "F0 08"
    assert (bench.model.returned, bench.model.stacked) == ([500], [])


def test_ten_seconds_in_escrow() -> None:
    bench = SspBench(SspAcceptor()).enabled()
    bench.insert(500)
    bench.run(1000)
    bench.ask("07")
    bench.run(8000)
    assert bench.ask("18") == "F0"
    bench.run(8000)
    assert bench.ask("18") == "F0"
    bench.run(10_600)
    assert bench.ask("18") == "F5"
    assert bench.ask("17") == "F0 13"
    assert bench.model.returned == [500]


@pytest.mark.parametrize(
    ("place", "told", "stacked"),
    [("reading", "E1 00", False), ("escrow", "E1 03", False), ("moving", "E2 03", True), ("past", "E2 03", True)],
)
def test_what_was_in_the_path_when_power_failed(place: str, told: str, stacked: bool) -> None:
    bench = SspBench(SspAcceptor()).enabled()
    bench.insert(2000)
    while bench.model.note is None or bench.model.note.place != place:
        bench.run(10)
        if bench.model.note is not None and bench.model.note.place == "escrow" and place != "escrow":
            bench.ask("07")
            bench.ask("07")
    bench.model.power(False, bench.now_us)
    bench.run(100)
    bench.model.power(True, bench.now_us)
    bench.run(3000)
    assert told in bench.ask("07")
    assert (bench.model.stacked, bench.model.returned) == (([2000], []) if stacked else ([], [2000]))


def test_disabled_full_and_unpolled_acceptors_take_nothing() -> None:
    bench = SspBench(SspAcceptor())
    bench.insert(500)
    bench.enabled()
    bench.model.fault("stacker", "full")
    bench.insert(500)
    assert bench.ask("07") == "F0 E7 E8"
    bench.model.clear()
    bench.run(11_000)
    bench.insert(500)
    assert bench.model.returned == [500] * 3
    bench.ask("07")
    assert bench.model.accepting


def test_counters_survive() -> None:
    bench = SspBench(SspAcceptor()).enabled()
    bench.insert(2000)
    bench.run(1000)
    bench.ask("07")
    bench.ask("07")
    bench.run(1000)
    bench.model.power(False, bench.now_us)
    bench.model.power(True, bench.now_us)
    bench.run(3000)
    assert bench.ask("58") == "F0 05 01 00 00 00" + " 00" * 16


def test_wrong_packets_are_not_answered() -> None:
    bench = SspBench(SspAcceptor())
    assert bench.exchange(bytes.fromhex("7F 00 01 07 11 89")) == b"", "wrong CRC"
    assert bench.exchange(stuff(b"\x10\x01\x07")) == b"", "another address"
    assert bench.ask("99") == "F2"
    assert bench.ask("02 FF") == "F3"
    assert bench.model.dropped == 1


def test_encryption_is_demanded() -> None:
    bench = SspBench(SspAcceptor())
    bench.model.fault("key")
    assert bench.ask("07") == "FA"
    assert bench.ask("11") == "F0"
    bench.bit = 0x80
    assert bench.ask("4C 01 00 00 00 00 00 00 00") == "F5", "figures first"
    assert bench.ask("4A C5 05 8F 3A 00 00 00 00") == "F0"
    assert bench.ask("4B 8D A6 13 00 00 00 00 00") == "F0"
    assert len(bench.ask("4C 79 C8 9C E2 DE 06 00 00").split()) == 9
    assert bench.ask("7E" + " 00" * 16) == "", "what cannot be decrypted is dropped"


def test_the_default_cabinet_has_one_on_its_note_line() -> None:
    world = World(lambda event: None)
    world.power(True, 0)
    line = world.lines["note"]
    assert line.byte_ns == 11 * 1_000_000_000 // 9600, "eight data bits and two stop bits"
    line.advance(3_000_000)
    line.port.write(bytes.fromhex("7F 80 01 11 65 82"))
    line.advance(3_100_000)
    assert line.port.read() == bytes.fromhex("7F 80 01 F0 23 80")
    world.note_acceptor.insert(500, 3_100_000)
    assert (world.note_acceptor.returned, world.stacked_pence) == ([500], 0), "nobody has enabled it"


def test_faults_are_known_by_name() -> None:
    model = SspAcceptor()
    with pytest.raises(ValueError, match=r"knows no fault 'explode'.*jam"):
        model.fault("explode")
    with pytest.raises(ValueError, match="safe unsafe"):
        model.fault("jam", "sideways")

"""All drivers at once, one short story, in MicroPython's subset; test_hal_micropython.py runs it under both.

Prints one line an event, so that the two runs can be compared.
"""

import sys

sys.path.insert(0, sys.argv[1])

from hal.board import TICKS_PERIOD, Clock
from hal.cctalk.bus import Bus
from hal.cctalk.coin_acceptor import CoinAcceptor
from hal.cctalk.hopper import Hopper
from hal.cctalk.note_acceptor import NoteAcceptor as BillAcceptor
from hal.entropy.asked import AskedSource
from hal.panel.opp import Panel
from hal.panel.wiring import DEFAULT
from hal.ssp.essp import MODULUS, Secret, power
from hal.ssp.note_acceptor import NoteAcceptor
from tests.hal.bench import SILENCE, Bench, ScriptedPort, cctalk, cctalk16, opp, ssp


def acceptor_line():
    port = ScriptedPort(True)
    port.always(cctalk(2, 254), cctalk(1, 0, b"", 2))
    port.always(cctalk(2, 242), cctalk(1, 0, b"\x4e\x61\xbc", 2))
    port.always(cctalk(2, 228, b"\x00"), cctalk(1, 0, b"", 2))
    port.always(cctalk(2, 228, b"\x01"), cctalk(1, 0, b"", 2))
    for position in range(1, 17):
        port.always(cctalk(2, 184, bytes([position])), cctalk(1, 0, b"GB100A" if position == 16 else b"......", 2))
    port.always(cctalk(2, 231, b"\x00\x80"), cctalk(1, 0, b"", 2))
    port.always(cctalk(2, 230), cctalk(1, 0, b"\x00\x80", 2))
    port.always(cctalk(2, 229), cctalk(1, 0, b"\x02\x10\x00\x00\x14" + bytes(6), 2))
    port.always(cctalk(3, 254), cctalk(1, 0, b"", 3))
    port.always(cctalk(3, 242), cctalk(1, 0, b"\x4e\x46\x05", 3))
    port.always(cctalk(3, 171), cctalk(1, 0, b"GB010A", 3))
    port.always(cctalk(3, 163), cctalk(1, 0, b"\x80\x00", 3))
    port.always(cctalk(3, 217), cctalk(1, 0, b"\x02", 3))
    port.always(cctalk(3, 168), cctalk(1, 0, b"\xff\xff\xff", 3))
    port.always(cctalk(3, 166), cctalk(1, 0, b"\x00\x00\x00\x00", 3))
    port.always(cctalk(3, 164, b"\x00"), cctalk(1, 0, b"", 3))
    port.always(cctalk(3, 164, b"\xa5"), cctalk(1, 0, b"", 3))
    return port


def panel_line():
    port = ScriptedPort()
    port.always(b"\xff", b"\xff")
    port.always(b"\xf0\xff", b"\xf0\x20\x21\xff")
    for address, wings in (("20", "01020202"), ("21", "03030303")):
        port.always(opp(address + "0000000000"), opp(address + "0089ABCDEF"))
        port.always(opp(address + "0D00000000"), opp(address + "0D" + wings))
        port.always(opp(address + "0200000000"), opp(address + "0202020002"))
    port.always(opp("21130700000000"), SILENCE)
    port.always(opp("21130700010000"), SILENCE)
    port.always(opp("201400023210") + opp("200700010001"), SILENCE)
    port.always(opp("200800000000"), opp("2008F0FFFFFF"))
    return port


def note_answers(port, request, answer):
    """The same answer whatever the sequence bit."""
    for head in (0x00, 0x80):
        port.always(ssp(head, request), ssp(head, answer))


def note_line():
    port = ScriptedPort()
    setup = "F0 00 30343130 474250 000001 02 0532 0202 000064 08 474250 474250 05000000 32000000"
    for request in ("11", "06 07", "02 0000", "09", "02 0300", "0A", "18", "57"):
        note_answers(port, request, "F0")
    note_answers(port, "06 08", "F8")
    note_answers(port, "0C", "F0 0012D687")
    note_answers(port, "05", setup)
    note_answers(port, "08", "F5")
    note_answers(port, "58", "F0 05 FFFFFF7F 00000000 00000000 00000000 03000000")
    note_answers(port, "56", "F0 F1 E8")
    return port


class Xor:
    """In place of AES, which not every build has: what matters here is the arithmetic around it."""

    def __init__(self, key):
        self.key = key

    def encrypt(self, block):
        return bytes([block[place] ^ self.key[place] for place in range(16)])

    decrypt = encrypt


def note_story():
    port = note_line()
    notes = NoteAcceptor(port)
    bench = Bench(notes)
    notes.accept(True)
    for event in bench.tell(300):
        print(event)
    note_answers(port, "56", "F0")
    bench.tell(600)
    print(notes.accepting, notes.values, notes.version)
    note_answers(port, "56", "F0 EF 02")
    bench.run(400)
    print(notes.event(), notes.stack(), notes.stack())
    notes.booked()
    note_answers(port, "56", "F0 CC EE 02")
    bench.run(100)
    print(notes.event())
    note_answers(port, "56", "F0 EB E7")
    for event in bench.tell(600):
        print(event)
    secret = Secret(bytes(8), bytes, Xor)
    own = secret.begin()
    secret.agree(power(3, 1 << 62, MODULUS))
    wrapped = secret.wrap(b"\x07")
    secret.counter = 0  # as an answer to packet 0 would carry it
    print(own, wrapped, secret.unwrap(wrapped), secret.counter)


def bill_line():
    port = ScriptedPort(True)
    port.always(cctalk(40, 254), SILENCE)
    for header, data, answer in (
        (254, b"", b""), (242, b"", b"\x01\x02\x03"), (228, b"\x00", b""), (228, b"\x01", b""), (245, b"", b"Bill Validator"),
        (156, b"GB", b"\x64\x00\x02"), (225, b"", b"\xff\xff\xff"), (194, b"", b"\x05\x00\x00"), (232, b"", b"\x00"),
        (153, b"\x03", b""), (152, b"", b"\x03"), (231, b"\x02\x00", b""), (159, b"", bytes(11)),
        (154, b"\x01", b""),
    ):  # fmt: skip
        port.always(cctalk16(40, header, data), cctalk16(1, 0, answer))
    mask = cctalk16(40, 231, b"\x02\x00")
    port.always(cctalk16(40, 230), lambda: cctalk16(1, 0, b"\x02\x00" if port.count(mask) else b"\x00\x00"))
    for kind in range(1, 17):
        port.always(cctalk16(40, 157, bytes([kind])), cctalk16(1, 0, b"GB0050A" if kind == 2 else b"......."))
    return port


def bill_story():
    port = bill_line()
    bus = Bus(port)
    notes = BillAcceptor(bus)
    bench = Bench(bus, notes)
    notes.accept(True)
    for event in bench.tell(2500):
        print(event)
    print(notes.crc, notes.accepting, notes.values)
    port.always(cctalk16(40, 159), cctalk16(1, 0, b"\x01\x02\x01" + bytes(8)))
    bench.run(400)
    print(notes.event(), notes.stack(), notes.stack())
    notes.booked()
    bench.run(200)
    port.always(cctalk16(40, 159), cctalk16(1, 0, b"\x04\x00\x12\x00\x0e\x02\x00\x02\x01" + bytes(2)))
    for event in bench.tell(600):
        print(event)


def main():
    line = acceptor_line()
    bus = Bus(line)
    coins = CoinAcceptor(bus, {"GB100A": 100})
    hopper = Hopper(bus, 3)
    panel_port = panel_line()
    panel = Panel(panel_port, DEFAULT)
    entropy_port = ScriptedPort()
    entropy_port.always(b"x\x20\x00", bytes(range(32)) + b"\x00")
    entropy = AskedSource(entropy_port)
    entropy.request(32)
    bench = Bench(bus, coins, hopper, panel, entropy)
    for event in bench.tell(2000):
        print(event)
    coins.accept(True)
    panel.lamp("tower", True)
    print(panel.pulse("em_in"), panel.pulse("em_in"), hopper.prepare(3))
    for event in bench.tell(100):
        print(event)
    line.always(cctalk(3, 167, b"\x4e\x46\x05\x03"), cctalk(1, 0, b"\x01", 3))
    line.always(cctalk(3, 166), cctalk(1, 0, b"\x01\x00\x03\x00", 3))
    line.always(cctalk(3, 168), cctalk(1, 0, b"\x02\x00\x00", 3))
    print(hopper.dispense())
    for event in bench.tell(1000):
        print(event)
    panel_port.always(opp("200800000000"), opp("2008F0FFFEFF"))
    for event in bench.tell(100):
        print(event)
    print(entropy.take(32), coins.accepting, coins.last_counter, hopper.low, hopper.full)
    print(bus.statistics())
    clock = Clock()
    print(clock.now(TICKS_PERIOD - 2), clock.now(5))
    note_story()
    bill_story()


main()

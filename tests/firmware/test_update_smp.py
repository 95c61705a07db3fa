"""The update server against a third party's codec of SMP (PyPI smp): frames, messages, refusals, and a shared line."""

import base64
import hashlib
import zlib

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from smp import header as smphdr
from smp import packet
from smpclient.generics import error_v1, error_v2, success
from smpclient.requests import image_management as img
from smpclient.requests import os_management as os_

from firmware.update import cbor, framing, smp
from host_tools.flash.cabinet_group import CheckWrite
from tests.flash.fakes import FakeSlots

V1, V2 = smphdr.Version.V1, smphdr.Version.V2
IMAGE = bytes(range(256)) * 40


class Target(smp.Target):
    board = "host"
    name = "cabinet 7"
    version = "0.1.0"

    def __init__(self) -> None:
        self.why = ""
        self.resets = 0
        self.said: list[str] = []

    def allowed(self) -> str:
        return self.why

    def reset(self) -> None:
        self.resets += 1

    def say(self, line: str) -> None:
        self.said.append(line)


class Peer:
    """Asks the server as smpclient does, without a line between."""

    def __init__(self, steps: int = 3) -> None:
        self.slots = FakeSlots(steps)
        self.target = Target()
        self.start()

    def start(self) -> None:
        """The board starts (again)."""
        self.server = smp.Server(self.slots, self.target)
        self.now_ms = 0

    def ask(self, request, turns: int = 2000):
        for line in packet.encode(request.BYTES):
            assert self.server.take(line, self.now_ms) == b""
        for _ in range(turns):
            if self.server.replies:
                break
            self.now_ms += 5
            self.server.poll(self.now_ms)
        frame = decoded(self.server.replies.pop(0))
        assert smphdr.Header.loads(frame[:8]).sequence == request.header.sequence
        for kind in (request._Response, request._ErrorV1, request._ErrorV2):
            try:
                return kind.loads(frame)
            except ValueError:
                continue
        raise AssertionError(f"no answer to {request}: {frame!r}")

    def upload(self, data: bytes, offset: int = 0, piece: int = 500, **first):
        """From `offset` to the end; the last answer."""
        while True:
            whole = {"len": len(data), "sha": hashlib.sha256(data).digest(), **first} if offset == 0 else {}
            answer = self.ask(img.ImageUploadWrite(off=offset, data=data[offset : offset + piece], **whole))
            if not success(answer) or answer.off == len(data):
                return answer
            offset = answer.off


def decoded(lines: bytes) -> bytes:
    """Checks a frame's lines with the third party's decoder."""
    decoder = packet.decode()
    next(decoder)
    *others, last = lines.splitlines(keepends=True)
    for line in others:
        assert len(line) <= 127
        decoder.send(line)
    with pytest.raises(StopIteration) as end:
        decoder.send(last)
    return end.value.value


# --- framing -----------------------------------------------------------------------------------------------------


def test_a_frame_byte_for_byte():
    """An echo request as mcumgr's documents encode it: u16 length, message, CRC, base64, marks and newline."""
    message = bytes.fromhex("0200000900000000a161646548454c4c4f")
    crc = 0
    for bit in range(len(message) * 8):  # CRC by its definition, bit by bit
        top = (crc >> 15) ^ (message[bit // 8] >> (7 - bit % 8) & 1)
        crc = (crc << 1 & 0xFFFF) ^ (0x1021 if top else 0)
    whole = b"\x06\x09" + base64.b64encode(bytes([0, len(message) + 2]) + message + crc.to_bytes(2, "big")) + b"\n"
    assert framing.lines(message) == whole
    found: list[bytes] = []
    receiver = framing.Receiver(64, lambda view: found.append(bytes(view)))
    assert receiver.take(whole) == b""
    assert found == [message]


def test_the_crc_is_xmodems():
    assert framing.crc16(b"123456789") == 0x31C3


@given(st.binary(max_size=2044), st.integers(8, 400))
def test_any_message_arrives_whole_in_lines_of_any_length(message: bytes, line_length: int):
    found: list[bytes] = []
    receiver = framing.Receiver(2044, lambda view: found.append(bytes(view)))
    stream = b"".join(packet.encode(message, line_length))
    for first in range(0, len(stream), 58):
        assert receiver.take(stream[first : first + 58]) == b""
    assert found == [message]
    assert decoded(framing.lines(message)) == message
    assert receiver.bad == 0


@given(st.lists(st.binary(max_size=300)), st.integers(1, 700))
def test_noise_is_dropped_and_the_next_sound_frame_is_found(noise: list[bytes], piece: int):
    found: list[bytes] = []
    receiver = framing.Receiver(512, lambda view: found.append(bytes(view)))
    stream = b"".join(noise)
    for first in range(0, len(stream), piece):
        receiver.take(stream[first : first + piece])
    found.clear()
    receiver.take(b"".join(packet.encode(b"sound" * 30)))
    assert found == [b"sound" * 30]


@given(st.binary(min_size=1, max_size=900), st.data())
def test_a_torn_frame_is_no_message_and_costs_one_line(message: bytes, data: st.DataObject):
    """A byte of a frame is changed, lost or doubled; a command behind it is text again."""
    stream = bytearray(b"".join(packet.encode(message)))
    place = data.draw(st.integers(0, len(stream) - 1))
    kind = data.draw(st.sampled_from(["change", "lose", "double"]))
    if kind == "change":
        stream[place] ^= data.draw(st.integers(1, 255))
    elif kind == "lose":
        del stream[place]
    else:
        stream.insert(place, stream[place])
    found: list[bytes] = []
    receiver = framing.Receiver(900, lambda view: found.append(bytes(view)))
    receiver.take(bytes(stream))
    assert receiver.take(b"\nstatus\r").endswith(b"status\r")
    assert found in ([], [message])


def test_text_and_frames_share_a_line():
    found: list[bytes] = []
    receiver = framing.Receiver(512, lambda view: found.append(bytes(view)))
    first, *others = packet.encode(b"x" * 200)
    stream = b"sta" + first + b"tus\r" + b"".join(others) + b"meters\r"
    text = b"".join(receiver.take(bytes([byte])) for byte in stream)
    assert text == b"status\rmeters\r"
    assert found == [b"x" * 200]


def test_a_lost_newline_costs_no_second_frame():
    found: list[bytes] = []
    receiver = framing.Receiver(512, lambda view: found.append(bytes(view)))
    lost, kept = (b"".join(packet.encode(text)) for text in (b"lost", b"kept"))
    assert receiver.take(lost[:-1] + kept) == b""
    assert found == [b"kept"]
    assert receiver.bad == 1


def test_a_frame_too_large_for_the_buffer_is_dropped():
    found: list[bytes] = []
    receiver = framing.Receiver(64, lambda view: found.append(bytes(view)))
    receiver.take(b"".join(packet.encode(bytes(65))) + b"".join(packet.encode(bytes(64))))
    assert found == [bytes(64)]


# --- CBOR --------------------------------------------------------------------------------------------------------

PLAIN = st.one_of(st.integers(0, 2**32 - 1), st.booleans(), st.binary(max_size=300), st.text(max_size=40))
LEAF = st.one_of(PLAIN, st.floats(), st.none(), st.integers(-(2**63), 2**63))
NEST = st.one_of(LEAF, st.lists(LEAF, max_size=3), st.dictionaries(st.text(max_size=5), LEAF, max_size=3))
ANY = st.one_of(NEST, st.lists(NEST, max_size=3), st.dictionaries(st.text(max_size=5), NEST, max_size=3))


def plain(value: object) -> object:
    return bytes(value) if isinstance(value, memoryview) else value


@given(st.dictionaries(st.text(max_size=10), ANY, max_size=cbor.MAX_PAIRS))
def test_maps_are_read_as_a_third_party_writes_them(values: dict):
    found = cbor.read_map(memoryview(cbor2.dumps(values)))
    for name, value in found.items():
        assert plain(value) == values[name]
    kept = (int, bool, bytes, str, type(None))
    small = {k for k, v in values.items() if isinstance(v, kept) and not (isinstance(v, int) and v.bit_length() > 63)}
    assert small <= set(found)


@given(st.dictionaries(st.text(max_size=10), st.one_of(PLAIN, st.lists(st.dictionaries(st.text(max_size=5), PLAIN)))))
def test_what_is_written_a_third_party_reads(values: dict):
    assert cbor2.loads(cbor.write(values)) == values


@given(st.binary(max_size=200))
def test_garbage_is_a_value_error(data: bytes):
    try:
        found = cbor.read_map(memoryview(data))
    except ValueError:
        return
    assert isinstance(found, dict)


def test_a_map_of_indefinite_length():
    assert cbor.read_map(memoryview(bytes.fromhex("bf6161016162f5ff"))) == {"a": 1, "b": True}


# --- messages ----------------------------------------------------------------------------------------------------


def test_group_os():
    peer = Peer()
    assert peer.ask(os_.EchoWrite(d="hello")).r == "hello"
    parameters = peer.ask(os_.MCUMgrParametersRead())
    assert (parameters.buf_size, parameters.buf_count) == (smp.BUFFER_BYTES, 1)
    assert peer.ask(os_.OSApplicationInfoRead(format="ni")).output == "cabinet 7 host"
    assert peer.ask(os_.OSApplicationInfoRead()).output == "cabinet"
    assert error_v1(peer.ask(os_.OSApplicationInfoRead(format="?")))
    refused = peer.ask(os_.TaskStatisticsRead())
    assert error_v1(refused)
    assert refused.rc == smp.UNSUPPORTED


def test_a_reset_is_answered_first():
    peer = Peer()
    assert success(peer.ask(os_.ResetWrite()))
    assert peer.target.resets == 0
    peer.server.poll(peer.now_ms + smp.RESET_MS)
    peer.server.poll(peer.now_ms + 2 * smp.RESET_MS)
    assert peer.target.resets == 1


def test_the_list_of_images():
    peer = Peer()
    (image,) = peer.ask(img.ImageStatesRead()).images
    assert (image.slot, image.version, image.active, image.confirmed, image.pending) == (
        0,
        "1.2.3+4",
        True,
        True,
        None,
    )
    assert image.hash == hashlib.sha256(b"running").digest()


@pytest.mark.parametrize("piece", [1, 24, 500, 1900])
def test_an_upload(piece: int):
    peer, data = Peer(), IMAGE[:5000] if piece < 100 else IMAGE
    assert peer.upload(data, piece=piece).off == len(data)
    image = peer.slots.images[1]
    assert image is not None
    assert image.data == data


def test_what_is_asked_again_is_done_once():
    """Every answer is lost once."""
    peer, offset = Peer(), 0
    while offset < len(IMAGE):
        whole = {"len": len(IMAGE), "sha": hashlib.sha256(IMAGE).digest()} if offset == 0 else {}
        request = img.ImageUploadWrite(off=offset, data=IMAGE[offset : offset + 900], **whole)
        lost = peer.ask(request)
        again = peer.ask(request)
        assert lost.off == again.off
        offset = again.off
    assert peer.slots.said == [f"begin 1 {len(IMAGE)}"]
    image = peer.slots.images[1]
    assert image is not None
    assert image.data == IMAGE


def test_an_upload_goes_on_behind_a_power_cut_where_memory_is_sure():
    peer, sha = Peer(), hashlib.sha256(IMAGE).digest()
    for offset in range(0, 6000, 500):
        whole = {"len": len(IMAGE), "sha": sha} if offset == 0 else {}
        peer.ask(img.ImageUploadWrite(off=offset, data=IMAGE[offset : offset + 500], **whole))
    peer.slots.power_cut()
    peer.start()
    assert peer.ask(img.ImageUploadWrite(off=6000, data=IMAGE[6000:6500])).off == 0  # it knows of none yet
    resumed = peer.ask(img.ImageUploadWrite(off=0, data=IMAGE[:100], len=len(IMAGE), sha=sha))
    assert resumed.off == 4096
    assert peer.upload(IMAGE, offset=4096).off == len(IMAGE)
    assert peer.slots.said == [f"begin 1 {len(IMAGE)}"]


def check(data: bytes, offset: int, length: int) -> CheckWrite:
    return CheckWrite(off=offset, len=length, crc=zlib.crc32(data[offset : offset + length]))


def test_what_arrived_damaged_comes_again():
    peer, sha = Peer(), hashlib.sha256(IMAGE).digest()
    assert peer.ask(check(IMAGE, 0, 100)).off == 0  # there is no upload
    for offset in range(0, 6000, 500):
        whole = {"len": len(IMAGE), "sha": sha} if offset == 0 else {}
        peer.ask(img.ImageUploadWrite(off=offset, data=IMAGE[offset : offset + 500], **whole))
    peer.slots.damage(4100)
    assert peer.ask(check(IMAGE, 0, 4096)).off == 6000
    assert peer.ask(check(IMAGE, 4096, 1905)).off == 6000  # more than there is: nothing can be said of it
    for _ in range(2):  # the answer was lost, and it is asked again
        assert peer.ask(check(IMAGE, 4096, 1904)).off == 4096
    assert peer.upload(IMAGE, offset=4096).off == len(IMAGE)
    image = peer.slots.images[1]
    assert image is not None
    assert image.data == IMAGE


@pytest.mark.parametrize(("offset", "length"), [(0, 0), (0, 4097), (-1, 5)])
def test_a_part_that_cannot_be_compared(offset: int, length: int):
    answer = Peer().ask(CheckWrite(version=V1, off=offset, len=length, crc=0))
    assert error_v1(answer)
    assert "1 to 4096" in (answer.rsn or "")


def test_with_credit_on_the_machine_nothing_that_was_written_comes_again():
    peer = Peer()
    peer.ask(img.ImageUploadWrite(off=0, data=IMAGE[:500], len=len(IMAGE), sha=hashlib.sha256(IMAGE).digest()))
    peer.slots.damage(3)
    peer.target.why = "there is credit on the machine"
    assert not success(peer.ask(check(IMAGE, 0, 500)))
    peer.target.why = ""
    assert peer.ask(check(IMAGE, 0, 500)).off == 0


def test_another_image_begins_anew():
    peer = Peer()
    peer.ask(img.ImageUploadWrite(off=0, data=IMAGE[:500], len=len(IMAGE), sha=hashlib.sha256(IMAGE).digest()))
    other = IMAGE[::-1]
    assert peer.upload(other).off == len(other)
    image = peer.slots.images[1]
    assert image is not None
    assert image.data == other


@pytest.mark.parametrize("version", [V1, V2])
def test_a_refused_image_is_said_with_its_reason(version: smphdr.Version):
    peer, data = Peer(), IMAGE + b"bad"
    offset = peer.upload(data[:-3], len=len(data), sha=hashlib.sha256(data).digest())
    assert success(offset)
    last = img.ImageUploadWrite(version=version, off=len(data) - 3, data=b"bad")
    for _ in range(2):  # the first answer may be lost
        answer = peer.ask(last)
        if version == V1:
            assert error_v1(answer)
            assert (answer.rc, answer.rsn) == (smp.CORRUPT, "its signature is wrong")
        else:
            assert error_v2(answer)
            assert answer.err.rc == smp.BAD_IMAGE
    assert peer.target.said == ["update: its signature is wrong"] * 2
    assert peer.upload(IMAGE).off == len(IMAGE)


def test_a_verdict_that_takes_long_is_not_waited_for():
    """The answer comes before the peer's patience ends; until the verdict nothing can be chosen or reset."""
    peer = Peer(steps=1000)
    assert peer.upload(IMAGE).off == len(IMAGE)
    assert peer.now_ms <= smp.PATIENCE_MS + 100
    for request in (os_.ResetWrite(), img.ImageStatesWrite(confirm=True), img.ImageErase(slot=1)):
        refused = peer.ask(request)
        assert error_v1(refused)
        assert refused.rc == smp.BUSY
    again = img.ImageUploadWrite(off=len(IMAGE) - 10, data=IMAGE[-10:])
    while peer.slots.images[1] is None:
        assert peer.ask(again).off == len(IMAGE)


@pytest.mark.parametrize(
    "first",
    [
        {"len": None, "sha": None},
        {"len": FakeSlots.SIZE + 1},
        {"len": 0},
        {"image": 2},
    ],
)
def test_a_wrong_first_piece_changes_nothing(first: dict):
    peer = Peer()
    assert not success(peer.upload(IMAGE, **first))
    assert peer.slots.said == []


def test_more_bytes_than_were_announced():
    peer = Peer()
    answer = peer.ask(img.ImageUploadWrite(off=0, data=IMAGE[:100], len=50))
    assert error_v2(answer)
    assert answer.err.rc == smp.OVERRUN


def test_credit_on_the_machine_refuses_all_changes():
    peer = Peer()
    peer.target.why = "£2.00 is on the machine or owed: pay it first"
    running = hashlib.sha256(b"running").digest()
    requests: list = [
        img.ImageUploadWrite(off=0, data=IMAGE[:100], len=len(IMAGE)),
        img.ImageStatesWrite(hash=running),
        img.ImageStatesWrite(confirm=True),
        img.ImageErase(),
        os_.ResetWrite(),
    ]
    for request in requests:
        answer = peer.ask(request)
        assert error_v1(answer)
        assert answer.rsn == peer.target.why
    assert peer.slots.said == []
    assert success(peer.ask(img.ImageStatesRead()))


def test_test_confirm_and_back():
    peer = Peer()
    peer.upload(IMAGE)
    new, running = hashlib.sha256(IMAGE).digest(), hashlib.sha256(b"running").digest()
    images = {image.slot: image for image in peer.ask(img.ImageStatesWrite(hash=new)).images}
    assert images[1].pending
    assert success(peer.ask(img.ImageStatesWrite(confirm=True)))
    assert success(peer.ask(img.ImageStatesWrite(hash=running, confirm=True)))
    assert peer.slots.said[-2:] == ["confirm", "confirm"]
    back = peer.ask(img.ImageStatesWrite(hash=new, confirm=True))
    assert error_v2(back)
    assert back.err.rc == smp.NO_CONFIRMATION
    assert peer.slots.said[-1] == "revert"
    missing = peer.ask(img.ImageStatesWrite(hash=bytes(32)))
    assert error_v2(missing)
    assert missing.err.rc == smp.NO_IMAGE
    running_one = peer.ask(img.ImageStatesWrite(hash=running, version=V1))
    assert error_v1(running_one)
    assert running_one.rsn == "that image is running"
    assert success(peer.ask(img.ImageErase(slot=1)))
    assert not success(peer.ask(img.ImageErase(slot=0)))
    assert not success(peer.ask(img.ImageErase(slot=2)))


def test_a_board_without_slots():
    target = Target()
    server = smp.Server(smp.NoSlots(), target)
    for line in packet.encode(img.ImageStatesRead().BYTES):
        server.take(line, 0)
    assert cbor2.loads(decoded(server.replies.pop())[8:])["images"] == []


def header(body: bytes, **fields: int) -> bytes:
    values = {"op": 2, "version": 1, "flags": 0, "length": len(body), "group": 0, "sequence": 9, "command": 0, **fields}
    first = values["version"] << 3 | values["op"]
    return (
        bytes([first, values["flags"]])
        + values["length"].to_bytes(2, "big")
        + values["group"].to_bytes(2, "big")
        + bytes([values["sequence"], values["command"]])
    )


@given(
    st.binary(max_size=100),
    st.fixed_dictionaries(
        {},
        optional={
            "op": st.integers(0, 7),
            "version": st.integers(0, 3),
            "group": st.integers(0, 65535),
            "command": st.integers(0, 255),
        },
    ),
)
def test_any_message_is_answered_or_ignored(body: bytes, fields: dict):
    peer = Peer()
    peer.server._message(memoryview(header(body, **fields) + body))
    for _ in range(10):
        peer.server.poll(5)
    assert len(peer.server.replies) <= 1
    for reply in peer.server.replies:
        assert cbor2.loads(decoded(reply)[8:])


VALUE = st.one_of(PLAIN, st.none(), st.integers(-(2**40), 2**40), st.lists(st.integers(0, 5), max_size=3))
KEYS = st.sampled_from(["off", "data", "len", "sha", "image", "hash", "confirm", "slot", "d", "format", "crc", "other"])


@given(st.lists(st.tuples(st.sampled_from(sorted(smp._HANDLERS)), st.dictionaries(KEYS, VALUE)), max_size=12))
def test_no_values_raise_or_hang_the_server(asked: list):
    peer = Peer()
    for (group, command, operation), values in asked:
        body = cbor2.dumps(values)
        message = header(body, group=group, command=command, op=operation) + body
        if len(message) > smp.BUFFER_BYTES - 4:
            continue
        for line in packet.encode(message):
            peer.server.take(line, peer.now_ms)
        for _ in range(10):
            peer.now_ms += 5
            peer.server.poll(peer.now_ms)
        assert len(peer.server.replies) == 1
        assert cbor2.loads(decoded(peer.server.replies.pop())[8:]) is not None


def test_who_does_not_listen_is_not_answered_for_ever():
    peer = Peer()
    for _ in range(100):
        for line in packet.encode(os_.EchoWrite(d="x").BYTES):
            peer.server.take(line, 0)
    assert len(peer.server.replies) == smp.REPLIES

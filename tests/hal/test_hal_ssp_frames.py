"""SSP frames, parser, keys and set-up on their own: published vectors, noise, and what a reader must refuse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.board import Board, Nvram
from hal.boards.host import Aes, HostBoard
from hal.evidence import FOREIGN, LOST, NO_COUNT, RETURNED, STACKED, TOO_MANY
from hal.ssp.counters import counters, evidence, token, verdict
from hal.ssp.essp import GENERATOR, MODULUS, Secret, figure, power
from hal.ssp.events import data_bytes, first_amount
from hal.ssp.frame import Parser, crc16, encode
from hal.ssp.setup import channel_values
from tests.hal.vectors import SSP, SSP_CRC, SSP_FIGURES, SSP_SECRET, frames

HEADS = st.sampled_from((0x00, 0x80, 0x10, 0x90))
DATA = st.binary(min_size=1, max_size=255)


def found_in(stream: bytes) -> list[tuple[int, bytes]]:
    parser = Parser()
    return [frame for frame in map(parser.feed, stream) if frame is not None]


@pytest.mark.parametrize(("text", "crc"), SSP_CRC.items())
def test_crc(text, crc):
    assert crc16(text).to_bytes(2, "little") == bytes.fromhex(crc)


@pytest.mark.parametrize("frame", frames(SSP), ids=lambda frame: frame.hex())
def test_published_frames_both_ways(frame):
    ((head, data),) = found_in(frame)
    assert encode(head, data) == frame


def test_a_frame_needs_data():
    for data in (b"", bytes(256)):
        with pytest.raises(ValueError, match="1 to 255"):
            encode(0, data)
    assert found_in(bytes.fromhex("7F 00 00 FF FF") + encode(0, b"\x07")) == [(0, b"\x07")]


@given(HEADS, DATA)
def test_what_is_sent_is_found(head, data):
    frame = encode(head, data)
    assert found_in(frame) == [(head, data)]
    assert b"\x7f" not in frame[1:].replace(b"\x7f\x7f", b""), "nothing but the beginning looks like a beginning"


@given(st.binary(max_size=300), HEADS, DATA)
def test_a_frame_is_found_behind_any_noise(noise, head, data):
    """Noise that ends in 7F swallows the beginning: the frame is repeated then, as every question is."""
    frame = encode(head, data)
    parser = Parser()
    for byte in noise:
        parser.feed(byte)
    found = [got for got in map(parser.feed, frame + frame) if got is not None]
    assert found[-1] == (head, data)
    assert len(found) == 2 or noise.endswith(b"\x7f")


@given(HEADS, DATA, st.data())
def test_a_lone_7f_begins_a_new_frame(head, data, dice):
    frame = encode(head, data)
    cut = dice.draw(st.integers(1, len(frame) - 1))
    stuffed_in_half = frame[1:cut].count(b"\x7f") % 2  # the next 7F would complete the pair
    found = found_in(frame[:cut] + encode(0x80, b"\x07"))
    assert found == ([(0x80, b"\x07")] if not stuffed_in_half else found)


@given(HEADS, st.binary(min_size=1, max_size=40), st.data())
def test_one_wrong_bit_is_never_taken(head, data, dice):
    frame = bytearray(encode(head, data))
    place = dice.draw(st.integers(1, len(frame) - 1))
    frame[place] ^= 1 << dice.draw(st.integers(0, 7))
    assert (head, data) not in found_in(bytes(frame))


@given(st.binary(max_size=2000))
def test_no_stream_raises_or_grows(stream):
    parser = Parser()
    for byte in stream:
        parser.feed(byte)
    assert len(parser._frame) == 259


def test_figures():
    for command, number, data in SSP_FIGURES:
        assert figure(command, number) == bytes([command]) + bytes.fromhex(data)


def test_published_secret_answer():
    packet, key, plain, counter = SSP_SECRET
    secret = Secret(bytes.fromhex("0123456701234567"), bytes, Aes)
    assert secret._fixed == bytes.fromhex(key)[:8]
    secret._decrypt = Aes(bytes.fromhex(key))
    secret.counter = counter
    ((_, data),) = found_in(bytes.fromhex(packet))
    assert secret.unwrap(data) == bytes.fromhex(plain)
    secret.counter = counter + 1
    assert secret.unwrap(data) is None, "the counter is another one"
    secret.counter = counter
    assert secret.unwrap(data[:-1] + bytes([data[-1] ^ 1])) is None
    assert secret.unwrap(data[:-1]) is None
    assert secret.unwrap(b"\x7e") is None


@given(st.integers(0, 2**63), st.integers(0, 2**63 - 1))
def test_power(base, exponent):
    assert power(base, exponent, MODULUS) == pow(base, exponent, MODULUS)


def test_the_primes_are_prime():
    for number in (GENERATOR, MODULUS):
        assert all(pow(base, number - 1, number) == 1 for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37))
    assert MODULUS < GENERATOR < 2**63


def test_a_secret_needs_its_key():
    with pytest.raises(ValueError, match="8 bytes, not 3"):
        Secret(b"abc", bytes, Aes)
    with pytest.raises(ValueError, match="no cipher"):
        Secret(bytes(8), bytes, Aes).wrap(b"\x07")


def test_a_board_without_cryptolib_says_so():
    with pytest.raises(ValueError, match="without cryptolib"):
        Board().aes(bytes(16))
    block = bytes(range(16))
    assert HostBoard({}, Nvram(), {}).aes(block).encrypt(block) == Aes(block).encrypt(block)


LONG = bytes.fromhex(
    "00 30343130 474250 000001 04 050A1432 02020202 000064 08"
    "474250 474250 455552 474250 05000000 0A000000 14000000 32000000"
)
SHORT = bytes.fromhex("00 30343130 474250 000005 04 01020400 02020202 000064 04")


def test_values_of_both_forms():
    assert channel_values(LONG, "GBP") == (8, (500, 1000, 0, 5000)), "channel 3 is of another currency"
    assert channel_values(SHORT, "GBP") == (4, (500, 1000, 2000, 0))
    assert channel_values(SHORT, "EUR") == (4, (0, 0, 0, 0))


@given(st.integers(0, len(LONG) - 1))
def test_a_set_up_that_ends_early(length):
    found = channel_values(LONG[:length], "GBP")
    assert found is None or found == (8, (500, 1000, 2000, 5000)), "without the long part the short one counts"


@given(st.binary(max_size=255))
def test_no_set_up_raises(answer):
    found = channel_values(answer, "GBP")
    assert found is None or 1 <= len(found[1]) <= 16


@pytest.mark.parametrize(
    ("event", "version", "size"),
    [
        ("F1", 8, 0), ("EF 03", 8, 1), ("EE 03", 8, 1), ("ED", 8, 0), ("EC", 8, 0), ("EB", 8, 0), ("EA", 8, 0), ("E9", 8, 0),
        ("E8", 8, 0), ("E7", 8, 0), ("E6 01", 8, 1), ("E5", 8, 0), ("E4", 8, 0), ("E3", 8, 0), ("E2 03", 8, 1), ("E1 03", 8, 1),
        ("E0", 8, 0), ("DB", 8, 0), ("D1", 8, 0), ("CC", 8, 0), ("CF", 8, 0), ("C6", 8, 0), ("C2", 8, 0), ("C3", 8, 0),
        ("B6", 8, 0), ("B5", 8, 0), ("B0", 8, 0), ("CA", 7, 0), ("CB 01 F4010000 474250", 8, 8),
        ("DA 02 F4010000 474250 E8030000 455552", 6, 15), ("DA F4010000", 5, 4), ("D2 01 F4010000 474250", 8, 8),
        ("D6 01 F4010000 474250", 8, 8), ("D9 01 F4010000 474250", 8, 8), ("D5 01 F4010000 474250", 8, 8),
        ("D7 01 F4010000 474250", 8, 8), ("D8 01 F4010000 474250", 8, 8), ("C9 01 F4010000 474250", 8, 8),
        ("DE 01 F4010000 474250", 8, 8), ("DF 01 F4010000 474250", 8, 8), ("B3 01 F4010000 474250", 8, 8),
        ("CD 01 F4010000 474250", 8, 8), ("CE F4010000 474250", 8, 7), ("CE", 7, 0),
        ("DC 01 F4010000 E8030000 474250", 8, 12), ("DD F4010000 E8030000", 5, 8), ("B1 01", 6, 1),
        ("B1 01 F4010000 474250 01", 8, 9), ("B4 01 F4010000 474250", 8, 8),
    ],
)  # fmt: skip
def test_every_event_has_its_length(event, version, size):
    """What follows an event is found; and one that is cut off is not taken for shorter."""
    answer = b"\xf0" + bytes.fromhex(event)
    assert data_bytes(answer + b"\xee\x03", 1, version, 0) == size
    if size:
        assert data_bytes(answer[:-1], 1, version, 0) == -1


def test_unknown_events_have_no_length():
    assert data_bytes(b"\xf0\x90", 1, 8, 0) == -1


def test_amounts():
    answer = bytes.fromhex("F0 CA 01 F4010000 474250")
    assert first_amount(answer, 2, 8, b"GBP") == 500
    assert first_amount(answer, 2, 8, b"EUR") == 0
    assert first_amount(answer, 2, 15, b"GBP") == 0


def test_counters():
    told = bytes([5]) + b"".join(number.to_bytes(4, "little") for number in (7, 2, 9, 9, 4))
    assert counters(told) == (9, 4)
    for nothing in (None, b"", told[:-1], bytes(21)):
        assert counters(nothing) == (NO_COUNT, NO_COUNT)


@pytest.mark.parametrize(
    ("serial", "taken", "rejected", "found"),
    [
        (1, 10, 5, LOST), (1, 11, 5, STACKED), (1, 11, 6, STACKED), (1, 10, 6, RETURNED), (1, 12, 5, TOO_MANY),
        (2, 11, 5, FOREIGN), (1, NO_COUNT, NO_COUNT, LOST),
    ],
)  # fmt: skip
def test_verdicts(serial, taken, rejected, found):
    assert verdict(evidence(1, 10, 5), serial, taken, rejected) == found


def test_records_have_their_size():
    assert (len(evidence(1, 2, 3)), len(token(1, 2, 3))) == (12, 9)

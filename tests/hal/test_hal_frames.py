"""Codecs against published frames, and the ccTalk parser against noise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.cctalk import frame as cctalk_frame
from hal.cctalk.frame import Parser, crc16, encode, is_sound
from hal.panel import frame as opp_frame
from tests.hal.vectors import CCTALK8, CCTALK16, CCTALK_BAD, OPP, frames


def feed(parser: Parser, data: bytes, now_ms: int = 0) -> list[tuple]:
    found = [parser.feed(byte, now_ms, now_ms) for byte in data]
    return [frame for frame in found if frame is not None]


@pytest.mark.parametrize("frame", frames(CCTALK8), ids=lambda frame: frame.hex())
def test_simple_checksum_frames_are_encoded_and_parsed(frame):
    destination, source, header, data = frame[0], frame[2], frame[3], frame[4:-1]
    assert encode(destination, header, data, source=source) == frame
    assert feed(Parser(), frame) == [(destination, source, header, data)]


@pytest.mark.parametrize("frame", frames(CCTALK16), ids=lambda frame: frame.hex())
def test_crc_frames_are_encoded_and_parsed(frame):
    assert encode(frame[0], frame[3], frame[4:-1], crc=True) == frame
    assert feed(Parser(crc=True), frame) == [(frame[0], -1, frame[3], frame[4:-1])]


@pytest.mark.parametrize("frame", frames(CCTALK_BAD), ids=lambda frame: frame.hex())
@pytest.mark.parametrize("crc", [False, True])
def test_wrong_checksums_are_refused(frame, crc):
    parser = Parser(crc)
    assert feed(parser, frame) == []
    assert parser.bad_checksums == 1


def test_crc16_is_xmodem():
    assert crc16(b"123456789") == 0x31C3


def test_b29_a_zero_sum_has_checksum_zero():
    assert encode(2, 253) == bytes.fromhex("02 00 01 FD 00")
    assert is_sound(bytes.fromhex("02 00 01 FD 00"))


def test_b01_a_wrong_length_does_not_swallow_the_next_frame():
    parser = Parser()
    assert feed(parser, bytes.fromhex("01 2C 02 00 FD"), 0) == []
    assert feed(parser, bytes.fromhex("01 00 02 00 FD"), 60) == [(1, 2, 0, b"")]
    assert parser.ignored_bytes == 5


def test_a_pause_that_nobody_observed_is_no_gap():
    parser = Parser()
    good = bytes.fromhex("01 00 02 00 FD")
    for byte in good[:3]:
        parser.feed(byte, 0, 10)
    assert parser.feed(good[3], 10, 500) is None  # the loop was held up; the byte may have come at 11 ms
    assert parser.feed(good[4], 10, 500) == (1, 2, 0, b"")


def test_more_data_than_a_frame_holds_is_refused():
    with pytest.raises(ValueError, match="255"):
        encode(2, 254, bytes(256))


@given(st.lists(st.tuples(st.binary(max_size=300), st.integers(0, 200)), max_size=20), st.binary(max_size=255))
def test_parser_finds_a_good_frame_after_any_noise_and_a_gap(noise, data):
    parser = Parser()
    now_ms = 0
    for chunk, pause_ms in noise:
        now_ms += pause_ms
        feed(parser, chunk, now_ms)
    good = encode(cctalk_frame.HOST, 0, data, source=2)
    assert feed(parser, good, now_ms + 51) == [(1, 2, 0, data)]


@given(st.binary(max_size=40), st.booleans(), st.integers(0, 255), st.integers(0, 255))
def test_any_frame_survives_the_round_trip_and_no_flipped_bit_does(data, crc, address, header):
    frame = encode(address, header, data, crc)
    assert is_sound(frame, crc)
    for place in range(8 * len(frame)):
        flipped = bytearray(frame)
        flipped[place // 8] ^= 1 << place % 8
        assert not is_sound(flipped, crc)


@pytest.mark.parametrize("frame", frames(OPP), ids=lambda frame: frame.hex())
def test_opp_frames_are_encoded(frame):
    assert opp_frame.encode(frame[0], frame[1], frame[2:-2]) == frame


@pytest.mark.parametrize("frame", [frame for frame in frames(OPP) if len(frame) == 8], ids=lambda frame: frame.hex())
def test_opp_answers_are_decoded_and_no_flipped_bit_is(frame):
    assert opp_frame.decode(frame, frame[0], frame[1]) == frame[2:6]
    assert opp_frame.decode(frame[:-1], frame[0], frame[1]) is None
    for place in range(64):
        flipped = bytearray(frame)
        flipped[place // 8] ^= 1 << place % 8
        assert opp_frame.decode(flipped, frame[0], frame[1]) is None

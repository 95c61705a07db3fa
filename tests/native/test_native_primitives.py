"""SHA-256, CRC-32, ChaCha20 and the draws made from it, against published vectors and independent implementations."""

import hashlib
import hmac
import zlib
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from native import CoreError, crc32, hmac_sha256, sha256
from native.cpython import chacha20_block, draws, draws64, scale
from native.cpython.wrapper import LANES, chacha20_lanes
from tests.native import oracle

# FIPS 180-4 example messages (NIST "SHA-256" examples), and the million of the same suite.
FIPS = {
    b"": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    b"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": (
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    b"a" * 1_000_000: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
}


@pytest.mark.parametrize("message", FIPS, ids=lambda message: str(len(message)))
def test_sha256_of_published_messages(message):
    assert sha256(message).hex() == FIPS[message]


def test_sha256_around_the_block_boundaries():
    for length in range(200):
        assert sha256(bytes(length)) == hashlib.sha256(bytes(length)).digest()


@given(st.binary(max_size=1000))
def test_sha256_equals_hashlib(data):
    assert sha256(data) == sha256(bytearray(data)) == sha256(memoryview(data)) == hashlib.sha256(data).digest()


@given(st.binary(max_size=200), st.lists(st.binary(max_size=200)))
def test_hmac_equals_the_standard_library(key, parts):
    expected = hmac.new(key, b"".join(parts), hashlib.sha256).digest()
    assert hmac_sha256(key, *parts) == hmac_sha256(bytearray(key), *map(memoryview, parts)) == expected


@given(st.binary(max_size=300), st.integers(0, 300))
def test_crc32_equals_zlib_and_can_be_continued(data, cut):
    assert crc32(data) == zlib.crc32(data)
    assert crc32(data[cut:], crc32(data[:cut])) == zlib.crc32(data)


def test_crc32_check_value():
    assert crc32(b"123456789") == 0xCBF43926
    assert crc32(b"") == 0


RFC_KEY = bytes(range(32))


def test_chacha20_block_of_rfc_8439_section_2_3_2():
    assert chacha20_block(RFC_KEY, 1, bytes.fromhex("000000090000004a00000000")).hex(" ", 16).split() == [
        "10f1e7e4d13b5915500fdd1fa32071c4",
        "c7d1f4c733c068030422aa9ac3d46c4e",
        "d2826446079faa0914c2d705d98b02a2",
        "b5129cd1de164eb9cbd083e8a2503c4e",
    ]


def test_chacha20_key_stream_of_rfc_8439_section_2_4_2():
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would "
        b"be it."
    )
    nonce = bytes.fromhex("000000000000004a00000000")
    key_stream = chacha20_block(RFC_KEY, 1, nonce) + chacha20_block(RFC_KEY, 2, nonce)
    assert bytes(a ^ b for a, b in zip(text, key_stream, strict=False)).hex() == (
        "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b3571639d624e65152ab"
        "8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab77937365af90bbf74a35be6b40b8eedf2785e42"
        "874d"
    )


def test_chacha20_key_stream_of_rfc_8439_appendix_a_1():
    assert (chacha20_block(bytes(32), 0, bytes(12)) + chacha20_block(bytes(32), 1, bytes(12))).hex() == (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7da41597c5157488d7724e03fb8d84a376a43b8f41518a11c"
        "c387b669b2ee65869f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed29b721769ce64e43d57133b074d839d5"
        "31ed1f28510afb45ace10a1f4b794d6f"
    )


@given(st.binary(min_size=32, max_size=32), st.integers(0, 2**32 - 1), st.binary(min_size=12, max_size=12))
def test_chacha20_equals_the_oracle(key, counter, nonce):
    words = oracle.chacha20_words(key, counter, nonce)
    assert chacha20_block(key, counter, nonce) == b"".join(word.to_bytes(4, "little") for word in words)


TOP = 2**32 - 1


@pytest.mark.parametrize(
    ("word", "range_", "value"),
    [
        (0, 1, 0),
        (TOP, 1, 0),
        (3 * 2**30 - 1, 3 * 2**30, 3 * 2**30 - 1),
        (3 * 2**30, 3 * 2**30, None),
        (TOP, 3 * 2**30, None),
        (TOP, 2**31, 2**31 - 1),
        (2**31, 2**31, 0),
        (TOP - 1, TOP, TOP - 1),
        (TOP, TOP, None),
        (TOP, 3, None),
        (TOP - 1, 3, 2),
        (TOP, 0, TOP),  # range 0 stands for 2^32: the word itself
        (0, 0, 0),
    ],
)
def test_scale_at_the_edges(word, range_, value):
    assert scale(word, range_) == value


@given(st.integers(0, TOP), st.integers(1, TOP))
def test_scale_follows_its_definition(word, range_):
    assert scale(word, range_) == (word % range_ if word < 2**32 - 2**32 % range_ else None)


def test_scale_is_exactly_uniform_on_a_reduced_word():
    """With words and ranges that are multiples of 2^24 the core's 32-bit rule is that of 8-bit words. All words of all 256
    ranges: each value has the same number of words, as many words as possible are kept, and 2^32 (range 0) keeps each."""
    for size in range(1, 257):
        counts = [0] * size
        for word in range(256):
            value = scale(word << 24, size << 24 & TOP)
            if value is not None:
                assert value & 0xFFFFFF == 0
                counts[value >> 24] += 1
        assert counts == [256 // size] * size


def test_draws64_is_exactly_uniform_on_a_reduced_word():
    """The same of the 64-bit rule, by its definition and the words of a seed: the high word first, both thrown away together."""
    words = oracle.stream(bytes(32))
    limit = 3 << 62
    expected = []
    while len(expected) < 300:
        word = next(words) << 32 | next(words)
        if word < 2**64 - 2**64 % limit:
            expected.append(word % limit)
    assert draws64(bytes(32), [limit] * 300) == expected


@given(st.binary(min_size=32, max_size=32), st.lists(st.integers(1, TOP), max_size=60))
def test_draws_come_from_the_stream_in_order(seed, ranges):
    words = oracle.stream(seed)
    assert draws(seed, ranges) == [oracle.draw(words, range_) for range_ in ranges]


def test_a_draw_throws_words_away_and_goes_on():
    """With range 3·2^30 a quarter of the words is refused; the draws are exactly the others."""
    words = oracle.stream(bytes(32))
    kept = [word for word in (next(words) for _ in range(400)) if word < 3 * 2**30]
    assert 250 < len(kept) < 350
    assert draws(bytes(32), [3 * 2**30] * len(kept)) == kept


def test_draws_are_uniform():
    """Chi-square over 7 values and 70,000 draws of a fixed seed: 6 degrees of freedom, 99.9 % quantile 22.5."""
    values = draws(bytes(range(32)), [7] * 70_000)
    assert sum((values.count(value) - 10_000) ** 2 / 10_000 for value in range(7)) < 22.5


def test_arguments_are_checked():
    for call in (
        lambda: chacha20_block(bytes(31), 0, bytes(12)),
        lambda: chacha20_block(bytes(32), 2**32, bytes(12)),
        lambda: chacha20_block(bytes(32), 0, bytes(11)),
        lambda: crc32(b"", -1),
        lambda: draws(bytes(33), [1]),
        lambda: scale(2**32, 1),
    ):
        with pytest.raises(CoreError, match="argument"):
            call()


def test_lanes_make_the_blocks_of_their_keys():
    random = Random(8439)
    for _ in range(20):
        keys = [random.randbytes(32) for _ in range(LANES)]
        counters, nonces = ([random.choice([0, 1, 2**32 - 1, random.getrandbits(32)]) for _ in keys] for _ in "ab")
        assert chacha20_lanes(keys, counters, nonces) == [
            chacha20_block(key, counter, nonce.to_bytes(4, "little") + bytes(8))
            for key, counter, nonce in zip(keys, counters, nonces, strict=True)
        ]

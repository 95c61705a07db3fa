"""HMAC_DRBG: published vectors, OpenSSL's implementation on a thousand random cases, limits, zeroisation."""

import hashlib
import hmac
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from firmware.rng import drbg as module
from firmware.rng import known_answers
from firmware.rng.drbg import HmacDrbg, ReseedRequired
from tests.firmware import openssl_drbg
from tests.firmware.openssl_drbg import OpenSslDrbg

CAVP_ENTROPY = bytes.fromhex("ca851911349384bffe89de1cbdc46e6831e44d34a4fb935ee285dd14b71a7488")
CAVP_NONCE = bytes.fromhex("659ba96c601dc69fc902940805ec0ca8")
CAVP_SECOND = (
    "e528e9abf2dece54d47c7e75e5fe302149f817ea9fb4bee6f4199697d04d5b89d54fbb978a15b5c443c9ec21036d2460"
    "b6f73ebad0dc2aba6e624abf07745bc107694bb7547bb0995f70de25d6b29e2d3011bb19d27676c07162c8b5ccde0668"
    "961df86803482cb37ed6d5c0bb8d50cf1f50d476aa0458bdaba806f48be9dcb8"
)


def test_cavp_sha256():
    """No reseed, no prediction resistance, no personalisation: the second 128 bytes."""
    drbg = HmacDrbg(CAVP_ENTROPY, CAVP_NONCE)
    drbg.generate(128)
    assert drbg.generate(128).hex() == CAVP_SECOND
    in_one = HmacDrbg(CAVP_ENTROPY + CAVP_NONCE)
    in_one.generate(128)
    assert in_one.generate(128).hex() == CAVP_SECOND


def test_botan_sha1_with_reseed(monkeypatch):
    """Published with another hash: the same code with that hash, and key and V of its 20 bytes."""
    monkeypatch.setattr(module, "_BLOCK_BYTES", 20)
    monkeypatch.setattr(
        module, "hmac_sha256", lambda key, *parts: hmac.new(key, b"".join(map(bytes, parts)), hashlib.sha1).digest()
    )
    drbg = HmacDrbg(bytes.fromhex("79349BBF7CDDA5799557866621C913831146733ABF8C35C8"))
    drbg.reseed(bytes.fromhex("C7215B5B96C48E9B338C74E3E99DFEDF"))
    drbg.generate(80)
    assert drbg.generate(80).hex() == (
        "c6a16ab8d420706f0f34ab7fec5adca9d8ca3a133e159ca6ac43c6f8a2be22834a4c0a0affb10d7194f1c1a5cf7322ec1ae0964ed4bf1227"
        "46e087fdb5b3e91b3493d5bb98faed49e85f130fc8a459b7"
    )


@pytest.fixture(scope="module")
def crypto() -> Any:
    found = openssl_drbg.library()
    if found is None:
        pytest.skip("no libcrypto 3 here to compare with")
    return found


@pytest.fixture
def theirs(crypto) -> Iterator[Any]:
    made: list[OpenSslDrbg] = []

    def make(*arguments: bytes) -> OpenSslDrbg:
        made.append(OpenSslDrbg(crypto, *arguments))
        return made[-1]

    yield make
    for it in made:
        it.close()


@pytest.mark.parametrize("batch", range(10))
def test_openssl_agrees_on_random_cases(theirs, batch):
    """100 cases in each of ten batches: random strings, and one to six requests and reseeds of random sizes."""
    random = Random(batch)
    for case in range(100):
        strings = (
            random.randbytes(random.randint(32, 80)),
            random.randbytes(random.randint(16, 40)),
            random.randbytes(random.choice((0, 0, 1, 32, 100))),
        )
        ours, others = HmacDrbg(*strings), theirs(*strings)
        for _ in range(random.randint(1, 6)):
            additional = random.randbytes(random.choice((0, 0, 1, 31, 64, 100)))
            if random.random() < 0.3:
                entropy = random.randbytes(random.randint(32, 70))
                ours.reseed(entropy, additional)
                others.reseed(entropy, additional)
            length = random.choice((1, 31, 32, 33, 64, 100, random.randint(1, 500)))
            assert ours.generate(length, additional) == others.generate(length, additional), (batch, case)


def test_openssl_gives_the_known_answers_of_the_firmware(theirs):
    drbg = theirs(CAVP_ENTROPY, CAVP_NONCE, b"cabinet")
    assert drbg.generate(40, b"one").hex() == known_answers._OTHER_FIRST
    drbg.reseed(bytes(range(32)), b"two")
    assert drbg.generate(64, b"three").hex() == known_answers._OTHER_SECOND
    assert known_answers._CAVP_OUTPUT == CAVP_SECOND


def test_a_request_is_bounded():
    drbg = HmacDrbg(CAVP_ENTROPY, CAVP_NONCE)
    assert drbg.generate(0) == b""
    assert len(drbg.generate(65536)) == 65536
    for length in (-1, 65537):
        with pytest.raises(ValueError, match="0 to 65536"):
            drbg.generate(length)


def test_the_reseed_interval_is_kept():
    drbg = HmacDrbg(CAVP_ENTROPY, CAVP_NONCE, reseed_interval=3)
    for _ in range(3):
        drbg.generate(8)
    with pytest.raises(ReseedRequired, match="3 requests"):
        drbg.generate(8)
    drbg.reseed(bytes(range(32)))
    assert len(drbg.generate(8)) == 8
    assert HmacDrbg(CAVP_ENTROPY).reseed_interval == 2**48


def test_zeroised_there_is_nothing_left():
    drbg = HmacDrbg(CAVP_ENTROPY, CAVP_NONCE)
    drbg.zeroise()
    assert not any(drbg._key)
    assert not any(drbg._v)
    with pytest.raises(ValueError, match="zeroised"):
        drbg.generate(1)


def test_a_copy_goes_its_own_way():
    drbg = HmacDrbg(CAVP_ENTROPY, CAVP_NONCE)
    twin = drbg.copy()
    first = twin.generate(32)
    twin.zeroise()
    assert drbg.generate(32) == first


def test_known_answers_hold_and_a_wrong_one_is_found(monkeypatch):
    assert all(all(part[1]()) for part in known_answers.PARTS)
    monkeypatch.setattr(known_answers, "_CAVP_OUTPUT", CAVP_SECOND[:-2] + "00")
    assert not all(known_answers.generator_answers())
    monkeypatch.setattr(module, "hmac_sha256", lambda key, *parts: bytes(32))
    assert not all(known_answers.generator_reseeds())

"""Known-answer tests: what the generator and the health tests must answer before anything they say is believed.

Run at power-up, after every failure, and on demand (SP 800-90A 11.3, SP 800-90B 4.3). In steps, so that no turn of the loop
is long: on a 25 MHz board one of them is worth two turns at most.
"""

from firmware.rng import health
from firmware.rng.drbg import HmacDrbg
from native import ALARM_PROPORTION, ALARM_REPETITION, sha256


def _hex(text: str) -> bytes:
    return bytes([int(text[place : place + 2], 16) for place in range(0, len(text), 2)])


# HMAC_DRBG SHA-256 of NIST's validation programme: no reseed, no personalisation; the second 128 bytes.
_CAVP_SEED = "ca851911349384bffe89de1cbdc46e6831e44d34a4fb935ee285dd14b71a7488659ba96c601dc69fc902940805ec0ca8"
_CAVP_OUTPUT = (
    "e528e9abf2dece54d47c7e75e5fe302149f817ea9fb4bee6f4199697d04d5b89"
    "d54fbb978a15b5c443c9ec21036d2460b6f73ebad0dc2aba6e624abf07745bc1"
    "07694bb7547bb0995f70de25d6b29e2d3011bb19d27676c07162c8b5ccde0668"
    "961df86803482cb37ed6d5c0bb8d50cf1f50d476aa0458bdaba806f48be9dcb8"
)
# The same seed with everything else that we use; the answers are those of OpenSSL 3 (tests/firmware/test_drbg.py asks it).
_OTHER_FIRST = "eea5cd783afb09f13e1e60a525faed85df69666223e63b766356564d57d78fa5174671fa34d2cdc2"
_OTHER_SECOND = (
    "cfd4cf12af3feadd4dd81263e7a658768e5d4bb6d388d694310e10bc903c2016"
    "285c9d8367fbd112f640b57f6cc778e014045c3c8b77abe0a6246652f757b62d"
)


def generator_answers():
    """Instantiate and generate, against the published vector."""
    drbg = HmacDrbg(_hex(_CAVP_SEED))
    yield True
    drbg.generate(128)
    yield True
    yield drbg.generate(128) == _hex(_CAVP_OUTPUT)


def generator_reseeds():
    """Personalisation, additional input and reseed; a zeroised generator refuses."""
    drbg = HmacDrbg(_hex(_CAVP_SEED), personalisation=b"cabinet")
    yield True
    yield drbg.generate(40, b"one") == _hex(_OTHER_FIRST)
    drbg.reseed(bytes(range(32)), b"two")
    yield True
    yield drbg.generate(64, b"three") == _hex(_OTHER_SECOND)
    drbg.zeroise()
    try:
        drbg.generate(1)
    except ValueError:
        return
    yield False


def repetition_alarms():
    """One equal byte fewer than the cutoff passes, one more alarms."""
    cutoff, found = health.cutoffs()[0], health.make_tests()
    yield found.feed(b"\x5a" * (cutoff - 1)) == 0
    yield found.feed(b"\x5a") == ALARM_REPETITION


def proportion_alarms():
    """A window with one fewer of its first byte than the cutoff passes, with one more it alarms."""
    cutoff, found = health.cutoffs()[2], health.make_tests()
    window = window_with(cutoff - 1)
    yield True
    yield found.feed(window) == 0
    found.reset()
    # The last byte of the window that differs from the first becomes equal to it.
    yield found.feed(window[:-1] + window[:1]) == ALARM_PROPORTION


_VALUE = 0x5A  # as many ones as zeros, so that only the proportion is out of the ordinary


def window_with(same: int) -> bytes:
    """A window of bytes without order, of which `same` equal the first: it and every sixth behind it."""
    noise, block = b"", b"cabinet"
    while len(noise) < health.PROPORTION_WINDOW:
        block = sha256(block)
        noise += block
    window = bytearray(noise.replace(bytes((_VALUE,)), bytes((_VALUE ^ 0xFF,))))
    for place in range(same):
        window[6 * place] = _VALUE
    return bytes(window)


# Each is a generator with a step a turn: True so far, False for a wrong answer.
PARTS = (
    ("generator", generator_answers),
    ("reseed", generator_reseeds),
    ("repetition count", repetition_alarms),
    ("adaptive proportion", proportion_alarms),
)

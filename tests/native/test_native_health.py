"""The health tests against their definitions in Python, and at their boundaries."""

import os
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.rng.known_answers import window_with
from native import (
    ALARM_BALANCE,
    ALARM_LANE,
    ALARM_PROPORTION,
    ALARM_REPETITION,
    ALARM_SEQUENCE,
    CoreError,
    Health,
)

HISTORY = 512
CUTOFFS = (9, 61, 71, 10, 2290)


def expected(data: bytes, repetition: int, lane: int, proportion: int, sequence: int, balance: int) -> tuple[int, int]:
    """(alarm, bytes up to it) by the definitions, looking back over all bytes each time."""
    for end in range(1, len(data) + 1):
        seen = data[:end]
        if end >= repetition and len(set(seen[-repetition:])) == 1:
            return ALARM_REPETITION, end
        if end >= lane and any(len({byte >> bit & 1 for byte in seen[-lane:]}) == 1 for bit in range(8)):
            return ALARM_LANE, end
        window = seen[(end - 1) // 512 * 512 :]
        if window.count(window[0]) >= proportion:
            return ALARM_PROPORTION, end
        history = seen[-HISTORY:]
        if end % sequence == 0 and history[:-1].find(history[-sequence:]) >= 0:
            return ALARM_SEQUENCE, end
        if end >= HISTORY and end % 64 == 0:
            ones = sum(byte.bit_count() for byte in history)
            if ones >= balance or 8 * HISTORY - ones >= balance:
                return ALARM_BALANCE, end
    return 0, len(data)


def found(data: bytes, *cutoffs: int, pieces: int = 1) -> tuple[int, int]:
    health = Health(*cutoffs)
    for first in range(0, len(data), pieces):
        alarm = health.feed(data[first : first + pieces])
        if alarm:
            return alarm, first + 1
    return 0, len(data)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32),
    st.sampled_from([b"\x00\xff", b"abc", bytes(range(16)), bytes(range(256))]),
    st.integers(2, 40),
    st.integers(2, 40),
    st.integers(2, 100),
    st.integers(2, 20),
    st.integers(2060, 2300),
)
def test_the_definitions_hold(seed, alphabet, repetition, lane, proportion, sequence, balance):
    data = bytes(Random(seed).choices(alphabet, k=700))
    cutoffs = (repetition, lane, proportion, sequence, balance)
    assert found(data, *cutoffs) == expected(data, *cutoffs)


@pytest.mark.parametrize("seed", range(3))
def test_the_default_cutoffs_by_definition_on_long_noise(seed):
    data = Random(seed).randbytes(1100)
    assert found(data, *CUTOFFS) == expected(data, *CUTOFFS) == (0, 1100)


def test_bytes_may_come_in_pieces():
    data = Random(5).randbytes(2000)[:-9] + b"z" * 9
    for pieces in (1, 2, 7, 64, 128, 2000):
        health = Health(*CUTOFFS)
        alarms = [health.feed(data[first : first + pieces]) for first in range(0, 2000, pieces)]
        assert alarms[:-2] == [0] * (len(alarms) - 2)
        assert ALARM_REPETITION in alarms[-9:]


def test_eight_equal_bytes_pass_and_nine_alarm():
    assert found(b"\x07" * 8 + b"\x08", *CUTOFFS) == (0, 9)
    assert found(b"\x07" * 9, *CUTOFFS) == (ALARM_REPETITION, 9)
    assert found(b"\x01" + b"\x07" * 8 + b"\x08", *CUTOFFS)[0] == 0, "the run begins at 1, wherever it begins"


def test_seventy_of_a_window_pass_and_seventy_one_alarm():
    window = window_with(70)
    assert found(window, *CUTOFFS)[0] == 0
    assert found(window[:-1] + window[:1], *CUTOFFS) == (ALARM_PROPORTION, 512)
    # Seventy in each of two windows is no alarm: the count begins anew.
    other = bytes(byte ^ 0x33 if byte != window[0] else byte for byte in window)
    assert found(window + other, *CUTOFFS)[0] == 0


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("bit", range(8))
def test_a_stuck_bit_alarms_with_its_61st_byte(bit, value):
    noise = [byte & ~(1 << bit) | value << bit for byte in Random(bit).randbytes(61)]
    before = bytes([noise[0] ^ 1 << bit])
    assert found(before + bytes(noise[:60]), *CUTOFFS)[0] == 0
    assert found(before + bytes(noise), *CUTOFFS) == (ALARM_LANE, 62)


@pytest.mark.parametrize("period", [2, 3, 10, 16, 100, 256, 502])
def test_a_period_alarms_within_two_of_its_rounds(period):
    loop = Random(period).randbytes(period)
    alarm, at = found(loop * 20, *CUTOFFS)
    assert alarm == ALARM_SEQUENCE
    assert at <= period + 20


def test_a_replayed_stretch_alarms():
    """A buffer that is sent once more, wherever its first byte falls."""
    noise = Random(8).randbytes(900)
    for first in range(460, 480):
        assert found(noise[:900] + noise[first : first + 100], *CUTOFFS)[0] == ALARM_SEQUENCE


@pytest.mark.parametrize("flip", [0x00, 0xFF])
def test_the_balance_at_its_boundary(flip):
    """2,289 ones of 4,096 pass, 2,290 alarm; zeros alike."""
    ones, data = 2048, bytearray(Random(1).randbytes(512))
    random = Random(2)
    for want, alarm in ((2289, 0), (2290, ALARM_BALANCE)):
        while (ones := sum(byte.bit_count() for byte in data)) != want:
            place, bit = random.randrange(512), 1 << random.randrange(8)
            if ones < want:
                data[place] |= bit
            else:
                data[place] &= ~bit
        assert found(bytes(byte ^ flip for byte in data), 512, 512, 512, 10, 2290) == (alarm, 512)


def test_noise_of_the_operating_system_passes():
    health = Health(*CUTOFFS)
    assert health.feed(os.urandom(1 << 20)) == 0


def test_a_reset_forgets():
    health = Health(*CUTOFFS)
    assert health.feed(b"a" * 8) == 0
    health.reset()
    assert health.feed(b"a" * 8) == 0
    assert health.feed(b"a") == ALARM_REPETITION


@pytest.mark.parametrize(
    "cutoffs",
    [
        (1, 61, 71, 10, 2290),
        (9, 1, 71, 10, 2290),
        (9, 61, 1, 10, 2290),
        (9, 61, 71, 1, 2290),
        (9, 61, 71, 257, 2290),
        (9, 61, 71, 10, 2048),
        (9, 61, 71, 10, 4097),
        (65536, 61, 71, 10, 2290),
        (-1, 61, 71, 10, 2290),
    ],
)
def test_cutoffs_are_checked(cutoffs):
    with pytest.raises(CoreError, match="argument"):
        Health(*cutoffs)

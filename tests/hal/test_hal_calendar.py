"""Dates in whole numbers, and the registers of the battery-backed clock, against the standard library's calendar."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.boards.host import ComputerClock
from hal.calendar import dates, ds1338

EPOCH = datetime(2000, 1, 1)
MOMENTS = st.datetimes(EPOCH, datetime(2135, 12, 31, 23, 59, 59)).map(lambda moment: moment.replace(microsecond=0))


@given(MOMENTS)
def test_seconds_and_parts_are_the_calendars(moment):
    since_s = int((moment - EPOCH).total_seconds())
    parts = (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)
    assert dates.seconds(*parts) == since_s
    assert dates.parts(since_s) == parts
    assert dates.text(since_s) == str(moment)


@pytest.mark.parametrize("year", [2000, 2024, 2028, 2096])
def test_a_leap_day_is_followed_by_march(year):
    assert dates.parts(dates.seconds(year, 2, 29, 23, 59, 59) + 1)[:3] == (year, 3, 1)


@pytest.mark.parametrize("year", [2025, 2026, 2099, 2100])
def test_there_is_no_leap_day_in_other_years(year):
    with pytest.raises(ValueError, match="day must be 1 to 28, not 29"):
        dates.seconds(year, 2, 29)
    assert dates.parts(dates.seconds(year, 2, 28, 23, 59, 59) + 1)[:3] == (year, 3, 1)


@given(st.integers(0, dates.seconds(2099, 12, 31, 23, 59, 59)))
def test_registers_give_the_moment_that_was_written(moment_s):
    registers = ds1338.encode(moment_s)
    assert ds1338.decode(registers) == moment_s
    assert registers[3] == (EPOCH + timedelta(seconds=moment_s)).isoweekday()


def test_registers_are_two_digits_a_byte():
    registers = ds1338.encode(dates.seconds(2026, 11, 30, 23, 59, 58))
    assert registers == bytes([0x58, 0x59, 0x23, 1, 0x30, 0x11, 0x26, 0])


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, 0xD8), (7, 0x20), (2, 0x63), (0, 0x5A), (1, 0x60), (4, 0x31), (4, 0x00), (5, 0x13), (6, 0xA0)],
    ids=[
        "halted",
        "has stood still",
        "twelve hours",
        "no digit",
        "60 minutes",
        "Nov 31",
        "day 0",
        "month 13",
        "year A0",
    ],
)
def test_a_clock_that_stood_still_or_holds_no_date_shows_none(place, value):
    registers = bytearray(ds1338.encode(dates.seconds(2026, 11, 30, 23, 59, 58)))
    registers[place] = value
    assert ds1338.decode(registers) is None


class Chip:
    """Eight registers on a bus, which refuse what is no date as some chips do: the day is checked against month and year."""

    def __init__(self, registers: bytes = bytes(8)):
        self.registers = bytearray(registers)
        self.there = True

    def read(self, address: int, register: int, length: int) -> bytes | None:
        assert address == 0x68
        return bytes(self.registers[register : register + length]) if self.there else None

    def write(self, address: int, register: int, data: bytes) -> bool:
        if self.there:
            self.registers[register : register + len(data)] = data
            year, month, day = (10 * (self.registers[at] >> 4) + (self.registers[at] & 15) for at in (6, 5, 4))
            dates.seconds(2000 + year, month, day)
        return self.there


def test_setting_writes_the_day_behind_its_month():
    chip = Chip(ds1338.encode(dates.seconds(2026, 4, 30)))
    clock = ds1338.Ds1338(chip)
    assert clock.set(dates.seconds(2028, 2, 29, 12))
    assert clock.read() == dates.seconds(2028, 2, 29, 12)
    chip.there = False
    assert clock.read() is None
    assert not clock.set(dates.seconds(2028, 3, 1))


def test_2100_is_beyond_the_chip():
    with pytest.raises(ValueError, match="2099"):
        ds1338.encode(dates.seconds(2100, 1, 1))


def test_the_computers_clock_is_its_own():
    clock = ComputerClock()
    before = int((datetime.now(UTC).replace(tzinfo=None) - EPOCH).total_seconds())
    assert 0 <= (clock.read() or 0) - before <= 2
    assert not clock.set(0)

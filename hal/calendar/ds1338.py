"""The battery-backed clock DS1338 (also DS1307, without the oscillator flag) on an I2C bus. Dates are seconds since 2000.

Registers 0 to 6 hold second, minute, hour, day of the week, day, month and year as two decimal digits a byte; bit 7 of the
seconds stops the oscillator (CH), bit 5 of register 7 tells that it has stood still (OSF). A new chip, or one whose
battery was empty, has one of them set, so its date is refused.
"""

from hal.calendar import dates

ADDRESS = 0x68
_REGISTERS = 8
_CLOCK_HALT = 0x80  # of the seconds
_TWELVE_HOURS = 0x40  # of the hours
_OSCILLATOR_STOPPED = 0x20  # of the control register
_CONTROL = 0x00  # no square wave, flag cleared


class Ds1338:
    """`bus`: read(address, register, length) -> bytes or None when nobody answers; write(address, register, data) -> bool.

    Both take about a tenth of a millisecond a byte on a bus of 100 kHz, so ask rarely.
    """

    def __init__(self, bus):
        self._bus = bus

    def read(self):
        """Seconds since 2000; None when the chip does not answer, has stood still, or holds what is no date."""
        return decode(self._bus.read(ADDRESS, 0, _REGISTERS))

    def set(self, moment_s: int) -> bool:
        """True when the chip keeps the time from now on.

        The day of the month is written last, behind its month and year, so that no chip ever holds a date that does not
        exist. Writing the seconds starts the second anew, so nothing is carried meanwhile.
        """
        registers = encode(moment_s)
        day = registers[4:5]
        done = self._bus.write(ADDRESS, 0, registers[:4] + b"\x01" + registers[5:]) and self._bus.write(ADDRESS, 4, day)
        kept = self.read() if done else None
        return kept is not None and 0 <= kept - moment_s <= 1


def decode(registers):
    """Seconds since 2000 of the first eight registers, None when they hold no valid time."""
    if registers is None or len(registers) < _REGISTERS:
        return None
    if registers[0] & _CLOCK_HALT or registers[7] & _OSCILLATOR_STOPPED or registers[2] & _TWELVE_HOURS:
        return None
    found = []
    for place in (6, 5, 4, 2, 1, 0):
        tens, ones = registers[place] >> 4, registers[place] & 15
        if tens > 9 or ones > 9:
            return None
        found.append(10 * tens + ones)
    try:
        return dates.seconds(2000 + found[0], *found[1:])
    except ValueError:
        return None


def encode(moment_s: int) -> bytes:
    """The eight registers that set a moment of the years 2000 to 2099: clock running, 24 hours, flag cleared."""
    year, month, day, hour, minute, second = dates.parts(moment_s)
    if year > 2099:
        raise ValueError("the clock chip counts to 2099, not %d" % year)
    week_day = (moment_s // dates.DAY_S + 5) % 7 + 1  # 2000-01-01 was a Saturday; 1 is Monday
    return bytes([_bcd(n) for n in (second, minute, hour, week_day, day, month, year - 2000)]) + bytes([_CONTROL])


def _bcd(number: int) -> int:
    return number // 10 << 4 | number % 10

"""Dates as seconds since 2000-01-01 00:00:00, in whole numbers and without a time zone. Years 2000 to 2135 (unsigned 32 bits)."""

DAY_S = 86400
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_days(year: int, month: int) -> int:
    return 29 if month == 2 and leap(year) else _MONTH_DAYS[month - 1]


def seconds(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> int:
    """Seconds since 2000 of a date from 2000 on. ValueError names the part that is none."""
    for name, value, low, high in (
        ("year", year, 2000, 2135),
        ("month", month, 1, 12),
        ("day", day, 1, month_days(year, month) if 1 <= month <= 12 else 31),
        ("hour", hour, 0, 23),
        ("minute", minute, 0, 59),
        ("second", second, 0, 59),
    ):
        if not low <= value <= high:
            raise ValueError("%s must be %d to %d, not %d" % (name, low, high, value))
    past = year - 2000
    days = 365 * past + (past + 3) // 4 - (1 if year > 2100 else 0)  # 2000 was a leap year, 2100 is none
    for before in range(1, month):
        days += month_days(year, before)
    return (days + day - 1) * DAY_S + hour * 3600 + minute * 60 + second


def parts(moment_s: int):
    """(year, month, day, hour, minute, second) of seconds since 2000."""
    days, rest = divmod(moment_s, DAY_S)
    year = 2000
    while days >= (366 if leap(year) else 365):
        days -= 366 if leap(year) else 365
        year += 1
    month = 1
    while days >= month_days(year, month):
        days -= month_days(year, month)
        month += 1
    return year, month, days + 1, rest // 3600, rest // 60 % 60, rest % 60


def text(moment_s: int) -> str:
    """As YYYY-MM-DD HH:MM:SS."""
    return "%04d-%02d-%02d %02d:%02d:%02d" % parts(moment_s)

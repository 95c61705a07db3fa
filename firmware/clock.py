"""Date and time of the cabinet: what the battery-backed clock of the board shows, and whether it can be trusted (CAB-EVT-05).

The clock is UTC: no hour comes twice and none is missing, so dates order as events do. The board's clock is read at power-up and
every ten minutes; the ticks of the loop count in between. A time that cannot be right is not used: what happens then is
dated by power-up and uptime alone, until a technician sets the clock. Play goes on, as no money depends on a date.
"""

import struct

from firmware import events
from firmware.store import keys
from hal.calendar import dates

FIRST_S = dates.seconds(2025, 1, 1)  # older than this firmware: a chip without a battery begins in 2000
END_S = dates.seconds(2099, 12, 31) + dates.DAY_S  # the chips count two digits of a year
ALIVE_MS = 60000  # a sign of life is kept so often: how well the time of a power-down is known
READ_MS = 600000
SLACK_S = 5  # of the loop's ticks against the clock, from one reading to the next
JUMP_S = 60  # more than this between two readings is no drift

# Why the time is lost, as the argument of events.CLOCK_LOST.
NO_CLOCK, OUT_OF_RANGE, RAN_BACK, JUMPED = 1, 2, 3, 4
REASONS = {
    0: "",
    NO_CLOCK: "the clock stood still or does not answer",
    OUT_OF_RANGE: "the year is not 2025 to 2099",
    RAN_BACK: "the clock is behind what is already recorded",
    JUMPED: "the clock has jumped",
}
CODE = 53  # E53, a warning: no tilt
_ALIVE = "<II"  # date (0: unknown) and uptime in seconds


class WallClock:
    """`board`: see hal/board.py. Dates are seconds since 2000; 0 is "not known"."""

    def __init__(self, board):
        self._board = board
        self._base_s = 0  # the date at `_base_ms`
        self._base_ms = 0
        self._alive_ms = 0
        self._read_ms = 0
        self._read = True  # the board's clock is one to follow
        self.lost = NO_CLOCK  # a key of REASONS, 0 while the time is right

    def date(self, now_ms: int) -> int:
        """Seconds since 2000 at `now_ms`, 0 while the time is not known."""
        return 0 if self.lost else self._base_s + (now_ms - self._base_ms) // 1000

    def text(self, now_ms: int) -> str:
        return REASONS[self.lost] if self.lost else dates.text(self.date(now_ms)) + " UTC"

    def picture(self, now_ms: int) -> dict:
        """For whoever watches."""
        return {"e": "clock", "date": "" if self.lost else dates.text(self.date(now_ms)), "lost": REASONS[self.lost]}

    # --- power-up and power-down ---------------------------------------------------------------------------------------

    def power_up(self, books, reason: int, now_ms: int) -> None:
        """Logs the end of the last session with the time of its last sign of life, and the beginning of this one (CAB-PWR-07).

        `reason`: 0 power, 1 watchdog, 2 soft.
        """
        alive_s, alive_uptime_s = _last_seen(books)
        self._take(self._board.clock_s(), now_ms)
        if not self.lost and self._base_s + SLACK_S < alive_s:
            self.lost = RAN_BACK
        started = books.meters.value("power_ups")
        transaction = books.transaction(now_ms)
        if started:
            transaction.event(events.POWER_DOWN, 0, (alive_s, started, alive_uptime_s))
        transaction.event(events.POWER_UP, reason, (self.date(now_ms), started + 1, now_ms // 1000)).count("power_ups")
        transaction.zero("games_since_power_up")
        if self.lost:
            transaction.event(events.CLOCK_LOST, self.lost, (0, started + 1, now_ms // 1000))
            transaction.set(keys.CLOCK_ALIVE, struct.pack(_ALIVE, alive_s, 0))  # what a right time must not be behind
        else:
            transaction.set(keys.CLOCK_ALIVE, struct.pack(_ALIVE, self._base_s, 0))
        transaction.commit()
        self._alive_ms, self._read_ms = now_ms + ALIVE_MS, now_ms + READ_MS

    def _take(self, moment_s, now_ms: int) -> None:
        self._base_s, self._base_ms = moment_s or 0, now_ms
        if moment_s is None:
            self.lost = NO_CLOCK
        else:
            self.lost = 0 if FIRST_S <= moment_s < END_S else OUT_OF_RANGE

    # --- while it runs -------------------------------------------------------------------------------------------------

    def poll(self, books, now_ms: int) -> None:
        if now_ms < self._alive_ms:
            return
        self._alive_ms = now_ms + ALIVE_MS
        if now_ms >= self._read_ms:
            self._read_ms = now_ms + READ_MS
            self._follow(books, now_ms)
        alive_s = self.date(now_ms) or _unpack_alive(books)[0]
        books.journal.commit(((keys.CLOCK_ALIVE, struct.pack(_ALIVE, alive_s, now_ms // 1000)),))

    def _follow(self, books, now_ms: int) -> None:
        """Takes over what the board's clock shows, unless it cannot be right."""
        if self.lost or not self._read:
            return
        counted_s = self.date(now_ms)
        moment_s = self._board.clock_s()
        self._take(moment_s, now_ms)
        if not self.lost and abs(self._base_s - counted_s) > JUMP_S:
            self.lost = JUMPED
        if self.lost:
            books.transaction(now_ms).event(events.CLOCK_LOST, self.lost).commit()

    # --- setting -------------------------------------------------------------------------------------------------------

    def set(self, books, moment_s: int, now_ms: int) -> bool:
        """Sets the time, and logs the old and the new one. False: it holds only until power goes, as the board has no clock
        that could be set. ValueError outside the years of this firmware."""
        if not FIRST_S <= moment_s < END_S:
            raise ValueError("the year must be 2025 to 2099")
        old_s = self.date(now_ms)
        transaction = books.transaction(now_ms).event(events.CLOCK_LEFT, old_s)
        self._take(moment_s, now_ms)
        transaction.event(events.CLOCK_SET, moment_s)
        transaction.set(keys.CLOCK_ALIVE, struct.pack(_ALIVE, moment_s, now_ms // 1000)).commit()
        self._read = self._board.set_clock(moment_s)
        return self._read


def _unpack_alive(books):
    data = books.journal.get(keys.CLOCK_ALIVE)
    return struct.unpack(_ALIVE, data) if data else (0, 0)


def _last_seen(books):
    """(date, uptime in seconds) of the last sign of life: the last one that was kept, or the last event if that was later."""
    date_s, uptime_s = _unpack_alive(books)
    newest = books.events.newest(1)
    if newest:
        _, event_date_s, power_ups, event_uptime_s, _, _ = newest[0]
        date_s = max(date_s, event_date_s)
        if power_ups == books.meters.value("power_ups"):
            uptime_s = max(uptime_s, event_uptime_s)
    return date_s, uptime_s

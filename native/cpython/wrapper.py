"""The Python API of the C core on CPython. See native/README.md; the MicroPython module shows the same names.

Every function raises CoreError, whose first argument is the error's name in ``cab_core.h`` (``"pack_hash"``,
``"unit"``, ``"argument"``, …). Amounts are integer pence unless a name says credits or bets.
"""

import struct
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from native.cpython._core import ffi, lib

MODE_SCATTER_PAYS: int = lib.CAB_MODE_SCATTER_PAYS
MODE_SELECTABLE: int = lib.CAB_MODE_SELECTABLE
MAX_OPTIONS: int = lib.CAB_MAX_OPTIONS
LANES: int = lib.CAB_LANES

Event = tuple[int, int, int, int, int, int]
Feature = tuple[str, int, tuple[tuple[int, int, int], ...]]
Gamble = tuple[str, int, int, int, int, int, int, int]
Step = tuple[int, int, int, int, int, int, int]


_uncleared = ffi.new_allocator(should_clear_after_alloc=False)


class CoreError(Exception):
    """The core refused; ``args[0]`` names the reason."""


def _check(code: int) -> None:
    if code:
        raise CoreError(ffi.string(lib.cab_error_name(code)).decode())


def _index(value: int, limit: int) -> int:
    """An index below limit. The core's row functions trust theirs, so this is where Python's are checked."""
    if not 0 <= value < limit:
        raise CoreError("argument")
    return value


def _unsigned(value: int, bits: int = 32) -> int:
    return _index(value, 1 << bits)


def _seed(seed: bytes) -> bytes:
    if len(seed) != lib.CAB_SEED_BYTES:
        raise CoreError("argument")
    return bytes(seed)


class Pack:
    """A game pack that has passed every check.

    data: the bytes of the pack. They are kept alive (and copied first if they could change).
    """

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        self._data = bytes(data)
        self._bytes = ffi.from_buffer(self._data)
        self._c: Any = ffi.new("cab_pack_t *")
        _check(lib.cab_pack_open(self._c, self._bytes, len(self._data)))
        c = self._c
        self._wins_made: dict[int, Any] = {}
        self._wins_lock = threading.Lock()
        self.name: str = ffi.string(lib.cab_pack_name(c)).decode()
        self.sha256: bytes = self._data[32:64]
        self.reels: int = c.reels
        self.rows: int = c.rows
        self.win_cap_pence: int = c.win_cap_pence
        self.max_unit_pence: int = c.max_unit_pence
        self.stake: int = c.stake
        self.spin_chance: bool = bool(c.spin_chance)
        self.levels: int = c.levels
        self.coin_values: tuple[int, ...] = tuple(lib.cab_pack_coin_value(c, i) for i in range(c.coin_values))
        self.features: tuple[Feature, ...] = self._features()
        self.pots: tuple[tuple[str, int, int], ...] = tuple(
            (self._text(pot.name), pot.credits, pot.tokens) for pot in (lib.cab_pack_pot(c, i) for i in range(c.pots))
        )
        self.wilds: tuple[tuple[int, int, int], ...] = tuple(
            (symbol, c.wild_multiplier[symbol], lib.cab_pack_stands_for(c, symbol))
            for symbol in range(c.symbols)
            if lib.cab_pack_stands_for(c, symbol)
        )
        self.gamble_payback_ppm: int = c.gamble_payback_ppm
        self.gamble_from: int = c.gamble_from
        self.gamble_limit: int = c.gamble_limit
        self.most_gambles: int = c.most_gambles
        self.gambles: tuple[Gamble, ...] = tuple(
            (self._text(g.name), g.kind, g.feature, g.numerator, g.denominator, g.spins, g.value_micro, g.flags)
            for g in (lib.cab_pack_gamble(c, i) for i in range(c.gambles))
        )
        self.symbols: tuple[str, ...] = tuple(
            ffi.string(lib.cab_pack_symbol_name(c, symbol)).decode() for symbol in range(c.symbols)
        )
        rows = bytes(ffi.buffer(c.line_rows, c.lines * c.reels))
        self.lines: tuple[tuple[int, ...], ...] = tuple(
            tuple(rows[i : i + self.reels]) for i in range(0, len(rows), self.reels)
        )
        self.modes: tuple[str, ...] = tuple(self._text(self._mode(mode).name) for mode in range(c.modes))

    def _text(self, offset: int) -> str:
        return ffi.string(lib.cab_pack_text(self._c, offset)).decode()

    def _features(self) -> tuple[Feature, ...]:
        """(name, mode, ((trigger count, spins, multiplier), …)) of each feature."""
        rows = [lib.cab_pack_option(self._c, row) for row in range(self._c.options)]
        features = [lib.cab_pack_feature(self._c, number) for number in range(self._c.features)]
        return tuple(
            (
                self._text(feature.name),
                feature.mode,
                tuple((row.count, row.spins, row.multiplier) for row in rows if row.feature == number),
            )
            for number, feature in enumerate(features)
        )

    def _wins(self, mode: int) -> Any:
        """The table of a mode's wins for the host tools (megabytes, made when first asked for), NULL if it has none."""
        with self._wins_lock:
            if mode not in self._wins_made:
                wins = _uncleared("cab_wins_t *")
                self._wins_made[mode] = wins if lib.cab_wins_make(wins, self._c, mode) else ffi.NULL
            return self._wins_made[mode]

    def _mode(self, mode: int) -> Any:
        return lib.cab_pack_mode(self._c, _index(mode, self._c.modes))

    def cost(self, mode: int) -> int:
        """Total bet in credits."""
        return self._mode(mode).cost

    def flags(self, mode: int) -> int:
        """MODE_SCATTER_PAYS | MODE_SELECTABLE."""
        return self._mode(mode).flags

    def evaluation(self, mode: int) -> int:
        """0: lines, 1: ways."""
        return self._mode(mode).evaluation

    def steps(self, mode: int) -> tuple[Step, ...]:
        """((op, index, most, least, symbols, needed, credits), …), in order."""
        first = self._c.first_step[_index(mode, self._c.modes)]
        rows = (lib.cab_pack_step(self._c, row) for row in range(first, self._c.first_step[mode + 1]))
        return tuple((s.op, s.index, s.most, s.least, s.symbols, s.needed, s.credits) for s in rows)

    def table(self, number: int) -> tuple[tuple[int, int, int, int], ...]:
        """((weight, kind, index, number), …)."""
        table = lib.cab_pack_table(self._c, _index(number, self._c.tables))
        rows = (lib.cab_pack_prize(self._c, table.first + row) for row in range(table.rows))
        return tuple((prize.weight, prize.kind, prize.index, prize.number) for prize in rows)

    def boards(self, group: int) -> tuple[int, tuple[tuple[int, ...], ...]]:
        """(mode, ((stop, …), …)) of a board group."""
        g = lib.cab_pack_group(self._c, _index(group, self._c.groups))
        return g.mode, tuple(
            tuple(lib.cab_pack_board(self._c, g.first + board, reel) for reel in range(self.reels))
            for board in range(g.boards)
        )

    def bowls(self, feature: int) -> tuple[tuple[int, int], ...]:
        """((level, table), …) of the frame levels that have a table."""
        row = lib.cab_pack_feature(self._c, _index(feature, self._c.features))
        return tuple((level, table) for level, table in enumerate(row.bowls, 1) if table != lib.CAB_NONE)

    def rtp_ppm(self, mode: int) -> tuple[int, int]:
        """Lowest and highest return to player by player choice, parts per million, as the pack quotes it."""
        row = self._mode(mode)
        return row.rtp_low_ppm, row.rtp_high_ppm

    def pay(self, symbol: int, count: int) -> int:
        """Credits for a run of count = 1 … reels."""
        return lib.cab_pack_pay(self._c, _index(symbol, self._c.symbols), _index(count - 1, self.reels) + 1)

    def scatter_pay(self, symbol: int, count: int) -> int:
        """Total bets for count = 1 … cells of a symbol in view; 0 for a symbol that is no scatter."""
        symbol, count = _index(symbol, self._c.symbols), _index(count - 1, self._c.cells) + 1
        for scatter in range(self._c.scatters):
            if self._c.scatter_symbol[scatter] == symbol:
                return lib.cab_pack_scatter_pay(self._c, scatter, count)
        return 0

    def strip(self, set: int, reel: int) -> bytes:
        """Symbol numbers of one strip, from stop 0."""
        strip = lib.cab_pack_strip(self._c, _index(set, self._c.sets), _index(reel, self.reels))
        return bytes(ffi.buffer(strip.symbols, strip.length))


class Round:
    """One round of a mode at a unit (pence per credit), drawn from a 32-byte seed.

    wager_pence: 0 for the whole cost; less than it is a spin chance. gamble: winnings may be gambled. pile: what the round
    before left in Round.pile. CoreError: mode, unit, wager.
    """

    def __init__(
        self,
        pack: Pack,
        mode: int,
        unit_pence: int,
        seed: bytes,
        wager_pence: int = 0,
        gamble: bool = False,
        pile: int = 0,
    ) -> None:
        self.pack = pack
        self._c: Any = ffi.new("cab_round_t *")
        self._event: Any = ffi.new("cab_event_t *")
        play = ffi.new("cab_play_t *")
        play.mode = min(_unsigned(mode), lib.CAB_NONE)  # no pack has so many modes
        play.unit_pence = _unsigned(unit_pence)
        play.wager_pence = _unsigned(wager_pence)
        play.gamble = bool(gamble)
        play.pile = _index(pile, lib.CAB_MAX_PILE + 1)
        _check(lib.cab_round_begin(self._c, pack._c, play, _seed(seed)))

    def next(self) -> Event:
        """(kind, index, symbol, count, multiplier, pence). CoreError: choice_due (an offer too), round_over, random."""
        event = self._event
        _check(lib.cab_round_next(self._c, event))
        return event.kind, event.index, event.symbol, event.count, event.multiplier, event.pence

    def choose(self, option: int) -> None:
        """Takes one of options(). CoreError: no_choice, option."""
        _check(lib.cab_round_choose(self._c, _unsigned(option)))

    def options(self) -> tuple[tuple[int, int], ...]:
        """((spins, multiplier), …) while a choice is due, else ()."""
        first = ffi.new("unsigned *")
        count = lib.cab_round_options(self._c, first)
        rows = [lib.cab_pack_option(self.pack._c, first[0] + i) for i in range(count)]
        return tuple((row.spins, row.multiplier) for row in rows)

    def stops(self) -> tuple[int, ...]:
        """Strip index in the top row of each reel, of the last spin; () before the first."""
        return tuple(self._c.stops[0 : self.pack.reels]) if self._spun() else ()

    def window(self) -> bytes:
        """Symbols of the last spin, column by column: reel * rows + row; empty before the first."""
        return bytes(ffi.buffer(self._c.window, self.pack.reels * self.pack.rows)) if self._spun() else b""

    def _spun(self) -> bool:
        return self._c.shown_mode != lib.CAB_NONE

    def gamble(self, row: int, pence: int) -> None:
        """Gambles 1 … offer pence on a row of Pack.gambles. CoreError: no_offer, gamble_row, gamble_amount."""
        _check(lib.cab_round_gamble(self._c, _unsigned(row), _unsigned(pence, 64)))

    def collect(self) -> None:
        """Declines the offer. CoreError: no_offer."""
        _check(lib.cab_round_collect(self._c))

    def frames(self) -> bytes:
        """Levels of the frames by cell, 0: bare."""
        return bytes(lib.cab_round_frame(self._c, cell) for cell in range(self.pack._c.cells))

    def values(self) -> tuple[int, ...]:
        """Values of the last spin by cell, credits; 0: none."""
        return tuple(lib.cab_round_value(self._c, cell) for cell in range(self.pack._c.cells))

    def matrix(self) -> bytes:
        """Filled places by pot."""
        return bytes(self._c.matrix[0 : self.pack._c.pots])

    @property
    def offer(self) -> int:
        """Pence that can be gambled now; 0: no offer is due."""
        return lib.cab_round_offer(self._c)

    @property
    def pile(self) -> int:
        """For the round after this one."""
        return self._c.pile

    @property
    def award_pence(self) -> int:
        """Won so far."""
        return self._c.award_pence

    @property
    def finished(self) -> bool:
        """ROUND_END has been reported."""
        return bool(lib.cab_round_finished(self._c))


def crc32(data: bytes | bytearray | memoryview, start: int = 0) -> int:
    """CRC-32/ISO-HDLC of data; start is the result for the bytes before."""
    return lib.cab_crc32(ffi.from_buffer(data), memoryview(data).nbytes, _unsigned(start))


def crc16(data: bytes | bytearray | memoryview, start: int = 0) -> int:
    """CRC-16/XMODEM of data; start is the result for the bytes before."""
    return lib.cab_crc16(ffi.from_buffer(data), memoryview(data).nbytes, _unsigned(start) & 0xFFFF)


def sha256(data: bytes | bytearray | memoryview) -> bytes:
    """SHA-256 of data, 32 bytes."""
    digest = ffi.new("uint8_t[]", lib.CAB_SHA256_BYTES)
    lib.cab_sha256(ffi.from_buffer(data), memoryview(data).nbytes, digest)
    return bytes(ffi.buffer(digest))


def hmac_sha256(key: bytes | bytearray | memoryview, *parts: bytes | bytearray | memoryview) -> bytes:
    """HMAC-SHA-256 of the parts in order, 32 bytes; a key of any length."""
    hmac, code = ffi.new("cab_hmac_t *"), ffi.new("uint8_t[]", lib.CAB_SHA256_BYTES)
    lib.cab_hmac_init(hmac, ffi.from_buffer(key), memoryview(key).nbytes)
    for part in parts:
        lib.cab_hmac_update(hmac, ffi.from_buffer(part), memoryview(part).nbytes)
    lib.cab_hmac_final(hmac, code)
    return bytes(ffi.buffer(code))


class Health:
    """Continuous tests of a random source's bytes (``cab_health_t``); what each cutoff means is said at ``cab_cutoffs_t``."""

    def __init__(self, repetition: int, lane: int, proportion: int, sequence: int, balance: int) -> None:
        self._c = ffi.new("cab_health_t *")
        cutoffs = [_unsigned(cutoff, 16) for cutoff in (repetition, lane, proportion, sequence, balance)]
        _check(lib.cab_health_init(self._c, ffi.new("cab_cutoffs_t *", cutoffs)))

    def feed(self, data: bytes | bytearray | memoryview) -> int:
        """0 while every test passes, else ALARM_...; afterwards only reset() makes sense of them again."""
        return lib.cab_health_feed(self._c, ffi.from_buffer(data), memoryview(data).nbytes)

    def reset(self) -> None:
        """Begins anew and wipes what was remembered."""
        lib.cab_health_reset(self._c)


def _value_bytes(value: bytes | int) -> bytes:
    """struct.error: a number that is negative or too large."""
    return struct.pack("<Q", value).rstrip(b"\x00") if isinstance(value, int) else value


def record(
    mark: int, sequence: int, keys: Iterable[int] | None, values: Sequence[bytes | int] | Mapping[int, bytes | int]
) -> bytes:
    """A record of the firmware's journal (firmware/store/README.md) with its CRC.

    keys ascend; None takes all of a list of values that have any bytes. Values are bytes, or unsigned numbers below 2^64 that
    take as few bytes as they need, least significant first.
    """
    if keys is None:
        keys = [key for key in range(len(values)) if values[key]]
    try:
        entries = [(key, _value_bytes(values[key])) for key in keys]
        payload = b"".join(struct.pack("<HB", key, len(value)) + value for key, value in entries)
        head = struct.pack("<BBHI", mark, 0, len(payload), sequence)
    except struct.error:
        raise CoreError("argument") from None
    return head + payload + struct.pack("<I", crc32(head + payload))


# ------------------------------------------------------------------------------------------------------ host tools only


@dataclass(frozen=True)
class Cycle:
    """What all windows of a mode pay, as cab_cycle_t: counts of boards, sums in credits, no feature multipliers."""

    boards: int
    line_credits: int
    scatter_bets: int
    """Sum of scatter pays in total bets."""
    winning_lines: int
    boards_any: int
    boards_line: int
    boards_scatter: int
    boards_below_bet: int
    """0 < win < total bet."""
    boards_from_bet: int
    """win > 0 and win ≥ total bet."""
    max_credits: int
    sum_credits: int
    """Lines and scatters × cost."""
    sum_squares: int
    """Sum of squared board wins, credits²."""
    in_view: dict[int, tuple[int, ...]]
    """Scatter symbol → boards by its count in view, 0 … cells."""
    runs: dict[tuple[int, int, bool], int]
    """(symbol, run length, with a wild) → wins, where there are any."""
    ways: dict[tuple[int, int], int]
    """(symbol, run length) → paid ways with the multipliers of wilds, where there are any; empty for lines."""

    def __add__(self, other: "Cycle") -> "Cycle":
        """The union of two disjoint ranges of the same scan."""
        mine, theirs = vars(self), vars(other)
        total = {name: value + theirs[name] for name, value in mine.items() if isinstance(value, int)}
        total["max_credits"] = max(self.max_credits, other.max_credits)
        view = {s: tuple(a + b for a, b in zip(n, other.in_view[s], strict=True)) for s, n in self.in_view.items()}
        runs = {key: self.runs.get(key, 0) + other.runs.get(key, 0) for key in sorted({*self.runs, *other.runs})}
        ways = {key: self.ways.get(key, 0) + other.ways.get(key, 0) for key in sorted({*self.ways, *other.ways})}
        return Cycle(in_view=view, runs=runs, ways=ways, **total)


def cycle(
    pack: Pack, mode: int, first: int = 0, last: int | None = None, lines: int | None = None, cost: int | None = None
) -> Cycle:
    """Enumerates stops first … last-1 of reel 1 (default: all) with all stops of the other reels.

    lines: only the first so many (default all). cost: total bet in credits (default the mode's). Releases the GIL, so
    ranges can run in threads and be added. CoreError: argument, overflow.
    """
    c = pack._c
    row = pack._mode(mode)
    stops: int = lib.cab_pack_strip(c, row.set, 0).length
    result = ffi.new("cab_cycle_t *")
    work = _uncleared("cab_cycle_work_t *")
    _check(
        lib.cab_cycle(
            c,
            mode,
            _unsigned(first),
            stops if last is None else _unsigned(last),
            c.lines if lines is None else _unsigned(lines),
            row.cost if cost is None else _unsigned(cost),
            work,
            result,
        )
    )
    in_view = {c.scatter_symbol[n]: tuple(result.in_view[n][0 : c.cells + 1]) for n in range(c.scatters)}
    runs = {
        (symbol, run, bool(wild)): result.runs[symbol][run][wild]
        for symbol in range(c.symbols)
        for run in range(1, c.reels + 1)
        for wild in (0, 1)
        if result.runs[symbol][run][wild]
    }
    ways = {
        (symbol, run): result.ways[symbol][run]
        for symbol in range(c.symbols)
        for run in range(1, c.reels + 1)
        if result.ways[symbol][run]
    }
    return Cycle(
        boards=result.boards,
        line_credits=result.line_credits,
        scatter_bets=result.scatter_bets,
        winning_lines=result.winning_lines,
        boards_any=result.boards_any,
        boards_line=result.boards_line,
        boards_scatter=result.boards_scatter,
        boards_below_bet=result.boards_below_bet,
        boards_from_bet=result.boards_from_bet,
        max_credits=result.max_credits,
        sum_credits=result.sum_credits,
        sum_squares=result.squares_hi << 64 | result.squares_lo,
        in_view=in_view,
        runs=runs,
        ways=ways,
    )


@dataclass(frozen=True)
class Simulation:
    """Totals of simulated rounds, pence. base + scatter + cash + prize + features - cut = award."""

    rounds: int
    award_pence: int
    base_pence: int
    """Line and ways wins outside features."""
    scatter_pence: int
    """Scatter wins outside features."""
    cash_pence: int
    """Collected values outside features."""
    prize_pence: int
    """Credits and pots outside features."""
    features_pence: int
    """All wins inside features, bowls included."""
    cut_pence: int
    """What the win cap took."""
    hits: int
    """Rounds with an award."""
    features: int
    feature_counts: tuple[int, ...]
    """Features begun, by number."""
    pot_counts: tuple[int, ...]
    """Pots won anywhere, by number."""
    free_spins: int
    """Free spins played."""
    wheels: int
    """Wheels spun."""
    max_award_pence: int
    sum_squares: int
    """Sum of squared awards, pence², modulo 2^128."""

    def __add__(self, other: "Simulation") -> "Simulation":
        """The union of two disjoint ranges of the same simulation."""
        mine, theirs = vars(self), vars(other)
        total = {name: value + theirs[name] for name, value in mine.items() if isinstance(value, int)}
        for name in ("feature_counts", "pot_counts"):
            total[name] = tuple(a + b for a, b in zip(mine[name], theirs[name], strict=True))
        total["max_award_pence"] = max(self.max_award_pence, other.max_award_pence)
        total["sum_squares"] %= 1 << 128
        return Simulation(**total)


def simulate(
    pack: Pack,
    mode: int,
    unit_pence: int,
    master_seed: bytes,
    first: int,
    count: int,
    policy: dict[int, int] | None = None,
    plain: bool = False,
) -> Simulation:
    """Plays rounds first … first+count-1 of the master seed (32 bytes), each worth what the round function says without
    gambles and with an empty pile.

    policy: number of options → option taken (default 0). A round's outcome depends on its number only, so ranges can
    run in threads (the GIL is released) and be added. plain: every round event by event, without the tables that add up
    most of them; slower, with the same result. CoreError: argument, mode, unit, overflow.
    """
    choices = [0] * (MAX_OPTIONS + 1)
    for options, choice in (policy or {}).items():
        choices[_index(options, MAX_OPTIONS + 1)] = _index(choice, MAX_OPTIONS)
    tables = ffi.new("cab_wins_t *[]", lib.CAB_MAX_MODES)
    if not plain:
        for number in range(pack._c.modes):
            tables[number] = pack._wins(number)
    result = ffi.new("cab_simulation_t *")
    _check(
        lib.cab_simulate(
            pack._c,
            _unsigned(mode),
            _unsigned(unit_pence),
            _seed(master_seed),
            _unsigned(first, 64),
            _unsigned(count, 64),
            choices,
            tables,
            result,
        )
    )
    totals: dict[str, Any] = {
        name: getattr(result, name) for name in Simulation.__dataclass_fields__ if hasattr(result, name)
    }
    totals["feature_counts"] = tuple(result.feature_counts[0 : pack._c.features])
    totals["pot_counts"] = tuple(result.pot_counts[0 : pack._c.pots])
    totals["sum_squares"] = result.squares_hi << 64 | result.squares_lo
    return Simulation(**totals)


def chacha20_block(key: bytes, counter: int, nonce: bytes) -> bytes:
    """One 64-byte block of the ChaCha20 key stream (RFC 8439, 2.3): key 32 bytes, nonce 12 bytes."""
    if len(nonce) != 12:
        raise CoreError("argument")
    words = ffi.new("uint32_t[16]")
    lib.cab_chacha20_block(_seed(key), _unsigned(counter), bytes(nonce), words)
    return b"".join(int(word).to_bytes(4, "little") for word in words)


def chacha20_lanes(keys: list[bytes], counters: list[int], nonces: list[int]) -> list[bytes]:
    """The blocks of LANES keys, each with its own counter and first nonce word; the other nonce words are zero."""
    if not len(keys) == len(counters) == len(nonces) == LANES:
        raise CoreError("argument")
    columns = [[int.from_bytes(_seed(key)[4 * i : 4 * i + 4], "little") for key in keys] for i in range(8)]
    blocks = ffi.new("cab_blocks_t *")
    key = ffi.new("uint32_t[8][16]", columns)
    lib.cab_chacha20_lanes(key, [_unsigned(c) for c in counters], [_unsigned(n) for n in nonces], blocks)
    return [b"".join(int(blocks.word[w][lane]).to_bytes(4, "little") for w in range(16)) for lane in range(LANES)]


def window_credits(pack: Pack, mode: int, stops: list[int]) -> int | None:
    """What lines or ways pay at these stops by the mode's table, credits; None where the mode has no table."""
    set = pack._mode(mode).set
    if len(stops) != pack.reels or any(not 0 <= s < len(pack.strip(set, r)) for r, s in enumerate(stops)):
        raise CoreError("argument")
    table = pack._wins(mode)
    return None if table == ffi.NULL else lib.cab_wins(table, pack.reels, stops)


def scale(word: int, range: int) -> int | None:
    """One uniform 32-bit word mapped to 0 … range-1 (range 0: 2^32), or None where it must be thrown away."""
    value = ffi.new("uint32_t *")
    return value[0] if lib.cab_scale(_unsigned(word), _unsigned(range), value) else None


def draws(seed: bytes, ranges: list[int]) -> list[int]:
    """One draw for each range, in order, from the random stream of a seed."""
    stream, value = ffi.new("cab_stream_t *"), ffi.new("uint32_t *")
    lib.cab_stream_init(stream, _seed(seed))
    values: list[int] = []
    for range in ranges:
        _check(lib.cab_draw(stream, _unsigned(range), value))
        values.append(value[0])
    return values


def stream_words(seed: bytes, blocks: int) -> bytes:
    """The first 16 x blocks words of a seed's random stream, little endian: what draws(seed, [0, 0, ...]) would give."""
    words, nonce = ffi.new("uint32_t[]", 16 * _unsigned(blocks, 24)), bytes(12)
    for block in range(blocks):
        lib.cab_chacha20_block(_seed(seed), block, nonce, words + 16 * block)
    data = bytes(ffi.buffer(words))
    return data if sys.byteorder == "little" else struct.pack(f"<{16 * blocks}I", *words)


@dataclass(frozen=True)
class Reading:
    """How a line is read; credits already hold the multiplier of the wilds."""

    line: int
    symbol: int
    run: int
    multiplier: int
    credits: int
    wild: bool


def _window(pack: Pack, window: bytes) -> bytes:
    if len(window) != pack._c.cells or any(symbol >= pack._c.symbols for symbol in window):
        raise CoreError("argument")
    return bytes(window)


def line_wins(pack: Pack, window: bytes) -> list[Reading]:
    """The line wins of a window (reels × rows symbol numbers, column by column), before feature multipliers."""
    window = _window(pack, window)
    wins: list[Reading] = []
    for line in range(pack._c.lines):
        r = lib.cab_line(pack._c, window, line)
        if r.credits:
            wins.append(Reading(line, r.symbol, r.run, r.multiplier, r.credits, bool(r.wild)))
    return wins


def ways_wins(pack: Pack, window: bytes) -> list[tuple[int, int, int, int]]:
    """(symbol, run, ways counted with wild multipliers, credits) of a window, before feature multipliers."""
    window = _window(pack, window)
    wins = ((symbol, lib.cab_ways(pack._c, window, symbol)) for symbol in range(pack._c.symbols))
    return [(symbol, w.run, w.ways, w.credits) for symbol, w in wins if w.credits]


def draws64(seed: bytes, ranges: list[int]) -> list[int]:
    """As draws(), each of 64 bits."""
    stream, value = ffi.new("cab_stream_t *"), ffi.new("uint64_t *")
    lib.cab_stream_init(stream, _seed(seed))
    values: list[int] = []
    for range in ranges:
        _check(lib.cab_draw64(stream, _index(range - 1, 2**64 - 1) + 1, value))
        values.append(value[0])
    return values


def in_view(pack: Pack, window: bytes) -> dict[int, int]:
    """Scatter symbol → cells of a window that are it or a wild that substitutes for it."""
    window = _window(pack, window)
    return {pack._c.scatter_symbol[n]: lib.cab_in_view(pack._c, window, n) for n in range(pack._c.scatters)}

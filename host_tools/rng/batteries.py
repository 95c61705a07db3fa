"""Established batteries as processes that read a stream from standard input, and what they say as rows of one table."""

import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Final

from host_tools.rng.estimates import binomial_tail, bytes_p, most_common_value_bits

PASS, WEAK, FAIL, NOT_RUN = "pass", "weak", "fail", "not run"
WEAK_P: Final = 0.005  # dieharder's own limits, on both sides for its tests
FAIL_P: Final = 1e-6
FIPS_FALSE: Final = 8e-4  # share of good blocks of 20,000 bits that rngtest refuses
PACKAGES: Final = {"dieharder": "dieharder", "rngtest": "rng-tools5"}  # program -> Debian package
CHUNK: Final = 1 << 16

# Tests of dieharder by number, without those that its own list calls suspect or not to be used, and what each reads at most
# (megabytes, 100 p-samples; measured). `short` is what ten minutes hold.
SHORT: Final = (0, 2, 3, 8, 15, 100, 101, 102)
FULL: Final = (
    0,
    1,
    2,
    3,
    4,
    8,
    9,
    10,
    11,
    12,
    13,
    15,
    16,
    17,
    100,
    101,
    102,
    200,
    201,
    202,
    203,
    204,
    205,
    206,
    207,
    208,
    209,
)


class CannotRun(Exception):
    """A battery is not installed, or there is nothing to judge. The text names the remedy."""


@dataclass(frozen=True)
class Row:
    """One test's verdict. `figure` is a p-value where `what` says so."""

    battery: str
    test: str
    what: str
    figure: float
    verdict: str

    def as_dict(self) -> dict[str, str | float]:
        return {
            "battery": self.battery,
            "test": self.test,
            "what": self.what,
            "figure": self.figure,
            "verdict": self.verdict,
        }


def of_p(p: float) -> str:
    """The verdict of a p-value that is small when something is wrong."""
    return FAIL if p < FAIL_P else WEAK if p < WEAK_P else PASS


def require(program: str) -> str:
    """Path of a battery's program. Errors: CannotRun names the package."""
    path = shutil.which(program)
    if path is None:
        raise CannotRun(f"{program} is not installed; as root: apt-get install {PACKAGES[program]}")
    return path


class Feed:
    """A stream of bytes that batteries consume one after another: nothing is ever given twice. `given` counts."""

    def __init__(self, chunks: Iterator[bytes], show: Callable[[int], None] = lambda given: None) -> None:
        self.given = 0
        self.dry = False
        self._chunks = chunks
        self._rest = b""
        self._show = show

    def chunk(self) -> bytes:
        """Some bytes more; b"" when there are no more."""
        data, self._rest = self._rest, b""
        if not data:
            data = next(self._chunks, b"")
            self.dry = not data
        self.given += len(data)
        self._show(self.given)
        return data

    def take(self, count: int) -> bytes:
        """Up to `count` bytes: fewer where the stream ends."""
        parts: list[bytes] = []
        size = 0
        while size < count and (data := self.chunk()):
            parts.append(data)
            size += len(data)
        joined = b"".join(parts)
        self._rest = joined[count:]
        self.given -= len(self._rest)
        return joined[:count]


def _run(command: list[str], feed: Feed, limit: int | None = None) -> tuple[str, str]:
    """Runs a program on the stream until it has had enough (or `limit` bytes). Returns its output and errors."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said: dict[str, bytes] = {}

    def hear(name: str, pipe: IO[bytes]) -> None:
        said[name] = pipe.read()

    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    pipes = {"out": process.stdout, "err": process.stderr}
    ears = [threading.Thread(target=hear, args=item) for item in pipes.items()]
    for ear in ears:
        ear.start()
    try:
        if limit is not None:
            process.stdin.write(feed.take(limit))
        else:
            while data := feed.chunk():
                process.stdin.write(data)
        process.stdin.close()
    except BrokenPipeError:
        pass  # it has had enough
    finally:
        process.wait()
        for ear in ears:
            ear.join()
    return said["out"].decode(errors="replace"), said["err"].decode(errors="replace")


def estimates(feed: Feed, count: int, claimed_bits: float) -> list[Row]:
    """Most common value of SP 800-90B, chi-square of the bytes. Errors: CannotRun for less than 1,000 bytes."""
    data = feed.take(count)
    try:
        bits = most_common_value_bits(data)
    except ValueError as error:
        raise CannotRun(str(error)) from None
    p = bytes_p(data)
    return [
        Row(
            "SP 800-90B",
            "most common value",
            f"bits a byte, claimed {claimed_bits:g}",
            bits,
            PASS if bits >= claimed_bits else FAIL,
        ),
        Row("chi-square", "bytes", "p", p, of_p(p)),
    ]


def rngtest(feed: Feed, blocks: int) -> list[Row]:
    """FIPS 140-2 blocks of rng-tools. Errors: CannotRun."""
    _, told = _run([require("rngtest"), f"--blockcount={blocks}"], feed, 4 + 2500 * blocks)
    found = {word: int(number) for word, number in re.findall(r"FIPS 140-2 (successes|failures): (\d+)", told)}
    tried = sum(found.values())
    if not tried:
        return [Row("rngtest", "FIPS 140-2 blocks", "nothing: fewer than 2,504 bytes", 0.0, NOT_RUN)]
    p = binomial_tail(tried, FIPS_FALSE, found["failures"])
    return [Row("rngtest", f"FIPS 140-2, {found['failures']} of {tried} blocks fail", "p", p, of_p(p))]


def dieharder(feed: Feed, number: int) -> list[Row]:
    """One test of dieharder on raw words from standard input, which cannot rewind. Errors: CannotRun."""
    columns = [part for name in ("test_name", "ntuple", "pvalues", "assessment") for part in ("-D", name)]
    out, _ = _run([require("dieharder"), "-g", "200", "-d", str(number), "-c", ",", *columns], feed)
    rows: list[Row] = []
    for line in out.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) >= 4 and cells[3] in ("PASSED", "WEAK", "FAILED"):
            verdict = {"PASSED": PASS, "WEAK": WEAK, "FAILED": FAIL}[cells[3]]
            rows.append(Row("dieharder", f"{cells[0]} {cells[1]}", "p", float(cells[2]), verdict))
    if feed.dry or not rows:
        return [Row("dieharder", f"test {number}", "not enough bytes", 0.0, NOT_RUN)]
    return rows


def verdict_of(rows: list[Row]) -> str:
    """The verdict of all: a failure fails; weak ones are expected, one in a hundred, and fail where they are far more."""
    if any(row.verdict == FAIL for row in rows):
        return FAIL
    judged = [row for row in rows if row.what == "p" and row.verdict != NOT_RUN]
    weak = sum(row.verdict == WEAK for row in judged)
    if judged and binomial_tail(len(judged), 2 * WEAK_P, weak) < FAIL_P:
        return FAIL
    return PASS if any(row.verdict in (PASS, WEAK) for row in rows) else NOT_RUN

"""Where bytes to be judged come from: a file, standard input, or a random device on a serial line through its driver."""

import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from hal.boards.host import TtySerialPort
from hal.entropy.kinds import NAMES, make_source
from hal.entropy.source import CAPACITY_BYTES
from host_tools.rng.batteries import CHUNK, CannotRun

TURN_S = 0.001
SILENT_S = 5.0


def chunks(source: str, kind: str) -> Iterator[bytes]:
    """Bytes of `source` (- is standard input) to its end; of a device without end. Errors: CannotRun."""
    if source == "-":
        return _stream(sys.stdin.buffer)
    path = Path(source)
    try:
        mode = path.stat().st_mode
        if (stat.S_ISCHR(mode) and path.resolve().parent != Path("/dev")) or path.name.startswith("tty"):
            return device(source, kind)
        return _stream(path.open("rb"))
    except OSError as error:
        raise CannotRun(f"cannot read {source}: {error.strerror}") from None


def _stream(file) -> Iterator[bytes]:
    while data := file.read(CHUNK):
        yield data


def device(path: str, kind: str) -> Iterator[bytes]:
    """Bytes of the device on a serial line, by the driver that the cabinet uses. Errors: CannotRun when it falls silent."""
    if kind not in NAMES:
        raise CannotRun(f"there is no kind {kind} of random device; there is {', '.join(NAMES)}")
    port = TtySerialPort(path, 115200)
    if port.gone:
        raise CannotRun(f"cannot open {path}: is it there, and may you read and write it?")
    source = make_source(NAMES.index(kind), port)
    heard = time.monotonic()
    try:
        while True:
            source.request(CAPACITY_BYTES)
            source.poll(time.monotonic_ns() // 1_000_000)
            while (event := source.event()) is not None:
                source.booked()
                if event[0] == "unhealthy":
                    raise CannotRun(f"the device says that it is not healthy: status {event[1]}")
            if source.available() == CAPACITY_BYTES:
                heard = time.monotonic()
                yield source.take(CAPACITY_BYTES)
            elif time.monotonic() - heard > SILENT_S:
                raise CannotRun(f"{path} gives no bytes; is it a device of the kind {kind}? Others: {', '.join(NAMES)}")
            else:
                time.sleep(TURN_S)
    finally:
        port.close()

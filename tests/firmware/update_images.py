"""Small images for the tests of slots and loader: the judgement is of all bytes, however many there are."""

import contextlib
import functools
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from firmware.update.slots import STATE_BYTES, Slots
from hal.boards.host import MemorySlots
from host_tools.flash import images, romfs
from host_tools.flash.programmer import at_once

SLOT_BYTES = 4096
KEYS = (images.public_key(images.DEVELOPMENT_KEY),)


@functools.cache
def image(
    version: str = "1.0.0", counter: int = 1, board: str = "host", size: int = 300, key: Path | None = None
) -> bytes:
    content = romfs.write({"firmware/main.py": bytes(i * 7 & 0xFF for i in range(size))})
    return images.sign(content, key or images.DEVELOPMENT_KEY, board, {"version": version}, version, counter)


def other_key(folder: Path) -> Path:
    path = folder / "other.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    encoding = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(key.private_bytes(*encoding))
    return path


class CutMemory(MemorySlots):
    """The power fails behind any byte written."""

    def __init__(self, memory: bytearray, cut_after: int | None = None):
        super().__init__(memory)
        self.cut_after = cut_after
        self.written = 0

    def write(self, offset: int, data: bytes) -> None:
        room = len(data) if self.cut_after is None else min(len(data), self.cut_after - self.written)
        super().write(offset, bytes(data)[:room])
        self.written += room
        if self.written == self.cut_after:
            raise Cut


class Cut(BaseException):
    """No handler of the firmware can catch it."""


def memory() -> bytearray:
    return bytearray(b"\xff" * (2 * SLOT_BYTES + STATE_BYTES))


def slots(of: bytearray | MemorySlots) -> Slots:
    return Slots(of if isinstance(of, MemorySlots) else MemorySlots(of), "host", KEYS)


def put(target: Slots, slot: int, data: bytes, piece: int = 64) -> str:
    """Writes an image from where it was left. "" or the reason."""
    if target.writing(slot)[0] != len(data):
        why = target.begin(slot, len(data))
        if why:
            return why
    while target.written(slot) < len(data):
        first = target.written(slot)
        why = target.write(slot, first, data[first : first + piece])
        if why:
            return why
    return at_once(target.finish(slot))


def hash_of(data: bytes) -> bytes:
    from firmware.update.image import parse

    return parse(data).hash


@contextlib.contextmanager
def power():
    """What happens until the power fails."""
    with contextlib.suppress(Cut):
        yield

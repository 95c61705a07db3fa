"""Slots without a loader: what the update server asks of firmware.update.slots.Slots, in plain Python."""

import hashlib
from collections.abc import Generator


class Image:
    """An image in a slot. Here the first 32 bytes of an upload stand for its hash, and `bad` at its end for a wrong signature."""

    bootable = True
    permanent = False
    pending = confirmed = active = False
    counter = 0

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.hash = hashlib.sha256(data).digest()
        self.version = "1.2.3+4"
        self.board = "host"
        self.size, self.payload = len(data), 0


class FakeSlots:
    """Slot 0 runs and is confirmed, slot 1 is free. `said`: what was asked of it. steps: how long a verdict takes."""

    SIZE = 256 * 1024

    def __init__(self, steps: int = 3) -> None:
        self.running = 0
        self.images: list[Image | None] = [Image(b"running"), None]
        self.images[0].active = self.images[0].confirmed = True  # pyright: ignore[reportOptionalMemberAccess]
        self.steps = steps
        self.said: list[str] = []
        self._memory = bytearray(self.SIZE)
        self._upload: tuple[int, bytes] = (0, b"")
        self._at = 0

    def image(self, slot: int) -> Image | None:
        return self.images[slot]

    def view(self, slot: int) -> memoryview:
        image = self.images[slot]
        return memoryview(image.data if image else self._memory)

    def begin(self, slot: int, size: int, upload: bytes = b"") -> str:
        if slot == self.running:
            return f"slot {slot} is running: write the other one"
        self.said.append(f"begin {slot} {size}")
        self.images[slot] = None
        self._upload, self._at = (size, (upload + bytes(8))[:8]), 0
        return ""

    def writing(self, slot: int) -> tuple[int, bytes]:
        return self._upload if slot != self.running else (0, b"")

    def written(self, slot: int) -> int:
        return self._at

    def power_cut(self) -> None:
        """Of what was written only whole 4 KiB are sure."""
        self._at -= self._at % 4096

    def write(self, slot: int, offset: int, data: bytes) -> str:
        assert offset == self._at
        self._memory[offset : offset + len(data)] = data
        self._at += len(data)
        return ""

    def damage(self, place: int) -> None:
        """A byte of the upload is not what was sent."""
        assert place < self._at
        self._memory[place] ^= 0x10

    def rewind(self, slot: int, offset: int) -> str:
        assert 0 <= offset <= self._at
        self._at = offset
        return ""

    def finish(self, slot: int) -> Generator[None, None, str]:
        for _ in range(self.steps):
            yield
        data = bytes(self._memory[: self._upload[0]])
        self._upload = (0, b"")
        if data.endswith(b"bad"):
            return "its signature is wrong"
        self.images[slot] = Image(data)
        return ""

    def test(self, hash_: bytes) -> str:
        for slot in (0, 1):
            image = self.images[slot]
            if image is not None and image.hash == hash_:
                if slot == self.running:
                    return "that image is running"
                image.pending = True
        return ""

    def confirm(self, hash_: bytes) -> str:
        self.said.append("confirm")
        return ""

    def revert(self) -> str:
        self.said.append("revert")
        return "there is no other confirmed image to go back to: flash the one that is wanted"

    def erase(self, slot: int) -> str:
        if slot == self.running:
            return f"slot {slot} is running: write the other one"
        self.images[slot] = None
        return ""

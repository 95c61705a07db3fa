"""What a running cabinet is made of, as it says itself: its slots, and the header, TLVs and manifest of what runs.

The payload is not read: at 115200 baud that takes minutes, and the cabinet hashes it itself (console: verify). So nothing here is
proven but that the parts fit each other; who wants proof compares the hashes with published ones.
"""

from functools import partial
from typing import Any, Final

from smp.header import Version
from smp.image_management import ImageState
from smpclient.generics import error_v1

from firmware.update import image as images
from host_tools.cabinet import exits
from host_tools.flash.cabinet_group import UNSUPPORTED, AboutRead
from host_tools.flash.failure import FlashError
from host_tools.flash.flashing import Cabinet
from host_tools.flash.images import describe

PIECE_BYTES: Final = 1024
LEAST_BYTES: Final = 32  # of a piece, on the worst of lines
MOST_BYTES: Final = 3 * images.MANIFEST_BYTES  # more is no image's account of itself


def about_slot(cabinet: Cabinet, slot: int) -> dict[str, Any]:
    """What `images.inspect` tells of a file, of the image in a slot; `files` is None. Errors: FlashError."""
    data, size, questions = b"", images.HEADER_BYTES, _Questions(slot)
    while len(data) < size:
        answer = cabinet.ask(partial(questions.next, len(data)))
        if error_v1(answer) and answer.rc == UNSUPPORTED:
            raise FlashError(
                exits.REFUSED,
                "the firmware of this cabinet is too old to tell its manifest",
                "cabinet slots lists its images; type verify at its console: it tells the hashes",
            )
        told = cabinet.told(answer)
        if told.off != len(data) or not told.data or not images.HEADER_BYTES < told.len <= MOST_BYTES:
            raise _unfit("the cabinet answers with a piece that does not fit")
        data, size = data + told.data, told.len
    return _read(data)


class _Questions:
    """Makes the questions. What has to be asked again is asked shorter from then on: that gets through a bad line."""

    def __init__(self, slot: int) -> None:
        self._slot = slot
        self._most = PIECE_BYTES
        self._asked = -1

    def next(self, offset: int) -> AboutRead:
        if offset == self._asked:
            self._most = max(LEAST_BYTES, self._most // 2)
        self._asked = offset
        return AboutRead(version=Version.V1, slot=self._slot, off=offset, most=self._most)


def _read(data: bytes) -> dict[str, Any]:
    payload = int.from_bytes(data[12:16], "little")
    if payload > 1 << 26:
        raise _unfit("the header says that the image is larger than any slot")
    try:
        # The parser wants an image, and looks at nothing between header and TLVs.
        image = images.parse(data[: images.HEADER_BYTES] + bytes(payload) + data[images.HEADER_BYTES :])
        return {**describe(image), "files": None}
    except images.ImageError as fault:
        raise _unfit(f"what the cabinet says of its image is no image's: {fault}") from None


def _unfit(what: str) -> FlashError:
    return FlashError(exits.NOT_VALID, what, "repeat; if it stays so, its slots' memory is damaged: flash a good image")


def running(cabinet: Cabinet) -> dict[str, Any]:
    """What runs, in the shape of `images.inspect`, and `slots`. The cabinet has said who it is. Errors: FlashError.

    What only an image can tell is None when the factory application runs: it is part of the resident image, in no slot.
    """
    who = cabinet.identity
    assert who is not None
    states = cabinet.images()
    active = next((state for state in states if state.active), None)
    found: dict[str, Any] = {"version": who.version, "counter": None, "board": who.board, "bytes": None, "hash": None}
    found |= {"key": None, "manifest": None, "files": None}
    if active is not None:
        assert active.slot is not None
        found = about_slot(cabinet, active.slot)
        if found["hash"] != bytes(active.hash or b"").hex():
            raise _unfit(f"slot {active.slot} is listed with another hash than its image has")
    return {**found, "factory": active is None, "slots": [slot_fields(state) for state in states]}


def slot_fields(state: ImageState) -> dict[str, Any]:
    """A slot as programs are told of it."""
    fields = {name: bool(getattr(state, name)) for name in ("active", "confirmed", "pending", "bootable")}
    return {"slot": state.slot, "version": state.version, "hash": bytes(state.hash or b"").hex(), **fields}


def slot_line(fields: dict[str, Any]) -> str:
    """The same for a person."""
    flags = " ".join(name for name in ("active", "confirmed", "pending", "bootable") if fields[name])
    return f"slot {fields['slot']}  {fields['version']:12} {fields['hash'][:16]}  {flags}"

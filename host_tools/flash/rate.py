"""How fast an image gets into a cabinet over its console line, in the board's own time."""

from collections.abc import Mapping

from host_tools.boards.mps2_session import Mps2Session
from host_tools.cabinet.bench import Figure
from host_tools.flash import images, romfs
from host_tools.flash.flashing import Cabinet, NewImage
from host_tools.flash.link import BYTE_S, LINE_BYTES
from host_tools.flash.rig_wire import RigWire
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse

IMAGE_BYTES = 60_000

# Bytes a second that remain of the line when each three are four characters, and each 124 characters a line of 127.
CAPACITY = 3 / 4 * (LINE_BYTES - 3) / LINE_BYTES / BYTE_S


def sample_image(board: str, size: int = IMAGE_BYTES) -> NewImage:
    """An image that is valid and too small to hold an application."""
    content = romfs.write({"firmware/main.py": bytes(place * 7 & 0xFF for place in range(size))})
    return NewImage.of(images.sign(content, images.DEVELOPMENT_KEY, board, {"version": "9.0.0"}, "9.0.0", 1))


def upload(packs: Mapping[str, bytes]) -> list[Figure]:
    """To the emulated board, which idles."""
    rig = Rig(packs, board="mps2")
    assert isinstance(rig.session, Mps2Session)
    try:
        rig.run(parse("entropy seed 1\npower on\nwait 1s"))
        cabinet = Cabinet(lambda: RigWire(rig))
        cabinet.identify()
        rig.session.nvram.clear_turns()
        done = cabinet.upload(sample_image("mps2"))
        turns = rig.session.nvram.turns()
    finally:
        rig.close()
    return [
        Figure("upload over the console line", done.rate, "bytes/s"),
        Figure("upload, of the line's capacity after encoding", 100 * done.rate / CAPACITY, "%"),
        Figure("upload, the verdict on the whole behind it", done.verdict_s, "s"),
        Figure("upload, pieces asked for again", done.retries, ""),
        Figure("turn of the loop during it, median", turns.median_us / 1000, "ms"),
        Figure("turn of the loop during it, worst", turns.worst_us / 1000, "ms"),
    ]

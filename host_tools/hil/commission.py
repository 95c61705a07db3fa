"""The memory of a cabinet that has had its first set-up, made by the firmware itself at its own console.

It is made once in a process for given games and size, on the host board: the journal's bytes are the same on every board.
"""

import hashlib
from collections.abc import Collection, Mapping

CABINET = 1
USUAL = {
    "cabinet": f"{CABINET}",
    "pulse": "100",
    "coins": "all",
    "notes": "all",
    "credit_limit": "£500",
    "note_limit": "£500",
    "hopper_limit": "£100",
    "win_limit": "£1000",
    "games": "all",
    "first_game": "",  # the first one by name
    "note_acceptor": "ssp",
    "note_key": "none",
}
"""What is typed for each item, in order."""

_images: dict[tuple[int, bytes, str], bytes] = {}


def answers_for(packs: Collection[str], note: str = USUAL["note_acceptor"]) -> list[str]:
    """What is typed at a set-up, item by item."""
    return [text or min(packs) for text in (USUAL | {"note_acceptor": note}).values()]


def script(packs: Mapping[str, bytes], note: str = USUAL["note_acceptor"]) -> str:
    """The rig script that sets a blank cabinet up."""
    typed = [*answers_for(packs, note), "{asked}"]
    answers = "\n".join(f'console "{text}"' for text in typed)
    return (
        f"memory blank\nentropy seed 0\npower on\nturn technician\nconsole setup\n{answers}\n"
        "unturn technician\nwait until idle\npower off\n"
    )


def image(packs: Mapping[str, bytes], size: int, note: str = USUAL["note_acceptor"]) -> bytes:
    """The bytes of such a memory, of a cabinet with this note acceptor. Errors: RigError when the set-up could not be done."""
    from host_tools.hil.rig import Rig  # which fits its own memory with this
    from host_tools.hil.script import parse

    digest = hashlib.sha256()
    for name in sorted(packs):
        digest.update(name.encode() + b"\0" + hashlib.sha256(packs[name]).digest())
    key = (size, digest.digest(), note)
    if key not in _images:
        rig = Rig(packs, nvram_bytes=size, note=note)
        rig.run(parse(script(packs, note), "set-up"))
        _images[key] = bytes(rig.session.nvram.memory)
    return _images[key]

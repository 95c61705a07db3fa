"""Writes a ROMFS, MicroPython's file system that is executed and read in place (extmod/vfs_rom.c has the format).

A file's bytes begin at a multiple of ALIGNMENT, so that machine code in them can run where it lies; the writers that exist
leave that to chance. Lengths are written in four bytes whatever they are, which the format allows, so that the place of a
file depends only on what is before it.
"""

from collections.abc import Mapping

ALIGNMENT = 16
_PADDING, _VERBATIM, _DIRECTORY, _FILE = 1, 2, 4, 5
_MAGIC = b"\xd2\xcd\x31"
_LENGTH_BYTES = 4
_HEAD_BYTES = 1 + _LENGTH_BYTES
LIMIT = 1 << 7 * _LENGTH_BYTES


class RomfsError(Exception):
    """What is wanted does not fit into a ROMFS."""


def write(files: Mapping[str, bytes]) -> bytes:
    """A ROMFS with these files, path -> bytes. Equal files give equal bytes, in whatever order they come."""
    tree: dict = {}
    for path in sorted(files):
        *folders, name = path.split("/")
        node = tree
        for folder in folders:
            node = node.setdefault(folder, {})
            if not isinstance(node, dict):
                raise RomfsError(f"{path}: {folder} is a file already")
        node[name] = bytes(files[path])
    place = len(_MAGIC) + _LENGTH_BYTES + 1
    content = _directory(tree, place)
    if (place + len(content)) % 2:
        content += _padding(_HEAD_BYTES)  # the format wants an even length
    return _MAGIC + _uint(len(content), _LENGTH_BYTES + 1) + content


def _directory(tree: dict, place: int) -> bytes:
    out = b""
    for name, node in tree.items():
        encoded = name.encode()
        head = _HEAD_BYTES + _LENGTH_BYTES + len(encoded)
        here = place + len(out) + head
        nested = _directory(node, here) if isinstance(node, dict) else _data(node, here)
        kind = _DIRECTORY if isinstance(node, dict) else _FILE
        body = _uint(len(encoded)) + encoded + nested
        out += bytes([kind]) + _uint(len(body)) + body
    return out


def _data(data: bytes, place: int) -> bytes:
    missing = -(place + _HEAD_BYTES) % ALIGNMENT
    if 0 < missing < _HEAD_BYTES:
        missing += ALIGNMENT
    return (_padding(missing) if missing else b"") + bytes([_VERBATIM]) + _uint(len(data)) + data


def _padding(size: int) -> bytes:
    """A record of `size` bytes, at least _HEAD_BYTES."""
    return bytes([_PADDING]) + _uint(size - _HEAD_BYTES) + bytes(size - _HEAD_BYTES)


def _uint(number: int, size: int = _LENGTH_BYTES) -> bytes:
    if number >= LIMIT:
        raise RomfsError(f"{number} bytes are too many for a ROMFS of ours")
    groups = [number >> 7 * i & 0x7F for i in reversed(range(size))]
    return bytes([group | 0x80 for group in groups[:-1]] + groups[-1:])

"""Makes application images, checks them, and shows what they say of themselves. firmware/update/README.md has the layout.

The payload is a ROMFS made here; header, TLVs, hash and signature are imgtool's. `verify` asks both imgtool and the firmware's
own judgement, which share no code.
"""

import ast
import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from imgtool import image as mcuboot
from imgtool import keys as mcuboot_keys
from imgtool.version import decode_version

from firmware.update import image as firmware_image
from firmware.update import trust
from hal.boards.host_application import read_romfs
from hal.panel.wiring import DEFAULT as WIRING
from host_tools.boards import build
from host_tools.flash import keys, mpy, romfs

ROOT = build.ROOT
DEVELOPMENT_KEY = keys.DEVELOPMENT_KEY
SLOT_BYTES = 2 << 20  # of every board so far

# How a board's Python is compiled; None: CPython, which takes the source.
_FLAGS: dict[str, tuple[str, ...] | None] = {
    "host": None,
    "unix": (),
    "mps2": ("-march=armv7m", "-X", "emit=native"),  # as native/boards/mps2/mpconfigboard.mk has it for frozen modules
}
BOARDS = tuple(_FLAGS)
# The board's own Python on the host: what its ports and its memory are made of is not the application's to change.
_HOST_KEEPS = ("hal/board.py", "hal/boards/", "native/")
_VERSION = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,5}(\+\d{1,9})?")


class ImageFailed(Exception):
    """The image cannot be made or is not good; the text says why and what to do."""


# --- keys ------------------------------------------------------------------------------------------------------------


def keygen(path: Path) -> str:
    """Writes a new private key, readable by its owner only. Returns the public one in hex, for CABINET_KEY.

    ImageFailed: the file exists.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    try:
        with open(path, "xb", opener=lambda name, how: os.open(name, how, 0o600)) as file:
            file.write(pem)
    except FileExistsError:
        raise ImageFailed(f"{path} exists: a key is not overwritten; choose another name") from None
    except OSError as error:
        raise ImageFailed(f"cannot write {path}: {error.strerror}") from None
    return public_key(path).hex()


def public_key(path: Path) -> bytes:
    """The point of 65 bytes of a PEM file with a private or a public key. ImageFailed: it is none of P-256."""
    try:
        return keys.public_key(path)
    except keys.KeyFailed as error:
        raise ImageFailed(str(error)) from None


def _imgtool_key(path: Path) -> Any:
    public_key(path)  # says clearly what is wrong with it
    return mcuboot_keys.load(str(path))


# --- building ----------------------------------------------------------------------------------------------------------


def sources(board: str) -> dict[str, Path]:
    """Path in the image -> the Python file of this tree, of all that an application of `board` consists of."""
    found = {}
    for package in ("firmware", "hal", "native"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            of_native = name.startswith("native/") and name != "native/__init__.py"
            other_board = name.startswith("hal/boards/") and path.stem not in ("__init__", board)
            kept = board == "host" and name.startswith(_HOST_KEEPS)
            if not (of_native or other_board or kept):
                found[name] = path
    return found


def payload(board: str, packs: Mapping[str, bytes], replaced: Mapping[str, bytes] = {}) -> dict[str, bytes]:
    """The files of an application: path -> bytes. replaced: Python source that takes the place of a file's, by path in the image.

    ImageFailed: it does not compile. BoardsError: the compiler cannot be built.
    """
    flags = _FLAGS[board]
    python = {name: path.read_bytes() for name, path in sources(board).items()} | dict(replaced)
    files = {f"games/{name}.pack": data for name, data in packs.items()}
    if flags is None:
        return files | python
    with tempfile.TemporaryDirectory(prefix="cabinet-") as folder:
        for name, source in python.items():
            files[name.removesuffix(".py") + ".mpy"] = _compiled(name, source, flags, Path(folder))
    return files


def _compiled(name: str, source: bytes, flags: tuple[str, ...], folder: Path) -> bytes:
    here, there = folder / "source.py", folder / "code.mpy"
    here.write_bytes(source)
    command = [str(build.ensure("mpy-cross")), *flags, "-s", name, "-o", str(there), str(here)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ImageFailed(f"{name} does not compile:\n{done.stderr.strip()}")
    return mpy.align(there.read_bytes())


def manifest(board: str, version: str, packs: Mapping[str, bytes], python: Mapping[str, bytes]) -> dict[str, Any]:
    """What an inspector compares: versions and SHA-256 of each part, ports and pins."""
    core = [path for path in sorted((ROOT / "native" / "core").iterdir()) if path.suffix in (".c", ".h")]
    return {
        "board": board,
        "version": version,
        "firmware": _hash_of(dict(python)),
        "core": _hash_of({path.name: path.read_bytes() for path in core}),
        "packs": {name: hashlib.sha256(data).hexdigest() for name, data in sorted(packs.items())},
        "ports": _ports(board),
        "pins": {
            kind: {row[0]: f"{row[1]:02x}:{row[2]}" for row in getattr(WIRING, kind)}
            for kind in ("buttons", "doors", "keys", "lamps", "solenoids", "senses")
        },
    }


def _hash_of(files: Mapping[str, bytes]) -> str:
    whole = hashlib.sha256()
    for name, data in sorted(files.items()):
        whole.update(f"{name} {hashlib.sha256(data).hexdigest()}\n".encode())
    return whole.hexdigest()


def _ports(board: str) -> dict[str, int] | str:
    """Port -> UART of a board with fixed ones. The board's file runs only on it, so its table is read, not imported."""
    path = ROOT / "hal" / "boards" / f"{board}.py"
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "UARTS":
            return ast.literal_eval(node.value)
    return "as the program that runs it connects them"


def build_image(
    key: Path,
    board: str,
    packs: Mapping[str, bytes],
    version: str,
    counter: int,
    replaced: Mapping[str, bytes] = {},
) -> bytes:
    """A signed application image of this tree. ImageFailed, BoardsError."""
    if board not in BOARDS:
        raise ImageFailed(f"there is no board {board}; there is {', '.join(BOARDS)}")
    own = {} if public_key(key) == trust.DEVELOPMENT else {f"{keys.MODULE}.py": keys.trust_module(key)}
    files = payload(board, packs, {**own, **replaced})
    python = {name: data for name, data in files.items() if not name.startswith("games/")}
    return sign(romfs.write(files), key, board, manifest(board, version, packs, python), version, counter)


def sign(content: bytes, key: Path, board: str, about: Mapping[str, Any], version: str, counter: int) -> bytes:
    """An image around any payload, by imgtool. ImageFailed."""
    if not _VERSION.fullmatch(version):
        raise ImageFailed(f"{version} is no version: say 1.2.3 or 1.2.3+4")
    if not 0 <= counter < 1 << 32:
        raise ImageFailed(f"the security counter {counter} is not within 0 to {(1 << 32) - 1}")
    signer = _imgtool_key(key)
    if not hasattr(signer, "raw_sign"):
        raise ImageFailed(f"{key} is a public key; an image is signed with the private one")
    encoded = json.dumps(about, separators=(",", ":"), sort_keys=True).encode()
    if len(encoded) > firmware_image.MANIFEST_BYTES:
        raise ImageFailed(f"the manifest has {len(encoded)} bytes, there is room for {firmware_image.MANIFEST_BYTES}")
    with tempfile.TemporaryDirectory(prefix="cabinet-") as folder:
        there = Path(folder, "image.bin")
        there.write_bytes(content)
        image = mcuboot.Image(decode_version(version), pad_header=True, erased_val="0", security_counter=counter)
        image.load(str(there))
        tlvs = {firmware_image.BOARD: board.encode(), firmware_image.MANIFEST: encoded}
        with contextlib.redirect_stdout(io.StringIO()):  # imgtool tells what it does
            image.create(signer, "hash", None, custom_tlvs=tlvs)
        image.save(str(there))
        data = there.read_bytes()
    if len(data) > SLOT_BYTES:
        raise ImageFailed(f"the image has {len(data)} bytes, a slot {SLOT_BYTES}: leave a game out")
    return data


# --- looking ---------------------------------------------------------------------------------------------------------------


def verify(path: Path, key: Path) -> firmware_image.Image:
    """The image, when imgtool and the firmware both accept it. ImageFailed says who does not, and why."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ImageFailed(f"cannot read {path}: {error.strerror}") from None
    point = public_key(key)
    try:
        board = firmware_image.parse(data).board
    except firmware_image.ImageError as error:
        raise ImageFailed(f"{path} is no image: {error}") from None
    image, why = firmware_image.judge(data, board, 0, (point,))
    if image is None:
        raise ImageFailed(f"{path} is refused: {why}")
    if image.size != len(data):
        raise ImageFailed(f"{path} is refused: there are {len(data) - image.size} bytes behind the image")
    result = mcuboot.Image.verify(str(path), _imgtool_key(key))[0]
    if result != mcuboot.VerifyResult.OK:
        raise ImageFailed(f"{path} is refused by imgtool: {result.name}")
    return image


def inspect(data: bytes) -> dict[str, Any]:
    """What an image says of itself; nothing of it is checked but its structure. ImageFailed."""
    try:
        image = firmware_image.parse(data)
        about = describe(image)
    except firmware_image.ImageError as error:
        raise ImageFailed(str(error)) from None
    return {**about, "files": {name: len(content) for name, content in _files(data, image).items()}}


def describe(image: firmware_image.Image) -> dict[str, Any]:
    """What header and TLVs say, from a file or from a cabinet. Errors: ImageError of its manifest."""
    return {
        "version": image.version,
        "counter": image.counter,
        "board": image.board,
        "bytes": image.size,
        "hash": image.hash.hex(),
        "key": image.key_hash.hex(),
        "manifest": image.manifest(),
    }


def _files(data: bytes, image: firmware_image.Image) -> dict[str, bytes]:
    begin = firmware_image.HEADER_BYTES
    try:
        return read_romfs(data[begin : begin + image.payload])
    except ValueError as error:
        raise ImageFailed(f"its payload is no ROMFS: {error}") from None

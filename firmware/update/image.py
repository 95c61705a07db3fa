"""An application image as imgtool of MCUboot makes it, judged to the last byte. README.md has the layout.

Nothing in an image is believed before it is checked against the bytes that are there, so any garbage can be given to
`parse`. Only `judge`, or all steps of `check`, say that an image may be started.
"""

import hashlib
import json
import struct

import native

MAGIC = 0x96F3B83D
HEADER_BYTES = 32
_HEADER = "<IIHHIIBBHII"  # magic, load address, header, protected TLVs, payload, flags, version (4), padding
_INFO = "<HH"  # magic of a TLV area, its bytes with this head; of a TLV its type and bytes
_PROTECTED, _PLAIN = 0x6908, 0x6907

COUNTER, BOARD, MANIFEST = 0x50, 0xA0, 0xA1  # protected TLVs; from 0x00A0 on types are the vendor's
SHA256, KEY_HASH, SIGNATURE = 0x10, 0x01, 0x22
MANIFEST_BYTES = 4096  # at most
ROMFS = b"\xd2\xcd\x31"

# What a public key of P-256 begins with in DER (RFC 5480: id-ecPublicKey, secp256r1), before the point of 65 bytes.
_SPKI = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00"
_PIECE_BYTES = 512  # hashed at once while the cabinet runs


class ImageError(Exception):
    """It is no image that may be started; the text says why."""


class Image:
    """What an image says of itself. size: all of its bytes; signed: those that its hash covers; payload: of the ROMFS.

    The flags are the slot's, not the image's (slots.py).
    """

    bootable = True
    permanent = False
    pending = confirmed = active = False

    def __init__(self, version: str, payload: int, signed: int, size: int):
        self.version = version
        self.payload = payload
        self.signed = signed
        self.size = size
        self.counter = 0
        self.board = ""
        self.manifest_bytes = b""
        self.hash = b""
        self.key_hash = b""
        self.signature = b""  # r and s, 32 bytes each

    def manifest(self) -> dict:
        """Versions and hashes by name. ImageError: it is no JSON object."""
        try:
            found = json.loads(self.manifest_bytes.decode())
        except (ValueError, UnicodeError):
            found = None
        if not isinstance(found, dict):
            raise ImageError("its manifest is no JSON object")
        return found


def parse(data) -> Image:
    """The image at the beginning of `data`, a memoryview of a slot or bytes of a file. ImageError: there is none.

    Hash and signature are read and not checked.
    """
    if len(data) < HEADER_BYTES:
        raise ImageError("it ends within the header")
    fields = struct.unpack(_HEADER, bytes(data[:HEADER_BYTES]))
    magic, address, header, protected, payload, flags = fields[:6]
    if magic != MAGIC:
        raise ImageError("it does not begin with MCUboot's magic")
    if address or header != HEADER_BYTES or flags or fields[10]:
        raise ImageError("its header asks for what this loader does not do")
    if payload > len(data) - HEADER_BYTES:
        raise ImageError("it is truncated, or too large")
    tlvs, plain = HEADER_BYTES + payload, HEADER_BYTES + payload + protected
    sealed = _tlvs(data, tlvs, _PROTECTED, (COUNTER, BOARD, MANIFEST))
    if tlvs + sealed[0][1] != plain:
        raise ImageError("its protected TLVs are not as long as its header says")
    open_ = _tlvs(data, plain, _PLAIN, (SHA256, KEY_HASH, SIGNATURE))
    version = "%d.%d.%d" % fields[6:9] + ("+%d" % fields[9] if fields[9] else "")
    image = Image(version, payload, plain, plain + open_[0][1])
    image.counter = struct.unpack("<I", _value(data, sealed[COUNTER], 4))[0]
    image.board = _text(_value(data, sealed[BOARD], 0))
    image.manifest_bytes = _value(data, sealed[MANIFEST], 0)
    image.hash = _value(data, open_[SHA256], 32)
    image.key_hash = _value(data, open_[KEY_HASH], 32)
    image.signature = raw_signature(_value(data, open_[SIGNATURE], 0))
    return image


def _tlvs(data, offset: int, magic: int, kinds) -> dict:
    """Type -> (offset, bytes) of a TLV area, and 0 -> (offset, bytes) of the area itself. Each of `kinds` is there once."""
    if len(data) - offset < 4:
        raise ImageError("it is truncated")
    found_magic, total = struct.unpack(_INFO, bytes(data[offset : offset + 4]))
    if found_magic != magic:
        raise ImageError("it has no TLV area where one must be")
    if total > len(data) - offset:
        raise ImageError("it is truncated")
    found = {0: (offset, total)}
    end, place = offset + total, offset + 4
    while place < end:
        if end - place < 4:
            raise ImageError("a TLV ends outside its area")
        kind, length = struct.unpack(_INFO, bytes(data[place : place + 4]))
        place += 4
        if length > end - place:
            raise ImageError("a TLV ends outside its area")
        if kind not in kinds or kind in found:
            raise ImageError("TLV 0x%x is not expected, or twice there" % kind)
        found[kind] = (place, length)
        place += length
    if place != end or len(found) != len(kinds) + 1:
        raise ImageError("a TLV is missing")
    return found


def _value(data, place, length: int) -> bytes:
    if (length and place[1] != length) or place[1] > MANIFEST_BYTES:
        raise ImageError("a TLV has a length that its type does not have")
    return bytes(data[place[0] : place[0] + place[1]])


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeError:
        return ""  # no board is called so


def raw_signature(der: bytes) -> bytes:
    """r and s of an ECDSA signature in DER (RFC 3279 2.2.3), in the one shortest form. Behind it zeros may pad up to 72 bytes,
    as imgtool's --pad-sig does. ImageError: anything else."""
    wrong = ImageError("its signature is not DER as it must be")
    if len(der) < 8 or len(der) > 72 or der[0] != 0x30 or der[1] > len(der) - 2:
        raise wrong
    end = 2 + der[1]
    r, place = _integer(der, 2, end, wrong)
    s, place = _integer(der, place, end, wrong)
    if place != end or any(der[end:]):
        raise wrong
    return r + s


def _integer(der: bytes, place: int, end: int, wrong):
    """(32 bytes, big endian; where the next begins)"""
    if end - place < 3 or der[place] != 0x02:
        raise wrong
    length = der[place + 1]
    first, place = place + 2, place + 2 + length
    if not length or length > 33 or place > end or der[first] & 0x80:
        raise wrong
    if der[first] == 0 and (length == 1 or not der[first + 1] & 0x80):
        raise wrong  # zero, or a longer form than needed
    number = der[first:place]
    if length == 33:
        if number[0]:
            raise wrong
        number = number[1:]
    return bytes(32 - len(number)) + number, place


def key_hash(key: bytes) -> bytes:
    """SHA-256 of the public key in DER, as MCUboot names keys."""
    return native.sha256(_SPKI + key)


def _claims(image: Image, data, board: str, floor: int, keys) -> str:
    """What can be said without the hash of all bytes: "" or why it is not for this cabinet."""
    if image.board != board:
        return "the image is for board %s, this is %s: build it for this one" % (image.board, board)
    if image.counter < floor:
        return "its security counter %d is below %d: an older version that must not run again" % (image.counter, floor)
    if bytes(data[HEADER_BYTES : HEADER_BYTES + 3]) != ROMFS:
        return "its payload is no ROMFS"
    if _signer(image, keys) is None:
        return "it is signed with a key that this cabinet does not know"
    return ""


def _signer(image: Image, keys):
    for key in keys:
        if key_hash(key) == image.key_hash:
            return key
    return None


def _proof(image: Image, digest: bytes, keys) -> str:
    if digest != image.hash:
        return "its bytes are not those that were hashed: transfer it again"
    signer = _signer(image, keys)
    if signer is None or not native.p256_verify(signer, digest, image.signature):
        return "its signature is wrong"
    return ""


def judge(data, board: str, floor: int, keys):
    """(Image, "") of an image that may be started, else (None, why). Takes as long as a hash of all bytes."""
    try:
        image = parse(data)
    except ImageError as error:
        return None, str(error)
    why = _claims(image, data, board, floor, keys) or _proof(image, native.sha256(data[: image.signed]), keys)
    return (None, why) if why else (image, "")


def check(data, board: str, floor: int, keys):
    """The same in pieces, for a cabinet that runs: yields after each; returns "" or why not.

    The piece with the signature is the longest one: README.md of native/boards says how long.
    """
    try:
        image = parse(data)
    except ImageError as error:
        return str(error)
    why = _claims(image, data, board, floor, keys)
    if why:
        return why
    pieces = digest_in_pieces(data, image.signed)
    digest = next(pieces)
    while not digest:
        yield
        digest = next(pieces)
    return _proof(image, digest, keys)


def digest_in_pieces(data, length: int, piece: int = _PIECE_BYTES):
    """Yields b"" after each piece of `data`, then the SHA-256 of its first `length` bytes."""
    hashed = hashlib.sha256()
    for first in range(0, length, piece):
        hashed.update(data[first : min(first + piece, length)])
        yield b""
    yield hashed.digest()

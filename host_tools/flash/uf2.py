"""UF2 files for a Raspberry Pi Pico, checked block by block before a byte goes anywhere.

Sources: Microsoft's UF2 specification (block layout, flags, family); RP2040 datasheet, "UF2 Format Details" (family required,
payload of 256 bytes, 256-byte alignment, writes behind the end of the flash wrap) and "Boot Sequence" (CRC of the second stage).
A UF2 file has no checksum over its payload: only its first 256 bytes, the second stage of the boot, have one here.
"""

import struct
from dataclasses import dataclass
from typing import Final

BLOCK_BYTES: Final = 512
PAYLOAD_BYTES: Final = 256  # the only size that the RP2040's bootloader takes
RP2040: Final = 0xE48BFF56
FLASH: Final = 0x10000000
FLASH_BYTES: Final = 2 << 20  # of a Raspberry Pi Pico
FAMILY_PRESENT: Final = 0x2000
START: Final = b"UF2\n"

_MAGICS: Final = (0x0A324655, 0x9E5D5157, 0x0AB16F30)
_HEAD: Final = struct.Struct("<8I")  # two magics, flags, address, payload's bytes, number, of how many, family


class Uf2Error(Exception):
    """The file is no UF2 that may be programmed; the text says what is wrong, and in which block."""


@dataclass(frozen=True)
class Uf2:
    """family: of the chip; payload: what the flash holds afterwards, from its first byte on."""

    family: int
    blocks: int
    payload: bytes


def parse(data: bytes) -> Uf2:
    """Checks each block. Errors: Uf2Error."""
    if not data:
        raise Uf2Error("it is empty")
    if len(data) % BLOCK_BYTES:
        raise Uf2Error(f"it has {len(data)} bytes, which are no whole blocks of {BLOCK_BYTES}: it is cut short")
    blocks = len(data) // BLOCK_BYTES
    if blocks * PAYLOAD_BYTES > FLASH_BYTES:
        raise Uf2Error(f"it has {blocks * PAYLOAD_BYTES} bytes for a flash of {FLASH_BYTES}")
    pieces = [
        _block(data[number * BLOCK_BYTES : (number + 1) * BLOCK_BYTES], number, blocks) for number in range(blocks)
    ]
    payload = b"".join(pieces)
    if _boot_crc(payload[:252]) != int.from_bytes(payload[252:256], "little"):
        raise Uf2Error("its first 256 bytes do not have the checksum without which an RP2040 does not start them")
    return Uf2(RP2040, blocks, payload)


def _block(block: bytes, number: int, blocks: int) -> bytes:
    """The payload of the block that must be the file's `number`th."""
    first, second, flags, address, size, own, total, family = _HEAD.unpack_from(block)
    (last,) = struct.unpack_from("<I", block, BLOCK_BYTES - 4)
    if (first, second, last) != _MAGICS:
        raise Uf2Error(f"block {number} does not begin and end as a UF2 block does")
    if flags != FAMILY_PRESENT:
        raise Uf2Error(
            f"block {number} has flags 0x{flags:x}; a Pico's have 0x{FAMILY_PRESENT:x}, the family, and no others"
        )
    if family != RP2040:
        raise Uf2Error(f"block {number} is for chips of the family 0x{family:08x}; a Pico is 0x{RP2040:08x}")
    if (own, total) != (number, blocks):
        raise Uf2Error(
            f"block {number} of {blocks} says that it is block {own} of {total}: one is missing, or at another place"
        )
    if size != PAYLOAD_BYTES:
        raise Uf2Error(f"block {number} has a payload of {size} bytes; a Pico takes {PAYLOAD_BYTES}")
    wanted = FLASH + number * PAYLOAD_BYTES
    if address != wanted:
        raise Uf2Error(f"block {number} is for address 0x{address:08x}; 0x{wanted:08x} comes next in the flash")
    return block[_HEAD.size : _HEAD.size + size]


def _boot_crc(data: bytes) -> int:
    """CRC-32 as the boot ROM reckons it: polynomial 0x04C11DB7, highest bit first, from all ones, not inverted."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 & 0xFFFFFFFF) ^ (0x04C11DB7 if crc & 0x80000000 else 0)
    return crc

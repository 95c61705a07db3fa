"""Resident images for the tests: as small as the formats allow, and right in every byte."""

import hashlib
import struct
from pathlib import Path

from host_tools.flash import uf2


def boot_stage(fill: int = 0x42) -> bytes:
    """256 bytes with the checksum of the RP2040's boot ROM, reckoned bit by bit from its polynomial."""
    body = bytes((fill + place) & 0xFF for place in range(252))
    crc = 0xFFFFFFFF
    for bit in range(len(body) * 8):
        top = crc >> 31 ^ (body[bit // 8] >> (7 - bit % 8) & 1)
        crc = crc << 1 & 0xFFFFFFFF
        if top:
            crc ^= 0x04C11DB7
    return body + struct.pack("<I", crc)


def pico_uf2(blocks: int = 8, content: bytes = b"") -> bytes:
    """A UF2 file as picotool makes it: 256 bytes a block, the rest zero."""
    flash = boot_stage() + content
    flash += bytes(place * 13 & 0xFF for place in range(blocks * 256 - len(flash)))
    made = b""
    for number in range(blocks):
        head = (0x0A324655, 0x9E5D5157, 0x2000, 0x10000000 + 256 * number, 256, number, blocks, uf2.RP2040)
        piece = flash[256 * number : 256 * (number + 1)]
        made += struct.pack("<8I", *head) + piece.ljust(476, b"\0") + struct.pack("<I", 0x0AB16F30)
    return made


def elf(segments: list[tuple[int, bytes]], machine: int = 40) -> bytes:
    """A program of 32 bits, little endian; segments: (physical address, bytes). Machine 40 is Arm."""
    headers, place = b"", 52 + 32 * len(segments)
    for address, data in segments:
        headers += struct.pack("<8I", 1, place, address, address, len(data), len(data), 5, 4)
        place += len(data)
    ident = b"\x7fELF\x01\x01\x01" + bytes(9)
    head = struct.pack("<2H5I6H", 2, machine, 1, 0x101, 52, 0, 0, 52, 32, len(segments), 0, 0, 0)
    return ident + head + headers + b"".join(data for _, data in segments)


def esp_image(chip: int) -> bytes:
    """An image with one segment in RAM, as a bootloader has, its checksum and its SHA-256.

    Source: "Firmware Image Format" of esptool's documents.
    """
    data = bytes(range(256))
    head = struct.pack("<BBBBI", 0xE9, 1, 2, 0x20, 0x40380000)
    head += struct.pack("<B3sHBHH4sB", 0xEE, bytes(3), chip, 0, 0, 0xFFFF, bytes(4), 1)
    body = head + struct.pack("<II", 0x40380000, len(data)) + data
    check = 0xEF
    for byte in data:
        check ^= byte
    body += bytes(15 - len(body) % 16) + bytes([check])
    return body + hashlib.sha256(body).digest()


def intel_hex(address: int, data: bytes) -> bytes:
    """An Intel HEX file of up to 255 bytes."""
    rows = [(2, 0, 4, struct.pack(">H", address >> 16)), (len(data), address & 0xFFFF, 0, data), (0, 0, 1, b"")]
    lines = ""
    for size, place, kind, content in rows:
        row = bytes([size, place >> 8, place & 0xFF, kind]) + content
        lines += f":{row.hex().upper()}{-sum(row) & 0xFF:02X}\n"
    return lines.encode()


def volume(folder: Path, board_id: str = "RPI-RP2") -> Path:
    """A folder that looks as the RP2040's bootloader does."""
    folder.mkdir()
    text = f"UF2 Bootloader v3.0\nModel: Raspberry Pi RP2\nBoard-ID: {board_id}\n"
    (folder / "INFO_UF2.TXT").write_text(text)
    (folder / "INDEX.HTM").write_text("<html></html>")
    return folder

"""UF2 files: every block is checked, and what the checks let through is what the board gets."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host_tools.flash import uf2
from host_tools.flash.uf2 import Uf2Error
from tests.flash.programming_files import boot_stage, pico_uf2

WHOLE = pico_uf2()
BLOCKS = len(WHOLE) // 512


def test_a_good_file_is_the_flash_from_its_first_byte():
    found = uf2.parse(WHOLE)
    assert (found.family, found.blocks) == (0xE48BFF56, BLOCKS)
    assert found.payload == b"".join(WHOLE[512 * n + 32 : 512 * n + 288] for n in range(BLOCKS))
    assert found.payload.startswith(boot_stage())


@given(st.integers(0, BLOCKS - 1), st.integers(0, 31), st.integers(0, 7))
def test_any_bit_flipped_in_a_header_is_found(block: int, place: int, bit: int):
    damaged = bytearray(WHOLE)
    damaged[512 * block + place] ^= 1 << bit
    with pytest.raises(Uf2Error, match=f"block {block} "):
        uf2.parse(bytes(damaged))


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_any_byte_changed_is_found_or_harmless_or_payload(place: int, change: int):
    damaged = bytearray(WHOLE)
    damaged[place] ^= change
    inside = place % 512
    try:
        found = uf2.parse(bytes(damaged))
    except Uf2Error:
        assert inside < 32 or inside >= 508 or place < 288  # a header, the last magic, or the checked first stage
        return
    if inside >= 288:
        assert found == uf2.parse(WHOLE)  # padding
    else:
        assert place >= 512  # a UF2 file has no checksum of its payload


@given(st.integers(0, len(WHOLE) - 1))
def test_cut_short(length: int):
    with pytest.raises(Uf2Error):
        uf2.parse(WHOLE[:length])


@given(st.permutations(range(BLOCKS)))
def test_blocks_in_another_order(order: list[int]):
    shuffled = b"".join(WHOLE[512 * n : 512 * (n + 1)] for n in order)
    if list(order) == list(range(BLOCKS)):
        assert uf2.parse(shuffled).blocks == BLOCKS
        return
    with pytest.raises(Uf2Error, match="another place"):
        uf2.parse(shuffled)


@given(st.binary(max_size=2048))
def test_garbage(data: bytes):
    with pytest.raises(Uf2Error):
        uf2.parse(data)


def test_reasons():
    def changed(place: int, value: int) -> bytes:
        return WHOLE[:place] + struct.pack("<I", value) + WHOLE[place + 4 :]

    for place, value, why in (
        (28, 0xE48BFF59, "family 0xe48bff59"),  # RP2350
        (512 + 8, 0x2001, "flags 0x2001"),  # a comment, which the flash does not get
        (512 + 12, 0x20000000, "address 0x20000000"),  # RAM
        (512 + 16, 476, "payload of 476 bytes"),
        (512 + 24, BLOCKS + 1, f"block 1 of {BLOCKS + 1}"),
        (32, 0, "checksum"),
    ):
        with pytest.raises(Uf2Error, match=why):
            uf2.parse(changed(place, value))
    with pytest.raises(Uf2Error, match="for a flash of"):
        uf2.parse(pico_uf2(1) * 8193)

/* crc16.c - CRC-16/XMODEM by nibbles, as crc32.c: it guards the frames of an update on the console line. */
#include "cab_core.h"

uint16_t cab_crc16(const uint8_t *data, size_t length, uint16_t start)
{
    static const uint16_t table[16] = {
        0x0000u, 0x1021u, 0x2042u, 0x3063u, 0x4084u, 0x50A5u, 0x60C6u, 0x70E7u,
        0x8108u, 0x9129u, 0xA14Au, 0xB16Bu, 0xC18Cu, 0xD1ADu, 0xE1CEu, 0xF1EFu,
    };
    uint16_t crc = start;
    for (size_t i = 0; i < length; i++) {
        crc = (uint16_t)(crc << 4) ^ table[(crc >> 12 ^ data[i] >> 4) & 15u];
        crc = (uint16_t)(crc << 4) ^ table[(crc >> 12 ^ data[i]) & 15u];
    }
    return crc;
}

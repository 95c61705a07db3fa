/* bytes.h - little-endian fields of packs and saved rounds, byte by byte: no alignment, no host order. Private to core/. */
#ifndef CAB_BYTES_H
#define CAB_BYTES_H

#include <stdint.h>

static inline uint16_t cab_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] | (unsigned)p[1] << 8);
}

static inline uint32_t cab_get32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t cab_get64(const uint8_t *p)
{
    return cab_get32(p) | (uint64_t)cab_get32(p + 4) << 32;
}

static inline void cab_put16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

static inline void cab_put32(uint8_t *p, uint32_t value)
{
    cab_put16(p, (uint16_t)value);
    cab_put16(p + 2, (uint16_t)(value >> 16));
}

static inline void cab_put64(uint8_t *p, uint64_t value)
{
    cab_put32(p, (uint32_t)value);
    cab_put32(p + 4, (uint32_t)(value >> 32));
}

/* The number of the lowest set bit; mask is not 0. */
static inline unsigned cab_lowest_bit(uint32_t mask)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctz(mask);
#else
    unsigned bit = 0;
    while (!(mask & 1u)) {
        mask >>= 1;
        bit++;
    }
    return bit;
#endif
}

#endif

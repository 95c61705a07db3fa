/* bytes.h - little-endian fields of packs, byte by byte: no alignment, no host order. Private to core/. */
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

static inline void cab_put32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
    p[2] = (uint8_t)(value >> 16);
    p[3] = (uint8_t)(value >> 24);
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

/* How many bits are set: few, as a rule, and a Cortex-M3 has no instruction for it. */
static inline unsigned cab_count_bits(uint32_t mask)
{
    unsigned count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

#endif

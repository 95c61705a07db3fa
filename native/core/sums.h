/* sums.h - sums of 128 bits, for squares. Private to core/. */
#ifndef CAB_SUMS_H
#define CAB_SUMS_H

#include <stdint.h>

/* hi:lo += a x b, modulo 2^128; by 32-bit halves, since C99 has no wider product. */
static inline void cab_add_product(uint64_t *hi, uint64_t *lo, uint64_t a, uint64_t b)
{
    const uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    const uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
    const uint64_t middle = (p00 >> 32) + (p01 & UINT32_MAX) + p10; /* at most 2^64 - 1 */
    const uint64_t low = middle << 32 | (p00 & UINT32_MAX);

    *lo += low;
    *hi += a1 * b1 + (p01 >> 32) + (middle >> 32) + (*lo < low);
}

#endif

/* chacha20.c - the ChaCha20 block function of RFC 8439. */
#include "cab_core.h"
#include "bytes.h"
#include "chacha20.h"

#include <string.h>

void cab_chacha20_block(const uint8_t key[32], uint32_t counter, const uint8_t nonce[12], uint32_t words[16])
{
    uint32_t start[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u};
    uint32_t x[16];

    for (unsigned i = 0; i < 8; i++)
        start[4 + i] = cab_get32(key + 4 * i);
    start[12] = counter;
    for (unsigned i = 0; i < 3; i++)
        start[13 + i] = cab_get32(nonce + 4 * i);

    memcpy(x, start, sizeof x);
    for (unsigned double_round = 0; double_round < 10; double_round++) {
        QUARTER_ROUND(x[0], x[4], x[8], x[12]);
        QUARTER_ROUND(x[1], x[5], x[9], x[13]);
        QUARTER_ROUND(x[2], x[6], x[10], x[14]);
        QUARTER_ROUND(x[3], x[7], x[11], x[15]);
        QUARTER_ROUND(x[0], x[5], x[10], x[15]);
        QUARTER_ROUND(x[1], x[6], x[11], x[12]);
        QUARTER_ROUND(x[2], x[7], x[8], x[13]);
        QUARTER_ROUND(x[3], x[4], x[9], x[14]);
    }
    for (unsigned i = 0; i < 16; i++)
        words[i] = x[i] + start[i];
}

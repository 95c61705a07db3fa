/* chacha20.c - the ChaCha20 block function and the random stream of a round. */
#include "cab_core.h"
#include "bytes.h"

#include <string.h>

#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))

/* RFC 8439, 2.1. A macro, so that the sixteen words can stay in registers where there are enough of them. */
#define QUARTER_ROUND(a, b, c, d)  \
    do {                           \
        (a) += (b);                \
        (d) = ROTL((d) ^ (a), 16); \
        (c) += (d);                \
        (b) = ROTL((b) ^ (c), 12); \
        (a) += (b);                \
        (d) = ROTL((d) ^ (a), 8);  \
        (c) += (d);                \
        (b) = ROTL((b) ^ (c), 7);  \
    } while (0)

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

void cab_stream_init(cab_stream_t *stream, const uint8_t seed[CAB_SEED_BYTES], uint32_t position)
{
    memset(stream, 0, sizeof *stream);
    memcpy(stream->seed, seed, CAB_SEED_BYTES);
    stream->position = position;
}

static uint32_t next_word(cab_stream_t *stream)
{
    static const uint8_t nonce[12] = {0};
    const uint32_t block = stream->position / 16;

    if (stream->block != block + 1) {
        cab_chacha20_block(stream->seed, block, nonce, stream->words);
        stream->block = block + 1;
    }
    return stream->words[stream->position++ & 15u];
}

bool cab_scale(uint32_t word, uint32_t range, uint32_t *value)
{
    if (range == 0) {
        *value = word;
        return true;
    }
    /* (2^32 - range) mod range = 2^32 mod range: so many words at the top have no partner for every value. */
    if (word > UINT32_MAX - (0u - range) % range)
        return false;
    *value = word % range;
    return true;
}

cab_error_t cab_draw(cab_stream_t *stream, uint32_t range, uint32_t *value)
{
    for (unsigned rejected = 0; rejected <= CAB_MAX_REJECTED; rejected++)
        if (cab_scale(next_word(stream), range, value))
            return CAB_OK;
    return CAB_ERR_RANDOM;
}

/* stream.c - the random stream of a round: a seed's ChaCha20 key stream, word by word, and unbiased draws from it. */
#include "cab_core.h"

#include <string.h>

void cab_stream_init(cab_stream_t *stream, const uint8_t seed[CAB_SEED_BYTES])
{
    memcpy(stream->seed, seed, CAB_SEED_BYTES);
    stream->block = 0;
    stream->position = 0;
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

cab_error_t cab_draw64(cab_stream_t *stream, uint64_t range, uint64_t *value)
{
    const uint64_t last = UINT64_MAX - (0u - range) % range; /* as in cab_scale */

    for (unsigned rejected = 0; rejected <= CAB_MAX_REJECTED; rejected++) {
        const uint64_t high = next_word(stream);
        const uint64_t word = high << 32 | next_word(stream);
        if (word <= last) {
            *value = word % range;
            return CAB_OK;
        }
    }
    return CAB_ERR_RANDOM;
}

/* stuck_stream.c - what a round does when its random stream never yields a usable word. No seed does that (the chance is
 * below 2^-128 even for the worst range), so the block function is replaced by one that gives all ones. */
#include "cab_core.h"

#include <stdio.h>
#include <string.h>

static unsigned blocks;

void cab_chacha20_block(const uint8_t key[32], uint32_t counter, const uint8_t nonce[12], uint32_t words[16])
{
    (void)key;
    (void)counter;
    (void)nonce;
    blocks++;
    memset(words, 0xFF, 16 * sizeof words[0]);
}

#define DEMAND(condition)                        \
    do {                                         \
        if (!(condition)) {                      \
            printf("line %d: %s\n", __LINE__, #condition); \
            return 1;                            \
        }                                        \
    } while (0)

int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 16], seed[CAB_SEED_BYTES];
    cab_pack_t pack;
    cab_round_t round;
    cab_event_t event;
    cab_stream_t stream;
    uint32_t value;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;

    DEMAND(file);
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    DEMAND(cab_pack_open(&pack, bytes, length) == CAB_OK);

    cab_stream_init(&stream, seed);
    DEMAND(cab_draw(&stream, 3, &value) == CAB_ERR_RANDOM);
    DEMAND(stream.position == CAB_MAX_REJECTED + 1 && blocks == 9);
    DEMAND(cab_draw(&stream, 4, &value) == CAB_OK && value == 3);

    uint64_t wide;
    DEMAND(cab_draw64(&stream, 3, &wide) == CAB_ERR_RANDOM);
    DEMAND(cab_draw64(&stream, 16, &wide) == CAB_OK && wide == 15);

    const cab_play_t play = {1, 0, 0, 0, false};
    DEMAND(cab_round_begin(&round, &pack, &play, seed) == CAB_OK);
    for (int i = 0; i < 2; i++)
        DEMAND(cab_round_next(&round, &event) == CAB_ERR_RANDOM);
    DEMAND(!cab_round_finished(&round) && round.award_pence == 0 && round.shown_mode == CAB_NONE);
    DEMAND(strcmp(cab_error_name(CAB_ERR_RANDOM), "random") == 0);
    return 0;
}

/* fuzz_pack.c - opens arbitrary bytes as a pack and plays what is accepted, for libFuzzer, AFL or the driver below.
 *
 * A fuzzer:   clang -fsanitize=fuzzer,address,undefined -I native/core tests/native/fuzz_pack.c native/core/<all>.c
 * The tests:  gcc -DCAB_FUZZ_DRIVER -fsanitize=address,undefined ...; ./fuzz SEED ROUNDS PACK...
 *
 * Random changes never survive the hash, so every input is tried twice: as it is, and under the hash that it asks for.
 * Inputs are copied to blocks of exactly their size, so that the sanitizer sees a read one byte beyond.
 */
#include "cab_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_AT = 32, HASH_END = 64, MOST_EVENTS = 400, CRC_AT = CAB_ROUND_STATE_BYTES - 4 };

static unsigned long opened, refused, resumed; /* so that a run can say what it reached */

static void *exactly(const void *bytes, size_t length)
{
    uint8_t *copy = malloc(length ? length : 1);
    if (!copy)
        abort();
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

static void demand(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_pack: %s\n", what);
        abort();
    }
}

/* To the end of the round, or for as many events as a fuzzer's patience allows. */
static void play_on(cab_round_t *round)
{
    for (unsigned i = 0; i < MOST_EVENTS && !cab_round_finished(round); i++) {
        cab_event_t event;
        unsigned first;
        const unsigned options = cab_round_options(round, &first);
        if (options)
            demand(cab_round_choose(round, round->stream.seed[i & 31u] % options) == CAB_OK, "an option was refused");
        else
            demand(cab_round_next(round, &event) == CAB_OK, "a round stopped");
    }
}

/* A state changed by the input's own bytes, under a right CRC: refused, or good for the rest of a round. */
static void resume_changed(const cab_pack_t *pack, const uint8_t *state, const uint8_t *data, size_t size, unsigned turn)
{
    uint8_t changed[CAB_ROUND_STATE_BYTES], *copy;
    cab_round_t round;

    memcpy(changed, state, sizeof changed);
    for (unsigned i = 0; i < 3; i++)
        changed[data[(turn * 7u + i) % size] % CRC_AT] ^= data[(turn * 11u + i) % size];
    const uint32_t crc = cab_crc32(changed, CRC_AT, 0);
    for (unsigned i = 0; i < 4; i++)
        changed[CRC_AT + i] = (uint8_t)(crc >> 8 * i);
    copy = exactly(changed, sizeof changed);
    if (cab_round_resume(&round, pack, copy, sizeof changed) == CAB_OK) {
        resumed++;
        play_on(&round);
    }
    free(copy);
}

static void play(const cab_pack_t *pack, unsigned mode, const uint8_t *data, size_t size)
{
    uint8_t seed[CAB_SEED_BYTES], state[CAB_ROUND_STATE_BYTES], again[CAB_ROUND_STATE_BYTES];
    cab_round_t round, other;
    cab_event_t event;
    cab_error_t error;

    cab_sha256(data, size, seed);
    seed[0] ^= (uint8_t)mode;
    error = cab_round_begin(&round, pack, mode, pack->max_unit_pence, seed);
    demand(error == CAB_OK || error == CAB_ERR_MODE, "a round did not begin");
    if (error)
        return;
    for (unsigned i = 0; i < MOST_EVENTS && !cab_round_finished(&round); i++) {
        unsigned first;
        const unsigned options = cab_round_options(&round, &first);

        cab_round_save(&round, state);
        demand(cab_round_resume(&other, pack, state, sizeof state) == CAB_OK, "a saved round was refused");
        cab_round_save(&other, again);
        demand(memcmp(state, again, sizeof state) == 0, "a resumed round saves other bytes");
        resume_changed(pack, state, data, size, i);
        if (options) {
            demand(cab_round_next(&round, &event) == CAB_ERR_CHOICE_DUE, "a choice was skipped");
            demand(cab_round_choose(&round, options) == CAB_ERR_OPTION, "an option too many");
            demand(cab_round_choose(&round, seed[1] % options) == CAB_OK, "an option was refused");
        } else {
            demand(cab_round_next(&round, &event) == CAB_OK, "a round stopped");
        }
        demand(round.award_pence <= pack->max_award_pence, "an award beyond the largest");
    }
}

static void enumerate(const cab_pack_t *pack, unsigned mode)
{
    static cab_cycle_work_t work;
    cab_cycle_t result;
    const unsigned set = cab_pack_mode(pack, mode).set;
    uint64_t boards = 1;

    for (unsigned reel = 1; reel < pack->reels; reel++)
        boards *= cab_pack_strip(pack, set, reel).length;
    if (boards < 20000) {
        const cab_error_t error = cab_cycle(pack, mode, 0, 1, pack->lines, 1, &work, &result);
        demand(error == CAB_OK || error == CAB_ERR_OVERFLOW, "an enumeration was refused");
        if (!error)
            demand(result.boards == boards && result.boards_any <= boards && result.max_credits <= result.sum_credits,
                   "an enumeration does not add up");
    }
}

static void try_bytes(const uint8_t *data, size_t size)
{
    uint8_t *copy = exactly(data, size);
    cab_pack_t pack;

    if (cab_pack_open(&pack, copy, size) == CAB_OK) {
        opened++;
        for (unsigned mode = 0; mode <= pack.modes; mode++)
            play(&pack, mode, data, size);
        for (unsigned mode = 0; mode < pack.modes; mode++)
            enumerate(&pack, mode);
    } else {
        refused++;
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    if (size >= HASH_END) {
        uint8_t *sealed = exactly(data, size);
        cab_sha256_t sha;
        cab_sha256_init(&sha);
        cab_sha256_update(&sha, sealed, HASH_AT);
        cab_sha256_update(&sha, sealed + HASH_END, size - HASH_END);
        cab_sha256_final(&sha, sealed + HASH_AT);
        try_bytes(sealed, size);
        free(sealed);
    }
    return 0;
}

#ifdef CAB_FUZZ_DRIVER

static uint32_t state32;

static uint32_t next_random(void) /* xorshift32: any will do, as long as a failure can be repeated from its seed */
{
    state32 ^= state32 << 13;
    state32 ^= state32 >> 17;
    state32 ^= state32 << 5;
    return state32;
}

/* Every byte of the pack in turn, three ways. */
static void flip_everything(const uint8_t *pack, size_t size)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xFF};
    uint8_t *data = exactly(pack, size);
    for (size_t at = 0; at < size; at++)
        for (unsigned i = 0; i < sizeof flips; i++) {
            data[at] ^= flips[i];
            LLVMFuzzerTestOneInput(data, size);
            data[at] ^= flips[i];
        }
    free(data);
}

static void mutate(const uint8_t *pack, size_t size)
{
    static const uint8_t telling[] = {0, 1, 2, 3, 5, 6, 7, 15, 16, 31, 32, 127, 128, 254, 255};
    uint8_t *data = exactly(pack, size);
    size_t length = size;

    for (unsigned changes = 1 + next_random() % 4; changes; changes--) {
        const size_t at = next_random() % size;
        switch (next_random() % 4) {
        case 0:
            data[at] ^= (uint8_t)(1u << next_random() % 8);
            break;
        case 1:
            data[at] = telling[next_random() % sizeof telling];
            break;
        case 2:
            memmove(data + at, data + next_random() % (at + 1), size - at < 8 ? size - at : 8);
            break;
        default:
            length = next_random() % 8 ? length : at;
        }
    }
    LLVMFuzzerTestOneInput(data, length);
    free(data);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    state32 = (uint32_t)strtoul(argv[1], NULL, 10) | 1u;
    for (int i = 3; i < argc; i++) {
        static uint8_t pack[1 << 16];
        FILE *file = fopen(argv[i], "rb");
        if (!file)
            return 2;
        const size_t size = fread(pack, 1, sizeof pack, file);
        fclose(file);
        flip_everything(pack, size);
        for (unsigned long round = strtoul(argv[2], NULL, 10); round; round--)
            mutate(pack, size);
    }
    printf("opened %lu refused %lu resumed %lu\n", opened, refused, resumed);
    return 0;
}

#endif

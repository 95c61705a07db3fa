/* lanes.c - ChaCha20 blocks of RFC 8439 side by side, as many as the processor has room for.
 *
 * The body below is written once for "a vector of words": sixteen with AVX-512, eight with AVX2, four with what every
 * x86-64 or AArch64 has, one with any other compiler (or with CAB_PORTABLE, for tests). All give the same words.
 */
#include "cab_host.h"
#include "chacha20.h"

#include <string.h>

#define LOAD(vector, words) memcpy(&(vector), (words), sizeof(vector))

/* Adds the start value again and stores; `start` is a vector. */
#define STORE(w, x, start)                                                   \
    do {                                                                     \
        (x) += (start);                                                      \
        memcpy(blocks->word[w] + lane, &(x), sizeof(x));                     \
    } while (0)

/* Sixteen single variables, not an array, so that they live in registers. */
#define BLOCKS(function, words_t)                                                                                       \
    static void function(const uint32_t key[8][CAB_LANES], const uint32_t counter[CAB_LANES],                          \
                         const uint32_t nonce[CAB_LANES], cab_blocks_t *blocks)                                        \
    {                                                                                                                  \
        for (unsigned lane = 0; lane < CAB_LANES; lane += (unsigned)(sizeof(words_t) / 4)) {                           \
            const words_t zero = {0};                                                                                  \
            words_t x0 = zero + 0x61707865u, x1 = zero + 0x3320646eu, x2 = zero + 0x79622d32u, x3 = zero + 0x6b206574u; \
            words_t x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14 = zero, x15 = zero, k;                             \
            LOAD(x4, key[0] + lane);                                                                                   \
            LOAD(x5, key[1] + lane);                                                                                   \
            LOAD(x6, key[2] + lane);                                                                                   \
            LOAD(x7, key[3] + lane);                                                                                   \
            LOAD(x8, key[4] + lane);                                                                                   \
            LOAD(x9, key[5] + lane);                                                                                   \
            LOAD(x10, key[6] + lane);                                                                                  \
            LOAD(x11, key[7] + lane);                                                                                  \
            LOAD(x12, counter + lane);                                                                                 \
            LOAD(x13, nonce + lane);                                                                                   \
            for (unsigned double_round = 0; double_round < 10; double_round++) {                                       \
                QUARTER_ROUND(x0, x4, x8, x12);                                                                        \
                QUARTER_ROUND(x1, x5, x9, x13);                                                                        \
                QUARTER_ROUND(x2, x6, x10, x14);                                                                       \
                QUARTER_ROUND(x3, x7, x11, x15);                                                                       \
                QUARTER_ROUND(x0, x5, x10, x15);                                                                       \
                QUARTER_ROUND(x1, x6, x11, x12);                                                                       \
                QUARTER_ROUND(x2, x7, x8, x13);                                                                        \
                QUARTER_ROUND(x3, x4, x9, x14);                                                                        \
            }                                                                                                          \
            STORE(0, x0, 0x61707865u);                                                                                 \
            STORE(1, x1, 0x3320646eu);                                                                                 \
            STORE(2, x2, 0x79622d32u);                                                                                 \
            STORE(3, x3, 0x6b206574u);                                                                                 \
            LOAD(k, key[0] + lane);                                                                                    \
            STORE(4, x4, k);                                                                                           \
            LOAD(k, key[1] + lane);                                                                                    \
            STORE(5, x5, k);                                                                                           \
            LOAD(k, key[2] + lane);                                                                                    \
            STORE(6, x6, k);                                                                                           \
            LOAD(k, key[3] + lane);                                                                                    \
            STORE(7, x7, k);                                                                                           \
            LOAD(k, key[4] + lane);                                                                                    \
            STORE(8, x8, k);                                                                                           \
            LOAD(k, key[5] + lane);                                                                                    \
            STORE(9, x9, k);                                                                                           \
            LOAD(k, key[6] + lane);                                                                                    \
            STORE(10, x10, k);                                                                                         \
            LOAD(k, key[7] + lane);                                                                                    \
            STORE(11, x11, k);                                                                                         \
            LOAD(k, counter + lane);                                                                                   \
            STORE(12, x12, k);                                                                                         \
            LOAD(k, nonce + lane);                                                                                     \
            STORE(13, x13, k);                                                                                         \
            STORE(14, x14, 0u);                                                                                        \
            STORE(15, x15, 0u);                                                                                        \
        }                                                                                                              \
    }

#if defined(__GNUC__) && !defined(CAB_PORTABLE)
typedef uint32_t four_words_t __attribute__((vector_size(16)));
BLOCKS(blocks_4, four_words_t)
#define BLOCKS_ANYWHERE blocks_4
#else
BLOCKS(blocks_1, uint32_t)
#define BLOCKS_ANYWHERE blocks_1
#endif

#if defined(__GNUC__) && defined(__x86_64__) && !defined(CAB_PORTABLE)
typedef uint32_t eight_words_t __attribute__((vector_size(32)));
typedef uint32_t sixteen_words_t __attribute__((vector_size(64)));
__attribute__((target("avx2"))) BLOCKS(blocks_8, eight_words_t)
__attribute__((target("avx512f"))) BLOCKS(blocks_16, sixteen_words_t)
#endif

void cab_chacha20_lanes(const uint32_t key[8][CAB_LANES], const uint32_t counter[CAB_LANES],
                        const uint32_t nonce[CAB_LANES], cab_blocks_t *blocks)
{
#if defined(__GNUC__) && defined(__x86_64__) && !defined(CAB_PORTABLE)
    if (__builtin_cpu_supports("avx512f")) {
        blocks_16(key, counter, nonce, blocks);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        blocks_8(key, counter, nonce, blocks);
        return;
    }
#endif
    BLOCKS_ANYWHERE(key, counter, nonce, blocks);
}

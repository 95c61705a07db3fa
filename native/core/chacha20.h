/* chacha20.h - the quarter round of ChaCha20, RFC 8439 section 2.1. */
#ifndef CAB_CHACHA20_H
#define CAB_CHACHA20_H

#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))

/* A macro, so that the sixteen words can stay in registers where there are enough of them, and so that a word may be a
 * vector of words. */
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

#endif

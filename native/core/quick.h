/* quick.h - rounds that can be added up from tables: how the parts of a simulation share them. Private to core/.
 *
 * plan.c turns a mode into a plan, quick.c plays it, simulate.c hands what is left to the round function.
 */
#ifndef CAB_QUICK_H
#define CAB_QUICK_H

#include "wins.h"

/* A function compiled for several processors; the loader takes the best one. */
#if defined(__GNUC__) && defined(__x86_64__) && defined(__gnu_linux__) && !defined(CAB_PORTABLE)
#define CAB_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CAB_VECTORS
#endif

enum {
    MOST_ROWS = 32,            /* of a table that a plan draws from */
    MOST_DRAWING = 4,          /* VALUES steps of a plan, and PILE steps */
    MOST_PLAIN = (1 << 30) - 1 /* the squares of CAB_LANES awards of so many credits fit in 64 bits */
};

/* A draw from 0 ... length-1 without a division: word x inverse / 2^32 is the quotient or one less. */
typedef struct {
    uint32_t length, inverse;
    uint32_t last; /* word that is accepted */
} cab_range_t;

static inline uint32_t cab_reduce(cab_range_t range, uint32_t word)
{
    const uint32_t quotient = (uint32_t)((uint64_t)word * range.inverse >> 32);
    const uint32_t rest = word - quotient * range.length;
    return rest < range.length ? rest : rest - range.length;
}

/* A table as draws see it: row i is drawn by the values below below[i], and not by those of the rows before. */
typedef struct {
    cab_range_t range;
    uint32_t below[MOST_ROWS];
    uint32_t credits[MOST_ROWS]; /* what the row is worth, 0 if it pays none */
    bool nothing[MOST_ROWS];     /* the row does nothing */
} cab_draws_t;

/* The steps of a mode, by kind; counters are numbers of bytes in a profile. */
typedef struct {
    uint8_t counter;
    cab_draws_t draws;
} cab_drawing_t;

typedef struct {
    uint8_t counter;
    uint8_t needed;     /* CAB_NONE: no other symbol is */
    uint8_t least, most;
    uint8_t feature;    /* that the quick way can play; CAB_NONE: something else happens */
} cab_trigger_t;

typedef struct {
    uint8_t counter;
    uint16_t each;
} cab_adds_t;

typedef struct {
    const cab_wins_t *wins;
    cab_range_t range[CAB_MAX_REELS];
    uint32_t scatter_pay[CAB_MAX_SCATTERS][CAB_MAX_CELLS + 1]; /* credits by count in view */
    uint8_t scatter_counter[CAB_MAX_SCATTERS];
    uint8_t scatters; /* 0 where they do not pay */
    uint8_t values, collects, piles, triggers, adds;
    uint8_t collect[CAB_MAX_STEPS];       /* counters */
    cab_drawing_t value[MOST_DRAWING], pile[MOST_DRAWING];
    cab_trigger_t trigger[CAB_MAX_STEPS]; /* AWARD, and RESPIN */
    cab_adds_t add[CAB_MAX_STEPS];
    cab_draws_t modifier;
    uint8_t modified; /* words drawn before the stops: 1 with a modifier */
} cab_plan_t;

typedef struct {
    const cab_pack_t *pack;
    const uint8_t *policy;
    cab_plan_t base;
    cab_plan_t feature[CAB_MAX_FEATURES]; /* the spins of features that the quick way can play */
    uint64_t most_credits;                /* a round of more must be played by the round function */
} cab_quick_t;

/* What rounds of the quick way won, in credits. */
typedef struct {
    uint64_t base, scatter, cash, features, hits, rounds, most, spins;
    uint64_t begun[CAB_MAX_FEATURES];
    uint64_t squares_hi, squares_lo;
} cab_tally_t;

/* Makes the plans of a base mode. False: all of its rounds must be played by the round function. wins: tables by mode. */
bool cab_quick_make(cab_quick_t *quick, const cab_pack_t *pack, unsigned mode, uint32_t unit_pence, const uint8_t *policy,
                    const cab_wins_t *const *wins);

/* Plays those of CAB_LANES rounds whose bits are set in `lanes`; key[0 ... 7] are their seeds. Fills *tally and returns the
 * lanes that the round function must play. */
uint32_t cab_quick_rounds(const cab_quick_t *quick, const uint32_t key[8][CAB_LANES], uint32_t lanes, cab_tally_t *tally);

#endif

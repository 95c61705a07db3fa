/* cab_host.h - the part of the C core that only host tools use: many key stream blocks at once, tables of a mode's wins,
 * all windows of a mode, many rounds.
 *
 *   lanes.c     ChaCha20 blocks side by side
 *   tables.c    what the windows of a mode win, looked up by stops
 *   cycle.c     all windows of a mode
 *   simulate.c  many rounds
 *
 * It keeps the rules of cab_core.h: memory of the caller, integers, no state. Boards do not build it. Everything here gives
 * the same results with any C99 compiler; GCC and Clang on x86-64 make it faster.
 */
#ifndef CAB_HOST_H
#define CAB_HOST_H

#include "cab_core.h"

/* -------------------------------------------------------------------------------------------------- key stream blocks */

enum { CAB_LANES = 16 };

/* Word w of lane i is word[w][i], so a round's stops are drawn for all lanes with the same few instructions. */
typedef struct {
    uint32_t word[16][CAB_LANES];
} cab_blocks_t;

/* The blocks of CAB_LANES keys, each with its own counter and first nonce word; the other nonce words are zero. Lane i of
 * key[0 ... 7] is the i-th key as little-endian words. */
void cab_chacha20_lanes(const uint32_t key[8][CAB_LANES], const uint32_t counter[CAB_LANES],
                        const uint32_t nonce[CAB_LANES], cab_blocks_t *blocks);

/* ------------------------------------------------------------------------------------------------------- win tables */

enum {
    CAB_WIN_PREFIXES = 262144, /* combinations of stops of the first reels */
    CAB_WIN_THREADS = 524288,  /* numbers in the lists of open threads */
    CAB_WIN_NEXT = 1048576,    /* transitions */
    CAB_WIN_STATES = 16384,    /* at one depth */
    CAB_WIN_COUNTERS = 8       /* sets of symbols whose cells in view are counted */
};

#define CAB_WIN_OPEN 0x80000000u

/* A thread is a line (ways: a symbol) on its way through the reels. It ends, with credits or none, or is open. */

/* What the windows of one mode win, without feature multipliers. Large: for memory that lives long. Read only once made,
 * and then any number of threads of execution may use it. */
typedef struct {
    /* By the stops of the first `depth` reels, the last one running fastest: what they win, or, where threads are open,
     * CAB_WIN_OPEN + where it stands in `threads`: low and high half of what the ended ones won, how many are open, their
     * states. */
    uint32_t prefix[CAB_WIN_PREFIXES];
    uint16_t threads[CAB_WIN_THREADS];
    /* Behind reel d a thread in state s goes, at a stop, to next[first[d] + s * length[d] + stop]: CAB_WIN_OPEN + state,
     * or its credits. */
    uint32_t next[CAB_WIN_NEXT];
    uint64_t profile[CAB_MAX_REELS][CAB_MAX_STRIP]; /* cells of each counter's symbols that a stop shows, one byte each */
    uint64_t key[2][CAB_WIN_STATES][2];             /* while it is made: what the states of two depths stand for */
    uint16_t slot[2 * CAB_WIN_STATES];              /* and where a state is found by it */
    uint32_t first[CAB_MAX_REELS];
    uint32_t length[CAB_MAX_REELS];
    uint32_t states[CAB_MAX_REELS + 1];
    uint32_t counter[CAB_WIN_COUNTERS]; /* symbols of the scatters that pay, and of the mode's steps */
    uint8_t counters;
    uint8_t depth;
} cab_wins_t;

/* Makes the table of a mode from the pack and its evaluator. False: this mode does not fit; then there is no table and
 * simulations play all of its rounds through the round function. */
bool cab_wins_make(cab_wins_t *wins, const cab_pack_t *pack, unsigned mode);

/* The credits of lines or ways at these stops: what the evaluator says of the window, added up. */
uint32_t cab_wins(const cab_wins_t *wins, unsigned reels, const uint32_t *stops);

/* -------------------------------------------------------------------------------------------------------- enumeration */

/* What all windows of a mode pay, without feature multipliers. Sums of disjoint ranges add field by field (max_credits:
 * the larger one; sum of squares: with carry), so that ranges can run in parallel. */
typedef struct {
    uint64_t boards;
    uint64_t line_credits;     /* sum, of lines or ways */
    uint64_t scatter_bets;     /* sum, in total bets; 0 where the mode has no scatter pays */
    uint64_t winning_lines;    /* or winning symbols of a ways mode */
    uint64_t boards_any, boards_line, boards_scatter; /* with any win, a line or ways win, a scatter win */
    uint64_t boards_below_bet, boards_from_bet;       /* 0 < win < total bet; win > 0 and >= total bet */
    uint64_t max_credits;
    uint64_t sum_credits;      /* of board wins: lines + scatters x cost */
    uint64_t squares_hi, squares_lo;                  /* sum of squared board wins */
    uint64_t in_view[CAB_MAX_SCATTERS][CAB_MAX_CELLS + 1]; /* boards by count in view */
    uint64_t runs[CAB_MAX_SYMBOLS][CAB_MAX_REELS + 1][2];  /* wins: symbol, run length, without / with a wild */
    uint64_t ways[CAB_MAX_SYMBOLS][CAB_MAX_REELS + 1];     /* paid ways, with the multipliers of wilds; 0 for lines */
} cab_cycle_t;

enum { CAB_CYCLE_PROFILES = 512 };

/* Stops that are alike for the symbols of interest: one of them, and how many they are. */
typedef struct {
    uint16_t stop, alike;
} cab_cycle_stops_t;

/* Where those of a reel and a set of symbols stand. */
typedef struct {
    uint32_t open, first;
    uint16_t count;
    uint8_t reel;
} cab_cycle_set_t;

enum { CAB_CYCLE_SETS = 4096, CAB_CYCLE_STOPS = 65536 };

/* Scratch memory of cab_cycle; needs no initialisation and holds nothing afterwards. */
typedef struct {
    struct {
        uint64_t profile;  /* scatters in view, one byte each */
        uint64_t boards;   /* that have it */
    } tail[CAB_MAX_REELS + 1][CAB_CYCLE_PROFILES];
    uint32_t tails[CAB_MAX_REELS + 1];        /* entries in use; 0: too many to tabulate */
    uint64_t tail_boards[CAB_MAX_REELS + 1];  /* combinations of the reels behind this depth */
    struct {
        cab_reading_t best;  /* of the runs that have ended */
        uint32_t alive;      /* symbols whose run goes on */
        uint8_t line;
    } open[CAB_MAX_REELS + 1][CAB_MAX_LINES];
    uint64_t counts_as[CAB_MAX_SYMBOLS];      /* profile of one cell */
    uint32_t scatter_pay[CAB_MAX_SCATTERS][CAB_MAX_CELLS + 1];
    uint8_t cells[CAB_MAX_REELS][CAB_MAX_ROWS];
    cab_cycle_set_t set[CAB_CYCLE_SETS];
    cab_cycle_stops_t stops[CAB_CYCLE_STOPS];
    uint32_t stops_used;
} cab_cycle_work_t;

/* Enumerates the mode's strip set for stops first ... last-1 of reel 1 and all stops of the other reels, with the pack's
 * first `lines` lines (all ways in a ways mode) and a total bet of `cost` credits. CAB_ERR_ARGUMENT: a number is out of range (modes that cannot be
 * selected are fine). CAB_ERR_OVERFLOW: the sums could leave 64 bits. */
cab_error_t cab_cycle(const cab_pack_t *pack, unsigned mode, uint32_t first, uint32_t last, unsigned lines, uint32_t cost,
                      cab_cycle_work_t *work, cab_cycle_t *result);

/* --------------------------------------------------------------------------------------------------------- simulation */

/* Totals of simulated rounds. base + scatter + cash + prize + features - cut = award. Ranges add as in cab_cycle_t. */
typedef struct {
    uint64_t rounds;
    uint64_t award_pence;
    uint64_t base_pence;        /* line and ways wins outside features */
    uint64_t scatter_pence;     /* scatter wins outside features */
    uint64_t cash_pence;        /* collected values outside features */
    uint64_t prize_pence;       /* credits and pots outside features */
    uint64_t features_pence;    /* all wins inside, bowls included */
    uint64_t cut_pence;         /* by the win cap */
    uint64_t hits;              /* rounds with an award */
    uint64_t features;          /* begun, and by their number: */
    uint64_t feature_counts[CAB_MAX_FEATURES];
    uint64_t pot_counts[CAB_MAX_POTS]; /* pots won, anywhere */
    uint64_t free_spins;        /* played */
    uint64_t wheels;            /* spun */
    uint64_t max_award_pence;
    uint64_t squares_hi, squares_lo; /* sum of squared awards, modulo 2^128 */
} cab_simulation_t;

/* Plays rounds first ... first+count-1 as the round function plays them: same seeds, same draws, same awards.
 *
 * The seed of round i is half of a ChaCha20 block: key is the master seed, counter the low 32 bits of i / 2, nonce the high
 * 32 bits of i / 2 (little endian) and 8 zero bytes; bytes 0-31 are the seed of an even i, bytes 32-63 that of an odd one.
 * So a round does not depend on how the range is cut. Rounds do not gamble and begin with an empty pile. policy[n] is the
 * option taken when there are n, for n = 2 ... 16.
 *
 * wins[m] is the table of mode m, or a null pointer. A round whose modes have tables and in which nothing happens that
 * simulate.c cannot add up from them is added up; all others, and all without tables, are played by cab_round_next.
 * CAB_ERR_ARGUMENT (policy, range beyond 2^64), CAB_ERR_OVERFLOW and the errors of a round; *result is then partial. */
cab_error_t cab_simulate(const cab_pack_t *pack, unsigned mode, uint32_t unit_pence, const uint8_t master[CAB_SEED_BYTES],
                         uint64_t first, uint64_t count, const uint8_t policy[CAB_MAX_OPTIONS + 1],
                         const cab_wins_t *const wins[CAB_MAX_MODES], cab_simulation_t *result);

#endif

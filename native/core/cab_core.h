/* cab_core.h - the whole public interface of the C core.
 *
 * The core is the arithmetic of the games and nothing else. Every function works on memory that the caller owns, keeps no
 * state of its own, uses integers only and needs no more of libc than string.h. A function that can fail returns a
 * cab_error_t; whatever bytes it is given, it has no undefined behaviour.
 *
 * Layers, each using only those above it:
 *   crc32.c sha256.c hmac.c chacha20.c   primitives
 *   stream.c                      the random stream of a round, and draws from it
 *   pack.c                        opens a game pack: after that, nothing in it needs a check
 *   eval.c                        pays one window
 *   round.c                       one round, event by event
 *   cycle.c                       all windows of a mode, and many rounds (host tools)
 *
 * The formats and the rules are written down once, in native/README.md.
 */
#ifndef CAB_CORE_H
#define CAB_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------------------ limits */

enum {
    CAB_MIN_REELS = 3,
    CAB_MAX_REELS = 6,
    CAB_MIN_ROWS = 3,
    CAB_MAX_ROWS = 5,
    CAB_MAX_CELLS = CAB_MAX_REELS * CAB_MAX_ROWS,
    CAB_MAX_SYMBOLS = 32,  /* a set of symbols is one 32-bit mask */
    CAB_MAX_SCATTERS = 8,  /* one byte each in the 64-bit profile of a window, see cycle.c */
    CAB_MAX_LINES = 100,
    CAB_MAX_MODES = 16,
    CAB_MAX_SETS = 16,
    CAB_MAX_FEATURES = 8,
    CAB_MAX_COIN_VALUES = 16,
    CAB_MAX_OPTIONS = 16,  /* a player can choose among, for one trigger count */
    CAB_MAX_STRIP = 4096,  /* stops */
    CAB_MAX_REJECTED = 128, /* words in a row that one draw may throw away */
    CAB_NONE = 255          /* "no feature", "no symbol" in a pack row */
};

#define CAB_SHA256_BYTES 32
#define CAB_SEED_BYTES 32
#define CAB_ROUND_STATE_BYTES 112

/* ------------------------------------------------------------------------------------------------------------ errors */

typedef enum {
    CAB_OK = 0,
    CAB_ERR_ARGUMENT,        /* an argument is outside its documented range */

    CAB_ERR_PACK_LENGTH,     /* shorter than a header, or not as long as the header says */
    CAB_ERR_PACK_MAGIC,      /* not a game pack */
    CAB_ERR_PACK_VERSION,    /* a pack for another core */
    CAB_ERR_PACK_HASH,       /* the SHA-256 in the header is not that of the bytes */
    CAB_ERR_PACK_RESERVED,   /* a reserved byte or padding is not zero */
    CAB_ERR_PACK_NAME,       /* the game's name is not [a-z0-9_]+ padded with zeros */
    CAB_ERR_PACK_SECTIONS,   /* the section table is out of order, overlaps, or leaves a gap or the pack */
    CAB_ERR_PACK_TAG,        /* a section is unknown, present twice or missing */
    CAB_ERR_PACK_SIZE,       /* a section's size does not follow from GAME */
    CAB_ERR_PACK_GAME,       /* a number in GAME is out of range */
    CAB_ERR_PACK_BETS,       /* coin values do not rise, or do not make the largest unit */
    CAB_ERR_PACK_TEXT,       /* TEXT is not zero-terminated UTF-8, or a name does not begin a text in it */
    CAB_ERR_PACK_SYMBOL,     /* unknown flag, or too many scatters */
    CAB_ERR_PACK_WILD,       /* mask or multiplier contradicts what the symbol is */
    CAB_ERR_PACK_LINE,       /* a line leaves the grid */
    CAB_ERR_PACK_STRIP,      /* a strip leaves STRP, has an illegal length or holds an unknown symbol */
    CAB_ERR_PACK_MODE,       /* a mode refers to what is not there, or has an illegal flag, cost or RTP */
    CAB_ERR_PACK_EVALUATION, /* a mode is evaluated in a way that this core does not know */
    CAB_ERR_PACK_FEATURE,    /* a feature refers to what is not there, or could trigger without end */
    CAB_ERR_PACK_OPTION,     /* options unsorted, missing for a count, too many, or with illegal numbers */
    CAB_ERR_PACK_AWARD,      /* the largest possible award does not fit */

    CAB_ERR_MODE,            /* no such mode, or not one that a player can select */
    CAB_ERR_UNIT,            /* unit outside 1 ... the pack's largest unit */
    CAB_ERR_CHOICE_DUE,      /* next() while the player must choose */
    CAB_ERR_NO_CHOICE,       /* choose() while nothing is to be chosen */
    CAB_ERR_OPTION,          /* no such option */
    CAB_ERR_ROUND_OVER,      /* next() after ROUND_END */
    CAB_ERR_RANDOM,          /* more than CAB_MAX_REJECTED words in a row were thrown away */

    CAB_ERR_STATE_LENGTH,    /* a saved round has CAB_ROUND_STATE_BYTES bytes */
    CAB_ERR_STATE_VERSION,   /* saved by another core */
    CAB_ERR_STATE_CRC,       /* damaged */
    CAB_ERR_STATE_PACK,      /* saved with another pack */
    CAB_ERR_STATE_VALUE,     /* intact, but no round of this pack can be in such a state */

    CAB_ERR_OVERFLOW,        /* sums of this size do not fit the accumulators */
    CAB_ERRORS               /* how many there are; not an error */
} cab_error_t;

/* The lower-case name of an error, such as "pack_hash"; "unknown" for a number that is none. */
const char *cab_error_name(cab_error_t error);

/* -------------------------------------------------------------------------------------------------------- primitives */

/* CRC-32/ISO-HDLC (polynomial 0x04C11DB7 reflected, init and xor-out all ones), that of zlib and Ethernet.
 * start is 0, or the result for the bytes before these. */
uint32_t cab_crc32(const uint8_t *data, size_t length, uint32_t start);

/* SHA-256, FIPS 180-4 sections 4.1.2, 5.1.1, 5.3.3 and 6.2. init, update as often as needed, final once. */
typedef struct {
    uint32_t hash[8];
    uint64_t length;    /* bytes so far */
    uint8_t block[64];  /* the last length % 64 bytes wait here */
} cab_sha256_t;

void cab_sha256_init(cab_sha256_t *sha);
void cab_sha256_update(cab_sha256_t *sha, const uint8_t *data, size_t length);
void cab_sha256_final(cab_sha256_t *sha, uint8_t digest[CAB_SHA256_BYTES]);
void cab_sha256(const uint8_t *data, size_t length, uint8_t digest[CAB_SHA256_BYTES]);

/* HMAC-SHA-256, FIPS 198-1 section 4 and table 1. init, update as often as needed, final once. A key may have any length. */
typedef struct {
    cab_sha256_t inner, outer;
} cab_hmac_t;

void cab_hmac_init(cab_hmac_t *hmac, const uint8_t *key, size_t length);
void cab_hmac_update(cab_hmac_t *hmac, const uint8_t *data, size_t length);
void cab_hmac_final(cab_hmac_t *hmac, uint8_t code[CAB_SHA256_BYTES]);

/* The ChaCha20 block function, RFC 8439 section 2.3. words are the 16 words of the block; the RFC's key stream bytes are
 * these words in little-endian order. */
void cab_chacha20_block(const uint8_t key[32], uint32_t counter, const uint8_t nonce[12], uint32_t words[16]);

/* --------------------------------------------------------------------------------------------------- random stream */

/* The words of a seed's key stream (nonce zero, blocks from 0), one after the other. Copying it forks the stream. */
typedef struct {
    uint8_t seed[CAB_SEED_BYTES];
    uint32_t words[16];  /* the block that holds the last word taken */
    uint32_t block;      /* its number + 1; 0: none made yet */
    uint32_t position;   /* words taken so far */
} cab_stream_t;

/* position: words that were taken before, 0 for a new stream. */
void cab_stream_init(cab_stream_t *stream, const uint8_t seed[CAB_SEED_BYTES], uint32_t position);

/* Maps one uniform word to 0 ... range-1 without bias, or returns false: throw the word away and take the next.
 * Accepts exactly the words below the largest multiple of range. range 0 stands for 2^32, which accepts every word. */
bool cab_scale(uint32_t word, uint32_t range, uint32_t *value);

/* Draws from 0 ... range-1 (range as in cab_scale). CAB_ERR_RANDOM after more than CAB_MAX_REJECTED rejected words. */
cab_error_t cab_draw(cab_stream_t *stream, uint32_t range, uint32_t *value);

/* ------------------------------------------------------------------------------------------------------------ packs */

/* An opened pack: views into the caller's bytes, which must outlive it, and small tables made from them. Read only. */
typedef struct {
    const uint8_t *bytes;
    const uint8_t *bet_rows;
    const uint8_t *symbol_rows;
    const uint8_t *pay_rows;
    const uint8_t *line_rows;
    const uint8_t *scatter_rows;
    const uint8_t *set_rows;
    const uint8_t *strip_bytes;
    const uint8_t *mode_rows;
    const uint8_t *feature_rows;
    const uint8_t *option_rows;
    const uint8_t *text;
    uint32_t section_bytes[12]; /* in the order of the README's table */

    uint64_t win_cap_pence;     /* 0: none */
    uint64_t max_award_pence;   /* no round can award more, win cap or not; below 2^63 */
    uint32_t max_unit_pence;
    uint32_t max_line_credits;  /* all lines of one spin together */
    uint32_t max_scatter_bets;  /* all scatters of one spin together, in total bets */

    /* What the evaluator reads instead of rows. Bit s of a mask is symbol s. */
    uint32_t reads_as[CAB_MAX_SYMBOLS];  /* symbols with line pays that a cell may be read as */
    uint32_t counts_as[CAB_MAX_SYMBOLS]; /* scatters that a cell counts for */
    uint32_t paying[CAB_MAX_REELS + 1];  /* symbols that pay for a run of exactly so many reels */
    uint8_t wild_multiplier[CAB_MAX_SYMBOLS];
    uint8_t scatter_symbol[CAB_MAX_SCATTERS]; /* ascending */

    uint16_t options;
    uint16_t levels, coin_values; /* of the bet */
    uint8_t reels, rows, cells, symbols, lines, modes, sets, features, scatters;
    uint8_t multiplier_rule;    /* cab_multiplier_rule_t */
    bool needs_natural;         /* a run of wilds alone is not read as another symbol */
} cab_pack_t;

typedef enum { CAB_MULTIPLIER_HIGHEST = 0, CAB_MULTIPLIER_PRODUCT, CAB_MULTIPLIER_SUM } cab_multiplier_rule_t;

enum { CAB_MODE_SCATTER_PAYS = 1, CAB_MODE_SELECTABLE = 2 };

typedef struct {
    uint32_t rtp_low_ppm, rtp_high_ppm;
    uint16_t cost;    /* credits: total bet = cost x unit */
    uint16_t flags;   /* CAB_MODE_... */
    uint16_t name;    /* for cab_pack_text */
    uint8_t set;
    uint8_t feature;  /* CAB_NONE: none */
} cab_mode_t;

typedef struct {
    uint16_t most_spins;  /* that one feature plays, added ones included */
    uint8_t trigger;      /* symbol */
    uint8_t mode;         /* of its spins */
    uint8_t adds;         /* symbol that adds spins, or CAB_NONE */
    uint8_t added_spins;  /* per such symbol in view */
    uint8_t smallest, largest; /* trigger counts */
} cab_feature_t;

typedef struct {
    uint16_t spins;
    uint16_t multiplier;
    uint8_t feature;
    uint8_t count;        /* trigger symbols in view */
} cab_option_t;

typedef struct {
    const uint8_t *symbols;
    uint16_t length;      /* stops */
} cab_strip_t;

/* Opens the pack in bytes[0 ... length-1] after checking all of it. On an error *pack is unspecified. */
cab_error_t cab_pack_open(cab_pack_t *pack, const uint8_t *bytes, size_t length);

/* Rows of an opened pack. An index must be below the pack's own number of such rows: these are for code that knows. */
cab_mode_t cab_pack_mode(const cab_pack_t *pack, unsigned mode);
cab_feature_t cab_pack_feature(const cab_pack_t *pack, unsigned feature);
cab_option_t cab_pack_option(const cab_pack_t *pack, unsigned row);
cab_strip_t cab_pack_strip(const cab_pack_t *pack, unsigned set, unsigned reel);
uint32_t cab_pack_coin_value(const cab_pack_t *pack, unsigned value);                    /* pence, ascending */
uint32_t cab_pack_pay(const cab_pack_t *pack, unsigned symbol, unsigned run);            /* credits; run 1 ... reels */
uint32_t cab_pack_scatter_pay(const cab_pack_t *pack, unsigned scatter, unsigned count); /* total bets; n-th scatter */
const char *cab_pack_name(const cab_pack_t *pack);
const char *cab_pack_text(const cab_pack_t *pack, unsigned offset);                      /* UTF-8, zero-terminated */
const char *cab_pack_symbol_name(const cab_pack_t *pack, unsigned symbol);

/* The rows of OPTN for a trigger count of at least the feature's smallest: *first is the row, the result how many. */
unsigned cab_pack_options(const cab_pack_t *pack, unsigned feature, unsigned count, unsigned *first);

/* ------------------------------------------------------------------------------------------------------- evaluation */

/* A window is reels x rows symbol numbers, column by column: cell = reel * rows + row. Its symbols must be the pack's. */
void cab_window(const cab_pack_t *pack, unsigned set, const uint16_t *stops, uint8_t *window);

/* How a line is read. credits already hold the multiplier. */
typedef struct {
    uint32_t credits;     /* 0: nothing */
    uint32_t multiplier;  /* of the wilds */
    uint8_t symbol;
    uint8_t run;          /* reels */
    bool wild;            /* a wild stands in for the symbol somewhere in the run */
} cab_reading_t;

/* The best reading of one line of a window (README, "Best reading of a line"). */
cab_reading_t cab_line(const cab_pack_t *pack, const uint8_t *window, unsigned line);

/* Cells in view that are the n-th scatter or a wild that substitutes for it. */
unsigned cab_in_view(const cab_pack_t *pack, const uint8_t *window, unsigned scatter);

/* For enumerations: lets *best be the better of itself and what the symbols in `ended`, whose runs are the first `run`
 * cells of a line, read. Symbols of `ended` must be in paying[run]; calls for one line must come with rising run. */
void cab_read_run(const cab_pack_t *pack, const uint8_t *cells, unsigned run, uint32_t ended, cab_reading_t *best);

/* ------------------------------------------------------------------------------------------------------------ rounds */

typedef enum {
    CAB_SPIN = 1,
    CAB_LINE_WIN,
    CAB_WAYS_WIN, /* reserved */
    CAB_SCATTER_WIN,
    CAB_CHOICE,
    CAB_FREE_SPINS_BEGIN,
    CAB_FREE_SPINS_ADDED,
    CAB_FREE_SPINS_END,
    CAB_WIN_CAP,
    CAB_ROUND_END
} cab_event_kind_t;

/* One event; fields that the README shows as a dash are 0. */
typedef struct {
    uint64_t pence;
    uint32_t multiplier;
    uint16_t count;
    uint8_t kind;
    uint8_t index;
    uint8_t symbol;
} cab_event_t;

/* A round in progress. Plain data: may be copied; refers to the pack, which must outlive it. */
typedef struct {
    const cab_pack_t *pack;
    cab_stream_t stream;
    uint64_t award_pence;    /* so far, never above the win cap */
    uint64_t feature_pence;  /* won in the free spins */
    uint64_t cut_pence;      /* what the win cap took */
    uint32_t unit_pence;
    uint32_t multiplier;     /* 1, or that of the free spins */
    uint16_t stops[CAB_MAX_REELS];
    uint16_t option_row;     /* of OPTN, once the free spins are known; else CAB_NO_OPTION */
    uint16_t spins_left, spins_played; /* free spins */
    uint8_t phase;           /* what next() does next, see round.c */
    uint8_t mode;
    uint8_t shown_mode;      /* of the spin that is in the window; CAB_NONE before the first */
    uint8_t cursor;          /* line or scatter to look at next */
    uint8_t window[CAB_MAX_CELLS];
} cab_round_t;

#define CAB_NO_OPTION 0xFFFFu

/* CAB_ERR_MODE, CAB_ERR_UNIT. Draws nothing yet. */
cab_error_t cab_round_begin(cab_round_t *round, const cab_pack_t *pack, unsigned mode, uint32_t unit_pence,
                            const uint8_t seed[CAB_SEED_BYTES]);

/* The next event. CAB_ERR_CHOICE_DUE, CAB_ERR_ROUND_OVER or CAB_ERR_RANDOM leave the round as it was. */
cab_error_t cab_round_next(cab_round_t *round, cab_event_t *event);

/* Takes option 0 ... n-1 of the CHOICE that is due. CAB_ERR_NO_CHOICE, CAB_ERR_OPTION leave the round as it was. */
cab_error_t cab_round_choose(cab_round_t *round, unsigned option);

/* How many options are due (0: none); *first is the row of OPTN where they stand. */
unsigned cab_round_options(const cab_round_t *round, unsigned *first);

bool cab_round_finished(const cab_round_t *round);

/* The round as bytes, the same on every platform, at any moment between two calls. */
void cab_round_save(const cab_round_t *round, uint8_t state[CAB_ROUND_STATE_BYTES]);

/* Back from these bytes. CAB_ERR_STATE_...: the bytes are not those of a round of this pack; *round is unspecified. */
cab_error_t cab_round_resume(cab_round_t *round, const cab_pack_t *pack, const uint8_t *state, size_t length);

/* -------------------------------------------------------------------------------------------------------- enumeration */

/* What all windows of a mode pay, without feature multipliers. Sums of disjoint ranges add field by field (max_credits:
 * the larger one; sum of squares: with carry), so that ranges can run in parallel. */
typedef struct {
    uint64_t boards;
    uint64_t line_credits;     /* sum */
    uint64_t scatter_bets;     /* sum, in total bets; 0 where the mode has no scatter pays */
    uint64_t winning_lines;
    uint64_t boards_any, boards_line, boards_scatter; /* with any win, a line win, a scatter win */
    uint64_t boards_below_bet, boards_from_bet;       /* 0 < win < total bet; win > 0 and >= total bet */
    uint64_t max_credits;
    uint64_t sum_credits;      /* of board wins: lines + scatters x cost */
    uint64_t squares_hi, squares_lo;                  /* sum of squared board wins */
    uint64_t in_view[CAB_MAX_SCATTERS][CAB_MAX_CELLS + 1]; /* boards by count in view */
    uint64_t runs[CAB_MAX_SYMBOLS][CAB_MAX_REELS + 1][2];  /* line wins: symbol, run length, without / with a wild */
} cab_cycle_t;

enum { CAB_CYCLE_PROFILES = 512 };

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
} cab_cycle_work_t;

/* Enumerates the mode's strip set for stops first ... last-1 of reel 1 and all stops of the other reels, with the pack's
 * first `lines` lines and a total bet of `cost` credits. CAB_ERR_ARGUMENT: a number is out of range (modes that cannot be
 * selected are fine). CAB_ERR_OVERFLOW: the sums could leave 64 bits. */
cab_error_t cab_cycle(const cab_pack_t *pack, unsigned mode, uint32_t first, uint32_t last, unsigned lines, uint32_t cost,
                      cab_cycle_work_t *work, cab_cycle_t *result);

/* Totals of simulated rounds. base + scatter + free_spins - cut = award. Ranges add as in cab_cycle_t. */
typedef struct {
    uint64_t rounds;
    uint64_t award_pence;
    uint64_t base_pence;        /* line wins outside free spins */
    uint64_t scatter_pence;     /* scatter wins outside free spins */
    uint64_t free_spins_pence;  /* all wins inside */
    uint64_t cut_pence;         /* by the win cap */
    uint64_t hits;              /* rounds with an award */
    uint64_t features;
    uint64_t free_spins;        /* played */
    uint64_t max_award_pence;
    uint64_t squares_hi, squares_lo; /* sum of squared awards, modulo 2^128 */
} cab_simulation_t;

/* Plays rounds first ... first+count-1. The seed of round i is the first 32 bytes of the ChaCha20 block with the master
 * seed as key, the low half of i as counter and, as nonce, the high half of i (little endian) and 8 zero bytes: a round
 * does not depend on how the range is cut. policy[n] is the option taken when there are n, for n = 2 ... 16.
 * CAB_ERR_ARGUMENT (policy, range beyond 2^64), CAB_ERR_OVERFLOW and the errors of a round; *result is then partial. */
cab_error_t cab_simulate(const cab_pack_t *pack, unsigned mode, uint32_t unit_pence, const uint8_t master[CAB_SEED_BYTES],
                         uint64_t first, uint64_t count, const uint8_t policy[CAB_MAX_OPTIONS + 1],
                         cab_simulation_t *result);

#endif

/* cab_core.h - the whole public interface of the C core.
 *
 * The core is the arithmetic of the games and nothing else. Every function works on memory that the caller owns, keeps no
 * state of its own, uses integers only and needs no more of libc than string.h. A function that can fail returns a
 * cab_error_t; whatever bytes it is given, it has no undefined behaviour.
 *
 * Layers, each using only those above it:
 *   crc32.c crc16.c sha256.c hmac.c chacha20.c   primitives
 *   health.c                      tests of the random source's bytes
 *   stream.c                      the random stream of a round, and draws from it
 *   pack.c pack_rows.c pack_symbols.c pack_steps.c pack_features.c pack_award.c
 *                                 open a game pack: after that, nothing in it needs a check
 *   eval.c ways.c                 pay one window
 *   spin.c steps.c feature.c gamble.c round.c
 *                                 one round, event by event
 *
 * What only host tools need is in cab_host.h.
 *
 * The formats and the rules are written down once, in native/README.md and native/MECHANICS.md.
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
    CAB_MAX_STEPS = 12,    /* of one mode */
    CAB_MAX_POTS = 8,
    CAB_MAX_QUEUE = 32,    /* prizes that the steps of one spin can win */
    CAB_MAX_LEVEL = 3,     /* of a frame */
    CAB_MAX_GAMBLES = 20,  /* of one round */
    CAB_MAX_PILE = 65535,  /* the pile grows no further */
    CAB_MAX_REJECTED = 128, /* words in a row that one draw may throw away */
    CAB_NONE = 255          /* "no feature", "no table", "no pot" in a byte */
};

#define CAB_SHA256_BYTES 32
#define CAB_SEED_BYTES 32

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
    CAB_ERR_PACK_EVALUATION, /* a mode is evaluated in a way that this core does not know, or that its wilds forbid */
    CAB_ERR_PACK_STEP,       /* a step is unknown, out of order, or one that its mode may not have, or has illegal numbers */
    CAB_ERR_PACK_TABLE,      /* tables do not cover PRIZ in order, weigh too much, or have rows where one is due */
    CAB_ERR_PACK_PRIZE,      /* a prize refers to what is not there, or stands in a table that may not hold it */
    CAB_ERR_PACK_BOARD,      /* a board group or a board leaves its section or its strips */
    CAB_ERR_PACK_POT,        /* a pot pays nothing, or its tokens have no row */
    CAB_ERR_PACK_FEATURE,    /* a feature refers to what is not there, or could trigger without end */
    CAB_ERR_PACK_OPTION,     /* options unsorted, missing for a count, too many, or with illegal numbers */
    CAB_ERR_PACK_GAMBLE,     /* a gamble has illegal numbers, or plays a feature that needs a window */
    CAB_ERR_PACK_AWARD,      /* a possible win does not fit */

    CAB_ERR_MODE,            /* no such mode, or not one that a player can select */
    CAB_ERR_UNIT,            /* unit outside 1 ... the pack's largest unit */
    CAB_ERR_WAGER,           /* a wager that is not below the cost, or the pack has no spin chance */
    CAB_ERR_CHOICE_DUE,      /* next() while the player must choose, or answer the offer of a gamble */
    CAB_ERR_NO_CHOICE,       /* choose() while nothing is to be chosen */
    CAB_ERR_OPTION,          /* no such option */
    CAB_ERR_NO_OFFER,        /* gamble() or collect() while no gamble is offered */
    CAB_ERR_GAMBLE_ROW,      /* no such gamble, or not one that is still allowed */
    CAB_ERR_GAMBLE_AMOUNT,   /* outside 1 ... winnings, or too little for this gamble */
    CAB_ERR_ROUND_OVER,      /* next() after ROUND_END */
    CAB_ERR_RANDOM,          /* more than CAB_MAX_REJECTED words in a row were thrown away */

    CAB_ERR_OVERFLOW,        /* sums of this size do not fit the accumulators */
    CAB_ERRORS               /* how many there are; not an error */
} cab_error_t;

/* The lower-case name of an error, such as "pack_hash"; "unknown" for a number that is none. */
const char *cab_error_name(cab_error_t error);

/* -------------------------------------------------------------------------------------------------------- primitives */

/* CRC-32/ISO-HDLC (polynomial 0x04C11DB7 reflected, init and xor-out all ones), that of zlib and Ethernet.
 * start is 0, or the result for the bytes before these. */
uint32_t cab_crc32(const uint8_t *data, size_t length, uint32_t start);

/* CRC-16/XMODEM (polynomial 0x1021, init 0, not reflected, no xor-out). start is 0, or the result for the bytes before these.
 * Over data and its own CRC, high byte first, it is 0. */
uint16_t cab_crc16(const uint8_t *data, size_t length, uint16_t start);

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

/* ------------------------------------------------------------------------------------------------------- health tests */

#define CAB_HEALTH_HISTORY 512 /* bytes that are remembered */

/* From how much on each test alarms. Where they come from: firmware/rng/health.py. */
typedef struct {
    uint16_t repetition; /* equal bytes in a row (SP 800-90B 4.4.1), at least 2 */
    uint16_t lane;       /* bytes in a row in which one bit keeps its value, at least 2 */
    uint16_t proportion; /* bytes of a window of 512 that equal its first (4.4.2), at least 2 */
    uint16_t sequence;   /* newest bytes that stand in the history once more; looked for every so many bytes; 2 ... 256 */
    uint16_t balance;    /* ones, or zeros, among the 4,096 bits of a full history: 2,049 ... 4,096 */
} cab_cutoffs_t;

typedef enum {
    CAB_ALARM_NONE,
    CAB_ALARM_REPETITION,
    CAB_ALARM_LANE,
    CAB_ALARM_PROPORTION,
    CAB_ALARM_SEQUENCE,
    CAB_ALARM_BALANCE
} cab_alarm_t;

typedef struct {
    cab_cutoffs_t cutoffs;
    uint8_t history[CAB_HEALTH_HISTORY]; /* a ring; seen % CAB_HEALTH_HISTORY is the place of the next byte */
    uint32_t seen;
    uint16_t run, lanes[8], same, ones;
    uint8_t sample;
} cab_health_t;

/* CAB_ERR_ARGUMENT: a cutoff out of its range. */
cab_error_t cab_health_init(cab_health_t *health, const cab_cutoffs_t *cutoffs);

/* Begins anew and wipes what was remembered. */
void cab_health_reset(cab_health_t *health);

/* Feeds bytes to all tests up to the first alarm. After one the tests mean nothing until a reset. */
cab_alarm_t cab_health_feed(cab_health_t *health, const uint8_t *data, size_t length);

/* --------------------------------------------------------------------------------------------------- random stream */

/* The words of a seed's key stream (nonce zero, blocks from 0), one after the other. Copying it forks the stream. */
typedef struct {
    uint8_t seed[CAB_SEED_BYTES];
    uint32_t words[16];  /* the block that holds the last word taken */
    uint32_t block;      /* its number + 1; 0: none made yet */
    uint32_t position;   /* words taken so far */
} cab_stream_t;

void cab_stream_init(cab_stream_t *stream, const uint8_t seed[CAB_SEED_BYTES]);

/* Maps one uniform word to 0 ... range-1 without bias, or returns false: throw the word away and take the next.
 * Accepts exactly the words below the largest multiple of range. range 0 stands for 2^32, which accepts every word. */
bool cab_scale(uint32_t word, uint32_t range, uint32_t *value);

/* Draws from 0 ... range-1 (range as in cab_scale). CAB_ERR_RANDOM after more than CAB_MAX_REJECTED rejected words. */
cab_error_t cab_draw(cab_stream_t *stream, uint32_t range, uint32_t *value);

/* The same from two words, the high one first; range is at least 1. */
cab_error_t cab_draw64(cab_stream_t *stream, uint64_t range, uint64_t *value);

/* ------------------------------------------------------------------------------------------------------------ packs */

enum { CAB_SECTIONS = 19 };

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
    const uint8_t *step_rows;
    const uint8_t *table_rows;
    const uint8_t *prize_rows;
    const uint8_t *pot_rows;
    const uint8_t *group_rows;
    const uint8_t *board_rows;
    const uint8_t *feature_rows;
    const uint8_t *option_rows;
    const uint8_t *gamble_rows;  /* behind the head of GAMB */
    const uint8_t *text;
    uint32_t section_bytes[CAB_SECTIONS]; /* in the order of the README's table */

    uint64_t win_cap_pence;     /* at least 1 */
    uint32_t max_unit_pence;
    uint32_t max_line_credits;  /* all lines of one spin together */
    uint32_t max_ways_credits;  /* all ways of one spin together, where a mode has ways */
    uint32_t max_scatter_bets;  /* all scatters of one spin together, in total bets */
    uint32_t gamble_payback_ppm, gamble_from, gamble_limit; /* credits; all 0 where nothing can be gambled */

    /* What the evaluator reads instead of rows. Bit s of a mask is symbol s. */
    uint32_t reads_as[CAB_MAX_SYMBOLS];  /* symbols with pays that a cell may be read as */
    uint32_t counts_as[CAB_MAX_SYMBOLS]; /* scatters that a cell counts for */
    uint32_t paying[CAB_MAX_REELS + 1];  /* symbols that pay for a run of exactly so many reels */
    uint8_t wild_multiplier[CAB_MAX_SYMBOLS];
    uint8_t scatter_symbol[CAB_MAX_SCATTERS]; /* ascending */
    uint8_t first_step[CAB_MAX_MODES + 1];    /* of each mode; the steps end where those of the next mode begin */

    uint16_t options;
    uint16_t levels, coin_values; /* of the bet */
    uint16_t stake;               /* credits of the base stake */
    uint16_t most_gambles;
    uint16_t feature_modes;       /* bit m: some feature plays mode m */
    uint8_t reels, rows, cells, symbols, lines, modes, sets, features, scatters, tables, pots, groups, gambles;
    uint8_t multiplier_rule;    /* cab_multiplier_rule_t */
    bool needs_natural;         /* a run of wilds alone is not read as another symbol */
    bool spin_chance;           /* a round may begin with a wager below its cost */
} cab_pack_t;

typedef enum { CAB_MULTIPLIER_HIGHEST = 0, CAB_MULTIPLIER_PRODUCT, CAB_MULTIPLIER_SUM } cab_multiplier_rule_t;

typedef enum { CAB_LINES = 0, CAB_WAYS } cab_evaluation_t;

enum { CAB_MODE_SCATTER_PAYS = 1, CAB_MODE_SELECTABLE = 2 };

typedef struct {
    uint32_t rtp_low_ppm, rtp_high_ppm;
    uint16_t cost;       /* credits: total bet = cost x unit */
    uint16_t flags;      /* CAB_MODE_... */
    uint16_t name;       /* for cab_pack_text */
    uint8_t evaluation;  /* cab_evaluation_t */
    uint8_t set;
} cab_mode_t;

typedef enum {
    CAB_STEP_MODIFIER = 1,
    CAB_STEP_VALUES,
    CAB_STEP_COLLECT,
    CAB_STEP_PILE,
    CAB_STEP_AWARD,
    CAB_STEP_RESPIN,
    CAB_STEP_FRAMES,
    CAB_STEP_ADD_SPINS,
    CAB_STEP_TOKENS
} cab_op_t;

typedef struct {
    uint32_t symbols, needed; /* masks */
    uint32_t credits;
    uint16_t least;
    uint8_t mode;
    uint8_t op;               /* cab_op_t */
    uint8_t index;
    uint8_t most;
} cab_step_t;

typedef struct {
    uint16_t first, rows; /* of PRIZ */
} cab_table_t;

typedef enum {
    CAB_PRIZE_NOTHING = 0,
    CAB_PRIZE_CREDITS,
    CAB_PRIZE_POT,
    CAB_PRIZE_WHEEL,
    CAB_PRIZE_FEATURE,
    CAB_PRIZE_SPINS,
    CAB_PRIZE_BOARDS,
    CAB_PRIZE_SHAPE
} cab_prize_kind_t;

typedef struct {
    uint32_t weight;
    uint32_t number;
    uint8_t kind;         /* cab_prize_kind_t */
    uint8_t index;
} cab_prize_t;

typedef struct {
    uint32_t credits;
    uint16_t name;
    uint8_t tokens;       /* that fill its row; 0: it has none */
} cab_pot_t;

typedef struct {
    uint16_t mode;
    uint16_t first, boards;
} cab_group_t;

typedef enum { CAB_OPENING_NONE = 0, CAB_OPENING_CELLS, CAB_OPENING_SHAPE, CAB_OPENING_ROLL } cab_opening_t;

typedef struct {
    uint32_t symbols;          /* mask, for the opening */
    uint16_t name;
    uint16_t most_spins;       /* that one feature plays, added ones included */
    uint8_t mode;              /* of its spins */
    uint8_t opening;           /* cab_opening_t */
    uint8_t opening_index;     /* table of shapes */
    uint8_t level;             /* of the frames that the opening makes */
    bool collects;             /* the values in view are paid when it begins */
    uint8_t smallest, largest; /* trigger counts that its options know */
    uint8_t bowls[CAB_MAX_LEVEL]; /* tables of level 1, 2, 3; CAB_NONE: none */
} cab_feature_t;

typedef struct {
    uint16_t spins;
    uint16_t multiplier;
    uint8_t feature;
    uint8_t count;        /* trigger count */
} cab_option_t;

typedef enum { CAB_GAMBLE_CASH = 0, CAB_GAMBLE_FEATURE } cab_gamble_kind_t;

enum { CAB_GAMBLE_THEN_CASH_ONLY = 1 }; /* flag: after this one only cash can be gambled */

typedef struct {
    uint64_t value_micro;            /* of the feature, millionths of a credit */
    uint16_t name;
    uint16_t numerator, denominator; /* cash: what is won for what is gambled */
    uint16_t spins;                  /* of the feature; 0: as its option says */
    uint8_t kind;                    /* cab_gamble_kind_t */
    uint8_t feature;
    uint8_t flags;                   /* CAB_GAMBLE_... */
} cab_gamble_t;

typedef struct {
    const uint8_t *symbols;
    uint16_t length;      /* stops */
} cab_strip_t;

/* Opens the pack in bytes[0 ... length-1] after checking all of it. On an error *pack is unspecified. */
cab_error_t cab_pack_open(cab_pack_t *pack, const uint8_t *bytes, size_t length);

/* Rows of an opened pack. An index must be below the pack's own number of such rows: these are for code that knows. */
cab_mode_t cab_pack_mode(const cab_pack_t *pack, unsigned mode);
cab_step_t cab_pack_step(const cab_pack_t *pack, unsigned row);     /* mode m has first_step[m] ... first_step[m+1]-1 */
cab_table_t cab_pack_table(const cab_pack_t *pack, unsigned table);
cab_prize_t cab_pack_prize(const cab_pack_t *pack, unsigned row);
cab_pot_t cab_pack_pot(const cab_pack_t *pack, unsigned pot);
cab_group_t cab_pack_group(const cab_pack_t *pack, unsigned group);
uint16_t cab_pack_board(const cab_pack_t *pack, unsigned board, unsigned reel); /* the stop */
cab_feature_t cab_pack_feature(const cab_pack_t *pack, unsigned feature);
cab_option_t cab_pack_option(const cab_pack_t *pack, unsigned row);
cab_gamble_t cab_pack_gamble(const cab_pack_t *pack, unsigned row);
cab_strip_t cab_pack_strip(const cab_pack_t *pack, unsigned set, unsigned reel);
uint32_t cab_pack_coin_value(const cab_pack_t *pack, unsigned value);                    /* pence, ascending */
uint32_t cab_pack_pay(const cab_pack_t *pack, unsigned symbol, unsigned run);            /* credits; run 1 ... reels */
uint32_t cab_pack_scatter_pay(const cab_pack_t *pack, unsigned scatter, unsigned count); /* total bets; n-th scatter */
uint32_t cab_pack_stands_for(const cab_pack_t *pack, unsigned symbol);                   /* mask; 0: it is no wild */
const char *cab_pack_name(const cab_pack_t *pack);
const char *cab_pack_text(const cab_pack_t *pack, unsigned offset);                      /* UTF-8, zero-terminated */
const char *cab_pack_symbol_name(const cab_pack_t *pack, unsigned symbol);

/* The rows of OPTN for a trigger count, which is clamped into those that the feature knows: *first is the row, the result
 * how many. */
unsigned cab_pack_options(const cab_pack_t *pack, unsigned feature, unsigned count, unsigned *first);

/* ------------------------------------------------------------------------------------------------------- evaluation */

/* A window is reels x rows symbol numbers, column by column: cell = reel * rows + row. Its symbols must be the pack's. */
void cab_window(const cab_pack_t *pack, unsigned set, const uint16_t *stops, uint8_t *window);

/* The cells of a window that show one of `symbols`, bit c for cell c. A wild counts as itself only. */
uint32_t cab_cells(const cab_pack_t *pack, const uint8_t *window, uint32_t symbols);

/* How a line is read. credits already hold the multiplier. */
typedef struct {
    uint32_t credits;     /* 0: nothing */
    uint32_t multiplier;  /* of the wilds */
    uint8_t symbol;
    uint8_t run;          /* reels */
    bool wild;            /* a wild stands in for the symbol somewhere in the run */
} cab_reading_t;

/* The best reading of one line of a window (MECHANICS, "Lines and scatters"). */
cab_reading_t cab_line(const cab_pack_t *pack, const uint8_t *window, unsigned line);

/* Cells in view that are the n-th scatter or a wild that substitutes for it. */
unsigned cab_in_view(const cab_pack_t *pack, const uint8_t *window, unsigned scatter);

/* For enumerations: lets *best be the better of itself and what the symbols in `ended`, whose runs are the first `run`
 * cells of a line, read. Symbols of `ended` must be in paying[run]; calls for one line must come with rising run. */
void cab_read_run(const cab_pack_t *pack, const uint8_t *cells, unsigned run, uint32_t ended, cab_reading_t *best);

/* What a symbol pays by ways. */
typedef struct {
    uint32_t credits;     /* 0: nothing */
    uint32_t ways;        /* counted with the multipliers of the wilds */
    uint8_t run;          /* reels */
} cab_ways_t;

/* The ways of one symbol of a window (MECHANICS, "Ways"); the pack must have a mode that pays ways. */
cab_ways_t cab_ways(const cab_pack_t *pack, const uint8_t *window, unsigned symbol);

/* ------------------------------------------------------------------------------------------------------------ rounds */

typedef enum {
    CAB_SPIN = 1,
    CAB_LINE_WIN,
    CAB_WAYS_WIN,
    CAB_SCATTER_WIN,
    CAB_CHOICE,
    CAB_FREE_SPINS_BEGIN,
    CAB_FREE_SPINS_ADDED,
    CAB_FREE_SPINS_END,
    CAB_WIN_CAP,
    CAB_ROUND_END,
    CAB_SPIN_CHANCE,
    CAB_MODIFIER,
    CAB_RESPIN,
    CAB_VALUE,
    CAB_COLLECT,
    CAB_PILE,
    CAB_WHEEL,
    CAB_POT,
    CAB_PRIZE,
    CAB_FRAME,
    CAB_SHAPE,
    CAB_BOWL,
    CAB_TOKEN,
    CAB_GAMBLE_OFFER,
    CAB_GAMBLE
} cab_event_kind_t;

/* One event; fields that MECHANICS shows as a dash are 0. */
typedef struct {
    uint64_t pence;
    uint32_t multiplier;
    uint16_t count;
    uint8_t kind;
    uint8_t index;
    uint8_t symbol;
} cab_event_t;

/* What is played. */
typedef struct {
    uint32_t unit_pence;  /* what one credit is worth */
    uint32_t wager_pence; /* 0: the whole cost; less than it: a spin chance */
    uint16_t pile;        /* as the round before left it */
    uint8_t mode;
    bool gamble;          /* winnings may be gambled */
} cab_play_t;

/* Prizes that wait for their turn. */
typedef struct {
    uint16_t row[CAB_MAX_QUEUE];  /* of PRIZ */
    uint8_t count[CAB_MAX_QUEUE]; /* trigger count */
    uint8_t length, next;
} cab_queue_t;

/* A round in progress. Plain data: may be copied; refers to the pack, which must outlive it. */
typedef struct {
    const cab_pack_t *pack;
    cab_stream_t stream;
    /* Cleared when a round begins. */
    uint64_t award_pence;    /* so far, never above the win cap; of it ... */
    uint64_t banked_pence;   /* ... this can be gambled no more */
    uint64_t feature_pence;  /* won since FREE_SPINS_BEGIN */
    uint64_t cut_pence;      /* what the win cap took */
    uint64_t gamble_pence;   /* what is gambled */
    uint32_t unit_pence;
    uint32_t wager_pence;
    uint32_t base_credits;   /* the values in the window that triggered what is in the queue; 0 once they are paid */
    uint32_t valued;         /* cells of the last spin that drew a value */
    uint32_t framed[2];      /* frames, the low and the high bit of their levels, bit c for cell c */
    uint16_t spins_left, spins_played; /* free spins */
    uint16_t option_row;     /* of OPTN */
    uint16_t gamble_spins;   /* that the gamble gives instead of the option; 0: as the option says */
    uint16_t multiplier;     /* 1, or that of the free spins */
    uint16_t pile;
    uint16_t prize_row;      /* of PRIZ: the prize that is carried out */
    uint8_t prize_count;     /* its trigger count */
    uint8_t base_values;     /* how many values base_credits is the sum of */
    uint8_t phase;           /* what next() does next, see round.c */
    uint8_t mode;
    uint8_t shown_mode;      /* of the spin that is in the window; CAB_NONE before the first */
    uint8_t feature;         /* that is being played; CAB_NONE: none */
    uint8_t step;            /* row of STEP to look at next */
    uint8_t cursor;          /* line, symbol, scatter or cell to look at next */
    uint8_t held;            /* reels that the respin holds, bit r for reel r */
    uint8_t pot;             /* whose row is full */
    uint8_t gambles;         /* taken */
    uint8_t gamble_row;      /* the one taken last */
    bool may_gamble, cash_only, after_cash;
    bool respun;
    bool collected;          /* a COLLECT has paid in this spin */
    uint8_t matrix[CAB_MAX_POTS]; /* filled places by pot */
    /* Written before they are read. */
    uint16_t values[CAB_MAX_CELLS];     /* rows of PRIZ, where valued */
    uint16_t stops[CAB_MAX_REELS];
    uint16_t base_stops[CAB_MAX_REELS]; /* of the window that triggered what is in the queue */
    uint8_t window[CAB_MAX_CELLS];
    cab_queue_t queue[2];    /* of the base spin, of a free spin */
} cab_round_t;

/* CAB_ERR_MODE, CAB_ERR_UNIT, CAB_ERR_WAGER. Draws nothing yet. */
cab_error_t cab_round_begin(cab_round_t *round, const cab_pack_t *pack, const cab_play_t *play,
                            const uint8_t seed[CAB_SEED_BYTES]);

/* The next event. CAB_ERR_CHOICE_DUE and CAB_ERR_ROUND_OVER leave the round as it was; after CAB_ERR_RANDOM it goes no
 * further: every later call tells the same. */
cab_error_t cab_round_next(cab_round_t *round, cab_event_t *event);

/* Takes option 0 ... n-1 of the CHOICE that is due. CAB_ERR_NO_CHOICE, CAB_ERR_OPTION leave the round as it was. */
cab_error_t cab_round_choose(cab_round_t *round, unsigned option);

/* How many options are due (0: none); *first is the row of OPTN where they stand. */
unsigned cab_round_options(const cab_round_t *round, unsigned *first);

/* Pence that can be gambled now; 0: no offer is due. */
uint64_t cab_round_offer(const cab_round_t *round);

/* Gambles pence of the offer on a row of GAMB; the rest is banked. CAB_ERR_NO_OFFER, CAB_ERR_GAMBLE_ROW,
 * CAB_ERR_GAMBLE_AMOUNT leave the round as it was. */
cab_error_t cab_round_gamble(cab_round_t *round, unsigned row, uint64_t pence);

/* Declines the offer: the round ends. CAB_ERR_NO_OFFER. */
cab_error_t cab_round_collect(cab_round_t *round);

/* Level of the frame on a cell, 0: bare; the value of a cell in the last spin in credits, 0: none. */
unsigned cab_round_frame(const cab_round_t *round, unsigned cell);
uint32_t cab_round_value(const cab_round_t *round, unsigned cell);

bool cab_round_finished(const cab_round_t *round);

#endif

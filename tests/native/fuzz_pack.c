/* fuzz_pack.c - opens packs that a structure-aware mutator has changed, and plays what is accepted.
 *
 * An input is a pack and, behind the length that its header names, bytes that decide what the player does. The hash is set
 * right before the pack is opened: random changes would never survive it. The mutator takes the pack apart into sections,
 * changes rows, fields and counts, and puts it together again, so that most of what it makes is a well-formed pack.
 *
 * With clang, for hours:  python -m tests.native.fuzz (its head tells how)
 * With gcc, in seconds:   gcc -DCAB_FUZZ_DRIVER -fsanitize=address,undefined ...; ./fuzz SEED ROUNDS PACK...
 *
 * Packs are copied to blocks of exactly their size, so that the sanitizer sees a read one byte beyond.
 */
#include "cab_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 64,
    HASH_AT = 32,
    ROW = 12,             /* of the section table */
    MOST_BYTES = 1 << 16, /* of an input */
    PATIENCE = 250,       /* events that one input may play */
    CYCLE_BOARDS = 300,   /* windows that one enumeration may take */
    TABLE_STOPS = 14,     /* of a reel: longer ones take long to tabulate under the sanitizers */
    SIMULATED = 40        /* rounds */
};

static unsigned long opened, refused, events_played, simulations; /* so that a run can say what it reached */
static unsigned long kinds[CAB_GAMBLE + 1];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other, size_t other_size, uint8_t *out,
                                 size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static void demand(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_pack: %s\n", what);
        abort();
    }
}

static unsigned u16(const uint8_t *at)
{
    return (unsigned)(at[0] | at[1] << 8);
}

static uint32_t u32(const uint8_t *at)
{
    return (uint32_t)u16(at) | (uint32_t)u16(at + 2) << 16;
}

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void seal(uint8_t *pack, size_t size)
{
    cab_sha256_t sha;
    cab_sha256_init(&sha);
    cab_sha256_update(&sha, pack, HASH_AT);
    cab_sha256_update(&sha, pack + HEADER, size - HEADER);
    cab_sha256_final(&sha, pack + HASH_AT);
}

/* Where the pack ends and the player's bytes begin. */
static size_t pack_size(const uint8_t *data, size_t size)
{
    return size >= HEADER && u32(data + 8) >= HEADER && u32(data + 8) <= size ? u32(data + 8) : size;
}

/* ------------------------------------------------------------------------------------------------------------- playing */

typedef struct {
    const uint8_t *bytes; /* what the player does; once they are used up, a fixed pattern */
    size_t length, next;
} player_t;

static unsigned decide(player_t *player, unsigned choices)
{
    const size_t at = player->next++;
    return (at < player->length ? player->bytes[at] : (unsigned)(at * 37 + 11)) % choices;
}

/* What a round owns, told again from its events. */
typedef struct {
    uint64_t winnings; /* and what is banked */
    unsigned events, bound;
} story_t;

/* No round of the pack has more events. Each step says at most three things of a cell; each prize of the queue brings at
 * most a wheel and a prize, or a feature. */
static unsigned most_events(const cab_pack_t *pack)
{
    const unsigned spin = 3u + pack->lines + pack->symbols + pack->scatters + CAB_MAX_STEPS * 3u * pack->cells +
                          CAB_MAX_QUEUE * 3u;
    unsigned feature = 0;
    for (unsigned i = 0; i < pack->features; i++) {
        const unsigned here = 5u + 2u * pack->cells + cab_pack_feature(pack, i).most_spins * spin;
        feature = here > feature ? here : feature;
    }
    return 3u + 2u * spin + (CAB_MAX_QUEUE + CAB_MAX_GAMBLES) * (feature + 2u);
}

static void check_event(const cab_pack_t *pack, const cab_round_t *round, const cab_event_t *event, story_t *story)
{
    demand(event->kind >= CAB_SPIN && event->kind <= CAB_GAMBLE, "an event of no kind");
    kinds[event->kind]++;
    events_played++;
    demand(++story->events <= story->bound, "a round without end");
    switch (event->kind) {
    case CAB_LINE_WIN:
    case CAB_WAYS_WIN:
    case CAB_SCATTER_WIN:
    case CAB_COLLECT:
    case CAB_POT:
    case CAB_PRIZE:
    case CAB_BOWL:
        demand(event->pence > 0, "a win of nothing");
        story->winnings += event->pence;
        break;
    case CAB_WIN_CAP:
        demand(event->pence > 0 && story->winnings - event->pence == pack->win_cap_pence, "the cap cuts another amount");
        story->winnings -= event->pence;
        break;
    case CAB_GAMBLE: {
        const cab_gamble_t row = cab_pack_gamble(pack, event->index);
        demand(event->count <= 1 && event->pence > 0 && event->pence <= story->winnings, "an impossible gamble");
        story->winnings -= event->pence;
        if (row.kind == CAB_GAMBLE_CASH && event->count)
            story->winnings += event->pence / row.denominator * row.numerator;
        break;
    }
    case CAB_FRAME:
        demand(event->index < pack->cells && event->count >= 1 && event->count <= 3, "an impossible frame");
        break;
    case CAB_TOKEN:
        demand(event->count >= 1 && event->count <= cab_pack_pot(pack, event->multiplier).tokens, "an impossible token");
        break;
    case CAB_ROUND_END:
        demand(event->pence == story->winnings && cab_round_finished(round), "a round ends with another award");
        break;
    default:
        break;
    }
    const uint64_t cap = pack->win_cap_pence;
    demand(round->award_pence == (story->winnings < cap ? story->winnings : cap), "an award that was not told");
}

static void check_round(const cab_pack_t *pack, const cab_round_t *round)
{
    demand(cab_round_offer(round) <= round->award_pence, "an offer of more than was won");
    for (unsigned cell = 0; cell < pack->cells; cell++)
        demand(cab_round_frame(round, cell) <= CAB_MAX_LEVEL, "a frame of a level beyond");
    for (unsigned pot = 0; pot < pack->pots; pot++)
        demand(round->matrix[pot] <= cab_pack_pot(pack, pot).tokens, "a row with more tokens than places");
    if (round->shown_mode == CAB_NONE)
        return;
    const unsigned set = cab_pack_mode(pack, round->shown_mode).set;
    for (unsigned reel = 0; reel < pack->reels; reel++) {
        const cab_strip_t strip = cab_pack_strip(pack, set, reel);
        demand(round->stops[reel] < strip.length, "a stop beyond its strip");
        for (unsigned row = 0; row < pack->rows; row++)
            demand(round->window[reel * pack->rows + row] == strip.symbols[(round->stops[reel] + row) % strip.length],
                   "a window that is not the strips at the stops");
    }
}

/* A call that has to be refused, and to leave the round as it was. */
#define REFUSE(round, call, error, what)                                                                               \
    do {                                                                                                               \
        const cab_round_t before = *(round);                                                                           \
        demand((call) == (error) && memcmp(&before, (round), sizeof before) == 0, what);                               \
    } while (0)

static void answer_offer(const cab_pack_t *pack, cab_round_t *round, player_t *player)
{
    const uint64_t offer = cab_round_offer(round);
    const unsigned row = decide(player, pack->gambles), how = decide(player, 8);
    cab_event_t event;

    REFUSE(round, cab_round_next(round, &event), CAB_ERR_CHOICE_DUE, "an offer was skipped");
    REFUSE(round, cab_round_gamble(round, pack->gambles, 1), CAB_ERR_GAMBLE_ROW, "a row too many");
    REFUSE(round, cab_round_choose(round, 0), CAB_ERR_NO_CHOICE, "an option of an offer");
    if (cab_pack_gamble(pack, row).kind == CAB_GAMBLE_CASH) {
        REFUSE(round, cab_round_gamble(round, row, 0), CAB_ERR_GAMBLE_AMOUNT, "a gamble of nothing");
        REFUSE(round, cab_round_gamble(round, row, offer + 1), CAB_ERR_GAMBLE_AMOUNT, "a gamble of more than the offer");
    }
    const cab_round_t before = *round;
    const cab_error_t error = cab_round_gamble(round, row, how < 5 ? offer : 1 + offer * how / 8);
    if (error) {
        demand(error == CAB_ERR_GAMBLE_ROW || error == CAB_ERR_GAMBLE_AMOUNT, "a gamble fails");
        demand(memcmp(&before, round, sizeof before) == 0, "a refused gamble changes the round");
    }
    if (error || how == 7) {
        *round = before;
        demand(cab_round_collect(round) == CAB_OK, "an offer cannot be declined");
    }
}

/* One round, or as much of it as the patience allows. */
static void play(const cab_pack_t *pack, const cab_play_t *how, const uint8_t *seed, player_t *player, unsigned *patience)
{
    cab_round_t round;
    cab_event_t event;
    story_t story = {0, 0, most_events(pack)};

    memset(&round, 0, sizeof round); /* so that padding compares */
    demand(cab_round_begin(&round, pack, how, seed) == CAB_OK, "a round did not begin");
    while (!cab_round_finished(&round) && *patience) {
        unsigned first;
        const unsigned options = cab_round_options(&round, &first);
        if (options) {
            demand(options <= CAB_MAX_OPTIONS && first + options <= pack->options, "options beyond");
            REFUSE(&round, cab_round_next(&round, &event), CAB_ERR_CHOICE_DUE, "a choice was skipped");
            REFUSE(&round, cab_round_choose(&round, options), CAB_ERR_OPTION, "an option too many");
            REFUSE(&round, cab_round_collect(&round), CAB_ERR_NO_OFFER, "a choice was collected");
            demand(cab_round_choose(&round, decide(player, options)) == CAB_OK, "an option was refused");
        } else if (cab_round_offer(&round)) {
            answer_offer(pack, &round, player);
        } else {
            demand(cab_round_next(&round, &event) == CAB_OK, "a round stopped");
            check_event(pack, &round, &event, &story);
            check_round(pack, &round);
            --*patience;
        }
    }
    if (cab_round_finished(&round))
        REFUSE(&round, cab_round_next(&round, &event), CAB_ERR_ROUND_OVER, "a round goes on behind its end");
}

static void play_mode(const cab_pack_t *pack, unsigned mode, const uint8_t *sha, player_t *player, unsigned *patience)
{
    static const uint16_t piles[] = {0, 1, 65534, 65535};
    const cab_mode_t row = cab_pack_mode(pack, mode);
    uint8_t seed[CAB_SEED_BYTES];
    cab_round_t round;
    cab_play_t how = {pack->max_unit_pence, 0, 0, (uint8_t)mode, true};

    memcpy(seed, sha, sizeof seed);
    if (!(row.flags & CAB_MODE_SELECTABLE)) {
        demand(cab_round_begin(&round, pack, &how, seed) == CAB_ERR_MODE, "a round of a mode that nobody can select");
        return;
    }
    for (unsigned number = 0; number < 3 && *patience; number++) {
        seed[0] = (uint8_t)(mode * 16 + number);
        seed[1] = (uint8_t)decide(player, 256);
        how.unit_pence = number ? 1 + seed[1] % pack->max_unit_pence : pack->max_unit_pence;
        how.pile = piles[decide(player, 4)];
        how.wager_pence = 0;
        if (pack->spin_chance && number == 2 && row.cost * (uint64_t)how.unit_pence > 1)
            how.wager_pence = 1 + seed[1] % (uint32_t)(row.cost * (uint64_t)how.unit_pence - 1);
        how.gamble = number < 2;
        play(pack, &how, seed, player, patience);
    }
}

static void enumerate(const cab_pack_t *pack, unsigned mode)
{
    static cab_cycle_work_t work;
    cab_cycle_t result;
    const cab_mode_t row = cab_pack_mode(pack, mode);
    uint64_t boards = 1;

    for (unsigned reel = 1; reel < pack->reels; reel++)
        boards *= cab_pack_strip(pack, row.set, reel).length;
    if (boards > CYCLE_BOARDS)
        return;
    const cab_error_t error = cab_cycle(pack, mode, 0, 1, pack->lines, 1, &work, &result);
    demand(error == CAB_OK || error == CAB_ERR_OVERFLOW || error == CAB_ERR_ARGUMENT, "an enumeration was refused");
    if (!error)
        demand(result.boards == boards && result.boards_any <= boards && result.max_credits <= result.sum_credits,
               "an enumeration does not add up");
}

/* The table of a mode, if its reels are short. */
static const cab_wins_t *table_of(const cab_pack_t *pack, unsigned mode, cab_wins_t *wins)
{
    for (unsigned reel = 0; reel < pack->reels; reel++)
        if (cab_pack_strip(pack, cab_pack_mode(pack, mode).set, reel).length > TABLE_STOPS)
            return NULL;
    return cab_wins_make(wins, pack, mode) ? wins : NULL;
}

/* Rounds added up from tables are worth what the round function says. */
static void simulate(const cab_pack_t *pack, unsigned mode, const uint8_t *seed)
{
    static const uint8_t policy[CAB_MAX_OPTIONS + 1];
    static const cab_wins_t *const none[CAB_MAX_MODES];
    static cab_wins_t base, feature;
    const cab_wins_t *wins[CAB_MAX_MODES] = {NULL};
    cab_simulation_t quick, plain;

    wins[mode] = table_of(pack, mode, &base);
    if (!wins[mode])
        return;
    if (pack->features && cab_pack_feature(pack, 0).mode != mode)
        wins[cab_pack_feature(pack, 0).mode] = table_of(pack, cab_pack_feature(pack, 0).mode, &feature);
    const uint32_t unit = 1 + seed[0] % pack->max_unit_pence;
    const cab_error_t error = cab_simulate(pack, mode, unit, seed, seed[1], SIMULATED, policy, wins, &quick);
    demand(error == cab_simulate(pack, mode, unit, seed, seed[1], SIMULATED, policy, none, &plain),
           "a simulation from tables ends otherwise");
    demand(error || memcmp(&quick, &plain, sizeof quick) == 0, "a simulation from tables gives other totals");
    simulations += !error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t length = pack_size(data, size);
    uint8_t *bytes = malloc(length ? length : 1);
    player_t player = {data + length, size - length, 0};
    unsigned patience = PATIENCE;
    cab_pack_t pack;

    demand(bytes != NULL, "no memory");
    if (length)
        memcpy(bytes, data, length);
    if (length >= HEADER)
        seal(bytes, length);
    if (cab_pack_open(&pack, bytes, length) == CAB_OK) {
        opened++;
        for (unsigned mode = 0; mode < pack.modes; mode++)
            play_mode(&pack, mode, bytes + HASH_AT, &player, &patience);
        for (unsigned mode = 0; mode < pack.modes; mode++) {
            enumerate(&pack, mode);
            if (mode < 2)
                simulate(&pack, mode, bytes + HASH_AT);
        }
    } else {
        refused++;
    }
    free(bytes);
    return 0;
}

#include "fuzz_mutate.h"

#ifdef CAB_FUZZ_DRIVER

/* Stands in for libFuzzer's own mutations of raw bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    (void)most;
    for (unsigned changes = 1 + random_below(4); changes && size; changes--)
        data[random_below((unsigned)size)] = (uint8_t)telling();
    return size;
}

static size_t load(const char *path, uint8_t *data)
{
    FILE *file = fopen(path, "rb");
    demand(file != NULL, "no such file");
    const size_t size = fread(data, 1, MOST_BYTES, file);
    fclose(file);
    return size;
}

/* SEED ROUNDS FILE...: every file as it is, then so many mutations of it, each built upon the one before if it was opened. */
int main(int argc, char **argv)
{
    static uint8_t pack[MOST_BYTES], data[MOST_BYTES], good[MOST_BYTES];
    if (argc < 4)
        return 2;
    const unsigned seed = (unsigned)strtoul(argv[1], NULL, 10);
    const unsigned long rounds = strtoul(argv[2], NULL, 10);
    for (int i = 3; i < argc; i++) {
        const size_t size = load(argv[i], pack);
        size_t good_size = size;
        LLVMFuzzerTestOneInput(pack, size);
        memcpy(good, pack, size);
        for (unsigned long round = 0; round < rounds; round++) {
            if (round % 8 == 0) { /* not too far away from where it began */
                memcpy(good, pack, size);
                good_size = size;
            }
            memcpy(data, good, good_size);
            const unsigned long before = opened;
            const size_t changed =
                LLVMFuzzerCustomMutator(data, good_size, MOST_BYTES, seed + (unsigned)round * 7919u + (unsigned)i);
            LLVMFuzzerTestOneInput(data, changed);
            if (opened != before) {
                memcpy(good, data, changed);
                good_size = changed;
            }
        }
    }
    printf("opened %lu refused %lu events %lu simulations %lu kinds", opened, refused, events_played, simulations);
    for (unsigned kind = CAB_SPIN; kind <= CAB_GAMBLE; kind++)
        printf(" %lu", kinds[kind]);
    printf("\n");
    return 0;
}

#endif

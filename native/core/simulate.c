/* simulate.c - many rounds of a game.
 *
 * A round is worth what cab_round_next says. Where it can be added up from tables, quick.c gets to the same totals sooner;
 * seeds are made for CAB_LANES rounds at once, and those that quick.c leaves are played here, event by event.
 */
#include "quick.h"
#include "bytes.h"
#include "sums.h"

#include <string.h>

typedef struct {
    const cab_pack_t *pack;
    const uint8_t *policy;
    cab_play_t how;
    cab_quick_t quick;
    bool is_quick;
} game_t;

/* Books a tally, from credits to pence. False: the sums leave 63 bits. */
static bool book(cab_simulation_t *sum, const cab_tally_t *tally, uint64_t unit)
{
    const uint64_t credits = tally->base + tally->scatter + tally->cash + tally->features;

    /* No part is above the whole, so this sees an overflow before it happens. */
    if (credits > INT64_MAX / unit || ((sum->award_pence + sum->cut_pence + credits * unit) >> 63))
        return false;
    sum->rounds += tally->rounds;
    sum->award_pence += credits * unit;
    sum->base_pence += tally->base * unit;
    sum->scatter_pence += tally->scatter * unit;
    sum->cash_pence += tally->cash * unit;
    sum->features_pence += tally->features * unit;
    sum->hits += tally->hits;
    sum->free_spins += tally->spins;
    for (unsigned i = 0; i < CAB_MAX_FEATURES; i++) {
        sum->features += tally->begun[i];
        sum->feature_counts[i] += tally->begun[i];
    }
    if (tally->most * unit > sum->max_award_pence)
        sum->max_award_pence = tally->most * unit;
    cab_add_product(&sum->squares_hi, &sum->squares_lo, tally->squares_lo, unit * unit);
    sum->squares_hi += tally->squares_hi * (unit * unit);
    return true;
}

/* ------------------------------------------------------------------------------------------------- the round function */

/* Where a win is counted: outside features by its kind, inside all together. */
static uint64_t *account(cab_simulation_t *sum, unsigned kind)
{
    switch (kind) {
    case CAB_LINE_WIN:
    case CAB_WAYS_WIN:
        return &sum->base_pence;
    case CAB_SCATTER_WIN:
        return &sum->scatter_pence;
    case CAB_COLLECT:
        return &sum->cash_pence;
    case CAB_POT:
    case CAB_PRIZE:
        return &sum->prize_pence;
    case CAB_BOWL:
        return &sum->features_pence;
    default:
        return NULL;
    }
}

static cab_error_t play(cab_round_t *round, const uint8_t *policy, cab_simulation_t *sum)
{
    bool inside = false;

    while (!cab_round_finished(round)) {
        cab_event_t event;
        cab_error_t error = cab_round_next(round, &event);
        if (error)
            return error;
        uint64_t *won = account(sum, event.kind);
        if (won)
            *(inside ? &sum->features_pence : won) += event.pence;
        switch (event.kind) {
        case CAB_SPIN:
            sum->free_spins += inside;
            break;
        case CAB_CHOICE:
            error = cab_round_choose(round, policy[event.count]);
            break;
        case CAB_FREE_SPINS_BEGIN:
            inside = true;
            sum->features++;
            sum->feature_counts[event.index]++;
            break;
        case CAB_FREE_SPINS_END:
            inside = false;
            break;
        case CAB_WHEEL:
            sum->wheels++;
            break;
        case CAB_POT:
            sum->pot_counts[event.index]++;
            break;
        case CAB_BOWL:
            if (event.symbol != CAB_NONE)
                sum->pot_counts[event.symbol]++;
            break;
        default:
            break;
        }
        if (error)
            return error;
    }
    return CAB_OK;
}

static cab_error_t whole_round(const game_t *game, const uint32_t key[8][CAB_LANES], unsigned lane,
                               cab_simulation_t *sum)
{
    uint8_t seed[CAB_SEED_BYTES];
    cab_round_t round;

    for (unsigned i = 0; i < CAB_SEED_BYTES / 4; i++)
        cab_put32(seed + 4 * i, key[i][lane]);
    cab_error_t error = cab_round_begin(&round, game->pack, &game->how, seed);
    if (!error)
        error = play(&round, game->policy, sum);
    if (error)
        return error;

    const uint64_t award = round.award_pence;
    /* One round adds less than 2^63 and no sum is above this one, so this sees an overflow before it happens. */
    sum->rounds++;
    sum->award_pence += award;
    sum->cut_pence += round.cut_pence;
    if ((sum->award_pence + sum->cut_pence) >> 63)
        return CAB_ERR_OVERFLOW;
    sum->hits += award > 0;
    if (award > sum->max_award_pence)
        sum->max_award_pence = award;
    cab_add_product(&sum->squares_hi, &sum->squares_lo, award, award);
    return CAB_OK;
}

/* --------------------------------------------------------------------------------------------------------- the rounds */

/* Half a batch: the rounds 2 (b + lane) + odd of blocks b ..., those whose lanes are set. */
static cab_error_t rounds(const game_t *game, const uint32_t key[8][CAB_LANES], uint32_t lanes, cab_simulation_t *sum)
{
    if (game->is_quick) {
        cab_tally_t tally;
        lanes = cab_quick_rounds(&game->quick, key, lanes, &tally);
        if (!book(sum, &tally, game->how.unit_pence))
            return CAB_ERR_OVERFLOW;
    }
    for (unsigned lane = 0; lane < CAB_LANES; lane++)
        if (lanes >> lane & 1u) {
            const cab_error_t error = whole_round(game, key, lane, sum);
            if (error)
                return error;
        }
    return CAB_OK;
}

cab_error_t cab_simulate(const cab_pack_t *pack, unsigned mode, uint32_t unit_pence, const uint8_t master[CAB_SEED_BYTES],
                         uint64_t first, uint64_t count, const uint8_t policy[CAB_MAX_OPTIONS + 1],
                         const cab_wins_t *const wins[CAB_MAX_MODES], cab_simulation_t *result)
{
    uint32_t key[8][CAB_LANES];
    cab_round_t trial;
    game_t game;

    memset(result, 0, sizeof *result);
    if (count > UINT64_MAX - first)
        return CAB_ERR_ARGUMENT;
    for (unsigned options = 2; options <= CAB_MAX_OPTIONS; options++)
        if (policy[options] >= options)
            return CAB_ERR_ARGUMENT;
    if (!count)
        return CAB_OK;
    const cab_play_t how = {unit_pence, 0, 0, (uint8_t)mode, false};
    const cab_error_t refused = mode >= pack->modes ? CAB_ERR_MODE : cab_round_begin(&trial, pack, &how, master);
    if (refused)
        return refused;
    game.pack = pack;
    game.policy = policy;
    game.how = how;
    game.is_quick = cab_quick_make(&game.quick, pack, mode, unit_pence, policy, wins);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned lane = 0; lane < CAB_LANES; lane++)
            key[i][lane] = cab_get32(master + 4 * i);

    const uint64_t last = first + (count - 1);
    for (uint64_t block = first / 2; block <= last / 2; block += CAB_LANES) {
        uint32_t counter[CAB_LANES], nonce[CAB_LANES];
        cab_blocks_t seeds;

        for (unsigned lane = 0; lane < CAB_LANES; lane++) {
            counter[lane] = (uint32_t)(block + lane);
            nonce[lane] = (uint32_t)((block + lane) >> 32);
        }
        cab_chacha20_lanes((const uint32_t(*)[CAB_LANES])key, counter, nonce, &seeds);
        for (unsigned odd = 0; odd < 2; odd++) {
            uint32_t lanes = 0;
            for (unsigned lane = 0; lane < CAB_LANES; lane++) {
                const uint64_t round = 2 * (block + lane) + odd;
                if (block + lane <= last / 2 && round >= first && round <= last)
                    lanes |= (uint32_t)1 << lane;
            }
            const cab_error_t error = rounds(&game, (const uint32_t(*)[CAB_LANES])(seeds.word + 8 * odd), lanes, result);
            if (error)
                return error;
        }
    }
    return CAB_OK;
}

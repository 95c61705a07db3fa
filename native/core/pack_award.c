/* pack_award.c - the last check of a pack that is opened: whatever one win can be, it fits its fields.
 *
 * All lines, all ways and all scatters of one spin, and every other win, stay below 2^32 credits, so that the evaluator is
 * 32-bit code; times the largest feature multiplier and the largest unit they stay below 2^63 pence. The award of a round is
 * at most the win cap, which is below 2^63 too, so adding one win to it cannot overflow either.
 */
#include "pack.h"

/* The highest multiplier that `wilds` wilds of at most `best` each give together. Saturates above 32 bits. */
static uint64_t wilds_multiply(const cab_pack_t *pack, uint32_t best, unsigned wilds)
{
    uint64_t multiplier = 1;

    if (wilds == 0 || best == 1)
        return 1;
    if (pack->multiplier_rule == CAB_MULTIPLIER_HIGHEST)
        return best;
    if (pack->multiplier_rule == CAB_MULTIPLIER_SUM)
        return (uint64_t)best * wilds;
    while (wilds-- && multiplier <= UINT32_MAX)
        multiplier *= best;
    return multiplier;
}

/* The best of a symbol's wilds: the largest multiplier with which another symbol stands in for it. */
static uint32_t best_wild(const cab_pack_t *pack, unsigned symbol)
{
    uint32_t best = 1;

    for (unsigned w = 0; w < pack->symbols; w++)
        if (w != symbol && (pack->reads_as[w] & bit(symbol)) && pack->wild_multiplier[w] > best)
            best = pack->wild_multiplier[w];
    return best;
}

/* The largest multiplier of a line and the most credits that one pays. false: they do not fit. */
static bool best_line(const cab_pack_t *pack, uint64_t *credits, uint64_t *multiplier)
{
    *credits = 0;
    *multiplier = 1;
    for (unsigned s = 0; s < pack->symbols; s++) {
        const uint32_t best = best_wild(pack, s);
        for (unsigned run = 1; run <= pack->reels; run++) {
            const uint64_t pay = cab_pack_pay(pack, s, run);
            const uint64_t times = wilds_multiply(pack, best, pack->needs_natural ? run - 1 : run);
            if (!pay)
                continue;
            if (times > UINT32_MAX || pay * times > UINT32_MAX)
                return false;
            if (times > *multiplier)
                *multiplier = times;
            if (pay * times > *credits)
                *credits = pay * times;
        }
    }
    return true;
}

/* The same for ways, of all symbols together: every cell of a run could be the best wild. */
static bool best_ways(const cab_pack_t *pack, uint64_t *credits, uint64_t *most_ways)
{
    *credits = 0;
    *most_ways = 1;
    for (unsigned s = 0; s < pack->symbols; s++) {
        const uint64_t best = best_wild(pack, s);
        uint64_t ways = pack->multiplier_rule == CAB_MULTIPLIER_HIGHEST ? best : 1, most = 0;
        for (unsigned run = 1; run <= pack->reels; run++) {
            const uint64_t pay = cab_pack_pay(pack, s, run);
            ways *= pack->rows * (pack->multiplier_rule == CAB_MULTIPLIER_HIGHEST ? 1 : best); /* <= 2^9 x 2^11 a reel */
            if (ways > UINT32_MAX) {
                if (pay)
                    return false;
                ways = UINT32_MAX; /* of a run that pays nothing, but a longer one may */
                continue;
            }
            if (!pay)
                continue;
            if (ways > *most_ways)
                *most_ways = ways;
            if (pay * ways > most)
                most = pay * ways;
        }
        if (most > UINT32_MAX)
            return false;
        *credits += most;
    }
    return *credits <= UINT32_MAX;
}

static uint64_t best_scatters(const cab_pack_t *pack)
{
    uint64_t sum = 0;

    for (unsigned n = 0; n < pack->scatters; n++) {
        uint32_t best = 0;
        for (unsigned count = 1; count <= pack->cells; count++)
            if (cab_pack_scatter_pay(pack, n, count) > best)
                best = cab_pack_scatter_pay(pack, n, count);
        sum += best;
    }
    return sum;
}

/* The most credits that a prize, a pot, or the values of a window pay. */
static uint64_t best_prize(const cab_pack_t *pack)
{
    uint64_t best = 0, value = 0;

    for (unsigned i = 0; i < pack->pots; i++)
        if (cab_pack_pot(pack, i).credits > best)
            best = cab_pack_pot(pack, i).credits;
    for (unsigned row = 0; row < pack->section_bytes[PRIZ] / PRIZE_BYTES; row++) {
        const cab_prize_t prize = cab_pack_prize(pack, row);
        if (prize.kind == CAB_PRIZE_CREDITS && prize.number > best)
            best = prize.number;
    }
    for (unsigned i = 0; i < pack->first_step[pack->modes]; i++) {
        const cab_step_t step = cab_pack_step(pack, i);
        if (step.op == CAB_STEP_FRAMES && step.credits > best)
            best = step.credits;
        if (step.op != CAB_STEP_VALUES)
            continue;
        const cab_table_t table = cab_pack_table(pack, step.index);
        for (unsigned row = table.first; row < (unsigned)table.first + table.rows; row++)
            if (cab_pack_prize(pack, row).number > value)
                value = cab_pack_prize(pack, row).number;
    }
    return value * pack->cells > best ? value * pack->cells : best;
}

cab_error_t cab_check_award(cab_pack_t *pack)
{
    uint64_t line, line_multiplier, ways = 0, most_ways = 1, cost = 0, feature_multiplier = 1, best;
    bool by_ways = false;

    for (unsigned m = 0; m < pack->modes; m++) {
        const cab_mode_t mode = cab_pack_mode(pack, m);
        by_ways |= mode.evaluation == CAB_WAYS;
        if (mode.cost > cost)
            cost = mode.cost;
    }
    for (unsigned row = 0; row < pack->options; row++)
        if (cab_pack_option(pack, row).multiplier > feature_multiplier)
            feature_multiplier = cab_pack_option(pack, row).multiplier;

    const uint64_t scatter = best_scatters(pack);
    if (!best_line(pack, &line, &line_multiplier) || (by_ways && !best_ways(pack, &ways, &most_ways)) ||
        scatter > UINT32_MAX || line * pack->lines + scatter * cost > UINT32_MAX || ways + scatter * cost > UINT32_MAX ||
        line_multiplier * feature_multiplier > UINT32_MAX || most_ways * feature_multiplier > UINT32_MAX)
        return CAB_ERR_PACK_AWARD;
    pack->max_line_credits = (uint32_t)line * pack->lines;
    pack->max_ways_credits = (uint32_t)ways;
    pack->max_scatter_bets = (uint32_t)scatter;

    best = best_prize(pack);
    if (best > UINT32_MAX)
        return CAB_ERR_PACK_AWARD;
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t spin = i == 0 ? line : i == 1 ? ways : scatter * cost;
        if (spin * feature_multiplier > best) /* 32 by 16 bits */
            best = spin * feature_multiplier;
    }
    return best > (uint64_t)INT64_MAX / pack->max_unit_pence ? CAB_ERR_PACK_AWARD : CAB_OK;
}

/* plan.c - a mode as the quick way plays it: draws without divisions, pays by count, steps as counters. */
#include "quick.h"

#include <string.h>

static cab_range_t range_of(uint32_t length)
{
    const cab_range_t range = {length, length > 1 ? (uint32_t)(((uint64_t)1 << 32) / length) : UINT32_MAX,
                               UINT32_MAX - (0u - length) % length};
    return range;
}

static uint8_t counter_of(const cab_wins_t *wins, uint32_t symbols)
{
    uint8_t i = 0;
    while (wins->counter[i] != symbols) /* cab_wins_make has put it there */
        i++;
    return i;
}

/* False: the table is too long. */
static bool make_draws(cab_draws_t *draws, const cab_pack_t *pack, unsigned table)
{
    const cab_table_t t = cab_pack_table(pack, table);
    uint32_t sum = 0;

    if (t.rows > MOST_ROWS)
        return false;
    for (unsigned i = 0; i < t.rows; i++) {
        const cab_prize_t prize = cab_pack_prize(pack, t.first + i);
        draws->below[i] = sum += prize.weight;
        draws->credits[i] = prize.kind == CAB_PRIZE_CREDITS ? prize.number : 0;
        draws->nothing[i] = prize.kind == CAB_PRIZE_NOTHING;
    }
    draws->range = range_of(sum);
    return true;
}

/* The feature that an AWARD gives, if the quick way can play it: no frames, values or options of the unusual kind. */
static uint8_t simple_feature(const cab_quick_t *quick, const cab_step_t *step)
{
    const cab_prize_t prize = cab_pack_prize(quick->pack, cab_pack_table(quick->pack, step->index).first);

    if (prize.kind != CAB_PRIZE_FEATURE || !quick->feature[prize.index].wins)
        return CAB_NONE;
    return prize.index;
}

static bool add_step(cab_quick_t *quick, cab_plan_t *plan, const cab_step_t *step, uint32_t *valued)
{
    const uint8_t counter = step->symbols ? counter_of(plan->wins, step->symbols) : 0;
    cab_trigger_t *trigger = &plan->trigger[plan->triggers];

    switch (step->op) {
    case CAB_STEP_MODIFIER:
        plan->modified = 1;
        return make_draws(&plan->modifier, quick->pack, step->index);
    case CAB_STEP_VALUES:
        if (plan->values == MOST_DRAWING || (*valued & step->symbols))
            return false; /* a cell would draw twice and keep the second value */
        *valued |= step->symbols;
        plan->value[plan->values].counter = counter;
        return make_draws(&plan->value[plan->values++].draws, quick->pack, step->index);
    case CAB_STEP_COLLECT:
        plan->collect[plan->collects++] = counter;
        return true;
    case CAB_STEP_PILE:
        if (plan->piles == MOST_DRAWING)
            return false;
        plan->pile[plan->piles].counter = counter;
        return make_draws(&plan->pile[plan->piles++].draws, quick->pack, step->index);
    case CAB_STEP_AWARD:
        trigger->counter = counter;
        trigger->needed = step->needed ? counter_of(plan->wins, step->needed) : CAB_NONE;
        trigger->least = (uint8_t)(step->least < CAB_NONE ? step->least : CAB_NONE); /* no count is so large */
        trigger->most = step->most;
        trigger->feature = simple_feature(quick, step);
        plan->triggers++;
        return true;
    case CAB_STEP_RESPIN:
        trigger->counter = counter;
        trigger->needed = CAB_NONE;
        trigger->least = trigger->most = (uint8_t)(step->least < CAB_NONE ? step->least : CAB_NONE);
        trigger->feature = CAB_NONE;
        plan->triggers++;
        return true;
    case CAB_STEP_ADD_SPINS:
        plan->add[plan->adds].counter = counter;
        plan->add[plan->adds++].each = step->least;
        return true;
    default:
        return false;
    }
}

/* cost: of the round, in features too. */
static bool make_plan(cab_quick_t *quick, cab_plan_t *plan, unsigned mode, uint32_t cost, const cab_wins_t *wins)
{
    const cab_pack_t *pack = quick->pack;
    const cab_mode_t row = cab_pack_mode(pack, mode);
    uint32_t valued = 0;

    memset(plan, 0, sizeof *plan);
    plan->wins = wins;
    if (!wins)
        return false;
    for (unsigned reel = 0; reel < pack->reels; reel++)
        plan->range[reel] = range_of(cab_pack_strip(pack, row.set, reel).length);
    plan->scatters = row.flags & CAB_MODE_SCATTER_PAYS ? pack->scatters : 0;
    for (unsigned n = 0; n < plan->scatters; n++) {
        plan->scatter_counter[n] = counter_of(wins, cab_counted_as(pack, n));
        for (unsigned count = 1; count <= pack->cells; count++)
            plan->scatter_pay[n][count] = cab_pack_scatter_pay(pack, n, count) * cost;
    }
    for (unsigned i = pack->first_step[mode]; i < pack->first_step[mode + 1u]; i++) {
        const cab_step_t step = cab_pack_step(pack, i);
        if (!add_step(quick, plan, &step, &valued))
            return false;
    }
    return true;
}

bool cab_quick_make(cab_quick_t *quick, const cab_pack_t *pack, unsigned mode, uint32_t unit_pence, const uint8_t *policy,
                    const cab_wins_t *const *wins)
{
    const uint32_t cost = cab_pack_mode(pack, mode).cost;

    memset(quick, 0, sizeof *quick);
    quick->pack = pack;
    quick->policy = policy;
    /* The second bound keeps sums of CAB_LANES rounds within 64 bits. */
    quick->most_credits = pack->win_cap_pence / unit_pence;
    if (quick->most_credits > (uint64_t)1 << 56)
        quick->most_credits = (uint64_t)1 << 56;
    for (unsigned i = 0; i < pack->features; i++) {
        const cab_feature_t f = cab_pack_feature(pack, i);
        cab_plan_t *plan = &quick->feature[i];
        if (!make_plan(quick, plan, f.mode, cost, wins[f.mode]) || f.opening != CAB_OPENING_NONE || f.collects ||
            plan->values || plan->piles || plan->triggers)
            plan->wins = NULL;
    }
    return make_plan(quick, &quick->base, mode, cost, wins[mode]);
}

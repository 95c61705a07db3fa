/* gamble.c - winnings that are gambled: for more of them, or for a feature.
 *
 * Of the award, the part that is banked is out of reach; the rest are the winnings that a gamble may take.
 */
#include "round.h"

static uint64_t winnings(const cab_round_t *round)
{
    return round->award_pence - round->banked_pence;
}

/* Behind a gamble for cash the next one needs winnings only; else they must reach what the pack asks for. */
static bool may_offer(const cab_round_t *round)
{
    const cab_pack_t *pack = round->pack;
    const uint64_t pence = winnings(round);

    return round->may_gamble && pence && round->gambles < pack->most_gambles &&
           (round->after_cash || pence >= (uint64_t)pack->gamble_from * round->unit_pence) &&
           pence <= (uint64_t)pack->gamble_limit * round->unit_pence;
}

bool cab_gamble_offer(cab_round_t *round, cab_event_t *event)
{
    if (!may_offer(round)) {
        round->phase = END;
        return false;
    }
    round->phase = OFFERED;
    event->kind = CAB_GAMBLE_OFFER;
    event->index = round->gambles;
    event->pence = winnings(round);
    return true;
}

uint64_t cab_round_offer(const cab_round_t *round)
{
    return round->phase == OFFERED ? winnings(round) : 0;
}

cab_error_t cab_round_collect(cab_round_t *round)
{
    if (round->phase != OFFERED)
        return CAB_ERR_NO_OFFER;
    round->phase = END;
    return CAB_OK;
}

/* What a feature is worth in millionths of a penny. */
static uint64_t feature_value(const cab_round_t *round, const cab_gamble_t *g)
{
    return g->value_micro * round->unit_pence;
}

cab_error_t cab_round_gamble(cab_round_t *round, unsigned row, uint64_t pence)
{
    const cab_pack_t *pack = round->pack;

    if (round->phase != OFFERED)
        return CAB_ERR_NO_OFFER;
    if (row >= pack->gambles)
        return CAB_ERR_GAMBLE_ROW;
    const cab_gamble_t g = cab_pack_gamble(pack, row);
    if (g.kind == CAB_GAMBLE_FEATURE && round->cash_only)
        return CAB_ERR_GAMBLE_ROW;
    if (pence > winnings(round))
        return CAB_ERR_GAMBLE_AMOUNT;
    if (g.kind == CAB_GAMBLE_CASH)
        pence -= pence % g.denominator;
    else if (pence * pack->gamble_payback_ppm > feature_value(round, &g))
        pence = feature_value(round, &g) / pack->gamble_payback_ppm; /* no more than certainty */
    if (!pence)
        return CAB_ERR_GAMBLE_AMOUNT;
    round->gamble_row = (uint8_t)row;
    round->gamble_pence = pence;
    round->phase = GAMBLE;
    return CAB_OK;
}

static bool draw_cash(cab_round_t *round, const cab_gamble_t *g, bool *green)
{
    uint32_t value;

    if (!cab_round_draw(round, (uint32_t)g->numerator * 1000000u, &value))
        return false;
    *green = value < g->denominator * round->pack->gamble_payback_ppm;
    return true;
}

static bool draw_feature(cab_round_t *round, const cab_gamble_t *g, bool *green)
{
    uint64_t value;

    if (cab_draw64(&round->stream, feature_value(round, g), &value)) {
        round->phase = FAULT;
        return false;
    }
    *green = value < round->gamble_pence * round->pack->gamble_payback_ppm;
    return true;
}

bool cab_gamble_draw(cab_round_t *round, cab_event_t *event)
{
    const cab_gamble_t g = cab_pack_gamble(round->pack, round->gamble_row);
    const bool cash = g.kind == CAB_GAMBLE_CASH;
    bool green;

    if (!(cash ? draw_cash(round, &g, &green) : draw_feature(round, &g, &green)))
        return true;
    event->kind = CAB_GAMBLE;
    event->index = round->gamble_row;
    event->count = green;
    event->pence = round->gamble_pence;

    round->gambles++;
    round->cash_only |= (g.flags & CAB_GAMBLE_THEN_CASH_ONLY) != 0;
    round->after_cash = cash;
    round->banked_pence = round->award_pence - round->gamble_pence;
    round->award_pence = round->banked_pence;
    round->phase = OFFER;
    if (green && cash) {
        round->award_pence += round->gamble_pence / g.denominator * g.numerator;
        cab_round_cut(round);
    } else if (green) {
        round->base_credits = 0; /* no window is behind this feature */
        cab_feature_start(round, g.feature, 0, g.spins);
    }
    return true;
}

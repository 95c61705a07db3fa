/* round.c - one round, event by event.
 *
 * A round is a small state machine. Its phase says what next() does first; phases that have nothing to report fall through
 * to the one behind them. A spin with all that follows from it:
 *
 *   SPIN (LAND) -> VALUES -> WINS -> SCATTERS -> STEPS <-> FULL_ROW
 *   STEPS -> SPIN (a respin) or QUEUE <-> PRIZE
 *   PRIZE -> COLLECTS -> OPTIONS (CHOICE) -> FEATURE_BEGIN -> OPENING -> FRAMES -> SPIN ... QUEUE of the free spin
 *   QUEUE, empty: in a feature SPIN, or BOWLS -> FEATURE_END -> QUEUE of the base spin; else OFFER
 *   OFFER -> OFFERED -> GAMBLE -> OFFER or COLLECTS; OFFER -> END -> OVER
 *   any win beyond the cap -> CAPPED -> END
 */
#include "round.h"

#include <string.h>

cab_error_t cab_round_begin(cab_round_t *round, const cab_pack_t *pack, const cab_play_t *play,
                            const uint8_t seed[CAB_SEED_BYTES])
{
    if (play->mode >= pack->modes)
        return CAB_ERR_MODE;
    const cab_mode_t mode = cab_pack_mode(pack, play->mode);
    if (!(mode.flags & CAB_MODE_SELECTABLE))
        return CAB_ERR_MODE;
    if (play->unit_pence < 1 || play->unit_pence > pack->max_unit_pence)
        return CAB_ERR_UNIT;
    if (play->wager_pence && (!pack->spin_chance || play->wager_pence >= (uint64_t)mode.cost * play->unit_pence))
        return CAB_ERR_WAGER;

    memset(&round->award_pence, 0, offsetof(cab_round_t, values) - offsetof(cab_round_t, award_pence));
    round->pack = pack;
    cab_stream_init(&round->stream, seed);
    round->unit_pence = play->unit_pence;
    round->wager_pence = play->wager_pence;
    round->multiplier = 1;
    round->pile = play->pile;
    round->phase = play->wager_pence ? CHANCE : SPIN;
    round->mode = play->mode;
    round->shown_mode = CAB_NONE;
    round->feature = CAB_NONE;
    round->may_gamble = play->gamble && pack->gambles;
    return CAB_OK;
}

/* -------------------------------------------------------------------------------------------------- shared by phases */

bool cab_round_draw(cab_round_t *round, uint32_t range, uint32_t *value)
{
    if (cab_draw(&round->stream, range, value) == CAB_OK)
        return true;
    round->phase = FAULT;
    return false;
}

bool cab_round_draw_row(cab_round_t *round, unsigned table, unsigned *row)
{
    const cab_pack_t *pack = round->pack;
    const cab_table_t t = cab_pack_table(pack, table);
    uint32_t weights = 0, value;

    for (unsigned i = t.first; i < (unsigned)t.first + t.rows; i++)
        weights += cab_pack_prize(pack, i).weight;
    if (!cab_round_draw(round, weights, &value))
        return false;
    for (*row = t.first; value >= cab_pack_prize(pack, *row).weight; ++*row)
        value -= cab_pack_prize(pack, *row).weight;
    return true;
}

/* Beyond the win cap the round's total is cut, once, and nothing but its end follows. */
void cab_round_cut(cab_round_t *round)
{
    const uint64_t cap = round->pack->win_cap_pence;

    if (round->award_pence <= cap)
        return;
    round->cut_pence = round->award_pence - cap;
    round->award_pence = cap;
    round->phase = CAPPED;
}

void cab_round_book(cab_round_t *round, cab_event_t *event, uint64_t pence)
{
    event->pence = pence;
    round->award_pence += pence;
    round->feature_pence += pence; /* cleared when a feature begins */
    cab_round_cut(round);
}

/* Free spins that are added, as far as the feature plays so many. */
bool cab_round_add_spins(cab_round_t *round, cab_event_t *event, uint32_t spins, unsigned symbol)
{
    const uint32_t room = (uint32_t)cab_pack_feature(round->pack, round->feature).most_spins - round->spins_left -
                          round->spins_played;

    if (spins > room)
        spins = room;
    if (!spins)
        return false;
    round->spins_left = (uint16_t)(round->spins_left + spins);
    event->kind = CAB_FREE_SPINS_ADDED;
    event->index = round->feature;
    event->symbol = (uint8_t)symbol;
    event->count = (uint16_t)spins;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- phases */

static bool spin_chance(cab_round_t *round, cab_event_t *event)
{
    uint32_t value;

    if (!cab_round_draw(round, cab_pack_mode(round->pack, round->mode).cost * round->unit_pence, &value))
        return true;
    event->kind = CAB_SPIN_CHANCE;
    event->count = value < round->wager_pence;
    event->pence = round->wager_pence;
    round->phase = event->count ? SPIN : END;
    return true;
}

/* The next prize of the spin; behind the last one the next free spin, the end of the feature, or the gamble. */
static bool next_prize(cab_round_t *round)
{
    cab_queue_t *queue = &round->queue[in_feature(round)];

    if (queue->next < queue->length) {
        round->prize_row = queue->row[queue->next];
        round->prize_count = queue->count[queue->next];
        queue->next++;
        round->phase = PRIZE;
    } else if (in_feature(round)) {
        round->cursor = 0;
        round->phase = round->spins_left ? SPIN : BOWLS;
    } else {
        round->phase = OFFER;
    }
    return false;
}

static bool spin_wheel(cab_round_t *round, cab_event_t *event, unsigned table)
{
    unsigned row;

    if (!cab_round_draw_row(round, table, &row))
        return true;
    event->kind = CAB_WHEEL;
    event->index = (uint8_t)table;
    event->count = (uint16_t)(row - cab_pack_table(round->pack, table).first);
    round->prize_row = (uint16_t)row;
    round->prize_count = 0;
    return true;
}

static bool prize(cab_round_t *round, cab_event_t *event)
{
    const cab_prize_t p = cab_pack_prize(round->pack, round->prize_row);

    if (p.kind == CAB_PRIZE_WHEEL)
        return spin_wheel(round, event, p.index); /* what it shows is the prize */
    round->phase = QUEUE;
    switch (p.kind) {
    case CAB_PRIZE_CREDITS:
        event->kind = CAB_PRIZE;
        cab_round_book(round, event, (uint64_t)p.number * round->unit_pence);
        return true;
    case CAB_PRIZE_POT:
        event->kind = CAB_POT;
        event->index = p.index;
        cab_round_book(round, event, (uint64_t)cab_pack_pot(round->pack, p.index).credits * round->unit_pence);
        return true;
    case CAB_PRIZE_SPINS:
        return cab_round_add_spins(round, event, p.number, 0);
    case CAB_PRIZE_FEATURE:
        cab_feature_start(round, p.index, round->prize_count, 0);
        return false;
    default:
        return false;
    }
}

static bool capped(cab_round_t *round, cab_event_t *event)
{
    round->phase = END;
    event->kind = CAB_WIN_CAP;
    event->pence = round->cut_pence;
    return true;
}

static bool end(cab_round_t *round, cab_event_t *event)
{
    round->phase = OVER;
    event->kind = CAB_ROUND_END;
    event->pence = round->award_pence;
    return true;
}

static bool play_phase(cab_round_t *round, cab_event_t *event)
{
    switch (round->phase) {
    case CHANCE:
        return spin_chance(round, event);
    case SPIN:
        return cab_spin(round, event);
    case LAND:
        return cab_land(round, event);
    case VALUES:
        return cab_value_cells(round, event);
    case WINS:
        return cab_line_or_ways_win(round, event);
    case SCATTERS:
        return cab_scatter_win(round, event);
    case STEPS:
        return cab_run_steps(round, event);
    case FULL_ROW:
        return cab_full_row(round, event);
    case QUEUE:
        return next_prize(round);
    case PRIZE:
        return prize(round, event);
    case COLLECTS:
        return cab_feature_collects(round, event);
    case OPTIONS:
        return cab_feature_options(round, event);
    case FEATURE_BEGIN:
        return cab_feature_begin(round, event);
    case OPENING:
        return cab_feature_opening(round, event);
    case FRAMES:
        return cab_feature_frames(round, event);
    case BOWLS:
        return cab_feature_bowls(round, event);
    case FEATURE_END:
        return cab_feature_end(round, event);
    case OFFER:
        return cab_gamble_offer(round, event);
    case GAMBLE:
        return cab_gamble_draw(round, event);
    case CAPPED:
        return capped(round, event);
    default:
        return end(round, event);
    }
}

cab_error_t cab_round_next(cab_round_t *round, cab_event_t *event)
{
    memset(event, 0, sizeof *event);
    switch (round->phase) {
    case CHOICE:
    case OFFERED:
        return CAB_ERR_CHOICE_DUE;
    case OVER:
        return CAB_ERR_ROUND_OVER;
    case FAULT:
        return CAB_ERR_RANDOM;
    default:
        break;
    }
    /* Ends: what moves on without an event moves forward, and only a spin, which is one, leads back. */
    while (!play_phase(round, event))
        ;
    return round->phase == FAULT ? CAB_ERR_RANDOM : CAB_OK;
}

/* ------------------------------------------------------------------------------------------------------------ choices */

unsigned cab_round_options(const cab_round_t *round, unsigned *first)
{
    *first = 0;
    return round->phase == CHOICE ? cab_pack_options(round->pack, round->feature, round->prize_count, first) : 0;
}

cab_error_t cab_round_choose(cab_round_t *round, unsigned option)
{
    unsigned first;
    const unsigned options = cab_round_options(round, &first);

    if (!options)
        return CAB_ERR_NO_CHOICE;
    if (option >= options)
        return CAB_ERR_OPTION;
    round->option_row = (uint16_t)(first + option);
    round->phase = FEATURE_BEGIN;
    return CAB_OK;
}

uint32_t cab_round_value(const cab_round_t *round, unsigned cell)
{
    return round->valued >> cell & 1u ? cab_pack_prize(round->pack, round->values[cell]).number : 0;
}

bool cab_round_finished(const cab_round_t *round)
{
    return round->phase == OVER;
}

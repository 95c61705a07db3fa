/* feature.c - a feature from its beginning to its end, without its spins: values, options, frames and bowls. */
#include "round.h"

#include <string.h>

void cab_feature_start(cab_round_t *round, unsigned feature, unsigned count, unsigned spins)
{
    round->feature = (uint8_t)feature;
    round->prize_count = (uint8_t)count;
    round->gamble_spins = (uint16_t)spins;
    round->phase = COLLECTS;
}

/* The values in the triggering window, if the feature collects them and nothing else has. */
bool cab_feature_collects(cab_round_t *round, cab_event_t *event)
{
    const uint32_t credits = round->base_credits;

    round->phase = OPTIONS;
    if (!credits || !cab_pack_feature(round->pack, round->feature).collects)
        return false;
    round->base_credits = 0;
    event->kind = CAB_COLLECT;
    event->index = CAB_NONE;
    event->count = round->base_values;
    cab_round_book(round, event, (uint64_t)credits * round->unit_pence);
    return true;
}

bool cab_feature_options(cab_round_t *round, cab_event_t *event)
{
    unsigned first;
    const unsigned options = cab_pack_options(round->pack, round->feature, round->prize_count, &first);

    if (options == 1) {
        round->option_row = (uint16_t)first;
        round->phase = FEATURE_BEGIN;
        return false;
    }
    round->phase = CHOICE;
    event->kind = CAB_CHOICE;
    event->index = round->feature;
    event->count = (uint16_t)options;
    return true;
}

bool cab_feature_begin(cab_round_t *round, cab_event_t *event)
{
    const cab_option_t option = cab_pack_option(round->pack, round->option_row);

    round->spins_left = round->gamble_spins ? round->gamble_spins : option.spins;
    round->spins_played = 0;
    round->multiplier = option.multiplier;
    round->feature_pence = 0;
    round->framed[0] = round->framed[1] = 0;
    memset(round->matrix, 0, sizeof round->matrix);
    round->phase = OPENING;
    event->kind = CAB_FREE_SPINS_BEGIN;
    event->index = round->feature;
    event->count = round->spins_left;
    event->multiplier = round->multiplier;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- frames */

unsigned cab_round_frame(const cab_round_t *round, unsigned cell)
{
    return (round->framed[0] >> cell & 1u) | (round->framed[1] >> cell & 1u) << 1;
}

void cab_set_frames(cab_round_t *round, uint32_t cells, unsigned level)
{
    for (unsigned bit = 0; bit < 2; bit++)
        round->framed[bit] = level >> bit & 1u ? round->framed[bit] | cells : round->framed[bit] & ~cells;
}

void cab_raise_frames(cab_round_t *round, uint32_t cells)
{
    const uint32_t rise = cells & ~(round->framed[0] & round->framed[1]);
    const uint32_t carry = rise & round->framed[0];

    round->framed[0] ^= rise;
    round->framed[1] ^= carry;
}

/* The cells of the window that triggered the feature which show one of `symbols`. */
static uint32_t triggering_cells(const cab_round_t *round, uint32_t symbols)
{
    uint8_t window[CAB_MAX_CELLS];

    cab_window(round->pack, cab_pack_mode(round->pack, round->mode).set, round->base_stops, window);
    return cab_cells(round->pack, window, symbols);
}

/* Each of these cells rolls along its row to the last reel. */
static void roll(cab_round_t *round, uint32_t cells)
{
    const uint32_t all = UINT32_MAX >> (32 - round->pack->cells);
    uint32_t row = 0;

    for (unsigned cell = 0; cell < round->pack->cells; cell += round->pack->rows)
        row |= (uint32_t)1 << cell;
    for (; cells; cells &= cells - 1)
        cab_raise_frames(round, row << cab_lowest_bit(cells) & all);
}

/* A shape of cells, and the place where it lands. */
static bool land_shape(cab_round_t *round, cab_event_t *event, const cab_feature_t *f)
{
    const cab_pack_t *pack = round->pack;
    unsigned row;
    uint32_t place, cells = 0;

    if (!cab_round_draw_row(round, f->opening_index, &row))
        return true;
    const uint32_t number = cab_pack_prize(pack, row).number;
    const unsigned width = number & 255u, height = number >> 8;
    const unsigned tops = pack->rows - height + 1;

    if (!cab_round_draw(round, (pack->reels - width + 1) * tops, &place))
        return true;
    const unsigned first = place / tops * pack->rows + place % tops;
    for (unsigned left = 0; left < width; left++)
        cells |= (((uint32_t)1 << height) - 1) << (first + left * pack->rows);
    cab_set_frames(round, cells, f->level);
    event->kind = CAB_SHAPE;
    event->index = (uint8_t)first;
    event->count = (uint16_t)number;
    return true;
}

bool cab_feature_opening(cab_round_t *round, cab_event_t *event)
{
    const cab_feature_t f = cab_pack_feature(round->pack, round->feature);

    round->cursor = 0;
    round->phase = FRAMES;
    switch (f.opening) {
    case CAB_OPENING_CELLS:
        cab_set_frames(round, triggering_cells(round, f.symbols), f.level);
        return false;
    case CAB_OPENING_ROLL:
        roll(round, triggering_cells(round, f.symbols));
        return false;
    case CAB_OPENING_SHAPE:
        return land_shape(round, event, &f);
    default:
        return false;
    }
}

static uint32_t framed_from(const cab_round_t *round)
{
    return cells_from(round->framed[0] | round->framed[1], round->cursor);
}

bool cab_feature_frames(cab_round_t *round, cab_event_t *event)
{
    const uint32_t cells = framed_from(round);

    if (!cells) {
        round->phase = SPIN;
        return false;
    }
    event->kind = CAB_FRAME;
    event->index = (uint8_t)cab_lowest_bit(cells);
    event->count = (uint16_t)cab_round_frame(round, event->index);
    round->cursor = (uint8_t)(event->index + 1);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ closing */

bool cab_feature_bowls(cab_round_t *round, cab_event_t *event)
{
    const cab_feature_t f = cab_pack_feature(round->pack, round->feature);

    for (uint32_t cells = framed_from(round); cells; cells &= cells - 1) {
        const unsigned cell = cab_lowest_bit(cells), level = cab_round_frame(round, cell);
        unsigned row;

        if (f.bowls[level - 1] == CAB_NONE)
            continue;
        if (!cab_round_draw_row(round, f.bowls[level - 1], &row))
            return true;
        const cab_prize_t prize = cab_pack_prize(round->pack, row);
        const bool pot = prize.kind == CAB_PRIZE_POT;
        round->cursor = (uint8_t)(cell + 1);
        event->kind = CAB_BOWL;
        event->index = (uint8_t)cell;
        event->symbol = pot ? prize.index : CAB_NONE;
        event->count = (uint16_t)level;
        const uint32_t credits = pot ? cab_pack_pot(round->pack, prize.index).credits : prize.number;
        cab_round_book(round, event, (uint64_t)credits * round->unit_pence);
        return true;
    }
    round->phase = FEATURE_END;
    return false;
}

bool cab_feature_end(cab_round_t *round, cab_event_t *event)
{
    event->kind = CAB_FREE_SPINS_END;
    event->index = round->feature;
    event->count = round->spins_played;
    event->multiplier = round->multiplier;
    event->pence = round->feature_pence;
    round->feature = CAB_NONE;
    round->multiplier = 1;
    round->phase = QUEUE;
    return true;
}

/* steps.c - the steps behind the wins of a spin, each a mechanic that the pack configures.
 *
 * A step that goes from cell to cell reports one event and remembers the next cell in the cursor; the others are done when
 * they return. `true` means that an event was reported, or that the random stream is at fault.
 */
#include "round.h"

#include <string.h>

/* The cells of a step that are still to be looked at. */
static uint32_t cells_left(const cab_round_t *round, const cab_step_t *step)
{
    return cells_from(cab_cells(round->pack, round->window, step->symbols), round->cursor);
}

static void take_cell(cab_round_t *round, cab_event_t *event, unsigned cell)
{
    round->cursor = (uint8_t)(cell + 1);
    event->index = (uint8_t)cell;
    event->symbol = round->window[cell];
}

static void enqueue(cab_round_t *round, unsigned row, unsigned count)
{
    cab_queue_t *queue = &round->queue[in_feature(round)];

    queue->row[queue->length] = (uint16_t)row;
    queue->count[queue->length] = (uint8_t)count;
    queue->length++;
}

static bool collect(cab_round_t *round, cab_event_t *event, const cab_step_t *step)
{
    const uint32_t cells = cab_cells(round->pack, round->window, step->symbols);

    if (!cells || !round->valued || round->collected)
        return false;
    round->collected = true;
    event->kind = CAB_COLLECT;
    event->index = (uint8_t)cab_lowest_bit(cells);
    event->symbol = round->window[event->index];
    event->count = (uint16_t)cab_count_bits(round->valued);
    cab_round_book(round, event, (uint64_t)cab_sum_of_values(round) * round->unit_pence);
    return true;
}

static uint32_t held_cells(const cab_round_t *round)
{
    const uint32_t column = ((uint32_t)1 << round->pack->rows) - 1;
    uint32_t cells = 0;

    for (uint32_t reels = round->held; reels; reels &= reels - 1)
        cells |= column << cab_lowest_bit(reels) * round->pack->rows;
    return cells;
}

static bool pile(cab_round_t *round, cab_event_t *event, const cab_step_t *step)
{
    const uint32_t cells = cells_left(round, step) & ~held_cells(round);
    unsigned row;

    if (!cells)
        return false;
    if (!cab_round_draw_row(round, step->index, &row))
        return true;
    const bool won = cab_pack_prize(round->pack, row).kind != CAB_PRIZE_NOTHING;
    if (round->pile < CAB_MAX_PILE)
        round->pile++;
    take_cell(round, event, cab_lowest_bit(cells));
    event->kind = CAB_PILE;
    event->count = round->pile;
    event->multiplier = won;
    if (won) {
        enqueue(round, row, 0);
        round->pile = 0;
    }
    return true;
}

static void award(cab_round_t *round, const cab_step_t *step)
{
    const unsigned count = cab_count_bits(cab_cells(round->pack, round->window, step->symbols));

    if (count < step->least || count > step->most)
        return;
    if (step->needed && !cab_cells(round->pack, round->window, step->needed))
        return;
    enqueue(round, cab_pack_table(round->pack, step->index).first, count);
}

static bool respin(cab_round_t *round, cab_event_t *event, const cab_step_t *step)
{
    const uint32_t cells = cab_cells(round->pack, round->window, step->symbols);

    if (round->respun || round->queue[0].length || cab_count_bits(cells) != step->least)
        return false;
    for (uint32_t left = cells; left; left &= left - 1)
        round->held = (uint8_t)(round->held | 1u << cab_lowest_bit(left) / round->pack->rows);
    round->respun = true;
    round->phase = SPIN;
    event->kind = CAB_RESPIN;
    event->index = round->held;
    return true;
}

/* Rule 0: each cell's frame rises. Rule 1: each makes a frame of level 3, here or on the first bare cell, or pays. */
static bool frames(cab_round_t *round, cab_event_t *event, const cab_step_t *step)
{
    const uint32_t all = UINT32_MAX >> (32 - round->pack->cells);
    uint32_t cells = cells_left(round, step);

    if (step->index == 0)
        cells &= ~(round->framed[0] & round->framed[1]); /* level 3 rises no more */
    if (!cells)
        return false;
    unsigned cell = cab_lowest_bit(cells);
    round->cursor = (uint8_t)(cell + 1);
    event->kind = CAB_FRAME;
    if (step->index == 0) {
        cab_raise_frames(round, (uint32_t)1 << cell);
    } else {
        const uint32_t bare = all & ~(round->framed[0] | round->framed[1]);
        if (!bare) {
            event->kind = CAB_PRIZE;
            cab_round_book(round, event, (uint64_t)step->credits * round->unit_pence);
            return true;
        }
        if (!(bare >> cell & 1u))
            cell = cab_lowest_bit(bare);
        cab_set_frames(round, (uint32_t)1 << cell, CAB_MAX_LEVEL);
    }
    event->index = (uint8_t)cell;
    event->count = (uint16_t)cab_round_frame(round, cell);
    return true;
}

static bool add_spins(cab_round_t *round, cab_event_t *event, const cab_step_t *step)
{
    const uint32_t cells = cab_cells(round->pack, round->window, step->symbols);

    return cells && cab_round_add_spins(round, event, cab_count_bits(cells) * step->least,
                                        round->window[cab_lowest_bit(cells)]);
}

static bool tokens(cab_round_t *round, cab_event_t *event, const cab_step_t *step)
{
    const uint32_t cells = cells_left(round, step);
    unsigned row;

    if (!cells)
        return false;
    if (!cab_round_draw_row(round, step->index, &row))
        return true;
    const unsigned pot = cab_pack_prize(round->pack, row).index;
    take_cell(round, event, cab_lowest_bit(cells));
    event->kind = CAB_TOKEN;
    event->count = ++round->matrix[pot];
    event->multiplier = pot;
    if (round->matrix[pot] == cab_pack_pot(round->pack, pot).tokens) {
        round->pot = (uint8_t)pot;
        round->phase = FULL_ROW;
    }
    return true;
}

bool cab_full_row(cab_round_t *round, cab_event_t *event)
{
    memset(round->matrix, 0, sizeof round->matrix);
    round->phase = STEPS;
    event->kind = CAB_POT;
    event->index = round->pot;
    cab_round_book(round, event, (uint64_t)cab_pack_pot(round->pack, round->pot).credits * round->unit_pence);
    return true;
}

/* What features in the queue need of the window that triggered them, which their own spins replace. */
static void keep_window(cab_round_t *round)
{
    memcpy(round->base_stops, round->stops, sizeof round->stops);
    round->base_credits = round->collected ? 0 : cab_sum_of_values(round);
    round->base_values = (uint8_t)cab_count_bits(round->valued);
}

bool cab_run_steps(cab_round_t *round, cab_event_t *event)
{
    const unsigned last = round->pack->first_step[round->shown_mode + 1u];

    while (round->step < last) {
        const cab_step_t step = cab_pack_step(round->pack, round->step);
        bool reported = false;

        switch (step.op) {
        case CAB_STEP_PILE:
            reported = pile(round, event, &step);
            break;
        case CAB_STEP_FRAMES:
            reported = frames(round, event, &step);
            break;
        case CAB_STEP_TOKENS:
            reported = tokens(round, event, &step);
            break;
        case CAB_STEP_AWARD:
            award(round, &step);
            break;
        case CAB_STEP_COLLECT: /* the three from here on report once and are done */
            round->step++;
            if (collect(round, event, &step))
                return true;
            continue;
        case CAB_STEP_RESPIN:
            round->step++;
            if (respin(round, event, &step))
                return true;
            continue;
        case CAB_STEP_ADD_SPINS:
            round->step++;
            if (add_spins(round, event, &step))
                return true;
            continue;
        default: /* MODIFIER and VALUES had their turn before the wins */
            break;
        }
        if (reported)
            return true;
        round->step++;
        round->cursor = 0;
    }
    if (!in_feature(round) && round->queue[0].length)
        keep_window(round);
    round->held = 0;
    round->phase = QUEUE;
    return false;
}

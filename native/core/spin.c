/* spin.c - one spin: where the reels stop, which values land, what lines, ways and scatters pay. */
#include "round.h"

static unsigned spin_mode(const cab_round_t *round)
{
    return in_feature(round) ? cab_pack_feature(round->pack, round->feature).mode : round->mode;
}

/* -------------------------------------------------------------------------------------------------------------- stops */

/* The modifier of a base mode: a board that gives the stops, or nothing. True: an event was reported. */
static bool modifier(cab_round_t *round, cab_event_t *event)
{
    const cab_pack_t *pack = round->pack;
    const unsigned first = pack->first_step[round->mode];
    unsigned row;
    uint32_t board;

    if (in_feature(round) || round->respun || first == pack->first_step[round->mode + 1u])
        return false;
    const cab_step_t step = cab_pack_step(pack, first);
    if (step.op != CAB_STEP_MODIFIER)
        return false;
    if (!cab_round_draw_row(round, step.index, &row))
        return true;
    const cab_prize_t prize = cab_pack_prize(pack, row);
    if (prize.kind == CAB_PRIZE_NOTHING)
        return false;
    const cab_group_t group = cab_pack_group(pack, prize.index);
    if (!cab_round_draw(round, group.boards, &board))
        return true;
    for (unsigned reel = 0; reel < pack->reels; reel++)
        round->stops[reel] = cab_pack_board(pack, group.first + board, reel);
    round->phase = LAND;
    event->kind = CAB_MODIFIER;
    event->index = prize.index;
    return true;
}

bool cab_spin(cab_round_t *round, cab_event_t *event)
{
    const cab_pack_t *pack = round->pack;

    if (modifier(round, event))
        return true;
    const unsigned set = cab_pack_mode(pack, spin_mode(round)).set;
    for (unsigned reel = 0; reel < pack->reels; reel++) {
        uint32_t stop;
        if ((round->held & 1u << reel) != 0)
            continue;
        if (!cab_round_draw(round, cab_pack_strip(pack, set, reel).length, &stop))
            return true;
        round->stops[reel] = (uint16_t)stop;
    }
    return cab_land(round, event);
}

bool cab_land(cab_round_t *round, cab_event_t *event)
{
    const unsigned mode = spin_mode(round), set = cab_pack_mode(round->pack, mode).set;
    cab_queue_t *queue = &round->queue[in_feature(round)];

    cab_window(round->pack, set, round->stops, round->window);
    round->shown_mode = (uint8_t)mode;
    if (in_feature(round)) {
        round->spins_left--;
        round->spins_played++;
    }
    round->valued = 0;
    round->collected = false;
    queue->length = queue->next = 0;
    round->step = round->pack->first_step[mode];
    round->cursor = 0;
    round->phase = VALUES;

    event->kind = CAB_SPIN;
    event->index = (uint8_t)set;
    event->count = round->spins_left;
    event->multiplier = round->multiplier;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- values */

bool cab_value_cells(cab_round_t *round, cab_event_t *event)
{
    const cab_pack_t *pack = round->pack;

    for (const unsigned last = pack->first_step[round->shown_mode + 1u]; round->step < last; round->step++) {
        const cab_step_t step = cab_pack_step(pack, round->step);
        uint32_t cells;
        unsigned row;

        if (step.op == CAB_STEP_VALUES &&
            (cells = cells_from(cab_cells(pack, round->window, step.symbols), round->cursor)) != 0) {
            const unsigned cell = cab_lowest_bit(cells);
            if (!cab_round_draw_row(round, step.index, &row))
                return true;
            round->values[cell] = (uint16_t)row;
            round->valued |= (uint32_t)1 << cell;
            round->cursor = (uint8_t)(cell + 1);
            event->kind = CAB_VALUE;
            event->index = (uint8_t)cell;
            event->symbol = round->window[cell];
            event->pence = (uint64_t)cab_pack_prize(pack, row).number * round->unit_pence;
            return true;
        }
        round->cursor = 0;
    }
    round->cursor = 0;
    round->phase = WINS;
    return false;
}

uint32_t cab_sum_of_values(const cab_round_t *round)
{
    uint32_t sum = 0;

    for (uint32_t cells = round->valued; cells; cells &= cells - 1)
        sum += cab_pack_prize(round->pack, round->values[cab_lowest_bit(cells)]).number;
    return sum;
}

/* --------------------------------------------------------------------------------------------------------------- wins */

static bool line_win(cab_round_t *round, cab_event_t *event)
{
    while (round->cursor < round->pack->lines) {
        const unsigned line = round->cursor++;
        const cab_reading_t reading = cab_line(round->pack, round->window, line);
        if (!reading.credits)
            continue;
        event->kind = CAB_LINE_WIN;
        event->index = (uint8_t)line;
        event->symbol = reading.symbol;
        event->count = reading.run;
        event->multiplier = reading.multiplier * round->multiplier;
        cab_round_book(round, event, (uint64_t)reading.credits * round->unit_pence * round->multiplier);
        return true;
    }
    return false;
}

static bool ways_win(cab_round_t *round, cab_event_t *event)
{
    const cab_pack_t *pack = round->pack;
    uint32_t first = 0; /* what the first reel can be read as: nothing else pays */

    for (unsigned row = 0; row < pack->rows; row++)
        first |= pack->reads_as[round->window[row]];
    while (round->cursor < pack->symbols) {
        const unsigned symbol = round->cursor++;
        if (!(first >> symbol & 1u))
            continue;
        const cab_ways_t ways = cab_ways(pack, round->window, symbol);
        if (!ways.credits)
            continue;
        event->kind = CAB_WAYS_WIN;
        event->symbol = (uint8_t)symbol;
        event->count = ways.run;
        event->multiplier = ways.ways * round->multiplier;
        cab_round_book(round, event, (uint64_t)ways.credits * round->unit_pence * round->multiplier);
        return true;
    }
    return false;
}

bool cab_line_or_ways_win(cab_round_t *round, cab_event_t *event)
{
    const cab_mode_t mode = cab_pack_mode(round->pack, round->shown_mode);

    if (mode.evaluation == CAB_WAYS ? ways_win(round, event) : line_win(round, event))
        return true;
    round->cursor = 0;
    round->step = round->pack->first_step[round->shown_mode];
    round->phase = mode.flags & CAB_MODE_SCATTER_PAYS ? SCATTERS : STEPS;
    return false;
}

bool cab_scatter_win(cab_round_t *round, cab_event_t *event)
{
    const cab_pack_t *pack = round->pack;

    while (round->cursor < pack->scatters) {
        const unsigned scatter = round->cursor++;
        const unsigned count = cab_in_view(pack, round->window, scatter);
        const uint32_t bets = count ? cab_pack_scatter_pay(pack, scatter, count) : 0;
        if (!bets)
            continue;
        /* The total bet is what the round cost, in its free spins too. */
        const uint32_t credits = bets * cab_pack_mode(pack, round->mode).cost;
        event->kind = CAB_SCATTER_WIN;
        event->symbol = pack->scatter_symbol[scatter];
        event->count = (uint16_t)count;
        event->multiplier = round->multiplier;
        cab_round_book(round, event, (uint64_t)credits * round->unit_pence * round->multiplier);
        return true;
    }
    round->cursor = 0;
    round->phase = STEPS;
    return false;
}

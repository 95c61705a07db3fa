/* round.c - one round, event by event.
 *
 * A round is a small state machine. Its phase says what next() does first; phases that have nothing to report fall through
 * to the one behind them:
 *
 *   SPIN -> LINES -> SCATTERS -> OUTCOME -+-> SPIN (free spins left) / FEATURE_END (none left)
 *                                         +-> CHOICE -> FEATURE_BEGIN -> SPIN
 *                                         +-> END -> OVER
 *   FEATURE_END -> END;  any win beyond the cap -> CAPPED -> END
 *
 * Everything that follows from the pack, the stops and the option taken is computed again after a resume, not stored: what
 * is not in the saved bytes cannot be forged in them.
 */
#include "cab_core.h"
#include "bytes.h"

#include <string.h>

enum { SPIN, LINES, SCATTERS, OUTCOME, CHOICE, FEATURE_BEGIN, FEATURE_END, CAPPED, END, OVER, PHASES };

static bool in_feature(const cab_round_t *round)
{
    return round->option_row != CAB_NO_OPTION && round->phase != FEATURE_BEGIN;
}

/* Which feature the round's mode has; only for modes that have one. */
static unsigned feature_number(const cab_round_t *round)
{
    return cab_pack_mode(round->pack, round->mode).feature;
}

/* Cells in view of a symbol that is a scatter. */
static unsigned symbol_in_view(const cab_round_t *round, unsigned symbol)
{
    unsigned scatter = 0;
    while (round->pack->scatter_symbol[scatter] != symbol)
        scatter++;
    return cab_in_view(round->pack, round->window, scatter);
}

cab_error_t cab_round_begin(cab_round_t *round, const cab_pack_t *pack, unsigned mode, uint32_t unit_pence,
                            const uint8_t seed[CAB_SEED_BYTES])
{
    if (mode >= pack->modes || !(cab_pack_mode(pack, mode).flags & CAB_MODE_SELECTABLE))
        return CAB_ERR_MODE;
    if (unit_pence < 1 || unit_pence > pack->max_unit_pence)
        return CAB_ERR_UNIT;

    memset(round, 0, sizeof *round);
    round->pack = pack;
    cab_stream_init(&round->stream, seed, 0);
    round->unit_pence = unit_pence;
    round->multiplier = 1;
    round->option_row = CAB_NO_OPTION;
    round->phase = SPIN;
    round->mode = (uint8_t)mode;
    round->shown_mode = CAB_NONE;
    return CAB_OK;
}

/* ------------------------------------------------------------------------------------------------------------ events */

/* Draws into copies and keeps them only when all reels have stopped, so a fault leaves the round as it was. */
static cab_error_t spin(cab_round_t *round, cab_event_t *event)
{
    const cab_pack_t *pack = round->pack;
    const unsigned mode = in_feature(round) ? cab_pack_feature(pack, feature_number(round)).mode : round->mode;
    const unsigned set = cab_pack_mode(pack, mode).set;
    const uint32_t position = round->stream.position;
    uint16_t stops[CAB_MAX_REELS] = {0};

    for (unsigned reel = 0; reel < pack->reels; reel++) {
        uint32_t stop;
        if (cab_draw(&round->stream, cab_pack_strip(pack, set, reel).length, &stop)) {
            round->stream.position = position;
            return CAB_ERR_RANDOM;
        }
        stops[reel] = (uint16_t)stop;
    }
    memcpy(round->stops, stops, sizeof stops);
    cab_window(pack, set, stops, round->window);
    round->shown_mode = (uint8_t)mode;
    if (in_feature(round)) {
        round->spins_left--;
        round->spins_played++;
    }
    round->phase = LINES;
    round->cursor = 0;

    event->kind = CAB_SPIN;
    event->index = (uint8_t)set;
    event->count = round->spins_left;
    event->multiplier = round->multiplier;
    return CAB_OK;
}

/* Books a win of base x multiplier. Beyond the win cap the round's total is cut, once, and nothing but its end follows. */
static void book(cab_round_t *round, cab_event_t *event, uint64_t pence)
{
    const uint64_t cap = round->pack->win_cap_pence;

    event->pence = pence;
    round->award_pence += pence;
    if (in_feature(round))
        round->feature_pence += pence;
    if (cap && round->award_pence > cap) {
        round->cut_pence = round->award_pence - cap;
        round->award_pence = cap;
        round->phase = CAPPED;
        round->cursor = 0;
    }
}

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
        book(round, event, (uint64_t)reading.credits * round->unit_pence * round->multiplier);
        return true;
    }
    return false;
}

static bool scatter_win(cab_round_t *round, cab_event_t *event)
{
    const cab_pack_t *pack = round->pack;

    if (!(cab_pack_mode(pack, round->shown_mode).flags & CAB_MODE_SCATTER_PAYS))
        return false;
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
        book(round, event, (uint64_t)credits * round->unit_pence * round->multiplier);
        return true;
    }
    return false;
}

/* After a free spin: more of them? */
static bool spins_added(cab_round_t *round, cab_event_t *event)
{
    const cab_feature_t f = cab_pack_feature(round->pack, feature_number(round));
    const unsigned room = (unsigned)f.most_spins - round->spins_left - round->spins_played;
    unsigned added = f.adds == CAB_NONE ? 0 : symbol_in_view(round, f.adds) * f.added_spins;

    if (added > room)
        added = room;
    round->spins_left = (uint16_t)(round->spins_left + added);
    round->phase = round->spins_left ? SPIN : FEATURE_END;
    if (!added)
        return false;
    event->kind = CAB_FREE_SPINS_ADDED;
    event->index = (uint8_t)feature_number(round);
    event->symbol = f.adds;
    event->count = (uint16_t)added;
    return true;
}

/* The options that the window of the base spin offers; 0: no feature. */
static unsigned triggered(const cab_round_t *round, unsigned *first)
{
    const unsigned feature = feature_number(round);

    *first = 0;
    if (feature == CAB_NONE)
        return 0;
    const cab_feature_t f = cab_pack_feature(round->pack, feature);
    const unsigned count = symbol_in_view(round, f.trigger);
    return count < f.smallest ? 0 : cab_pack_options(round->pack, feature, count, first);
}

/* After the base spin: a feature? */
static bool choice_due(cab_round_t *round, cab_event_t *event)
{
    unsigned first;
    const unsigned options = triggered(round, &first);

    if (options < 2) {
        round->phase = options ? FEATURE_BEGIN : END;
        if (options)
            round->option_row = (uint16_t)first;
        return false;
    }
    round->phase = CHOICE;
    event->kind = CAB_CHOICE;
    event->index = (uint8_t)feature_number(round);
    event->symbol = cab_pack_feature(round->pack, event->index).trigger;
    event->count = (uint16_t)options;
    return true;
}

static void feature_begin(cab_round_t *round, cab_event_t *event)
{
    const cab_option_t option = cab_pack_option(round->pack, round->option_row);

    round->spins_left = option.spins;
    round->multiplier = option.multiplier;
    round->phase = SPIN;
    event->kind = CAB_FREE_SPINS_BEGIN;
    event->index = option.feature;
    event->count = option.spins;
    event->multiplier = option.multiplier;
}

static void feature_end(cab_round_t *round, cab_event_t *event)
{
    round->phase = END;
    event->kind = CAB_FREE_SPINS_END;
    event->index = (uint8_t)feature_number(round);
    event->count = round->spins_played;
    event->multiplier = round->multiplier;
    event->pence = round->feature_pence;
}

cab_error_t cab_round_next(cab_round_t *round, cab_event_t *event)
{
    memset(event, 0, sizeof *event);
    for (;;) /* ends: every pass that reports nothing moves to a later phase */
        switch (round->phase) {
        case SPIN:
            return spin(round, event);
        case LINES:
            if (line_win(round, event))
                return CAB_OK;
            round->phase = SCATTERS;
            round->cursor = 0;
            break;
        case SCATTERS:
            if (scatter_win(round, event))
                return CAB_OK;
            round->phase = OUTCOME;
            round->cursor = 0;
            break;
        case OUTCOME:
            if (in_feature(round) ? spins_added(round, event) : choice_due(round, event))
                return CAB_OK;
            break;
        case CHOICE:
            return CAB_ERR_CHOICE_DUE;
        case FEATURE_BEGIN:
            feature_begin(round, event);
            return CAB_OK;
        case FEATURE_END:
            feature_end(round, event);
            return CAB_OK;
        case CAPPED:
            round->phase = END;
            event->kind = CAB_WIN_CAP;
            event->pence = round->cut_pence;
            return CAB_OK;
        case END:
            round->phase = OVER;
            event->kind = CAB_ROUND_END;
            event->pence = round->award_pence;
            return CAB_OK;
        default:
            return CAB_ERR_ROUND_OVER;
        }
}

unsigned cab_round_options(const cab_round_t *round, unsigned *first)
{
    *first = 0;
    return round->phase == CHOICE ? triggered(round, first) : 0;
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

bool cab_round_finished(const cab_round_t *round)
{
    return round->phase == OVER;
}

/* ------------------------------------------------------------------------------------------------- save and resume */

enum {
    STATE_VERSION = 1,
    AT_VERSION = 0,
    AT_PHASE = 1,
    AT_MODE = 2,
    AT_SHOWN_MODE = 3,
    AT_UNIT = 4,
    AT_PACK = 8, /* the first bytes of the pack's SHA-256 */
    PACK_PREFIX_BYTES = 16,
    AT_SEED = 24,
    AT_AWARD = 56,
    AT_FEATURE_PENCE = 64,
    AT_CUT = 72,
    AT_POSITION = 80,
    AT_STOPS = 84,
    AT_OPTION_ROW = 96,
    AT_SPINS_LEFT = 98,
    AT_SPINS_PLAYED = 100,
    AT_CURSOR = 102,
    AT_ZERO = 103,
    ZERO_BYTES = 5,
    AT_CRC = 108,
    PACK_HASH_OFFSET = 32
};

void cab_round_save(const cab_round_t *round, uint8_t state[CAB_ROUND_STATE_BYTES])
{
    memset(state, 0, CAB_ROUND_STATE_BYTES);
    state[AT_VERSION] = STATE_VERSION;
    state[AT_PHASE] = round->phase;
    state[AT_MODE] = round->mode;
    state[AT_SHOWN_MODE] = round->shown_mode;
    cab_put32(state + AT_UNIT, round->unit_pence);
    memcpy(state + AT_PACK, round->pack->bytes + PACK_HASH_OFFSET, PACK_PREFIX_BYTES);
    memcpy(state + AT_SEED, round->stream.seed, CAB_SEED_BYTES);
    cab_put64(state + AT_AWARD, round->award_pence);
    cab_put64(state + AT_FEATURE_PENCE, round->feature_pence);
    cab_put64(state + AT_CUT, round->cut_pence);
    cab_put32(state + AT_POSITION, round->stream.position);
    for (unsigned reel = 0; reel < CAB_MAX_REELS; reel++)
        cab_put16(state + AT_STOPS + 2 * reel, round->stops[reel]);
    cab_put16(state + AT_OPTION_ROW, round->option_row);
    cab_put16(state + AT_SPINS_LEFT, round->spins_left);
    cab_put16(state + AT_SPINS_PLAYED, round->spins_played);
    state[AT_CURSOR] = round->cursor;
    cab_put32(state + AT_CRC, cab_crc32(state, AT_CRC, 0));
}

static bool spin_is_possible(const cab_round_t *round)
{
    const cab_pack_t *pack = round->pack;
    const unsigned set = cab_pack_mode(pack, round->shown_mode).set;

    for (unsigned reel = 0; reel < CAB_MAX_REELS; reel++)
        if (round->stops[reel] >= (reel < pack->reels ? cab_pack_strip(pack, set, reel).length : 1))
            return false;
    return true;
}

/* Whether the free-spin part of a state fits together. The window is filled in already. */
static bool feature_is_possible(const cab_round_t *round)
{
    const cab_pack_t *pack = round->pack;

    if (round->option_row == CAB_NO_OPTION) {
        unsigned first;
        if (round->shown_mode != round->mode || round->spins_left || round->spins_played || round->feature_pence)
            return false;
        if (round->phase == SPIN || round->phase == FEATURE_BEGIN || round->phase == FEATURE_END)
            return false;
        /* A round ends here only if nothing was triggered, or at the win cap. */
        return round->phase < CAPPED || round->cut_pence || !triggered(round, &first);
    }
    if (round->option_row >= pack->options || round->phase == CHOICE)
        return false;

    const cab_option_t option = cab_pack_option(pack, round->option_row);
    if (option.feature != feature_number(round))
        return false;
    const cab_feature_t f = cab_pack_feature(pack, option.feature);
    const uint32_t spins = (uint32_t)round->spins_left + round->spins_played;

    if (!round->spins_played) {
        /* The window still shows the base spin: the option must be one that it offers. */
        unsigned first;
        const unsigned options = triggered(round, &first);
        if (round->shown_mode != round->mode || round->option_row < first || round->option_row >= first + options ||
            round->feature_pence)
            return false;
        return round->phase == FEATURE_BEGIN ? spins == 0 : round->phase == SPIN && spins == option.spins;
    }
    if (round->shown_mode != f.mode || spins < option.spins || spins > f.most_spins)
        return false;
    switch (round->phase) {
    case SPIN:
        return round->spins_left > 0;
    case FEATURE_BEGIN:
        return false;
    case FEATURE_END:
        return round->spins_left == 0;
    case END:
    case OVER:
        return round->spins_left == 0 || round->cut_pence;
    default:
        return true;
    }
}

static bool state_is_possible(cab_round_t *round)
{
    const cab_pack_t *pack = round->pack;
    const uint64_t cap = pack->win_cap_pence;

    if (round->phase >= PHASES || round->phase == OUTCOME /* never lasts */ || round->mode >= pack->modes ||
        !(cab_pack_mode(pack, round->mode).flags & CAB_MODE_SELECTABLE) || round->unit_pence < 1 ||
        round->unit_pence > pack->max_unit_pence)
        return false;

    /* Money: within what the pack can award, and cut exactly when the cap was passed. */
    if (round->award_pence > pack->max_award_pence || round->cut_pence > pack->max_award_pence ||
        round->feature_pence > round->award_pence + round->cut_pence || (cap && round->award_pence > cap))
        return false;
    if (round->cut_pence ? round->phase < CAPPED || round->award_pence != cap : round->phase == CAPPED)
        return false;

    const unsigned cursors = round->phase == LINES ? pack->lines : round->phase == SCATTERS ? pack->scatters : 0;
    if (round->cursor > cursors)
        return false;

    if (round->shown_mode == CAB_NONE) /* nothing has happened yet */
        return round->phase == SPIN && !round->award_pence && !round->stream.position &&
               round->option_row == CAB_NO_OPTION && !round->spins_left && !round->spins_played && !round->feature_pence &&
               !(round->stops[0] | round->stops[1] | round->stops[2] | round->stops[3] | round->stops[4] | round->stops[5]);
    if (round->shown_mode >= pack->modes || !spin_is_possible(round))
        return false;
    cab_window(pack, cab_pack_mode(pack, round->shown_mode).set, round->stops, round->window);

    const uint32_t draws = (1 + (uint32_t)round->spins_played) * pack->reels;
    if (round->stream.position < draws || round->stream.position > draws * (CAB_MAX_REJECTED + 1))
        return false;

    unsigned first;
    if (round->phase == CHOICE && triggered(round, &first) < 2)
        return false;
    return feature_is_possible(round);
}

cab_error_t cab_round_resume(cab_round_t *round, const cab_pack_t *pack, const uint8_t *state, size_t length)
{
    if (length != CAB_ROUND_STATE_BYTES)
        return CAB_ERR_STATE_LENGTH;
    if (cab_get32(state + AT_CRC) != cab_crc32(state, AT_CRC, 0))
        return CAB_ERR_STATE_CRC;
    if (state[AT_VERSION] != STATE_VERSION)
        return CAB_ERR_STATE_VERSION;
    if (memcmp(state + AT_PACK, pack->bytes + PACK_HASH_OFFSET, PACK_PREFIX_BYTES) != 0)
        return CAB_ERR_STATE_PACK;

    memset(round, 0, sizeof *round);
    round->pack = pack;
    round->phase = state[AT_PHASE];
    round->mode = state[AT_MODE];
    round->shown_mode = state[AT_SHOWN_MODE];
    round->unit_pence = cab_get32(state + AT_UNIT);
    cab_stream_init(&round->stream, state + AT_SEED, cab_get32(state + AT_POSITION));
    round->award_pence = cab_get64(state + AT_AWARD);
    round->feature_pence = cab_get64(state + AT_FEATURE_PENCE);
    round->cut_pence = cab_get64(state + AT_CUT);
    for (unsigned reel = 0; reel < CAB_MAX_REELS; reel++)
        round->stops[reel] = cab_get16(state + AT_STOPS + 2 * reel);
    round->option_row = cab_get16(state + AT_OPTION_ROW);
    round->spins_left = cab_get16(state + AT_SPINS_LEFT);
    round->spins_played = cab_get16(state + AT_SPINS_PLAYED);
    round->cursor = state[AT_CURSOR];

    for (unsigned i = 0; i < ZERO_BYTES; i++)
        if (state[AT_ZERO + i])
            return CAB_ERR_STATE_VALUE;
    if (!state_is_possible(round))
        return CAB_ERR_STATE_VALUE;
    round->multiplier = in_feature(round) ? cab_pack_option(pack, round->option_row).multiplier : 1;
    return CAB_OK;
}

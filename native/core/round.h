/* round.h - what the files that play a round share. Private to core/.
 *
 * Each function below is what one phase does: true when it has reported an event (or the random stream is at fault), false
 * when it has only moved on to another phase.
 */
#ifndef CAB_ROUND_H
#define CAB_ROUND_H

#include "cab_core.h"
#include "bytes.h"

enum {
    CHANCE,        /* the spin chance is drawn */
    SPIN,          /* stops are drawn, perhaps by a modifier */
    LAND,          /* a modifier's board is shown */
    VALUES,        /* cells draw their values */
    WINS,          /* lines or ways */
    SCATTERS,
    STEPS,         /* the other steps */
    FULL_ROW,      /* of the matrix pays its pot; then back to the steps */
    QUEUE,         /* the next prize, if there is one */
    PRIZE,         /* is carried out */
    COLLECTS,      /* a feature begins: values in view, */
    OPTIONS,       /* a choice if there is one, */
    CHOICE,        /* which is waited for, */
    FEATURE_BEGIN,
    OPENING,
    FRAMES,        /* and the frames of its opening */
    BOWLS,
    FEATURE_END,
    OFFER,         /* of a gamble, */
    OFFERED,       /* which is answered, */
    GAMBLE,        /* and drawn */
    CAPPED,
    END,
    OVER,
    FAULT          /* the random stream yields nothing */
};

static inline bool in_feature(const cab_round_t *round)
{
    return round->feature != CAB_NONE;
}

/* The symbol masks of steps and features are looked for from the cursor on, so that a step can go on behind each event. */
static inline uint32_t cells_from(uint32_t cells, unsigned cursor)
{
    return cells & UINT32_MAX << cursor;
}

/* round.c: what several phases need. */
bool cab_round_draw(cab_round_t *round, uint32_t range, uint32_t *value);  /* false: FAULT */
bool cab_round_draw_row(cab_round_t *round, unsigned table, unsigned *row); /* of PRIZ; false: FAULT */
void cab_round_book(cab_round_t *round, cab_event_t *event, uint64_t pence);
void cab_round_cut(cab_round_t *round);
bool cab_round_add_spins(cab_round_t *round, cab_event_t *event, uint32_t spins, unsigned symbol);

/* spin.c */
bool cab_spin(cab_round_t *round, cab_event_t *event);
bool cab_land(cab_round_t *round, cab_event_t *event);
bool cab_value_cells(cab_round_t *round, cab_event_t *event);
bool cab_line_or_ways_win(cab_round_t *round, cab_event_t *event);
bool cab_scatter_win(cab_round_t *round, cab_event_t *event);
uint32_t cab_sum_of_values(const cab_round_t *round);

/* steps.c */
bool cab_run_steps(cab_round_t *round, cab_event_t *event);
bool cab_full_row(cab_round_t *round, cab_event_t *event);

/* feature.c */
void cab_feature_start(cab_round_t *round, unsigned feature, unsigned count, unsigned spins);
bool cab_feature_collects(cab_round_t *round, cab_event_t *event);
bool cab_feature_options(cab_round_t *round, cab_event_t *event);
bool cab_feature_begin(cab_round_t *round, cab_event_t *event);
bool cab_feature_opening(cab_round_t *round, cab_event_t *event);
bool cab_feature_frames(cab_round_t *round, cab_event_t *event);
bool cab_feature_bowls(cab_round_t *round, cab_event_t *event);
bool cab_feature_end(cab_round_t *round, cab_event_t *event);
void cab_set_frames(cab_round_t *round, uint32_t cells, unsigned level);
void cab_raise_frames(cab_round_t *round, uint32_t cells);

/* gamble.c */
bool cab_gamble_offer(cab_round_t *round, cab_event_t *event);
bool cab_gamble_draw(cab_round_t *round, cab_event_t *event);

#endif

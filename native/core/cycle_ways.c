/* cycle_ways.c - every window of a mode that pays ways.
 *
 * The scan carries the symbols whose run goes on, with their ways so far. Stops of a reel that show the same of these
 * symbols and the same scatters can never differ in what they pay, so they are visited once, with their number ("alike").
 * Which stops are alike depends only on the reel and the set of symbols; it is worked out once for each such set.
 */
#include "cycle.h"
#include "bytes.h"

#include <string.h>

/* What a column shows of one symbol. */
typedef struct {
    uint32_t all;     /* cells that read as it; under rule "product" a wild counts as its multiplier */
    uint32_t plain;   /* those without a multiplier */
    bool natural, wild;
} column_t;

static column_t column_of(const cab_pack_t *pack, const uint8_t *cells, unsigned symbol)
{
    column_t column = {0, 0, false, false};

    for (unsigned row = 0; row < pack->rows; row++) {
        const uint32_t multiplier = cells[row] == symbol ? 1 : pack->wild_multiplier[cells[row]];
        if (!(pack->reads_as[cells[row]] >> symbol & 1u))
            continue;
        column.all += pack->multiplier_rule == CAB_MULTIPLIER_PRODUCT ? multiplier : 1;
        column.plain += multiplier == 1;
        column.natural |= cells[row] == symbol;
        column.wild |= cells[row] != symbol;
    }
    return column;
}

/* ---------------------------------------------------------------------------------------------------- stops that are alike */

static bool same(const cab_scan_t *scan, uint32_t open, const uint8_t *a, const uint8_t *b)
{
    for (; open; open &= open - 1) {
        const unsigned symbol = cab_lowest_bit(open);
        const column_t x = column_of(scan->pack, a, symbol), y = column_of(scan->pack, b, symbol);
        if (x.all != y.all || x.plain != y.plain || x.natural != y.natural || x.wild != y.wild)
            return false;
    }
    return true;
}

/* Groups the stops first ... last-1 of a reel into room for `room` groups; returns how many, or 0: no room. */
static unsigned group_stops(const cab_scan_t *scan, unsigned reel, uint32_t first, uint32_t last, uint32_t open,
                            cab_cycle_stops_t *groups, size_t room)
{
    unsigned count = 0;

    for (uint32_t stop = first; stop < last; stop++) {
        uint8_t cells[CAB_MAX_ROWS], known[CAB_MAX_ROWS];
        const uint64_t profile = cab_column_profile(scan, reel, stop, cells);
        unsigned group = 0;

        while (group < count && (cab_column_profile(scan, reel, groups[group].stop, known) != profile ||
                                 !same(scan, open, cells, known)))
            group++;
        if (group == count) {
            if (count == room)
                return 0;
            groups[count].stop = (uint16_t)stop;
            groups[count++].alike = 0;
        }
        groups[group].alike++;
    }
    return count;
}

/* The groups of a whole reel for a set of symbols, from the cache if they are known; NULL: no room for them. */
static const cab_cycle_stops_t *groups_of(cab_scan_t *scan, unsigned reel, uint32_t open, unsigned *count)
{
    cab_cycle_work_t *work = scan->work;
    uint32_t slot = (open * 0x9E3779B1u + reel * 0x85EBCA6Bu) >> 20;

    for (unsigned tries = 0; tries < CAB_CYCLE_SETS; tries++, slot++) {
        cab_cycle_set_t *set = &work->set[slot % CAB_CYCLE_SETS];
        if (!set->count) {
            const unsigned found = group_stops(scan, reel, 0, scan->strip[reel].length, open, work->stops + work->stops_used,
                                               CAB_CYCLE_STOPS - work->stops_used);
            if (!found)
                return NULL;
            set->open = open;
            set->reel = (uint8_t)reel;
            set->first = work->stops_used;
            set->count = (uint16_t)found;
            work->stops_used += found;
        }
        if (set->open == open && set->reel == reel) {
            *count = set->count;
            return work->stops + set->first;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- the scan */

/* A symbol's run so far. */
typedef struct {
    uint32_t all, plain; /* ways */
    uint8_t symbol;
    bool natural, wild;
} run_t;

/* Books a run of `run` reels that goes no further, in so many windows. Returns its credits. */
static uint32_t end_run(cab_scan_t *scan, const run_t *ended, unsigned run, uint64_t boards)
{
    const cab_pack_t *pack = scan->pack;

    if (!(pack->paying[run] >> ended->symbol & 1u) || (pack->needs_natural && !ended->natural))
        return 0;
    const uint32_t ways = ended->plain + scan->wild_multiplier * (ended->all - ended->plain);
    const uint32_t credits = cab_pack_pay(pack, ended->symbol, run) * ways;
    scan->sum->line_credits += credits * boards;
    scan->sum->winning_lines += boards;
    scan->sum->runs[ended->symbol][run][ended->wild] += boards;
    scan->sum->ways[ended->symbol][run] += ways * boards;
    return credits;
}

/* One stop (and those that are alike) of a reel and all of the reels behind it; see scan_reel in cycle_lines.c. */
static void scan_stops(cab_scan_t *scan, unsigned reel, uint32_t stop, const run_t *runs, unsigned count, uint32_t credits,
                       uint64_t profile, uint64_t alike)
{
    const cab_pack_t *pack = scan->pack;
    const uint64_t boards = alike * scan->work->tail_boards[reel + 1];
    uint8_t cells[CAB_MAX_ROWS];
    run_t still[CAB_MAX_SYMBOLS];
    unsigned left = 0, groups = 0;
    uint32_t open = 0;

    profile += cab_column_profile(scan, reel, stop, cells);
    for (unsigned i = 0; i < count; i++) {
        const column_t column = column_of(pack, cells, runs[i].symbol);
        run_t *next = &still[left];

        if (!column.all) {
            credits += end_run(scan, &runs[i], reel, boards);
            continue;
        }
        *next = runs[i];
        next->all *= column.all;
        next->plain *= pack->multiplier_rule == CAB_MULTIPLIER_PRODUCT ? column.all : column.plain;
        next->natural |= column.natural;
        next->wild |= column.wild;
        if (reel + 1u == pack->reels)
            credits += end_run(scan, next, reel + 1, boards);
        else if (scan->hopeful[reel + 1] >> next->symbol & 1u) {
            open |= (uint32_t)1 << next->symbol;
            left++;
        }
    }
    if ((!left && scan->work->tails[reel + 1]) || reel + 1 == CAB_MAX_REELS) {
        cab_settle(scan, reel + 1, credits, profile, alike);
        return;
    }
    const cab_cycle_stops_t *group = groups_of(scan, reel + 1, open, &groups);
    if (group)
        for (unsigned i = 0; i < groups; i++)
            scan_stops(scan, reel + 1, group[i].stop, still, left, credits, profile, alike * group[i].alike);
    else
        for (uint32_t each = 0; each < scan->strip[reel + 1].length; each++)
            scan_stops(scan, reel + 1, each, still, left, credits, profile, alike);
}

void cab_scan_ways(cab_scan_t *scan, uint32_t first, uint32_t last)
{
    const cab_pack_t *pack = scan->pack;
    run_t runs[CAB_MAX_SYMBOLS];
    unsigned count = 0;

    memset(scan->work->set, 0, sizeof scan->work->set);
    scan->work->stops_used = 0;
    scan->wild_multiplier = 1;
    for (unsigned s = 0; s < pack->symbols; s++) {
        if (pack->multiplier_rule == CAB_MULTIPLIER_HIGHEST && pack->wild_multiplier[s] > scan->wild_multiplier)
            scan->wild_multiplier = pack->wild_multiplier[s];
        if (scan->hopeful[1] >> s & 1u) {
            const run_t start = {1, 1, (uint8_t)s, false, false};
            runs[count++] = start;
        }
    }
    for (uint32_t stop = first; stop < last; stop++)
        scan_stops(scan, 0, stop, runs, count, 0, 0, 1);
}

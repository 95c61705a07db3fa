/* cycle_lines.c - every window of a mode that pays lines.
 *
 * The scan carries the lines that are still open. One that ends on reel 3 ends so for all stops of the reels behind, so it is
 * counted once, with their number; once no line is open, the tail counts the rest (cycle.c).
 */
#include "cycle.h"

#include <string.h>

static void read_line(const cab_scan_t *scan, unsigned line, unsigned run, uint32_t ended, cab_reading_t *best)
{
    const uint8_t *rows = scan->pack->line_rows + line * scan->pack->reels;
    uint8_t cells[CAB_MAX_REELS];

    for (unsigned reel = 0; reel < run; reel++)
        cells[reel] = scan->work->cells[reel][rows[reel]];
    cab_read_run(scan->pack, cells, run, ended, best);
}

/* Takes the open lines one reel further. Returns how many stay open and adds what the others won to *credits. */
static unsigned advance(cab_scan_t *scan, unsigned reel, unsigned open, uint32_t *credits)
{
    const cab_pack_t *pack = scan->pack;
    cab_cycle_work_t *work = scan->work;
    const unsigned run = reel + 1;
    const uint64_t boards = work->tail_boards[run];
    unsigned still_open = 0;

    for (unsigned i = 0; i < open; i++) {
        const unsigned line = work->open[reel][i].line;
        const uint32_t alive = work->open[reel][i].alive;
        const uint32_t next = alive & pack->reads_as[work->cells[reel][pack->line_rows[line * pack->reels + reel]]];
        const uint32_t ended = alive & ~next & pack->paying[reel];
        cab_reading_t best = work->open[reel][i].best;

        if (ended)
            read_line(scan, line, reel, ended, &best);
        if (run < pack->reels && (next & scan->hopeful[run])) {
            work->open[run][still_open].best = best;
            work->open[run][still_open].alive = next & scan->hopeful[run];
            work->open[run][still_open].line = (uint8_t)line;
            still_open++;
            continue;
        }
        if (run == pack->reels && (next & pack->paying[run]))
            read_line(scan, line, run, next & pack->paying[run], &best);
        if (!best.credits)
            continue;
        *credits += best.credits;
        scan->sum->line_credits += best.credits * boards;
        scan->sum->winning_lines += boards;
        scan->sum->runs[best.symbol][best.run][best.wild] += boards;
    }
    return still_open;
}

/* All stops first ... last-1 of a reel and all of the reels behind it. Behind the last reel no line is open and the tail
 * has one entry, so this calls itself at most CAB_MAX_REELS deep; the second condition lets a compiler see that too. */
static void scan_reel(cab_scan_t *scan, unsigned reel, uint32_t first, uint32_t last, unsigned open, uint32_t credits,
                      uint64_t profile)
{
    for (uint32_t stop = first; stop < last; stop++) {
        const uint64_t in_view = profile + cab_column_profile(scan, reel, stop, scan->work->cells[reel]);
        uint32_t won = credits;
        const unsigned still_open = advance(scan, reel, open, &won);

        if ((!still_open && scan->work->tails[reel + 1]) || reel + 1 == CAB_MAX_REELS)
            cab_settle(scan, reel + 1, won, in_view, 1);
        else
            scan_reel(scan, reel + 1, 0, scan->strip[reel + 1].length, still_open, won, in_view);
    }
}

void cab_scan_lines(cab_scan_t *scan, uint32_t first, uint32_t last, unsigned lines)
{
    cab_cycle_work_t *work = scan->work;

    memset(work->open[0], 0, sizeof work->open[0]);
    for (unsigned line = 0; line < lines; line++) {
        work->open[0][line].alive = UINT32_MAX;
        work->open[0][line].line = (uint8_t)line;
    }
    scan_reel(scan, 0, first, last, lines, 0, 0);
}

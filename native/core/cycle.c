/* cycle.c - every window of a mode.
 *
 * The enumeration goes down the reels, one stop at a time, and carries what is already certain: the credits of lines or
 * symbols whose run has ended, those that are still open, and the scatters in view. Once nothing is open, the reels behind
 * matter only through the scatters they show. How many of their combinations show which scatters (the "tail") is tabulated
 * beforehand, so the whole subtree is a few table entries. cycle_lines.c and cycle_ways.c say how the two are carried.
 *
 * This regroups the windows; none is left out or estimated. The scatters of a window are a "profile": their counts in view,
 * one byte each in 64 bits, so that profiles of reels simply add (a count is at most 30).
 */
#include "cycle.h"
#include "sums.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- a scan */

uint64_t cab_column_profile(const cab_scan_t *scan, unsigned reel, unsigned stop, uint8_t *cells)
{
    const cab_strip_t strip = scan->strip[reel];
    uint64_t profile = 0;

    for (unsigned row = 0; row < scan->pack->rows; row++) {
        cells[row] = strip.symbols[stop];
        profile += scan->work->counts_as[cells[row]];
        if (++stop == strip.length)
            stop = 0;
    }
    return profile;
}

/* Adds boards to the entry of a profile at a depth; false: the table is full. */
static bool tail_add(cab_cycle_work_t *work, unsigned depth, uint64_t profile, uint64_t boards)
{
    uint32_t entry = 0;

    while (entry < work->tails[depth] && work->tail[depth][entry].profile != profile)
        entry++;
    if (entry == work->tails[depth]) {
        if (entry == CAB_CYCLE_PROFILES)
            return false;
        work->tail[depth][entry].profile = profile;
        work->tail[depth][entry].boards = 0;
        work->tails[depth]++;
    }
    work->tail[depth][entry].boards += boards;
    return true;
}

/* The tail of `depth` reels: profiles of that reel (gathered in the unused table 0) times those of the tail behind it. */
static bool tail_extend(cab_scan_t *scan, unsigned depth)
{
    cab_cycle_work_t *work = scan->work;

    work->tails[0] = work->tails[depth] = 0;
    for (unsigned stop = 0; stop < scan->strip[depth].length; stop++)
        if (!tail_add(work, 0, cab_column_profile(scan, depth, stop, work->cells[depth]), 1))
            return false;
    for (uint32_t i = 0; i < work->tails[0]; i++)
        for (uint32_t j = 0; j < work->tails[depth + 1]; j++)
            if (!tail_add(work, depth, work->tail[0][i].profile + work->tail[depth + 1][j].profile,
                          work->tail[0][i].boards * work->tail[depth + 1][j].boards))
                return false;
    return true;
}

/* A tail with too many profiles is left empty: the scan then goes on to the next reel, where there are fewer. */
static void make_tails(cab_scan_t *scan)
{
    cab_cycle_work_t *work = scan->work;
    unsigned depth = scan->pack->reels;

    memset(work->tails, 0, sizeof work->tails);
    (void)tail_add(work, depth, 0, 1);
    work->tail_boards[depth] = 1;
    while (--depth) {
        work->tail_boards[depth] = work->tail_boards[depth + 1] * scan->strip[depth].length;
        if (!tail_extend(scan, depth))
            work->tails[depth] = 0;
    }
}

void cab_settle(cab_scan_t *scan, unsigned depth, uint32_t credits, uint64_t profile, uint64_t alike)
{
    const cab_cycle_work_t *work = scan->work;
    const unsigned scatters = scan->pack->scatters;
    cab_cycle_t *sum = scan->sum;

    for (uint32_t entry = 0; entry < work->tails[depth]; entry++) {
        const uint64_t boards = alike * work->tail[depth][entry].boards;
        uint64_t in_view = profile + work->tail[depth][entry].profile;
        uint32_t bets = 0;

        for (unsigned n = 0; n < scatters; n++, in_view >>= 8) {
            sum->in_view[n][in_view & 255u] += boards;
            bets += work->scatter_pay[n][in_view & 255u];
        }
        const uint64_t win = credits + (uint64_t)bets * scan->cost;

        if (credits)
            sum->boards_line += boards;
        if (bets) {
            sum->boards_scatter += boards;
            sum->scatter_bets += bets * boards;
        }
        if (!(credits | bets))
            continue;
        sum->boards_any += boards;
        if (win >= scan->cost)
            sum->boards_from_bet += boards;
        else
            sum->boards_below_bet += boards;
        if (win > sum->max_credits)
            sum->max_credits = win;
        sum->sum_credits += win * boards;
        cab_add_product(&sum->squares_hi, &sum->squares_lo, win * win, boards);
    }
}

static void prepare(cab_scan_t *scan, const cab_mode_t mode)
{
    const cab_pack_t *pack = scan->pack;
    cab_cycle_work_t *work = scan->work;

    scan->hopeful[pack->reels] = pack->paying[pack->reels];
    for (unsigned run = pack->reels; run-- > 0;)
        scan->hopeful[run] = scan->hopeful[run + 1] | pack->paying[run];

    for (unsigned s = 0; s < pack->symbols; s++) {
        work->counts_as[s] = 0;
        for (unsigned n = 0; n < pack->scatters; n++)
            work->counts_as[s] |= (uint64_t)(pack->counts_as[s] >> pack->scatter_symbol[n] & 1u) << 8 * n;
    }
    memset(work->scatter_pay, 0, sizeof work->scatter_pay);
    if (mode.flags & CAB_MODE_SCATTER_PAYS)
        for (unsigned n = 0; n < pack->scatters; n++)
            for (unsigned count = 1; count <= pack->cells; count++)
                work->scatter_pay[n][count] = cab_pack_scatter_pay(pack, n, count);

    make_tails(scan);
}

cab_error_t cab_cycle(const cab_pack_t *pack, unsigned mode, uint32_t first, uint32_t last, unsigned lines, uint32_t cost,
                      cab_cycle_work_t *work, cab_cycle_t *result)
{
    cab_scan_t scan;
    uint64_t boards;

    memset(&scan, 0, sizeof scan);
    memset(result, 0, sizeof *result);
    if (mode >= pack->modes || lines > pack->lines)
        return CAB_ERR_ARGUMENT;

    const cab_mode_t m = cab_pack_mode(pack, mode);
    const uint64_t most = (m.evaluation == CAB_WAYS ? pack->max_ways_credits : pack->max_line_credits) + (uint64_t)pack->max_scatter_bets * (cost ? cost : 1);
    for (unsigned reel = 0; reel < pack->reels; reel++)
        scan.strip[reel] = cab_pack_strip(pack, m.set, reel);
    if (first > last || last > scan.strip[0].length)
        return CAB_ERR_ARGUMENT;

    /* Every sum is at most boards x most, or boards x lines or symbols. */
    boards = last - first;
    for (unsigned reel = 1; reel < pack->reels; reel++) {
        boards *= scan.strip[reel].length;
        if (boards >> 50)
            return CAB_ERR_OVERFLOW;
    }
    if (most > UINT32_MAX || (boards && most > UINT64_MAX / boards))
        return CAB_ERR_OVERFLOW;

    scan.pack = pack;
    scan.work = work;
    scan.sum = result;
    scan.cost = cost;
    prepare(&scan, m);
    if (m.evaluation == CAB_WAYS)
        cab_scan_ways(&scan, first, last);
    else
        cab_scan_lines(&scan, first, last, lines);
    result->boards = boards;
    return CAB_OK;
}

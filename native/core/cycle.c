/* cycle.c - every window of a mode, and many rounds of a game.
 *
 * The enumeration goes down the reels, one stop at a time, and carries what is already certain: the credits of lines whose
 * run has ended, the lines that are still open, and the scatters in view. Two things make it fast:
 *
 *   - A line that ends on reel 3 ends so for all stops of the reels behind, so it is counted once, with their number.
 *   - Once no line is open, the reels behind matter only through the scatters they show. How many of their combinations
 *     show which scatters (the "tail") is tabulated beforehand, so the whole subtree is a few table entries.
 *
 * Both regroup the same windows; no window is left out or estimated. The scatters of a window are a "profile": their
 * counts in view, one byte each in 64 bits, so that profiles of reels simply add (a count is at most 30).
 */
#include "cab_core.h"
#include "bytes.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------ 128-bit sums */

/* hi:lo += a x b, modulo 2^128; by 32-bit halves, since C99 has no wider product. */
static void add_product(uint64_t *hi, uint64_t *lo, uint64_t a, uint64_t b)
{
    const uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    const uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
    const uint64_t middle = (p00 >> 32) + (p01 & UINT32_MAX) + p10; /* at most 2^64 - 1 */
    const uint64_t low = middle << 32 | (p00 & UINT32_MAX);

    *lo += low;
    *hi += a1 * b1 + (p01 >> 32) + (middle >> 32) + (*lo < low);
}

/* ----------------------------------------------------------------------------------------------------------- a scan */

typedef struct {
    const cab_pack_t *pack;
    cab_cycle_work_t *work;
    cab_cycle_t *sum;
    cab_strip_t strip[CAB_MAX_REELS];
    uint32_t hopeful[CAB_MAX_REELS + 1]; /* symbols that pay for so many reels or more */
    uint32_t cost;
} scan_t;

static uint64_t column_profile(const scan_t *scan, unsigned reel, unsigned stop, uint8_t *cells)
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
static bool tail_extend(scan_t *scan, unsigned depth)
{
    cab_cycle_work_t *work = scan->work;

    work->tails[0] = work->tails[depth] = 0;
    for (unsigned stop = 0; stop < scan->strip[depth].length; stop++)
        if (!tail_add(work, 0, column_profile(scan, depth, stop, work->cells[depth]), 1))
            return false;
    for (uint32_t i = 0; i < work->tails[0]; i++)
        for (uint32_t j = 0; j < work->tails[depth + 1]; j++)
            if (!tail_add(work, depth, work->tail[0][i].profile + work->tail[depth + 1][j].profile,
                          work->tail[0][i].boards * work->tail[depth + 1][j].boards))
                return false;
    return true;
}

/* A tail with too many profiles is left empty: the scan then goes on to the next reel, where there are fewer. */
static void make_tails(scan_t *scan)
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

/* No line is open after `depth` reels: counts all windows that go on from here. */
static void settle(scan_t *scan, unsigned depth, uint32_t credits, uint64_t profile)
{
    const cab_cycle_work_t *work = scan->work;
    const unsigned scatters = scan->pack->scatters;
    cab_cycle_t *sum = scan->sum;

    for (uint32_t entry = 0; entry < work->tails[depth]; entry++) {
        const uint64_t boards = work->tail[depth][entry].boards;
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
        add_product(&sum->squares_hi, &sum->squares_lo, win * win, boards);
    }
}

static void read_line(const scan_t *scan, unsigned line, unsigned run, uint32_t ended, cab_reading_t *best)
{
    const uint8_t *rows = scan->pack->line_rows + line * scan->pack->reels;
    uint8_t cells[CAB_MAX_REELS];

    for (unsigned reel = 0; reel < run; reel++)
        cells[reel] = scan->work->cells[reel][rows[reel]];
    cab_read_run(scan->pack, cells, run, ended, best);
}

/* Takes the open lines one reel further. Returns how many stay open and adds what the others won to *credits. */
static unsigned advance(scan_t *scan, unsigned reel, unsigned open, uint32_t *credits)
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
static void scan_reel(scan_t *scan, unsigned reel, uint32_t first, uint32_t last, unsigned open, uint32_t credits,
                      uint64_t profile)
{
    for (uint32_t stop = first; stop < last; stop++) {
        const uint64_t in_view = profile + column_profile(scan, reel, stop, scan->work->cells[reel]);
        uint32_t won = credits;
        const unsigned still_open = advance(scan, reel, open, &won);

        if ((!still_open && scan->work->tails[reel + 1]) || reel + 1 == CAB_MAX_REELS)
            settle(scan, reel + 1, won, in_view);
        else
            scan_reel(scan, reel + 1, 0, scan->strip[reel + 1].length, still_open, won, in_view);
    }
}

static void prepare(scan_t *scan, const cab_mode_t mode, unsigned lines)
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

    memset(work->open[0], 0, sizeof work->open[0]);
    for (unsigned line = 0; line < lines; line++) {
        work->open[0][line].alive = UINT32_MAX;
        work->open[0][line].line = (uint8_t)line;
    }
    make_tails(scan);
}

cab_error_t cab_cycle(const cab_pack_t *pack, unsigned mode, uint32_t first, uint32_t last, unsigned lines, uint32_t cost,
                      cab_cycle_work_t *work, cab_cycle_t *result)
{
    scan_t scan;
    uint64_t boards;

    memset(&scan, 0, sizeof scan);
    memset(result, 0, sizeof *result);
    if (mode >= pack->modes || lines > pack->lines)
        return CAB_ERR_ARGUMENT;

    const cab_mode_t m = cab_pack_mode(pack, mode);
    const uint64_t most = pack->max_line_credits + (uint64_t)pack->max_scatter_bets * (cost ? cost : 1);
    for (unsigned reel = 0; reel < pack->reels; reel++)
        scan.strip[reel] = cab_pack_strip(pack, m.set, reel);
    if (first > last || last > scan.strip[0].length)
        return CAB_ERR_ARGUMENT;

    /* Every sum is at most boards x most, or boards x lines. */
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
    prepare(&scan, m, lines);
    scan_reel(&scan, 0, first, last, lines, 0, 0);
    result->boards = boards;
    return CAB_OK;
}

/* -------------------------------------------------------------------------------------------------------- simulation */

static void round_seed(const uint8_t master[CAB_SEED_BYTES], uint64_t number, uint8_t seed[CAB_SEED_BYTES])
{
    uint8_t nonce[12] = {0};
    uint32_t words[16];

    cab_put32(nonce, (uint32_t)(number >> 32));
    cab_chacha20_block(master, (uint32_t)number, nonce, words);
    for (unsigned i = 0; i < CAB_SEED_BYTES / 4; i++)
        cab_put32(seed + 4 * i, words[i]);
}

static cab_error_t play(cab_round_t *round, const uint8_t *policy, cab_simulation_t *sum)
{
    bool free_spins = false;

    while (!cab_round_finished(round)) {
        cab_event_t event;
        cab_error_t error = cab_round_next(round, &event);
        switch (error ? 0 : event.kind) {
        case CAB_SPIN:
            sum->free_spins += free_spins;
            break;
        case CAB_LINE_WIN:
            *(free_spins ? &sum->free_spins_pence : &sum->base_pence) += event.pence;
            break;
        case CAB_SCATTER_WIN:
            *(free_spins ? &sum->free_spins_pence : &sum->scatter_pence) += event.pence;
            break;
        case CAB_CHOICE:
            error = cab_round_choose(round, policy[event.count]);
            break;
        case CAB_FREE_SPINS_BEGIN:
            free_spins = true;
            sum->features++;
            break;
        default:
            break;
        }
        if (error)
            return error;
    }
    return CAB_OK;
}

cab_error_t cab_simulate(const cab_pack_t *pack, unsigned mode, uint32_t unit_pence, const uint8_t master[CAB_SEED_BYTES],
                         uint64_t first, uint64_t count, const uint8_t policy[CAB_MAX_OPTIONS + 1],
                         cab_simulation_t *result)
{
    memset(result, 0, sizeof *result);
    if (count > UINT64_MAX - first)
        return CAB_ERR_ARGUMENT;
    for (unsigned options = 2; options <= CAB_MAX_OPTIONS; options++)
        if (policy[options] >= options)
            return CAB_ERR_ARGUMENT;

    for (uint64_t i = 0; i < count; i++) {
        uint8_t seed[CAB_SEED_BYTES];
        cab_round_t round;

        round_seed(master, first + i, seed);
        cab_error_t error = cab_round_begin(&round, pack, mode, unit_pence, seed);
        if (!error)
            error = play(&round, policy, result);
        if (error)
            return error;

        const uint64_t award = round.award_pence;
        /* One round adds less than 2^63 and no sum is above this one, so this sees an overflow before it happens. */
        result->rounds++;
        result->award_pence += award;
        result->cut_pence += round.cut_pence;
        if ((result->award_pence + result->cut_pence) >> 63)
            return CAB_ERR_OVERFLOW;
        result->hits += award > 0;
        if (award > result->max_award_pence)
            result->max_award_pence = award;
        add_product(&result->squares_hi, &result->squares_lo, award, award);
    }
    return CAB_OK;
}

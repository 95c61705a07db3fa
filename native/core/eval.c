/* eval.c - what one window pays by lines and scatters.
 *
 * A line is read for all symbols at once: `alive` is the mask of symbols whose run has reached the current reel, and each
 * cell keeps those that it can be read as. Without a wild one symbol is alive and most lines end on reel 2, so a losing
 * line costs two table reads.
 */
#include "cab_core.h"
#include "bytes.h"

void cab_window(const cab_pack_t *pack, unsigned set, const uint16_t *stops, uint8_t *window)
{
    for (unsigned reel = 0; reel < pack->reels; reel++) {
        const cab_strip_t strip = cab_pack_strip(pack, set, reel);
        unsigned stop = stops[reel];
        for (unsigned row = 0; row < pack->rows; row++) {
            *window++ = strip.symbols[stop];
            if (++stop == strip.length)
                stop = 0;
        }
    }
}

unsigned cab_in_view(const cab_pack_t *pack, const uint8_t *window, unsigned scatter)
{
    const unsigned symbol = pack->scatter_symbol[scatter];
    unsigned count = 0;

    for (unsigned cell = 0; cell < pack->cells; cell++)
        count += pack->counts_as[window[cell]] >> symbol & 1u;
    return count;
}

uint32_t cab_cells(const cab_pack_t *pack, const uint8_t *window, uint32_t symbols)
{
    uint32_t cells = 0;

    for (unsigned cell = pack->cells; cell-- > 0;)
        cells = cells << 1 | (symbols >> window[cell] & 1u);
    return cells;
}

/* What the wilds in a run do when it is read as one symbol. */
typedef struct {
    uint32_t multiplier;
    bool wild;    /* there is one */
    bool natural; /* there is the symbol itself */
} stand_ins_t;

static stand_ins_t stand_ins(const cab_pack_t *pack, const uint8_t *cells, unsigned run, unsigned symbol)
{
    stand_ins_t in = {1, false, false};
    uint32_t sum = 0;

    for (unsigned i = 0; i < run; i++) {
        const uint32_t multiplier = pack->wild_multiplier[cells[i]];
        if (cells[i] == symbol) {
            in.natural = true;
            continue;
        }
        in.wild = true;
        if (multiplier == 1) /* a plain wild takes no part in any of the rules */
            continue;
        if (pack->multiplier_rule == CAB_MULTIPLIER_PRODUCT)
            in.multiplier *= multiplier;
        else if (pack->multiplier_rule == CAB_MULTIPLIER_SUM)
            in.multiplier = sum += multiplier;
        else if (multiplier > in.multiplier)
            in.multiplier = multiplier;
    }
    return in;
}

void cab_read_run(const cab_pack_t *pack, const uint8_t *cells, unsigned run, uint32_t ended, cab_reading_t *best)
{
    for (; ended; ended &= ended - 1) {
        const unsigned symbol = cab_lowest_bit(ended);
        const stand_ins_t in = stand_ins(pack, cells, run, symbol);

        if (pack->needs_natural && !in.natural)
            continue;
        const uint32_t credits = cab_pack_pay(pack, symbol, run) * in.multiplier;
        /* Ties go to the longer run; within one run length symbols come in rising order. */
        if (credits > best->credits || (credits == best->credits && run > best->run)) {
            best->credits = credits;
            best->multiplier = in.multiplier;
            best->symbol = (uint8_t)symbol;
            best->run = (uint8_t)run;
            best->wild = in.wild;
        }
    }
}

cab_reading_t cab_line(const cab_pack_t *pack, const uint8_t *window, unsigned line)
{
    const uint8_t *rows = pack->line_rows + line * pack->reels;
    uint8_t cells[CAB_MAX_REELS];
    cab_reading_t best = {0, 1, 0, 0, false};
    uint32_t alive = UINT32_MAX;
    unsigned run = 0;

    for (;;) {
        uint32_t next = 0;
        if (run < pack->reels) {
            cells[run] = window[rows[run]];
            next = alive & pack->reads_as[cells[run]];
        }
        const uint32_t ended = alive & ~next & pack->paying[run]; /* paying[0] is empty */
        if (ended)
            cab_read_run(pack, cells, run, ended, &best);
        if (!next)
            return best;
        alive = next;
        window += pack->rows;
        run++;
    }
}

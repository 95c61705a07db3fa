/* ways.c - what one window pays by ways: any cell of each reel, from the first reel on. */
#include "cab_core.h"
#include "bytes.h"

/* The cells of one reel that can be read as a symbol. */
typedef struct {
    uint32_t counted; /* each wild with a multiplier as so many, where multipliers multiply */
    uint32_t plain;   /* those without a multiplier */
    bool natural;
} reel_t;

static reel_t read_reel(const cab_pack_t *pack, const uint8_t *cells, unsigned symbol)
{
    reel_t reel = {0, 0, false};

    for (unsigned row = 0; row < pack->rows; row++) {
        if (!(pack->reads_as[cells[row]] >> symbol & 1u))
            continue;
        const uint32_t multiplier = cells[row] == symbol ? 1 : pack->wild_multiplier[cells[row]];
        reel.counted += pack->multiplier_rule == CAB_MULTIPLIER_PRODUCT ? multiplier : 1;
        reel.plain += multiplier == 1;
        reel.natural |= cells[row] == symbol;
    }
    return reel;
}

/* What every multiplier in the pack is, where only the highest counts. */
static uint32_t the_multiplier(const cab_pack_t *pack)
{
    for (unsigned symbol = 0; symbol < pack->symbols; symbol++)
        if (pack->wild_multiplier[symbol] > 1)
            return pack->wild_multiplier[symbol];
    return 1;
}

cab_ways_t cab_ways(const cab_pack_t *pack, const uint8_t *window, unsigned symbol)
{
    uint32_t counted = 1, plain = 1;
    unsigned run = 0;
    bool natural = false;
    cab_ways_t ways = {0, 0, 0};

    for (; run < pack->reels; run++, window += pack->rows) {
        const reel_t reel = read_reel(pack, window, symbol);
        if (!reel.counted)
            break;
        counted *= reel.counted;
        plain *= reel.plain;
        natural |= reel.natural;
    }
    if (!(pack->paying[run] >> symbol & 1u) || (pack->needs_natural && !natural)) /* paying[0] is empty */
        return ways;
    if (pack->multiplier_rule == CAB_MULTIPLIER_HIGHEST && plain != counted) /* ways with such a wild count so many times */
        counted = (counted - plain) * the_multiplier(pack) + plain;
    ways.credits = cab_pack_pay(pack, symbol, run) * counted;
    ways.ways = counted;
    ways.run = (uint8_t)run;
    return ways;
}

/* pack_rows.c - rows of an opened pack, field by field: nothing here checks anything. */
#include "pack.h"

cab_mode_t cab_pack_mode(const cab_pack_t *pack, unsigned mode)
{
    const uint8_t *row = pack->mode_rows + mode * MODE_BYTES;
    cab_mode_t m;
    m.name = cab_get16(row);
    m.evaluation = row[2];
    m.set = row[3];
    m.cost = cab_get16(row + 4);
    m.flags = cab_get16(row + 6);
    m.rtp_low_ppm = cab_get32(row + 8);
    m.rtp_high_ppm = cab_get32(row + 12);
    return m;
}

cab_step_t cab_pack_step(const cab_pack_t *pack, unsigned row)
{
    const uint8_t *bytes = pack->step_rows + row * STEP_BYTES;
    cab_step_t s;
    s.mode = bytes[0];
    s.op = bytes[1];
    s.index = bytes[2];
    s.most = bytes[3];
    s.least = cab_get16(bytes + 4);
    s.symbols = cab_get32(bytes + 8);
    s.needed = cab_get32(bytes + 12);
    s.credits = cab_get32(bytes + 16);
    return s;
}

cab_table_t cab_pack_table(const cab_pack_t *pack, unsigned table)
{
    const uint8_t *row = pack->table_rows + table * TABLE_BYTES;
    cab_table_t t;
    t.first = cab_get16(row);
    t.rows = cab_get16(row + 2);
    return t;
}

cab_prize_t cab_pack_prize(const cab_pack_t *pack, unsigned row)
{
    const uint8_t *bytes = pack->prize_rows + row * PRIZE_BYTES;
    cab_prize_t p;
    p.weight = cab_get32(bytes);
    p.kind = bytes[4];
    p.index = bytes[5];
    p.number = cab_get32(bytes + 8);
    return p;
}

cab_pot_t cab_pack_pot(const cab_pack_t *pack, unsigned pot)
{
    const uint8_t *row = pack->pot_rows + pot * POT_BYTES;
    cab_pot_t p;
    p.name = cab_get16(row);
    p.tokens = row[2];
    p.credits = cab_get32(row + 4);
    return p;
}

cab_group_t cab_pack_group(const cab_pack_t *pack, unsigned group)
{
    const uint8_t *row = pack->group_rows + group * GROUP_BYTES;
    cab_group_t g;
    g.mode = cab_get16(row);
    g.first = cab_get16(row + 2);
    g.boards = cab_get16(row + 4);
    return g;
}

uint16_t cab_pack_board(const cab_pack_t *pack, unsigned board, unsigned reel)
{
    return cab_get16(pack->board_rows + (board * pack->reels + reel) * 2);
}

cab_feature_t cab_pack_feature(const cab_pack_t *pack, unsigned feature)
{
    const uint8_t *row = pack->feature_rows + feature * FEATURE_BYTES;
    cab_feature_t f;
    f.name = cab_get16(row);
    f.mode = row[2];
    f.opening = row[3];
    f.opening_index = row[4];
    f.level = row[5];
    f.collects = row[6] != 0;
    f.smallest = row[7];
    f.largest = row[8];
    for (unsigned level = 0; level < CAB_MAX_LEVEL; level++)
        f.bowls[level] = row[9 + level];
    f.most_spins = cab_get16(row + 12);
    f.symbols = cab_get32(row + 16);
    return f;
}

cab_option_t cab_pack_option(const cab_pack_t *pack, unsigned row)
{
    const uint8_t *bytes = pack->option_rows + row * OPTION_BYTES;
    cab_option_t o;
    o.feature = bytes[0];
    o.count = bytes[1];
    o.spins = cab_get16(bytes + 2);
    o.multiplier = cab_get16(bytes + 4);
    return o;
}

cab_gamble_t cab_pack_gamble(const cab_pack_t *pack, unsigned row)
{
    const uint8_t *bytes = pack->gamble_rows + row * GAMBLE_BYTES;
    cab_gamble_t g;
    g.name = cab_get16(bytes);
    g.kind = bytes[2];
    g.feature = bytes[3];
    g.numerator = cab_get16(bytes + 4);
    g.denominator = cab_get16(bytes + 6);
    g.spins = cab_get16(bytes + 8);
    g.flags = bytes[10];
    g.value_micro = cab_get64(bytes + 16);
    return g;
}

cab_strip_t cab_pack_strip(const cab_pack_t *pack, unsigned set, unsigned reel)
{
    const uint8_t *row = pack->set_rows + (set * pack->reels + reel) * SET_ROW_BYTES;
    cab_strip_t s;
    s.symbols = pack->strip_bytes + cab_get32(row);
    s.length = cab_get16(row + 4);
    return s;
}

uint32_t cab_pack_coin_value(const cab_pack_t *pack, unsigned value)
{
    return cab_get32(pack->bet_rows + BETS_HEAD_BYTES + value * 4);
}

uint32_t cab_pack_pay(const cab_pack_t *pack, unsigned symbol, unsigned run)
{
    return cab_get32(pack->pay_rows + (symbol * pack->reels + run - 1) * 4);
}

uint32_t cab_pack_scatter_pay(const cab_pack_t *pack, unsigned scatter, unsigned count)
{
    return cab_get32(pack->scatter_rows + (scatter * pack->cells + count - 1) * 4);
}

uint32_t cab_pack_stands_for(const cab_pack_t *pack, unsigned symbol)
{
    return cab_get32(pack->symbol_rows + symbol * SYMBOL_BYTES + 4);
}

const char *cab_pack_name(const cab_pack_t *pack)
{
    return (const char *)pack->bytes + NAME_OFFSET;
}

const char *cab_pack_text(const cab_pack_t *pack, unsigned offset)
{
    return (const char *)pack->text + offset;
}

const char *cab_pack_symbol_name(const cab_pack_t *pack, unsigned symbol)
{
    return cab_pack_text(pack, cab_get16(pack->symbol_rows + symbol * SYMBOL_BYTES));
}

unsigned cab_pack_options(const cab_pack_t *pack, unsigned feature, unsigned count, unsigned *first)
{
    const cab_feature_t f = cab_pack_feature(pack, feature);
    unsigned row = 0, found = 0;

    if (count < f.smallest)
        count = f.smallest;
    if (count > f.largest)
        count = f.largest;
    for (; row < pack->options && found < CAB_MAX_OPTIONS; row++) {
        const uint8_t *bytes = pack->option_rows + row * OPTION_BYTES;
        if (bytes[0] == feature && bytes[1] == count)
            found++;
        else if (found)
            break; /* sorted: the others are behind us */
    }
    *first = row - found;
    return found;
}

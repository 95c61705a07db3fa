/* pack_features.c - checks features, their options and the gambles of a pack that is opened. */
#include "pack.h"

enum { CREDITS_OR_POT = 1 << CAB_PRIZE_CREDITS | 1 << CAB_PRIZE_POT };

static bool opening_ok(const cab_pack_t *pack, const cab_feature_t *f)
{
    switch (f->opening) {
    case CAB_OPENING_NONE:
        return f->opening_index == 0 && f->symbols == 0;
    case CAB_OPENING_SHAPE:
        return f->symbols == 0 && f->level >= 1 && cab_table_holds(pack, f->opening_index, 1u << CAB_PRIZE_SHAPE);
    case CAB_OPENING_CELLS:
        return f->opening_index == 0 && f->symbols != 0 && f->level >= 1;
    case CAB_OPENING_ROLL:
        return f->opening_index == 0 && f->symbols != 0;
    default:
        return false;
    }
}

cab_error_t cab_check_features(cab_pack_t *pack)
{
    for (unsigned i = 0; i < pack->features; i++) {
        const uint8_t *row = pack->feature_rows + i * FEATURE_BYTES;
        const cab_feature_t f = cab_pack_feature(pack, i);

        if (!text_begins_at(pack, f.name))
            return CAB_ERR_PACK_TEXT;
        if (f.most_spins < 1 || f.smallest > f.largest || f.largest > pack->cells || f.level > CAB_MAX_LEVEL ||
            row[6] > 1 || (f.symbols & ~all_symbols(pack)) != 0 || !opening_ok(pack, &f))
            return CAB_ERR_PACK_FEATURE;
        for (unsigned level = 0; level < CAB_MAX_LEVEL; level++)
            if (f.bowls[level] != CAB_NONE && !cab_table_holds(pack, f.bowls[level], CREDITS_OR_POT))
                return CAB_ERR_PACK_FEATURE;
        /* A player who could select the spins of a feature would have them without winning it. */
        if (f.mode >= pack->modes || (cab_pack_mode(pack, f.mode).flags & CAB_MODE_SELECTABLE))
            return CAB_ERR_PACK_FEATURE;
        pack->feature_modes = (uint16_t)(pack->feature_modes | bit(f.mode));
        if (cab_get16(row + 14) != 0 || !all_zero(row + 20, 4))
            return CAB_ERR_PACK_RESERVED;
    }
    return CAB_OK;
}

/* Walks the rows along the one order they may have: features from 0, counts smallest to largest, 1 to 16 rows each. */
cab_error_t cab_check_options(const cab_pack_t *pack)
{
    unsigned row = 0;

    for (unsigned i = 0; i < pack->features; i++) {
        const cab_feature_t f = cab_pack_feature(pack, i);
        for (unsigned count = f.smallest; count <= f.largest; count++) {
            unsigned found = 0;
            for (; row < pack->options; row++, found++) {
                const cab_option_t o = cab_pack_option(pack, row);
                if (o.feature != i || o.count != count)
                    break;
                if (o.spins < 1 || o.spins > f.most_spins || o.multiplier < 1)
                    return CAB_ERR_PACK_OPTION;
                if (cab_get16(pack->option_rows + row * OPTION_BYTES + 6) != 0)
                    return CAB_ERR_PACK_RESERVED;
            }
            if (found < 1 || found > CAB_MAX_OPTIONS)
                return CAB_ERR_PACK_OPTION;
        }
    }
    return row == pack->options ? CAB_OK : CAB_ERR_PACK_OPTION;
}

/* ------------------------------------------------------------------------------------------------------------ gambles */

static bool cash_ok(const cab_pack_t *pack, const cab_gamble_t *g)
{
    /* Drawn from 0 ... numerator x 1,000,000 - 1, and what can be won must fit. */
    return g->feature == CAB_NONE && g->spins == 0 && g->value_micro == 0 && g->denominator >= 1 &&
           g->numerator > g->denominator && g->numerator <= UINT32_MAX / 1000000 &&
           (uint64_t)pack->gamble_limit * pack->max_unit_pence <= (uint64_t)INT64_MAX / g->numerator;
}

/* A feature that is gambled for has no window behind it, and its spins may be set only if there is nothing to choose. */
static bool feature_ok(const cab_pack_t *pack, const cab_gamble_t *g)
{
    unsigned first;

    if (g->numerator || g->denominator || g->feature >= pack->features || g->value_micro < 1 ||
        g->value_micro > (uint64_t)INT64_MAX / pack->max_unit_pence)
        return false;
    const cab_feature_t f = cab_pack_feature(pack, g->feature);
    if (f.collects || f.opening == CAB_OPENING_CELLS || f.opening == CAB_OPENING_ROLL)
        return false;
    return g->spins == 0 || (g->spins <= f.most_spins && cab_pack_options(pack, g->feature, 0, &first) == 1);
}

cab_error_t cab_check_gambles(cab_pack_t *pack)
{
    if (!pack->gambles)
        return CAB_OK;
    const uint8_t *head = pack->gamble_rows - GAMBLE_HEAD_BYTES;

    pack->gamble_payback_ppm = cab_get32(head);
    pack->gamble_from = cab_get32(head + 4);
    pack->gamble_limit = cab_get32(head + 8);
    pack->most_gambles = cab_get16(head + 12);
    if (pack->gamble_payback_ppm < 1 || pack->gamble_payback_ppm > 1000000 || pack->gamble_from > pack->gamble_limit ||
        pack->most_gambles < 1 || pack->most_gambles > CAB_MAX_GAMBLES)
        return CAB_ERR_PACK_GAMBLE;
    if (cab_get16(head + 14) != 0)
        return CAB_ERR_PACK_RESERVED;
    /* What is gambled times the payback must fit. */
    if ((uint64_t)pack->gamble_limit * pack->max_unit_pence > (uint64_t)INT64_MAX / 1000000)
        return CAB_ERR_PACK_GAMBLE;
    for (unsigned i = 0; i < pack->gambles; i++) {
        const uint8_t *row = pack->gamble_rows + i * GAMBLE_BYTES;
        const cab_gamble_t g = cab_pack_gamble(pack, i);

        if (!text_begins_at(pack, g.name))
            return CAB_ERR_PACK_TEXT;
        if (g.flags > CAB_GAMBLE_THEN_CASH_ONLY || g.kind > CAB_GAMBLE_FEATURE ||
            !(g.kind == CAB_GAMBLE_CASH ? cash_ok(pack, &g) : feature_ok(pack, &g)))
            return CAB_ERR_PACK_GAMBLE;
        if (!all_zero(row + 11, 5))
            return CAB_ERR_PACK_RESERVED;
    }
    return CAB_OK;
}

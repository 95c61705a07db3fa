/* pack_symbols.c - checks symbols, lines, strips and modes of a pack that is opened, and makes the evaluator's tables. */
#include "pack.h"

#include <string.h>

cab_error_t cab_check_symbols(cab_pack_t *pack)
{
    const uint32_t all = all_symbols(pack);
    uint32_t scatters = 0, pay = 0;

    pack->scatters = 0;
    for (unsigned s = 0; s < pack->symbols; s++) {
        const uint8_t *row = pack->symbol_rows + s * SYMBOL_BYTES;
        const uint32_t mask = cab_get32(row + 4), self = bit(s);
        const bool wild = (row[2] & SYMBOL_WILD) != 0;

        if (!text_begins_at(pack, cab_get16(row)))
            return CAB_ERR_PACK_TEXT;
        if (row[2] > (SYMBOL_WILD | SYMBOL_SCATTER))
            return CAB_ERR_PACK_SYMBOL;
        if (!all_zero(row + 8, 4))
            return CAB_ERR_PACK_RESERVED;
        /* A wild that stands for nothing, for itself or for a symbol that is not there is a mistake in the sheet. */
        if (wild ? mask == 0 || (mask & (self | ~all)) != 0 || row[3] < 1 : mask != 0 || row[3] != 1)
            return CAB_ERR_PACK_WILD;
        if (row[2] & SYMBOL_SCATTER) {
            if (pack->scatters == CAB_MAX_SCATTERS)
                return CAB_ERR_PACK_SYMBOL;
            pack->scatter_symbol[pack->scatters++] = (uint8_t)s;
            scatters |= self;
        }
    }
    if (pack->section_bytes[SCAT] != (uint32_t)pack->scatters * pack->cells * 4)
        return CAB_ERR_PACK_SIZE;

    memset(pack->paying, 0, sizeof pack->paying);
    for (unsigned s = 0; s < pack->symbols; s++)
        for (unsigned run = 1; run <= pack->reels; run++)
            if (cab_pack_pay(pack, s, run)) {
                pack->paying[run] |= bit(s);
                pay |= bit(s);
            }
    for (unsigned s = 0; s < pack->symbols; s++) {
        const uint8_t *row = pack->symbol_rows + s * SYMBOL_BYTES;
        const uint32_t as = cab_get32(row + 4) | bit(s);
        pack->reads_as[s] = as & pay;
        pack->counts_as[s] = as & scatters;
        pack->wild_multiplier[s] = row[3];
    }
    return CAB_OK;
}

cab_error_t cab_check_lines(const cab_pack_t *pack)
{
    for (uint32_t i = 0; i < pack->section_bytes[LINE]; i++)
        if (pack->line_rows[i] >= pack->rows)
            return CAB_ERR_PACK_LINE;
    return CAB_OK;
}

cab_error_t cab_check_strips(const cab_pack_t *pack)
{
    const uint32_t bytes = pack->section_bytes[STRP];

    for (uint32_t i = 0; i < bytes; i++)
        if (pack->strip_bytes[i] >= pack->symbols)
            return CAB_ERR_PACK_STRIP;
    for (uint32_t i = 0; i < (uint32_t)pack->sets * pack->reels; i++) {
        const uint8_t *row = pack->set_rows + i * SET_ROW_BYTES;
        const uint32_t offset = cab_get32(row), length = cab_get16(row + 4);
        if (length < pack->rows || length > CAB_MAX_STRIP || offset > bytes || length > bytes - offset)
            return CAB_ERR_PACK_STRIP;
        if (cab_get16(row + 6) != 0)
            return CAB_ERR_PACK_RESERVED;
    }
    return CAB_OK;
}

/* Ways with the rule "highest" know one multiplier only, and a sum of multipliers has no meaning for them. */
static bool wilds_fit_ways(const cab_pack_t *pack)
{
    uint8_t multiplier = 1;

    if (pack->multiplier_rule != CAB_MULTIPLIER_HIGHEST)
        return pack->multiplier_rule == CAB_MULTIPLIER_PRODUCT;
    for (unsigned s = 0; s < pack->symbols; s++) {
        if (pack->wild_multiplier[s] == 1)
            continue;
        if (multiplier != 1 && pack->wild_multiplier[s] != multiplier)
            return false;
        multiplier = pack->wild_multiplier[s];
    }
    return true;
}

cab_error_t cab_check_modes(cab_pack_t *pack)
{
    for (unsigned i = 0; i < pack->modes; i++) {
        const uint8_t *row = pack->mode_rows + i * MODE_BYTES;
        const cab_mode_t mode = cab_pack_mode(pack, i);

        if (!text_begins_at(pack, mode.name))
            return CAB_ERR_PACK_TEXT;
        if (mode.evaluation > CAB_WAYS || (mode.evaluation == CAB_WAYS && !wilds_fit_ways(pack)))
            return CAB_ERR_PACK_EVALUATION;
        if (mode.set >= pack->sets || mode.flags > (CAB_MODE_SCATTER_PAYS | CAB_MODE_SELECTABLE) ||
            mode.rtp_low_ppm > mode.rtp_high_ppm || mode.cost < 1)
            return CAB_ERR_PACK_MODE;
        /* The spin chance draws from 0 ... cost x unit - 1, which is one 32-bit draw. */
        if (pack->spin_chance && (mode.flags & CAB_MODE_SELECTABLE) && pack->max_unit_pence > UINT32_MAX / mode.cost)
            return CAB_ERR_PACK_MODE;
        if (!all_zero(row + 16, 8))
            return CAB_ERR_PACK_RESERVED;
    }
    return CAB_OK;
}

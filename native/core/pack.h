/* pack.h - what the files that open a pack share. Private to core/. */
#ifndef CAB_PACK_H
#define CAB_PACK_H

#include "cab_core.h"
#include "bytes.h"

enum {
    HEADER_BYTES = 64,
    TABLE_ROW_BYTES = 12,
    NAME_OFFSET = 16,
    NAME_BYTES = 16,
    HASH_OFFSET = 32,
    GAME_BYTES = 40,
    BETS_HEAD_BYTES = 4,
    SYMBOL_BYTES = 12,
    SET_ROW_BYTES = 8,
    MODE_BYTES = 24,
    STEP_BYTES = 20,
    TABLE_BYTES = 4,
    PRIZE_BYTES = 12,
    POT_BYTES = 8,
    GROUP_BYTES = 8,
    FEATURE_BYTES = 24,
    OPTION_BYTES = 8,
    GAMBLE_HEAD_BYTES = 16,
    GAMBLE_BYTES = 24
};

/* The order of the README's table, and of section_bytes. */
enum { GAME, BETS, SYMB, PAYS, LINE, SCAT, SETS, STRP, MODE, STEP, TABL, PRIZ, POTS, BGRP, BORD, FEAT, OPTN, GAMB, TEXT };

enum { SYMBOL_WILD = 1, SYMBOL_SCATTER = 2 };

static inline bool all_zero(const uint8_t *bytes, size_t length)
{
    uint8_t any = 0;
    for (size_t i = 0; i < length; i++)
        any |= bytes[i];
    return any == 0;
}

static inline uint32_t bit(unsigned number)
{
    return (uint32_t)1 << number;
}

/* The symbols that there are. */
static inline uint32_t all_symbols(const cab_pack_t *pack)
{
    return UINT32_MAX >> (CAB_MAX_SYMBOLS - pack->symbols);
}

static inline bool text_begins_at(const cab_pack_t *pack, uint32_t offset)
{
    return offset < pack->section_bytes[TEXT] && pack->text[offset] != 0 && (offset == 0 || pack->text[offset - 1] == 0);
}

/* Whether every row of a table is of one of these kinds; bit k for kind k. */
bool cab_table_holds(const cab_pack_t *pack, unsigned table, uint32_t kinds);

/* Each checks some sections and may rely on those before it. */
cab_error_t cab_check_lines(const cab_pack_t *pack);
cab_error_t cab_check_strips(const cab_pack_t *pack);
cab_error_t cab_check_modes(cab_pack_t *pack);
cab_error_t cab_check_symbols(cab_pack_t *pack);
cab_error_t cab_check_pots(const cab_pack_t *pack);
cab_error_t cab_check_boards(const cab_pack_t *pack);
cab_error_t cab_check_tables(const cab_pack_t *pack);
cab_error_t cab_check_features(cab_pack_t *pack);
cab_error_t cab_check_options(const cab_pack_t *pack);
cab_error_t cab_check_steps(cab_pack_t *pack);
cab_error_t cab_check_gambles(cab_pack_t *pack);
cab_error_t cab_check_award(cab_pack_t *pack);

#endif

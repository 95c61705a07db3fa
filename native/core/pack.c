/* pack.c - opens a game pack: checks all of it once, so that no later code has to.
 *
 * The checks run in the order in which they depend on each other: header, hash, section table, sizes, then the rows of
 * each section, then the largest award, which needs all of them. The hash comes early: a pack damaged in storage is
 * reported as that, and everything after it is about packs that somebody made so.
 */
#include "pack.h"

#include <string.h>

enum { GAME_NEEDS_NATURAL = 1, GAME_SPIN_CHANCE = 2 };

static const char tags[CAB_SECTIONS][5] = {"GAME", "BETS", "SYMB", "PAYS", "LINE", "SCAT", "SETS", "STRP", "MODE", "STEP",
                                           "TABL", "PRIZ", "POTS", "BGRP", "BORD", "FEAT", "OPTN", "GAMB", "TEXT"};

/* ----------------------------------------------------------------------------------------------- header and sections */

static bool name_ok(const uint8_t *name)
{
    unsigned used = 0;
    while (used < NAME_BYTES && ((name[used] >= 'a' && name[used] <= 'z') || (name[used] >= '0' && name[used] <= '9') ||
                                 name[used] == '_'))
        used++;
    return used > 0 && used < NAME_BYTES && all_zero(name + used, NAME_BYTES - used);
}

static bool hash_ok(const uint8_t *bytes, size_t length)
{
    cab_sha256_t sha;
    uint8_t digest[CAB_SHA256_BYTES];

    cab_sha256_init(&sha);
    cab_sha256_update(&sha, bytes, HASH_OFFSET);
    cab_sha256_update(&sha, bytes + HEADER_BYTES, length - HEADER_BYTES);
    cab_sha256_final(&sha, digest);
    return memcmp(digest, bytes + HASH_OFFSET, sizeof digest) == 0;
}

static cab_error_t check_header(const uint8_t *bytes, size_t length)
{
    if (length < HEADER_BYTES || length > UINT32_MAX)
        return CAB_ERR_PACK_LENGTH;
    if (memcmp(bytes, "CABG", 4) != 0)
        return CAB_ERR_PACK_MAGIC;
    if (cab_get16(bytes + 4) != 2)
        return CAB_ERR_PACK_VERSION;
    if (cab_get16(bytes + 6) != HEADER_BYTES || cab_get32(bytes + 8) != length)
        return CAB_ERR_PACK_LENGTH;
    if (!hash_ok(bytes, length))
        return CAB_ERR_PACK_HASH;
    if (cab_get16(bytes + 14) != 0)
        return CAB_ERR_PACK_RESERVED;
    if (!name_ok(bytes + NAME_OFFSET))
        return CAB_ERR_PACK_NAME;
    return CAB_OK;
}

/* There is one way to lay out given sections: each begins at the next multiple of 4 behind the one before. So no byte of a
 * pack can hide anything, and offsets need no arithmetic that could wrap. */
static cab_error_t find_sections(cab_pack_t *pack, size_t length, const uint8_t **section)
{
    const uint8_t *bytes = pack->bytes;
    const unsigned count = cab_get16(bytes + 12);
    uint32_t end = HEADER_BYTES + TABLE_ROW_BYTES * (uint32_t)count;

    if (end > length)
        return CAB_ERR_PACK_SECTIONS;
    for (unsigned s = 0; s < CAB_SECTIONS; s++)
        section[s] = NULL;

    for (unsigned row = 0; row < count; row++) {
        const uint8_t *entry = bytes + HEADER_BYTES + row * TABLE_ROW_BYTES;
        const uint32_t offset = cab_get32(entry + 4), size = cab_get32(entry + 8);
        unsigned s = 0;

        while (s < CAB_SECTIONS && memcmp(entry, tags[s], 4) != 0)
            s++;
        if (s == CAB_SECTIONS || section[s])
            return CAB_ERR_PACK_TAG;
        if ((offset & 3u) != 0 || offset < end || offset - end > 3 || offset > length || size > length - offset)
            return CAB_ERR_PACK_SECTIONS;
        if (!all_zero(bytes + end, offset - end))
            return CAB_ERR_PACK_RESERVED;
        section[s] = bytes + offset;
        pack->section_bytes[s] = size;
        end = offset + size;
    }
    for (unsigned s = 0; s < CAB_SECTIONS; s++)
        if (!section[s])
            return CAB_ERR_PACK_TAG;
    if (length - end > 3)
        return CAB_ERR_PACK_SECTIONS;
    return all_zero(bytes + end, length - end) ? CAB_OK : CAB_ERR_PACK_RESERVED;
}

/* ------------------------------------------------------------------------------------------- GAME, BETS, sizes, TEXT */

static cab_error_t check_game(cab_pack_t *pack, const uint8_t *game)
{
    if (pack->section_bytes[GAME] != GAME_BYTES)
        return CAB_ERR_PACK_SIZE;
    pack->reels = game[0];
    pack->rows = game[1];
    pack->symbols = game[2];
    pack->lines = game[3];
    pack->modes = game[4];
    pack->sets = game[5];
    pack->features = game[6];
    pack->multiplier_rule = game[7];
    pack->needs_natural = (game[8] & GAME_NEEDS_NATURAL) != 0;
    pack->spin_chance = (game[8] & GAME_SPIN_CHANCE) != 0;
    pack->tables = game[9];
    pack->pots = game[10];
    pack->groups = game[11];
    pack->gambles = game[12];
    pack->win_cap_pence = cab_get64(game + 16);
    pack->max_unit_pence = cab_get32(game + 24);
    pack->stake = cab_get16(game + 28);
    pack->cells = (uint8_t)(pack->reels * pack->rows);

    if (pack->reels < CAB_MIN_REELS || pack->reels > CAB_MAX_REELS || pack->rows < CAB_MIN_ROWS ||
        pack->rows > CAB_MAX_ROWS)
        return CAB_ERR_PACK_GAME;
    if (pack->symbols < 1 || pack->symbols > CAB_MAX_SYMBOLS || pack->lines > CAB_MAX_LINES || pack->modes < 1 ||
        pack->modes > CAB_MAX_MODES || pack->sets < 1 || pack->sets > CAB_MAX_SETS ||
        pack->features > CAB_MAX_FEATURES || pack->pots > CAB_MAX_POTS)
        return CAB_ERR_PACK_GAME;
    if (pack->multiplier_rule > CAB_MULTIPLIER_SUM || game[8] > (GAME_NEEDS_NATURAL | GAME_SPIN_CHANCE) ||
        pack->max_unit_pence < 1 || pack->stake < 1 || pack->win_cap_pence < 1 || pack->win_cap_pence > INT64_MAX)
        return CAB_ERR_PACK_GAME;
    if (!all_zero(game + 13, 3) || !all_zero(game + 30, 10))
        return CAB_ERR_PACK_RESERVED;
    return CAB_OK;
}

/* Coin values rise, and the dearest at the highest level is the largest unit that GAME promises. */
static cab_error_t check_bets(cab_pack_t *pack)
{
    const uint32_t bytes = pack->section_bytes[BETS];
    uint32_t dearest = 0;

    if (bytes < BETS_HEAD_BYTES)
        return CAB_ERR_PACK_SIZE;
    pack->levels = cab_get16(pack->bet_rows);
    pack->coin_values = cab_get16(pack->bet_rows + 2);
    if (bytes != BETS_HEAD_BYTES + (uint32_t)pack->coin_values * 4)
        return CAB_ERR_PACK_SIZE;
    if (pack->levels < 1 || pack->coin_values < 1 || pack->coin_values > CAB_MAX_COIN_VALUES)
        return CAB_ERR_PACK_BETS;
    for (unsigned i = 0; i < pack->coin_values; i++) {
        const uint32_t value = cab_pack_coin_value(pack, i);
        if (value <= dearest)
            return CAB_ERR_PACK_BETS;
        dearest = value;
    }
    if (pack->max_unit_pence % pack->levels != 0 || pack->max_unit_pence / pack->levels != dearest)
        return CAB_ERR_PACK_BETS;
    return CAB_OK;
}

/* SCAT needs the number of scatters and is checked with the symbols. */
static cab_error_t check_sizes(cab_pack_t *pack)
{
    const uint32_t *bytes = pack->section_bytes;

    if (bytes[SYMB] != (uint32_t)pack->symbols * SYMBOL_BYTES || bytes[PAYS] != (uint32_t)pack->symbols * pack->reels * 4 ||
        bytes[LINE] != (uint32_t)pack->lines * pack->reels || bytes[MODE] != (uint32_t)pack->modes * MODE_BYTES ||
        bytes[SETS] != (uint32_t)pack->sets * pack->reels * SET_ROW_BYTES ||
        bytes[FEAT] != (uint32_t)pack->features * FEATURE_BYTES || bytes[TABL] != (uint32_t)pack->tables * TABLE_BYTES ||
        bytes[POTS] != (uint32_t)pack->pots * POT_BYTES || bytes[BGRP] != (uint32_t)pack->groups * GROUP_BYTES ||
        bytes[GAMB] != (pack->gambles ? GAMBLE_HEAD_BYTES + (uint32_t)pack->gambles * GAMBLE_BYTES : 0))
        return CAB_ERR_PACK_SIZE;
    /* Sections whose rows nobody counts: rows of PRIZ and boards have 16-bit numbers; options are few, since a count is at
     * most 30; a mode has at most 12 steps. */
    if (bytes[PRIZ] % PRIZE_BYTES != 0 || bytes[PRIZ] / PRIZE_BYTES > UINT16_MAX ||
        bytes[BORD] % (pack->reels * 2u) != 0 || bytes[BORD] / (pack->reels * 2u) > UINT16_MAX ||
        bytes[OPTN] % OPTION_BYTES != 0 || bytes[OPTN] / OPTION_BYTES > UINT16_MAX ||
        bytes[STEP] % STEP_BYTES != 0 || bytes[STEP] / STEP_BYTES > CAB_MAX_MODES * CAB_MAX_STEPS)
        return CAB_ERR_PACK_SIZE;
    pack->options = (uint16_t)(bytes[OPTN] / OPTION_BYTES);
    return CAB_OK;
}

/* Length of the UTF-8 sequence at text, 0 if there is none (RFC 3629, section 4: no surrogates, nothing overlong). */
static unsigned utf8_length(const uint8_t *text, uint32_t left)
{
    const unsigned lead = text[0];
    const unsigned length = lead < 0x80 ? 1u : lead < 0xC2 ? 0u : lead < 0xE0 ? 2u : lead < 0xF0 ? 3u : lead < 0xF5 ? 4u : 0u;

    if (length > left)
        return 0;
    for (unsigned i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    if ((lead == 0xE0 && text[1] < 0xA0) || (lead == 0xED && text[1] > 0x9F) || (lead == 0xF0 && text[1] < 0x90) ||
        (lead == 0xF4 && text[1] > 0x8F))
        return 0;
    return length;
}

static cab_error_t check_text(const cab_pack_t *pack)
{
    const uint32_t bytes = pack->section_bytes[TEXT];

    if (bytes && pack->text[bytes - 1] != 0)
        return CAB_ERR_PACK_TEXT;
    for (uint32_t i = 0; i < bytes;) {
        const unsigned step = utf8_length(pack->text + i, bytes - i);
        if (step == 0)
            return CAB_ERR_PACK_TEXT;
        i += step;
    }
    return CAB_OK;
}

/* -------------------------------------------------------------------------------------------------------------- open */

cab_error_t cab_pack_open(cab_pack_t *pack, const uint8_t *bytes, size_t length)
{
    const uint8_t *section[CAB_SECTIONS];
    cab_error_t error = check_header(bytes, length);

    memset(pack, 0, sizeof *pack);
    pack->bytes = bytes;
    if (!error)
        error = find_sections(pack, length, section);
    if (error)
        return error;

    pack->bet_rows = section[BETS];
    pack->symbol_rows = section[SYMB];
    pack->pay_rows = section[PAYS];
    pack->line_rows = section[LINE];
    pack->scatter_rows = section[SCAT];
    pack->set_rows = section[SETS];
    pack->strip_bytes = section[STRP];
    pack->mode_rows = section[MODE];
    pack->step_rows = section[STEP];
    pack->table_rows = section[TABL];
    pack->prize_rows = section[PRIZ];
    pack->pot_rows = section[POTS];
    pack->group_rows = section[BGRP];
    pack->board_rows = section[BORD];
    pack->feature_rows = section[FEAT];
    pack->option_rows = section[OPTN];
    pack->text = section[TEXT];

    error = check_game(pack, section[GAME]);
    if (!error)
        error = check_bets(pack);
    if (!error)
        error = check_sizes(pack);
    if (error)
        return error;
    pack->gamble_rows = pack->gambles ? section[GAMB] + GAMBLE_HEAD_BYTES : NULL;

    error = check_text(pack);
    if (!error)
        error = cab_check_lines(pack);
    if (!error)
        error = cab_check_strips(pack);
    if (!error)
        error = cab_check_symbols(pack);
    if (!error)
        error = cab_check_modes(pack);
    if (!error)
        error = cab_check_pots(pack);
    if (!error)
        error = cab_check_boards(pack);
    if (!error)
        error = cab_check_tables(pack);
    if (!error)
        error = cab_check_features(pack);
    if (!error)
        error = cab_check_options(pack);
    if (!error)
        error = cab_check_steps(pack);
    if (!error)
        error = cab_check_gambles(pack);
    if (!error)
        error = cab_check_award(pack);
    return error;
}

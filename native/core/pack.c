/* pack.c - opens a game pack: checks all of it once, so that no later code has to.
 *
 * The checks run in the order in which they depend on each other: header, hash, section table, sizes, then the rows of
 * each section, then the largest award, which needs all of them. The hash comes early: a pack damaged in storage is
 * reported as that, and everything after it is about packs that somebody made so.
 */
#include "cab_core.h"
#include "bytes.h"

#include <string.h>

enum {
    HEADER_BYTES = 64,
    TABLE_ROW_BYTES = 12,
    NAME_OFFSET = 16,
    NAME_BYTES = 16,
    HASH_OFFSET = 32,
    GAME_BYTES = 32,
    BETS_HEAD_BYTES = 4,
    SYMBOL_BYTES = 12,
    SET_ROW_BYTES = 8,
    MODE_BYTES = 24,
    FEATURE_BYTES = 16,
    OPTION_BYTES = 8
};

enum { GAME, BETS, SYMB, PAYS, LINE, SCAT, SETS, STRP, MODE, FEAT, OPTN, TEXT, SECTIONS };

enum { SYMBOL_WILD = 1, SYMBOL_SCATTER = 2 };
enum { GAME_NEEDS_NATURAL = 1 };

static const char tags[SECTIONS][5] = {"GAME", "BETS", "SYMB", "PAYS", "LINE", "SCAT", "SETS",
                                       "STRP", "MODE", "FEAT", "OPTN", "TEXT"};

static bool all_zero(const uint8_t *bytes, size_t length)
{
    uint8_t any = 0;
    for (size_t i = 0; i < length; i++)
        any |= bytes[i];
    return any == 0;
}

/* ---------------------------------------------------------------------------------------------------- rows of a pack */

cab_mode_t cab_pack_mode(const cab_pack_t *pack, unsigned mode)
{
    const uint8_t *row = pack->mode_rows + mode * MODE_BYTES;
    cab_mode_t m;
    m.name = cab_get16(row);
    m.set = row[3];
    m.cost = cab_get16(row + 4);
    m.flags = cab_get16(row + 6);
    m.feature = row[8];
    m.rtp_low_ppm = cab_get32(row + 12);
    m.rtp_high_ppm = cab_get32(row + 16);
    return m;
}

cab_feature_t cab_pack_feature(const cab_pack_t *pack, unsigned feature)
{
    const uint8_t *row = pack->feature_rows + feature * FEATURE_BYTES;
    cab_feature_t f;
    f.trigger = row[0];
    f.mode = row[1];
    f.adds = row[2];
    f.added_spins = row[3];
    f.most_spins = cab_get16(row + 4);
    f.smallest = row[6];
    f.largest = row[7];
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
    const unsigned largest = cab_pack_feature(pack, feature).largest;
    unsigned row = 0, found = 0;

    if (count > largest)
        count = largest;
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
    if (cab_get16(bytes + 4) != 1)
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
    for (unsigned s = 0; s < SECTIONS; s++)
        section[s] = NULL;

    for (unsigned row = 0; row < count; row++) {
        const uint8_t *entry = bytes + HEADER_BYTES + row * TABLE_ROW_BYTES;
        const uint32_t offset = cab_get32(entry + 4), size = cab_get32(entry + 8);
        unsigned s = 0;

        while (s < SECTIONS && memcmp(entry, tags[s], 4) != 0)
            s++;
        if (s == SECTIONS || section[s])
            return CAB_ERR_PACK_TAG;
        if ((offset & 3u) != 0 || offset < end || offset - end > 3 || offset > length || size > length - offset)
            return CAB_ERR_PACK_SECTIONS;
        if (!all_zero(bytes + end, offset - end))
            return CAB_ERR_PACK_RESERVED;
        section[s] = bytes + offset;
        pack->section_bytes[s] = size;
        end = offset + size;
    }
    for (unsigned s = 0; s < SECTIONS; s++)
        if (!section[s])
            return CAB_ERR_PACK_TAG;
    if (length - end > 3)
        return CAB_ERR_PACK_SECTIONS;
    return all_zero(bytes + end, length - end) ? CAB_OK : CAB_ERR_PACK_RESERVED;
}

/* -------------------------------------------------------------------------------------------------------------- rows */

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
    pack->win_cap_pence = cab_get64(game + 16);
    pack->max_unit_pence = cab_get32(game + 24);
    pack->cells = (uint8_t)(pack->reels * pack->rows);

    if (pack->reels < CAB_MIN_REELS || pack->reels > CAB_MAX_REELS || pack->rows < CAB_MIN_ROWS ||
        pack->rows > CAB_MAX_ROWS)
        return CAB_ERR_PACK_GAME;
    if (pack->symbols < 1 || pack->symbols > CAB_MAX_SYMBOLS || pack->lines > CAB_MAX_LINES || pack->modes < 1 ||
        pack->modes > CAB_MAX_MODES || pack->sets < 1 || pack->sets > CAB_MAX_SETS || pack->features > CAB_MAX_FEATURES)
        return CAB_ERR_PACK_GAME;
    if (pack->multiplier_rule > CAB_MULTIPLIER_SUM || game[8] > GAME_NEEDS_NATURAL || pack->max_unit_pence < 1 ||
        pack->win_cap_pence > INT64_MAX)
        return CAB_ERR_PACK_GAME;
    if (!all_zero(game + 9, 7) || !all_zero(game + 28, 4))
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
static cab_error_t check_sizes(const cab_pack_t *pack)
{
    const uint32_t *bytes = pack->section_bytes;

    if (bytes[SYMB] != (uint32_t)pack->symbols * SYMBOL_BYTES || bytes[PAYS] != (uint32_t)pack->symbols * pack->reels * 4 ||
        bytes[LINE] != (uint32_t)pack->lines * pack->reels || bytes[MODE] != (uint32_t)pack->modes * MODE_BYTES ||
        bytes[SETS] != (uint32_t)pack->sets * pack->reels * SET_ROW_BYTES ||
        bytes[FEAT] != (uint32_t)pack->features * FEATURE_BYTES)
        return CAB_ERR_PACK_SIZE;
    /* A count is at most 30, so a pack within its limits has far fewer option rows than 16 bits count. */
    if (bytes[OPTN] % OPTION_BYTES != 0 || bytes[OPTN] / OPTION_BYTES > UINT16_MAX)
        return CAB_ERR_PACK_SIZE;
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

static bool text_begins_at(const cab_pack_t *pack, uint32_t offset)
{
    return offset < pack->section_bytes[TEXT] && pack->text[offset] != 0 && (offset == 0 || pack->text[offset - 1] == 0);
}

static cab_error_t check_symbols(cab_pack_t *pack)
{
    const uint32_t all = UINT32_MAX >> (CAB_MAX_SYMBOLS - pack->symbols);
    uint32_t scatters = 0, pay = 0;

    pack->scatters = 0;
    for (unsigned s = 0; s < pack->symbols; s++) {
        const uint8_t *row = pack->symbol_rows + s * SYMBOL_BYTES;
        const uint32_t mask = cab_get32(row + 4), self = (uint32_t)1 << s;
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
                pack->paying[run] |= (uint32_t)1 << s;
                pay |= (uint32_t)1 << s;
            }
    for (unsigned s = 0; s < pack->symbols; s++) {
        const uint8_t *row = pack->symbol_rows + s * SYMBOL_BYTES;
        const uint32_t as = cab_get32(row + 4) | (uint32_t)1 << s;
        pack->reads_as[s] = as & pay;
        pack->counts_as[s] = as & scatters;
        pack->wild_multiplier[s] = row[3];
    }
    return CAB_OK;
}

static cab_error_t check_lines(const cab_pack_t *pack)
{
    for (uint32_t i = 0; i < pack->section_bytes[LINE]; i++)
        if (pack->line_rows[i] >= pack->rows)
            return CAB_ERR_PACK_LINE;
    return CAB_OK;
}

static cab_error_t check_strips(const cab_pack_t *pack)
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

static cab_error_t check_modes(const cab_pack_t *pack)
{
    for (unsigned i = 0; i < pack->modes; i++) {
        const uint8_t *row = pack->mode_rows + i * MODE_BYTES;
        const cab_mode_t mode = cab_pack_mode(pack, i);

        if (!text_begins_at(pack, mode.name))
            return CAB_ERR_PACK_TEXT;
        if (row[2] != 0)
            return CAB_ERR_PACK_EVALUATION;
        if (mode.set >= pack->sets || (mode.feature != CAB_NONE && mode.feature >= pack->features) ||
            mode.flags > (CAB_MODE_SCATTER_PAYS | CAB_MODE_SELECTABLE) || mode.rtp_low_ppm > mode.rtp_high_ppm ||
            ((mode.flags & CAB_MODE_SELECTABLE) && mode.cost == 0))
            return CAB_ERR_PACK_MODE;
        if (!all_zero(row + 9, 3) || !all_zero(row + 20, 4))
            return CAB_ERR_PACK_RESERVED;
    }
    return CAB_OK;
}

static bool is_scatter(const cab_pack_t *pack, unsigned symbol)
{
    return symbol < pack->symbols && (pack->symbol_rows[symbol * SYMBOL_BYTES + 2] & SYMBOL_SCATTER) != 0;
}

static cab_error_t check_features(const cab_pack_t *pack)
{
    for (unsigned i = 0; i < pack->features; i++) {
        const cab_feature_t f = cab_pack_feature(pack, i);

        /* Triggers are counted anywhere in view, which is what makes a symbol a scatter. */
        if (!is_scatter(pack, f.trigger) || (f.adds != CAB_NONE && !is_scatter(pack, f.adds)) ||
            (f.adds == CAB_NONE) != (f.added_spins == 0))
            return CAB_ERR_PACK_FEATURE;
        if (f.most_spins == 0 || f.smallest == 0 || f.smallest > f.largest || f.largest > pack->cells)
            return CAB_ERR_PACK_FEATURE;
        /* A feature inside a feature could go on for ever. */
        if (f.mode >= pack->modes || cab_pack_mode(pack, f.mode).feature != CAB_NONE)
            return CAB_ERR_PACK_FEATURE;
        if (!all_zero(pack->feature_rows + i * FEATURE_BYTES + 8, 8))
            return CAB_ERR_PACK_RESERVED;
    }
    return CAB_OK;
}

/* Walks the rows along the one order they may have: features from 0, counts smallest to largest, 1 to 16 rows each. */
static cab_error_t check_options(const cab_pack_t *pack)
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

/* ----------------------------------------------------------------------------------------------------- largest award */

/* The highest multiplier that `wilds` wilds of at most `best` each give together. Saturates above 32 bits. */
static uint64_t wilds_multiply(const cab_pack_t *pack, uint32_t best, unsigned wilds)
{
    uint64_t multiplier = 1;

    if (wilds == 0 || best == 1)
        return 1;
    if (pack->multiplier_rule == CAB_MULTIPLIER_HIGHEST)
        return best;
    if (pack->multiplier_rule == CAB_MULTIPLIER_SUM)
        return (uint64_t)best * wilds;
    while (wilds-- && multiplier <= UINT32_MAX)
        multiplier *= best;
    return multiplier;
}

/* Credits of one spin must fit 32 bits, so that the evaluator is 32-bit code; pence of a round 63 bits. */
static cab_error_t check_award(cab_pack_t *pack)
{
    uint64_t line = 0, wild_multiplier = 1, scatter = 0, cost = 0, feature = 0, feature_multiplier = 1;

    for (unsigned s = 0; s < pack->symbols; s++) {
        uint32_t best = 1;
        for (unsigned w = 0; w < pack->symbols; w++)
            if (w != s && (pack->reads_as[w] >> s & 1u) && pack->wild_multiplier[w] > best)
                best = pack->wild_multiplier[w];
        for (unsigned run = 1; run <= pack->reels; run++) {
            const uint64_t pay = cab_pack_pay(pack, s, run);
            const uint64_t multiplier = wilds_multiply(pack, best, pack->needs_natural ? run - 1 : run);
            if (pay && multiplier > wild_multiplier)
                wild_multiplier = multiplier;
            if (wild_multiplier > UINT32_MAX)
                return CAB_ERR_PACK_AWARD;
            if (pay * multiplier > line)
                line = pay * multiplier;
        }
    }
    for (unsigned n = 0; n < pack->scatters; n++) {
        uint32_t best = 0;
        for (unsigned count = 1; count <= pack->cells; count++)
            if (cab_pack_scatter_pay(pack, n, count) > best)
                best = cab_pack_scatter_pay(pack, n, count);
        scatter += best;
    }
    for (unsigned m = 0; m < pack->modes; m++) {
        const uint16_t mode_cost = cab_pack_mode(pack, m).cost;
        if (mode_cost > cost)
            cost = mode_cost;
    }
    for (unsigned row = 0; row < pack->options; row++) {
        const cab_option_t o = cab_pack_option(pack, row);
        const uint64_t times = (uint64_t)cab_pack_feature(pack, o.feature).most_spins * o.multiplier;
        if (times > feature)
            feature = times;
        if (o.multiplier > feature_multiplier)
            feature_multiplier = o.multiplier;
    }
    /* line < 2^64 / 100 is not certain yet, nor scatter < 2^64 / 65535. */
    if (line > UINT32_MAX || scatter > UINT32_MAX || line * pack->lines + scatter * cost > UINT32_MAX ||
        wild_multiplier * feature_multiplier > UINT32_MAX)
        return CAB_ERR_PACK_AWARD;
    pack->max_line_credits = (uint32_t)line * pack->lines;
    pack->max_scatter_bets = (uint32_t)scatter;

    /* credits < 2^32 and feature < 2^32, so their product fits 64 bits; times the unit in two halves. */
    const uint64_t credits = (line * pack->lines + scatter * cost) * (1 + feature);
    const uint64_t high = (credits >> 32) * pack->max_unit_pence, low = (credits & UINT32_MAX) * pack->max_unit_pence;
    if (high + (low >> 32) > INT64_MAX >> 32)
        return CAB_ERR_PACK_AWARD;
    pack->max_award_pence = (high << 32) + low;
    return CAB_OK;
}

/* -------------------------------------------------------------------------------------------------------------- open */

cab_error_t cab_pack_open(cab_pack_t *pack, const uint8_t *bytes, size_t length)
{
    const uint8_t *section[SECTIONS];
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
    pack->options = (uint16_t)(pack->section_bytes[OPTN] / OPTION_BYTES);

    error = check_text(pack);
    if (!error)
        error = check_lines(pack);
    if (!error)
        error = check_strips(pack);
    if (!error)
        error = check_modes(pack);
    if (!error)
        error = check_symbols(pack);
    if (!error)
        error = check_features(pack);
    if (!error)
        error = check_options(pack);
    if (!error)
        error = check_award(pack);
    return error;
}

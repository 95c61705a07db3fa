/* cabinet_core.c - the C core as a MicroPython module: Pack, Round, resume, crc32, sha256, hmac_sha256, CoreError.
 *
 * Shows what native/cpython/wrapper.py shows, under the same names (native/README.md). Each object is one block of fixed
 * size that holds the core's struct itself. What never changes is made when a pack is opened, so that a look at it
 * allocates nothing; a round allocates only what it returns.
 */
#include "cab_core.h"

#include "py/obj.h"
#include "py/objexcept.h"
#include "py/objint.h"
#include "py/objtuple.h"
#include "py/runtime.h"
#include "py/smallint.h"

#if MICROPY_LONGINT_IMPL != MICROPY_LONGINT_IMPL_MPZ
#error "amounts need integers without limit: MICROPY_LONGINT_IMPL_MPZ"
#endif

/* -------------------------------------------------------------------------------------------------- errors, arguments */

static MP_DEFINE_EXCEPTION(CoreError, Exception)

static __attribute__((noreturn)) void refuse(cab_error_t error)
{
    mp_raise_type_arg(&mp_type_CoreError, mp_obj_new_str_from_cstr(cab_error_name(error)));
}

static void check(cab_error_t error)
{
    if (error != CAB_OK)
        refuse(error);
}

/* An integer of Python as one of 32 bits; the error "argument" if it is none. TypeError: not an integer. */
static uint32_t get_u32(mp_obj_t value)
{
    mp_uint_t number;

    if (mp_obj_is_exact_type(value, &mp_type_int)) { /* not small: negative, or more than 30 bits */
        const mp_obj_int_t *big = MP_OBJ_TO_PTR(value);
        if (!mpz_as_uint_checked(&big->mpz, &number))
            refuse(CAB_ERR_ARGUMENT);
    } else {
        const mp_int_t small = mp_obj_get_int(value);
        if (small < 0)
            refuse(CAB_ERR_ARGUMENT);
        number = (mp_uint_t)small;
    }
    if (number > UINT32_MAX)
        refuse(CAB_ERR_ARGUMENT);
    return (uint32_t)number;
}

/* An index below limit. The core's row functions trust theirs, so this is where Python's are checked. */
static unsigned get_index(mp_obj_t value, unsigned limit)
{
    const uint32_t index = get_u32(value);
    if (index >= limit)
        refuse(CAB_ERR_ARGUMENT);
    return index;
}

/* 1 ... limit. */
static unsigned get_count(mp_obj_t value, unsigned limit)
{
    const uint32_t count = get_u32(value);
    if (count < 1 || count > limit)
        refuse(CAB_ERR_ARGUMENT);
    return count;
}

/* Text has a buffer in MicroPython; CPython's module takes none, so neither does this one. */
static mp_buffer_info_t get_bytes(mp_obj_t data)
{
    mp_buffer_info_t info;
    if (mp_obj_is_str(data))
        mp_raise_TypeError(MP_ERROR_TEXT("bytes needed, not str"));
    mp_get_buffer_raise(data, &info, MP_BUFFER_READ);
    return info;
}

/* MicroPython's own function for 64 bits makes an object even of a number that needs none. */
static mp_obj_t new_u64(uint64_t value)
{
    return value <= (uint64_t)MP_SMALL_INT_MAX ? MP_OBJ_NEW_SMALL_INT((mp_int_t)value) : mp_obj_new_int_from_ull(value);
}

static mp_obj_t new_u32(uint32_t value)
{
    return mp_obj_new_int_from_uint(value);
}

/* -------------------------------------------------------------------------------------------------------------- packs */

typedef struct {
    mp_obj_base_t base;
    mp_obj_t data; /* keeps the bytes that c points into */
    mp_obj_t name, sha256, symbols, lines, modes, features, coin_values, win_cap_pence, max_unit_pence;
    cab_pack_t c;
} pack_obj_t;

static const mp_obj_type_t pack_type;

static mp_obj_tuple_t *new_tuple(size_t length)
{
    return MP_OBJ_TO_PTR(mp_obj_new_tuple(length, NULL));
}

static mp_obj_t symbol_names(const cab_pack_t *c)
{
    mp_obj_tuple_t *names = new_tuple(c->symbols);
    for (unsigned i = 0; i < c->symbols; i++)
        names->items[i] = mp_obj_new_str_from_cstr(cab_pack_symbol_name(c, i));
    return MP_OBJ_FROM_PTR(names);
}

static mp_obj_t mode_names(const cab_pack_t *c)
{
    mp_obj_tuple_t *names = new_tuple(c->modes);
    for (unsigned i = 0; i < c->modes; i++)
        names->items[i] = mp_obj_new_str_from_cstr(cab_pack_text(c, cab_pack_mode(c, i).name));
    return MP_OBJ_FROM_PTR(names);
}

static mp_obj_t line_rows(const cab_pack_t *c)
{
    mp_obj_tuple_t *lines = new_tuple(c->lines);
    for (unsigned i = 0; i < c->lines; i++) {
        mp_obj_tuple_t *rows = new_tuple(c->reels);
        for (unsigned reel = 0; reel < c->reels; reel++)
            rows->items[reel] = MP_OBJ_NEW_SMALL_INT(c->line_rows[i * c->reels + reel]);
        lines->items[i] = MP_OBJ_FROM_PTR(rows);
    }
    return MP_OBJ_FROM_PTR(lines);
}

static mp_obj_t coin_values(const cab_pack_t *c)
{
    mp_obj_tuple_t *values = new_tuple(c->coin_values);
    for (unsigned i = 0; i < c->coin_values; i++)
        values->items[i] = new_u32(cab_pack_coin_value(c, i));
    return MP_OBJ_FROM_PTR(values);
}

/* (trigger symbol, ((trigger count, spins, multiplier), ...)) of each feature. Rows of OPTN are sorted by feature. */
static mp_obj_t feature_rows(const cab_pack_t *c)
{
    mp_obj_tuple_t *features = new_tuple(c->features);
    unsigned row = 0;

    for (unsigned i = 0; i < c->features; i++) {
        const unsigned first = row;
        while (row < c->options && cab_pack_option(c, row).feature == i)
            row++;
        mp_obj_tuple_t *options = new_tuple(row - first);
        for (unsigned k = first; k < row; k++) {
            const cab_option_t option = cab_pack_option(c, k);
            const mp_obj_t items[3] = {MP_OBJ_NEW_SMALL_INT(option.count), MP_OBJ_NEW_SMALL_INT(option.spins),
                                       MP_OBJ_NEW_SMALL_INT(option.multiplier)};
            options->items[k - first] = mp_obj_new_tuple(3, items);
        }
        const mp_obj_t items[2] = {MP_OBJ_NEW_SMALL_INT(cab_pack_feature(c, i).trigger), MP_OBJ_FROM_PTR(options)};
        features->items[i] = mp_obj_new_tuple(2, items);
    }
    return MP_OBJ_FROM_PTR(features);
}

/* Pack(data). bytes and memoryview are read in place, which is how a pack stays in flash; the bytes behind a memoryview
 * must not change. Anything else may move when it grows, and is copied. */
static mp_obj_t pack_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *all_args)
{
    static const mp_arg_t allowed[] = {{MP_QSTR_data, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}}};
    mp_arg_val_t args[MP_ARRAY_SIZE(allowed)];
    mp_arg_parse_all_kw_array(n_args, n_kw, all_args, MP_ARRAY_SIZE(allowed), allowed, args);

    mp_obj_t data = args[0].u_obj;
    mp_buffer_info_t info = get_bytes(data);
    if (!mp_obj_is_exact_type(data, &mp_type_bytes) && !mp_obj_is_exact_type(data, &mp_type_memoryview)) {
        data = mp_obj_new_bytes(info.buf, info.len);
        info = get_bytes(data);
    }
    pack_obj_t *self = mp_obj_malloc(pack_obj_t, type);
    cab_pack_t *c = &self->c;
    self->data = data;
    check(cab_pack_open(c, info.buf, info.len));
    self->name = mp_obj_new_str_from_cstr(cab_pack_name(c));
    self->sha256 = mp_obj_new_bytes((const byte *)info.buf + 32, CAB_SHA256_BYTES); /* checked when the pack was opened */
    self->symbols = symbol_names(c);
    self->lines = line_rows(c);
    self->modes = mode_names(c);
    self->features = feature_rows(c);
    self->coin_values = coin_values(c);
    self->win_cap_pence = new_u64(c->win_cap_pence);
    self->max_unit_pence = new_u32(c->max_unit_pence);
    return MP_OBJ_FROM_PTR(self);
}

static void pack_attr(mp_obj_t self_in, qstr attr, mp_obj_t *dest)
{
    const pack_obj_t *self = MP_OBJ_TO_PTR(self_in);

    if (dest[0] != MP_OBJ_NULL)
        return; /* a store or a delete: refused by leaving dest as it is */
    switch (attr) {
    case MP_QSTR_name: dest[0] = self->name; break;
    case MP_QSTR_sha256: dest[0] = self->sha256; break;
    case MP_QSTR_reels: dest[0] = MP_OBJ_NEW_SMALL_INT(self->c.reels); break;
    case MP_QSTR_rows: dest[0] = MP_OBJ_NEW_SMALL_INT(self->c.rows); break;
    case MP_QSTR_levels: dest[0] = MP_OBJ_NEW_SMALL_INT(self->c.levels); break;
    case MP_QSTR_win_cap_pence: dest[0] = self->win_cap_pence; break;
    case MP_QSTR_max_unit_pence: dest[0] = self->max_unit_pence; break;
    case MP_QSTR_symbols: dest[0] = self->symbols; break;
    case MP_QSTR_lines: dest[0] = self->lines; break;
    case MP_QSTR_modes: dest[0] = self->modes; break;
    case MP_QSTR_features: dest[0] = self->features; break;
    case MP_QSTR_coin_values: dest[0] = self->coin_values; break;
    default: dest[1] = MP_OBJ_SENTINEL; break; /* look among the methods */
    }
}

static cab_mode_t get_mode(const pack_obj_t *self, mp_obj_t mode)
{
    return cab_pack_mode(&self->c, get_index(mode, self->c.modes));
}

/* cost(mode): total bet in credits. */
static mp_obj_t pack_cost(mp_obj_t self, mp_obj_t mode)
{
    return MP_OBJ_NEW_SMALL_INT(get_mode(MP_OBJ_TO_PTR(self), mode).cost);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_cost_obj, pack_cost);

/* flags(mode): MODE_SCATTER_PAYS | MODE_SELECTABLE. */
static mp_obj_t pack_flags(mp_obj_t self, mp_obj_t mode)
{
    return MP_OBJ_NEW_SMALL_INT(get_mode(MP_OBJ_TO_PTR(self), mode).flags);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_flags_obj, pack_flags);

/* rtp_ppm(mode): (lowest, highest) by player choice. */
static mp_obj_t pack_rtp_ppm(mp_obj_t self, mp_obj_t mode)
{
    const cab_mode_t row = get_mode(MP_OBJ_TO_PTR(self), mode);
    const mp_obj_t items[2] = {new_u32(row.rtp_low_ppm), new_u32(row.rtp_high_ppm)};
    return mp_obj_new_tuple(2, items);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_rtp_ppm_obj, pack_rtp_ppm);

/* pay(symbol, count): credits for a run of count = 1 ... reels. */
static mp_obj_t pack_pay(mp_obj_t self, mp_obj_t symbol, mp_obj_t count)
{
    const cab_pack_t *c = &((const pack_obj_t *)MP_OBJ_TO_PTR(self))->c;
    const unsigned index = get_index(symbol, c->symbols);
    return new_u32(cab_pack_pay(c, index, get_count(count, c->reels)));
}
static MP_DEFINE_CONST_FUN_OBJ_3(pack_pay_obj, pack_pay);

/* scatter_pay(symbol, count): total bets for count = 1 ... cells in view; 0 for a symbol that is no scatter. */
static mp_obj_t pack_scatter_pay(mp_obj_t self, mp_obj_t symbol, mp_obj_t count)
{
    const cab_pack_t *c = &((const pack_obj_t *)MP_OBJ_TO_PTR(self))->c;
    const unsigned index = get_index(symbol, c->symbols), in_view = get_count(count, c->cells);
    for (unsigned scatter = 0; scatter < c->scatters; scatter++)
        if (c->scatter_symbol[scatter] == index)
            return new_u32(cab_pack_scatter_pay(c, scatter, in_view));
    return MP_OBJ_NEW_SMALL_INT(0);
}
static MP_DEFINE_CONST_FUN_OBJ_3(pack_scatter_pay_obj, pack_scatter_pay);

/* strip(set, reel): symbol numbers from stop 0. */
static mp_obj_t pack_strip(mp_obj_t self, mp_obj_t set, mp_obj_t reel)
{
    const cab_pack_t *c = &((const pack_obj_t *)MP_OBJ_TO_PTR(self))->c;
    const unsigned index = get_index(set, c->sets);
    const cab_strip_t strip = cab_pack_strip(c, index, get_index(reel, c->reels));
    return mp_obj_new_bytes(strip.symbols, strip.length);
}
static MP_DEFINE_CONST_FUN_OBJ_3(pack_strip_obj, pack_strip);

static const mp_rom_map_elem_t pack_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_cost), MP_ROM_PTR(&pack_cost_obj)},
    {MP_ROM_QSTR(MP_QSTR_flags), MP_ROM_PTR(&pack_flags_obj)},
    {MP_ROM_QSTR(MP_QSTR_rtp_ppm), MP_ROM_PTR(&pack_rtp_ppm_obj)},
    {MP_ROM_QSTR(MP_QSTR_pay), MP_ROM_PTR(&pack_pay_obj)},
    {MP_ROM_QSTR(MP_QSTR_scatter_pay), MP_ROM_PTR(&pack_scatter_pay_obj)},
    {MP_ROM_QSTR(MP_QSTR_strip), MP_ROM_PTR(&pack_strip_obj)},
};
static MP_DEFINE_CONST_DICT(pack_locals, pack_locals_table);

static MP_DEFINE_CONST_OBJ_TYPE(pack_type, MP_QSTR_Pack, MP_TYPE_FLAG_NONE, make_new, pack_make_new, attr, pack_attr,
                                locals_dict, &pack_locals);

/* ------------------------------------------------------------------------------------------------------------- rounds */

typedef struct {
    mp_obj_base_t base;
    mp_obj_t pack; /* c refers to it */
    cab_round_t c;
} round_obj_t;

static const mp_obj_type_t round_type;

static const cab_pack_t *get_pack(mp_obj_t pack)
{
    if (!mp_obj_is_type(pack, &pack_type))
        mp_raise_TypeError(MP_ERROR_TEXT("Pack needed"));
    return &((const pack_obj_t *)MP_OBJ_TO_PTR(pack))->c;
}

/* Round(pack, mode, unit_pence, seed). */
static mp_obj_t round_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *all_args)
{
    enum { PACK, MODE, UNIT, SEED };
    static const mp_arg_t allowed[] = {
        {MP_QSTR_pack, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_mode, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_unit_pence, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_seed, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
    };
    mp_arg_val_t args[MP_ARRAY_SIZE(allowed)];
    mp_arg_parse_all_kw_array(n_args, n_kw, all_args, MP_ARRAY_SIZE(allowed), allowed, args);

    const cab_pack_t *pack = get_pack(args[PACK].u_obj);
    const uint32_t mode = get_u32(args[MODE].u_obj), unit_pence = get_u32(args[UNIT].u_obj);
    const mp_buffer_info_t seed = get_bytes(args[SEED].u_obj);
    if (seed.len != CAB_SEED_BYTES)
        refuse(CAB_ERR_ARGUMENT);
    round_obj_t *self = mp_obj_malloc(round_obj_t, type);
    self->pack = args[PACK].u_obj;
    check(cab_round_begin(&self->c, pack, mode, unit_pence, seed.buf));
    return MP_OBJ_FROM_PTR(self);
}

static void round_attr(mp_obj_t self_in, qstr attr, mp_obj_t *dest)
{
    const round_obj_t *self = MP_OBJ_TO_PTR(self_in);

    if (dest[0] != MP_OBJ_NULL)
        return;
    switch (attr) {
    case MP_QSTR_pack: dest[0] = self->pack; break;
    case MP_QSTR_award_pence: dest[0] = new_u64(self->c.award_pence); break;
    case MP_QSTR_finished: dest[0] = mp_obj_new_bool(cab_round_finished(&self->c)); break;
    default: dest[1] = MP_OBJ_SENTINEL; break;
    }
}

/* next(): (kind, index, symbol, count, multiplier, pence). */
static mp_obj_t round_next(mp_obj_t self)
{
    cab_event_t event;
    check(cab_round_next(&((round_obj_t *)MP_OBJ_TO_PTR(self))->c, &event));
    const mp_obj_t items[6] = {MP_OBJ_NEW_SMALL_INT(event.kind),   MP_OBJ_NEW_SMALL_INT(event.index),
                               MP_OBJ_NEW_SMALL_INT(event.symbol), MP_OBJ_NEW_SMALL_INT(event.count),
                               new_u32(event.multiplier),          new_u64(event.pence)};
    return mp_obj_new_tuple(6, items);
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_next_obj, round_next);

/* choose(option): takes one of options(). */
static mp_obj_t round_choose(mp_obj_t self, mp_obj_t option)
{
    check(cab_round_choose(&((round_obj_t *)MP_OBJ_TO_PTR(self))->c, get_u32(option)));
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(round_choose_obj, round_choose);

/* options(): ((spins, multiplier), ...) while a choice is due, else (). */
static mp_obj_t round_options(mp_obj_t self)
{
    const cab_round_t *c = &((const round_obj_t *)MP_OBJ_TO_PTR(self))->c;
    unsigned first = 0;
    const unsigned count = cab_round_options(c, &first);
    mp_obj_t rows[CAB_MAX_OPTIONS];

    for (unsigned i = 0; i < count; i++) {
        const cab_option_t option = cab_pack_option(c->pack, first + i);
        const mp_obj_t items[2] = {MP_OBJ_NEW_SMALL_INT(option.spins), MP_OBJ_NEW_SMALL_INT(option.multiplier)};
        rows[i] = mp_obj_new_tuple(2, items);
    }
    return mp_obj_new_tuple(count, rows);
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_options_obj, round_options);

/* stops(): strip index in the top row of each reel, of the last spin; () before the first. */
static mp_obj_t round_stops(mp_obj_t self)
{
    const cab_round_t *c = &((const round_obj_t *)MP_OBJ_TO_PTR(self))->c;
    mp_obj_t stops[CAB_MAX_REELS];
    const unsigned count = c->shown_mode == CAB_NONE ? 0 : c->pack->reels;

    for (unsigned reel = 0; reel < count; reel++)
        stops[reel] = MP_OBJ_NEW_SMALL_INT(c->stops[reel]);
    return mp_obj_new_tuple(count, stops);
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_stops_obj, round_stops);

/* window(): symbols of the last spin, column by column; empty before the first. */
static mp_obj_t round_window(mp_obj_t self)
{
    const cab_round_t *c = &((const round_obj_t *)MP_OBJ_TO_PTR(self))->c;
    return c->shown_mode == CAB_NONE ? mp_const_empty_bytes : mp_obj_new_bytes(c->window, c->pack->cells);
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_window_obj, round_window);

/* save(): the round as bytes, for resume(). */
static mp_obj_t round_save(mp_obj_t self)
{
    uint8_t state[CAB_ROUND_STATE_BYTES];
    cab_round_save(&((const round_obj_t *)MP_OBJ_TO_PTR(self))->c, state);
    return mp_obj_new_bytes(state, sizeof state);
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_save_obj, round_save);

static const mp_rom_map_elem_t round_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_next), MP_ROM_PTR(&round_next_obj)},
    {MP_ROM_QSTR(MP_QSTR_choose), MP_ROM_PTR(&round_choose_obj)},
    {MP_ROM_QSTR(MP_QSTR_options), MP_ROM_PTR(&round_options_obj)},
    {MP_ROM_QSTR(MP_QSTR_stops), MP_ROM_PTR(&round_stops_obj)},
    {MP_ROM_QSTR(MP_QSTR_window), MP_ROM_PTR(&round_window_obj)},
    {MP_ROM_QSTR(MP_QSTR_save), MP_ROM_PTR(&round_save_obj)},
};
static MP_DEFINE_CONST_DICT(round_locals, round_locals_table);

static MP_DEFINE_CONST_OBJ_TYPE(round_type, MP_QSTR_Round, MP_TYPE_FLAG_NONE, make_new, round_make_new, attr, round_attr,
                                locals_dict, &round_locals);

/* --------------------------------------------------------------------------------------------------- module functions */

/* resume(pack, saved): the round that save() wrote. */
static mp_obj_t core_resume(mp_obj_t pack, mp_obj_t saved)
{
    const cab_pack_t *c = get_pack(pack);
    const mp_buffer_info_t info = get_bytes(saved);
    round_obj_t *self = mp_obj_malloc(round_obj_t, &round_type);
    self->pack = pack;
    check(cab_round_resume(&self->c, c, info.buf, info.len));
    return MP_OBJ_FROM_PTR(self);
}
static MP_DEFINE_CONST_FUN_OBJ_2(core_resume_obj, core_resume);

/* crc32(data, start=0): CRC-32/ISO-HDLC; start is the result for the bytes before. */
static mp_obj_t core_crc32(size_t n_args, const mp_obj_t *all_args, mp_map_t *kw_args)
{
    static const mp_arg_t allowed[] = {
        {MP_QSTR_data, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_start, MP_ARG_OBJ, {.u_rom_obj = MP_ROM_INT(0)}},
    };
    mp_arg_val_t args[MP_ARRAY_SIZE(allowed)];
    mp_arg_parse_all(n_args, all_args, kw_args, MP_ARRAY_SIZE(allowed), allowed, args);
    const mp_buffer_info_t data = get_bytes(args[0].u_obj);
    return new_u32(cab_crc32(data.buf, data.len, get_u32(args[1].u_obj)));
}
static MP_DEFINE_CONST_FUN_OBJ_KW(core_crc32_obj, 1, core_crc32);

/* sha256(data): 32 bytes. */
static mp_obj_t core_sha256(mp_obj_t data)
{
    const mp_buffer_info_t info = get_bytes(data);
    uint8_t digest[CAB_SHA256_BYTES];
    cab_sha256(info.buf, info.len, digest);
    return mp_obj_new_bytes(digest, sizeof digest);
}
static MP_DEFINE_CONST_FUN_OBJ_1(core_sha256_obj, core_sha256);

/* hmac_sha256(key, *parts): HMAC-SHA-256 of the parts in order, 32 bytes. */
static mp_obj_t core_hmac_sha256(size_t n_args, const mp_obj_t *args)
{
    const mp_buffer_info_t key = get_bytes(args[0]);
    cab_hmac_t hmac;
    uint8_t code[CAB_SHA256_BYTES];

    cab_hmac_init(&hmac, key.buf, key.len);
    for (size_t i = 1; i < n_args; i++) {
        const mp_buffer_info_t part = get_bytes(args[i]);
        cab_hmac_update(&hmac, part.buf, part.len);
    }
    cab_hmac_final(&hmac, code);
    return mp_obj_new_bytes(code, sizeof code);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR(core_hmac_sha256_obj, 1, core_hmac_sha256);

/* record(mark, sequence, keys, values): a record of the firmware's journal (firmware/store/README.md) with its CRC. keys is a
 * sequence of ascending numbers; values[key] are bytes. keys None takes all of a list of values that are not empty. */
static void add_value(vstr_t *record, mp_int_t key, mp_obj_t value)
{
    const mp_buffer_info_t info = get_bytes(value);
    if (key < 0 || key > 0xFFFF || info.len > 0xFF)
        refuse(CAB_ERR_ARGUMENT);
    vstr_add_byte(record, (byte)key);
    vstr_add_byte(record, (byte)(key >> 8));
    vstr_add_byte(record, (byte)info.len);
    vstr_add_strn(record, info.buf, info.len);
}

static mp_obj_t core_record(size_t n_args, const mp_obj_t *args)
{
    enum { HEADER_BYTES = 8, ROOM_BYTES = 256 };
    (void)n_args;
    const uint32_t mark = get_u32(args[0]), sequence = get_u32(args[1]);
    vstr_t record;

    if (mark > 0xFF)
        refuse(CAB_ERR_ARGUMENT);
    vstr_init(&record, ROOM_BYTES);
    vstr_add_len(&record, HEADER_BYTES);
    if (args[2] == mp_const_none) {
        size_t length;
        mp_obj_t *values;
        mp_obj_list_get(args[3], &length, &values);
        for (size_t key = 0; key < length; key++)
            if (get_bytes(values[key]).len)
                add_value(&record, (mp_int_t)key, values[key]);
    } else {
        mp_obj_iter_buf_t buffer;
        const mp_obj_t keys = mp_getiter(args[2], &buffer);
        for (mp_obj_t key; (key = mp_iternext(keys)) != MP_OBJ_STOP_ITERATION;)
            add_value(&record, mp_obj_get_int(key), mp_obj_subscr(args[3], key, MP_OBJ_SENTINEL));
    }
    const size_t payload = record.len - HEADER_BYTES;
    if (payload > 0xFFFF)
        refuse(CAB_ERR_ARGUMENT);
    const uint8_t head[HEADER_BYTES] = {(uint8_t)mark,     0,
                                        (uint8_t)payload,  (uint8_t)(payload >> 8),
                                        (uint8_t)sequence, (uint8_t)(sequence >> 8),
                                        (uint8_t)(sequence >> 16), (uint8_t)(sequence >> 24)};
    memcpy(record.buf, head, sizeof head);
    const uint32_t crc = cab_crc32((const uint8_t *)record.buf, record.len, 0);
    for (unsigned shift = 0; shift < 32; shift += 8)
        vstr_add_byte(&record, (byte)(crc >> shift));
    return mp_obj_new_bytes_from_vstr(&record);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(core_record_obj, 4, 4, core_record);

static const mp_rom_map_elem_t core_globals_table[] = {
    {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR_cabinet_core)},
    {MP_ROM_QSTR(MP_QSTR_CoreError), MP_ROM_PTR(&mp_type_CoreError)},
    {MP_ROM_QSTR(MP_QSTR_Pack), MP_ROM_PTR(&pack_type)},
    {MP_ROM_QSTR(MP_QSTR_Round), MP_ROM_PTR(&round_type)},
    {MP_ROM_QSTR(MP_QSTR_resume), MP_ROM_PTR(&core_resume_obj)},
    {MP_ROM_QSTR(MP_QSTR_crc32), MP_ROM_PTR(&core_crc32_obj)},
    {MP_ROM_QSTR(MP_QSTR_sha256), MP_ROM_PTR(&core_sha256_obj)},
    {MP_ROM_QSTR(MP_QSTR_hmac_sha256), MP_ROM_PTR(&core_hmac_sha256_obj)},
    {MP_ROM_QSTR(MP_QSTR_record), MP_ROM_PTR(&core_record_obj)},
};
static MP_DEFINE_CONST_DICT(core_globals, core_globals_table);

const mp_obj_module_t cabinet_core_module = {
    .base = {&mp_type_module},
    .globals = (mp_obj_dict_t *)&core_globals,
};
MP_REGISTER_MODULE(MP_QSTR_cabinet_core, cabinet_core_module);

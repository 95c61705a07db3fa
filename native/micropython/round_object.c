/* round_object.c - Round: one round, event by event. */
#include "objects.h"

static cab_round_t *get_round(mp_obj_t self)
{
    return &((cabinet_round_t *)MP_OBJ_TO_PTR(self))->c;
}

/* Round(pack, mode, unit_pence, seed, wager_pence=0, gamble=False, pile=0). */
static mp_obj_t round_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *all_args)
{
    enum { PACK, MODE, UNIT, SEED, WAGER, GAMBLE, PILE };
    static const mp_arg_t allowed[] = {
        {MP_QSTR_pack, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_mode, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_unit_pence, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_seed, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_wager_pence, MP_ARG_OBJ, {.u_rom_obj = MP_ROM_INT(0)}},
        {MP_QSTR_gamble, MP_ARG_OBJ, {.u_rom_obj = MP_ROM_FALSE}},
        {MP_QSTR_pile, MP_ARG_OBJ, {.u_rom_obj = MP_ROM_INT(0)}},
    };
    mp_arg_val_t args[MP_ARRAY_SIZE(allowed)];
    mp_arg_parse_all_kw_array(n_args, n_kw, all_args, MP_ARRAY_SIZE(allowed), allowed, args);

    if (!mp_obj_is_type(args[PACK].u_obj, &cabinet_pack_type))
        mp_raise_TypeError(MP_ERROR_TEXT("Pack needed"));
    const uint32_t mode = cabinet_u32(args[MODE].u_obj);
    const cab_play_t play = {
        .mode = mode < CAB_NONE ? (uint8_t)mode : CAB_NONE, /* no pack has so many modes */
        .unit_pence = cabinet_u32(args[UNIT].u_obj),
        .wager_pence = cabinet_u32(args[WAGER].u_obj),
        .gamble = mp_obj_is_true(args[GAMBLE].u_obj),
        .pile = (uint16_t)cabinet_index(args[PILE].u_obj, CAB_MAX_PILE + 1),
    };
    const mp_buffer_info_t seed = cabinet_bytes(args[SEED].u_obj);
    if (seed.len != CAB_SEED_BYTES)
        cabinet_check(CAB_ERR_ARGUMENT);
    cabinet_round_t *self = mp_obj_malloc(cabinet_round_t, type);
    self->pack = args[PACK].u_obj;
    cabinet_check(cab_round_begin(&self->c, &((const cabinet_pack_t *)MP_OBJ_TO_PTR(self->pack))->c, &play, seed.buf));
    return MP_OBJ_FROM_PTR(self);
}

static void round_attr(mp_obj_t self_in, qstr attr, mp_obj_t *dest)
{
    const cabinet_round_t *self = MP_OBJ_TO_PTR(self_in);

    if (dest[0] != MP_OBJ_NULL)
        return;
    switch (attr) {
    case MP_QSTR_pack: dest[0] = self->pack; break;
    case MP_QSTR_award_pence: dest[0] = cabinet_int(self->c.award_pence); break;
    case MP_QSTR_offer: dest[0] = cabinet_int(cab_round_offer(&self->c)); break;
    case MP_QSTR_pile: dest[0] = MP_OBJ_NEW_SMALL_INT(self->c.pile); break;
    case MP_QSTR_finished: dest[0] = mp_obj_new_bool(cab_round_finished(&self->c)); break;
    default: dest[1] = MP_OBJ_SENTINEL; break;
    }
}

/* next(): (kind, index, symbol, count, multiplier, pence). */
static mp_obj_t round_next(mp_obj_t self)
{
    cab_event_t event;
    cabinet_check(cab_round_next(get_round(self), &event));
    const mp_obj_t items[6] = {MP_OBJ_NEW_SMALL_INT(event.kind),   MP_OBJ_NEW_SMALL_INT(event.index),
                               MP_OBJ_NEW_SMALL_INT(event.symbol), MP_OBJ_NEW_SMALL_INT(event.count),
                               cabinet_int(event.multiplier),          cabinet_int(event.pence)};
    return mp_obj_new_tuple(6, items);
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_next_obj, round_next);

/* choose(option): takes one of options(). */
static mp_obj_t round_choose(mp_obj_t self, mp_obj_t option)
{
    cabinet_check(cab_round_choose(get_round(self), cabinet_u32(option)));
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(round_choose_obj, round_choose);

/* options(): ((spins, multiplier), ...) while a choice is due, else (). */
static mp_obj_t round_options(mp_obj_t self)
{
    const cab_round_t *c = get_round(self);
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
    const cab_round_t *c = get_round(self);
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
    const cab_round_t *c = get_round(self);
    return c->shown_mode == CAB_NONE ? mp_const_empty_bytes : mp_obj_new_bytes(c->window, c->pack->cells);
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_window_obj, round_window);

/* gamble(row, pence): 1 ... offer pence on a row of Pack.gambles. */
static mp_obj_t round_gamble(mp_obj_t self, mp_obj_t row, mp_obj_t pence)
{
    const uint32_t number = cabinet_u32(row);
    cabinet_check(cab_round_gamble(get_round(self), number, cabinet_u64(pence)));
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_3(round_gamble_obj, round_gamble);

/* collect(): declines the offer. */
static mp_obj_t round_collect(mp_obj_t self)
{
    cabinet_check(cab_round_collect(get_round(self)));
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_collect_obj, round_collect);

/* frames(): levels by cell, 0: bare. */
static mp_obj_t round_frames(mp_obj_t self)
{
    const cab_round_t *c = get_round(self);
    uint8_t levels[CAB_MAX_CELLS];

    for (unsigned cell = 0; cell < c->pack->cells; cell++)
        levels[cell] = (uint8_t)cab_round_frame(c, cell);
    return mp_obj_new_bytes(levels, c->pack->cells);
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_frames_obj, round_frames);

/* values(): credits by cell of the last spin, 0: none. */
static mp_obj_t round_values(mp_obj_t self)
{
    const cab_round_t *c = get_round(self);
    mp_obj_tuple_t *values = cabinet_tuple(c->pack->cells);

    for (unsigned cell = 0; cell < c->pack->cells; cell++)
        values->items[cell] = cabinet_int(cab_round_value(c, cell));
    return MP_OBJ_FROM_PTR(values);
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_values_obj, round_values);

/* matrix(): filled places by pot. */
static mp_obj_t round_matrix(mp_obj_t self)
{
    const cab_round_t *c = get_round(self);
    return mp_obj_new_bytes(c->matrix, c->pack->pots);
}
static MP_DEFINE_CONST_FUN_OBJ_1(round_matrix_obj, round_matrix);

static const mp_rom_map_elem_t round_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_next), MP_ROM_PTR(&round_next_obj)},
    {MP_ROM_QSTR(MP_QSTR_choose), MP_ROM_PTR(&round_choose_obj)},
    {MP_ROM_QSTR(MP_QSTR_options), MP_ROM_PTR(&round_options_obj)},
    {MP_ROM_QSTR(MP_QSTR_stops), MP_ROM_PTR(&round_stops_obj)},
    {MP_ROM_QSTR(MP_QSTR_window), MP_ROM_PTR(&round_window_obj)},
    {MP_ROM_QSTR(MP_QSTR_gamble), MP_ROM_PTR(&round_gamble_obj)},
    {MP_ROM_QSTR(MP_QSTR_collect), MP_ROM_PTR(&round_collect_obj)},
    {MP_ROM_QSTR(MP_QSTR_frames), MP_ROM_PTR(&round_frames_obj)},
    {MP_ROM_QSTR(MP_QSTR_values), MP_ROM_PTR(&round_values_obj)},
    {MP_ROM_QSTR(MP_QSTR_matrix), MP_ROM_PTR(&round_matrix_obj)},
};
static MP_DEFINE_CONST_DICT(round_locals, round_locals_table);

MP_DEFINE_CONST_OBJ_TYPE(cabinet_round_type, MP_QSTR_Round, MP_TYPE_FLAG_NONE, make_new, round_make_new, attr, round_attr,
                                locals_dict, &round_locals);

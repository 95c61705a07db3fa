/* health_object.c - Health: continuous tests of the random source's bytes. */
#include "objects.h"

typedef struct {
    mp_obj_base_t base;
    cab_health_t c;
} cabinet_health_t;

static cab_health_t *get_health(mp_obj_t self)
{
    return &((cabinet_health_t *)MP_OBJ_TO_PTR(self))->c;
}

/* Health(repetition, lane, proportion, sequence, balance). */
static mp_obj_t health_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *all_args)
{
    enum { REPETITION, LANE, PROPORTION, SEQUENCE, BALANCE, LIMIT = 0x10000 };
    static const mp_arg_t allowed[] = {
        {MP_QSTR_repetition, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_lane, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_proportion, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_sequence, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_balance, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
    };
    mp_arg_val_t args[MP_ARRAY_SIZE(allowed)];
    mp_arg_parse_all_kw_array(n_args, n_kw, all_args, MP_ARRAY_SIZE(allowed), allowed, args);
    const cab_cutoffs_t cutoffs = {
        .repetition = (uint16_t)cabinet_index(args[REPETITION].u_obj, LIMIT),
        .lane = (uint16_t)cabinet_index(args[LANE].u_obj, LIMIT),
        .proportion = (uint16_t)cabinet_index(args[PROPORTION].u_obj, LIMIT),
        .sequence = (uint16_t)cabinet_index(args[SEQUENCE].u_obj, LIMIT),
        .balance = (uint16_t)cabinet_index(args[BALANCE].u_obj, LIMIT),
    };
    cabinet_health_t *self = mp_obj_malloc(cabinet_health_t, type);
    cabinet_check(cab_health_init(&self->c, &cutoffs));
    return MP_OBJ_FROM_PTR(self);
}

/* feed(data): 0 while every test passes, else the number of the alarm. */
static mp_obj_t health_feed(mp_obj_t self, mp_obj_t data)
{
    const mp_buffer_info_t info = cabinet_bytes(data);
    return MP_OBJ_NEW_SMALL_INT(cab_health_feed(get_health(self), info.buf, info.len));
}
static MP_DEFINE_CONST_FUN_OBJ_2(health_feed_obj, health_feed);

/* reset(): begins anew and wipes what was remembered. */
static mp_obj_t health_reset(mp_obj_t self)
{
    cab_health_reset(get_health(self));
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(health_reset_obj, health_reset);

static const mp_rom_map_elem_t health_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_feed), MP_ROM_PTR(&health_feed_obj)},
    {MP_ROM_QSTR(MP_QSTR_reset), MP_ROM_PTR(&health_reset_obj)},
};
static MP_DEFINE_CONST_DICT(health_locals, health_locals_table);

MP_DEFINE_CONST_OBJ_TYPE(cabinet_health_type, MP_QSTR_Health, MP_TYPE_FLAG_NONE, make_new, health_make_new, locals_dict,
                                &health_locals);

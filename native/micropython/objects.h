/* objects.h - what the parts of the MicroPython module share: arguments in, integers out, the object types. */
#ifndef CABINET_OBJECTS_H
#define CABINET_OBJECTS_H

#include "cab_core.h"

#include "py/obj.h"
#include "py/objtuple.h"
#include "py/runtime.h"

extern const mp_obj_type_t mp_type_CoreError, cabinet_pack_type, cabinet_round_type, cabinet_health_type;
MP_DECLARE_CONST_FUN_OBJ_3(cabinet_p256_verify_obj);

/* Raises CoreError with the name of the error, unless there is none. */
void cabinet_check(cab_error_t error);

/* An integer of Python of at most so many bits; the error "argument" if it is none. TypeError: not an integer. */
uint32_t cabinet_u32(mp_obj_t value);
uint64_t cabinet_u64(mp_obj_t value);

/* An index below limit; 1 ... limit. The core's row functions trust theirs, so this is where Python's are checked. */
unsigned cabinet_index(mp_obj_t value, unsigned limit);
unsigned cabinet_count(mp_obj_t value, unsigned limit);

/* A buffer, not text; TypeError. */
mp_buffer_info_t cabinet_bytes(mp_obj_t data);

/* Integers that need no object get none. */
mp_obj_t cabinet_int(uint64_t value);

/* A tuple to be filled in. */
static inline mp_obj_tuple_t *cabinet_tuple(size_t length)
{
    return MP_OBJ_TO_PTR(mp_obj_new_tuple(length, NULL));
}

typedef struct {
    mp_obj_base_t base;
    mp_obj_t data; /* keeps the bytes that c points into */
    mp_obj_t name, sha256, symbols, lines, modes, features, pots, wilds, gambles, coin_values;
    mp_obj_t win_cap_pence, max_unit_pence, gamble_from, gamble_limit;
    cab_pack_t c;
} cabinet_pack_t;

typedef struct {
    mp_obj_base_t base;
    mp_obj_t pack; /* c refers to it */
    cab_round_t c;
} cabinet_round_t;

#endif

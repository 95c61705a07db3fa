/* cabinet_core.c - the C core as a MicroPython module: Pack, Round, Health, hashes, p256_verify, CoreError.
 *
 * Shows what native/cpython/wrapper.py shows, under the same names (native/README.md). Each object is one block of fixed
 * size that holds the core's struct itself. What never changes is made when a pack is opened, so that a look at it
 * allocates nothing; a round allocates only what it returns.
 */
#include "objects.h"

#include "py/objexcept.h"
#include "py/objint.h"
#include "py/smallint.h"

#if MICROPY_LONGINT_IMPL != MICROPY_LONGINT_IMPL_MPZ
#error "amounts need integers without limit: MICROPY_LONGINT_IMPL_MPZ"
#endif

/* -------------------------------------------------------------------------------------------------- errors, arguments */

MP_DEFINE_EXCEPTION(CoreError, Exception)

void cabinet_check(cab_error_t error)
{
    if (error != CAB_OK)
        mp_raise_type_arg(&mp_type_CoreError, mp_obj_new_str_from_cstr(cab_error_name(error)));
}

uint64_t cabinet_u64(mp_obj_t value)
{
    if (mp_obj_is_exact_type(value, &mp_type_int)) { /* not small: negative, or more than 30 bits */
        const mp_obj_int_t *big = MP_OBJ_TO_PTR(value);
        uint8_t bytes[8];
        if (!mpz_as_bytes(&big->mpz, false, false, sizeof bytes, bytes)) /* false: it does not fit, or is negative */
            cabinet_check(CAB_ERR_ARGUMENT);
        uint64_t number = 0;
        for (unsigned i = sizeof bytes; i-- > 0;)
            number = number << 8 | bytes[i];
        return number;
    }
    const mp_int_t small = mp_obj_get_int(value);
    if (small < 0)
        cabinet_check(CAB_ERR_ARGUMENT);
    return (uint64_t)small;
}

uint32_t cabinet_u32(mp_obj_t value)
{
    const uint64_t number = cabinet_u64(value);
    if (number > UINT32_MAX)
        cabinet_check(CAB_ERR_ARGUMENT);
    return (uint32_t)number;
}

unsigned cabinet_index(mp_obj_t value, unsigned limit)
{
    const uint32_t index = cabinet_u32(value);
    if (index >= limit)
        cabinet_check(CAB_ERR_ARGUMENT);
    return index;
}

unsigned cabinet_count(mp_obj_t value, unsigned limit)
{
    const uint32_t count = cabinet_u32(value);
    if (count < 1 || count > limit)
        cabinet_check(CAB_ERR_ARGUMENT);
    return count;
}

/* Text has a buffer in MicroPython; CPython's module takes none, so neither does this one. */
mp_buffer_info_t cabinet_bytes(mp_obj_t data)
{
    mp_buffer_info_t info;
    if (mp_obj_is_str(data))
        mp_raise_TypeError(MP_ERROR_TEXT("bytes needed, not str"));
    mp_get_buffer_raise(data, &info, MP_BUFFER_READ);
    return info;
}

/* MicroPython's own function for 64 bits makes an object even of a number that needs none. */
mp_obj_t cabinet_int(uint64_t value)
{
    return value <= (uint64_t)MP_SMALL_INT_MAX ? MP_OBJ_NEW_SMALL_INT((mp_int_t)value) : mp_obj_new_int_from_ull(value);
}

/* --------------------------------------------------------------------------------------------------- module functions */

/* crc32(data, start=0): CRC-32/ISO-HDLC; start is the result for the bytes before. */
static mp_obj_t core_crc32(size_t n_args, const mp_obj_t *all_args, mp_map_t *kw_args)
{
    static const mp_arg_t allowed[] = {
        {MP_QSTR_data, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}},
        {MP_QSTR_start, MP_ARG_OBJ, {.u_rom_obj = MP_ROM_INT(0)}},
    };
    mp_arg_val_t args[MP_ARRAY_SIZE(allowed)];
    mp_arg_parse_all(n_args, all_args, kw_args, MP_ARRAY_SIZE(allowed), allowed, args);
    const mp_buffer_info_t data = cabinet_bytes(args[0].u_obj);
    return cabinet_int(cab_crc32(data.buf, data.len, cabinet_u32(args[1].u_obj)));
}
static MP_DEFINE_CONST_FUN_OBJ_KW(core_crc32_obj, 1, core_crc32);

/* crc16(data, start=0): CRC-16/XMODEM; start is the result for the bytes before. */
static mp_obj_t core_crc16(size_t n_args, const mp_obj_t *args)
{
    const mp_buffer_info_t data = cabinet_bytes(args[0]);
    const uint32_t start = n_args > 1 ? cabinet_u32(args[1]) : 0u;
    return MP_OBJ_NEW_SMALL_INT(cab_crc16(data.buf, data.len, (uint16_t)start));
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(core_crc16_obj, 1, 2, core_crc16);

/* sha256(data): 32 bytes. */
static mp_obj_t core_sha256(mp_obj_t data)
{
    const mp_buffer_info_t info = cabinet_bytes(data);
    uint8_t digest[CAB_SHA256_BYTES];
    cab_sha256(info.buf, info.len, digest);
    return mp_obj_new_bytes(digest, sizeof digest);
}
static MP_DEFINE_CONST_FUN_OBJ_1(core_sha256_obj, core_sha256);

/* hmac_sha256(key, *parts): HMAC-SHA-256 of the parts in order, 32 bytes. */
static mp_obj_t core_hmac_sha256(size_t n_args, const mp_obj_t *args)
{
    const mp_buffer_info_t key = cabinet_bytes(args[0]);
    cab_hmac_t hmac;
    uint8_t code[CAB_SHA256_BYTES];

    cab_hmac_init(&hmac, key.buf, key.len);
    for (size_t i = 1; i < n_args; i++) {
        const mp_buffer_info_t part = cabinet_bytes(args[i]);
        cab_hmac_update(&hmac, part.buf, part.len);
    }
    cab_hmac_final(&hmac, code);
    return mp_obj_new_bytes(code, sizeof code);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR(core_hmac_sha256_obj, 1, core_hmac_sha256);

/* record(mark, sequence, keys, values): a record of the firmware's journal (firmware/store/README.md) with its CRC. keys is a
 * sequence of ascending numbers; values[key] are bytes, or unsigned numbers below 2^64 that take as few bytes as they need,
 * least significant first. keys None takes all of a list of values that have any. */
enum { RECORD_HEADER_BYTES = 8, RECORD_CRC_BYTES = 4, ENTRY_BYTES = 3, NUMBER_BYTES = 8 };

/* The bytes of a value; those of a number are written into `room`. */
static mp_buffer_info_t value_bytes(mp_obj_t value, uint8_t room[NUMBER_BYTES])
{
    mp_buffer_info_t info = {.buf = room, .len = 0};

    if (!mp_obj_is_int(value) && !mp_obj_is_bool(value))
        return cabinet_bytes(value);
    for (uint64_t rest = cabinet_u64(value); rest; rest >>= 8)
        room[info.len++] = (uint8_t)rest;
    return info;
}

static void add_value(vstr_t *record, mp_int_t key, mp_obj_t value)
{
    uint8_t room[NUMBER_BYTES];
    const mp_buffer_info_t info = value_bytes(value, room);

    if (key < 0 || key > 0xFFFF || info.len > 0xFF)
        cabinet_check(CAB_ERR_ARGUMENT);
    vstr_add_byte(record, (byte)key);
    vstr_add_byte(record, (byte)(key >> 8));
    vstr_add_byte(record, (byte)info.len);
    vstr_add_strn(record, info.buf, info.len);
}

/* All values of a list that have bytes. Their room is taken at once: a state of kilobytes that grew piece by piece would be
 * moved hundreds of times. */
static void add_all(vstr_t *record, mp_obj_t list)
{
    uint8_t room[NUMBER_BYTES];
    size_t length, bytes = 0;
    mp_obj_t *values;

    mp_obj_list_get(list, &length, &values);
    for (size_t key = 0; key < length; key++) {
        const size_t number = value_bytes(values[key], room).len;
        bytes += number ? ENTRY_BYTES + number : 0;
    }
    vstr_hint_size(record, bytes + RECORD_CRC_BYTES);
    for (size_t key = 0; key < length; key++)
        if (value_bytes(values[key], room).len)
            add_value(record, (mp_int_t)key, values[key]);
}

static mp_obj_t core_record(size_t n_args, const mp_obj_t *args)
{
    enum { ROOM_BYTES = 256 };
    (void)n_args;
    const uint32_t mark = cabinet_u32(args[0]), sequence = cabinet_u32(args[1]);
    vstr_t record;

    if (mark > 0xFF)
        cabinet_check(CAB_ERR_ARGUMENT);
    vstr_init(&record, ROOM_BYTES);
    vstr_add_len(&record, RECORD_HEADER_BYTES);
    if (args[2] == mp_const_none) {
        add_all(&record, args[3]);
    } else {
        mp_obj_iter_buf_t buffer;
        const mp_obj_t keys = mp_getiter(args[2], &buffer);
        for (mp_obj_t key; (key = mp_iternext(keys)) != MP_OBJ_STOP_ITERATION;)
            add_value(&record, mp_obj_get_int(key), mp_obj_subscr(args[3], key, MP_OBJ_SENTINEL));
    }
    const size_t payload = record.len - RECORD_HEADER_BYTES;
    if (payload > 0xFFFF)
        cabinet_check(CAB_ERR_ARGUMENT);
    const uint8_t head[RECORD_HEADER_BYTES] = {(uint8_t)mark,     0,
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
    {MP_ROM_QSTR(MP_QSTR_Pack), MP_ROM_PTR(&cabinet_pack_type)},
    {MP_ROM_QSTR(MP_QSTR_Round), MP_ROM_PTR(&cabinet_round_type)},
    {MP_ROM_QSTR(MP_QSTR_Health), MP_ROM_PTR(&cabinet_health_type)},
    {MP_ROM_QSTR(MP_QSTR_crc32), MP_ROM_PTR(&core_crc32_obj)},
    {MP_ROM_QSTR(MP_QSTR_crc16), MP_ROM_PTR(&core_crc16_obj)},
    {MP_ROM_QSTR(MP_QSTR_sha256), MP_ROM_PTR(&core_sha256_obj)},
    {MP_ROM_QSTR(MP_QSTR_hmac_sha256), MP_ROM_PTR(&core_hmac_sha256_obj)},
    {MP_ROM_QSTR(MP_QSTR_p256_verify), MP_ROM_PTR(&cabinet_p256_verify_obj)},
    {MP_ROM_QSTR(MP_QSTR_record), MP_ROM_PTR(&core_record_obj)},
};
static MP_DEFINE_CONST_DICT(core_globals, core_globals_table);

const mp_obj_module_t cabinet_core_module = {
    .base = {&mp_type_module},
    .globals = (mp_obj_dict_t *)&core_globals,
};
MP_REGISTER_MODULE(MP_QSTR_cabinet_core, cabinet_core_module);

/* module.c - the board as the Python module cabinet_board; hal/boards/mps2.py makes a Board of it.
 *
 * Uart and Nvram have the methods of the Board contract themselves, so that the loop's many reads of idle ports cost one call
 * of C each. read() without bytes, ticks and the watchdog allocate nothing.
 */

#include "cabinet_board.h"

#include "py/gc.h"
#include "py/objarray.h"
#include "py/runtime.h"

/* --------------------------------------------------------------------------------------------------------------- Uart */

typedef struct {
    mp_obj_base_t base;
    unsigned number;
    mp_obj_t error; /* what write() raises */
} uart_obj_t;

/* Uart(number, error): ValueError for a number that is none; write() raises `error`. */
static mp_obj_t uart_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *args)
{
    mp_arg_check_num(n_args, n_kw, 2, 2, false);
    const mp_int_t number = mp_obj_get_int(args[0]);
    if (number < 0 || number >= BOARD_UARTS)
        mp_raise_ValueError(MP_ERROR_TEXT("no such UART"));
    uart_obj_t *self = mp_obj_malloc(uart_obj_t, type);
    self->number = (unsigned)number;
    self->error = args[1];
    return MP_OBJ_FROM_PTR(self);
}

/* read(): all bytes that have arrived. */
static mp_obj_t uart_read(mp_obj_t self_in)
{
    const uart_obj_t *self = MP_OBJ_TO_PTR(self_in);
    const size_t length = board_uart_arrived(self->number);

    if (!length)
        return mp_const_empty_bytes;
    vstr_t bytes;
    vstr_init_len(&bytes, length);
    board_uart_take(self->number, (uint8_t *)bytes.buf, length);
    return mp_obj_new_bytes_from_vstr(&bytes);
}
static MP_DEFINE_CONST_FUN_OBJ_1(uart_read_obj, uart_read);

/* write(data): queues all of it, or raises and queues nothing. */
static mp_obj_t uart_write(mp_obj_t self_in, mp_obj_t data)
{
    const uart_obj_t *self = MP_OBJ_TO_PTR(self_in);
    mp_buffer_info_t info;

    mp_get_buffer_raise(data, &info, MP_BUFFER_READ);
    if (!board_uart_send(self->number, info.buf, info.len))
        nlr_raise(mp_call_function_1(self->error, MP_OBJ_NEW_QSTR(MP_QSTR_full)));
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(uart_write_obj, uart_write);

static void uart_attr(mp_obj_t self_in, qstr attr, mp_obj_t *dest)
{
    const uart_obj_t *self = MP_OBJ_TO_PTR(self_in);

    if (dest[0] != MP_OBJ_NULL)
        return;
    switch (attr) {
    case MP_QSTR_overruns: dest[0] = mp_obj_new_int_from_uint(board_uart_overruns(self->number)); break;
    case MP_QSTR_fullest: dest[0] = mp_obj_new_int_from_uint(board_uart_fullest(self->number)); break;
    default: dest[1] = MP_OBJ_SENTINEL; break; /* look among the methods */
    }
}

static const mp_rom_map_elem_t uart_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_read), MP_ROM_PTR(&uart_read_obj)},
    {MP_ROM_QSTR(MP_QSTR_write), MP_ROM_PTR(&uart_write_obj)},
};
static MP_DEFINE_CONST_DICT(uart_locals, uart_locals_table);

static MP_DEFINE_CONST_OBJ_TYPE(uart_type, MP_QSTR_Uart, MP_TYPE_FLAG_NONE, make_new, uart_make_new, attr, uart_attr,
                                locals_dict, &uart_locals);

/* -------------------------------------------------------------------------------------------------------------- Nvram */

/* ValueError unless the bytes lie inside. Sizes are compared by subtraction: a sum could turn over. */
static void check_inside(mp_int_t offset, mp_int_t length, uint32_t size)
{
    if (offset < 0 || length < 0 || (uint32_t)length > size || (uint32_t)offset > size - (uint32_t)length)
        mp_raise_ValueError(MP_ERROR_TEXT("outside the NVRAM"));
}

typedef struct {
    mp_obj_base_t base;
    uint32_t first, size; /* in the battery-backed memory */
} nvram_obj_t;

/* Nvram(): the NVRAM. Nvram(first, size): another part of the battery-backed memory. */
static mp_obj_t nvram_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *args)
{
    mp_arg_check_num(n_args, n_kw, 0, 2, false);
    const mp_int_t first = n_args > 0 ? mp_obj_get_int(args[0]) : 0;
    const mp_int_t size = n_args > 1 ? mp_obj_get_int(args[1]) : (mp_int_t)BOARD_NVRAM_BYTES;
    check_inside(first, size, BOARD_MEMORY_BYTES);
    nvram_obj_t *self = mp_obj_malloc(nvram_obj_t, type);
    self->first = (uint32_t)first;
    self->size = (uint32_t)size;
    return MP_OBJ_FROM_PTR(self);
}

/* read(offset, length) */
static mp_obj_t nvram_read(mp_obj_t self_in, mp_obj_t offset_in, mp_obj_t length_in)
{
    const nvram_obj_t *self = MP_OBJ_TO_PTR(self_in);
    const mp_int_t offset = mp_obj_get_int(offset_in), length = mp_obj_get_int(length_in);
    vstr_t bytes;

    check_inside(offset, length, self->size);
    vstr_init_len(&bytes, (size_t)length);
    board_nvram_read(self->first + (uint32_t)offset, (uint8_t *)bytes.buf, (size_t)length);
    return mp_obj_new_bytes_from_vstr(&bytes);
}
static MP_DEFINE_CONST_FUN_OBJ_3(nvram_read_obj, nvram_read);

/* write(offset, data) */
static mp_obj_t nvram_write(mp_obj_t self_in, mp_obj_t offset_in, mp_obj_t data)
{
    const nvram_obj_t *self = MP_OBJ_TO_PTR(self_in);
    const mp_int_t offset = mp_obj_get_int(offset_in);
    mp_buffer_info_t info;

    mp_get_buffer_raise(data, &info, MP_BUFFER_READ);
    check_inside(offset, (mp_int_t)info.len, self->size);
    board_nvram_write(self->first + (uint32_t)offset, info.buf, info.len);
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_3(nvram_write_obj, nvram_write);

/* view(offset, length): the bytes in place. */
static mp_obj_t nvram_view(mp_obj_t self_in, mp_obj_t offset_in, mp_obj_t length_in)
{
    const nvram_obj_t *self = MP_OBJ_TO_PTR(self_in);
    const mp_int_t offset = mp_obj_get_int(offset_in), length = mp_obj_get_int(length_in);

    check_inside(offset, length, self->size);
    return mp_obj_new_memoryview('B', (size_t)length, (void *)(BOARD_MEMORY + self->first + (uint32_t)offset));
}
static MP_DEFINE_CONST_FUN_OBJ_3(nvram_view_obj, nvram_view);

/* holds(offset, data): whether it reads so. */
static mp_obj_t nvram_holds(mp_obj_t self_in, mp_obj_t offset_in, mp_obj_t data)
{
    const nvram_obj_t *self = MP_OBJ_TO_PTR(self_in);
    const mp_int_t offset = mp_obj_get_int(offset_in);
    mp_buffer_info_t info;

    mp_get_buffer_raise(data, &info, MP_BUFFER_READ);
    check_inside(offset, (mp_int_t)info.len, self->size);
    return mp_obj_new_bool(board_nvram_holds(self->first + (uint32_t)offset, info.buf, info.len));
}
static MP_DEFINE_CONST_FUN_OBJ_3(nvram_holds_obj, nvram_holds);

/* same(first, second, length): whether it reads the same at both places. */
static mp_obj_t nvram_same(size_t n_args, const mp_obj_t *args)
{
    (void)n_args;
    const nvram_obj_t *self = MP_OBJ_TO_PTR(args[0]);
    const mp_int_t first = mp_obj_get_int(args[1]), second = mp_obj_get_int(args[2]), length = mp_obj_get_int(args[3]);

    check_inside(first, length, self->size);
    check_inside(second, length, self->size);
    return mp_obj_new_bool(board_nvram_same(self->first + (uint32_t)first, self->first + (uint32_t)second, (size_t)length));
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(nvram_same_obj, 4, 4, nvram_same);

static void nvram_attr(mp_obj_t self_in, qstr attr, mp_obj_t *dest)
{
    const nvram_obj_t *self = MP_OBJ_TO_PTR(self_in);

    if (dest[0] != MP_OBJ_NULL)
        return;
    if (attr == MP_QSTR_size)
        dest[0] = mp_obj_new_int_from_uint(self->size);
    else
        dest[1] = MP_OBJ_SENTINEL; /* look among the methods */
}

static const mp_rom_map_elem_t nvram_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_read), MP_ROM_PTR(&nvram_read_obj)},
    {MP_ROM_QSTR(MP_QSTR_write), MP_ROM_PTR(&nvram_write_obj)},
    {MP_ROM_QSTR(MP_QSTR_view), MP_ROM_PTR(&nvram_view_obj)},
    {MP_ROM_QSTR(MP_QSTR_holds), MP_ROM_PTR(&nvram_holds_obj)},
    {MP_ROM_QSTR(MP_QSTR_same), MP_ROM_PTR(&nvram_same_obj)},
};
static MP_DEFINE_CONST_DICT(nvram_locals, nvram_locals_table);

static MP_DEFINE_CONST_OBJ_TYPE(nvram_type, MP_QSTR_Nvram, MP_TYPE_FLAG_NONE, make_new, nvram_make_new, attr, nvram_attr,
                                locals_dict, &nvram_locals);

/* ---------------------------------------------------------------------------------------------------------- functions */

/* memory(offset, length): a view of the battery-backed memory, for reading in place. */
static mp_obj_t module_memory(mp_obj_t offset_in, mp_obj_t length_in)
{
    const mp_int_t offset = mp_obj_get_int(offset_in), length = mp_obj_get_int(length_in);

    check_inside(offset, length, BOARD_MEMORY_BYTES);
    return mp_obj_new_memoryview('B', (size_t)length, (void *)(BOARD_MEMORY + (uint32_t)offset));
}
static MP_DEFINE_CONST_FUN_OBJ_2(module_memory_obj, module_memory);

uint32_t board_application_first, board_application_bytes;

/* application(): a view of the one that runs, None when it is the resident image's. application(first, size): this one is to
 * be started when the program ends. */
static mp_obj_t module_application(size_t n_args, const mp_obj_t *args)
{
    if (n_args == 2) {
        const mp_int_t first = mp_obj_get_int(args[0]), size = mp_obj_get_int(args[1]);
        check_inside(first, size, BOARD_MEMORY_BYTES);
        board_application_first = (uint32_t)first;
        board_application_bytes = (uint32_t)size;
    }
    if (!board_application_bytes)
        return mp_const_none;
    return mp_obj_new_memoryview('B', board_application_bytes, (void *)(BOARD_MEMORY + board_application_first));
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(module_application_obj, 0, 2, module_application);

/* resident(): a view of the resident image: code, constants and what data begins with. */
static mp_obj_t module_resident(void)
{
    extern const uint8_t _sidata[], _sdata[], _edata[];
    return mp_obj_new_memoryview('B', (size_t)(_sidata + (_edata - _sdata) - (const uint8_t *)0), NULL);
}
static MP_DEFINE_CONST_FUN_OBJ_0(module_resident_obj, module_resident);

static mp_obj_t module_ticks_ms(void)
{
    return MP_OBJ_NEW_SMALL_INT((BOARD_FIRST_TICK_MS + board_uptime_ms()) % BOARD_TICKS_PERIOD);
}
static MP_DEFINE_CONST_FUN_OBJ_0(module_ticks_ms_obj, module_ticks_ms);

static mp_obj_t module_ticks_us(void)
{
    return MP_OBJ_NEW_SMALL_INT(board_uptime_us() % BOARD_TICKS_PERIOD);
}
static MP_DEFINE_CONST_FUN_OBJ_0(module_ticks_us_obj, module_ticks_us);

/* watchdog(ms): starts it. */
static mp_obj_t module_watchdog(mp_obj_t ms_in)
{
    const mp_int_t ms = mp_obj_get_int(ms_in);

    if (ms < 2 || ms > 100000)
        mp_raise_ValueError(MP_ERROR_TEXT("watchdog: 2 to 100000 ms"));
    board_watchdog_start((uint32_t)ms);
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(module_watchdog_obj, module_watchdog);

/* feed(): the loop has turned. */
static mp_obj_t module_feed(void)
{
    board_bench_turn();
    board_watchdog_feed();
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_0(module_feed_obj, module_feed);

static mp_obj_t module_reset(void)
{
    board_reset();
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_0(module_reset_obj, module_reset);

static mp_obj_t module_reset_reason(void)
{
    static const qstr_short_t names[] = {
        [BOARD_RESET_POWER] = MP_QSTR_power, [BOARD_RESET_WATCHDOG] = MP_QSTR_watchdog, [BOARD_RESET_SOFT] = MP_QSTR_soft};
    return MP_OBJ_NEW_QSTR(names[board_reset_reason()]);
}
static MP_DEFINE_CONST_FUN_OBJ_0(module_reset_reason_obj, module_reset_reason);

/* stack(): (bytes there are, most that were ever in use). */
static mp_obj_t module_stack(void)
{
    const mp_obj_t items[2] = {MP_OBJ_NEW_SMALL_INT(board_stack_bytes()), MP_OBJ_NEW_SMALL_INT(board_stack_deepest())};
    return mp_obj_new_tuple(2, items);
}
static MP_DEFINE_CONST_FUN_OBJ_0(module_stack_obj, module_stack);

/* i2c_read(address, register, length): bytes, or None when nobody answers. */
static mp_obj_t module_i2c_read(mp_obj_t address, mp_obj_t first, mp_obj_t length_in)
{
    uint8_t data[BOARD_I2C_BYTES];
    const mp_int_t length = mp_obj_get_int(length_in);

    check_inside(0, length, BOARD_I2C_BYTES);
    if (!board_i2c_read((uint8_t)mp_obj_get_int(address), (uint8_t)mp_obj_get_int(first), data, (size_t)length))
        return mp_const_none;
    return mp_obj_new_bytes(data, (size_t)length);
}
static MP_DEFINE_CONST_FUN_OBJ_3(module_i2c_read_obj, module_i2c_read);

/* i2c_write(address, register, data): True when all of it was acknowledged. */
static mp_obj_t module_i2c_write(mp_obj_t address, mp_obj_t first, mp_obj_t data)
{
    mp_buffer_info_t info;

    mp_get_buffer_raise(data, &info, MP_BUFFER_READ);
    check_inside(0, (mp_int_t)info.len, BOARD_I2C_BYTES);
    return mp_obj_new_bool(
        board_i2c_write((uint8_t)mp_obj_get_int(address), (uint8_t)mp_obj_get_int(first), info.buf, info.len));
}
static MP_DEFINE_CONST_FUN_OBJ_3(module_i2c_write_obj, module_i2c_write);

/* held_ms(): how long the bench has made the board's clock stand still, while the emulator's went on. */
static mp_obj_t module_held_ms(void)
{
    return mp_obj_new_int_from_uint(BOARD_BENCH->held_ms);
}
static MP_DEFINE_CONST_FUN_OBJ_0(module_held_ms_obj, module_held_ms);

/* clock_ahead([seconds]): what the bench keeps about the battery-backed clock; see cabinet_board.h. */
static mp_obj_t module_clock_ahead(size_t n_args, const mp_obj_t *args)
{
    if (n_args)
        BOARD_BENCH->clock_ahead_s = (int32_t)mp_obj_get_int_truncated(args[0]);
    return mp_obj_new_int(BOARD_BENCH->clock_ahead_s);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(module_clock_ahead_obj, 0, 1, module_clock_ahead);

static const mp_rom_map_elem_t module_globals_table[] = {
    {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR_cabinet_board)},
    {MP_ROM_QSTR(MP_QSTR_Uart), MP_ROM_PTR(&uart_type)},
    {MP_ROM_QSTR(MP_QSTR_Nvram), MP_ROM_PTR(&nvram_type)},
    {MP_ROM_QSTR(MP_QSTR_memory), MP_ROM_PTR(&module_memory_obj)},
    {MP_ROM_QSTR(MP_QSTR_application), MP_ROM_PTR(&module_application_obj)},
    {MP_ROM_QSTR(MP_QSTR_resident), MP_ROM_PTR(&module_resident_obj)},
    {MP_ROM_QSTR(MP_QSTR_ticks_ms), MP_ROM_PTR(&module_ticks_ms_obj)},
    {MP_ROM_QSTR(MP_QSTR_ticks_us), MP_ROM_PTR(&module_ticks_us_obj)},
    {MP_ROM_QSTR(MP_QSTR_watchdog), MP_ROM_PTR(&module_watchdog_obj)},
    {MP_ROM_QSTR(MP_QSTR_feed), MP_ROM_PTR(&module_feed_obj)},
    {MP_ROM_QSTR(MP_QSTR_reset), MP_ROM_PTR(&module_reset_obj)},
    {MP_ROM_QSTR(MP_QSTR_reset_reason), MP_ROM_PTR(&module_reset_reason_obj)},
    {MP_ROM_QSTR(MP_QSTR_stack), MP_ROM_PTR(&module_stack_obj)},
    {MP_ROM_QSTR(MP_QSTR_i2c_read), MP_ROM_PTR(&module_i2c_read_obj)},
    {MP_ROM_QSTR(MP_QSTR_i2c_write), MP_ROM_PTR(&module_i2c_write_obj)},
    {MP_ROM_QSTR(MP_QSTR_held_ms), MP_ROM_PTR(&module_held_ms_obj)},
    {MP_ROM_QSTR(MP_QSTR_clock_ahead), MP_ROM_PTR(&module_clock_ahead_obj)},
};
static MP_DEFINE_CONST_DICT(module_globals, module_globals_table);

const mp_obj_module_t cabinet_board_module = {
    .base = {&mp_type_module},
    .globals = (mp_obj_dict_t *)&module_globals,
};
MP_REGISTER_MODULE(MP_QSTR_cabinet_board, cabinet_board_module);

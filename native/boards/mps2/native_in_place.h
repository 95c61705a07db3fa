/* native_in_place.h - machine code of an .mpy file that lies in memory which code can run from.
 *
 * MicroPython 1.25 reads bytecode and strings of a ROMFS in place, and copies machine code to the heap. Code of a Python function
 * (not viper, not assembler) needs no relocation: it finds everything through its module's tables. So it may stay where it
 * is, if the processor can read its constants there: Thumb loads them relative to the word. The image builder sees to that
 * (host_tools/flash/mpy.py); code that begins elsewhere is copied as ever.
 *
 * Included into py/persistentcode.c, whose types and functions this uses.
 */

#define CABINET_CODE_ALIGNMENT 4u

static uint8_t *cabinet_native_code(mp_reader_t *reader, int kind, size_t length)
{
    const uint8_t *there = mp_reader_try_read_rom(reader, length);
    uint8_t *copy;
    size_t room;

    if (there != NULL && kind == MP_CODE_NATIVE_PY && (uintptr_t)there % CABINET_CODE_ALIGNMENT == 0)
        return (uint8_t *)there;
    MP_PLAT_ALLOC_EXEC(length, (void **)&copy, &room);
    if (there != NULL)
        memcpy(copy, there, length);
    else
        read_bytes(reader, copy, length);
    return copy;
}

/* cabinet_mpconfig.h - MicroPython's configuration on the emulated cabinet board: the port's, with a clock and without
 * what would reach past our driver. */
#include "ports/qemu/mpconfigport.h"

#undef MICROPY_PY_TIME
#define MICROPY_PY_TIME (1)

/* The interpreter is what the loop's time goes into. */
#define MICROPY_OPT_COMPUTED_GOTO (1)
#define MICROPY_OPT_MAP_LOOKUP_CACHE_SIZE (1024)

/* A collection that runs out of this stack looks through the whole heap again, which takes as long as a turn may. */
#define MICROPY_ALLOC_GC_STACK_SIZE (1024)
#define MICROPY_GC_STACK_ENTRY_TYPE uint16_t
#define MICROPY_BYTES_PER_GC_BLOCK (32)

/* Its reset() would end the emulator, and mem8 ... write anywhere. */
#undef MICROPY_PY_MACHINE
#define MICROPY_PY_MACHINE (0)

/* Between two checks of the stack a C function, and an interrupt on top of it, stay below this. */
#define MICROPY_STACK_CHECK_MARGIN (2048)

/* main.c - from the first line of C to the cabinet's loop.
 *
 * A provisioned board runs the loader. It ends when it has chosen the application of a slot, and then that is started in an
 * interpreter of its own, with a heap in which nothing of the loader is left. Otherwise it runs the resident cabinet and does
 * not end. A board that is not provisioned offers MicroPython's REPL on UART 0, for tests and for a look inside. The cabinet's
 * program never returns; if it ends all the same, with an exception, the watchdog starts the board anew.
 */

#include "cabinet_board.h"

#include "py/builtin.h"
#include "py/compile.h"
#include "py/cstack.h"
#include "py/gc.h"
#include "py/mphal.h"
#include "py/runtime.h"
#include "shared/runtime/gchelper.h"
#include "shared/runtime/pyexec.h"
#include "shared/runtime/semihosting_arm.h"

static const char loader[] = "from firmware.update.loader import run\n"
                             "from hal.boards.mps2 import Mps2Board\n"
                             "run(Mps2Board())\n";
/* An application's modules leave garbage between what stays; collected only when the heap is full, they would lie all over it, and
 * no room be left in one piece. firmware/main.py ends that before its loop. */
static const char application[] = "import cabinet_board, gc, sys, vfs\n"
                                  "gc.threshold(32768)\n"
                                  "vfs.mount(vfs.VfsRom(cabinet_board.application()), '/rom')\n"
                                  "sys.path[:] = ['/rom']\n"
                                  "from firmware.main import run\n"
                                  "from hal.boards.mps2 import Mps2Board\n"
                                  "run(Mps2Board())\n";

static uint8_t heap[MICROPY_HEAP_SIZE] __attribute__((aligned(16)));

void exit(int status); /* some of MicroPython's shared code wants one */
int main(void);

static void run(const char *program, size_t length)
{
    vstr_t source;

    vstr_init_fixed_buf(&source, length, (char *)program);
    source.len = length;
    pyexec_vstr(&source, false);
}

static void start_interpreter(void)
{
    gc_init(heap, heap + sizeof heap);
    mp_init();
}

int main(void)
{
    board_reset_init();
    board_stack_paint();
    board_clock_init();
    board_i2c_init();
    board_uart_init(); /* from here on bytes are kept, however long Python takes to ask for them */
    mp_semihosting_init();
    mp_cstack_init_with_top(board_stack_top(), board_stack_bytes());
    start_interpreter();

    if (BOARD_BENCH->provisioned == BOARD_PROVISIONED) {
        run(loader, sizeof loader - 1);
        if (board_application_bytes) {
            gc_sweep_all();
            mp_deinit();
            start_interpreter();
            run(application, sizeof application - 1);
        }
        board_wait_for_watchdog();
    }
    board_stdio_on_uart();
    for (;;)
        if ((pyexec_mode_kind == PYEXEC_MODE_RAW_REPL ? pyexec_raw_repl() : pyexec_friendly_repl()) != 0)
            board_reset();
}

void gc_collect(void)
{
    gc_collect_start();
    gc_helper_collect_regs_and_stack();
    gc_collect_end();
}

void nlr_jump_fail(void *value)
{
    (void)value;
    mp_printf(&mp_plat_print, "an exception that nothing catches\n");
    board_wait_for_watchdog();
}

void exit(int status)
{
    (void)status;
    board_wait_for_watchdog();
}

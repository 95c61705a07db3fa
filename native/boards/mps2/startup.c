/* startup.c - vector table, the first instructions after a reset, and what happens on a fault. */

#include "cabinet_board.h"

#include "py/mphal.h"
#include "py/mpprint.h"

extern uint32_t _sstack[], _estack[], _sidata[], _sdata[], _edata[], _sbss[], _ebss[];
int main(void);

/* -------------------------------------------------------------------------------------------------------- safe state */

/* All that this board could drive itself: the debug LEDs. Its 64 pins are inputs after reset, and what moves money hangs
 * behind UARTs, whose transmitters rest high until the first frame. */
#define FPGAIO_LEDS BOARD_REGISTER(0x40028000u)

static void outputs_safe(void)
{
    FPGAIO_LEDS = 0;
}

/* -------------------------------------------------------------------------------------------------------------- stack */

#define PAINT 0x57ACC57Au

void board_stack_paint(void)
{
    uint32_t *here = __builtin_frame_address(0);

    for (uint32_t *word = _sstack; word < here - 16; word++)
        *word = PAINT;
}

size_t board_stack_bytes(void)
{
    return (size_t)((uint8_t *)_estack - (uint8_t *)_sstack);
}

size_t board_stack_deepest(void)
{
    const uint32_t *word = _sstack;

    while (word < _estack && *word == PAINT)
        word++;
    return (size_t)((const uint8_t *)_estack - (const uint8_t *)word);
}

void *board_stack_top(void)
{
    return _estack;
}

/* ------------------------------------------------------------------------------------------------------------- vectors */

__attribute__((noreturn)) void Reset_Handler(void)
{
    outputs_safe();
    for (uint32_t *from = _sidata, *to = _sdata; to < _edata;)
        *to++ = *from++;
    for (uint32_t *to = _sbss; to < _ebss;)
        *to++ = 0;
    main();
    board_wait_for_watchdog();
}

/* The watchdog's first period is over and nobody fed it. Nothing of this program runs any more; with the second it resets. */
static void nmi(void)
{
    outputs_safe();
    for (;;)
        ;
}

/* frame: r0-r3, r12, lr, pc, psr as the processor pushed them. */
__attribute__((used, noreturn)) static void report_fault(const uint32_t *frame, uint32_t exception)
{
    outputs_safe();
    mp_printf(&mp_plat_print, "fault %u at pc %08x lr %08x psr %08x r0 %08x cfsr %08x address %08x\n", exception, frame[6],
              frame[5], frame[7], frame[0], BOARD_REGISTER(0xE000ED28u), BOARD_REGISTER(0xE000ED38u));
    board_wait_for_watchdog();
}

/* On a stack of its own: the usual one may be what has overflowed. */
#define FAULT_STACK_BYTES 1024
__attribute__((used, aligned(8))) static uint8_t fault_stack[FAULT_STACK_BYTES];

#define TEXT(macro) TEXT_OF(macro)
#define TEXT_OF(text) #text

__attribute__((naked)) static void fault(void)
{
    __asm volatile("mov r0, sp\n\t"
                   "mrs r1, ipsr\n\t"
                   "ldr r2, =fault_stack + " TEXT(FAULT_STACK_BYTES) "\n\t"
                   "mov sp, r2\n\t"
                   "b report_fault");
}

void board_uart0_rx(void), board_uart0_tx(void), board_uart1_rx(void), board_uart1_tx(void), board_uart2_rx(void);
void board_uart2_tx(void), board_uart3_rx(void), board_uart3_tx(void), board_uart4_rx(void), board_uart4_tx(void);

typedef void (*vector_t)(void);

/* Numbers of the interrupts are those of the chip; where there is none of ours, one is a fault. */
__attribute__((used, section(".cabinet_vectors"))) static const vector_t vectors[16 + 32] = {
    [0] = (vector_t)(uintptr_t)_estack,
    [1] = Reset_Handler,
    [2] = nmi,
    [3 ... 14] = fault,
    [15] = board_clock_interrupt,
    [16] = board_uart0_rx,
    [17] = board_uart0_tx,
    [18] = board_uart1_rx,
    [19] = board_uart1_tx,
    [20] = board_uart2_rx,
    [21] = board_uart2_tx,
    [22 ... 33] = fault,
    [34] = board_uart3_rx,
    [35] = board_uart3_tx,
    [36] = board_uart4_rx,
    [37] = board_uart4_tx,
    [38 ... 47] = fault,
};

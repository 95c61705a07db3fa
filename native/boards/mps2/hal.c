/* hal.c - what MicroPython itself wants of a board: its standard input and output, and time.
 *
 * While the cabinet runs, UART 0 is the technicians' console and print(), tracebacks and faults go to the debugger
 * (semihosting: the emulator's standard output). In the REPL both are UART 0.
 */

#include "cabinet_board.h"

#include "py/mphal.h"
#include "shared/runtime/semihosting_arm.h"

static bool on_uart;

void board_stdio_on_uart(void)
{
    on_uart = true;
    board_uart_hold(0);
}

int mp_hal_stdin_rx_chr(void)
{
    uint8_t byte = 4; /* end of file: nobody types at a debugger */

    if (!on_uart)
        return byte;
    while (!board_uart_arrived(0))
        board_wait();
    board_uart_take(0, &byte, 1);
    return byte;
}

mp_uint_t mp_hal_stdout_tx_strn(const char *text, size_t length)
{
    if (!on_uart) {
        mp_semihosting_tx_strn(text, length);
        return length;
    }
    for (size_t sent = 0; sent < length;) {
        const size_t piece = length - sent < BOARD_TX_BYTES ? length - sent : BOARD_TX_BYTES;
        while (!board_uart_send(0, (const uint8_t *)text + sent, piece))
            board_wait();
        sent += piece;
    }
    return length;
}

uintptr_t mp_hal_stdio_poll(uintptr_t poll_flags)
{
    (void)poll_flags;
    return 0;
}

mp_uint_t mp_hal_ticks_ms(void)
{
    return BOARD_FIRST_TICK_MS + board_uptime_ms();
}

mp_uint_t mp_hal_ticks_us(void)
{
    return board_uptime_us();
}

mp_uint_t mp_hal_ticks_cpu(void)
{
    return board_cycles();
}

void mp_hal_delay_us(mp_uint_t us)
{
    const uint32_t began = board_uptime_us();

    while (board_uptime_us() - began < us)
        ;
}

void mp_hal_delay_ms(mp_uint_t ms)
{
    const uint32_t began = board_uptime_ms();

    while (board_uptime_ms() - began < ms)
        board_wait();
}

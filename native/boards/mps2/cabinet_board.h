/* cabinet_board.h - what the emulated cabinet board (QEMU mps2-an385, Cortex-M3 at 25 MHz) gives to its Python module.
 *
 * startup.c   vectors, first instructions, faults        clock.c     milliseconds and microseconds
 * uart.c      five interrupt-driven UARTs                watchdog.c  watchdog, reset, reset reason
 * nvram.c     battery-backed memory                      hal.c       where print() goes
 * main.c      heap, cabinet or REPL                      module.c    all of it as the module cabinet_board
 * i2c.c       the bus of the battery-backed clock        bench.c     what the bench around the board sees and sets
 *
 * Interrupt handlers allocate nothing, call nothing of MicroPython and touch only the static memory of their own file.
 */
#ifndef CABINET_BOARD_H
#define CABINET_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_CLOCK_HZ 25000000u

#define BOARD_REGISTER(address) (*(volatile uint32_t *)(address))

/* Off and on again around a few instructions that an interrupt must not see half done. Never as long as the time of a byte
 * (87 us at 115200 baud): the UARTs hold a single one. */
static inline uint32_t board_irq_off(void)
{
    uint32_t state;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(state) : : "memory");
    return state;
}

static inline void board_irq_restore(uint32_t state)
{
    __asm volatile("msr primask, %0" : : "r"(state) : "memory");
}

/* Sleeps until the next interrupt, a millisecond at most. */
static inline void board_wait(void)
{
    __asm volatile("wfi" : : : "memory");
}

/* --------------------------------------------------------------------------------------------------------- startup */

void board_stack_paint(void);
size_t board_stack_bytes(void);
size_t board_stack_deepest(void); /* bytes that were ever in use since board_stack_paint() */
void *board_stack_top(void);

/* ----------------------------------------------------------------------------------------------------------- clock */

#define BOARD_TICKS_PERIOD (1u << 30)
/* ticks_ms() at power-up: half a minute before it wraps, so that every session that lasts sees a wrap. */
#define BOARD_FIRST_TICK_MS (BOARD_TICKS_PERIOD - 30000u)

void board_clock_init(void);
uint32_t board_uptime_ms(void);
uint32_t board_uptime_us(void);
void board_clock_hold(bool held); /* while it is held no time passes */
bool board_clock_held(void);
uint32_t board_cycles(void);
void board_clock_interrupt(void);

/* ----------------------------------------------------------------------------------------------------------- UARTs */

enum { BOARD_UARTS = 5, BOARD_RX_BYTES = 1024, BOARD_TX_BYTES = 256 };

void board_uart_init(void);
size_t board_uart_arrived(unsigned number);
void board_uart_take(unsigned number, uint8_t *data, size_t length); /* length <= arrived */
bool board_uart_send(unsigned number, const uint8_t *data, size_t length); /* all or nothing */
uint32_t board_uart_overruns(unsigned number);
uint32_t board_uart_fullest(unsigned number); /* most bytes that ever waited in the receive ring */
/* A full receive ring leaves the next byte in the UART instead of dropping it: for the REPL, whose sender waits. */
void board_uart_hold(unsigned number);

/* ----------------------------------------------------------------------------------------------- watchdog and reset */

typedef enum { BOARD_RESET_POWER, BOARD_RESET_WATCHDOG, BOARD_RESET_SOFT } board_reset_t;

void board_reset_init(void); /* once, before anything that can reset */
board_reset_t board_reset_reason(void);
void board_watchdog_start(uint32_t ms); /* 2 ... 100000; from then on it can only be fed */
void board_watchdog_feed(void);
void board_watchdog_held(void); /* again and again while the board's clock is held */
__attribute__((noreturn)) void board_reset(void);
__attribute__((noreturn)) void board_wait_for_watchdog(void);

/* ------------------------------------------------------------------------------------------- battery-backed memory */

#define BOARD_MEMORY 0x21000000u
#define BOARD_MEMORY_BYTES (16u << 20)
#define BOARD_NVRAM_BYTES 65536u
#define BOARD_BENCH_OFFSET BOARD_NVRAM_BYTES

/* Anywhere in the battery-backed memory; the NVRAM is at its beginning. Bytes land one by one, in ascending order. */
void board_nvram_read(uint32_t offset, uint8_t *data, size_t length);
void board_nvram_write(uint32_t offset, const uint8_t *data, size_t length);
bool board_nvram_holds(uint32_t offset, const uint8_t *data, size_t length);
bool board_nvram_same(uint32_t first, uint32_t second, size_t length);

/* The application that the loader has chosen, in the battery-backed memory; 0 bytes: none. */
extern uint32_t board_application_first, board_application_bytes;

/* ------------------------------------------------------------------------------------------------------------- I2C */

enum { BOARD_I2C_BYTES = 16 }; /* of one transfer: under 2 ms */

void board_i2c_init(void);
/* Registers of a slave from `first` on, length <= BOARD_I2C_BYTES. False: it did not answer. */
bool board_i2c_read(uint8_t address, uint8_t first, uint8_t *data, size_t length);
bool board_i2c_write(uint8_t address, uint8_t first, const uint8_t *data, size_t length);

/* ----------------------------------------------------------------------------------------------------------- bench */

enum { BOARD_TURN_BUCKETS = 256, BOARD_TURN_BUCKET_US = 250 };

/* Behind the NVRAM: what the bench around the board may see and set. host_tools/boards/mps2_session.py has the same. */
typedef struct {
    uint32_t provisioned; /* BOARD_PROVISIONED: start the cabinet; anything else: REPL on UART 0 */
    uint32_t uptime_ms;   /* since reset, stored every millisecond */
    uint32_t resets;      /* since the memory was made */
    uint32_t written;     /* bytes that landed in NVRAM since the memory was made */
    uint32_t cut_after;   /* bytes that still land before the power fails; 0: it does not */
    uint32_t cut;         /* 1: it has failed, the board waits to be switched off */
    uint32_t first_turn_us; /* when the loop first turned */
    uint32_t worst_turn_us; /* longest time from one turn to the next, until the bench sets it to 0 */
    uint32_t turns[BOARD_TURN_BUCKETS]; /* turns by length, the last of this and more; the bench may clear them */
    uint32_t sent[BOARD_UARTS];  /* bytes that the bench has sent to a UART since it switched the board on */
    uint32_t taken[BOARD_UARTS]; /* and those that its interrupt has taken */
    uint32_t may_live_ms; /* the board waits when its uptime has come so far; 0: it does not wait */
    uint32_t held_ms;     /* how long its clock stood still for the bench since it was switched on */
    int32_t clock_ahead_s; /* how far the program has set the battery-backed clock ahead since then */
} board_bench_t;

#define BOARD_PROVISIONED 0x42414331u

#define BOARD_BENCH ((volatile board_bench_t *)(BOARD_MEMORY + BOARD_BENCH_OFFSET))

void board_bench_millisecond(void); /* a millisecond is over: waits while the bench has not come so far */
void board_bench_turn(void); /* the loop turns: counts how long that took, and waits for bytes that the emulator still holds */

/* ----------------------------------------------------------------------------------------------------------- output */

void board_stdio_on_uart(void);

#endif

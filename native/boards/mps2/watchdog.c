/* watchdog.c - CMSDK watchdog, reset on purpose, and why the last reset happened.
 *
 * The watchdog counts down twice: at the first zero it interrupts (NMI, startup.c: nothing runs any more), at the second
 * it resets the machine. The chip has no register for the reason of a reset, so it is noted in RAM beforehand: once the
 * watchdog runs, any reset that nobody announced is the watchdog's. RAM holds noise at power-up, therefore two words that
 * must match.
 */

#include "cabinet_board.h"

#define WATCHDOG_LOAD BOARD_REGISTER(0x40008000u)
#define WATCHDOG_CTRL BOARD_REGISTER(0x40008008u)
#define WATCHDOG_CLEAR BOARD_REGISTER(0x4000800Cu)
#define WATCHDOG_LOCK BOARD_REGISTER(0x40008C00u)
#define WATCHDOG_KEY 0x1ACCE551u
#define WATCHDOG_INTERRUPT 1u
#define WATCHDOG_RESET 2u

#define PROCESSOR_RESET BOARD_REGISTER(0xE000ED0Cu)
#define PROCESSOR_RESET_REQUEST 0x05FA0004u

#define NOTE_KEY 0x5EA50000u

static struct {
    uint32_t note, inverse;
} expected __attribute__((section(".noinit")));

static board_reset_t reason;
static bool running;
static uint32_t patience_ms, fed_ms; /* in which the program has to feed it; when it last did, by the board's clock */

static void expect(board_reset_t next)
{
    expected.note = NOTE_KEY + next;
    expected.inverse = ~expected.note;
}

void board_reset_init(void)
{
    reason = BOARD_RESET_POWER;
    if (expected.inverse == ~expected.note) {
        if (expected.note == NOTE_KEY + BOARD_RESET_WATCHDOG)
            reason = BOARD_RESET_WATCHDOG;
        if (expected.note == NOTE_KEY + BOARD_RESET_SOFT)
            reason = BOARD_RESET_SOFT;
    }
    expect(BOARD_RESET_POWER);
    BOARD_BENCH->uptime_ms = 0; /* first: who sees the reset must not see the uptime of before */
    BOARD_BENCH->resets++;
}

board_reset_t board_reset_reason(void)
{
    return reason;
}

void board_watchdog_start(uint32_t ms)
{
    if (running) {
        board_watchdog_feed();
        return;
    }
    running = true;
    patience_ms = ms / 2;
    fed_ms = board_uptime_ms();
    expect(BOARD_RESET_WATCHDOG);
    WATCHDOG_LOCK = WATCHDOG_KEY;
    WATCHDOG_LOAD = BOARD_CLOCK_HZ / 1000u * patience_ms;
    WATCHDOG_CTRL = WATCHDOG_INTERRUPT | WATCHDOG_RESET;
    WATCHDOG_LOCK = 0;
}

static void clear(void)
{
    const uint32_t state = board_irq_off();

    WATCHDOG_LOCK = WATCHDOG_KEY; /* locked in between, so that no stray write feeds or stops it */
    WATCHDOG_CLEAR = 1;
    WATCHDOG_LOCK = 0;
    board_irq_restore(state);
}

void board_watchdog_feed(void)
{
    if (!running)
        return;
    fed_ms = board_uptime_ms();
    clear();
}

/* It counts on while the board's clock is held, and must not run out for a program that feeds it in its own time. */
void board_watchdog_held(void)
{
    if (running && board_uptime_ms() - fed_ms < patience_ms)
        clear();
}

void board_reset(void)
{
    board_irq_off();
    expect(BOARD_RESET_SOFT);
    __asm volatile("dsb" : : : "memory");
    PROCESSOR_RESET = PROCESSOR_RESET_REQUEST;
    for (;;)
        ;
}

void board_wait_for_watchdog(void)
{
    board_irq_off();
    board_watchdog_start(1000);
    for (;;)
        ;
}

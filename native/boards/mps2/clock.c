/* clock.c - time since reset, from CMSDK timer 0 running freely at the processor's clock.
 *
 * Time is what the counter has gone on since it was last looked at, so no interrupt has to come in time for it to be right:
 * a stretch without interrupts costs nothing. The counter turns over after 171 s; the millisecond interrupt looks at it
 * more often than that even if nobody asks for the time.
 */

#include "cabinet_board.h"

#define TIMER_CTRL BOARD_REGISTER(0x40000000u)
#define TIMER_VALUE BOARD_REGISTER(0x40000004u)
#define TIMER_RELOAD BOARD_REGISTER(0x40000008u)
#define TIMER_ENABLE 1u

#define SYSTICK_CTRL BOARD_REGISTER(0xE000E010u)
#define SYSTICK_RELOAD BOARD_REGISTER(0xE000E014u)
#define SYSTICK_VALUE BOARD_REGISTER(0xE000E018u)
#define SYSTICK_ENABLE 1u
#define SYSTICK_INTERRUPT 2u
#define SYSTICK_PROCESSOR_CLOCK 4u

#define CYCLES_PER_US (BOARD_CLOCK_HZ / 1000000u)
#define CYCLES_PER_MS (BOARD_CLOCK_HZ / 1000u)

static struct {
    uint32_t seen; /* the counter when it was last looked at */
    uint32_t ms, ms_cycles; /* whole milliseconds, and cycles of the one that has begun */
    uint32_t us, us_cycles;
    uint32_t held_cycles;
    bool held;
} now;

void board_clock_init(void)
{
    TIMER_RELOAD = UINT32_MAX;
    TIMER_VALUE = UINT32_MAX;
    TIMER_CTRL = TIMER_ENABLE;
    now.seen = TIMER_VALUE;
    SYSTICK_RELOAD = CYCLES_PER_MS - 1;
    SYSTICK_VALUE = 0;
    SYSTICK_CTRL = SYSTICK_ENABLE | SYSTICK_INTERRUPT | SYSTICK_PROCESSOR_CLOCK;
}

/* Interrupts are off. */
static void look(void)
{
    const uint32_t value = TIMER_VALUE, passed = now.seen - value; /* it counts down */

    now.seen = value;
    if (now.held) {
        now.held_cycles += passed;
        BOARD_BENCH->held_ms += now.held_cycles / CYCLES_PER_MS;
        now.held_cycles %= CYCLES_PER_MS;
        return;
    }
    now.ms_cycles += passed;
    now.ms += now.ms_cycles / CYCLES_PER_MS;
    now.ms_cycles %= CYCLES_PER_MS;
    now.us_cycles += passed;
    now.us += now.us_cycles / CYCLES_PER_US;
    now.us_cycles %= CYCLES_PER_US;
}

uint32_t board_uptime_ms(void)
{
    const uint32_t state = board_irq_off();
    look();
    const uint32_t ms = now.ms;
    board_irq_restore(state);
    return ms;
}

uint32_t board_uptime_us(void)
{
    const uint32_t state = board_irq_off();
    look();
    const uint32_t us = now.us;
    board_irq_restore(state);
    return us;
}

void board_clock_hold(bool held)
{
    const uint32_t state = board_irq_off();
    look();
    now.held = held;
    board_irq_restore(state);
}

bool board_clock_held(void)
{
    return now.held;
}

uint32_t board_cycles(void)
{
    return ~TIMER_VALUE;
}

void board_clock_interrupt(void)
{
    BOARD_BENCH->uptime_ms = board_uptime_ms();
    board_bench_millisecond();
}

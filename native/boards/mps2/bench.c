/* bench.c - how long the turns of the loop are, for whoever looks at the shared memory. A turn costs it some 30
 * instructions; the firmware takes no part in it and so is the same with and without a bench.
 *
 * An emulator that runs as fast as it can executes milliseconds of program while its own thread hands over one byte. So
 * between two turns the board waits for bytes that were sent and have not come out of a UART yet. It looks at the clock
 * meanwhile, which the emulator does slowly, so hardly any time of the board passes. Where nobody sets `sent` it never waits.
 */

#include "cabinet_board.h"

#define LONGEST_WAIT_US 5000u

static bool on_its_way(void)
{
    for (unsigned number = 0; number < BOARD_UARTS; number++)
        if ((int32_t)(BOARD_BENCH->sent[number] - BOARD_BENCH->taken[number]) > 0)
            return true;
    return false;
}

static void count(uint32_t turn_us)
{
    const uint32_t bucket = turn_us / BOARD_TURN_BUCKET_US;

    BOARD_BENCH->turns[bucket < BOARD_TURN_BUCKETS ? bucket : BOARD_TURN_BUCKETS - 1]++;
    if (turn_us > BOARD_BENCH->worst_turn_us)
        BOARD_BENCH->worst_turn_us = turn_us;
}

void board_bench_turn(void)
{
    static uint32_t last_us;
    const uint32_t now_us = board_uptime_us();

    if (last_us)
        count(now_us - last_us);
    else
        BOARD_BENCH->first_turn_us = now_us;
    while (on_its_way() && board_uptime_us() - now_us < LONGEST_WAIT_US)
        ;
    last_us = board_uptime_us();
}

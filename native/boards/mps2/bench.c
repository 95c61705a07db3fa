/* bench.c - how long the turns of the loop are, for whoever looks at the shared memory. A turn costs it some 30
 * instructions; the firmware takes no part in it and so is the same with and without a bench.
 *
 * An emulator that runs as fast as it can executes milliseconds of program while its own thread hands over one byte, or
 * while the bench does not get a turn of the computer's. So in each millisecond the board waits until the bench has come as
 * far as it, and between two turns for bytes that were sent and have not come out of a UART yet. Its clock stands still
 * meanwhile. Where nobody sets `sent` and `may_live_ms` it never waits.
 */

#include "cabinet_board.h"

#define LONGEST_WAIT_CYCLES (BOARD_CLOCK_HZ / 25u) /* for the next byte */

static bool ahead(void)
{
    const uint32_t may_live_ms = BOARD_BENCH->may_live_ms;

    return may_live_ms && BOARD_BENCH->uptime_ms >= may_live_ms;
}

/* A long turn would go on for milliseconds, and what it sends would come to the bench before its time: a pulse of a meter
 * 20 ms early is one that came within the off time of the one before. */
void board_bench_millisecond(void)
{
    if (board_clock_held() || !ahead())
        return;
    board_clock_hold(true);
    while (ahead())
        board_watchdog_held();
    board_clock_hold(false);
}

/* How many bytes have not come out of a UART yet. */
static uint32_t bytes_on_their_way(void)
{
    uint32_t bytes = 0;

    for (unsigned number = 0; number < BOARD_UARTS; number++) {
        const int32_t late = (int32_t)(BOARD_BENCH->sent[number] - BOARD_BENCH->taken[number]);
        bytes += late > 0 ? (uint32_t)late : 0u;
    }
    return bytes;
}

/* Some hundred bytes are sent in one turn at 115200 baud, and the emulator hands them over one by one: as long as they come
 * it is waited for the rest. Bytes that a reset has swallowed never come. */
static void wait_for_bench(void)
{
    uint32_t began = board_cycles();
    uint32_t left = bytes_on_their_way();

    board_clock_hold(true);
    while (ahead() || (left && board_cycles() - began < LONGEST_WAIT_CYCLES)) {
        board_watchdog_feed();
        if (left)
            board_wait(); /* leaves the computer to the emulator's thread that hands bytes over */
        const uint32_t now = bytes_on_their_way();
        if (now != left) {
            left = now;
            began = board_cycles();
        }
    }
    board_clock_hold(false);
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
    wait_for_bench();
    last_us = board_uptime_us();
}

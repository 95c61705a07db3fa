/* bench.c - how long the turns of the loop are, for whoever looks at the shared memory. A turn costs it some 30
 * instructions; the firmware takes no part in it and so is the same with and without a bench. */

#include "cabinet_board.h"

void board_bench_turn(void)
{
    static uint32_t last_us;
    const uint32_t now_us = board_uptime_us(), turn_us = now_us - last_us;
    const bool first = last_us == 0;

    last_us = now_us;
    if (first) {
        BOARD_BENCH->first_turn_us = now_us;
        return;
    }
    const uint32_t bucket = turn_us / BOARD_TURN_BUCKET_US;
    BOARD_BENCH->turns[bucket < BOARD_TURN_BUCKETS ? bucket : BOARD_TURN_BUCKETS - 1]++;
    if (turn_us > BOARD_BENCH->worst_turn_us)
        BOARD_BENCH->worst_turn_us = turn_us;
}

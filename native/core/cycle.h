/* cycle.h - what the parts of an enumeration share. Private to core/. */
#ifndef CAB_CYCLE_H
#define CAB_CYCLE_H

#include "cab_host.h"

typedef struct {
    const cab_pack_t *pack;
    cab_cycle_work_t *work;
    cab_cycle_t *sum;
    cab_strip_t strip[CAB_MAX_REELS];
    uint32_t hopeful[CAB_MAX_REELS + 1]; /* symbols that pay for so many reels or more */
    uint32_t cost;
    uint32_t wild_multiplier;            /* of ways under the rule "highest"; 1 under the others */
} cab_scan_t;

/* The scatters that a stop shows, one byte each; fills in its cells too. */
uint64_t cab_column_profile(const cab_scan_t *scan, unsigned reel, unsigned stop, uint8_t *cells);

/* Nothing is open after `depth` reels: counts all windows that go on from here, each `alike` times. */
void cab_settle(cab_scan_t *scan, unsigned depth, uint32_t credits, uint64_t profile, uint64_t alike);

/* Enumerates stops first ... last-1 of reel 1. */
void cab_scan_lines(cab_scan_t *scan, uint32_t first, uint32_t last, unsigned lines);
void cab_scan_ways(cab_scan_t *scan, uint32_t first, uint32_t last);

#endif

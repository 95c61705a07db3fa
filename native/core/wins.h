/* wins.h - looking up what a window wins. Private to core/. */
#ifndef CAB_WINS_H
#define CAB_WINS_H

#include "cab_host.h"

/* The symbols that count for a scatter: itself, and wilds that substitute for it. */
uint32_t cab_counted_as(const cab_pack_t *pack, unsigned scatter);

/* What a prefix with open threads wins at these stops, the one of reel r being stops[r * apart]. */
static inline uint32_t cab_wins_behind(const cab_wins_t *wins, unsigned reels, uint32_t prefix, const uint32_t *stops,
                                       unsigned apart)
{
    const uint16_t *thread = wins->threads + (prefix & ~CAB_WIN_OPEN);
    uint32_t credits = thread[0] | (uint32_t)thread[1] << 16;
    unsigned left = thread[2];

    for (thread += 3; left; left--) {
        uint32_t next = *thread++;
        for (unsigned reel = wins->depth; reel < reels; reel++) {
            next = wins->next[wins->first[reel] + (next & ~CAB_WIN_OPEN) * wins->length[reel] + stops[reel * apart]];
            if (!(next & CAB_WIN_OPEN))
                break;
        }
        credits += next;
    }
    return credits;
}

#endif

/* health_wraps.c - the health tests where their counters end: cutoffs that nothing reaches, and the number of bytes at its top. */
#include "cab_core.h"

#include <stdio.h>

#define DEMAND(condition)                                      \
    do {                                                       \
        if (!(condition)) {                                    \
            printf("line %d: %s\n", __LINE__, #condition);     \
            return 1;                                          \
        }                                                      \
    } while (0)

static uint32_t state = 1;

static uint8_t noise(void)
{
    state = state * 1664525u + 1013904223u;
    return (uint8_t)(state >> 24);
}

int main(void)
{
    const cab_cutoffs_t usual = {9, 61, 71, 10, 2290};
    cab_health_t health;
    uint8_t bytes[4096];

    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = noise();
    DEMAND(cab_health_init(&health, &usual) == CAB_OK);
    for (unsigned length = 0; length < 300; length++) { /* every way to cut a stream */
        cab_health_reset(&health);
        for (size_t at = 0; at + length < sizeof bytes; at += length + 1)
            DEMAND(cab_health_feed(&health, bytes + at, length + 1) == CAB_ALARM_NONE);
    }
    /* 2^32 bytes later: nothing is forgotten, nothing is seen that is not there, and what is there is seen. */
    cab_health_reset(&health);
    DEMAND(cab_health_feed(&health, bytes, 2048) == CAB_ALARM_NONE);
    health.seen = UINT32_MAX - 1023; /* as a multiple of the history as 2048 is */
    DEMAND(cab_health_feed(&health, bytes + 2048, 2048) == CAB_ALARM_NONE);
    DEMAND(health.seen >= CAB_HEALTH_HISTORY && health.seen < 4096);
    DEMAND(cab_health_feed(&health, bytes + 3900, 100) == CAB_ALARM_SEQUENCE);
    cab_health_reset(&health);
    DEMAND(cab_health_feed(&health, (const uint8_t *)"aaaaaaaaa", 9) == CAB_ALARM_REPETITION);
    return 0;
}

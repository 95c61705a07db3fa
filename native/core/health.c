/* health.c - continuous tests of a noise source's bytes: SP 800-90B 4.4.1 and 4.4.2, and three of our own (4.5 allows them). */
#include "cab_core.h"

#include <string.h>

enum {
    PROPORTION_WINDOW = 512, /* SP 800-90B 4.4.2, samples that are not binary */
    BALANCE_BYTES = 64       /* from one look at the balance to the next */
};

cab_error_t cab_health_init(cab_health_t *health, const cab_cutoffs_t *cutoffs)
{
    if (cutoffs->repetition < 2 || cutoffs->lane < 2 || cutoffs->proportion < 2 || cutoffs->sequence < 2 ||
        cutoffs->sequence > CAB_HEALTH_HISTORY / 2 || cutoffs->balance <= CAB_HEALTH_HISTORY * 4 ||
        cutoffs->balance > CAB_HEALTH_HISTORY * 8)
        return CAB_ERR_ARGUMENT;
    health->cutoffs = *cutoffs;
    cab_health_reset(health);
    return CAB_OK;
}

void cab_health_reset(cab_health_t *health)
{
    const cab_cutoffs_t cutoffs = health->cutoffs;

    memset(health, 0, sizeof *health);
    health->cutoffs = cutoffs;
}

static unsigned ones_in(uint8_t byte)
{
    unsigned count = 0;
    for (unsigned rest = byte; rest; rest &= rest - 1)
        count++;
    return count;
}

/* The byte that came `back` bytes before the next one. */
static uint8_t earlier(const cab_health_t *health, uint32_t back)
{
    return health->history[(health->seen - back) % CAB_HEALTH_HISTORY];
}

/* Do the bytes that end at `place` of the history equal the newest ones, which end at `end`? */
static bool ends_alike(const cab_health_t *health, uint32_t end, uint32_t place)
{
    const uint32_t length = health->cutoffs.sequence;
    const uint32_t held = health->seen < CAB_HEALTH_HISTORY ? health->seen : CAB_HEALTH_HISTORY;
    const uint32_t distance = (end - place) % CAB_HEALTH_HISTORY;
    uint32_t same = 0;

    if (!distance || distance + length > held)
        return false;
    while (same < length && health->history[(end - same) % CAB_HEALTH_HISTORY] ==
                                health->history[(place - same) % CAB_HEALTH_HISTORY])
        same++;
    return same == length;
}

/* Do the newest bytes stand in the history once more, at any distance (overlapping themselves too, if the period is short)?
 * Four bytes at once are searched for the newest: the boards spend their time here. */
static bool comes_again(const cab_health_t *health)
{
    const uint32_t ones = 0x01010101u, tops = 0x80808080u;
    const uint32_t end = (health->seen - 1) % CAB_HEALTH_HISTORY;

    for (uint32_t place = 0; place < CAB_HEALTH_HISTORY; place += 4) {
        uint32_t four;
        memcpy(&four, health->history + place, sizeof four);
        four ^= health->history[end] * ones;
        if (!((four - ones) & ~four & tops)) /* no byte is 0: nearly always */
            continue;
        for (uint32_t byte = 0; byte < 4; byte++)
            if (ends_alike(health, end, place + byte))
                return true;
    }
    return false;
}

static bool lane_stuck(cab_health_t *health, uint8_t changed)
{
    bool stuck = false;
    for (unsigned bit = 0; bit < 8; bit++) {
        uint16_t *const run = &health->lanes[bit];
        *run = (unsigned)changed >> bit & 1u ? 1 : (uint16_t)(*run + 1);
        stuck = stuck || *run >= health->cutoffs.lane;
    }
    return stuck;
}

static cab_alarm_t feed_byte(cab_health_t *health, uint8_t byte)
{
    const cab_cutoffs_t *const cutoffs = &health->cutoffs;
    const uint8_t before = health->seen ? earlier(health, 1) : (uint8_t)~byte;

    /* 4.4.1: the counter of a run begins at 1 with its first sample. */
    health->run = byte == before ? (uint16_t)(health->run + 1) : 1;
    const bool stuck = lane_stuck(health, byte ^ before);
    /* 4.4.2: so does the counter of a window, with the sample that it counts. */
    if (health->seen % PROPORTION_WINDOW == 0) {
        health->sample = byte;
        health->same = 0;
    }
    health->same = (uint16_t)(health->same + (byte == health->sample));
    health->ones = (uint16_t)(health->ones + ones_in(byte));
    uint8_t *const place = &health->history[health->seen % CAB_HEALTH_HISTORY];
    if (health->seen >= CAB_HEALTH_HISTORY)
        health->ones = (uint16_t)(health->ones - ones_in(*place));
    *place = byte;
    /* The number of bytes wraps where neither the history nor a window begins, never to less than a history. */
    health->seen = health->seen == UINT32_MAX ? 2 * CAB_HEALTH_HISTORY - 1 : health->seen;
    health->seen++;

    if (health->run >= cutoffs->repetition)
        return CAB_ALARM_REPETITION;
    if (stuck)
        return CAB_ALARM_LANE;
    if (health->same >= cutoffs->proportion)
        return CAB_ALARM_PROPORTION;
    if (health->seen % cutoffs->sequence == 0 && comes_again(health))
        return CAB_ALARM_SEQUENCE;
    if (health->seen >= CAB_HEALTH_HISTORY && health->seen % BALANCE_BYTES == 0 &&
        (health->ones >= cutoffs->balance || health->ones + cutoffs->balance <= CAB_HEALTH_HISTORY * 8u))
        return CAB_ALARM_BALANCE;
    return CAB_ALARM_NONE;
}

cab_alarm_t cab_health_feed(cab_health_t *health, const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const cab_alarm_t alarm = feed_byte(health, data[i]);
        if (alarm != CAB_ALARM_NONE)
            return alarm;
    }
    return CAB_ALARM_NONE;
}

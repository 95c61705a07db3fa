/* core_bench.c - the C core alone on the emulated Cortex-M3: instructions of a base play, without Python around it.
 *
 * bench.py compiles it with the core and a pack, runs it under -icount and reads what it prints: processor cycles spent in
 * plays that ended without a feature, and how many those were. One cycle of the timer is 40 ns, one instruction 32.
 */
#include "cab_core.h"

#include <stdint.h>
#include <stdio.h>

#define TIMER_CTRL (*(volatile uint32_t *)0x40000000u)
#define TIMER_VALUE (*(volatile uint32_t *)0x40000004u)
#define TIMER_RELOAD (*(volatile uint32_t *)0x40000008u)
#define STACK_TOP 0x20040000u
#define SYS_WRITE0 0x04
#define SYS_EXIT 0x18
#define EXIT_NORMALLY 0x20026u

extern const uint8_t pack_data[];
extern const uint32_t pack_bytes;
extern uint32_t _bss_first[], _bss_end[];

static void debugger(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

/* Plays the round of this number; true when it was a base play without a feature. */
static bool play(const cab_pack_t *pack, uint32_t number, uint32_t *cycles)
{
    static cab_round_t round;
    cab_event_t event;
    uint8_t seed[CAB_SEED_BYTES];

    cab_sha256((const uint8_t *)&number, sizeof number, seed);
    const cab_play_t base = {.unit_pence = 1};
    const uint32_t began = TIMER_VALUE;
    if (cab_round_begin(&round, pack, &base, seed) != CAB_OK)
        return false;
    do
        if (cab_round_next(&round, &event) != CAB_OK)
            return false;
    while (event.kind != CAB_ROUND_END && event.kind != CAB_CHOICE && event.kind != CAB_FREE_SPINS_BEGIN);
    *cycles += began - TIMER_VALUE; /* it counts down */
    return event.kind == CAB_ROUND_END;
}

void reset(void);
void reset(void)
{
    static cab_pack_t pack;
    static char said[48];
    uint32_t spent = 0, plays = 0;

    for (uint32_t *word = _bss_first; word < _bss_end; word++)
        *word = 0;
    TIMER_RELOAD = TIMER_VALUE = UINT32_MAX;
    TIMER_CTRL = 1;
    if (cab_pack_open(&pack, pack_data, pack_bytes) == CAB_OK)
        for (uint32_t number = 0; number < ROUNDS; number++) {
            uint32_t cycles = 0;
            if (play(&pack, number, &cycles)) {
                spent += cycles;
                plays++;
            }
        }
    snprintf(said, sizeof said, "%lu %lu\n", (unsigned long)spent, (unsigned long)plays);
    debugger(SYS_WRITE0, said);
    debugger(SYS_EXIT, (const void *)EXIT_NORMALLY);
    for (;;)
        ;
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {(void *)STACK_TOP, (void *)reset};

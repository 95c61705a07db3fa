/* nvram.c - the battery-backed memory: the NVRAM at its beginning, and the application slots.
 *
 * The journal above relies on two things only: bytes of a write land one by one and in ascending order, and the power can
 * fail between any two of them. volatile stores of single bytes are that; a memcpy could store words, or backwards.
 */

#include "cabinet_board.h"

#define WINDOW ((volatile uint8_t *)BOARD_MEMORY)

/* The bench has asked for a power cut behind this byte. A board cannot switch itself off: it says so, does nothing more,
 * and the bench kills the emulator. */
__attribute__((noreturn)) static void cut(void)
{
    board_irq_off();
    BOARD_BENCH->cut_after = 0;
    BOARD_BENCH->cut = 1;
    for (;;)
        ;
}

void board_nvram_read(uint32_t offset, uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        data[i] = WINDOW[offset + i];
}

void board_nvram_write(uint32_t offset, const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        WINDOW[offset + i] = data[i];
        BOARD_BENCH->written++;
        const uint32_t left = BOARD_BENCH->cut_after;
        if (left == 1)
            cut();
        if (left)
            BOARD_BENCH->cut_after = left - 1;
    }
}

bool board_nvram_holds(uint32_t offset, const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (WINDOW[offset + i] != data[i])
            return false;
    return true;
}

bool board_nvram_same(uint32_t first, uint32_t second, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (WINDOW[first + i] != WINDOW[second + i])
            return false;
    return true;
}

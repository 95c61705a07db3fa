/* i2c.c - a master on the shield's I2C bus, bit by bit through the two pins that the chip's SBCON block gives.
 *
 * The battery-backed clock is on it. 100 kHz: a byte takes 90 us. Nothing here waits for a slave longer than a bit, so a chip
 * that is missing or broken costs as much time as a whole one, and every loop has a fixed end.
 */

#include "cabinet_board.h"

/* SBCON: one register to look and to set pins, one to clear them. Both pins are open drain. */
#define PINS BOARD_REGISTER(0x4002A000u)
#define PINS_CLEAR BOARD_REGISTER(0x4002A004u)
#define SCL 1u
#define SDA 2u

#define HALF_BIT_CYCLES (BOARD_CLOCK_HZ / 200000u)
#define FREEING_CLOCKS 9

static void half_bit(void)
{
    const uint32_t began = board_cycles();

    while (board_cycles() - began < HALF_BIT_CYCLES)
        ;
}

static void scl(bool high)
{
    if (high)
        PINS = SCL;
    else
        PINS_CLEAR = SCL;
    half_bit();
}

static void sda(bool high)
{
    if (high)
        PINS = SDA;
    else
        PINS_CLEAR = SDA;
}

/* Both lines high before; SCL low behind it. Also between two parts of a transfer (repeated start). */
static void start(void)
{
    sda(true);
    scl(true);
    sda(false);
    half_bit();
    scl(false);
}

static void stop(void)
{
    sda(false);
    scl(true);
    sda(true);
    half_bit();
}

static bool bit(bool out)
{
    sda(out);
    half_bit();
    scl(true);
    const bool in = (PINS & SDA) != 0;
    scl(false);
    return in;
}

/* True when the slave has acknowledged it. */
static bool send(uint8_t byte)
{
    for (unsigned mask = 0x80; mask; mask >>= 1)
        bit((byte & mask) != 0);
    return !bit(true);
}

static uint8_t receive(bool more)
{
    uint8_t byte = 0;

    for (unsigned number = 0; number < 8; number++)
        byte = (uint8_t)(byte << 1 | (bit(true) ? 1 : 0));
    bit(!more);
    return byte;
}

/* A slave that was interrupted while it was sending a 0 holds SDA: clocks bring it to the end of its byte. */
void board_i2c_init(void)
{
    sda(true);
    for (unsigned clock = 0; clock < FREEING_CLOCKS; clock++) {
        scl(false);
        scl(true);
    }
    start();
    stop();
}

bool board_i2c_read(uint8_t address, uint8_t first, uint8_t *data, size_t length)
{
    start();
    bool heard = send((uint8_t)(address << 1)) && send(first);
    if (heard) {
        start();
        heard = send((uint8_t)(address << 1 | 1));
    }
    for (size_t i = 0; heard && i < length; i++)
        data[i] = receive(i + 1 < length);
    stop();
    return heard;
}

bool board_i2c_write(uint8_t address, uint8_t first, const uint8_t *data, size_t length)
{
    start();
    bool heard = send((uint8_t)(address << 1)) && send(first);
    for (size_t i = 0; heard && i < length; i++)
        heard = send(data[i]);
    stop();
    return heard;
}

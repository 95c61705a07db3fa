/* uart.c - five CMSDK UARTs behind rings.
 *
 * Each ring has one writer and one reader, an interrupt at one end and the program at the other, and an index that only its
 * own end moves: nothing needs a lock. The program never waits for a UART, and no interrupt waits for the program.
 */

#include "cabinet_board.h"

typedef struct {
    volatile uint32_t data, state, ctrl, interrupts, baud_divider;
} registers_t;

enum { STATE_TX_FULL = 1, STATE_RX_FULL = 2, STATE_RX_OVERRUN = 8 };
enum { CTRL_TX = 1, CTRL_RX = 2, CTRL_TX_INTERRUPT = 4, CTRL_RX_INTERRUPT = 8 };
enum { INTERRUPT_TX = 1, INTERRUPT_RX = 2 };

static registers_t *const hardware[BOARD_UARTS] = {
    (registers_t *)0x40004000u, (registers_t *)0x40005000u, (registers_t *)0x40006000u,
    (registers_t *)0x40007000u, (registers_t *)0x40009000u,
};
static const uint8_t rx_irq[BOARD_UARTS] = {0, 2, 4, 18, 20}; /* that of the transmitter is the next */
/* console, ccTalk, panel, entropy, note acceptor: hal/boards/mps2.py gives them their names. */
static const uint32_t baud[BOARD_UARTS] = {115200, 9600, 115200, 115200, 9600};

/* Indexes run on; modulo the size of the ring, a power of two, they are places in it. */
typedef struct {
    uint8_t rx[BOARD_RX_BYTES], tx[BOARD_TX_BYTES];
    volatile uint32_t rx_in, rx_out, tx_in, tx_out;
    volatile uint32_t overruns, fullest;
    bool hold;
} uart_t;

static uart_t uarts[BOARD_UARTS];

#define NVIC_ENABLE BOARD_REGISTER(0xE000E100u)
#define NVIC_DISABLE BOARD_REGISTER(0xE000E180u)

/* What is behind a fence in the program is behind it for an interrupt, too: one processor, so the compiler is all that
 * could change the order. */
#define FENCE() __asm volatile("" : : : "memory")

void board_uart_init(void)
{
    for (unsigned number = 0; number < BOARD_UARTS; number++) {
        registers_t *const chip = hardware[number];
        chip->baud_divider = (BOARD_CLOCK_HZ + baud[number] / 2) / baud[number];
        chip->ctrl = CTRL_TX | CTRL_RX | CTRL_TX_INTERRUPT | CTRL_RX_INTERRUPT;
        NVIC_ENABLE = 3u << rx_irq[number];
    }
}

/* ------------------------------------------------------------------------------------------------------------ receive */

static void receive(unsigned number)
{
    registers_t *const chip = hardware[number];
    uart_t *const uart = &uarts[number];

    chip->interrupts = INTERRUPT_RX; /* first: a byte that comes from here on asks again */
    while (chip->state & STATE_RX_FULL) {
        const uint32_t waiting = uart->rx_in - uart->rx_out;
        if (waiting == BOARD_RX_BYTES && uart->hold) {
            chip->ctrl &= ~(uint32_t)CTRL_RX_INTERRUPT; /* until the program has made room */
            return;
        }
        const uint8_t byte = (uint8_t)chip->data;
        BOARD_BENCH->taken[number]++;
        if (waiting == BOARD_RX_BYTES) {
            uart->overruns++;
            continue;
        }
        uart->rx[uart->rx_in % BOARD_RX_BYTES] = byte;
        FENCE();
        uart->rx_in++;
        if (waiting >= uart->fullest)
            uart->fullest = waiting + 1;
    }
    if (chip->state & STATE_RX_OVERRUN) {
        chip->state = STATE_RX_OVERRUN;
        uart->overruns++;
    }
}

size_t board_uart_arrived(unsigned number)
{
    return uarts[number].rx_in - uarts[number].rx_out;
}

void board_uart_take(unsigned number, uint8_t *data, size_t length)
{
    registers_t *const chip = hardware[number];
    uart_t *const uart = &uarts[number];

    for (size_t i = 0; i < length; i++)
        data[i] = uart->rx[(uart->rx_out + i) % BOARD_RX_BYTES];
    FENCE();
    uart->rx_out += length;
    if (uart->hold && !(chip->ctrl & CTRL_RX_INTERRUPT)) {
        const uint32_t state = board_irq_off(); /* the interrupt shares `ctrl`, and takes the byte that was held */
        chip->ctrl |= CTRL_RX_INTERRUPT;
        receive(number);
        board_irq_restore(state);
    }
}

uint32_t board_uart_overruns(unsigned number)
{
    return uarts[number].overruns;
}

uint32_t board_uart_fullest(unsigned number)
{
    return uarts[number].fullest;
}

void board_uart_hold(unsigned number)
{
    uarts[number].hold = true;
}

/* ----------------------------------------------------------------------------------------------------------- transmit */

/* Gives the transmitter what it takes. Never two at once: the interrupt is off while the program does it. */
static void transmit(unsigned number)
{
    registers_t *const chip = hardware[number];
    uart_t *const uart = &uarts[number];

    chip->interrupts = INTERRUPT_TX;
    while (uart->tx_in != uart->tx_out && !(chip->state & STATE_TX_FULL)) {
        chip->data = uart->tx[uart->tx_out % BOARD_TX_BYTES];
        uart->tx_out++;
    }
}

bool board_uart_send(unsigned number, const uint8_t *data, size_t length)
{
    uart_t *const uart = &uarts[number];
    const uint32_t irq = 2u << rx_irq[number];

    if (length > BOARD_TX_BYTES - (uart->tx_in - uart->tx_out))
        return false;
    for (size_t i = 0; i < length; i++)
        uart->tx[(uart->tx_in + i) % BOARD_TX_BYTES] = data[i];
    FENCE();
    uart->tx_in += length;
    NVIC_DISABLE = irq; /* this one alone: receivers cannot wait for 256 bytes to be copied */
    __asm volatile("dsb\n\tisb" : : : "memory");
    transmit(number);
    NVIC_ENABLE = irq;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- interrupts */

#define VECTORS(number) \
    void board_uart##number##_rx(void); \
    void board_uart##number##_tx(void); \
    void board_uart##number##_rx(void) { receive(number); } \
    void board_uart##number##_tx(void) { transmit(number); }

VECTORS(0)
VECTORS(1)
VECTORS(2)
VECTORS(3)
VECTORS(4)

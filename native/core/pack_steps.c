/* pack_steps.c - checks pots, boards, tables of prizes and the steps of the modes of a pack that is opened.
 *
 * Tables are checked twice: alone, each row being possible at all, and in the role that a step or a feature gives them,
 * which says what kinds of prizes may be drawn there. That is also where a feature within a feature is refused.
 */
#include "pack.h"

enum { MOST_WEIGHT = INT32_MAX }; /* 2^31 - 1; the sum may be one more */

enum {
    NOTHING = 1 << CAB_PRIZE_NOTHING,
    CREDITS = 1 << CAB_PRIZE_CREDITS,
    POT = 1 << CAB_PRIZE_POT,
    WHEEL = 1 << CAB_PRIZE_WHEEL,
    FEATURE = 1 << CAB_PRIZE_FEATURE,
    SPINS = 1 << CAB_PRIZE_SPINS,
    BOARDS = 1 << CAB_PRIZE_BOARDS
};

cab_error_t cab_check_pots(const cab_pack_t *pack)
{
    for (unsigned i = 0; i < pack->pots; i++) {
        const cab_pot_t pot = cab_pack_pot(pack, i);
        if (!text_begins_at(pack, pot.name))
            return CAB_ERR_PACK_TEXT;
        if (pot.credits < 1)
            return CAB_ERR_PACK_POT;
        if (pack->pot_rows[i * POT_BYTES + 3] != 0)
            return CAB_ERR_PACK_RESERVED;
    }
    return CAB_OK;
}

static bool board_ok(const cab_pack_t *pack, unsigned board, unsigned set)
{
    for (unsigned reel = 0; reel < pack->reels; reel++)
        if (cab_pack_board(pack, board, reel) >= cab_pack_strip(pack, set, reel).length)
            return false;
    return true;
}

cab_error_t cab_check_boards(const cab_pack_t *pack)
{
    const uint32_t all = pack->section_bytes[BORD] / (pack->reels * 2u);
    uint32_t board = 0;

    for (unsigned i = 0; i < pack->groups; i++) {
        const cab_group_t group = cab_pack_group(pack, i);
        if (group.mode >= pack->modes || group.first != board || group.boards < 1 || group.boards > all - board)
            return CAB_ERR_PACK_BOARD;
        for (const uint32_t end = board + group.boards; board < end; board++)
            if (!board_ok(pack, board, cab_pack_mode(pack, group.mode).set))
                return CAB_ERR_PACK_BOARD;
        if (cab_get16(pack->group_rows + i * GROUP_BYTES + 6) != 0)
            return CAB_ERR_PACK_RESERVED;
    }
    return board == all ? CAB_OK : CAB_ERR_PACK_BOARD;
}

/* ------------------------------------------------------------------------------------------------------------- tables */

static bool prize_ok(const cab_pack_t *pack, const cab_prize_t *prize)
{
    if (prize->weight < 1)
        return false;
    switch (prize->kind) {
    case CAB_PRIZE_NOTHING:
        return prize->index == 0 && prize->number == 0;
    case CAB_PRIZE_CREDITS:
        return prize->index == 0 && prize->number >= 1;
    case CAB_PRIZE_POT:
        return prize->index < pack->pots && prize->number == 0;
    case CAB_PRIZE_WHEEL:
        return prize->index < pack->tables && prize->number == 0;
    case CAB_PRIZE_FEATURE:
        return prize->index < pack->features && prize->number == 0;
    case CAB_PRIZE_SPINS:
        return prize->index == 0 && prize->number >= 1 && prize->number <= UINT16_MAX;
    case CAB_PRIZE_BOARDS:
        return prize->index < pack->groups && prize->number == 0;
    case CAB_PRIZE_SHAPE: {
        const uint32_t width = prize->number & 255u, height = prize->number >> 8;
        return prize->index == 0 && width >= 1 && width <= pack->reels && height >= 1 && height <= pack->rows;
    }
    default:
        return false;
    }
}

cab_error_t cab_check_tables(const cab_pack_t *pack)
{
    const uint32_t all = pack->section_bytes[PRIZ] / PRIZE_BYTES;
    uint32_t row = 0;

    for (unsigned i = 0; i < pack->tables; i++) {
        const cab_table_t table = cab_pack_table(pack, i);
        uint64_t weights = 0;

        if (table.first != row || table.rows < 1 || table.rows > all - row)
            return CAB_ERR_PACK_TABLE;
        for (const uint32_t end = row + table.rows; row < end; row++) {
            const cab_prize_t prize = cab_pack_prize(pack, row);
            if (!prize_ok(pack, &prize))
                return CAB_ERR_PACK_PRIZE;
            if (cab_get16(pack->prize_rows + row * PRIZE_BYTES + 6) != 0)
                return CAB_ERR_PACK_RESERVED;
            weights += prize.weight;
        }
        if (weights > (uint64_t)MOST_WEIGHT + 1)
            return CAB_ERR_PACK_TABLE;
    }
    if (row != all)
        return CAB_ERR_PACK_TABLE;
    /* Every wheel, used or not, holds what a wheel may: so a wheel never spins a wheel. */
    for (row = 0; row < all; row++) {
        const cab_prize_t prize = cab_pack_prize(pack, row);
        if (prize.kind == CAB_PRIZE_WHEEL && !cab_table_holds(pack, prize.index, NOTHING | CREDITS | POT | FEATURE | SPINS))
            return CAB_ERR_PACK_PRIZE;
    }
    return CAB_OK;
}

bool cab_table_holds(const cab_pack_t *pack, unsigned table, uint32_t kinds)
{
    if (table >= pack->tables)
        return false;
    const cab_table_t t = cab_pack_table(pack, table);
    for (unsigned row = t.first; row < (unsigned)t.first + t.rows; row++)
        if (!(kinds & bit(cab_pack_prize(pack, row).kind)))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------- tables of the steps */

/* Whether a table, and the wheels in it, hold what may be won in a spin: features begin in base modes and spins are added
 * in feature modes. */
static bool winnings_ok(const cab_pack_t *pack, unsigned table, bool in_feature)
{
    const uint32_t kinds = NOTHING | CREDITS | POT | (in_feature ? SPINS : FEATURE);
    const cab_table_t t = cab_pack_table(pack, table);

    if (!cab_table_holds(pack, table, kinds | WHEEL))
        return false;
    for (unsigned row = t.first; row < (unsigned)t.first + t.rows; row++) {
        const cab_prize_t prize = cab_pack_prize(pack, row);
        if (prize.kind == CAB_PRIZE_WHEEL && !cab_table_holds(pack, prize.index, kinds))
            return false;
    }
    return true;
}

static cab_error_t modifier_table(const cab_pack_t *pack, const cab_step_t *step)
{
    const cab_table_t t = cab_pack_table(pack, step->index);
    const unsigned set = cab_pack_mode(pack, step->mode).set;

    if (!cab_table_holds(pack, step->index, NOTHING | BOARDS))
        return CAB_ERR_PACK_PRIZE;
    for (unsigned row = t.first; row < (unsigned)t.first + t.rows; row++) {
        const cab_prize_t prize = cab_pack_prize(pack, row);
        if (prize.kind == CAB_PRIZE_BOARDS && cab_pack_mode(pack, cab_pack_group(pack, prize.index).mode).set != set)
            return CAB_ERR_PACK_BOARD;
    }
    return CAB_OK;
}

static cab_error_t tokens_table(const cab_pack_t *pack, const cab_step_t *step)
{
    const cab_table_t t = cab_pack_table(pack, step->index);

    if (!cab_table_holds(pack, step->index, POT))
        return CAB_ERR_PACK_PRIZE;
    for (unsigned row = t.first; row < (unsigned)t.first + t.rows; row++)
        if (cab_pack_pot(pack, cab_pack_prize(pack, row).index).tokens < 1)
            return CAB_ERR_PACK_POT;
    return CAB_OK;
}

static cab_error_t check_table(const cab_pack_t *pack, const cab_step_t *step, bool in_feature)
{
    if (step->index >= pack->tables)
        return CAB_ERR_PACK_STEP;
    switch (step->op) {
    case CAB_STEP_MODIFIER:
        return modifier_table(pack, step);
    case CAB_STEP_VALUES:
        return cab_table_holds(pack, step->index, CREDITS) ? CAB_OK : CAB_ERR_PACK_PRIZE;
    case CAB_STEP_TOKENS:
        return tokens_table(pack, step);
    case CAB_STEP_AWARD:
        if (cab_pack_table(pack, step->index).rows != 1)
            return CAB_ERR_PACK_TABLE;
        break;
    default:
        break;
    }
    return winnings_ok(pack, step->index, in_feature) ? CAB_OK : CAB_ERR_PACK_PRIZE;
}

/* -------------------------------------------------------------------------------------------------------------- steps */

enum { TABLE = 1, LEAST = 2, MOST = 4, NEEDED = 8, RULE = 16, SYMBOLS = 32, IN_BASE = 64, IN_FEATURE = 128 };

/* What each step has; an argument that it does not have is 0. */
static const uint8_t traits[] = {
    [CAB_STEP_MODIFIER] = TABLE | IN_BASE,
    [CAB_STEP_VALUES] = SYMBOLS | TABLE | IN_BASE | IN_FEATURE,
    [CAB_STEP_COLLECT] = SYMBOLS | IN_BASE | IN_FEATURE,
    [CAB_STEP_PILE] = SYMBOLS | TABLE | IN_BASE | IN_FEATURE,
    [CAB_STEP_AWARD] = SYMBOLS | TABLE | LEAST | MOST | NEEDED | IN_BASE | IN_FEATURE,
    [CAB_STEP_RESPIN] = SYMBOLS | LEAST | IN_BASE,
    [CAB_STEP_FRAMES] = SYMBOLS | RULE | IN_FEATURE,
    [CAB_STEP_ADD_SPINS] = SYMBOLS | LEAST | IN_FEATURE,
    [CAB_STEP_TOKENS] = SYMBOLS | TABLE | IN_FEATURE,
};

static bool arguments_ok(const cab_pack_t *pack, const cab_step_t *step, unsigned has)
{
    if (!(has & SYMBOLS) != (step->symbols == 0) || (step->symbols & ~all_symbols(pack)) != 0)
        return false;
    if (has & NEEDED ? (step->needed & ~all_symbols(pack)) != 0 : step->needed != 0)
        return false;
    if (!(has & LEAST) != (step->least == 0) || (has & MOST ? step->most < step->least : step->most != 0))
        return false;
    if (has & RULE)
        return step->index <= 1 && (step->index == 1) == (step->credits >= 1);
    return step->credits == 0 && (has & TABLE || step->index == 0);
}

/* How many prizes the step can put into the queue in one spin. */
static unsigned most_prizes(const cab_pack_t *pack, unsigned op)
{
    return op == CAB_STEP_PILE ? pack->cells : op == CAB_STEP_AWARD;
}

static cab_error_t check_mode_steps(const cab_pack_t *pack, unsigned first, unsigned last)
{
    unsigned prizes = 0;

    for (unsigned i = first; i < last; i++) {
        const cab_step_t step = cab_pack_step(pack, i);
        if (step.op < CAB_STEP_MODIFIER || step.op > CAB_STEP_TOKENS)
            return CAB_ERR_PACK_STEP;
        const bool in_feature = (pack->feature_modes >> step.mode & 1u) != 0;
        const unsigned has = traits[step.op];

        if (!(has & (in_feature ? IN_FEATURE : IN_BASE)) || !arguments_ok(pack, &step, has) ||
            (step.op == CAB_STEP_MODIFIER && i != first) || (step.op == CAB_STEP_RESPIN && i != last - 1))
            return CAB_ERR_PACK_STEP;
        if (has & TABLE) {
            const cab_error_t error = check_table(pack, &step, in_feature);
            if (error)
                return error;
        }
        if (cab_get16(pack->step_rows + i * STEP_BYTES + 6) != 0)
            return CAB_ERR_PACK_RESERVED;
        prizes += most_prizes(pack, step.op);
    }
    return prizes <= CAB_MAX_QUEUE ? CAB_OK : CAB_ERR_PACK_STEP;
}

cab_error_t cab_check_steps(cab_pack_t *pack)
{
    const unsigned all = pack->section_bytes[STEP] / STEP_BYTES;
    unsigned row = 0;

    for (unsigned mode = 0; mode < pack->modes; mode++) {
        const unsigned first = row;
        while (row < all && cab_pack_step(pack, row).mode == mode)
            row++;
        pack->first_step[mode] = (uint8_t)first;
        if (row - first > CAB_MAX_STEPS)
            return CAB_ERR_PACK_STEP;
        const cab_error_t error = check_mode_steps(pack, first, row);
        if (error)
            return error;
    }
    pack->first_step[pack->modes] = (uint8_t)row;
    return row == all ? CAB_OK : CAB_ERR_PACK_STEP;
}

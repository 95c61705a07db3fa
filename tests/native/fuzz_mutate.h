/* fuzz_mutate.h - the mutator of fuzz_pack.c: it knows the section table and the rows of a pack of version 2, no rule of it.
 *
 * Included once. A pack that cannot be taken apart is left to the fuzzer's mutations of raw bytes.
 */

typedef struct {
    uint8_t tag[4];
    uint8_t *bytes;
    size_t length;
} section_t;

typedef struct {
    section_t sections[32];
    unsigned count;
    uint8_t header[HEADER];
    const uint8_t *tail; /* the player's bytes */
    size_t tail_length;
} parts_t;

/* Bytes of a row, and the byte of GAME that counts the rows (0: none does). */
static const struct {
    char tag[5];
    uint8_t row, counted;
} KNOWN[] = {
    {"GAME", 40, 0}, {"BETS", 4, 0},  {"SYMB", 12, 2}, {"PAYS", 4, 0},  {"LINE", 1, 0},
    {"SCAT", 4, 0},  {"SETS", 8, 0},  {"STRP", 1, 0},  {"MODE", 24, 4}, {"STEP", 20, 0},
    {"TABL", 4, 9},  {"PRIZ", 12, 0}, {"POTS", 8, 10}, {"BGRP", 8, 11}, {"BORD", 2, 0},
    {"FEAT", 24, 6}, {"OPTN", 8, 0},  {"GAMB", 8, 0},  {"TEXT", 1, 0},
};

enum { KNOWN_TAGS = sizeof KNOWN / sizeof KNOWN[0] };

static uint32_t random_state;

static uint32_t next_random(void) /* xorshift32: any will do, as long as a failure can be repeated from its seed */
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

static unsigned random_below(unsigned limit)
{
    return limit ? next_random() % limit : 0;
}

static uint32_t telling(void)
{
    static const uint32_t values[] = {0,   1,   2,   3,   4,    5,     6,     7,          8,          15,        16,
                                      20,  24,  30,  31,  32,   64,    100,   127,        128,        254,       255,
                                      256, 257, 300, 999, 4096, 65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    return values[random_below(sizeof values / sizeof values[0])];
}

static unsigned known(const uint8_t *tag)
{
    unsigned i = 0;
    while (i < KNOWN_TAGS && memcmp(tag, KNOWN[i].tag, 4) != 0)
        i++;
    return i;
}

/* Every section gets a block with room to double in, so that what is added need not be counted. */
static bool take_apart(parts_t *parts, const uint8_t *data, size_t size)
{
    const size_t length = pack_size(data, size);
    memset(parts, 0, sizeof *parts);
    if (length < HEADER || u16(data + 12) > 32 || HEADER + ROW * (size_t)u16(data + 12) > length)
        return false;
    memcpy(parts->header, data, HEADER);
    for (unsigned i = 0; i < u16(data + 12); i++) {
        const uint8_t *row = data + HEADER + ROW * i;
        const uint32_t offset = u32(row + 4), bytes = u32(row + 8);
        if (offset > length || bytes > length - offset)
            return false;
        section_t *section = &parts->sections[parts->count++];
        memcpy(section->tag, row, 4);
        section->length = bytes;
        section->bytes = malloc(2 * bytes + 64);
        demand(section->bytes != NULL, "no memory");
        memcpy(section->bytes, data + offset, bytes);
    }
    parts->tail = data + length;
    parts->tail_length = size - length;
    return parts->count > 0;
}

static void forget(parts_t *parts)
{
    for (unsigned i = 0; i < parts->count; i++)
        free(parts->sections[i].bytes);
}

/* Returns the size, or 0 where it does not fit. */
static size_t put_together(const parts_t *parts, uint8_t *out, size_t most)
{
    size_t at = HEADER + ROW * (size_t)parts->count;
    for (unsigned i = 0; i < parts->count; i++)
        at += (parts->sections[i].length + 3) / 4 * 4;
    const size_t length = at;
    if (length > most)
        return 0;
    memset(out, 0, length);
    memcpy(out, parts->header, HEADER);
    put(out + 8, length, 4);
    put(out + 12, parts->count, 2);
    at = HEADER + ROW * (size_t)parts->count;
    for (unsigned i = 0; i < parts->count; i++) {
        const section_t *section = &parts->sections[i];
        uint8_t *row = out + HEADER + ROW * i;
        memcpy(row, section->tag, 4);
        put(row + 4, at, 4);
        put(row + 8, section->length, 4);
        memcpy(out + at, section->bytes, section->length);
        at += (section->length + 3) / 4 * 4;
    }
    const size_t tail = parts->tail_length < most - length ? parts->tail_length : most - length;
    memcpy(out + length, parts->tail, tail);
    return length + tail;
}

static section_t *find_section(parts_t *parts, const char *tag)
{
    for (unsigned i = 0; i < parts->count; i++)
        if (memcmp(parts->sections[i].tag, tag, 4) == 0 && parts->sections[i].length)
            return &parts->sections[i];
    return NULL;
}

/* A field of one, two or four bytes gets a telling value, that of the same field elsewhere, or one nearby. */
static void change_field(section_t *section, unsigned row_bytes)
{
    static const uint8_t widths[] = {1, 1, 1, 2, 4};
    const unsigned rows = (unsigned)(section->length / row_bytes), width = widths[random_below(5)];
    if (!rows || row_bytes < width)
        return;
    uint8_t *row = section->bytes + (size_t)random_below(rows) * row_bytes;
    uint8_t *at = row + random_below(row_bytes / width) * width;
    switch (random_below(5)) {
    case 0:
        put(at, telling(), width);
        break;
    case 1: /* of another row */
        memcpy(at, section->bytes + (size_t)random_below(rows) * row_bytes + (size_t)(at - row), width);
        break;
    case 2:
        *at ^= (uint8_t)(1u << random_below(8));
        break;
    case 3:
        *at = (uint8_t)(*at + (random_below(2) ? 1 : 255));
        break;
    default:
        put(at, random_below(12), width);
    }
}

static void count_rows(parts_t *parts, unsigned kind, int change)
{
    section_t *game = find_section(parts, "GAME");
    if (game && KNOWN[kind].counted && KNOWN[kind].counted < game->length)
        game->bytes[KNOWN[kind].counted] = (uint8_t)(game->bytes[KNOWN[kind].counted] + change);
}

/* A row more or less, with the count in GAME that belongs to it. */
static void change_rows(parts_t *parts, section_t *section, unsigned kind)
{
    const unsigned row = KNOWN[kind].row, rows = (unsigned)(section->length / row);
    if (!rows)
        return;
    uint8_t *at = section->bytes + (size_t)random_below(rows) * row;
    const size_t behind = section->length - (size_t)(at - section->bytes);
    if (random_below(2) && section->length + row <= 2 * section->length + 64) {
        memmove(at + row, at, behind);
        section->length += row;
        count_rows(parts, kind, 1);
    } else {
        memmove(at, at + row, behind - row);
        section->length -= row;
        count_rows(parts, kind, -1);
    }
}

/* A prize more in a table, with the tables behind it moved: the way to richer tables. */
static void grow_table(parts_t *parts)
{
    section_t *tables = find_section(parts, "TABL"), *prizes = find_section(parts, "PRIZ");
    if (!tables || !prizes || tables->length < 4 || prizes->length < 12)
        return;
    const unsigned count = (unsigned)(tables->length / 4), table = random_below(count);
    const size_t at = 12u * (size_t)u16(tables->bytes + 4 * table);
    if (at + 12 > prizes->length)
        return;
    memmove(prizes->bytes + at + 12, prizes->bytes + at, prizes->length - at);
    memcpy(prizes->bytes + at, prizes->bytes + 12 * (size_t)random_below((unsigned)(prizes->length / 12)), 12);
    prizes->length += 12;
    put(tables->bytes + 4 * table + 2, u16(tables->bytes + 4 * table + 2) + 1u, 2);
    for (unsigned behind = table + 1; behind < count; behind++)
        put(tables->bytes + 4 * behind, u16(tables->bytes + 4 * behind) + 1u, 2);
}

/* Another operation on an old step's numbers, or a mask of few symbols: most of what makes one game differ from another. */
static void change_step(parts_t *parts)
{
    section_t *steps = find_section(parts, "STEP");
    if (!steps || steps->length < 20)
        return;
    uint8_t *row = steps->bytes + 20 * (size_t)random_below((unsigned)(steps->length / 20));
    switch (random_below(4)) {
    case 0:
        row[1] = (uint8_t)(1 + random_below(9));
        break;
    case 1:
        put(row + 8, 1u << random_below(10) | 1u << random_below(10), 4);
        break;
    case 2:
        row[2] = (uint8_t)random_below(24);
        break;
    default:
        put(row + 4, 1 + random_below(6), 2);
    }
}

static void change(parts_t *parts)
{
    section_t *section = &parts->sections[random_below(parts->count)];
    const unsigned kind = known(section->tag), row = kind < KNOWN_TAGS ? KNOWN[kind].row : 1u;
    switch (random_below(10)) {
    case 0:
        if (kind < KNOWN_TAGS)
            change_rows(parts, section, kind);
        break;
    case 1:
        grow_table(parts);
        break;
    case 2:
    case 3:
        change_step(parts);
        break;
    case 4:
        parts->header[random_below(HASH_AT)] ^= (uint8_t)(random_below(16) ? 0u : telling());
        break;
    default:
        change_field(section, row);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static uint8_t out[2 * MOST_BYTES];
    parts_t parts;
    size_t length = 0;

    memset(&parts, 0, sizeof parts);
    random_state = seed * 2654435761u | 1u;
    if (most > sizeof out)
        most = sizeof out;
    if (random_below(20) && take_apart(&parts, data, size)) {
        for (unsigned changes = 1 + random_below(3); changes; changes--)
            change(&parts);
        length = put_together(&parts, out, most);
        if (length && random_below(8) == 0 && length + 16 <= most) { /* another player */
            for (unsigned i = 0; i < 16; i++)
                out[u32(out + 8) + i] = (uint8_t)next_random();
            length = u32(out + 8) + 16;
        }
        if (length)
            memcpy(data, out, length);
        forget(&parts);
        return length ? length : size;
    }
    forget(&parts);
    return LLVMFuzzerMutate(data, size, most);
}

/* Some sections of another pack. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other, size_t other_size, uint8_t *out,
                                 size_t most, unsigned seed)
{
    parts_t mine, theirs;
    size_t length = 0;

    random_state = seed * 2654435761u | 1u;
    const bool first = take_apart(&mine, one, one_size);
    const bool second = take_apart(&theirs, other, other_size);
    if (first && second) {
        for (unsigned i = 0; i < mine.count; i++)
            for (unsigned j = 0; j < theirs.count && random_below(4) == 0; j++)
                if (memcmp(mine.sections[i].tag, theirs.sections[j].tag, 4) == 0) {
                    const section_t swapped = mine.sections[i];
                    mine.sections[i] = theirs.sections[j];
                    theirs.sections[j] = swapped;
                    break;
                }
        length = put_together(&mine, out, most);
    }
    forget(&mine);
    forget(&theirs);
    return length;
}

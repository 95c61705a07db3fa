/* tables.c - what the windows of a mode win, looked up by stops.
 *
 * A thread is a line, or in a ways game a symbol, on its way from the first reel to the last. What it will win depends on
 * its state and the stops of the reels behind: an automaton, whose transitions are made from the evaluator's own reading.
 * For the first reels all threads are run in advance for all stops, as far as the table has room (three reels of fifty
 * stops are 125,000 entries). Most windows have no open thread then, so one look-up knows what they win; the others follow
 * one or two threads through the last reels.
 *
 * A state is named by a key of 128 bits, equal for threads that cannot differ any more:
 *   line: the cells so far; its rows on the reels behind
 *   ways: the ways so far, with and without wild multipliers, the symbol, whether it has been seen itself
 */
#include "wins.h"

#include <string.h>

typedef struct {
    const cab_pack_t *pack;
    cab_wins_t *wins;
    cab_strip_t strip[CAB_MAX_REELS];
    uint32_t hopeful[CAB_MAX_REELS + 1]; /* symbols that pay for so many reels or more */
    uint32_t threads;                    /* numbers of `threads` in use */
    uint32_t wild_multiplier;            /* of ways under the rule "highest"; 1 under the others */
    bool ways;
} maker_t;

typedef struct {
    uint64_t a, b;
} state_t;

static unsigned symbol_at(const maker_t *m, unsigned reel, unsigned stop, unsigned row)
{
    const cab_strip_t strip = m->strip[reel];
    return strip.symbols[(stop + row) % strip.length];
}

/* ---------------------------------------------------------------------------------------------------------- threads */

/* What a line wins whose cells are known and whose run goes no further. */
static uint32_t read_cells(const cab_pack_t *pack, const uint8_t *cells, unsigned known)
{
    cab_reading_t best = {0, 1, 0, 0, false};
    uint32_t alive = UINT32_MAX;

    for (unsigned run = 0; alive; run++) {
        const uint32_t next = run < known ? alive & pack->reads_as[cells[run]] : 0;
        const uint32_t ended = alive & ~next & pack->paying[run];
        if (ended)
            cab_read_run(pack, cells, run, ended, &best);
        alive = next;
    }
    return best.credits;
}

/* Takes a line over one reel. True: it is open, and *state is its next one; else *credits is what it won. */
static bool step_line(const maker_t *m, unsigned reel, unsigned stop, state_t *state, uint32_t *credits)
{
    const cab_pack_t *pack = m->pack;
    uint8_t cells[CAB_MAX_REELS];
    uint32_t alive = UINT32_MAX;

    for (unsigned i = 0; i < reel; i++) {
        cells[i] = (uint8_t)(state->a >> 8 * i);
        alive &= pack->reads_as[cells[i]];
    }
    cells[reel] = (uint8_t)symbol_at(m, reel, stop, state->b & 7u);
    alive &= pack->reads_as[cells[reel]];
    if (reel + 1u < pack->reels && (alive & m->hopeful[reel + 1])) {
        state->a |= (uint64_t)cells[reel] << 8 * reel;
        state->b >>= 3;
        return true;
    }
    *credits = read_cells(pack, cells, reel + 1);
    return false;
}

static state_t start_line(const maker_t *m, unsigned line)
{
    state_t state = {0, 0};
    for (unsigned reel = m->pack->reels; reel-- > 0;)
        state.b = state.b << 3 | m->pack->line_rows[line * m->pack->reels + reel];
    return state;
}

/* Takes a symbol over one reel; as step_line. The window's ways are cab_ways', with the plain ones kept apart for the rule
 * under which only the highest multiplier counts. */
static bool step_ways(const maker_t *m, unsigned reel, unsigned stop, state_t *state, uint32_t *credits)
{
    const cab_pack_t *pack = m->pack;
    const unsigned symbol = state->b & 255u;
    bool natural = state->b >> 8 & 1u;
    uint64_t all = 0, plain = 0;
    unsigned run = reel;

    for (unsigned row = 0; row < pack->rows; row++) {
        const unsigned cell = symbol_at(m, reel, stop, row);
        const uint32_t multiplier = cell == symbol ? 1 : pack->wild_multiplier[cell];
        if (!(pack->reads_as[cell] >> symbol & 1u))
            continue;
        all += pack->multiplier_rule == CAB_MULTIPLIER_PRODUCT ? multiplier : 1;
        plain += multiplier == 1;
        natural |= cell == symbol;
    }
    if (all) {
        run++;
        state->a *= all;
        state->b = symbol | (uint64_t)natural << 8 | (state->b >> 16) * plain << 16;
        if (run < pack->reels && (m->hopeful[run] >> symbol & 1u))
            return true;
    }
    *credits = 0;
    if ((pack->paying[run] >> symbol & 1u) && (!pack->needs_natural || (state->b >> 8 & 1u))) {
        const uint64_t without = state->b >> 16;
        const uint64_t ways = m->wild_multiplier > 1 ? without + (state->a - without) * m->wild_multiplier : state->a;
        *credits = (uint32_t)(ways * cab_pack_pay(pack, symbol, run)); /* a pack's wins fit in 32 bits */
    }
    return false;
}

static state_t start_ways(unsigned symbol)
{
    const state_t state = {1, symbol | (uint64_t)1 << 16};
    return state;
}

/* ----------------------------------------------------------------------------------------------------- the automaton */

/* The number of a state at a depth, a new one if need be; CAB_WIN_STATES: no room. keys[depth & 1] holds this depth's. */
static uint32_t number_of(cab_wins_t *wins, unsigned depth, state_t state)
{
    uint64_t(*keys)[2] = wins->key[depth & 1u];
    uint64_t hash = (state.a ^ state.b * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;

    for (hash >>= 40;; hash++) {
        uint16_t *slot = &wins->slot[hash % (2 * CAB_WIN_STATES)];
        if (!*slot) {
            if (wins->states[depth] == CAB_WIN_STATES)
                return CAB_WIN_STATES;
            keys[wins->states[depth]][0] = state.a;
            keys[wins->states[depth]][1] = state.b;
            *slot = (uint16_t)++wins->states[depth];
        }
        if (keys[*slot - 1u][0] == state.a && keys[*slot - 1u][1] == state.b)
            return *slot - 1u;
    }
}

/* All transitions over one reel; false: no room, or credits that look like a state. */
static bool make_transitions(maker_t *m, unsigned reel, uint32_t *used)
{
    cab_wins_t *wins = m->wins;
    const uint32_t length = m->strip[reel].length;

    wins->first[reel] = *used;
    wins->length[reel] = length;
    if (length * (uint64_t)wins->states[reel] > CAB_WIN_NEXT - *used)
        return false;
    memset(wins->slot, 0, sizeof wins->slot);
    for (uint32_t from = 0; from < wins->states[reel]; from++)
        for (uint32_t stop = 0; stop < length; stop++) {
            state_t state = {wins->key[reel & 1u][from][0], wins->key[reel & 1u][from][1]};
            uint32_t result = 0;
            if (m->ways ? step_ways(m, reel, stop, &state, &result) : step_line(m, reel, stop, &state, &result)) {
                const uint32_t to = number_of(wins, reel + 1, state);
                if (to == CAB_WIN_STATES)
                    return false;
                result = CAB_WIN_OPEN | to;
            } else if (result & CAB_WIN_OPEN) {
                return false;
            }
            wins->next[(*used)++] = result;
        }
    return true;
}

/* ------------------------------------------------------------------------------------------------------ the prefixes */

enum { MOST_THREADS = CAB_MAX_LINES };

/* Fills the entries of all stops of `reel` and of the reels behind it, up to the table's depth. */
static bool make_prefixes(maker_t *m, unsigned reel, uint32_t index, const uint16_t *open, unsigned count,
                          uint32_t credits)
{
    cab_wins_t *wins = m->wins;

    for (uint32_t stop = 0; stop < wins->length[reel]; stop++) {
        const uint32_t entry = index * wins->length[reel] + stop;
        uint16_t still[MOST_THREADS];
        unsigned left = 0;
        uint32_t won = credits;

        for (unsigned i = 0; i < count; i++) {
            const uint32_t next = wins->next[wins->first[reel] + open[i] * wins->length[reel] + stop];
            if (next & CAB_WIN_OPEN)
                still[left++] = (uint16_t)(next & ~CAB_WIN_OPEN);
            else
                won += next;
        }
        if (reel + 1u < wins->depth && reel + 1u < CAB_MAX_REELS) {
            if (!make_prefixes(m, reel + 1, entry, still, left, won))
                return false;
            continue;
        }
        if (!left) {
            if (won & CAB_WIN_OPEN)
                return false;
            wins->prefix[entry] = won;
            continue;
        }
        if (left + 3 > CAB_WIN_THREADS - m->threads)
            return false;
        wins->prefix[entry] = CAB_WIN_OPEN | m->threads;
        wins->threads[m->threads++] = (uint16_t)won;
        wins->threads[m->threads++] = (uint16_t)(won >> 16);
        wins->threads[m->threads++] = (uint16_t)left;
        for (unsigned i = 0; i < left; i++)
            wins->threads[m->threads++] = still[i];
    }
    return true;
}

/* Counts a set of symbols. False: there are too many sets. */
static bool count_symbols(cab_wins_t *wins, uint32_t symbols)
{
    unsigned i = 0;

    while (i < wins->counters && wins->counter[i] != symbols)
        i++;
    if (i == CAB_WIN_COUNTERS)
        return false;
    if (i == wins->counters)
        wins->counter[wins->counters++] = symbols;
    return true;
}

uint32_t cab_counted_as(const cab_pack_t *pack, unsigned scatter)
{
    uint32_t symbols = 0;

    for (unsigned s = 0; s < pack->symbols; s++)
        symbols |= (pack->counts_as[s] >> pack->scatter_symbol[scatter] & 1u) << s;
    return symbols;
}

static bool make_profiles(maker_t *m, unsigned mode)
{
    const cab_pack_t *pack = m->pack;
    cab_wins_t *wins = m->wins;

    wins->counters = 0;
    if (cab_pack_mode(pack, mode).flags & CAB_MODE_SCATTER_PAYS)
        for (unsigned n = 0; n < pack->scatters; n++)
            if (!count_symbols(wins, cab_counted_as(pack, n)))
                return false;
    for (unsigned row = pack->first_step[mode]; row < pack->first_step[mode + 1u]; row++) {
        const cab_step_t step = cab_pack_step(pack, row);
        if ((step.symbols && !count_symbols(wins, step.symbols)) || (step.needed && !count_symbols(wins, step.needed)))
            return false;
    }
    for (unsigned reel = 0; reel < pack->reels; reel++)
        for (unsigned stop = 0; stop < m->strip[reel].length; stop++) {
            uint64_t profile = 0;
            for (unsigned row = 0; row < pack->rows; row++)
                for (unsigned i = 0; i < wins->counters; i++)
                    profile += (uint64_t)(wins->counter[i] >> symbol_at(m, reel, stop, row) & 1u) << 8 * i;
            wins->profile[reel][stop] = profile;
        }
    return true;
}

bool cab_wins_make(cab_wins_t *wins, const cab_pack_t *pack, unsigned mode)
{
    const cab_mode_t row = cab_pack_mode(pack, mode);
    uint16_t start[MOST_THREADS];
    uint32_t used = 0, stops = 1;
    unsigned count = 0;
    maker_t m;

    memset(&m, 0, sizeof m);
    m.pack = pack;
    m.wins = wins;
    for (unsigned reel = 0; reel < pack->reels; reel++)
        m.strip[reel] = cab_pack_strip(pack, row.set, reel);
    for (unsigned run = pack->reels + 1u; run-- > 0;)
        m.hopeful[run] = pack->paying[run] | (run < pack->reels ? m.hopeful[run + 1] : 0);
    m.ways = row.evaluation == CAB_WAYS;
    m.wild_multiplier = 1;
    for (unsigned s = 0; s < pack->symbols && pack->multiplier_rule == CAB_MULTIPLIER_HIGHEST; s++)
        if (pack->wild_multiplier[s] > m.wild_multiplier)
            m.wild_multiplier = pack->wild_multiplier[s];
    if (!make_profiles(&m, mode))
        return false;

    memset(wins->states, 0, sizeof wins->states);
    memset(wins->slot, 0, sizeof wins->slot);
    for (unsigned i = 0; i < (m.ways ? pack->symbols : pack->lines); i++)
        if (!m.ways || (m.hopeful[1] >> i & 1u))
            start[count++] = (uint16_t)number_of(wins, 0, m.ways ? start_ways(i) : start_line(&m, i));
    for (unsigned reel = 0; reel < pack->reels; reel++)
        if (!make_transitions(&m, reel, &used))
            return false;

    wins->depth = 0;
    while (wins->depth < pack->reels && stops * wins->length[wins->depth] <= CAB_WIN_PREFIXES)
        stops *= wins->length[wins->depth++];
    for (; wins->depth; wins->depth--) {
        m.threads = 0;
        if (make_prefixes(&m, 0, 0, start, count, 0))
            return true;
    }
    return false;
}

uint32_t cab_wins(const cab_wins_t *wins, unsigned reels, const uint32_t *stops)
{
    uint32_t index = 0;

    for (unsigned reel = 0; reel < wins->depth; reel++)
        index = index * wins->length[reel] + stops[reel];
    const uint32_t prefix = wins->prefix[index];
    return prefix & CAB_WIN_OPEN ? cab_wins_behind(wins, reels, prefix, stops, 1) : prefix;
}

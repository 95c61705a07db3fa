/* quick.c - rounds added up from tables.
 *
 * Stops are drawn for CAB_LANES rounds side by side, what their windows win is looked up. Most rounds end there. A round in
 * which cells draw values or add to a pile takes its further words one by one; one that begins a plain feature (free spins
 * with a multiplier, perhaps prolonged) plays its spins in batches too. Whatever else could happen, a word that a draw
 * throws away and the win cap included, is for the round function: it plays the round again from its beginning, so it does
 * not matter where a round is given up. Nothing of a round is added before it is known whole.
 */
#include "quick.h"
#include "bytes.h"
#include "sums.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- more words */

/* The words of one round: as many blocks at once as there are lanes. */
typedef struct {
    uint32_t key[8][CAB_LANES];
    cab_blocks_t blocks;
    uint32_t position; /* words taken so far */
    uint32_t made;     /* words in the blocks before these; UINT32_MAX: none are made */
} words_t;

static uint32_t next_word(words_t *words)
{
    const uint32_t within = words->position % (16u * CAB_LANES);

    if (words->position - within != words->made) {
        static const uint32_t nonce[CAB_LANES] = {0};
        uint32_t counter[CAB_LANES];
        words->made = words->position - within;
        for (unsigned lane = 0; lane < CAB_LANES; lane++)
            counter[lane] = words->made / 16 + lane;
        cab_chacha20_lanes((const uint32_t(*)[CAB_LANES])words->key, counter, nonce, &words->blocks);
    }
    words->position++;
    return words->blocks.word[within % 16][within / 16];
}

/* ------------------------------------------------------------------------------------------------------------- spins */

/* What CAB_LANES spins show and win, without multipliers. */
typedef struct {
    uint64_t profile[CAB_LANES]; /* counts in view, one byte a counter */
    uint32_t credits[CAB_LANES]; /* lines or ways */
    uint32_t scatter[CAB_LANES]; /* scatter pays */
    uint32_t refused[CAB_LANES]; /* a draw threw a word away: the rest of the lane means nothing */
} spins_t;

static inline unsigned count_of(uint64_t profile, unsigned counter)
{
    return (unsigned)(profile >> 8 * counter) & 255u;
}

/* Loops that a compiler can turn into vectors come first; the few windows with open threads are followed one by one. */
CAB_VECTORS static void spin_lanes(unsigned reels, const cab_plan_t *plan, const uint32_t (*word)[CAB_LANES], spins_t *out)
{
    const cab_wins_t *wins = plan->wins;
    uint32_t stops[CAB_MAX_REELS][CAB_LANES], index[CAB_LANES] = {0};
    unsigned open[CAB_LANES], opened = 0;

    memset(out->refused, 0, sizeof out->refused);
    for (unsigned reel = 0; reel < reels; reel++) {
        const cab_range_t range = plan->range[reel];
        for (unsigned lane = 0; lane < CAB_LANES; lane++) {
            stops[reel][lane] = cab_reduce(range, word[reel][lane]);
            out->refused[lane] |= word[reel][lane] > range.last;
        }
        if (reel < wins->depth)
            for (unsigned lane = 0; lane < CAB_LANES; lane++)
                index[lane] = index[lane] * range.length + stops[reel][lane];
    }
    for (unsigned lane = 0; lane < CAB_LANES; lane++)
        out->credits[lane] = wins->prefix[index[lane]];
    for (unsigned lane = 0; lane < CAB_LANES; lane++)
        out->profile[lane] = wins->profile[0][stops[0][lane]];
    for (unsigned reel = 1; reel < reels; reel++)
        for (unsigned lane = 0; lane < CAB_LANES; lane++)
            out->profile[lane] += wins->profile[reel][stops[reel][lane]];
    memset(out->scatter, 0, sizeof out->scatter);
    for (unsigned n = 0; n < plan->scatters; n++)
        for (unsigned lane = 0; lane < CAB_LANES; lane++)
            out->scatter[lane] += plan->scatter_pay[n][count_of(out->profile[lane], plan->scatter_counter[n])];

    for (unsigned lane = 0; lane < CAB_LANES; lane++) {
        open[opened] = lane;
        opened += out->credits[lane] >> 31;
    }
    for (unsigned i = 0; i < opened; i++)
        out->credits[open[i]] = cab_wins_behind(wins, reels, out->credits[open[i]], &stops[0][open[i]], CAB_LANES);
}

/* ----------------------------------------------------------------------------------------------------------- features */

/* Credits won and spins played in a feature that begins behind the words taken so far. room: credits up to the most that
 * the quick way plays. False: the round function must play it. */
static bool play_feature(const cab_quick_t *quick, unsigned number, unsigned count, words_t *words, uint64_t room,
                         uint64_t *won, uint64_t *played)
{
    const cab_plan_t *plan = &quick->feature[number];
    const unsigned reels = quick->pack->reels, most_spins = cab_pack_feature(quick->pack, number).most_spins;
    uint64_t credits = 0;
    unsigned first;

    const unsigned options = cab_pack_options(quick->pack, number, count, &first);
    const cab_option_t option = cab_pack_option(quick->pack, first + (options > 1 ? quick->policy[options] : 0));
    uint32_t left = option.spins;

    for (*played = 0; left;) {
        const unsigned now = left < CAB_LANES ? left : CAB_LANES;
        uint32_t word[CAB_MAX_REELS][CAB_LANES] = {{0}};
        spins_t spins;

        for (unsigned lane = 0; lane < now; lane++)
            for (unsigned reel = 0; reel < reels; reel++)
                word[reel][lane] = next_word(words);
        spin_lanes(reels, plan, (const uint32_t(*)[CAB_LANES])word, &spins);
        for (unsigned lane = 0; lane < now; lane++) {
            left--;
            ++*played;
            credits += (uint64_t)spins.credits[lane] + spins.scatter[lane];
            if (spins.refused[lane] || credits * option.multiplier > room)
                return false;
            for (unsigned i = 0; i < plan->adds; i++) {
                const uint32_t more = count_of(spins.profile[lane], plan->add[i].counter) * plan->add[i].each;
                const uint32_t most = (uint32_t)(most_spins - left - *played);
                left += more < most ? more : most;
            }
        }
    }
    *won = credits * option.multiplier;
    return true;
}

/* ----------------------------------------------------------------------------------------- rounds with more than wins */

/* Draws from a table; false: the word is thrown away, which the round function will do. */
static inline bool draw_row(const cab_draws_t *draws, uint32_t word, unsigned *row)
{
    const uint32_t value = cab_reduce(draws->range, word);

    for (*row = 0; value >= draws->below[*row]; ++*row)
        ;
    return word <= draws->range.last;
}

typedef struct {
    const cab_blocks_t *blocks; /* the first block of the round, in its lane; further ones in `words` */
    words_t *words;
    const uint32_t (*key)[CAB_LANES];
    unsigned lane;
    uint32_t position;
} round_words_t;

static uint32_t word_of_round(round_words_t *from)
{
    if (from->position < 16)
        return from->blocks->word[from->position++][from->lane];
    if (from->position == 16) {
        for (unsigned i = 0; i < 8; i++)
            for (unsigned lane = 0; lane < CAB_LANES; lane++)
                from->words->key[i][lane] = from->key[i][from->lane];
        from->words->made = UINT32_MAX;
        from->words->position = 16;
    }
    from->position++;
    return next_word(from->words);
}

/* One round that is more than its wins. False: the round function must play it. */
static bool play_more(const cab_quick_t *quick, const cab_blocks_t *blocks, const uint32_t key[8][CAB_LANES], unsigned lane,
                      const spins_t *spins, cab_tally_t *tally)
{
    const cab_plan_t *plan = &quick->base;
    const uint64_t profile = spins->profile[lane];
    words_t words;
    round_words_t from = {blocks, &words, key, lane, plan->modified + quick->pack->reels};
    uint64_t cash = 0, award, won = 0, played = 0;
    unsigned row, valued = 0, feature = CAB_NONE, count = 0;

    for (unsigned i = 0; i < plan->values; i++)
        for (unsigned left = count_of(profile, plan->value[i].counter); left; left--, valued++) {
            if (!draw_row(&plan->value[i].draws, word_of_round(&from), &row))
                return false;
            cash += plan->value[i].draws.credits[row];
        }
    bool collected = false;
    for (unsigned i = 0; i < plan->collects; i++)
        collected |= count_of(profile, plan->collect[i]) > 0;
    if (!collected)
        cash = 0;
    for (unsigned i = 0; i < plan->piles; i++)
        for (unsigned left = count_of(profile, plan->pile[i].counter); left; left--)
            if (!draw_row(&plan->pile[i].draws, word_of_round(&from), &row) || !plan->pile[i].draws.nothing[row])
                return false;
    for (unsigned i = 0; i < plan->triggers; i++) {
        const cab_trigger_t trigger = plan->trigger[i];
        const unsigned shown = count_of(profile, trigger.counter);
        if (shown < trigger.least || shown > trigger.most ||
            (trigger.needed != CAB_NONE && !count_of(profile, trigger.needed)))
            continue;
        if (trigger.feature == CAB_NONE || feature != CAB_NONE)
            return false;
        feature = trigger.feature;
        count = shown;
    }
    award = (uint64_t)spins->credits[lane] + spins->scatter[lane] + cash;
    if (award > quick->most_credits)
        return false;
    if (feature != CAB_NONE) {
        if (from.position <= 16) { /* no further block was needed so far */
            for (unsigned i = 0; i < 8; i++)
                for (unsigned each = 0; each < CAB_LANES; each++)
                    words.key[i][each] = key[i][lane];
            words.made = UINT32_MAX;
            words.position = from.position;
        }
        if (!play_feature(quick, feature, count, &words, quick->most_credits - award, &won, &played))
            return false;
        tally->begun[feature]++;
        award += won;
    }
    tally->rounds++;
    tally->base += spins->credits[lane];
    tally->scatter += spins->scatter[lane];
    tally->cash += cash;
    tally->features += won;
    tally->spins += played;
    tally->hits += award > 0;
    if (award > tally->most)
        tally->most = award;
    cab_add_product(&tally->squares_hi, &tally->squares_lo, award, award);
    return true;
}

/* -------------------------------------------------------------------------------------------------------------- lanes */

/* For each lane whether anything but wins is to be looked at: 0 or 1. */
static inline void look_further(const cab_plan_t *plan, const spins_t *spins, uint32_t *further)
{
    for (unsigned i = 0; i < plan->triggers; i++) {
        const cab_trigger_t t = plan->trigger[i];
        for (unsigned lane = 0; lane < CAB_LANES; lane++)
            further[lane] |= (count_of(spins->profile[lane], t.counter) >= t.least) &
                             (count_of(spins->profile[lane], t.counter) <= t.most);
    }
    for (unsigned i = 0; i < plan->values; i++)
        for (unsigned lane = 0; lane < CAB_LANES; lane++)
            further[lane] |= count_of(spins->profile[lane], plan->value[i].counter) > 0;
    for (unsigned i = 0; i < plan->piles; i++)
        for (unsigned lane = 0; lane < CAB_LANES; lane++)
            further[lane] |= count_of(spins->profile[lane], plan->pile[i].counter) > 0;
}

CAB_VECTORS uint32_t cab_quick_rounds(const cab_quick_t *quick, const uint32_t key[8][CAB_LANES], uint32_t lanes,
                                      cab_tally_t *tally)
{
    static const uint32_t zero[CAB_LANES] = {0};
    const cab_plan_t *plan = &quick->base;
    const uint64_t limit = quick->most_credits < MOST_PLAIN ? quick->most_credits : MOST_PLAIN;
    uint64_t plain[CAB_LANES], base = 0, scatter = 0, squares = 0, most = 0;
    uint32_t further[CAB_LANES] = {0}, others = 0, hits = 0, count = 0;
    cab_blocks_t blocks;
    spins_t spins;

    cab_chacha20_lanes(key, zero, zero, &blocks);
    spin_lanes(quick->pack->reels, plan, (const uint32_t(*)[CAB_LANES])(blocks.word + plan->modified), &spins);
    look_further(plan, &spins, further);
    if (plan->modified)
        for (unsigned lane = 0; lane < CAB_LANES; lane++) {
            unsigned row;
            if (!draw_row(&plan->modifier, blocks.word[0][lane], &row) || !plan->modifier.nothing[row])
                spins.refused[lane] = 1;
        }

    for (unsigned lane = 0; lane < CAB_LANES; lane++) {
        const uint64_t award = (uint64_t)spins.credits[lane] + spins.scatter[lane];
        const bool own = lanes >> lane & 1u;
        const bool is_plain = (award <= limit) & !spins.refused[lane] & !further[lane];
        plain[lane] = own & is_plain;
        others |= (uint32_t)(own & !is_plain) << lane;
    }
    for (unsigned lane = 0; lane < CAB_LANES; lane++) {
        const uint64_t credits = spins.credits[lane] & -plain[lane], bets = spins.scatter[lane] & -plain[lane];
        const uint64_t award = credits + bets;
        count += (uint32_t)plain[lane];
        base += credits;
        scatter += bets;
        hits += award > 0;
        squares += award * award;
        most = award > most ? award : most;
    }
    memset(tally, 0, sizeof *tally);
    tally->rounds = count;
    tally->base = base;
    tally->scatter = scatter;
    tally->hits = hits;
    tally->squares_lo = squares;
    tally->most = most;

    for (uint32_t left = others; left; left &= left - 1) {
        const unsigned lane = cab_lowest_bit(left);
        if (!spins.refused[lane] && play_more(quick, &blocks, key, lane, &spins, tally))
            others &= ~((uint32_t)1 << lane);
    }
    return others;
}

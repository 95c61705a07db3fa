/* pack_object.c - Pack: what a game pack tells, as tuples, texts and numbers. */
#include "objects.h"

static mp_obj_t text(const cab_pack_t *c, unsigned offset)
{
    return mp_obj_new_str_from_cstr(cab_pack_text(c, offset));
}

static mp_obj_t small(unsigned value)
{
    return MP_OBJ_NEW_SMALL_INT((mp_int_t)value);
}

static mp_obj_t symbol_names(const cab_pack_t *c)
{
    mp_obj_tuple_t *names = cabinet_tuple(c->symbols);
    for (unsigned i = 0; i < c->symbols; i++)
        names->items[i] = mp_obj_new_str_from_cstr(cab_pack_symbol_name(c, i));
    return MP_OBJ_FROM_PTR(names);
}

static mp_obj_t mode_names(const cab_pack_t *c)
{
    mp_obj_tuple_t *names = cabinet_tuple(c->modes);
    for (unsigned i = 0; i < c->modes; i++)
        names->items[i] = mp_obj_new_str_from_cstr(cab_pack_text(c, cab_pack_mode(c, i).name));
    return MP_OBJ_FROM_PTR(names);
}

static mp_obj_t line_rows(const cab_pack_t *c)
{
    mp_obj_tuple_t *lines = cabinet_tuple(c->lines);
    for (unsigned i = 0; i < c->lines; i++) {
        mp_obj_tuple_t *rows = cabinet_tuple(c->reels);
        for (unsigned reel = 0; reel < c->reels; reel++)
            rows->items[reel] = small(c->line_rows[i * c->reels + reel]);
        lines->items[i] = MP_OBJ_FROM_PTR(rows);
    }
    return MP_OBJ_FROM_PTR(lines);
}

static mp_obj_t coin_values(const cab_pack_t *c)
{
    mp_obj_tuple_t *values = cabinet_tuple(c->coin_values);
    for (unsigned i = 0; i < c->coin_values; i++)
        values->items[i] = cabinet_int(cab_pack_coin_value(c, i));
    return MP_OBJ_FROM_PTR(values);
}

/* (name, mode, ((trigger count, spins, multiplier), ...)) of each feature. Rows of OPTN are sorted by feature. */
static mp_obj_t feature_rows(const cab_pack_t *c)
{
    mp_obj_tuple_t *features = cabinet_tuple(c->features);
    unsigned row = 0;

    for (unsigned i = 0; i < c->features; i++) {
        const cab_feature_t feature = cab_pack_feature(c, i);
        const unsigned first = row;
        while (row < c->options && cab_pack_option(c, row).feature == i)
            row++;
        mp_obj_tuple_t *options = cabinet_tuple(row - first);
        for (unsigned k = first; k < row; k++) {
            const cab_option_t option = cab_pack_option(c, k);
            const mp_obj_t items[3] = {small(option.count), small(option.spins), small(option.multiplier)};
            options->items[k - first] = mp_obj_new_tuple(3, items);
        }
        const mp_obj_t items[3] = {text(c, feature.name), small(feature.mode), MP_OBJ_FROM_PTR(options)};
        features->items[i] = mp_obj_new_tuple(3, items);
    }
    return MP_OBJ_FROM_PTR(features);
}

/* (name, credits, tokens) of each pot. */
static mp_obj_t pot_rows(const cab_pack_t *c)
{
    mp_obj_tuple_t *pots = cabinet_tuple(c->pots);
    for (unsigned i = 0; i < c->pots; i++) {
        const cab_pot_t pot = cab_pack_pot(c, i);
        const mp_obj_t items[3] = {text(c, pot.name), cabinet_int(pot.credits), small(pot.tokens)};
        pots->items[i] = mp_obj_new_tuple(3, items);
    }
    return MP_OBJ_FROM_PTR(pots);
}

/* (symbol, multiplier, mask of symbols that it substitutes for) of each wild. */
static mp_obj_t wild_rows(const cab_pack_t *c)
{
    unsigned count = 0;
    for (unsigned symbol = 0; symbol < c->symbols; symbol++)
        count += cab_pack_stands_for(c, symbol) != 0;
    mp_obj_tuple_t *wilds = cabinet_tuple(count);

    count = 0;
    for (unsigned symbol = 0; symbol < c->symbols; symbol++) {
        const uint32_t mask = cab_pack_stands_for(c, symbol);
        if (!mask)
            continue;
        const mp_obj_t items[3] = {small(symbol), small(c->wild_multiplier[symbol]), cabinet_int(mask)};
        wilds->items[count++] = mp_obj_new_tuple(3, items);
    }
    return MP_OBJ_FROM_PTR(wilds);
}

/* (name, kind, feature, numerator, denominator, spins, value_micro, flags) of each gamble. */
static mp_obj_t gamble_rows(const cab_pack_t *c)
{
    mp_obj_tuple_t *gambles = cabinet_tuple(c->gambles);
    for (unsigned i = 0; i < c->gambles; i++) {
        const cab_gamble_t g = cab_pack_gamble(c, i);
        const mp_obj_t items[8] = {text(c, g.name),      small(g.kind),  small(g.feature),           small(g.numerator),
                                   small(g.denominator), small(g.spins), cabinet_int(g.value_micro), small(g.flags)};
        gambles->items[i] = mp_obj_new_tuple(8, items);
    }
    return MP_OBJ_FROM_PTR(gambles);
}

/* Pack(data). bytes and memoryview are read in place, which is how a pack stays in flash; the bytes behind a memoryview
 * must not change. Anything else may move when it grows, and is copied. */
static mp_obj_t pack_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw, const mp_obj_t *all_args)
{
    static const mp_arg_t allowed[] = {{MP_QSTR_data, MP_ARG_REQUIRED | MP_ARG_OBJ, {.u_obj = MP_OBJ_NULL}}};
    mp_arg_val_t args[MP_ARRAY_SIZE(allowed)];
    mp_arg_parse_all_kw_array(n_args, n_kw, all_args, MP_ARRAY_SIZE(allowed), allowed, args);

    mp_obj_t data = args[0].u_obj;
    mp_buffer_info_t info = cabinet_bytes(data);
    if (!mp_obj_is_exact_type(data, &mp_type_bytes) && !mp_obj_is_exact_type(data, &mp_type_memoryview)) {
        data = mp_obj_new_bytes(info.buf, info.len);
        info = cabinet_bytes(data);
    }
    cabinet_pack_t *self = mp_obj_malloc(cabinet_pack_t, type);
    cab_pack_t *c = &self->c;
    self->data = data;
    cabinet_check(cab_pack_open(c, info.buf, info.len));
    self->name = mp_obj_new_str_from_cstr(cab_pack_name(c));
    self->sha256 = mp_obj_new_bytes((const byte *)info.buf + 32, CAB_SHA256_BYTES); /* checked when the pack was opened */
    self->symbols = symbol_names(c);
    self->lines = line_rows(c);
    self->modes = mode_names(c);
    self->features = feature_rows(c);
    self->pots = pot_rows(c);
    self->wilds = wild_rows(c);
    self->gambles = gamble_rows(c);
    self->gamble_from = cabinet_int(c->gamble_from);
    self->gamble_limit = cabinet_int(c->gamble_limit);
    self->coin_values = coin_values(c);
    self->win_cap_pence = cabinet_int(c->win_cap_pence);
    self->max_unit_pence = cabinet_int(c->max_unit_pence);
    return MP_OBJ_FROM_PTR(self);
}

static void pack_attr(mp_obj_t self_in, qstr attr, mp_obj_t *dest)
{
    const cabinet_pack_t *self = MP_OBJ_TO_PTR(self_in);

    if (dest[0] != MP_OBJ_NULL)
        return; /* a store or a delete: refused by leaving dest as it is */
    switch (attr) {
    case MP_QSTR_name: dest[0] = self->name; break;
    case MP_QSTR_sha256: dest[0] = self->sha256; break;
    case MP_QSTR_reels: dest[0] = small(self->c.reels); break;
    case MP_QSTR_rows: dest[0] = small(self->c.rows); break;
    case MP_QSTR_levels: dest[0] = small(self->c.levels); break;
    case MP_QSTR_win_cap_pence: dest[0] = self->win_cap_pence; break;
    case MP_QSTR_max_unit_pence: dest[0] = self->max_unit_pence; break;
    case MP_QSTR_symbols: dest[0] = self->symbols; break;
    case MP_QSTR_lines: dest[0] = self->lines; break;
    case MP_QSTR_modes: dest[0] = self->modes; break;
    case MP_QSTR_features: dest[0] = self->features; break;
    case MP_QSTR_pots: dest[0] = self->pots; break;
    case MP_QSTR_wilds: dest[0] = self->wilds; break;
    case MP_QSTR_gambles: dest[0] = self->gambles; break;
    case MP_QSTR_gamble_payback_ppm: dest[0] = small(self->c.gamble_payback_ppm); break;
    case MP_QSTR_gamble_from: dest[0] = self->gamble_from; break;
    case MP_QSTR_gamble_limit: dest[0] = self->gamble_limit; break;
    case MP_QSTR_most_gambles: dest[0] = small(self->c.most_gambles); break;
    case MP_QSTR_spin_chance: dest[0] = mp_obj_new_bool(self->c.spin_chance); break;
    case MP_QSTR_stake: dest[0] = small(self->c.stake); break;
    case MP_QSTR_coin_values: dest[0] = self->coin_values; break;
    default: dest[1] = MP_OBJ_SENTINEL; break; /* look among the methods */
    }
}

static cab_mode_t get_mode(const cabinet_pack_t *self, mp_obj_t mode)
{
    return cab_pack_mode(&self->c, cabinet_index(mode, self->c.modes));
}

/* cost(mode): total bet in credits. */
static mp_obj_t pack_cost(mp_obj_t self, mp_obj_t mode)
{
    return small(get_mode(MP_OBJ_TO_PTR(self), mode).cost);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_cost_obj, pack_cost);

/* flags(mode): MODE_SCATTER_PAYS | MODE_SELECTABLE. */
static mp_obj_t pack_flags(mp_obj_t self, mp_obj_t mode)
{
    return small(get_mode(MP_OBJ_TO_PTR(self), mode).flags);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_flags_obj, pack_flags);

/* rtp_ppm(mode): (lowest, highest) by player choice. */
static mp_obj_t pack_rtp_ppm(mp_obj_t self, mp_obj_t mode)
{
    const cab_mode_t row = get_mode(MP_OBJ_TO_PTR(self), mode);
    const mp_obj_t items[2] = {cabinet_int(row.rtp_low_ppm), cabinet_int(row.rtp_high_ppm)};
    return mp_obj_new_tuple(2, items);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_rtp_ppm_obj, pack_rtp_ppm);

/* pay(symbol, count): credits for a run of count = 1 ... reels. */
static mp_obj_t pack_pay(mp_obj_t self, mp_obj_t symbol, mp_obj_t count)
{
    const cab_pack_t *c = &((const cabinet_pack_t *)MP_OBJ_TO_PTR(self))->c;
    const unsigned index = cabinet_index(symbol, c->symbols);
    return cabinet_int(cab_pack_pay(c, index, cabinet_count(count, c->reels)));
}
static MP_DEFINE_CONST_FUN_OBJ_3(pack_pay_obj, pack_pay);

/* scatter_pay(symbol, count): total bets for count = 1 ... cells in view; 0 for a symbol that is no scatter. */
static mp_obj_t pack_scatter_pay(mp_obj_t self, mp_obj_t symbol, mp_obj_t count)
{
    const cab_pack_t *c = &((const cabinet_pack_t *)MP_OBJ_TO_PTR(self))->c;
    const unsigned index = cabinet_index(symbol, c->symbols), in_view = cabinet_count(count, c->cells);
    for (unsigned scatter = 0; scatter < c->scatters; scatter++)
        if (c->scatter_symbol[scatter] == index)
            return cabinet_int(cab_pack_scatter_pay(c, scatter, in_view));
    return small(0);
}
static MP_DEFINE_CONST_FUN_OBJ_3(pack_scatter_pay_obj, pack_scatter_pay);

/* strip(set, reel): symbol numbers from stop 0. */
static mp_obj_t pack_strip(mp_obj_t self, mp_obj_t set, mp_obj_t reel)
{
    const cab_pack_t *c = &((const cabinet_pack_t *)MP_OBJ_TO_PTR(self))->c;
    const unsigned index = cabinet_index(set, c->sets);
    const cab_strip_t strip = cab_pack_strip(c, index, cabinet_index(reel, c->reels));
    return mp_obj_new_bytes(strip.symbols, strip.length);
}
static MP_DEFINE_CONST_FUN_OBJ_3(pack_strip_obj, pack_strip);

/* evaluation(mode): 0 lines, 1 ways. */
static mp_obj_t pack_evaluation(mp_obj_t self, mp_obj_t mode)
{
    return small(get_mode(MP_OBJ_TO_PTR(self), mode).evaluation);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_evaluation_obj, pack_evaluation);

/* steps(mode): ((op, index, most, least, symbols, needed, credits), ...). */
static mp_obj_t pack_steps(mp_obj_t self, mp_obj_t mode)
{
    const cab_pack_t *c = &((const cabinet_pack_t *)MP_OBJ_TO_PTR(self))->c;
    const unsigned index = cabinet_index(mode, c->modes), first = c->first_step[index];
    mp_obj_tuple_t *steps = cabinet_tuple(c->first_step[index + 1] - first);

    for (unsigned i = 0; i < steps->len; i++) {
        const cab_step_t s = cab_pack_step(c, first + i);
        const mp_obj_t items[7] = {small(s.op),            small(s.index),        small(s.most),         small(s.least),
                                   cabinet_int(s.symbols), cabinet_int(s.needed), cabinet_int(s.credits)};
        steps->items[i] = mp_obj_new_tuple(7, items);
    }
    return MP_OBJ_FROM_PTR(steps);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_steps_obj, pack_steps);

/* table(number): ((weight, kind, index, number), ...). */
static mp_obj_t pack_table(mp_obj_t self, mp_obj_t number)
{
    const cab_pack_t *c = &((const cabinet_pack_t *)MP_OBJ_TO_PTR(self))->c;
    const cab_table_t table = cab_pack_table(c, cabinet_index(number, c->tables));
    mp_obj_tuple_t *rows = cabinet_tuple(table.rows);

    for (unsigned i = 0; i < table.rows; i++) {
        const cab_prize_t p = cab_pack_prize(c, table.first + i);
        const mp_obj_t items[4] = {cabinet_int(p.weight), small(p.kind), small(p.index), cabinet_int(p.number)};
        rows->items[i] = mp_obj_new_tuple(4, items);
    }
    return MP_OBJ_FROM_PTR(rows);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_table_obj, pack_table);

/* boards(group): (mode, ((stop, ...), ...)). */
static mp_obj_t pack_boards(mp_obj_t self, mp_obj_t number)
{
    const cab_pack_t *c = &((const cabinet_pack_t *)MP_OBJ_TO_PTR(self))->c;
    const cab_group_t group = cab_pack_group(c, cabinet_index(number, c->groups));
    mp_obj_tuple_t *boards = cabinet_tuple(group.boards);

    for (unsigned i = 0; i < group.boards; i++) {
        mp_obj_tuple_t *stops = cabinet_tuple(c->reels);
        for (unsigned reel = 0; reel < c->reels; reel++)
            stops->items[reel] = small(cab_pack_board(c, group.first + i, reel));
        boards->items[i] = MP_OBJ_FROM_PTR(stops);
    }
    const mp_obj_t items[2] = {small(group.mode), MP_OBJ_FROM_PTR(boards)};
    return mp_obj_new_tuple(2, items);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_boards_obj, pack_boards);

/* bowls(feature): ((level, table), ...) of the levels that have a table. */
static mp_obj_t pack_bowls(mp_obj_t self, mp_obj_t number)
{
    const cab_pack_t *c = &((const cabinet_pack_t *)MP_OBJ_TO_PTR(self))->c;
    const cab_feature_t feature = cab_pack_feature(c, cabinet_index(number, c->features));
    mp_obj_t bowls[CAB_MAX_LEVEL];
    unsigned count = 0;

    for (unsigned level = 1; level <= CAB_MAX_LEVEL; level++) {
        const mp_obj_t items[2] = {small(level), small(feature.bowls[level - 1])};
        if (feature.bowls[level - 1] != CAB_NONE)
            bowls[count++] = mp_obj_new_tuple(2, items);
    }
    return mp_obj_new_tuple(count, bowls);
}
static MP_DEFINE_CONST_FUN_OBJ_2(pack_bowls_obj, pack_bowls);

static const mp_rom_map_elem_t pack_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_evaluation), MP_ROM_PTR(&pack_evaluation_obj)},
    {MP_ROM_QSTR(MP_QSTR_steps), MP_ROM_PTR(&pack_steps_obj)},
    {MP_ROM_QSTR(MP_QSTR_table), MP_ROM_PTR(&pack_table_obj)},
    {MP_ROM_QSTR(MP_QSTR_boards), MP_ROM_PTR(&pack_boards_obj)},
    {MP_ROM_QSTR(MP_QSTR_bowls), MP_ROM_PTR(&pack_bowls_obj)},
    {MP_ROM_QSTR(MP_QSTR_cost), MP_ROM_PTR(&pack_cost_obj)},
    {MP_ROM_QSTR(MP_QSTR_flags), MP_ROM_PTR(&pack_flags_obj)},
    {MP_ROM_QSTR(MP_QSTR_rtp_ppm), MP_ROM_PTR(&pack_rtp_ppm_obj)},
    {MP_ROM_QSTR(MP_QSTR_pay), MP_ROM_PTR(&pack_pay_obj)},
    {MP_ROM_QSTR(MP_QSTR_scatter_pay), MP_ROM_PTR(&pack_scatter_pay_obj)},
    {MP_ROM_QSTR(MP_QSTR_strip), MP_ROM_PTR(&pack_strip_obj)},
};
static MP_DEFINE_CONST_DICT(pack_locals, pack_locals_table);

MP_DEFINE_CONST_OBJ_TYPE(cabinet_pack_type, MP_QSTR_Pack, MP_TYPE_FLAG_NONE, make_new, pack_make_new, attr, pack_attr,
                                locals_dict, &pack_locals);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ledger, site, operator, owner and module of one side is which of the others.
 */
#include "diff_join.h"

#include <stdlib.h>
#include <string.h>

#include "driver_modules.h"
#include "hash.h"
#include "labels.h"
#include "ledger_layers.h"
#include "pools.h"
#include "sentence.h"

/* Of all such sites: their own would be compared with nothing. */
#define NO_MODULE_KEY UINT64_MAX
/* Of what was held before, by nobody who is known. */
#define OLDER_KEY     (UINT64_MAX - 1)

/* --- names ---------------------------------------------------------------------------------- */

static uint32_t name_add(struct diff_join *join, const char *name)
{
    uint64_t hash = hash_bytes(name, strlen(name));
    size_t probe = 0;
    uint32_t found;
    const char **row;

    while (hash_index_next(&join->name_index, hash, &probe, &found))
        if (strcmp(diff_name_at(join, found), name) == 0)
            return found;
    row = hash_index_add_row(&join->name_index, hash, &join->names);
    if (!row) {
        join->has_failed = true;
        return 0;
    }
    *row = name; /* of a model or of its symbols, which outlive the join */
    return (uint32_t)(join->names.count - 1);
}

const char *diff_name_at(const struct diff_join *join, uint32_t name)
{
    if (name >= join->names.count) /* there was no memory for the first one */
        return "";
    return *(const char **)table_at(&join->names, name);
}

uint32_t diff_name(struct diff_join *join, size_t side, uint32_t text)
{
    struct diff_side *on = &join->sides[side];

    if (!on->name_of_text[text])
        on->name_of_text[text] = name_add(join, model_text_at(on->question->model, text)) + 1;
    return on->name_of_text[text] - 1;
}

/* --- ledgers -------------------------------------------------------------------------------- */

/* What makes a ledger the same on another side. */
struct ledger_key {
    int64_t process;
    const char *pool;
    enum ledger_kind kind;
    int32_t device;
};

static bool is_used(const struct diff_side *side, uint16_t index)
{
    const struct ledger *ledger = tally_ledger_at(side->question->tally, index);

    return side->held.ledgers[index].is_used || ledger->has_reserved;
}

/* Processes that hold something, in order; only one on a side is process 0 whatever its rank. */
static int64_t process_key(const struct diff_side *side, uint16_t process)
{
    int64_t before = 0, others = 0;
    uint16_t last = UINT16_MAX;
    int32_t rank = model_process_at(tally_model(side->question->tally), process)->rank;

    for (uint16_t i = 0; i < side->held.ledger_count; i++) {
        uint16_t owner = tally_ledger_at(side->question->tally, i)->process;

        if (!is_used(side, i) || owner == last)
            continue;
        last = owner;
        before += owner < process;
        others += owner != process;
    }
    if (!others)
        return 0;
    return rank >= 0 ? rank : before;
}

static struct ledger_key key_of(const struct diff_side *side, uint16_t index)
{
    const struct question *question = side->question;
    const struct ledger *ledger = tally_ledger_at(question->tally, index);

    return (struct ledger_key){
        .process = process_key(side, ledger->process),
        .pool = model_text_at(question->model, model_pool_name_at(question->model, ledger->pool)),
        .kind = ledger->kind,
        .device = ledger->device,
    };
}

/* The ledger by which the others know a pair. */
static struct ledger_key key_of_pair(const struct diff_join *join, size_t pair)
{
    const struct diff_pair *row = diff_pair_at(join, pair);
    size_t side = 0;

    while (row->ledgers[side] == DIFF_NO_LEDGER)
        side++;
    return key_of(&join->sides[side], row->ledgers[side]);
}

/* What two ledgers must have in common, besides process and kind; the strictest first. */
enum likeness { LIKE_ALL, LIKE_POOL, LIKE_PEER_AND_DEVICE, LIKE_PEER, LIKENESS_COUNT };

static bool is_same(struct ledger_key a, struct ledger_key b, enum likeness likeness)
{
    bool is_one_pool = likeness <= LIKE_POOL
                           ? strcmp(a.pool, b.pool) == 0
                           : pool_is_peer(pool_by_name(a.pool), pool_by_name(b.pool));
    bool is_any_device = likeness == LIKE_POOL || likeness == LIKE_PEER;

    return a.process == b.process && a.kind == b.kind && is_one_pool &&
           (is_any_device || a.device == b.device);
}

static void pair_ledger(struct diff_join *join, size_t side, uint16_t index, enum likeness likeness)
{
    struct ledger_key key = key_of(&join->sides[side], index);

    for (size_t i = 0; i < join->pairs.count; i++) {
        const struct diff_pair *pair = diff_pair_at(join, i);

        if (pair->ledgers[side] != DIFF_NO_LEDGER || !is_same(key, key_of_pair(join, i), likeness))
            continue;
        pair->ledgers[side] = index;
        join->sides[side].pair_of_ledger[index] = (uint32_t)i;
        return;
    }
}

static void pair_new(struct diff_join *join, size_t side, uint16_t index)
{
    struct diff_pair *pair = table_add(&join->pairs);
    size_t bytes = join->side_count * sizeof(*pair->ledgers);

    if (pair)
        pair->ledgers = arena_alloc(&join->arena, bytes);
    if (!pair || !pair->ledgers) {
        join->has_failed = true;
        return;
    }
    memset(pair->ledgers, 0xff, bytes);
    pair->is_alone = false;
    pair->ledgers[side] = index;
    join->sides[side].pair_of_ledger[index] = (uint32_t)(join->pairs.count - 1);
}

static void pair_ledgers(struct diff_join *join, size_t side)
{
    struct diff_side *on = &join->sides[side];

    for (uint16_t i = 0; i < on->held.ledger_count; i++)
        on->pair_of_ledger[i] = UINT32_MAX;
    for (int pass = 0; pass <= LIKENESS_COUNT; pass++) {
        for (uint16_t i = 0; i < on->held.ledger_count && !join->has_failed; i++) {
            if (on->pair_of_ledger[i] != UINT32_MAX || !is_used(on, i))
                continue;
            if (pass < LIKENESS_COUNT)
                pair_ledger(join, side, i, (enum likeness)pass);
            else
                pair_new(join, side, i);
        }
    }
}

static bool has_process(const struct diff_side *side, int64_t process)
{
    for (uint16_t i = 0; i < side->held.ledger_count; i++)
        if (is_used(side, i) && key_of(side, i).process == process)
            return true;
    return false;
}

static void find_alone(struct diff_join *join)
{
    for (size_t i = 0; i < join->pairs.count; i++) {
        struct diff_pair *pair = table_at(&join->pairs, i);
        int64_t process = key_of_pair(join, i).process;

        for (size_t side = 0; side < join->side_count; side++)
            pair->is_alone |=
                pair->ledgers[side] == DIFF_NO_LEDGER && !has_process(&join->sides[side], process);
    }
}

bool diff_pair_is_alone(const struct diff_join *join, uint32_t pair)
{
    return diff_pair_at(join, pair)->is_alone;
}

const char *diff_pair_label(const struct diff_join *join, uint32_t pair, struct arena *arena)
{
    const uint16_t *ledgers = diff_pair_at(join, pair)->ledgers;
    size_t first = 0, last = join->side_count - 1;
    const char *label, *before, *now;

    while (ledgers[last] == DIFF_NO_LEDGER)
        last--;
    while (ledgers[first] == DIFF_NO_LEDGER)
        first++;
    label = label_ledger(join->sides[last].question, arena, ledgers[last]);
    before = key_of(&join->sides[first], ledgers[first]).pool;
    now = key_of(&join->sides[last], ledgers[last]).pool;
    return strcmp(before, now) == 0 ? label : arena_format(arena, "%s -> %s", before, label);
}

/* --- rows ----------------------------------------------------------------------------------- */

static uint64_t row_hash(enum diff_axis axis, uint32_t pair, uint64_t key)
{
    return hash_pair(hash_pair(pair, (uint64_t)axis), key);
}

struct diff_row *diff_row_find(const struct diff_join *join, enum diff_axis axis, uint32_t pair,
                               uint64_t key)
{
    uint64_t hash = row_hash(axis, pair, key);
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&join->row_index, hash, &probe, &found)) {
        struct diff_row *row = table_at(&join->rows, found);

        if (row->axis == axis && row->pair == pair && row->key == key)
            return row;
    }
    return NULL;
}

static struct diff_row *row_for(struct diff_join *join, struct diff_row wanted)
{
    uint64_t hash = row_hash(wanted.axis, wanted.pair, wanted.key);
    struct diff_row *row = diff_row_find(join, wanted.axis, wanted.pair, wanted.key);

    if (row)
        return row;
    wanted.values = arena_alloc(&join->arena, join->side_count * sizeof(*wanted.values));
    row = wanted.values ? hash_index_add_row(&join->row_index, hash, &join->rows) : NULL;
    if (!row) {
        join->has_failed = true;
        return NULL;
    }
    *row = wanted;
    return row;
}

static void amount_add(struct held_amount *sum, struct held_amount more)
{
    sum->bytes += more.bytes;
    sum->count += more.count;
}

/*
 * Sites of one id have names that differ in their lines. The current side, the last one, has the
 * say, and there the site that held most, or made most.
 */
static void row_name(struct diff_row *row, size_t side, const char *name,
                     const struct held_group *values)
{
    uint64_t held_bytes = values->peak.bytes ? values->peak.bytes : values->end.bytes;
    uint64_t made_bytes = values->made.bytes;

    if (side == row->name_side &&
        (held_bytes < row->name_held_bytes ||
         (held_bytes == row->name_held_bytes && made_bytes <= row->name_made_bytes)))
        return;
    row->name = name;
    row->name_side = side;
    row->name_held_bytes = held_bytes;
    row->name_made_bytes = made_bytes;
}

static void row_count(struct diff_join *join, size_t side, struct diff_row wanted,
                      const struct held_group *values)
{
    struct diff_row *row = row_for(join, wanted);

    if (!row)
        return;
    row_name(row, side, wanted.name, values);
    amount_add(&row->values[side].end, values->end);
    amount_add(&row->values[side].peak, values->peak);
    amount_add(&row->values[side].made, values->made);
}

static void count_named(struct diff_join *join, size_t side, struct diff_row row, uint32_t text,
                        const struct held_group *values)
{
    if (!text)
        return;
    row.key = diff_name(join, side, text);
    row.name = diff_name_at(join, (uint32_t)row.key);
    row_count(join, side, row, values);
}

/* Another run has another address there: generated code, or a module that nobody told of. */
static bool is_bare_address(const char *label)
{
    return label[0] == '0' && label[1] == 'x';
}

/* The call site, else the operator, else the owner: as people see it in every other list. */
static void count_site(struct diff_join *join, size_t side, struct diff_row row,
                       const struct group_detail *detail, const struct held_group *values)
{
    const struct question *question = join->sides[side].question;
    uint32_t text = detail->operator_text ? detail->operator_text : detail->owner_text;

    row.name = "(unknown)";
    if (detail->site && !join->is_one_recording &&
        is_bare_address(symbols_label(question->symbols, detail->site))) {
        row.name = translated("(code without a module)");
        row.key = NO_MODULE_KEY;
    } else if (detail->site) {
        row.name = symbols_label(question->symbols, detail->site);
        row.site_id = symbols_site_id(question->symbols, detail->site);
        row.key = join->is_one_recording ? symbols_site_key(question->symbols, detail->site)
                                         : row.site_id;
    } else if (text) {
        row.key = (uint64_t)diff_name(join, side, text) + 1;
        row.name = diff_name_at(join, (uint32_t)(row.key - 1));
    } else if (detail->is_older) {
        row.key = OLDER_KEY;
        row.name = translated("(older than the recording)");
    }
    row_count(join, side, row, values);
}

static void count_module(struct diff_join *join, size_t side, struct diff_row row, uint16_t place,
                         const struct held_group *values)
{
    int32_t module = model_place_at(join->sides[side].question->model, place).module;

    if (module < 0)
        return;
    row.key = (uint64_t)module;
    row.name = driver_module_name((uint32_t)module);
    if (!row.name)
        row.name = "(unknown module)";
    row_count(join, side, row, values);
}

static bool is_empty(const struct held_group *values)
{
    return !values->end.count && !values->peak.count && !values->made.count;
}

static void count_side(struct diff_join *join, size_t side)
{
    const struct diff_side *on = &join->sides[side];
    const struct tally *tally = on->question->tally;

    for (size_t i = 1; i < on->held.group_count && !join->has_failed; i++) {
        const struct group_detail *detail = tally_detail_at(tally, i);
        const struct held_group *values = &on->held.groups[i];
        struct diff_row row = {.pair = on->pair_of_ledger[tally_group_at(tally, i)->ledger]};

        if (is_empty(values))
            continue;
        row.axis = DIFF_MODULES;
        count_module(join, side, row, detail->place, values);
        if (group_is_reserved(on->question, i))
            continue;
        row.axis = DIFF_SITES;
        count_site(join, side, row, detail, values);
        row.axis = DIFF_OPERATORS;
        count_named(join, side, row, detail->operator_text, values);
        row.axis = DIFF_OWNERS;
        count_named(join, side, row, detail->owner_text, values);
    }
}

/* --- the whole ------------------------------------------------------------------------------ */

static bool side_start(struct diff_join *join, struct diff_side *side)
{
    side->pair_of_ledger =
        arena_alloc(&join->arena, (side->held.ledger_count + 1) * sizeof(uint32_t));
    side->name_of_text =
        arena_alloc(&join->arena, (model_text_count(side->question->model) + 1) * sizeof(uint32_t));
    return side->pair_of_ledger && side->name_of_text;
}

bool diff_join_init(struct diff_join *join, struct diff_side *sides, size_t side_count)
{
    memset(join, 0, sizeof(*join));
    join->sides = sides;
    join->side_count = side_count;
    join->is_one_recording = true;
    for (size_t i = 1; i < side_count; i++)
        join->is_one_recording &= sides[i].question->tally == sides[0].question->tally;
    arena_init(&join->arena);
    table_init(&join->pairs, &join->arena, sizeof(struct diff_pair));
    table_init(&join->rows, &join->arena, sizeof(struct diff_row));
    table_init(&join->names, &join->arena, sizeof(const char *));
    hash_index_init(&join->row_index);
    hash_index_init(&join->name_index);
    for (size_t i = 0; i < side_count && !join->has_failed; i++) {
        if (!side_start(join, &sides[i]))
            join->has_failed = true;
        else
            pair_ledgers(join, i);
    }
    if (!join->has_failed)
        find_alone(join);
    for (size_t i = 0; i < side_count && !join->has_failed; i++)
        count_side(join, i);
    if (join->has_failed)
        diff_join_release(join);
    return !join->has_failed;
}

void diff_join_release(struct diff_join *join)
{
    hash_index_release(&join->row_index);
    hash_index_release(&join->name_index);
    arena_release(&join->arena);
}

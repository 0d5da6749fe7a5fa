/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups joined by where their blocks come from: an origin is a stretch of all groups.
 *
 * Where stacks are deep there are a thousand groups for each origin. So only origins are sorted,
 * and each group is put behind the others of its origin.
 */
#include "origins.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "hash_index.h"
#include "leaktide/invariant.h"
#include "ledger_layers.h"
#include "list.h"
#include "sentence.h"

/* What is compared, by group. */
struct group_key {
    uint64_t name;
    uint32_t operator_text; /* 0 where it does not matter */
    uint16_t ledger;
};

/* The key of a site is odd: no name of one kind is one of another. */
static uint64_t name_key(const struct question *question, const struct group_detail *detail,
                         enum origin_split split)
{
    enum name_kind { NAME_OPERATOR = 2, NAME_OWNER = 4, NAME_SIZE = 6 };

    if (detail->site)
        return symbols_site_key(question->symbols, detail->site);
    if (detail->operator_text)
        return (uint64_t)detail->operator_text << 3 | NAME_OPERATOR;
    if (!detail->owner_text && split == ORIGINS_BY_SIZE)
        return (uint64_t)detail->size_class << 3 | NAME_SIZE;
    return (uint64_t)detail->owner_text << 3 | NAME_OWNER;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int key_compare(const struct group_key *a, const struct group_key *b)
{
    int result = compare_numbers(a->ledger, b->ledger);

    if (!result)
        result = compare_numbers(a->name, b->name);
    return result ? result : compare_numbers(a->operator_text, b->operator_text);
}

/* The different keys of all groups. */
struct key_row {
    struct group_key key;
    uint32_t number; /* in the order of first groups; rows are sorted later */
    uint32_t group_count;
};

struct key_rows {
    struct key_row *rows;
    size_t count, capacity;
    struct hash_index index;
};

static int row_compare(const void *left, const void *right)
{
    return key_compare(&((const struct key_row *)left)->key, &((const struct key_row *)right)->key);
}

/* Counts one more group; its row, UINT32_MAX without memory. */
static uint32_t key_count(struct key_rows *keys, const struct group_key *key)
{
    uint64_t hash = hash_pair(key->name, (uint64_t)key->operator_text << 16 | key->ledger);
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&keys->index, hash, &probe, &found)) {
        if (key_compare(&keys->rows[found].key, key) == 0) {
            keys->rows[found].group_count++;
            return found;
        }
    }
    found = (uint32_t)keys->count;
    if (!list_has_room(&keys->rows, &keys->capacity, keys->count, sizeof(*keys->rows)) ||
        !hash_index_add(&keys->index, hash, found))
        return UINT32_MAX;
    keys->rows[keys->count++] = (struct key_row){*key, found, 1};
    return found;
}

static struct origin origin_start(const struct tally *tally, const uint32_t *group)
{
    const struct group_detail *detail = tally_detail_at(tally, *group);

    return (struct origin){
        .groups = group,
        .group_count = 1,
        .ledger = tally_group_at(tally, *group)->ledger,
        .who = {detail->site, detail->operator_text, detail->owner_text, 0},
    };
}

static struct group_key key_of(const struct question *question, size_t group,
                               enum origin_split split)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);
    uint16_t ledger = tally_group_at(question->tally, group)->ledger;

    return (struct group_key){
        .name = name_key(question, detail, split),
        .operator_text = split == ORIGINS_BY_OPERATOR ? detail->operator_text : 0,
        .ledger = split == ORIGINS_BY_SIZE && detail->site ? ledger_of_heap(question->tally, ledger)
                                                           : ledger,
    };
}

/* Which groups are joined, and how. */
struct joining {
    const struct question *question;
    enum origin_split split;
    origin_filter *is_wanted; /* NULL: all are */
};

static const uint32_t no_key = UINT32_MAX;

/* key_of_group: the row of each group's key; of one that is not wanted, no_key. False without
 * memory. */
static bool keys_find(struct key_rows *keys, const struct joining *joining, uint32_t *key_of_group)
{
    const struct question *question = joining->question;
    size_t count = tally_group_count(question->tally);

    for (size_t i = 1; i < count; i++) {
        struct group_key key;

        key_of_group[i] = no_key;
        if (joining->is_wanted && !joining->is_wanted(question->tally, (uint32_t)i))
            continue;
        key = key_of(question, i, joining->split);
        key_of_group[i] = key_count(keys, &key);
        if (key_of_group[i] == no_key)
            return false;
    }
    return true;
}

/* Of the ledgers of one heap, the one that was asked for most of it: each has a peak of its own. */
static uint16_t heaviest_ledger(const struct tally *tally, const struct origin *origin)
{
    uint64_t bytes[POOL_COUNT] = {0};
    uint16_t ledgers[POOL_COUNT] = {0};
    enum pool_id heaviest = POOL_OTHER;

    for (size_t i = 0; i < origin->group_count; i++) {
        uint32_t group = origin->groups[i];
        uint16_t ledger = tally_group_at(tally, group)->ledger;
        enum pool_id pool =
            model_pool_at(tally_model(tally), tally_ledger_at(tally, ledger)->pool)->id;

        bytes[pool] += tally_group_at(tally, group)->alloc_bytes;
        ledgers[pool] = ledger;
        if (i == 0 || bytes[pool] > bytes[heaviest])
            heaviest = pool;
    }
    return ledgers[heaviest];
}

/* places: by number of a key, where its next group goes. */
static void join(struct origins *origins, const struct question *question, struct key_rows *keys,
                 const uint32_t *key_of_group, uint32_t *places)
{
    size_t count = tally_group_count(question->tally);
    uint32_t place = 0;

    if (keys->count)
        qsort(keys->rows, keys->count, sizeof(*keys->rows), row_compare);
    for (size_t i = 0; i < keys->count; i++) {
        places[keys->rows[i].number] = place;
        place += keys->rows[i].group_count;
    }
    for (size_t i = 1; i < count; i++)
        if (key_of_group[i] != no_key)
            origins->groups[places[key_of_group[i]]++] = (uint32_t)i;
    place = 0;
    for (size_t i = 0; i < keys->count; i++) {
        struct origin *origin = &origins->rows[origins->count++];

        *origin = origin_start(question->tally, &origins->groups[place]);
        origin->group_count = keys->rows[i].group_count;
        origin->ledger = heaviest_ledger(question->tally, origin);
        place += keys->rows[i].group_count;
    }
}

/* False without memory. */
static bool origins_fill(struct origins *origins, const struct joining *joining,
                         struct key_rows *keys)
{
    const struct question *question = joining->question;
    size_t count = tally_group_count(question->tally);
    uint32_t *key_of_group = malloc(count * sizeof(*key_of_group)), *places = NULL;
    bool is_filled = false;

    origins->groups = malloc(count * sizeof(*origins->groups));
    if (key_of_group && origins->groups && keys_find(keys, joining, key_of_group)) {
        places = malloc((keys->count + 1) * sizeof(*places));
        origins->rows = malloc((keys->count + 1) * sizeof(*origins->rows));
        is_filled = places && origins->rows;
    }
    if (is_filled)
        join(origins, question, keys, key_of_group, places);
    free(key_of_group);
    free(places);
    return is_filled;
}

/* Every group is in one origin. */
static void origins_check(const struct origins *origins, size_t group_count)
{
    const uint32_t *next = origins->groups;

    MT_ASSERT(origins->count <= group_count);
    for (size_t i = 0; i < origins->count; i++) {
        MT_ASSERT(origins->rows[i].groups == next);
        MT_ASSERT(origins->rows[i].group_count);
        next += origins->rows[i].group_count;
    }
    MT_ASSERT(next == origins->groups + group_count);
}

bool origins_init_of(struct origins *origins, const struct question *question,
                     enum origin_split split, origin_filter *is_wanted)
{
    const struct joining joining = {question, split, is_wanted};
    struct key_rows keys = {.count = 0};
    bool is_filled;

    memset(origins, 0, sizeof(*origins));
    hash_index_init(&keys.index);
    is_filled = origins_fill(origins, &joining, &keys);
    hash_index_release(&keys.index);
    free(keys.rows);
    if (!is_filled) {
        origins_release(origins);
        return false;
    }
    if (MT_ASSERTS && !is_wanted)
        origins_check(origins, tally_group_count(question->tally) - 1);
    for (size_t i = 0; split == ORIGINS_BY_SIZE && i < origins->count; i++)
        origins->rows[i].who.size_class =
            tally_detail_at(question->tally, origins->rows[i].groups[0])->size_class;
    return true;
}

bool origins_init(struct origins *origins, const struct question *question, enum origin_split split)
{
    return origins_init_of(origins, question, split, NULL);
}

bool group_is_in_peak(const struct tally *tally, uint32_t group)
{
    return group_at_peak(tally, group).count > 0 && group_is_own(tally, group);
}

bool group_is_in_steps(const struct tally *tally, uint32_t group)
{
    return tally_past_at(tally, group)->series.count > 0;
}

void origins_release(struct origins *origins)
{
    free(origins->groups);
    free(origins->rows);
    memset(origins, 0, sizeof(*origins));
}

struct value value_origin(const struct question *question, struct arena *arena,
                          const struct origin *origin)
{
    if (!who_is_known(origin->who) && tally_detail_at(question->tally, origin->groups[0])->is_older)
        return value_unknown(translated("(older than the recording)"));
    return value_who(question, arena, origin->who);
}

struct step_sample origin_alive(const struct tally *tally, const struct origin *origin)
{
    struct step_sample sum = {0};

    for (size_t i = 0; i < origin->group_count; i++) {
        const struct group *group = tally_group_at(tally, origin->groups[i]);

        sum.bytes += group->live_bytes;
        sum.count += group->live_count;
    }
    return sum;
}

struct step_sample origin_at_peak(const struct tally *tally, const struct origin *origin)
{
    struct step_sample sum = {0};

    for (size_t i = 0; i < origin->group_count; i++) {
        struct step_sample sample = group_at_peak(tally, origin->groups[i]);

        sum.bytes += sample.bytes;
        sum.count += sample.count;
    }
    return sum;
}

struct step_sample origin_at_step(const struct tally *tally, const struct origin *origin,
                                  uint32_t step)
{
    struct step_sample sum = {.step = step};

    for (size_t i = 0; i < origin->group_count; i++) {
        const struct group_past *past = tally_past_at(tally, origin->groups[i]);
        struct step_sample sample = step_series_at(&past->series, step);

        sum.bytes += sample.bytes;
        sum.count += sample.count;
    }
    return sum;
}

/*
 * What a sample changes stands in the first row that it holds for, until all are added up. It holds
 * from the first step on that is kept as its own.
 */
static void add_changes(const struct step_series *series, uint32_t stride,
                        struct step_sample *alive, size_t count)
{
    struct step_sample before = {0};

    for (size_t i = 0; i < series->count; i++) {
        const struct step_sample *sample = &series->samples[i];
        uint64_t later = sample->step > series->stride ? sample->step - series->stride : 0;
        uint64_t row = (later + stride - 1) / stride;

        if (row >= count)
            return;
        alive[row].bytes += sample->bytes - before.bytes;
        alive[row].count += sample->count - before.count;
        before = *sample;
    }
}

void origin_at_steps(const struct tally *tally, const struct origin *origin, uint32_t stride,
                     struct step_sample *alive, size_t count)
{
    memset(alive, 0, count * sizeof(*alive));
    for (size_t i = 0; i < origin->group_count; i++)
        add_changes(&tally_past_at(tally, origin->groups[i])->series, stride, alive, count);
    for (size_t i = 0; i < count; i++) {
        alive[i].step = 1 + (uint32_t)i * stride;
        alive[i].bytes += i ? alive[i - 1].bytes : 0;
        alive[i].count += i ? alive[i - 1].count : 0;
    }
}

uint64_t origin_id(const struct question *question, const struct who *who)
{
    uint32_t text = who->operator_text ? who->operator_text : who->owner_text;
    const char *name = model_text_at(question->model, text);

    if (who->site)
        return symbols_site_id(question->symbols, who->site);
    return hash_pair(hash_bytes(name, strlen(name)), who->operator_text ? 1 : 2);
}

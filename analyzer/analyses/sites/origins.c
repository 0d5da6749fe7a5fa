/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups joined by where their blocks come from. They are sorted, and an origin is a stretch.
 */
#define _GNU_SOURCE /* qsort_r */
#include "origins.h"

#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"

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

static int group_compare(const void *left, const void *right, void *context)
{
    const struct group_key *keys = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int result = key_compare(&keys[a], &keys[b]);

    return result ? result : compare_numbers(a, b);
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

/* By group, from 1. For free(); NULL without memory. */
static struct group_key *keys_make(const struct question *question, enum origin_split split)
{
    size_t count = tally_group_count(question->tally);
    struct group_key *keys = malloc(count * sizeof(*keys));

    for (size_t i = 1; keys && i < count; i++) {
        const struct group_detail *detail = tally_detail_at(question->tally, i);

        keys[i] = (struct group_key){
            .name = name_key(question, detail, split),
            .operator_text = split == ORIGINS_BY_OPERATOR ? detail->operator_text : 0,
            .ledger = tally_group_at(question->tally, i)->ledger,
        };
    }
    return keys;
}

static void join(struct origins *origins, const struct tally *tally, struct group_key *keys,
                 size_t group_count)
{
    for (size_t i = 0; i < group_count; i++)
        origins->groups[i] = (uint32_t)(i + 1);
    qsort_r(origins->groups, group_count, sizeof(*origins->groups), group_compare, keys);
    for (size_t i = 0; i < group_count; i++) {
        const uint32_t *group = &origins->groups[i];

        if (i && key_compare(&keys[group[-1]], &keys[*group]) == 0)
            origins->rows[origins->count - 1].group_count++;
        else
            origins->rows[origins->count++] = origin_start(tally, group);
    }
}

/* Every group is in one origin, and those of a ledger stand side by side. */
static void origins_check(const struct origins *origins, size_t group_count)
{
    const uint32_t *next = origins->groups;

    MT_ASSERT(origins->count <= group_count);
    for (size_t i = 0; i < origins->count; i++) {
        MT_ASSERT(origins->rows[i].groups == next);
        MT_ASSERT(origins->rows[i].group_count);
        MT_ASSERT(!i || origins->rows[i - 1].ledger <= origins->rows[i].ledger);
        next += origins->rows[i].group_count;
    }
    MT_ASSERT(next == origins->groups + group_count);
}

bool origins_init(struct origins *origins, const struct question *question, enum origin_split split)
{
    size_t group_count = tally_group_count(question->tally) - 1;
    struct group_key *keys = keys_make(question, split);

    memset(origins, 0, sizeof(*origins));
    origins->groups = malloc((group_count + 1) * sizeof(*origins->groups));
    origins->rows = malloc((group_count + 1) * sizeof(*origins->rows));
    if (!keys || !origins->groups || !origins->rows) {
        free(keys);
        origins_release(origins);
        return false;
    }
    join(origins, question->tally, keys, group_count);
    if (MT_ASSERTS)
        origins_check(origins, group_count);
    for (size_t i = 0; split == ORIGINS_BY_SIZE && i < origins->count; i++)
        origins->rows[i].who.size_class =
            tally_detail_at(question->tally, origins->rows[i].groups[0])->size_class;
    free(keys);
    return true;
}

void origins_release(struct origins *origins)
{
    free(origins->groups);
    free(origins->rows);
    memset(origins, 0, sizeof(*origins));
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
        const struct group_detail *detail = tally_detail_at(tally, origin->groups[i]);
        struct step_sample sample = step_series_at(&detail->series, step);

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
        add_changes(&tally_detail_at(tally, origin->groups[i])->series, stride, alive, count);
    for (size_t i = 0; i < count; i++) {
        alive[i].step = 1 + (uint32_t)i * stride;
        alive[i].bytes += i ? alive[i - 1].bytes : 0;
        alive[i].count += i ? alive[i - 1].count : 0;
    }
}

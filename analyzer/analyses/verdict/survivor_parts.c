/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Through which stacks the blocks came that stay.
 */
#include "survivor_parts.h"

#include <stdlib.h>

struct part {
    struct survivor_part values;
    uint64_t shape;
};

/* Overdue survivors of a group: born in judged steps, and older than any that was freed. */
static struct step_sample left_of(const struct question *question, const struct judged *row,
                                  uint32_t group)
{
    const struct cohorts *cohorts = &tally_past_at(question->tally, group)->cohorts;
    uint32_t epoch = tally_process_at(question->tally, row->steps.process).epoch;
    uint64_t last =
        row->steps.warm_up + (uint64_t)row->judgement.overdue_entries * row->steps.stride;
    struct step_sample sum = {0};

    if (row->judgement.is_one_growing_block)
        return step_series_at(&tally_past_at(question->tally, group)->series, row->steps.last);
    for (size_t i = 0; i < cohorts->count; i++) {
        struct step_sample left = cohort_at_step_end(&cohorts->rows[i], epoch);

        if (left.step <= row->steps.warm_up || left.step > last)
            continue;
        sum.bytes += left.bytes;
        sum.count += left.count;
    }
    return sum;
}

static int by_shape(const void *left, const void *right)
{
    const struct part *a = left, *b = right;

    if (a->shape != b->shape)
        return a->shape < b->shape ? -1 : 1;
    if (a->values.bytes != b->values.bytes)
        return a->values.bytes > b->values.bytes ? -1 : 1;
    return (a->values.who.site > b->values.who.site) - (a->values.who.site < b->values.who.site);
}

static int by_bytes(const void *left, const void *right)
{
    const struct part *a = left, *b = right;

    if (a->values.bytes != b->values.bytes)
        return a->values.bytes > b->values.bytes ? -1 : 1;
    return (a->values.who.site > b->values.who.site) - (a->values.who.site < b->values.who.site);
}

static size_t parts_find(const struct question *question, const struct judged *row,
                         struct part *parts)
{
    size_t count = 0;

    for (size_t i = 0; i < row->origin->group_count; i++) {
        uint32_t group = row->origin->groups[i];
        const struct group_detail *detail = tally_detail_at(question->tally, group);
        struct step_sample left = left_of(question, row, group);

        if (!left.count)
            continue;
        parts[count++] = (struct part){
            .values = {.who = {detail->site, detail->operator_text, detail->owner_text,
                               row->origin->who.size_class},
                       .bytes = left.bytes,
                       .count = left.count,
                       .made_count = tally_group_at(question->tally, group)->alloc_count},
            .shape = symbols_shape_of(question->symbols, detail->site).shape,
        };
    }
    return count;
}

/* How many are left. */
static size_t parts_join(struct part *parts, size_t count)
{
    size_t joined = 0;

    qsort(parts, count, sizeof(*parts), by_shape);
    for (size_t i = 0; i < count; i++) {
        if (i && parts[i].shape == parts[joined - 1].shape) {
            parts[joined - 1].values.bytes += parts[i].values.bytes;
            parts[joined - 1].values.count += parts[i].values.count;
            parts[joined - 1].values.made_count += parts[i].values.made_count;
        } else {
            parts[joined++] = parts[i];
        }
    }
    qsort(parts, joined, sizeof(*parts), by_bytes);
    return joined;
}

/* How many blocks the origin made, in all. */
static uint64_t made_count(const struct tally *tally, const struct origin *origin)
{
    uint64_t count = 0;

    for (size_t i = 0; i < origin->group_count; i++)
        count += tally_group_at(tally, origin->groups[i])->alloc_count;
    return count;
}

struct survivor_parts survivor_parts_of(const struct question *question, const struct judged *row)
{
    struct part *parts = malloc((row->origin->group_count + 1) * sizeof(*parts));
    size_t count = parts ? parts_join(parts, parts_find(question, row, parts)) : 0;
    struct survivor_parts found = {.count = 0};

    for (size_t i = 0; i < count; i++) {
        if (i < SURVIVOR_PARTS_MOST)
            found.rows[found.count++] = parts[i].values;
        found.bytes += parts[i].values.bytes;
        found.made_count += parts[i].values.made_count;
    }
    free(parts);
    if (found.count)
        return found;
    found.made_count = made_count(question->tally, row->origin);
    found.rows[found.count++] = (struct survivor_part){row->origin->who, row->alive.bytes,
                                                       row->alive.count, found.made_count};
    found.bytes = row->alive.bytes;
    return found;
}

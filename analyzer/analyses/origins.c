/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups joined by where their blocks come from. They are sorted, and an origin is a stretch.
 */
#define _GNU_SOURCE /* qsort_r */
#include "origins.h"

#include <stdlib.h>
#include <string.h>

struct order {
    const struct tally *tally;
    bool by_operator;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static uint64_t name_key(const struct group_detail *detail)
{
    if (detail->site)
        return detail->site;
    if (detail->operator_text)
        return UINT64_C(1) << 32 | detail->operator_text;
    return UINT64_C(2) << 32 | detail->owner_text;
}

static int group_compare(const void *left, const void *right, void *context)
{
    const struct order *order = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct group_detail *detail_a = tally_detail_at(order->tally, a);
    const struct group_detail *detail_b = tally_detail_at(order->tally, b);
    int result = compare_numbers(tally_group_at(order->tally, a)->ledger,
                                 tally_group_at(order->tally, b)->ledger);

    if (!result)
        result = compare_numbers(name_key(detail_a), name_key(detail_b));
    if (!result && order->by_operator)
        result = compare_numbers(detail_a->operator_text, detail_b->operator_text);
    return result;
}

static struct origin origin_start(const struct tally *tally, const uint32_t *group)
{
    const struct group_detail *detail = tally_detail_at(tally, *group);

    return (struct origin){
        .groups = group,
        .group_count = 1,
        .ledger = tally_group_at(tally, *group)->ledger,
        .who = {detail->site, detail->operator_text, detail->owner_text},
    };
}

bool origins_init(struct origins *origins, const struct tally *tally, bool by_operator)
{
    size_t group_count = tally_group_count(tally) - 1;
    struct order order = {tally, by_operator};

    memset(origins, 0, sizeof(*origins));
    origins->groups = malloc((group_count + 1) * sizeof(*origins->groups));
    origins->rows = malloc((group_count + 1) * sizeof(*origins->rows));
    if (!origins->groups || !origins->rows) {
        origins_release(origins);
        return false;
    }
    for (size_t i = 0; i < group_count; i++)
        origins->groups[i] = (uint32_t)(i + 1);
    qsort_r(origins->groups, group_count, sizeof(*origins->groups), group_compare, &order);
    for (size_t i = 0; i < group_count; i++) {
        const uint32_t *group = &origins->groups[i];

        if (i && group_compare(group - 1, group, &order) == 0)
            origins->rows[origins->count - 1].group_count++;
        else
            origins->rows[origins->count++] = origin_start(tally, group);
    }
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

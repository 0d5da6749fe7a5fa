/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was alive at the end of each step, and from which steps the survivors come.
 */
#include "step_series.h"

#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"

enum { first_capacity = 1 };

/* The first kept step at or after this one. */
static uint32_t kept_step(uint32_t step, uint32_t stride)
{
    return (uint32_t)(((uint64_t)step + stride - 1) / stride * stride);
}

/* The last value that falls on a kept step is the value of that step. */
static void samples_thin(struct step_series *series)
{
    uint16_t kept = 0;

    series->stride *= 2;
    for (uint16_t i = 0; i < series->count; i++) {
        struct step_sample sample = series->samples[i];

        sample.step = kept_step(sample.step, series->stride);
        if (kept && series->samples[kept - 1].step == sample.step)
            kept--;
        series->samples[kept++] = sample;
    }
    series->count = kept;
}

static bool samples_make_room(struct step_series *series)
{
    uint16_t capacity = series->capacity ? (uint16_t)(series->capacity * 2) : first_capacity;
    struct step_sample *larger;

    if (series->count < series->capacity)
        return true;
    if (series->capacity == STEP_SERIES_MAX) {
        while (series->count == series->capacity)
            samples_thin(series);
        return true;
    }
    larger = realloc(series->samples, capacity * sizeof(*larger));
    if (!larger)
        return false;
    series->samples = larger;
    series->capacity = capacity;
    return true;
}

static bool is_stride(uint32_t stride)
{
    return stride && !(stride & (stride - 1));
}

void step_series_check(const struct step_series *series)
{
    MT_ASSERT(series->count <= series->capacity);
    MT_ASSERT(series->capacity <= STEP_SERIES_MAX);
    MT_ASSERT(!series->count || is_stride(series->stride));
    for (uint16_t i = 0; i < series->count; i++) {
        MT_ASSERT(!i || series->samples[i - 1].step < series->samples[i].step);
        MT_ASSERT(series->samples[i].step % series->stride == 0);
    }
}

void cohorts_check(const struct cohorts *cohorts)
{
    MT_ASSERT(cohorts->count <= cohorts->capacity);
    MT_ASSERT(cohorts->capacity <= STEP_SERIES_MAX);
    MT_ASSERT(!cohorts->count || is_stride(cohorts->stride));
    for (uint16_t i = 0; i < cohorts->count; i++) {
        MT_ASSERT(!i || cohorts->rows[i - 1].birth < cohorts->rows[i].birth);
        MT_ASSERT(cohorts->rows[i].birth % cohorts->stride == 0);
        MT_ASSERT(cohorts->rows[i].count || !cohorts->rows[i].bytes);
    }
}

bool step_series_put(struct step_series *series, struct step_sample sample)
{
    struct step_sample *last = series->count ? &series->samples[series->count - 1] : NULL;

    if (!series->stride)
        series->stride = 1;
    if (last ? last->bytes == sample.bytes && last->count == sample.count
             : sample.bytes == 0 && sample.count == 0)
        return true;
    if (!samples_make_room(series))
        return false;
    sample.step = kept_step(sample.step, series->stride);
    last = series->count ? &series->samples[series->count - 1] : NULL;
    if (last && last->step >= sample.step)
        *last = sample;
    else
        series->samples[series->count++] = sample;
    return true;
}

struct step_sample step_series_at(const struct step_series *series, uint32_t step)
{
    uint16_t low = 0, high = series->count;

    if (!series->count)
        return (struct step_sample){.step = step};
    step = kept_step(step, series->stride);
    while (low < high) {
        uint16_t middle = (uint16_t)((low + high) / 2);

        if (series->samples[middle].step <= step)
            low = (uint16_t)(middle + 1);
        else
            high = middle;
    }
    return low ? series->samples[low - 1] : (struct step_sample){.step = step};
}

void step_series_release(struct step_series *series)
{
    free(series->samples);
    memset(series, 0, sizeof(*series));
}

/* Joins neighbours. At a step end, so nothing set aside for the one before is of use. */
static void cohorts_thin(struct cohorts *cohorts)
{
    uint16_t kept = 0;

    cohorts->stride *= 2;
    for (uint16_t i = 0; i < cohorts->count; i++) {
        struct cohort row = cohorts->rows[i];
        struct cohort *last = kept ? &cohorts->rows[kept - 1] : NULL;

        row.birth -= row.birth % cohorts->stride;
        if (!last || last->birth != row.birth) {
            cohorts->rows[kept++] = row;
            continue;
        }
        last->count += row.count;
        last->bytes += row.bytes;
        last->changed_epoch = 0;
    }
    cohorts->count = kept;
}

static void cohorts_drop_empty(struct cohorts *cohorts)
{
    uint16_t kept = 0;

    for (uint16_t i = 0; i < cohorts->count; i++)
        if (cohorts->rows[i].count)
            cohorts->rows[kept++] = cohorts->rows[i];
    cohorts->count = kept;
}

static bool cohorts_make_room(struct cohorts *cohorts)
{
    uint16_t capacity = cohorts->capacity ? (uint16_t)(cohorts->capacity * 2) : first_capacity;
    struct cohort *larger;

    if (cohorts->count < cohorts->capacity)
        return true;
    /* Called at a step end, so what is empty now was empty at the newest step end. */
    cohorts_drop_empty(cohorts);
    if (cohorts->count <= cohorts->capacity / 2 && cohorts->capacity)
        return true;
    if (cohorts->capacity == STEP_SERIES_MAX) {
        while (cohorts->count > cohorts->capacity / 2)
            cohorts_thin(cohorts);
        return true;
    }
    larger = realloc(cohorts->rows, capacity * sizeof(*larger));
    if (!larger)
        return false;
    cohorts->rows = larger;
    cohorts->capacity = capacity;
    return true;
}

bool cohorts_put(struct cohorts *cohorts, uint32_t birth, uint32_t count, uint64_t bytes)
{
    struct cohort *last;

    if (!cohorts->stride)
        cohorts->stride = 1;
    if (!cohorts_make_room(cohorts))
        return false;
    birth -= birth % cohorts->stride;
    last = cohorts->count ? &cohorts->rows[cohorts->count - 1] : NULL;
    if (!last || last->birth != birth) {
        cohorts->rows[cohorts->count++] =
            (struct cohort){.birth = birth, .count = count, .bytes = bytes};
        return true;
    }
    /* A new step end is at hand: what was set aside for the one before is of no use any more. */
    last->count += count;
    last->bytes += bytes;
    last->changed_epoch = 0;
    return true;
}

/* Where it stands if something is left of every step since the oldest. */
static struct cohort *cohort_expected(struct cohorts *cohorts, uint32_t birth)
{
    uint32_t index = (birth - cohorts->rows[0].birth) / cohorts->stride;

    return index < cohorts->count && cohorts->rows[index].birth == birth ? &cohorts->rows[index]
                                                                         : NULL;
}

static struct cohort *cohort_find(struct cohorts *cohorts, uint32_t birth)
{
    struct cohort *row;
    uint16_t low = 0, high = cohorts->count;

    if (!cohorts->stride || !cohorts->count)
        return NULL;
    birth -= birth % cohorts->stride;
    row = cohort_expected(cohorts, birth);
    if (row)
        return row;
    while (low < high) {
        uint16_t middle = (uint16_t)((low + high) / 2);

        if (cohorts->rows[middle].birth == birth)
            return &cohorts->rows[middle];
        if (cohorts->rows[middle].birth < birth)
            low = (uint16_t)(middle + 1);
        else
            high = middle;
    }
    return NULL;
}

void cohorts_take(struct cohorts *cohorts, uint32_t birth, uint64_t bytes, uint32_t epoch)
{
    struct cohort *row = cohort_find(cohorts, birth);

    if (!row || !row->count)
        return;
    if (row->changed_epoch != epoch) {
        row->changed_epoch = epoch;
        row->count_at_end = row->count;
        row->bytes_at_end = row->bytes;
    }
    row->count--;
    row->bytes -= bytes;
}

struct step_sample cohort_at_step_end(const struct cohort *cohort, uint32_t epoch)
{
    bool is_changed = epoch && cohort->changed_epoch == epoch;

    return (struct step_sample){
        .step = cohort->birth,
        .count = is_changed ? cohort->count_at_end : cohort->count,
        .bytes = is_changed ? cohort->bytes_at_end : cohort->bytes,
    };
}

void cohorts_release(struct cohorts *cohorts)
{
    free(cohorts->rows);
    memset(cohorts, 0, sizeof(*cohorts));
}

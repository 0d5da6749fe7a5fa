/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements late_loop.h. docs/steps.md has the rules.
 */
#include "late_loop.h"

#include <stdlib.h>

#include "compare.h"
#include "leaktide/invariant.h"

enum {
    RECENT_FIRST = 1 << 12, /* a power of 2, as the next */
    RECENT_MAX = 1 << 22,
    END_LEAST = 1 << 12,
    CONFIDENCE_LEAST = 90, /* percent */
    EVENNESS = 10,         /* steps differ by one token of so many */
    FIRST_STEPS_LONGER = 4 /* times: a program compiles and tunes in them */
};

/* The last positions of a program. */
struct end {
    struct table *rows;
    const struct recent_tokens *recent;
    uint64_t position_count; /* of the program */
    uint64_t count;          /* of the end */
};

bool recent_tokens_put(struct recent_tokens *recent, uint64_t position, uint32_t row)
{
    if (position >= recent->capacity && recent->capacity < RECENT_MAX) {
        uint64_t capacity = recent->capacity ? recent->capacity * 2 : RECENT_FIRST;
        uint32_t *larger = realloc(recent->rows, capacity * sizeof(*larger));

        if (!larger)
            return false;
        recent->rows = larger;
        recent->capacity = capacity;
    }
    MT_ASSERT(!(recent->capacity & (recent->capacity - 1)));
    recent->rows[position & (recent->capacity - 1)] = row;
    return true;
}

void recent_tokens_release(struct recent_tokens *recent)
{
    free(recent->rows);
    *recent = (struct recent_tokens){0};
}

static struct token_series *row_at(const struct end *end, uint64_t position)
{
    MT_ASSERT(position < end->position_count);
    MT_ASSERT(end->position_count - position <= end->recent->capacity);
    return table_at(end->rows, end->recent->rows[position & (end->recent->capacity - 1)]);
}

static uint64_t start_of(const struct end *end)
{
    return end->position_count - end->count;
}

/* Of all positions. */
static uint64_t first_position(const struct end *end, const struct token_series *row)
{
    return row->earlier_count ? row->earlier_position : start_of(end) + row->first;
}

/* As if only the tokens of the end had come. */
static void end_count_rows(const struct end *end)
{
    for (size_t i = 0; i < end->rows->count; i++) {
        struct token_series *row = table_at(end->rows, i);

        *row = (struct token_series){.token = row->token,
                                     .is_host = row->is_host,
                                     .earlier_count = row->earlier_count + row->count,
                                     .earlier_position =
                                         row->earlier_count ? row->earlier_position : row->first};
    }
    for (uint64_t i = 0; i < end->count; i++) {
        struct token_series *row = row_at(end, start_of(end) + i);

        MT_ASSERT(row->earlier_count);
        row->earlier_count--;
        token_series_put(row, i);
    }
}

/* --- are the steps alike? ------------------------------------------------------------------- */

/* Three quarters of the gaps. */
static bool are_even(uint64_t *gaps, size_t count)
{
    qsort(gaps, count, sizeof(*gaps), compare_number_rows);
    return gaps[count - 1 - count / 8] - gaps[count / 8] <= gaps[count / 2] / EVENNESS;
}

static bool has_even_steps(const struct end *end, const struct token_series *begins)
{
    uint64_t *gaps = calloc(begins->count, sizeof(*gaps)), last = 0;
    size_t count = 0;
    bool is_even;

    if (!gaps)
        return false;
    for (uint64_t at = start_of(end); at < end->position_count; at++) {
        if (row_at(end, at) != begins)
            continue;
        if (last)
            gaps[count++] = at - last;
        last = at;
    }
    is_even = are_even(gaps, count);
    free(gaps);
    return is_even;
}

/* --- where the loop begins ------------------------------------------------------------------ */

static bool comes_as_often(const struct token_series *row, const struct token_series *other)
{
    return row->count + 1 >= other->count && row->count <= other->count + 1 &&
           token_series_is_regular(row);
}

/* How often the loop's own tokens came before the end: that is least, for others came before the
 * loop. */
static uint64_t least_earlier(const struct end *end, const struct token_series *begins)
{
    uint64_t least = begins->earlier_count;

    for (size_t i = 0; i < end->rows->count; i++) {
        const struct token_series *row = table_at(end->rows, i);

        if (row->earlier_count < least && comes_as_often(row, begins))
            least = row->earlier_count;
    }
    return least;
}

/* The end begins anywhere in a step. Of the loop's own tokens the one that came first began it. */
static struct token_series *first_of_loop(const struct end *end, const struct token_series *begins)
{
    uint64_t least = least_earlier(end, begins);
    struct token_series *first = NULL;

    for (size_t i = 0; i < end->rows->count; i++) {
        struct token_series *row = table_at(end->rows, i);

        if (row->earlier_count <= least + 1 && comes_as_often(row, begins) &&
            (!first || first_position(end, row) < first_position(end, first)))
            first = row;
    }
    return first;
}

/* Takes the steps before the end that have the same period. */
static void extend_back(const struct end *end, struct token_series *begins)
{
    double longest = FIRST_STEPS_LONGER * token_series_period(begins);
    uint64_t capacity = end->recent->capacity, next = start_of(end) + begins->first;
    uint64_t oldest = end->position_count > capacity ? end->position_count - capacity : 0;

    for (uint64_t at = next; at-- > oldest && (double)(next - at) <= longest;) {
        if (row_at(end, at) != begins)
            continue;
        next = at;
        begins->count++;
        begins->earlier_count--;
    }
}

struct step_period late_loop_find(struct table *rows, const struct recent_tokens *recent,
                                  uint64_t position_count)
{
    struct end end = {rows, recent, position_count, position_count / 2};
    struct step_period period = {0};
    struct token_series *begins;

    while (end.count > recent->capacity)
        end.count /= 2;
    for (; end.count >= END_LEAST; end.count /= 2) {
        end_count_rows(&end);
        period = step_period_find(rows, end.count);
        if (period.confidence_percent < CONFIDENCE_LEAST || !has_even_steps(&end, period.begins))
            continue;
        begins = first_of_loop(&end, period.begins);
        extend_back(&end, begins);
        period.begins = begins;
        return period;
    }
    return (struct step_period){0};
}

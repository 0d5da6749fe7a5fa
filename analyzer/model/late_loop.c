/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements late_loop.h. docs/steps.md has the rules.
 */
#include "late_loop.h"

#include <stdlib.h>

#include "compare.h"
#include "leaktide/invariant.h"
#include "list.h"

enum {
    RECENT_FIRST = 1 << 12, /* a power of 2, as the next */
    RECENT_MAX = 1 << 22,
    END_LEAST = 1 << 12,
    CONFIDENCE_LEAST = 90,   /* percent */
    EVENNESS = 10,           /* steps differ by one token of so many */
    FIRST_STEPS_LONGER = 4,  /* times: a program compiles and tunes in them */
    FIRST_STEPS_SHORTER = 2, /* times */
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

/* As if only the tokens of the end had come. */
static void end_count_rows(const struct end *end)
{
    for (size_t i = 0; i < end->rows->count; i++) {
        struct token_series *row = table_at(end->rows, i);

        *row = (struct token_series){.token = row->token,
                                     .is_host = row->is_host,
                                     .earlier_count = row->earlier_count + row->count};
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

/* A token that comes once in each step of the end. */
struct candidate {
    struct token_series *row;
    double shortest, longest; /* from one step to the next */
    uint64_t next;            /* where it came, of all positions: the earliest step */
    uint64_t before;          /* steps before the end */
    bool is_over;
};

struct candidates {
    struct candidate *rows;
    size_t count, capacity;
    uint32_t *of_row; /* by token: the number of its candidate + 1; 0: none */
};

static uint64_t steps_of(const struct candidate *candidate)
{
    return candidate->row->count + candidate->before;
}

static bool is_near(uint64_t count, uint64_t other)
{
    return count + 1 >= other && count <= other + 1;
}

/* False without memory. */
static bool candidates_take(const struct end *end, const struct token_series *begins,
                            struct candidates *candidates)
{
    candidates->of_row = calloc(end->rows->count, sizeof(*candidates->of_row));
    for (size_t i = 0; candidates->of_row && i < end->rows->count; i++) {
        struct token_series *row = table_at(end->rows, i);
        double period;

        if (!is_near(row->count, begins->count) || !token_series_is_regular(row))
            continue;
        if (!list_has_room(&candidates->rows, &candidates->capacity, candidates->count,
                           sizeof(*candidates->rows)))
            return false;
        period = token_series_period(row);
        candidates->rows[candidates->count++] =
            (struct candidate){.row = row,
                               .shortest = period / FIRST_STEPS_SHORTER,
                               .longest = FIRST_STEPS_LONGER * period,
                               .next = start_of(end) + row->first};
        candidates->of_row[i] = (uint32_t)candidates->count;
    }
    return candidates->of_row != NULL;
}

/* Takes the steps before the end that have the same period. */
static void extend_back(const struct end *end, const struct candidates *candidates)
{
    uint64_t capacity = end->recent->capacity;
    uint64_t oldest = end->position_count > capacity ? end->position_count - capacity : 0;

    for (uint64_t at = start_of(end); at-- > oldest;) {
        uint32_t number = candidates->of_row[end->recent->rows[at & (capacity - 1)]];
        struct candidate *candidate = number ? &candidates->rows[number - 1] : NULL;
        double gap;

        if (!candidate || candidate->is_over)
            continue;
        gap = (double)(candidate->next - at);
        candidate->is_over = gap < candidate->shortest || gap > candidate->longest;
        if (candidate->is_over)
            continue;
        candidate->next = at;
        candidate->before++;
    }
}

/* How often it came before the loop. */
static uint64_t elsewhere_of(const struct candidate *candidate)
{
    return candidate->row->earlier_count - candidate->before;
}

/* Those that came least before the loop are its own: others came before it, too. */
static void keep_own(struct candidates *candidates)
{
    uint64_t least = UINT64_MAX;
    size_t kept = 0;

    for (size_t i = 0; i < candidates->count; i++) {
        uint64_t elsewhere = elsewhere_of(&candidates->rows[i]);

        least = elsewhere < least ? elsewhere : least;
    }
    for (size_t i = 0; i < candidates->count; i++)
        if (elsewhere_of(&candidates->rows[i]) <= least + 1)
            candidates->rows[kept++] = candidates->rows[i];
    candidates->count = kept;
}

static int steps_compare(const void *left, const void *right)
{
    return compare_numbers(steps_of(left), steps_of(right));
}

/*
 * How many steps the loop has, as most of its tokens say: some come only from some step on, as the
 * numbers of turns that Python has to make; others were in a loop before. Of as many, the most
 * steps.
 */
static uint64_t steps_of_most(struct candidates *candidates)
{
    const struct candidate *rows = candidates->rows;
    uint64_t steps = 0;
    size_t most = 0, first = 0;

    qsort(candidates->rows, candidates->count, sizeof(*candidates->rows), steps_compare);
    for (size_t i = 0; i < candidates->count; i++) {
        while (!is_near(steps_of(&rows[first]), steps_of(&rows[i])))
            first++;
        if (i + 1 - first >= most) {
            most = i + 1 - first;
            steps = steps_of(&rows[i]);
        }
    }
    return steps;
}

/* The end begins anywhere in a step. Of the loop's own tokens the one that came first began it. */
static const struct candidate *first_of_loop(struct candidates *candidates)
{
    uint64_t steps = steps_of_most(candidates);
    const struct candidate *first = NULL;

    for (size_t i = 0; i < candidates->count; i++) {
        const struct candidate *row = &candidates->rows[i];

        if (is_near(steps_of(row), steps) && (!first || row->next < first->next))
            first = row;
    }
    return first;
}

/* The token that begins the loop's steps, with all of them; NULL without memory. */
static const struct token_series *loop_begin(const struct end *end,
                                             const struct token_series *begins)
{
    struct candidates candidates = {.count = 0};
    const struct candidate *first = NULL;
    struct token_series *row = NULL;

    if (candidates_take(end, begins, &candidates)) {
        extend_back(end, &candidates);
        keep_own(&candidates);
        first = first_of_loop(&candidates);
    }
    if (first) {
        row = first->row;
        row->count += first->before;
        row->earlier_count -= first->before;
    }
    free(candidates.of_row);
    free(candidates.rows);
    return row;
}

struct step_period late_loop_find(struct table *rows, const struct recent_tokens *recent,
                                  uint64_t position_count)
{
    struct end end = {rows, recent, position_count, position_count / 2};
    struct step_period period = {0};

    while (end.count > recent->capacity)
        end.count /= 2;
    for (; end.count >= END_LEAST; end.count /= 2) {
        end_count_rows(&end);
        period = step_period_find(rows, end.count);
        if (period.confidence_percent < CONFIDENCE_LEAST || !has_even_steps(&end, period.begins))
            continue;
        period.begins = loop_begin(&end, period.begins);
        return period;
    }
    return (struct step_period){0};
}

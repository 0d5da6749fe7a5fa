/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a stack leak? From the births and deaths of its blocks alone.
 */
#include "overdue.h"

#include <math.h>
#include <stdlib.h>

#include "leaktide/invariant.h"
#include "thresholds.h"
#include "trend.h"

enum { ROWS_FIRST = 1, ROWS_MORE = 4, rows_after_joining = 12 };

void overdue_release(struct overdue_stack *stack)
{
    free(stack->rows);
    free(stack->spans);
    free(stack->lates);
    *stack = (struct overdue_stack){0};
}

/* --- what is kept ---------------------------------------------------------------------------- */

static struct overdue_span span_of(const struct overdue_stack *stack, uint32_t row)
{
    return stack->spans ? stack->spans[row]
                        : (struct overdue_span){.last = stack->rows[row].first, .births = 1};
}

static uint32_t last_of(const struct overdue_stack *stack, uint32_t row)
{
    return stack->spans ? stack->spans[row].last : stack->rows[row].first;
}

/* From the birth before the row to its first. */
static uint32_t gap_before(const struct overdue_stack *stack, uint32_t row)
{
    return row ? stack->rows[row].first - last_of(stack, row - 1) : 0;
}

static void rows_join(struct overdue_row *row, const struct overdue_row *next)
{
    row->left += next->left;
    row->left_bytes += next->left_bytes;
    if (next->alive_bytes > row->alive_bytes)
        row->alive_bytes = next->alive_bytes;
}

/* gap: between the two. */
static void spans_join(struct overdue_span *span, const struct overdue_span *next, uint32_t gap,
                       uint32_t longest_gap)
{
    span->moments += next->moments + (gap > longest_gap / FEW_SHARE);
    if (gap > span->inner_gap)
        span->inner_gap = gap;
    if (next->inner_gap > span->inner_gap)
        span->inner_gap = next->inner_gap;
    span->last = next->last;
    span->births += next->births;
}

/* Of the last three quarters of the births: the first turn of a loop is often ten times as long as
 * the others, and beside such a gap no later one would be a moment. */
static uint32_t recent_gap(const struct overdue_stack *stack, uint32_t births)
{
    uint64_t seen = 0;
    uint32_t longest = 0;

    for (uint32_t i = 0; i < stack->row_count; i++) {
        const struct overdue_span span = span_of(stack, i);

        if (seen > births / BEGIN_SHARE && gap_before(stack, i) > longest)
            longest = gap_before(stack, i);
        seen += span.births;
        if (seen > births / BEGIN_SHARE + 1 && span.inner_gap > longest)
            longest = span.inner_gap;
    }
    return longest;
}

/* As it was when the first birth of the newest row came. Most rows are followed by another before
 * somebody asks. */
static void gap_settle(struct overdue_stack *stack)
{
    uint32_t newest = stack->row_count - 1u;
    uint32_t gap = gap_before(stack, newest);

    if (!stack->is_gap_due)
        return;
    MT_ASSERT(span_of(stack, newest).births == 1 && !span_of(stack, newest).inner_gap);
    stack->is_gap_due = false;
    stack->longest_gap = recent_gap(stack, stack->births - 1);
    if (gap > stack->longest_gap)
        stack->longest_gap = gap;
}

static uint8_t larger_capacity(uint8_t capacity)
{
    if (!capacity)
        return ROWS_FIRST;
    return capacity < ROWS_MORE ? capacity * 2 : capacity + ROWS_MORE;
}

/* False without memory: what there is stays as it was. */
static bool rows_resize(struct overdue_stack *stack, uint8_t capacity)
{
    struct overdue_row *rows = realloc(stack->rows, capacity * sizeof(*rows));
    struct overdue_span *spans;

    if (!rows)
        return false;
    stack->rows = rows;
    if (capacity < stack->row_capacity)
        stack->row_capacity = capacity; /* whatever becomes of the spans */
    if (stack->spans) {
        spans = realloc(stack->spans, capacity * sizeof(*spans));
        if (!spans)
            return false;
        stack->spans = spans;
    }
    stack->row_capacity = capacity;
    return true;
}

/* Many stacks are joined once, and never have as many rows again. */
static void rows_shrink(struct overdue_stack *stack)
{
    uint8_t capacity = (stack->row_count / ROWS_MORE + 1) * ROWS_MORE;

    if (capacity < stack->row_capacity)
        rows_resize(stack, capacity);
}

/* Before rows are joined for the first time. False without memory. */
static bool spans_make(struct overdue_stack *stack)
{
    struct overdue_span *spans = malloc(stack->row_capacity * sizeof(*spans));

    if (!spans)
        return false;
    for (uint32_t i = 0; i < stack->row_count; i++)
        spans[i] = span_of(stack, i);
    stack->spans = spans;
    return true;
}

/* Into as few rows as are wanted, all of about the same width. False without memory. */
static bool rows_join_all(struct overdue_stack *stack)
{
    uint8_t kept = 0;

    gap_settle(stack);
    if (!stack->spans && !spans_make(stack))
        return false;
    stack->width = (stack->last - stack->first) / rows_after_joining + 1;
    for (uint32_t i = 1; i < stack->row_count; i++) {
        const struct overdue_span next = stack->spans[i];
        const struct overdue_row next_row = stack->rows[i];

        if (next.last - stack->rows[kept].first <= stack->width) {
            spans_join(&stack->spans[kept], &next, next_row.first - stack->spans[kept].last,
                       stack->longest_gap);
            rows_join(&stack->rows[kept], &next_row);
        } else {
            stack->spans[++kept] = next;
            stack->rows[kept] = next_row;
        }
    }
    stack->row_count = kept + 1;
    rows_shrink(stack);
    return true;
}

/* Of one birth, of which nothing is known yet. False without memory. */
static bool row_add(struct overdue_stack *stack, uint32_t clock)
{
    if (stack->row_count == OVERDUE_ROWS_MOST && !rows_join_all(stack))
        return false;
    if (stack->row_count == stack->row_capacity &&
        !rows_resize(stack, larger_capacity(stack->row_capacity)))
        return false;
    if (stack->spans)
        stack->spans[stack->row_count] = (struct overdue_span){.last = clock, .births = 1};
    stack->rows[stack->row_count++] = (struct overdue_row){.first = clock};
    return true;
}

static bool is_near(const struct overdue_stack *stack, uint32_t clock)
{
    return stack->width && stack->row_count &&
           clock - stack->rows[stack->row_count - 1].first <= stack->width;
}

/* To the newest row. */
static void span_born(struct overdue_stack *stack, uint32_t clock)
{
    struct overdue_span *span = &stack->spans[stack->row_count - 1];
    uint32_t gap = clock - stack->last;

    gap_settle(stack);
    span->moments += gap > stack->longest_gap / FEW_SHARE;
    span->inner_gap = gap > span->inner_gap ? gap : span->inner_gap;
    span->last = clock;
    span->births++;
    stack->longest_gap = gap > stack->longest_gap ? gap : stack->longest_gap;
}

/* The newest row is that of the birth. False without memory. */
static bool row_born(struct overdue_stack *stack, uint32_t clock)
{
    if (is_near(stack, clock)) {
        span_born(stack, clock);
        return true;
    }
    if (!row_add(stack, clock))
        return false;
    stack->is_gap_due = true;
    return true;
}

bool overdue_born(struct overdue_stack *stack, uint32_t clock, uint64_t bytes)
{
    uint64_t alive_bytes = stack->alive_bytes;
    struct overdue_row *row;

    MT_ASSERT(!stack->births || clock >= stack->last);
    if (!row_born(stack, clock))
        return false;
    row = &stack->rows[stack->row_count - 1];
    stack->first = stack->births ? stack->first : clock;
    stack->last = clock;
    if (stack->alive_bytes <= stack->largest_bytes)
        stack->empty = clock;
    if (!stack->alive_bytes)
        stack->bare = clock;
    stack->births++;
    stack->age_at_birth = stack->freed_age;
    stack->late_count = 0;
    stack->alive_bytes += bytes;
    stack->allocated_bytes += bytes;
    stack->largest_bytes = bytes > stack->largest_bytes ? bytes : stack->largest_bytes;
    row->left++;
    row->left_bytes += bytes;
    alive_bytes = bytes > alive_bytes ? bytes : alive_bytes;
    row->alive_bytes = alive_bytes > row->alive_bytes ? alive_bytes : row->alive_bytes;
    stack->alive_at_birth_bytes = alive_bytes;
    return true;
}

/* Born at that time; the rows are in order, and hold every birth. */
static uint32_t row_of(const struct overdue_stack *stack, uint32_t born)
{
    uint32_t low = 0, high = stack->row_count - 1u;

    if (stack->rows[high].first <= born)
        return high;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;

        if (stack->rows[middle].first <= born)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* What was freed of the row since the newest birth; NULL: nothing. */
static struct overdue_late *late_find(const struct overdue_stack *stack, uint32_t row)
{
    for (uint32_t i = 0; i < stack->late_count; i++)
        if (stack->lates[i].row == row)
            return &stack->lates[i];
    return NULL;
}

/* NULL without memory. */
static struct overdue_late *late_for(struct overdue_stack *stack, uint32_t row)
{
    struct overdue_late *late = late_find(stack, row);

    if (late)
        return late;
    if (stack->late_count == stack->late_capacity) {
        uint8_t capacity = larger_capacity(stack->late_capacity);
        struct overdue_late *lates = realloc(stack->lates, capacity * sizeof(*lates));

        if (!lates)
            return NULL;
        stack->lates = lates;
        stack->late_capacity = capacity;
    }
    late = &stack->lates[stack->late_count++];
    *late = (struct overdue_late){.row = row};
    return late;
}

bool overdue_gone(struct overdue_stack *stack, uint32_t born, uint32_t clock, uint64_t bytes,
                  bool is_swept)
{
    uint32_t index = row_of(stack, born);
    struct overdue_row *row = &stack->rows[index];
    struct overdue_late *late = late_for(stack, index);

    if (!late)
        return false;
    MT_ASSERT(clock >= born);
    MT_ASSERT(row->left && row->left_bytes >= bytes);
    row->left--;
    row->left_bytes -= bytes;
    late->count++;
    late->bytes += bytes;
    if (is_swept) {
        late->swept++;
        late->swept_bytes += bytes;
    }
    stack->alive_bytes -= bytes;
    stack->gone = clock;
    if (clock - born > stack->freed_age)
        stack->freed_age = clock - born;
    return true;
}

void overdue_settle(struct overdue_stack *stack)
{
    struct overdue_row *newest;

    if (!stack->row_count)
        return;
    stack->age_at_birth = stack->freed_age;
    stack->late_count = 0;
    newest = &stack->rows[stack->row_count - 1];
    if (newest->alive_bytes > stack->alive_bytes)
        newest->alive_bytes = stack->alive_bytes;
}

void overdue_swept(struct overdue_stack *stack)
{
    for (uint32_t i = 0; i < stack->late_count; i++) {
        stack->lates[i].swept = stack->lates[i].count;
        stack->lates[i].swept_bytes = stack->lates[i].bytes;
    }
}

uint64_t overdue_let_go(struct overdue_stack *stack)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < stack->late_count; i++) {
        stack->lates[i].let_go = stack->lates[i].swept;
        stack->lates[i].let_go_bytes = stack->lates[i].swept_bytes;
        count += stack->lates[i].let_go;
    }
    return count;
}

void overdue_prefetch(const struct overdue_stack *stack)
{
    uint32_t newest = stack->row_count ? stack->row_count - 1u : 0;

    __builtin_prefetch(&stack->rows[newest], 1);
    __builtin_prefetch(&stack->rows[newest / 2], 1);
    __builtin_prefetch(&stack->rows[newest / 4]);
    __builtin_prefetch(&stack->rows[newest - newest / 4]);
    if (stack->spans)
        __builtin_prefetch(&stack->spans[newest], 1);
    __builtin_prefetch(stack->lates, 1);
}

/* --- judging --------------------------------------------------------------------------------- */

/* Some births of a row that count: all, or those whose blocks stay. */
struct stretch_of_births {
    uint32_t first, last, gap, inner_gap, moments;
    uint64_t count, bytes;
};

struct series {
    struct stretch_of_births rows[OVERDUE_ROWS_MOST];
    size_t row_count;
    uint64_t count, bytes;
};

static void series_add(struct series *series, const struct stretch_of_births *row)
{
    series->rows[series->row_count++] = *row;
    series->count += row->count;
    series->bytes += row->bytes;
}

static void all_births(const struct overdue_stack *stack, struct series *series)
{
    *series = (struct series){.row_count = 0};
    for (uint32_t i = 0; i < stack->row_count; i++) {
        const struct overdue_span span = span_of(stack, i);
        struct stretch_of_births births = {.first = stack->rows[i].first,
                                           .last = span.last,
                                           .gap = gap_before(stack, i),
                                           .inner_gap = span.inner_gap,
                                           .moments = span.moments,
                                           .count = span.births};

        series_add(series, &births);
    }
}

/* Alive when the newest block was born, and without what nobody could reach. */
static struct stretch_of_births left_of(const struct overdue_stack *stack, uint32_t index,
                                        enum overdue_sweep sweep)
{
    const struct overdue_row *row = &stack->rows[index];
    const struct overdue_late *late = late_find(stack, index);
    const struct overdue_span span = span_of(stack, index);
    struct stretch_of_births left = {
        .first = row->first, .last = span.last, .count = row->left, .bytes = row->left_bytes};

    if (late) {
        left.count += late->count;
        left.bytes += late->bytes;
        if (sweep != OVERDUE_SWEEP_UNKNOWN) {
            left.count -= late->swept;
            left.bytes -= late->swept_bytes;
        }
        if (sweep == OVERDUE_SWEEP_LAST) {
            left.count += late->let_go;
            left.bytes += late->let_go_bytes;
        }
    }
    if (left.count > 1) {
        uint32_t even = (span.last - row->first) / (uint32_t)(left.count - 1);

        left.inner_gap = even > span.inner_gap ? even : span.inner_gap;
        left.moments = span.moments < left.count - 1 ? span.moments : (uint32_t)left.count - 1;
    }
    return left;
}

/*
 * Survivors of rows whose births are all old enough. Of a row that is so in part nobody knows which
 * of its births are left: what is asked of survivors ends before it. Returns that time.
 */
static uint32_t overdue_births(const struct overdue_stack *stack, uint32_t latest,
                               enum overdue_sweep sweep, struct series *series)
{
    uint64_t age = stack->age_at_birth;
    uint64_t oldest = age < stack->last ? stack->last - age : 0;
    uint32_t i = 0;

    if (oldest > latest)
        oldest = latest;

    *series = (struct series){.row_count = 0};
    for (; i < stack->row_count && last_of(stack, i) < oldest; i++) {
        struct stretch_of_births left = left_of(stack, i, sweep);

        if (!left.count)
            continue;
        if (series->row_count)
            left.gap = left.first - series->rows[series->row_count - 1].last;
        series_add(series, &left);
    }
    if (i < stack->row_count && stack->rows[i].first < oldest)
        return stack->rows[i].first;
    return (uint32_t)oldest;
}

/* Of the last three quarters: what a program does first is not its rhythm. */
static uint32_t longest_gap_of(const struct series *series)
{
    uint64_t seen = 0;
    uint32_t longest = 0;

    for (size_t i = 0; i < series->row_count; i++) {
        const struct stretch_of_births *row = &series->rows[i];

        if (seen > series->count / BEGIN_SHARE && row->gap > longest)
            longest = row->gap;
        seen += row->count;
        if (seen > series->count / BEGIN_SHARE + 1 && row->inner_gap > longest)
            longest = row->inner_gap;
    }
    return longest;
}

static uint64_t moments_of(const struct series *series, uint32_t longest_gap)
{
    uint32_t burst = longest_gap / FEW_SHARE > 1 ? longest_gap / FEW_SHARE : 1;
    uint64_t moments = 1;

    for (size_t i = 0; i < series->row_count; i++)
        moments += series->rows[i].moments + (i && series->rows[i].gap > burst);
    return moments;
}

/* What a reason rests on. */
static void note(struct overdue *overdue, uint64_t measured, uint64_t needed)
{
    overdue->measured = measured;
    overdue->needed = needed;
}

/* Still going on at the end: the silence is not longer than thrice the longest before, and not
 * longer than chance would make it if births were as likely at any time. */
static bool goes_on(const struct series *series, uint64_t end, struct overdue *overdue)
{
    uint32_t longest_gap = longest_gap_of(series);
    uint64_t moments, silence, span, last;

    if (!series->count)
        return false;
    moments = moments_of(series, longest_gap);
    last = series->rows[series->row_count - 1].last;
    silence = end > last + 1 ? end - 1 - last : 0;
    span = end > series->rows[0].first + 1 ? end - 1 - series->rows[0].first : 0;
    overdue->is_in_bursts = moments < SURVIVORS_MIN;
    if (overdue->is_in_bursts) {
        note(overdue, moments, SURVIVORS_MIN);
        return false;
    }
    note(overdue, silence, (uint64_t)SILENCE_TIMES * longest_gap);
    if (!span || silence > overdue->needed)
        return false;
    note(overdue, silence, longest_gap);
    return silence <= longest_gap ||
           pow(1 - (double)silence / (double)span, (double)(moments - 1)) >= CHANCE_MAX;
}

/* How many of the births of a row lie before the time, if they came evenly. */
static double births_before(const struct stretch_of_births *row, double time)
{
    double width = (double)(row->last - row->first) + 1;
    double share = (time - (double)row->first) / width;

    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return share * (double)row->count;
}

static double all_before(const struct series *series, double time)
{
    double sum = 0;

    for (size_t i = 0; i < series->row_count; i++)
        sum += births_before(&series->rows[i], time);
    return sum;
}

/* Without the first moments, where there are others. */
static double warm_up_of(struct series *series)
{
    size_t left_out = WARM_UP_STEPS;
    double begin = series->rows[0].first;

    if (series->row_count <= left_out)
        return begin;
    for (size_t i = 0; i < left_out; i++) {
        begin = series->rows[i].last;
        series->count -= series->rows[i].count;
        series->bytes -= series->rows[i].bytes;
        series->rows[i].count = 0;
    }
    return begin;
}

struct thirds {
    double early, late;
};

static struct thirds thirds_of(const struct series *series, double begin, double end)
{
    double third = (end - begin) / THIRD_SHARE;

    return (struct thirds){.early = all_before(series, begin + third),
                           .late = all_before(series, end + 1) - all_before(series, end - third)};
}

/* What comes in bursts is as sure as their number, not as that of their blocks. */
static bool is_fading(const struct series *series, const struct thirds *thirds)
{
    double moments = (double)moments_of(series, longest_gap_of(series));
    double share = moments / (double)series->count;
    double both = thirds->early + thirds->late;

    return thirds->late < thirds->early - thirds->early / THIRD_SHARE &&
           (thirds->early - thirds->late) * sqrt((share < 1 ? share : 1) / both) >
               FADING_SIGMAS_MIN;
}

static bool is_uneven(const struct series *series, double begin, double end,
                      struct overdue *overdue)
{
    double count = (double)series->count, furthest = 0;
    double limit = UNEVEN_SIGMAS_MAX / sqrt(count);

    for (size_t i = 0; i < series->row_count; i++) {
        for (int edge = 0; series->rows[i].count && edge < 2; edge++) {
            double time = edge ? (double)series->rows[i].last + 1 : (double)series->rows[i].first;
            double off = all_before(series, time) / count - (time - begin) / (end - begin);

            furthest = fabs(off) > furthest ? fabs(off) : furthest;
        }
    }
    limit = limit > UNEVEN_DISTANCE_MAX ? limit : UNEVEN_DISTANCE_MAX;
    if (furthest > limit)
        note(overdue, (uint64_t)(1000 * furthest), (uint64_t)(1000 * limit));
    return furthest > limit;
}

/* until: the time up to which survivors are overdue. */
static enum overdue_reason reason_of(const struct overdue_stack *stack, uint32_t until,
                                     struct series *overdue, struct overdue *judged)
{
    struct thirds thirds;
    uint64_t last;
    double begin, least;

    note(judged, overdue->count, SURVIVORS_MIN);
    if (overdue->count < SURVIVORS_MIN)
        return OVERDUE_FEW;
    last = overdue->rows[overdue->row_count - 1].last;
    if (!goes_on(overdue, until > last ? until : last + 1, judged))
        return OVERDUE_STOPPED;
    note(judged, stack->last - stack->first, (uint64_t)LIVES_TIMES * stack->age_at_birth);
    if (judged->measured < judged->needed)
        return OVERDUE_LIVES_UNSEEN;
    note(judged, overdue->count, SURVIVORS_MIN);
    begin = warm_up_of(overdue);
    if (until <= begin || !overdue->count)
        return OVERDUE_FEW;
    thirds = thirds_of(overdue, begin, until);
    least = thirds.early / SLOW_TIMES;
    if (thirds.late < least) {
        note(judged, (uint64_t)thirds.late, (uint64_t)least);
        return OVERDUE_SLOWING;
    }
    judged->is_fading = is_fading(overdue, &thirds);
    return is_uneven(overdue, begin, until, judged) ? OVERDUE_UNEVEN : OVERDUE_YES;
}

/* What nobody could reach at the end. */
static uint64_t all_swept_bytes(const struct overdue_stack *stack, enum overdue_sweep sweep)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < stack->late_count; i++) {
        const struct overdue_late *late = &stack->lates[i];

        if (sweep != OVERDUE_SWEEP_UNKNOWN)
            bytes += late->swept_bytes;
        if (sweep == OVERDUE_SWEEP_LAST)
            bytes -= late->let_go_bytes;
    }
    return bytes;
}

/* What is alive rises to the end; 0: it does not. */
static uint64_t growth_of(const struct overdue_stack *stack, enum overdue_sweep sweep)
{
    uint64_t alive[OVERDUE_ROWS_MOST], growth, swept;
    size_t count = stack->row_count, late = count - count / THIRD_SHARE - 1;

    if (stack->largest_bytes < GROWING_BLOCK_BYTES_MIN)
        return 0;
    for (size_t i = 0; i < count; i++)
        alive[i] = stack->rows[i].alive_bytes;
    if (alive[count - 1] > stack->alive_at_birth_bytes) /* given back in the newest row */
        alive[count - 1] = stack->alive_at_birth_bytes;
    swept = all_swept_bytes(stack, sweep);
    alive[count - 1] -= swept < alive[count - 1] ? swept : alive[count - 1];
    if (alive[count - 1] <= alive[0] || trend_of(alive, count).rise_chance >= SURE_CHANCE_MAX)
        return 0;
    growth = alive[count - 1] - alive[0];
    return alive[count - 1] > alive[late] &&
                   (alive[count - 1] - alive[late]) * STILL_SHARE >= growth
               ? growth
               : 0;
}

/* Until late: the last time was that birth. */
static bool is_late(const struct overdue_stack *stack, uint32_t birth)
{
    return stack->last - birth < (stack->last - stack->first) / THIRD_SHARE;
}

bool overdue_is_given_back(const struct overdue_stack *stack)
{
    return is_late(stack, stack->bare);
}

static double mean_of(const uint64_t *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)values[i];
    return sum / (double)count;
}

struct overdue_rise overdue_rise_of(const struct overdue_stack *stack)
{
    uint64_t alive[OVERDUE_ROWS_MOST];
    size_t count = stack->row_count, third = count / THIRD_SHARE + 1;

    MT_ASSERT(count);
    for (size_t i = 0; i < count; i++)
        alive[i] = stack->rows[i].alive_bytes;
    third = third < count ? third : count;
    return (struct overdue_rise){mean_of(alive, third), mean_of(alive + count - third, third),
                                 trend_of(alive, count).rise_chance};
}

static uint64_t all_left_bytes(const struct overdue_stack *stack)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < stack->row_count; i++)
        bytes += left_of(stack, i, OVERDUE_SWEEP_UNKNOWN).bytes;
    return bytes;
}

struct overdue_part overdue_between(const struct overdue_stack *stack, uint32_t begin, uint32_t end)
{
    struct overdue_part part = {0};

    for (uint32_t i = 0; i < stack->row_count; i++) {
        const struct overdue_row *row = &stack->rows[i];

        if (row->first < begin || last_of(stack, i) >= end)
            continue;
        part.births += span_of(stack, i).births;
        part.left_bytes += left_of(stack, i, OVERDUE_SWEEP_UNKNOWN).bytes;
    }
    return part;
}

struct overdue overdue_judge(const struct overdue_stack *stack, uint32_t end,
                             enum overdue_sweep sweep)
{
    return overdue_judge_before(stack, end, UINT32_MAX, sweep);
}

struct overdue overdue_judge_before(const struct overdue_stack *stack, uint32_t end,
                                    uint32_t latest, enum overdue_sweep sweep)
{
    struct overdue overdue = {.reason = OVERDUE_NOT_ACTIVE,
                              .births = stack->births,
                              .freed_age = stack->age_at_birth,
                              .left_bytes = all_left_bytes(stack),
                              .first = stack->first,
                              .last = stack->last};
    struct series series;
    uint32_t until;

    MT_ASSERT(stack->row_count <= stack->row_capacity);
    MT_ASSERT(stack->first <= stack->empty && stack->empty <= stack->last);
    note(&overdue, stack->births, SURVIVORS_MIN);
    if (stack->births < SURVIVORS_MIN || stack->first >= end)
        return overdue;
    all_births(stack, &series);
    overdue.is_active = goes_on(&series, end, &overdue);
    if (!overdue.is_active)
        return overdue;
    until = overdue_births(stack, latest, sweep, &series);
    overdue.bytes = overdue.overdue_bytes = series.bytes;
    overdue.count = series.count;
    if (series.row_count) {
        overdue.first = series.rows[0].first;
        overdue.last = series.rows[series.row_count - 1].last;
    }
    overdue.reason = reason_of(stack, until, &series, &overdue);
    if (overdue.reason != OVERDUE_YES) {
        overdue.bytes = growth_of(stack, sweep);
        overdue.is_growing = overdue.bytes > 0;
        overdue.is_in_many_blocks = overdue.bytes / SURVIVORS_MIN > stack->largest_bytes;
        overdue.is_given_back = overdue_is_given_back(stack);
        /* What rises in many blocks, and is all given back again and again: ever more work. */
        if (overdue.is_in_many_blocks && is_late(stack, stack->empty)) {
            overdue.is_growing = overdue.is_in_many_blocks = false;
            overdue.bytes = 0;
        }
        overdue.count = 0;
        overdue.first = stack->first;
        overdue.last = stack->last;
    }
    return overdue;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A total over time, in bounded memory.
 */
#include "curve.h"

#include <stdlib.h>

#include "list.h"

/* The stretch of time that this point is in, if it is the one of the newest point. */
static bool is_in_newest(const struct curve *curve, const struct curve_limits *limits,
                         uint64_t time_ns)
{
    uint64_t newest;

    if (!curve->count || !curve->stretch_ns)
        return false;
    newest = curve->points[curve->count - 1].time_ns - limits->start_ns;
    return newest / curve->stretch_ns == (time_ns - limits->start_ns) / curve->stretch_ns;
}

static void join(struct curve_point *into, const struct curve_point *point)
{
    into->low = point->low < into->low ? point->low : into->low;
    into->high = point->high > into->high ? point->high : into->high;
    into->last = point->last;
}

/* The points there are become points of stretches; the first ones of each stay in place. */
static void shorten(struct curve *curve, const struct curve_limits *limits)
{
    uint64_t span_ns = limits->end_ns - limits->start_ns;
    size_t count = curve->count;

    curve->stretch_ns = span_ns / limits->stretch_most + 1;
    curve->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct curve_point point = curve->points[i];

        if (is_in_newest(curve, limits, point.time_ns))
            join(&curve->points[curve->count - 1], &point);
        else
            curve->points[curve->count++] = point;
    }
}

/* Inside the picture, and never back. */
static uint64_t clamp_time(const struct curve *curve, const struct curve_limits *limits,
                           uint64_t time_ns)
{
    if (time_ns < limits->start_ns)
        time_ns = limits->start_ns;
    if (time_ns > limits->end_ns)
        time_ns = limits->end_ns;
    if (curve->count && time_ns < curve->points[curve->count - 1].time_ns)
        time_ns = curve->points[curve->count - 1].time_ns;
    return time_ns;
}

bool curve_put(struct curve *curve, const struct curve_limits *limits, uint64_t time_ns,
               uint64_t value)
{
    struct curve_point point = {clamp_time(curve, limits, time_ns), value, value, value};

    if (curve->count && !curve->stretch_ns && curve->points[curve->count - 1].last == value)
        return true;
    if (!curve->stretch_ns && curve->count >= limits->change_most)
        shorten(curve, limits);
    if (is_in_newest(curve, limits, point.time_ns)) {
        join(&curve->points[curve->count - 1], &point);
        return true;
    }
    if (!list_has_room(&curve->points, &curve->capacity, curve->count, sizeof(*curve->points)))
        return false;
    curve->points[curve->count++] = point;
    return true;
}

void curve_release(struct curve *curve)
{
    free(curve->points);
    *curve = (struct curve){0};
}

bool curve_detail_init(struct curve_detail *detail, uint64_t moment_ns, size_t capacity)
{
    *detail = (struct curve_detail){.moment_ns = moment_ns, .capacity = capacity};
    detail->before = calloc(capacity, sizeof(*detail->before));
    detail->after = calloc(capacity, sizeof(*detail->after));
    if (detail->before && detail->after)
        return true;
    curve_detail_release(detail);
    return false;
}

void curve_detail_put(struct curve_detail *detail, uint64_t time_ns, uint64_t value)
{
    struct curve_point point = {time_ns, value, value, value};

    if (time_ns <= detail->moment_ns && detail->capacity)
        detail->before[detail->before_count++ % detail->capacity] = point;
    else if (detail->after_count < detail->capacity)
        detail->after[detail->after_count++] = point;
}

static size_t before_kept(const struct curve_detail *detail)
{
    return detail->before_count < detail->capacity ? detail->before_count : detail->capacity;
}

size_t curve_detail_count(const struct curve_detail *detail)
{
    return before_kept(detail) + detail->after_count;
}

const struct curve_point *curve_detail_at(const struct curve_detail *detail, size_t index)
{
    size_t kept = before_kept(detail);

    if (index >= kept)
        return &detail->after[index - kept];
    return &detail->before[(detail->before_count - kept + index) % detail->capacity];
}

void curve_detail_release(struct curve_detail *detail)
{
    free(detail->before);
    free(detail->after);
    *detail = (struct curve_detail){0};
}

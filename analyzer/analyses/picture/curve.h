/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A total over time, in bounded memory: every change while they are few, then the lowest, highest
 * and last value of equal stretches of time.
 *
 * What was highest stays highest: no peak is lost by shortening. A detail keeps every change next
 * to one moment, the peak, which the stretches are too coarse for.
 */
#ifndef LEAKTIDE_ANALYSES_CURVE_H
#define LEAKTIDE_ANALYSES_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct curve_point {
    uint64_t time_ns; /* of the change, or the first of its stretch */
    uint64_t low, high, last;
};

struct curve_limits {
    uint64_t start_ns, end_ns; /* of the whole picture */
    size_t change_most;        /* kept one by one */
    size_t stretch_most;       /* stretches of time when there are more; <= change_most / 2 */
};

struct curve {
    struct curve_point *points; /* by time */
    size_t count, capacity;
    uint64_t stretch_ns; /* 0: every change is there */
};

/* Every change among the last `capacity` before a moment and the first `capacity` after it. */
struct curve_detail {
    uint64_t moment_ns;
    struct curve_point *before, *after; /* before: a ring */
    size_t capacity, before_count, after_count;
};

/* Times never go down. False when there is no memory. */
bool curve_put(struct curve *curve, const struct curve_limits *limits, uint64_t time_ns,
               uint64_t value);
void curve_release(struct curve *curve);

bool curve_detail_init(struct curve_detail *detail, uint64_t moment_ns, size_t capacity);
void curve_detail_put(struct curve_detail *detail, uint64_t time_ns, uint64_t value);
/* index < before_count (at most capacity) + after_count, by time. */
size_t curve_detail_count(const struct curve_detail *detail);
const struct curve_point *curve_detail_at(const struct curve_detail *detail, size_t index);
void curve_detail_release(struct curve_detail *detail);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a series rise, and how fast? The Mann-Kendall test and the Theil-Sen slope.
 *
 * Neither assumes how values are spread, and one odd step does not matter much. For up to
 * TREND_EXACT_MAX values the probability is exact, ties included: the number of inversions over
 * all orders of the same values has the q-multinomial coefficient as its generating function.
 * Beyond, it is the normal approximation with the variance corrected for ties.
 *
 * Source: Mann 1945, Kendall 1975; Sen 1968, also for the interval; for ties MacMahon 1916, "Two
 * applications".
 */
#ifndef LEAKTIDE_ANALYSES_TREND_H
#define LEAKTIDE_ANALYSES_TREND_H

#include <stddef.h>
#include <stdint.h>

enum { TREND_EXACT_MAX = 20, TREND_MAX = 256 };

struct trend {
    int64_t score;      /* S: pairs that rise, less pairs that fall */
    double rise_chance; /* of such an S or a higher one, if the order meant nothing */
    double fall_chance; /* of such an S or a lower one */
};

/* From one value to the next, rounded to zero. */
struct slope {
    int64_t median;    /* of the changes between all pairs */
    int64_t low, high; /* the true slope lies between, with a confidence of 95 % */
};

/* count <= TREND_MAX. With fewer than 2 values: score 0, chances 1. O(count log count). */
struct trend trend_of(const uint64_t *values, size_t count);

/* With fewer than 2 values, or without memory, all are 0. O(count^2 log count). */
struct slope slope_of(const uint64_t *values, size_t count);

#endif

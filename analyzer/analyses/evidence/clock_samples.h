/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a number was when a process made its n-th block, about: the time, or what it had asked for
 * until then. Some of the values, evenly spread over its births.
 *
 * The clock is that of overdue.h. One thread at a time; nothing to release.
 */
#ifndef LEAKTIDE_ANALYSES_CLOCK_SAMPLES_H
#define LEAKTIDE_ANALYSES_CLOCK_SAMPLES_H

#include <stdint.h>

enum { CLOCK_SAMPLES_MOST = 512 };

/* Zeroed before the first birth. */
struct clock_samples {
    uint64_t values[CLOCK_SAMPLES_MOST]; /* of the clocks 0, stride, 2 stride, ... */
    uint32_t count;
    uint32_t stride; /* a power of two */
};

/* Clocks come one after the other, from 0; values never fall. */
void clock_samples_put(struct clock_samples *samples, uint32_t clock, uint64_t value);
/* Of the nearest birth that is kept at or before the clock; 0: there was none. */
uint64_t clock_samples_at(const struct clock_samples *samples, uint32_t clock);

#endif

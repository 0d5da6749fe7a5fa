/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a process made its n-th block, about: some of the times, evenly spread over its births.
 *
 * The clock is that of overdue.h. One thread at a time; nothing to release.
 */
#ifndef LEAKTIDE_ANALYSES_CLOCK_TIMES_H
#define LEAKTIDE_ANALYSES_CLOCK_TIMES_H

#include <stdint.h>

enum { CLOCK_TIMES_MOST = 512 };

/* Zeroed before the first birth. */
struct clock_times {
    uint64_t times_ns[CLOCK_TIMES_MOST]; /* of the clocks 0, stride, 2 stride, ... */
    uint32_t count;
    uint32_t stride; /* a power of two */
};

/* Clocks come one after the other, from 0; times never fall. */
void clock_times_put(struct clock_times *times, uint32_t clock, uint64_t time_ns);
/* Of the nearest birth that is kept at or before the clock; 0: there was none. */
uint64_t clock_times_at(const struct clock_times *times, uint32_t clock);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From time units of a process to nanoseconds on the time line of the run.
 *
 * Exact integers: rounded down, never backwards. The rate comes from two readings of the counter
 * and of CLOCK_MONOTONIC, at the start of the process and as late as possible; from the counter's
 * nominal frequency when these are too close together to tell.
 */
#ifndef MEMTIDE_TRACE_CLOCK_H
#define MEMTIDE_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "memtide/format.h"

/* Half of what 64 bits hold, so that a time and a rank fit into one word. */
#define TRACE_TIME_MAX_NS (UINT64_MAX >> 2)

struct trace_clock {
    uint64_t multiplier; /* nanoseconds of a unit << shift */
    unsigned shift;
    uint64_t offset_ns; /* of the start of the process from the start of the run */
};

/* False: the header holds no usable rate, and a tick is taken for a nanosecond. */
bool trace_clock_init(struct trace_clock *clock, const struct mt_file_header *header,
                      uint64_t run_start_monotonic_ns);

static inline uint64_t trace_clock_ns(const struct trace_clock *clock, uint64_t units)
{
    unsigned __int128 product = (unsigned __int128)units * clock->multiplier;

    product >>= clock->shift;
    product += clock->offset_ns;
    return product > TRACE_TIME_MAX_NS ? TRACE_TIME_MAX_NS : (uint64_t)product;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From time units of a process to nanoseconds on the time line of the run.
 *
 * Exact integers: rounded down, never backwards. The rate comes from two readings of the counter
 * and of CLOCK_MONOTONIC, at the start of the process and as late as possible; from the counter's
 * nominal frequency when these are too close together to tell.
 */
#ifndef LEAKTIDE_TRACE_CLOCK_H
#define LEAKTIDE_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "leaktide/format.h"

/* Half of what 64 bits hold, so that a time and a rank fit into one word. */
#define TRACE_TIME_MAX_NS (UINT64_MAX >> 2)

struct trace_clock {
    uint64_t whole_ns;    /* of a unit */
    uint64_t fraction_ns; /* of a unit, << 64 */
    uint64_t offset_ns;   /* of the start of the process from the start of the run */
    uint64_t units_max;   /* what is later counts as TRACE_TIME_MAX_NS */
};

/* False: the header holds no usable rate, and a tick is taken for a nanosecond. */
bool trace_clock_init(struct trace_clock *clock, const struct mt_file_header *header,
                      uint64_t run_start_monotonic_ns);

/* units <= clock->units_max */
static inline uint64_t trace_clock_ns_within(const struct trace_clock *clock, uint64_t units)
{
    uint64_t fraction = (uint64_t)((unsigned __int128)units * clock->fraction_ns >> 64);

    return clock->offset_ns + units * clock->whole_ns + fraction;
}

static inline uint64_t trace_clock_ns(const struct trace_clock *clock, uint64_t units)
{
    if (__builtin_expect(units > clock->units_max, 0))
        return TRACE_TIME_MAX_NS;
    return trace_clock_ns_within(clock, units);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_clock.h"

enum {
    CALIBRATED_NS = 10000000, /* readings 10 ms apart tell the rate to a few parts in a million */
    TICK_RATE_MIN = 1000      /* ticks a second; no counter is slower */
};

#define NANOSECONDS_PER_SECOND UINT64_C(1000000000)

bool trace_clock_init(struct trace_clock *clock, const struct mt_file_header *header,
                      uint64_t run_start_monotonic_ns)
{
    uint64_t ticks = header->last_ticks - header->start_ticks;
    uint64_t ns = header->last_monotonic_ns - header->start_monotonic_ns;
    unsigned __int128 numerator;
    bool is_known = true;

    if (header->last_ticks <= header->start_ticks ||
        header->last_monotonic_ns < header->start_monotonic_ns + CALIBRATED_NS ||
        ns / NANOSECONDS_PER_SECOND > ticks / TICK_RATE_MIN) {
        ticks = header->ticks_per_second;
        ns = NANOSECONDS_PER_SECOND;
        if (ticks < TICK_RATE_MIN) {
            ticks = ns;
            is_known = false;
        }
    }
    numerator = (unsigned __int128)ns << (header->time_shift & 31);
    clock->whole_ns = (uint64_t)(numerator / ticks);
    clock->fraction_ns = (uint64_t)((numerator % ticks << 64) / ticks);
    clock->offset_ns = header->start_monotonic_ns - run_start_monotonic_ns;
    clock->units_max = clock->offset_ns < TRACE_TIME_MAX_NS
                           ? (TRACE_TIME_MAX_NS - clock->offset_ns) / (clock->whole_ns + 1)
                           : 0;
    return is_known;
}

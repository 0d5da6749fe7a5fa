/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a process made its n-th block, about.
 */
#include "clock_times.h"

#include <stddef.h>

/* Every second one goes. */
static void thin_out(struct clock_times *times)
{
    for (size_t i = 0; i < CLOCK_TIMES_MOST / 2; i++)
        times->times_ns[i] = times->times_ns[2 * i];
    times->count = CLOCK_TIMES_MOST / 2;
    times->stride *= 2;
}

void clock_times_put(struct clock_times *times, uint32_t clock, uint64_t time_ns)
{
    if (!times->stride)
        times->stride = 1;
    if (clock & (times->stride - 1))
        return;
    if (times->count == CLOCK_TIMES_MOST)
        thin_out(times);
    if (!(clock & (times->stride - 1)))
        times->times_ns[times->count++] = time_ns;
}

uint64_t clock_times_at(const struct clock_times *times, uint32_t clock)
{
    uint32_t row = times->stride ? clock / times->stride : 0;

    if (!times->count)
        return 0;
    return times->times_ns[row < times->count ? row : times->count - 1];
}

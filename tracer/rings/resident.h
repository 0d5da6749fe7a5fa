/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a process has, as the kernel counts it: sampled by the consumer, or by a process
 * that is alone.
 */
#ifndef LEAKTIDE_TRACER_RESIDENT_H
#define LEAKTIDE_TRACER_RESIDENT_H

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define RESIDENT_COUNTER "process resident"

/* statm: the open /proc/PID/statm, whose second number it is; -1: none. 0: it cannot be read. */
static inline uint64_t resident_bytes(int statm)
{
    char text[128], *end;
    ssize_t size = statm >= 0 ? pread(statm, text, sizeof(text) - 1, 0) : -1;

    if (size <= 0)
        return 0;
    text[size] = 0;
    strtoull(text, &end, 10);
    return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Of a header that others look at meanwhile. */
static inline void peak_raise(uint64_t *now, uint64_t *peak, uint64_t value)
{
    __atomic_store_n(now, value, __ATOMIC_RELAXED);
    if (value > *peak)
        __atomic_store_n(peak, value, __ATOMIC_RELAXED);
}

#endif

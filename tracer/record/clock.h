/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counter that stamps events: the CPU's own, if it ticks evenly through frequency changes and
 * sleep and is the same on every core; else the system's monotonic clock in nanoseconds.
 */
#ifndef MEMTIDE_TRACER_CLOCK_H
#define MEMTIDE_TRACER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

/* Set once by clock_init, before the first stamp. */
extern bool clock_has_counter;

static inline uint64_t clock_now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(clock_has_counter, 1))
        return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
    return clock_now_ns(CLOCK_MONOTONIC);
}

static inline void clock_init(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    /* Advanced power management leaf, bit 8: the time stamp counter is invariant. */
    clock_has_counter = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
#else
    clock_has_counter = true;
#endif
}

/* Ticks per second if the machine says so, else 0: then it is measured. */
static inline uint64_t clock_known_frequency(void)
{
#if defined(__aarch64__)
    uint64_t frequency;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
    return frequency;
#else
    return clock_has_counter ? 0 : UINT64_C(1000000000);
#endif
}

#endif

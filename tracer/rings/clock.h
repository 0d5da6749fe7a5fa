/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counter that stamps events: the CPU's own, if it ticks evenly through frequency changes and
 * sleep and is the same on every core; else the system's monotonic clock in nanoseconds.
 *
 * Events of one address have stamps in the order in which they happen, whatever thread they are of:
 *
 *   this thread           another thread
 *   clock_ticks()
 *   stamp is stored
 *   hands the block on -> gets the block
 *                         clock_ticks()
 *
 * On the left the stamp is data of a store that comes first in the program, and whatever hands the
 * block on keeps the stores before it: those into the block must be seen before the next one's,
 * too. On the right the counter waits for the loads before it: a plain read is seen up to 1 us
 * ahead of the load that brings the block. docs/architecture.md, "Decisions", has the numbers.
 */
#ifndef LEAKTIDE_TRACER_CLOCK_H
#define LEAKTIDE_TRACER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

/* Set once by clock_init, before the first stamp. */
extern bool clock_has_counter;

/*
 * The kernel's clock, from the page that it maps into each process: the name clock_gettime may lead
 * to another clock, which stands or runs at another pace (libfaketime). No system call, where the
 * kernel has such a page. Any thread and signal handler.
 */
uint64_t clock_now_ns(clockid_t clock);

/*
 * rdtscp reads when all instructions before it are done. (lfence and rdtsc do the same; they cost
 * more, and an older AMD may be set up to let lfence wait for loads only.) isb does so on aarch64
 * behind a branch on what was loaded: every hook looks at the address first.
 */
static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    unsigned processor;

    if (__builtin_expect(clock_has_counter, 1))
        return __rdtscp(&processor);
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
#endif
    return clock_now_ns(CLOCK_MONOTONIC);
}

static inline void clock_init(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    /* rdtscp is there; and, advanced power management leaf, the time stamp counter is invariant. */
    clock_has_counter = __get_cpuid(0x80000001, &a, &b, &c, &d) && (d >> 27 & 1) &&
                        __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
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

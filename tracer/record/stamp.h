/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stamp of an event, as its thread takes it.
 *
 * clock_ticks() waits for the loads before it, because another thread may just have made or freed
 * the block. While one thread alone has had events, there is no other: then the counter need not
 * wait.
 *
 *   the only thread                    another thread
 *                                      is not the only one: says so, and waits
 *                                      its event; hands the block on
 *   gets the block
 *   sees that it is not alone: waits
 *
 * This holds where stores, and loads, are seen in the order of the program, as on x86-64: the other
 * thread says so before it hands anything on, and the question comes after the load that brought
 * the block. Elsewhere the stamp always waits. A forked child keeps what its parent knew: its one
 * thread has the address of the one that forked.
 */
#ifndef LEAKTIDE_TRACER_STAMP_H
#define LEAKTIDE_TRACER_STAMP_H

#include "clock.h"

struct thread_state;

/* The one thread that has had events; NULL: none has; the address of this variable: several. */
extern const void *stamp_only_thread __attribute__((visibility("hidden")));

/* Not the only thread: the first event of all, or of a second thread. Safe in signal handlers. */
void stamp_meets_thread(const struct thread_state *thread);

static inline uint64_t stamp_now(const struct thread_state *thread)
{
#if defined(__x86_64__)
    const void *only = __atomic_load_n(&stamp_only_thread, __ATOMIC_ACQUIRE);

    if (__builtin_expect(only == thread, 1))
        return __rdtsc();
    if (__builtin_expect(only != &stamp_only_thread, 0))
        stamp_meets_thread(thread);
#else
    (void)thread;
#endif
    return clock_ticks();
}

/* For a stamp that gets into its record only after what hands the block on. */
static inline uint64_t stamp_now_stored(const struct thread_state *thread)
{
    volatile uint64_t ticks = stamp_now(thread);

    return ticks;
}

#endif

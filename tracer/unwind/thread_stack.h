/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the calling thread's own stack lies.
 *
 * The C library knows, and pthread_getattr_np() would tell, but that takes from the heap, and who
 * asks may stand inside of an allocator. So the answer is read where the C library keeps it: in the
 * thread's descriptor, at a place that is found once.
 */
#ifndef LEAKTIDE_TRACER_THREAD_STACK_H
#define LEAKTIDE_TRACER_THREAD_STACK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * low   of memory that belongs to this thread for as long as it lives; 0: the kernel makes the
 *       stack grow, how far is to be found out
 * top   end of the stack; 0: nothing is known about this thread
 */
struct thread_stack {
    uint64_t low, top;
};

/* In the process's first thread, before others ask: finds the place. */
void thread_stack_prepare(void);

/* No lock, no heap; also in a child that another thread forked, whose first thread it is then. */
struct thread_stack thread_stack_own(void);

#endif

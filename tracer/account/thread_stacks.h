/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which mappings are stacks of threads, and how much of them.
 */
#ifndef LEAKTIDE_TRACER_THREAD_STACKS_H
#define LEAKTIDE_TRACER_THREAD_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mappings.h"
#include "process_memory.h"

/* Where the threads' stacks are just now, in order; of threads that are running it is not known. */
struct thread_stacks {
    uint64_t *pointers;
    size_t pointer_count, pointer_capacity;
    size_t thread_count;
};

/* folder: a descriptor of the process's own in /proc. False: no memory. */
bool thread_stacks_read(struct thread_stacks *stacks, int folder);
void thread_stacks_release(struct thread_stacks *stacks);

/*
 * Where the stack ends that a mapping begins with; 0: it is none. That is a plain, writable mapping
 * that has a stack pointer in it, or the descriptor of a thread at its upper end, as the C library
 * has put it there: also of threads that have ended, whose stacks it keeps. What the kernel has
 * joined to the stack is not part of it. before: the mapping below it, which guards it; memory:
 * NULL: may not be read.
 */
uint64_t thread_stack_end(const struct thread_stacks *stacks, const struct mapping *mapping,
                          const struct mapping *before, struct process_memory *memory);

#endif

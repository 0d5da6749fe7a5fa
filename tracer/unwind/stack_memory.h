/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which addresses of a stack may be read.
 *
 * A thread's own stack is there as long as the thread, from the stack pointer up to the top: whose
 * it is, is found once and remembered. (Further down, a program may have guard pages of its own.)
 * Other stacks (of signals, of coroutines) may be gone tomorrow, also those that lie right below
 * a thread's own: they are looked at again in each walk, page by page as the walk comes there.
 *
 * Looking is a system call that reads eight bytes and then fails on purpose. No lock, no heap;
 * errno is left as it was.
 */
#ifndef LEAKTIDE_TRACER_STACK_MEMORY_H
#define LEAKTIDE_TRACER_STACK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* What a walk may read: [low, high). */
struct stack_memory {
    uint64_t low, high;
    bool is_own;
};

/* What a thread knows; starts as zeros. */
struct stack_knowledge {
    uint64_t top;                       /* of its own stack; 0: not known yet */
    uint64_t low;                       /* [low, top) is that stack; 0: not known yet */
    uint64_t foreign_low, foreign_high; /* where its own stack was looked for and is not */
    bool grows;                         /* low goes down with it: the first thread's */
};

/* Call once, before the others: finds out what this kernel can tell. */
void stack_memory_prepare(void);

/*
 * The kernel is not asked any more: it may end the program for that. What is not known by then to
 * be readable is not read, but for the first thread's stack as it grows.
 */
void stack_memory_avoid_calls(void);
bool stack_memory_avoids_calls(void);

/* Whether the eight bytes at the address, aligned, can be read. */
bool memory_is_readable(uint64_t address);

/* The memory around `sp`, which is the calling thread's stack pointer now or was when a signal
 * came. */
struct stack_memory stack_memory_around(struct stack_knowledge *knowledge, uint64_t sp);

static inline bool stack_is_own(const struct stack_knowledge *knowledge, uint64_t sp)
{
    return knowledge->low && sp >= knowledge->low && sp < knowledge->top;
}

/* Of an sp that is on the thread's own stack. */
static inline struct stack_memory stack_memory_of_own(const struct stack_knowledge *knowledge,
                                                      uint64_t sp)
{
    return (struct stack_memory){sp & ~UINT64_C(7), knowledge->top, true};
}

/* Makes `memory` hold [address, address + 8); false if it cannot be read. */
bool stack_memory_reach(struct stack_memory *memory, uint64_t address);

static inline bool stack_memory_has(const struct stack_memory *memory, uint64_t address)
{
    return address >= memory->low && address < memory->high && memory->high - address >= 8;
}

#endif

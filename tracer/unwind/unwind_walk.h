/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk of a stack, on its way outward, between unwinder.c, which takes the plain steps, and
 * unwind_steps.c, which takes the others.
 */
#ifndef LEAKTIDE_TRACER_UNWIND_WALK_H
#define LEAKTIDE_TRACER_UNWIND_WALK_H

#include "unwinder.h"

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ALWAYS_INLINE       inline __attribute__((always_inline))

/* Reads other functions' frames, which sanitizers guard. */
#define READS_STACK         __attribute__((no_sanitize("address", "thread", "undefined")))

/* Of unwind_front_row.fp_words; the other bits: how many words below the CFA the frame pointer is
 * saved, 0: it is not */
enum { FRONT_CFA_FROM_FP = 1 << 15 };

/* One walk. sp and fp are those of the frame whose pc it is. */
struct walk {
    struct unwinder *unwinder;
    struct unwind_thread *thread;
    struct stack_memory memory;
    uint64_t pc, sp, fp;
    uint64_t link;       /* the link register, or 0 where nobody knows it */
    bool is_interrupted; /* pc is an instruction that was to run, no return address */
    bool is_sp_known;
    bool can_be_kept; /* depends on nothing but rows and checked words */
    uint32_t flags;
    uint32_t count, limit;                /* of thread->new_frames */
    const struct unwind_frame *candidate; /* innermost remembered one that may be met, or guard */
};

static READS_STACK inline uint64_t word_at(uint64_t address)
{
    return *(const uint64_t *)(uintptr_t)address;
}

/* How far a walk has come: what changes with each step. */
struct position {
    uint64_t pc, sp, fp;
    const struct unwind_frame *candidate; /* innermost remembered one that may be met, or guard */
    struct unwind_new_frame *to;          /* where the next frame is noted */
};

/* The row of a return address, for the next time, too. */
void walk_front_fill(struct unwinder *unwinder, struct unwind_thread *thread,
                     struct unwind_front_row *front, uint64_t pc);

/*
 * Steps that are not plain, until one could be again: after a signal the next frame is that of an
 * instruction that was interrupted. The frame that is left first is noted already. False: the walk
 * has ended.
 */
bool walk_slowly(struct walk *walk, uint32_t row);

/* The row of a return address. */
static inline const struct unwind_front_row *front_row(struct unwinder *unwinder,
                                                       struct unwind_thread *thread, uint64_t pc)
{
    struct unwind_front_row *front = &thread->front[(pc ^ pc >> 9) % UNWIND_FRONT_ROWS];

    if (UNLIKELY(front->pc != pc))
        walk_front_fill(unwinder, thread, front, pc);
    return front;
}

static inline bool walk_ends(struct walk *walk, enum unwind_flag flag)
{
    walk->flags |= (uint32_t)flag;
    if (flag == UNWIND_UNREADABLE)
        walk->can_be_kept = false;
    return false;
}

#endif

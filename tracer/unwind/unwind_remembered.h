/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread remembers of a stack: is it still so, and is it worth while to remember it? Part of
 * unwinder.c.
 */
#ifndef LEAKTIDE_TRACER_UNWIND_REMEMBERED_H
#define LEAKTIDE_TRACER_UNWIND_REMEMBERED_H

#include "unwind_walk.h"

enum {
    SHARE_LOW = 96,       /* of 256: below, remembering costs more than it saves */
    CREDIT_MAX = 1 << 15, /* some ten large stacks without anything in common */
    PLAIN_CAPTURES = 62   /* until it is tried again */
};

static READS_STACK inline uint64_t change_of(const struct unwind_check *check)
{
    return (word_at(check->address) ^ check->value) & ROW_PC_MASK;
}

/* How many checks hold, from the outermost on. Not beyond `end`. */
static READS_STACK inline uint32_t good_checks(const struct unwind_thread *thread, uint32_t end)
{
    const struct unwind_check *last = thread->checks + end;
    const struct unwind_check *check = last - ((end - UNWIND_SPARE_CHECKS + 3) & ~3u);

    for (; check < last; check += 4)
        if (UNLIKELY(change_of(check) | change_of(check + 1) | change_of(check + 2) |
                     change_of(check + 3)))
            break;
    while (UNLIKELY(check < last) && !change_of(check))
        check++;
    return (uint32_t)(check - thread->checks);
}

/* Four at a time: what fills up the last four holds. */
static READS_STACK ALWAYS_INLINE bool checks_hold(const struct unwind_check *check,
                                                  const struct unwind_check *end)
{
    uint64_t change = 0;

    for (; check < end; check += 4)
        change |=
            change_of(check) | change_of(check + 1) | change_of(check + 2) | change_of(check + 3);
    return change == 0;
}

/* All up to `end` do. The innermost first: where a stack is another, these tell soonest. */
static inline bool all_hold(const struct unwind_thread *thread, uint32_t end)
{
    const struct unwind_check *last = thread->checks + end;

    return UNLIKELY(end == UNWIND_SPARE_CHECKS) ||
           (checks_hold(last - 4, last) &&
            checks_hold(last - ((end - UNWIND_SPARE_CHECKS + 3) & ~3u), last - 4));
}

/*
 * A remembered frame is met: that one or the innermost further out, outside of which nothing has
 * changed. Not to be asked before: right below the stack of the remembered frames may be another
 * one, of a coroutine, which looks like more of it, and goes on when the upper is unmapped.
 */
static inline const struct unwind_frame *unchanged_frame(const struct unwind_thread *thread,
                                                         const struct unwind_frame *met)
{
    uint32_t good_count = good_checks(thread, met->check_end);

    while (met->check_end > good_count)
        met--;
    return met;
}

static inline void note_all_kept(struct unwind_thread *thread, uint32_t count)
{
    int32_t credit = thread->share_credit + (int32_t)(count * (256 - SHARE_LOW));

    thread->share_credit = credit < CREDIT_MAX ? credit : CREDIT_MAX;
}

/*
 * The share of frames that were taken over decides whether that is worth its while: new ones take
 * from the credit, kept ones add to it, so that it falls when less than SHARE_LOW of 256 are kept.
 */
static inline void note_share(struct unwind_thread *thread, uint32_t kept, uint32_t new_count)
{
    int32_t credit = thread->share_credit + (int32_t)(kept * (256 - SHARE_LOW)) -
                     (int32_t)(new_count * SHARE_LOW);

    if (UNLIKELY(credit < 0)) {
        thread->plain_left = PLAIN_CAPTURES;
        credit = 0; /* after these, one more as bad is enough */
    }
    thread->share_credit = credit < CREDIT_MAX ? credit : CREDIT_MAX;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Innermost frames of earlier stacks (struct unwind_top). Part of unwinder.c.
 *
 * A top that holds is given without its frames: unwind_thread.frames goes on to be what was laid
 * out last, of which the outer frames, that the top stands on, are right. It is laid out, in place
 * of the inner ones, when somebody wants its frames, or when another top may stand on them.
 */
#ifndef LEAKTIDE_TRACER_UNWIND_TOPS_H
#define LEAKTIDE_TRACER_UNWIND_TOPS_H

#include <string.h>

#include "leaktide/invariant.h"
#include "unwind_remembered.h"

enum {
    TOP_DEBT_MAX = 256, /* of tops: one that is found pays for two that are not */
    TOP_REST = 4096
};

static inline uint32_t top_first_way(const struct unwind_registers *start)
{
    uint64_t hash = start->pc ^ start->pc >> 8 ^ start->sp >> 4 ^ start->sp >> 10;

    return (uint32_t)hash % UNWIND_TOP_SETS * UNWIND_TOP_WAYS;
}

_Static_assert(UNWIND_TOPS <= UINT8_MAX + 1, "a number of a top is a byte");

/* What is there where it begins, after the last one. */
static inline uint8_t *top_expected(struct unwind_tops *tops, const struct unwind_registers *start)
{
    uint64_t key = start->pc ^ start->sp << 21 ^ (uint64_t)tops->last << 45;

    return &tops->expected[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - UNWIND_TOPS_EXPECTED_BITS)];
}

/* One had to be walked: where that is so too often, tops cost more than they save. */
static inline void top_missed(struct unwind_tops *tops)
{
    if (++tops->debt > TOP_DEBT_MAX) {
        tops->debt = 0;
        tops->rest_left = TOP_REST;
    }
}

/* Those that fill up the last four are always right. */
static void top_fill_up(struct unwind_check *checks, uint32_t count)
{
    for (; count % 4; count++)
        checks[count].address = (uint64_t)(uintptr_t)&checks[count].value;
}

/* The frames that were walked on top of the kept ones, for the next time. */
static __attribute__((noinline)) void top_save(struct unwind_thread *thread, uint32_t kept,
                                               uint32_t new_count,
                                               const struct unwind_registers *start,
                                               struct unwind_stack *stack)
{
    const struct unwind_frame *base = thread->frames + kept;
    uint32_t check_count = (uint32_t)(base[new_count].check_end - base->check_end);
    struct unwind_tops *tops = &thread->tops;
    uint32_t number = top_first_way(start);
    uint8_t *newest = &tops->newest_ways[number / UNWIND_TOP_WAYS];
    struct unwind_top *top;

    if (!kept || !new_count || new_count > UNWIND_TOP_FRAMES || check_count > UNWIND_TOP_CHECKS)
        return;
    *newest = (uint8_t)((*newest + 1) % UNWIND_TOP_WAYS);
    number += *newest;
    top = &tops->tops[number];
    top->sp = start->sp;
    top->pc = base[new_count].pc;
    top->fp = start->fp;
    top->needs_fp = base[new_count].needs_fp;
    top->base_serial = base->serial;
    top->base_count = (uint16_t)kept;
    top->count = (uint8_t)new_count;
    top->check_count = (uint8_t)check_count;
    top->flags = (uint8_t)thread->kept_flags;
    top->names.name = top->names.merged_name = 0;
    for (uint32_t i = 0; i < new_count; i++)
        tops->frames[number][i] = base[1 + i];
    memcpy(tops->checks[number], thread->checks + base->check_end,
           check_count * sizeof(tops->checks[number][0]));
    top_fill_up(tops->checks[number], check_count);
    *top_expected(tops, start) = (uint8_t)number;
    tops->last = number;
    stack->name = &top->names.name;
}

/* What stands on the same frame is the same. */
static inline bool is_same_frame(const struct unwind_frame *one, const struct unwind_frame *other)
{
    return one->sp == other->sp && one->pc == other->pc &&
           (!other->needs_fp || one->fp == other->fp);
}

static inline void top_check(const struct unwind_top *top)
{
    MT_ASSERT(top->base_count && top->base_count + top->count <= UNWIND_MAX_FRAMES);
    MT_ASSERT(top->count && top->count <= UNWIND_TOP_FRAMES);
    MT_ASSERT(top->check_count <= UNWIND_TOP_CHECKS);
}

/* Is the frame remembered that it stands on? */
static inline bool top_has_base(const struct unwind_thread *thread, const struct unwind_top *top)
{
    return top->base_count <= thread->frame_count && top->flags == thread->kept_flags &&
           thread->frames[top->base_count].serial == top->base_serial;
}

/*
 * Instead of the frames that stand there: what is remembered is still right, as long as its checks
 * hold. Returns how many of all are the same as before.
 */
static uint32_t top_lay(struct unwind_thread *thread, uint32_t number)
{
    const struct unwind_top *top = &thread->tops.tops[number];
    const struct unwind_check *checks = thread->tops.checks[number];
    const struct unwind_frame *from = thread->tops.frames[number];
    uint32_t base_count = top->base_count, count = base_count + top->count, at = base_count;
    uint32_t same_end = count < thread->frame_count ? count : thread->frame_count;
    uint32_t check_begin = thread->frames[base_count].check_end, same_count, check;
    uint64_t hash;

    top_check(top);
    while (at < same_end && is_same_frame(&thread->frames[at + 1], from)) {
        from++;
        at++;
    }
    same_count = at;
    hash = thread->hashes[at];
    for (check = thread->frames[at].check_end - check_begin; check < top->check_count; check++)
        thread->checks[check_begin + check] = checks[check];
    for (; at < count; at++, from++) {
        thread->frames[at + 1] = *from;
        thread->pcs[at] = from->pc;
        hash = unwind_hash(hash, from->pc);
        thread->hashes[at + 1] = hash;
    }
    thread->frame_count = thread->pc_count = count;
    return same_count;
}

/* The one that was given last: then its frames are there for what stands on them. */
static bool top_lay_last(struct unwind_thread *thread)
{
    uint32_t number = thread->tops.unlaid - 1, same_count;

    thread->tops.unlaid = 0;
    if (!top_has_base(thread, &thread->tops.tops[number]))
        return false;
    same_count = top_lay(thread, number);
    if (same_count < thread->given_same)
        thread->given_same = same_count;
    return true;
}

/* It stands on a remembered frame, and nothing of it has changed. */
static ALWAYS_INLINE bool top_is_there(const struct unwind_thread *thread, uint32_t number,
                                       const struct unwind_registers *start)
{
    const struct unwind_top *top = &thread->tops.tops[number];
    const struct unwind_check *checks = thread->tops.checks[number];

    if (top->sp != start->sp || top->pc != (start->pc & ROW_PC_MASK) ||
        !top_has_base(thread, top) || (top->needs_fp && top->fp != start->fp))
        return false;
    return checks_hold(checks, checks + top->check_count) &&
           all_hold(thread, thread->frames[top->base_count].check_end);
}

static __attribute__((noinline)) bool top_is_here(const struct unwind_thread *thread,
                                                  uint32_t number,
                                                  const struct unwind_registers *start)
{
    return top_is_there(thread, number, start);
}

static bool top_find(const struct unwind_thread *thread, const struct unwind_registers *start,
                     uint32_t *number)
{
    *number = top_first_way(start);
    if (top_is_here(thread, *number, start))
        return true;
    ++*number;
    return top_is_here(thread, *number, start);
}

/*
 * One that stands on frames of another, which lie on `base_count` frames: it gets those frames too,
 * if there is room. Then it is found without them.
 */
static __attribute__((noinline)) void top_take_in(struct unwind_thread *thread, uint32_t number,
                                                  uint32_t base_count)
{
    struct unwind_top *top = &thread->tops.tops[number];
    struct unwind_frame *frames = thread->tops.frames[number];
    struct unwind_check *checks = thread->tops.checks[number];
    const struct unwind_frame *base = thread->frames + base_count;
    uint32_t more = top->base_count - base_count, more_checks;

    if (top->base_count <= base_count || more + top->count > UNWIND_TOP_FRAMES)
        return;
    more_checks = (uint32_t)(base[more].check_end - base->check_end);
    if (more_checks + top->check_count > UNWIND_TOP_CHECKS)
        return;
    memmove(frames + more, frames, top->count * sizeof(*frames));
    memcpy(frames, base + 1, more * sizeof(*frames));
    memmove(checks + more_checks, checks, top->check_count * sizeof(*checks));
    memcpy(checks, thread->checks + base->check_end, more_checks * sizeof(*checks));
    top->base_serial = base->serial;
    top->base_count = (uint16_t)base_count;
    top->count = (uint8_t)(top->count + more);
    top->check_count = (uint8_t)(top->check_count + more_checks);
    top_fill_up(checks, top->check_count);
}

/* Found once the frames of the one that was given last are there. */
static __attribute__((noinline)) bool top_find_on_last(struct unwind_thread *thread,
                                                       const struct unwind_registers *start,
                                                       uint32_t *number)
{
    uint32_t base_count = thread->tops.tops[thread->tops.unlaid - 1].base_count;

    if (!top_lay_last(thread) || !top_find(thread, start, number))
        return false;
    top_take_in(thread, *number, base_count);
    return true;
}

/* Its frames are left where they are. */
static inline void give_unlaid(struct unwind_thread *thread, uint32_t number,
                               struct unwind_stack *stack)
{
    struct unwind_tops *tops = &thread->tops;
    struct unwind_top *top = &tops->tops[number];

    tops->last = number;
    tops->unlaid = number + 1;
    tops->debt -= tops->debt < 2 ? tops->debt : 2;
    stack->pcs = NULL;
    stack->count = (uint32_t)top->base_count + top->count;
    stack->flags = top->flags;
    stack->name = &top->names.name;
    note_all_kept(thread, stack->count);
}

/* A stack that was there before, though not last. */
static bool give_top(struct unwind_thread *thread, const struct unwind_registers *start,
                     struct unwind_stack *stack)
{
    struct unwind_tops *tops = &thread->tops;
    uint32_t number;

    if (UNLIKELY(tops->rest_left)) {
        tops->rest_left--;
        return false;
    }
    if (!top_find(thread, start, &number) &&
        !(tops->unlaid && top_find_on_last(thread, start, &number)))
        return false;
    *top_expected(tops, start) = (uint8_t)number;
    give_unlaid(thread, number, stack);
    return true;
}

#endif

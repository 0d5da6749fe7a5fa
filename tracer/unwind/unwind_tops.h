/* SPDX-License-Identifier: Apache-2.0 */
/* Innermost frames of earlier stacks (struct unwind_top). Part of unwinder.c. */
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

/* This one comes after the last. */
static inline void top_follows(struct unwind_tops *tops, uint32_t number)
{
    tops->tops[tops->last].next = number;
    tops->last = number;
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
static void top_save_checks(struct unwind_top *top, const struct unwind_check *from)
{
    uint32_t at = 0;

    for (; at < top->check_count; at++)
        top->checks[at] = from[at];
    for (; at % 4; at++)
        top->checks[at].address = (uint64_t)(uintptr_t)&top->checks[at].value;
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
    top->flags = thread->kept_flags;
    top->names.name = top->names.merged_name = 0;
    for (uint32_t i = 0; i < new_count; i++)
        top->frames[i] = base[1 + i];
    top_save_checks(top, thread->checks + base->check_end);
    top_follows(tops, number);
    stack->name = &top->names.name;
}

static READS_STACK inline bool top_holds(const struct unwind_top *top)
{
    const struct unwind_check *check = top->checks, *end = check + top->check_count;
    uint64_t change = 0;

    for (; check < end; check += 4)
        change |=
            change_of(check) | change_of(check + 1) | change_of(check + 2) | change_of(check + 3);
    return change == 0;
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

/* Instead of the frames that stand there. Returns how many of all are the same as before. */
static inline uint32_t top_put(struct unwind_thread *thread, const struct unwind_top *top)
{
    uint32_t base_count = top->base_count, count = base_count + top->count, at = base_count;
    uint32_t same_end = count < thread->frame_count ? count : thread->frame_count;
    uint32_t check_begin = thread->frames[base_count].check_end, same_count, check;
    const struct unwind_frame *from = top->frames;
    uint64_t hash;

    while (at < same_end && is_same_frame(&thread->frames[at + 1], from)) {
        from++;
        at++;
    }
    same_count = at;
    hash = thread->hashes[at];
    for (check = thread->frames[at].check_end - check_begin; check < top->check_count; check++)
        thread->checks[check_begin + check] = top->checks[check];
    for (; at < count; at++, from++) {
        thread->frames[at + 1] = *from;
        thread->pcs[at] = from->pc;
        hash = unwind_hash(hash, from->pc);
        thread->hashes[at + 1] = hash;
    }
    thread->frame_count = thread->pc_count = count;
    return same_count;
}

/* It stands on a remembered frame, and nothing of it has changed. */
static inline bool top_is_there(const struct unwind_thread *thread, const struct unwind_top *top,
                                const struct unwind_registers *start)
{
    const struct unwind_frame *base;

    if (top->sp != start->sp || top->pc != (start->pc & ROW_PC_MASK) ||
        top->base_count > thread->frame_count || top->flags != thread->kept_flags)
        return false;
    base = thread->frames + top->base_count;
    return base->serial == top->base_serial && !(top->needs_fp && top->fp != start->fp) &&
           top_holds(top) && good_checks(thread, base->check_end) == base->check_end;
}

static inline bool top_find(struct unwind_thread *thread, const struct unwind_registers *start,
                            uint32_t *number)
{
    struct unwind_tops *tops = &thread->tops;

    if (UNLIKELY(tops->rest_left)) {
        tops->rest_left--;
        return false;
    }
    *number = tops->tops[tops->last].next;
    if (LIKELY(top_is_there(thread, &tops->tops[*number], start)))
        return true;
    *number = top_first_way(start);
    if (top_is_there(thread, &tops->tops[*number], start))
        return true;
    ++*number;
    return top_is_there(thread, &tops->tops[*number], start);
}

/* A stack that was there before, though not last. */
static inline bool give_top(struct unwind_thread *thread, const struct unwind_registers *start,
                            struct unwind_stack *stack)
{
    struct unwind_top *top;
    uint32_t number;

    if (!top_find(thread, start, &number))
        return false;
    top = &thread->tops.tops[number];
    top_check(top);
    top_follows(&thread->tops, number);
    thread->tops.debt -= thread->tops.debt < 2 ? thread->tops.debt : 2;
    stack->reused_count = top_put(thread, top);
    stack->count = thread->frame_count;
    stack->flags = top->flags;
    stack->hash = unwind_hash_end(thread->hashes[stack->count]);
    stack->name = &top->names.name;
    note_share(thread, stack->count, 0);
    return true;
}

#endif

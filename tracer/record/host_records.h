/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of the host heap, inline: a program may make 50 million of them in a second.
 *
 * The same rules as in recorder.h. An alloc is recorded after the real call; a free before it.
 */
#ifndef LEAKTIDE_TRACER_HOST_RECORDS_H
#define LEAKTIDE_TRACER_HOST_RECORDS_H

#include "call_stacks.h"
#include "recorder.h"
#include "stamp.h"
#include "thread_state.h"

/* The same as the inline functions below, when the ring has no room at hand. */
void record_host_alloc_slowly(uint32_t inside, const void *address, uint64_t size_bytes,
                              struct call_site site);
void record_host_free_slowly(uint32_t inside, const void *address, uint64_t ticks);

/*
 * Everything is in locals, because the words that are written could be anything for all the
 * compiler knows; and whatever is slow is a call at the end, so that the fast way saves nothing.
 *
 * inside  thread->inside of the caller, from before its own bit was set; it is put back at the end
 */
static inline void record_host_alloc(struct thread_state *thread, uint32_t inside,
                                     const void *address, uint64_t size_bytes, const void *site)
{
    uint64_t where = (uintptr_t)address, who = (uintptr_t)site;
    uint64_t *words = thread->words, mask = thread->mask, head = thread->head;

    if (UNLIKELY(__atomic_load_n(recorder_attention, __ATOMIC_RELAXED)) && recorder_is_paused()) {
        thread->inside = inside;
        return;
    }
    if (UNLIKELY((where | who) >> MT_RING_PACKED_BITS || size_bytes > UINT32_MAX ||
                 !thread_is_ready(thread, 3))) {
        record_host_alloc_slowly(inside, address, size_bytes, (struct call_site){site, 0, 0});
        return;
    }
    thread->inside = inside | IS_PUSHING;
    atomic_signal_fence(memory_order_seq_cst);
    words[head & mask] = MT_RECORD_host_alloc | stamp_now(thread) << MT_RING_TIME_SHIFT;
    words[(head + 1) & mask] = where | size_bytes << MT_RING_PACKED_BITS;
    words[(head + 2) & mask] = who | size_bytes >> 16 << MT_RING_PACKED_BITS;
    thread_publish(thread, head + 3);
    push_end(thread, inside);
}

/* The same with the call stack that begins with `from`. */
static inline void record_host_alloc_with_stack(struct thread_state *thread, uint32_t inside,
                                                const void *address, uint64_t size_bytes,
                                                const struct unwind_registers *from)
{
    uint64_t where = (uintptr_t)address, mask, head, *words;
    uint32_t stack;

    if (UNLIKELY(__atomic_load_n(recorder_attention, __ATOMIC_RELAXED)) && recorder_is_paused()) {
        thread->inside = inside;
        return;
    }
    stack = call_stacks_capture(thread, from);
    mask = thread->mask;
    head = thread->head;
    words = thread->words;
    if (UNLIKELY(!stack || where >> MT_RING_PACKED_BITS || size_bytes > UINT32_MAX ||
                 !thread_is_ready(thread, 3))) {
        record_host_alloc_slowly(inside, address, size_bytes,
                                 call_stacks_site(thread, stack, from->pc));
        return;
    }
    thread->inside = inside | IS_PUSHING;
    atomic_signal_fence(memory_order_seq_cst);
    words[head & mask] =
        MT_RECORD_host_alloc | MT_RING_SITE_IS_STACK | stamp_now(thread) << MT_RING_TIME_SHIFT;
    words[(head + 1) & mask] = where | size_bytes << MT_RING_PACKED_BITS;
    words[(head + 2) & mask] = stack | size_bytes >> 16 << MT_RING_PACKED_BITS;
    thread_publish(thread, head + 3);
    push_end(thread, inside);
}

/* ticks: for realloc, stamped before the real call and recorded when that has succeeded. */
static inline void record_host_free(struct thread_state *thread, uint32_t inside,
                                    const void *address, uint64_t ticks)
{
    uint64_t *words = thread->words, mask = thread->mask, head = thread->head;

    if (UNLIKELY(!thread_is_ready(thread, 2))) {
        record_host_free_slowly(inside, address, ticks);
        return;
    }
    thread->inside = inside | IS_PUSHING;
    atomic_signal_fence(memory_order_seq_cst);
    words[head & mask] = MT_RECORD_host_free | ticks << MT_RING_TIME_SHIFT;
    words[(head + 1) & mask] = (uintptr_t)address;
    thread_publish(thread, head + 2);
    push_end(thread, inside);
}

#endif

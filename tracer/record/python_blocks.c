/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of CPython's own allocator: as those of any pool, but in fewer steps, as a program makes
 * millions of them in a second.
 *
 * Invariant: a record names the pool by its id only where its stream has the text of that.
 */
#include "call_stacks.h"
#include "recorder.h"
#include "ring.h"
#include "stamp.h"
#include "thread_state.h"

enum { ALLOC_WORDS = 6, FREE_WORDS = 3 };

static POOL(pool, "python");

static inline uint64_t no_place(void)
{
    return mt_place_pack((struct mt_place){.device = -1, .module = -1});
}

/* The record can be written at once: there is room, nobody wants anything, the pool is known. */
static inline bool is_ready(const struct thread_state *thread, uint64_t word_count)
{
    return thread_is_ready(thread, word_count) && LIKELY(thread->ring->python_pool);
}

/* The first of the stream, or the ring is full. */
static __attribute__((noinline)) void alloc_slowly(struct thread_state *thread, uint64_t address,
                                                   uint64_t size_bytes, struct call_site site)
{
    uint64_t id;

    record_alloc(pool, no_place(), address, size_bytes, site);
    id = recorder_text(pool);
    if (thread_is_ready(thread, 0) && thread->ring->known_texts[id % RING_TEXTS] == id)
        thread->ring->python_pool = id;
}

void record_python_alloc(const void *block, uint64_t size_bytes,
                         const struct unwind_registers *from)
{
    struct thread_state *thread = &thread_state;
    uint64_t *words, mask, head;
    uint32_t stack, before;

    if (UNLIKELY(__atomic_load_n(recorder_attention, __ATOMIC_RELAXED)) && recorder_is_paused())
        return;
    stack = call_stacks_capture(thread, from);
    before = push_begin(thread);
    if (UNLIKELY(!stack || !is_ready(thread, ALLOC_WORDS))) {
        push_end(thread, before);
        alloc_slowly(thread, (uintptr_t)block, size_bytes,
                     call_stacks_site(thread, stack, from->pc));
        return;
    }
    words = thread->words; /* locals: the words could be anything for all the compiler knows */
    mask = thread->mask;
    head = thread->head;
    words[head & mask] = MT_RECORD_alloc | stamp_now(thread) << MT_RING_TIME_SHIFT;
    words[(head + 1) & mask] = MT_SITE_IS_STACK | stack;
    words[(head + 2) & mask] = size_bytes;
    words[(head + 3) & mask] = (uintptr_t)block;
    words[(head + 4) & mask] = thread->ring->python_pool;
    words[(head + 5) & mask] = no_place();
    thread_publish(thread, head + ALLOC_WORDS);
    push_end(thread, before);
}

void record_python_free(const void *block, uint64_t ticks)
{
    struct thread_state *thread = &thread_state;
    uint32_t before = push_begin(thread);
    uint64_t *words, mask, head;

    if (UNLIKELY(!is_ready(thread, FREE_WORDS))) {
        push_end(thread, before);
        record_free_at(pool, (uintptr_t)block, ticks);
        return;
    }
    words = thread->words;
    mask = thread->mask;
    head = thread->head;
    words[head & mask] = MT_RECORD_free | ticks << MT_RING_TIME_SHIFT;
    words[(head + 1) & mask] = (uintptr_t)block;
    words[(head + 2) & mask] = thread->ring->python_pool;
    thread_publish(thread, head + FREE_WORDS);
    push_end(thread, before);
}

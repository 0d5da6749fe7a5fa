/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of the host heap, inline: a program may make 50 million of them in a second.
 *
 * The same rules as in recorder.h. An alloc is recorded after the real call; a free before it.
 */
#ifndef MEMTIDE_TRACER_HOST_RECORDS_H
#define MEMTIDE_TRACER_HOST_RECORDS_H

#include "thread_state.h"

/* What does not fit the packed record: a block of more than 4 GiB, say. */
void record_host_alloc_wide(const void *address, uint64_t size_bytes, const void *site);

static inline void record_host_alloc(struct thread_state *thread, const void *address,
                                     uint64_t size_bytes, const void *site)
{
    uint64_t where = (uintptr_t)address, who = (uintptr_t)site;
    uint32_t before;

    if (UNLIKELY((where | who) >> MT_RING_PACKED_BITS || size_bytes > UINT32_MAX)) {
        record_host_alloc_wide(address, size_bytes, site);
        return;
    }
    if (UNLIKELY(!thread_has_room(thread, 3)))
        return;
    before = push_begin(thread);
    thread_put(thread, 0, MT_RECORD_host_alloc | clock_ticks() << MT_RING_TIME_SHIFT);
    thread_put(thread, 1, where | size_bytes << MT_RING_PACKED_BITS);
    thread_put(thread, 2, who | size_bytes >> 16 << MT_RING_PACKED_BITS);
    thread_publish(thread, 3);
    push_end(thread, before);
}

/* ticks: for realloc, stamped before the real call and recorded when that has succeeded. */
static inline void record_host_free(struct thread_state *thread, const void *address,
                                    uint64_t ticks)
{
    uint32_t before;

    if (UNLIKELY(!thread_has_room(thread, 2)))
        return;
    before = push_begin(thread);
    thread_put(thread, 0, MT_RECORD_host_free | ticks << MT_RING_TIME_SHIFT);
    thread_put(thread, 1, (uintptr_t)address);
    thread_publish(thread, 2);
    push_end(thread, before);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of one thread on their way to the trace file.
 *
 * One thread writes at head, one drainer at a time reads at tail; whoever holds `is_draining` is
 * the drainer: the drain thread, or the writer itself when its ring is full. The words live in a
 * shared mapping of the .rings file, so they outlive the process. When a thread is gone, its ring
 * goes on with another one: a ring is a stream, and `thread` records tell whose events follow.
 * Invariant: tail <= head <= tail + capacity.
 */
#ifndef MEMTIDE_TRACER_RING_H
#define MEMTIDE_TRACER_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "memtide/format.h"

struct call_stacks;

enum { RING_TEXTS = 128, RING_SHORT_TEXTS = 16 };

/* A text of 1 to 8 bytes; its word and its size tell what it is. check: all xor the size. */
struct short_text {
    uint64_t word, id, check;
};

struct ring {
    struct mt_ring_header *header;
    uint64_t *words;
    uint64_t capacity_words;    /* a power of two */
    _Atomic uint32_t thread_id; /* 0: free */
    atomic_flag is_draining;
    uint64_t known_texts[RING_TEXTS];                /* ids defined in this stream not long ago */
    struct short_text short_texts[RING_SHORT_TEXTS]; /* seen not long ago */
    struct call_stacks *stacks;                      /* of this stream, once one was wanted */
    bool has_no_stacks;                              /* there was no memory for them */
    struct ring *next;                               /* older ring of the process */
};

/* The mapping's fields as atomics; the format fixes their size, C their meaning here. */
static inline uint64_t ring_head(const struct ring *ring)
{
    return __atomic_load_n(&ring->header->head, __ATOMIC_ACQUIRE);
}

static inline uint64_t ring_tail(const struct ring *ring)
{
    return __atomic_load_n(&ring->header->tail, __ATOMIC_ACQUIRE);
}

static inline void ring_set_head(struct ring *ring, uint64_t head)
{
    __atomic_store_n(&ring->header->head, head, __ATOMIC_RELEASE);
}

static inline void ring_set_tail(struct ring *ring, uint64_t tail)
{
    __atomic_store_n(&ring->header->tail, tail, __ATOMIC_RELEASE);
}

/*
 * A new ring of stream `stream`, on slot `stream` of the file, for the thread. Without a file
 * (descriptor -1, or a full disk) the words are private memory: recorded, but gone after a kill.
 * NULL when there is no memory at all. Rings are never destroyed: late events may still come.
 */
struct ring *ring_create(int rings_descriptor, uint32_t stream, uint64_t capacity_words,
                         uint32_t thread_id, uint64_t file_size_limit);

/* Takes a ring whose thread is gone for thread_id; false if its thread lives. */
bool ring_adopt(struct ring *ring, uint32_t thread_id);

#endif

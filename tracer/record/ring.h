/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of one thread, as the thread sees it.
 *
 * One thread writes at head, one drainer at a time reads at tail. The words live in a shared
 * mapping of a file, so they outlive the process. This struct stands in the unused part of the
 * mapped header, so a ring needs no heap; only its process uses it. When a thread is gone, its ring
 * goes on with another one: a ring is a stream, and `thread` records tell whose events follow.
 * Invariant: tail <= head <= tail + capacity.
 */
#ifndef LEAKTIDE_TRACER_RING_H
#define LEAKTIDE_TRACER_RING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "leaktide/format.h"
#include "ring_drain.h"

struct call_stacks;

enum { RING_TEXTS = 128, RING_SHORT_TEXTS = 16 };

/* A text of 1 to 8 bytes; its word and its size tell what it is. check: all xor the size. */
struct short_text {
    uint64_t word, id, check;
};

struct ring {
    struct mt_ring_header *header;
    uint64_t *words;
    uint64_t capacity_words; /* a power of two */
    pthread_mutex_t *owner;  /* the thread's as long as it lives: the kernel lets go of it */
    atomic_flag is_draining; /* by its process */
    uint64_t known_texts[RING_TEXTS];                /* ids defined in this stream not long ago */
    struct short_text short_texts[RING_SHORT_TEXTS]; /* seen not long ago */
    uint64_t python_pool;       /* the id of that pool; 0: this stream has no text of it yet */
    struct call_stacks *stacks; /* of this stream, once one was wanted */
    bool has_no_stacks;         /* there was no memory for them */
    struct ring *next;          /* older ring of the process */
};

static inline uint64_t ring_head(const struct ring *ring)
{
    return ring_header_head(ring->header);
}

static inline uint64_t ring_tail(const struct ring *ring)
{
    return ring_header_tail(ring->header);
}

/*
 * Makes a ring of stream `stream` out of a slot: zeros, or what another ring left. The calling
 * thread owns it.
 */
struct ring *ring_begin(struct mt_ring_header *slot, uint64_t capacity_words, uint32_t stream);

/* Takes a ring whose thread is gone; false if its thread lives. No system call. */
bool ring_adopt(struct ring *ring);

/* The kernel's id of the calling thread, which owns the ring: known without a system call. */
uint32_t ring_owner_id(const struct ring *ring);

#endif

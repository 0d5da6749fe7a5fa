/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes words out of a ring and appends them to a trace as chunks.
 *
 *   ring ─► chunk_encode ─► zstd ─► one pwrite ─► ring's tail moves on
 *
 * One thread at a time drains a ring; that is the caller's to see to. Different rings may be
 * drained at once. What cannot be written is counted as lost, and the tail moves on all the same.
 */
#ifndef LEAKTIDE_TRACER_RING_DRAIN_H
#define LEAKTIDE_TRACER_RING_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "chunk_pack.h"
#include "leaktide/format.h"
#include "trace_file.h"

/* What is drained, and where to. */
struct drain {
    struct mt_ring_header *header; /* may belong to a process that writes anything */
    const uint64_t *words;
    uint64_t capacity_words;
    uint32_t stream;
    struct trace_file *trace;
    uint64_t *lost_counts; /* MT_LOST_KINDS of them; added to as atomics */
    enum chunk_effort effort;
};

/* The mapping's fields as atomics; the format fixes their size, C their meaning here. */
static inline uint64_t ring_header_head(const struct mt_ring_header *header)
{
    return __atomic_load_n(&header->head, __ATOMIC_ACQUIRE);
}

static inline uint64_t ring_header_tail(const struct mt_ring_header *header)
{
    return __atomic_load_n(&header->tail, __ATOMIC_ACQUIRE);
}

/* A few MiB of which a drain touches what a chunk is worth. NULL: no memory. */
struct drainer;
struct drainer *drainer_create(void);
void drainer_destroy(struct drainer *drainer);

/*
 * Everything between tail and head, as head is now. A writer that waits for room is woken. drainer
 * NULL: there was no memory for one, and all of it is lost. Returns the number of chunks.
 */
uint64_t ring_drain(struct drainer *drainer, const struct drain *drain);

#endif

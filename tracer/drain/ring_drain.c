/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#define ZSTD_STATIC_LINKING_ONLY
#include "ring_drain.h"

#include <stddef.h>
#include <zstd.h>

#include "chunk_encoder.h"
#include "leaktide/invariant.h"
#include "own_memory.h"
#include "rings_file.h"

struct drainer {
    ZSTD_CCtx *zstd;
    size_t mapped_bytes;
    struct chunk_encoder encoder;
    uint8_t packed[CHUNK_PACKED_BYTES(MT_CHUNK_RAW_MAX)];
};

struct drainer *drainer_create(void)
{
    size_t own_bytes = (sizeof(struct drainer) + 63) / 64 * 64;
    size_t workspace_bytes = chunk_pack_workspace_bytes();
    struct drainer *drainer = own_memory_map(own_bytes + workspace_bytes);

    if (!drainer)
        return NULL;
    drainer->mapped_bytes = own_bytes + workspace_bytes;
    drainer->zstd = ZSTD_initStaticCCtx((char *)drainer + own_bytes, workspace_bytes);
    if (!drainer->zstd) {
        drainer_destroy(drainer);
        return NULL;
    }
    return drainer;
}

void drainer_destroy(struct drainer *drainer)
{
    if (drainer)
        own_memory_unmap(drainer, drainer->mapped_bytes);
}

static void count_lost(const struct drain *drain, enum mt_lost reason, uint64_t count)
{
    __atomic_fetch_add(&drain->lost_counts[reason], count, __ATOMIC_RELAXED);
}

static void tail_move(const struct drain *drain, uint64_t tail)
{
    struct mt_ring_header *header = drain->header;

    __atomic_store_n(&header->tail, tail, __ATOMIC_RELEASE);
    __atomic_fetch_add(&header->tail_moves, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&header->writer_waits, __ATOMIC_SEQ_CST))
        shared_wake(&header->tail_moves);
}

static void chunk_write(struct drainer *drainer, const struct drain *drain, uint64_t begin,
                        const struct chunk_raw *raw)
{
    struct mt_chunk_header facts = {
        .kind = MT_CHUNK_EVENTS,
        .stream = drain->stream,
        .event_count = raw->event_count,
        .begin_position = begin,
        .end_position = raw->end_position,
        .first_time = raw->first_time,
        .last_time = raw->last_time,
    };
    size_t size_bytes = chunk_pack(&facts, raw->bytes, raw->size_bytes, drain->effort,
                                   drainer->zstd, drainer->packed, sizeof(drainer->packed));

    if (size_bytes && trace_file_append(drain->trace, drainer->packed, size_bytes))
        __atomic_fetch_add(&drain->trace->header->event_count, raw->event_count, __ATOMIC_RELAXED);
    else
        count_lost(drain, MT_LOST_DISK, raw->event_count);
}

/* The words up to head. A head that cannot be one is not believed. */
static uint64_t head_believed(const struct drain *drain, uint64_t tail)
{
    uint64_t head = ring_header_head(drain->header);

    if (head >= tail && head - tail <= drain->capacity_words)
        return head;
    count_lost(drain, MT_LOST_MALFORMED, 1);
    tail_move(drain, head);
    return tail;
}

static void drain_check(const struct drain *drain, uint64_t tail, uint64_t head)
{
    MT_ASSERT(drain->trace->header);
    MT_ASSERT(tail <= head && head - tail <= drain->capacity_words);
}

/* Each chunk takes words, and none that are not there. */
static void position_check(uint64_t tail, uint64_t end, uint64_t head)
{
    MT_ASSERT(tail < end && end <= head);
}

uint64_t ring_drain(struct drainer *drainer, const struct drain *drain)
{
    uint64_t tail = ring_header_tail(drain->header), chunk_count = 0;
    uint64_t head = head_believed(drain, tail);
    const struct mt_file_header *trace = drain->trace->header;

    drain_check(drain, tail, head);
    if (tail == head)
        return 0;
    if (!drainer) { /* no memory to encode with: make room all the same */
        count_lost(drain, MT_LOST_MEMORY, (head - tail) / 2);
        tail_move(drain, head);
        return 0;
    }
    chunk_encoder_init(&drainer->encoder, trace->time_shift, trace->start_ticks);
    for (; tail < head; chunk_count++) {
        struct chunk_raw raw;

        if (!chunk_encode(&drainer->encoder, drain->words, drain->capacity_words, tail, head, &raw))
            raw.end_position = head; /* not one record: only possible if words were overwritten */
        else
            chunk_write(drainer, drain, tail, &raw);
        position_check(tail, raw.end_position, head);
        if (raw.malformed_count)
            count_lost(drain, MT_LOST_MALFORMED, raw.malformed_count);
        tail = raw.end_position;
        tail_move(drain, tail);
    }
    return chunk_count;
}

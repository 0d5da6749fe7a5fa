/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: include/mimalloc-types.h of mimalloc 2.0.9, 64 bits, lists that are not encoded.
 */
#include "mimalloc_heap.h"

#include <string.h>

enum {
    SEGMENT_SHIFT = 25,
    SLICE_SHIFT = 16,
    SEGMENTS_TRIED_MOST = 4096,

    /* struct mi_segment_s */
    SEGMENT_USED_AT = 208,
    SEGMENT_SLICES_AT = 264,

    KIND_NORMAL = 0,
    KIND_HUGE = 1
};

#define SEGMENT_BYTES    (UINT64_C(1) << SEGMENT_SHIFT)
#define SLICES_MOST      (UINT64_C(1) << 32)
#define BLOCK_BYTES_HUGE (UINT32_C(1) << 31)

/* struct mi_segment_s, from "used" on */
struct segment_head {
    uint64_t used, cookie, slice_count, info_slices;
    uint32_t kind, padding;
    uint64_t entry_count, thread;
};

/* struct mi_page_s */
struct slice {
    uint32_t slice_count, offset;
    uint16_t bits, capacity, reserved, more_bits;
    uint64_t free;
    uint32_t used, block_bytes;
    uint64_t local_free, thread_free, heap, next, previous, padding;
};

static bool copy(struct process_memory *memory, uint64_t at, void *into, size_t size_bytes)
{
    const void *bytes = memory_at(memory, at, size_bytes);

    if (bytes)
        memcpy(into, bytes, size_bytes);
    return bytes != NULL;
}

static bool head_is_right(const struct segment_head *head)
{
    if (!head->info_slices || head->slice_count >= SLICES_MOST ||
        head->info_slices >= head->slice_count || head->entry_count > MIMALLOC_SLICES ||
        !head->used)
        return false;
    return head->kind == KIND_HUGE ||
           (head->kind == KIND_NORMAL && head->slice_count == MIMALLOC_SLICES &&
            head->entry_count == MIMALLOC_SLICES);
}

static bool span_take(const struct slice *slice, struct mimalloc_span *span)
{
    uint64_t bytes = (uint64_t)slice->slice_count << SLICE_SHIFT;

    *span = (struct mimalloc_span){.slice_count = slice->slice_count};
    if (!slice->block_bytes) /* free */
        return true;
    span->block_count = slice->used;
    span->used_bytes =
        slice->block_bytes < BLOCK_BYTES_HUGE ? (uint64_t)slice->used * slice->block_bytes : bytes;
    return slice->used <= slice->reserved && span->used_bytes <= bytes;
}

/* The spans, one after the other, are all there is, and as many are in use as the segment says. */
static bool spans_read(struct mimalloc *mimalloc, uint64_t segment, const struct segment_head *head)
{
    uint64_t at = 0, used = 0;

    memset(mimalloc->spans, 0, sizeof(mimalloc->spans));
    while (at < head->slice_count && at < MIMALLOC_SLICES) {
        struct mimalloc_span *span = &mimalloc->spans[at];
        struct slice slice;

        if (!copy(mimalloc->memory, segment + SEGMENT_SLICES_AT + at * sizeof(slice), &slice,
                  sizeof(slice)) ||
            slice.offset || !slice.slice_count || slice.slice_count > head->slice_count - at)
            return false;
        if (!at) { /* of the description itself */
            *span = (struct mimalloc_span){.slice_count = slice.slice_count};
            if (slice.slice_count != head->info_slices)
                return false;
        } else if (!span_take(&slice, span)) {
            return false;
        }
        used += at && slice.block_bytes;
        at += slice.slice_count;
    }
    return at == head->slice_count && used == head->used;
}

static bool segment_read(struct mimalloc *mimalloc, uint64_t segment)
{
    struct segment_head head;

    if (mimalloc->segment == segment)
        return mimalloc->is_segment;
    mimalloc->segment = segment;
    mimalloc->is_segment = segment &&
                           copy(mimalloc->memory, segment + SEGMENT_USED_AT, &head, sizeof(head)) &&
                           head_is_right(&head) && spans_read(mimalloc, segment, &head);
    mimalloc->slice_count = mimalloc->is_segment ? head.slice_count : 0;
    return mimalloc->is_segment;
}

bool mimalloc_find(struct mimalloc *mimalloc, struct process_memory *memory,
                   const struct mappings *mappings)
{
    int tries = SEGMENTS_TRIED_MOST;

    *mimalloc = (struct mimalloc){.memory = memory};
    for (size_t i = 0; i < mappings->count; i++) {
        const struct mapping *mapping = &mappings->rows[i];
        uint64_t at = (mapping->start + SEGMENT_BYTES - 1) / SEGMENT_BYTES * SEGMENT_BYTES;

        if (!mapping_is_plain(mapping) || !mapping_is_writable(mapping) || !mapping->resident_bytes)
            continue;
        for (; at >= mapping->start && at < mapping->end && tries; at += SEGMENT_BYTES, tries--)
            if (segment_read(mimalloc, at))
                return true;
    }
    return false;
}

struct heap_extent mimalloc_extent_at(struct mimalloc *mimalloc, uint64_t address, uint64_t end)
{
    uint64_t segment = address / SEGMENT_BYTES * SEGMENT_BYTES;
    uint64_t slice = (address - segment) >> SLICE_SHIFT, first = slice;
    struct heap_extent taken = {0};
    const struct mimalloc_span *span;
    uint64_t span_end;

    if (!segment_read(mimalloc, segment))
        return taken;
    while (first && !mimalloc->spans[first].slice_count)
        first--;
    span = &mimalloc->spans[first];
    span_end = segment + ((first + span->slice_count) << SLICE_SHIFT);
    taken.is_own = !first;
    taken.is_spare = first && !span->used_bytes;
    taken.block_count = slice == first ? span->block_count : 0;
    taken.size_bytes = (span_end < end ? span_end : end) - address;
    if (first && taken.size_bytes > span->used_bytes)
        taken.free_bytes = taken.size_bytes - span->used_bytes;
    return taken;
}

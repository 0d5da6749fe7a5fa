/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: include/mimalloc-types.h and include/mimalloc/types.h of mimalloc 2.0.9, 2.1.2, 2.1.7,
 * 2.2.4 and 2.4.1, 64 bits, lists that are not encoded.
 */
#include "mimalloc_heap.h"

#include <string.h>

enum {
    SEGMENT_SHIFT = 25,
    SLICE_SHIFT = 16,
    SEGMENTS_TRIED_MOST = 4096,

    /* struct mi_page_s, which every slice is */
    SLICE_OFFSET_AT = 4,
    SLICE_RESERVED_AT = 12,
    SLICE_BYTES_MOST = 96,

    KIND_NORMAL = 0,
    KIND_HUGE = 1
};

#define SEGMENT_BYTES    (UINT64_C(1) << SEGMENT_SHIFT)
#define SLICES_MOST      (UINT64_C(1) << 32)
#define BLOCK_BYTES_HUGE (UINT32_C(1) << 31)

/* Where things are in struct mi_segment_s and struct mi_page_s. */
struct mimalloc_layout {
    unsigned used_at, counts_at, slices_at; /* in a segment */
    unsigned slice_bytes, slice_heap_at;
    struct {
        unsigned at, bytes;
    } slice_used, slice_block_bytes;
};

static const struct mimalloc_layout layouts[] = {
    {208, 224, 264, 80, 48, {24, 4}, {28, 4}}, /* 2.0 to 2.1.2 */
    {208, 224, 264, 96, 64, {32, 2}, {40, 8}}, /* 2.1.4 to 2.1.7 */
    {216, 248, 288, 96, 64, {32, 2}, {40, 8}}, /* 2.1.9 to 2.4 */
};

/* struct mi_segment_s, from "segment_slices" on */
struct segment_counts {
    uint64_t slice_count, info_slices;
    uint32_t kind, padding;
    uint64_t entry_count;
};

struct slice {
    uint64_t slice_count, offset, reserved, used, block_bytes, heap;
};

static bool copy(struct process_memory *memory, uint64_t at, void *into, size_t size_bytes)
{
    const void *bytes = memory_at(memory, at, size_bytes);

    if (bytes)
        memcpy(into, bytes, size_bytes);
    return bytes != NULL;
}

static bool counts_are_right(const struct segment_counts *counts)
{
    if (!counts->info_slices || counts->slice_count >= SLICES_MOST ||
        counts->info_slices >= counts->slice_count || counts->entry_count > MIMALLOC_SLICES)
        return false;
    return counts->kind == KIND_HUGE ||
           (counts->kind == KIND_NORMAL && counts->slice_count == MIMALLOC_SLICES &&
            counts->entry_count == MIMALLOC_SLICES);
}

static uint64_t number_at(const unsigned char *bytes, size_t size_bytes)
{
    uint64_t number = 0;

    memcpy(&number, bytes, size_bytes); /* the processors that are read have the low byte first */
    return number;
}

static bool slice_read(struct mimalloc *mimalloc, const struct mimalloc_layout *layout, uint64_t at,
                       struct slice *slice)
{
    unsigned char bytes[SLICE_BYTES_MOST];

    if (!copy(mimalloc->memory, at, bytes, layout->slice_bytes))
        return false;
    *slice = (struct slice){
        .slice_count = number_at(bytes, sizeof(uint32_t)),
        .offset = number_at(bytes + SLICE_OFFSET_AT, sizeof(uint32_t)),
        .reserved = number_at(bytes + SLICE_RESERVED_AT, sizeof(uint16_t)),
        .used = number_at(bytes + layout->slice_used.at, layout->slice_used.bytes),
        .block_bytes =
            number_at(bytes + layout->slice_block_bytes.at, layout->slice_block_bytes.bytes),
        .heap = number_at(bytes + layout->slice_heap_at, sizeof(uint64_t)),
    };
    return true;
}

static bool span_take(const struct slice *slice, struct mimalloc_span *span)
{
    uint64_t bytes = slice->slice_count << SLICE_SHIFT;

    *span = (struct mimalloc_span){.slice_count = slice->slice_count};
    if (!slice->block_bytes) /* free */
        return true;
    span->block_count = (uint32_t)slice->used;
    span->used_bytes = bytes;
    if (slice->used != 1 || slice->block_bytes < BLOCK_BYTES_HUGE)
        span->used_bytes =
            slice->block_bytes <= bytes ? slice->used * slice->block_bytes : UINT64_MAX;
    return slice->used <= slice->reserved && span->used_bytes <= bytes;
}

/* The spans, one after the other, are all there is, and as many are in use as the segment says. */
static bool spans_read(struct mimalloc *mimalloc, const struct mimalloc_layout *layout,
                       uint64_t segment, const struct segment_counts *counts)
{
    uint64_t at = 0, used = 0, used_said;

    memset(mimalloc->spans, 0, sizeof(mimalloc->spans));
    while (at < counts->slice_count && at < MIMALLOC_SLICES) {
        struct mimalloc_span *span = &mimalloc->spans[at];
        struct slice slice;

        if (!slice_read(mimalloc, layout, segment + layout->slices_at + at * layout->slice_bytes,
                        &slice) ||
            slice.offset || !slice.slice_count || slice.slice_count > counts->slice_count - at)
            return false;
        if (!at) { /* of the description itself */
            *span = (struct mimalloc_span){.slice_count = slice.slice_count};
            if (slice.slice_count != counts->info_slices)
                return false;
        } else if (!span_take(&slice, span)) {
            return false;
        }
        used += at && slice.block_bytes;
        mimalloc->heap = at && slice.block_bytes && slice.heap ? slice.heap : mimalloc->heap;
        at += slice.slice_count;
    }
    if (at != counts->slice_count ||
        !memory_word(mimalloc->memory, segment + layout->used_at, &used_said))
        return false;
    mimalloc->is_freed = !used_said;
    return mimalloc->is_freed || used == used_said;
}

static bool layout_fits(struct mimalloc *mimalloc, const struct mimalloc_layout *layout,
                        uint64_t segment)
{
    struct segment_counts counts;

    if (!copy(mimalloc->memory, segment + layout->counts_at, &counts, sizeof(counts)) ||
        !counts_are_right(&counts) || !spans_read(mimalloc, layout, segment, &counts))
        return false;
    mimalloc->slice_count = counts.slice_count;
    return true;
}

static bool segment_read(struct mimalloc *mimalloc, uint64_t segment)
{
    if (mimalloc->segment == segment)
        return mimalloc->is_segment;
    mimalloc->segment = segment;
    mimalloc->is_segment = false;
    mimalloc->slice_count = 0;
    for (size_t i = 0; segment && !mimalloc->is_segment && i < sizeof(layouts) / sizeof(layouts[0]);
         i++)
        mimalloc->is_segment = layout_fits(mimalloc, &layouts[i], segment);
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
            if (segment_read(mimalloc, at) && !mimalloc->is_freed)
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
    uint64_t span_end, used_bytes;

    if (!segment_read(mimalloc, segment))
        return taken;
    while (first && !mimalloc->spans[first].slice_count)
        first--;
    span = &mimalloc->spans[first];
    span_end = segment + ((first + span->slice_count) << SLICE_SHIFT);
    if (address >= span_end) /* after a segment of one large block */
        return taken;
    used_bytes = mimalloc->is_freed ? 0 : span->used_bytes;
    taken.is_own = !first && !mimalloc->is_freed;
    taken.is_spare = !taken.is_own && !used_bytes;
    taken.block_count = slice == first && used_bytes ? span->block_count : 0;
    taken.size_bytes = (span_end < end ? span_end : end) - address;
    if (!taken.is_own && taken.size_bytes > used_bytes)
        taken.free_bytes = taken.size_bytes - used_bytes;
    return taken;
}

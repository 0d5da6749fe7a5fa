/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments and blocks.
 *
 *   segment: | header | block: | header | bytes | | block ... |   fresh   |
 *
 * Blocks are cut from the fresh end of the newest segment. A segment with no live block is empty
 * again: the newest starts afresh, others go back to the system. So one small block keeps a whole
 * segment: that is what fragmentation looks like.
 */
#include "pool.h"

#include <stdint.h>
#include <stdlib.h>

#include "leaktide/tracer.h"

enum { SEGMENT_BYTES = 20 << 20, ALIGNMENT = 512 };

struct segment {
    size_t size_bytes;
    size_t used_bytes; /* up to the fresh end */
    size_t live_blocks;
};

static struct segment *newest;
static uint64_t reserved_bytes;

static size_t aligned(size_t size_bytes)
{
    return (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static struct segment *segment_create(size_t size_bytes)
{
    struct segment *segment = aligned_alloc(ALIGNMENT, size_bytes);

    if (!segment)
        return NULL;
    *segment = (struct segment){.size_bytes = size_bytes, .used_bytes = ALIGNMENT};
    reserved_bytes += size_bytes;
    mt_pool_reserved(POOL_NAME, 0, reserved_bytes);
    return segment;
}

static void segment_destroy(struct segment *segment)
{
    reserved_bytes -= segment->size_bytes;
    mt_pool_reserved(POOL_NAME, 0, reserved_bytes);
    free(segment);
}

void *pool_take(size_t size_bytes)
{
    size_t whole_bytes = aligned(size_bytes) + ALIGNMENT; /* a header before the bytes */
    struct segment *segment = newest;
    char *block;

    if (size_bytes > SIZE_MAX / 2)
        return NULL;
    if (!segment || segment->size_bytes - segment->used_bytes < whole_bytes) {
        size_t least_bytes = whole_bytes + ALIGNMENT;

        segment = segment_create(least_bytes > SEGMENT_BYTES ? least_bytes : SEGMENT_BYTES);
        if (!segment)
            return NULL;
        if (newest && newest->live_blocks == 0)
            segment_destroy(newest);
        newest = segment;
    }
    block = (char *)segment + segment->used_bytes;
    segment->used_bytes += whole_bytes;
    segment->live_blocks++;
    *(struct segment **)block = segment;
    return block + ALIGNMENT;
}

void pool_give_back(void *block)
{
    struct segment *segment = *(struct segment **)((char *)block - ALIGNMENT);

    if (--segment->live_blocks > 0)
        return;
    if (segment == newest)
        segment->used_bytes = ALIGNMENT;
    else
        segment_destroy(segment);
}

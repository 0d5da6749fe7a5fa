/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: src/heap/basic-memory-chunk.h of V8 9 to 12, seen in node 18 and 20. A chunk proves
 * itself: it says where in it objects are, and its heap is memory that is there.
 */
#include "v8_heap.h"

#include <string.h>

enum {
    CHUNK_ALIGN = 1 << 18,
    HEAD_BYTES_MOST = 1 << 16,

    /* flags */
    FROM_PAGE = 1 << 3, /* of the half of the young generation that is empty */
    TO_PAGE = 1 << 4,
    LARGE_PAGE = 1 << 7
};

/* BasicMemoryChunk, its begin */
struct chunk_head {
    uint64_t size_bytes, flags, heap, objects_start, objects_end, allocated_bytes;
};

static bool head_is_right(struct process_memory *memory, uint64_t address, uint64_t end,
                          const struct chunk_head *head)
{
    uint64_t word;

    return head->size_bytes && head->size_bytes % memory->page_bytes == 0 &&
           head->size_bytes <= end - address && head->objects_start > address &&
           head->objects_start - address <= HEAD_BYTES_MOST &&
           head->objects_end > head->objects_start &&
           head->objects_end <= address + head->size_bytes &&
           head->allocated_bytes <= head->objects_end - head->objects_start &&
           head->heap % sizeof(word) == 0 && memory_word(memory, head->heap, &word);
}

struct v8_chunk v8_chunk_at(struct process_memory *memory, uint64_t address, uint64_t end)
{
    struct v8_chunk chunk = {0};
    struct chunk_head head;
    const void *bytes = address % CHUNK_ALIGN ? NULL : memory_at(memory, address, sizeof(head));

    if (!bytes)
        return chunk;
    memcpy(&head, bytes, sizeof(head));
    if (!head_is_right(memory, address, end, &head))
        return chunk;
    chunk.size_bytes = head.size_bytes;
    chunk.object_bytes = head.allocated_bytes;
    if (!(head.flags & LARGE_PAGE)) {
        chunk.is_young = (head.flags & TO_PAGE) != 0;
        if (head.flags & FROM_PAGE)
            chunk.object_bytes = 0;
    }
    return chunk;
}

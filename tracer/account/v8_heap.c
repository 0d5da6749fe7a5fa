/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: src/heap/basic-memory-chunk.h of V8 9 to 12, seen in node 18 and 20. A chunk proves
 * itself: it says where in it objects are, and its heap is memory that is there.
 */
#include "v8_heap.h"

#include <string.h>

enum { CHUNK_ALIGN = 1 << 18, HEAD_BYTES_MOST = 1 << 16 };

/* BasicMemoryChunk, its begin */
struct chunk {
    uint64_t size_bytes, flags, heap, objects_start, objects_end;
};

uint64_t v8_chunk_bytes(struct process_memory *memory, uint64_t address, uint64_t end)
{
    struct chunk chunk;
    const void *bytes = address % CHUNK_ALIGN ? NULL : memory_at(memory, address, sizeof(chunk));
    uint64_t word;

    if (!bytes)
        return 0;
    memcpy(&chunk, bytes, sizeof(chunk));
    if (!chunk.size_bytes || chunk.size_bytes % memory->page_bytes ||
        chunk.size_bytes > end - address || chunk.objects_start <= address ||
        chunk.objects_start - address > HEAD_BYTES_MOST ||
        chunk.objects_end <= chunk.objects_start ||
        chunk.objects_end > address + chunk.size_bytes || chunk.heap % sizeof(word) ||
        !memory_word(memory, chunk.heap, &word))
        return 0;
    return chunk.size_bytes;
}
